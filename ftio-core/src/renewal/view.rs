//! One reading, looked at: its lists, its spectrum, and its hypotheses with what speaks for each.

use crate::renewal::chain::{Chain, Link};
use crate::renewal::hypotheses::{Form, Hypothesis, hypotheses};
use crate::renewal::lists::{List, lists};
use crate::renewal::readings::{Name, Reading};
use crate::renewal::signal::Ground;
use crate::renewal::spectrum::{Line, Spectrum};
use crate::renewal::table::{
    CLEAR, COARSEST, DOUBT, EVENEST, EXACT, EXACT_SAMPLES, FEW, FEW_OF_PART, FEW_OF_WAVE, FULL_OCTAVES,
    LEAST, LIKELY, LONG_WAVE, LONGER_FROM, LOOSE, MANY_TIMES, MOST_MEMBERS, MULTIPLE, NO_POWER, OWN_LINE,
    PHASE_SAMPLES, PROMINENT, RIVALS, SAME, SEEDS, SHORTER_FROM, SHORTER_TO, TWO_SAMPLES, UNEVEN, UNEVEN_AT,
    UNLIKELY, VOTE_LEAST, VOTES, WAVE_SIGMA, WAVES,
};
use crate::renewal::warps::Warp;
use crate::renewal::weights::{Feature as F, Features};
use crate::signal::statistics::robust_spread;

/// A hypothesis with what speaks for it.
#[derive(Clone, Debug, PartialEq)]
pub struct Described {
    /// The hypothesis.
    pub hypothesis: Hypothesis,
    /// What speaks for it.
    pub features: Features,
}

/// A reading and what was found in it.
#[derive(Clone, Debug)]
pub struct View {
    /// The reading.
    pub reading: Reading,
    /// What is quiet and what is busy.
    pub ground: Ground,
    /// Its lists of phases.
    pub lists: Vec<List>,
    /// Lists of only two phases.
    pub twos: Vec<List>,
    /// Its spectrum.
    pub spectrum: Spectrum,
    /// Its hypotheses.
    pub found: Vec<Described>,
}

impl View {
    /// Look at a reading. Lists that another one has already are left out.
    pub fn of(reading: Reading, known: &[View]) -> Self {
        let ground = Ground::of(&reading.signal.bins);
        let start = reading.signal.start;
        let is_known = |list: &List| {
            known.iter().any(|view| {
                let later = view.reading.signal.start - start;
                view.lists.iter().any(|other| is_same(list, other, later))
            })
        };
        let (twos, lists): (Vec<List>, Vec<List>) =
            lists(&reading, &ground).into_iter().partition(|list| list.count() < LEAST);
        let lists = lists.into_iter().filter(|list| !is_known(list)).collect();
        let spectrum = Spectrum::of(&reading.signal, ground.level);
        let mut view = View { reading, ground, lists, twos, spectrum, found: Vec::new() };
        view.found = view.described();
        view
    }

    /// The members of a hypothesis: their starts, seconds from the beginning of the reading.
    pub fn starts(&self, one: &Hypothesis) -> Vec<f64> {
        one.starts(&self.lists[one.list])
    }

    fn described(&self) -> Vec<Described> {
        let signal = &self.reading.signal;
        let lags = self.spectrum.peaks.iter().take(2 * SEEDS).copied();
        let seeds: Vec<f64> =
            lags.chain(self.spectrum.lines.iter().take(SEEDS).map(|line| line.period)).collect();
        let exactness = match signal.native {
            Some(native) => EXACT_SAMPLES * native,
            None if signal.edges.is_some() => 0.0,
            None => EXACT * signal.step,
        };
        let of_list = |(i, list): (usize, &List)| hypotheses(i, list, &seeds, exactness);
        let pool: Vec<Hypothesis> = self.lists.iter().enumerate().flat_map(of_list).collect();
        let highest = |value: &dyn Fn(f64) -> f64, one: &Hypothesis| {
            one.periods.iter().map(|period| value(*period)).fold(f64::NEG_INFINITY, f64::max)
        };
        let correlation = |one: &Hypothesis| highest(&|period| self.spectrum.correlation(period), one);
        let correlations: Vec<f64> = pool.iter().map(correlation).collect();
        let comb = |one: &Hypothesis| highest(&|period| self.spectrum.comb(period), one);
        let powers: Vec<f64> = pool.iter().map(comb).collect();
        let periods: Vec<f64> = pool.iter().map(|one| one.period).collect();
        let strongest = powers.iter().copied().fold(NO_POWER, f64::max);
        let total =
            signal.bins.iter().map(|x| (x - self.ground.background).max(0.0)).sum::<f64>() * signal.step;
        let first = self.lists.iter().map(|list| list.starts[0]).fold(f64::INFINITY, f64::min);
        let last = self.lists.iter().map(|list| list.ends[list.count() - 1]).fold(0.0, f64::max);
        let around = Around { first, active: (last - first).max(f64::MIN_POSITIVE), total };
        let mut found = Vec::new();
        for (i, one) in pool.into_iter().enumerate() {
            let shorter = periods
                .iter()
                .zip(&correlations)
                .filter(|(period, _)| (SHORTER_FROM..SHORTER_TO).contains(&(**period / one.period)));
            let shorter = shorter.map(|(_, correlation)| *correlation).fold(0.0, f64::max);
            let longer = periods.iter().zip(&correlations);
            let longer = longer.filter(|(period, _)| **period > LONGER_FROM * one.period);
            let longer = longer.map(|(_, correlation)| *correlation).fold(0.0, f64::max);
            let mut features = self.of_phases(&one, &around);
            features[F::Correlation] = correlations[i];
            features[F::Shorter] = (shorter - correlations[i]).max(0.0);
            features[F::Longer] = (longer - correlations[i]).max(0.0);
            features[F::Power] = (powers[i] / strongest).sqrt();
            if one.form == Form::Change {
                features[F::ChangeLikelihood] = features[F::LikelihoodEach];
                features[F::ChangePower] = features[F::Power];
                features[F::ChangeOctaves] = features[F::Octaves];
                features[F::ChangeMembers] = features[F::Members];
            }
            found.push(Described { hypothesis: one, features });
        }
        found.extend(self.waves());
        found
    }

    fn of_phases(&self, one: &Hypothesis, around: &Around) -> Features {
        let (list, signal) = (&self.lists[one.list], &self.reading.signal);
        let m = one.count() as f64;
        let evenness = -one.sigma.max(EVENEST).log2();
        let few = (FEW / m).log2().max(0.0);
        let of = |values: &[f64]| one.members.iter().map(|&member| values[member]).collect::<Vec<f64>>();
        let uneven = robust_spread(&of(&list.logarithms)).min(UNEVEN);
        let (begins, ends) = (list.starts[one.members[0]], list.ends[one.members[one.members.len() - 1]]);
        let full = (around.active / signal.duration()).min(1.0).sqrt();
        let is_change = one.form == Form::Change;
        let is_drift = f64::from(one.form == Form::Drift);
        let step = |pair: &[f64]| (pair[0] / pair[1]).log2().abs();
        let smallest = one.periods.windows(2).map(step).fold(1.0, f64::min);
        let is_part = self.reading.name == Name::Part;
        let equal = list.equal * (1.0 - one.strays);
        let sharp = 1.0 / PHASE_SAMPLES;
        let coarse = (signal.native.unwrap_or(0.0) / one.period).clamp(sharp, COARSEST) - sharp;
        let mut features = self.of_reading();
        for (feature, value) in [
            (F::Rhythm, 1.0),
            (F::Members, m.log2().min(MOST_MEMBERS)),
            (F::Few, few),
            (F::Even, evenness),
            (F::Loose, (LOOSE - evenness).max(0.0)),
            (F::Likelihood, (1.0 + one.likelihood.max(0.0)).log2()),
            (F::LikelihoodEach, (one.likelihood / (m - 1.0).max(1.0)).clamp(UNLIKELY, LIKELY)),
            (F::Strays, one.strays),
            (F::StraysApart, one.strays_apart(list)),
            (
                F::Volume,
                (of(&list.volumes).iter().sum::<f64>() / around.total.max(f64::MIN_POSITIVE)).min(1.0),
            ),
            (F::UnevenLoose, uneven * (one.sigma / UNEVEN_AT).min(1.0)),
            (F::UnevenFew, uneven * few),
            (F::EqualVolumes, equal),
            (F::EqualLoose, equal * (1.0 - evenness).max(0.0)),
            (F::Cover, ((ends - begins) / around.active).min(1.0) * full),
            (F::Front, (begins - around.first) / around.active * full),
            (F::Octaves, list.octaves.min(FULL_OCTAVES)),
            (F::Mean, f64::from(one.form == Form::Mean)),
            (F::Drift, is_drift),
            (F::DriftLoose, is_drift * one.sigma),
            (F::Change, f64::from(is_change)),
            (F::ChangeStep, if is_change { smallest } else { 0.0 }),
            (F::Coarse, coarse),
            (F::PartFew, if is_part { (FEW_OF_PART / m).log2().max(0.0) } else { 0.0 }),
        ] {
            features[feature] = value;
        }
        features.and(&one.of_pauses(&one.starts(list), |_| false))
    }

    fn of_reading(&self) -> Features {
        let name = self.reading.name;
        Features::of(&[
            (F::Reading, f64::from(name != Name::Whole)),
            (F::Small, f64::from(name == Name::Small)),
            (F::Root, f64::from(name == Name::Root)),
            (F::PartLeft, if name == Name::Part { self.reading.left } else { 0.0 }),
        ])
    }

    /// Lines of the spectrum of samples: sines instead of phases. Requests have exact starts.
    fn waves(&self) -> Vec<Described> {
        let signal = &self.reading.signal;
        let lines = &self.spectrum.lines;
        let Some(native) = signal.native.filter(|_| !self.lists.is_empty()) else { return Vec::new() };
        let duration = self.spectrum.duration();
        let mut found = Vec::new();
        for (j, line) in lines.iter().take(WAVES).enumerate() {
            let Line { period, z } = *line;
            let is_multiple = |other: &Line| {
                let times = other.period / period;
                (times - times.round()).abs() < MULTIPLE && times > MANY_TIMES && other.z > z
            };
            let known = z < PROMINENT || period < TWO_SAMPLES * native || duration < LONG_WAVE * period;
            if known || lines[..j].iter().any(is_multiple) {
                continue;
            }
            let is_rival = |other: &&Line| {
                let times = period / other.period;
                let is_own = (times - times.round()).abs() < MULTIPLE && other.period < period;
                (other.period / period - 1.0).abs() > OWN_LINE && !is_own
            };
            let rivals: Vec<f64> = lines.iter().filter(is_rival).map(|other| other.z).collect();
            let rival = rivals.into_iter().reduce(f64::max).unwrap_or(1.0);
            let off = |list: &List| (list.count() as f64 * period / duration).ln().abs();
            let nearest = |a: usize, b: usize| if off(&self.lists[b]) < off(&self.lists[a]) { b } else { a };
            let Some(list) = (0..self.lists.len()).reduce(nearest) else { continue };
            let count = self.lists[list].count();
            let coarse = (native / period).min(COARSEST);
            let mut features = self.of_reading();
            for (feature, value) in [
                (F::Wave, 1.0),
                (F::WavePower, self.spectrum.share(period).sqrt()),
                (F::WaveRival, (z / rival.max(1.0)).log2().clamp(RIVALS.0, RIVALS.1)),
                (F::WaveFew, (FEW_OF_WAVE / count as f64).log2().max(0.0)),
                (F::WaveSteady, self.spectrum.steady(period)),
                (F::WaveCoarse, coarse),
            ] {
                features[feature] = value;
            }
            let chain = Chain {
                members: (0..count).collect(),
                links: vec![Link::Slots(1); count - 1],
                scale: 1.0,
                sigma: WAVE_SIGMA,
                likelihood: 0.0,
            };
            let list_of = &self.lists[list];
            let hypothesis = Hypothesis::new(list, list_of, Form::Wave, period, chain, Warp::None);
            found.push(Described { hypothesis, features });
        }
        found
    }
}

/// What all hypotheses of a reading are seen against.
struct Around {
    /// The first start of all lists.
    first: f64,
    /// From there to the last end.
    active: f64,
    /// All bytes above the background.
    total: f64,
}

/// Are all starts of two lists the same, `later` being how much later the window of the other one begins?
fn is_same(list: &List, other: &List, later: f64) -> bool {
    let close = SAME * list.period();
    let mut pairs = list.starts.iter().zip(&other.starts);
    list.count() == other.count() && pairs.all(|(a, b)| (a - b - later).abs() < close)
}

/// Octaves of scale over which lists favour a period, in all these views together.
pub fn vote(views: &mut [View]) {
    let votes = |view: &View, one: &Described| {
        let (hypothesis, list) = (&one.hypothesis, &view.lists[one.hypothesis.list]);
        let counts = hypothesis.is_best && hypothesis.likelihood > 0.0 && hypothesis.form != Form::Wave;
        let clear = (list.octaves * list.count() as f64 / CLEAR + DOUBT).min(1.0);
        if counts { list.octaves.clamp(VOTE_LEAST, FULL_OCTAVES) * clear } else { 0.0 }
    };
    let of_view = |view: &View| -> Vec<(f64, f64)> {
        view.found.iter().map(|one| (one.hypothesis.period, votes(view, one))).collect()
    };
    let all: Vec<(f64, f64)> = views.iter().flat_map(of_view).collect();
    let total = all.iter().map(|(_, votes)| votes).sum::<f64>().max(f64::MIN_POSITIVE);
    for one in views.iter_mut().flat_map(|view| &mut view.found) {
        if one.hypothesis.form != Form::Wave {
            let period = one.hypothesis.period;
            let same = all.iter().filter(|(other, _)| (other / period - 1.0).abs() < SAME);
            let own: f64 = same.map(|(_, votes)| votes).sum();
            one.features[F::Votes] = own.min(VOTES);
            one.features[F::VoteShare] = own / total;
        }
    }
}
