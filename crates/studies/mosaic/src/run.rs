//! One run of an application: its operations go in, its categories come out.

use crate::category::{Categories, Category, Direction, Temporality};
use crate::metadata::{Metadata, Requests, Seconds};
use crate::operation::{Bins, Operation, merge_concurrent, merge_neighbours, sort};
use crate::periodicity::{Periodic, periodic};
use crate::temporality::{spread, temporality};
use crate::thresholds::Thresholds;
use crate::witness::{Evidence, Witness};
use serde::{Deserialize, Serialize};

/// Columns of a [`Flow::profile`].
const PROFILE_COLUMNS: usize = 48;

/// What is known of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Run {
    /// Its length in seconds.
    pub run_time: f64,
    /// Its processes.
    pub ranks: u64,
    /// Operations that read, in any order.
    pub reads: Vec<Operation>,
    /// Operations that wrote.
    pub writes: Vec<Operation>,
    /// Opens, closes and seeks.
    pub metadata: Vec<Requests>,
    /// Bytes over time, where something recorded them independently of the operations.
    pub heatmap: Option<Bins>,
}

/// What was found about a direction.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Flow {
    /// Bytes moved.
    pub bytes: u64,
    /// Operations.
    pub operations: u64,
    /// What was left of them after merging; 0 if insignificant.
    pub merged: u64,
    /// Bytes in each of the four chunks; empty if insignificant.
    pub chunks: Vec<u64>,
    /// When they were moved; `None` if no rule applies.
    pub temporality: Option<Temporality>,
    /// Its periodic operations.
    pub periodic: Vec<Periodic>,
    /// What FTIO says; `None` if it was not asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub witness: Option<Witness>,
    /// Bytes over time as a digit for each 48th of the run: 0 for none, 9 for the most.
    pub profile: String,
}

/// What was found about a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Findings {
    /// About its reads.
    pub read: Flow,
    /// About its writes.
    pub write: Flow,
    /// About its metadata operations.
    pub metadata: Metadata,
}

impl Findings {
    /// What was found about a direction.
    pub fn flow(&self, direction: Direction) -> &Flow {
        match direction {
            Direction::Read => &self.read,
            Direction::Write => &self.write,
        }
    }

    /// The categories it all comes down to.
    pub fn categories(&self) -> Categories {
        let mut set = Categories::default();
        for direction in Direction::ALL {
            let flow = self.flow(direction);
            if let Some(temporality) = flow.temporality {
                set.insert(Category::temporality(direction, temporality));
            }
            for operation in &flow.periodic {
                set.insert(Category::periodic(direction));
                set.insert(Category::magnitude(direction, operation.magnitude));
                if let Some(busy) = operation.busy {
                    set.insert(Category::busy(direction, busy));
                }
            }
        }
        self.metadata.loads.iter().for_each(|load| set.insert(Category::load(*load)));
        set
    }
}

/// The pipeline of the paper: merging, segmentation, grouping, chunks, metadata. With `witness`, FTIO is
/// asked as well.
pub fn categorize(run: &Run, thresholds: &Thresholds, witness: bool) -> Findings {
    let mut seconds = Seconds::new(run.run_time);
    run.metadata.iter().for_each(|requests| seconds.add(requests));
    let flow = |direction| flow(run, direction, thresholds, witness);
    Findings {
        read: flow(Direction::Read),
        write: flow(Direction::Write),
        metadata: seconds.judge(run.ranks, run.run_time, thresholds),
    }
}

fn flow(run: &Run, direction: Direction, thresholds: &Thresholds, witness: bool) -> Flow {
    let operations = match direction {
        Direction::Read => &run.reads,
        Direction::Write => &run.writes,
    };
    let bytes = operations.iter().fold(0u64, |sum, op| sum.saturating_add(op.bytes));
    let mut flow = Flow { bytes, operations: operations.len() as u64, ..Flow::default() };
    if bytes > 0 {
        flow.profile = profile(&spread(operations, run.run_time, PROFILE_COLUMNS));
    }
    if (bytes as f64) < thresholds.significant_bytes {
        flow.temporality = Some(Temporality::Insignificant);
        return flow;
    }
    let chunks = spread(operations, run.run_time, thresholds.chunks as usize);
    flow.temporality = temporality(&chunks, thresholds);
    flow.chunks = chunks.iter().map(|bytes| bytes.round() as u64).collect();

    let mut merged: Vec<Operation> = operations.iter().filter(|op| op.bytes > 0).copied().collect();
    sort(&mut merged);
    merge_concurrent(&mut merged);
    merge_neighbours(&mut merged, run.run_time, thresholds);
    flow.merged = merged.len() as u64;
    flow.periodic = periodic(&merged, thresholds);
    if witness {
        let evidence = match &run.heatmap {
            Some(bins) => Evidence::Bins(bins),
            None => Evidence::Operations(&merged),
        };
        flow.witness = Some(Witness::ask(evidence, direction, run.run_time));
    }
    flow
}

/// One digit a column.
fn profile(columns: &[f64]) -> String {
    let most = columns.iter().copied().fold(0.0, f64::max);
    let digit = |bytes: &f64| match (bytes / most * 9.0).ceil() {
        digit if digit >= 1.0 => char::from(b'0' + digit.min(9.0) as u8),
        _ => '0',
    };
    columns.iter().map(digit).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hundred_megabytes_are_significant() {
        let of = |bytes| {
            let writes = vec![Operation::new(95.0, 96.0, bytes)];
            let run = Run { run_time: 100.0, ranks: 1, writes, ..Run::default() };
            categorize(&run, &Thresholds::default(), false).categories().names()
        };
        assert_eq!(of(100_000_000), ["read_insignificant", "write_on_end", "metadata_insignificant_load"]);
        assert_eq!(
            of(99_999_999),
            ["read_insignificant", "write_insignificant", "metadata_insignificant_load"]
        );
    }

    #[test]
    fn directions_are_judged_apart() {
        let every = |period: f64, count: usize| -> Vec<Operation> {
            (0..count)
                .map(|i| Operation::new(i as f64 * period, i as f64 * period + 1.0, 200_000_000))
                .collect()
        };
        let run = Run {
            run_time: 3600.0,
            ranks: 4,
            reads: vec![Operation::new(0.0, 5.0, 1 << 30)],
            writes: every(300.0, 12),
            metadata: vec![Requests { start: 1.0, end: 1.0, count: 300 }],
            heatmap: None,
        };
        let found = categorize(&run, &Thresholds::default(), true);
        assert_eq!(
            found.categories().names(),
            [
                "read_on_start",
                "write_steady",
                "write_periodic",
                "write_periodic_minute",
                "write_periodic_low_busy_time",
                "periodic",
                "periodic_minute",
                "periodic_low_busy_time",
                "metadata_high_spike"
            ]
        );
        assert_eq!(found.write.periodic[0].period, 300.0);
        let witness = found.write.witness.unwrap();
        assert!((witness.period.unwrap() - 300.0).abs() < 6.0, "{witness:?}");
        assert_eq!(found.read.witness.unwrap().period, None);
    }

    #[test]
    fn the_profile_shows_little_as_something() {
        assert_eq!(profile(&[0.0, 1.0, 450.0, 900.0]), "0159");
    }
}
