//! The spools of dead processes: what they hold joins its part, and then they go.
//!
//! A killed process leaves its spool in memory (`/dev/shm`) or on a local disk. The next traced
//! process of the same user on that host, or `ftio clean` (for instance in a batch system's epilog),
//! salvages it: from then on the job can be read without access to the host.

use crate::block::{self, BlockEncoder, IDENTITY_BYTES};
use crate::frame::{self, FrameKind, FrameReader, HEAD, Head, parse_head};
use crate::liveness::{self, Life};
use crate::spool::Spool;
use crate::{RankInfo, snapshot};
use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// What became of a spool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// Its process may still run, or it is not a spool: it was left alone.
    Kept,
    /// It is gone; so many operations that were nowhere else joined their part.
    Salvaged(u64),
}

/// What was done in some directories.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Spools of dead processes that are gone.
    pub removed: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Operations that joined their parts.
    pub operations: u64,
    /// Spools of processes that may still run.
    pub kept: u64,
    /// Spools that could not be salvaged and were kept.
    pub failed: u64,
}

/// Whether a directory is named like one of spools, `tmio-UID`.
pub fn is_spool_directory(path: &Path) -> bool {
    let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
    name.strip_prefix("tmio-")
        .is_some_and(|user| !user.is_empty() && user.bytes().all(|b| b.is_ascii_digit()))
}

/// Salvages all spools in a directory of one user's spools but `own`, and removes it if it is empty.
pub fn clean(directory: &Path, own: Option<&Path>, tally: &mut Tally) {
    let Ok(entries) = fs::read_dir(directory) else { return };
    for path in entries.flatten().map(|entry| entry.path()).filter(|path| Some(path.as_path()) != own) {
        let bytes = fs::symlink_metadata(&path).map_or(0, |meta| meta.blocks() * 512);
        match salvage(&path) {
            Ok(Fate::Salvaged(operations)) => {
                tally.removed += 1;
                tally.bytes += bytes;
                tally.operations += operations;
            }
            Ok(Fate::Kept) => tally.kept += 1,
            Err(_) => tally.failed += 1,
        }
    }
    let _ = fs::remove_dir(directory); // only if it is empty
}

/// Moves what a dead process's spool holds to its part and removes the spool.
///
/// An error leaves the spool where it is.
pub fn salvage(path: &Path) -> io::Result<Fate> {
    let named = path.extension().and_then(OsStr::to_str).unwrap_or_default();
    // One that somebody is salvaging has that process's id as its ending.
    let claimed: Option<u32> = named.parse().ok();
    if named != "spool" && claimed.is_none_or(is_alive) {
        return Ok(Fate::Kept);
    }
    let Some(file) = snapshot::open(path, None) else { return Ok(Fate::Kept) };
    let Some(spool) = snapshot::read(&file) else { return Ok(Fate::Kept) };
    let user = file.metadata()?.uid();
    let info = rank_of(&spool);
    if !is_dead(&info) {
        return Ok(Fate::Kept);
    }
    let mine = path.with_extension(std::process::id().to_string());
    if fs::rename(path, &mine).is_err() {
        return Ok(Fate::Kept); // somebody was faster
    }
    let added = spool
        .part
        .as_deref()
        .map_or(Ok(0), |part| add_to_part(&spool, info, Path::new(OsStr::from_bytes(part)), user));
    match added {
        Ok(operations) => {
            fs::remove_file(&mine)?;
            Ok(Fate::Salvaged(operations))
        }
        Err(error) => {
            let _ = fs::rename(&mine, path);
            Err(error)
        }
    }
}

fn is_alive(pid: u32) -> bool {
    Path::new(&format!("/proc/{pid}")).exists()
}

fn rank_of(spool: &Spool) -> RankInfo {
    let mut frames = FrameReader::new(spool.greeting.as_slice());
    while let Ok(Some(frame)) = frames.next_frame() {
        if frame.kind == Some(FrameKind::Rank)
            && let Some(info) = RankInfo::parse(frame.body)
        {
            return info;
        }
    }
    RankInfo { rank: spool.rank, pid: spool.pid, boot_id: liveness::boot_id(), ..RankInfo::default() }
}

/// A spool is on a file system of this machine alone: what an earlier kernel left is dead.
fn is_dead(info: &RankInfo) -> bool {
    let here = liveness::boot_id();
    let earlier = !here.is_empty() && !info.boot_id.is_empty() && info.boot_id != here;
    earlier || liveness::of_rank(info) == Life::Dead
}

/// Appends the records to the part, unless the part is gone: then its job was read and cleared away.
fn add_to_part(spool: &Spool, info: RankInfo, part: &Path, user: u32) -> io::Result<u64> {
    let Some(directory) = part.parent().filter(|directory| directory.is_dir()) else { return Ok(0) };
    if fs::metadata(directory)?.uid() != user && fs::symlink_metadata(part).is_err() {
        return Ok(0);
    }
    let written = blocks_of(part, info.rank);
    let mut frames = Vec::new();
    if !part.exists() {
        frames.extend_from_slice(&spool.greeting);
    }
    let mut sequence = written.iter().copied().max().map_or(0, |last| last + 1);
    let mut count = 0;
    let mut encoder = BlockEncoder::default();
    for slot in &spool.slots {
        let (operations, marks) = slot.contents(|sequence| written.contains(&sequence));
        if operations.is_empty() && marks.is_empty() {
            continue;
        }
        if !encoder.restart(operations.len().max(1)) {
            return Err(io::ErrorKind::OutOfMemory.into());
        }
        operations.iter().for_each(|operation| encoder.push(operation));
        marks.into_iter().for_each(|mark| encoder.push_mark(mark));
        let name =
            |number: u32| spool.names.iter().find(|(n, _)| *n == number).map(|(_, name)| name.as_str());
        let names = encoder.files().iter().filter_map(|&n| Some((n, name(n)?))).collect();
        let covered = operations.last().map_or(0, |operation| operation.end);
        frames.extend_from_slice(
            encoder.finish(info.rank, sequence, covered, names).map_err(io::Error::other)?,
        );
        sequence += 1;
        count += operations.len() as u64;
    }
    let info = RankInfo { salvaged: true, spool: String::new(), ..info };
    frames.extend(frame::encode(FrameKind::Rank, &info).map_err(io::Error::other)?);
    append(part, user, &frames)?;
    Ok(count)
}

fn append(part: &Path, user: u32, frames: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new().append(true).create(true).mode(0o600).open(part)?;
    let meta = file.metadata()?;
    // Root, in an epilog, must not be led to somebody else's file.
    if !meta.is_file() || (meta.uid() != user && meta.len() > 0) {
        return Err(io::Error::other("the part belongs to somebody else"));
    }
    let length = meta.len();
    if let Err(error) = file.write_all(frames) {
        let _ = file.set_len(length);
        return Err(error);
    }
    Ok(())
}

/// Numbers of a rank's blocks in a part.
fn blocks_of(part: &Path, rank: u32) -> HashSet<u64> {
    let mut numbers = HashSet::new();
    let Ok(file) = File::open(part) else { return numbers };
    let mut file = io::BufReader::with_capacity(16 << 10, file);
    let mut head = [0u8; HEAD];
    let mut note = |body: &[u8]| {
        if let Some((_, number)) = block::identity(body).filter(|(its, _)| *its == rank) {
            numbers.insert(number);
        }
    };
    while file.read_exact(&mut head).is_ok() {
        let Head::Frame { kind, length, .. } = parse_head(&head) else {
            let mut frames = FrameReader::new(file);
            while let Ok(Some(frame)) = frames.next_frame() {
                if frame.kind == Some(FrameKind::Block) {
                    note(frame.body);
                }
            }
            break;
        };
        let mut body = Vec::new();
        let begin = length.min(IDENTITY_BYTES);
        if (&mut file).take(begin as u64).read_to_end(&mut body).is_err()
            || file.seek_relative((length - begin) as i64).is_err()
        {
            break;
        }
        if FrameKind::from_code(kind) == Some(FrameKind::Block) {
            note(&body);
        }
    }
    numbers
}

/// Directories of spools below the usual places: those of `user`, or of everybody.
pub fn spool_directories(bases: &[PathBuf]) -> Vec<PathBuf> {
    let entries = bases.iter().filter_map(|base| fs::read_dir(base).ok()).flatten().flatten();
    let mut found: Vec<PathBuf> =
        entries.map(|entry| entry.path()).filter(|path| is_spool_directory(path)).collect();
    found.sort();
    found.dedup();
    found
}
