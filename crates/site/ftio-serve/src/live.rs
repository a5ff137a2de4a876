//! A job that runs: what is kept of it in memory.

use crate::job::{JobDesc, Kind, Origin, READ, READS, Total, Totals, WRITES, WRITTEN, clean};
use crate::series::Series;
use crate::series::journal::Change;
use crate::store::{JobRow, PredictionRow};
use ftio_core::detect::detection::Detection;
use sources::request::{Class, Request};
use sources::time::seconds;
use std::time::Instant;

/// A job has no more metrics than this: more is a mistake, or an attack.
pub const MAX_METRICS: usize = 512;
/// A greater value is no measurement, and sums of such would be no numbers.
const MAX_VALUE: f64 = 1e100;
/// Predictions are at least this far apart, in seconds, and in parts of the job's time.
const MIN_PAUSE: f64 = 5.0;
const PARTS: f64 = 50.0;
/// A phase has ended when nothing was moved for this long, and for two bins.
const QUIET: f64 = 0.125;
/// A job that never pauses is looked at this often all the same.
const MAX_PAUSE: f64 = 60.0;

/// Bytes of memory that a job takes beside its texts and metrics: itself, its places in maps, what rules and
/// priorities note of it, and bins that it may have in any case.
pub const JOB: usize = 8192;
/// Bytes of bins that a job may have, however many there are.
pub const MIN_BINS: usize = 4096;

/// A job that runs.
#[derive(Clone, Debug)]
pub struct LiveJob {
    pub row: JobRow,
    pub totals: Totals,
    pub series: Series,
    /// When something last came, in seconds since 1970.
    pub last: f64,
    /// The same by a clock that nobody sets.
    pub heard: Instant,
    /// Whether its times are those of our clock: values came without any.
    pub by_our_clock: bool,
    /// When it began by its own word, in seconds since 1970; 0 if it does not say.
    pub said_start: u64,
    /// Job time of the last byte.
    last_bytes: f64,
    /// Up to which job time everything is known.
    pub known: f64,
    pub detection: Option<Detection>,
    /// Job time and bytes of the last prediction.
    predicted: Option<(f64, f64)>,
    /// The last prediction; it is not judged before its phase has come.
    pub foretold: Option<PredictionRow>,
    /// Connections over which it comes; it ends with the last.
    pub connections: usize,
    /// Whether details were saved since the last change.
    pub saved: bool,
    /// Of a job with a trace: the batch system says that it has ended.
    pub is_over: bool,
    /// Bytes of what is said about metrics.
    docs: usize,
    /// Bytes of memory, and of bins among it, that its owner pays for.
    pub charged: (usize, usize),
}

impl LiveJob {
    pub fn new(row: JobRow, level: i32, now: f64) -> Self {
        LiveJob {
            row,
            totals: Totals::new(),
            series: Series::new(level),
            last: now,
            heard: Instant::now(),
            by_our_clock: false,
            said_start: 0,
            last_bytes: 0.0,
            known: 0.0,
            detection: None,
            predicted: None,
            foretold: None,
            connections: 0,
            saved: false,
            is_over: false,
            docs: 0,
            charged: (0, 0),
        }
    }

    /// Bytes of memory that a job of this description takes before it has any metrics.
    pub fn cost_of(row: &JobRow) -> usize {
        let desc = &row.desc;
        let texts = [&desc.jobid, &desc.command, &desc.nodelist, &desc.partition, &desc.cluster];
        let others = [&desc.run_dir, &row.app, &row.path];
        JOB + texts.into_iter().chain(others).map(String::len).sum::<usize>() + desc.jobid.len()
    }

    /// Bytes of memory that everything takes which is known of it.
    pub fn memory(&self) -> usize {
        let phases = |found: &Detection| size_of::<Detection>() + size_of_val(found.phases.as_slice());
        Self::cost_of(&self.row)
            + self.series.memory()
            + self.docs
            + self.detection.as_ref().map_or(0, phases)
    }

    /// What it came to, as it was stored.
    pub fn restore(&mut self, totals: Totals) {
        self.docs = totals.values().map(|total| total.doc.len()).sum();
        // A value tells its time more exactly than its bin does.
        let told = totals.values().filter_map(|total| total.raw_time).max_by(f64::total_cmp);
        self.known = told.unwrap_or(self.known);
        let moved = [WRITTEN, READ].into_iter().flat_map(|name| self.series.moved(name));
        self.last_bytes = moved.map(|(_, to, _)| to).fold(0.0, f64::max).min(self.known);
        self.totals = totals;
    }

    /// A row for a job that begins.
    pub fn row(desc: JobDesc, origin: Origin, owner: Option<u32>, start: f64) -> JobRow {
        let app = crate::apps::key(&desc.command, desc.size);
        JobRow { start, origin, owner, app, desc: desc.cleaned(), ..JobRow::default() }
    }

    /// Take in requests of a trace.
    pub fn requests(&mut self, requests: &[Request], now: f64, budget: usize) {
        for request in requests {
            let (bytes, operations) = match request.class {
                Class::WriteSync | Class::WriteAsync => (WRITTEN, WRITES),
                _ => (READ, READS),
            };
            let (start, end) = (seconds(request.start), seconds(request.end));
            self.series.spread(bytes, start, end, request.bytes, budget);
            self.series.spread(operations, end, end, 1, budget);
            self.count(bytes, request.bytes as f64, now);
            self.count(operations, 1.0, now);
            self.last_bytes = self.last_bytes.max(end);
        }
        self.known = self.known.max(self.last_bytes);
        self.hear(now);
        self.saved = false;
    }

    /// Something came.
    pub fn hear(&mut self, now: f64) {
        (self.last, self.heard) = (now, Instant::now());
    }

    fn count(&mut self, name: &str, value: f64, now: f64) {
        match self.totals.get_mut(name) {
            Some(total) => total.add(value, now),
            None => {
                self.totals.insert(name.to_owned(), Total::counter(value, now));
            }
        }
        match name {
            WRITTEN => self.row.written_bytes += value,
            READ => self.row.read_bytes += value,
            _ => {}
        }
    }

    /// What a value that comes means, `time` seconds after the job began: an increment of a counter, or what
    /// a gauge shows. `None`: it is not taken, because it is no number, there are too many metrics, the name
    /// has another kind, or a running sum of that time or a later one is known already.
    pub fn change(&self, name: &str, kind: Kind, time: f64, value: f64, is_sum: bool) -> Option<Change> {
        let name = clean(name, crate::job::LONGEST_NAME);
        let known = self.totals.get(&name);
        if value.is_nan()
            || value.abs() > MAX_VALUE
            || name.is_empty()
            || known.is_some_and(|known| known.kind != kind)
        {
            return None;
        }
        if known.is_none() && self.totals.len() >= MAX_METRICS {
            return None;
        }
        if kind == Kind::Gauge || !is_sum {
            return (kind == Kind::Gauge || value >= 0.0).then_some((name, kind, value, None));
        }
        // The first one tells where it begins, and not when that was added.
        let before = known.and_then(|known| known.raw).unwrap_or(value);
        // Sent twice, or late: a sum that is older than what is known says nothing, and must not be taken for
        // one that has begun anew.
        let latest = known.and_then(|known| known.raw_time).unwrap_or(f64::NEG_INFINITY);
        if time < latest || (time == latest && value < before) {
            return None;
        }
        // A sum that falls has begun anew.
        let added = if value >= before { value - before } else { value };
        (value >= 0.0).then_some((name, kind, added, Some(value)))
    }

    /// Take in what came, `time` seconds after the job began.
    pub fn apply(
        &mut self,
        time: f64,
        changes: &[Change],
        docs: impl Fn(&str) -> String,
        now: f64,
        budget: usize,
    ) {
        for (name, kind, value, raw) in changes {
            if !self.series.add(name, *kind, time, *value, budget) {
                continue;
            }
            let new = || {
                let total = Total::new(*kind, &clean(&docs(name), crate::job::LONGEST_NAME));
                self.docs += total.doc.len();
                total
            };
            let total = self.totals.entry(name.clone()).or_insert_with(new);
            let latest = total.value;
            total.add(*value, now);
            if let Some(raw) = raw {
                if total.raw.is_none() {
                    total.first += raw - value;
                    total.value += raw - value;
                }
                (total.raw, total.raw_time) = (Some(*raw), Some(time));
            } else if *kind == Kind::Gauge {
                // One that comes late does not say how it is now.
                match total.raw_time.filter(|before| time < *before) {
                    Some(_) => total.value = latest,
                    None => total.raw_time = Some(time),
                }
            }
            if matches!(name.as_str(), WRITTEN | READ) && *value > 0.0 {
                self.last_bytes = self.last_bytes.max(time);
            }
        }
        self.sum_up();
        self.known = self.known.max(time);
        self.hear(now);
        self.saved = false;
    }

    /// What came is in the series already; where running sums stood may have been saved before that.
    pub fn apply_sums(&mut self, time: f64, changes: &[Change]) {
        for (name, kind, value, raw) in changes {
            let Some(raw) = raw else { continue };
            let total = self.totals.entry(name.clone()).or_insert_with(|| Total::new(*kind, ""));
            if total.raw.is_none() {
                total.first = raw - value;
            }
            if total.raw_time.is_none_or(|before| before <= time) {
                (total.raw, total.raw_time) = (Some(*raw), Some(time));
            }
            total.value = self.series.total(name) + total.first;
        }
        self.sum_up();
    }

    /// What it moved is what its counters came to.
    pub fn sum_up(&mut self) {
        let value = |name: &str| self.totals.get(name).map_or(0.0, |total| total.value);
        (self.row.written_bytes, self.row.read_bytes) = (value(WRITTEN), value(READ));
    }

    /// When the next phase begins and ends, in job time, and its bytes. If bytes were moved when it was
    /// expected it has come, and the next one is that after it.
    pub fn expected(&self) -> Option<(f64, f64, u64)> {
        let found = self.detection.as_ref()?;
        let next = found.next_phase?;
        let period = found.period.filter(|period| *period > 0.0);
        let has_come = self.last_bytes >= next.start_low && self.known > next.end;
        let shift = match period.filter(|_| has_come) {
            Some(period) => ((self.known - next.end) / period).ceil() * period,
            None => 0.0,
        };
        Some((next.start + shift, next.end + shift, next.bytes))
    }

    /// Up to when it is known what it does, in seconds since 1970.
    pub fn known_until(&self) -> f64 {
        self.row.start + self.known
    }

    /// Is it time to look at the period again? When a phase has ended, and not too often.
    pub fn is_due(&self) -> bool {
        let bytes = self.row.written_bytes + self.row.read_bytes;
        let (at, before) = self.predicted.unwrap_or((f64::NEG_INFINITY, 0.0));
        let quiet = self.known - self.last_bytes >= QUIET.max(2.0 * self.series.period());
        let pause = self.known - at;
        let rested = pause >= MIN_PAUSE.max(self.known / PARTS);
        bytes > before && rested && (quiet || pause >= MAX_PAUSE)
    }

    /// It was looked at.
    pub fn looked(&mut self, known: f64) {
        self.predicted = Some((known, self.row.written_bytes + self.row.read_bytes));
    }

    /// Bytes per second in steps from `begin` on, in seconds since 1970: written, read.
    pub fn rates(&self, begin: f64, step: f64, count: usize) -> [Vec<f64>; 2] {
        [WRITTEN, READ].map(|name| self.series.rates(name, begin - self.row.start, step, count))
    }

    /// Bytes per second of the last seconds, for a small picture.
    pub fn spark(&self, now: f64, seconds: usize) -> Vec<f64> {
        let [mut written, read] = self.rates(now - seconds as f64, 1.0, seconds);
        written.iter_mut().zip(read).for_each(|(sum, read)| *sum += read);
        written
    }

    /// Bytes per second now: the mean of the last two seconds that are complete.
    pub fn rate(&self, now: f64) -> f64 {
        let end = self.row.start + (now - self.row.start).floor();
        let [written, read] = self.rates(end - 2.0, 2.0, 1);
        written[0] + read[0]
    }
}
