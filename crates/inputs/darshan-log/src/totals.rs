//! Sums over a module: what a summary of a log shows, without keeping its records.

use crate::counters::{Activity, FileRecord};
use crate::dxt::{Direction, Dxt};
use crate::error::{Error, Result};
use crate::heatmap::Heatmaps;
use crate::module::{Layer, ModuleInfo};

/// The totals of one module.
#[derive(Debug)]
#[non_exhaustive]
pub struct ModuleTotals {
    /// What the header says, above all whether the module is partial.
    pub info: ModuleInfo,
    /// The sums, over everything that could be read.
    pub contents: Contents,
    /// Why they are not complete, if the region is damaged.
    pub damage: Option<Error>,
}

/// The sums of a module, by its kind.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Contents {
    /// POSIX, MPI-IO, STDIO.
    Counters(CounterTotals),
    /// DXT_POSIX, DXT_MPIIO.
    Segments(SegmentTotals),
    /// HEATMAP, by layer.
    Heatmaps(Vec<HeatmapTotals>),
    /// A module whose records this crate does not read.
    Unread,
}

/// Sums over the records of a counter module.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct CounterTotals {
    /// Records.
    pub records: u64,
    /// Those that stand for all ranks.
    pub shared_records: u64,
    /// Those whose bytes are not those of this layer alone: POSIX records of version 1 that also count
    /// streams, and files of Darshan 2 that were never seen below MPI-IO, whose bytes it did not count.
    pub uncertain_records: u64,
    /// Opens.
    pub opens: u64,
    /// Reads of every kind.
    pub reads: u64,
    /// Writes of every kind.
    pub writes: u64,
    /// Bytes read.
    pub bytes_read: u64,
    /// Bytes written.
    pub bytes_written: u64,
    /// Seconds spent in reads, over all ranks.
    pub read_time: f64,
    /// Seconds spent in writes, over all ranks.
    pub write_time: f64,
    /// Seconds spent in metadata operations, over all ranks.
    pub meta_time: f64,
}

impl CounterTotals {
    pub(crate) fn add(&mut self, activity: &Activity, uncertain: bool) {
        self.records += 1;
        self.shared_records += u64::from(activity.is_shared());
        self.uncertain_records += u64::from(uncertain);
        self.opens = self.opens.saturating_add(activity.opens);
        self.reads = self.reads.saturating_add(activity.reads);
        self.writes = self.writes.saturating_add(activity.writes);
        self.bytes_read = self.bytes_read.saturating_add(activity.bytes_read);
        self.bytes_written = self.bytes_written.saturating_add(activity.bytes_written);
        self.read_time += activity.read_time;
        self.write_time += activity.write_time;
        self.meta_time += activity.meta_time;
    }
}

/// Sums over the segments of a DXT module.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct SegmentTotals {
    /// Records: files, per rank.
    pub records: u64,
    /// Read segments.
    pub reads: u64,
    /// Write segments.
    pub writes: u64,
    /// Bytes read.
    pub bytes_read: u64,
    /// Bytes written.
    pub bytes_written: u64,
    /// Begin of the earliest segment, if there is any.
    pub first_start: Option<f64>,
    /// End of the latest.
    pub last_end: Option<f64>,
}

impl SegmentTotals {
    /// Segments of both directions.
    pub fn segments(&self) -> u64 {
        self.reads + self.writes
    }
}

/// Sums over the heatmap records of a layer.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct HeatmapTotals {
    /// The layer; `None` for one this crate does not know.
    pub layer: Option<Layer>,
    /// Records: ranks that did any I/O.
    pub records: u64,
    /// Bins of the longest record.
    pub bins: u64,
    /// Width of its bins in seconds.
    pub bin_width: f64,
    /// Bytes read.
    pub bytes_read: u64,
    /// Bytes written.
    pub bytes_written: u64,
}

impl ModuleTotals {
    pub(crate) fn new(info: ModuleInfo, contents: Contents, damage: Option<Error>) -> Self {
        ModuleTotals { info, contents, damage }
    }

    /// How many records were read, `None` for a module whose records this crate does not read.
    pub fn records(&self) -> Option<u64> {
        match &self.contents {
            Contents::Counters(totals) => Some(totals.records),
            Contents::Segments(totals) => Some(totals.records),
            Contents::Heatmaps(layers) => Some(layers.iter().map(|l| l.records).sum()),
            Contents::Unread => None,
        }
    }
}

/// Sums what an iterator yields up to its first error.
pub(crate) fn sum<T>(items: impl Iterator<Item = Result<T>>, mut add: impl FnMut(T)) -> Option<Error> {
    for item in items {
        match item {
            Ok(item) => add(item),
            Err(error) => return Some(error),
        }
    }
    None
}

pub(crate) fn counters<R: FileRecord>(
    records: impl Iterator<Item = Result<R>>,
    uncertain: impl Fn(&R) -> bool,
) -> (Contents, Option<Error>) {
    let mut totals = CounterTotals::default();
    let damage = sum(records, |record| totals.add(&record.activity(), uncertain(&record)));
    (Contents::Counters(totals), damage)
}

pub(crate) fn segments(mut dxt: Dxt<'_>) -> (Contents, Option<Error>) {
    let mut totals = SegmentTotals::default();
    let mut read = || -> Result<()> {
        while dxt.next_head()?.is_some() {
            totals.records += 1;
            while let Some((direction, segment)) = dxt.next_segment()? {
                let bytes = u64::try_from(segment.length).unwrap_or(0);
                let (count, sum) = match direction {
                    Direction::Read => (&mut totals.reads, &mut totals.bytes_read),
                    Direction::Write => (&mut totals.writes, &mut totals.bytes_written),
                };
                *count += 1;
                *sum = sum.saturating_add(bytes);
                totals.first_start = Some(totals.first_start.map_or(segment.start, |t| t.min(segment.start)));
                totals.last_end = Some(totals.last_end.map_or(segment.end, |t| t.max(segment.end)));
            }
        }
        Ok(())
    };
    let damage = read().err();
    (Contents::Segments(totals), damage)
}

pub(crate) fn heatmaps(records: Heatmaps<'_>) -> (Contents, Option<Error>) {
    let mut layers: Vec<HeatmapTotals> = Vec::new();
    let damage = sum(records, |record| {
        let layer = record.layer();
        let at = layers.iter().position(|l| l.layer == layer).unwrap_or_else(|| {
            layers.push(HeatmapTotals {
                layer,
                records: 0,
                bins: 0,
                bin_width: 0.0,
                bytes_read: 0,
                bytes_written: 0,
            });
            layers.len() - 1
        });
        let totals = &mut layers[at];
        totals.records += 1;
        totals.bins = totals.bins.max(record.write_bins.len() as u64);
        totals.bin_width = totals.bin_width.max(record.bin_width);
        let total = |bins: &[i64]| {
            bins.iter().fold(0u64, |sum, b| sum.saturating_add(u64::try_from(*b).unwrap_or(0)))
        };
        totals.bytes_read = totals.bytes_read.saturating_add(total(&record.read_bins));
        totals.bytes_written = totals.bytes_written.saturating_add(total(&record.write_bins));
    });
    layers.sort_by_key(|l| l.layer);
    (Contents::Heatmaps(layers), damage)
}
