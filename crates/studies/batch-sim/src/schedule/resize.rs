//! Running malleable jobs that get more nodes, or give some up.

use super::Batch;
use super::backfill::{Reservation, earliest};
use crate::engine::EventKind;
use crate::job::{Job, Kind};
use crate::settings::Expansion;
use std::cmp::Ordering;

/// A job that has less than this part of its time left is not expanded any more.
const NEARLY_OVER: f64 = 0.25;
/// Slowdowns of shorter jobs are counted as if they took this long.
const MIN_BOUNDED: f64 = 10.0;

/// A running job that can give up nodes.
struct Donor {
    place: usize,
    /// Its nodes without those that it was lent.
    assigned: u32,
    gives: u32,
}

/// A job of the queue, and running jobs with the sizes that they are shrunk to for it.
struct Plan {
    index: usize,
    sizes: Vec<(usize, u32)>,
    /// Nodes for the job that is to start.
    available: u32,
    /// By how much the sum of all slowdowns shrinks.
    gain: f64,
}

impl Batch<'_> {
    /// Take back lent nodes until so many more are free: first from the jobs that use them worst.
    pub(super) fn reclaim(&mut self, nodes: u32) {
        let mut places: Vec<usize> =
            (0..self.running.len()).filter(|place| self.running[*place].lent() > 0).collect();
        places.sort_by(|a, b| self.by_use(*b, *a));
        let mut missing = nodes;
        for place in places {
            let given = self.running[place].lent().min(missing);
            self.resize(place, self.running[place].nodes - given);
            missing -= given;
            if missing == 0 {
                break;
            }
        }
        debug_assert_eq!(missing, 0, "more was promised than lent");
    }

    /// The better use of nodes first, then the longer running.
    fn by_use(&self, a: usize, b: usize) -> Ordering {
        let (a, b) = (&self.running[a], &self.running[b]);
        let longest = a.start.total_cmp(&b.start).then(a.index.cmp(&b.index));
        b.job.scal_factor.total_cmp(&a.job.scal_factor).then(longest)
    }

    /// Lend free nodes to running jobs.
    pub(super) fn expand(&mut self) {
        let mut places: Vec<usize> = (0..self.running.len())
            .filter(|place| {
                let running = &self.running[*place];
                let more = running.nodes < running.job.max.min(self.settings.nodes);
                running.job.kind == Kind::Malleable && !running.changed && more
            })
            .collect();
        if self.settings.balance {
            self.by_balance(&mut places);
        } else {
            places.sort_by(|a, b| self.by_use(*a, *b));
        }
        // What jobs gave up comes back first, however jobs are expanded.
        for place in &places {
            let running = &self.running[*place];
            let missing = running.job.preferred.min(self.settings.nodes).saturating_sub(running.nodes);
            let nodes = running.nodes + missing.min(self.free);
            if nodes > running.nodes && self.gains(*place, nodes) {
                self.resize(*place, nodes);
            }
        }
        for place in places {
            if self.free == 0 {
                break;
            }
            let running = &self.running[place];
            let max = running.job.max.min(self.settings.nodes);
            let more = self.settings.expansion.more(running.nodes, max, self.free);
            let fits = !self.settings.balance || self.helps_balance(place, running.nodes + more);
            if more > 0 && fits && self.gains(place, running.nodes + more) {
                let nodes = running.nodes + more;
                self.running[place].kept |= self.settings.expansion == Expansion::AggressiveKept;
                self.resize(place, nodes);
            }
        }
    }

    /// First the jobs whose expansion brings the machine closest to the workload.
    fn by_balance(&self, places: &mut [usize]) {
        let away = |place: usize| {
            let running = &self.running[place];
            let nodes = running.job.max.min(running.nodes + self.free);
            self.balance.away_after(&[(running.job, running.nodes, nodes)])
        };
        places.sort_by(|a, b| away(*a).total_cmp(&away(*b)).then_with(|| self.by_use(*a, *b)));
    }

    /// The job is not nearly over, it ends earlier with more nodes, and nodes that it would keep do not delay
    /// the first of the queue.
    fn gains(&self, place: usize, nodes: u32) -> bool {
        let running = &self.running[place];
        let (left, then) = (running.left(self.now), running.left_on(nodes, self.now) + self.settings.cost);
        let gains = left > NEARLY_OVER * running.job.estimate && then < left;
        if !gains || self.settings.expansion != Expansion::AggressiveKept {
            return gains;
        }
        let Some(&head) = self.queue.first() else { return true };
        let reserved = self.reservation(self.jobs[head].preferred.min(self.settings.nodes));
        self.now + then <= reserved.time || nodes - running.nodes <= reserved.extra
    }

    /// Make room for a job of the queue that does not fit: running jobs of lower priority give up nodes, and
    /// those of the same priority if that is worth it. Has a job started?
    pub(super) fn make_room(&mut self) -> bool {
        let head = self.queue[0];
        let donors = self.donors();
        if donors.is_empty() {
            return false;
        }
        let reserved = self.reservation(self.jobs[head].preferred.min(self.settings.nodes));
        let available = self.available();
        let most = available + donors.iter().map(|donor| donor.gives).sum::<u32>();
        let plans = self.queue.iter().filter(|index| self.jobs[**index].least() <= most);
        let plans = plans.filter_map(|index| self.plan(*index, available, &donors, reserved));
        // The first of equals, which is the one of the highest priority.
        let best = plans.reduce(|best, plan| if plan.gain > best.gain { plan } else { best });
        let Some(plan) = best else { return false };
        for (place, nodes) in &plan.sizes {
            self.resize(*place, *nodes);
        }
        let kind = if plan.index == head { EventKind::Start } else { EventKind::Backfill };
        self.start(plan.index, plan.available.min(self.jobs[plan.index].preferred), kind);
        true
    }

    /// Running jobs that can give up nodes: the lowest priority first, then the longest job, which feels the
    /// delay least.
    fn donors(&self) -> Vec<Donor> {
        let mut donors: Vec<Donor> = (0..self.running.len())
            .filter(|place| {
                let running = &self.running[*place];
                running.job.kind == Kind::Malleable && !running.changed && !running.kept
            })
            .map(|place| {
                let running = &self.running[place];
                Donor { place, assigned: running.nodes - running.lent(), gives: self.gives(place) }
            })
            .filter(|donor| donor.gives > 0)
            .collect();
        donors.sort_by(|a, b| {
            let (a, b) = (&self.running[a.place], &self.running[b.place]);
            let longest = b.job.estimate.total_cmp(&a.job.estimate).then(a.index.cmp(&b.index));
            a.job.priority.cmp(&b.job.priority).then(longest)
        });
        if self.settings.balance {
            let away = |donor: &Donor| {
                let running = &self.running[donor.place];
                self.balance.away_after(&[(running.job, running.nodes, donor.assigned - donor.gives)])
            };
            donors.sort_by(|a, b| {
                let (first, second) = (self.running[a.place].job, self.running[b.place].job);
                first.priority.cmp(&second.priority).then(away(a).total_cmp(&away(b)))
            });
        }
        donors
    }

    /// Which running jobs give up how much, so that a job of the queue can start.
    fn plan(&self, index: usize, available: u32, donors: &[Donor], reserved: Reservation) -> Option<Plan> {
        let job = &self.jobs[index];
        let need = job.least();
        // A job that has waited long is expected to wait as long again.
        let waits = (reserved.time - self.now).max(self.now - job.submit);
        let spared = waits / job.estimate.max(MIN_BOUNDED);
        let mut plan = Plan { index, sizes: Vec::new(), available, gain: 0.0 };
        let mut harm = 0.0;
        for donor in donors {
            let other = self.running[donor.place].job;
            if plan.available >= need || other.priority > job.priority {
                break;
            }
            let given = donor.gives.min(need - plan.available);
            if other.priority == job.priority {
                harm += self.harm(donor, given, job);
                if harm >= spared {
                    return None;
                }
            }
            plan.sizes.push((donor.place, donor.assigned - given));
            plan.available += given;
        }
        if plan.available < need || plan.sizes.is_empty() {
            return None;
        }
        if self.queue[0] != index {
            harm += self.harm_to_head(&plan, index, reserved)?;
        }
        plan.gain = spared - harm;
        (plan.gain > 0.0).then_some(plan)
    }

    /// By how much the slowdown of a running job grows if it gives up nodes for as long as another one runs.
    fn harm(&self, donor: &Donor, given: u32, other: &Job) -> f64 {
        let (running, now, assigned) = (&self.running[donor.place], self.now, donor.assigned);
        let for_good = running.left_on(assigned - given, now) - running.left_on(assigned, now);
        let slower = 1.0 - running.job.ratio(assigned) / running.job.ratio(assigned - given);
        let delay = for_good.min(other.estimate * slower) + 2.0 * self.settings.cost;
        delay / running.job.estimate.max(MIN_BOUNDED)
    }

    /// By how much the slowdown of the first of the queue grows if this job starts before it; `None` if that
    /// would delay it by more than its own time beyond what it was promised.
    fn harm_to_head(&self, plan: &Plan, index: usize, reserved: Reservation) -> Option<f64> {
        let (head, job) = (&self.jobs[self.queue[0]], &self.jobs[index]);
        let nodes = plan.available.min(job.preferred);
        let running = self.running.iter().enumerate().map(|(place, running)| {
            match plan.sizes.iter().find(|(other, _)| *other == place) {
                Some((_, nodes)) => {
                    (self.now + running.left_on(*nodes, self.now) + self.settings.cost, *nodes)
                }
                None => (running.frees(self.now), running.nodes - running.lent()),
            }
        });
        let own = (self.now + job.estimate * job.ratio(nodes), nodes);
        let need = head.preferred.min(self.settings.nodes);
        let then = earliest(running.chain([own]).collect(), plan.available - nodes, need, self.now);
        let promised = self.promise.map_or(reserved.time, |(_, time)| time);
        let delay = (then.time - reserved.time).max(0.0);
        let within = then.time <= reserved.time.max(promised + head.estimate);
        within.then(|| delay / head.estimate.max(MIN_BOUNDED))
    }

    /// What a job can give up beside what it was lent (Eq. 4.1 to 4.4, with the job's model of its time).
    fn gives(&self, place: usize) -> u32 {
        let running = &self.running[place];
        let assigned = running.nodes - running.lent();
        let share = self.settings.sharing.unwrap_or(self.settings.expansion.shrinks_by());
        let granted = (f64::from(assigned) * share).floor() as u32;
        let granted = granted.min(assigned.saturating_sub(running.job.min));
        if granted == 0 {
            return 0;
        }
        let left = running.left_on(assigned, self.now);
        let then = running.left_on(assigned - granted, self.now) + self.settings.cost;
        let allowed = left > self.settings.soon || then <= self.settings.most_stretch * left;
        if allowed { granted } else { 0 }
    }
}
