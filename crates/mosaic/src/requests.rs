//! From any other input to a run: every request is an operation. There are no metadata operations in such
//! inputs.

use crate::log::{Invalid, InvalidKind, LoggedRun, Origin};
use crate::operation::{Collector, Operation};
use crate::run::Run;
use crate::thresholds::Thresholds;
use ftio_core::request::{Request, Span, is_write};
use ftio_core::source::Source;
use ftio_core::time::seconds;

/// Read the requests of an input. A quantity over time is none, unless it is a bandwidth: then every sample
/// is an operation.
pub fn read(
    name: &str,
    source: Box<dyn Source>,
    is_bandwidth: bool,
    thresholds: &Thresholds,
) -> Result<LoggedRun, Invalid> {
    let mut requests: Vec<Request> = Vec::new();
    let job = source
        .read(Span::Actual, &mut |batch| requests.extend_from_slice(batch))
        .map_err(|error| Invalid::new(InvalidKind::Damaged, error.to_string()))?;
    if job.per_unit.is_some() && !is_bandwidth {
        let reason = format!("{name}: expected requests, found a sampled quantity");
        return Err(Invalid::new(InvalidKind::Unsupported, reason));
    }
    let first = requests.iter().map(|request| request.start).min();
    let last = requests.iter().map(|request| request.end).max();
    let (Some(first), Some(last)) = (job.start.or(first), job.end.max(last)) else {
        let reason = format!("{name}: expected requests, found none");
        return Err(Invalid::new(InvalidKind::ImpossibleJob, reason));
    };
    if let Some(scale) = job.per_unit {
        requests.retain_mut(|request| {
            request.bytes = (request.bytes as f64 / scale).round() as u64;
            request.bytes > 0
        });
    }
    let run_time = seconds(last.saturating_sub(first));
    if run_time <= 0.0 {
        let reason = format!("{name}: expected an end after the start, found {run_time} s");
        return Err(Invalid::new(InvalidKind::ImpossibleJob, reason));
    }
    let mut directions = [Collector::new(run_time, thresholds), Collector::new(run_time, thresholds)];
    for request in &requests {
        let at = |time: i64| seconds(time.saturating_sub(first)).clamp(0.0, run_time);
        let (start, end) = (at(request.start), at(request.end.max(request.start)));
        directions[usize::from(is_write(request.class))].push(Operation::new(start, end, request.bytes));
    }
    let [reads, writes] = directions.map(Collector::finish);
    let ranks = job.ranks.map_or(1, u64::from);
    let mut notes = job.warnings;
    notes.extend(job.notes);
    if job.ranks.is_none() {
        notes.push("the number of processes is not known; taken as 1".into());
    }
    Ok(LoggedRun {
        run: Run { run_time, ranks, reads, writes, ..Run::default() },
        layer: None,
        origin: Origin::Requests,
        notes,
    })
}
