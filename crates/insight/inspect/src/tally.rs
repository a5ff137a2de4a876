//! Sums up an input as it is read: how a [`Summary`] is made.

use super::class_tally::{ClassTally, bytes, duration};
use super::summary::{
    AsyncSummary, Clock, FileSummary, IoShare, JobInfo, MarkSummary, MergedSummary, Metadata, Overhead,
    ProcessSummary, SCHEMA, Summary, clock,
};
use super::usage::{Flow, LayerUsage, Meta};
use sources::coverage::{Coverage, CoverageTally, filters};
use sources::our_trace::is_of;
use sources::request::layer::Layer;
use sources::time::{PER_SECOND, seconds, seconds_of_sum};
use sources::{Source, SourceError, Span, TmioTrace};
use std::collections::{BTreeMap, BTreeSet};
use tmio_trace::block::merge::Merged;
use tmio_trace::reader::Operations;
use tmio_trace::{Class, Event, Flags, Outcome, RankInfo, TraceLayer};

/// Sum up requests. What only our own trace knows is left out.
pub fn summarize_source(name: &str, source: Box<dyn Source>) -> Result<Summary, SourceError> {
    let mut tally = Tally::default();
    let mut first = None;
    // What was put into bins has lost its times.
    let in_bins = source.bin().is_some();
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
    let outcome = Outcome {
        complete: job.complete,
        damaged: !job.complete,
        warnings: job.warnings,
        ..Outcome::default()
    };
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
    summary.io_share = if in_bins { None } else { io_share(&summary) };
    Ok(summary)
}

/// By the classes of operations, and those that move no data.
fn io_share(summary: &Summary) -> Option<IoShare> {
    let lost = |class: &AsyncSummary| class.lost_time.unwrap_or(class.class.time);
    let flow = |time: f64| Flow { time, ..Flow::default() };
    let layer = LayerUsage {
        read: flow(summary.read_sync.time + lost(&summary.read_async)),
        write: flow(summary.write_sync.time + lost(&summary.write_async)),
        meta: Meta { ops: 0, time: summary.metadata.map_or(0.0, |metadata| metadata.time) },
        files: 0,
    };
    let waits = [&summary.read_async, &summary.write_async].map(|class| class.lost_time.unwrap_or(0.0));
    IoShare::new(&layer, waits.iter().sum(), summary.ranks, summary.t_end - summary.t_start)
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
        let mut summary = Summary {
            schema: SCHEMA,
            source: name.to_owned(),
            ranks: outcome.header.as_ref().map(|header| header.ranks).or(counted),
            t_start: 0.0,
            t_end: seconds(outcome.end.as_ref().map_or(self.last_end, |end| end.end.max(self.last_end))),
            complete: outcome.complete,
            damaged: outcome.damaged,
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
            io_share: None,
            processes,
            job: outcome.header.map(|header| JobInfo {
                id: header.job,
                executable: header.executable,
                command: header.command,
                mpi: Some(header.mpi).filter(|text| !text.is_empty()),
                tmio: Some(header.tmio).filter(|text| !text.is_empty()),
                start: seconds(header.start),
                start_time: clock(seconds(header.start)),
                user: self.ranks.values().find_map(|rank| rank.user).map(|user| user.to_string()),
                recorder: None,
            }),
            files: self.files.into_values().collect(),
            warnings: outcome.warnings,
            notes,
        };
        summary.io_share = io_share(&summary);
        summary
    }
}

/// `3` or `5-7`
fn range(ranks: &std::ops::RangeInclusive<u32>) -> String {
    match ranks.end() - ranks.start() {
        0 => ranks.start().to_string(),
        _ => format!("{}-{}", ranks.start(), ranks.end()),
    }
}
