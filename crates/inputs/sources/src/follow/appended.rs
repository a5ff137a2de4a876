//! Files to which whole entries are appended: values of JSON or MessagePack, or lines.
//!
//! What came since the last look is cut after the last whole entry and read as if it were a file of its own,
//! by the same readers that read a finished one.

use super::event::{Event, Status, Stream};
use super::sampled::Quantities;
use super::tail::Tail;
use crate::content::Content;
use crate::csv::first_row;
use crate::format::{Format, Growth, Holds};
use crate::request::Request;
use crate::split::Splitter;
use crate::{Kind, OpenOptions, Opened, SourceError, Span, since_first};
use std::path::Path;

/// This much is enough to tell a format.
const ENOUGH: usize = 60 << 10;

/// Is the format certain, given that the file may only just have begun? JSON of different origin begins
/// alike.
pub(super) fn is_certain(growth: Growth, head: &[u8]) -> bool {
    head.len() >= ENOUGH || (growth.splitter)().next(head, &mut 0)
}

#[derive(Debug)]
pub(super) struct Appended {
    name: String,
    tail: Tail,
    format: &'static Format,
    growth: Growth,
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
    quantities: Quantities,
    warned: bool,
    /// There is something that ends a flush.
    ends_flushes: bool,
    until: Option<i64>,
}

impl Appended {
    pub fn new(
        path: &Path,
        format: &'static Format,
        growth: Growth,
        head: &[u8],
        span: Span,
        options: OpenOptions,
    ) -> Result<Self, SourceError> {
        let name = path.display().to_string();
        let tail = Tail::open(path).map_err(|source| SourceError::Io { name: name.clone(), source })?;
        Ok(Appended {
            name,
            tail,
            format,
            growth,
            span,
            options,
            splitter: (growth.splitter)(),
            rest: Vec::new(),
            looked: 0,
            whole: 0,
            header: None,
            has_rows: false,
            requests_announced: false,
            quantities: Quantities::default(),
            warned: false,
            ends_flushes: growth.flushes.is_some_and(|flushes| (flushes.expected)(head)),
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
        if !self.ends_flushes {
            self.take_whole(visit);
        }
        Ok(Some(Status { found: true, grew, unsettled: self.whole > 0, ended: false }))
    }

    /// Take what is whole, though more may belong to it.
    pub fn settle(&mut self, visit: &mut dyn FnMut(Event<'_>)) {
        self.take_whole(visit);
    }

    /// Find whole entries, and take them flush by flush where flushes can be told apart.
    fn take_flushes(&mut self, visit: &mut dyn FnMut(Event<'_>)) {
        while self.splitter.next(&self.rest, &mut self.looked) {
            let entry = &self.rest[self.whole..self.looked];
            let ends_flush = self.growth.flushes.is_some_and(|flushes| (flushes.ended_by)(entry));
            self.whole = self.looked;
            if ends_flush {
                self.ends_flushes = true;
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
        let chunk = if self.growth.header {
            let Some(table) = self.with_header(chunk) else { return Ok(()) };
            table
        } else {
            chunk
        };
        let content = Content::from_bytes(&self.name, chunk)?;
        match (self.format.read)(content, &self.options)? {
            Holds::One(kind) => self.take_requests(kind, visit),
            Holds::Series(series) => {
                // A table may have one column; a proxy names its quantities, however few.
                let several = series.len() > 1 || !self.growth.header;
                self.quantities.take(&self.name, series, several, &self.options, visit)
            }
        }
    }

    /// Rows with the names of their columns above them; `None` as long as there is no row.
    fn with_header(&mut self, chunk: Vec<u8>) -> Option<Vec<u8>> {
        let mut chunk = chunk;
        if !self.has_rows {
            let (end, is_header) = first_row(&chunk)?;
            if is_header {
                let rows = chunk.split_off(end);
                self.header = Some(std::mem::replace(&mut chunk, rows));
            }
            self.has_rows = true;
        }
        first_row(&chunk)?;
        Some(match &self.header {
            Some(header) => [header.as_slice(), &chunk].concat(),
            None => chunk,
        })
    }

    fn take_requests(&mut self, kind: Kind, visit: &mut dyn FnMut(Event<'_>)) -> Result<(), SourceError> {
        let mut until = None;
        let announced = &mut self.requests_announced;
        let name = &self.name;
        let opened = Opened { name: name.clone(), kind: since_first(kind, self.options.origin) };
        let job = opened.into_source()?.read(self.span, &mut |requests: &[Request]| {
            let Some(first) = requests.iter().map(|request| request.start).min() else { return };
            if !*announced {
                *announced = true;
                visit(Event::Stream(&Stream { name: name.clone(), begins: Some(first), per_unit: None }));
            }
            until = until.max(requests.iter().map(|request| request.end).max());
            visit(Event::Requests { stream: 0, requests });
        })?;
        if let Some(origin) = job.origin.filter(|origin| *origin != 0 && *announced) {
            visit(Event::Clock { stream: 0, origin });
        }
        // What comes later counts from the same moment.
        self.options.origin = self.options.origin.or(job.origin).or(Some(0));
        if let Some(warning) = job.warnings.first().filter(|_| !self.warned) {
            self.warned = true;
            visit(Event::Warning(warning));
        }
        if let Some(until) = until.filter(|until| self.until.is_none_or(|before| *until > before)) {
            self.until = Some(until);
            visit(Event::Flush { stream: 0, until });
        }
        Ok(())
    }
}
