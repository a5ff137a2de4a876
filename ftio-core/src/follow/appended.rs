//! Files to which whole entries are appended: values of JSON or MessagePack, or lines.
//!
//! What came since the last look is cut after the last whole entry and read as if it were a file of its own, by the same readers that
//! read a finished one.

use super::sampled::Sampled;
use super::split::Splitter;
use super::tail::Tail;
use super::{Event, Status, Stream};
use crate::request::Request;
use crate::source::content::Content;
use crate::source::metrics::{self, Series};
use crate::source::recognise::Format;
use crate::source::value::Value;
use crate::source::{OpenOptions, SourceError, Span, csv, open_content};
use std::collections::BTreeMap;
use std::path::Path;

/// So much is enough to tell a format.
const ENOUGH: usize = 60 << 10;

/// Is the format certain, given that the file may only just have begun? JSON of different origin begins alike.
pub(super) fn is_certain(format: Format, head: &[u8]) -> bool {
    let whole = |mut splitter: Splitter| splitter.next(head, &mut 0);
    match format {
        Format::TmioJson | Format::GekkoFsJson | Format::ProxyJson => {
            head.len() >= ENOUGH || whole(Splitter::json())
        }
        Format::GekkoFsMessagePack | Format::ProxyMessagePack => {
            head.len() >= ENOUGH || whole(Splitter::message_pack())
        }
        Format::Csv | Format::Text => whole(Splitter::Lines),
        Format::OurTrace
        | Format::TmioMessagePack
        | Format::Darshan
        | Format::Recorder
        | Format::TraceEvents => true,
    }
}

#[derive(Debug)]
pub(super) struct Appended {
    name: String,
    tail: Tail,
    format: Format,
    span: Span,
    options: OpenOptions,
    splitter: Splitter,
    /// Bytes that were read and not used yet.
    rest: Vec<u8>,
    /// How far `rest` was looked at, and up to where it is whole entries.
    looked: usize,
    whole: usize,
    /// The names of the columns.
    header: Option<Vec<u8>>,
    has_rows: bool,
    /// Announced signals: requests are the first and only one, quantities have their names.
    requests_announced: bool,
    quantities: BTreeMap<String, (Option<usize>, Sampled)>,
    announced: usize,
    warned: bool,
    /// Flushes end with a section that is called `io_time`.
    has_io_time: bool,
    until: Option<i64>,
}

impl Appended {
    pub fn new(
        path: &Path,
        format: Format,
        head: &[u8],
        span: Span,
        options: OpenOptions,
    ) -> Result<Self, SourceError> {
        let name = path.display().to_string();
        let tail = Tail::open(path).map_err(|source| SourceError::Io { name: name.clone(), source })?;
        let splitter = match format {
            Format::TmioJson | Format::GekkoFsJson | Format::ProxyJson => Splitter::json(),
            Format::TmioMessagePack | Format::GekkoFsMessagePack | Format::ProxyMessagePack => {
                Splitter::message_pack()
            }
            Format::Csv
            | Format::Text
            | Format::OurTrace
            | Format::Darshan
            | Format::Recorder
            | Format::TraceEvents => Splitter::Lines,
        };
        Ok(Appended {
            name,
            tail,
            format,
            span,
            options,
            splitter,
            rest: Vec::new(),
            looked: 0,
            whole: 0,
            header: None,
            has_rows: false,
            requests_announced: false,
            quantities: BTreeMap::new(),
            announced: 0,
            warned: false,
            has_io_time: tmio_trace::tmio::detect(head) == Some(tmio_trace::tmio::Format::Jsonl),
            until: None,
        })
    }

    /// `None`: the file is another one now.
    pub fn poll(&mut self, visit: &mut dyn FnMut(Event<'_>)) -> Result<Option<Status>, SourceError> {
        let failed = |name: &str, source| SourceError::Io { name: name.to_owned(), source };
        if self.tail.is_other().map_err(|source| failed(&self.name, source))? {
            return Ok(None);
        }
        let mut grew = false;
        while self.tail.read(&mut self.rest).map_err(|source| failed(&self.name, source))? > 0 {
            grew = true;
            self.take_flushes(visit);
        }
        if !self.waits_for_io_time() {
            self.take_whole(visit);
        }
        Ok(Some(Status { found: true, grew, unsettled: self.whole > 0, ended: false }))
    }

    /// Take what is whole, though more may belong to it.
    pub fn settle(&mut self, visit: &mut dyn FnMut(Event<'_>)) {
        self.take_whole(visit);
    }

    /// Only TMIO says where a flush ends; and not every file that looks like its does.
    fn waits_for_io_time(&self) -> bool {
        self.has_io_time || self.format == Format::TmioMessagePack
    }

    /// Find whole entries, and take them flush by flush where flushes can be told apart.
    fn take_flushes(&mut self, visit: &mut dyn FnMut(Event<'_>)) {
        while self.splitter.next(&self.rest, &mut self.looked) {
            let entry = &self.rest[self.whole..self.looked];
            let ends_flush = match self.format {
                Format::TmioJson => contains(entry, b"\"io_time\""),
                Format::TmioMessagePack => contains(&entry[..entry.len().min(16)], b"io_time"),
                _ => false,
            };
            self.whole = self.looked;
            if ends_flush {
                self.has_io_time = true;
                self.take_whole(visit);
            }
        }
    }

    fn take_whole(&mut self, visit: &mut dyn FnMut(Event<'_>)) {
        if self.whole == 0 {
            return;
        }
        let chunk: Vec<u8> = self.rest.drain(..self.whole).collect();
        self.looked -= self.whole;
        self.whole = 0;
        if let Err(problem) = self.take(chunk, visit)
            && !self.warned
        {
            self.warned = true;
            visit(Event::Warning(&problem.to_string()));
        }
    }

    fn take(&mut self, chunk: Vec<u8>, visit: &mut dyn FnMut(Event<'_>)) -> Result<(), SourceError> {
        match self.format {
            Format::ProxyJson => {
                let values = Value::from_json(&self.name, &chunk)?;
                let series = metrics::from_proxy(&self.name, &values)?;
                self.take_series(series, true, visit)
            }
            Format::ProxyMessagePack => {
                let values = Value::from_message_pack(&self.name, &chunk)?;
                let series = metrics::from_proxy(&self.name, &values)?;
                self.take_series(series, true, visit)
            }
            Format::Csv => {
                let Some(table) = self.with_header(chunk) else { return Ok(()) };
                let content = Content::from_bytes(&self.name, table.clone())?;
                match csv::series(content)? {
                    Some(series) => {
                        let several = series.len() > 1;
                        self.take_series(series, several, visit)
                    }
                    None => self.take_requests(table, visit),
                }
            }
            _ => self.take_requests(chunk, visit),
        }
    }

    /// Rows with the names of their columns above them; `None` as long as there is no row.
    fn with_header(&mut self, chunk: Vec<u8>) -> Option<Vec<u8>> {
        let mut chunk = chunk;
        if !self.has_rows {
            let (end, is_header) = csv::first_row(&chunk)?;
            if is_header {
                let rows = chunk.split_off(end);
                self.header = Some(std::mem::replace(&mut chunk, rows));
            }
            self.has_rows = true;
        }
        csv::first_row(&chunk)?;
        Some(match &self.header {
            Some(header) => [header.as_slice(), &chunk].concat(),
            None => chunk,
        })
    }

    fn take_requests(&mut self, chunk: Vec<u8>, visit: &mut dyn FnMut(Event<'_>)) -> Result<(), SourceError> {
        let content = Content::from_bytes(&self.name, chunk)?;
        let mut until = None;
        for opened in open_content(content, self.format, &self.options)? {
            let announced = &mut self.requests_announced;
            let name = &self.name;
            let job = opened.source.read(self.span, &mut |requests: &[Request]| {
                let Some(first) = requests.iter().map(|request| request.start).min() else { return };
                if !*announced {
                    *announced = true;
                    visit(Event::Stream(&Stream { name: name.clone(), begins: Some(first), per_unit: None }));
                }
                until = until.max(requests.iter().map(|request| request.end).max());
                visit(Event::Requests { stream: 0, requests });
            })?;
            if let Some(warning) = job.warnings.first().filter(|_| !self.warned) {
                self.warned = true;
                visit(Event::Warning(warning));
            }
        }
        if let Some(until) = until.filter(|until| self.until.is_none_or(|before| *until > before)) {
            self.until = Some(until);
            visit(Event::Flush { stream: 0, until });
        }
        Ok(())
    }

    fn take_series(
        &mut self,
        series: Vec<Series>,
        several: bool,
        visit: &mut dyn FnMut(Event<'_>),
    ) -> Result<(), SourceError> {
        for series in metrics::choose(&self.name, series, self.options.metric.as_deref())? {
            let (number, sampled) = self
                .quantities
                .entry(series.name.clone())
                .or_insert_with(|| (None, Sampled::new(series.class)));
            let (requests, until) = sampled.take(&series);
            let Some(until) = until else { continue };
            let stream = *number.get_or_insert_with(|| {
                let name =
                    if several { format!("{}: {}", self.name, series.name) } else { self.name.clone() };
                let stream = Stream { name, begins: sampled.begins, per_unit: sampled.per_unit };
                visit(Event::Stream(&stream));
                self.announced += 1;
                self.announced - 1
            });
            visit(Event::Requests { stream, requests: &requests });
            visit(Event::Flush { stream, until });
        }
        Ok(())
    }
}

fn contains(bytes: &[u8], needle: &[u8]) -> bool {
    bytes.windows(needle.len()).any(|window| window == needle)
}
