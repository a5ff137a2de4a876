//! When the next I/O phase will come, how long it will take, and how much it will transfer.
//!
//! From the second phase on there is an answer, with the interval that holds the start with a probability of
//! 80 %. It is [foretold](crate::estimate::forecast) by all hypotheses about the period together; while there
//! is no period, it is *provisional*. Of two rhythms at once the one whose phase comes first counts.
//!
//! Where the period comes from the spectrum alone, the next phase starts one period after the last crest of
//! its wave, or a whole number of periods if that already lies in the past.

use crate::detect::characterize::Piece;
use crate::estimate::Estimate;
use schemars::JsonSchema;
use serde::Serialize;
use sources::time::ClockTime;

/// How far from its start a phase may begin that only the spectrum foretells, as a share of the period.
const BY_WAVE: f64 = 0.15;

/// The expected next phase.
#[derive(Clone, Copy, Debug, Default, PartialEq, JsonSchema, Serialize)]
pub struct NextPhase {
    /// Expected start, in seconds of job time.
    pub start: f64,
    /// Expected end, in seconds of job time.
    pub end: f64,
    /// Expected bytes.
    pub bytes: u64,
    /// The start lies between this …
    pub start_low: f64,
    /// … and this with a probability of 80 %.
    pub start_high: f64,
    /// There is no period yet: a guess from the phases so far.
    pub provisional: bool,
    /// The start in seconds since 1970, where the clock is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_timestamp: Option<f64>,
    /// The end likewise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end_timestamp: Option<f64>,
    /// The start as a date and time of day.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_time: Option<ClockTime>,
    /// The end likewise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end_time: Option<ClockTime>,
}

impl NextPhase {
    /// On the clock, if job time 0 is known, in nanoseconds since 1970.
    pub fn on_clock(mut self, origin: Option<i64>) -> Self {
        self.start_time = origin.map(|origin| ClockTime::after(origin, self.start));
        self.end_time = origin.map(|origin| ClockTime::after(origin, self.end));
        self.start_timestamp = self.start_time.map(ClockTime::timestamp);
        self.end_timestamp = self.end_time.map(ClockTime::timestamp);
        self
    }
}

/// The phase that an estimate foretells, of a window that begins at `window_start` and is known up to
/// `known_until` (seconds of job time).
pub fn foretold(estimate: &Estimate, window_start: f64, known_until: f64) -> Option<NextPhase> {
    let provisional = estimate.period.is_none() && estimate.periods.is_empty();
    let next = estimate.forecasts.iter().filter_map(|forecast| {
        let next = forecast.next(known_until - window_start)?;
        let start = window_start + next.start;
        Some(NextPhase {
            start,
            end: start + forecast.length,
            bytes: forecast.bytes.max(0.0).round() as u64,
            start_low: window_start + next.low,
            start_high: window_start + next.high,
            provisional,
            ..NextPhase::default()
        })
    });
    next.min_by(|a, b| a.start.total_cmp(&b.start))
}

/// Predict the phase that follows the window by the pieces of a wave. The window begins at `window_start` and
/// is known up to `known_until` (seconds of job time). `begun` is when a phase began after the last piece, if
/// one did. `None` if no piece has any substantial I/O.
pub fn next_phase(
    pieces: &[Piece],
    begun: Option<f64>,
    period: f64,
    window_start: f64,
    known_until: f64,
) -> Option<NextPhase> {
    let active: Vec<(f64, f64)> = pieces.iter().filter_map(|piece| piece.active).collect();
    let last = active.last()?;
    let mut lengths: Vec<f64> = active.iter().map(|(from, to)| to - from).collect();
    lengths.sort_by(f64::total_cmp);
    let length = lengths[lengths.len() / 2];
    let busy: Vec<&Piece> = pieces.iter().filter(|piece| piece.active.is_some()).collect();
    let bytes = busy.iter().map(|piece| piece.volume).sum::<f64>() / busy.len() as f64;
    let last_start = window_start + begun.unwrap_or(last.0);
    let periods = ((known_until - last_start) / period).ceil().max(1.0);
    let start = last_start + periods * period;
    Some(NextPhase {
        start,
        end: start + length,
        bytes: bytes.round() as u64,
        start_low: start - BY_WAVE * period,
        start_high: start + BY_WAVE * period,
        provisional: false,
        ..NextPhase::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(from: f64, to: f64, volume: f64) -> Piece {
        Piece { start: 0.0, volume, busy: to - from, active: (from < to).then_some((from, to)) }
    }

    #[test]
    fn one_period_after_the_last_start() {
        let pieces = [piece(4.0, 6.0, 90.0), piece(14.0, 16.0, 110.0), piece(24.5, 27.5, 100.0)];
        let next = next_phase(&pieces, None, 10.0, 100.0, 130.0).unwrap();
        assert_eq!((next.start, next.end, next.bytes), (134.5, 136.5, 100));
    }

    #[test]
    fn a_phase_that_had_just_begun_is_the_last_one() {
        let pieces = [piece(4.0, 6.0, 90.0), piece(14.0, 16.0, 110.0)];
        let next = next_phase(&pieces, Some(23.5), 10.0, 0.0, 24.0).unwrap();
        assert_eq!((next.start, next.end), (33.5, 35.5));
    }

    #[test]
    fn never_in_the_past() {
        let pieces = [piece(4.0, 6.0, 90.0), piece(0.0, 0.0, 0.0), piece(0.0, 0.0, 0.0)];
        let next = next_phase(&pieces, None, 10.0, 0.0, 30.0).unwrap();
        assert_eq!((next.start, next.bytes), (34.0, 90));
        assert_eq!(next_phase(&[piece(0.0, 0.0, 0.0)], None, 10.0, 0.0, 30.0), None);
        assert_eq!(next_phase(&[], None, 10.0, 0.0, 30.0), None);
    }
}
