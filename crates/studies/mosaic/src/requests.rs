//! From any other input to a run: every request is an operation.
//!
//! Our own traces also tell opens, closes and seeks, one by one; their layers never count the same call, so
//! that those of all layers are added, unless one layer is asked for. Other inputs have no metadata
//! operations.

use crate::log::{Invalid, InvalidKind, LoggedRun, Origin, Reading};
use crate::metadata::{Requests, thin_out};
use crate::operation::{Collector, Operation};
use crate::run::Run;
use crate::thresholds::Thresholds;
use sources::Layer;
use sources::request::{Request, Span, is_write};
use sources::time::seconds;
use sources::{Job, Source, SourceError, TmioTrace};
use tmio_trace::reader::Operations;
use tmio_trace::{Event, Metadata};

/// Whose run a trace of ours is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Owner {
    /// The user's number, or -1.
    pub user: i64,
    /// The command, or the path of the executable.
    pub command: String,
    /// The scheduler's number, or 0.
    pub job: i64,
    /// When it began, seconds since 1970.
    pub start: i64,
}

/// Read the requests of an input. A quantity over time has none, unless it is a bandwidth: then every sample
/// is an operation.
pub fn read(
    name: &str,
    source: Box<dyn Source>,
    is_bandwidth: bool,
    thresholds: &Thresholds,
) -> Result<LoggedRun, Invalid> {
    let mut moved = Moved::new(thresholds);
    let job = source.read(Span::Actual, &mut |batch| moved.add(batch)).map_err(damaged)?;
    if job.per_unit.is_some() && !is_bandwidth {
        let reason = format!("{name}: expected requests, found a sampled quantity");
        return Err(Invalid::new(InvalidKind::Unsupported, reason));
    }
    moved.finish(name, job, Vec::new())
}

/// Read a trace of ours.
pub fn read_trace(
    name: &str,
    trace: TmioTrace,
    reading: &Reading,
    thresholds: &Thresholds,
) -> Result<(LoggedRun, Owner), Invalid> {
    let layer = trace.layer();
    let mut moved = Moved::new(thresholds);
    let mut metadata = Vec::new();
    let mut owner = Owner { user: -1, ..Owner::default() };
    let mut watch = |event: &Event<'_>| match event {
        Event::Header(header) => {
            owner.command = header.command.clone().unwrap_or_else(|| header.executable.clone());
            // Outside of a batch system it is the number of a process, and "12.3" is step 3 of job 12.
            owner.job = header.job.split('.').next().and_then(|job| job.parse().ok()).unwrap_or(0);
            owner.start = seconds(header.start).floor() as i64;
        }
        Event::Rank(info) => {
            if let (Some(user), true) = (info.user, owner.user < 0) {
                owner.user = i64::from(user);
            }
        }
        Event::Block(block) => add_metadata(&mut metadata, block, reading.layer),
    };
    let (job, _) =
        trace.read_watched(Span::Actual, &mut |batch| moved.add(batch), &mut watch).map_err(damaged)?;
    let mut found = moved.finish(name, job, metadata)?;
    found.layer =
        layer.or(Some(Layer::MpiIo)).filter(|_| !found.run.reads.is_empty() || !found.run.writes.is_empty());
    Ok((found, owner))
}

fn damaged(error: SourceError) -> Invalid {
    Invalid::new(InvalidKind::Damaged, error.to_string())
}

/// Opens, closes and seeks, in job time.
fn add_metadata(metadata: &mut Vec<Requests>, block: &Operations<'_>, asked: Option<Layer>) {
    for (index, op) in block.operations.iter().enumerate() {
        let counts = matches!(
            op.kind.as_metadata(),
            Some(Metadata::Open | Metadata::Close | Metadata::Seek | Metadata::SeekShared)
        );
        if counts && asked.is_none_or(|layer| layer == op.kind.layer().into()) {
            let count = u64::from(block.merged_at(index).count);
            metadata.push(Requests { start: seconds(op.start), end: seconds(op.end), count });
        }
    }
    if metadata.len() >= Collector::MAX_OPERATIONS {
        thin_out(metadata);
    }
}

/// Operations in the order in which they come, in bounded memory. Their times are relative to the first one
/// that came: when the job began is known at the end.
struct Moved {
    origin: Option<i64>,
    first: i64,
    last: i64,
    directions: [Collector; 2],
}

impl Moved {
    fn new(thresholds: &Thresholds) -> Self {
        let collector = Collector::new(0.0, thresholds);
        let directions = [collector.clone(), collector];
        Moved { origin: None, first: i64::MAX, last: i64::MIN, directions }
    }

    fn add(&mut self, batch: &[Request]) {
        for request in batch {
            let origin = *self.origin.get_or_insert(request.start);
            let end = request.end.max(request.start);
            (self.first, self.last) = (self.first.min(request.start), self.last.max(end));
            let at = |time: i64| seconds(time.saturating_sub(origin));
            let operation = Operation::new(at(request.start), at(end), request.bytes);
            let direction = &mut self.directions[usize::from(is_write(request.class))];
            direction.lasts(seconds(self.last.saturating_sub(self.first)));
            direction.push(operation);
        }
    }

    fn finish(self, name: &str, job: Job, mut metadata: Vec<Requests>) -> Result<LoggedRun, Invalid> {
        let some = self.origin.is_some();
        let first = job.start.or(some.then_some(self.first));
        let last = job.end.max(some.then_some(self.last));
        let (Some(first), Some(last)) = (first, last) else {
            let reason = format!("{name}: expected requests, found none");
            return Err(Invalid::new(InvalidKind::ImpossibleJob, reason));
        };
        let run_time = seconds(last.saturating_sub(first));
        if run_time <= 0.0 {
            let reason = format!("{name}: expected an end after the start, found {run_time} s");
            return Err(Invalid::new(InvalidKind::ImpossibleJob, reason));
        }
        let shift = seconds(self.origin.unwrap_or(first).saturating_sub(first));
        let [reads, writes] = self.directions.map(|direction| {
            let mut operations = direction.finish();
            for operation in &mut operations {
                operation.start = (operation.start + shift).clamp(0.0, run_time);
                operation.end = (operation.end + shift).clamp(0.0, run_time);
                if let Some(scale) = job.per_unit {
                    operation.bytes = (operation.bytes as f64 / scale).round() as u64;
                }
            }
            operations.retain(|operation| operation.bytes > 0);
            operations
        });
        for requests in &mut metadata {
            let at = |time: f64| (time - seconds(first)).clamp(0.0, run_time);
            (requests.start, requests.end) = (at(requests.start), at(requests.end));
        }
        let mut notes = job.warnings;
        notes.extend(job.notes);
        if job.ranks.is_none() {
            notes.push("the number of processes is not known; taken as 1".into());
        }
        let ranks = job.ranks.map_or(1, u64::from);
        Ok(LoggedRun {
            run: Run { run_time, ranks, reads, writes, metadata, ..Run::default() },
            layer: None,
            origin: Origin::Requests,
            notes,
        })
    }
}
