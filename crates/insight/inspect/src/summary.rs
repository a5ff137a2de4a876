//! What a trace holds, summed up: `ftio info`.
//!
//! The names of the fields are a contract with callers. Times are in seconds, sizes in bytes, bandwidths in
//! bytes per second. A number that is not known, or would be a division by zero, is `None`.

use super::module::ModuleSummary;
use super::usage::LayerUsage;
use schemars::JsonSchema;
use serde::Serialize;
use sources::coverage::Coverage;
use sources::time::{ClockTime, nanoseconds};
use std::collections::BTreeMap;

/// The schema that [`Summary`] follows.
pub const SCHEMA: &str = "ftio.info/1";

/// A trace, summed up.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
#[non_exhaustive]
pub struct Summary {
    /// Always [`SCHEMA`].
    pub schema: &'static str,
    /// The trace, as the user named it.
    pub source: String,
    /// Ranks of the job, where the input tells.
    pub ranks: Option<u32>,
    /// Job time from which on the trace knows about the job.
    pub t_start: f64,
    /// Job time up to which the trace knows about the job.
    pub t_end: f64,
    /// Did the job reach its end, and could all of the trace be read?
    pub complete: bool,
    /// Parts of the input are missing or cannot be read; not: the job was killed, and this is what it did.
    #[serde(skip)]
    pub damaged: bool,
    /// Blocking writes.
    pub write_sync: ClassSummary,
    /// Blocking reads.
    pub read_sync: ClassSummary,
    /// Nonblocking writes.
    pub write_async: AsyncSummary,
    /// Nonblocking reads.
    pub read_async: AsyncSummary,
    /// One entry per file name.
    pub files: Vec<FileSummary>,
    /// What tracing cost.
    pub overhead: Overhead,
    /// How well the clocks agree.
    pub clock: Clock,
    /// How much of the I/O was seen.
    pub coverage: Coverage,
    /// Options of the tracer that left layers, ranks or files out on purpose, such as `TMIO_RANKS=0-3`; null
    /// if none did.
    pub filters: Option<String>,
    /// Operations that move no data: open, close, set_view …; `None` where the input does not record them.
    pub metadata: Option<Metadata>,
    /// Operations whose call returned an error, where the input tells.
    pub failed: Option<u64>,
    /// Operations that could not be kept, where the input tells.
    pub lost: Option<u64>,
    /// Operations that a limit on the size of the trace has merged to fewer records, where the input tells.
    pub merged: Option<MergedSummary>,
    /// Number of samples, of a sampled quantity.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub samples: Option<u64>,
    /// What the program has marked.
    pub marks: Vec<MarkSummary>,
    /// Ranks of which the trace tells nothing, as "3" or "5-7".
    pub missing_ranks: Vec<String>,
    /// Hosts on which records of killed ranks may still be.
    pub missing_hosts: Vec<String>,
    /// About the job, where the trace says so.
    pub job: Option<JobInfo>,
    /// Of a Darshan log, what its modules hold, by their names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub modules: Option<BTreeMap<String, ModuleSummary>>,
    /// Of a profile of the metric proxy, what its counters came to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counters: Option<BTreeMap<String, f64>>,
    /// What went through each layer: "mpiio", "posix", "stdio". Layers are never added up.
    pub layers: BTreeMap<String, LayerUsage>,
    /// What I/O takes of the run time; `None` where the input does not tell how long operations took.
    pub io_share: Option<IoShare>,
    /// Of a trace whose ranks are processes without MPI: which ones.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub processes: Vec<ProcessSummary>,
    /// What is wrong with the input: damage, missing parts.
    pub warnings: Vec<String>,
    /// What else the reader should know.
    pub notes: Vec<String>,
}

/// Shares of the run time that an average rank spends in I/O.
#[derive(Clone, Copy, Debug, Default, PartialEq, JsonSchema, Serialize)]
pub struct IoShare {
    /// In any of it.
    pub all: f64,
    /// Reading, or waiting for nonblocking reads.
    pub read: f64,
    /// Writing, or waiting for nonblocking writes.
    pub write: f64,
    /// Operations that move no data.
    pub metadata: f64,
    /// Of these, waiting for nonblocking operations.
    pub waiting: f64,
}

impl IoShare {
    /// Of a layer whose times are those that ranks wait; `waiting` is what of these goes into nonblocking
    /// operations, in seconds.
    pub(super) fn new(layer: &LayerUsage, waiting: f64, ranks: Option<u32>, run_time: f64) -> Option<Self> {
        let all = f64::from(ranks.unwrap_or(1).max(1)) * run_time;
        let share = |seconds: f64| seconds / all;
        (layer.time() > 0.0 && run_time > 0.0).then(|| IoShare {
            all: share(layer.time()),
            read: share(layer.read.time),
            write: share(layer.write.time),
            metadata: share(layer.meta.time),
            waiting: share(waiting),
        })
    }
}

/// All operations of a class.
#[derive(Clone, Copy, Debug, Default, PartialEq, JsonSchema, Serialize)]
pub struct ClassSummary {
    /// Number of operations.
    pub ops: u64,
    /// Bytes transferred.
    pub bytes: u64,
    /// Sum of the durations of all operations.
    pub time: f64,
    /// Ranks with at least one operation; `None` where the input does not tell.
    pub ranks: Option<u32>,
    /// bytes / time: what one rank gets on average.
    pub bandwidth: Option<f64>,
    /// Bytes over the time during which any rank had such an operation under way: what all ranks together
    /// get. To about 1/65536 of the job.
    pub aggregate_bandwidth: Option<f64>,
}

/// All operations of a nonblocking class.
#[derive(Clone, Copy, Debug, Default, PartialEq, JsonSchema, Serialize)]
pub struct AsyncSummary {
    /// What every class has.
    #[serde(flatten)]
    pub class: ClassSummary,
    /// Σ bytes / Σ (first deadline − first issue) over phases of overlapping requests: what would have hidden
    /// the I/O behind computation.
    pub required_bandwidth: Option<f64>,
    /// Σ bytes / Σ (last completion − first issue) over these phases: a lower bound, because completion is
    /// only seen when the application asks.
    pub actual_bandwidth: Option<f64>,
    /// Σ bytes / Σ (last seen unfinished − first issue) of the requests that were tested unfinished: an upper
    /// bound.
    pub actual_upper: Option<f64>,
    /// Time the application lost to these operations all the same; a wait for several of them counts once.
    /// `None` where deadlines are not known.
    pub lost_time: Option<f64>,
    /// Share of the time of the operations (each thread's overlapping ones counted once) that computation
    /// hid: 1 − lost/busy.
    pub hidden: Option<f64>,
    /// The bandwidth of all ranks together that would have hidden everything: the peak of the required
    /// bandwidth over time, in bins of at most 1/65536 of the job.
    pub hiding_bandwidth: Option<f64>,
}

/// All operations on a file.
#[derive(Clone, Debug, Default, PartialEq, JsonSchema, Serialize)]
pub struct FileSummary {
    /// Name as the application gave it.
    pub name: String,
    /// Number of operations that move data.
    pub ops: u64,
    /// Bytes from the file to memory.
    pub bytes_read: u64,
    /// Bytes from memory to the file.
    pub bytes_written: u64,
    /// "mpiio", "posix" or "stdio", in a trace that has several layers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub layer: Option<&'static str>,
}

/// Operations that became fewer records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, JsonSchema, Serialize)]
pub struct MergedSummary {
    /// Number of operations.
    pub operations: u64,
    /// Number of records.
    pub records: u64,
}

/// A process that is a rank.
#[derive(Clone, Debug, Default, PartialEq, JsonSchema, Serialize)]
pub struct ProcessSummary {
    /// The number that it has in the trace.
    pub rank: u32,
    /// Process id.
    pub pid: u32,
    /// That of the process that started it.
    pub parent: Option<u32>,
    /// Path of its program.
    pub executable: String,
    /// The words of its command.
    pub command: String,
    /// Whether it was seen to end; not if it was killed.
    pub finished: bool,
}

/// A text that the program has put into the trace.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct MarkSummary {
    /// Job time.
    pub time: f64,
    /// Rank that set it.
    pub rank: u32,
    /// The text.
    pub text: String,
}

/// What tracing cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, JsonSchema, Serialize)]
pub struct Overhead {
    /// Over all ranks.
    pub time: Option<f64>,
    /// Of rank 0.
    pub rank0: Option<f64>,
    /// Of the rank that it cost most.
    pub largest: Option<f64>,
    /// Per operation, on average.
    pub per_op: Option<f64>,
}

/// How well the clocks of the ranks agree.
#[derive(Clone, Copy, Debug, Default, PartialEq, JsonSchema, Serialize)]
pub struct Clock {
    /// Nodes, each with a clock of its own, where the input tells.
    pub nodes: Option<usize>,
    /// Largest error of a job time.
    pub max_error: Option<f64>,
}

/// Operations that move no data.
#[derive(Clone, Copy, Debug, Default, PartialEq, JsonSchema, Serialize)]
pub struct Metadata {
    /// Number of operations.
    pub ops: u64,
    /// Sum of their durations.
    pub time: f64,
}

/// About the job.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct JobInfo {
    /// Job id and step, or a process id.
    pub id: String,
    /// Path of the program; in logs of other tools the words of its command.
    pub executable: String,
    /// The words of the command of rank 0, cut where they get long; `None` where that is not known.
    pub command: Option<String>,
    /// What the MPI library says about itself; `None` without MPI, or where the input does not tell.
    pub mpi: Option<String>,
    /// Version of the tracer; `None` for what another tool has recorded.
    pub tmio: Option<String>,
    /// Wall-clock time at job time 0, in seconds since 1970.
    pub start: f64,
    /// The same as a date and time of day; `None` where it is not known.
    pub start_time: Option<ClockTime>,
    /// Who ran it: a number, or a hash in logs that were made anonymous.
    pub user: Option<String>,
    /// What recorded the input, where that is not tmio.
    pub recorder: Option<String>,
}

impl JobInfo {
    /// The words of the command, or the path of the program.
    pub fn command(&self) -> &str {
        self.command.as_deref().unwrap_or(&self.executable).trim()
    }

    /// What recorded the input.
    pub fn tracer(&self) -> String {
        let ours = || self.tmio.as_ref().map(|version| format!("tmio {version}"));
        self.recorder.clone().or_else(ours).unwrap_or_default()
    }
}

/// A moment of the clock, if it is one.
pub(super) fn clock(seconds_since_1970: f64) -> Option<ClockTime> {
    (seconds_since_1970 > 0.0).then(|| ClockTime(nanoseconds(seconds_since_1970)))
}
