//! The recorder: one per rank, from `MPI_Init` to `MPI_Finalize`.

use crate::options::{self, Flush, Options};
use crate::place::destination::Destination;
use crate::process::preloaded::{self, Spool};
use crate::process::shield::{NoSignals, shield};
use crate::process::state::{self, is_on};
use crate::process::surroundings::Surroundings;
use crate::process::system::ProcessIo;
use crate::process::thread::ThreadState;
use crate::process::{clock, message, system, thread};
use crate::ranks::nodes::Nodes;
use crate::ranks::plan::{self, Plan};
use crate::ranks::world::{JobInfo, World};
use crate::ranks::{clocks, commit};
use crate::store::files::{self, Files, IGNORED, Opened};
use crate::store::record::Record;
use crate::turns;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::sync::OnceLock;
use tmio_spool::attach::Rank;
use tmio_spool::layout;
use tmio_trace::frame::{self, FrameKind};
use tmio_trace::{FORMAT_VERSION, Flags, Header, Metadata, RankInfo, liveness};

static RECORDER: OnceLock<Recorder> = OnceLock::new();

/// Whether [`start`] was successful in this process.
pub fn has_started() -> bool {
    RECORDER.get().is_some()
}

#[derive(Debug)]
struct Recorder {
    options: Options,
    /// Where the trace goes, as this rank was told at the start.
    plan: Plan,
    header: Header,
    info: RankInfo,
    /// The lowest of the ranks that began together.
    is_first: bool,
    /// The part of this node, where blocks go while the job runs.
    part: PathBuf,
    files: Files,
    /// Whether `TMIO_RANKS` has this rank.
    recording: bool,
    io_at_start: ProcessIo,
    /// Nanoseconds that the start took.
    start_time: i64,
    /// This node's share of the largest size of the trace; 0: there is none.
    most_bytes: u64,
    /// The call of the launcher that has started this process, where it is known.
    launch: Option<u64>,
}

/// Begins tracing; called once, at the end of `MPI_Init`, by all ranks. Whatever goes wrong, the job goes on
/// without a trace, and rank 0 says why.
pub fn start(world: &dyn World, job: &JobInfo, parsed: options::Parsed) -> bool {
    message::configure(parsed.options.log, world.rank() == 0);
    let entered = clock::monotonic();
    let mut recorder = match Recorder::new(world, job, parsed) {
        Ok(recorder) => recorder,
        Err(reason) => {
            // The user does not want to be traced, nor to read about it.
            if reason != plan::NOT_WANTED {
                message::warn(format_args!("no trace: {reason}"));
            }
            return false;
        }
    };
    recorder.start_time = clock::monotonic() - entered;
    if RECORDER.set(recorder).is_err() {
        return false;
    }
    // SAFETY: the handler only stores to an atomic, which is allowed in the child of a fork.
    unsafe { libc::pthread_atfork(None, None, Some(state::off_in_child)) };
    let Some(recorder) = RECORDER.get() else { return false };
    if let Some(choice) = &recorder.options.iosets {
        recorder.take_turns(choice, world, job);
    }
    if !recorder.announce() {
        message::warn("no trace: this kernel cannot tell a process from its fork children");
        return false;
    }
    if recorder.recording && recorder.options.layers.mpiio {
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
    // Nearly every record is of the file that the thread used last.
    match files::remembered(thread, record.file) {
        Some(IGNORED) => {}
        Some(file) => record.store(thread, file),
        None => record_slowly(thread, &{ record }),
    }
}

#[cold]
#[inline(never)]
fn record_slowly(thread: &ThreadState, record: &Record) {
    // A handler may not leave the table of files by a jump.
    let _signals = NoSignals::new();
    let Some(recorder) = RECORDER.get() else { return };
    match shield(|| recorder.files.lookup(thread, record.file)) {
        None | Some(IGNORED) => {}
        Some(file) => record.store(thread, file),
    }
}

/// A file was opened between `start` and `end`.
pub fn open_file(handle: usize, name: &str, start: u64, end: u64) {
    let Some(recorder) = RECORDER.get().filter(|_| !state::is_over()) else { return };
    turns::opened(handle, name);
    let number = recorder.files.open(handle, name);
    if is_on() && number != IGNORED {
        keep_and_store(&Record::metadata(Metadata::Open, handle, start, end), number);
    }
}

/// Stores a record of MPI-IO: a process that has one is kept.
fn keep_and_store(record: &Record, number: u32) {
    preloaded::get().inspect(|core| (core.keep)());
    thread::with(|thread| record.store(thread, number));
}

/// What a handle stands for, for the call that is about to close it.
pub fn closing_file(handle: usize) -> Option<Opened> {
    let recorder = RECORDER.get().filter(|_| !state::is_over())?;
    Some(recorder.files.opened(handle))
}

/// A file was closed between `start` and `end`.
pub fn close_file(file: Opened, start: u64, end: u64) {
    let Some(recorder) = RECORDER.get().filter(|_| !state::is_over()) else { return };
    recorder.files.close(file);
    if is_on() && file.number() != IGNORED {
        keep_and_store(&Record::metadata(Metadata::Close, file.handle(), start, end), file.number());
    }
    if recorder.options.flush == Flush::Close {
        flush();
    }
}

/// A file was deleted, or was not to be, between `start` and `end`.
pub fn delete_file(name: &str, deleted: bool, start: u64, end: u64) {
    let Some(recorder) = RECORDER.get().filter(|_| is_on()) else { return };
    if let Some(number) = recorder.files.number_of(name) {
        let flags = if deleted { Flags::default() } else { Flags::FAILED };
        keep_and_store(&Record { flags, ..Record::metadata(Metadata::Delete, 0, start, end) }, number);
    }
}

/// Has everything written out that this rank has recorded since the last time. Waits for nobody.
pub fn flush() {
    if state::is_over() || !has_started() {
        return;
    }
    if let (Some(core), Some(spool)) = (preloaded::get(), Spool::make()) {
        spool.set(layout::FLUSHES, spool.word(layout::FLUSHES) + 1);
        (core.helper)(false);
    }
}

/// Ends tracing and makes one trace of all ranks' records; called inside `MPI_Finalize` by all ranks
/// on which [`start`] returned `true`.
pub fn finish(world: &dyn World) {
    if !state::end() {
        return;
    }
    let Some(recorder) = RECORDER.get() else { return };
    turns::finish(recorder.is_first);
    let job = commit::Job {
        options: &recorder.options,
        plan: &recorder.plan,
        header: &recorder.header,
        info: &recorder.info,
        is_first: recorder.is_first,
        node: recorder.node(),
        io_at_start: recorder.io_at_start,
        start_time: recorder.start_time,
    };
    commit::commit(&job, world);
    preloaded::get().inspect(|core| (core.end)(false));
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

/// Ends tracing in a process that exits without `MPI_Finalize`: the helper writes out what it has recorded.
///
/// It may be called in a signal handler that has interrupted anything, also tmio or `malloc`.
pub fn finish_without_mpi() {
    if !state::end() {
        return;
    }
    turns::abandon(RECORDER.get().is_some_and(|recorder| recorder.is_first));
    if let Some(core) = preloaded::get() {
        (core.end)(false);
    }
}

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
        let around = &Surroundings::here();
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
        let clocks = Nodes::find(world, system::helper_number(&info))
            .and_then(|nodes| clocks::compare(world, &nodes, &clock::monotonic))
            .ok_or("the clocks of the nodes could not be compared");
        let (offset, error) = clocks?;
        info.clock.push(clock::sample(plan.epoch, offset, error));
        let header = Header {
            version: FORMAT_VERSION,
            job: plan.job.clone(),
            ranks,
            executable: around.executable().to_string_lossy().into_owned(),
            start: plan.start,
            mpi: job.mpi.clone(),
            tmio: env!("CARGO_PKG_VERSION").to_owned(),
            number: Some(plan.number),
            filters: options.filters(),
            processes: false,
            layers: options.layers.posix || options.layers.stdio,
            command: Some(around.command()).filter(|command| !command.is_empty()),
        };
        // Those of the node that began together have their share.
        let share = u128::from(plan.max_bytes) * u128::from(world.size()) / u128::from(ranks.max(1));
        let most_bytes = u64::try_from(share).unwrap_or(u64::MAX).max(u64::from(plan.max_bytes > 0));
        let name = tmio_trace::parts::name(&info.host, plan.number, node as u64);
        Ok(Recorder {
            recording: options::wants_rank(&options.ranks, rank),
            part: tmio_trace::parts::directory(&plan.place.path).join(name),
            files: Files::new(options.files.clone(), options.exclude_files.clone()),
            plan,
            header,
            info,
            is_first: world.rank() == 0,
            options,
            io_at_start: system::process_io(around.pid),
            start_time: 0,
            most_bytes,
            launch: job.launch,
        })
    }

    /// A number that is the same for the ranks of a node that began together and have one helper.
    fn node(&self) -> i64 {
        ((system::helper_number(&self.info) as u64 ^ self.plan.number) >> 1) as i64
    }

    /// Tells the object that is preloaded what this process is. `false`: it cannot record it.
    fn announce(&self) -> bool {
        let Some(core) = preloaded::get() else { return false };
        let Some(identity) = self.identity() else { return false };
        let identity = identity.leak();
        let layers = self.options.layers;
        let layers = u8::from(layers.mpiio) | u8::from(layers.posix) << 1 | u8::from(layers.stdio) << 2;
        let spool = self.plan.spool.as_os_str().as_bytes().to_vec().leak();
        let rank = Rank {
            job: self.helper_key(),
            rank: self.info.rank,
            // A rank that is not wanted has a spool all the same: it says so in the trace.
            layers: if self.recording { layers } else { 0 },
            buffer: self.options.buffer as u64,
            min_bytes: self.options.min_bytes,
            monotonic: self.options.clock == options::ClockChoice::Monotonic,
            flushes_on_close: self.options.flush == Flush::Close,
            identity: identity.as_ptr(),
            identity_length: identity.len(),
            spool: spool.as_ptr(),
            spool_length: spool.len(),
        };
        // SAFETY: it stays, and so does what it points to.
        let begun = unsafe { (core.begin)(Box::leak(Box::new(rank))) };
        clock::follow((core.is_counter)());
        begun
    }

    /// The ranks of a node have one helper. Where processes of one host have clocks or process ids of their
    /// own, they are several nodes.
    fn helper_key(&self) -> u64 {
        let node = system::helper_number(&self.info) as u64;
        (self.plan.number ^ node.rotate_left(17)).max(1)
    }

    /// Where the records of this rank belong, and how they begin there.
    fn identity(&self) -> Option<Vec<u8>> {
        let mut greeting = frame::encode(FrameKind::Header, &self.header).ok()?;
        greeting.extend(frame::encode(FrameKind::Rank, &self.info).ok()?);
        let place = &self.plan.place;
        let destination = Destination {
            launch: self.launch,
            ..Destination::new(self.part.clone(), place, self.most_bytes, &self.options)
        };
        Some(destination.encode(&greeting))
    }

    /// Asks the arbiter from here on. The nodes of a job have to be one job for it.
    fn take_turns(&self, choice: &::turns::IoSets, world: &dyn World, job: &JobInfo) {
        let all = world.size() >= job.world_size;
        if !all && job.key.is_none() {
            let reason = "the launcher does not tell which nodes belong together";
            return message::warn(format_args!("TMIO_IOSETS: {reason}; the job does not wait for its turn"));
        }
        let of = job.world_size.max(world.size());
        let place = ::turns::Place { rank: world.rank(), ranks: world.size(), of };
        turns::start(choice, &self.plan.job, self.plan.number, &self.info.host, place);
    }
}
