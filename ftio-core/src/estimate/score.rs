//! From what speaks for each hypothesis to probabilities.
//!
//! The score of a hypothesis is a constant and the sum of its weighted features; its probability is e^score ÷
//! (1 + Σ e^score), where the 1 is *no period*. Hypotheses of periods within 2.5 % are one and add up. A mean
//! whose distances vary much knows its period only to σ/√m: where a sharper comb lies within that, the two
//! are one rhythm, and the comb says its period.

use crate::estimate::features::Described;
use crate::estimate::hypotheses::Form;
use crate::estimate::weights::{CONSTANT, WEIGHTS};

/// A period is given if its probability is at least this.
pub const ANSWER: f64 = 0.5;

/// Periods closer than this are one.
const SAME: f64 = 0.025;

/// A mean joins a comb within this many standard errors, if its distances vary by at least this much, the
/// comb's by less than half of that, and the comb has this share of its probability.
const ERRORS: f64 = 1.25;
const VARIES: f64 = 0.1;
const SHARE: f64 = 0.25;
const JOINED_FILL: f64 = 0.6;

/// Phases whose distances vary by less are even, if they go on through this share of the window.
const EVEN: f64 = 0.15;
const EVEN_COVER: f64 = 0.5;

/// A hypothesis that covers less of the window with fewer members is one burst.
const ONE_BURST: f64 = 0.15;
const ONE_BURST_MEMBERS: usize = 12;

/// … unless its parts are far apart: they take less of the period than this, and there are at least so many.
const ONE_BURST_DUTY: f64 = 0.25;
const ONE_BURST_LEAST: usize = 5;

/// … and if these few parts take more of the period than this, they are one burst in a larger part of the
/// window as well.
const CROWDED_DUTY: f64 = 0.6;
const CROWDED_COVER: f64 = 0.35;

/// … but equal parts, far apart and at even distances, are phases: at least so many, in at least this share
/// of the window.
const CLEAR_LEAST: usize = 4;
const CLEAR_COVER: f64 = 0.05;

/// A period, with the probability of all hypotheses that say so.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// The best of these hypotheses.
    pub best: Described,
    /// Their probability.
    pub probability: f64,
    /// How many there are.
    pub hypotheses: usize,
}

/// All periods, most probable first.
#[derive(Clone, Debug, Default)]
pub struct Posterior {
    /// The periods.
    pub candidates: Vec<Candidate>,
    /// The probability that there is no period.
    pub none: f64,
}

/// The score of a hypothesis.
pub fn score(described: &Described) -> f64 {
    CONSTANT
        + described.features.iter().zip(&WEIGHTS).map(|(feature, weight)| feature * weight.value).sum::<f64>()
}

/// Is all of it one burst rather than a rhythm?
pub fn is_one_burst(described: &Described) -> bool {
    let members = described.hypothesis.members.len();
    let short = described.cover < ONE_BURST && (described.duty > ONE_BURST_DUTY || members < ONE_BURST_LEAST);
    let crowded = described.cover < CROWDED_COVER && described.duty > CROWDED_DUTY;
    described.hypothesis.form != Form::Line && members < ONE_BURST_MEMBERS && (short || crowded)
}

/// Are they phases all the same, equal and far apart?
fn is_clear(described: &Described) -> bool {
    let members = described.hypothesis.members.len();
    described.clear && members >= CLEAR_LEAST && described.cover >= CLEAR_COVER
}

/// The probabilities of all periods where clear phases are no burst, however little of the window they take.
pub fn posterior_with_clear(pool: &[Described]) -> Posterior {
    weighed(&pool.iter().filter(|one| !is_one_burst(one) || is_clear(one)).collect::<Vec<_>>(), &score)
}

/// The probabilities of all periods.
pub fn posterior(pool: &[Described]) -> Posterior {
    posterior_by(pool, &score)
}

/// The probabilities of all periods by another score, such as that of other weights.
pub fn posterior_by(pool: &[Described], score: &dyn Fn(&Described) -> f64) -> Posterior {
    weighed(&pool.iter().filter(|one| !is_one_burst(one)).collect::<Vec<_>>(), score)
}

fn weighed(pool: &[&Described], score: &dyn Fn(&Described) -> f64) -> Posterior {
    let scores: Vec<f64> = pool.iter().map(|one| score(one)).collect();
    let highest = scores.iter().copied().fold(0.0, f64::max);
    let weights: Vec<f64> = scores.iter().map(|score| (score - highest).exp()).collect();
    let none = (-highest).exp();
    let all = weights.iter().sum::<f64>() + none;
    let same = |a: usize, b: usize| {
        let (one, other) = (&pool[a].hypothesis, &pool[b].hypothesis);
        (one.period / other.period - 1.0).abs() < SAME
            && (one.form == Form::Change) == (other.form == Form::Change)
    };
    let mut used = vec![false; pool.len()];
    let mut candidates = Vec::new();
    loop {
        let free = |i: &usize| !used[*i];
        let mass =
            |i: usize| (0..pool.len()).filter(free).filter(|&j| same(i, j)).map(|j| weights[j]).sum::<f64>();
        let heaviest = (0..pool.len()).filter(free).map(|i| (i, mass(i))).max_by(|a, b| a.1.total_cmp(&b.1));
        let Some((centre, _)) = heaviest else { break };
        let near = |centre: usize| -> Vec<usize> {
            (0..pool.len()).filter(free).filter(|&j| same(centre, j)).collect()
        };
        let best =
            near(centre).into_iter().max_by(|&a, &b| scores[a].total_cmp(&scores[b])).unwrap_or(centre);
        let members = near(best);
        // Even phases tell more than a line of the spectrum that says the same: when they come.
        let phases = |i: &usize| {
            let one = &pool[*i];
            one.hypothesis.form != Form::Line && one.hypothesis.sigma < EVEN && one.cover >= EVEN_COVER
        };
        let by_phases = members.iter().copied().filter(phases);
        let best = match pool[best].hypothesis.form {
            Form::Line => by_phases.max_by(|&a, &b| scores[a].total_cmp(&scores[b])).unwrap_or(best),
            _ => best,
        };
        let probability = members.iter().map(|&i| weights[i]).sum::<f64>() / all;
        candidates.push(Candidate {
            best: Described::clone(pool[best]),
            probability,
            hypotheses: members.len(),
        });
        members.iter().for_each(|&i| used[i] = true);
        used[centre] = true;
    }
    join_means_with_combs(&mut candidates);
    candidates.sort_by(|a, b| b.probability.total_cmp(&a.probability));
    Posterior { candidates, none: none / all }
}

/// A mean of distances that vary much, and a sharper comb within its standard error, are one rhythm.
fn join_means_with_combs(candidates: &mut [Candidate]) {
    for i in 0..candidates.len() {
        let mean = &candidates[i].best.hypothesis;
        if mean.form != Form::Mean || mean.sigma < VARIES {
            continue;
        }
        let error = ERRORS * mean.sigma / (mean.members.len() as f64).sqrt();
        let is_near = |candidate: &Candidate| {
            let comb = &candidate.best.hypothesis;
            comb.form == Form::Comb
                && comb.sigma < 0.5 * mean.sigma
                && (comb.period / mean.period - 1.0).abs() <= error
                && comb.fill >= JOINED_FILL
                && candidate.probability > 0.0
        };
        let near = (0..candidates.len()).filter(|&j| j != i && is_near(&candidates[j]));
        let comb = near.max_by(|&a, &b| candidates[a].probability.total_cmp(&candidates[b].probability));
        if let Some(comb) = comb.filter(|&j| candidates[j].probability >= SHARE * candidates[i].probability) {
            candidates[comb].probability += candidates[i].probability;
            candidates[comb].hypotheses += candidates[i].hypotheses;
            candidates[i].probability = 0.0;
        }
    }
}
