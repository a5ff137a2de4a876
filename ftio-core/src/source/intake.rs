//! From the numbers of a file to requests: leaves out what cannot be one, and counts it.

use super::{BandwidthPiece, Job, Source, SourceError, Span};
use crate::request::Request;

/// How many are handed on at a time.
const BATCH: usize = 4096;
/// Times beyond ±63 years are no times of a job.
const MAX_SECONDS: f64 = 2e9;
/// A single request of more bytes than this (8 EiB) is none.
const MAX_BYTES: f64 = 9.2e18;

/// A format whose data are phases.
pub(super) trait Feed {
    /// Push everything, and tell about the job.
    fn feed(self, span: Span, intake: &mut Intake<'_>) -> Result<Job, SourceError>;

    /// See [`Source::bin`].
    fn bin(&self) -> Option<i64> {
        None
    }
}

/// The source of such a format.
#[derive(Debug)]
pub(super) struct Fed<F>(pub String, pub F);

impl<F: Feed> Source for Fed<F> {
    fn bin(&self) -> Option<i64> {
        self.1.bin()
    }

    fn read(self: Box<Self>, span: Span, visit: &mut dyn FnMut(&[Request])) -> Result<Job, SourceError> {
        self.run(span, Sink::Requests(visit))
    }

    fn read_pieces(
        self: Box<Self>,
        span: Span,
        visit: &mut dyn FnMut(&[BandwidthPiece]),
    ) -> Result<Job, SourceError> {
        self.run(span, Sink::Phases(visit))
    }
}

impl<F: Feed> Fed<F> {
    fn run(self, span: Span, sink: Sink<'_>) -> Result<Job, SourceError> {
        let mut intake = Intake {
            sink,
            requests: Vec::new(),
            phases: Vec::new(),
            taken: 0,
            highest_rank: None,
            left_out: 0,
            first_left_out: None,
        };
        let job = self.1.feed(span, &mut intake)?;
        intake.finish(self.0, job)
    }
}

enum Sink<'a> {
    Requests(&'a mut dyn FnMut(&[Request])),
    Phases(&'a mut dyn FnMut(&[BandwidthPiece])),
}

/// Takes phases.
pub(super) struct Intake<'a> {
    sink: Sink<'a>,
    requests: Vec<Request>,
    phases: Vec<BandwidthPiece>,
    taken: u64,
    highest_rank: Option<u32>,
    left_out: u64,
    first_left_out: Option<String>,
}

impl Intake<'_> {
    /// One phase; `place` says where it was found, should it be unusable.
    pub fn push(&mut self, phase: BandwidthPiece, place: impl FnOnce() -> String) {
        let Some(request) = request(&phase) else {
            return self.leave_out(|| format!("{}: {}", place(), describe(&phase)));
        };
        self.taken += 1;
        self.highest_rank = self.highest_rank.max(phase.rank);
        match &mut self.sink {
            Sink::Requests(visit) => {
                self.requests.push(request);
                if self.requests.len() == BATCH {
                    visit(&self.requests);
                    self.requests.clear();
                }
            }
            Sink::Phases(visit) => {
                self.phases.push(phase);
                if self.phases.len() == BATCH {
                    visit(&self.phases);
                    self.phases.clear();
                }
            }
        }
    }

    /// Something that cannot be a request.
    pub fn leave_out(&mut self, what: impl FnOnce() -> String) {
        self.left_out += 1;
        self.first_left_out.get_or_insert_with(what);
    }

    fn finish(mut self, name: String, mut job: Job) -> Result<Job, SourceError> {
        match &mut self.sink {
            Sink::Requests(visit) => visit(&self.requests),
            Sink::Phases(visit) => visit(&self.phases),
        }
        if let Some(first) = self.first_left_out {
            if self.taken == 0 {
                let what = format!("holds nothing usable; {first}");
                return Err(SourceError::Nothing { name, what });
            }
            let entries =
                if self.left_out == 1 { "1 entry was" } else { &format!("{} entries were", self.left_out) };
            job.warnings.insert(0, format!("{name}: {entries} left out; {first}"));
            job.complete = false;
        }
        if job.ranks == 0 {
            job.ranks = self.highest_rank.map_or(0, |rank| rank.saturating_add(1));
        }
        Ok(job)
    }
}

/// The request that a phase stands for.
fn request(phase: &BandwidthPiece) -> Option<Request> {
    let time = |seconds: f64| (seconds.abs() <= MAX_SECONDS).then(|| rounded(seconds * 1e9));
    let (start, end) = (time(phase.start)?, time(phase.end)?);
    let bytes = match phase.bytes {
        Some(bytes) => bytes,
        // Without the bytes, a phase that ends before it starts says nothing.
        None if end < start => return None,
        None => {
            let bytes = phase.bandwidth * (phase.end - phase.start);
            if !(0.0..=MAX_BYTES).contains(&bytes) {
                return None;
            }
            rounded(bytes) as u64
        }
    };
    (bytes as f64 <= MAX_BYTES).then_some(Request { start, end, bytes, class: phase.class, rank: phase.rank })
}

/// `number.round() as i64`, of a number within its range: `round` is a call where nothing is known of the processor.
#[inline(always)]
fn rounded(number: f64) -> i64 {
    let whole = number as i64;
    let rest = number - whole as f64;
    whole + i64::from(rest >= 0.5) - i64::from(rest <= -0.5)
}

fn describe(phase: &BandwidthPiece) -> String {
    let bytes = phase.bytes.map_or(String::new(), |bytes| format!(" ({bytes} bytes)"));
    format!(
        "expected finite times in order and a bandwidth of 0 or more, found {} B/s{bytes} from {} s to {} s",
        phase.bandwidth, phase.start, phase.end
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn halves_are_rounded_away_from_zero() {
        for number in
            [0.0, 0.49999999999999994, 0.5, 1.5, 2.5, -0.5, -1.5, -0.4, 4503599627370497.5, 9.2e18, -9.2e18]
        {
            assert_eq!(rounded(number), number.round() as i64, "{number}");
        }
    }

    proptest! {
        #[test]
        fn rounds_as_the_library_does(number in -9.2e18f64..9.2e18, small in -1e6f64..1e6) {
            prop_assert_eq!(rounded(number), number.round() as i64);
            prop_assert_eq!(rounded(small), small.round() as i64);
        }
    }
}
