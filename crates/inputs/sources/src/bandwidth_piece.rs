//! A bandwidth that held for some time: what TMIO calls a phase, and what bandwidth-like inputs consist of.

use crate::request::{Class, Request};
use crate::time::{PER_SECOND, seconds, seconds_of_sum};

/// Times beyond ±63 years are no times of a job.
const MAX_SECONDS: f64 = 2e9;
/// Requests larger than this (8 EiB) are rejected as corrupt.
const MAX_BYTES: f64 = 9.2e18;

/// A bandwidth from `start` to `end`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BandwidthPiece {
    /// In seconds of job time.
    pub start: f64,
    /// In seconds of job time.
    pub end: f64,
    /// In bytes per second.
    pub bandwidth: f64,
    /// Bytes, where the input knows them in addition to the bandwidth.
    pub bytes: Option<u64>,
    /// The rank, where the input knows it.
    pub rank: Option<u32>,
    /// Direction and kind.
    pub class: Class,
}

impl BandwidthPiece {
    /// The bandwidth of a request; `None` if it took no time.
    pub fn of(request: &Request) -> Option<Self> {
        let duration = i128::from(request.end) - i128::from(request.start);
        (duration > 0).then(|| BandwidthPiece {
            start: seconds(request.start),
            end: seconds(request.end),
            bandwidth: request.bytes as f64 / seconds_of_sum(duration),
            bytes: Some(request.bytes),
            rank: request.rank,
            class: request.class,
        })
    }

    /// The request that it stands for; `None` if its numbers cannot be those of one.
    pub fn request(&self) -> Option<Request> {
        let time = |at: f64| (at.abs() <= MAX_SECONDS).then(|| rounded(at * PER_SECOND));
        let (start, end) = (time(self.start)?, time(self.end)?);
        let bytes = match self.bytes {
            Some(bytes) => bytes,
            // Without the bytes, a phase that ends before it starts says nothing.
            None if end < start => return None,
            None => {
                let bytes = self.bandwidth * (self.end - self.start);
                if !(0.0..=MAX_BYTES).contains(&bytes) {
                    return None;
                }
                rounded(bytes) as u64
            }
        };
        (bytes as f64 <= MAX_BYTES).then_some(Request {
            start,
            end,
            bytes,
            class: self.class,
            rank: self.rank,
        })
    }
}

/// `number.round() as i64`, of a number within its range: `round` is a call where nothing is known of the
/// processor.
#[inline(always)]
fn rounded(number: f64) -> i64 {
    let whole = number as i64;
    let rest = number - whole as f64;
    whole + i64::from(rest >= 0.5) - i64::from(rest <= -0.5)
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
