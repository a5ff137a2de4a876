//! The spool of a process that may be writing to it, as it was at one moment.

use crate::RankInfo;
use crate::salvage::spool::Spool;
use files::{Dir, Expect};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use tmio_spool::layout;

/// More than any spool has: `TMIO_BUFFER` is at most this, in tmio's own spools.
const MAX_BYTES: u64 = 8 << 30;

/// The spool of a rank, if it is where the rank says, and is one.
///
/// The path is what some file says, so it is not trusted: only an ordinary file of that file's owner, in a
/// directory that is that user's alone, is read. Whoever writes a trace so cannot have the memory of somebody
/// else's job shown in it.
pub(crate) fn take(rank: &RankInfo, owner: u32) -> Option<Spool> {
    let path = Path::new(&rank.spool);
    let directory = Dir::reach(path.parent()?, owner).ok()?;
    directory.check(&Expect::of_user(owner).private()).ok()?;
    let spool = read(&directory.read(path.file_name()?, &Expect::of_user(owner)).ok()?)?;
    (spool.rank() == Some(rank.rank) && spool.pid() == rank.pid).then_some(spool)
}

/// The other spools of the same job as that of a rank. Only the helper of the job may know of them yet.
pub(crate) fn beside(rank: &RankInfo, owner: u32) -> Vec<(PathBuf, Spool)> {
    let path = Path::new(&rank.spool);
    let (Some(parent), Some(job)) = (path.parent(), path.file_name().and_then(job_of)) else {
        return Vec::new();
    };
    let Ok(directory) = Dir::reach(parent, owner) else { return Vec::new() };
    if directory.check(&Expect::of_user(owner).private()).is_err() {
        return Vec::new();
    }
    let names = directory.entries().into_iter().flatten().flatten().map(|entry| entry.name);
    let others = names.filter(|name| job_of(name) == Some(job) && Some(name.as_os_str()) != path.file_name());
    let read = |name: OsString| {
        let file = directory.read(&name, &Expect::of_user(owner)).ok()?;
        Some((parent.join(name), read(&file)?))
    };
    others.filter_map(read).collect()
}

/// The number of the job in the name of a spool.
fn job_of(name: &OsStr) -> Option<&str> {
    let (job, rest) = name.to_str()?.split_once('-')?;
    rest.ends_with(".spool").then_some(job)
}

/// Reads the spool at a moment at which no block was being begun, or, of a process that never
/// pauses, as well as can be.
pub(crate) fn read(file: &File) -> Option<Spool> {
    const TRIES: usize = 50;
    let mut bytes = Vec::new();
    for _ in 0..TRIES {
        let next = next_block(file)?;
        let length = file.metadata().ok().map(|meta| meta.len()).filter(|length| *length <= MAX_BYTES)?;
        bytes.clear();
        bytes.try_reserve(length as usize).ok()?;
        (&mut At(file, 0)).take(length).read_to_end(&mut bytes).ok()?;
        if next_block(file) == Some(next) {
            break;
        }
    }
    Spool::parse(&bytes)
}

fn next_block(file: &File) -> Option<u64> {
    let mut word = [0u8; 8];
    file.read_exact_at(&mut word, layout::NEXT_BLOCK as u64 * 8).ok()?;
    Some(u64::from_ne_bytes(word))
}

/// A file read from a place of one's own.
struct At<'a>(&'a File, u64);

impl Read for At<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let read = self.0.read_at(buffer, self.1)?;
        self.1 += read as u64;
        Ok(read)
    }
}
