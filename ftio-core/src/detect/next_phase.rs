//! When the next I/O phase will come, how long it will take, and how much it will transfer.
//!
//! The last phase seen is the best anchor, because small deviations of each period add up over a run: the next one starts one
//! period after the last one started, or a whole number of periods if that already lies in the past. It lasts as long as
//! the phases before it did (their median), and transfers what they did on average.

use crate::detect::characterize::Piece;
use serde::Serialize;

/// The expected next phase.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct NextPhase {
    /// Expected start, in seconds of job time.
    pub start: f64,
    /// Expected end, in seconds of job time.
    pub end: f64,
    /// Expected bytes.
    pub bytes: u64,
}

/// Predict the phase that follows the window, which begins at `window_start` and is known up to `known_until` (seconds of job
/// time). `begun` is when a phase began after the last piece, if one did. `None` if no piece has any substantial I/O.
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
    Some(NextPhase { start, end: start + length, bytes: bytes.round() as u64 })
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
