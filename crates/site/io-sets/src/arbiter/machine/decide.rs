//! What nodes do to their job, and who holds.

use super::tell::phase_report;
use super::{Arbiter, FORGOTTEN, NodeId};
use crate::arbiter::job::Phase;
use crate::arbiter::order::{self, rest};
use crate::arbiter::settings::{Order, SILENT};
use std::collections::{BTreeMap, BTreeSet};
use turns::{COLLECTIVE_SLOTS, Kind, Message};

impl Arbiter {
    /// A node wants to do I/O.
    pub(super) fn ask(&mut self, now: f64, node: NodeId, seq: u32, collective: u64) {
        self.totals.questions += 1;
        let Some(one) = self.nodes.get_mut(&node) else { return };
        let Some(job) = self.jobs.get_mut(&one.job) else { return };
        (one.seq, one.waiting) = (seq, true);
        let begins = !one.wants && job.wanting == 0;
        if !one.wants {
            one.wants = true;
            one.reported = now;
            job.wanting += 1;
        }
        if begins {
            let ended = job.bursts.ended().unwrap_or(now);
            if let Some(over) = job.begin_burst(now, &self.settings) {
                self.phases.push(phase_report(job, &over, ended));
            }
            job.waiting_since = Some(now);
            let (set, index) = (job.set, one.job);
            let mut others = self.wanting.iter().filter_map(|other| self.jobs.get(other));
            if !others.any(|other| other.set == set) {
                self.times.wake(set);
            }
            self.wanting.insert(index);
            self.stale = true;
            self.dirty = true;
        }
        if self.job_of(node).is_some_and(|job| job.holds) {
            // Another node of the job was given the lease: this one follows.
            if let Some(one) = self.nodes.get_mut(&node) {
                (one.waiting, one.granted) = (false, now);
            }
            return self.messages.push((node, Message::new(Kind::Grant).seq(seq)));
        }
        let (slot, number) = ((collective >> 32) as u32, collective as u32);
        let entered = self.job_of(node).and_then(|job| job.entered.get(&slot)).copied();
        if let Some(entered) = entered.filter(|entered| collective != 0 && number <= *entered) {
            let pass = Message::new(Kind::Pass).with(u64::from(slot), u64::from(entered));
            self.messages.push((node, pass));
        }
        self.asked.push(node);
    }

    fn job_of(&self, node: NodeId) -> Option<&crate::arbiter::job::Job> {
        self.jobs.get(&self.nodes.get(&node)?.job)
    }

    /// A node has entered a collective call: others of its job that want to may follow, or the first would
    /// wait for them inside MPI until the job's next turn.
    pub(super) fn entered(&mut self, node: NodeId, slot: u32, number: u32) {
        let Some(one) = self.nodes.get(&node) else { return };
        let Some(job) = self.jobs.get_mut(&one.job) else { return };
        if slot as usize >= COLLECTIVE_SLOTS {
            self.totals.refused += 1;
            return;
        }
        let known = job.entered.entry(slot).or_insert(0);
        if number <= *known {
            return;
        }
        *known = number;
        if !job.holds {
            let others = job.nodes.iter().filter(|other| **other != node);
            let waiting = others.filter(|other| self.nodes.get(*other).is_some_and(|one| one.waiting));
            let pass = Message::new(Kind::Pass).with(u64::from(slot), u64::from(number));
            self.messages.extend(waiting.map(|other| (*other, pass)));
        }
    }

    /// A node does not want to do I/O any more; its last operation ended so many seconds ago.
    pub(super) fn idle(&mut self, now: f64, node: NodeId, ago: f64) {
        self.charge(now);
        let Some(one) = self.nodes.get_mut(&node) else { return };
        let Some(job) = self.jobs.get_mut(&one.job) else { return };
        if !std::mem::replace(&mut one.wants, false) {
            return;
        }
        one.waiting = false;
        job.wanting = job.wanting.saturating_sub(1);
        job.bursts.until(now - ago);
        if job.wanting == 0 {
            job.stop_waiting(now);
            self.wanting.remove(&one.job);
            self.holders.remove(&one.job);
            if std::mem::replace(&mut job.holds, false) {
                // The moment in which it turned out to be idle was not spent on I/O.
                if let Some(phase) = &mut job.phase {
                    phase.held = (phase.held - ago).max(0.0);
                }
            }
            self.dirty = true;
            self.alone_since = None;
            self.holders_changed(now);
        }
    }

    pub(super) fn forget(&mut self, index: usize) {
        self.wanting.remove(&index);
        self.holders.remove(&index);
        self.alone_since = None;
        if let Some(mut job) = self.jobs.remove(&index) {
            let ended = job.bursts.ended().unwrap_or(0.0);
            if let Some(over) = job.end_phase() {
                self.phases.push(phase_report(&job, &over, ended));
            }
            self.shares.give_back(&job.user, 1);
            self.by_name.remove(&(job.name, job.run, job.user));
            self.dirty = true;
        }
    }

    /// What changes with time alone.
    pub(super) fn tick(&mut self, now: f64) {
        // Only those who hold owe a sign.
        let holders = self.holders.iter().filter_map(|index| self.jobs.get(index));
        let nodes =
            holders.flat_map(|job| &job.nodes).filter_map(|node| Some((*node, self.nodes.get(node)?)));
        let lost: Vec<NodeId> = nodes
            .filter(|(_, one)| one.wants && !one.waiting)
            .filter(|(_, one)| one.silent + now - one.heard.max(one.granted) > SILENT)
            .map(|(node, _)| node)
            .collect();
        // Those whose lease was asked back before they had been silent for too long, unless they answered.
        let asked_back = std::mem::take(&mut self.silent).into_iter();
        let still = |node: &NodeId| self.nodes.get(node).is_some_and(|one| one.wants && one.silent > SILENT);
        let lost: BTreeSet<NodeId> = asked_back.filter(still).chain(lost).collect();
        for node in lost {
            self.totals.silent += 1;
            // If it comes back, it has to ask.
            self.messages.push((node, Message::new(Kind::Revoke)));
            self.idle(now, node, 0.0);
        }
        let mut forgotten = Vec::new();
        let (shares, users) = (&self.shares, &mut self.users);
        users.look(now, |user| shares.own(&Some(user)) > 0);
        for (&index, job) in &mut self.jobs {
            job.look();
            if job.outlasts(&self.settings) {
                (self.stale, self.dirty) = (true, true);
            }
            let ended = job.bursts.ended().unwrap_or(f64::NEG_INFINITY);
            let idle = job.wanting == 0 && job.phase.is_some() && now - ended >= job.bursts.silence();
            if let Some(over) = idle.then(|| job.end_phase()).flatten() {
                self.phases.push(phase_report(job, &over, ended));
            }
            if job.nodes.is_empty() && now - ended > FORGOTTEN {
                forgotten.push(index);
            }
            let tired = job.waiting_since.is_some_and(|since| now - since > job.patience);
            if let Some(phase) = job.phase.as_mut().filter(|phase| tired && !phase.passes) {
                phase.passes = true;
                job.passes += 1;
                self.totals.passes += 1;
                self.dirty = true;
            }
        }
        forgotten.into_iter().for_each(|job| self.forget(job));
        let waiting = self.wanting.len() > self.holders.len();
        let rates = self.rates();
        self.dirty |= self.width.look(now, self.wanting.len(), self.holders.len(), rates.into_iter());
        self.compare();
        if waiting {
            self.end_turns(now);
            self.dirty = true;
        }
    }

    /// What jobs can use. A user counts once, with what is in the middle of his: so it is not he who says
    /// what is usual who has most jobs.
    fn rates(&self) -> Vec<f64> {
        let mut of_users: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
        let mut rates = Vec::new();
        for job in self.jobs.values() {
            match (job.usage, job.user) {
                (Some(usage), Some(user)) => of_users.entry(user).or_default().push(usage.most),
                (Some(usage), None) => rates.push(usage.most),
                (None, _) => {}
            }
        }
        rates.extend(of_users.into_values().map(|own| statistics::upper_median(own.into_iter())));
        rates
    }

    /// Who has held for a turn while another one of its set waits goes behind it.
    fn end_turns(&mut self, now: f64) {
        let wanting = self.wanting.iter().filter_map(|index| self.jobs.get(index));
        let waiting: BTreeSet<_> = wanting.filter(|job| !job.holds).map(|job| job.set).collect();
        for index in &self.holders {
            let Some(job) = self.jobs.get_mut(index).filter(|job| waiting.contains(&job.set)) else {
                continue;
            };
            let turn = self.facts.get(&job.set).map_or(f64::INFINITY, |facts| facts.turn);
            if let Some(phase) = job.phase.as_mut().filter(|phase| phase.turn >= turn && !phase.goes_anyway())
            {
                phase.turn = 0.0;
                phase.turns += 1;
                job.slice_end = now;
            }
        }
    }

    /// Decides who holds.
    pub(super) fn decide(&mut self, now: f64) {
        (self.dirty, self.decided) = (false, now);
        let wanting = self.wanting.iter().filter_map(|index| Some(self.jobs.get(index)?.set));
        self.times.advance(wanting);
        let users = &self.users;
        let had_much = |user: Option<u32>| users.had_much(user);
        let order =
            order::order(&self.jobs, &self.wanting, &self.facts, &self.times, &self.settings, &had_much, now);
        let width = match self.is_fixed() {
            Some(number) => number,
            None => {
                let usages: Vec<_> = order.iter().map(|index| self.jobs.get(index)?.usage).collect();
                self.width.admit(&usages)
            }
        };
        self.admitted = width.min(order.len());
        let first = order.get(..self.admitted).unwrap_or(&order);
        // Within its slice a holder is interrupted only by a heavier set, or by one that has much less to do.
        let stays = |index: &usize| {
            let holder = &self.jobs[index];
            let facts = self.facts.get(&holder.set).copied().unwrap_or_default();
            let interrupts = |other: &usize| {
                let other = &self.jobs[other];
                let shorter = self.settings.order == Order::Shortest
                    && other.set == holder.set
                    && other.phase.as_ref().map(|p| p.turns) <= holder.phase.as_ref().map(|p| p.turns)
                    && rest(other, &facts) < 0.5 * rest(holder, &facts);
                !other.holds && (other.set.weight() > holder.set.weight() || shorter)
            };
            holder.holds && holder.slice_end > now && !first.iter().any(interrupts)
        };
        let mut top: Vec<usize> = order.iter().filter(|index| stays(index)).copied().collect();
        top.truncate(self.admitted);
        let staying: BTreeSet<usize> = top.iter().copied().collect();
        let others = order.iter().filter(|index| !staying.contains(index));
        top.extend(others.take(self.admitted - staying.len()));
        let mut revoked = false;
        let chosen: BTreeSet<usize> = top.iter().copied().collect();
        for index in &order {
            let (holds, may) = (self.jobs[index].holds, chosen.contains(index));
            match (holds, may) {
                (true, false) => {
                    revoked = true;
                    self.revoke(now, *index);
                }
                (true, true) if self.jobs[index].slice_end <= now => {
                    if let Some(job) = self.jobs.get_mut(index) {
                        Self::give_slice(job, now);
                    }
                }
                _ => {}
            }
        }
        let passes = |index: &&usize| self.jobs[*index].phase.as_ref().is_some_and(Phase::goes_anyway);
        let passing = self.wanting.iter().filter(passes).copied();
        let go: Vec<usize> = top.into_iter().chain(passing).filter(|index| !self.jobs[index].holds).collect();
        let before = self.holders.clone();
        go.into_iter().for_each(|index| self.grant(now, index));
        if revoked || before != self.holders {
            self.alone_since = None;
            self.holders_changed(now);
        }
    }

    fn grant(&mut self, now: f64, index: usize) {
        let Some(job) = self.jobs.get_mut(&index) else { return };
        self.totals.grants += 1;
        self.holders.insert(index);
        job.holds = true;
        job.stop_waiting(now);
        Self::give_slice(job, now);
        for node in &job.nodes {
            let Some(one) = self.nodes.get_mut(node).filter(|one| one.waiting) else { continue };
            (one.waiting, one.granted, one.reported) = (false, now, now);
            self.messages.push((*node, Message::new(Kind::Grant).seq(one.seq)));
        }
    }

    fn revoke(&mut self, now: f64, index: usize) {
        let Some(job) = self.jobs.get_mut(&index) else { return };
        self.totals.revocations += 1;
        self.holders.remove(&index);
        job.holds = false;
        job.revocations += 1;
        job.waiting_since = Some(now);
        if let Some(phase) = &mut job.phase {
            phase.revocations += 1;
        }
        for node in &job.nodes {
            let Some(one) = self.nodes.get_mut(node).filter(|one| one.wants) else { continue };
            // An honest node answers: if none comes, the next lease begins where this one ended.
            if !std::mem::replace(&mut one.waiting, true) {
                one.silent += now - one.heard.max(one.granted);
                if one.silent > SILENT {
                    self.silent.push(*node);
                }
            }
            self.messages.push((*node, Message::new(Kind::Revoke).seq(one.seq)));
            if !std::mem::replace(&mut one.hears, true) {
                self.waits.told(now, *node);
            }
        }
    }
}
