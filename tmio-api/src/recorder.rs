//! The recorder: one per process, from `MPI_Init` to `MPI_Finalize`.

use crate::commit;
use crate::files::{Files, IGNORED};
use crate::flush_thread::FlushThread;
use crate::options::{self, Flush, Options};
use crate::output::{self, Values};
use crate::parts::{Extent, Part};
use crate::slot::Slot;
use crate::spool::Spool;
use crate::thread::ThreadState;
use crate::world::{JobInfo, World};
use crate::{clock, message, system, thread};
use parking_lot::Mutex;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::Ordering::{AcqRel, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU8, AtomicU64, AtomicUsize};
use tmio_trace::block::BlockEncoder;
use tmio_trace::frame::{self, FrameKind};
use tmio_trace::spool::{ASYNC_WORDS, SYNC_WORDS, pack_identity};
use tmio_trace::{ClockSample, FORMAT_VERSION, Flags, Header, Metadata, OpKind, RankInfo};

const OFF: u8 = 0;
const ON: u8 = 1;
const PAUSED: u8 = 2;
/// After `fork`, after `MPI_Finalize`, after an error: off for good.
const OVER: u8 = 3;

static STATE: AtomicU8 = AtomicU8::new(OFF);
static RECORDER: OnceLock<Recorder> = OnceLock::new();
/// Whether the end of tracing has begun.
static ENDED: AtomicBool = AtomicBool::new(false);

/// Whether operations are recorded now: one relaxed load.
#[inline]
pub fn is_on() -> bool {
    STATE.load(Relaxed) == ON
}

/// Whether [`start`] was successful in this process.
pub fn has_started() -> bool {
    RECORDER.get().is_some()
}

/// One operation, with its times in ticks of [`clock::now`].
#[derive(Clone, Copy, Debug)]
pub struct Record {
    /// Which operation it was.
    pub kind: OpKind,
    /// How it ended.
    pub flags: Flags,
    /// The file's handle.
    pub file: usize,
    /// The offset argument, or −1.
    pub offset: i64,
    /// Bytes transferred.
    pub bytes: u64,
    /// Entry of the call.
    pub start: u64,
    /// Return of the call that completed it.
    pub end: u64,
    /// Issued, deadline, pending until, time in unsuccessful tests; for nonblocking ones.
    pub nonblocking: [u64; ASYNC_WORDS - SYNC_WORDS],
}

#[derive(Debug)]
pub(crate) struct Recorder {
    pub(crate) rank: u32,
    pub(crate) ranks: u32,
    pub(crate) options: Options,
    pub(crate) output: PathBuf,
    pub(crate) header: Header,
    pub(crate) info: RankInfo,
    /// Rank 0's clock at job time 0.
    pub(crate) epoch: i64,
    pub(crate) part: Part,
    pub(crate) spool: Spool,
    files: Files,
    /// Whether `TMIO_RANKS` has this rank.
    recording: bool,
    sequence: AtomicU64,
    covered: AtomicI64,
    /// One for the application's threads, one for the flush thread: neither waits for the other.
    writers: [Mutex<Writer>; 2],
    /// Only one thread claims a slot at a time.
    claiming: Mutex<()>,
    /// The slot of threads beyond the last slot.
    shared: Mutex<Option<&'static Slot>>,
    pub(crate) lost: AtomicU64,
    failed: OnceLock<String>,
    pub(crate) io_at_start: (u64, u64),
    /// Bytes and nanoseconds that tmio itself has written and taken.
    pub(crate) own_bytes: AtomicUsize,
    pub(crate) own_time: AtomicI64,
    pub(crate) time_per_record: f64,
    flush_thread: Mutex<Option<FlushThread>>,
}

#[derive(Debug, Default)]
pub(crate) struct Writer {
    encoder: BlockEncoder,
    pub(crate) extents: Vec<Extent>,
    pub(crate) operations: u64,
}

const APPLICATION: usize = 0;
const FLUSHER: usize = 1;

/// Begins tracing; called once, at the end of `MPI_Init`, by all ranks. Whatever goes wrong, the job goes on without a trace, and rank 0 says why.
pub fn start(world: &dyn World, job: &JobInfo, parsed: options::Parsed) -> bool {
    let entered = clock::monotonic();
    message::configure(parsed.options.log, world.rank() == 0);
    clock::choose(parsed.options.clock);
    let recorder = match Recorder::new(world, job, parsed) {
        Ok(recorder) => recorder,
        Err(reason) => {
            message::warn(format_args!("no trace: {reason}"));
            return false;
        }
    };
    recorder.own_time.fetch_add(clock::monotonic() - entered, Relaxed);
    if RECORDER.set(recorder).is_err() {
        return false;
    }
    // SAFETY: the handler only stores to an atomic, which is allowed in the child of a fork.
    unsafe { libc::pthread_atfork(None, None, Some(off_in_child)) };
    let Some(recorder) = RECORDER.get() else { return false };
    if let Flush::Interval(interval) = recorder.options.flush {
        let thread = FlushThread::start(interval, || recorder.flush(FLUSHER));
        *recorder.flush_thread.lock() = thread;
    }
    if recorder.recording {
        STATE.store(ON, Release);
    }
    true
}

extern "C" fn off_in_child() {
    STATE.store(OVER, Relaxed);
    ENDED.store(true, Relaxed);
}

/// Records one operation of the calling thread, if tracing is on.
#[inline]
pub fn record(thread: &ThreadState, record: &Record) {
    if !is_on() {
        return;
    }
    let Some(recorder) = RECORDER.get() else { return };
    let file = recorder.files.lookup(thread, record.file);
    if file != IGNORED {
        recorder.store(thread, record, file);
    }
}

/// A file was opened between `start` and `end`.
pub fn open_file(handle: usize, name: &str, start: u64, end: u64) {
    let Some(recorder) = RECORDER.get().filter(|_| STATE.load(Relaxed) != OVER) else { return };
    let number = recorder.files.open(handle, name, |number| recorder.announce(number, name));
    if is_on() && number != IGNORED {
        recorder.store_here(&Record::metadata(Metadata::Open, handle, start, end), number);
    }
}

/// A file was closed between `start` and `end`.
pub fn close_file(handle: usize, start: u64, end: u64) {
    let Some(recorder) = RECORDER.get().filter(|_| STATE.load(Relaxed) != OVER) else { return };
    let number = thread::with(|thread| recorder.files.lookup(thread, handle));
    recorder.files.close(handle);
    if is_on() && number != IGNORED {
        recorder.store_here(&Record::metadata(Metadata::Close, handle, start, end), number);
    }
    if recorder.options.flush == Flush::Close {
        flush();
    }
}

/// A file was deleted, or was not to be, between `start` and `end`.
pub fn delete_file(name: &str, deleted: bool, start: u64, end: u64) {
    let Some(recorder) = RECORDER.get().filter(|_| is_on()) else { return };
    if !options::wants_file(&recorder.options.files, name) {
        return;
    }
    let number = recorder.files.intern(name, |number| recorder.announce(number, name));
    let flags = if deleted { Flags::default() } else { Flags::FAILED };
    recorder.store_here(&Record { flags, ..Record::metadata(Metadata::Delete, 0, start, end) }, number);
}

/// Records a mark with a text of the program's own.
pub fn mark(text: &str) {
    let Some(recorder) = RECORDER.get().filter(|_| is_on()) else { return };
    let number = recorder.files.intern(text, |number| recorder.announce(number, text));
    let now = clock::now();
    recorder.store_here(&Record::metadata(Metadata::Mark, 0, now, now), number);
}

/// Writes out what this rank has recorded since the last time. Waits for nobody.
pub fn flush() {
    if !matches!(STATE.load(Relaxed), ON | PAUSED) {
        return;
    }
    if let Some(recorder) = RECORDER.get() {
        recorder.flush(APPLICATION);
    }
}

/// Stops recording until [`resume`].
pub fn pause() {
    let _ = STATE.compare_exchange(ON, PAUSED, AcqRel, Relaxed);
}

/// Records again after [`pause`].
pub fn resume() {
    let _ = STATE.compare_exchange(PAUSED, ON, AcqRel, Relaxed);
}

/// Ends tracing and makes one trace of all ranks' records; called inside `MPI_Finalize` by all ranks
/// on which [`start`] returned `true`.
pub fn finish(world: &dyn World) {
    if ENDED.swap(true, AcqRel) {
        return;
    }
    STATE.store(OVER, Release);
    let Some(recorder) = RECORDER.get() else { return };
    recorder.stop_flush_thread();
    commit::commit(recorder, world);
}

/// Ends tracing in a process that exits without `MPI_Finalize`: what it recorded is kept in the parts.
pub fn finish_without_mpi() {
    if ENDED.swap(true, AcqRel) {
        return;
    }
    STATE.store(OVER, Release);
    let Some(recorder) = RECORDER.get() else { return };
    if recorder.write_out(APPLICATION, true) {
        recorder.spool.remove();
    }
}

impl Record {
    fn metadata(operation: Metadata, file: usize, start: u64, end: u64) -> Self {
        Record {
            kind: OpKind::metadata(operation),
            flags: Flags::default(),
            file,
            offset: -1,
            bytes: 0,
            start,
            end,
            nonblocking: [0; ASYNC_WORDS - SYNC_WORDS],
        }
    }
}

impl Recorder {
    fn new(world: &dyn World, job: &JobInfo, parsed: options::Parsed) -> Result<Self, String> {
        let (rank, ranks) = (world.rank(), world.size());
        let options = parsed.options;
        if rank == 0 && options.dump_config {
            message::configure(message::Level::Info.max(options.log), true);
            message::info(options::dump());
            message::configure(options.log, true);
        }
        let host = system::host();
        let plan = Plan::agree(world, || match parsed.problem {
            Some(problem) => Err(problem),
            None => Plan::make(job, ranks, &host, options.output.as_deref()),
        })?;
        let boot_id = system::boot_id();
        let clocks = world.clock_offset(system::node_number(&host, &boot_id), &clock::monotonic);
        let spool = Spool::new(options.spool.as_deref(), rank, options.buffer);
        let ((offset, error), spool) = match (clocks, spool) {
            (Some(clocks), Ok(spool)) => {
                commit::agree(world, Ok(()))?;
                (clocks, spool)
            }
            (_, Err(error)) => {
                return Err(commit::fail(
                    world,
                    format!("no memory for records: {}", message::plain(&error)),
                ));
            }
            (None, _) => {
                return Err(commit::fail(world, "the clocks of the nodes could not be compared".into()));
            }
        };
        let parts = tmio_trace::reader::parts_path(&plan.output);
        let mut recorder = Recorder {
            rank,
            ranks,
            recording: options::wants_rank(&options.ranks, rank),
            files: Files::new(options.files.clone()),
            header: Header {
                version: FORMAT_VERSION,
                job: plan.job,
                ranks,
                executable: system::executable().to_string_lossy().into_owned(),
                start: plan.start,
                mpi: job.mpi.clone(),
                tmio: env!("CARGO_PKG_VERSION").to_owned(),
            },
            info: RankInfo {
                rank,
                boot_id,
                pid: std::process::id(),
                clock: vec![sample(plan.epoch, offset, error)],
                ..Default::default()
            },
            epoch: plan.epoch,
            part: Part::new(&parts, &host),
            spool,
            output: plan.output,
            options,
            sequence: AtomicU64::new(0),
            covered: AtomicI64::new(0),
            writers: Default::default(),
            claiming: Mutex::new(()),
            shared: Mutex::new(None),
            lost: AtomicU64::new(0),
            failed: OnceLock::new(),
            io_at_start: system::process_io(),
            own_bytes: AtomicUsize::new(0),
            own_time: AtomicI64::new(0),
            time_per_record: measure_record(),
            flush_thread: Mutex::new(None),
        };
        recorder.info.host = host;
        recorder.info.spool = recorder.spool.path();
        let announced = recorder.announce_rank();
        commit::agree(world, announced).inspect_err(|_| {
            recorder.spool.remove();
            if rank == 0 {
                output::remove_parts(&parts);
            }
        })?;
        Ok(recorder)
    }

    /// Puts this rank (and, for rank 0, the header) into the part, which also shows that it can be written.
    fn announce_rank(&self) -> Result<(), String> {
        let mut frames = Vec::new();
        if self.rank == 0 {
            frames = frame::encode(FrameKind::Header, &self.header).map_err(|error| error.to_string())?;
        }
        frames.extend(frame::encode(FrameKind::Rank, &self.info).map_err(|error| error.to_string())?);
        let written = self.part.append(&frames);
        written.map(|_| ()).map_err(|error| {
            format!("cannot write {}: {}", self.part.path().display(), message::plain(&error))
        })
    }

    /// Makes the name of a new file known to whoever finds the spool of a killed process. Called
    /// with the file table locked, so one at a time.
    fn announce(&self, number: u32, name: &str) {
        self.spool.add_name(number, name);
    }

    fn store_here(&self, record: &Record, file: u32) {
        thread::with(|thread| self.store(thread, record, file));
    }

    #[inline]
    fn store(&self, thread: &ThreadState, record: &Record, file: u32) {
        let identity = pack_identity(file, record.kind, record.flags, thread.number());
        let common = [record.start, record.end, record.offset as u64, record.bytes, identity];
        if record.kind.is_nonblocking() {
            let [a, b, c, d, e] = common;
            let [f, g, h, i] = record.nonblocking;
            self.push(thread, [a, b, c, d, e, f, g, h, i]);
        } else {
            self.push(thread, common);
        }
    }

    #[inline]
    fn push<const N: usize>(&self, thread: &ThreadState, words: [u64; N]) {
        match thread.slot.get() {
            Some(slot) if slot.push(words) => {}
            _ => self.push_slowly(thread, words),
        }
    }

    #[cold]
    fn push_slowly<const N: usize>(&self, thread: &ThreadState, words: [u64; N]) {
        // Keeps the application's allocator and error number out of it as far as possible.
        let errno = Errno::save();
        if let Some(slot) = self.slot_with_room(thread) {
            thread.slot.set(Some(slot));
            if !slot.push(words) {
                self.lost.fetch_add(1, Relaxed);
            }
        } else if !self.push_shared(words) {
            self.lost.fetch_add(1, Relaxed);
        }
        drop(errno);
    }

    /// The calling thread's slot, emptied, or a new one. `None`: there are more threads than slots.
    fn slot_with_room(&self, thread: &ThreadState) -> Option<&'static Slot> {
        let id = system::thread_id();
        if let Some(full) = thread.slot.get() {
            if full.try_lock() {
                let emptied = self.empty(full);
                full.unlock();
                return emptied.then_some(full);
            }
            // The flush thread is at it: leave the slot to it and take another.
            thread.slot.set(None);
            full.release();
        }
        let _turn = self.claiming.lock();
        let recorder = RECORDER.get()?;
        for slot in recorder.spool.slots() {
            let owner = slot.owner_id();
            let free = owner == 0 && slot.claim(id);
            // A thread that is gone cannot have a slot; nor can an earlier one of the same id.
            let left =
                owner != 0 && (owner == id || system::thread_is_gone(owner)) && slot.inherit(owner, id);
            if !(free || left) {
                continue;
            }
            if slot.try_lock() {
                let emptied = recorder.empty(slot);
                slot.unlock();
                if emptied {
                    return Some(slot);
                }
            }
            slot.release();
        }
        let slot = recorder.spool.grow()?;
        slot.claim(id).then_some(slot)
    }

    /// Writes a slot's records out and empties it. The caller owns and has locked it.
    fn empty(&self, slot: &Slot) -> bool {
        let mut writer = self.writers[APPLICATION].lock();
        // With one slot in use, all that this rank did so far is in it.
        let covered = if self.spool.len() == 1 { clock::monotonic() } else { self.covered.load(Relaxed) };
        let written = !slot.has_records() || self.write_block(&mut writer, &[slot], covered);
        if written {
            slot.reset();
        }
        written
    }

    fn push_shared<const N: usize>(&self, words: [u64; N]) -> bool {
        let mut shared = self.shared.lock();
        let slot = match *shared {
            Some(slot) => slot,
            None => match RECORDER.get().and_then(|recorder| recorder.spool.shared()) {
                Some(slot) => *shared.insert(slot),
                None => return false,
            },
        };
        if slot.push(words) {
            return true;
        }
        while !slot.try_lock() {
            std::thread::yield_now();
        }
        let emptied = self.empty(slot);
        slot.unlock();
        emptied && slot.push(words)
    }

    /// Writes out everything that is published, and how far that covers this rank.
    fn flush(&self, who: usize) {
        let errno = Errno::save();
        self.write_out(who, false);
        drop(errno);
    }

    /// As [`flush`](Self::flush); `patiently`: also what another thread is writing just now, if it
    /// ends soon. Returns whether nothing is left.
    pub(crate) fn write_out(&self, who: usize, patiently: bool) -> bool {
        let Some(writer) = self.writers.get(who) else { return false };
        let mut writer = writer.lock();
        // Clock first, then what threads are in, then what they have published: see `Slot::begin`.
        let (now, scale) = (clock::monotonic(), clock::scale());
        let since = self.spool.slots().map(Slot::in_flight_since).filter(|&since| since != 0).min();
        let covered = since.map_or(now, |ticks| scale.to_ns(ticks).min(now));
        let mut locked = Vec::new();
        let mut all = locked.try_reserve(self.spool.len()).is_ok();
        for slot in self.spool.slots() {
            let tries = if patiently { 1000 } else { 1 };
            let got = (0..tries).any(|attempt| {
                if attempt > 0 {
                    std::thread::sleep(std::time::Duration::from_micros(100));
                }
                slot.try_lock()
            });
            if got && locked.len() < locked.capacity() {
                locked.push(slot);
            } else {
                all = false;
            }
        }
        let covered = if all { covered } else { self.covered.load(Relaxed) };
        let written = self.write_block(&mut writer, &locked, covered);
        if written {
            self.covered.fetch_max(covered, Relaxed);
        }
        locked.iter().for_each(|slot| slot.unlock());
        written && all
    }

    /// Makes a block of the published records of locked slots and appends it to the part.
    fn write_block(&self, writer: &mut Writer, slots: &[&Slot], covered: i64) -> bool {
        if self.failed.get().is_some() {
            return false;
        }
        let began = clock::monotonic();
        let sequence = self.sequence.fetch_add(1, Relaxed);
        let result = self.encode(writer, slots, sequence, covered).and_then(|count| {
            let frame = writer.encoder.frame();
            let extent = self.part.append(frame).map_err(|error| {
                format!("cannot write {}: {}", self.part.path().display(), message::plain(&error))
            })?;
            self.own_bytes.fetch_add(frame.len(), Relaxed);
            note_extent(&mut writer.extents, extent);
            writer.operations += count;
            Ok(())
        });
        self.own_time.fetch_add(clock::monotonic() - began, Relaxed);
        match result {
            Ok(()) => {
                slots.iter().for_each(|slot| slot.taken());
                true
            }
            Err(reason) => {
                self.give_up(&reason);
                false
            }
        }
    }

    /// Encodes the published records of locked slots; returns their number.
    fn encode(
        &self,
        writer: &mut Writer,
        slots: &[&Slot],
        sequence: u64,
        covered: i64,
    ) -> Result<u64, String> {
        let now = clock::scale();
        let records: Vec<_> = slots.iter().map(|slot| slot.take(sequence, now)).collect();
        let most = records.iter().map(|words| words.most()).sum();
        if !writer.encoder.restart(most) {
            return Err("no memory for a block".to_owned());
        }
        let mut count = 0;
        for operation in records.into_iter().flatten() {
            writer.encoder.push(&operation);
            count += 1;
        }
        let names = self.files.names(writer.encoder.files());
        let names = names.iter().map(|(number, name)| (*number, &**name)).collect();
        writer.encoder.finish(self.rank, sequence, covered, names).map_err(|error| error.to_string())?;
        Ok(count)
    }

    /// Encodes everything that is left, and that nothing more will come, into memory.
    pub(crate) fn last_block(&self) -> Result<(Vec<u8>, u64), String> {
        let [application, flusher] = &self.writers;
        let (mut writer, flusher) = (application.lock(), flusher.lock());
        let slots: Vec<&Slot> = self.spool.slots().filter(|slot| slot.try_lock()).collect();
        let sequence = self.sequence.fetch_add(1, Relaxed);
        let count = self.encode(&mut writer, &slots, sequence, clock::monotonic())?;
        let total = writer.operations + flusher.operations + count;
        Ok((writer.encoder.frame().to_vec(), total))
    }

    /// Where this rank's blocks lie in the part, in order.
    pub(crate) fn extents(&self) -> Vec<Extent> {
        let mut extents: Vec<Extent> = self.writers.iter().flat_map(|w| w.lock().extents.clone()).collect();
        extents.sort_by_key(|extent| extent.start);
        extents
    }

    /// A reading of this rank's clock, for the trace.
    pub(crate) fn clock_sample(&self, offset: i64, error: i64) -> ClockSample {
        sample(self.epoch, offset, error)
    }

    fn give_up(&self, reason: &str) {
        let _ = self.failed.set(reason.to_owned());
        let _ = STATE.compare_exchange(ON, OVER, AcqRel, Relaxed);
        message::warn(format_args!("tracing stopped: {reason}"));
    }

    /// Why this rank's records could not be kept.
    pub(crate) fn failure(&self) -> Option<&String> {
        self.failed.get()
    }

    fn stop_flush_thread(&self) {
        if let Some(thread) = self.flush_thread.lock().take() {
            thread.stop();
        }
    }
}

fn note_extent(extents: &mut Vec<Extent>, extent: Extent) {
    match extents.last_mut() {
        Some(last) if last.end == extent.start => last.end = extent.end,
        _ => extents.push(extent),
    }
}

fn sample(epoch: i64, offset: i64, error: i64) -> ClockSample {
    let (local, real) = (clock::monotonic(), clock::realtime());
    ClockSample { local, job: local + offset - epoch, real, error }
}

/// Nanoseconds that stamping and storing a record takes on this machine.
fn measure_record() -> f64 {
    const TIMES: usize = 256;
    let memory = [const { AtomicU64::new(0) }; SYNC_WORDS];
    let began = clock::monotonic();
    for _ in 0..TIMES {
        let words = [clock::now(), clock::now(), 0, 0, 0];
        for (place, word) in memory.iter().zip(words) {
            std::hint::black_box(place).store(word, Release);
        }
    }
    (clock::monotonic() - began) as f64 / TIMES as f64
}

/// What all ranks must know before they begin, decided by rank 0.
struct Plan {
    output: PathBuf,
    job: String,
    start: i64,
    epoch: i64,
}

impl Plan {
    fn make(job: &JobInfo, ranks: u32, host: &str, pattern: Option<&str>) -> Result<Self, String> {
        let mut id = system::job_id();
        if job.spawned {
            id = format!("{id}.spawn{}", std::process::id());
        }
        let values = Values { job: id.clone(), ranks, host: host.to_owned() };
        let output = output::prepare(pattern, &values)?;
        Ok(Plan { output, job: id, start: clock::realtime(), epoch: clock::monotonic() })
    }

    /// Rank 0 makes the plan, the others get it.
    fn agree(world: &dyn World, make: impl FnOnce() -> Result<Self, String>) -> Result<Self, String> {
        let mut letter = [0u8; 8192];
        if world.rank() == 0 {
            let text = match make() {
                Ok(plan) => {
                    let output = plan.output.to_string_lossy();
                    format!("{}\0{}\0{}\0{output}\0\0", plan.start, plan.epoch, plan.job)
                }
                Err(reason) => format!("!{reason}\0"),
            };
            let length = text.len().min(letter.len() - 1);
            for (place, byte) in letter.iter_mut().zip(text.bytes().take(length)) {
                *place = byte;
            }
        }
        if !world.broadcast(0, &mut letter) {
            return Err("the ranks could not agree on it".to_owned());
        }
        let text = String::from_utf8_lossy(&letter);
        if let Some(reason) = text.strip_prefix('!') {
            return Err(reason.trim_end_matches('\0').to_owned());
        }
        let mut fields = text.split('\0');
        let mut field = || fields.next().unwrap_or_default();
        let (start, epoch, job, output) = (field(), field(), field(), field());
        match (start.parse(), epoch.parse()) {
            (Ok(start), Ok(epoch)) if !output.is_empty() => {
                Ok(Plan { output: Path::new(output).to_owned(), job: job.to_owned(), start, epoch })
            }
            _ => Err("its path is too long".to_owned()),
        }
    }
}

/// Keeps the application's `errno` over what tmio does.
struct Errno(i32);

impl Errno {
    fn save() -> Self {
        // SAFETY: the address is that of this thread's errno.
        Errno(unsafe { *libc::__errno_location() })
    }
}

impl Drop for Errno {
    fn drop(&mut self) {
        // SAFETY: as above.
        unsafe { *libc::__errno_location() = self.0 };
    }
}
