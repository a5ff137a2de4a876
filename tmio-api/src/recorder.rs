//! The recorder: one per process, from `MPI_Init` to `MPI_Finalize`.

use crate::blocks::Writer;
use crate::c_abi::shield;
use crate::commit;
use crate::files::{self, Files, IGNORED};
use crate::flush_thread::FlushThread;
use crate::options::{self, Flush, Options};
use crate::output;
use crate::parts::Part;
use crate::plan::Plan;
use crate::slot::{self, Slot};
use crate::spool::Spool;
use crate::storing::{self, WithoutSlot};
use crate::thread::ThreadState;
use crate::world::{JobInfo, World};
use crate::{clock, message, system, thread};
use parking_lot::Mutex;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::atomic::Ordering::{AcqRel, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU8, AtomicU64, AtomicUsize};
use tmio_trace::block::BlockEncoder;
use tmio_trace::frame::{self, FrameKind};
use tmio_trace::spool::{ASYNC_WORDS, SYNC_WORDS};
use tmio_trace::{ClockSample, FORMAT_VERSION, Flags, Header, Metadata, OpKind, RankInfo};

const OFF: u8 = 0;
const ON: u8 = 1;
const PAUSED: u8 = 2;
/// After `fork`, after `MPI_Finalize`, after an error: off for good.
const OVER: u8 = 3;

static STATE: AtomicU8 = AtomicU8::new(OFF);
static RECORDER: OnceLock<Recorder> = OnceLock::new();

pub(crate) fn recorder() -> Option<&'static Recorder> {
    RECORDER.get()
}

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
    pub(crate) files: Files,
    /// Whether `TMIO_RANKS` has this rank.
    recording: bool,
    pub(crate) sequence: AtomicU64,
    pub(crate) covered: AtomicI64,
    pub(crate) without_slot: WithoutSlot,
    /// One for the application's threads, one for the flush thread: neither waits for the other.
    pub(crate) writers: [Mutex<Writer>; 2],
    /// Only one thread claims a slot at a time.
    pub(crate) claiming: Mutex<()>,
    /// The slot of threads beyond the last slot.
    pub(crate) shared: Mutex<Option<&'static Slot>>,
    pub(crate) lost: AtomicU64,
    pub(crate) failed: OnceLock<String>,
    pub(crate) io_at_start: (u64, u64),
    /// Bytes and nanoseconds that tmio itself has written and taken.
    pub(crate) own_bytes: AtomicUsize,
    pub(crate) own_time: AtomicI64,
    pub(crate) time_per_record: f64,
    flush_thread: Mutex<Option<FlushThread>>,
}

pub(crate) const APPLICATION: usize = 0;
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

/// Records one operation of the calling thread, if tracing is on. Nothing in it unwinds.
#[inline(always)]
pub fn record(thread: &ThreadState, record: Record) {
    if !is_on() {
        return;
    }
    // Nearly every record is of the file that the thread used last, and there is room in the thread's slot.
    let stored = match files::remembered(thread, record.file) {
        Some(IGNORED) => true,
        Some(file) => storing::store_in_slot(thread, &record, file),
        None => false,
    };
    if !stored {
        record_slowly(thread, &{ record });
    }
}

#[cold]
#[inline(never)]
fn record_slowly(thread: &ThreadState, record: &Record) {
    shield(|| {
        let Some(recorder) = RECORDER.get() else { return };
        let file = recorder.files.lookup(thread, record.file);
        if file != IGNORED {
            recorder.store(thread, record, file);
        }
    });
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
            None => Plan::make(job, ranks, &host, &options),
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
            without_slot: WithoutSlot::default(),
            writers: Default::default(),
            claiming: Mutex::new(()),
            shared: Mutex::new(None),
            lost: AtomicU64::new(0),
            failed: OnceLock::new(),
            io_at_start: system::process_io(),
            own_bytes: AtomicUsize::new(0),
            own_time: AtomicI64::new(0),
            time_per_record: slot::measure_record(),
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

    /// Makes the name of a new file known to whoever finds the spool of a killed process: in the
    /// spool, or when that has no more room for names, in the part. Called with the file table
    /// locked, so one at a time.
    fn announce(&self, number: u32, name: &str) {
        if self.spool.add_name(number, name) {
            return;
        }
        let sequence = self.sequence.fetch_add(1, Relaxed);
        let mut encoder = BlockEncoder::default();
        if encoder.restart(0)
            && let Ok(frame) =
                encoder.finish(self.rank, sequence, self.covered.load(Relaxed), vec![(number, name)])
        {
            // Only a reader of the parts needs it, so neither its place nor its failure is noted.
            let _ = self.part.append(frame);
        }
    }

    /// A reading of this rank's clock, for the trace.
    pub(crate) fn clock_sample(&self, offset: i64, error: i64) -> ClockSample {
        sample(self.epoch, offset, error)
    }

    /// Stops recording for good; the reason is said once, and told to all in `MPI_Finalize`.
    pub(crate) fn give_up(&self, reason: &str) {
        let _ = self.failed.set(reason.to_owned());
        let _ = STATE.compare_exchange(ON, OVER, AcqRel, Relaxed);
        message::warn(format_args!("tracing stopped: {reason}"));
    }

    fn stop_flush_thread(&self) {
        if let Some(thread) = self.flush_thread.lock().take() {
            thread.stop();
        }
    }
}

fn sample(epoch: i64, offset: i64, error: i64) -> ClockSample {
    let (local, real) = (clock::monotonic(), clock::realtime());
    ClockSample { local, job: local + offset - epoch, real, error }
}
