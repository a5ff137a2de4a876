//! What there is to say about jobs and phases.

use super::Arbiter;
use crate::arbiter::job::{Job, Phase};
use crate::arbiter::report::{JobReport, PhaseReport, Report};

impl Arbiter {
    /// The state, for people and programs.
    pub fn report(&mut self, now: f64) -> Report {
        let bandwidth = self.width.bandwidth(now);
        let mut jobs: Vec<JobReport> = self.jobs.values_mut().map(|job| job_report(job, now)).collect();
        let place = |job: &JobReport| {
            ["holding", "waiting", "paused"].iter().position(|state| *state == job.state).unwrap_or(3)
        };
        jobs.sort_by(|a, b| {
            let by_wait = b.waiting.total_cmp(&a.waiting);
            place(a).cmp(&place(b)).then(by_wait).then_with(|| a.job.cmp(&b.job))
        });
        let count = |state: &str| jobs.iter().filter(|job| job.state == state).count();
        Report {
            schema: "ftio.arbiter/1".to_owned(),
            time: now,
            leases: self.settings.leases.to_string(),
            width: self.admitted,
            capacity: self.width.capacity(),
            bandwidth,
            holding: count("holding"),
            waiting: count("waiting"),
            jobs,
            others: None,
            totals: self.totals,
        }
    }
}

fn job_report(job: &mut Job, now: f64) -> JobReport {
    let state = match (job.holds, job.wanting > 0, job.phase.is_some()) {
        (true, ..) => "holding",
        (_, true, _) => "waiting",
        (.., true) => "paused",
        _ => "computing",
    };
    let waiting = job.waiting_since.map_or(0.0, |since| now - since);
    let period = job.period.map(|(period, _)| period);
    let next = job.period.map(|(period, last)| {
        let passed = now - last;
        if passed < 2.0 * period { (period - passed).max(0.0) } else { period - passed.rem_euclid(period) }
    });
    JobReport {
        job: job.name.clone(),
        run: format!("{:016x}", job.run),
        user: job.user,
        state: state.to_owned(),
        nodes: job.nodes.len(),
        ranks: job.ranks,
        set: job.set.magnitude,
        priority: job.set.weight(),
        waiting,
        bandwidth: job.window.rate(now),
        bytes: job.bytes,
        period,
        next_phase: next,
        phases: job.phases,
        held: job.held,
        waited: job.waited + waiting,
        revocations: job.revocations,
        passes: job.passes,
        short: job.is_short(),
    }
}

pub(super) fn phase_report(job: &Job, phase: &Phase, ended: f64) -> PhaseReport {
    PhaseReport {
        schema: "ftio.phase/1".to_owned(),
        job: job.name.clone(),
        run: format!("{:016x}", job.run),
        set: job.set.magnitude,
        asked: phase.start,
        ended,
        held: phase.held,
        waited: phase.waited,
        bytes: phase.bytes,
        revocations: phase.revocations,
        passed: phase.passes,
    }
}
