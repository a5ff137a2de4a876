//! A comb: members that follow one another after n·T, n − 1 slots being empty, or after a pause of any
//! length.
//!
//! Which phases are members is found by dynamic programming: the best chain that ends at each phase is the
//! best of all chains that could be continued by it. The logarithm of the likelihood of a link of n slots is
//! that of a normal distribution around n·T, of variance σ²·n plus what the starts are known to, times the
//! chance (1 − p)·pⁿ⁻¹ that n − 1 slots are empty; a pause costs a constant and has no scale. Phases that no
//! chain uses come at their own rate. Links prefer members of like volume. T, σ and p are then estimated from
//! the chain, and the chain is looked for again.
//!
//! The cost is linear in phases: a phase is compared to those of the last few periods only.

use super::hypothesis::{Form, Hypothesis, Marked};
use crate::signal::statistics::deviation;
use std::f64::consts::{SQRT_2, TAU};

/// −ln of the probability of a pause.
const PAUSE_COST: f64 = 2.5;

/// A link is at most this many periods long; up to three slots in a row are empty.
const LONGEST_LINK: usize = 4;

/// A start may deviate by at most the square root of this many variances.
const FARTHEST: f64 = 10.0;

/// σ of the logarithms of the volumes of members.
const LIKE_VOLUME: f64 = 0.15;

/// Working memory, used again and again.
#[derive(Debug)]
pub struct Rooms {
    /// The best likelihood of a chain that ends at each phase, the phase before in that chain, and the slots
    /// to it.
    best: Vec<f64>,
    before: Vec<u32>,
    slots: Vec<u8>,
    /// The chain, last member first: the phase, and the slots of the link that ends there.
    chain: Vec<(u32, u8)>,
}

impl Rooms {
    /// For a list of `count` phases.
    pub fn of(count: usize) -> Self {
        Rooms {
            best: vec![0.0; count],
            before: vec![0; count],
            slots: vec![0; count],
            chain: Vec::with_capacity(count),
        }
    }
}

/// How a comb is fitted.
#[derive(Clone, Copy, Debug)]
pub struct CombFit {
    /// Length of the window in seconds.
    pub duration: f64,
    /// How exactly starts are known, in periods.
    pub exactness: f64,
    /// Rounds of finding the chain and estimating T, σ and p from it.
    pub rounds: usize,
}

/// The parameters of a comb.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Comb {
    period: f64,
    sigma: f64,
    /// Chance that a slot is empty.
    empty: f64,
    /// Phases per second that are no members.
    stray_rate: f64,
}

/// Nothing before: the chain begins here.
const FIRST: u32 = u32::MAX;

/// Links of so many slots: how they are rated, and which earlier phases are near enough for them.
#[derive(Clone, Copy, Debug)]
struct Link {
    /// What a squared deviation, in periods, costs.
    precision: f64,
    /// The logarithm of the likelihood of a link without deviation.
    constant: f64,
    /// The shortest and the longest link, in seconds.
    reach: (f64, f64),
    /// The first phase that is not farther than that from the last one asked for, and the first that is
    /// nearer.
    near: (usize, usize),
}

impl Link {
    /// The phases before phase `j` that a link to it may begin with. Phases are asked for in their order, so
    /// that no phase is looked at twice.
    fn within_reach(&mut self, starts: &[f64], j: usize) -> std::ops::Range<usize> {
        let (mut from, mut to) = self.near;
        while from < j && starts[j] - starts[from] > self.reach.1 {
            from += 1;
        }
        to = to.max(from);
        while to < j && starts[j] - starts[to] >= self.reach.0 {
            to += 1;
        }
        self.near = (from, to);
        from..to
    }
}

/// Links of one slot, of two, and so on.
#[derive(Clone, Copy, Debug)]
struct Links([Link; LONGEST_LINK]);

impl Links {
    fn of(comb: &Comb, exactness: f64, other: f64) -> Self {
        let &Comb { period, sigma, empty, .. } = comb;
        Links(std::array::from_fn(|i| {
            let slots = (i + 1) as f64;
            let variance = sigma * sigma * slots + exactness * exactness;
            let chance = (1.0 - empty).ln() + (slots - 1.0) * empty.ln();
            // A start belongs to the slot that it is nearest to.
            let off = (FARTHEST * variance).sqrt().min(0.5);
            Link {
                precision: 0.5 / variance,
                constant: chance - 0.5 * (TAU * variance).ln() - other,
                reach: ((slots - off) * period, (slots + off) * period),
                near: (0, 0),
            }
        }))
    }
}

impl CombFit {
    /// The best comb of a list near a period; `None` if there is no chain of three.
    pub fn fitted(&self, number: usize, marked: &Marked, seed: f64, rooms: &mut Rooms) -> Option<Hypothesis> {
        let starts = &marked.starts;
        let count = starts.len();
        let rate = count as f64 / self.duration;
        let mut comb = Comb { period: seed, sigma: 0.08, empty: 0.15, stray_rate: rate };
        let mut sigma = 0.0;
        let (mut links, mut slots) = (0, 0);
        let mut searched = None;
        for round in 0..self.rounds {
            // The same comb has the same chain.
            if searched != Some(comb) {
                self.find_chain(marked, &comb, rooms);
                searched = Some(comb);
            }
            if rooms.chain.len() < 3 {
                return None;
            }
            let sums = Sums::of(starts, &rooms.chain);
            if sums.links == 0 {
                return None;
            }
            (links, slots) = (sums.links, sums.slots);
            let period = sums.period(if round > 0 { comb.sigma } else { 0.02 });
            if !(0.5..2.0).contains(&(period / comb.period)) {
                return None;
            }
            comb.period = period;
            sigma = residuals(starts, &rooms.chain, period, links);
            let most = if round + 1 < self.rounds { 0.15 } else { 0.2 };
            let inner = (sigma * sigma - self.exactness * self.exactness).max(0.0).sqrt();
            comb.sigma = inner.clamp(super::hypothesis::LEAST_SIGMA, most);
            comb.empty = ((slots - links) as f64 / slots as f64).clamp(0.03, 0.45);
            let extra = (count - rooms.chain.len()) as f64;
            comb.stray_rate = (extra.max(0.5) / self.duration).max(0.02 * rate);
        }
        let chain = &rooms.chain;
        let members: Vec<usize> = chain.iter().rev().map(|link| link.0 as usize).collect();
        let likelihood = self.likelihood(starts, chain, &comb, rate) + own_marks(marked, &members);
        Some(Hypothesis {
            form: Form::Comb,
            period: comb.period,
            list: number,
            links: chain[..chain.len() - 1].iter().rev().map(|link| link.1).collect(),
            slots,
            sigma,
            fill: links as f64 / slots as f64,
            pause: (chain.len() - 1 - links) as f64 / (chain.len() - 1) as f64,
            extra: (count - chain.len()) as f64 / count as f64,
            members,
            likelihood,
            within: 0.0,
            ends: None,
            at: 0,
            cut_first: false,
        })
    }

    /// The most likely chain, into `rooms`.
    fn find_chain(&self, marked: &Marked, comb: &Comb, rooms: &mut Rooms) {
        let starts = &marked.starts;
        let period = comb.period;
        let (log_period, stray) = (period.ln(), comb.stray_rate.ln());
        let by_volume = marked.spread > 1.3 * LIKE_VOLUME;
        let narrow = 1.0 / (LIKE_VOLUME * LIKE_VOLUME) - 1.0 / (marked.spread * marked.spread);
        let gain = marked.spread / LIKE_VOLUME;
        // What like volumes add at most.
        let most_alike = (0.8 * gain + 0.2).ln();
        let mut links = Links::of(comb, self.exactness, log_period + stray);
        // The best chain that ended at least 0.6 periods ago, from where a pause may follow.
        let (mut paused, mut paused_at, mut window) = (f64::NEG_INFINITY, FIRST, 0);
        let (mut highest, mut end) = (f64::NEG_INFINITY, FIRST);
        for j in 0..starts.len() {
            let (mut best, mut before, mut slots) = (0.0, FIRST, 0u8);
            for (n, link) in (1u8..).zip(&mut links.0) {
                for i in link.within_reach(starts, j).rev() {
                    let off = (starts[j] - starts[i]) / period - f64::from(n);
                    let mut value = rooms.best[i] - off * off * link.precision + link.constant;
                    if by_volume && value + most_alike > best {
                        let apart = (marked.volumes[j] - marked.volumes[i]) / SQRT_2;
                        value += (0.8 * (-0.5 * apart * apart * narrow).exp() * gain + 0.2).ln();
                    }
                    if value > best {
                        (best, before, slots) = (value, i as u32, n);
                    }
                }
            }
            while window < j && starts[window] <= starts[j] - 0.6 * period {
                if rooms.best[window] > paused {
                    (paused, paused_at) = (rooms.best[window], window as u32);
                }
                window += 1;
            }
            if paused_at != FIRST && paused - PAUSE_COST - log_period - stray > best {
                let long = ((starts[j] - starts[paused_at as usize]) / period).max(1.0).ln();
                let value = paused - PAUSE_COST - log_period - long - 2.0 * (1.0 + long).ln() - stray;
                if value > best {
                    (best, before, slots) = (value, paused_at, 0);
                }
            }
            (rooms.best[j], rooms.before[j], rooms.slots[j]) = (best, before, slots);
            if best > highest {
                (highest, end) = (best, j as u32);
            }
        }
        rooms.chain.clear();
        while end != FIRST {
            rooms.chain.push((end, rooms.slots[end as usize]));
            end = rooms.before[end as usize];
        }
    }

    fn likelihood(&self, starts: &[f64], chain: &[(u32, u8)], comb: &Comb, rate: f64) -> f64 {
        let mut sum = 0.0;
        for (slots, distance) in distances(starts, chain) {
            sum -= comb.period.ln();
            if slots == 0 {
                let long = (distance / comb.period).max(1.0).ln();
                sum -= PAUSE_COST + long + 2.0 * (1.0 + long).ln();
            } else {
                let n = f64::from(slots);
                let variance = comb.sigma * comb.sigma * n + self.exactness * self.exactness;
                let off = distance / comb.period - n;
                sum += (1.0 - comb.empty).ln() + (n - 1.0) * comb.empty.ln()
                    - off * off / (2.0 * variance)
                    - 0.5 * (TAU * variance).ln();
            }
        }
        let (count, links) = (starts.len() as f64, chain.len() as f64 - 1.0);
        sum += links * (1.0 - rate.ln());
        let extra = (starts.len() - chain.len()) as f64;
        if extra > 0.0 {
            sum += extra * (extra / count).ln();
        }
        sum - 1.5 * links.max(2.0).ln() - 2.3
    }
}

/// Slots and length of each link of a chain.
fn distances<'a>(starts: &'a [f64], chain: &'a [(u32, u8)]) -> impl Iterator<Item = (u8, f64)> + 'a {
    chain.windows(2).map(|pair| (pair[0].1, starts[pair[0].0 as usize] - starts[pair[1].0 as usize]))
}

/// What the period of a chain follows from.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    links: usize,
    slots: usize,
    time: f64,
    /// Links of a single slot.
    single: usize,
    single_time: f64,
}

impl Sums {
    fn of(starts: &[f64], chain: &[(u32, u8)]) -> Self {
        let mut sums = Sums::default();
        for (slots, distance) in distances(starts, chain).filter(|(slots, _)| *slots > 0) {
            sums.links += 1;
            sums.slots += usize::from(slots);
            sums.time += distance;
            if slots == 1 {
                sums.single += 1;
                sums.single_time += distance;
            }
        }
        sums
    }

    /// Time divided by slots; but by single links only if the others disagree with them: a program may skip
    /// its output *and its time*.
    fn period(&self, sigma: f64) -> f64 {
        let all = self.time / self.slots as f64;
        if self.single < 4 || self.links == self.single {
            return all;
        }
        let single = self.single_time / self.single as f64;
        let (slots, links) = ((self.slots - self.single) as f64, (self.links - self.single) as f64);
        let multiple = (self.time - self.single_time) / slots;
        let error = 2.0
            * sigma.max(0.01)
            * (1.0 / self.single as f64 + links / (slots * slots) * (slots / links)).sqrt();
        if (multiple / single - 1.0).abs() > error.max(0.01) { single } else { all }
    }
}

/// σ of the links, in periods.
fn residuals(starts: &[f64], chain: &[(u32, u8)], period: f64, links: usize) -> f64 {
    let off =
        |(slots, distance): (u8, f64)| (distance / period - f64::from(slots)).powi(2) / f64::from(slots);
    let sum: f64 = distances(starts, chain).filter(|(slots, _)| *slots > 0).map(off).sum();
    let k = links as f64;
    if links > 2 { (sum / (k - 1.0)).sqrt() } else { (sum / k).sqrt() + 0.03 }
}

/// What is gained by members and others having volumes and lengths of their own (log-likelihood, BIC).
fn own_marks(marked: &Marked, members: &[usize]) -> f64 {
    let (count, inside) = (marked.starts.len(), members.len());
    let extra = count - inside;
    if extra < 2 || inside < 3 {
        return 0.0;
    }
    let mut is_member = vec![false; count];
    members.iter().for_each(|&i| is_member[i] = true);
    let mut gained = -(count as f64).ln();
    for marks in [&marked.volumes, &marked.lengths] {
        let part = |wanted: bool| -> Vec<f64> {
            marks.iter().zip(&is_member).filter(|(_, is)| **is == wanted).map(|(mark, _)| *mark).collect()
        };
        let spread = |values: &[f64]| deviation(values).max(0.08).ln();
        gained += 0.5
            * (count as f64 * spread(marks)
                - inside as f64 * spread(&part(true))
                - extra as f64 * spread(&part(false)));
    }
    gained
}
