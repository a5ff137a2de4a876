//! What was done so far, in numbers.

use super::decision::{Copy, Direction};
use super::phases::{Phase, overlap};
use schemars::JsonSchema;
use serde::Serialize;

/// What staging came to.
#[derive(Clone, Debug, Default, PartialEq, JsonSchema, Serialize)]
pub struct Report {
    /// Files that have left the buffer, verified.
    pub files_out: u64,
    /// Their bytes.
    pub bytes_out: u64,
    /// Files that came into the buffer, verified.
    pub files_in: u64,
    /// Their bytes.
    pub bytes_in: u64,
    /// Files that were removed from the buffer.
    pub files_evicted: u64,
    /// Their bytes.
    pub bytes_evicted: u64,
    /// Seconds in which a copy was under way and not suspended.
    pub seconds_copying: f64,
    /// How many of them were inside I/O phases of the job.
    pub seconds_overlap: f64,
    /// Share of the copying that was outside I/O phases; null if nothing was copied.
    pub share_in_quiet: Option<f64>,
    /// How often a copy was suspended.
    pub suspended: u64,
    /// Copies that were thrown away, because the file changed or vanished.
    pub discarded: u64,
    /// Copies that failed.
    pub failed: u64,
    /// I/O phases of the job.
    pub phases: u64,
    /// The most that was in the buffer, in bytes.
    pub peak_occupancy: u64,
    /// Seconds of copying after the end of the job.
    pub seconds_after_end: f64,
    /// Files that have not left the buffer.
    pub files_left: u64,
    /// Their bytes.
    pub bytes_left: u64,
    /// Files that were there before the job, by their time of change, and stay where they are.
    pub files_older: u64,
}

/// Counts.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    pub report: Report,
    /// When copies were under way.
    active: Vec<(f64, f64)>,
    since: Option<f64>,
    pub ended: Option<f64>,
}

impl Tally {
    /// A copy begins or goes on.
    pub fn runs(&mut self, now: f64) {
        self.since.get_or_insert(now);
    }

    /// It is over, or suspended.
    pub fn rests(&mut self, now: f64) {
        if let Some(since) = self.since.take().filter(|since| now > *since) {
            self.active.push((since, now));
        }
    }

    pub fn verified(&mut self, copy: &Copy) {
        let (files, bytes) = match copy.direction {
            Direction::Out => (&mut self.report.files_out, &mut self.report.bytes_out),
            Direction::In => (&mut self.report.files_in, &mut self.report.bytes_in),
        };
        *files += 1;
        *bytes += copy.bytes;
    }

    /// With phases as they are known now.
    pub fn report(&self, phases: &[Phase], now: f64) -> Report {
        let running = self.since.map(|since| (since, now.max(since)));
        let active = || self.active.iter().copied().chain(running);
        let copying: f64 = active().map(|(from, to)| to - from).sum();
        let overlapping: f64 = active().map(|(from, to)| overlap(phases, from, to)).sum();
        let after = |(from, to): (f64, f64)| self.ended.map_or(0.0, |end| (to - from.max(end)).max(0.0));
        // The sum of nothing is -0, which reads oddly.
        Report {
            seconds_copying: copying + 0.0,
            seconds_overlap: overlapping + 0.0,
            share_in_quiet: (copying > 0.0).then(|| 1.0 - overlapping / copying),
            seconds_after_end: active().map(after).sum::<f64>() + 0.0,
            phases: phases.len() as u64,
            ..self.report.clone()
        }
    }
}
