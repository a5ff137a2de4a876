//! What speaks for each hypothesis: a few numbers that can be compared between lists, unlike likelihoods.

use crate::estimate::correlation::Correlation;
use crate::estimate::hypotheses::line::Wave;
use crate::estimate::hypotheses::{Form, Hypothesis, Marked};
use crate::estimate::lines::Powers;
use crate::estimate::weights::FEATURES;
use crate::phases::phase::Ground;
use crate::phases::rating;
use crate::phases::regularity::by_chance;
use crate::phases::thresholds::{CLEAR, EQUAL_VOLUMES};
use crate::signal::Signal;
use crate::signal::statistics::{median, robust_spread};

/// Lists vote for periods within this share of one another.
const SAME: f64 = 0.025;

/// Distances that vary by more are loose: those of computing times that vary wildly, or of a renewal process.
const LOOSE: f64 = 0.35;

/// … and loose without doubt if they vary by this much more.
const LOOSE_WIDTH: f64 = 0.1;

/// Distances that vary by more than the first are no longer even, by more than the second, not even at all.
const UNEVEN: f64 = 0.3;
const NOT_EVEN: f64 = 0.45;

/// Distances that vary by less than this are even, the more so the less they vary; and so many phases, at
/// least, are needed to say so, and twice as many more to say it without doubt.
const EVEN: f64 = 0.12;
const EVEN_PHASES: f64 = 4.0;

/// Chance easily puts so few phases at distances that vary by more than this: the more they vary, the less
/// they tell.
const FEW: usize = 6;
const FEW_EVEN: f64 = 0.13;

/// Phases that take less of the period than the first are short, more than the second, long.
const SHORT: f64 = 0.1;
const LONG: f64 = 0.3;

/// Phases are clear if their distances vary by no more than the first, they take no more of the period than
/// the second, and their number holds over so many octaves.
const CLEAR_SIGMA: f64 = 0.08;
const CLEAR_DUTY: f64 = 0.6;
const CLEAR_OCTAVES: f64 = 3.0;

/// At these shares of the period the autocorrelation of a wave is low. What wanders at random remembers less
/// and less: its autocorrelation is higher there than one period later.
const BETWEEN: [f64; 3] = [0.35, 0.5, 0.65];

/// A hypothesis with its features, in the order of [`WEIGHTS`](crate::estimate::weights::WEIGHTS).
#[derive(Clone, Debug)]
pub struct Described {
    /// The hypothesis.
    pub hypothesis: Hypothesis,
    /// What speaks for it.
    pub features: [f64; FEATURES],
    /// Share of the window from the first member to the end of the last.
    pub cover: f64,
    /// Autocorrelation near the period.
    pub correlation: f64,
    /// Share of the period that a phase takes.
    pub duty: f64,
    /// Spread of the logarithms of the members' volumes.
    pub uneven_volume: f64,
    /// All phases of its list are equal, at even distances, and so far apart that their number is clear.
    pub clear: bool,
}

/// What the features are taken from.
#[derive(Clone, Copy, Debug)]
pub struct Signs<'a> {
    /// The signal without what flows all the time.
    pub signal: &'a Signal,
    /// What is quiet and what is not.
    pub ground: &'a Ground,
    /// The lists of phases.
    pub lists: &'a [Marked],
    /// The list with the best rating.
    pub best: Option<usize>,
    /// The autocorrelation.
    pub correlation: &'a Correlation,
    /// How exactly distances are known, in seconds.
    pub exactness: f64,
}

/// The features of all hypotheses.
pub fn describe(pool: Vec<Hypothesis>, signs: &Signs<'_>) -> Vec<Described> {
    let duration = signs.signal.duration();
    let total = signs.signal.samples.iter().map(|x| (x - signs.ground.background).max(0.0)).sum::<f64>();
    let total = (total * signs.signal.step()).max(1e-300);
    let correlations: Vec<f64> = pool.iter().map(|one| signs.correlation.at(one.period)).collect();
    // Each list votes for its best hypothesis, with the octaves over which it holds.
    let vote = |one: &Hypothesis| {
        let octaves = signs.lists[one.list].list.octaves;
        let count = signs.lists[one.list].starts.len() as f64;
        let counts = one.within == 0.0 && one.likelihood > 0.0;
        if counts { octaves.clamp(0.1, 4.0) * (octaves * count / CLEAR + 0.05).min(1.0) } else { 0.0 }
    };
    let votes: Vec<f64> = pool.iter().map(vote).collect();
    let periods: Vec<f64> = pool.iter().map(|one| one.period).collect();
    let active = active_time(signs.signal, signs.ground).max(signs.signal.step());
    let mut out = Vec::with_capacity(pool.len());
    for (number, one) in pool.into_iter().enumerate() {
        let marked = &signs.lists[one.list];
        let phases = &marked.list.phases;
        let count = one.belonging();
        let links = one.links.len();
        let correlation = correlations[number];
        let relative = |other: usize| periods[other] / one.period;
        let rival = (0..periods.len())
            .filter(|&other| (relative(other) - 1.0).abs() > 0.06 && relative(other) < 1.3)
            .map(|other| correlations[other])
            .fold(0.0, f64::max);
        let favoured: f64 = (0..periods.len())
            .filter(|&other| (relative(other) - 1.0).abs() < SAME)
            .map(|other| votes[other])
            .sum();
        let member = |values: &[f64]| -> Vec<f64> { one.members.iter().map(|&i| values[i]).collect() };
        let uneven = if count > 2 { robust_spread(&member(&marked.volumes)).min(1.5) } else { 0.0 };
        let (first, last) = (one.first(), one.members[one.members.len() - 1]);
        let cut = if one.cut_first { phases[first].volume } else { 0.0 };
        let volume = cut + one.members.iter().map(|&i| phases[i].volume).sum::<f64>();
        let cover = ((phases[last].end - phases[first].start) / duration).min(1.0);
        let sigma = one.own_sigma(signs.exactness);
        let chance = by_chance(links).max(0.02);
        let is_best = signs.best == Some(one.list) && one.within > -1.0;
        let mean = if links > 0 { one.likelihood / links as f64 } else { 0.0 };
        let flag = |is: bool| f64::from(u8::from(is));
        let lengths: Vec<f64> = one.members.iter().map(|&i| phases[i].end - phases[i].start).collect();
        let duty = median(&lengths) / one.period;
        let loose = (sigma - LOOSE).max(0.0);
        let busy = ((duty - SHORT) / (LONG - SHORT)).clamp(0.0, 1.0);
        let tail = if one.form == Form::Mean { tail(&member(&marked.starts)) } else { 0.0 };
        let not_even = ((sigma - UNEVEN) / (NOT_EVEN - UNEVEN)).clamp(0.0, 1.0);
        let span = phases[last].end - phases[first].start;
        let many = ((count as f64 - EVEN_PHASES) / (2.0 * EVEN_PHASES)).clamp(0.0, 1.0);
        let even = (1.0 - sigma / EVEN).max(0.0) * many * one.fill;
        // Which phases are members of a comb was chosen: one without a distance does not speak for it.
        let few = if one.form == Form::Mean { count } else { one.members.len() };
        let features = [
            flag(few <= 3),
            flag(few <= 5),
            (sigma / chance).min(2.0),
            -sigma.max(0.01).log2(),
            one.pause,
            (volume / total).min(1.0),
            uneven * (1.0 - even),
            correlation,
            (rival - correlation).max(0.0),
            favoured.min(8.0),
            mean.clamp(-3.0, 6.0),
            (1.0 + one.likelihood.max(0.0)).log2(),
            flag(one.form == Form::Mean),
            cover,
            log_rating(&one, marked, uneven),
            flag(is_best),
            loose,
            (span / active).min(1.0),
            marked.list.pattern.min(1.0),
            one.time_in_pauses(signs.lists),
            tail,
            flag(one.form == Form::Mean) * (loose / LOOSE_WIDTH).min(1.0) * busy,
            flag(one.form == Form::Mean) * not_even,
            duty.min(1.0) * (1.0 - cover).max(0.0),
            flag(few <= FEW) * ((sigma - FEW_EVEN) / FEW_EVEN).clamp(0.0, 1.0),
            0.0,
            0.0,
            0.0,
            0.0,
            0.0,
            0.0,
            0.0,
            0.0,
        ];
        let clear = one.form == Form::Mean
            && one.extra == 0.0
            && sigma <= CLEAR_SIGMA
            && marked.list.regularity.volumes <= EQUAL_VOLUMES
            && duty <= CLEAR_DUTY
            && marked.list.octaves >= CLEAR_OCTAVES;
        out.push(Described {
            hypothesis: one,
            features,
            cover,
            correlation,
            duty,
            uneven_volume: uneven,
            clear,
        });
    }
    out
}

/// How much longer the longest distance is than the usual one, as a logarithm: random arrivals have long
/// tails, computing times have none.
fn tail(starts: &[f64]) -> f64 {
    let distances: Vec<f64> = starts.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let longest = distances.iter().copied().fold(0.0, f64::max);
    (longest / median(&distances).max(1e-300)).max(1.0).ln().min(2.0)
}

/// The time from the first to the last sample above quiet.
fn active_time(signal: &Signal, ground: &Ground) -> f64 {
    let busy = |x: &f64| *x > ground.quiet;
    let first = signal.samples.iter().position(busy).unwrap_or(0);
    let last = signal.samples.iter().rposition(busy).unwrap_or(0);
    (last + 1 - first) as f64 * signal.step()
}

/// The rating of the members alone, with penalties for pauses, empty slots and extra phases, as a logarithm.
fn log_rating(one: &Hypothesis, marked: &Marked, uneven: f64) -> f64 {
    let excess = ((uneven - 0.1) / 0.3).max(0.0);
    let loose = 0.15 * one.pause + 0.1 * (1.0 - one.fill) + 0.1 * one.extra;
    let unevenness = (one.sigma.powi(2) + loose).sqrt() * (1.0 + (excess * excess).min(9.0));
    let irregularity = unevenness / by_chance(one.links.len().max(1)).max(0.02);
    (1e-3 + rating(marked.list.octaves.min(4.0), one.belonging() as f64, irregularity)).ln()
}

/// How much higher the autocorrelation is after one period than before it is over.
fn rebound(correlation: &Correlation, period: f64) -> f64 {
    let between = BETWEEN.iter().map(|share| correlation.at(share * period));
    correlation.at(period) - between.fold(1.0, f64::min)
}

/// What the spectrum's own hypotheses are described by.
#[derive(Clone, Copy, Debug)]
pub struct Spectrum<'a> {
    /// The power of each frequency.
    pub powers: &'a Powers,
    /// The autocorrelation.
    pub correlation: &'a Correlation,
    /// Seconds between samples.
    pub sampled: f64,
    /// Seconds in all.
    pub duration: f64,
}

/// The features of the spectrum's own hypotheses: all others are 0 there.
pub fn describe_waves(waves: Vec<Wave>, spectrum: &Spectrum<'_>) -> Vec<Described> {
    let Spectrum { powers, correlation, sampled, duration } = *spectrum;
    let described = |wave: Wave| {
        let period = wave.hypothesis.period;
        let mut features = [0.0; FEATURES];
        features[FEATURES - 8..].copy_from_slice(&[
            1.0,
            wave.z.log2(),
            powers.of_comb(period, sampled).sqrt(),
            (duration / period).log2().min(6.0),
            (wave.z / wave.rival.max(1.0)).log2().clamp(-2.0, 4.0),
            powers.above_neighbours(period).clamp(0.0, 6.0),
            rebound(correlation, period).clamp(-0.5, 1.0),
            f64::from(u8::from(wave.multiples)),
        ]);
        Described {
            hypothesis: wave.hypothesis,
            features,
            cover: 1.0,
            correlation: 0.0,
            duty: 0.0,
            uneven_volume: 0.0,
            clear: false,
        }
    };
    waves.into_iter().map(described).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::TAU;

    #[test]
    fn a_wave_comes_back_and_what_wanders_does_not() {
        let mut random = seeded_random::Random::new(11);
        let mut mean_rebound = |height: f64| {
            let mut value = 0.0;
            let mut rebound_of = |_| {
                let samples = (0..2000).map(|i| {
                    value = 0.99 * value + random.unit() - 0.5;
                    100.0 + value + height * (TAU * f64::from(i) / 200.0).cos()
                });
                let samples = samples.collect();
                let signal = Signal { start: 0, bin: 1_000_000_000, samples, abstraction_error: 0.0 };
                rebound(&Correlation::of(&signal), 200.0)
            };
            (0..20).map(&mut rebound_of).sum::<f64>() / 20.0
        };
        let (wandering, wave) = (mean_rebound(0.0), mean_rebound(8.0));
        assert!(wandering < 0.3 && wave > 1.0, "{wandering} {wave}");
    }
}
