//! The series of a job: what its counters and gauges did over time, within a budget.
//!
//! Time is cut into bins whose width, the *period*, is a power of two seconds. A bin of a counter holds what
//! was added in it; a bin of a gauge holds least, greatest, sum and number of its values. When the bins take
//! more than the budget they are *folded*: neighbours become one, and the period doubles. What counters add
//! up to never changes by that, nor does the order of things.

mod file;
pub mod journal;

pub use file::{Damaged, SeriesFiles, decode, encode};

use crate::job::Kind;
use std::collections::BTreeMap;

/// No budget is larger, in bytes, and no series.
pub const MAX_SERIES: usize = 64 << 20;
/// No period is shorter than 2 to this, in seconds: a millisecond.
pub const FINEST: i32 = -10;
/// No period is longer than 2 to this: 12 days.
const COARSEST: i32 = 20;
/// Later than this (in seconds of job time) nothing is kept: a clock is wrong.
const MAX_TIME: f64 = 1e9;

/// What a column holds for each bin.
#[derive(Clone, Debug, PartialEq)]
pub enum Column {
    /// What was added.
    Counter(Vec<f64>),
    /// What was seen.
    Gauge(Vec<Seen>),
}

/// Values of a gauge in one bin.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Seen {
    pub least: f64,
    pub greatest: f64,
    pub sum: f64,
    pub count: f64,
}

impl Seen {
    fn one(value: f64) -> Self {
        Seen { least: value, greatest: value, sum: value, count: 1.0 }
    }

    fn with(self, other: Self) -> Self {
        if self.count == 0.0 {
            return other;
        }
        if other.count == 0.0 {
            return self;
        }
        Seen {
            least: self.least.min(other.least),
            greatest: self.greatest.max(other.greatest),
            sum: self.sum + other.sum,
            count: self.count + other.count,
        }
    }

    /// `None` where nothing was seen.
    pub fn mean(self) -> Option<f64> {
        (self.count > 0.0).then(|| self.sum / self.count)
    }
}

impl Column {
    fn new(kind: Kind) -> Self {
        match kind {
            Kind::Counter => Column::Counter(Vec::new()),
            Kind::Gauge => Column::Gauge(Vec::new()),
        }
    }

    /// What the column is.
    pub fn kind(&self) -> Kind {
        match self {
            Column::Counter(_) => Kind::Counter,
            Column::Gauge(_) => Kind::Gauge,
        }
    }

    /// Number of bins; those after the last are empty.
    pub fn len(&self) -> usize {
        match self {
            Column::Counter(bins) => bins.len(),
            Column::Gauge(bins) => bins.len(),
        }
    }

    /// Is there no bin?
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn bytes(&self) -> usize {
        match self {
            Column::Counter(bins) => bins.len() * size_of::<f64>(),
            Column::Gauge(bins) => bins.len() * size_of::<Seen>(),
        }
    }

    /// Bytes of memory that the bins take, with what is kept for further ones.
    fn held(&self) -> usize {
        match self {
            Column::Counter(bins) => bins.capacity() * size_of::<f64>(),
            Column::Gauge(bins) => bins.capacity() * size_of::<Seen>(),
        }
    }

    fn add(&mut self, bin: usize, value: f64) {
        match self {
            Column::Counter(bins) => {
                bins.resize(bins.len().max(bin + 1), 0.0);
                bins[bin] += value;
            }
            Column::Gauge(bins) => {
                bins.resize(bins.len().max(bin + 1), Seen::default());
                bins[bin] = bins[bin].with(Seen::one(value));
            }
        }
    }

    fn fold(&mut self) {
        match self {
            Column::Counter(bins) => {
                *bins = bins.chunks(2).map(|pair| pair.iter().sum()).collect();
            }
            Column::Gauge(bins) => {
                let pair = |pair: &[Seen]| pair.iter().fold(Seen::default(), |sum, one| sum.with(*one));
                *bins = bins.chunks(2).map(pair).collect();
            }
        }
    }
}

/// Bytes of memory that a metric takes beside its bins and its name: its places in the maps of columns and
/// totals, which are half empty, and what the allocator adds. Measured: 480.
pub const METRIC: usize = 640;

/// Bytes of memory for a metric of that name, without bins.
pub fn metric_cost(name: &str) -> usize {
    METRIC + 2 * name.len()
}

/// The series of one job.
#[derive(Clone, Debug)]
pub struct Series {
    /// The period is 2 to this, in seconds.
    level: i32,
    columns: BTreeMap<String, Column>,
    /// Bytes of the bins, and bytes of memory for everything.
    bytes: usize,
    memory: usize,
    /// Up to which record of the journal it is complete.
    pub journaled: u64,
}

/// What is in them; how much memory that takes may differ.
impl PartialEq for Series {
    fn eq(&self, other: &Self) -> bool {
        (self.level, self.journaled) == (other.level, other.journaled) && self.columns == other.columns
    }
}

impl Default for Series {
    fn default() -> Self {
        Series::new(0)
    }
}

impl Series {
    /// Nothing yet; the period is 2 to the `level`, in seconds.
    pub fn new(level: i32) -> Self {
        let level = level.clamp(FINEST, COARSEST);
        Series { level, columns: BTreeMap::new(), bytes: 0, memory: 0, journaled: 0 }
    }

    /// Width of a bin in seconds, a power of two.
    pub fn period(&self) -> f64 {
        2f64.powi(self.level)
    }

    /// The exponent of the period.
    pub fn level(&self) -> i32 {
        self.level
    }

    /// All columns, by name.
    pub fn columns(&self) -> &BTreeMap<String, Column> {
        &self.columns
    }

    /// One of them.
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.get(name)
    }

    /// From, to and bytes of each bin of a counter in which something was moved.
    pub fn moved(&self, name: &str) -> impl Iterator<Item = (f64, f64, f64)> {
        let bins: &[f64] = if let Some(Column::Counter(bins)) = self.column(name) { bins } else { &[] };
        let period = self.period();
        let moved = bins.iter().enumerate().filter(|(_, bytes)| **bytes >= 1.0);
        moved.map(move |(bin, bytes)| (bin as f64 * period, (bin + 1) as f64 * period, *bytes))
    }

    /// Number of bins of the longest column.
    pub fn bins(&self) -> usize {
        self.columns.values().map(Column::len).max().unwrap_or(0)
    }

    /// Bytes that the bins take.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Bytes of memory for everything: bins, names, and what each metric costs beside.
    pub fn memory(&self) -> usize {
        self.memory
    }

    /// Count anew what is there.
    fn count(&mut self) {
        self.bytes = self.columns.values().map(Column::bytes).sum();
        self.memory = self.columns.iter().map(|(name, column)| metric_cost(name) + column.held()).sum();
    }

    /// Add a value at `time` (seconds of job time): to a counter an increment, to a gauge what was seen.
    /// Then fold until everything fits the budget. `false`: left out, because it is no number, its time
    /// cannot be, or its name is that of another kind.
    pub fn add(&mut self, name: &str, kind: Kind, time: f64, value: f64, budget: usize) -> bool {
        if !value.is_finite() || time.is_nan() || time >= MAX_TIME {
            return false;
        }
        let budget = budget.min(MAX_SERIES);
        // Far ahead of what there is: widen the bins first instead of making empty ones.
        let most = (budget / size_of::<f64>()).max(2);
        while (time.max(0.0) / self.period()) as usize >= most && self.level < COARSEST {
            self.fold();
        }
        let bin = (time.max(0.0) / self.period()) as usize;
        if !self.columns.contains_key(name) {
            self.columns.insert(name.to_owned(), Column::new(kind));
            self.memory += metric_cost(name);
        }
        let grows = match self.columns.get_mut(name) {
            Some(column) if column.kind() == kind => {
                let (bytes, held) = (column.bytes(), column.held());
                column.add(bin, value);
                self.bytes += column.bytes() - bytes;
                self.memory += column.held() - held;
                column.bytes() > bytes
            }
            _ => return false,
        };
        if grows {
            self.fit(budget);
        }
        true
    }

    /// Fold until it fits the budget.
    pub fn fit(&mut self, budget: usize) {
        while self.bytes() > budget && self.bins() > 1 && self.level < COARSEST {
            self.fold();
        }
    }

    /// Neighbouring bins become one, and the period doubles. The last one, if it has no neighbour, stays.
    pub fn fold(&mut self) {
        self.columns.values_mut().for_each(Column::fold);
        self.level += 1;
        self.count();
    }

    /// What a counter came to; 0 if there is none of that name.
    pub fn total(&self, name: &str) -> f64 {
        match self.columns.get(name) {
            Some(Column::Counter(bins)) => bins.iter().sum(),
            _ => 0.0,
        }
    }

    /// Spread `amount` evenly from `start` to `end` (seconds), in whole units whose sum is exact.
    pub fn spread(&mut self, name: &str, start: f64, end: f64, amount: u64, budget: usize) {
        if start.is_nan() || end.is_nan() || start.max(end) >= MAX_TIME {
            return;
        }
        let (start, end) = (start.max(0.0), end.max(start).max(0.0));
        // Make room first: the period must not change under way.
        self.add(name, Kind::Counter, end, 0.0, budget);
        let period = self.period();
        let (first, last) = ((start / period) as usize, (end / period) as usize);
        let Some(Column::Counter(bins)) = self.columns.get_mut(name) else { return };
        let length = end - start;
        let mut given = 0;
        for bin in first..=last {
            let until = if bin == last || length <= 0.0 {
                amount
            } else {
                let share = (((bin + 1) as f64 * period - start) / length).clamp(0.0, 1.0);
                ((amount as f64 * share) as u64).clamp(given, amount)
            };
            // An end on the edge of a bin belongs to the bin before.
            if let Some(bin) = bins.get_mut(bin) {
                *bin += (until - given) as f64;
            }
            given = until;
        }
    }

    /// Points `[time, value]` of a metric: a counter as what it had come to at the end of each bin, a gauge
    /// as its mean. Of a `rate`, values per second over each bin, from its start.
    pub fn points(&self, name: &str, rate: bool) -> Vec<[f64; 2]> {
        let period = self.period();
        match self.columns.get(name) {
            None => Vec::new(),
            Some(Column::Counter(bins)) if rate => {
                bins.iter().enumerate().map(|(i, added)| [i as f64 * period, added / period]).collect()
            }
            Some(Column::Counter(bins)) => {
                let mut sum = 0.0;
                let mut point = |(i, added): (usize, &f64)| {
                    sum += added;
                    [(i + 1) as f64 * period, sum]
                };
                bins.iter().enumerate().map(&mut point).collect()
            }
            Some(Column::Gauge(bins)) => {
                let mean = |(i, seen): (usize, &Seen)| Some([(i as f64 + 0.5) * period, seen.mean()?]);
                let values: Vec<[f64; 2]> = bins.iter().enumerate().filter_map(mean).collect();
                if !rate {
                    return values;
                }
                let slope =
                    |pair: &[[f64; 2]]| [pair[0][0], (pair[1][1] - pair[0][1]) / (pair[1][0] - pair[0][0])];
                values.windows(2).map(slope).collect()
            }
        }
    }

    /// Values per second of a counter in `count` steps of `step` seconds from `begin` on, whatever the bins.
    pub fn rates(&self, name: &str, begin: f64, step: f64, count: usize) -> Vec<f64> {
        let mut rates = vec![0.0; count];
        let Some(Column::Counter(bins)) = self.columns.get(name) else { return rates };
        let period = self.period();
        let first = (begin.max(0.0) / period) as usize;
        let last = (((begin + step * count as f64) / period).ceil().max(0.0) as usize).min(bins.len());
        for (bin, added) in bins.iter().enumerate().take(last).skip(first).filter(|(_, added)| **added != 0.0)
        {
            // A bin may be wider than a step, or narrower.
            let (from, to) =
                ((bin as f64 * period - begin) / step, ((bin + 1) as f64 * period - begin) / step);
            let steps = from.max(0.0) as usize..(to.max(0.0).ceil() as usize).min(count);
            for (i, rate) in rates.iter_mut().enumerate().take(steps.end).skip(steps.start) {
                *rate += added / period * (to.min(i as f64 + 1.0) - from.max(i as f64)).max(0.0);
            }
        }
        rates
    }

    /// What happened between two times, in at most `points` bins: for each its start, and the least, mean and
    /// greatest value per second (of a counter) or value (of a gauge).
    pub fn window(&self, name: &str, from: f64, to: f64, points: usize) -> Vec<[f64; 4]> {
        let Some(column) = self.columns.get(name) else { return Vec::new() };
        let period = self.period();
        let first = (from.max(0.0) / period) as usize;
        let last = ((to / period).ceil().max(0.0) as usize).min(self.bins()).max(first);
        let step = (last - first).div_ceil(points.max(1)).max(1);
        let seen = |bin: usize| match column {
            Column::Counter(bins) => Seen::one(bins.get(bin).copied().unwrap_or(0.0) / period),
            Column::Gauge(bins) => bins.get(bin).copied().unwrap_or_default(),
        };
        let mut out = Vec::with_capacity((last - first).div_ceil(step));
        for start in (first..last).step_by(step) {
            let all = (start..(start + step).min(last)).fold(Seen::default(), |sum, bin| sum.with(seen(bin)));
            if let Some(mean) = all.mean() {
                out.push([start as f64 * period, all.least, mean, all.greatest]);
            }
        }
        out
    }
}

#[cfg(test)]
mod tests;
