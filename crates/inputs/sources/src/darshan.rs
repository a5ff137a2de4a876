//! Darshan logs: the requests of DXT where there are some, else the heatmap, in its own bins.
//!
//! One layer is read, never several: what MPI-IO writes, POSIX writes again.

use super::bandwidth_piece::BandwidthPiece;
use super::content::Content;
use super::error::SourceError;
use super::intake::{Fed, Feed, Intake};
use super::job::{Job, Source};
use super::layers::LayerBytes;
use super::options::OpenOptions;
use crate::request::layer::Layer;
use crate::request::{Class, Request, Span};
use crate::time::{PER_SECOND, nanoseconds};
use darshan_log::{Contents, Direction, Heatmap, HeatmapRecord, Limits, Log, ModuleId, Names};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// The log itself tells the version first and then, in either byte order, the number 6567223. A Darshan 2 log
/// is like that inside gzip (undone here) or bzip2.
pub(super) fn looks_like(head: &[u8]) -> bool {
    const MAGIC: i64 = 6_567_223;
    let magic = head.get(8..16).and_then(|bytes| <[u8; 8]>::try_from(bytes).ok());
    let is_version = matches!(head, [b'1'..=b'9', b'.', b'0'..=b'9', ..]);
    let has_magic =
        magic.is_some_and(|bytes| [i64::from_le_bytes(bytes), i64::from_be_bytes(bytes)].contains(&MAGIC));
    // Darshan 1 has no such number.
    let is_first = matches!(head, [b'1', b'.', b'2', b'0'..=b'9', 0, 0, 0, 0, ..]);
    is_first || (is_version && has_magic) || (head.starts_with(b"BZh") && head.get(4..10) == Some(b"1AY&SY"))
}

/// The log.
pub(super) fn open(content: Content, options: &OpenOptions) -> Result<DarshanLog, SourceError> {
    let name = content.name.clone();
    let log = match &content.path {
        Some(path) => Log::open(path)?,
        None => Log::from_bytes_with(&name, content.into_bytes()?, Limits::default())?,
    };
    Ok(DarshanLog { name, log: Arc::new(log), layer: options.layer })
}

/// A log, and what of it was asked for.
#[derive(Clone, Debug)]
pub struct DarshanLog {
    /// What results call it.
    pub name: String,
    /// The log.
    pub log: Arc<Log>,
    /// The layer asked for.
    pub layer: Option<Layer>,
}

impl DarshanLog {
    /// The bins of the heatmap that hold bytes, as requests of ranks; their width in nanoseconds.
    pub fn heat_of_ranks(&self, visit: &mut dyn FnMut(Request)) -> Option<i64> {
        let mut moved: BTreeMap<Layer, u64> = BTreeMap::new();
        let records: Vec<HeatmapRecord> = self.log.heatmaps().map_while(Result::ok).collect();
        let bytes = |record: &HeatmapRecord| {
            let bins = record.write_bins.iter().chain(&record.read_bins);
            bins.map(|bytes| u64::try_from(*bytes).unwrap_or(0)).fold(0, u64::saturating_add)
        };
        for record in &records {
            if let Some(layer) = record.layer() {
                *moved.entry(layer.into()).or_default() += bytes(record);
            }
        }
        let layer =
            self.layer.or_else(|| moved.iter().max_by_key(|(_, bytes)| **bytes).map(|(layer, _)| *layer))?;
        let mut width = None;
        for record in records.iter().filter(|record| record.layer().map(Layer::from) == Some(layer)) {
            let Ok(rank) = u32::try_from(record.rank) else { continue };
            width = Some(nanoseconds(record.bin_width));
            let written = record.write_bins.iter().map(|bytes| (bytes, Class::WriteSync));
            let read = record.read_bins.iter().map(|bytes| (bytes, Class::ReadSync));
            let both = written.enumerate().chain(read.enumerate());
            for (bin, (bytes, class)) in both.filter(|(_, (bytes, _))| **bytes > 0) {
                let at = |bin: usize| nanoseconds(bin as f64 * record.bin_width);
                let request = Request {
                    rank: Some(rank),
                    ..Request::new(at(bin), at(bin + 1), u64::try_from(*bytes).unwrap_or(0), class)
                };
                visit(request);
            }
        }
        width
    }

    /// The layer to sum up, and whether there are single requests of it. It is the one that an analysis takes
    /// if that has requests; else the layer asked for, or the highest that holds nearly as many bytes as any.
    pub fn heaviest(&self) -> (Option<Layer>, bool) {
        let (bytes, mapped) = layer_bytes(&self.log);
        match self.with_times(&bytes, &mapped).filter(|layer| self.has_requests(*layer)) {
            Some(layer) => (Some(layer), true),
            None => (self.layer.or_else(|| bytes.choose(|_| true)), false),
        }
    }

    fn has_requests(&self, layer: Layer) -> bool {
        dxt_module(layer).is_some_and(|module| self.log.module(module).is_some())
    }

    /// The layer to analyse, of those asked for that tell when they moved their bytes.
    fn with_times(&self, bytes: &LayerBytes, mapped: &[Layer]) -> Option<Layer> {
        let asked = |candidate: Layer| self.layer.is_none_or(|layer| layer == candidate);
        let traced = |layer: Layer| asked(layer) && self.has_requests(layer);
        let told = bytes.choose(|layer| traced(layer) || (asked(layer) && mapped.contains(&layer)));
        // Of layers that hold about the same, one with single requests tells more.
        match (told, bytes.choose(traced)) {
            (Some(told), Some(traced)) if bytes.of(traced) as f64 >= NEARLY_ALL * bytes.of(told) as f64 => {
                Some(traced)
            }
            (told, _) => told,
        }
    }

    /// Its requests.
    ///
    /// # Errors
    ///
    /// The log holds counters alone.
    pub fn into_source(self) -> Result<Box<dyn Source>, SourceError> {
        let (bytes, mapped) = layer_bytes(&self.log);
        let chosen = self.with_times(&bytes, &mapped);
        let DarshanLog { name, log, layer } = self;
        if let Some(chosen) = chosen {
            let left_out = bytes.left_out(chosen).filter(|_| layer.is_none());
            let left_out = left_out.map(|left_out| format!("{name}: {left_out}"));
            if let Some(module) = dxt_module(chosen).filter(|module| log.module(*module).is_some()) {
                return Ok(Box::new(Fed(name, Requests { log, module, layer: chosen, left_out })));
            }
            if let Some(heatmap) = log.heatmap(chosen.into())? {
                return Ok(Box::new(Fed(name, Bins { log, heatmap, left_out })));
            }
        }
        let present: Vec<String> = log.modules().iter().map(|module| module.name().into_owned()).collect();
        let of = layer.map_or(String::new(), |layer| format!(" of {layer}"));
        let found = if present.is_empty() { "no module".into() } else { present.join(", ") };
        Err(SourceError::NoTimes { name, expected: format!("DXT or HEATMAP{of}"), found })
    }
}

/// A layer with requests is preferred if it holds this share of what the layer with most bytes holds.
const NEARLY_ALL: f64 = 0.9;

fn dxt_module(layer: Layer) -> Option<ModuleId> {
    match layer {
        Layer::MpiIo => Some(ModuleId::DXT_MPIIO),
        Layer::Posix => Some(ModuleId::DXT_POSIX),
        _ => None,
    }
}

/// What each layer moved, by its counters; by its heatmap or DXT where it has none. And which layers have a
/// heatmap.
fn layer_bytes(log: &Log) -> (LayerBytes, Vec<Layer>) {
    let mut bytes = LayerBytes::default();
    let sum = |read: u64, written: u64| read.saturating_add(written);
    let counted =
        [(Layer::MpiIo, ModuleId::MPIIO), (Layer::Posix, ModuleId::POSIX), (Layer::Stdio, ModuleId::STDIO)];
    // Darshan 1 and 2 have no modules, but totals as if they had.
    let mut before_modules = if log.format().major < 3 { log.totals() } else { Vec::new() };
    for (layer, module) in counted {
        let totals = match log.module(module) {
            Some(info) => Some(log.module_totals(info)),
            None => before_modules.extract_if(.., |totals| totals.info.id == module).next(),
        };
        if let Some(Contents::Counters(counters)) = totals.map(|totals| totals.contents) {
            bytes.add(layer, sum(counters.bytes_read, counters.bytes_written));
        }
    }
    let (mut mapped, mut layers) = (LayerBytes::default(), Vec::new());
    // Damage is reported when the heatmap is read for its requests.
    for record in log.heatmaps().map_while(Result::ok) {
        if let Some(layer) = record.layer().map(Layer::from) {
            if !layers.contains(&layer) {
                layers.push(layer);
            }
            let all = record.read_bins.iter().chain(&record.write_bins);
            mapped.add(layer, all.map(|bytes| (*bytes).max(0) as u64).fold(0, u64::saturating_add));
        }
    }
    for layer in Layer::ALL {
        if bytes.of(layer) == 0 {
            let traced = dxt_module(layer).and_then(|module| log.module(module));
            if layers.contains(&layer) {
                bytes.add(layer, mapped.of(layer));
            } else if let Some(info) = traced
                && let Contents::Segments(segments) = log.module_totals(info).contents
            {
                bytes.add(layer, sum(segments.bytes_read, segments.bytes_written));
            }
        }
    }
    (bytes, layers)
}

#[derive(Debug)]
struct Requests {
    log: Arc<Log>,
    module: ModuleId,
    layer: Layer,
    left_out: Option<String>,
}

#[derive(Debug)]
struct Bins {
    log: Arc<Log>,
    heatmap: Heatmap,
    left_out: Option<String>,
}

/// What a log tells about its job.
pub fn job_of(log: &Log) -> Job {
    Job {
        ranks: u32::try_from(log.job().nprocs).ok().filter(|ranks| *ranks > 0),
        start: Some(0),
        end: Some(nanoseconds(log.job().run_time())).filter(|end| *end > 0),
        complete: true,
        origin: origin(log),
        ..Job::default()
    }
}

/// Job time 0, where the log has its start; anonymised ones may have none.
fn origin(log: &Log) -> Option<i64> {
    let start = log.job().start;
    start.seconds.checked_mul(1_000_000_000)?.checked_add(start.nanoseconds).filter(|start| *start > 0)
}

fn job(log: &Log, name: &str, module: ModuleId) -> Job {
    let mut job = job_of(log);
    if log.module(module).is_some_and(|info| info.partial) {
        job.complete = false;
        job.warnings.push(format!("{name}: Darshan marks {module} as partial: it ran out of memory for it"));
    }
    job
}

impl Feed for Requests {
    fn feed(self, _: Span, intake: &mut Intake<'_>) -> Result<Job, SourceError> {
        let name = self.log.file().to_owned();
        let mut job = job(&self.log, &name, self.module);
        job.layer = Some(self.layer);
        job.notes.push(format!("requests of the layer {} (DXT)", self.layer));
        job.warnings.extend(self.left_out);
        let mut dxt =
            if self.module == ModuleId::DXT_MPIIO { self.log.dxt_mpiio() } else { self.log.dxt_posix() };
        // Damaged names are told where they are asked for; the requests are there without them.
        let names =
            if intake.wants_files() { self.log.names().unwrap_or_default() } else { Names::default() };
        let mut numbers: HashMap<u64, Option<u32>> = HashMap::new();
        let mut read = || -> darshan_log::Result<()> {
            while let Some(head) = dxt.next_head()? {
                let number =
                    numbers.entry(head.id).or_insert_with(|| Some(intake.add_file(names.get(head.id)?)));
                intake.enter(*number);
                while let Some((direction, segment)) = dxt.next_segment()? {
                    let place = || format!("DXT record {:016x}", head.id);
                    let Ok(bytes) = u64::try_from(segment.length) else {
                        intake.leave_out(|| {
                            format!("{}: expected a length, found {}", place(), segment.length)
                        });
                        continue;
                    };
                    let phase = BandwidthPiece {
                        start: segment.start,
                        end: segment.end,
                        bandwidth: bytes as f64 / (segment.end - segment.start),
                        bytes: Some(bytes),
                        rank: u32::try_from(head.rank).ok(),
                        class: class(direction == Direction::Write),
                    };
                    intake.push(phase, place);
                }
            }
            Ok(())
        };
        // Everything before the damage has been handed on.
        if let Err(problem) = read() {
            job.complete = false;
            job.warnings.push(problem.to_string());
        }
        Ok(job)
    }
}

impl Feed for Bins {
    fn bin(&self) -> Option<i64> {
        let ns = (self.heatmap.bin_width * PER_SECOND).round();
        (1.0..1e18).contains(&ns).then_some(ns as i64)
    }

    fn feed(self, _: Span, intake: &mut Intake<'_>) -> Result<Job, SourceError> {
        let width = self.heatmap.bin_width;
        let name = self.log.file().to_owned();
        if !(width.is_finite() && width > 0.0) {
            let (place, expected) = ("HEATMAP".into(), "a bin width".into());
            return Err(SourceError::Malformed { name, place, expected, found: width.to_string() });
        }
        let mut job = job(&self.log, &name, ModuleId::HEATMAP);
        job.sampled = self.bin();
        job.layer = Some(self.heatmap.layer.into());
        job.notes.push(format!(
            "heatmap of the layer {} in bins of {width} s: periods below {} s cannot be seen",
            self.heatmap.layer,
            2.0 * width
        ));
        job.warnings.extend(self.left_out);
        for (is_write, bins) in [(true, &self.heatmap.write_bins), (false, &self.heatmap.read_bins)] {
            for (index, &bytes) in bins.iter().enumerate().filter(|(_, bytes)| **bytes > 0) {
                let (start, end) = (index as f64 * width, (index + 1) as f64 * width);
                let bandwidth = bytes as f64 / width;
                let phase = BandwidthPiece {
                    start,
                    end,
                    bandwidth,
                    bytes: Some(bytes),
                    rank: None,
                    class: class(is_write),
                };
                intake.push(phase, || format!("bin {index}"));
            }
        }
        Ok(job)
    }
}

fn class(is_write: bool) -> Class {
    if is_write { Class::WriteSync } else { Class::ReadSync }
}
