//! A Darshan log, summed up: what each of its modules holds, and the totals of one layer.

use super::module::{HeatmapLayer, ModuleSummary};
use super::summary::{ClassSummary, FileSummary, IoShare, JobInfo, Metadata, Summary, clock};
use super::tally::summarize_source;
use super::usage::{self, LayerUsage, Meta};
use darshan_log::{Activity, Contents, Log, ModuleId, ModuleTotals};
use sources::darshan::{DarshanLog, job_of};
use sources::request::layer::Layer;
use sources::time::seconds;
use sources::{InMemory, Job, SourceError};
use std::collections::{BTreeMap, BTreeSet};

/// The modules that are summed up, by the names that Darshan's tools give them.
const MODULES: [ModuleId; 6] = [
    ModuleId::POSIX,
    ModuleId::MPIIO,
    ModuleId::STDIO,
    ModuleId::HEATMAP,
    ModuleId::DXT_POSIX,
    ModuleId::DXT_MPIIO,
];

/// The layers that move data, the highest first.
const LAYERS: [Layer; 5] = Layer::ALL;

/// Sum up a log. Without a layer asked for, it is the one that an analysis takes, or that moved most bytes.
pub(super) fn summarize(opened: DarshanLog) -> Result<Summary, SourceError> {
    let DarshanLog { name, log, layer } = opened.clone();
    let (heaviest, traced) = opened.heaviest();
    let totals = log.totals();
    let modules = modules(&totals, layer);
    let counted = counted(&log, layer, heaviest);
    let info = job_info(&log);
    let job = job(&log, &modules);
    let usage = usage::darshan::usage(&opened)?;
    // Single requests where the log has them; else what the counters say.
    let mut summary = if traced {
        summarize_source(&name, opened.into_source()?)?
    } else {
        let mut summary = summarize_source(&name, Box::new(InMemory { requests: &[], job }))?;
        if let Some(counted) = &counted {
            summary.read_sync = counted.read.finish();
            summary.write_sync = counted.write.finish();
            summary.notes.push(format!("totals of the layer {}, by its counters", counted.layer));
        }
        if let Some(heatmap) = modules.get("HEATMAP") {
            summary.notes.push(format!(
                "a heatmap in bins of {} s: periods below {} s cannot be seen",
                heatmap.bin_width.unwrap_or(0.0),
                2.0 * heatmap.bin_width.unwrap_or(0.0)
            ));
        }
        summary
    };
    if let Some(counted) = counted {
        summary.metadata = Some(counted.metadata);
        summary.files = counted.files;
    }
    let partial = modules.values().any(|module| module.partial);
    let damaged = modules.values().any(|module| module.damage.is_some());
    summary.damaged = damaged || (!summary.complete && !partial);
    summary.layers = layers(&log);
    let share = |layer: &LayerUsage| IoShare::new(layer, 0.0, usage.ranks, usage.run_time);
    summary.io_share = usage.cost_layer().and_then(share);
    summary.job = Some(info);
    summary.modules = Some(modules);
    Ok(summary)
}

fn job(log: &Log, modules: &BTreeMap<String, ModuleSummary>) -> Job {
    let mut job = job_of(log);
    for (name, module) in modules {
        if module.partial {
            let what =
                format!("{}: Darshan marks {name} as partial: it ran out of memory for it", log.file());
            job.warnings.push(what);
            job.complete = false;
        }
        if let Some(damage) = &module.damage {
            job.warnings.push(damage.clone());
            job.complete = false;
        }
    }
    job
}

fn job_info(log: &Log) -> JobInfo {
    let job = log.job();
    let start = job.start.seconds as f64 + seconds(job.start.nanoseconds);
    JobInfo {
        id: job.job_id.to_string(),
        executable: job.command.clone(),
        command: None,
        mpi: None,
        tmio: None,
        start,
        start_time: clock(start),
        user: Some(job.uid.to_string()),
        recorder: Some(
            job.library_version().map_or("Darshan".into(), |version| format!("Darshan {version}")),
        ),
    }
}

fn modules(totals: &[ModuleTotals], layer: Option<Layer>) -> BTreeMap<String, ModuleSummary> {
    let known = totals.iter().filter(|totals| MODULES.contains(&totals.info.id));
    known.map(|totals| (totals.info.id.name().into_owned(), module(totals, layer))).collect()
}

fn module(totals: &ModuleTotals, layer: Option<Layer>) -> ModuleSummary {
    let mut summary = ModuleSummary {
        version: totals.info.version,
        records: totals.records().unwrap_or(0),
        partial: totals.info.partial,
        damage: totals.damage.as_ref().map(ToString::to_string),
        ..ModuleSummary::default()
    };
    match &totals.contents {
        Contents::Counters(counters) => {
            summary.bytes_read = counters.bytes_read;
            summary.bytes_written = counters.bytes_written;
            summary.reads = Some(counters.reads);
            summary.writes = Some(counters.writes);
            summary.opens = Some(counters.opens);
            summary.shared_records = Some(counters.shared_records);
            summary.read_time = Some(counters.read_time);
            summary.write_time = Some(counters.write_time);
            summary.meta_time = Some(counters.meta_time);
        }
        Contents::Segments(segments) => {
            summary.bytes_read = segments.bytes_read;
            summary.bytes_written = segments.bytes_written;
            summary.reads = Some(segments.reads);
            summary.writes = Some(segments.writes);
            summary.segments = Some(segments.segments());
            summary.first_start = segments.first_start;
            summary.last_end = segments.last_end;
        }
        Contents::Heatmaps(layers) => {
            let of = |layer: Layer| layers.iter().find(|totals| totals.layer.map(Layer::from) == Some(layer));
            let moved = |layer: &Layer| of(*layer).is_some_and(|l| l.bytes_read + l.bytes_written > 0);
            let chosen = layer.or_else(|| LAYERS.into_iter().find(moved));
            if let Some(totals) = chosen.and_then(of) {
                summary.bytes_read = totals.bytes_read;
                summary.bytes_written = totals.bytes_written;
                summary.layer = totals.layer.map(|layer| layer.to_string());
            }
            summary.bins = Some(layers.iter().map(|layer| layer.bins).max().unwrap_or(0));
            summary.bin_width = Some(layers.iter().map(|layer| layer.bin_width).fold(0.0, f64::max));
            for totals in layers {
                let name = totals.layer.map_or("unknown".to_owned(), |layer| layer.to_string());
                let layer = HeatmapLayer {
                    records: totals.records,
                    bins: totals.bins,
                    bin_width: totals.bin_width,
                    bytes_read: totals.bytes_read,
                    bytes_written: totals.bytes_written,
                };
                summary.layers.insert(name, layer);
            }
        }
        _ => {}
    }
    summary
}

/// Counters of a layer.
#[derive(Debug)]
struct Counted {
    layer: Layer,
    read: Flow,
    write: Flow,
    metadata: Metadata,
    files: Vec<FileSummary>,
}

#[derive(Debug, Default)]
struct Flow {
    ops: u64,
    bytes: u64,
    time: f64,
    ranks: BTreeSet<i64>,
    all_ranks: Option<u32>,
}

impl Flow {
    fn add(&mut self, ops: u64, bytes: u64, time: f64, rank: i64, all: u32) {
        if ops == 0 && bytes == 0 {
            return;
        }
        self.ops = self.ops.saturating_add(ops);
        self.bytes = self.bytes.saturating_add(bytes);
        self.time += time.max(0.0);
        if rank < 0 {
            self.all_ranks = Some(all);
        } else {
            self.ranks.insert(rank);
        }
    }

    fn finish(&self) -> ClassSummary {
        ClassSummary {
            ops: self.ops,
            bytes: self.bytes,
            time: self.time,
            ranks: Some(self.all_ranks.unwrap_or(self.ranks.len() as u32)),
            bandwidth: (self.time > 0.0).then(|| self.bytes as f64 / self.time),
            aggregate_bandwidth: None,
        }
    }
}

/// The counters of the layer asked for; else of the heaviest, or of the highest that moved data.
fn counted(log: &Log, layer: Option<Layer>, heaviest: Option<Layer>) -> Option<Counted> {
    let layers: Vec<Layer> = match layer {
        Some(layer) => vec![layer],
        None => heaviest.into_iter().chain(LAYERS).collect(),
    };
    let all = layers.into_iter().map(|layer| of_layer(log, layer));
    let mut first = None;
    for counted in all.flatten() {
        if counted.read.bytes > 0 || counted.write.bytes > 0 {
            return Some(counted);
        }
        first.get_or_insert(counted);
    }
    first
}

/// What went through each layer that has records.
fn layers(log: &Log) -> BTreeMap<String, LayerUsage> {
    let flow = |flow: &Flow| usage::Flow { ops: flow.ops, bytes: flow.bytes, time: flow.time };
    let of = |(layer, name): (Layer, &str)| {
        let counted = of_layer(log, layer)?;
        let layer = LayerUsage {
            read: flow(&counted.read),
            write: flow(&counted.write),
            meta: Meta { ops: counted.metadata.ops, time: counted.metadata.time },
            files: counted.files.len() as u64,
        };
        Some((name.to_owned(), layer))
    };
    [(Layer::MpiIo, "mpiio"), (Layer::Posix, "posix"), (Layer::Stdio, "stdio")]
        .into_iter()
        .filter_map(of)
        .collect()
}

fn of_layer(log: &Log, layer: Layer) -> Option<Counted> {
    let ranks = u32::try_from(log.job().nprocs).unwrap_or(0);
    let mut counted = Counted {
        layer,
        read: Flow::default(),
        write: Flow::default(),
        metadata: Metadata::default(),
        files: Vec::new(),
    };
    let mut files: BTreeMap<u64, FileSummary> = BTreeMap::new();
    // What precedes damage counts; the damage itself is told with the module.
    for activity in log.activities(layer.into()).map_while(Result::ok) {
        let Activity { id, rank, reads, writes, bytes_read, bytes_written, .. } = activity;
        counted.read.add(reads, bytes_read, activity.read_time, rank, ranks);
        counted.write.add(writes, bytes_written, activity.write_time, rank, ranks);
        counted.metadata.ops += activity.opens;
        counted.metadata.time += activity.meta_time.max(0.0);
        let file = files.entry(id).or_default();
        file.ops += reads.saturating_add(writes);
        file.bytes_read = file.bytes_read.saturating_add(bytes_read);
        file.bytes_written = file.bytes_written.saturating_add(bytes_written);
    }
    if files.is_empty() {
        return None;
    }
    let names = log.names().unwrap_or_default();
    counted.files = files
        .into_iter()
        .map(|(id, file)| {
            let name = names.get(id).map_or_else(|| format!("{id:016x}"), str::to_owned);
            FileSummary { name, ..file }
        })
        .collect();
    counted.files.sort_by(|a, b| a.name.cmp(&b.name));
    Some(counted)
}
