//! Kinds that each are a model of what a program, a file system or a monitor does.
//!
//! A job is put together from phases; what is known about it (starts, ends, the next start, one period or
//! two) follows from how it was made. Today's confidence was not fitted on them.

mod analysis;
mod chance;
mod checkpoints;
mod cycles;
mod ensembles;
mod everyday;
mod file_systems;
mod form;
mod job;
mod long;
mod look_alikes;
mod loose;
mod monitors;
mod nested;
mod no_rhythm;
mod outputs;
mod pairs;
mod regimes;
mod trainings;
mod upon_others;
mod workflows;

use super::Kind;

/// The families.
pub const FAMILIES: [(&str, &[Kind]); 19] = [
    ("when checkpoints are written", checkpoints::KINDS),
    ("what an output is", outputs::KINDS),
    ("what a cycle is", cycles::KINDS),
    ("rhythms kept loosely", loose::KINDS),
    ("long jobs and logs", long::KINDS),
    ("plain jobs with one odd thing", everyday::KINDS),
    ("rhythms that change", regimes::KINDS),
    ("members and pools", ensembles::KINDS),
    ("stages and schedulers", workflows::KINDS),
    ("trainings", trainings::KINDS),
    ("programs that work through data", analysis::KINDS),
    ("two rhythms at once", pairs::KINDS),
    ("rhythms inside of rhythms", nested::KINDS),
    ("what file systems do", file_systems::KINDS),
    ("what monitors do", monitors::KINDS),
    ("a rhythm in the traffic of others", upon_others::KINDS),
    ("no period: programs and users", no_rhythm::KINDS),
    ("no period: what looks like a rhythm", look_alikes::KINDS),
    ("no period: series of monitors", chance::KINDS),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generated::{Truth, Write};
    use crate::kinds::{Made, Recording, families};

    /// Seeds that every kind is made of.
    const SEEDS: std::ops::Range<u64> = 0..8;
    /// A trace has no more requests, or samples, than this.
    const MAX_SIZE: usize = 300_000;

    fn kinds() -> impl Iterator<Item = &'static Kind> {
        FAMILIES.iter().flat_map(|(_, kinds)| kinds.iter())
    }

    /// The writes and reads, or samples as writes.
    fn requests(made: &Made) -> (Vec<Write>, f64) {
        match &made.recording {
            Recording::Requests { writes, reads, duration, .. } => {
                (writes.iter().chain(reads).copied().collect(), *duration)
            }
            Recording::Samples { step, values, counter } => {
                let mut before = 0.0;
                let one = |(i, &value): (usize, &f64)| {
                    let bytes = if *counter { f64::max(value - before, 0.0) } else { value * step };
                    before = if *counter { value } else { 0.0 };
                    let start = i as f64 * step;
                    Write { rank: 0, start, end: start + step, bytes: bytes as u64 }
                };
                (values.iter().enumerate().map(one).collect(), values.len() as f64 * step)
            }
            Recording::Readings { .. } => unreachable!("none of these kinds is read at uneven times"),
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_trace_and_another_one_another() {
        for kind in kinds() {
            assert_eq!(kind.generate(3), kind.generate(3), "{}", kind.name);
            assert_ne!(kind.generate(3).recording, kind.generate(4).recording, "{}", kind.name);
        }
    }

    #[test]
    fn no_two_kinds_share_a_name() {
        let mut names: Vec<&str> = families().flat_map(|(_, _, kinds)| kinds).map(|kind| kind.name).collect();
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]));
    }

    #[test]
    fn requests_are_sound() {
        for kind in kinds() {
            for seed in SEEDS {
                let made = kind.generate(seed);
                let name = format!("{} {seed}", kind.name);
                let (list, duration) = requests(&made);
                assert!((1..MAX_SIZE).contains(&list.len()), "{name}: {}", list.len());
                assert!(list.iter().any(|one| one.bytes > 0), "{name}");
                match &made.recording {
                    Recording::Requests { ranks, .. } => {
                        for one in &list {
                            assert!(one.start >= 0.0 && one.end > one.start, "{name}: {one:?}");
                            assert!(one.end <= duration * (1.0 + 1e-9), "{name}: {one:?} after {duration}");
                            assert!(one.rank < *ranks, "{name}: {one:?} of {ranks}");
                        }
                    }
                    Recording::Samples { step, values, .. } => {
                        assert!(*step > 0.0, "{name}");
                        assert!(values.iter().all(|value| value.is_finite() && *value >= 0.0), "{name}");
                    }
                    Recording::Readings { .. } => unreachable!("none of these kinds"),
                }
            }
        }
    }

    /// By how much the period differs from the distances: from their mean, their median, the mean of those
    /// near to it, or the mean distance of slots where some are empty.
    fn off(truth: &Truth, period: f64) -> f64 {
        let distances: Vec<f64> = truth.starts.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let mean = distances.iter().sum::<f64>() / distances.len() as f64;
        let median = super::job::median_distance(&truth.starts).unwrap_or(mean);
        let usual: Vec<f64> =
            distances.iter().copied().filter(|one| (one / period - 1.0).abs() < 0.25).collect();
        let usual = usual.iter().sum::<f64>() / usual.len().max(1) as f64;
        let slots: f64 = distances.iter().map(|one| (one / period).round().max(1.0)).sum();
        let slot = distances.iter().sum::<f64>() / slots;
        [mean, median, usual, slot].iter().map(|one| (one / period - 1.0).abs()).fold(f64::INFINITY, f64::min)
    }

    /// How many bytes of a request move within phases.
    fn within(truth: &Truth, one: &Write) -> f64 {
        let before = truth.starts.partition_point(|&start| start < one.end);
        let phases = truth.starts[..before].iter().zip(&truth.ends).rev();
        let overlaps = phases.map(|(start, end)| one.end.min(*end) - one.start.max(*start));
        let inside: f64 = overlaps.take_while(|&overlap| overlap > 0.0).sum();
        one.bytes as f64 * (inside / (one.end - one.start)).min(1.0)
    }

    #[test]
    fn the_truth_is_in_the_requests() {
        for kind in kinds() {
            for seed in SEEDS {
                let made = kind.generate(seed);
                let truth = &made.truth;
                let name = format!("{} {seed}", kind.name);
                let (list, duration) = requests(&made);
                assert!(truth.starts.windows(2).all(|pair| pair[0] < pair[1]), "{name}: starts in order");
                assert!(truth.ends.is_empty() || truth.ends.len() == truth.starts.len(), "{name}");
                assert!(truth.starts.iter().all(|&start| start >= 0.0 && start < duration), "{name}");
                let last = truth.starts.last().copied().unwrap_or(0.0);
                assert!(truth.next.is_none_or(|next| next > last), "{name}: the next comes after the last");
                for (period, what) in truth.period.iter().map(|one| (one, "period")) {
                    assert!(period.is_finite() && *period > 0.0 && 2.0 * period < duration, "{name}: {what}");
                    if truth.starts.len() > 2 {
                        let off = off(truth, *period);
                        assert!(off < kind.tolerance, "{name}: distances are {off} off {period}");
                    }
                }
                for period in truth.periods.iter().chain(&truth.also) {
                    assert!(period.is_finite() && *period > 0.0 && *period < duration, "{name}: {period}");
                }
                assert!(truth.changes.is_empty() || truth.changes.len() == truth.periods.len(), "{name}");
                // From the first phase to the last, more moves within them than between, second by second.
                if let (Some(first), Some(end)) = (truth.starts.first(), truth.ends.last()) {
                    let rhythm = Truth { starts: vec![*first], ends: vec![*end], ..Truth::default() };
                    let bytes: f64 = list.iter().map(|one| within(&rhythm, one)).sum();
                    let moved = list.iter().map(|one| within(truth, one)).sum::<f64>() / bytes;
                    let spans = truth.starts.iter().zip(&truth.ends);
                    let time = spans.map(|(start, end)| end - start).sum::<f64>() / (end - first);
                    assert!(moved > time.min(0.9), "{name}: {moved} of the bytes in {time} of the time");
                }
            }
        }
    }
}
