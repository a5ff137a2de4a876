//! Sums up the operations of one class: bytes, time, what would have hidden them.

use super::overlap::Phases;
use super::summary::{AsyncSummary, ClassSummary};
use super::waiting::Waiting;
use ftio_core::signal::bins::{BinWidth, VolumeBins};
use sources::time::{seconds, seconds_of_sum};
use std::collections::{BTreeMap, BTreeSet};
use tmio_trace::Operation;

/// Bins in which the required bandwidth is summed up.
const REQUIRED_BINS: usize = 1 << 16;

/// Sums in nanoseconds and bytes.
#[derive(Default)]
pub(super) struct ClassTally {
    pub(super) ops: u64,
    pub(super) bytes: u128,
    pub(super) time: i128,
    pub(super) ranks: BTreeSet<u32>,
    phases: Phases,
    waiting: Waiting,
    /// Time with at least one operation under way, per rank and thread.
    busy: Busy,
    /// Bytes spread from issue to deadline.
    required: Option<VolumeBins>,
    /// Bytes as they were moved.
    moved: Option<VolumeBins>,
}

impl ClassTally {
    pub(super) fn move_bytes(&mut self, start: i64, end: i64, bytes: u64) {
        let new = || VolumeBins::new(0, BinWidth::Finest, REQUIRED_BINS);
        self.moved.get_or_insert_with(new).add(start, end.max(start), bytes);
    }

    /// An operation, or `count` that were merged to it and took `time` together.
    pub(super) fn add(&mut self, rank: u32, op: &Operation, count: u64, time: i64) {
        self.ops += count;
        self.bytes += u128::from(op.bytes);
        self.time += i128::from(time.max(0));
        self.move_bytes(op.start, op.end, op.bytes);
        if let Some(times) = op.nonblocking {
            self.waiting.add(rank, op);
            self.busy.add(rank, op);
            let bins =
                self.required.get_or_insert_with(|| VolumeBins::new(0, BinWidth::Finest, REQUIRED_BINS));
            bins.add(op.start, times.deadline.max(op.start), op.bytes);
            self.phases.add(rank, op);
        }
    }

    pub(super) fn summary(&self) -> ClassSummary {
        ClassSummary {
            ops: self.ops,
            bytes: bytes(self.bytes),
            time: seconds_of_sum(self.time),
            ranks: (self.ops == 0 || !self.ranks.is_empty()).then_some(self.ranks.len() as u32),
            bandwidth: rate(self.bytes, self.time),
            aggregate_bandwidth: self.moved.as_ref().and_then(aggregate),
        }
    }

    pub(super) fn async_summary(&self) -> AsyncSummary {
        let phases = self.phases.totals();
        AsyncSummary {
            class: self.summary(),
            required_bandwidth: rate(self.bytes, phases.required_time),
            actual_bandwidth: rate(self.bytes, phases.actual_time),
            actual_upper: rate(phases.tested_bytes, phases.tested_time),
            lost_time: Some(seconds_of_sum(self.waiting.lost())),
            hidden: (self.busy.total > 0)
                .then(|| (1.0 - self.waiting.lost() as f64 / self.busy.total as f64).clamp(0.0, 1.0)),
            hiding_bandwidth: self.required.as_ref().and_then(peak),
        }
    }
}

/// Time during which a thread had operations under way. They are recorded as they complete, so that
/// overlapping ones follow each other closely; of each thread the stretch they cover is kept until one begins
/// after it.
#[derive(Default)]
struct Busy {
    last: BTreeMap<(u32, u16), (i64, i64)>,
    total: i128,
}

impl Busy {
    fn add(&mut self, rank: u32, op: &Operation) {
        let last = self.last.entry((rank, op.thread)).or_insert((op.start, op.start));
        let whole = (last.0.min(op.start), last.1.max(op.end));
        let overlaps = op.start <= last.1 && op.end >= last.0;
        self.total += duration(op.start, op.end);
        if overlaps {
            // What both cover was counted twice.
            self.total -= duration(last.0.max(op.start), last.1.min(op.end));
        }
        *last = if overlaps { whole } else { (op.start, op.end) };
    }
}

/// Bytes over the time of the bins that hold any.
fn aggregate(bins: &VolumeBins) -> Option<f64> {
    let (from, to) = bins.extent()?;
    let busy = bins.volumes(from, to).1.into_iter().filter(|bytes| *bytes > 0.0).count();
    let time = (seconds(bins.width()) * busy as f64).min(seconds(to - from));
    (time > 0.0).then(|| bins.total_bytes() as f64 / time)
}

/// The highest bandwidth of any bin.
fn peak(bins: &VolumeBins) -> Option<f64> {
    let (from, to) = bins.extent()?;
    let highest = bins.volumes(from, to).1.into_iter().fold(0.0, f64::max);
    (highest > 0.0).then(|| highest / seconds(bins.width()))
}

/// From start to end; nothing where they are the other way round.
pub(super) fn duration(start: i64, end: i64) -> i128 {
    (i128::from(end) - i128::from(start)).max(0)
}

/// Bytes, as far as they can be told.
pub(super) fn bytes(sum: u128) -> u64 {
    u64::try_from(sum).unwrap_or(u64::MAX)
}

fn rate(bytes: u128, ns: i128) -> Option<f64> {
    (ns > 0).then(|| bytes as f64 / seconds_of_sum(ns))
}
