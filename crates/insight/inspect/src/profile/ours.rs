//! The profile of our own trace: every operation.

use super::figures::{Look, Profile};
use super::tally::Profiler;
use crate::tally::Tally;
use sources::our_trace::is_of;
use sources::request::Request;
use sources::{Job, Source, SourceError, Span, TmioTrace};
use tmio_trace::{Event, Outcome};

/// Profile a trace, and hand its requests to `look` in the same pass.
pub(super) fn profile<R>(
    name: &str,
    trace: TmioTrace,
    look: Box<Look<'_, R>>,
) -> Result<(Profile, Result<R, SourceError>), SourceError> {
    let layer = trace.layer();
    let mut watched = (Tally::of(layer), Profiler::default(), None);
    let seen = look(name, Box::new(Watched { trace, into: &mut watched }));
    let (tally, profiler, outcome) = watched;
    let Some(outcome) = outcome else {
        return Err(seen.err().unwrap_or(SourceError::Empty { name: name.to_owned() }));
    };
    let summary = tally.finish(name, outcome);
    let mut profile = profiler.finish();
    let total = summary.ranks.map(|ranks| f64::from(ranks) * (summary.t_end - summary.t_start));
    profile.ranks = summary.ranks;
    profile.total_time = total.filter(|total| *total > 0.0);
    profile.overhead = summary.overhead.time;
    profile.write_async = Some(summary.write_async);
    profile.read_async = Some(summary.read_async);
    profile.files = summary.files;
    profile.warnings.splice(0..0, summary.warnings);
    Ok((profile, seen))
}

/// A trace whose operations are summed up as they go past.
struct Watched<'a> {
    trace: TmioTrace,
    into: &'a mut (Tally, Profiler, Option<Outcome>),
}

impl Source for Watched<'_> {
    fn read(self: Box<Self>, span: Span, visit: &mut dyn FnMut(&[Request])) -> Result<Job, SourceError> {
        let (tally, profiler, outcome) = self.into;
        let layer = self.trace.layer();
        let (job, read) = self.trace.read_watched(span, visit, &mut |event| {
            tally.event(event);
            if let Event::Block(block) = event {
                for (index, op) in block.operations.iter().enumerate().filter(|(_, op)| is_of(layer, op)) {
                    profiler.add(block.rank, op, block.merged_at(index));
                }
            }
        })?;
        *outcome = Some(read);
        Ok(job)
    }
}
