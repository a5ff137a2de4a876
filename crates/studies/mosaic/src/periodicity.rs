//! Periodic operations: segments of comparable duration and volume that come back (paper III-B3a).
//!
//! A segment goes from the begin of an operation to the begin of the next. The last operation opens none:
//! nobody knows when its successor would have come. (The public code gives it the length of the one before,
//! so that any two operations of the same size would be periodic.)
//!
//! Segments are grouped by [Mean Shift](crate::mean_shift). The paper leaves the scaling open, and the public
//! code puts seconds beside bytes, so that duration is ignored. Here both are taken by their logarithm: what
//! counts is by which factor two segments differ.
//!
//! A group of more than one segment is a periodic operation. Among many irregular segments some two or three
//! are always alike by chance; those do not come back at even distances. So a group counts if most distances
//! between the begins of its segments are equal, and two segments alone if one follows the other.

use crate::category::{Busy, Magnitude};
use crate::mean_shift;
use crate::operation::Operation;
use crate::thresholds::Thresholds;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// More segments than this are not grouped. With neighbours merged below 0.1 % of the run there are at most
/// 1000.
const MAX_SEGMENTS: usize = 10_000;

/// A periodic operation.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct Periodic {
    /// The mean length of its segments, in seconds (the paper's period).
    pub period: f64,
    /// The order of magnitude of the period.
    pub magnitude: Magnitude,
    /// How many segments it has.
    pub segments: u64,
    /// Their bytes on average.
    pub bytes: f64,
    /// Share of the period that its operations take, on average.
    pub busy_time: f64,
    /// Whether that is little or much.
    pub busy: Option<Busy>,
    /// The middle distance between the begins of two of its segments: the same as the period, unless other
    /// operations come in between.
    pub recurrence: f64,
    /// When the first of its segments began.
    pub first: f64,
}

#[derive(Clone, Copy, Debug)]
struct Segment {
    start: f64,
    length: f64,
    bytes: u64,
    busy: f64,
}

/// The periodic operations among merged operations, in the order of their first segment.
pub fn periodic(operations: &[Operation], thresholds: &Thresholds) -> Vec<Periodic> {
    let segments: Vec<Segment> = operations
        .windows(2)
        .map(|pair| Segment {
            start: pair[0].start,
            length: pair[1].start - pair[0].start,
            bytes: pair[0].bytes,
            busy: pair[0].duration(),
        })
        .collect();
    if segments.len() < 2 || segments.len() > MAX_SEGMENTS {
        return Vec::new();
    }
    let points: Vec<[f64; 2]> =
        segments.iter().map(|s| [s.length.max(1e-9).ln(), (s.bytes.max(1) as f64).ln()]).collect();
    let groups = mean_shift::groups(&points, thresholds.bandwidth);
    let count = groups.iter().max().map_or(0, |last| last + 1);
    let mut members: Vec<Vec<Segment>> = vec![Vec::new(); count];
    for (segment, group) in segments.iter().zip(groups) {
        members[group].push(*segment);
    }
    let all: f64 = operations.iter().map(|operation| operation.bytes as f64).sum();
    let weighs = |members: &&Vec<Segment>| {
        members.iter().map(|segment| segment.bytes as f64).sum::<f64>() >= thresholds.period_bytes * all
    };
    members.iter().filter(weighs).filter_map(|members| describe(members, thresholds)).collect()
}

/// A group as a periodic operation, if it is one.
fn describe(members: &[Segment], thresholds: &Thresholds) -> Option<Periodic> {
    let count = members.len();
    if (count as f64) < thresholds.group_size {
        return None;
    }
    let mean = |of: fn(&Segment) -> f64| members.iter().map(of).sum::<f64>() / count as f64;
    let period = mean(|segment| segment.length);
    let mut distances: Vec<f64> = members.windows(2).map(|pair| pair[1].start - pair[0].start).collect();
    distances.sort_unstable_by(f64::total_cmp);
    let middle = distances[(distances.len() - 1) / 2];
    let equal = |a: f64, b: f64| (a - b).abs() <= thresholds.even_within * b;
    if thresholds.evenness > 0.0 {
        let even = distances.iter().filter(|distance| equal(**distance, middle)).count();
        if even as f64 <= thresholds.evenness * distances.len() as f64 {
            return None;
        }
        if count == 2 && !equal(middle, members[0].length) {
            return None;
        }
    }
    let busy_time = mean(|segment| segment.busy / segment.length);
    Some(Periodic {
        period,
        magnitude: magnitude(period, thresholds),
        segments: count as u64,
        bytes: mean(|segment| segment.bytes as f64),
        busy_time,
        busy: busy(busy_time, thresholds),
        recurrence: middle,
        first: members[0].start,
    })
}

/// The order of magnitude of a period.
pub fn magnitude(period: f64, thresholds: &Thresholds) -> Magnitude {
    match period {
        p if p <= thresholds.second_up_to => Magnitude::Second,
        p if p <= thresholds.minute_up_to => Magnitude::Minute,
        p if p <= thresholds.hour_up_to => Magnitude::Hour,
        _ => Magnitude::DayOrMore,
    }
}

fn busy(share: f64, thresholds: &Thresholds) -> Option<Busy> {
    if share < thresholds.low_busy {
        Some(Busy::Low)
    } else if share >= thresholds.high_busy {
        Some(Busy::High)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(operations: &[Operation]) -> Vec<Periodic> {
        periodic(operations, &Thresholds::default())
    }

    /// `count` operations of `duration` every `period` seconds.
    fn every(period: f64, duration: f64, count: usize) -> Vec<Operation> {
        (0..count).map(|i| Operation::new(i as f64 * period, i as f64 * period + duration, 1 << 30)).collect()
    }

    #[test]
    fn a_group_of_two_segments_is_the_least() {
        assert!(found(&every(100.0, 10.0, 2)).is_empty(), "two operations are one segment");
        let three = found(&every(100.0, 10.0, 3));
        assert_eq!(three.len(), 1);
        assert_eq!((three[0].segments, three[0].period, three[0].recurrence), (2, 100.0, 100.0));
        assert_eq!(three[0].bytes, (1u64 << 30) as f64);
        let thresholds = Thresholds { group_size: 3.0, ..Thresholds::default() };
        assert!(periodic(&every(100.0, 10.0, 3), &thresholds).is_empty());
        assert_eq!(periodic(&every(100.0, 10.0, 4), &thresholds).len(), 1);
    }

    #[test]
    fn segments_are_alike_within_the_bandwidth() {
        let at = |factor: f64| {
            let second = 100.0 * factor;
            found(&[
                Operation::new(0.0, 1.0, 1000),
                Operation::new(100.0, 101.0, 1000),
                Operation::new(100.0 + second, 101.0 + second, 1000),
            ])
            .len()
        };
        assert_eq!((at(0.249f64.exp()), at(0.251f64.exp())), (1, 0));
        let of = |factor: f64| {
            let second = (1e9 * factor) as u64;
            let sizes = [1_000_000_000, second, 5];
            let operations: Vec<Operation> = sizes
                .iter()
                .enumerate()
                .map(|(i, size)| Operation::new(100.0 * i as f64, 100.0 * i as f64 + 1.0, *size))
                .collect();
            found(&operations).len()
        };
        assert_eq!((of(0.249f64.exp()), of(0.251f64.exp())), (1, 0));
    }

    #[test]
    fn orders_of_magnitude_have_their_borders() {
        let thresholds = Thresholds::default();
        let of = |period| magnitude(period, &thresholds);
        assert_eq!((of(30.0), of(30.001)), (Magnitude::Second, Magnitude::Minute));
        assert_eq!((of(1800.0), of(1800.1)), (Magnitude::Minute, Magnitude::Hour));
        assert_eq!((of(43200.0), of(43200.1)), (Magnitude::Hour, Magnitude::DayOrMore));
    }

    #[test]
    fn busy_time_has_its_borders() {
        let of = |duration: f64| found(&every(100.0, duration, 4))[0].busy;
        assert_eq!((of(24.9), of(25.0), of(74.9), of(75.0)), (Some(Busy::Low), None, None, Some(Busy::High)));
    }

    /// A log file that grows every minute beside one write of 100 GiB says nothing about the application.
    #[test]
    fn what_moves_hardly_any_bytes_is_no_period() {
        let mut operations: Vec<Operation> =
            (0..30).map(|i| 60.0 * f64::from(i)).map(|t| Operation::new(t, t + 1.0, 1 << 20)).collect();
        assert_eq!(found(&operations).len(), 1);
        operations.push(Operation::new(1900.0, 2000.0, 100 << 30));
        assert!(found(&operations).is_empty());
        let all = Thresholds { period_bytes: 0.0, ..Thresholds::default() };
        assert_eq!(periodic(&operations, &all).len(), 1);
    }

    #[test]
    fn two_operations_in_turn_are_two_periodic_ones() {
        // 1 GiB and, 30 s later, 64 MiB; again after 270 s.
        let operations: Vec<Operation> = (0..6)
            .flat_map(|i| {
                let t = 300.0 * f64::from(i);
                [Operation::new(t, t + 5.0, 1 << 30), Operation::new(t + 30.0, t + 31.0, 1 << 26)]
            })
            .collect();
        let found = found(&operations);
        assert_eq!(found.len(), 2);
        assert_eq!((found[0].period, found[0].recurrence, found[0].segments), (30.0, 300.0, 6));
        assert_eq!((found[1].period, found[1].recurrence, found[1].segments), (270.0, 300.0, 5));
    }

    #[test]
    fn chance_resemblance_is_no_period() {
        // Segments 0 and 2 are alike, but nothing comes back; 1, 3 and 4 are all different.
        let lengths = [100.0, 700.0, 105.0, 20.0, 3000.0];
        let mut at = 0.0;
        let mut operations: Vec<Operation> = lengths
            .iter()
            .map(|length| {
                let operation = Operation::new(at, at + 1.0, 1 << 30);
                at += length;
                operation
            })
            .collect();
        operations.push(Operation::new(at, at + 1.0, 1 << 30));
        assert!(found(&operations).is_empty());
        let as_in_the_paper = Thresholds { evenness: 0.0, ..Thresholds::default() };
        assert_eq!(periodic(&operations, &as_in_the_paper).len(), 1);
    }

    #[test]
    fn an_interruption_does_not_hide_a_period() {
        let mut operations = every(100.0, 5.0, 12);
        operations.push(Operation::new(537.0, 540.0, 1 << 33));
        crate::operation::sort(&mut operations);
        let found = found(&operations);
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].period, found[0].segments), (100.0, 10));
    }
}
