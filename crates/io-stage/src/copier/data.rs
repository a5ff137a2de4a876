//! The data of a file: by the kernel alone where it can (`copy_file_range`), else through memory. Holes stay
//! holes.

use super::flow::{Flow, Pace};
use super::stop::Stop;
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
    let writing = |error: &io::Error| Stop::writing(ends.target.1, error);
    let mut checksum = with_checksum.then(|| XxHash64::with_seed(0));
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
            Some(Ok(Err(error))) => Err(writing(&error)),
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
                    let read = read.map_err(|error| Stop::reading(ends.source.1, &error))?;
                    if read == 0 {
                        // It is shorter than it was.
                        return Err(Stop::Changed);
                    }
                    if let Some(checksum) = &mut checksum {
                        checksum.write(&buffer[..read]);
                    }
                    target.write_all_at(&buffer[..read], at).map_err(|error| writing(&error))?;
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
    target.set_len(size).map_err(|error| writing(&error))?;
    progress.store(size, Relaxed);
    Ok(checksum.map(|checksum| checksum.finish()))
}

/// The checksum of the data that another file has where `like` has any.
pub(super) fn checksum(
    file: (&File, &Path),
    like: &File,
    size: u64,
    flow: &Flow,
    pace: &mut Pace,
) -> Result<u64, Stop> {
    let mut checksum = XxHash64::with_seed(0);
    let mut buffer = Vec::new();
    for_each_extent(like, size, |from, to| {
        let mut at = from;
        while at < to {
            let piece = pace.piece().min(to - at);
            pace.wait(piece, flow)?;
            buffer.resize(piece as usize, 0);
            let read = file.0.read_at(&mut buffer, at).map_err(|error| Stop::reading(file.1, &error))?;
            if read == 0 {
                return Err(Stop::Changed);
            }
            checksum.write(&buffer[..read]);
            at += read as u64;
        }
        Ok(())
    })?;
    Ok(checksum.finish())
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
