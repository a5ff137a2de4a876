//! One signal, looked at: its lists of phases, the hypotheses, and their probabilities.

use crate::estimate::beats::without_beats;
use crate::estimate::correlation::Correlation;
use crate::estimate::features::{Described, Signs, Spectrum, describe, describe_waves};
use crate::estimate::hypotheses::line::waves;
use crate::estimate::hypotheses::{Form, Hypothesis, Marked, Setting, hypotheses};
use crate::estimate::lines::{Line, Powers, fitted, refined};
use crate::estimate::score::{Posterior, posterior};
use crate::phases::bursts::bursts;
use crate::phases::phase::{Ground, Phase};
use crate::phases::{phase_lists, without_pedestal};
use crate::signal::statistics::{evenness, median, robust_spread};
use crate::signal::{CONSTANT_VARIATION, Signal};
use std::ops::RangeInclusive;

/// How exactly starts are known: this share of a sample of the signal, or of the distance of the samples it
/// was made from.
const EXACT: f64 = 0.3;
const EXACT_SAMPLED: f64 = 0.41;

/// A burst with this share of all bytes is a huge transfer: the input read at the start, or a restart file.
const HUGE: f64 = 0.35;

/// … if there is this share beside it.
const REST: f64 = 0.005;

/// Samples of a series that exceed the usual high one this many times are glitches of the monitor, if there
/// is one that exceeds it by far, and no more than this share of all, or so many of a short series.
const GLITCH: f64 = 3.0;
const GLITCH_FAR: f64 = 8.0;
const GLITCHES: f64 = 0.02;
const FEW_GLITCHES: f64 = 6.0;

/// The usual high sample of a series: this share of those above zero is no higher. In a short series, more
/// than the rest of that share may be glitches: then the second is taken.
const USUAL_HIGH: [f64; 2] = [0.95, 0.8];

/// Phases rise slowly if it takes this share of the period until the bandwidth is at this share of that in
/// phases; and where a window holds more periods than this, their starts are exact enough all the same.
const SLOW_RISE: f64 = 0.08;
const RISEN: f64 = 0.8;
const FEW_PERIODS: f64 = 12.0;

/// Most of at least so many distances are alike if these vary by at most this share of what all of them do,
/// and that is in this range.
const LEAST_SINGLE: usize = 8;
const ALIKE: f64 = 0.5;
const SKEW: RangeInclusive<f64> = 0.04..=0.1;

/// What is known about a signal beside its samples.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Given {
    /// The window may begin in the middle of a phase.
    pub cut: bool,
    /// The bandwidth was sampled, or put into bins, with this many seconds between samples.
    pub sampled: Option<f64>,
    /// Periods of interest, in seconds.
    pub periods: (f64, f64),
}

impl Default for Given {
    fn default() -> Self {
        Given { cut: false, sampled: None, periods: (0.0, f64::INFINITY) }
    }
}

/// A signal and what was found in it.
#[derive(Clone, Debug)]
pub struct View {
    /// The signal, without what flows all the time.
    pub signal: Signal,
    /// The bandwidth that flows all the time.
    pub pedestal: f64,
    /// What is quiet and what is not.
    pub ground: Ground,
    /// The lists of phases, from many to few.
    pub lists: Vec<Marked>,
    /// The list with the best rating.
    pub best: Option<usize>,
    /// The strongest lines of the spectrum.
    pub lines: Vec<Line>,
    /// All hypotheses with their features, one burst or not.
    pub pool: Vec<Described>,
    /// What they come to.
    pub posterior: Posterior,
    /// What was known.
    pub given: Given,
    /// What of the signal was not looked at, in words.
    pub left_out: Option<&'static str>,
}

/// Is there more than a constant bandwidth, or none?
pub fn is_worth_a_look(fine: &Signal) -> bool {
    fine.samples.len() >= 8 && fine.mean() > 0.0 && fine.variation() >= CONSTANT_VARIATION
}

/// When each burst of a signal begins, in seconds from the start of the window.
pub fn burst_starts(signal: &Signal, ground: &Ground) -> Vec<f64> {
    bursts(signal, ground).iter().map(|burst| burst.from as f64 * signal.step()).collect()
}

/// The squares of the bandwidth, cut at a level, summed up in each part of so many seconds.
fn power_of_parts(signal: &Signal, level: f64, seconds: f64) -> Vec<f64> {
    let each = ((seconds / signal.step()) as usize).max(1);
    let power = |part: &[f64]| part.iter().map(|x| x.min(level).powi(2)).sum::<f64>();
    signal.samples.chunks_exact(each).map(power).collect()
}

impl View {
    /// Look at a signal.
    pub fn of(signal: &Signal, given: &Given) -> Self {
        let mean = signal.mean();
        let signal = without_pedestal(signal);
        let pedestal = mean - signal.mean();
        let exactness = given.sampled.map_or(EXACT * signal.step(), |sampled| EXACT_SAMPLED * sampled);
        let found = phase_lists(&signal, given.cut, exactness);
        let lists: Vec<Marked> = found.lists.into_iter().map(Marked::of).collect();
        let correlation = Correlation::cut_at(&signal, found.ground.level);
        let powers = Powers::cut_at(&signal, found.ground.level);
        let lines = powers.lines();
        let duration = signal.duration();
        let bursts = burst_starts(&signal, &found.ground);
        let setting = Setting {
            duration,
            exactness,
            correlation: &correlation,
            lines: &lines,
            bursts: &bursts,
            periods: given.periods,
        };
        let signs = Signs {
            signal: &signal,
            ground: &found.ground,
            lists: &lists,
            best: found.best,
            correlation: &correlation,
            exactness,
        };
        let mut pool = describe(hypotheses(&lists, &setting), &signs);
        if let Some(sampled) = given.sampled {
            let level = found.ground.level;
            let spread = |period: f64| evenness(&power_of_parts(&signal, level, period));
            let mut found = waves(&lists, &lines, (sampled, duration), spread);
            found.retain(|wave| (given.periods.0..=given.periods.1).contains(&wave.hypothesis.period));
            let spectrum = Spectrum { powers: &powers, correlation: &correlation, sampled, duration };
            pool.extend(describe_waves(found, &spectrum));
            pool = without_beats(pool, sampled, exactness);
        }
        let posterior = posterior(&pool);
        View {
            pedestal,
            ground: found.ground,
            lists,
            best: found.best,
            lines,
            pool,
            posterior,
            given: *given,
            left_out: None,
            signal,
        }
    }

    /// The same without the largest burst, if that has a large part of all bytes and there is something
    /// beside it.
    pub fn without_huge_transfer(&self) -> Option<View> {
        let found = bursts(&self.signal, &self.ground);
        let total = self.signal.mean() * self.signal.duration();
        let largest = found.iter().max_by(|a, b| a.volume.total_cmp(&b.volume))?;
        if largest.volume < HUGE * total || total - largest.volume < REST * total {
            return None;
        }
        let mut signal = self.signal.clone();
        signal.samples[largest.from..largest.to].iter_mut().for_each(|x| *x = x.min(self.ground.background));
        let words = Some("huge transfers are left out");
        (signal.mean() > 0.0).then(|| View { left_out: words, ..View::of(&signal, &self.given) })
    }

    /// The same series without the few samples that are higher than all others by far.
    pub fn without_glitches(&self) -> Option<View> {
        let sampled = self.given.sampled?;
        let mut above: Vec<f64> = self.signal.samples.iter().copied().filter(|x| *x > 0.0).collect();
        let highest = above.iter().copied().fold(0.0, f64::max);
        let few = FEW_GLITCHES * sampled / self.signal.step();
        let most = (GLITCHES * self.signal.samples.len() as f64).max(few);
        let mut high = |share: f64| {
            let rank = (share * above.len() as f64) as usize;
            (rank < above.len()).then(|| *above.select_nth_unstable_by(rank, f64::total_cmp).1)
        };
        let is_usual = |usual: &f64| {
            let glitches = self.signal.samples.iter().filter(|x| **x > GLITCH * usual).count();
            highest >= GLITCH_FAR * usual && glitches as f64 <= most
        };
        let usual = USUAL_HIGH.iter().filter_map(|share| high(*share)).find(is_usual)?;
        let mut signal = self.signal.clone();
        signal.samples.iter_mut().filter(|x| **x > GLITCH * usual).for_each(|x| *x = usual);
        let left_out = Some("a few samples that are higher than all others by far are left out");
        Some(View { left_out, ..View::of(&signal, &self.given) })
    }

    /// The phases that are members of a hypothesis.
    pub fn members(&self, hypothesis: &Hypothesis) -> Vec<Phase> {
        let all = &self.lists[hypothesis.list].list.phases;
        hypothesis.members.iter().map(|&i| all[i]).collect()
    }

    /// First samples of the members.
    pub fn starts(&self, hypothesis: &Hypothesis) -> Vec<usize> {
        let all = &self.lists[hypothesis.list].list.starts;
        hypothesis.members.iter().map(|&i| all[i]).collect()
    }

    /// Do the members begin sharply, after pauses?
    pub fn is_sharp(&self, hypothesis: &Hypothesis) -> bool {
        if self.given.sampled.is_some_and(|sampled| sampled > hypothesis.period / 16.0) {
            return false;
        }
        let starts = self.starts(hypothesis);
        let quiet = |start: &&usize| {
            start.checked_sub(1).is_none_or(|before| self.signal.samples[before] <= self.ground.quiet)
        };
        let paused = starts.iter().filter(quiet).count();
        2 * paused >= starts.len() && self.ground.background <= 0.15 * self.ground.level
    }

    /// The period of a hypothesis, by its members, or by the spectrum where phases have no sharp starts; and
    /// which of the two.
    pub fn exact_period(&self, described: &Described) -> (f64, &'static str) {
        let one = &described.hypothesis;
        let sampled = self.given.sampled.unwrap_or(0.0);
        if one.form == Form::Line {
            return (refined(&self.signal, one.period, sampled), "spectrum");
        }
        let plain = matches!(one.form, Form::Mean | Form::Comb);
        let even = one.sigma < 0.15 || described.correlation >= 0.6;
        if plain
            && even
            && one.pause == 0.0
            && let Some(period) = self.fitted_period(one)
        {
            return (period, "spectrum");
        }
        if plain && even && !self.is_sharp(one) {
            let slack = (1.0 / one.members.len() as f64).min(0.06);
            let strongest = self.lines.first().map_or(0.0, |line| line.z);
            let near =
                self.lines.iter().take(3).find(|line| {
                    (line.period / one.period - 1.0).abs() <= slack && line.z >= 0.5 * strongest
                });
            if let Some(line) = near {
                return (refined(&self.signal, line.period, sampled), "spectrum");
            }
        }
        (self.usual_distance(one).unwrap_or(one.period), "phases")
    }

    /// The usual distance of a comb that leaves phases out, where most distances are alike and the others
    /// longer. What makes phases late, such as a server that others use as well, does so at times; the comb
    /// leaves out those that are very late, and the mean of the others is neither that of all nor the usual
    /// one.
    fn usual_distance(&self, one: &Hypothesis) -> Option<f64> {
        if one.form != Form::Comb || one.extra == 0.0 || !SKEW.contains(&one.sigma) {
            return None;
        }
        let starts = one.starts(&self.lists);
        let pairs = starts.windows(2).zip(&one.links).filter(|(_, link)| **link == 1);
        let single: Vec<f64> = pairs.map(|(pair, _)| pair[1] - pair[0]).collect();
        let usual = median(&single);
        let alike = robust_spread(&single) <= ALIKE * one.sigma * usual;
        (single.len() >= LEAST_SINGLE && alike && usual < one.period).then_some(usual)
    }

    /// How long it takes from the start of a member until the bandwidth is near that of phases, as a share of
    /// the period.
    fn rise(&self, hypothesis: &Hypothesis) -> f64 {
        let risen = |start: usize| {
            let rest = self.signal.samples[start..].iter();
            rest.take_while(|x| **x < RISEN * self.ground.level).count() as f64
        };
        let rises: Vec<f64> = self.starts(hypothesis).into_iter().map(risen).collect();
        median(&rises) * self.signal.step() / hypothesis.period
    }

    /// The period of a few phases of a series that rise slowly, by the wave that fits best: with noise on it,
    /// such a start is known to a part of the period only.
    fn fitted_period(&self, one: &Hypothesis) -> Option<f64> {
        let sampled = self.given.sampled?;
        let periods = self.signal.duration() / one.period;
        if periods > FEW_PERIODS || self.rise(one) < SLOW_RISE {
            return None;
        }
        fitted(&self.signal, one.period, sampled, 0.5 / periods)
    }

    /// When the bandwidth first exceeds that of phases again after `since`, coming from quiet.
    pub(crate) fn begun(&self, since: f64) -> Option<f64> {
        let (fine, ground) = (&self.signal, &self.ground);
        let first = (since / fine.step()).ceil().max(0.0) as usize;
        let rest = fine.samples.get(first..)?;
        let quiet = rest.iter().position(|x| *x <= ground.quiet)?;
        let rise = rest[quiet..].iter().position(|x| *x >= ground.busy)?;
        let start = rest[..quiet + rise].iter().rposition(|x| *x <= ground.quiet)? + 1;
        Some((first + start) as f64 * fine.step())
    }
}
