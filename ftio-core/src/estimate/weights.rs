//! The weights of the score: one table, with what each feature means and how they were fitted.
//!
//! Conditional logit over the hypotheses of a trace, *no period* being one of them with score 0: the
//! logarithm of the probability of the right hypotheses (period within 3 % of the truth) is maximised, every
//! kind of signal having the same weight, with L2 0.0005 on standardised features. `scripts/fit` does it
//! again, from the kinds of `trace-generator`, and writes this table. Those of a line of the spectrum were
//! fitted last, with the others held:
//! `scripts/fit -- --seeds 10000..10024 --only line,line_z,…,line_rebound`; after them, in the same way, that
//! of few phases at uneven distances (`--only few_uneven`). That of a line's multiples is not fitted, since
//! the kinds that are fitted on do not need it: one line is a multiple of another by chance in a fifth of all
//! cases, so four are in one of 600, and ln 600 is 6.4. It has less than that, for lines are not independent
//! of one another.

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
pub const FEATURES: usize = 33;

/// What is added to the score of every hypothesis.
pub const CONSTANT: f64 = -11.559972;

/// The weights, in the order of the features.
pub const WEIGHTS: [Weight; FEATURES] = [
    Weight { name: "few3", value: 0.6806884, meaning: "at most three phases" },
    Weight { name: "few5", value: -2.0006770, meaning: "at most five phases" },
    Weight { name: "irregular", value: -0.7259664, meaning: "distances vary, relative to chance" },
    Weight { name: "even", value: 0.0875417, meaning: "−log₂ σ of the distances" },
    Weight { name: "pause", value: -13.7976477, meaning: "share of the links that are pauses" },
    Weight { name: "volume", value: 2.1754899, meaning: "share of the volume in the phases" },
    Weight {
        name: "uneven_volume",
        value: -8.4095513,
        meaning: "spread of the phases' log-volumes, unless they are even",
    },
    Weight { name: "correlation", value: 2.1556864, meaning: "autocorrelation one period later" },
    Weight {
        name: "less_correlation",
        value: 0.2538205,
        meaning: "how much higher it is at another hypothesis",
    },
    Weight { name: "votes", value: 0.4007144, meaning: "octaves of scale that favour this period" },
    Weight { name: "likelihood_each", value: 0.7249049, meaning: "log-likelihood ratio per link" },
    Weight { name: "likelihood", value: 0.4432608, meaning: "log₂(1 + log-likelihood ratio)" },
    Weight { name: "mean", value: 0.0722767, meaning: "nothing is left out" },
    Weight { name: "cover", value: 0.6184303, meaning: "share of the window from first to last phase" },
    Weight { name: "rating", value: 0.2717606, meaning: "how long the list holds and how regular it is" },
    Weight { name: "best_list", value: 3.3686233, meaning: "the list with the best rating" },
    Weight { name: "loose", value: 0.3099360, meaning: "distances vary by more than 35 %, by this much" },
    Weight {
        name: "active",
        value: 4.1870155,
        meaning: "share of the time with any I/O from first to last phase",
    },
    Weight { name: "pattern", value: -0.2331095, meaning: "gain of taking several phases in turn as one" },
    Weight { name: "paused_time", value: -0.8505757, meaning: "share of the time in pauses" },
    Weight { name: "tail", value: -0.8217519, meaning: "the longest distance against the usual one" },
    Weight {
        name: "loose_busy",
        value: 4.5352618,
        meaning: "as loose, in phases that take much of the time",
    },
    Weight { name: "not_even", value: -2.9262334, meaning: "distances vary by more than 30 to 45 %" },
    Weight {
        name: "crowded",
        value: -8.1789621,
        meaning: "phases take much of the period, but all of them little of the window",
    },
    Weight {
        name: "few_uneven",
        value: -1.5381201,
        meaning: "few phases, at distances that vary by more than 13 %",
    },
    Weight { name: "line", value: -4.3540840, meaning: "it is a line of the spectrum" },
    Weight { name: "line_z", value: -0.8284430, meaning: "log₂ z of the line" },
    Weight {
        name: "line_power",
        value: -0.0460420,
        meaning: "√ share of the power in the line and its multiples",
    },
    Weight { name: "line_periods", value: 0.8424085, meaning: "log₂ of the periods in the window" },
    Weight {
        name: "line_rival", value: 1.7000948, meaning: "log₂ of z to that of the strongest other line"
    },
    Weight {
        name: "line_above",
        value: 1.8290729,
        meaning: "ln of the line's power to that of the frequencies around it",
    },
    Weight {
        name: "line_rebound",
        value: 8.6633586,
        meaning: "autocorrelation one period later, less that before it is over",
    },
    Weight { name: "line_multiples", value: 4.0, meaning: "all other strong lines are multiples of it" },
];
