//! Phases as checkpoints: do they come as often as loses least time? (Young 1974, Daly 2006.)
//!
//! A job computes for τ seconds, writes a checkpoint for δ, and so on; the machine fails every M seconds on
//! average, at random, and all work since the last checkpoint is lost. The time that a job takes, over the
//! time that it computes, is then M/τ · (e^((τ+δ)/M) − 1) (Daly, equation 20, without the time of restarts).
//! τ that makes it least has no closed form; Daly's equation 37 comes close for all δ and M.

use crate::Job;
use crate::amounts::{percent, seconds};
use crate::finding::{Found, Severity};
use crate::thresholds::{Key, Thresholds};
use ftio_core::detect::listed_phases::ListedPhase;
use std::collections::BTreeMap;

/// What checkpoints cost now, and would cost at best.
#[derive(Clone, Copy, Debug)]
struct Interval {
    /// Seconds from the start of a checkpoint to the start of the next …
    period: f64,
    /// … and at best.
    best: f64,
    /// Seconds that a checkpoint takes.
    cost: f64,
    /// Share of the time that is lost to checkpoints and failures …
    now: f64,
    /// … and at best.
    then: f64,
}

pub fn too_frequent(job: &Job<'_>, thresholds: &Thresholds) -> Option<Found> {
    let interval = interval(job).ok()?;
    let times = interval.best / interval.period;
    (times >= thresholds[Key::CheckpointTimes])
        .then(|| interval.found(thresholds, format!("phases come {times:.1} times more often than is best")))
}

pub fn too_rare(job: &Job<'_>, thresholds: &Thresholds) -> Option<Found> {
    let interval = interval(job).ok()?;
    let times = interval.period / interval.best;
    (times >= thresholds[Key::CheckpointTimes])
        .then(|| interval.found(thresholds, format!("phases come {times:.1} times less often than is best")))
}

pub fn well_spaced(job: &Job<'_>, thresholds: &Thresholds) -> Option<Found> {
    let interval = interval(job).ok()?;
    let times = (interval.period / interval.best).max(interval.best / interval.period);
    let mut found = interval.found(thresholds, "phases come about as often as is best".into());
    found.severity = Some(Severity::Info);
    found.advice = "Nothing to do.".into();
    (times < thresholds[Key::CheckpointTimes]).then_some(found)
}

/// Why `--mtbf` leads to no finding.
pub fn why_no_interval(job: &Job<'_>) -> Option<String> {
    job.mtbf?;
    interval(job).err().map(|why| format!("--mtbf: checkpoints are not judged, because {why}"))
}

fn interval(job: &Job<'_>) -> Result<Interval, &'static str> {
    let mtbf = job.mtbf.ok_or("nobody asked")?;
    let detection = job.detection.ok_or("the input does not tell when its I/O took place")?;
    let period = detection.period.ok_or("the I/O has no single period")?;
    if detection.mode.name().starts_with("read") {
        return Err("these phases are reads");
    }
    let (sync, nonblocking) = (job.summary.write_sync.bytes, job.summary.write_async.class.bytes);
    if nonblocking > sync {
        return Err("most writes are nonblocking: how long the job stops for one is not known");
    }
    let length = |phase: &ListedPhase| phase.end - phase.start;
    let mut lengths: Vec<f64> = detection.phases.iter().map(length).collect();
    lengths.sort_by(f64::total_cmp);
    let cost = lengths.get(lengths.len() / 2).copied().filter(|cost| *cost > 0.0);
    // Phases that touch each other leave no time to compute.
    let cost = cost.filter(|cost| *cost < period).ok_or("how long a phase takes is not known")?;
    if cost >= mtbf {
        return Err("a phase takes longer than the machine runs between two failures");
    }
    let computing = best_computing(cost, mtbf);
    Ok(Interval {
        period,
        best: computing + cost,
        cost,
        now: lost(period - cost, cost, mtbf),
        then: lost(computing, cost, mtbf),
    })
}

/// Daly 2006, equation 37: seconds of computation between two checkpoints.
fn best_computing(cost: f64, mtbf: f64) -> f64 {
    if cost >= 2.0 * mtbf {
        return mtbf;
    }
    let ratio = cost / (2.0 * mtbf);
    // √(2·C·M), without a product that is too large for a number.
    let young = (2.0 * cost).sqrt() * mtbf.sqrt();
    young * (1.0 + ratio.sqrt() / 3.0 + ratio / 9.0) - cost
}

/// The share of the time that is no computation that lasts.
fn lost(computing: f64, cost: f64, mtbf: f64) -> f64 {
    (1.0 - computing / (mtbf * ((computing + cost) / mtbf).exp_m1())).clamp(0.0, 1.0)
}

impl Interval {
    fn found(self, thresholds: &Thresholds, title: String) -> Found {
        let Interval { period, best, cost, now, then } = self;
        let severity = match now - then {
            gain if gain >= thresholds[Key::HighShare] => Severity::High,
            gain if gain >= thresholds[Key::MediumShare] => Severity::Medium,
            _ => Severity::Info,
        };
        Found {
            severity: Some(severity),
            title: format!("{title} for checkpoints"),
            evidence: format!(
                "every {} at a cost of {}: {} of the time is lost to checkpoints and failures; every {} it \
                    would be {}",
                seconds(period),
                seconds(cost),
                percent(now),
                seconds(best),
                percent(then)
            ),
            advice: format!(
                "Write a checkpoint about every {} (if these phases are checkpoints).",
                seconds(best)
            ),
            numbers: BTreeMap::from([
                ("period", period),
                ("cost", cost),
                ("best_interval", best),
                ("lost_now", now),
                ("lost_then", then),
            ]),
            ..Found::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The least loss, by trying every length.
    fn by_search(cost: f64, mtbf: f64) -> (f64, f64) {
        let lengths = (-2000..2000).map(|step| cost * 1.01_f64.powi(step));
        let losses = lengths.map(|length| (length, lost(length, cost, mtbf)));
        losses.min_by(|a, b| a.1.total_cmp(&b.1)).unwrap()
    }

    #[test]
    fn the_formula_finds_what_a_search_finds() {
        for (cost, mtbf) in
            [(1.0, 1e9), (2.0, 86_400.0), (60.0, 3600.0), (600.0, 3600.0), (10.0, 20.0), (10.0, 10.5)]
        {
            let (length, least) = by_search(cost, mtbf);
            let computing = best_computing(cost, mtbf);
            assert!(
                (computing / length - 1.0).abs() < 0.06,
                "{cost} s of {mtbf} s: {computing} and {length}"
            );
            assert!(lost(computing, cost, mtbf) - least < 1e-3, "{cost} s of {mtbf} s");
        }
    }

    #[test]
    fn losses_are_shares_whatever_the_numbers() {
        // Where failures are rare, only the checkpoints cost.
        assert!((lost(8.0, 2.0, 1e300) - 0.2).abs() < 1e-12);
        // Young's approximation: δ/(τ+δ) + (τ+δ)/2M.
        let (young, exact) = (2.0 / 600.0 + 600.0 / (2.0 * 86_400.0), lost(598.0, 2.0, 86_400.0));
        assert!((young - exact).abs() < 1e-4, "{young} {exact}");
        let times = [1e-300, 1e-9, 1.0, 1e9, 1e300, f64::MAX];
        for computing in times {
            for cost in times {
                for mtbf in times {
                    let share = lost(computing, cost, mtbf);
                    assert!((0.0..=1.0).contains(&share), "{computing} {cost} {mtbf}: {share}");
                    assert!(best_computing(cost, mtbf) > 0.0, "{cost} {mtbf}");
                }
            }
        }
    }
}
