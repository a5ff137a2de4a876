//! The weights of the score: one table, with what each feature means and how they were fitted.
//!
//! Conditional logit over the hypotheses of a trace, *no period* being one of them with score 0: the logarithm of the probability of the right
//! hypotheses (period within 3 % of the truth) is maximised, every kind of signal having the same weight, with L2 0.003 on standardised features.
//! `scripts/fit` does it again, from the kinds of `trace-generator`, and writes this table.

/// A feature, what it weighs, and what it means to a reader.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weight {
    /// Its name.
    pub name: &'static str,
    /// Its weight.
    pub value: f64,
    /// What it is.
    pub meaning: &'static str,
}

/// Features of a hypothesis.
pub const FEATURES: usize = 27;

/// What is added to the score of every hypothesis.
pub const CONSTANT: f64 = -12.662920;

/// The weights, in the order of the features.
pub const WEIGHTS: [Weight; FEATURES] = [
    Weight { name: "few3", value: 0.5719731, meaning: "at most three phases" },
    Weight { name: "few5", value: -1.0809321, meaning: "at most five phases" },
    Weight { name: "irregular", value: -0.7539061, meaning: "distances vary, relative to chance" },
    Weight { name: "even", value: 0.3057884, meaning: "−log₂ σ of the distances" },
    Weight { name: "pause", value: -7.4173043, meaning: "share of the links that are pauses" },
    Weight { name: "volume", value: 1.7583491, meaning: "share of the volume in the phases" },
    Weight { name: "uneven_volume", value: -3.2110097, meaning: "spread of the phases' log-volumes" },
    Weight { name: "correlation", value: 2.1606142, meaning: "autocorrelation one period later" },
    Weight {
        name: "less_correlation",
        value: 0.2517988,
        meaning: "how much higher it is at another hypothesis",
    },
    Weight { name: "votes", value: 0.3688050, meaning: "octaves of scale that favour this period" },
    Weight { name: "likelihood_each", value: 0.6151168, meaning: "log-likelihood ratio per link" },
    Weight { name: "likelihood", value: 0.3214389, meaning: "log₂(1 + log-likelihood ratio)" },
    Weight { name: "mean", value: 0.2219404, meaning: "nothing is left out" },
    Weight { name: "cover", value: 1.3981647, meaning: "share of the window from first to last phase" },
    Weight { name: "rating", value: 0.2889031, meaning: "how long the list holds and how regular it is" },
    Weight { name: "best_list", value: 3.1427258, meaning: "the list with the best rating" },
    Weight { name: "loose", value: -1.1235970, meaning: "distances vary by more than 35 %, by this much" },
    Weight {
        name: "active",
        value: 3.2262879,
        meaning: "share of the time with any I/O from first to last phase",
    },
    Weight { name: "pattern", value: -0.3636417, meaning: "gain of taking several phases in turn as one" },
    Weight { name: "paused_time", value: -1.3545103, meaning: "share of the time in pauses" },
    Weight { name: "tail", value: 0.0, meaning: "the longest distance against the usual one" },
    Weight { name: "loose_busy", value: 0.0, meaning: "as loose, in phases that take much of the time" },
    Weight { name: "line", value: -0.8666716, meaning: "it is a line of the spectrum" },
    Weight { name: "line_z", value: 0.2685943, meaning: "log₂ z of the line" },
    Weight {
        name: "line_power",
        value: 10.0638327,
        meaning: "√ share of the power in the line and its multiples",
    },
    Weight { name: "line_periods", value: 0.5858836, meaning: "log₂ of the periods in the window" },
    Weight {
        name: "line_rival", value: 3.1179832, meaning: "log₂ of z to that of the strongest other line"
    },
];
