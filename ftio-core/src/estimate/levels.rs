//! Phases, and the bursts that they are made of: two periods that do not contradict one another.
//!
//! An epoch of a training is many batches. That batches recur, with a pause after each epoch, and that epochs
//! recur, is one and the same rhythm, at two levels. As alternatives they share its probability, and neither
//! may have enough for an answer.

use crate::estimate::hypotheses::{Form, Hypothesis, Marked};
use crate::estimate::score::{ANSWER, Posterior};

/// Each of the two levels has at least this probability.
const LEAST: f64 = 0.2;

/// A phase has at least this many bursts, and there are at least so many phases.
const BURSTS: f64 = 3.0;
const PHASES: usize = 4;

/// A phase begins with a burst if that begins within this share of the distance of bursts.
const BEGINS_WITH: f64 = 0.5;

/// Share of the phases that begin with the first burst after a pause.
const BEGIN: f64 = 0.5;

/// The posterior in which phases have the probability of their bursts as well, if that makes an answer.
pub fn with_levels_joined(posterior: &Posterior, lists: &[Marked]) -> Option<Posterior> {
    let likely: Vec<usize> =
        (0..posterior.candidates.len()).filter(|&i| posterior.candidates[i].probability >= LEAST).collect();
    let probability = |i: usize| posterior.candidates[i].probability;
    let one = |i: usize| &posterior.candidates[i].best.hypothesis;
    let mut pairs = likely.iter().flat_map(|&slow| likely.iter().map(move |&fine| (slow, fine)));
    let (slow, fine) = pairs.find(|&(slow, fine)| {
        probability(slow) + probability(fine) >= ANSWER && are_levels(one(slow), one(fine), lists)
    })?;
    let mut joined = posterior.clone();
    joined.candidates[slow].probability += probability(fine);
    joined.candidates[fine].probability = 0.0;
    joined.candidates.sort_by(|a, b| b.probability.total_cmp(&a.probability));
    Some(joined)
}

/// Is the finer rhythm what the phases of the slow one are made of: does a phase begin wherever it goes on
/// after a pause, and nowhere else as a rule?
fn are_levels(slow: &Hypothesis, fine: &Hypothesis, lists: &[Marked]) -> bool {
    let plain = |one: &Hypothesis| matches!(one.form, Form::Mean | Form::Comb);
    if !plain(slow) || fine.form != Form::Comb || slow.period < BURSTS * fine.period {
        return false;
    }
    let phases = slow.starts(lists);
    let begins = |time: &f64| {
        let near = BEGINS_WITH * fine.period;
        let next = phases.partition_point(|start| *start < time - near);
        phases.get(next).is_some_and(|start| *start <= time + near)
    };
    let firsts = firsts_after_pauses(fine, lists);
    let enough = (BEGIN * phases.len() as f64).max(PHASES as f64);
    firsts.len() as f64 >= enough && firsts.iter().all(begins)
}

/// When the first member begins, and each that follows a pause.
fn firsts_after_pauses(fine: &Hypothesis, lists: &[Marked]) -> Vec<f64> {
    let starts = fine.starts(lists);
    let after = starts[1..].iter().zip(&fine.links).filter(|(_, link)| **link == 0).map(|(start, _)| *start);
    starts.first().copied().into_iter().chain(after).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::view::{Given, View};
    use crate::signal::Signal;

    /// Eight phases, one every 72 s, of bursts of 2 s, one every 4 s: so many of each phase, and a first one
    /// this many times as large.
    fn view(bursts: usize, first: f64) -> View {
        let bandwidth = |i: usize| {
            let (burst, at) = (i % 72 / 4, i % 4);
            let height = if burst == 0 { first } else { 1.0 };
            if burst < bursts && at < 2 { height } else { 0.0 }
        };
        let samples = (0..5760).map(|i| bandwidth(i / 10)).collect();
        let signal = Signal { start: 0, bin: 100_000_000, samples, abstraction_error: 0.0 };
        View::of(&signal, &Given::default())
    }

    /// The hypotheses near a period.
    fn near(view: &View, period: f64) -> Vec<&Hypothesis> {
        let all = view.pool.iter().map(|one| &one.hypothesis);
        all.filter(|one| (one.period / period - 1.0).abs() < 0.03).collect()
    }

    fn has_levels(view: &View, slow: f64, fine: f64) -> bool {
        let (slow, fine) = (near(view, slow), near(view, fine));
        slow.iter().any(|slow| fine.iter().any(|fine| are_levels(slow, fine, &view.lists)))
    }

    #[test]
    fn bursts_with_a_pause_after_each_phase_are_a_level_of_it() {
        let paused = view(10, 1.0);
        assert!(has_levels(&paused, 72.0, 4.0));
        assert!(!has_levels(&paused, 4.0, 72.0), "not the other way round");
        let going_on = view(18, 3.0);
        assert!(!near(&going_on, 4.0).is_empty());
        assert!(!has_levels(&going_on, 72.0, 4.0), "a rhythm beside the slow one");
    }
}
