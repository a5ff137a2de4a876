//! The application's bandwidth over time, evenly sampled: the signal that all later steps look at.
//!
//! A sample is the mean bandwidth of its bin (bytes in the bin divided by the bin's width), so that samples
//! times width is exactly the volume, and fast changes inside a bin cannot alias into slow ones as they do
//! when the bandwidth is read off at isolated instants.
//!
//! # The automatic sampling frequency
//!
//! The published method takes a sampling frequency from the user, 10 Hz if none is given; too low a value
//! misses the bursts, too high a value fills the spectrum with the fine structure of single requests, among
//! which the frequency of the phases stands out less. Without `-f` we therefore choose one from the data:
//!
//! 1. Start from the coarsest power-of-two bin width with at least [`AUTO_MIN_SAMPLES`] bins in the window.
//! 2. Halve the width as long as there are fewer than [`SAMPLES_PER_PHASE`] bins for each run of bins above
//!    the mean bandwidth (see [`Signal::phases_above_mean`]), and at most [`AUTO_MAX_SAMPLES`] bins in all.
//!
//! So ten phases give about a thousand samples, and ten thousand phases still get enough samples each.

pub mod bins;
pub mod collect;
pub mod lanes;
pub mod runs;
pub mod statistics;
pub mod step;
pub mod widths;

use crate::signal::bins::{Units, VolumeBins};
use crate::signal::runs::runs_above;
use sources::time::{PER_SECOND, seconds};
use std::ops::Range;

/// The automatic choice never has fewer samples, unless bins would be narrower than a nanosecond.
pub const AUTO_MIN_SAMPLES: usize = 1 << 10;

/// The automatic choice never has more samples.
pub const AUTO_MAX_SAMPLES: usize = 1 << 17;

/// Most samples for a sampling frequency the user asked for (32 MiB as floating-point numbers).
pub const MAX_SAMPLES: usize = 1 << 22;

/// Phases are located in a signal of about this many samples.
pub const FINE_SAMPLES: usize = 1 << 14;

/// A series of samples is looked at in parts of its samples, but in no more than this many of each: there is
/// nothing in between.
pub const PARTS_OF_SAMPLE: i64 = 16;

/// How many samples the automatic choice wants for each phase.
pub const SAMPLES_PER_PHASE: usize = 16;

/// An evenly sampled bandwidth.
#[derive(Clone, Debug, PartialEq)]
pub struct Signal {
    /// Start of the first bin, in nanoseconds of job time.
    pub start: i64,
    /// Width of a bin in nanoseconds.
    pub bin: i64,
    /// Mean bandwidth of each bin, in bytes per second.
    pub samples: Vec<f64>,
    /// Relative difference between the volume of the samples and that of the requests.
    pub abstraction_error: f64,
}

/// Below this coefficient of variation (σ/mean) a bandwidth counts as constant.
///
/// One bin in a thousand that is only half inside the window already makes 0.016.
pub const CONSTANT_VARIATION: f64 = 0.05;

impl Signal {
    /// σ/mean of the samples; 0 if there are none.
    pub fn variation(&self) -> f64 {
        statistics::variation(&self.samples)
    }

    /// No samples.
    pub fn empty() -> Self {
        Signal { start: 0, bin: 1, samples: Vec::new(), abstraction_error: 0.0 }
    }

    /// The bandwidth that `bins` hold over `[from, to)`, one sample per bin.
    pub fn from_bins(bins: &VolumeBins, from: i64, to: i64) -> Self {
        Signal::from_units(&bins.units(from, to))
    }

    /// The bandwidth that bins hold.
    pub(crate) fn from_units(units: &Units) -> Self {
        let width = seconds(units.width);
        Signal {
            start: units.start,
            bin: units.width,
            samples: units.volumes().map(|bytes| bytes / width).collect(),
            abstraction_error: units.error,
        }
    }

    /// The part of the signal from `start` (nanoseconds of job time) on.
    pub fn since(self, start: i64) -> Self {
        let first = (start - self.start).div_euclid(self.bin).clamp(0, self.samples.len() as i64);
        if first == 0 {
            return self;
        }
        Signal {
            start: self.start + first * self.bin,
            samples: self.samples[first as usize..].to_vec(),
            ..self
        }
    }

    /// Runs of consecutive samples above the mean bandwidth: a rough count of the phases at this resolution.
    pub fn phases_above_mean(&self) -> usize {
        runs_above(&self.samples, self.threshold()).count()
    }

    /// The bandwidth above which I/O is *substantial*: the mean V(T)/L(T) (paper, II-C b).
    ///
    /// A hair is added, so that a constant bandwidth does not count as substantial or not by rounding.
    pub fn threshold(&self) -> f64 {
        self.mean() * (1.0 + 1e-9)
    }

    /// Mean bandwidth over the whole window.
    pub fn mean(&self) -> f64 {
        statistics::mean(&self.samples)
    }

    /// Samples per second.
    pub fn sampling_frequency(&self) -> f64 {
        PER_SECOND / self.bin as f64
    }

    /// Seconds per sample.
    pub fn step(&self) -> f64 {
        seconds(self.bin)
    }

    /// Length Δt of the window in seconds.
    pub fn duration(&self) -> f64 {
        self.step() * self.samples.len() as f64
    }

    /// Job time of the start of the first bin, in seconds.
    pub fn start_seconds(&self) -> f64 {
        seconds(self.start)
    }

    /// Job time of the end of the last bin, in seconds.
    pub fn end_seconds(&self) -> f64 {
        self.start_seconds() + self.duration()
    }

    /// What is left after the first phase, if there is more than one.
    ///
    /// The first phase is often prolonged by initialisation (paper, III-B c). It ends where a pause begins
    /// that is at least half as long as the longest pause between two runs above the mean: shorter pauses are
    /// inside a phase.
    pub fn without_first_phase(&self) -> Option<Signal> {
        let runs: Vec<Range<usize>> = runs_above(&self.samples, self.threshold()).collect();
        // From the last sample of a run to the first of the next.
        let pause = |pair: &[Range<usize>]| pair[1].start - pair[0].end + 1;
        let longest = runs.windows(2).map(pause).max()?;
        let end = runs.windows(2).find(|pair| 2 * pause(pair) >= longest)?[0].end;
        Some(Signal {
            start: self.start + end as i64 * self.bin,
            samples: self.samples[end..].to_vec(),
            ..self.clone()
        })
    }

    /// The same signal with bins merged in groups of `factor`; an incomplete group at the end is a partial
    /// bin.
    pub fn merged(&self, factor: usize) -> Signal {
        let factor = factor.max(1);
        if factor == 1 {
            return self.clone();
        }
        Signal {
            start: self.start,
            bin: self.bin * factor as i64,
            samples: self.samples.chunks(factor).map(|c| c.iter().sum::<f64>() / factor as f64).collect(),
            abstraction_error: self.abstraction_error,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::signal::bins::BinWidth;
    use crate::signal::widths::Widths;

    const SECOND: i64 = 1_000_000_000;

    /// `count` bursts of `bytes` lasting `length` ns, one every `period` ns.
    fn bursts(count: i64, period: i64, length: i64, bytes: u64) -> VolumeBins {
        let mut bins = VolumeBins::new(0, BinWidth::Finest, AUTO_MAX_SAMPLES);
        for i in 0..count {
            bins.add(i * period, i * period + length, bytes);
        }
        bins
    }

    #[test]
    fn samples_times_width_is_the_volume() {
        let bins = bursts(10, 10 * SECOND, 2 * SECOND, 1000);
        let automatic = Widths::of(&bins, 0, 100 * SECOND).automatic();
        for signal in [Signal::from_bins(&bins, 0, 100 * SECOND), automatic] {
            let volume = signal.samples.iter().sum::<f64>() * signal.step();
            assert!((volume - 10_000.0).abs() < 1e-6, "{volume}");
            assert_eq!(signal.abstraction_error, 0.0);
        }
    }

    #[test]
    fn the_automatic_choice_gives_each_phase_its_samples() {
        for count in [5, 50, 1000] {
            let bins = bursts(count, SECOND, SECOND / 5, 1 << 20);
            let signal = Widths::of(&bins, 0, count * SECOND).automatic();
            let n = signal.samples.len();
            assert_eq!(signal.phases_above_mean() as i64, count);
            assert!(n >= SAMPLES_PER_PHASE * count as usize && n >= AUTO_MIN_SAMPLES, "{count}: {n}");
            assert!(n <= 4 * AUTO_MIN_SAMPLES.max(SAMPLES_PER_PHASE * count as usize), "{count}: {n}");
        }
    }

    #[test]
    fn halving_keeps_to_the_grid_of_the_bins() {
        let mut bins = VolumeBins::new(0, BinWidth::Nanoseconds(4), 1 << 12);
        (0..900).for_each(|i| bins.add(13 + 11 * i, 19 + 11 * i, 5));
        let half = Signal::from_units(&bins.units(13, 9000).halved());
        let wide = Widths::of(&bins, 13, 9000).at_least(8);
        bins.double_width();
        let direct = Signal::from_bins(&bins, 13, 9000);
        assert_eq!(half, direct);
        assert_eq!(wide, direct);
    }

    #[test]
    fn a_signal_does_not_depend_on_how_fine_the_bins_were() {
        let in_bins = |most: usize| {
            let mut bins = VolumeBins::new(0, BinWidth::Finest, most);
            (0..500).for_each(|i| bins.add(13 + 2_000_011 * i, 77_790 + 2_000_011 * i, 12_345 + i as u64));
            bins
        };
        // Bins are not cut to the window, so it begins at an edge of all of them.
        let (from, to) = (1 << 20, 500 * 2_000_011);
        let fine = Widths::of(&in_bins(1 << 20), from, to).fine(None);
        for most in [1 << 14, 1 << 15, 1 << 17] {
            let same = Widths::of(&in_bins(most), from, to).fine(None);
            assert!(same.samples == fine.samples && same.start == fine.start, "{most}");
        }
    }

    #[test]
    fn the_first_phase_can_be_left_out() {
        let signal = Signal {
            start: 0,
            bin: SECOND,
            samples: vec![9., 9., 0., 9., 9., 0., 0., 0., 0., 9., 9., 0., 0., 0., 0., 9.],
            abstraction_error: 0.0,
        };
        let rest = signal.without_first_phase().unwrap();
        assert_eq!((rest.start, rest.samples.len()), (5 * SECOND, 11));
        assert!(Signal { samples: vec![0., 1., 1.], ..signal }.without_first_phase().is_none());
    }
}
