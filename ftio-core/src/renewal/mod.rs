//! Is there a period, and which? One search, one score, no exceptions.
//!
//! 1. What may hide a rhythm is a [reading](readings) of the signal, and all readings are tried.
//! 2. Each gives [lists] of phases, at every scale.
//! 3. Each list is explained by one [renewal model](chain): a period, its spread, missing phases, pauses,
//!    strays, a drift or change points ([hypotheses]).
//! 4. Every reading, list and model, and two of them [at once](rows), compete with *none* in one
//!    [softmax](answer) over one set of [features](weights). Then a calibration. Nothing acts after it.
//! 5. The [next start](forecast) is foretold from the same probabilities.
//!
//! This stands beside [`estimate`](mod@crate::estimate), which it is to replace, and which commands still
//! ask: what asks this one is [`Method::Renewal`](crate::detect::Method). It began as a port of a prototype.
//! All numbers that are set by hand are in [`table`], weights are fitted by `scripts/fit`;
//! `examples/renewal.rs` judges it beside today's estimator.

pub mod answer;
pub mod chain;
pub mod forecast;
pub mod hypotheses;
pub mod lists;
pub mod long_job;
pub mod places;
pub mod readings;
pub mod residual;
pub mod rows;
pub mod signal;
pub mod spectrum;
pub mod table;
pub mod told;
pub mod view;
pub mod warps;
pub mod weights;

use answer::{Answer, Group, Posterior, groups};
use forecast::NextStart;
use rows::Search;
use signal::Trace;
use weights::{COUNT, fitted};

/// What was found.
#[derive(Clone, Debug)]
pub struct Found {
    /// Everything that was looked at; nothing if there was nothing to see.
    pub search: Option<Search>,
    /// How probable each of it is.
    pub posterior: Posterior,
    /// Which alternatives say the same, most probable first.
    pub groups: Vec<Group>,
    /// What is said.
    pub answer: Answer,
}

/// Look for a period.
pub fn estimate(trace: &Trace) -> Found {
    estimate_by(trace, &fitted())
}

/// The same with other weights.
pub fn estimate_by(trace: &Trace, weights: &[f64; COUNT]) -> Found {
    let search = Search::of(trace, weights);
    let rows = search.as_ref().map_or(&[][..], |search| &search.rows);
    let posterior = Posterior::of(rows.iter(), weights);
    let groups = groups(rows, &posterior);
    let answer = search.as_ref().map_or(Answer::default(), |search| Answer::of(search, &posterior, &groups));
    Found { search, posterior, groups, answer }
}

/// When the next phase begins after `now`, in seconds; by default after the last that was recorded.
pub fn next_start(trace: &Trace, found: &Found, now: Option<f64>) -> Option<NextStart> {
    let search = found.search.as_ref()?;
    let now = now.unwrap_or(search.signal.start + search.signal.duration());
    forecast::next_start(search, trace, &fitted(), now)
}
