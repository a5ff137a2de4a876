//! A second rhythm beside the first.
//!
//! The members of the most probable hypothesis are taken out of the signal, and what is left is asked again.
//! Both are given if each stands without the other, and the second is no left-over of the first. Else a finer
//! comb that goes on through nearly all of the slow rhythm is a rhythm beside it, rather than a part of its
//! phases.

use crate::estimate::features::Described;
use crate::estimate::hypotheses::{Form, Hypothesis};
use crate::estimate::score::{ANSWER, Candidate};
use crate::estimate::turns::is_change;
use crate::estimate::view::{View, burst_starts};
use crate::phases::are_made_of;
use crate::phases::phase::Phase;
use crate::signal::Signal;
use crate::signal::statistics::{median, ratio};
use std::f64::consts::TAU;

/// Probability that a second rhythm must have in what is left without the first.
const SECOND: f64 = 0.6;

/// Members that each rhythm must have.
const MEMBERS: usize = 5;

/// Share of the links of the second that may be pauses.
const MOST_PAUSES: f64 = 0.3;

/// Distances of the second vary by no more than this.
const LOOSEST: f64 = 0.25;

/// How far apart two rhythms are at least.
const APART: f64 = 1.15;

/// Share of the volume that must be left without the first.
const LEFT: f64 = 0.005;

/// … beyond what follows a member, or leads to it, without a break and within this share of the period: that
/// is its beginning or its end, too slow to be a part of the phase.
const SKIRT: f64 = 0.25;

/// At a multiple of the first period, the phases of the second must be this many times as large: else they
/// are left-overs.
const LARGER: f64 = 1.8;

/// Rhythms closer than this are told apart by where the phases of the second lie between those of the first:
/// at this concentration or more (0 anywhere, 1 always at the same place) they are left-overs that follow
/// them.
const CLOSE: f64 = 2.0;
const FOLLOWS: f64 = 0.6;

/// Where more of the time is busy, phases fill the period.
const FULL: f64 = 0.6;

/// Parts of the period in which the members' activity is looked at.
const PARTS: usize = 64;

/// A rhythm.
#[derive(Clone, Debug)]
pub struct Rhythm {
    /// The hypothesis.
    pub described: Described,
    /// Its period, as exactly as it is known.
    pub period: f64,
    /// Its probability.
    pub probability: f64,
    /// Its members.
    pub phases: Vec<Phase>,
    /// Bytes of all its phases.
    pub volume: f64,
}

impl Rhythm {
    fn of(view: &View, described: &Described, period: f64, probability: f64) -> Self {
        let phases = view.members(&described.hypothesis);
        let volume = phases.iter().map(|phase| phase.volume).sum();
        Rhythm { described: described.clone(), period, probability: probability.min(1.0), phases, volume }
    }
}

/// Where each member begins and ends, in samples: up to where most of them are busy at the same place of the
/// period, and to the end of that run.
fn extents(view: &View, one: &Hypothesis) -> Vec<(usize, usize)> {
    let samples = &view.signal.samples;
    let quiet = view.ground.quiet.max(view.ground.background);
    let silent = if view.ground.background > 0.0 { quiet } else { view.ground.silent() };
    let starts = view.starts(one);
    let width = one.period / view.signal.step() / PARTS as f64;
    let mut active = [0usize; PARTS];
    for &start in &starts {
        for (part, count) in active.iter_mut().enumerate() {
            let from = start + (part as f64 * width) as usize;
            let to = (start + (((part + 1) as f64 * width) as usize).max((part as f64 * width) as usize + 1))
                .min(samples.len());
            *count += usize::from(from < to && samples[from..to].iter().any(|x| *x > quiet));
        }
    }
    // Up to the last busy part that is not the next phase already.
    let parts = (PARTS as f64 * 0.97).ceil() as usize;
    let last = (0..parts).rev().find(|&part| 2 * active[part] >= starts.len());
    let usual = last.map_or(width.ceil(), |last| (last as f64 + 1.0) * width) as usize;
    let all = &view.lists[one.list].list.starts;
    let extent = |&member: &usize| {
        let start = all[member];
        let next = all.get(member + 1).copied().unwrap_or(samples.len());
        let mut end = (start + usual).min(next).min(samples.len());
        let farthest = (end + (0.3 * usual as f64) as usize + 2).min(samples.len());
        while end < farthest && samples[end] > quiet {
            end += 1;
        }
        while end > start + 1 && samples[end - 1] <= quiet {
            end -= 1;
        }
        with_slopes(samples, (start, end), (silent, quiet))
    };
    one.members.iter().map(extent).collect()
}

/// A member with what comes before and after it without a silence, but is too little to be a phase.
fn with_slopes(
    samples: &[f64],
    (mut start, mut end): (usize, usize),
    (silent, quiet): (f64, f64),
) -> (usize, usize) {
    let is_slope = |x: f64| x > silent && x <= quiet;
    while start > 0 && is_slope(samples[start - 1]) {
        start -= 1;
    }
    while end < samples.len() && is_slope(samples[end]) {
        end += 1;
    }
    (start, end)
}

/// The signal without the members of a hypothesis. One that is much longer than the others may belong to
/// another rhythm: it is left if `keep`.
fn without(view: &View, one: &Hypothesis, keep: bool) -> Signal {
    let mut signal = view.signal.clone();
    let extents = extents(view, one);
    let lengths: Vec<f64> = extents.iter().map(|(from, to)| (to - from) as f64).collect();
    let usual = median(&lengths);
    let quiet = view.ground.quiet.max(view.ground.background);
    for (from, to) in extents {
        let run = view.signal.samples[from..].iter().take_while(|x| **x > quiet).count();
        if keep && run as f64 > 2.5 * usual + 2.0 {
            continue;
        }
        signal.samples[from..to].iter_mut().for_each(|x| *x = x.min(view.ground.background));
    }
    signal
}

/// Bytes of each of two rhythms: the fast one has a usual phase in every slot, the slow one the rest of both.
fn share_volumes(view: &View, mut two: [Rhythm; 2], fast_extents: &[(usize, usize)]) -> [Rhythm; 2] {
    let fast = usize::from(two[1].period < two[0].period);
    let sums = running_volume(view);
    let each: Vec<f64> = fast_extents.iter().map(|(from, to)| sums[*to] - sums[*from]).collect();
    let span = two[fast].phases.last().zip(two[fast].phases.first()).map_or(0.0, |(b, a)| b.start - a.start);
    let volume = median(&each) * (1.0 + span / two[fast].period);
    two[fast].volume = volume;
    two[1 - fast].volume = (sums.last().copied().unwrap_or(0.0) - volume).max(0.0);
    two
}

fn running_volume(view: &View) -> Vec<f64> {
    let mut sum = 0.0;
    let mut sums = vec![0.0];
    sums.extend(view.signal.samples.iter().map(|x| {
        sum += (x - view.ground.background) * view.signal.step();
        sum
    }));
    sums
}

fn share_near(candidates: &[Candidate], period: f64) -> f64 {
    let near = |one: &&Candidate| ratio(one.best.hypothesis.period, period) < 1.06;
    candidates.iter().filter(near).map(|one| one.probability).sum()
}

/// How two rhythms go together.
#[derive(Clone, Debug)]
pub enum Two {
    /// Both at once; the one with the larger volume first.
    AtOnce([Rhythm; 2]),
    /// One begins when the other has ended.
    InTurn([Rhythm; 2]),
}

/// Two rhythms, if there are two.
pub fn two_rhythms(view: &View) -> Option<Two> {
    let candidates = &view.posterior.candidates;
    let first = candidates.first()?;
    let plain = |one: &Candidate| matches!(one.best.hypothesis.form, Form::Mean | Form::Comb);
    let next = candidates[1..]
        .iter()
        .find(|one| plain(one) && ratio(one.best.hypothesis.period, first.best.hypothesis.period) >= 1.5);
    let together = first.probability + next.map_or(0.0, |next| next.probability);
    if !plain(first) || together < ANSWER {
        return None;
    }
    let mut apart = None;
    let mut at_once = |two: Option<[Rhythm; 2]>| {
        let two = two?;
        if are_at_once(&two) {
            return Some(two);
        }
        apart.get_or_insert(two);
        None
    };
    let two = at_once(beside_the_other(view, first))
        .or_else(|| at_once(beside_the_other(view, next.filter(|next| next.probability >= 0.15)?)))
        .or_else(|| at_once(finer_beside(view, first)))
        .or_else(|| heard_outside(view, apart.as_ref()?));
    match two {
        Some([a, b]) if a.volume < b.volume => Some(Two::AtOnce([b, a])),
        Some(two) => Some(Two::AtOnce(two)),
        None => in_turn(view, apart?).map(Two::InTurn),
    }
}

/// How close the period of a finer comb is to what was heard outside the phases of the slow rhythm.
const SAME: f64 = 1.03;

/// Share of the slow rhythm's time over which the finer comb goes on, and of all phases of its list that
/// belong to it: a comb that leaves many out finds something everywhere.
const THROUGHOUT: f64 = 0.8;
const BELONGING: f64 = 0.7;

/// A fast rhythm that was found only outside the phases of the slow one, because they hide it, and that goes
/// on through them: it is no part of them.
fn heard_outside(view: &View, [slow, outside]: &[Rhythm; 2]) -> Option<[Rhythm; 2]> {
    let same = |candidate: &&Candidate| {
        let finer = &candidate.best.hypothesis;
        let all = view.lists[finer.list].starts.len() as f64;
        finer.form == Form::Comb
            && ratio(finer.period, outside.period) < SAME
            && finer.fill >= LEAST_FILL
            && finer.belonging() as f64 >= BELONGING * all
    };
    let finer = view.posterior.candidates.iter().find(same).filter(|_| outside.period < slow.period)?;
    let fast = Rhythm::of(view, &finer.best, finer.best.hypothesis.period, outside.probability);
    let shared = span(&fast)?.1.min(span(slow)?.1) - span(&fast)?.0.max(span(slow)?.0);
    if shared < THROUGHOUT * (span(slow)?.1 - span(slow)?.0) {
        return None;
    }
    let fast_extents = extents(view, &finer.best.hypothesis);
    Some(share_volumes(view, [slow.clone(), fast], &fast_extents))
}

/// At a change, the second rhythm begins within so many of the longer period after the first has ended, and
/// each lasts for at least so many. Else one may be the inner structure of a phase of the other.
const LONGEST_BREAK: f64 = 6.0;
const SHORTEST_TURN: f64 = 2.0;

/// Two rhythms that do not overlap, in the order of time, if the second takes over from the first.
fn in_turn(view: &View, [one, other]: [Rhythm; 2]) -> Option<[Rhythm; 2]> {
    let [before, after] = if span(&one)?.0 <= span(&other)?.0 { [one, other] } else { [other, one] };
    let longer = before.period.max(after.period);
    let (first, second) = (span(&before)?, span(&after)?);
    let shortest = f64::min(first.1 - first.0, second.1 - second.0);
    let goes_on = |rhythm: &Rhythm| rhythm.described.hypothesis.pause == 0.0;
    let follows = second.0 - first.1 <= LONGEST_BREAK * longer
        && shortest >= SHORTEST_TURN * longer
        && goes_on(&before)
        && goes_on(&after)
        && is_change([&before.phases, &after.phases], &burst_starts(&view.signal, &view.ground));
    follows.then_some([before, after])
}

/// From when to when a rhythm has phases.
fn span(rhythm: &Rhythm) -> Option<(f64, f64)> {
    Some((rhythm.phases.first()?.start, rhythm.phases.last()?.end))
}

/// Do the spans of two rhythms overlap? One that begins when the other has ended is a change.
fn are_at_once([one, other]: &[Rhythm; 2]) -> bool {
    span(one).zip(span(other)).is_none_or(|(one, other)| one.0 < other.1 && other.0 < one.1)
}

/// A second rhythm in what is left without the first; each judged without the other.
fn beside_the_other(view: &View, first: &Candidate) -> Option<[Rhythm; 2]> {
    let one = &first.best.hypothesis;
    let sampled = view.given.sampled.unwrap_or(0.0);
    if sampled > one.period / 8.0 || one.members.len() < MEMBERS {
        return None;
    }
    let rest = without(view, one, view.is_sharp(one));
    if !is_much_left(view, &rest, one.period) {
        return None;
    }
    let rest = View::of(&rest, &view.given);
    let same = share_near(&rest.posterior.candidates, one.period);
    let found = rest.posterior.candidates.iter().find(|other| {
        let other = &other.best.hypothesis;
        matches!(other.form, Form::Mean | Form::Comb) && ratio(other.period, one.period) >= 1.06
    })?;
    let probability = found.probability / (1.0 - same).max(0.02);
    let other = &found.best.hypothesis;
    let sharp_enough = sampled <= other.period / 8.0;
    let apart = ratio(other.period, one.period) >= APART;
    let even = other.pause <= MOST_PAUSES && other.sigma <= LOOSEST;
    if probability < SECOND || other.members.len() < MEMBERS || !even || !apart || !sharp_enough {
        return None;
    }
    let both = seen_whole(view, &rest);
    let (first_extents, other_extents) = (extents(view, one), extents(&both, other));
    if is_left_over(view, one.period, &first_extents, other.period, &other_extents) {
        return None;
    }
    if ratio(other.period, one.period) < CLOSE && concentration(view, one, &rest, other) >= FOLLOWS {
        return None;
    }
    let (other_period, _) = rest.exact_period(&found.best);
    // What spoke for the second did not speak against the first; and the first again, without the second.
    let shared = share_near(&view.posterior.candidates, other.period);
    let mut first_probability = first.probability / (1.0 - shared).max(first.probability);
    let alone = View::of(&without(&both, other, true), &view.given);
    let mut rhythm = None;
    let again = alone.posterior.candidates.iter().find(|again| {
        let again = &again.best.hypothesis;
        (again.period / one.period - 1.0).abs() < 0.08 && matches!(again.form, Form::Mean | Form::Comb)
    });
    if let Some(again) = again {
        // It may be only what comes before the other.
        if again.probability > 0.5 && 2 * again.best.hypothesis.members.len() >= one.members.len() {
            let (period, _) = alone.exact_period(&again.best);
            rhythm = Some(Rhythm::of(&alone, &again.best, period, again.probability));
        }
        first_probability = first_probability.max(again.probability);
    }
    if first_probability < ANSWER {
        return None;
    }
    let mut rhythm = rhythm.unwrap_or_else(|| Rhythm::of(view, &first.best, one.period, 0.0));
    rhythm.probability = first_probability.min(1.0);
    let second = Rhythm::of(&rest, &found.best, other_period, probability);
    let fast = if rhythm.period <= second.period { &first_extents } else { &other_extents };
    Some(share_volumes(view, [rhythm, second], fast))
}

/// Is there more in what is left than beginnings and ends of what was taken out?
fn is_much_left(view: &View, rest: &Signal, period: f64) -> bool {
    let above = |x: &f64| (x - view.ground.background).max(0.0);
    let volume = |samples: &[f64]| samples.iter().map(above).sum::<f64>();
    let least = LEFT * volume(&view.signal.samples);
    let mut left = volume(&rest.samples);
    if left < least {
        return false;
    }
    let longest = (SKIRT * period / view.signal.step()) as usize;
    let is_taken = |i: usize| rest.samples[i] < view.signal.samples[i];
    let skirt = |samples: &mut dyn Iterator<Item = &f64>| {
        samples
            .take(longest + 1)
            .map(above)
            .take_while(|x| *x > 0.0)
            .fold((0, 0.0), |(count, sum), x| (count + 1, sum + x))
    };
    // One that does not come to an end in time is more than that.
    let short = |(count, sum): (usize, f64)| if count <= longest { sum } else { 0.0 };
    for i in 1..rest.samples.len() {
        match (is_taken(i - 1), is_taken(i)) {
            (true, false) => left -= short(skirt(&mut rest.samples[i..].iter())),
            (false, true) => left -= short(skirt(&mut rest.samples[..i].iter().rev())),
            _ => {}
        }
    }
    left >= least
}

/// How much the phases of the second keep to one place between those of the first, 0 … 1: the length of the
/// mean of unit vectors in the directions of their places.
fn concentration(view: &View, one: &Hypothesis, rest: &View, other: &Hypothesis) -> f64 {
    let first = one.starts(&view.lists);
    let (mut sum, mut count) = ((0.0, 0.0), 0.0);
    for start in other.starts(&rest.lists) {
        let next = first.partition_point(|other| *other <= start);
        if let (Some(before), Some(after)) = (next.checked_sub(1).map(|i| first[i]), first.get(next)) {
            let (sine, cosine) = (TAU * (start - before) / (after - before)).sin_cos();
            sum = (sum.0 + cosine, sum.1 + sine);
            count += 1.0;
        }
    }
    if count > 0.0 { f64::hypot(sum.0, sum.1) / count } else { 0.0 }
}

/// The whole signal, with the lists of what is left without the first: what the second is taken out of.
fn seen_whole(whole: &View, rest: &View) -> View {
    View { signal: whole.signal.clone(), ground: whole.ground, ..rest.clone() }
}

/// Phases of the first rhythm that were only left over are no rhythm of their own: at a multiple of its
/// period, they are as large as the others.
fn is_left_over(
    view: &View,
    period: f64,
    first: &[(usize, usize)],
    other_period: f64,
    other: &[(usize, usize)],
) -> bool {
    let times = other_period / period;
    if times <= 1.5 || (times - times.round()).abs() >= 0.03 * times {
        return false;
    }
    let sums = running_volume(view);
    let usual = |extents: &[(usize, usize)]| {
        let volumes: Vec<f64> = extents.iter().map(|(from, to)| sums[*to] - sums[*from]).collect();
        median(&volumes)
    };
    usual(other) < LARGER * usual(first)
}

/// A finer comb has at least this probability beside the first.
const LEAST_FINER: f64 = 0.001;

/// A comb that fills fewer of its slots is no rhythm beside the first; and one that fills fewer than the
/// second number does not go on all the time.
const LEAST_FILL: f64 = 0.75;
const GOES_ON: f64 = 0.95;

/// A phase begins with one of a finer comb if that begins within this share of the finer period.
const BEGINS_WITH: f64 = 0.25;

/// Phases that begin with one of a finer comb less often than this are no part of it.
const OWN: f64 = 0.3;

/// Bursts of the slow rhythm that are this many times as large as those of the finer comb are no part of it.
const UNLIKE: f64 = 3.0;

/// Share of the time that a finer comb may pause, and if the phases of the slow one are no part of it: it
/// waits for them.
const MOST_PAUSED: f64 = 0.25;
const MOST_WAITING: f64 = 0.45;

/// How often the phases begin with one of a finer comb.
fn begin_with(view: &View, phases: &[Phase], finer: &Hypothesis) -> f64 {
    let starts = finer.starts(&view.lists);
    let near = |phase: &&Phase| {
        let after = starts.partition_point(|start| *start < phase.start);
        let close = |i: usize| {
            starts.get(i).is_some_and(|start| (start - phase.start).abs() <= BEGINS_WITH * finer.period)
        };
        close(after) || after.checked_sub(1).is_some_and(close)
    };
    phases.iter().filter(near).count() as f64 / phases.len().max(1) as f64
}

/// Is a finer comb the inner structure of the phases: as many in each of them, of which one is its beginning,
/// and none between?
fn is_inside(view: &View, phases: &[Phase], finer: &Hypothesis) -> bool {
    (finer.fill < GOES_ON || finer.pause > 0.0)
        && begin_with(view, phases, finer) >= OWN
        && are_made_of(phases, &view.lists[finer.list].list)
}

/// Bytes and seconds of the largest burst of each phase; the median of all.
fn largest_burst(view: &View, phases: &[Phase]) -> (f64, f64) {
    let (samples, step) = (&view.signal.samples, view.signal.step());
    let place = |time: f64| ((time / step).round() as usize).min(samples.len());
    let largest = |phase: &Phase| {
        let bursts = samples[place(phase.start)..place(phase.end).max(place(phase.start))]
            .split(|x| *x <= view.ground.quiet)
            .map(|burst| (burst.iter().sum::<f64>() * step, burst.len() as f64 * step));
        bursts.max_by(|a, b| a.0.total_cmp(&b.0)).unwrap_or_default()
    };
    let (volumes, lengths): (Vec<f64>, Vec<f64>) = phases.iter().map(largest).unzip();
    (median(&volumes), median(&lengths))
}

/// A finer rhythm that keeps its place in the first, but goes on through nearly all of it.
fn finer_beside(view: &View, first: &Candidate) -> Option<[Rhythm; 2]> {
    let one = &first.best.hypothesis;
    // Where phases fill most of the period, what goes on through them is their inner structure.
    let busy = view.signal.samples.iter().filter(|x| **x > view.ground.quiet).count() as f64;
    if busy * view.signal.step() > FULL * view.signal.duration() {
        return None;
    }
    let rest = (1.0 - first.probability).max(1e-6);
    let phases = view.members(one);
    let (burst, lasts) = largest_burst(view, &phases);
    let goes_on = |candidate: &&Candidate| {
        let finer = &candidate.best.hypothesis;
        let share = candidate.probability;
        if finer.form != Form::Comb
            || finer.period > one.period / 2.5
            || (finer.members.len() as f64) < 2.5 * one.members.len() as f64
            || share < 0.3 * rest
            || share < LEAST_FINER
            || finer.sigma > 0.1
            || finer.fill < LEAST_FILL
        {
            return false;
        }
        let starts = finer.starts(&view.lists);
        let links = starts.windows(2).map(|pair| pair[1] - pair[0]).zip(&finer.links);
        let pauses: Vec<f64> =
            links.filter(|(_, slots)| **slots == 0).map(|(distance, _)| distance).collect();
        let all = starts.last().zip(starts.first()).map_or(0.0, |(last, first)| last - first);
        let each: Vec<f64> = view.members(finer).iter().map(|phase| phase.volume).collect();
        let unlike = burst >= UNLIKE * median(&each);
        let own = unlike || begin_with(view, &phases, finer) < OWN;
        let most = if own { MOST_WAITING } else { MOST_PAUSED };
        // It waits while the burst lasts.
        let waits = if unlike { lasts } else { 0.0 };
        pauses.iter().sum::<f64>() <= most * all
            && (pauses.is_empty() || median(&pauses) - waits <= 3.0 * finer.period)
    };
    let candidates = &view.posterior.candidates[1..];
    let finer = candidates.iter().filter(goes_on).find(|finer| {
        let finer = &finer.best.hypothesis;
        view.lists[one.list].starts.len() < view.lists[finer.list].starts.len()
            && one.members.len() >= MEMBERS
            && !is_inside(view, &phases, finer)
    })?;
    let slow = first.probability / (1.0 - finer.probability).max(first.probability);
    let fast = (finer.probability / rest).min(0.9);
    let fast_extents = extents(view, &finer.best.hypothesis);
    let two = [
        Rhythm::of(view, &first.best, one.period, slow),
        Rhythm::of(view, &finer.best, finer.best.hypothesis.period, fast),
    ];
    Some(share_volumes(view, two, &fast_extents))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::view::Given;

    /// Ten phases of 20 samples every 100; each sample of the period has this bandwidth.
    fn view(bandwidth: impl Fn(usize) -> f64) -> View {
        let samples = (0..1000).map(|i| bandwidth(i % 100)).collect();
        let signal = Signal { start: 0, bin: 100_000_000, samples, abstraction_error: 0.0 };
        View::of(&signal, &Given::default())
    }

    /// What is left without the samples below 20.
    fn rest(view: &View) -> Signal {
        let mut rest = view.signal.clone();
        rest.samples.iter_mut().enumerate().filter(|(i, _)| i % 100 < 20).for_each(|(_, x)| *x = 0.0);
        rest
    }

    #[test]
    fn slow_ends_of_phases_are_nothing_left() {
        let phase = |i: usize| if i < 20 { 100.0 } else { 0.0 };
        let end = |i: usize| if (20..35).contains(&i) { 5.0 } else { 0.0 };
        let beginning = |i: usize| if i >= 90 { 5.0 } else { 0.0 };
        let apart = |i: usize| if (50..52).contains(&i) { 20.0 } else { 0.0 };
        let lasting = |i: usize| if (20..70).contains(&i) { 5.0 } else { 0.0 };
        let is_much = |view: View| is_much_left(&view, &rest(&view), 10.0);
        assert!(!is_much(view(phase)));
        assert!(!is_much(view(|i| phase(i) + end(i) + beginning(i))));
        assert!(is_much(view(|i| phase(i) + end(i) + apart(i))));
        assert!(is_much(view(|i| phase(i) + lasting(i))));
    }
}
