//! The weights of the score: one table, with what each feature means and how they were fitted.
//!
//! Conditional logit over the hypotheses of a trace, *no period* being one of them with score 0: the
//! logarithm of the probability of the right hypotheses (period within 3 % of the truth) is maximised, every
//! kind of signal having the same weight, with L2 0.0005 on standardised features. `scripts/fit` does it
//! again, from the kinds of `trace-generator`, and writes this table.

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
pub const CONSTANT: f64 = -16.061071;

/// The weights, in the order of the features.
pub const WEIGHTS: [Weight; FEATURES] = [
    Weight { name: "few3", value: 1.4318946, meaning: "at most three phases" },
    Weight { name: "few5", value: -2.5106235, meaning: "at most five phases" },
    Weight { name: "irregular", value: -1.3870409, meaning: "distances vary, relative to chance" },
    Weight { name: "even", value: 0.2655323, meaning: "−log₂ σ of the distances" },
    Weight { name: "pause", value: -19.2092100, meaning: "share of the links that are pauses" },
    Weight { name: "volume", value: 1.7866818, meaning: "share of the volume in the phases" },
    Weight { name: "uneven_volume", value: -5.9994743, meaning: "spread of the phases' log-volumes" },
    Weight { name: "correlation", value: 3.3354338, meaning: "autocorrelation one period later" },
    Weight {
        name: "less_correlation",
        value: 1.8683212,
        meaning: "how much higher it is at another hypothesis",
    },
    Weight { name: "votes", value: 0.6145999, meaning: "octaves of scale that favour this period" },
    Weight { name: "likelihood_each", value: 0.2351583, meaning: "log-likelihood ratio per link" },
    Weight { name: "likelihood", value: 0.4782589, meaning: "log₂(1 + log-likelihood ratio)" },
    Weight { name: "mean", value: 0.1995412, meaning: "nothing is left out" },
    Weight { name: "cover", value: 0.5740704, meaning: "share of the window from first to last phase" },
    Weight { name: "rating", value: 0.2550478, meaning: "how long the list holds and how regular it is" },
    Weight { name: "best_list", value: 3.4703076, meaning: "the list with the best rating" },
    Weight { name: "loose", value: -1.2379002, meaning: "distances vary by more than 35 %, by this much" },
    Weight {
        name: "active",
        value: 8.1544952,
        meaning: "share of the time with any I/O from first to last phase",
    },
    Weight { name: "pattern", value: -0.0357473, meaning: "gain of taking several phases in turn as one" },
    Weight { name: "paused_time", value: -2.2068028, meaning: "share of the time in pauses" },
    Weight { name: "tail", value: -2.6579891, meaning: "the longest distance against the usual one" },
    Weight {
        name: "loose_busy",
        value: 3.0017909,
        meaning: "as loose, in phases that take much of the time",
    },
    Weight { name: "line", value: -6.0302944, meaning: "it is a line of the spectrum" },
    Weight { name: "line_z", value: -0.3561438, meaning: "log₂ z of the line" },
    Weight {
        name: "line_power",
        value: 18.7175672,
        meaning: "√ share of the power in the line and its multiples",
    },
    Weight { name: "line_periods", value: 2.0013806, meaning: "log₂ of the periods in the window" },
    Weight {
        name: "line_rival", value: 3.2680533, meaning: "log₂ of z to that of the strongest other line"
    },
];
