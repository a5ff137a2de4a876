//! Darshan logs: the requests of DXT where there are some, else the heatmap, in its own bins.
//!
//! One layer is read, never several: what MPI-IO writes, POSIX writes again.

use super::bandwidth_piece::BandwidthPiece;
use super::content::Content;
use super::error::SourceError;
use super::intake::{Fed, Feed, Intake};
use super::job::{Job, Source};
use super::options::OpenOptions;
use crate::layer::Layer;
use crate::request::{Class, Span};
use darshan_log::{Direction, Heatmap, Limits, Log, ModuleId};
use std::sync::Arc;

/// The log itself tells the version first and then, in either byte order, the number 6567223. A Darshan 2 log is
/// like that inside gzip (undone here) or bzip2.
pub(super) fn looks_like(head: &[u8]) -> bool {
    const MAGIC: i64 = 6_567_223;
    let magic = head.get(8..16).and_then(|bytes| <[u8; 8]>::try_from(bytes).ok());
    let is_version = matches!(head, [b'1'..=b'9', b'.', b'0'..=b'9', ..]);
    let has_magic =
        magic.is_some_and(|bytes| [i64::from_le_bytes(bytes), i64::from_be_bytes(bytes)].contains(&MAGIC));
    (is_version && has_magic) || (head.starts_with(b"BZh") && head.get(4..10) == Some(b"1AY&SY"))
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
    /// Its requests.
    ///
    /// # Errors
    ///
    /// The log holds counters alone.
    pub fn into_source(self) -> Result<Box<dyn Source>, SourceError> {
        let DarshanLog { name, log, layer } = self;
        let layers = layer.map_or(Layer::ALL.to_vec(), |layer| vec![layer]);
        for (layer, module) in [(Layer::MpiIo, ModuleId::DXT_MPIIO), (Layer::Posix, ModuleId::DXT_POSIX)] {
            if layers.contains(&layer) && log.module(module).is_some() {
                return Ok(Box::new(Fed(name, Requests { log, module, layer })));
            }
        }
        for layer in layers {
            if let Some(heatmap) = log.heatmap(layer.into())? {
                return Ok(Box::new(Fed(name, Bins { log, heatmap })));
            }
        }
        let present: Vec<String> = log.modules().iter().map(|module| module.name().into_owned()).collect();
        let of = layer.map_or(String::new(), |layer| format!(" of {layer}"));
        let found = if present.is_empty() { "no module".into() } else { present.join(", ") };
        Err(SourceError::NoTimes { name, expected: format!("DXT or HEATMAP{of}"), found })
    }
}

#[derive(Debug)]
struct Requests {
    log: Arc<Log>,
    module: ModuleId,
    layer: Layer,
}

#[derive(Debug)]
struct Bins {
    log: Arc<Log>,
    heatmap: Heatmap,
}

/// What a log tells about its job.
pub(crate) fn job_of(log: &Log) -> Job {
    Job {
        ranks: u32::try_from(log.job().nprocs).ok().filter(|ranks| *ranks > 0),
        start: Some(0),
        end: Some((log.job().run_time() * 1e9) as i64).filter(|end| *end > 0),
        complete: true,
        ..Job::default()
    }
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
        job.notes.push(format!("requests of the layer {} (DXT)", self.layer));
        let mut dxt =
            if self.module == ModuleId::DXT_MPIIO { self.log.dxt_mpiio() } else { self.log.dxt_posix() };
        let mut read = || -> darshan_log::Result<()> {
            while let Some(head) = dxt.next_head()? {
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
        let ns = (self.heatmap.bin_width * 1e9).round();
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
        job.notes.push(format!(
            "heatmap of the layer {} in bins of {width} s: periods below {} s cannot be seen",
            self.heatmap.layer,
            2.0 * width
        ));
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
