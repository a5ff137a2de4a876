//! The profile that requests alone give.

use super::figures::{ModeProfile, Profile, Series};
use super::phase::Access;
use super::tally::Profiler;
use sources::request::Request;
use sources::time::seconds;
use sources::{Job, Source, SourceError, Span};
use tmio_trace::Class;

/// What the requests of a source tell.
pub(super) fn profile(source: Box<dyn Source>) -> Result<Profile, SourceError> {
    let mut tally = RequestTally::new(source.bin().is_some());
    let job = source.read(Span::Actual, &mut |requests| tally.add(requests))?;
    Ok(tally.finish(&job))
}

/// A source whose requests are profiled as they go past.
pub(super) struct Watched<'a> {
    pub source: Box<dyn Source>,
    pub profile: &'a mut Option<Profile>,
}

impl Source for Watched<'_> {
    fn bin(&self) -> Option<i64> {
        self.source.bin()
    }

    fn read(self: Box<Self>, span: Span, visit: &mut dyn FnMut(&[Request])) -> Result<Job, SourceError> {
        let mut tally = RequestTally::new(self.source.bin().is_some());
        let job = self.source.read(span, &mut |requests| {
            tally.add(requests);
            visit(requests);
        })?;
        *self.profile = Some(tally.finish(&job));
        Ok(job)
    }
}

/// Sums up requests.
struct RequestTally {
    profiler: Profiler,
    first: i64,
    last: i64,
    /// Bins of time are no operations.
    binned: bool,
}

impl RequestTally {
    fn new(binned: bool) -> Self {
        RequestTally { profiler: Profiler::default(), first: i64::MAX, last: i64::MIN, binned }
    }

    fn add(&mut self, requests: &[Request]) {
        for request in requests {
            (self.first, self.last) = (self.first.min(request.start), self.last.max(request.end));
            let Some(time) = request.end.checked_sub(request.start) else { continue };
            let end = request.start.saturating_add(time.max(0));
            let access =
                Access { rank: request.rank, start: request.start, end, deadline: end, bytes: request.bytes };
            self.profiler.access(request.class, access);
        }
    }

    fn finish(self, job: &Job) -> Profile {
        let mut profile = if job.per_unit.is_some() { Profile::default() } else { self.profiler.finish() };
        for series in Series::ALL {
            let mode = &mut profile.modes[series as usize];
            if series.is_required() {
                *mode = ModeProfile::default();
            }
            if matches!(series.class(), Class::ReadAsync | Class::WriteAsync) {
                mode.lost_time = None;
            }
            if self.binned {
                *mode = ModeProfile {
                    total_bytes: mode.total_bytes,
                    bandwidth: mode.bandwidth,
                    ..ModeProfile::default()
                };
            }
        }
        profile.ranks = job.ranks;
        let span = job.end.unwrap_or(self.last).saturating_sub(job.start.unwrap_or(self.first));
        profile.total_time = job.ranks.filter(|_| span > 0).map(|ranks| f64::from(ranks) * seconds(span));
        profile.warnings.splice(0..0, job.warnings.iter().cloned());
        profile
    }
}
