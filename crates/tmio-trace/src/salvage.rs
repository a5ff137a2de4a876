//! The spools of dead processes: what they hold joins its part, and then they go.
//!
//! A killed process leaves its spool in memory (`/dev/shm`) or on a local disk. The next traced
//! process of the same user on that host, or `ftio clean` (for instance in a batch system's epilog),
//! salvages it: from then on the job can be read without access to the host.

use crate::block::{self, BlockEncoder, IDENTITY_BYTES};
use crate::checksum::crc32;
use crate::frame::{self, FrameKind, FrameReader, HEAD, Head, TAG, parse_head};
use crate::liveness::{self, Life};
use crate::spool::Spool;
use crate::{RankInfo, snapshot};
use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
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
    let info = RankInfo { salvaged: true, spool: String::new(), lost: spool.lost, ..info };
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

/// Numbers of a rank's blocks in a part. Only whole ones count: of a block that was being written when its
/// process was killed, the part may hold a piece.
fn blocks_of(part: &Path, rank: u32) -> HashSet<u64> {
    let mut numbers = HashSet::new();
    let Ok(mut file) = File::open(part) else { return numbers };
    let size = file.metadata().map_or(0, |meta| meta.len());
    let mut at = 0;
    while let Some((end, number)) = whole_frame(&file, at, size, rank) {
        numbers.extend(number);
        at = end;
    }
    // From a piece on, every byte is looked at: frames of other processes may follow anywhere.
    if at < size && file.seek(SeekFrom::Start(at)).is_ok() {
        let mut frames = FrameReader::new(file);
        while let Ok(Some(frame)) = frames.next_frame() {
            let identity =
                block::identity(frame.body).filter(|_| frame.kind.is_some_and(FrameKind::is_block));
            numbers.extend(identity.filter(|(its, _)| *its == rank).map(|(_, number)| number));
        }
    }
    numbers
}

/// Where the frame at `at` ends, and its number if it is a block of `rank`. `None`: it is not whole, or there
/// is none.
fn whole_frame(file: &File, at: u64, size: u64, rank: u32) -> Option<(u64, Option<u64>)> {
    let mut head = [0u8; HEAD];
    file.read_exact_at(&mut head, at).ok()?;
    let Head::Frame { kind, checksum, length } = parse_head(&head) else { return None };
    let (body, end) = (at + HEAD as u64, at + (HEAD + length) as u64);
    let mut next = [0u8; TAG.len()];
    let followed = end == size || (file.read_exact_at(&mut next, end).is_ok() && next == TAG);
    if end > size || !followed {
        return None;
    }
    if !FrameKind::from_code(kind).is_some_and(FrameKind::is_block) {
        return Some((end, None));
    }
    let mut bytes = vec![0; length.min(IDENTITY_BYTES)];
    file.read_exact_at(&mut bytes, body).ok()?;
    let number = block::identity(&bytes).filter(|(its, _)| *its == rank).map(|(_, number)| number);
    if number.is_some() {
        bytes.resize(length, 0);
        file.read_exact_at(&mut bytes, body).ok().filter(|()| crc32(&bytes) == checksum)?;
    }
    Some((end, number))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_piece_of_a_block_is_not_a_block() {
        let block = |rank: u32, number: u64| {
            let mut encoder = BlockEncoder::default();
            assert!(encoder.restart(0));
            let names = vec![(1, "a name that makes the block longer than what identifies it")];
            encoder.finish(rank, number, 0, names).unwrap().to_vec()
        };
        let piece = |rank, number, from_end: usize| {
            let whole = block(rank, number);
            whole[..whole.len() - from_end].to_vec()
        };
        let path = std::env::temp_dir().join(format!("tmio-piece-{}", std::process::id()));
        let blocks = |frames: &[Vec<u8>]| {
            fs::write(&path, frames.concat()).unwrap();
            let mut numbers: Vec<u64> = blocks_of(&path, 1).into_iter().collect();
            numbers.sort_unstable();
            numbers
        };
        assert_eq!(blocks(&[block(1, 0), block(2, 0), block(1, 1)]), [0, 1]);
        for from_end in [1, 10, 40] {
            assert_eq!(blocks(&[block(1, 0), piece(1, 1, from_end)]), [0], "killed in the middle of a write");
            // Others went on writing.
            assert_eq!(blocks(&[piece(1, 1, from_end), block(2, 5), block(1, 3)]), [3]);
            assert_eq!(blocks(&[piece(2, 1, from_end), block(1, 3), block(2, 5), block(1, 4)]), [3, 4]);
        }
        let mut wrong = block(1, 1);
        *wrong.last_mut().unwrap() ^= 1;
        assert_eq!(blocks(&[wrong, block(1, 2)]), [2]);
        fs::remove_file(path).unwrap();
    }
}
