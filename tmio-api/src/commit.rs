//! The end of the job: one trace of all ranks' records.
//!
//! Every rank knows how many bytes it has; a scan tells it where they go in `OUT.tmp`; everybody
//! writes its own, all agree that it worked, rank 0 renames. The rename is the commit. Nothing is
//! gathered anywhere, and rank 0 has no more to do than the others but two small frames.

use crate::options::Format;
use crate::parts::Extent;
use crate::recorder::Recorder;
use crate::world::World;
use crate::{clock, message, output, system};
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering::Relaxed;
use tmio_trace::frame::{self, FrameKind};
use tmio_trace::reader::parts_path;
use tmio_trace::{Trace, TraceEnd, tmio};

/// Whether everybody's part of a step went well; if not, everybody gets the reason of the lowest
/// rank that failed.
pub(crate) fn agree(world: &dyn World, mine: Result<(), String>) -> Result<(), String> {
    const NO_MPI: &str = "the ranks could not agree on it";
    let size = i64::from(world.size());
    let vote = if mine.is_ok() { size } else { i64::from(world.rank()) };
    let lowest = world.minimum(vote).ok_or(NO_MPI)?;
    if lowest >= size {
        return Ok(());
    }
    let mut letter = [0u8; 1024];
    if let (Err(reason), true) = (&mine, vote == lowest) {
        for (place, byte) in letter.iter_mut().zip(reason.bytes()) {
            *place = byte;
        }
    }
    if !world.broadcast(lowest as u32, &mut letter) {
        return Err(NO_MPI.to_owned());
    }
    let reason = String::from_utf8_lossy(&letter);
    let reason = reason.trim_end_matches('\0');
    Err(if lowest == 0 { reason.to_owned() } else { format!("rank {lowest}: {reason}") })
}

/// This rank's part of a step failed: tells all, and gives the reason that all got.
pub(crate) fn fail(world: &dyn World, reason: String) -> String {
    agree(world, Err(reason.clone())).err().unwrap_or(reason)
}

pub(crate) fn commit(recorder: &Recorder, world: &dyn World) {
    let began = clock::monotonic();
    let temporary = with_suffix(&recorder.output, ".tmp");
    let result = try_commit(recorder, world, &temporary, began);
    let parts = parts_path(&recorder.output);
    match result {
        Ok(done) => {
            recorder.spool.remove();
            if recorder.rank == 0 {
                output::remove_parts(&parts);
                if let Format::Tmio(format) = recorder.options.format {
                    convert(recorder, format, &temporary);
                }
                message::info(format_args!("{} operations in {}", done, recorder.output.display()));
            }
        }
        Err(reason) => {
            // What has not left yet joins the parts, so that it can be recovered.
            let kept = recorder.failure().is_none() && recorder.write_out(0, true);
            recorder.spool.remove();
            if recorder.rank == 0 {
                let _ = fs::remove_file(&temporary);
                let rest = if kept {
                    format!("; `ftio {}` reads what is in its parts", recorder.output.display())
                } else {
                    String::new()
                };
                message::warn(format_args!("no complete trace: {reason}{rest}"));
            }
        }
    }
}

/// What turning the trace into another format may take of rank 0's memory.
const CONVERSION_MEMORY: usize = 1 << 30;

/// Rank 0: turns the finished trace into one of TMIO's formats, under the same name.
fn convert(recorder: &Recorder, format: tmio::Format, temporary: &Path) {
    let began = clock::monotonic();
    let result = Trace::open(&recorder.output).map_err(|error| error.to_string()).and_then(|trace| {
        let file = open(temporary, true).map_err(|error| message::plain(&error))?;
        let mut output = BufWriter::new(file);
        system::without_size_signal(|| {
            tmio::convert(trace, format, Some(CONVERSION_MEMORY), &mut output).map_err(io::Error::other)?;
            output.flush()
        })
        .and_then(|()| fs::rename(temporary, &recorder.output))
        .map_err(|error| message::plain(&error))
    });
    match result {
        Ok(()) => {
            let seconds = (clock::monotonic() - began) as f64 * 1e-9;
            message::info(format_args!("turned into {} in {seconds:.3} s", format.name()));
        }
        Err(reason) => {
            let _ = fs::remove_file(temporary);
            let path = recorder.output.display();
            message::warn(format_args!("{path} stays in tmio's own format: {reason}"));
        }
    }
}

/// Returns the number of operations in the trace.
fn try_commit(recorder: &Recorder, world: &dyn World, temporary: &Path, began: i64) -> Result<i64, String> {
    const NO_MPI: &str = "the ranks could not agree on it";
    let node = system::node_number(&recorder.info.host, &recorder.info.boot_id);
    let offset = world.clock_offset(node, &clock::monotonic).ok_or(NO_MPI)?;
    let prepared = match recorder.failure() {
        Some(reason) => Err(reason.clone()),
        None => prepare(recorder, offset, began),
    };
    let (front, extents, tail, operations) = match prepared {
        Ok(data) => {
            agree(world, Ok(()))?;
            data
        }
        Err(reason) => return Err(fail(world, reason)),
    };
    let own: u64 = extents.iter().map(|extent| extent.end - extent.start).sum();
    let length = front.len() as u64 + own + tail.len() as u64;
    let before = world.sum_before(length as i64).ok_or(NO_MPI)? as u64;
    let total = world.sum(length as i64).ok_or(NO_MPI)? as u64;
    let operations = world.sum(operations as i64).ok_or(NO_MPI)?;

    let failed =
        |error: io::Error| format!("cannot write {}: {}", temporary.display(), message::plain(&error));
    let made = if recorder.rank == 0 { open(temporary, true).map(drop) } else { Ok(()) };
    agree(world, made.map_err(failed))?;
    let written = open(temporary, false).and_then(|file| {
        system::without_size_signal(|| {
            file.write_all_at(&front, before)?;
            let after = copy(recorder, &extents, &file, before + front.len() as u64)?;
            file.write_all_at(&tail, after)
        })
    });
    agree(world, written.map_err(failed))?;

    let renamed = if recorder.rank == 0 {
        let end = TraceEnd {
            end: clock::monotonic() - recorder.epoch,
            ranks: recorder.ranks,
            operations: operations as u64,
        };
        frame::encode(FrameKind::End, &end)
            .map_err(|error| error.to_string())
            .and_then(|end| {
                open(temporary, false)
                    .and_then(|file| system::without_size_signal(|| file.write_all_at(&end, total)))
                    .map_err(failed)
            })
            .and_then(|()| {
                fs::rename(temporary, &recorder.output).map_err(|error| {
                    format!("cannot rename {}: {}", temporary.display(), message::plain(&error))
                })
            })
    } else {
        Ok(())
    };
    agree(world, renamed)?;
    Ok(operations)
}

type Data = (Vec<u8>, Vec<Extent>, Vec<u8>, u64);

/// This rank's part of the trace: frames in front, blocks in the part, the last block, operations.
fn prepare(recorder: &Recorder, (offset, error): (i64, i64), began: i64) -> Result<Data, String> {
    let (tail, operations) = recorder.last_block()?;
    let (read, written) = system::process_io();
    let mut info = recorder.info.clone();
    info.spool.clear();
    info.clock.push(recorder.clock_sample(offset, error));
    info.finished = true;
    info.operations = operations;
    info.lost = recorder.lost.load(Relaxed);
    info.overhead_per_op = recorder.time_per_record;
    let recording = (operations as f64 * recorder.time_per_record) as i64;
    info.overhead = recorder.own_time.load(Relaxed) + recording + (clock::monotonic() - began);
    let (read_before, written_before) = recorder.io_at_start;
    info.process_read = read.saturating_sub(read_before);
    let own = recorder.own_bytes.load(Relaxed) as u64;
    info.process_written = written.saturating_sub(written_before).saturating_sub(own);

    let mut front = Vec::new();
    let text = |error: frame::EncodeError| error.to_string();
    if recorder.rank == 0 {
        front = frame::encode(FrameKind::Header, &recorder.header).map_err(text)?;
    }
    front.extend(frame::encode(FrameKind::Rank, &info).map_err(text)?);
    Ok((front, recorder.extents(), tail, operations))
}

/// Copies this rank's blocks from its host's part; returns where they end.
fn copy(recorder: &Recorder, extents: &[Extent], to: &File, mut at: u64) -> io::Result<u64> {
    if extents.is_empty() {
        return Ok(at);
    }
    let mut part = recorder.part.open()?;
    let mut buffer = Vec::new();
    const PIECE: usize = 1 << 20;
    buffer.try_reserve_exact(PIECE).map_err(io::Error::other)?;
    for extent in extents {
        part.seek(SeekFrom::Start(extent.start))?;
        let mut left = extent.end - extent.start;
        while left > 0 {
            buffer.clear();
            let piece = left.min(PIECE as u64);
            if (&mut part).take(piece).read_to_end(&mut buffer)? as u64 != piece {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            to.write_all_at(&buffer, at)?;
            at += piece;
            left -= piece;
        }
    }
    Ok(at)
}

fn open(path: &Path, new: bool) -> io::Result<File> {
    OpenOptions::new()
        .write(true)
        .create(new)
        .truncate(new)
        .mode(0o644)
        .custom_flags(libc::O_CLOEXEC | libc::O_NOFOLLOW)
        .open(path)
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use parking_lot::Mutex;
    use std::sync::Barrier;

    /// Ranks that are threads of this test.
    struct Threads<'a> {
        rank: u32,
        size: u32,
        barrier: &'a Barrier,
        values: &'a Mutex<Vec<i64>>,
        letter: &'a Mutex<Vec<u8>>,
    }

    impl World for Threads<'_> {
        fn rank(&self) -> u32 {
            self.rank
        }
        fn size(&self) -> u32 {
            self.size
        }
        fn broadcast(&self, root: u32, bytes: &mut [u8]) -> bool {
            if self.rank == root {
                *self.letter.lock() = bytes.to_vec();
            }
            self.barrier.wait();
            bytes.copy_from_slice(&self.letter.lock());
            self.barrier.wait();
            true
        }
        fn minimum(&self, value: i64) -> Option<i64> {
            self.values.lock()[self.rank as usize] = value;
            self.barrier.wait();
            let smallest = self.values.lock().iter().copied().min();
            self.barrier.wait();
            smallest
        }
        fn sum_before(&self, _value: i64) -> Option<i64> {
            None
        }
        fn sum(&self, _value: i64) -> Option<i64> {
            None
        }
        fn clock_offset(&self, _node: i64, _clock: &dyn Fn() -> i64) -> Option<(i64, i64)> {
            None
        }
    }

    /// What each of four ranks gets when those in `failing` fail.
    fn outcome(failing: &[u32]) -> Vec<Result<(), String>> {
        let (barrier, values, letter) = (Barrier::new(4), Mutex::new(vec![0; 4]), Mutex::new(Vec::new()));
        std::thread::scope(|scope| {
            let ranks: Vec<_> = (0..4)
                .map(|rank| {
                    let world =
                        Threads { rank, size: 4, barrier: &barrier, values: &values, letter: &letter };
                    let mine =
                        if failing.contains(&rank) { Err(format!("reason of {rank}")) } else { Ok(()) };
                    scope.spawn(move || agree(&world, mine))
                })
                .collect();
            ranks.into_iter().map(|rank| rank.join().unwrap()).collect()
        })
    }

    #[test]
    fn all_ranks_get_the_same_verdict_and_the_reason_of_the_lowest_that_failed() {
        assert!(outcome(&[]).iter().all(Result::is_ok));
        assert!(outcome(&[2, 3]).iter().all(|r| r.as_ref().unwrap_err() == "rank 2: reason of 2"));
        assert!(outcome(&[0, 1, 2, 3]).iter().all(|r| r.as_ref().unwrap_err() == "reason of 0"));
    }
}
