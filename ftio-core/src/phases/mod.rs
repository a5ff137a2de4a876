//! The period by counting phases: which [level](crate::phases::scale_space) of the signal is the one of its phases?
//!
//! Each level with at least three phases is rated by how long it holds and how [regular](crate::phases::regularity) its phases are; the
//! best one is taken. Then two corrections:
//!
//! - *Two phases so close that they look like one* transfer twice the volume of the others in twice the time: such a phase is
//!   divided at its quietest place, if almost all others transfer the same.
//! - *Nested phases*: if every phase of a coarser level holds the same number of phases of the finer one, and the coarser
//!   is the more even one, the coarser one is the level of the phases, and the finer one is their inner structure.

pub mod bursts;
pub mod change_point;
pub mod phase;
pub mod regularity;
pub mod scale_space;
pub mod trains;

use crate::phases::bursts::{Grouping, bursts, by_pauses, by_volume};
use crate::phases::phase::{Ground, Phase, starts, with_headers, with_starts};
use crate::phases::regularity::Regularity;
use crate::phases::scale_space::{Level, levels};
use crate::signal::{SAMPLES_PER_PHASE, Signal};

/// A count of n that holds over this many octaves, divided by n, is clear.
///
/// In noise without a scale of its own the number of maxima falls like 1/σ, so that a count of n holds over log₂(1 + 1/n) ≈ 1.44/n octaves
/// on average; five times as many are rare (e⁻⁵ = 0.7 %).
pub const CLEAR: f64 = 7.0;

/// Fewer phases are few.
const FEW: f64 = 8.0;

/// Phases are more than ripples on a steady bandwidth: noise that is smoothed enough has even ripples as well.
const MIN_CONTRAST: f64 = 0.2;

/// Samples in which maxima are counted.
const COUNTED_SAMPLES: usize = 1 << 12;

/// Volumes that vary by less are equal.
const EQUAL_VOLUMES: f64 = 0.15;

/// What was counted.
#[derive(Clone, Debug, PartialEq)]
pub struct Counted {
    /// The phases.
    pub phases: Vec<Phase>,
    /// How regular they are.
    pub regularity: Regularity,
    /// Octaves of scales over which their number holds.
    pub octaves: f64,
    /// The next best level with another number of phases, as a share of the rating of this one.
    pub rival: f64,
    /// How many phases were found by dividing others.
    pub divided: usize,
    /// Regular bursts inside each phase.
    pub inner: Option<Regularity>,
    /// The share of the window from the start of the first phase to the end of the last.
    pub covered: f64,
    /// The share of the phases that come after a pause.
    pub paused: f64,
    /// What is quiet and what is not.
    pub ground: Ground,
    /// The phases of other levels that are clear, the clearest first.
    pub others: Vec<Vec<Phase>>,
}

/// A level that was looked at.
#[derive(Clone, Debug)]
struct Rated {
    starts: Vec<usize>,
    phases: Vec<Phase>,
    regularity: Regularity,
    octaves: f64,
    /// Found without looking at volumes.
    natural: bool,
    divided: usize,
    rating: f64,
}

/// Count the phases of a signal; `None` with fewer than three at every level.
pub fn count(signal: &Signal) -> Option<Counted> {
    let ground = Ground::of(signal);
    let levels = scaled_levels(signal);
    let mut rated: Vec<Rated> =
        levels.iter().filter_map(|level| Rated::of_level(signal, &ground, level)).collect();
    let found = bursts(signal, &ground);
    let pauses =
        by_pauses(&found).into_iter().filter_map(|grouping| Rated::of_grouping(signal, &ground, grouping));
    rated.extend(pauses);
    let volumes = by_volume(&found).and_then(|grouping| Rated::of_grouping(signal, &ground, grouping));
    // Groups of equal phases have equal volumes as well.
    let equal = |rated: &Rated| {
        rated.octaves * rated.regularity.count as f64 >= CLEAR && rated.regularity.volumes <= EQUAL_VOLUMES
    };
    let finest =
        rated.iter().filter(|rated| equal(rated)).map(|rated| rated.regularity.count).max().unwrap_or(0);
    let volumes = volumes.filter(|grouped| 3 * grouped.regularity.count > 2 * finest);
    rated.extend(volumes.map(|rated| Rated { natural: false, ..rated }));
    rated.sort_by_key(|rated| std::cmp::Reverse(rated.regularity.count));
    let mut best = (0..rated.len()).max_by(|&a, &b| rated[a].rating.total_cmp(&rated[b].rating))?;
    let mut inner = None;
    // A coarser level comes later.
    for outer in best + 1..rated.len() {
        if rated[outer].holds(&rated[best]) {
            inner = Some(rated[best].regularity);
            best = outer;
        }
    }
    let inner = inner.or_else(|| {
        let finer = rated[..best].iter().filter(|finer| rated[best].is_made_of(finer));
        let better = |a: &&Rated, b: &&Rated| {
            a.rating.total_cmp(&b.rating).then(b.regularity.count.cmp(&a.regularity.count))
        };
        finer.max_by(better).map(|finer| finer.regularity)
    });
    let chosen = &rated[best];
    let others = rated.iter().filter(|other| other.regularity.count != chosen.regularity.count);
    let rival = others.map(|other| other.rating / chosen.rating).fold(0.0, f64::max);
    Some(Counted {
        phases: chosen.phases.clone(),
        regularity: chosen.regularity,
        octaves: chosen.octaves,
        rival,
        divided: chosen.divided,
        inner,
        covered: covered(&chosen.phases, signal),
        paused: paused(&chosen.starts, signal, &ground),
        ground,
        others: others_of(&rated, best),
    })
}

/// The phases of the clearest levels but the best.
fn others_of(rated: &[Rated], best: usize) -> Vec<Vec<Phase>> {
    const MOST: usize = 6;
    let is_clear = |rated: &Rated| rated.octaves * rated.regularity.count as f64 >= CLEAR && rated.natural;
    let mut clear: Vec<usize> = (0..rated.len()).filter(|&i| i != best && is_clear(&rated[i])).collect();
    clear.sort_by(|&a, &b| rated[b].octaves.total_cmp(&rated[a].octaves));
    clear.into_iter().take(MOST).map(|i| rated[i].phases.clone()).collect()
}

/// The levels of a signal, found in one of fewer samples if it has very many, but at least some for each phase.
fn scaled_levels(signal: &Signal) -> Vec<Level> {
    let n = signal.samples.len();
    let enough = COUNTED_SAMPLES.max(SAMPLES_PER_PHASE * signal.phases_above_mean());
    let factor = (n / enough).max(1);
    let mut found = levels(&signal.merged(factor));
    let place = |i: &mut usize| *i = (*i * factor + factor / 2).min(n.saturating_sub(1));
    found.iter_mut().for_each(|level| level.peaks.iter_mut().chain(&mut level.valleys).for_each(place));
    found
}

fn covered(phases: &[Phase], signal: &Signal) -> f64 {
    let length = phases.last().zip(phases.first()).map_or(0.0, |(last, first)| last.end - first.start);
    length / signal.duration()
}

fn paused(starts: &[usize], signal: &Signal, ground: &Ground) -> f64 {
    let quiet =
        |start: &&usize| start.checked_sub(1).is_none_or(|before| signal.samples[before] <= ground.quiet);
    starts.iter().filter(quiet).count() as f64 / starts.len().max(1) as f64
}

impl Counted {
    /// Do phases begin sharply, after pauses?
    pub fn is_sharp(&self) -> bool {
        self.paused >= 0.5 && self.ground.background <= 0.15 * self.ground.level
    }

    /// The same without the first phase.
    pub fn without_first(mut self) -> Self {
        let rest = self.phases.get(1..).unwrap_or_default();
        if let Some(regularity) = Regularity::of(rest) {
            self.regularity = regularity;
            self.phases.remove(0);
        }
        self
    }

    /// Does the count hold over so many scales that it is not by chance?
    pub fn is_clear(&self) -> bool {
        self.octaves * self.regularity.count as f64 >= CLEAR
    }
}

impl Rated {
    fn of_level(signal: &Signal, ground: &Ground, level: &Level) -> Option<Self> {
        if level.peaks.len() < 3 || level.contrast < MIN_CONTRAST {
            return None;
        }
        let (starts, divided) = divide(signal, ground, starts(signal, ground, level));
        Self::of_starts(signal, ground, starts, divided, |period| {
            // Scales far below the period say nothing about phases.
            (level.scales.1 / level.scales.0.max(period / 100.0)).log2().max(0.0)
        })
    }

    fn of_grouping(signal: &Signal, ground: &Ground, grouping: Grouping) -> Option<Self> {
        let (starts, divided) = divide(signal, ground, with_headers(signal, ground, grouping.starts));
        Self::of_starts(signal, ground, starts, divided, |_| grouping.octaves)
    }

    fn of_starts(
        signal: &Signal,
        ground: &Ground,
        starts: Vec<usize>,
        divided: usize,
        octaves: impl Fn(f64) -> f64,
    ) -> Option<Self> {
        let phases = with_starts(signal, ground, &starts);
        let regularity = Regularity::of(&phases).filter(|regularity| regularity.count >= 3)?;
        let octaves = octaves(regularity.period);
        let clear = (octaves * regularity.count as f64 / CLEAR).min(1.0);
        // The fewer phases, the more easily they are even by chance.
        let few = (FEW / regularity.count as f64).max(1.0);
        let doubt = 0.05 * few.powi(2) * few.min(1.6);
        let rating = octaves * clear.powi(3) / (doubt + regularity.irregularity());
        Some(Rated { starts, phases, regularity, octaves, natural: true, divided, rating })
    }

    /// Does each phase hold the same number of phases of a finer level, two or more? One in ten may be different.
    fn is_made_of(&self, finer: &Rated) -> bool {
        let (many, few) = (finer.starts.len(), self.starts.len());
        let each = (many as f64 / few as f64).round() as usize;
        if each < 2 {
            return false;
        }
        let mut edges = self.starts.clone();
        edges.push(usize::MAX);
        let tolerance =
            |start: usize| start.saturating_sub((0.1 * self.regularity.period / self.step()) as usize);
        let inside = |pair: &[usize]| {
            let (from, to) = (tolerance(pair[0]), tolerance(pair[1]));
            let before = |edge: usize| finer.starts.partition_point(|start| *start < edge);
            before(to) - before(from)
        };
        let different = edges.windows(2).filter(|pair| inside(pair) != each).count();
        different * 10 <= few
    }

    fn step(&self) -> f64 {
        let (last, first) = (self.starts.len() - 1, 0);
        let samples = (self.starts[last] - self.starts[first]).max(1) as f64;
        (self.phases[last].start - self.phases[first].start) / samples
    }

    /// Is this the level of the phases, and the finer one their inner structure?
    fn holds(&self, finer: &Rated) -> bool {
        self.natural
            && self.octaves >= 0.5
            && self.regularity.count >= 4
            && self.regularity.irregularity() < 0.5
            && self.regularity.unevenness() < 0.8 * finer.regularity.unevenness()
            && self.is_made_of(finer)
    }
}

/// Divide phases that are two or more in one, as the [module](self) describes.
fn divide(signal: &Signal, ground: &Ground, starts: Vec<usize>) -> (Vec<usize>, usize) {
    /// Volumes closer than this are the same.
    const SAME: f64 = 0.15;
    let phases = with_starts(signal, ground, &starts);
    if phases.len() < 5 {
        return (starts, 0);
    }
    let median = |value: &dyn Fn(&Phase) -> f64| {
        let mut values: Vec<f64> = phases.iter().map(value).collect();
        values.sort_unstable_by(f64::total_cmp);
        values[values.len() / 2]
    };
    let (volume, length) = (median(&|phase| phase.volume), median(&|phase| phase.end - phase.start));
    let alike = |phase: &&Phase| (phase.volume / volume - 1.0).abs() <= SAME;
    if volume <= 0.0 || phases.iter().filter(alike).count() * 4 < phases.len() * 3 {
        return (starts, 0);
    }
    let (mut out, mut divided) = (Vec::with_capacity(starts.len()), 0);
    for (phase, &start) in phases.iter().zip(&starts) {
        out.push(start);
        let times = (phase.volume / volume).round();
        let fits = (phase.volume / volume - times).abs() <= SAME * times
            && (phase.end - phase.start) / length >= 0.8 * times;
        if !(2.0..=4.0).contains(&times) || !fits {
            continue;
        }
        let end = start + ((phase.end - phase.start) / signal.step()).round() as usize;
        for part in 1..times as usize {
            out.push(quietest_after(signal, ground, start, end, part as f64 * volume));
            divided += 1;
        }
    }
    out.sort_unstable();
    out.dedup();
    (out, divided)
}

/// Where bandwidth rises again after the quietest place near the one where `volume` has been transferred since `start`.
fn quietest_after(signal: &Signal, ground: &Ground, start: usize, end: usize, volume: f64) -> usize {
    let end = end.min(signal.samples.len());
    let mut sum = 0.0;
    let at = (start..end)
        .find(|&i| {
            sum += (signal.samples[i] - ground.background) * signal.step();
            sum >= volume
        })
        .unwrap_or(start);
    let near = (end - start) / 16 + 1;
    let (from, to) = (at.saturating_sub(near).max(start + 1), (at + near).min(end));
    let lowest = signal.samples[from.min(to)..to].iter().copied().fold(f64::INFINITY, f64::min);
    // The end of the lowest stretch.
    (from..to).rev().find(|&i| signal.samples[i] <= lowest).map_or(at, |i| i + 1)
}
