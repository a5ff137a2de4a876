//! The recorder: one per process, from `MPI_Init` to `MPI_Finalize`.

use crate::beside;
use crate::buffers::{self, Buffers, Settings, Who};
use crate::files::{self, Files, IGNORED, Opened};
use crate::nodes::Nodes;
use crate::options::{self, Flush, Options};
use crate::parts::Part;
use crate::plan::{self, Plan};
use crate::record::Record;
use crate::shield::{NoSignals, shield};
use crate::state::{self, is_on};
use crate::system::ProcessIo;
use crate::thread::ThreadState;
use crate::world::{JobInfo, World};
use crate::{clock, clocks, commit, flush_thread, leases, message, process, slot, storing, system, thread};
use std::sync::OnceLock;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;
use tmio_trace::{FORMAT_VERSION, Flags, Header, Metadata, RankInfo, liveness, parts};

static RECORDER: OnceLock<Recorder> = OnceLock::new();

/// Whether [`start`] was successful in this process.
pub fn has_started() -> bool {
    RECORDER.get().is_some()
}

/// Whether this process has recorded something.
pub fn has_records() -> bool {
    buffers::get().is_some_and(|buffers| buffers.spool().is_some())
}

#[derive(Debug)]
pub(crate) struct Recorder {
    pub(crate) options: Options,
    /// Where the trace goes, as this rank was told at the start.
    pub(crate) plan: Plan,
    /// The user has named the output.
    pub(crate) output_was_given: bool,
    pub(crate) header: Header,
    pub(crate) info: RankInfo,
    /// The lowest of the ranks that began together.
    pub(crate) is_first: bool,
    pub(crate) buffers: &'static Buffers,
    /// Whether `TMIO_RANKS` has this rank.
    recording: bool,
    pub(crate) io_at_start: ProcessIo,
    pub(crate) time_per_record: f64,
}

/// Begins tracing; called once, at the end of `MPI_Init`, by all ranks. Whatever goes wrong, the job goes on
/// without a trace, and rank 0 says why.
pub fn start(world: &dyn World, job: &JobInfo, parsed: options::Parsed) -> bool {
    let entered = clock::monotonic();
    thread::with(process::give_way);
    message::configure(parsed.options.log, world.rank() == 0);
    clock::choose(parsed.options.clock);
    let recorder = match Recorder::new(world, job, parsed) {
        Ok(recorder) => recorder,
        Err(reason) => {
            // The user does not want to be traced, nor to read about it.
            if reason != plan::NOT_WANTED {
                message::warn(format_args!("no trace: {reason}"));
            }
            return false;
        }
    };
    recorder.buffers.own_time.fetch_add(clock::monotonic() - entered, Relaxed);
    if RECORDER.set(recorder).is_err() {
        return false;
    }
    // SAFETY: the handler only stores to an atomic, which is allowed in the child of a fork.
    unsafe { libc::pthread_atfork(None, None, Some(state::off_in_child)) };
    let Some(recorder) = RECORDER.get() else { return false };
    if let Some(choice) = &recorder.options.iosets {
        recorder.take_turns(choice, world, job);
    }
    if recorder.recording {
        state::turn_on();
    }
    true
}

/// Records one operation of the calling thread, which began while recording was on. Nothing in it unwinds.
#[inline(always)]
pub fn record(thread: &ThreadState, record: Record) {
    if !state::is_on_or_paused() {
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
    let Some(buffers) = buffers::get() else { return };
    let Some(file) = shield(|| buffers.files.lookup(thread, record.file)) else { return };
    if file == IGNORED || storing::store_in_slot(thread, record, file) {
        return;
    }
    // A handler may not leave by a jump what writes out a full slot.
    let _signals = NoSignals::new();
    shield(|| buffers.store(thread, record, file));
}

/// A file was opened between `start` and `end`.
pub fn open_file(handle: usize, name: &str, start: u64, end: u64) {
    let Some(recorder) = RECORDER.get().filter(|_| !state::is_over()) else { return };
    leases::opened(handle, name);
    let number = recorder.buffers.files.open(handle, name, |number| recorder.buffers.announce(number, name));
    if is_on() && number != IGNORED {
        recorder.buffers.store_here(&Record::metadata(Metadata::Open, handle, start, end), number);
    }
}

/// What a handle stands for, for the call that is about to close it.
pub fn closing_file(handle: usize) -> Option<Opened> {
    let recorder = RECORDER.get().filter(|_| !state::is_over())?;
    Some(recorder.buffers.files.opened(handle))
}

/// A file was closed between `start` and `end`.
pub fn close_file(file: Opened, start: u64, end: u64) {
    let Some(recorder) = RECORDER.get().filter(|_| !state::is_over()) else { return };
    recorder.buffers.files.close(file);
    if is_on() && file.number != IGNORED {
        recorder.buffers.store_here(&Record::metadata(Metadata::Close, file.handle, start, end), file.number);
    }
    if recorder.options.flush == Flush::Close {
        flush();
    }
}

/// A file was deleted, or was not to be, between `start` and `end`.
pub fn delete_file(name: &str, deleted: bool, start: u64, end: u64) {
    let Some(recorder) = RECORDER.get().filter(|_| is_on()) else { return };
    if !recorder.buffers.files.wants(name) {
        return;
    }
    let number = recorder.buffers.files.intern(name, |number| recorder.buffers.announce(number, name));
    let flags = if deleted { Flags::default() } else { Flags::FAILED };
    recorder
        .buffers
        .store_here(&Record { flags, ..Record::metadata(Metadata::Delete, 0, start, end) }, number);
}

/// Records a mark with a text of the program's own.
pub fn mark(text: &str) {
    if let Some(buffers) = buffers::get().filter(|_| is_on() || process::is_recording()) {
        buffers.store_mark(text, clock::now());
    }
}

/// Writes out what this rank has recorded since the last time. Waits for nobody.
pub fn flush() {
    let recording = state::is_on_or_paused() || process::is_recording();
    if let Some(buffers) = buffers::get().filter(|_| recording) {
        buffers.flush(Who::Application);
    }
}

/// Ends tracing and makes one trace of all ranks' records; called inside `MPI_Finalize` by all ranks
/// on which [`start`] returned `true`.
pub fn finish(world: &dyn World) {
    if !state::end() {
        return;
    }
    let Some(recorder) = RECORDER.get() else { return };
    leases::finish(recorder.is_first);
    recorder.buffers.stop_flush_thread();
    commit::commit(recorder, world);
}

/// Ends tracing in `MPI_Finalize` when the ranks cannot make one trace together, and says why.
pub fn finish_apart(reason: &str) {
    finish_without_mpi();
    if let Some(recorder) = RECORDER.get() {
        let output = recorder.plan.place.path.display();
        message::warn(format_args!(
            "no complete trace: {reason}; `ftio {output}` reads what is in its parts"
        ));
    }
}

/// Ends tracing in a process that exits without `MPI_Finalize`: what it recorded is kept in the parts,
/// or, if that cannot be done now, in its spool.
///
/// It may be called in a signal handler that has interrupted anything, also tmio or `malloc`.
pub fn finish_without_mpi() {
    if !state::end() {
        return;
    }
    leases::abandon(RECORDER.get().is_some_and(|recorder| recorder.is_first));
    let Some(buffers) = buffers::get() else { return };
    if buffers.has_flush_thread() {
        flush_thread::write_all(PATIENCE);
    } else if buffers.spool().is_some_and(|spool| spool.file().is_none()) {
        // Nobody else can, and there is no spool that survives.
        buffers.end(Who::Application);
    }
}

/// How long the end of a process without `MPI_Finalize` waits for its records to be written.
const PATIENCE: Duration = Duration::from_secs(1);

impl Recorder {
    fn new(world: &dyn World, job: &JobInfo, parsed: options::Parsed) -> Result<Self, String> {
        let options = parsed.options;
        if world.rank() == 0 && options.dump_config {
            message::configure(message::Level::Info.max(options.log), true);
            message::info(options::dump(&parsed.sources));
            message::configure(options.log, true);
        }
        // Without the MPI side's word, the ranks that began together are all there are.
        let all = job.world_size == 0;
        let (rank, ranks) = if all { (world.rank(), world.size()) } else { (job.world_rank, job.world_size) };
        let mut info = RankInfo { rank, host: system::host(), ..RankInfo::default() };
        liveness::identify(&mut info);
        let plan = Plan::agree(world, || match parsed.problem {
            Some(problem) => Err(problem),
            None => Plan::make(job, ranks, &info.host, &options),
        })?;
        if let Some(ignored) = &parsed.ignored {
            message::remark(ignored);
        }
        let node = system::node_number(&info);
        let clocks = Nodes::find(world, node)
            .and_then(|nodes| clocks::compare(world, &nodes, &clock::monotonic))
            .ok_or("the clocks of the nodes could not be compared");
        let (offset, error) = clocks?;
        info.clock.push(clock::sample(plan.epoch, offset, error));
        let header = Header {
            version: FORMAT_VERSION,
            job: plan.job.clone(),
            ranks,
            executable: system::executable().to_string_lossy().into_owned(),
            start: plan.start,
            mpi: job.mpi.clone(),
            tmio: env!("CARGO_PKG_VERSION").to_owned(),
            number: Some(plan.number),
            filters: options.filters(),
            processes: false,
            layers: options.layers.posix || options.layers.stdio,
            command: Some(crate::process::command()).filter(|command| !command.is_empty()),
        };
        let name = parts::name(&info.host, plan.number, node as u64);
        let part =
            Part::new(&parts::directory(&plan.place.path), &name, &plan.place.stem, &plan.place.private);
        let files = Files::new(options.files.clone(), options.exclude_files.clone());
        let mut settings = options.buffers();
        // Those of the node that began together have their share.
        let share = u128::from(plan.max_bytes) * u128::from(world.size()) / u128::from(ranks.max(1));
        settings.most_bytes = u64::try_from(share).unwrap_or(u64::MAX).max(u64::from(plan.max_bytes > 0));
        let buffers = Buffers::new(part, header.clone(), info.clone(), settings, files);
        Ok(Recorder {
            recording: options::wants_rank(&options.ranks, rank),
            output_was_given: options.output.is_some(),
            plan,
            header,
            info,
            is_first: world.rank() == 0,
            buffers: buffers.install().ok_or("tracing has already begun")?,
            options,
            io_at_start: {
                beside::forget();
                system::process_io()
            },
            time_per_record: slot::measure_record(),
        })
    }
}

impl Recorder {
    /// A number that is the same for the ranks of a node that began together: they share a part.
    pub(crate) fn node(&self) -> i64 {
        ((system::node_number(&self.info) as u64 ^ self.plan.number) >> 1) as i64
    }

    /// Asks the arbiter from here on. The nodes of a job have to be one job for it.
    fn take_turns(&self, choice: &leases::IoSets, world: &dyn World, job: &JobInfo) {
        let all = world.size() >= job.world_size;
        if !all && job.key.is_none() {
            let reason = "the launcher does not tell which nodes belong together";
            return message::warn(format_args!("TMIO_IOSETS: {reason}; the job does not wait for its turn"));
        }
        let of = job.world_size.max(world.size());
        let ranks = (world.rank(), world.size());
        leases::start(choice, &self.plan.job, self.plan.number, &self.info.host, ranks, of);
    }
}

impl Options {
    fn buffers(&self) -> Settings {
        let interval = match self.flush {
            Flush::Interval(interval) => Some(interval),
            _ => Some(self.max_age).filter(|age| !age.is_zero()),
        };
        let online = matches!(self.flush, Flush::Interval(_));
        let (spool, bytes) = (self.spool.clone(), self.buffer);
        Settings { spool, bytes, interval, online, salvages: true, most_bytes: 0 }
    }
}
