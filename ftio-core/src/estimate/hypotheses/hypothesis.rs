//! A hypothesis, and the list of phases that it is about.

use crate::phases::PhaseList;
use crate::phases::regularity::without_error;
use crate::signal::statistics::{deviation, robust_spread};
use schemars::JsonSchema;
use serde::Serialize;

/// Distances are never taken for more regular than this: σ as a share of the period.
pub const LEAST_SIGMA: f64 = 0.008;

/// A pause that takes more of the time than this divides a comb, and this share of the members may lie beyond
/// it.
const LONGEST_PAUSE: f64 = 0.5;
const BEYOND: f64 = 0.15;

/// The first phase after one that the window may have cut begins at most this share of a period late.
const BELATED: f64 = 0.1;

/// The form of a hypothesis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Form {
    /// All phases, one period apart on average.
    Mean,
    /// Distances that grow or shrink steadily.
    Drift,
    /// Two periods, one after the other.
    Change,
    /// Whole multiples of a period, pauses, and phases that do not belong.
    Comb,
    /// A line of the spectrum.
    Line,
}

/// What could be the period.
#[derive(Clone, Debug)]
pub struct Hypothesis {
    /// Its form.
    pub form: Form,
    /// The period in seconds.
    pub period: f64,
    /// The list, by its number.
    pub list: usize,
    /// The phases of the list that are members.
    pub members: Vec<usize>,
    /// Slots from each member but the last to the next; 0 is a pause.
    pub links: Vec<u8>,
    /// Slots of all links that are no pauses.
    pub slots: usize,
    /// σ of the distances, as a share of the period.
    pub sigma: f64,
    /// Links that are no pauses, divided by slots.
    pub fill: f64,
    /// Share of the links that are pauses.
    pub pause: f64,
    /// Share of the phases that are no members.
    pub extra: f64,
    /// Log-likelihood ratio against phases at random instants.
    pub likelihood: f64,
    /// How much less likely than the best of its list, as a logarithm: 0 is the best.
    pub within: f64,
    /// First and last distance of a drift; the two periods of a change.
    pub ends: Option<[f64; 2]>,
    /// The distance from which on the second period of a change holds.
    pub at: usize,
    /// The phase before the first member belongs to the rhythm, too, but the window may have cut it: when it
    /// began is not known, so it is no member and gives no distance.
    pub cut_first: bool,
}

/// A list, with what combs need to know about it.
#[derive(Clone, Debug)]
pub struct Marked {
    /// The list.
    pub list: PhaseList,
    /// Starts of the phases.
    pub starts: Vec<f64>,
    /// Logarithms of volumes and of lengths.
    pub volumes: Vec<f64>,
    /// Logarithms of lengths.
    pub lengths: Vec<f64>,
    /// How much the logarithms of the volumes vary.
    pub spread: f64,
}

impl Marked {
    /// Of a list.
    pub fn of(list: PhaseList) -> Self {
        let logarithms = |values: Vec<f64>, least: f64| -> Vec<f64> {
            let floor = least * values.iter().copied().fold(1e-300, f64::max);
            values.into_iter().map(|value| value.max(floor).ln()).collect()
        };
        let volumes = logarithms(list.phases.iter().map(|phase| phase.volume).collect(), 1e-9);
        let lengths = logarithms(list.phases.iter().map(|phase| phase.end - phase.start).collect(), 1e-6);
        let spread = (robust_spread(&volumes) + 0.3 * deviation(&volumes).min(1.5)).clamp(0.05, 2.0);
        let starts = list.phases.iter().map(|phase| phase.start).collect();
        Marked { list, starts, volumes, lengths, spread }
    }

    /// The same without the first phase.
    pub(crate) fn without_first(&self) -> Self {
        let list = PhaseList {
            starts: self.list.starts[1..].to_vec(),
            phases: self.list.phases[1..].to_vec(),
            silences: self.list.silences[1..].to_vec(),
            ..self.list.clone()
        };
        Marked::of(list)
    }

    /// Distances from each start to the next.
    pub fn distances(&self) -> Vec<f64> {
        self.starts.windows(2).map(|pair| pair[1] - pair[0]).collect()
    }
}

impl Hypothesis {
    /// A pause of more than half of the time divides: what is beyond it does not belong, if it is little;
    /// else these are groups of bursts, and no rhythm.
    pub(crate) fn in_one_piece(mut self, starts: &[f64]) -> Option<Self> {
        let at = |i: usize| starts[self.members[i]];
        let count = self.members.len();
        let all = at(count - 1) - at(0);
        let pauses = (0..count - 1).filter(|&i| self.links[i] == 0);
        let longest = pauses.max_by(|&a, &b| (at(a + 1) - at(a)).total_cmp(&(at(b + 1) - at(b))));
        let Some(longest) = longest.filter(|&i| at(i + 1) - at(i) > LONGEST_PAUSE * all) else {
            return Some(self);
        };
        let (before, after) = (longest + 1, count - longest - 1);
        if before.min(after) as f64 > BEYOND * count as f64 {
            return None;
        }
        if before >= after {
            self.members.truncate(before);
            self.links.truncate(before - 1);
        } else {
            self.members.drain(..before);
            self.links.drain(..before);
        }
        (self.members.len() >= 3).then(|| self.counted(starts))
    }

    /// With what follows from members and links.
    fn counted(mut self, starts: &[f64]) -> Self {
        let kept = self.members.len();
        let paused = self.links.iter().filter(|link| **link == 0).count();
        self.slots = self.links.iter().map(|link| usize::from(*link)).sum();
        self.fill = (self.links.len() - paused) as f64 / self.slots.max(1) as f64;
        self.pause = paused as f64 / (kept - 1).max(1) as f64;
        self.extra = (starts.len() - kept) as f64 / starts.len() as f64;
        self
    }

    /// The same with other members and links: period and σ follow from them.
    pub(crate) fn with_links(self, starts: &[f64]) -> Self {
        let mut new = self.counted(starts);
        let linked: Vec<(f64, f64)> = (new.members.windows(2).zip(&new.links))
            .filter(|(_, link)| **link > 0)
            .map(|(pair, &link)| (starts[pair[1]] - starts[pair[0]], f64::from(link)))
            .collect();
        new.period = linked.iter().map(|(distance, _)| distance).sum::<f64>() / new.slots.max(1) as f64;
        let off = |(distance, slots): &(f64, f64)| (distance / new.period - slots).powi(2) / slots;
        new.sigma = (linked.iter().map(off).sum::<f64>() / (linked.len().max(2) - 1) as f64).sqrt();
        new
    }

    /// A hypothesis about the list without its first phase, as one about all of the list. The first phase
    /// belongs to the rhythm if all others do, and the next begins no later than a period after the window.
    pub(crate) fn after_cut_first(mut self, starts: &[f64]) -> Self {
        self.members.iter_mut().for_each(|member| *member += 1);
        let all_others = self.members.len() + 1 == starts.len();
        let limit = (1.0 + BELATED.max(2.0 * self.sigma)) * self.period;
        self.cut_first = all_others && starts[1] - starts[0] <= limit;
        let count = starts.len();
        self.extra = (count - self.belonging()) as f64 / count as f64;
        self
    }

    /// How many phases belong to the rhythm: the members, and a first phase that the window may have cut.
    pub fn belonging(&self) -> usize {
        self.members.len() + usize::from(self.cut_first)
    }

    /// The first phase that belongs to the rhythm, by its number in the list.
    pub fn first(&self) -> usize {
        self.members[0] - usize::from(self.cut_first)
    }

    /// σ without the part that comes from how exactly distances are known, in seconds.
    pub fn own_sigma(&self, exactness: f64) -> f64 {
        without_error(self.sigma, exactness / self.period)
    }

    /// Starts of the members, in seconds from the start of the window.
    pub fn starts(&self, lists: &[Marked]) -> Vec<f64> {
        let all = &lists[self.list].starts;
        self.members.iter().map(|&i| all[i]).collect()
    }

    /// The share of the time from the first to the last member that is spent in pauses.
    pub fn time_in_pauses(&self, lists: &[Marked]) -> f64 {
        let starts = self.starts(lists);
        let (mut pauses, mut all) = (0.0, 0.0);
        for (pair, &link) in starts.windows(2).zip(&self.links) {
            all += pair[1] - pair[0];
            pauses += if link == 0 { pair[1] - pair[0] } else { 0.0 };
        }
        if all > 0.0 { pauses / all } else { 0.0 }
    }
}
