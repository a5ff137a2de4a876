//! Operations: what the rules are applied to, and their merging (paper III-B2).

use crate::thresholds::Thresholds;

/// Bytes moved in one direction between two moments, by whichever ranks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Operation {
    /// When it began, in seconds since the job began.
    pub start: f64,
    /// When it ended; not before it began.
    pub end: f64,
    /// How many bytes it moved.
    pub bytes: u64,
}

impl Operation {
    /// An operation.
    pub fn new(start: f64, end: f64, bytes: u64) -> Self {
        Operation { start, end, bytes }
    }

    /// Its length in seconds.
    pub fn duration(&self) -> f64 {
        self.end - self.start
    }

    /// One operation instead of two.
    fn with(self, other: Operation) -> Operation {
        Operation {
            start: self.start.min(other.start),
            end: self.end.max(other.end),
            bytes: self.bytes.saturating_add(other.bytes),
        }
    }
}

/// Bring operations into the order of time; equal ones in an order that does not depend on where they came
/// from.
pub fn sort(operations: &mut [Operation]) {
    operations.sort_unstable_by(|a, b| {
        a.start.total_cmp(&b.start).then(a.end.total_cmp(&b.end)).then(a.bytes.cmp(&b.bytes))
    });
}

/// Concurrent operations become one (paper III-B2a): those that overlap or touch. Expects, and keeps, the
/// order of time.
pub fn merge_concurrent(operations: &mut Vec<Operation>) {
    fold(operations, |last, next| next.start <= last.end);
}

/// Neighbours become one (paper III-B2b): those with a gap below 0.1 % of the run, or below 1 % of the
/// operation they become. An operation that grew may reach its neighbour on either side, so this goes on
/// until no two are left that merge; what remains does not depend on the order of merging, because a gap
/// stays and an operation only grows.
pub fn merge_neighbours(operations: &mut Vec<Operation>, run_time: f64, thresholds: &Thresholds) {
    let small = thresholds.neighbour_gap_of_run * run_time;
    fold(operations, |last, next| {
        let gap = next.start - last.end;
        gap < small || gap < thresholds.neighbour_gap_of_operation * (next.end - last.start)
    });
}

/// Merge pairs of successive operations as long as there are some to merge. In place: the operations up to
/// `kept` are a stack of those that do not merge with each other.
fn fold(operations: &mut Vec<Operation>, merges: impl Fn(&Operation, &Operation) -> bool) {
    let mut kept = 0;
    for at in 0..operations.len() {
        let mut top = operations[at];
        while kept > 0 && merges(&operations[kept - 1], &top) {
            top = operations[kept - 1].with(top);
            kept -= 1;
        }
        operations[kept] = top;
        kept += 1;
    }
    operations.truncate(kept);
}

/// Bytes over time in bins of equal width.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bins {
    /// The width in seconds.
    pub width: f64,
    /// Bytes read in each.
    pub read: Vec<u64>,
    /// Bytes written in each.
    pub write: Vec<u64>,
}

/// Collects the operations of a direction in bounded memory.
///
/// Up to [`Collector::MAX_OPERATIONS`] they are kept as they are. Beyond, those that would be merged anyway
/// are merged early; only how bytes are spread inside of a merged operation is then lost.
#[derive(Clone, Debug)]
pub struct Collector {
    operations: Vec<Operation>,
    bytes: u64,
    run_time: f64,
    thresholds: Thresholds,
}

impl Collector {
    /// More operations than this are not kept apart.
    pub const MAX_OPERATIONS: usize = 1 << 16;

    /// For a run of that length.
    pub fn new(run_time: f64, thresholds: &Thresholds) -> Self {
        Collector { operations: Vec::new(), bytes: 0, run_time, thresholds: thresholds.clone() }
    }

    /// The run is at least this long.
    pub fn lasts(&mut self, run_time: f64) {
        self.run_time = self.run_time.max(run_time);
    }

    /// Add an operation. One that moved no bytes is ignored.
    pub fn push(&mut self, operation: Operation) {
        if operation.bytes == 0 {
            return;
        }
        self.bytes = self.bytes.saturating_add(operation.bytes);
        if self.operations.len() >= Self::MAX_OPERATIONS {
            sort(&mut self.operations);
            merge_concurrent(&mut self.operations);
            if self.operations.len() > Self::MAX_OPERATIONS / 2 {
                merge_neighbours(&mut self.operations, self.run_time, &self.thresholds);
            }
        }
        self.operations.push(operation);
    }

    /// Their bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The operations in the order of time.
    pub fn finish(mut self) -> Vec<Operation> {
        sort(&mut self.operations);
        self.operations
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn merged(mut operations: Vec<Operation>, run_time: f64) -> Vec<(f64, f64, u64)> {
        sort(&mut operations);
        merge_concurrent(&mut operations);
        merge_neighbours(&mut operations, run_time, &Thresholds::default());
        operations.iter().map(|op| (op.start, op.end, op.bytes)).collect()
    }

    fn op(start: f64, end: f64) -> Operation {
        Operation::new(start, end, 1)
    }

    #[test]
    fn concurrent_operations_are_one() {
        assert_eq!(merged(vec![op(2.0, 9.0), op(0.0, 3.0), op(4.0, 5.0)], 1.0), [(0.0, 9.0, 3)]);
        assert_eq!(merged(vec![op(0.0, 1.0), op(1.0, 2.0)], 1e-9), [(0.0, 2.0, 2)]);
    }

    #[test]
    fn a_gap_of_a_thousandth_of_the_run_stays() {
        // 1 s of 1000 s; the operations are too short for the other rule.
        assert_eq!(merged(vec![op(0.0, 1.0), op(2.0, 3.0)], 1000.0).len(), 2);
        assert_eq!(merged(vec![op(0.0, 1.0), op(1.999, 3.0)], 1000.0), [(0.0, 3.0, 2)]);
    }

    #[test]
    fn a_gap_of_a_hundredth_of_the_operation_stays() {
        // A run so short that its thousandth does not matter.
        assert_eq!(merged(vec![op(0.0, 49.0), op(50.0, 100.0)], 0.0).len(), 2);
        assert_eq!(merged(vec![op(0.0, 49.5), op(50.0, 100.0)], 0.0), [(0.0, 100.0, 2)]);
    }

    #[test]
    fn an_operation_that_grew_reaches_back() {
        // 0–1 and 2–3 are too short to merge over a gap of 1 s; with 3–150 in between growing, they are not.
        let operations = vec![op(0.0, 1.0), op(2.0, 3.0), op(3.5, 150.0)];
        assert_eq!(merged(operations, 0.0), [(0.0, 150.0, 3)]);
    }

    #[test]
    fn the_collector_is_bounded_and_loses_no_byte() {
        let mut collector = Collector::new(1e6, &Thresholds::default());
        for i in 0..300_000 {
            let start = f64::from(i) * 3.0;
            collector.push(Operation::new(start, start + 1.0, 7));
        }
        collector.push(Operation::new(1.0, 2.0, 0));
        assert_eq!(collector.bytes(), 2_100_000);
        let operations = collector.finish();
        assert!(operations.len() <= Collector::MAX_OPERATIONS + 1);
        assert_eq!(operations.iter().map(|op| op.bytes).sum::<u64>(), 2_100_000);
    }
}
