//! When the bytes were moved: four chunks of equal length, compared (paper III-B3b).
//!
//! The paper gives two rules: a chunk of start or end that holds more than twice what the others hold, and
//! chunks that vary by less than 25 %. The rest of Table I is decided as follows. *after_start_before_end*:
//! the chunks between hold more than twice what start and end hold. *after_start*, *before_end*: the first or
//! last chunk holds less than a fifth of what the others hold (the public code's share). If both did, the
//! middle would hold more than two thirds: these rules never contradict each other at their defaults. What
//! fits none has no temporality; most of those move data at the start and at the end, for which Table I has
//! no name.

use crate::category::Temporality;
use crate::operation::Operation;
use crate::thresholds::Thresholds;

/// Bytes in each of `count` parts of the run. An operation's bytes are spread evenly over its time.
pub fn spread(operations: &[Operation], run_time: f64, count: usize) -> Vec<f64> {
    let mut parts = vec![0.0; count];
    let last = count.saturating_sub(1);
    let width = run_time / count as f64;
    let part_of = |time: f64| ((time / width).max(0.0) as usize).min(last);
    for operation in operations {
        let (first, final_part) = (part_of(operation.start), part_of(operation.end));
        let duration = operation.duration();
        let bytes = operation.bytes as f64;
        if first == final_part || duration <= 0.0 {
            parts[first] += bytes;
            continue;
        }
        for (part, sum) in parts.iter_mut().enumerate().take(final_part + 1).skip(first) {
            let from = if part == first { operation.start } else { part as f64 * width };
            let to = if part == final_part { operation.end } else { (part + 1) as f64 * width };
            *sum += bytes * ((to - from) / duration).max(0.0);
        }
    }
    parts
}

/// What the chunks tell, by the rules in their order; `None` if none applies.
pub fn temporality(chunks: &[f64], thresholds: &Thresholds) -> Option<Temporality> {
    let (first, last) = (*chunks.first()?, *chunks.last()?);
    let total: f64 = chunks.iter().sum();
    let middle: f64 = chunks[1..chunks.len() - 1].iter().sum();
    let rest_of_first = middle + last;
    let rest_of_last = first + middle;
    if first > thresholds.dominance * rest_of_first {
        return Some(Temporality::OnStart);
    }
    if last > thresholds.dominance * rest_of_last {
        return Some(Temporality::OnEnd);
    }
    if total > 0.0 && variation(chunks) < thresholds.steady_variation {
        return Some(Temporality::Steady);
    }
    if middle > thresholds.middle_dominance * (first + last) {
        return Some(Temporality::AfterStartBeforeEnd);
    }
    if first < thresholds.little * rest_of_first {
        return Some(Temporality::AfterStart);
    }
    if last < thresholds.little * rest_of_last {
        return Some(Temporality::BeforeEnd);
    }
    None
}

pub use statistics::variation;

#[cfg(test)]
mod tests {
    use super::*;

    fn of(chunks: [f64; 4]) -> Option<Temporality> {
        temporality(&chunks, &Thresholds::default())
    }

    #[test]
    fn bytes_are_spread_over_the_time_of_their_operation() {
        let operations = [Operation::new(20.0, 60.0, 400), Operation::new(99.0, 99.0, 7)];
        assert_eq!(spread(&operations, 100.0, 4), [50.0, 250.0, 100.0, 7.0]);
        // Times beyond the end belong to the last part.
        assert_eq!(spread(&[Operation::new(90.0, 110.0, 100)], 100.0, 4), [0.0, 0.0, 0.0, 100.0]);
        assert_eq!(spread(&[Operation::new(70.0, 110.0, 400)], 100.0, 4), [0.0, 0.0, 50.0, 350.0]);
    }

    #[test]
    fn start_and_end_hold_more_than_twice_the_others() {
        assert_eq!(of([201.0, 50.0, 25.0, 25.0]), Some(Temporality::OnStart));
        assert_ne!(of([200.0, 50.0, 25.0, 25.0]), Some(Temporality::OnStart));
        assert_eq!(of([25.0, 25.0, 50.0, 201.0]), Some(Temporality::OnEnd));
        assert_ne!(of([25.0, 25.0, 50.0, 200.0]), Some(Temporality::OnEnd));
        assert_eq!(of([1.0, 0.0, 0.0, 0.0]), Some(Temporality::OnStart));
    }

    #[test]
    fn steady_varies_by_less_than_a_quarter() {
        // Two chunks 1 + x and two 1 − x vary by x.
        assert_eq!(of([1.2499, 0.7501, 1.2499, 0.7501]), Some(Temporality::Steady));
        assert_ne!(of([1.25, 0.75, 1.25, 0.75]), Some(Temporality::Steady));
        assert_eq!(variation(&[1.25, 0.75, 1.25, 0.75]), 0.25);
    }

    #[test]
    fn the_middle_holds_more_than_twice_start_and_end() {
        assert_eq!(of([50.0, 150.0, 51.0, 50.0]), Some(Temporality::AfterStartBeforeEnd));
        assert_ne!(of([50.0, 150.0, 50.0, 50.0]), Some(Temporality::AfterStartBeforeEnd));
        assert_eq!(of([0.0, 0.0, 9.0, 0.0]), Some(Temporality::AfterStartBeforeEnd));
    }

    #[test]
    fn hardly_anything_at_the_start_or_the_end() {
        assert_eq!(of([0.0, 1.0, 1.0, 1.0]), Some(Temporality::AfterStart));
        assert_eq!(of([0.0, 0.0, 5.0, 5.0]), Some(Temporality::AfterStart));
        assert_eq!(of([5.0, 5.0, 0.0, 0.0]), Some(Temporality::BeforeEnd));
        // Less than a fifth of the others.
        assert_eq!(of([19.9, 0.0, 40.0, 60.0]), Some(Temporality::AfterStart));
        assert_eq!(of([20.0, 0.0, 40.0, 60.0]), None);
        assert_eq!(of([60.0, 40.0, 0.0, 19.9]), Some(Temporality::BeforeEnd));
        assert_eq!(of([60.0, 40.0, 0.0, 20.0]), None);
    }

    #[test]
    fn start_and_end_together_have_no_name() {
        assert_eq!(of([5.0, 0.0, 0.0, 5.0]), None);
        assert_eq!(of([0.0; 4]), None);
    }

    #[test]
    fn after_start_and_before_end_never_both_apply() {
        for a in 0..20 {
            for d in 0..20 {
                for b in 0..20 {
                    let [a, b, d] = [f64::from(a), f64::from(b), f64::from(d)];
                    let (total, little) = (a + b + d, 0.2);
                    let both = a < little * (total - a) && d < little * (total - d);
                    assert!(!both || of([a, b, 0.0, d]) == Some(Temporality::AfterStartBeforeEnd));
                }
            }
        }
    }
}
