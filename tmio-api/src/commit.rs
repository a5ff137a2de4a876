//! The end of the job: one trace of all ranks' records.
//!
//! One rank of each node, its leader, writes what the ranks of that node have: they hand it over by
//! MPI, which is memory of the node, and the blocks that left before lie in the node's part. A scan
//! over the leaders tells where each node's bytes go in `OUT.NUMBER.tmp`; no two nodes touch one page
//! of it. All agree that it worked, and rank 0 gives the trace its place. That is the commit. Then
//! every leader removes its part.
//!
//! Whatever fails before the commit, nothing is removed that is not somewhere else.

use crate::beside;
use crate::blocks::Detail;
use crate::buffers::Who;
use crate::nodes::Nodes;
use crate::options::Format;
use crate::output;
use crate::parts::{Extent, give_rights, make_directories};
use crate::plan::Plan;
use crate::recorder::Recorder;
use crate::worker::Worker;
use crate::world::{NO_MPI, World, agree, receive_numbers, send_numbers};
use crate::{clock, clocks, message, system};
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;
use tmio_trace::frame::{self, FrameKind};
use tmio_trace::{RankInfo, Trace, TraceEnd, frame::padding, parts, tmio};

/// Mode of files that are being made.
const NEW_MODE: u32 = 0o600;
/// The unit that no two nodes share.
const PAGE: u64 = 4096;
/// How much is sent or copied at once.
const PIECE: usize = 1 << 20;
/// A job of which nothing was recorded gets a trace only if it was asked for by name, and if the program has
/// moved this much otherwise: the trace then says so.
const OTHER_IO: i64 = 1 << 20;

pub(crate) fn commit(recorder: &Recorder, world: &dyn World) {
    let began = clock::monotonic();
    let buffers = recorder.buffers;
    let mut worker = Worker::new(recorder.options.finalize_timeout);
    let result = try_commit(recorder, world, &mut worker, began);
    match result {
        Ok(None) => {
            buffers.spool().inspect(|spool| spool.remove());
        }
        Ok(Some(done)) => {
            buffers.spool().inspect(|spool| spool.remove());
            if world.rank() == 0 {
                // A name that was not asked for needs no word.
                if done.path != done.wanted && recorder.options.output.is_some() {
                    let (wanted, path) = (done.wanted.display(), done.path.display());
                    message::remark(format_args!("{wanted} is the trace of another job; this one is {path}"));
                }
                if done.lost > 0 {
                    let why = buffers.trouble().map(|why| format!(": {why}")).unwrap_or_default();
                    message::warn(format_args!("{} operations could not be kept{why}", done.lost));
                }
                if let Format::Tmio(format) = recorder.options.format {
                    convert(&done.path, format, recorder.options.mode, &done.temporary, &mut worker);
                }
                message::info(format_args!("{} operations in {}", done.operations, done.path.display()));
            }
        }
        Err(reason) => {
            let waited = Duration::from_nanos((clock::monotonic() - began).max(0) as u64);
            let reason = match reason == NO_MPI && waited >= recorder.options.finalize_timeout {
                true => worker.nobody_answered(),
                false => reason,
            };
            keep(recorder, world, &reason, worker.is_late());
        }
    }
}

/// There is no trace: what has not left memory yet joins the parts, or stays in the spool.
fn keep(recorder: &Recorder, world: &dyn World, reason: &str, late: bool) {
    let buffers = recorder.buffers;
    buffers.release();
    // A file system that does not answer is not asked again.
    let late = world.minimum(if late { 0 } else { 1 }) != Some(1);
    let written = !late && buffers.write_out(Who::Application, true);
    if let (true, Some(spool)) = (written, buffers.spool()) {
        spool.remove();
    }
    let lost = if written { buffers.lost.load(Relaxed) } else { buffers.lose_what_is_at_risk() };
    // Something to read is in the part, or in a spool that stays.
    let kept = written || buffers.operations() > 0 || buffers.spool().is_some_and(|s| s.keeps_operations());
    let all_kept = world.minimum(i64::from(buffers.failure().is_none() && lost == 0)) == Some(1);
    let some_kept = world.sum(i64::from(kept)).is_none_or(|kept| kept > 0);
    let lost = world.sum(lost as i64);
    if world.rank() == 0 {
        let output = recorder.plan.place.path.display();
        let rest = match (all_kept, lost) {
            (true, _) => format!("; `ftio {output}` reads what was recorded from its parts"),
            // Not all ranks have answered: how many are lost is not known.
            (false, None | Some(0)) => format!("; `ftio {output}` reads what could be kept"),
            (false, Some(lost)) if some_kept => {
                format!("; {lost} operations are lost, `ftio {output}` reads the others")
            }
            (false, Some(lost)) => format!("; all {lost} operations are lost"),
        };
        let rest = if buffers.failure().is_some() { String::new() } else { rest };
        message::warn(format_args!("no complete trace: {reason}{rest}"));
    }
}

struct Done {
    operations: i64,
    lost: i64,
    wanted: PathBuf,
    path: PathBuf,
    temporary: PathBuf,
}

/// `None`: there was nothing to record.
fn try_commit(
    recorder: &Recorder,
    world: &dyn World,
    worker: &mut Worker,
    began: i64,
) -> Result<Option<Done>, String> {
    let buffers = recorder.buffers;
    // Nodes that began by themselves have plans of their own until now.
    let plan = Plan::agree(world, || Ok(recorder.plan.clone()))?;
    let nodes = Nodes::find(world, recorder.node()).ok_or(NO_MPI)?;
    let offset = clocks::compare(world, &nodes, &clock::monotonic).ok_or(NO_MPI)?;
    const FAILED: i64 = 0;
    const HAS_LAYERS: i64 = 1;
    const PLAIN: i64 = 2;
    let state = match buffers.failure() {
        Some(_) => FAILED,
        None if buffers.has_layers.load(Relaxed) => HAS_LAYERS,
        None => PLAIN,
    };
    let worst = world.minimum(state).ok_or(NO_MPI)?;
    if worst == FAILED {
        // The place is wrong for all, most likely; the lowest rank that knows says so.
        agree(world, buffers.failure().map_or(Ok(()), |reason| Err(reason.clone())))?;
    }
    let all = OfAll { plan: &plan, offset, began, layers: worst == HAS_LAYERS };
    let mut mine = Mine::prepare(recorder, &all, Detail::Operations);
    if plan.max_bytes > 0 {
        // What has not left memory yet gets as coarse as it takes.
        for detail in [Detail::SECONDS, Detail::MINUTES, Detail::ONE] {
            let total = world.sum(mine.length() as i64).ok_or(NO_MPI)?;
            if total as u64 <= plan.max_bytes {
                break;
            }
            buffers.release();
            mine = Mine::prepare(recorder, &all, detail);
        }
    }
    let recorded = world.sum(i64::from(buffers.spool().is_some())).ok_or(NO_MPI)?;
    let operations = world.sum(mine.operations as i64).ok_or(NO_MPI)?;
    let lost = world.sum(buffers.lost.load(Relaxed) as i64).ok_or(NO_MPI)?;
    let other_io = world.sum(mine.other_io as i64).ok_or(NO_MPI)?;
    if recorded == 0 && (!recorder.output_was_given || other_io < OTHER_IO) {
        return Ok(None);
    }

    let temporary = with_suffix(&plan.place.path, &format!(".{:016x}.tmp", plan.number));
    let node_length = length_of_node(world, &nodes, mine.length()).ok_or(NO_MPI)?;
    let aligned = if nodes.count > 1 { align(node_length) } else { node_length };
    let share = if nodes.is_leader() { aligned as i64 } else { 0 };
    let before = world.sum_before(share).ok_or(NO_MPI)? as u64;
    let total = world.sum(share).ok_or(NO_MPI)? as u64;

    let made = if world.rank() == 0 { worker.run(make(&temporary, &plan)) } else { Ok(()) };
    agree(world, made)?;
    let written = if nodes.is_leader() {
        let node = NodeWriter::new(recorder, worker, &temporary, before);
        node.write(world, &nodes, &mine, aligned - node_length)
    } else {
        mine.hand_over(world, &nodes).ok_or_else(|| NO_MPI.to_owned())
    };
    let settled = agree(world, written).and_then(|()| {
        let mut place = Ok(None);
        if world.rank() == 0 {
            let end = TraceEnd {
                end: clock::monotonic() - plan.epoch,
                ranks: world.size(),
                operations: operations as u64,
            };
            place = finish_file(recorder, worker, &temporary, total, &end, &plan).map(Some);
        }
        agree(world, place.as_ref().map(drop).map_err(Clone::clone))?;
        place
    });
    let path = match settled {
        Ok(path) => path.unwrap_or_default(),
        Err(reason) => {
            if world.rank() == 0 {
                let temporary = temporary.clone();
                let _ =
                    worker.run(move || fs::remove_file(temporary).map_err(|error| message::plain(&error)));
            }
            return Err(reason);
        }
    };
    remove_parts(recorder, world, &nodes, worker, &plan);
    Ok(Some(Done { operations, lost, wanted: plan.place.path, path, temporary }))
}

/// What the ranks have agreed on.
struct OfAll<'a> {
    plan: &'a Plan,
    /// Of this rank's clock, and the largest error of that.
    offset: (i64, i64),
    /// When `MPI_Finalize` began.
    began: i64,
    /// Some rank has operations of other layers than MPI-IO.
    layers: bool,
}

/// This rank's part of the trace.
struct Mine {
    /// Frames that come first.
    front: Vec<u8>,
    /// Blocks in the part.
    extents: Vec<Extent>,
    /// The last block.
    tail: Vec<u8>,
    operations: u64,
    other_io: u64,
}

impl Mine {
    /// What cannot be made for want of memory is lost, and the trace says so.
    fn prepare(recorder: &Recorder, all: &OfAll<'_>, detail: Detail) -> Self {
        let &OfAll { plan, offset: (offset, error), began, .. } = all;
        let buffers = recorder.buffers;
        let (tail, operations) = buffers.last_block(detail).unwrap_or_else(|_| {
            buffers.lose(1);
            (Vec::new(), 0)
        });
        let mut info = recorder.info.clone();
        let sample = clock::sample(plan.epoch, offset, error);
        if plan.epoch != recorder.plan.epoch {
            // The start was told by this node's own first rank.
            info.clock.iter_mut().for_each(|first| {
                (first.job, first.error) = (first.local + offset - plan.epoch, error);
            });
        }
        info.clock.push(sample);
        info.finished = true;
        info.operations = operations;
        info.lost = buffers.lost.load(Relaxed);
        info.overhead_per_op = recorder.time_per_record;
        let recording = (operations as f64 * recorder.time_per_record) as i64;
        info.overhead = buffers.own_time.load(Relaxed) + recording + (clock::monotonic() - began);
        let own = buffers.own_bytes.load(Relaxed) as u64;
        system::process_io().since(recorder.io_at_start, own).tell(&mut info, beside::sums());
        let other_io = info.process_read + info.process_written;
        let front = front(recorder, all, &info).unwrap_or_default();
        Self { front, extents: buffers.extents(), tail, operations, other_io }
    }

    fn length(&self) -> u64 {
        let own: u64 = self.extents.iter().map(|extent| extent.end - extent.start).sum();
        self.front.len() as u64 + own + self.tail.len() as u64
    }

    /// Gives everything to the leader of the node.
    fn hand_over(&self, world: &dyn World, nodes: &Nodes) -> Option<()> {
        let next = nodes.next.map_or(-1, i64::from);
        let lengths = [self.front.len(), self.extents.len(), self.tail.len()].map(|length| length as i64);
        let [front, extents, tail] = lengths;
        send_numbers(world, nodes.leader, [front, extents, tail, next])?;
        for extent in &self.extents {
            send_numbers(world, nodes.leader, [extent.start as i64, extent.end as i64])?;
        }
        let pieces = self.front.chunks(PIECE).chain(self.tail.chunks(PIECE));
        pieces.map(|piece| world.send(nodes.leader, piece).then_some(())).collect()
    }

    /// What the rank `from` hands over, and who comes after it.
    fn receive(world: &dyn World, from: u32) -> Option<(Self, Option<u32>)> {
        let [front, extents, tail, next] = receive_numbers(world, from)?;
        let mut mine =
            Self { front: Vec::new(), extents: Vec::new(), tail: Vec::new(), operations: 0, other_io: 0 };
        for _ in 0..extents {
            let [start, end] = receive_numbers(world, from)?;
            mine.extents.push(start as u64..end as u64);
        }
        for (bytes, length) in [(&mut mine.front, front), (&mut mine.tail, tail)] {
            bytes.try_reserve_exact(length as usize).ok()?;
            bytes.resize(length as usize, 0);
            if !bytes.chunks_mut(PIECE).all(|piece| world.receive(from, piece)) {
                return None;
            }
        }
        Some((mine, u32::try_from(next).ok()))
    }
}

fn front(recorder: &Recorder, all: &OfAll<'_>, info: &RankInfo) -> Result<Vec<u8>, frame::EncodeError> {
    let plan = all.plan;
    let mut frames = Vec::new();
    if info.rank == 0 || recorder.is_first {
        let mut header = recorder.header.clone();
        (header.start, header.job, header.number) = (plan.start, plan.job.clone(), Some(plan.number));
        header.layers = all.layers;
        frames = frame::encode(FrameKind::Header, &header)?;
    }
    frames.extend(frame::encode(FrameKind::Rank, info)?);
    Ok(frames)
}

/// Bytes of all ranks of the node; only its leader gets the right answer.
fn length_of_node(world: &dyn World, nodes: &Nodes, mine: u64) -> Option<u64> {
    let after = match nodes.next {
        Some(next) => receive_numbers::<1>(world, next)?.map(|length| length as u64),
        None => [0],
    };
    let sum = mine + after.iter().sum::<u64>();
    if let Some(previous) = nodes.previous {
        send_numbers(world, previous, [sum as i64])?;
    }
    Some(sum)
}

/// Up to the next page, with room for a frame that fills it.
fn align(length: u64) -> u64 {
    let aligned = length.next_multiple_of(PAGE);
    match aligned - length {
        0 => aligned,
        gap if gap < frame::HEAD as u64 => aligned + PAGE,
        _ => aligned,
    }
}

/// Writes what the ranks of a node have.
struct NodeWriter<'a> {
    recorder: &'a Recorder,
    worker: &'a mut Worker,
    temporary: PathBuf,
    at: u64,
    result: Result<(), String>,
}

impl<'a> NodeWriter<'a> {
    fn new(recorder: &'a Recorder, worker: &'a mut Worker, temporary: &Path, at: u64) -> Self {
        Self { recorder, worker, temporary: temporary.to_owned(), at, result: Ok(()) }
    }

    /// Takes over from every rank of the node, whether writing works or not: they are waiting.
    fn write(mut self, world: &dyn World, nodes: &Nodes, mine: &Mine, gap: u64) -> Result<(), String> {
        let file = self.open();
        self.put(file.as_ref(), mine);
        let mut next = nodes.next;
        while let Some(rank) = next {
            let Some((theirs, after)) = Mine::receive(world, rank) else {
                return Err(NO_MPI.to_owned());
            };
            self.put(file.as_ref(), &theirs);
            next = after;
        }
        if let Some(padding) = padding(gap as usize) {
            self.put_bytes(file.as_ref(), padding);
        }
        let Some(file) = file else { return self.result };
        let path = self.temporary.clone();
        let closed = self.worker.run(move || {
            let file = Arc::into_inner(file).ok_or("a file is still in use")?;
            system::close(file).map_err(|error| cannot_write(&path, &error))
        });
        self.result.and(closed)
    }

    fn open(&mut self) -> Option<Arc<File>> {
        let (sender, receiver) = std::sync::mpsc::channel();
        let path = self.temporary.clone();
        self.result = self.worker.run(move || {
            let file = open(&path, false).map_err(|error| cannot_write(&path, &error))?;
            sender.send(Arc::new(file)).map_err(|_| "it took too long".to_owned())
        });
        receiver.try_recv().ok()
    }

    fn put(&mut self, file: Option<&Arc<File>>, data: &Mine) {
        self.put_bytes(file, data.front.clone());
        for extent in &data.extents {
            self.copy(file, extent.clone());
        }
        self.put_bytes(file, data.tail.clone());
    }

    fn put_bytes(&mut self, file: Option<&Arc<File>>, bytes: Vec<u8>) {
        let (at, length) = (self.at, bytes.len() as u64);
        self.at += length;
        self.step(file, move |file, path| {
            system::without_size_signal(|| file.write_all_at(&bytes, at)).map_err(|e| cannot_write(path, &e))
        });
    }

    fn copy(&mut self, file: Option<&Arc<File>>, extent: Extent) {
        let at = self.at;
        self.at += extent.end - extent.start;
        let part = &self.recorder.buffers.part; // lives as long as the process
        self.step(file, move |file, path| {
            let part = part.open();
            let part = part.map_err(|error| format!("cannot read a part: {}", message::plain(&error)))?;
            system::without_size_signal(|| copy(part, extent, file, at)).map_err(|e| cannot_write(path, &e))
        });
    }

    fn step(
        &mut self,
        file: Option<&Arc<File>>,
        work: impl FnOnce(&File, &Path) -> Result<(), String> + Send + 'static,
    ) {
        if self.result.is_ok()
            && let Some(file) = file
        {
            let (file, path) = (Arc::clone(file), self.temporary.clone());
            self.result = self.worker.run(move || work(&file, &path));
        }
    }
}

/// Copies blocks from a part. What is not a whole block there, because somebody has changed the
/// part, is replaced by a frame that says nothing.
fn copy(mut part: File, extent: Extent, to: &File, mut at: u64) -> io::Result<()> {
    part.seek(SeekFrom::Start(extent.start))?;
    let end = at + (extent.end - extent.start);
    let mut frames = frame::FrameReader::new(part.take(extent.end - extent.start));
    while let Some(found) = frames.next_frame()? {
        let kind = found.kind.filter(|kind| kind.is_block());
        let Some(head) = kind.and_then(|kind| frame::head(kind, found.body)) else { continue };
        to.write_all_at(&head, at)?;
        to.write_all_at(found.body, at + head.len() as u64)?;
        at += (head.len() + found.body.len()) as u64;
    }
    match padding((end - at) as usize) {
        Some(filler) => to.write_all_at(&filler, at),
        None => Ok(()),
    }
}

fn make(temporary: &Path, plan: &Plan) -> impl FnOnce() -> Result<(), String> + Send + 'static {
    let (path, place) = (temporary.to_owned(), plan.place.clone());
    move || {
        let made = match open(&path, true) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let directory = path.parent().unwrap_or(&path);
                make_directories(directory, &place.stem, &place.private).and_then(|()| open(&path, true))
            }
            other => other,
        };
        made.and_then(system::close).map_err(|error| cannot_write(&path, &error))
    }
}

/// Writes the last frame and gives the trace its place.
fn finish_file(
    recorder: &Recorder,
    worker: &mut Worker,
    temporary: &Path,
    total: u64,
    end: &TraceEnd,
    plan: &Plan,
) -> Result<PathBuf, String> {
    let end = frame::encode(FrameKind::End, end).map_err(|error| error.to_string())?;
    let (sender, receiver) = std::sync::mpsc::channel();
    let (path, place, mode) = (temporary.to_owned(), plan.place.clone(), recorder.options.mode);
    worker.run(move || {
        let file = open(&path, false).map_err(|error| cannot_write(&path, &error))?;
        let written = system::without_size_signal(|| file.write_all_at(&end, total));
        set_mode(&file, mode);
        written.and_then(|()| system::close(file)).map_err(|error| cannot_write(&path, &error))?;
        let settled = output::settle(&path, &place.path, place.previous)
            .map_err(|error| format!("cannot rename {}: {}", path.display(), message::plain(&error)))?;
        sender.send(settled).map_err(|_| "it took too long".to_owned())
    })?;
    receiver.try_recv().map_err(|error| error.to_string())
}

/// The trace is there: every node takes away its part, and rank 0 the directory, unless there are
/// parts of other jobs in it.
fn remove_parts(recorder: &Recorder, world: &dyn World, nodes: &Nodes, worker: &mut Worker, plan: &Plan) {
    if nodes.is_leader() {
        let part = &recorder.buffers.part;
        let elsewhere = recorder.plan.place.path != plan.place.path;
        let _ = worker.run(move || {
            let _ = part.remove();
            if let (true, Some(directory)) = (elsewhere, part.path().parent()) {
                let _ = fs::remove_dir(directory);
            }
            Ok(())
        });
    }
    let _ = world.minimum(0);
    if world.rank() == 0 {
        let directory = parts::directory(&plan.place.path);
        let _ = worker.run(move || {
            let _ = fs::remove_dir(directory);
            Ok(())
        });
    }
}

/// What turning the trace into another format may take of rank 0's memory.
const CONVERSION_MEMORY: usize = 1 << 30;

/// Rank 0: turns the finished trace into one of TMIO's formats, under the same name.
fn convert(path: &Path, format: tmio::Format, mode: u32, temporary: &Path, worker: &mut Worker) {
    let began = clock::monotonic();
    let (output, draft) = (path.to_owned(), temporary.to_owned());
    let result = worker.run(move || {
        let converted = Trace::open(&output).map_err(|error| error.to_string()).and_then(|trace| {
            let file = open(&draft, true).map_err(|error| message::plain(&error))?;
            let mut writer = BufWriter::new(file);
            system::without_size_signal(|| {
                tmio::convert(trace, format, Some(CONVERSION_MEMORY), &mut writer)
                    .map_err(io::Error::other)?;
                writer.flush()
            })
            .and_then(|()| {
                set_mode(writer.get_ref(), mode);
                fs::rename(&draft, &output)
            })
            .map_err(|error| message::plain(&error))
        });
        converted.inspect_err(|_| _ = fs::remove_file(&draft))
    });
    match result {
        Ok(()) => {
            let seconds = (clock::monotonic() - began) as f64 * 1e-9;
            message::info(format_args!("converted to {} in {seconds:.3} s", format.name()));
        }
        Err(reason) => {
            message::warn(format_args!("{} stays in tmio's own format: {reason}", path.display()));
        }
    }
}

fn cannot_write(path: &Path, error: &io::Error) -> String {
    format!("cannot write {}: {}", path.display(), message::plain(error))
}

/// The file gets its mode when it is whole, whatever the umask. Where that cannot be, it stays the owner's.
fn set_mode(file: &File, mode: u32) {
    if mode != NEW_MODE {
        let _ = file.set_permissions(fs::Permissions::from_mode(mode));
    }
}

/// A new file that nobody else has made, or the one that rank 0 has made.
fn open(path: &Path, new: bool) -> io::Result<File> {
    let open = || {
        OpenOptions::new()
            .write(true)
            .create_new(new)
            .mode(NEW_MODE)
            .custom_flags(libc::O_CLOEXEC | libc::O_NOFOLLOW)
            .open(path)
    };
    match open() {
        // The program's mask has taken the owner's rights from it.
        Err(error) if !new && error.kind() == io::ErrorKind::PermissionDenied => {
            give_rights(path, NEW_MODE)?;
            open()
        }
        other => other,
    }
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gap_to_the_next_page_has_room_for_a_frame() {
        for length in 0..3 * PAGE {
            let aligned = align(length);
            assert!(
                aligned.is_multiple_of(PAGE)
                    && aligned >= length
                    && aligned - length < PAGE + frame::HEAD as u64
            );
            assert!(aligned == length || padding((aligned - length) as usize).is_some());
        }
    }
}
