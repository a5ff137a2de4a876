//! Darshan logs: the requests of DXT where there are some, else the heatmap, in its own bins.
//!
//! One layer is read, never several: what MPI-IO writes, POSIX writes again.

use super::content::{Content, Input};
use super::intake::{Fed, Feed, Intake};
use super::recognise::Format;
use super::{BandwidthPiece, Job, OpenOptions, Source, SourceError, Span};
use crate::request::Class;
use darshan_log::{Direction, Heatmap, Layer, Log, ModuleId};

/// The source of a log.
pub fn source(name: &str, log: Log, layer: Option<Layer>) -> Result<Box<dyn Source>, SourceError> {
    let layers = match layer {
        Some(layer) => vec![layer],
        None => vec![Layer::MpiIo, Layer::Posix, Layer::Stdio],
    };
    for (layer, module) in [(Layer::MpiIo, ModuleId::DXT_MPIIO), (Layer::Posix, ModuleId::DXT_POSIX)] {
        if layers.contains(&layer) && log.module(module).is_some() {
            return Ok(Box::new(Fed(name.to_owned(), Requests { log, module, layer })));
        }
    }
    for layer in layers {
        if let Some(heatmap) = log.heatmap(layer)? {
            return Ok(Box::new(Fed(name.to_owned(), Bins { log, heatmap })));
        }
    }
    let present: Vec<String> = log.modules().iter().map(|module| module.name().into_owned()).collect();
    let of = layer.map_or(String::new(), |layer| format!(" of {layer}"));
    let found = if present.is_empty() { "no module".into() } else { present.join(", ") };
    let what = format!("does not tell when its I/O took place: expected DXT or HEATMAP{of}, found {found}");
    Err(SourceError::Nothing { name: name.into(), what })
}

/// The input if it is a Darshan log. Standard input can be looked at only once, and is not.
pub fn recognised(input: &Input, options: &OpenOptions) -> Result<Option<Content>, SourceError> {
    if *input == Input::Stdin || options.pattern.is_some() {
        return Ok(None);
    }
    let content = Content::open(input)?;
    Ok((Format::of(&content) == Some(Format::Darshan)).then_some(content))
}

#[derive(Debug)]
struct Requests {
    log: Log,
    module: ModuleId,
    layer: Layer,
}

#[derive(Debug)]
struct Bins {
    log: Log,
    heatmap: Heatmap,
}

fn job(log: &Log, name: &str, module: ModuleId) -> Job {
    let mut job = Job {
        ranks: u32::try_from(log.job().nprocs).unwrap_or(0),
        start: Some(0),
        end: Some((log.job().run_time() * 1e9) as i64).filter(|end| *end > 0),
        complete: true,
        ..Job::default()
    };
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
