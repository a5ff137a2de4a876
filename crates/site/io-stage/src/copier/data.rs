//! The data of a file: by the kernel alone where it can (`copy_file_range`), else through memory. Holes stay
//! holes.

use super::flow::{Flow, Pace};
use crate::stop::Stop;
use rustix::fs::{SeekFrom, copy_file_range, seek};
use rustix::io::Errno;
use std::fs::File;
use std::hash::Hasher;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::thread::{self, ScopedJoinHandle};
use std::time::Instant;
use twox_hash::XxHash64;

/// What was copied is brought to the storage after so many bytes, while the next ones are copied: otherwise
/// the copy would seem to be done when most of it is still to come, perhaps during a phase; and reading would
/// rest meanwhile, which can be half of the time. Reading never waits for this before the end of the file.
const SYNC_EVERY: u64 = 2 << 20;

/// Both ends of a copy, with their names for messages.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ends<'a> {
    pub source: (&'a File, &'a Path),
    pub target: (&'a File, &'a Path),
}

/// Copies the first `size` bytes. Returns the checksum of the data if that is asked for.
pub(super) fn copy(
    ends: Ends<'_>,
    size: u64,
    with_checksum: bool,
    flow: &Flow,
    pace: &mut Pace,
    progress: &AtomicU64,
) -> Result<Option<u64>, Stop> {
    let (source, target) = (ends.source.0, ends.target.0);
    let writing = |error: io::Error| Stop::writing_at(ends.target.1, error);
    let mut checksum = with_checksum.then(Checksum::new);
    let mut in_kernel = !with_checksum;
    let mut buffer = Vec::new();
    let mut unsynced = 0;
    let sync = || target.sync_data();
    thread::scope(|scope| {
        // At most one at a time.
        let mut syncing: Option<ScopedJoinHandle<'_, io::Result<()>>> = None;
        let wait = |syncing: Option<ScopedJoinHandle<'_, io::Result<()>>>| match syncing.map(|one| one.join())
        {
            None | Some(Ok(Ok(()))) => Ok(()),
            Some(Ok(Err(error))) => Err(writing(error)),
            Some(Err(_)) => Err(Stop::Failed("a thread has failed".into())),
        };
        for_each_extent(source, size, |from, to| {
            let mut at = from;
            while at < to {
                let piece = pace.piece().min(to - at);
                pace.wait(piece, flow)?;
                let began = Instant::now();
                let mut moved = 0;
                if in_kernel {
                    let copied = copy_file_range(
                        source,
                        Some(&mut at.clone()),
                        target,
                        Some(&mut at.clone()),
                        piece as usize,
                    );
                    match copied {
                        Ok(bytes) => moved = bytes as u64,
                        // Between these two it is not possible; reading tells what is wrong if something is.
                        Err(Errno::NOSPC) => return Err(Stop::Full),
                        Err(Errno::DQUOT) => return Err(Stop::Full),
                        Err(_) => {}
                    }
                    in_kernel = moved > 0;
                }
                if moved == 0 {
                    buffer.resize(piece as usize, 0);
                    let read = source.read_at(&mut buffer, at);
                    let read = read.map_err(|error| Stop::reading_at(ends.source.1, error))?;
                    if read == 0 {
                        // It is shorter than it was.
                        return Err(Stop::Changed);
                    }
                    if let Some(checksum) = &mut checksum {
                        checksum.add(at, &buffer[..read]);
                    }
                    target.write_all_at(&buffer[..read], at).map_err(writing)?;
                    moved = read as u64;
                }
                at += moved;
                unsynced += moved;
                let idle = syncing.as_ref().is_none_or(ScopedJoinHandle::is_finished);
                if unsynced >= SYNC_EVERY && idle {
                    wait(syncing.take())?;
                    syncing = Some(scope.spawn(sync));
                    unsynced = 0;
                }
                pace.moved(moved, began.elapsed());
                progress.store(at, Relaxed);
            }
            Ok(())
        })?;
        wait(syncing.take())
    })?;
    target.set_len(size).map_err(writing)?;
    progress.store(size, Relaxed);
    Ok(checksum.map(|checksum| checksum.finish(size)))
}

/// The checksum of the first `size` bytes of a file.
pub(super) fn checksum(file: (&File, &Path), size: u64, flow: &Flow, pace: &mut Pace) -> Result<u64, Stop> {
    let mut checksum = Checksum::new();
    let mut buffer = Vec::new();
    for_each_extent(file.0, size, |from, to| {
        let mut at = from;
        while at < to {
            let piece = pace.piece().min(to - at);
            pace.wait(piece, flow)?;
            buffer.resize(piece as usize, 0);
            let read = file.0.read_at(&mut buffer, at).map_err(|error| Stop::reading_at(file.1, error))?;
            if read == 0 {
                return Err(Stop::Changed);
            }
            checksum.add(at, &buffer[..read]);
            at += read as u64;
        }
        Ok(())
    })?;
    Ok(checksum.finish(size))
}

/// The checksum of a content, wherever its file system has holes: of all blocks that are not zero, with their
/// places.
struct Checksum {
    hash: XxHash64,
    /// Where the block that is being filled begins, and its bytes.
    start: u64,
    block: Box<[u8; BLOCK]>,
}

const BLOCK: usize = 4096;

impl Checksum {
    fn new() -> Self {
        Checksum { hash: XxHash64::with_seed(0), start: 0, block: Box::new([0; BLOCK]) }
    }

    /// Bytes at a place; places only grow.
    fn add(&mut self, mut at: u64, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let (start, offset) = (at / BLOCK as u64 * BLOCK as u64, (at % BLOCK as u64) as usize);
            if start != self.start {
                self.end_block();
                self.start = start;
            }
            let length = bytes.len().min(BLOCK - offset);
            self.block[offset..offset + length].copy_from_slice(&bytes[..length]);
            at += length as u64;
            bytes = &bytes[length..];
        }
    }

    fn end_block(&mut self) {
        if self.block.iter().any(|byte| *byte != 0) {
            self.hash.write(&self.start.to_le_bytes());
            self.hash.write(&self.block[..]);
            self.block.fill(0);
        }
    }

    fn finish(mut self, size: u64) -> u64 {
        self.end_block();
        self.hash.write(&size.to_le_bytes());
        self.hash.finish()
    }
}

/// The parts of a file that are no holes. Where the file system does not say, all of it.
fn for_each_extent(
    file: &File,
    size: u64,
    mut visit: impl FnMut(u64, u64) -> Result<(), Stop>,
) -> Result<(), Stop> {
    let mut at = 0;
    while at < size {
        let from = match seek(file, SeekFrom::Data(at)) {
            Ok(from) => from.max(at),
            // Nothing but a hole up to the end.
            Err(Errno::NXIO) => return Ok(()),
            Err(_) => at,
        };
        let to = seek(file, SeekFrom::Hole(from)).unwrap_or(size).min(size);
        let to = if to <= from { size } else { to };
        visit(from, to)?;
        at = to;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_checksum_is_of_the_content_and_its_places() {
        let of = |pieces: &[(u64, &[u8])], size: u64| {
            let mut checksum = Checksum::new();
            pieces.iter().for_each(|(at, bytes)| checksum.add(*at, bytes));
            checksum.finish(size)
        };
        let text = [7u8; 10_000];
        let whole = of(&[(0, &text)], 20_000);
        assert_eq!(of(&[(0, &text[..1]), (1, &text[..5000]), (5001, &text[5001..])], 20_000), whole);
        assert_eq!(of(&[(0, &text), (10_000, &[0; 10_000])], 20_000), whole, "zeros are as good as a hole");
        assert_ne!(of(&[(8192, &text)], 20_000), whole, "at another place");
        assert_ne!(of(&[(0, &text)], 20_001), whole);
        assert_ne!(of(&[(0, &text[..9999])], 20_000), whole);
        assert_ne!(of(&[(0, &[0, 1])], 5000), of(&[(0, &[1, 0])], 5000));
    }
}
