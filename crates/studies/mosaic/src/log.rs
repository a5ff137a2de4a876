//! From a Darshan log to a run: which layer, which operations, whether it is valid at all.
//!
//! **Operations.** One for each file record and direction, from the first access to the end of the last, with
//! all its bytes; that is what counters tell. A record that all ranks share is one operation (the public code
//! expands it to ranks 1 … n−1, and so loses the bytes of rank 0). Where the log has a complete DXT trace of
//! the layer, each single read and write is an operation instead.
//!
//! **Layer.** Bytes of MPI-IO appear again under POSIX, so one layer is taken: the one that moved most; of
//! equals MPI-IO before POSIX before STDIO. Standard streams are no files and are left out.
//!
//! **Metadata.** Opens, closes and seeks reach the server from POSIX and from STDIO, which never count the
//! same call; those of MPI-IO are used where there is nothing below it. With a layer asked for, only that.

use crate::metadata::{Requests, thin_out};
use crate::operation::{Bins, Collector, Operation};
use crate::run::Run;
use crate::thresholds::Thresholds;
use darshan_log::{Activity, Direction, Dxt, Interval, Log, ModuleId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sources::Layer;

/// Ids of `<STDIN>`, `<STDOUT>` and `<STDERR>`: Darshan hashes names, so that these are the same in every
/// log.
const STANDARD_STREAMS: [u64; 3] =
    [9_457_796_068_806_373_448, 15_920_181_672_442_173_319, 7_238_257_241_479_193_519];

/// A DXT trace is used if it holds at least this share of the bytes that the counters hold.
const DXT_SHARE: f64 = 0.99;

/// The layers that are considered, the highest first.
const LAYERS: [Layer; 3] = [Layer::MpiIo, Layer::Posix, Layer::Stdio];

/// How logs are read.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reading {
    /// The layer; `None`: the one that moved most bytes.
    pub layer: Option<Layer>,
    /// Use DXT where there is some.
    pub dxt: bool,
    /// Ask FTIO for a second opinion on periodicity, and read the heatmap for it.
    pub witness: bool,
}

impl Default for Reading {
    fn default() -> Self {
        Reading { layer: None, dxt: true, witness: true }
    }
}

/// Where operations come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Origin {
    /// One for each file and direction.
    Counters,
    /// Every single access.
    Dxt,
    /// Every single access, of an input that is not a Darshan log.
    Requests,
}

/// A run as a log tells it.
#[derive(Clone, Debug)]
pub struct LoggedRun {
    /// The run.
    pub run: Run,
    /// The layer it is seen from; `None` if none moved anything.
    pub layer: Option<Layer>,
    /// Where its operations come from.
    pub origin: Origin,
    /// What the reader should know.
    pub notes: Vec<String>,
}

/// Why a log is not categorised, in a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum InvalidKind {
    /// The file cannot be opened or read.
    Unreadable,
    /// It is no Darshan log, or of a version that is not known.
    Unsupported,
    /// It is cut off or its data are damaged.
    Damaged,
    /// The job ends before it begins, or has no processes.
    ImpossibleJob,
    /// I/O lies outside of the job, or ends before it begins.
    ImpossibleTimes,
    /// Reading it failed in a way that it should not have.
    Defect,
}

impl InvalidKind {
    /// For people.
    pub fn words(self) -> &'static str {
        match self {
            InvalidKind::Unreadable => "unreadable",
            InvalidKind::Unsupported => "unsupported",
            InvalidKind::Damaged => "damaged",
            InvalidKind::ImpossibleJob => "impossible job",
            InvalidKind::ImpossibleTimes => "impossible times",
            InvalidKind::Defect => "defect",
        }
    }
}

/// Why a log is not categorised.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Invalid {
    /// In a word.
    pub kind: InvalidKind,
    /// With the place, what was expected and what was there.
    pub reason: String,
}

impl Invalid {
    pub(crate) fn new(kind: InvalidKind, reason: String) -> Self {
        Invalid { kind, reason }
    }
}

impl From<darshan_log::Error> for Invalid {
    fn from(error: darshan_log::Error) -> Self {
        use darshan_log::Error as E;
        let kind = match &error {
            E::Io { .. } => InvalidKind::Unreadable,
            E::Corrupt { .. } | E::Truncated { .. } | E::TooLarge { .. } => InvalidKind::Damaged,
            _ => InvalidKind::Unsupported,
        };
        Invalid::new(kind, error.to_string())
    }
}

/// Read a log.
pub fn read(log: &Log, reading: &Reading, thresholds: &Thresholds) -> Result<LoggedRun, Invalid> {
    let job = log.job();
    let ranks = u64::try_from(job.nprocs).ok().filter(|ranks| *ranks > 0).ok_or_else(|| {
        let reason = format!("{}: job: expected at least 1 process, found {}", log.file(), job.nprocs);
        Invalid::new(InvalidKind::ImpossibleJob, reason)
    })?;
    let run_time = job.run_time();
    if run_time <= 0.0 || job.end.seconds < job.start.seconds {
        let reason = format!(
            "{}: job: expected an end after the start ({}), found {}",
            log.file(),
            job.start.seconds,
            job.end.seconds
        );
        return Err(Invalid::new(InvalidKind::ImpossibleJob, reason));
    }
    let mut layers = LAYERS.map(|layer| Accesses::new(layer, run_time, thresholds));
    collect(log, reading, &mut layers)?;

    let mut notes: Vec<String> = log
        .modules()
        .iter()
        .filter(|module| module.partial && COUNTED.contains(&module.id))
        .map(|module| format!("Darshan ran out of memory for {}: files are missing", module.name()))
        .collect();
    let metadata = metadata(&layers);
    let [mpiio, posix, stdio] = layers;
    let heaviest = [mpiio, posix, stdio]
        .into_iter()
        .reduce(|best, next| if next.bytes() > best.bytes() { next } else { best })
        .filter(|layer| layer.bytes() > 0);
    let mut found = LoggedRun {
        run: Run { run_time, ranks, metadata, ..Run::default() },
        layer: None,
        origin: Origin::Counters,
        notes: Vec::new(),
    };
    if let Some(accesses) = heaviest {
        found.layer = Some(accesses.layer);
        if reading.witness {
            found.run.heatmap = heatmap(log, &accesses, thresholds);
        }
        let traced =
            if reading.dxt { traced(log, &accesses, run_time, thresholds, &mut notes) } else { None };
        let accesses = match traced {
            Some(traced) => {
                found.origin = Origin::Dxt;
                traced
            }
            None => accesses,
        };
        found.run.reads = accesses.reads.finish();
        found.run.writes = accesses.writes.finish();
    }
    found.notes = notes;
    Ok(found)
}

const COUNTED: [ModuleId; 3] = [ModuleId::POSIX, ModuleId::MPIIO, ModuleId::STDIO];

/// What went through a layer.
#[derive(Debug)]
struct Accesses {
    layer: Layer,
    reads: Collector,
    writes: Collector,
    metadata: Vec<Requests>,
    latest: f64,
}

impl Accesses {
    fn new(layer: Layer, run_time: f64, thresholds: &Thresholds) -> Self {
        let collector = Collector::new(run_time, thresholds);
        Accesses {
            layer,
            reads: collector.clone(),
            writes: collector,
            metadata: Vec::new(),
            latest: run_time + thresholds.clock_slack,
        }
    }

    fn bytes(&self) -> u64 {
        self.reads.bytes().saturating_add(self.writes.bytes())
    }

    fn add(&mut self, file: &str, activity: &Activity) -> Result<(), Invalid> {
        if STANDARD_STREAMS.contains(&activity.id) {
            return Ok(());
        }
        let directions =
            [("read", activity.read, activity.bytes_read), ("write", activity.write, activity.bytes_written)];
        for (what, interval, bytes) in directions {
            if bytes == 0 {
                continue;
            }
            // Bytes without a time happened some time while the file was open.
            let Some(interval) = interval.or(activity.open) else {
                let reason = format!(
                    "{file}: {} record {:016x}: expected the time of {bytes} bytes {what}, found none",
                    self.layer, activity.id
                );
                return Err(Invalid::new(InvalidKind::ImpossibleTimes, reason));
            };
            let operation = self.checked(file, activity, what, interval, bytes)?;
            if what == "read" { self.reads.push(operation) } else { self.writes.push(operation) }
        }
        self.add_metadata(activity);
        Ok(())
    }

    fn checked(
        &self,
        file: &str,
        activity: &Activity,
        what: &str,
        interval: Interval,
        bytes: u64,
    ) -> Result<Operation, Invalid> {
        let Interval { start, end } = interval;
        if start >= 0.0 && end >= start && end <= self.latest {
            return Ok(Operation::new(start, end, bytes));
        }
        let reason = format!(
            "{file}: {} record {:016x}: expected {what} within the {} s of the job, found {start} s to {end} \
             s",
            self.layer, activity.id, self.latest
        );
        Err(Invalid::new(InvalidKind::ImpossibleTimes, reason))
    }

    fn add_metadata(&mut self, activity: &Activity) {
        let point = |time: f64| Interval { start: time, end: time };
        let any = activity.open.or(activity.read).or(activity.write);
        let Some(any) = any else { return };
        let opening = activity.opening.unwrap_or(point(any.start));
        let closing = activity.closing.unwrap_or(point(any.end));
        let opens_and_seeks = activity.opens.saturating_add(activity.seeks);
        for (interval, count) in [(opening, opens_and_seeks), (closing, activity.opens)] {
            if count > 0 {
                self.metadata.push(Requests { start: interval.start, end: interval.end, count });
            }
        }
        if self.metadata.len() >= Collector::MAX_OPERATIONS {
            thin_out(&mut self.metadata);
        }
    }
}

/// Read the counters of all layers, or of the one asked for.
fn collect(log: &Log, reading: &Reading, layers: &mut [Accesses; 3]) -> Result<(), Invalid> {
    let asked = reading.layer;
    if log.format().major < 3 {
        // One record for all layers; read once.
        for record in log.darshan2() {
            let record = record?;
            for accesses in layers.iter_mut() {
                if asked.is_none_or(|layer| layer == accesses.layer) && record.uses(accesses.layer.into()) {
                    let activity = record.activity(accesses.layer.into(), log.job().start.seconds);
                    accesses.add(log.file(), &activity)?;
                }
            }
        }
        return Ok(());
    }
    for accesses in layers.iter_mut() {
        if asked.is_none_or(|layer| layer == accesses.layer) {
            for activity in log.activities(accesses.layer.into()) {
                accesses.add(log.file(), &activity?)?;
            }
        }
    }
    Ok(())
}

fn metadata(layers: &[Accesses; 3]) -> Vec<Requests> {
    let [mpiio, posix, stdio] = layers;
    if posix.metadata.is_empty() && stdio.metadata.is_empty() {
        return mpiio.metadata.clone();
    }
    posix.metadata.iter().chain(&stdio.metadata).copied().collect()
}

/// The operations of DXT, if it holds all that the counters hold.
fn traced(
    log: &Log,
    counted: &Accesses,
    run_time: f64,
    thresholds: &Thresholds,
    notes: &mut Vec<String>,
) -> Option<Accesses> {
    let (module, dxt) = match counted.layer {
        Layer::MpiIo => (ModuleId::DXT_MPIIO, log.dxt_mpiio()),
        Layer::Posix => (ModuleId::DXT_POSIX, log.dxt_posix()),
        _ => return None,
    };
    let info = log.module(module)?;
    if info.partial {
        notes.push(format!("{module} is partial: operations are those of the counters"));
        return None;
    }
    let mut traced = Accesses::new(counted.layer, run_time, thresholds);
    match read_segments(dxt, &mut traced) {
        Ok(()) if traced.bytes() as f64 >= DXT_SHARE * counted.bytes() as f64 => Some(traced),
        Ok(()) => {
            notes.push(format!(
                "{module} holds {} of {} bytes: operations are those of the counters",
                traced.bytes(),
                counted.bytes()
            ));
            None
        }
        Err(problem) => {
            notes.push(format!("operations are those of the counters: {problem}"));
            None
        }
    }
}

fn read_segments(mut dxt: Dxt<'_>, into: &mut Accesses) -> darshan_log::Result<()> {
    while dxt.next_head()?.is_some() {
        while let Some((direction, segment)) = dxt.next_segment()? {
            let Ok(bytes) = u64::try_from(segment.length) else { continue };
            let start = segment.start.max(0.0);
            if !(segment.end >= start && segment.end <= into.latest) {
                continue;
            }
            let operation = Operation::new(start, segment.end, bytes);
            match direction {
                Direction::Read => into.reads.push(operation),
                Direction::Write => into.writes.push(operation),
            }
        }
    }
    Ok(())
}

/// The heatmap of the layer, for the second witness; only if there is enough to look at.
fn heatmap(log: &Log, accesses: &Accesses, thresholds: &Thresholds) -> Option<Bins> {
    let least = thresholds.significant_bytes;
    if (accesses.reads.bytes() as f64) < least && (accesses.writes.bytes() as f64) < least {
        return None;
    }
    let heatmap = log.heatmap(accesses.layer.into()).ok()??;
    let is_width = heatmap.bin_width.is_finite() && heatmap.bin_width > 0.0;
    is_width.then_some(Bins { width: heatmap.bin_width, read: heatmap.read_bins, write: heatmap.write_bins })
}
