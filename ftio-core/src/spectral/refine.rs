//! The period below the resolution of the DFT.
//!
//! The DFT knows only the frequencies k/Δt. With ten periods in the window neighbouring frequencies lie 10 %
//! apart, so that even a perfectly regular application would be reported up to 5 % off. Between the bins the
//! transform exists as well; it is only not computed by the FFT. Near the bin that was found, we look for the
//! frequency f at which the fundamental wave and its harmonics together are strongest:
//!
//! > maximise Σ_h |X(h·f)|², h = 1 … H, |f·Δt − k| ≤ ¾
//!
//! The harmonics matter: bursts are sharp, and the h-th harmonic turns h times as fast, so it locates the
//! frequency h times as well.

use crate::signal::Signal;
use crate::spectral::spectrum::{Centred, Near};

/// At most this many multiples are used; jitter blurs the higher ones.
const HARMONICS: usize = 4;

/// The signal is thinned out to about this many samples per period first: enough for the harmonics used.
const SAMPLES_PER_PERIOD: usize = 32;

/// The frequency in Hz near bin `k` of the signal's DFT that explains the signal best.
///
/// The answer is never further than ¾ bin from k/Δt.
pub fn refine(signal: &Signal, k: usize) -> f64 {
    let n = signal.samples.len();
    let on_grid = k as f64 / signal.duration();
    if k == 0 || n < 4 * k {
        return on_grid;
    }
    let thin = signal.merged(n / (k * SAMPLES_PER_PERIOD));
    // One DFT bin, 1/Δt, in cycles per sample of the thinned signal.
    let bin = thin.step() / signal.duration();
    let harmonics = HARMONICS.min(thin.samples.len() / (2 * (k + 1))).max(1);
    let centred = Centred::of(&thin.samples);
    let strength = |position: f64| -> f64 {
        (1..=harmonics).map(|h| centred.fourier_at(h as f64 * position * bin).norm_sqr()).sum()
    };
    let near: Vec<Near<'_>> = (1..=harmonics).map(|h| centred.near((h * k) as f64 * bin)).collect();
    let roughly = |position: f64| -> f64 {
        (1..).zip(&near).map(|(h, near)| near.at(f64::from(h) * position * bin).norm_sqr()).sum()
    };
    let (low, high) = (k as f64 - 0.75, k as f64 + 0.75);
    on_grid / k as f64 * highest_around(scanned(roughly, low, high), strength, low, high)
}

/// The place of the largest value of `f` in `[low, high]`: a scan, then golden sections around the best.
pub(crate) fn maximum(f: impl Fn(f64) -> f64, low: f64, high: f64) -> f64 {
    highest_around(scanned(&f, low, high), &f, low, high)
}

/// Steps of a scan: enough to tell peaks of four harmonics apart.
const STEPS: u32 = 24;

/// The place in `[low, high]` where `f` is largest, to one step of the scan.
fn scanned(f: impl Fn(f64) -> f64, low: f64, high: f64) -> f64 {
    let width = (high - low) / f64::from(STEPS);
    let mut best = (f64::NEG_INFINITY, low);
    for i in 0..=STEPS {
        let x = low + width * f64::from(i);
        let value = f(x);
        if value > best.0 {
            best = (value, x);
        }
    }
    best.1
}

/// The place of the largest value of `f` within one step around `best`, by golden sections.
fn highest_around(best: f64, f: impl Fn(f64) -> f64, low: f64, high: f64) -> f64 {
    let width = (high - low) / f64::from(STEPS);
    let (mut a, mut b) = ((best - width).max(low), (best + width).min(high));
    let golden = (5f64.sqrt() - 1.0) / 2.0;
    let (mut c, mut d) = (b - golden * (b - a), a + golden * (b - a));
    let (mut at_c, mut at_d) = (f(c), f(d));
    for _ in 0..24 {
        if at_c > at_d {
            (b, d, at_d) = (d, c, at_c);
            c = b - golden * (b - a);
            at_c = f(c);
        } else {
            (a, c, at_c) = (c, d, at_d);
            d = a + golden * (b - a);
            at_d = f(d);
        }
    }
    (a + b) / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_maximum_of_a_parabola() {
        assert!((maximum(|x| -(x - 3.21f64).powi(2), 2.0, 4.0) - 3.21).abs() < 1e-5);
        assert!((maximum(|x| x, 2.0, 4.0) - 4.0).abs() < 1e-3);
    }

    #[test]
    fn bursts_between_the_bins() {
        // One burst of a tenth of a period every `period` samples, in a window that fits no whole number of
        // them.
        for (period, n) in [(97.0, 1000usize), (105.3, 1000), (61.7, 4096), (33.3, 30_000)] {
            let samples = (0..n).map(|i| if (i as f64 / period).fract() < 0.1 { 1e6 } else { 0.0 }).collect();
            let signal = Signal { start: 0, bin: 1_000_000, samples, abstraction_error: 0.0 };
            // On the grid, the period would be up to half a bin off.
            let k = (n as f64 / period).round() as usize;
            let found = 1e3 / refine(&signal, k);
            let error = (found - period).abs() / period;
            assert!(error < 0.005, "period {period}, window {n}: {found}, {error}");
        }
    }
}
