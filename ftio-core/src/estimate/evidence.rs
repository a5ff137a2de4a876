//! What speaks for a period: independent witnesses, and how far they agree.
//!
//! | witness | looks at |
//! |---|---|
//! | phases | the starts of the phases that were [counted](crate::phases) |
//! | spectrum | the frequency that stands out of the DFT ([spectral](crate::spectral)) |
//! | autocorrelation | how well the signal matches itself one period later |
//! | repetition | how much of the signal's variance is in its mean period |
//!
//! The first gives the period, the others support it or do not; [`confidence`](mod@crate::estimate::confidence) weighs them.

use crate::phases::Counted;
use crate::phases::regularity::Regularity;
use crate::signal::Signal;
use crate::spectral::autocorrelation::acf;
use serde::Serialize;

/// Samples of the signal that the autocorrelation looks at; finer ones are merged.
const CORRELATED: usize = 1 << 12;

/// What led to the answer.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Evidence {
    /// Where the period comes from: `phases` (the mean distance of their starts) or `spectrum`; `None` without one.
    pub method: Option<&'static str>,
    /// Phases counted.
    pub phases: usize,
    /// Start of the first one, in seconds of job time.
    pub first_start: Option<f64>,
    /// Start of the last one.
    pub last_start: Option<f64>,
    /// Mean distance of their starts, whether or not it is called a period.
    pub mean_distance: Option<f64>,
    /// Coefficient of variation of the distances.
    pub distance_variation: Option<f64>,
    /// Coefficient of variation of the volumes.
    pub volume_variation: Option<f64>,
    /// How uneven the phases are, relative to phases at random instants: 1 and more is no period.
    pub irregularity: Option<f64>,
    /// Octaves of time scales over which this number of phases is seen.
    pub octaves: f64,
    /// How well the next best number of phases fits, relative to this one.
    pub rival: f64,
    /// The finer level: regular bursts inside each phase.
    pub inner: Option<Inner>,
    /// The period that the spectrum alone gives, if one frequency stands out.
    pub spectrum_period: Option<f64>,
    /// How far that frequency stands out: c_d of the paper.
    pub spectrum_confidence: f64,
    /// The autocorrelation one period later.
    pub autocorrelation: Option<f64>,
    /// The share of the signal's variance that repeats every period, beyond what it would by chance.
    pub repetition: Option<f64>,
}

/// Regular bursts inside each phase.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Inner {
    /// How many there are in all.
    pub bursts: usize,
    /// Mean distance of their starts in seconds.
    pub mean_distance: f64,
}

impl From<Regularity> for Inner {
    fn from(regularity: Regularity) -> Self {
        Inner { bursts: regularity.count, mean_distance: regularity.period }
    }
}

impl Evidence {
    /// Of the phases that were counted, in a window that begins at `start` (seconds of job time).
    pub fn of(counted: Option<&Counted>, start: f64) -> Self {
        let Some(counted) = counted else { return Evidence::default() };
        let regularity = &counted.regularity;
        Evidence {
            phases: regularity.count,
            first_start: counted.phases.first().map(|phase| start + phase.start),
            last_start: counted.phases.last().map(|phase| start + phase.start),
            mean_distance: Some(regularity.period),
            distance_variation: Some(regularity.distances),
            volume_variation: Some(regularity.volumes),
            irregularity: Some(regularity.irregularity()),
            octaves: counted.octaves,
            rival: counted.rival,
            inner: counted.inner.map(Inner::from),
            ..Evidence::default()
        }
    }

    /// With what the signal itself says about a period.
    pub fn with_repetition(mut self, signal: &Signal, period: f64) -> Self {
        let thin = signal.merged(signal.samples.len().div_ceil(CORRELATED));
        self.autocorrelation = correlation(&thin, period);
        self.repetition = repetition(&thin, period);
        self
    }

    /// Does the spectrum give about this period?
    pub fn spectrum_agrees(&self, period: f64) -> bool {
        self.spectrum_period.is_some_and(|other| (other / period - 1.0).abs() <= 0.05)
    }
}

/// The highest autocorrelation within 5 % of a lag, corrected for the part of the signal that has left the window.
pub fn correlation(signal: &Signal, period: f64) -> Option<f64> {
    let n = signal.samples.len();
    let lag = period / signal.step();
    let (from, to) = ((0.95 * lag).floor() as usize, (1.05 * lag).ceil() as usize);
    if from == 0 || to >= n {
        return None;
    }
    let acf = acf(&signal.samples);
    let corrected = |lag: usize| acf[lag] * n as f64 / (n - lag) as f64;
    Some((from..=to).map(corrected).fold(f64::NEG_INFINITY, f64::max).clamp(-1.0, 1.0))
}

/// The share of the variance that is in the mean period, corrected for chance: 0 for noise, 1 if all periods are the same.
fn repetition(signal: &Signal, period: f64) -> Option<f64> {
    const BINS: usize = 32;
    let periods = signal.duration() / period;
    let mean = signal.mean();
    let total: f64 = signal.samples.iter().map(|x| (x - mean).powi(2)).sum();
    if periods < 2.0 || total <= 0.0 {
        return None;
    }
    let bins = BINS.min((period / signal.step()) as usize).max(2);
    let (mut sums, mut counts) = (vec![0.0; bins], vec![0.0; bins]);
    for (i, x) in signal.samples.iter().enumerate() {
        let turn = (i as f64 + 0.5) * signal.step() / period;
        let bin = ((turn.fract() * bins as f64) as usize).min(bins - 1);
        sums[bin] += x - mean;
        counts[bin] += 1.0;
    }
    let folded: f64 =
        sums.iter().zip(&counts).map(|(sum, count): (&f64, &f64)| sum * sum / count.max(1.0)).sum();
    let chance = 1.0 / periods;
    Some(((folded / total - chance) / (1.0 - chance)).clamp(0.0, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signal(period: usize, n: usize) -> Signal {
        let samples = (0..n).map(|i| if i % period < period / 5 { 1.0 } else { 0.0 }).collect();
        Signal { start: 0, bin: 1_000_000_000, samples, abstraction_error: 0.0 }
    }

    #[test]
    fn bursts_repeat_with_their_period_only() {
        let signal = signal(50, 1000);
        let at = |period: f64| Evidence::default().with_repetition(&signal, period);
        let right = at(50.0);
        assert!(right.autocorrelation.unwrap() > 0.95 && right.repetition.unwrap() > 0.9, "{right:?}");
        let wrong = at(63.0);
        assert!(wrong.autocorrelation.unwrap() < 0.2 && wrong.repetition.unwrap() < 0.2, "{wrong:?}");
        assert_eq!(at(900.0).repetition, None);
        assert_eq!(at(2000.0).autocorrelation, None);
    }
}
