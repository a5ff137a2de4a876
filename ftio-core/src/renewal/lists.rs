//! Lists of phases of a reading, at every scale: levels of the scale space, groupings of bursts by the pauses
//! between them, and by equal volumes.

use crate::phases::scale_space::{Level, levels, median_by_volume};
use crate::renewal::places::{extents, starts, uncut, with_headers};
use crate::renewal::readings::Reading;
use crate::renewal::signal::{Bandwidth, Burst, Ground, bursts};
use crate::renewal::table::{
    COUNTED, EQUAL, EQUAL_OCTAVES, EXACT_PART, FINE_SCALES, FULL_OCTAVES, GROUP_OCTAVES, GROUPED,
    HEADER_VOLUME, LEAST, LEAST_PARTS, LIKE, LISTS, MISSING, NO_VOLUME, PER_PHASE, SURPRISE, TINY,
};
use crate::signal::Signal;
use crate::signal::statistics::{mean, median, robust_spread};
use std::cmp::Reverse;
use std::collections::{HashMap, VecDeque};

/// A bin of one second: widths are then in bins.
const SECOND: i64 = sources::time::PER_SECOND as i64;

/// The phases at one scale. Times are in seconds from the beginning of the reading.
#[derive(Clone, Debug, PartialEq)]
pub struct List {
    /// The first bin of each phase.
    pub first: Vec<usize>,
    /// When each begins.
    pub starts: Vec<f64>,
    /// When it ends.
    pub ends: Vec<f64>,
    /// How long it is.
    pub lengths: Vec<f64>,
    /// Its bytes.
    pub volumes: Vec<f64>,
    /// The logarithms of them.
    pub logarithms: Vec<f64>,
    /// Octaves of scales over which the list holds.
    pub octaves: f64,
    /// How surprising it is that the volumes are equal: log₂ of the standard deviations.
    pub equal: f64,
}

impl List {
    fn of(signal: &Bandwidth, ground: &Ground, first: Vec<usize>, octaves: f64) -> Self {
        let extents = extents(&signal.bins, ground, &first);
        let volumes: Vec<f64> = extents.iter().map(|extent| extent.1 * signal.step).collect();
        let largest = volumes.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
        let starts: Vec<f64> = first.iter().map(|&bin| signal.begins_in(bin)).collect();
        let ends: Vec<f64> = extents.iter().map(|extent| signal.ends_in(extent.0 - 1)).collect();
        List {
            lengths: starts.iter().zip(&ends).map(|(start, end)| end - start).collect(),
            logarithms: volumes.iter().map(|volume| volume.max(NO_VOLUME * largest).ln()).collect(),
            first,
            starts,
            ends,
            volumes,
            octaves,
            equal: 0.0,
        }
    }

    /// How many phases.
    pub fn count(&self) -> usize {
        self.first.len()
    }

    /// From the first start to the last.
    fn reach(&self) -> f64 {
        self.starts[self.count() - 1] - self.starts[0]
    }

    /// The mean distance of the starts.
    pub fn period(&self) -> f64 {
        self.reach() / (self.count() - 1) as f64
    }

    /// As many mean distances as there are phases.
    pub fn span(&self) -> f64 {
        self.reach() + self.period()
    }
}

/// Where a list comes from.
enum Origin {
    /// From widths in seconds.
    Level((f64, f64)),
    /// With the octaves by which pauses differ.
    Pauses(f64),
    /// With these, and how surprising equal volumes are.
    Volumes(f64, f64),
}

/// All lists of a reading with at least two phases, from many phases to few. Equal ones are one, and the
/// octaves of levels add up.
pub fn lists(reading: &Reading, ground: &Ground) -> Vec<List> {
    let signal = &reading.signal;
    let scaled = scaled(signal);
    let at_level = |(widths, starts): ((f64, f64), Vec<usize>)| (Origin::Level(widths), starts);
    let mut found: Vec<(Origin, Vec<usize>)> = scaled
        .into_iter()
        .filter(|level| level.peaks.len() >= 2)
        .map(|level| at_level((level.scales, starts(&signal.bins, ground, &level))))
        .collect();
    let told_apart = distinct(bursts(&signal.bins, ground));
    if told_apart.len() >= LEAST {
        found.extend(by_pauses(&told_apart));
    }
    if told_apart.len() > LEAST_PARTS {
        found.extend(by_volume(&told_apart));
    }
    let total: f64 = signal.bins.iter().sum();
    let mut places: HashMap<Vec<usize>, usize> = HashMap::new();
    let mut lists: Vec<List> = Vec::new();
    let mut found: VecDeque<(Origin, Vec<usize>)> = found.into();
    while let Some((origin, starts)) = found.pop_front() {
        if starts.len() < 2 {
            continue;
        }
        let small = HEADER_VOLUME * total / starts.len() as f64;
        let starts = with_headers(&signal.bins, ground.quiet, starts, small);
        let mut starts = uncut(signal, ground, starts);
        starts.sort_unstable();
        starts.dedup();
        if starts.len() < 2 {
            continue;
        }
        let period = (starts[starts.len() - 1] - starts[0]) as f64 * signal.step / (starts.len() - 1) as f64;
        let octaves = match origin {
            // Scales far below the period say nothing about phases.
            Origin::Level((low, high)) => (high / low.max(period / FINE_SCALES)).log2().max(0.0),
            Origin::Pauses(octaves) | Origin::Volumes(octaves, _) => octaves,
        };
        let known = places.get(&starts).copied();
        let place = known.unwrap_or_else(|| {
            places.insert(starts.clone(), lists.len());
            let list = List::of(signal, ground, starts, octaves);
            if matches!(origin, Origin::Level(_)) {
                found.extend(divided(signal, ground, &list));
            }
            lists.push(list);
            lists.len() - 1
        });
        let list = &mut lists[place];
        match origin {
            Origin::Level(_) if known.is_some() => list.octaves += octaves,
            Origin::Volumes(_, surprise) => {
                list.octaves = list.octaves.max(octaves);
                list.equal = surprise;
            }
            _ => list.octaves = list.octaves.max(octaves),
        }
    }
    lists.sort_by_key(|list| Reverse(list.count()));
    lists
}

/// The levels of a signal cut at its level, found in as few bins as its phases need.
fn scaled(signal: &Bandwidth) -> Vec<Level> {
    let n = signal.bins.len();
    let factor = (n / COUNTED.max(PER_PHASE * signal.runs_above_mean())).max(1);
    let merged = signal.merged(n.div_ceil(factor));
    let ceiling = median_by_volume(&merged.bins);
    let place = |i: &mut usize| *i = (*i * factor + factor / 2).min(n - 1);
    let second = Signal { start: 0, bin: SECOND, samples: merged.bins, abstraction_error: 0.0 };
    let mut found = levels(&second, ceiling);
    for level in &mut found {
        level.scales = (level.scales.0 * merged.step, level.scales.1 * merged.step);
        level.peaks.iter_mut().chain(&mut level.valleys).for_each(place);
    }
    found
}

/// Bursts of any size to speak of; where there are very many, the shortest pauses are none.
fn distinct(all: Vec<Burst>) -> Vec<Burst> {
    let largest = all.iter().map(|burst| burst.volume).fold(0.0, f64::max);
    let counts = |burst: &Burst| burst.volume >= TINY * largest || burst.busy;
    let some: Vec<Burst> = all.into_iter().filter(counts).collect();
    if some.len() <= COUNTED {
        return some;
    }
    let mut pauses = pauses(&some);
    pauses.sort_unstable();
    let shortest = pauses[pauses.len() - COUNTED + 1];
    let mut joined: Vec<Burst> = Vec::new();
    for burst in some {
        match joined.last_mut().filter(|last| burst.from - last.to < shortest) {
            Some(last) => {
                last.to = burst.to;
                last.volume += burst.volume;
            }
            None => joined.push(burst),
        }
    }
    joined
}

fn pauses(bursts: &[Burst]) -> Vec<usize> {
    bursts.windows(2).map(|pair| pair[1].from - pair[0].to).collect()
}

/// The first burst begins a phase, and each one after a pause that separates.
fn starts_after(bursts: &[Burst], separates: impl Fn(usize) -> bool) -> Vec<usize> {
    let others = (1..bursts.len()).filter(|&i| separates(i - 1)).map(|i| bursts[i].from);
    bursts.first().map(|burst| burst.from).into_iter().chain(others).collect()
}

/// Bursts joined where pauses are short: where the sorted pauses jump most.
fn by_pauses(bursts: &[Burst]) -> Vec<(Origin, Vec<usize>)> {
    let pauses = pauses(bursts);
    let mut sorted = pauses.clone();
    sorted.sort_unstable_by_key(|pause| Reverse(*pause));
    let jump = |k: usize| {
        let next = sorted.get(k).copied().unwrap_or(0).max(1);
        ((sorted[k - 1] as f64 / next as f64).log2().min(FULL_OCTAVES), sorted[k - 1])
    };
    let mut jumps: Vec<(f64, usize)> = (2..=sorted.len().min(GROUPED)).map(jump).collect();
    jumps.sort_by(|a, b| b.0.total_cmp(&a.0));
    let large = jumps.into_iter().take(LISTS).filter(|(octaves, _)| *octaves >= GROUP_OCTAVES);
    large
        .map(|(octaves, shortest)| (Origin::Pauses(octaves), starts_after(bursts, |i| pauses[i] >= shortest)))
        .collect()
}

/// Bursts that add up to equal volumes, if that is more than chance: into the parts that are furthest apart,
/// and, unless bursts themselves are equal, into those that surprise most, however near they are.
fn by_volume(bursts: &[Burst]) -> Vec<(Origin, Vec<usize>)> {
    let pauses = pauses(bursts);
    let add = |sum: &mut f64, burst: &Burst| {
        *sum += burst.volume;
        Some(*sum)
    };
    let sums: Vec<f64> = bursts.iter().scan(0.0, add).collect();
    let logarithms: Vec<f64> = bursts.iter().map(|burst| burst.volume.ln()).collect();
    let are_unlike = robust_spread(&logarithms) > LIKE;
    // Octaves, surprise, and which pauses separate parts.
    let mut all: Vec<(f64, f64, Vec<bool>)> = Vec::new();
    for count in LEAST_PARTS..=(bursts.len() - 1).min(GROUPED) {
        let Some((cuts, surprise)) = equal_parts(&sums, count) else { continue };
        let mut is_cut = vec![false; pauses.len()];
        cuts.iter().for_each(|&cut| is_cut[cut] = true);
        let chosen = |wanted: bool| -> Vec<f64> {
            let some = pauses.iter().zip(&is_cut).filter(|(_, is_cut)| **is_cut == wanted);
            some.map(|(pause, _)| *pause as f64).collect()
        };
        let inside = mean(&chosen(false)).max(1.0);
        let octaves = (median(&chosen(true)) / inside).log2().clamp(0.0, FULL_OCTAVES);
        all.push((octaves, surprise, is_cut));
    }
    let further =
        all.iter().filter(|one| one.0 >= EQUAL_OCTAVES).reduce(|a, b| if b.0 > a.0 { b } else { a });
    let surprising = all.iter().filter(|_| are_unlike).reduce(|a, b| if b.1 > a.1 { b } else { a });
    let list = |(octaves, surprise, is_cut): &(f64, f64, Vec<bool>)| {
        let equal = surprise.log2().min(FULL_OCTAVES);
        (Origin::Volumes(*octaves, equal), starts_after(bursts, |i| is_cut[i]))
    };
    further.into_iter().chain(surprising).map(list).collect()
}

/// Phases that touch are one, which has the volume of all of them: those of a list whose volumes are
/// multiples of the usual one, divided into parts of it. A first phase alone may be larger for other reasons.
fn divided(signal: &Bandwidth, ground: &Ground, list: &List) -> Option<(Origin, Vec<usize>)> {
    let usual = median(&list.volumes);
    let times = |volume: &f64| (volume / usual).round();
    let is_multiple = |volume: &f64| {
        (1.0..=MISSING as f64).contains(&times(volume)) && (volume / usual - times(volume)).abs() <= EQUAL
    };
    let none = list.volumes.iter().skip(1).all(|volume| times(volume) <= 1.0);
    if list.count() <= LEAST_PARTS || none || !list.volumes.iter().all(is_multiple) {
        return None;
    }
    let surprise = |volume: &f64| -(2.0 * (volume / usual - times(volume)).abs().max(EXACT_PART)).ln();
    let places = list.count() as f64;
    let deviations = (list.volumes.iter().map(surprise).sum::<f64>() - places) / places.sqrt();
    if deviations < SURPRISE {
        return None;
    }
    let mut starts = Vec::new();
    for (first, volume) in list.first.iter().zip(&list.volumes) {
        let mut held = 0.0;
        starts.push(*first);
        let mut bin = *first;
        for part in 1..times(volume) as usize {
            while held < part as f64 * volume / times(volume) / signal.step && bin < signal.bins.len() {
                held += signal.bins[bin] - ground.background;
                bin += 1;
            }
            starts.push(bin);
        }
    }
    Some((Origin::Volumes(list.octaves, deviations.log2().min(FULL_OCTAVES)), starts))
}

/// The burst that ends each of `count` parts of equal volume but the last, and by how many standard
/// deviations chance would not have it: with b bursts a part, one of them ends within ±d parts of any given
/// place with a probability of about p = 2·b·d, and Σ −ln p over m places would be about m ± √m.
fn equal_parts(sums: &[f64], count: usize) -> Option<(Vec<usize>, f64)> {
    let volume = sums.last()? / count as f64;
    let each = sums.len() as f64 / count as f64;
    let mut cuts: Vec<usize> = Vec::with_capacity(count);
    let mut surprise = 0.0;
    for k in 1..count {
        let place = k as f64 * volume;
        let after = sums.partition_point(|sum| *sum < place).min(sums.len() - 1);
        let before = after.saturating_sub(1);
        let nearest = if place - sums[before] < sums[after] - place { before } else { after };
        let distance = (place - sums[nearest]).abs() / volume;
        if distance > EQUAL || nearest + 1 >= sums.len() || cuts.last() == Some(&nearest) {
            return None;
        }
        surprise -= (2.0 * each * distance.max(EXACT_PART)).min(1.0).ln();
        cuts.push(nearest);
    }
    let places = (count - 1) as f64;
    let deviations = (surprise - places) / places.sqrt();
    (deviations >= SURPRISE).then_some((cuts, deviations))
}
