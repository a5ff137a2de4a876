//! The period of a window of the job: the one place that samples requests and asks [`estimate`] for a period.
//!
//! Whoever wants the period of some part of a job (the whole of it, a segment, the window of a prediction)
//! comes here. The answer depends on the requests in the window alone: not on the command, nor on how fine
//! the bins were in which they were collected.

use crate::detect::options::{Method, Options};
use crate::estimate::long_job::{Resolution, estimate_sections};
use crate::estimate::view::View;
use crate::estimate::view::is_worth_a_look;
use crate::estimate::{Estimate, Given, estimate};
use crate::renewal::signal::{Bandwidth, Request, Trace};
use crate::renewal::told::told;
use crate::signal::bins::sections::SECTION_BINS;
use crate::signal::bins::{Units, VolumeBins};
use crate::signal::collect::width;
use crate::signal::widths::Widths;
use crate::signal::{AUTO_MAX_SAMPLES, Signal};
use crate::spectral::{SpectralDetector, SpectralResult};
use sources::Job;
use sources::time::seconds;

/// Windows of one signal.
#[derive(Clone, Copy, Debug)]
pub struct Windows<'a> {
    bins: &'a VolumeBins,
    /// When the job began, in nanoseconds of job time: a window that begins later may begin in the middle of
    /// a phase.
    begins: i64,
    /// Sampling frequency in Hz, if it was asked for.
    frequency: Option<f64>,
    /// The signal is a series of samples: whoever took them may have begun in the middle of a phase.
    is_series: bool,
    /// Samples are divided by this (see [`Job::per_unit`]).
    per_unit: f64,
    /// Nanoseconds between the samples of a series (see [`Job::sampled`]).
    sampled: Option<i64>,
    /// Periods of interest, in seconds.
    periods: (f64, f64),
    detector: SpectralDetector,
    /// Who is asked for the period.
    method: Method,
}

/// A window, sampled.
#[derive(Clone, Debug)]
pub struct Sampled {
    /// At the sampling frequency.
    pub signal: Signal,
    /// As finely as phases are to be located.
    pub fine: Signal,
    /// May the window begin in the middle of a phase?
    pub cut: bool,
    /// What its bins hold; `None` if there is nothing in it.
    pub narrowest: Option<Units>,
}

/// What was found in a window.
#[derive(Clone, Debug)]
pub struct Found {
    /// The window, sampled.
    pub sampled: Sampled,
    /// What its spectrum says.
    pub spectral: SpectralResult,
    /// Its period.
    pub estimate: Estimate,
}

impl<'a> Windows<'a> {
    /// Windows of what was collected in bins, of a job that began at `begins`.
    pub fn new(bins: &'a VolumeBins, begins: i64, job: &Job, options: &Options) -> Self {
        Windows {
            bins,
            begins,
            frequency: options.frequency,
            is_series: job.per_unit.is_some(),
            per_unit: job.per_unit.unwrap_or(1.0),
            sampled: job.sampled,
            periods: (options.min_period.unwrap_or(0.0), options.max_period.unwrap_or(f64::INFINITY)),
            detector: options.spectral_detector(),
            method: options.method,
        }
    }

    /// The signal of `[from, to)`, in nanoseconds of job time.
    pub fn sample(&self, from: i64, to: i64) -> Sampled {
        let mut widths = Widths::of(self.bins, from, to);
        let mut fine = widths.fine(self.sampled);
        let mut signal = match self.frequency {
            None => widths.automatic(),
            Some(hz) => widths.at_least(width(hz)),
        };
        signal.samples.iter_mut().chain(&mut fine.samples).for_each(|sample| *sample /= self.per_unit);
        let cut = from > self.begins || self.is_series;
        Sampled { signal, fine, cut, narrowest: Some(widths.into_narrowest()) }
    }

    /// The period and the spectrum of a window that was sampled.
    pub fn find(&self, sampled: Sampled) -> Found {
        let spectral = self.detector.detect(&sampled.signal);
        let estimate = self.estimate(&sampled, Some(&spectral));
        Found { sampled, spectral, estimate }
    }

    /// The period of a window that was sampled, with what its spectrum says, if anybody wants to know.
    pub fn estimate(&self, sampled: &Sampled, spectral: Option<&SpectralResult>) -> Estimate {
        if self.method == Method::Renewal {
            return self.by_renewal(sampled, spectral);
        }
        let given = self.given(sampled);
        let fine = &sampled.fine;
        let resolution = self.resolution(fine);
        let in_sections = || estimate_sections(fine, &self.sections(fine), spectral, &given);
        let whole = || estimate(fine, spectral, &given);
        match resolution {
            Resolution::TooLittle => in_sections().unwrap_or_else(whole),
            // Bins that look fine may hide phases all the same: several in each bin, and pauses between them.
            Resolution::Enough | Resolution::Doubtful => {
                let found = whole();
                let unknown = found.period.is_none() && found.periods.is_empty();
                let other = unknown.then(in_sections).flatten().filter(|other| other.period.is_some());
                other.unwrap_or(found)
            }
        }
    }

    fn by_renewal(&self, sampled: &Sampled, spectral: Option<&SpectralResult>) -> Estimate {
        let (fine, given) = (&sampled.fine, self.given(sampled));
        let in_sections =
            || crate::renewal::long_job::estimate_sections(fine, &self.sections(fine), spectral);
        let whole = || {
            let trace = self.trace(sampled);
            told(&crate::renewal::estimate(&trace), &trace, fine, spectral, &given)
        };
        match self.resolution(fine) {
            Resolution::TooLittle => in_sections().unwrap_or_else(whole),
            // Bins that look fine may hide phases all the same: several in each bin, and pauses between them.
            Resolution::Enough | Resolution::Doubtful => {
                let found = whole();
                let other = found.periods.is_empty().then(in_sections).flatten();
                other.filter(|other| other.period.is_some()).unwrap_or(found)
            }
        }
    }

    /// Do the bins tell the phases of a window apart?
    fn resolution(&self, fine: &Signal) -> Resolution {
        let to = fine.start + fine.bin * fine.samples.len() as i64;
        let bins = (to - fine.start) / self.bins.width();
        if self.frequency.is_some() || bins < AUTO_MAX_SAMPLES as i64 / 4 {
            return Resolution::Enough;
        }
        if Resolution::is_enough_for(self.bins.requests(), bins) {
            return Resolution::Enough;
        }
        Resolution::of(&Signal::from_bins(self.bins, fine.start, to))
    }

    /// Sections of a window in narrower bins, those of the widest first; none unless the bins have them.
    fn sections(&self, fine: &Signal) -> Vec<Vec<Signal>> {
        let to = fine.start + fine.bin * fine.samples.len() as i64;
        let signal = |bins: &&VolumeBins| {
            let length = bins.width() * SECTION_BINS as i64;
            let mut signal = Signal::from_bins(bins, bins.origin(), bins.origin() + length);
            signal.samples.iter_mut().for_each(|sample| *sample /= self.per_unit);
            signal
        };
        let levels = self.bins.sections(fine.start, to);
        levels.iter().map(|level| level.iter().map(signal).collect()).collect()
    }

    /// What is known about a window beside its samples.
    fn given(&self, sampled: &Sampled) -> Given {
        Given { cut: sampled.cut, sampled: self.sampled.map(seconds), periods: self.periods }
    }

    /// What the estimator sees in a window that was sampled; `None` if it is empty or constant.
    pub fn view(&self, sampled: &Sampled) -> Option<View> {
        is_worth_a_look(&sampled.fine).then(|| View::of(&sampled.fine, &self.given(sampled)))
    }

    /// What a window that was sampled holds, as the renewal estimator takes it: requests in narrow bins, each
    /// of which counts as a request, or samples; in seconds from the beginning of the window.
    pub fn trace(&self, sampled: &Sampled) -> Trace {
        let fine = &sampled.fine;
        if let Some(native) = self.sampled.map(seconds) {
            let step = fine.step();
            let bins = fine.samples.clone();
            return Trace::Binned(Bandwidth {
                start: 0.0,
                step,
                bins,
                native: Some(native),
                cut: true,
                edges: None,
            });
        }
        let units = self.bins.units(fine.start, fine.start + fine.bin * fine.samples.len() as i64);
        // Bins in a row that hold the same are one request, or look like one.
        let mut requests: Vec<Request> = Vec::new();
        let (mut last, mut each) = (usize::MAX, 0.0);
        for (i, bytes) in units.volumes().enumerate().filter(|(_, bytes)| *bytes > 0.0) {
            let start = units.start - fine.start + i as i64 * units.width;
            match requests.last_mut().filter(|_| i == last.wrapping_add(1) && bytes == each) {
                Some(request) => {
                    request.end = seconds(start + units.width);
                    request.bytes += bytes;
                }
                None => {
                    requests.push(Request {
                        start: seconds(start),
                        end: seconds(start + units.width),
                        bytes,
                    });
                }
            }
            (last, each) = (i, bytes);
        }
        Trace::Requests { requests, cut: sampled.cut }
    }

    /// The period of `[from, to)`, in nanoseconds of job time.
    pub fn period(&self, from: i64, to: i64) -> Estimate {
        self.estimate(&self.sample(from, to), None)
    }
}
