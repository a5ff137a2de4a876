//! The silence before each phase: the time in which a program computes.
//!
//! A program that computes for the same time again and again, and whose phases differ in length (ranks are
//! late, a server is slow), has even *gaps* though its distances are not. There, a long distance after a long
//! phase is no pause and no missing phase.

use crate::estimate::hypotheses::hypothesis::{Hypothesis, Marked};
use crate::signal::statistics::{median, robust_spread};

/// With fewer links of one period, the usual gap is not known.
const LEAST_LINKS: usize = 5;

/// A comb whose distances vary by less keeps to a clock: its empty slots are empty.
const CLOCKED: f64 = 0.06;

/// Distances that then vary by more are no rhythm.
const LOOSEST: f64 = 0.35;

/// Where distances vary by more, an empty slot or a pause is but one more long distance, if there are few:
/// many would be seen to lie at multiples of the period.
const LOOSE: f64 = 0.1;
const FEW_ODD: f64 = 0.12;
const MOST_ODD: usize = 2;

/// A gap is a usual one if it exceeds the median by at most this many robust spreads, or this share of the
/// period.
const USUAL_SPREADS: f64 = 3.0;
const USUAL_SHARE: f64 = 0.06;

/// A phase that a comb left out is like its members if the logarithm of its volume differs by no more than
/// this.
const ALIKE: f64 = 0.5;

/// A comb without the pauses and empty slots that long phases explain, since the gap after them is a usual
/// one: such a link is one period long, and what it left out is a member.
pub fn explained(mut comb: Hypothesis, marked: &Marked) -> Hypothesis {
    let gaps = &marked.list.silences;
    let single = comb.members[1..].iter().zip(&comb.links).filter(|(_, link)| **link == 1);
    let single: Vec<f64> = single.map(|(&i, _)| gaps[i]).collect();
    let has_odd = single.len() < comb.links.len();
    if single.len() < LEAST_LINKS || !has_odd || comb.sigma < CLOCKED {
        return comb;
    }
    let usual = median(&single);
    let slack = (USUAL_SPREADS * robust_spread(&single)).max(USUAL_SHARE * comb.period);
    let volume = median(&comb.members.iter().map(|&i| marked.volumes[i]).collect::<Vec<f64>>());
    let is_usual = |i: usize| (gaps[i] - usual).abs() <= slack && (marked.volumes[i] - volume).abs() <= ALIKE;
    let whole = comb.clone();
    let (mut members, mut links) = (vec![comb.members[0]], Vec::new());
    for (pair, &link) in comb.members.windows(2).zip(&comb.links) {
        let between = pair[0] + 1..=pair[1];
        // A long first phase is usual, and no part of the rhythm.
        if link != 1 && pair[0] > 0 && between.clone().all(is_usual) {
            links.extend(between.clone().map(|_| 1));
            members.extend(between);
        } else {
            links.push(link);
            members.push(pair[1]);
        }
    }
    (comb.members, comb.links) = (members, links);
    let comb = comb.with_links(&marked.starts);
    if comb.sigma <= LOOSEST { comb } else { whole }
}

/// A comb of loose distances does not know its few empty slots and pauses from long distances: without them,
/// its period is the mean distance of its members.
pub fn loosened(comb: Hypothesis, marked: &Marked, exactness: f64) -> Hypothesis {
    let odd = comb.links.iter().filter(|link| **link != 1).count();
    let few = (1..=MOST_ODD).contains(&odd) && odd as f64 <= FEW_ODD * comb.links.len() as f64;
    if !few || comb.own_sigma(exactness) < LOOSE {
        return comb;
    }
    let mut mean = comb.clone();
    mean.links.fill(1);
    let mean = mean.with_links(&marked.starts);
    if mean.sigma <= LOOSEST { mean } else { comb }
}
