//! Phases: at every scale of the signal a list of them.
//!
//! Looked at closely, a phase is many requests; from afar, phases flow together. So there are many lists of
//! phases: one for each [level](crate::phases::scale_space) of the signal, and some that group
//! [bursts](mod@bursts) by the pauses between them or by equal volume, also where phases are
//! [torn apart](torn). Which list is the right one, if any, is [estimated](mod@crate::estimate) from all of
//! them; here each gets a *rating* by how long it holds and how [regular](crate::phases::regularity) its
//! phases are, which is one of the signs.
//!
//! All numbers are in [`thresholds`].

pub mod bursts;
pub mod divide;
pub mod pattern;
pub mod phase;
pub mod regularity;
pub mod scale_space;
pub mod thresholds;
pub mod torn;

use crate::phases::bursts::{Grouping, bursts, by_pauses, by_volume};
use crate::phases::divide::{Placed, divide};
use crate::phases::pattern::{Pattern, pattern};
use crate::phases::phase::{Ground, Phase, Silences, starts, starts_among_others, with_headers, with_starts};
use crate::phases::regularity::Regularity;
use crate::phases::scale_space::{Level, levels, median_by_volume};
use crate::phases::thresholds::{
    CLEAR, COUNTED_SAMPLES, CUT_SHARE, EQUAL_VOLUMES, EVENER_STARTS, FEW, LEAST_WITH_CUT, LOWEST_PEDESTAL,
    MANY_STARTS, MIN_CONTRAST, NATURAL_OCTAVES, PEDESTAL, QUIET_PEDESTAL, SAME_VOLUMES, SMALL_CEILING,
    SPREAD_CEILING, TORN_EVEN, TORN_IRREGULAR, UNEVEN_STARTS,
};
use crate::phases::torn::torn_apart;
use crate::signal::statistics::upper_median;
use crate::signal::{SAMPLES_PER_PHASE, Signal};

/// Where a list of phases comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A level of the scale space.
    Level,
    /// Bursts, grouped by the pauses between them.
    Pauses,
    /// Bursts, grouped into equal volumes.
    Volume,
    /// Bursts that chance tore apart, grouped into exactly equal volumes.
    Torn,
    /// Phases of several kinds in turn, as one.
    Pattern,
}

/// The phases at one scale.
#[derive(Clone, Debug)]
pub struct PhaseList {
    /// The first sample of each phase.
    pub starts: Vec<usize>,
    /// The phases; times in seconds from the start of the window.
    pub phases: Vec<Phase>,
    /// How long it is silent before each phase, in seconds.
    pub silences: Vec<f64>,
    /// How regular they are.
    pub regularity: Regularity,
    /// Octaves of scales over which their number holds.
    pub octaves: f64,
    /// Where the list comes from.
    pub origin: Origin,
    /// How far the bandwidth falls between phases.
    pub contrast: f64,
    /// How many phases were found by dividing others.
    pub divided: usize,
    /// How long the list holds and how regular it is, as one number.
    pub rating: f64,
    /// What would be gained by taking several phases in turn as one, in nats for each phase.
    pub pattern: f64,
    /// The window may have cut the first phase: when that began is not known.
    pub may_be_cut: bool,
}

/// All lists of a signal.
#[derive(Clone, Debug)]
pub struct PhaseLists {
    /// What is quiet and what is not.
    pub ground: Ground,
    /// From many phases to few; lists with the same starts are one.
    pub lists: Vec<PhaseList>,
    /// The list with the best rating, or the coarser one that holds it.
    pub best: Option<usize>,
}

/// A signal without what flows all the time. Where there are quiet moments, however few, nothing flows all
/// the time.
pub fn without_pedestal(signal: &Signal) -> Signal {
    let mut samples = signal.samples.clone();
    let n = samples.len();
    let mut quantile = |share: f64| match n {
        0 => 0.0,
        _ => *samples.select_nth_unstable_by(((n - 1) as f64 * share) as usize, f64::total_cmp).1,
    };
    let (usual, lowest) = (quantile(PEDESTAL), quantile(LOWEST_PEDESTAL));
    let pedestal = if lowest < QUIET_PEDESTAL * usual { lowest } else { usual };
    let above = |x: &f64| (x - pedestal).max(0.0);
    Signal { samples: signal.samples.iter().map(above).collect(), ..*signal }
}

/// All lists of at least two phases. `cut` tells that the window may begin in the middle of a phase, so that
/// the start of a phase that begins with it was not seen; `exactness` to how many seconds starts are known.
pub fn phase_lists(signal: &Signal, cut: bool, exactness: f64) -> PhaseLists {
    let ground = Ground::of(signal);
    let silences = Silences::of(signal, &ground);
    let look = Look { signal, ground: &ground, silences: &silences, exactness, cut };
    let (usual, small) = scaled_levels(signal, &ground);
    let mut found: Vec<PhaseList> =
        usual.iter().chain(&small).filter_map(|level| look.at_level(level)).collect();
    let all = bursts(signal, &ground);
    found.extend(by_pauses(&all).into_iter().filter_map(|grouping| look.at_groups(grouping, Origin::Pauses)));
    // Groups of equal phases have equal volumes as well.
    let equal = |list: &&PhaseList| {
        list.octaves * list.regularity.count as f64 >= CLEAR && list.regularity.volumes <= EQUAL_VOLUMES
    };
    let finest = found.iter().filter(equal).map(|list| list.regularity.count).max().unwrap_or(0);
    let volumes = by_volume(&all).and_then(|grouping| look.at_groups(grouping, Origin::Volume));
    found.extend(volumes.filter(|list| list.phases.len() >= 3 && 3 * list.phases.len() > 2 * finest));
    let torn = torn_apart(&bursts(signal, &ground.to_silence()))
        .and_then(|grouping| look.at_groups(grouping, Origin::Torn));
    found.extend(torn.filter(PhaseList::is_loose));
    let mut cycles = Vec::new();
    for list in &mut found {
        if let Some(pattern) = pattern(&list.phases, exactness) {
            list.pattern = pattern.gain;
            cycles.extend(look.in_cycles(list, &pattern));
        }
    }
    found.extend(cycles);
    found.sort_by_key(|list| std::cmp::Reverse(list.phases.len()));
    let best = best(&found).map(|best| found[best].starts.clone());
    let lists = distinct(found);
    let best = best.and_then(|starts| lists.iter().position(|list| list.starts == starts));
    PhaseLists { ground, lists, best }
}

/// The list with the best rating, or the coarser one whose inner structure it is. A coarser list comes later.
fn best(lists: &[PhaseList]) -> Option<usize> {
    let rated = (0..lists.len()).filter(|&i| lists[i].phases.len() >= 3);
    let mut best = rated.reduce(|a, b| if lists[b].rating > lists[a].rating { b } else { a })?;
    for outer in best + 1..lists.len() {
        if lists[outer].holds(&lists[best]) || lists[outer].is_whole_where_divided(&lists[best]) {
            best = outer;
        }
    }
    Some(best)
}

/// Lists with the same starts are one: the octaves of levels add up, of groupings the largest count.
fn distinct(found: Vec<PhaseList>) -> Vec<PhaseList> {
    let mut lists: Vec<PhaseList> = Vec::new();
    for list in found {
        let same = lists.iter_mut().rev().take_while(|other| other.phases.len() == list.phases.len());
        match same.into_iter().find(|other| other.starts == list.starts) {
            Some(other) if list.origin == Origin::Level => other.octaves += list.octaves,
            Some(other) => other.octaves = other.octaves.max(list.octaves),
            None => lists.push(list),
        }
    }
    lists
}

/// The levels of a signal, found in one of fewer samples if it has very many, but at least some for each
/// phase. Where volumes differ much, the small phases are seen only if the large ones are cut to their size:
/// the second list.
fn scaled_levels(signal: &Signal, ground: &Ground) -> (Vec<Level>, Vec<Level>) {
    let n = signal.samples.len();
    let enough = COUNTED_SAMPLES.max(SAMPLES_PER_PHASE * signal.phases_above_mean());
    let factor = (n / enough).max(1);
    let merged = signal.merged(factor);
    let place = |i: &mut usize| *i = (*i * factor + factor / 2).min(n.saturating_sub(1));
    let levels = |ceiling: f64| {
        let mut found = levels(&merged, ceiling);
        if factor > 1 {
            found
                .iter_mut()
                .for_each(|level| level.peaks.iter_mut().chain(&mut level.valleys).for_each(place));
        }
        found
    };
    let level = median_by_volume(&merged.samples);
    let small = SMALL_CEILING * upper_median(merged.samples.iter().copied().filter(|x| *x > ground.quiet));
    (levels(level), if small * SPREAD_CEILING < level { levels(small) } else { Vec::new() })
}

/// What lists are made from.
struct Look<'a> {
    signal: &'a Signal,
    ground: &'a Ground,
    silences: &'a Silences,
    /// The window may begin in the middle of a phase.
    cut: bool,
    /// To how many seconds distances are known.
    exactness: f64,
}

impl Look<'_> {
    fn at_level(&self, level: &Level) -> Option<PhaseList> {
        if level.peaks.len() < 2 || level.contrast < MIN_CONTRAST {
            return None;
        }
        let list = self.level_with(level, starts(self.signal, self.ground, level))?;
        if list.phases.len() < MANY_STARTS || list.regularity.distances < UNEVEN_STARTS {
            return Some(list);
        }
        // Uneven starts may be those of other traffic.
        let other = self.level_with(level, starts_among_others(self.signal, self.ground, level));
        let evener =
            |other: &PhaseList| other.regularity.distances < EVENER_STARTS * list.regularity.distances;
        Some(other.filter(evener).unwrap_or(list))
    }

    fn level_with(&self, level: &Level, starts: Vec<usize>) -> Option<PhaseList> {
        let placed = self.uncut(divide(self.signal, self.ground, starts));
        let list = self.list(placed, Origin::Level, |period| {
            // Scales far below the period say nothing about phases.
            (level.scales.1 / level.scales.0.max(period / 100.0)).log2().max(0.0)
        })?;
        Some(PhaseList { contrast: level.contrast, ..list })
    }

    fn at_groups(&self, grouping: Grouping, origin: Origin) -> Option<PhaseList> {
        let starts = with_headers(self.signal, self.ground, grouping.starts);
        let placed = divide(self.signal, self.ground, starts);
        let placed = if origin == Origin::Pauses { self.uncut(placed) } else { placed };
        self.list(placed, origin, |_| grouping.octaves)
    }

    /// The phases of a list, those of each cycle as one.
    fn in_cycles(&self, list: &PhaseList, pattern: &Pattern) -> Option<PhaseList> {
        let starts: Vec<usize> =
            list.starts.iter().skip(pattern.first).step_by(pattern.length).copied().collect();
        let phases = with_starts(self.signal, self.ground, &starts);
        let placed = Placed { starts, phases, divided: 0 };
        self.list(placed, Origin::Pattern, |_| list.octaves.min(1.0)).filter(|list| list.phases.len() >= 3)
    }

    /// Does the first phase begin with the window? The first sample of a window that begins anywhere may hold
    /// a part of the I/O only, so that it is quiet.
    fn begins_with_window(&self, starts: &[usize]) -> bool {
        starts.first().is_some_and(|first| *first <= usize::from(self.cut))
    }

    /// Without a first phase that the window cuts: it begins with the window and has much less than the usual
    /// volume.
    fn uncut(&self, mut placed: Placed) -> Placed {
        if placed.starts.len() >= 4 && self.begins_with_window(&placed.starts) {
            let usual = upper_median(placed.phases.iter().map(|phase| phase.volume));
            if placed.phases[0].volume < CUT_SHARE * usual {
                placed.starts.remove(0);
                placed.phases.remove(0);
            }
        }
        placed
    }

    fn list(&self, placed: Placed, origin: Origin, octaves: impl Fn(f64) -> f64) -> Option<PhaseList> {
        let Placed { starts, phases, divided } = placed;
        let may_be_cut = self.cut && self.begins_with_window(&starts);
        let seen = usize::from(may_be_cut && starts.len() >= LEAST_WITH_CUT);
        let regularity = Regularity::of(&phases[seen..])?;
        let octaves = octaves(regularity.period);
        let rating = if phases.len() < 3 {
            0.0
        } else {
            rating(octaves, phases.len() as f64, regularity.known_to(self.exactness).irregularity())
        };
        let step = self.signal.step();
        Some(PhaseList {
            silences: self
                .silences
                .before(&starts)
                .into_iter()
                .map(|samples| samples as f64 * step)
                .collect(),
            starts,
            phases,
            regularity,
            octaves,
            origin,
            contrast: 1.0,
            divided,
            rating,
            pattern: 0.0,
            may_be_cut,
        })
    }
}

/// How long a count holds, and how regular what was counted is. The fewer phases, the more easily they are
/// even by chance.
pub fn rating(octaves: f64, count: f64, irregularity: f64) -> f64 {
    let clear = (octaves * count / CLEAR).min(1.0);
    let few = (FEW / count).max(1.0);
    let doubt = 0.05 * few.powi(2) * few.min(1.6);
    octaves * clear.powi(3) / (doubt + irregularity)
}

/// The phases of a finer list that each of some phases holds.
fn held<'a>(phases: &[Phase], finer: &'a PhaseList) -> Vec<&'a [Phase]> {
    let Some((first, last)) = phases.first().zip(phases.last()).filter(|_| phases.len() >= 2) else {
        return Vec::new();
    };
    let slack = 0.1 * (last.start - first.start) / (phases.len() - 1) as f64;
    let before = |time: f64| finer.phases.partition_point(|phase| phase.start < time - slack);
    let edges: Vec<usize> =
        phases.iter().map(|phase| before(phase.start)).chain([finer.phases.len()]).collect();
    edges.windows(2).map(|pair| finer.phases.get(pair[0]..pair[1]).unwrap_or_default()).collect()
}

/// Does each of some phases hold the same number of phases of a finer list, two or more? One in ten may be
/// different.
pub fn are_made_of(phases: &[Phase], finer: &PhaseList) -> bool {
    let (many, few) = (finer.phases.len(), phases.len());
    let each = (many as f64 / few.max(1) as f64).round() as usize;
    let different = held(phases, finer).into_iter().filter(|held| held.len() != each).count();
    each >= 2 && few >= 2 && different * 10 <= few
}

/// How many phases of a finer list each of some phases usually holds, if at least two, and three in four hold
/// as many.
pub fn usually_made_of(phases: &[Phase], finer: &PhaseList) -> Option<usize> {
    let mut counts: Vec<usize> = held(phases, finer).into_iter().map(<[Phase]>::len).collect();
    counts.sort_unstable();
    let usual = counts.get(counts.len() / 2).copied().filter(|usual| *usual >= 2)?;
    let alike = counts.iter().filter(|held| **held == usual).count();
    (4 * alike >= 3 * counts.len()).then_some(usual)
}

/// Mean distance of the starts of phases of a finer list, within the phases that hold them.
pub fn mean_distance_within(phases: &[Phase], finer: &PhaseList) -> Option<f64> {
    let held = held(phases, finer);
    let span = |held: &&[Phase]| Some(held.last()?.start - held.first()?.start);
    let distances: usize = held.iter().map(|held| held.len().saturating_sub(1)).sum();
    (distances > 0).then(|| held.iter().filter_map(span).sum::<f64>() / distances as f64)
}

impl PhaseList {
    /// Is the start of the first phase unknown, and are there enough without it?
    pub fn first_is_cut(&self) -> bool {
        self.may_be_cut && self.starts.len() >= LEAST_WITH_CUT
    }

    /// Does each phase hold the same number of phases of a finer list, two or more? One in ten may be
    /// different.
    pub fn is_made_of(&self, finer: &PhaseList) -> bool {
        are_made_of(&self.phases, finer)
    }

    /// Are all phases of this list equal, and does the finer one divide some of them? Ranks that are late by
    /// more than a phase takes tear it apart, but a program writes as much in every iteration.
    fn is_whole_where_divided(&self, finer: &PhaseList) -> bool {
        let count = self.phases.len();
        self.origin == Origin::Level
            && self.octaves >= NATURAL_OCTAVES
            && count >= MANY_STARTS
            && finer.phases.len() < 2 * count
            && self.regularity.volumes <= SAME_VOLUMES
            && finer.regularity.volumes > EQUAL_VOLUMES
            && self.regularity.irregularity() < 0.5
            && self.starts.iter().all(|start| finer.starts.binary_search(start).is_ok())
    }

    /// Are distances uneven, but not at random?
    fn is_loose(&self) -> bool {
        self.regularity.distances >= TORN_EVEN && self.regularity.irregularity() <= TORN_IRREGULAR
    }

    /// Is this the list of the phases, and the finer one their inner structure?
    fn holds(&self, finer: &PhaseList) -> bool {
        self.origin != Origin::Volume
            && self.octaves >= NATURAL_OCTAVES
            && self.phases.len() >= 4
            && self.regularity.irregularity() < 0.5
            && self.regularity.unevenness() < 0.8 * finer.regularity.unevenness()
            && self.is_made_of(finer)
    }
}
