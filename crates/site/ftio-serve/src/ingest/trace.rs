//! A finished trace or log becomes a job: one pass gives its profile, its period and its series.

use super::below::OpenFile;
use crate::job::{JobDesc, READ, READS, State, Total, Totals, WRITES, WRITTEN};
use crate::series::Series;
use files::{Dir, Stat};
use ftio_core::detect::detection::Detection;
use ftio_core::detect::{Options, detect};
use inspect::profile::measurements::measurements;
use inspect::profile::profile_and;
use inspect::summarize;
use inspect::summary::Summary;
use sources::request::{Batch, Class, Request, Span};
use sources::time::seconds;
use sources::{Input, Job, Kind, OpenOptions, Opened, Source, SourceError, open, open_parts};
use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use tmio_trace::frame::{FrameKind, FrameReader};
use tmio_trace::{Header, RankInfo};

/// Bins of a finished job's series, at least, as far as the budget allows.
const BINS: f64 = 2048.0;

/// What a file says.
#[derive(Debug)]
pub struct Read {
    pub desc: JobDesc,
    /// Seconds since 1970.
    pub start: f64,
    pub end: f64,
    pub state: State,
    /// Share of the run time that an average rank spends in I/O.
    pub io_share: Option<f64>,
    pub owner: u32,
    pub totals: Totals,
    pub series: Series,
    pub detection: Option<Detection>,
    pub categories: Vec<String>,
    /// Callpath, metric, value.
    pub measurements: Vec<(String, String, f64)>,
}

/// Read a file that somebody may have put below a directory. It stays open, for who wants to know more of it.
pub fn read_file(file: &OpenFile, path: &Path, budget: usize) -> Result<Read, String> {
    let place = Place { door: &file.door(), path, about: &file.about, parts: false };
    read(&place, budget)
}

/// Read the parts that a dead job has left.
pub fn read_parts(folder: &Dir, path: &Path, budget: usize) -> Result<Read, String> {
    let about = folder.stat().map_err(|error| error.why.to_string())?;
    read(&Place { door: &folder.door(), path, about: &about, parts: true }, budget)
}

/// What is read.
struct Place<'a> {
    /// The open file or directory.
    door: &'a Path,
    /// The name that users know.
    path: &'a Path,
    about: &'a Stat,
    /// They are the parts of a trace.
    parts: bool,
}

fn read(place: &Place<'_>, budget: usize) -> Result<Read, String> {
    let door = place.door;
    let opened = opened(place)?;
    let ours = matches!(opened.kind, Kind::Ours(_));
    let log = if let Kind::Darshan(log) = &opened.kind { Some(Arc::clone(&log.log)) } else { None };
    let mut series = Series::new(crate::series::FINEST);
    let look = |name: &str, source: Box<dyn Source + '_>| {
        detect(name, Tee { source, series: &mut series, budget }, &Options::default())
    };
    let text = |error: SourceError| place.named(&error.to_string());
    let (profile, analysis) = profile_and(opened, Box::new(look)).map_err(text)?;
    let detection = analysis.ok().map(|analysis| analysis.detection);
    let summary = summarize(opened_again(place)?).map_err(text)?;
    // A bin is no finer than there is something to see.
    while series.bins() as f64 > 2.0 * BINS {
        series.fold();
    }
    let hosts = if ours { hosts(door) } else { Vec::new() };
    let measured = measurements(&profile, detection.as_ref());
    let mut measurements: Vec<(String, String, f64)> =
        measured.into_iter().map(|one| (one.callpath, one.metric.to_owned(), one.value)).collect();
    let (desc, start, end) = describe(&summary, place, &hosts, ours.then(|| header(door)).flatten());
    let length = (end - start).max(0.0);
    measurements.push(("walltime".into(), "Time (s)".into(), length));
    // Of an input that does not tell when, as well: a log of counters.
    let totals = moved(&summary);
    for (name, value) in totals {
        measurements.push((
            name.to_owned(),
            if name.ends_with("bytes") { "Size (B)" } else { "Hits" }.into(),
            value,
        ));
    }
    let categories = match log.filter(|_| series.bins() == 0) {
        Some(log) => crate::categories::of_log(&log),
        None => crate::categories::of_series(&series, desc.size, length),
    };
    Ok(Read {
        categories,
        desc,
        start,
        end,
        state: state(&summary),
        io_share: summary.io_share.map(|share| share.all),
        owner: place.about.user,
        totals: all_totals(&totals, &summary, &measurements, end),
        series,
        detection,
        measurements,
    })
}

/// How the job stands. Darshan writes its log when a job ends, so that of one which is damaged, or for which
/// it had too little memory, a part is missing, and not the end.
fn state(summary: &Summary) -> State {
    match (summary.complete, summary.modules.is_some()) {
        (true, _) => State::Finished,
        (false, true) => State::Partial,
        (false, false) => State::Lost,
    }
}

/// What was moved, and in how many operations.
fn moved(summary: &Summary) -> [(&'static str, f64); 4] {
    let (write, read) = (&summary.write_async.class, &summary.read_async.class);
    let sum = |one: u64, other: u64| one as f64 + other as f64;
    [
        (WRITTEN, sum(summary.write_sync.bytes, write.bytes)),
        (READ, sum(summary.read_sync.bytes, read.bytes)),
        (WRITES, sum(summary.write_sync.ops, write.ops)),
        (READS, sum(summary.read_sync.ops, read.ops)),
    ]
}

/// One input; an export of several quantities is no job.
fn opened(place: &Place<'_>) -> Result<Opened, String> {
    let (options, text) = (OpenOptions::default(), |error: SourceError| place.named(&error.to_string()));
    if place.parts {
        return open_parts(place.door, &options).map_err(text);
    }
    let mut all = open(&Input::new(place.door), &options).map_err(text)?;
    match (all.pop(), all.is_empty()) {
        (Some(Opened { kind: Kind::Sampled(_), .. }), _) | (_, false) => {
            Err("samples of a quantity, not a job: push them instead".into())
        }
        (Some(one), true) => Ok(one),
        (None, true) => Err("nothing in it".into()),
    }
}

fn opened_again(place: &Place<'_>) -> Result<Opened, String> {
    opened(place)
}

impl Place<'_> {
    /// Messages name the file as the user does.
    fn named(&self, text: &str) -> String {
        text.replace(&*self.door.to_string_lossy(), &self.path.to_string_lossy())
    }
}

/// Who, what, where and when.
fn describe(
    summary: &Summary,
    place: &Place<'_>,
    hosts: &[String],
    header: Option<Header>,
) -> (JobDesc, f64, f64) {
    let path = place.path;
    let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let folder = path.parent().unwrap_or(Path::new("")).to_string_lossy().into_owned();
    let changed = (place.about.modified / 1_000_000_000) as f64;
    let job = summary.job.as_ref();
    let length = (summary.t_end - summary.t_start.min(0.0)).max(0.0);
    let start = job.map(|job| job.start).filter(|start| *start > 0.0).unwrap_or(changed - length);
    let executable = job.map(|job| job.executable.trim()).filter(|name| !name.is_empty());
    let command = header.and_then(|header| header.command).filter(|command| !command.is_empty());
    // Runs of an unknown program are known by their folder.
    let unknown =
        || path.parent().and_then(Path::file_name).unwrap_or_default().to_string_lossy().into_owned();
    let desc = JobDesc {
        jobid: job.map(|job| job.id.trim().to_owned()).filter(|id| !id.is_empty()).unwrap_or(stem),
        command: command.or(executable.map(str::to_owned)).unwrap_or_else(unknown),
        size: summary.ranks.map_or(0, i64::from),
        nodelist: hosts.join(","),
        run_dir: folder,
        start_time: start as u64,
        end_time: (start + length) as u64,
        ..JobDesc::default()
    };
    (desc.cleaned(), start, start + length)
}

/// The hosts of a trace of ours, from the frames before its first block.
fn hosts(door: &Path) -> Vec<String> {
    let Ok(file) = File::open(door) else { return Vec::new() };
    let mut frames = FrameReader::new(std::io::BufReader::new(file));
    let mut hosts = Vec::new();
    while let Ok(Some(frame)) = frames.next_frame() {
        match frame.kind {
            Some(FrameKind::Rank) => {
                let host = RankInfo::parse(frame.body).map(|info| info.host);
                hosts.extend(host.filter(|host| !hosts.contains(host)));
            }
            Some(FrameKind::Header | FrameKind::Padding) => {}
            _ => break,
        }
    }
    hosts
}

fn header(door: &Path) -> Option<Header> {
    tmio_trace::parts::first_header(door)
}

/// Counters as `/job` shows them: the four of every trace, what went through each layer, how many files there
/// are, and everything that was measured.
fn all_totals(
    counted: &[(&str, f64); 4],
    summary: &Summary,
    measurements: &[(String, String, f64)],
    time: f64,
) -> Totals {
    let mut totals = Totals::new();
    let mut put = |name: String, value: f64| totals.insert(name, Total::counter(value, time));
    for (name, layer) in &summary.layers {
        put(format!("{name}_{WRITTEN}"), layer.write.bytes as f64);
        put(format!("{name}_{READ}"), layer.read.bytes as f64);
        put(format!("{name}_{WRITES}"), layer.write.ops as f64);
        put(format!("{name}_{READS}"), layer.read.ops as f64);
        put(format!("{name}_seconds"), layer.time());
    }
    put("files".into(), summary.files.len() as f64);
    for (callpath, metric, value) in measurements {
        let name = crate::apps::metric_name(callpath, metric);
        totals.insert(name, Total { doc: metric.clone(), ..Total::counter(*value, time) });
    }
    for (name, value) in counted {
        totals.insert((*name).to_owned(), Total::counter(*value, time));
    }
    totals
}

/// Passes requests on, and puts them into a series on the way.
struct Tee<'a, S> {
    source: S,
    series: &'a mut Series,
    budget: usize,
}

impl<S: Source> Tee<'_, S> {
    fn add(series: &mut Series, budget: usize, request: &Request) {
        let (bytes, operations) = match request.class {
            Class::WriteSync | Class::WriteAsync => (WRITTEN, WRITES),
            _ => (READ, READS),
        };
        series.spread(bytes, seconds(request.start), seconds(request.end), request.bytes, budget);
        series.spread(operations, seconds(request.end), seconds(request.end), 1, budget);
    }
}

impl<S: Source> Source for Tee<'_, S> {
    fn bin(&self) -> Option<i64> {
        self.source.bin()
    }

    fn read(self: Box<Self>, span: Span, visit: &mut dyn FnMut(&[Request])) -> Result<Job, SourceError> {
        let Tee { source, series, budget } = *self;
        Box::new(source).read(span, &mut |requests| {
            requests.iter().for_each(|request| Self::add(series, budget, request));
            visit(requests);
        })
    }

    fn read_detailed(
        self: Box<Self>,
        span: Span,
        visit: &mut dyn FnMut(Batch<'_>),
    ) -> Result<Job, SourceError> {
        let Tee { source, series, budget } = *self;
        Box::new(source).read_detailed(span, &mut |batch| {
            batch.requests.iter().for_each(|detail| Self::add(series, budget, &detail.request));
            visit(batch);
        })
    }
}
