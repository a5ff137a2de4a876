//! The period by the starts of the phases.
//!
//! A window of three periods, as the paper's rule keeps, is short for a spectrum: the edges of the window bend the frequency found by a percent or so, and
//! bursts that are short beside their period have harmonics as strong as the fundamental. But the spectrum divides the window into pieces, and the
//! phases themselves tell the rest:
//!
//! * If only every m-th piece has a phase, the spectrum has found the m-th harmonic: the period is m pieces.
//! * The period is the mean distance of the starts, which is as exact as they are known.
//!
//! This counts only where it fits: if the distances scatter by more than [`SCATTER`] of the period, or their mean is further than [`DISTANCE`] from
//! that of the spectrum, the spectrum has the last word.

use crate::detect::Analysis;
use crate::detect::characterize::pieces;
use crate::signal::Signal;

/// Largest standard deviation of the distances, in periods.
const SCATTER: f64 = 0.1;

/// Largest relative difference to the period of the spectrum, or to m of them.
const DISTANCE: f64 = 0.1;

/// Put the period that the starts of the phases tell into a result.
pub(super) fn adjust(analysis: &mut Analysis) {
    let Some(period) = analysis.detection.period else { return };
    let Some(Beat { exact, last }) = beat(analysis, period) else { return };
    let detection = &mut analysis.detection;
    (detection.period, detection.frequency) = (Some(exact), Some(1.0 / exact));
    if let Some(next) = &mut detection.next_phase {
        let length = next.end - next.start;
        let periods = ((detection.t_end - last) / exact).ceil().max(1.0);
        next.start = last + periods * exact;
        next.end = next.start + length;
    }
}

/// What the starts of the phases tell.
struct Beat {
    /// Their mean distance.
    exact: f64,
    /// The last one, in seconds of job time.
    last: f64,
}

fn beat(analysis: &Analysis, period: f64) -> Option<Beat> {
    let signal = &analysis.signal;
    let cut = pieces(signal, analysis.wave.as_ref()?);
    // A phase that was under way when the window began began earlier.
    let starts: Vec<f64> = cut
        .iter()
        .filter_map(|piece| piece.active)
        .filter(|(start, _)| *start > 1.5 * signal.step())
        .map(|(start, _)| within_bin(signal, start))
        .collect();
    // From each to the next, in whole pieces.
    let gaps: Vec<f64> = starts.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let numbers: Vec<u64> = gaps.iter().map(|gap| (gap / period).round() as u64).collect();
    if gaps.len() < 2 || numbers.contains(&0) {
        return None;
    }
    let harmonic = numbers.iter().copied().reduce(common_divisor)?;
    let (first, last) = (starts.first()?, starts.last()?);
    let exact = (last - first) / numbers.iter().sum::<u64>() as f64 * harmonic as f64;
    let deviation = |(gap, number): (&f64, &u64)| (gap - exact * (number / harmonic) as f64).powi(2);
    let scatter = (gaps.iter().zip(&numbers).map(deviation).sum::<f64>() / gaps.len() as f64).sqrt();
    let expected = period * harmonic as f64;
    let fits = scatter <= SCATTER * expected && (exact / expected - 1.0).abs() <= DISTANCE;
    fits.then_some(Beat { exact, last: signal.start_seconds() + last })
}

/// The start of a phase inside the bin where it was noticed, or the one before: as far from its end as the bins are filled.
fn within_bin(signal: &Signal, start: f64) -> f64 {
    let bin = (start / signal.step()).round() as usize;
    let sample = |bin: usize| signal.samples.get(bin).copied().unwrap_or(0.0);
    let full = sample(bin).max(sample(bin + 1));
    if bin == 0 || full <= 0.0 {
        return start;
    }
    let filled = (sample(bin) + sample(bin - 1).min(full)) / full;
    (bin + 1) as f64 * signal.step() - filled * signal.step()
}

fn common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { common_divisor(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detect::{Options, analyse};
    use crate::request::{Class, Request};
    use crate::source::Job;
    use crate::spectral::spectrum::Wave;

    /// Bursts of a tenth of a second at these times, taken to have this period by the spectrum.
    fn adjusted(starts: &[f64], period: f64) -> Option<f64> {
        let ns = |seconds: f64| (seconds * 1e9) as i64;
        let bursts: Vec<Request> =
            starts.iter().map(|&s| Request::new(ns(s), ns(s + 0.1), 1 << 20, Class::WriteSync)).collect();
        let options = Options::default();
        let mut collector = options.collector();
        collector.add(&bursts);
        let job = Job { start: Some(0), end: Some(ns(starts[starts.len() - 1] + 0.5)), ..Job::default() };
        let mut analysis = analyse("x", collector.finish(), &job, &options);
        analysis.detection.period = Some(period);
        analysis.wave =
            Some(Wave::in_samples(&analysis.signal.samples, analysis.signal.step(), 1.0 / period));
        adjust(&mut analysis);
        analysis.detection.period
    }

    #[test]
    fn the_mean_distance() {
        let found = adjusted(&[0.5, 1.5, 2.52, 3.5, 4.5], 1.02).unwrap();
        assert!((found - 1.0).abs() < 1e-4, "{found}");
    }

    #[test]
    fn a_harmonic_is_not_the_period() {
        for harmonic in [2.0, 3.0, 4.0] {
            let found = adjusted(&[0.5, 1.5, 2.5, 3.5, 4.5], 1.0 / harmonic).unwrap();
            assert!((found - 1.0).abs() < 0.005, "{harmonic}: {found}");
        }
    }

    #[test]
    fn what_does_not_fit_changes_nothing() {
        assert_eq!(adjusted(&[0.5, 1.5], 1.03), Some(1.03), "too few");
        assert_eq!(adjusted(&[0.5, 1.2, 2.6, 3.4, 4.9], 1.03), Some(1.03), "too irregular");
    }
}
