//! What a trace holds, summed up: `ftio info`.
//!
//! The names of the fields are a contract with callers. Times are in seconds, sizes in bytes, bandwidths in
//! bytes per second. A number that is not known, or would be a division by zero, is `None`.

use super::module::ModuleSummary;
use super::overlap::Phases;
use super::usage::{Flow, LayerUsage, Meta};
use super::waiting::Waiting;
use crate::request::layer::Layer;
use crate::signal::bins::{BinWidth, VolumeBins};
use crate::source::coverage::{Coverage, CoverageTally, filters};
use crate::source::our_trace::is_of;
use crate::source::{Source, SourceError, Span, TmioTrace};
use crate::time::{ClockTime, PER_SECOND, nanoseconds, seconds, seconds_of_sum};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use tmio_trace::block::merge::Merged;
use tmio_trace::reader::Operations;
use tmio_trace::{Class, Event, Flags, Operation, Outcome, RankInfo, TraceLayer};

/// The schema that [`Summary`] follows.
pub const SCHEMA: &str = "ftio.info/1";

/// Bins in which the required bandwidth is summed up.
const REQUIRED_BINS: usize = 1 << 16;

/// A trace, summed up.
#[derive(Clone, Debug, PartialEq, Serialize)]
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
    /// Options of the tracer that left ranks or files out on purpose, such as `TMIO_RANKS=0-3`; null if none
    /// did.
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
    /// Of a trace whose ranks are processes without MPI: which ones.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub processes: Vec<ProcessSummary>,
    /// What is wrong with the input: damage, missing parts.
    pub warnings: Vec<String>,
    /// What else the reader should know.
    pub notes: Vec<String>,
}

/// All operations of a class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
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
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct MergedSummary {
    /// Number of operations.
    pub operations: u64,
    /// Number of records.
    pub records: u64,
}

/// A process that is a rank.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
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
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MarkSummary {
    /// Job time.
    pub time: f64,
    /// Rank that set it.
    pub rank: u32,
    /// The text.
    pub text: String,
}

/// What tracing cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Clock {
    /// Nodes, each with a clock of its own, where the input tells.
    pub nodes: Option<usize>,
    /// Largest error of a job time.
    pub max_error: Option<f64>,
}

/// Operations that move no data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Metadata {
    /// Number of operations.
    pub ops: u64,
    /// Sum of their durations.
    pub time: f64,
}

/// About the job.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct JobInfo {
    /// Job id and step, or a process id.
    pub id: String,
    /// Path of the program.
    pub executable: String,
    /// What the MPI library says about itself.
    pub mpi: String,
    /// Version of the tracer.
    pub tmio: String,
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
    /// What recorded the input.
    pub fn tracer(&self) -> String {
        match &self.recorder {
            Some(recorder) => recorder.clone(),
            None if self.tmio.is_empty() => String::new(),
            None => format!("tmio {}", self.tmio),
        }
    }
}

/// A moment of the clock, if it is one.
pub(super) fn clock(seconds_since_1970: f64) -> Option<ClockTime> {
    (seconds_since_1970 > 0.0).then(|| ClockTime(nanoseconds(seconds_since_1970)))
}

/// Sum up requests. What only our own trace knows is left out.
pub fn summarize_source(name: &str, source: Box<dyn Source>) -> Result<Summary, SourceError> {
    let mut tally = Tally::default();
    let mut first = None;
    let job = source.read(Span::Actual, &mut |requests| {
        for request in requests {
            let class = &mut tally.classes[request.class as usize];
            class.ops += 1;
            class.bytes += u128::from(request.bytes);
            class.time += duration(request.start, request.end);
            class.move_bytes(request.start, request.end, request.bytes);
            class.ranks.extend(request.rank);
            tally.last_end = tally.last_end.max(request.end);
            first = Some(first.unwrap_or(request.start).min(request.start));
        }
    })?;
    // Samples are no operations.
    let samples = job.per_unit.map(|_| tally.classes.iter().map(|class| class.ops).sum());
    if samples.is_some() {
        tally.classes = Default::default();
    }
    let outcome = Outcome { complete: job.complete, warnings: job.warnings, ..Outcome::default() };
    let mut summary = tally.finish(name, outcome);
    summary.ranks = job.ranks;
    summary.samples = samples;
    summary.t_start = seconds(job.start.or(first).unwrap_or(0));
    summary.t_end = summary.t_end.max(seconds(job.end.unwrap_or(0)));
    summary.coverage = Coverage::default();
    summary.notes.extend(job.notes);
    summary.layers.clear();
    // What only our own trace tells.
    (summary.metadata, summary.failed, summary.lost, summary.clock.nodes) = (None, None, None, None);
    summary.merged = None;
    for class in [&mut summary.write_async, &mut summary.read_async] {
        (class.required_bandwidth, class.lost_time) = (None, None);
        class.actual_bandwidth = class.class.bandwidth;
    }
    Ok(summary)
}

/// Read one of our own traces and sum it up.
pub fn summarize_trace(name: &str, trace: TmioTrace) -> Result<Summary, SourceError> {
    let mut tally = Tally::of(trace.layer());
    let notes = trace.notes().to_vec();
    let outcome = trace.into_trace().read(|event| tally.event(&event))?;
    let mut summary = tally.finish(name, outcome);
    summary.notes.splice(0..0, notes);
    Ok(summary)
}

/// Sums up a trace of ours as it is read.
#[derive(Default)]
pub(super) struct Tally {
    classes: [ClassTally; 4],
    ranks: BTreeMap<u32, RankInfo>,
    files: BTreeMap<(String, TraceLayer), FileSummary>,
    /// The layer that is summed up; `None`: MPI-IO, which is all there is.
    layer: Option<Layer>,
    /// Reads, writes and operations without data of every layer: number, bytes, time.
    layers: BTreeMap<TraceLayer, [(u64, u128, i128); 3]>,
    metadata_ops: u64,
    metadata_time: i128,
    failed: u64,
    last_end: i64,
    marks: Vec<MarkSummary>,
}

/// Sums in nanoseconds and bytes.
#[derive(Default)]
struct ClassTally {
    ops: u64,
    bytes: u128,
    time: i128,
    ranks: BTreeSet<u32>,
    phases: Phases,
    waiting: Waiting,
    /// Time with at least one operation under way, per rank and thread.
    busy: Busy,
    /// Bytes spread from issue to deadline.
    required: Option<VolumeBins>,
    /// Bytes as they were moved.
    moved: Option<VolumeBins>,
}

impl Tally {
    /// For one layer of a trace.
    pub(super) fn of(layer: Option<Layer>) -> Self {
        Self { layer, ..Self::default() }
    }

    /// Take in what the trace tells.
    pub(super) fn event(&mut self, event: &Event<'_>) {
        match event {
            Event::Header(_) => {}
            Event::Rank(info) => {
                self.ranks.insert(info.rank, (*info).clone());
            }
            Event::Block(block) => self.block(block),
        }
    }

    fn block(&mut self, block: &Operations<'_>) {
        type Number = (u32, TraceLayer);
        let mut files: BTreeMap<Number, FileSummary> = BTreeMap::new();
        let mut current: Option<(Number, FileSummary)> = None;
        let mut seen = [false; 4];
        self.marks.extend(block.marks.iter().map(|mark| MarkSummary {
            time: seconds(mark.time),
            rank: block.rank,
            text: mark.text.clone(),
        }));
        for (index, op) in block.operations.iter().enumerate() {
            let Merged { count, time } = block.merged_at(index);
            let count = u64::from(count);
            self.last_end = self.last_end.max(op.end);
            let layer = op.kind.layer();
            let taken = is_of(self.layer, op);
            self.failed += if taken && op.flags.contains(Flags::FAILED) { count } else { 0 };
            let number = (op.file, layer);
            // Consecutive operations mostly go to the same file.
            if current.as_ref().is_none_or(|(other, _)| *other != number) {
                if let Some((number, file)) = current.take() {
                    files.insert(number, file);
                }
                current = Some((number, files.remove(&number).unwrap_or_default()));
            }
            let Some((_, file)) = &mut current else { continue };
            let class = op.kind.class();
            let of_layer = match class {
                Some(Class::ReadSync | Class::ReadAsync) => 0,
                Some(Class::WriteSync | Class::WriteAsync) => 1,
                None => 2,
            };
            let (ops, bytes, all_time) = &mut self.layers.entry(layer).or_default()[of_layer];
            *ops += count;
            *bytes += u128::from(op.bytes);
            *all_time += i128::from(time.max(0));
            let Some(class) = class else {
                if taken {
                    self.metadata_ops += count;
                    self.metadata_time += i128::from(time.max(0));
                }
                continue;
            };
            file.ops += count;
            match class {
                Class::WriteSync | Class::WriteAsync => {
                    file.bytes_written = file.bytes_written.saturating_add(op.bytes)
                }
                Class::ReadSync | Class::ReadAsync => {
                    file.bytes_read = file.bytes_read.saturating_add(op.bytes)
                }
            }
            if taken {
                seen[class as usize] = true;
                self.classes[class as usize].add(block.rank, op, count, time);
            }
        }
        files.extend(current);
        for (class, _) in self.classes.iter_mut().zip(seen).filter(|(_, seen)| *seen) {
            class.ranks.insert(block.rank);
        }
        for ((number, layer), file) in files {
            let name = block.files.iter().find(|(n, _)| *n == number).map_or("", |(_, name)| *name);
            let name = if name.is_empty() { "(unknown)" } else { name };
            let told = self.layer.map(|_| layer.name());
            let total = self.files.entry((name.to_owned(), layer)).or_insert_with(|| FileSummary {
                name: name.to_owned(),
                layer: told,
                ..Default::default()
            });
            total.ops += file.ops;
            total.bytes_read = total.bytes_read.saturating_add(file.bytes_read);
            total.bytes_written = total.bytes_written.saturating_add(file.bytes_written);
        }
    }

    /// What went through each layer.
    fn layers(&self) -> BTreeMap<String, LayerUsage> {
        let of = |(layer, [read, write, meta]): (&TraceLayer, &[(u64, u128, i128); 3])| {
            let flow = |(ops, moved, time): &(u64, u128, i128)| Flow {
                ops: *ops,
                bytes: bytes(*moved),
                time: seconds_of_sum(*time),
            };
            let usage = LayerUsage {
                read: flow(read),
                write: flow(write),
                meta: Meta { ops: meta.0, time: seconds_of_sum(meta.2) },
                files: self.files.keys().filter(|(_, other)| other == layer).count() as u64,
            };
            (layer.name().to_owned(), usage)
        };
        self.layers.iter().map(of).collect()
    }

    /// The sums.
    pub(super) fn finish(mut self, name: &str, outcome: Outcome) -> Summary {
        self.marks.sort_by(|a, b| a.time.total_cmp(&b.time).then(a.rank.cmp(&b.rank)));
        let mut notes = Vec::new();
        let finished: Vec<&RankInfo> = self.ranks.values().filter(|rank| rank.finished).collect();
        let mut coverage = CoverageTally::default();
        self.ranks.values().for_each(|rank| coverage.rank(rank));
        let of = |layer: TraceLayer| {
            let [(_, read, _), (_, written, _), _] = self.layers.get(&layer).copied().unwrap_or_default();
            (bytes(read), bytes(written))
        };
        let (read, written) = of(TraceLayer::MpiIo);
        coverage.transferred([read, written].into_iter());
        if self.layer.is_some() {
            coverage.below(of(TraceLayer::Posix), of(TraceLayer::Stdio));
        }
        notes.extend(coverage.note(&outcome, self.layer.is_some()));
        let lost = self.ranks.values().map(|rank| rank.lost).sum();
        if lost > 0 {
            notes.push(format!("{lost} operations could not be kept"));
        }
        let counted = self.ranks.keys().last().map(|rank| rank.saturating_add(1));
        let operations: u64 = finished.iter().map(|rank| rank.operations).sum();
        let per_op = |rank: &&RankInfo| rank.overhead_per_op * rank.operations as f64 / PER_SECOND;
        // Hosts that are containers of one node share its kernel, nodes may share a name.
        let nodes: BTreeSet<_> = self.ranks.values().map(|rank| (&rank.boot_id, &rank.host)).collect();
        let clock_errors = self.ranks.values().flat_map(|rank| &rank.clock).map(|sample| sample.error);
        let layers = self.layers();
        let is_tree = outcome.header.as_ref().is_some_and(|header| header.processes);
        let process = |info: &RankInfo| ProcessSummary {
            rank: info.rank,
            pid: info.pid,
            parent: info.parent,
            executable: info.executable.clone(),
            command: info.command.clone(),
            finished: info.finished,
        };
        let processes = self.ranks.values().filter(|_| is_tree).map(process).collect();
        let [write_sync, read_sync, write_async, read_async] = &self.classes;
        Summary {
            schema: SCHEMA,
            source: name.to_owned(),
            ranks: outcome.header.as_ref().map(|header| header.ranks).or(counted),
            t_start: 0.0,
            t_end: seconds(outcome.end.as_ref().map_or(self.last_end, |end| end.end.max(self.last_end))),
            complete: outcome.complete,
            write_sync: write_sync.summary(),
            read_sync: read_sync.summary(),
            write_async: write_async.async_summary(),
            read_async: read_async.async_summary(),
            overhead: Overhead {
                time: (!finished.is_empty())
                    .then(|| seconds_of_sum(finished.iter().map(|rank| i128::from(rank.overhead)).sum())),
                rank0: finished.iter().find(|rank| rank.rank == 0).map(|rank| seconds(rank.overhead)),
                largest: finished.iter().map(|rank| rank.overhead).max().map(seconds),
                per_op: (operations > 0)
                    .then(|| finished.iter().map(per_op).sum::<f64>() / operations as f64),
            },
            clock: Clock { nodes: Some(nodes.len()), max_error: clock_errors.max().map(seconds) },
            coverage: coverage.coverage(),
            filters: filters(&outcome).map(str::to_owned),
            metadata: Some(Metadata { ops: self.metadata_ops, time: seconds_of_sum(self.metadata_time) }),
            failed: Some(self.failed),
            lost: Some(lost),
            merged: Some(MergedSummary { operations: outcome.merged, records: outcome.merged_to }),
            samples: None,
            marks: self.marks,
            missing_ranks: outcome.missing_ranks.iter().map(range).collect(),
            missing_hosts: outcome.missing_hosts,
            modules: None,
            counters: None,
            layers,
            processes,
            job: outcome.header.map(|header| JobInfo {
                id: header.job,
                executable: header.executable,
                mpi: header.mpi,
                tmio: header.tmio,
                start: seconds(header.start),
                start_time: clock(seconds(header.start)),
                user: self.ranks.values().find_map(|rank| rank.user).map(|user| user.to_string()),
                recorder: None,
            }),
            files: self.files.into_values().collect(),
            warnings: outcome.warnings,
            notes,
        }
    }
}

impl ClassTally {
    fn move_bytes(&mut self, start: i64, end: i64, bytes: u64) {
        let new = || VolumeBins::new(0, BinWidth::Finest, REQUIRED_BINS);
        self.moved.get_or_insert_with(new).add(start, end.max(start), bytes);
    }

    /// An operation, or `count` that were merged to it and took `time` together.
    fn add(&mut self, rank: u32, op: &Operation, count: u64, time: i64) {
        self.ops += count;
        self.bytes += u128::from(op.bytes);
        self.time += i128::from(time.max(0));
        self.move_bytes(op.start, op.end, op.bytes);
        if let Some(times) = op.nonblocking {
            self.waiting.add(rank, op);
            self.busy.add(rank, op);
            let bins =
                self.required.get_or_insert_with(|| VolumeBins::new(0, BinWidth::Finest, REQUIRED_BINS));
            bins.add(op.start, times.deadline.max(op.start), op.bytes);
            self.phases.add(rank, op);
        }
    }

    fn summary(&self) -> ClassSummary {
        ClassSummary {
            ops: self.ops,
            bytes: bytes(self.bytes),
            time: seconds_of_sum(self.time),
            ranks: (self.ops == 0 || !self.ranks.is_empty()).then_some(self.ranks.len() as u32),
            bandwidth: rate(self.bytes, self.time),
            aggregate_bandwidth: self.moved.as_ref().and_then(aggregate),
        }
    }

    fn async_summary(&self) -> AsyncSummary {
        let phases = self.phases.totals();
        AsyncSummary {
            class: self.summary(),
            required_bandwidth: rate(self.bytes, phases.required_time),
            actual_bandwidth: rate(self.bytes, phases.actual_time),
            actual_upper: rate(phases.tested_bytes, phases.tested_time),
            lost_time: Some(seconds_of_sum(self.waiting.lost())),
            hidden: (self.busy.total > 0)
                .then(|| (1.0 - self.waiting.lost() as f64 / self.busy.total as f64).clamp(0.0, 1.0)),
            hiding_bandwidth: self.required.as_ref().and_then(peak),
        }
    }
}

/// Time during which a thread had operations under way. They are recorded as they complete, so that
/// overlapping ones follow each other closely; of each thread the stretch they cover is kept until one begins
/// after it.
#[derive(Default)]
struct Busy {
    last: BTreeMap<(u32, u16), (i64, i64)>,
    total: i128,
}

impl Busy {
    fn add(&mut self, rank: u32, op: &Operation) {
        let last = self.last.entry((rank, op.thread)).or_insert((op.start, op.start));
        let whole = (last.0.min(op.start), last.1.max(op.end));
        let overlaps = op.start <= last.1 && op.end >= last.0;
        self.total += duration(op.start, op.end);
        if overlaps {
            // What both cover was counted twice.
            self.total -= duration(last.0.max(op.start), last.1.min(op.end));
        }
        *last = if overlaps { whole } else { (op.start, op.end) };
    }
}

/// `3` or `5-7`
fn range(ranks: &std::ops::RangeInclusive<u32>) -> String {
    match ranks.end() - ranks.start() {
        0 => ranks.start().to_string(),
        _ => format!("{}-{}", ranks.start(), ranks.end()),
    }
}

/// Bytes over the time of the bins that hold any.
fn aggregate(bins: &VolumeBins) -> Option<f64> {
    let (from, to) = bins.extent()?;
    let busy = bins.volumes(from, to).1.into_iter().filter(|bytes| *bytes > 0.0).count();
    let time = (seconds(bins.width()) * busy as f64).min(seconds(to - from));
    (time > 0.0).then(|| bins.total_bytes() as f64 / time)
}

/// The highest bandwidth of any bin.
fn peak(bins: &VolumeBins) -> Option<f64> {
    let (from, to) = bins.extent()?;
    let highest = bins.volumes(from, to).1.into_iter().fold(0.0, f64::max);
    (highest > 0.0).then(|| highest / seconds(bins.width()))
}

fn duration(start: i64, end: i64) -> i128 {
    (i128::from(end) - i128::from(start)).max(0)
}

fn bytes(sum: u128) -> u64 {
    u64::try_from(sum).unwrap_or(u64::MAX)
}

fn rate(bytes: u128, ns: i128) -> Option<f64> {
    (ns > 0).then(|| bytes as f64 / seconds_of_sum(ns))
}
