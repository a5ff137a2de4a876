//! The phases themselves, as a list: for tables, and to be joined with what else is known about the job.
//!
//! With a period they are the phases that have it. Without one they are those of the list whose number the
//! reasons give, else of the list that holds best; what is too short for a list of phases is one burst after
//! the other. There may be none: traffic that never pauses has no phases.

use crate::estimate::Estimate;
use crate::phases::bursts::bursts;
use crate::phases::phase::{Ground, Phase};
use crate::phases::{phase_lists, without_pedestal};
use crate::signal::Signal;
use schemars::JsonSchema;
use serde::Serialize;
use sources::time::ClockTime;

/// More bursts than this are no phases.
const MAX_BURSTS: usize = 100;

/// What comes earlier before the first phase, as a share of the distance to the second, is not part of it.
const LONGEST_LEAD: f64 = 0.1;

/// One I/O phase.
#[derive(Clone, Copy, Debug, Default, PartialEq, JsonSchema, Serialize)]
pub struct ListedPhase {
    /// When it begins, in seconds of job time.
    pub start: f64,
    /// When it ends.
    pub end: f64,
    /// Bytes from its start to the start of the next phase, but for what leads into that one after a silence.
    pub bytes: u64,
    /// The start as a date and time of day, where the clock is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_time: Option<ClockTime>,
    /// The end likewise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end_time: Option<ClockTime>,
}

impl ListedPhase {
    /// Bytes over duration.
    pub fn bandwidth(&self) -> Option<f64> {
        (self.end > self.start).then(|| self.bytes as f64 / (self.end - self.start))
    }
}

/// The phases of a window. `finest` is its bandwidth as finely as it is known, from which bytes are taken;
/// `cut` tells that the window may begin in the middle of a phase; `origin` is job time 0 in nanoseconds
/// since 1970.
pub fn listed_phases(
    fine: &Signal,
    finest: &Signal,
    cut: bool,
    estimate: &Estimate,
    origin: Option<i64>,
) -> Vec<ListedPhase> {
    let phases = match (estimate.phases.is_empty(), estimate.listed.is_empty()) {
        (false, _) => estimate.phases.clone(),
        (true, false) => estimate.listed.clone(),
        (true, true) => without_period(fine, cut, estimate),
    };
    let since = fine.start_seconds();
    let mut before = vec![0.0];
    let mut sum = 0.0;
    before.extend(finest.samples.iter().map(|sample| {
        sum += sample * finest.step();
        sum
    }));
    let total = |time: f64| {
        let position =
            ((time - finest.start_seconds()) / finest.step()).clamp(0.0, finest.samples.len() as f64);
        let (whole, part) = (position as usize, position.fract());
        let next = before.get(whole + 1).copied().unwrap_or(sum);
        before[whole] + (next - before[whole]) * part
    };
    let mut ended = finest.start_seconds();
    let mut begins = Vec::with_capacity(phases.len() + 1);
    for (place, phase) in phases.iter().enumerate() {
        let start = since + phase.start;
        // Before the first phase, what is long before it is not part of it.
        let longest = match (place, phases.get(1)) {
            (0, Some(next)) => LONGEST_LEAD * (next.start - phase.start),
            (0, None) => 0.0,
            _ => f64::MAX,
        };
        begins.push(lead(finest, ended, start).filter(|begin| start - begin <= longest).unwrap_or(start));
        ended = since + phase.end;
    }
    begins.push(f64::MAX);
    let listed = phases.iter().zip(begins.windows(2)).map(|(phase, begins)| {
        let (start, end) = (since + phase.start, since + phase.end);
        ListedPhase {
            start,
            end,
            bytes: (total(begins[1]) - total(begins[0])).max(0.0).round() as u64,
            start_time: origin.map(|origin| ClockTime::after(origin, start)),
            end_time: origin.map(|origin| ClockTime::after(origin, end)),
        }
    });
    listed.collect()
}

/// When the I/O begins that leads into a phase: the end of the longest silence between the end of the phase
/// before and its start, if that silence is longer than the lead. A slow first request is not yet part of
/// the phase as it is counted, but its bytes are.
fn lead(finest: &Signal, from: f64, to: f64) -> Option<f64> {
    let place = |time: f64| ((time - finest.start_seconds()) / finest.step()).max(0.0);
    let (first, last) = (place(from).ceil() as usize, place(to).floor() as usize);
    let between = finest.samples.get(first..last)?;
    let mut longest = (0, 0);
    let mut begin = 0;
    for (k, sample) in between.iter().enumerate() {
        if *sample > 0.0 {
            begin = k + 1;
        } else if k + 1 - begin > longest.1 - longest.0 {
            longest = (begin, k + 1);
        }
    }
    let (quiet, lead) = (longest.1 - longest.0, between.len() - longest.1);
    (quiet > lead).then(|| finest.start_seconds() + (first + longest.1) as f64 * finest.step())
}

fn without_period(fine: &Signal, cut: bool, estimate: &Estimate) -> Vec<Phase> {
    if fine.samples.is_empty() {
        return Vec::new();
    }
    let signal = without_pedestal(fine);
    let lists = phase_lists(&signal, cut, signal.step());
    let told = lists.lists.iter().position(|list| list.phases.len() == estimate.evidence.phases);
    if let Some(list) = told.or(lists.best) {
        return lists.lists[list].phases.clone();
    }
    let ground = Ground::of(&signal);
    let step = signal.step();
    let found = bursts(&signal, &ground);
    if found.len() > MAX_BURSTS {
        return Vec::new();
    }
    let phase = |burst: &crate::phases::bursts::Burst| Phase {
        start: burst.from as f64 * step,
        end: burst.to as f64 * step,
        volume: burst.volume,
    };
    found.iter().map(phase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signal(samples: &[f64]) -> Signal {
        Signal { start: 0, bin: 500_000_000, samples: samples.to_vec(), ..Signal::empty() }
    }

    #[test]
    fn bytes_up_to_the_next_phase_and_times_on_the_clock() {
        let signal = signal(&[0.0, 8.0, 8.0, 2.0, 0.0, 0.0, 6.0, 0.0, 0.0, 0.0]);
        let phase = |start: f64, end: f64| Phase { start, end, volume: 0.0 };
        let estimate = Estimate { phases: vec![phase(0.5, 1.5), phase(3.0, 3.5)], ..Estimate::default() };
        let listed = listed_phases(&signal, &signal, false, &estimate, Some(0));
        assert_eq!(listed.iter().map(|phase| phase.bytes).collect::<Vec<_>>(), [9, 3]);
        assert_eq!(listed[0].bandwidth(), Some(9.0));
        assert_eq!(listed[1].start_time.unwrap().to_string(), "1970-01-01T00:00:03.000Z");
    }

    #[test]
    fn a_slow_first_request_belongs_to_the_phase_that_it_leads_into() {
        let mut samples = vec![0.0; 60];
        for start in [10, 30, 50] {
            samples[start..start + 3].fill(8.0);
            samples[start - 1] = 2.0;
        }
        // Other I/O, long before the first phase.
        samples[1] = 2.0;
        let signal = signal(&samples);
        let phase = |start: f64| Phase { start, end: start + 1.5, volume: 0.0 };
        let phases = vec![phase(5.0), phase(15.0), phase(25.0)];
        let estimate = Estimate { phases, ..Estimate::default() };
        let listed = listed_phases(&signal, &signal, false, &estimate, None);
        assert_eq!(listed.iter().map(|phase| phase.bytes).collect::<Vec<_>>(), [13, 13, 13]);
    }

    #[test]
    fn without_a_period_there_are_phases_all_the_same() {
        let mut samples = vec![0.0; 200];
        [20, 21, 90, 91, 92, 130].into_iter().for_each(|i| samples[i] = 4.0);
        let signal = signal(&samples);
        let listed = listed_phases(&signal, &signal, false, &Estimate::default(), None);
        assert_eq!(listed.iter().map(|phase| phase.start).collect::<Vec<_>>(), [10.0, 45.0, 65.0]);
        assert_eq!(listed.iter().map(|phase| phase.bytes).sum::<u64>(), 12);
        let nothing = Signal::empty();
        assert!(listed_phases(&nothing, &nothing, false, &Estimate::default(), None).is_empty());
    }
}
