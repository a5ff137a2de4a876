//! In which order jobs get leases: virtual time between sets, turns within a set.

use crate::arbiter::job::{Job, Phase, SetKey};
use crate::arbiter::settings::{Order, SLICE, Settings, TURN};
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Where each set stands: the time it was served, divided by its weight.
#[derive(Clone, Debug, Default)]
pub(crate) struct VirtualTime {
    of_set: BTreeMap<SetKey, f64>,
    /// That of the set which is furthest behind and wants something.
    system: f64,
}

impl VirtualTime {
    /// A set wants something after it wanted nothing: it begins where the others are. What it did not use is
    /// gone, and what it got too much is forgiven: debts of minutes would make a frequent job wait for what
    /// it got long ago.
    pub(crate) fn wake(&mut self, set: SetKey) {
        let own = self.of_set.entry(set).or_insert(self.system);
        *own = self.system.max(own.min(self.system + SLICE / set.weight()));
    }

    pub(crate) fn charge(&mut self, set: SetKey, seconds: f64) {
        let own = self.of_set.entry(set).or_insert(self.system);
        *own += seconds / set.weight();
    }

    /// The sets that want something now.
    pub(crate) fn advance(&mut self, wanting: impl Iterator<Item = SetKey>) {
        let least = wanting.filter_map(|set| self.of_set.get(&set)).copied().min_by(f64::total_cmp);
        self.system = self.system.max(least.unwrap_or(self.system));
    }

    /// When its next slice would end.
    fn tag(&self, set: SetKey) -> f64 {
        self.of_set.get(&set).copied().unwrap_or(self.system) + SLICE / set.weight()
    }

    /// Sets without jobs are forgotten.
    pub(crate) fn keep(&mut self, set: impl Fn(SetKey) -> bool) {
        self.of_set.retain(|key, _| set(*key));
    }
}

/// What the jobs of a set have in common.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SetFacts {
    /// The median of what is left to those of its jobs of which it is known.
    pub(crate) rest: Option<f64>,
    /// How long one holds while another one waits.
    pub(crate) turn: f64,
}

/// Jobs without a history have as much left as the median of their set: with "everything" they would starve.
pub(crate) fn rest(job: &Job, facts: &SetFacts) -> f64 {
    job.rest().or(facts.rest).unwrap_or(0.0)
}

/// How many turns the jobs of each user have had in a set, in phases that are not over.
type Turns = BTreeMap<(SetKey, u32), u32>;

/// Whoever comes first within a set. Whoever has waited for half of its patience comes before all others.
/// Turns of a user count together: with many jobs he has no more of them.
fn first(a: &Job, b: &Job, facts: &SetFacts, turns: &Turns, settings: &Settings, now: f64) -> Ordering {
    let tired = |job: &Job| {
        let waited = job.waiting_since.map_or(0.0, |since| now - since);
        waited > 0.5 * job.patience
    };
    let own = |job: &Job| job.phase.as_ref().map_or(0, |phase| phase.turns);
    let all = |job: &Job| job.user.and_then(|user| turns.get(&(job.set, user)).copied()).unwrap_or(own(job));
    let start = |job: &Job| job.phase.as_ref().map_or(0.0, |phase| phase.start);
    let by_rest = match settings.order {
        Order::Shortest => rest(a, facts).total_cmp(&rest(b, facts)),
        Order::Start => Ordering::Equal,
    };
    (tired(b).cmp(&tired(a)))
        .then(all(a).cmp(&all(b)))
        .then(own(a).cmp(&own(b)))
        .then(by_rest)
        .then(start(a).total_cmp(&start(b)))
        .then_with(|| (&a.name, a.run).cmp(&(&b.name, b.run)))
}

/// The jobs that want a lease, best first. A user who wants it for several jobs, and has had it for most of
/// the time, comes after all others.
pub(crate) fn order(
    jobs: &BTreeMap<usize, Job>,
    wanting: &BTreeSet<usize>,
    facts: &BTreeMap<SetKey, SetFacts>,
    times: &VirtualTime,
    settings: &Settings,
    had_much: &dyn Fn(Option<u32>) -> bool,
    now: f64,
) -> Vec<usize> {
    let mut wants: HashMap<u32, usize> = HashMap::new();
    let mut turns = Turns::new();
    for job in wanting.iter().filter_map(|index| jobs.get(index)) {
        if let Some(user) = job.user {
            *wants.entry(user).or_default() += 1;
            *turns.entry((job.set, user)).or_default() += job.phase.as_ref().map_or(0, |phase| phase.turns);
        }
    }
    let later = |job: &Job| {
        let several = job.user.is_some_and(|user| wants.get(&user).is_some_and(|count| *count > 1));
        several && had_much(job.user)
    };
    let mut all = Vec::with_capacity(wanting.len());
    for is_later in [false, true] {
        let some = wanting.iter().filter_map(|index| Some((*index, jobs.get(index)?)));
        let some = some.filter(|(_, job)| !job.phase.as_ref().is_some_and(Phase::goes_anyway));
        let some: Vec<usize> =
            some.filter(|(_, job)| later(job) == is_later).map(|(index, _)| index).collect();
        all.extend(by_sets(jobs, &some, facts, times, &turns, settings, now));
    }
    all
}

/// The first of each set, then the others.
fn by_sets(
    jobs: &BTreeMap<usize, Job>,
    some: &[usize],
    facts: &BTreeMap<SetKey, SetFacts>,
    times: &VirtualTime,
    turns: &Turns,
    settings: &Settings,
    now: f64,
) -> Vec<usize> {
    let mut sets: BTreeMap<SetKey, Vec<usize>> = BTreeMap::new();
    for index in some {
        sets.entry(jobs[index].set).or_default().push(*index);
    }
    let mut sets: Vec<(SetKey, Vec<usize>)> = sets.into_iter().collect();
    for (set, members) in &mut sets {
        let facts = facts.get(set).copied().unwrap_or_default();
        members.sort_by(|a, b| first(&jobs[a], &jobs[b], &facts, turns, settings, now));
    }
    sets.sort_by(|(a, _), (b, _)| times.tag(*a).total_cmp(&times.tag(*b)).then(b.cmp(a)));
    let heads = sets.iter().filter_map(|(_, members)| members.first());
    let others = sets.iter().flat_map(|(_, members)| members.iter().skip(1));
    heads.chain(others).copied().collect()
}

/// What is common to the jobs of each set.
pub(crate) fn facts(jobs: &BTreeMap<usize, Job>, settings: &Settings) -> BTreeMap<SetKey, SetFacts> {
    let mut sets: BTreeMap<SetKey, (Vec<f64>, Vec<f64>)> = BTreeMap::new();
    for job in jobs.values() {
        let (rests, phases) = sets.entry(job.set).or_default();
        rests.extend(job.rest());
        phases.extend(job.typical_bytes.zip(job.rate).map(|(bytes, rate)| bytes / rate));
    }
    // Of a set whose phases are not known, a turn is as long as it may be: whoever has to wait for too long
    // has its patience.
    let turn = |set: SetKey, phase: Option<f64>| {
        let most = (10f64.powi(set.magnitude) / settings.time_scale).max(TURN);
        settings.turn.unwrap_or_else(|| phase.map_or(most, |phase| (2.0 * phase).max(TURN)).min(most))
    };
    let of = |(set, (rests, phases)): (SetKey, (Vec<f64>, Vec<f64>))| {
        (set, SetFacts { rest: middle(rests), turn: turn(set, middle(phases)) })
    };
    sets.into_iter().map(of).collect()
}

/// The upper one of two; `None` of none.
fn middle(values: Vec<f64>) -> Option<f64> {
    (!values.is_empty()).then(|| statistics::upper_median(values.into_iter()))
}
