//! What could be the period? Hypotheses, list by list.
//!
//! A hypothesis is a [list of phases](crate::phases), a period T, and which phases of the list are *members*
//! of the rhythm; the others are *extra*.
//!
//! | form | says |
//! |---|---|
//! | mean | all phases, their distances normal around T |
//! | drift | the same, but distances grow or shrink steadily |
//! | change | two periods, one after the other |
//! | [comb] | members follow one another after one T or a few (slots left empty), or after a pause of any length |
//! | line | a line of the spectrum of a series of samples, where phases cannot be told apart |
//!
//! Each has a log-likelihood ratio against phases at random instants (Poisson), less half a logarithm of the
//! number of distances for each parameter (BIC). It compares hypotheses of one list only: lists differ in
//! their data.

pub mod comb;
pub mod hypothesis;
pub mod line;
pub mod seeds;
pub mod whole;

use crate::estimate::correlation::Correlation;
use crate::estimate::gaps::{explained, loosened};
use crate::estimate::hypotheses::comb::{CombFit, Rooms};
use crate::estimate::lines::Line;
use crate::estimate::turns::is_change;
use crate::phases::Origin;

pub use crate::estimate::hypotheses::hypothesis::{Form, Hypothesis, Marked};

/// At most this many hypotheses of a list are kept.
const KEPT: usize = 4;

/// Pauses, empty slots and extra phases that a comb may have: shares of links, slots and phases.
const MOST_PAUSES: f64 = 0.35;
const LEAST_FILL: f64 = 0.55;
const MOST_EXTRA: f64 = 0.75;

/// … or fewer of its slots, if that explains all phases, so many at least, and exactly: then it is the grid
/// on which they are, however many are missing.
const GRID_FILL: f64 = 0.35;
const GRID_PHASES: usize = 12;
const GRID_SIGMA: f64 = 0.05;
const GRID_PAUSES: f64 = 0.15;

/// Where the window may have cut the first phase, a comb that leaves out others has at least so many.
const LEAST_CHOSEN: usize = 4;

/// Periods closer than this are tried once.
const SAME_SEED: f64 = 0.025;

/// With more phases, combs are fitted in two rounds rather than three.
const MANY: usize = 3000;

/// What all hypotheses of a signal have in common.
#[derive(Clone, Copy, Debug)]
pub struct Setting<'a> {
    /// Length of the window in seconds.
    pub duration: f64,
    /// How exactly starts are known, in seconds.
    pub exactness: f64,
    /// The autocorrelation.
    pub correlation: &'a Correlation,
    /// The strongest lines of the spectrum.
    pub lines: &'a [Line],
    /// When each burst begins, in seconds.
    pub bursts: &'a [f64],
    /// Periods of interest, in seconds.
    pub periods: (f64, f64),
}

/// The best hypotheses of every list.
pub fn hypotheses(lists: &[Marked], setting: &Setting<'_>) -> Vec<Hypothesis> {
    let mut everywhere: Vec<f64> = setting.correlation.peaks().iter().take(8).map(|peak| peak.0).collect();
    everywhere.extend(setting.lines.iter().take(4).map(|line| line.period));
    let mut pool = Vec::new();
    for (number, marked) in lists.iter().enumerate() {
        if marked.list.first_is_cut() {
            let found = of_list(number, &marked.without_first(), setting, &everywhere);
            // Two distances of phases that were chosen from several are no rhythm.
            let enough = |one: &Hypothesis| one.extra == 0.0 || one.members.len() >= LEAST_CHOSEN;
            let found = found.into_iter().filter(enough);
            pool.extend(found.map(|one| one.after_cut_first(&marked.starts)));
        } else if marked.starts.len() >= 3 {
            pool.extend(of_list(number, marked, setting, &everywhere));
        }
    }
    pool
}

/// Are all phases on the grid of a comb?
fn is_grid(comb: &Hypothesis) -> bool {
    let exact = comb.pause <= GRID_PAUSES && comb.extra == 0.0 && comb.sigma <= GRID_SIGMA;
    exact && comb.fill >= GRID_FILL && comb.members.len() >= GRID_PHASES
}

fn of_list(number: usize, marked: &Marked, setting: &Setting<'_>, everywhere: &[f64]) -> Vec<Hypothesis> {
    let count = marked.starts.len();
    let distances = marked.distances();
    let exactness = setting.exactness / marked.list.regularity.period;
    let mut found = vec![whole::mean(number, marked, &distances, setting.duration)];
    found.extend(whole::drift(number, marked, &distances, setting.duration, exactness));
    let change = whole::change(number, marked, &distances, setting.duration, exactness);
    let of_period = |one: &Hypothesis| {
        let (before, after) = marked.list.phases.split_at(one.at);
        is_change([before, after], setting.bursts)
    };
    found.extend(change.filter(of_period));
    let mut rooms = Rooms::of(count);
    let mended = |comb: Hypothesis| {
        loosened(explained(comb, marked), marked, setting.exactness).in_one_piece(&marked.starts)
    };
    // Torn phases wait for the last rank each time: there are no slots, and none of them is extra.
    let seeds = match marked.list.origin {
        Origin::Torn => Vec::new(),
        _ => seeds::seeds(marked, &distances, setting.duration, everywhere),
    };
    let mut tried: Vec<f64> = Vec::new();
    for seed in seeds {
        let known = tried.iter().any(|other| (seed / other - 1.0).abs() < SAME_SEED);
        if seed <= 0.0 || known {
            continue;
        }
        tried.push(seed);
        let exactness = setting.exactness / seed;
        if exactness > 0.35 {
            continue;
        }
        let fit = CombFit { duration: setting.duration, exactness, rounds: if count < MANY { 3 } else { 2 } };
        let comb = fit.fitted(number, marked, seed, &mut rooms);
        found.extend(comb.and_then(mended).filter(|comb| {
            let filled = comb.fill >= LEAST_FILL || is_grid(comb);
            comb.pause <= MOST_PAUSES && filled && comb.extra <= MOST_EXTRA
        }));
    }
    found.retain(|one| (setting.periods.0..=setting.periods.1).contains(&one.period));
    found.sort_by(|a, b| b.likelihood.total_cmp(&a.likelihood));
    let mut kept: Vec<Hypothesis> = Vec::new();
    for one in found {
        let same = |other: &Hypothesis| {
            (one.period / other.period - 1.0).abs() < 0.02
                && (one.form == other.form || one.form == Form::Mean || other.form == Form::Mean)
        };
        if !kept.iter().any(same) {
            kept.push(one);
        }
    }
    // That nothing is left out is always weighed.
    let mean = kept.iter().skip(KEPT).position(|one| one.form == Form::Mean).map(|i| kept.remove(KEPT + i));
    kept.truncate(KEPT);
    kept.extend(mean);
    let best = kept.first().map_or(0.0, |first| first.likelihood);
    kept.iter_mut().for_each(|one| one.within = one.likelihood - best);
    kept
}
