//! Does the period change, or does it only look so?
//!
//! At a change, the same phases come at another distance. Two sections of a trace whose phases differ in
//! themselves are no change of the period: the slow first epoch of a training, whose batches are far apart,
//! or phases that take longer while others use the server.

use crate::phases::phase::Phase;
use crate::signal::statistics::{median, ratio};

/// The usual phase of one section is at most this many times as large as that of the other.
const ALIKE: f64 = 3.0;

/// A section with at most this many times the bursts, and this many times the bytes, of a usual phase of the
/// other section is one phase of it.
const AS_MANY: f64 = 1.5;
const AS_LARGE: f64 = 3.0;

/// Phases of the same volume, to this factor, were slowed down if at most this share of the difference of
/// their distances is one of the times between them.
const SAME_VOLUME: f64 = 1.1;
const BY_GAPS: f64 = 0.25;

/// … and if these are at most this share of all phases: a server that stays slow is another one.
const FOR_A_WHILE: f64 = 0.3;

/// Phases of a trace before a possible change, and those after it.
pub type Sections<'a> = [&'a [Phase]; 2];

/// Do the same phases come at another distance? `bursts` are the times at which the bursts of the trace
/// begin, in order.
pub fn is_change([before, after]: Sections<'_>, bursts: &[f64]) -> bool {
    let (one, other) = (usual(before, |phase| phase.volume), usual(after, |phase| phase.volume));
    ratio(one, other) <= ALIKE
        && !is_one_phase(before, after, bursts)
        && !is_one_phase(after, before, bursts)
        && !are_slowed_down([before, after])
}

fn usual(phases: &[Phase], value: fn(&Phase) -> f64) -> f64 {
    median(&phases.iter().map(value).collect::<Vec<f64>>())
}

/// Is all of a section but one phase of the other? It has about as many bursts and bytes as each of these.
fn is_one_phase(section: &[Phase], others: &[Phase], bursts: &[f64]) -> bool {
    let (Some(first), Some(last)) = (section.first(), section.last()) else {
        return false;
    };
    let before = |time: f64| bursts.partition_point(|start| *start < time) as f64;
    let count = |from: f64, to: f64| before(to) - before(from);
    let each: Vec<f64> = others.iter().map(|phase| count(phase.start, phase.end)).collect();
    let volume = section.iter().map(|phase| phase.volume).sum::<f64>();
    count(first.start, last.end).max(section.len() as f64) <= AS_MANY * median(&each)
        && volume <= AS_LARGE * usual(others, |phase| phase.volume)
}

/// Do a few phases of the same volume only take longer, with the same time between them? The program does
/// what it did, and the server is slower for a while.
fn are_slowed_down(sections: Sections<'_>) -> bool {
    let between = |phases: &[Phase], value: fn(&[Phase]) -> f64| -> f64 {
        median(&phases.windows(2).map(value).collect::<Vec<f64>>())
    };
    let distances = sections.map(|phases| between(phases, |pair| pair[1].start - pair[0].start));
    let gaps = sections.map(|phases| between(phases, |pair| pair[1].start - pair[0].end));
    let volumes = sections.map(|phases| usual(phases, |phase| phase.volume));
    let apart = |[one, other]: [f64; 2]| (one - other).abs();
    let slow = if distances[0] > distances[1] { sections[0] } else { sections[1] };
    let all = sections.iter().map(|phases| phases.len()).sum::<usize>();
    sections.iter().all(|phases| phases.len() > 2)
        && slow.len() as f64 <= FOR_A_WHILE * all as f64
        && ratio(volumes[0], volumes[1]) <= SAME_VOLUME
        && apart(gaps) <= BY_GAPS * apart(distances)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Phases with this distance, length and volume.
    fn phases(count: usize, from: f64, distance: f64, length: f64, volume: f64) -> Vec<Phase> {
        let phase = |i: usize| {
            let start = from + i as f64 * distance;
            Phase { start, end: start + length, volume }
        };
        (0..count).map(phase).collect()
    }

    /// Bursts, so many in each phase.
    fn bursts(phases: &[Phase], each: usize) -> Vec<f64> {
        let inside = |phase: &Phase| {
            let (start, length) = (phase.start, phase.end - phase.start);
            (0..each).map(move |i| start + length * i as f64 / each as f64)
        };
        phases.iter().flat_map(inside).collect()
    }

    #[test]
    fn a_slow_first_epoch_is_no_change() {
        let (batches, epochs) = (phases(5, 0.0, 16.0, 4.0, 10.0), phases(15, 90.0, 23.0, 11.0, 20.0));
        let starts = |in_epoch: usize| [bursts(&batches, 1), bursts(&epochs, in_epoch)].concat();
        assert!(!is_change([&batches, &epochs], &starts(5)));
        assert!(is_change([&batches, &epochs], &starts(1)), "the same phases");
        assert!(is_change([&batches, &epochs], &starts(2)), "too many for one of them");
        let (epochs, batches) = (phases(15, 0.0, 23.0, 11.0, 20.0), phases(5, 360.0, 16.0, 4.0, 10.0));
        let starts = [bursts(&epochs, 5), bursts(&batches, 1)].concat();
        assert!(!is_change([&epochs, &batches], &starts), "nor is a slow last one");
    }

    #[test]
    fn a_slow_server_is_no_change() {
        let change = |count: usize, length: f64, volume: f64| {
            let before = phases(12, 0.0, 40.0, 5.0, 10.0);
            let after = phases(count, 480.0, 50.0, length, volume);
            let starts = [bursts(&before, 1), bursts(&after, 1)].concat();
            is_change([&before, &after], &starts)
        };
        assert!(!change(5, 15.0, 10.0));
        assert!(change(10, 15.0, 10.0), "it stays slow");
        assert!(change(5, 5.0, 10.0), "longer computing");
        assert!(change(5, 15.0, 20.0), "more is written");
        assert!(!change(5, 5.0, 40.0), "other phases");
    }
}
