//! Two periods at once: phases that belong to two trains, each regular by itself.
//!
//! A train is followed from phase to phase: one period after each there must be another, within a small tolerance. The period and first phase
//! that explain most phases with the fewest gaps make the first train; the second one is looked for in the phases that are left, where a
//! phase of the second train may hide in one of the first. Both together must explain nearly all phases.

use crate::phases::phase::Phase;

/// How far from its expected instant a phase may begin, as a share of the period.
const TOLERANCE: f64 = 0.06;

/// A train has at least so many phases.
const MIN_PHASES: usize = 5;

/// More phases than this are not searched.
const MAX_PHASES: usize = 400;

/// A period may not be longer than so many phases of all trains.
const FARTHEST: usize = 8;

/// The phases of one train.
#[derive(Clone, Debug, PartialEq)]
pub struct Train {
    /// Mean distance of their starts in seconds.
    pub period: f64,
    /// Their numbers in the list of all phases.
    pub members: Vec<usize>,
    /// Expected phases that were not there.
    missing: usize,
}

/// Two trains, the one with the larger volume first, if the phases are two trains.
pub fn two_trains(phases: &[Phase]) -> Option<[Train; 2]> {
    if !(2 * MIN_PHASES..=MAX_PHASES).contains(&phases.len()) {
        return None;
    }
    let all: Vec<usize> = (0..phases.len()).collect();
    let first = best_train(phases, &all, &[])?;
    let rest: Vec<usize> = all.into_iter().filter(|i| first.members.binary_search(i).is_err()).collect();
    let second = best_train(phases, &rest, &first.members)?;
    let explained = first.members.len() + second.members.len();
    let ratio = first.period.max(second.period) / first.period.min(second.period);
    if explained * 10 < phases.len() * 9 || ratio < 1.1 {
        return None;
    }
    let volume = |train: &Train| train.members.iter().map(|&i| phases[i].volume).sum::<f64>();
    Some(if volume(&first) >= volume(&second) { [first, second] } else { [second, first] })
}

/// The train among `candidates` that explains most. A phase that would begin in one of `hiding` is not missed.
fn best_train(phases: &[Phase], candidates: &[usize], hiding: &[usize]) -> Option<Train> {
    let mut best: Option<Train> = None;
    let rating = |train: &Train| train.members.len() as f64 - 2.0 * train.missing as f64;
    for (at, &first) in candidates.iter().enumerate().take(4) {
        for &second in candidates.iter().skip(at + 1).take(FARTHEST) {
            let period = phases[second].start - phases[first].start;
            let Some(train) = follow(phases, candidates, hiding, at, period) else { continue };
            if best.as_ref().is_none_or(|best| rating(&train) > rating(best)) {
                best = Some(train);
            }
        }
    }
    best.filter(|train| train.members.len() >= MIN_PHASES && train.missing * 6 <= train.members.len())
}

/// Follow a train from its first phase to the end of all phases.
fn follow(phases: &[Phase], candidates: &[usize], hiding: &[usize], at: usize, period: f64) -> Option<Train> {
    let mut period = period;
    let end = phases.last()?.start + TOLERANCE * period;
    let slack = TOLERANCE * period;
    let hidden = |time: f64| {
        hiding.iter().any(|&i| (phases[i].start - 2.0 * slack..=phases[i].end + slack).contains(&time))
    };
    let mut members = vec![candidates[at]];
    let (mut missing, mut steps) = (0, 0.0);
    let begin = phases[candidates[at]].start;
    let mut expected = begin + period;
    // Phases before the first one of the train are missed as well.
    let mut earlier = begin - period;
    while earlier >= phases.first()?.start - TOLERANCE * period {
        missing += usize::from(!hidden(earlier));
        earlier -= period;
    }
    let mut next = at + 1;
    while expected <= end && period > 0.0 && missing <= members.len() + 2 {
        steps += 1.0;
        let tolerance = TOLERANCE * period;
        while next < candidates.len() && phases[candidates[next]].start < expected - tolerance {
            next += 1;
        }
        match candidates.get(next).filter(|&&i| phases[i].start <= expected + tolerance) {
            Some(&i) => {
                members.push(i);
                // The period becomes more exact with every phase.
                period = (phases[i].start - begin) / steps;
                expected = phases[i].start + period;
                next += 1;
            }
            None => {
                missing += usize::from(!hidden(expected));
                expected += period;
            }
        }
    }
    Some(Train { period, members, missing })
}

#[cfg(test)]
mod tests {
    use super::*;
    use seeded_random::Random;

    fn phases(trains: &[(f64, f64, usize)]) -> Vec<Phase> {
        let mut all: Vec<Phase> = Vec::new();
        for &(first, period, count) in trains {
            let phase = |i: usize| {
                let start = first + period * i as f64;
                Phase { start, end: start + 2.0, volume: period }
            };
            all.extend((0..count).map(phase));
        }
        all.sort_by(|a, b| a.start.total_cmp(&b.start));
        all
    }

    #[test]
    fn two_periods_are_told_apart() {
        let found = two_trains(&phases(&[(3.0, 17.0, 30), (8.0, 41.3, 12)])).unwrap();
        let mut periods = found.map(|train| train.period);
        periods.sort_by(f64::total_cmp);
        assert!((periods[0] - 17.0).abs() < 0.01 && (periods[1] - 41.3).abs() < 0.01, "{periods:?}");
    }

    #[test]
    fn one_period_or_none_is_not_two() {
        assert_eq!(two_trains(&phases(&[(3.0, 17.0, 30)])), None);
        let mut random = Random::new(9);
        for _ in 0..50 {
            let mut start = 0.0;
            let list: Vec<(f64, f64, usize)> = (0..25)
                .map(|_| {
                    start += 5.0 + 30.0 * random.unit();
                    (start, 1.0, 1)
                })
                .collect();
            assert_eq!(two_trains(&phases(&list)), None);
        }
    }
}
