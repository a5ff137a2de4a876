//! The period by the starts of the phases.
//!
//! A window of three periods, as the paper's rule keeps, is short for a spectrum: the edges of the window bend the frequency found by a percent or so. But
//! once the period is roughly known, so is which phase is which, and a straight line through their starts gives it as exactly as they
//! are regular. The line counts only where it fits: if the starts scatter by more than [`SCATTER`] of the period, or the line is further
//! than [`DISTANCE`] from the spectrum, the spectrum has the last word.

use crate::characterize::pieces;
use crate::detect::Analysis;

/// Largest root-mean-square distance of the starts from the line, in periods.
const SCATTER: f64 = 0.03;

/// Largest relative difference to the period of the spectrum.
const DISTANCE: f64 = 0.05;

/// Put the period that the starts of the phases tell into a result.
pub(super) fn adjust(analysis: &mut Analysis) {
    let Some(period) = analysis.detection.period else { return };
    let Some((exact, last)) = line(analysis, period) else { return };
    let detection = &mut analysis.detection;
    (detection.period, detection.frequency) = (Some(exact), Some(1.0 / exact));
    if let Some(next) = &mut detection.next_phase {
        let ahead = ((next.start - last) / period).round();
        let length = next.end - next.start;
        next.start += ahead * (exact - period);
        next.end = next.start + length;
    }
}

/// The slope of the line through the starts, and the last of them in seconds of job time.
fn line(analysis: &Analysis, period: f64) -> Option<(f64, f64)> {
    let signal = &analysis.signal;
    let cut = pieces(signal, analysis.wave.as_ref()?);
    // A phase that was under way when the window began began earlier.
    let starts: Vec<f64> = cut
        .iter()
        .filter_map(|piece| piece.active)
        .map(|(start, _)| start)
        .filter(|start| *start > 1.5 * signal.step())
        .collect();
    let (first, last) = (*starts.first()?, *starts.last()?);
    let number = |start: f64| ((start - first) / period).round();
    if starts.len() < 3 || starts.windows(2).any(|pair| number(pair[1]) <= number(pair[0])) {
        return None;
    }
    let count = starts.len() as f64;
    let mean_number = starts.iter().map(|&start| number(start)).sum::<f64>() / count;
    let mean_start = starts.iter().sum::<f64>() / count;
    let sum = |f: &dyn Fn(f64, f64) -> f64| -> f64 {
        starts.iter().map(|&start| f(number(start) - mean_number, start - mean_start)).sum()
    };
    let exact = sum(&|x, y| x * y) / sum(&|x, _| x * x);
    let scatter = (sum(&|x, y| (y - exact * x).powi(2)) / count).sqrt();
    let fits = scatter <= SCATTER * period && (exact / period - 1.0).abs() <= DISTANCE;
    fits.then_some((exact, signal.start_seconds() + last))
}
