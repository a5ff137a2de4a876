//! The spool of a process that may be writing to it, as it was at one moment.

use crate::RankInfo;
use crate::spool::{HEAD_NEXT, Spool};
use std::fs::{self, File, OpenOptions};
use std::io::Read;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

/// More than any spool has: `TMIO_BUFFER` is at most this, in tmio's own spools.
const LONGEST: u64 = 8 << 30;
/// The flags of `open` on Linux: never wait for a FIFO, never follow a link.
const O_NONBLOCK: i32 = 0o4000;
#[cfg(any(target_arch = "aarch64", target_arch = "arm", target_arch = "powerpc64"))]
const O_NOFOLLOW: i32 = 0o100_000;
#[cfg(not(any(target_arch = "aarch64", target_arch = "arm", target_arch = "powerpc64")))]
const O_NOFOLLOW: i32 = 0o400_000;

/// The spool of a rank, if it is where the rank says, and is one.
///
/// The path is what some file says, so it is not trusted: only an ordinary file of the rank's user
/// in a directory that is that user's alone is read.
pub(crate) fn take(rank: &RankInfo) -> Option<Spool> {
    let file = open(Path::new(&rank.spool), rank.user)?;
    let spool = read(&file)?;
    (spool.rank == rank.rank && spool.pid == rank.pid).then_some(spool)
}

/// Opens what may be a spool of `user`.
pub(crate) fn open(path: &Path, user: Option<u32>) -> Option<File> {
    let directory = fs::symlink_metadata(path.parent()?).ok()?;
    let file = open_itself(path)?;
    let meta = file.metadata().ok()?;
    let owner = user.unwrap_or(meta.uid());
    let private = directory.is_dir() && directory.uid() == owner && directory.mode() & 0o077 == 0;
    (private && meta.is_file() && meta.uid() == owner && meta.len() <= LONGEST).then_some(file)
}

/// Opens a file for reading, whatever it is: a link is not followed, and a pipe does not make us wait.
pub(crate) fn open_itself(path: &Path) -> Option<File> {
    OpenOptions::new().read(true).custom_flags(O_NONBLOCK | O_NOFOLLOW).open(path).ok()
}

/// Reads the spool at a moment at which no block was being begun, or, of a process that never
/// pauses, as well as can be.
pub(crate) fn read(file: &File) -> Option<Spool> {
    const TRIES: usize = 50;
    let mut bytes = Vec::new();
    for _ in 0..TRIES {
        let next = next_block(file)?;
        let length = file.metadata().ok()?.len().min(LONGEST);
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
    file.read_exact_at(&mut word, HEAD_NEXT as u64 * 8).ok()?;
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
