//! What to analyse, and how.

use crate::signal::collect::Collector;
use crate::spectral::spectrum::Measure;
use crate::spectral::{Outlier, SpectralDetector};
use sources::request::Mode;
use sources::time::nanoseconds;

/// What to analyse, and how.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// `None`: writes, or reads if nothing was written.
    pub mode: Option<Mode>,
    /// Sampling frequency in Hz; `None`: chosen from the data (see [`signal`](crate::signal)).
    pub frequency: Option<f64>,
    /// Start of the window in seconds of job time.
    pub from: Option<f64>,
    /// End of the window in seconds of job time.
    pub to: Option<f64>,
    /// How frequencies that stand out are found.
    pub outlier: Outlier,
    /// A second method that must agree with the first.
    pub second_outlier: Option<Outlier>,
    /// How close to the strongest frequency a candidate must come, 0 … 1.
    pub tolerance: f64,
    /// Power or amplitude.
    pub measure: Measure,
    /// Ask for a second opinion.
    pub autocorrelation: bool,
    /// Leave out the first phase, which initialisation often prolongs.
    pub skip_first_phase: bool,
    /// How many of the strongest waves to list.
    pub top: usize,
    /// Keep what is needed to draw the exact bandwidth.
    pub keep_requests: bool,
    /// Add up the mean and this many of the strongest waves.
    pub reconstruct: Option<usize>,
    /// Look for when which period holds.
    pub over_time: bool,
    /// By which method.
    pub method: Method,
    /// Periods shorter than this, in seconds, are of no interest.
    pub min_period: Option<f64>,
    /// Periods longer than this are of no interest.
    pub max_period: Option<f64>,
    /// With [`Method::Compat`]: sample at the rate of the fastest change, rather than at 10 Hz.
    pub automatic_frequency: bool,
}

/// How the period is found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Method {
    /// Phases are counted, and the spectrum is one witness among others.
    #[default]
    Ours,
    /// The same by the [renewal estimator](mod@crate::renewal), which is to replace ours.
    Renewal,
    /// As the paper prints it (see [`compat`](mod@crate::detect::compat)).
    Paper,
    /// As the Python FTIO 0.0.9 does (see [`compat`](mod@crate::detect::compat)).
    Compat,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            mode: None,
            frequency: None,
            from: None,
            to: None,
            outlier: Outlier::ZScore,
            second_outlier: None,
            tolerance: 0.8,
            measure: Measure::Power,
            autocorrelation: false,
            skip_first_phase: false,
            top: 0,
            keep_requests: false,
            reconstruct: None,
            over_time: false,
            method: Method::Ours,
            min_period: None,
            max_period: None,
            automatic_frequency: false,
        }
    }
}

impl Options {
    /// For the requests that these options select.
    pub fn collector(&self) -> Collector {
        Collector::new(self.mode, self.window(), self.frequency, self.keep_requests)
    }

    /// The window in nanoseconds of job time, as far as it was asked for.
    pub(crate) fn window(&self) -> (Option<i64>, Option<i64>) {
        (self.from.map(nanoseconds), self.to.map(nanoseconds))
    }

    /// Is it the published method, as the Python FTIO has it or as it was printed?
    pub fn is_published(&self) -> bool {
        matches!(self.method, Method::Paper | Method::Compat)
    }

    /// How a signal is judged.
    pub fn spectral_detector(&self) -> SpectralDetector {
        SpectralDetector {
            outlier: self.outlier,
            second: self.second_outlier,
            tolerance: self.tolerance,
            measure: self.measure,
        }
    }
}
