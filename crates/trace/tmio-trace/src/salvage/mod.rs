//! The spools of dead processes: what they hold joins its part, and then they go.
//!
//! A killed process leaves its spool in memory (`/dev/shm`) or on a local disk. The next traced
//! process of the same user on that host, or `ftio recover --host` (for instance in a batch system's epilog),
//! salvages it: from then on the job can be read without access to the host.
//!
//! A spool is written by its user, and names the part that it belongs to: all of this is done by handles and
//! in the name of that user alone. Root becomes that user first (`files::user::run_as`).

mod part;
pub mod recover;
pub(crate) mod snapshot;
pub mod spool;

use crate::RankInfo;
use crate::format::block::BlockEncoder;
use crate::format::frame::{self, FrameKind, FrameReader};
use crate::liveness::{self, Life};
use crate::salvage::spool::Spool;
use files::{Dir, Expect, Replace, user};
use part::{Part, blocks_of, names_of};
pub use part::{Written, written};
use std::collections::{HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tmio_spool::control::{CLOSING, ENDING, HELPER, NAMESPACE};

/// Spools that root reads for somebody else are no larger: that user chooses how large they are.
const MAX_BYTES_FOR_OTHERS: u64 = 256 << 20;
/// How long a spool that does not say where its records belong is left to the program that started its
/// process.
const UNCLAIMED: Duration = Duration::from_secs(24 * 3600);
/// Problems that are told, of any number.
const TOLD: usize = 20;

/// What became of a spool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// Its process may still run, or it is not a spool: it was left alone.
    Kept,
    /// It is gone; this number of operations, which were nowhere else, joined their part.
    Salvaged(u64),
}

/// What was done in some directories.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
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
    /// Why, of the first of them.
    pub problems: Vec<String>,
}

impl Tally {
    /// And what was done elsewhere.
    pub fn add(&mut self, other: Tally) {
        self.removed += other.removed;
        self.bytes += other.bytes;
        self.operations += other.operations;
        self.kept += other.kept;
        self.failed += other.failed;
        self.problems.extend(other.problems);
    }
}

/// A directory of one user's spools: `tmio-UID`, in a place where everybody may make one.
#[derive(Debug)]
pub struct SpoolDirectory {
    base: Dir,
    name: OsString,
    /// The user that it is named after.
    pub user: u32,
}

impl SpoolDirectory {
    /// All that are in a place.
    pub fn all_in(base: &Dir) -> Vec<Self> {
        let names = base.entries().into_iter().flatten().flatten().map(|entry| entry.name);
        let mut found: Vec<Self> = names.filter_map(|name| Self::of(base, &name)).collect();
        found.sort_by_key(|directory| directory.user);
        found
    }

    /// The one at a path, if it is named like one.
    pub fn at(path: &Path) -> Option<Self> {
        let name = path.file_name().filter(|name| user_of(name).is_some())?;
        let base = path.parent().filter(|base| !base.as_os_str().is_empty()).unwrap_or(Path::new("."));
        Self::of(&Dir::open(base).ok()?, name)
    }

    fn of(base: &Dir, name: &OsStr) -> Option<Self> {
        Some(SpoolDirectory { user: user_of(name)?, base: base.again().ok()?, name: name.to_owned() })
    }

    /// The directory, if it is a private one of the user in whose name this thread acts.
    fn open(&self) -> Option<Dir> {
        let directory = self.base.folder(&self.name).ok().filter(|_| self.user == user::effective())?;
        directory.check(&Expect::of_user(self.user).private()).ok()?;
        Some(directory)
    }

    /// Salvages all spools but `own`, and removes the directory if it is empty. Directories of others are
    /// left alone: who is root has to become that user first.
    pub fn clean(&self, own: Option<&OsStr>, tally: &mut Tally) {
        let Some(directory) = self.open() else { return };
        let Ok(entries) = directory.entries() else { return };
        let names = entries.flatten().map(|entry| entry.name).filter(|name| Some(name.as_os_str()) != own);
        let is_page = |name: &OsString| name.as_encoded_bytes().ends_with(ENDING.as_bytes());
        let (pages, spools): (Vec<_>, Vec<_>) = names.partition(is_page);
        for name in &spools {
            let bytes = directory.look(name).map_or(0, |found| found.room);
            match salvage(&directory, name) {
                Ok(Fate::Salvaged(operations)) => {
                    tally.removed += 1;
                    tally.bytes += bytes;
                    tally.operations += operations;
                }
                Ok(Fate::Kept) => tally.kept += 1,
                Err(error) => {
                    tally.failed += 1;
                    if tally.problems.len() < TOLD {
                        tally.problems.push(error.to_string());
                    }
                }
            }
        }
        // Control pages of helpers that were killed.
        let has_died = |page: &Page| page.is_seen() && !page.has_process();
        for name in &pages {
            if Page::read(&directory, name).is_some_and(|page| has_died(&page)) {
                let _ = directory.remove(name);
            }
        }
        let _ = self.base.remove_folder(&self.name); // only if it is empty
    }
}

/// The user whose spools are in a directory of this name.
fn user_of(name: &OsStr) -> Option<u32> {
    let number = name.to_str()?.strip_prefix("tmio-")?;
    number.parse().ok().filter(|_| number.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Salvages all spools in a directory of this user's spools but `own`, and removes it if it is empty.
pub fn clean(directory: &Path, own: Option<&Path>, tally: &mut Tally) {
    if let Some(directory) = SpoolDirectory::at(directory) {
        directory.clean(own.and_then(Path::file_name), tally);
    }
}

/// Salvages a spool that a part has named, if it lies in a directory of this user's spools; that goes with
/// the last spool in it.
pub(crate) fn salvage_at(path: &Path) {
    let Some(directory) = path.parent().and_then(SpoolDirectory::at) else { return };
    if let (Some(opened), Some(name)) = (directory.open(), path.file_name()) {
        // One that is in use, or cannot be added, stays where it is.
        let _ = salvage(&opened, name);
        let _ = directory.base.remove_folder(&directory.name);
    }
}

/// Removes the spool of a dead process of this user that a part has named: it must be the spool of that very
/// rank, whatever else is there.
pub(crate) fn remove_at(rank: &RankInfo) {
    let path = Path::new(&rank.spool);
    let Some(directory) = path.parent().and_then(SpoolDirectory::at) else { return };
    let (Some(opened), Some(name)) = (directory.open(), path.file_name()) else { return };
    if snapshot::take(rank, directory.user).is_some_and(|spool| is_dead(&rank_of(&spool))) {
        let _ = opened.remove(name);
        let _ = directory.base.remove_folder(&directory.name);
    }
}

/// Moves what a dead process's spool holds to its part and removes the spool.
///
/// An error leaves the spool where it is.
fn salvage(directory: &Dir, name: &OsStr) -> io::Result<Fate> {
    let named = Path::new(name).extension().and_then(OsStr::to_str).unwrap_or_default();
    // One that somebody is salvaging has that process's id as its ending.
    let claimed: Option<u32> = named.parse().ok();
    if named != "spool" && claimed.is_none_or(is_alive) {
        return Ok(Fate::Kept);
    }
    let Ok(file) = directory.read(name, &Expect::of_user(user::effective()).with_one_name()) else {
        return Ok(Fate::Kept);
    };
    let size = file.metadata()?.len();
    if size > MAX_BYTES_FOR_OTHERS && user::acts_for_another() {
        let path = files::shown(directory.path().join(name));
        let why =
            format!("{path}: has {size} bytes, more than are read for another user; its user can clean it");
        return Err(io::Error::other(why));
    }
    let Some(spool) = snapshot::read(&file) else { return Ok(Fate::Kept) };
    if spool.part.is_none()
        && file.metadata()?.modified().ok().and_then(|time| time.elapsed().ok()) < Some(UNCLAIMED)
    {
        return Ok(Fate::Kept);
    }
    let info = rank_of(&spool);
    if !is_dead(&info) || has_helper(directory, name) {
        return Ok(Fate::Kept);
    }
    let mine = PathBuf::from(name).with_extension(std::process::id().to_string()).into_os_string();
    if mine != name && directory.rename(name, directory, &mine, Replace::Never).is_err() {
        return Ok(Fate::Kept); // somebody was faster
    }
    // One that has begun meanwhile may know the spool already.
    if has_helper(directory, name) {
        let _ = directory.rename(&mine, directory, name, Replace::Never);
        return Ok(Fate::Kept);
    }
    let added = spool
        .part
        .as_deref()
        .map_or(Ok(0), |part| add_to_part(&spool, info, Path::new(OsStr::from_bytes(part))));
    match added {
        Ok(operations) => {
            directory.remove(&mine)?;
            Ok(Fate::Salvaged(operations))
        }
        Err(error) => {
            let _ = directory.rename(&mine, directory, name, Replace::Never);
            Err(error)
        }
    }
}

fn is_alive(pid: u32) -> bool {
    Path::new(&format!("/proc/{pid}")).exists()
}

/// Whether the helper of the spool's job runs, or is being started: it writes what the spool holds, and
/// nobody else does.
fn has_helper(directory: &Dir, name: &OsStr) -> bool {
    let Some((job, _)) = name.to_str().and_then(|name| name.split_once('-')) else { return false };
    let Some(page) = Page::read(directory, OsStr::new(&format!("{job}{ENDING}"))) else { return false };
    (page.namespace == 0 || page.is_seen()) && page.helper & !0xffff_ffff != CLOSING && page.has_process()
}

/// What the control page of a job says of its helper.
struct Page {
    helper: u64,
    namespace: u64,
}

impl Page {
    fn read(directory: &Dir, name: &OsStr) -> Option<Self> {
        let page = directory.read(name, &Expect::of_user(user::effective())).ok()?;
        let word = |index: usize| {
            let mut word = [0; 8];
            page.read_exact_at(&mut word, 8 * index as u64).map_or(0, |()| u64::from_ne_bytes(word))
        };
        Some(Self { helper: word(HELPER), namespace: word(NAMESPACE) })
    }

    /// Whether the number of its process is one of this namespace.
    fn is_seen(&self) -> bool {
        Some(self.namespace) == liveness::namespace()
    }

    fn has_process(&self) -> bool {
        liveness::started(self.helper as u32).is_some()
    }
}

pub(crate) fn rank_of(spool: &Spool) -> RankInfo {
    let mut frames = FrameReader::new(spool.greeting.as_slice());
    while let Ok(Some(frame)) = frames.next_frame() {
        if frame.kind == Some(FrameKind::Rank)
            && let Some(info) = RankInfo::parse(frame.body)
        {
            return info;
        }
    }
    let rank = spool.rank().unwrap_or_default();
    RankInfo { rank, pid: spool.pid(), boot_id: liveness::boot_id(), ..RankInfo::default() }
}

/// A spool is on a file system of this machine alone: what an earlier kernel left is dead.
fn is_dead(info: &RankInfo) -> bool {
    let here = liveness::boot_id();
    let earlier = !here.is_empty() && !info.boot_id.is_empty() && info.boot_id != here;
    earlier || liveness::of_rank(info) == Life::Dead
}

/// Appends the records to the part, unless the part is gone: then its job was read and cleared away.
fn add_to_part(spool: &Spool, info: RankInfo, path: &Path) -> io::Result<u64> {
    let Some(mut part) = Part::open(path)? else { return Ok(0) };
    let written = if part.is_new { HashSet::new() } else { blocks_of(&part.file, info.rank) };
    let mut frames = Vec::new();
    if part.is_new {
        frames.extend_from_slice(&spool.greeting);
    }
    let sequence = written.iter().copied().max().map_or(0, |last| last + 1);
    // Names that have left memory are in blocks of the part.
    let is_empty = part.is_new || spool.rings.iter().all(|ring| ring.words(|_| false).is_empty());
    let before = if is_empty { HashMap::new() } else { names_of(&part.file, info.rank) };
    let contents =
        spool.contents(|sequence| written.contains(&sequence), |file| before.get(&file).map(|name| &**name));
    let count = contents.operations.len() as u64;
    if !contents.operations.is_empty() || !contents.marks.is_empty() {
        let mut encoder = BlockEncoder::default();
        if !encoder.restart(contents.operations.len().max(1)) {
            return Err(io::ErrorKind::OutOfMemory.into());
        }
        contents.operations.iter().for_each(|operation| encoder.push(operation));
        contents.marks.into_iter().for_each(|mark| encoder.push_mark(mark));
        let mut names = before;
        names.extend(contents.names);
        let names = encoder
            .files()
            .iter()
            .filter_map(|number| Some((*number, names.get(number)?.as_str())))
            .collect();
        let covered = contents.operations.last().map_or(0, |operation| operation.end);
        let frame = encoder.finish(info.rank, sequence, covered, names).map_err(io::Error::other)?;
        frames.extend_from_slice(frame);
    }
    let info = RankInfo { salvaged: true, spool: String::new(), lost: spool.lost(), ..info };
    frames.extend(frame::encode(FrameKind::Rank, &info).map_err(io::Error::other)?);
    part.append(&frames)?;
    Ok(count)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn control_pages_of_helpers_that_were_killed_go() {
        let base = std::env::temp_dir().join(format!("tmio-pages-{}", std::process::id()));
        let directory = base.join(format!("tmio-{}", user::effective()));
        fs::create_dir_all(&directory).unwrap();
        fs::set_permissions(&directory, fs::Permissions::from_mode(0o700)).unwrap();
        let here = liveness::namespace().unwrap();
        let (lives, died) = (u64::from(std::process::id()), 0x7fff_fff0);
        for (name, helper, namespace) in
            [("1n1", lives, here), ("2n1", died, here), ("3n2", died, here ^ 1), ("4n1", died, 0)]
        {
            let mut words = [0u64; 8];
            (words[HELPER], words[NAMESPACE]) = (helper | CLOSING, namespace);
            fs::write(directory.join(format!("{name}{ENDING}")), words.map(u64::to_ne_bytes).concat())
                .unwrap();
        }
        let mut tally = Tally::default();
        clean(&directory, None, &mut tally);
        let is_there = |name: &str| directory.join(format!("{name}{ENDING}")).exists();
        assert_eq!(["1n1", "2n1", "3n2", "4n1"].map(is_there), [true, false, true, true]);
        assert_eq!((tally.kept, tally.failed), (0, 0));
        fs::remove_dir_all(&base).unwrap();
    }
}
