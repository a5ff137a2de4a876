//! Logs and samples from files of any format.

use crate::rows::RowsError;
use crate::server_log::LogError;
use crate::{Listed, Sample, ServerLog, Settings, rows};
use sources::content::Content;
use sources::request::{Class, Mode, Span};
use sources::series::{self, Series};
use sources::time::seconds;
use sources::{
    Input, Kind, OpenOptions, Opened, Rate, Sampled, Source, SourceError, open, open_content, units,
};
use std::path::{Path, PathBuf};

/// What is taken from logs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// What is written.
    Write,
    /// What is read.
    Read,
    /// All.
    Both,
}

impl Direction {
    /// As columns and results name it.
    pub fn name(self) -> &'static str {
        match self {
            Direction::Write => "write",
            Direction::Read => "read",
            Direction::Both => "both",
        }
    }
}

/// How logs are read.
#[derive(Clone, Debug)]
pub struct Reading {
    /// Which columns are taken.
    pub direction: Direction,
    /// Of several, those whose name contains this.
    pub metric: Option<String>,
    /// Bytes per second of a throughput of 1; `None`: as the column's name tells.
    pub unit: Option<f64>,
    /// Whether columns are counters.
    pub rate: Rate,
}

/// Why a log cannot be read.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)] // the messages say it
#[non_exhaustive]
pub enum Unreadable {
    #[error(transparent)]
    Source(#[from] SourceError),
    #[error(transparent)]
    Rows(#[from] RowsError),
    #[error(transparent)]
    Log(#[from] LogError),
    #[error("{name}: expected a column with \"{direction}\" in its name, found {found}")]
    NoColumn { name: String, direction: &'static str, found: String },
}

/// The logs of files: one for each column that is wanted.
pub fn logs(paths: &[PathBuf], args: &Reading) -> Result<Vec<ServerLog>, Unreadable> {
    let mut logs = Vec::new();
    for path in paths {
        logs.extend(columns(path, args)?);
    }
    Ok(logs)
}

/// The logs of one file.
fn columns(path: &Path, args: &Reading) -> Result<Vec<ServerLog>, Unreadable> {
    let input = Input::new(path);
    // Some traces are folders.
    let content = if path.is_dir() { None } else { Some(Content::open(&input)?) };
    let options = OpenOptions { metric: args.metric.clone(), rate: args.rate, ..OpenOptions::default() };
    let logs: Vec<Unread> = match content {
        Some(content) if rows::looks_like(content.head()) => {
            let name = content.name.clone();
            let all = rows::read(&name, content.into_reader())?;
            let chosen = series::choose(&name, all, args.metric.as_deref())?;
            chosen.into_iter().map(Unread::Series).collect()
        }
        Some(content) => open_content(content, &options)?.into_iter().map(Unread::Opened).collect(),
        None => open(&input, &options)?.into_iter().map(Unread::Opened).collect(),
    };
    let names: Vec<String> = logs.iter().map(Unread::name).collect();
    let wanted = wanted(&names, args.direction);
    if !wanted.iter().any(|wanted| *wanted) {
        let (name, direction) = (path.display().to_string(), args.direction.name());
        return Err(Unreadable::NoColumn { name, direction, found: names.join(", ") });
    }
    let chosen = logs.into_iter().zip(wanted).filter(|(_, wanted)| *wanted);
    let read = |(unread, _): (Unread, bool)| match unread {
        Unread::Series(series) => {
            let name = format!("{}: {}", path.display(), series.name);
            of_series(&name, series, args.rate, args)
        }
        Unread::Opened(opened) => log(opened, args),
    };
    chosen.map(read).collect()
}

/// What a column is before it is a log.
enum Unread {
    Series(Series),
    Opened(Opened),
}

impl Unread {
    fn name(&self) -> String {
        match self {
            Unread::Series(series) => series.name.clone(),
            Unread::Opened(Opened { kind: Kind::Sampled(sampled), .. }) => sampled.series.name.clone(),
            Unread::Opened(opened) => opened.name.clone(),
        }
    }
}

/// Which columns are of that direction: those whose name says so; if no name says anything, all.
fn wanted(names: &[String], direction: Direction) -> Vec<bool> {
    let says = |name: &String, word: &str| name.to_ascii_lowercase().contains(word);
    let told = names.len() > 1 && names.iter().any(|name| says(name, "read") || says(name, "write"));
    names.iter().map(|name| direction == Direction::Both || !told || says(name, direction.name())).collect()
}

/// A log, from a quantity over time or from requests.
fn log(opened: Opened, args: &Reading) -> Result<ServerLog, Unreadable> {
    let name = opened.name.clone();
    let Kind::Sampled(Sampled { series: quantity, rate, .. }) = opened.kind else {
        let mode = match args.direction {
            Direction::Write => Mode::Write,
            Direction::Read => Mode::Read,
            Direction::Both => Mode::All,
        };
        let bandwidth = bandwidth(opened.into_source()?, |class| mode.selects(class))?;
        let lines = (0u32..).zip(bandwidth).map(|(time, value)| (f64::from(time), value)).collect();
        return Ok(ServerLog::new(&name, lines)?);
    };
    of_series(&name, quantity, rate, args)
}

/// A log from a quantity over time.
fn of_series(name: &str, quantity: Series, rate: Rate, args: &Reading) -> Result<ServerLog, Unreadable> {
    let usable: Vec<(f64, f64)> = quantity
        .samples
        .iter()
        .copied()
        .filter(|sample| sample.0.is_finite() && sample.1.is_finite())
        .collect();
    let is_counter = series::is_counter(&quantity, &usable, rate);
    let (_, named) = units::split(&quantity.name);
    let factor = args.unit.or(named.and_then(units::rate).filter(|_| !quantity.is_bandwidth)).unwrap_or(1.0);
    let mut lines = if is_counter { series::rates(&usable) } else { quantity.samples };
    drop(usable);
    lines.iter_mut().for_each(|line| line.1 *= factor);
    let mut log = ServerLog::new(name, lines)?;
    if is_counter {
        log.warnings.push("taken as a counter: its rate is the throughput (--rate off if it is not)".into());
    }
    Ok(log)
}

/// Requests as bytes per second, one value a second from the start of the job, or from its first request.
fn bandwidth(source: Box<dyn Source>, selects: impl Fn(Class) -> bool) -> Result<Vec<f64>, SourceError> {
    let mut requests = Vec::new();
    let job = source.read(Span::Actual, &mut |some| {
        requests.extend(some.iter().filter(|request| selects(request.class)).copied());
    })?;
    let unit = job.per_unit.unwrap_or(1.0);
    let start = job.start.or(requests.iter().map(|request| request.start).min()).unwrap_or(0);
    let end = requests.iter().map(|request| request.end).max().max(job.end).unwrap_or(start);
    let count = (seconds(end.saturating_sub(start)).ceil().max(0.0) as usize).min(MAX_SECONDS);
    let mut out = vec![0.0; count];
    for request in &requests {
        let (from, to) = (seconds(request.start - start), seconds(request.end - start));
        let rate = request.bytes as f64 / unit / (to - from).max(1e-9);
        let mut second = from.max(0.0) as usize;
        while second < count && (second as f64) < to.max(from + 1e-9) {
            let overlap = (second as f64 + 1.0).min(to.max(from + 1e-9)) - (second as f64).max(from);
            out[second] += rate * overlap.max(0.0);
            second += 1;
        }
    }
    Ok(out)
}

/// A year.
const MAX_SECONDS: usize = 32_000_000;

/// What an application does by itself, second by second: a signature that was found, or a trace. Writes; if
/// there are none, reads.
pub fn course(path: &Path) -> Result<Vec<Vec<f64>>, SourceError> {
    let each = || open(&Input::new(path), &OpenOptions::default());
    let mut out = Vec::new();
    for (written, read) in each()?.into_iter().zip(each()?) {
        let writes = bandwidth(written.into_source()?, |class| Mode::Write.selects(class))?;
        let moved = writes.iter().any(|value| *value > 0.0);
        out.push(if moved { writes } else { bandwidth(read.into_source()?, |_| true)? });
    }
    Ok(out)
}

/// Samples that were cut out already.
#[derive(Debug, Default)]
pub struct Samples {
    /// Those that are of use.
    pub samples: Vec<Sample>,
    /// The others.
    pub dropped: Vec<Listed>,
    /// What a reader should know of the logs that they are.
    pub warnings: Vec<String>,
}

/// Reads samples that were cut out already. One broken file does not stop the others.
pub fn samples(paths: &[PathBuf], args: &Reading, settings: &Settings) -> Samples {
    let mut found = Samples::default();
    for path in paths {
        let name = path.display().to_string();
        let logs =
            logs(std::slice::from_ref(path), args).inspect(|logs| found.warnings.extend(warnings(logs)));
        let read = logs.and_then(|logs| Ok(ServerLog::sum(&name, &logs)?));
        let log = match read {
            Ok(log) => log,
            Err(error) => {
                found.dropped.push(Listed::dropped(name, 0.0, 0.0, error.to_string()));
                continue;
            }
        };
        match log.cut(&name, log.start, log.end(), settings) {
            Ok(sample) => found.samples.push(sample),
            Err(reason) => {
                found.dropped.push(Listed::dropped(name, log.start, log.end() - log.start, reason))
            }
        }
    }
    found
}

/// What a reader of these logs should know.
pub fn warnings(logs: &[ServerLog]) -> impl Iterator<Item = String> + '_ {
    logs.iter().flat_map(|log| log.warnings.iter().map(move |warning| format!("{}: {warning}", log.name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_of_a_direction() {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let both = names(&["ost0_read_bytes", "ost0_write_bytes"]);
        assert_eq!(wanted(&both, Direction::Write), [false, true]);
        assert_eq!(wanted(&both, Direction::Read), [true, false]);
        assert_eq!(wanted(&both, Direction::Both), [true, true]);
        assert_eq!(wanted(&names(&["widow0", "widow1"]), Direction::Read), [true, true]);
        assert_eq!(wanted(&names(&["write"]), Direction::Write), [true]);
    }
}
