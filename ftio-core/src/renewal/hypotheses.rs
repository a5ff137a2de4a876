//! What the period could be, list by list: chains of the [renewal model](crate::renewal::chain).

use crate::renewal::chain::{Chain, Link, Phases, fit};
use crate::renewal::lists::List;
use crate::renewal::table::{
    BOUNDED_SPREAD, CLOSE_PERIODS, DRIFT, EASED, EQUAL, FAR_DISTANCE, FAR_QUANTILE, FULL, FULL_OCTAVES, KEEP,
    LATE, LONG_LIST, LONGER, MANY_SINGLE, MODE_BINS, MODE_REACH, MODE_WIDTH, MODES, MOST_PAUSES, MOST_STRAYS,
    OUTLYING, PAIR_ORDERS, PAIR_SPREAD, PAIR_WIDTH, PAIRED, PASSES, PRIOR, RESOLVED, RUNS_ALIKE, RUNS_LEAST,
    SAME, SHORTER, SIGMA, TAIL_SHARE, TENTH, WARPED,
};
use crate::renewal::warps::{Warp, change, cuts, drift};
use crate::renewal::weights::{Feature as F, Features};
use crate::signal::statistics::{deviation, mean, median, robust_spread};
use std::f64::consts::TAU;

/// Which case of the model it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// All phases are members, one period apart.
    Mean,
    /// Some may be missing, or others, or there are pauses.
    Comb,
    /// The period grows or shrinks.
    Drift,
    /// Several periods follow one another.
    Change,
    /// A line of the spectrum of samples.
    Wave,
}

/// What the period could be.
#[derive(Clone, Debug, PartialEq)]
pub struct Hypothesis {
    /// The index of its list in the reading.
    pub list: usize,
    /// Which case of the model.
    pub form: Form,
    /// The period in seconds.
    pub period: f64,
    /// All periods, if they follow one another, else that one.
    pub periods: Vec<f64>,
    /// Which phases of the list are members.
    pub members: Vec<usize>,
    /// How each but the first follows.
    pub links: Vec<Link>,
    /// The relative spread of the distances.
    pub sigma: f64,
    /// Log-likelihood ratio to phases at random.
    pub likelihood: f64,
    /// The time in which the period is 1.
    pub warp: Warp,
    /// Slots in all links that are no pauses.
    pub slots: usize,
    /// How many links are no pauses.
    pub linked: usize,
    /// The share of the phases that are no members.
    pub strays: f64,
    /// No other hypothesis of the list has a higher likelihood.
    pub is_best: bool,
}

impl Hypothesis {
    /// Of what a list shows.
    pub fn new(index: usize, list: &List, form: Form, period: f64, chain: Chain, warp: Warp) -> Self {
        let Chain { members, links, sigma, likelihood, .. } = chain;
        let slots = |link: &Link| if let Link::Slots(n) = link { Some(*n) } else { None };
        let linked = links.iter().filter_map(slots).count();
        let slots = links.iter().filter_map(slots).sum();
        Hypothesis {
            list: index,
            form,
            period,
            periods: vec![period],
            sigma,
            likelihood,
            warp,
            slots,
            linked,
            strays: 1.0 - members.len() as f64 / list.count() as f64,
            is_best: true,
            members,
            links,
        }
    }

    /// How many phases are members.
    pub fn count(&self) -> usize {
        self.members.len()
    }

    /// The share of the slots with a phase.
    pub fn fill(&self) -> f64 {
        self.linked as f64 / self.slots.max(1) as f64
    }

    /// The share of the links that are pauses.
    pub fn pauses(&self) -> f64 {
        1.0 - self.linked as f64 / self.links.len().max(1) as f64
    }

    /// Its members' starts, seconds from the beginning of the reading.
    pub fn starts(&self, list: &List) -> Vec<f64> {
        self.members.iter().map(|&member| list.starts[member]).collect()
    }

    /// The mean length of the slots of its links.
    fn mean_slot(&self, list: &List) -> f64 {
        let starts = self.starts(list);
        let linked = starts.windows(2).zip(&self.links).filter(|(_, link)| **link != Link::Pause);
        linked.map(|(pair, _)| pair[1] - pair[0]).sum::<f64>() / self.slots as f64
    }

    /// The share of the phases that are no members, times how far these come at other times than the members:
    /// the distance of the two distributions (Kolmogorov and Smirnov).
    pub fn strays_apart(&self, list: &List) -> f64 {
        let (members, all) = (self.count() as f64, list.count() as f64);
        let strays = (all - members).max(1.0);
        let (mut seen, mut apart) = (0.0, 0.0_f64);
        let mut next = self.members.iter().peekable();
        for i in 0..list.count() {
            if next.next_if(|member| **member == i).is_some() {
                seen += 1.0;
            }
            apart = apart.max((seen / members - ((i + 1) as f64 - seen) / strays).abs());
        }
        if members < all { self.strays * apart } else { 0.0 }
    }

    /// What its pauses say, but for those between two members of which it is known why they are there.
    pub fn of_pauses(&self, starts: &[f64], is_explained: impl Fn(&[f64]) -> bool) -> Features {
        let pairs = || starts.windows(2).zip(&self.links);
        let is_pause = |(pair, link): &(&[f64], &Link)| **link == Link::Pause && !is_explained(pair);
        let is_late =
            |(pair, _): &(&[f64], &Link)| self.warp == Warp::None && pair[1] - pair[0] < LATE * self.period;
        let late = pairs().filter(is_pause).filter(is_late).count();
        let paused: f64 = pairs().filter(is_pause).map(|(pair, _)| pair[1] - pair[0]).sum();
        let reach = starts[starts.len() - 1] - starts[0];
        let is_run = |one: (&[f64], &Link)| *one.1 == Link::Slots(1) || is_explained(one.0);
        let runs: Vec<bool> = pairs().map(is_run).collect();
        Features::of(&[
            (F::PausedTime, paused / reach.max(f64::MIN_POSITIVE)),
            (F::LatePauses, late as f64 / self.links.len().max(1) as f64),
            (F::RunsAlike, runs_alike(&runs)),
        ])
    }

    fn is_chain(&self) -> bool {
        self.pauses() <= MOST_PAUSES && self.fill() >= FULL && self.strays <= MOST_STRAYS
    }
}

/// log₂ of the number of runs of links without a gap between gaps, as far as they are alike: then the rhythm
/// is that of the runs.
fn runs_alike(links: &[bool]) -> f64 {
    let mut runs: Vec<usize> = links.split(|is_run| !is_run).map(<[bool]>::len).collect();
    // The window may cut the last one.
    runs.pop();
    runs.sort_unstable();
    let usual = runs.get(runs.len() / 2).copied().unwrap_or(0);
    let count = runs.len() as f64;
    let alike = runs.iter().filter(|run| **run == usual).count() as f64 / count.max(1.0);
    if (usual as f64) < RUNS_LEAST || alike < RUNS_ALIKE {
        return 0.0;
    }
    (alike * count).log2().clamp(0.0, FULL_OCTAVES)
}

/// All phases as members, one period apart in some time: their distances are normal, or those less what the
/// phase before was longer than usual.
fn mean_chain(starts: &[f64], excess: &[f64], parameters: f64) -> Chain {
    let distances: Vec<f64> = starts.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let (k, period) = (distances.len() as f64, mean(&distances));
    let eased: Vec<f64> = distances.iter().zip(excess).map(|(distance, excess)| distance - excess).collect();
    let varies = deviation(&distances).min(EASED * deviation(&eased)) / period;
    let sigma = ((2.0 * PRIOR * PRIOR + k * varies * varies) / (1.0 + k)).sqrt();
    let few = distances.len() < MANY_SINGLE;
    let normal = if few { sigma } else { varies * (k / (k - 1.0)).sqrt() }.max(SIGMA.0);
    let reach = starts[starts.len() - 1] - starts[0];
    let at_random = ((k + 1.0) / (reach + period) * period).ln();
    let each = -(TAU.ln() + 2.0 * normal.ln()) / 2.0 - 1.0 / 2.0 - at_random + 1.0;
    Chain {
        members: (0..starts.len()).collect(),
        links: vec![Link::Slots(1); distances.len()],
        scale: period,
        sigma,
        likelihood: k * each - (1.0 + parameters) * k.max(2.0).ln(),
    }
}

/// Modes of positive numbers on a logarithmic scale; with `chance`, the number at random in each unit, those
/// that are most significant.
fn modes(values: &[f64], width: f64, most: usize, chance: Option<f64>) -> Vec<f64> {
    let logarithms: Vec<f64> = values.iter().map(|value| value.ln()).collect();
    let low = logarithms.iter().copied().fold(f64::INFINITY, f64::min) - TENTH;
    let high = logarithms.iter().copied().fold(f64::NEG_INFINITY, f64::max) + TENTH;
    let bins = (high - low) / (width / 2.0);
    if values.is_empty() || bins.is_nan() || bins >= MODE_BINS as f64 {
        return Vec::new();
    }
    let bins = bins as usize + 1;
    let bin = (high - low) / bins as f64;
    let mut counts = vec![0.0; bins];
    logarithms.iter().for_each(|value| counts[(((value - low) / bin) as usize).min(bins - 1)] += 1.0);
    let mut dense = vec![0.0; bins];
    // A bin is half the width of the kernel.
    let weight = |bins: usize| (-(bins as f64 / 2.0).powi(2) / 2.0).exp();
    let kernel: Vec<f64> = (0..=MODE_REACH).map(weight).collect();
    for (i, count) in counts.iter().enumerate().filter(|(_, count)| **count > 0.0) {
        for j in i.saturating_sub(MODE_REACH)..(i + MODE_REACH + 1).min(bins) {
            dense[j] += count * kernel[i.abs_diff(j)];
        }
    }
    let centre = |i: usize| low + (i as f64 + 1.0 / 2.0) * bin;
    if let Some(chance) = chance {
        for (i, dense) in dense.iter_mut().enumerate() {
            // The kernel adds up to so many of its width.
            let expected = chance * centre(i).exp() * width * TAU.sqrt();
            *dense = (*dense - expected) / (expected + 1.0).sqrt();
        }
    }
    let mut found = Vec::new();
    for _ in 0..most {
        let is_maximum =
            |i: usize| (i == 0 || dense[i] >= dense[i - 1]) && (i == bins - 1 || dense[i] > dense[i + 1]);
        let higher = |a: usize, b: usize| if dense[b] > dense[a] { b } else { a };
        let Some(top) = (0..bins).filter(|&i| dense[i] > 0.0 && is_maximum(i)).reduce(higher) else { break };
        let near = |value: &&f64| (**value - centre(top)).abs() <= (1.0 + 1.0 / 2.0) * width;
        let near: Vec<f64> = logarithms.iter().filter(near).copied().collect();
        found.push(if near.is_empty() { centre(top) } else { mean(&near) }.exp());
        dense[top] = -1.0;
    }
    found
}

/// What periods of a list are tried: its mean, modes of the distances and of those of pairs, and what the
/// autocorrelation and the spectrum say.
fn tried(list: &List, seeds: &[f64]) -> Vec<f64> {
    let m = list.count();
    let mut distances: Vec<f64> = list.starts.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let mut found = vec![list.period()];
    found.extend(modes(&distances, MODE_WIDTH, MODES.0, None));
    distances.sort_unstable_by(f64::total_cmp);
    let far = FAR_DISTANCE * distances[(FAR_QUANTILE * (m - 2) as f64) as usize];
    let orders = (m - 1).min(if m <= PAIRED { PAIR_ORDERS.0 } else { PAIR_ORDERS.1 });
    let apart = |k: usize| list.starts[k..].iter().zip(&list.starts).map(|(later, start)| later - start);
    let pairs: Vec<f64> = (1..=orders).flat_map(apart).filter(|distance| *distance <= far).collect();
    found.extend(modes(&pairs, PAIR_WIDTH, MODES.1, Some((m * m) as f64 / list.span())));
    let (low, high) =
        (SHORTER * distances[(m as f64 * TENTH) as usize], (list.span() / 2.0).min(LONGER * far));
    found.extend(seeds.iter().copied().filter(|seed| (low..=high).contains(seed)));
    found
}

/// The best hypotheses of a list. `seeds` are periods to try, starts are known to `exactness` seconds.
pub fn hypotheses(index: usize, list: &List, seeds: &[f64], exactness: f64) -> Vec<Hypothesis> {
    let m = list.count();
    let spread =
        robust_spread(&list.logarithms) + TAIL_SHARE * deviation(&list.logarithms).min(BOUNDED_SPREAD);
    let spread = spread.clamp(PAIR_SPREAD.0, PAIR_SPREAD.1);
    let usual = median(&list.lengths);
    let mut distances: Vec<f64> = list.starts.windows(2).map(|pair| pair[1] - pair[0]).collect();
    distances.push(list.lengths[m - 1]);
    let excess: Vec<f64> =
        list.lengths.iter().zip(&distances).map(|(length, room)| length.min(*room) - usual).collect();
    let (like, longest) = (median(&list.logarithms), OUTLYING * robust_spread(&excess));
    let delay = |(logarithm, excess): (&f64, &f64)| (logarithm - like).abs() <= EQUAL && *excess <= longest;
    let delays: Vec<bool> = list.logarithms.iter().zip(&excess).map(delay).collect();
    let in_periods =
        |times: &[f64], period: f64| times.iter().map(|time| time / period).collect::<Vec<f64>>();
    let comb = |starts: &[f64], excess: &[f64], exactness: f64| {
        let phases =
            Phases { starts, excess, delays: &delays, logarithms: &list.logarithms, spread, exactness };
        fit(&phases, if m < LONG_LIST { PASSES } else { PASSES - 1 })
    };
    let one = |form: Form, period: f64, chain: Chain, warp: Warp| {
        let period = period * chain.scale;
        Hypothesis::new(index, list, form, period, chain, warp)
    };
    let period = list.period();
    let eased = in_periods(&excess, period);
    let usual: Vec<f64> = excess.iter().map(|excess| excess.min(longest)).collect();
    let chain = mean_chain(&in_periods(&list.starts, period), &in_periods(&usual, period), 0.0);
    let mut found = vec![one(Form::Mean, period, chain, Warp::None)];
    let mut done: Vec<f64> = Vec::new();
    for seed in tried(list, seeds) {
        let known = |other: &f64| (seed / other - 1.0).abs() < SAME;
        if exactness / seed > RESOLVED || done.iter().any(known) {
            continue;
        }
        done.push(seed);
        let chain = comb(&in_periods(&list.starts, seed), &in_periods(&excess, seed), exactness / seed);
        found
            .extend(chain.map(|chain| one(Form::Comb, seed, chain, Warp::None)).filter(Hypothesis::is_chain));
    }
    if m >= WARPED {
        let none = vec![0.0; m];
        let costs = |chain: Chain, parameters: f64| {
            let likelihood = chain.likelihood - parameters * (m as f64).ln();
            Chain { likelihood, ..chain }
        };
        if let Some((warped, growth)) = drift(&list.starts) {
            let warp = Warp::Drift(growth);
            let drifting = |chain: Chain| {
                let one = one(Form::Drift, period, chain, warp.clone());
                Hypothesis { period: one.mean_slot(list), periods: vec![one.mean_slot(list)], ..one }
            };
            found.push(drifting(mean_chain(&warped, &none, 1.0)));
            let chain = comb(&warped, &eased, exactness / period).map(|chain| costs(chain, 1.0));
            found.extend(chain.map(drifting).filter(Hypothesis::is_chain));
        }
        let cuts = cuts(&list.starts);
        let (warped, periods, counts) = change(&list.starts, &cuts);
        let is_step = |pair: &[f64]| (pair[0] / pair[1]).ln().abs() >= DRIFT.0;
        if !cuts.is_empty() && periods.windows(2).all(is_step) {
            let parameters = 2.0 * cuts.len() as f64;
            let warp = Warp::Change(counts);
            let shortest = periods.iter().copied().fold(f64::INFINITY, f64::min);
            let changing = |chain: Chain| Hypothesis {
                periods: periods.iter().map(|period| period * chain.scale).collect(),
                ..one(Form::Change, period, chain, warp.clone())
            };
            found.push(changing(mean_chain(&warped, &none, parameters)));
            let chain = comb(&warped, &eased, exactness / shortest).map(|chain| costs(chain, parameters));
            found.extend(chain.map(changing).filter(Hypothesis::is_chain));
        }
    }
    found.sort_by(|a, b| b.likelihood.total_cmp(&a.likelihood));
    let mut kept: Vec<Hypothesis> = Vec::new();
    for one in found {
        let same = |other: &Hypothesis| {
            one.form == other.form && (one.period / other.period - 1.0).abs() < CLOSE_PERIODS
        };
        if kept.len() < KEEP && !kept.iter().any(same) {
            let is_best = kept.first().is_none_or(|best| best.likelihood == one.likelihood);
            kept.push(Hypothesis { is_best, ..one });
        }
    }
    kept
}
