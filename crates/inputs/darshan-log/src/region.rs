//! One compressed region of a log, read forwards in pieces of the reader's choosing.

use std::borrow::Cow;

use crate::error::{Error, Place, Result};
use crate::inflate::{Compression, Decoder};
use crate::limits::Limits;
use crate::source::Source;

/// Compressed bytes fetched from a file at a time.
const INPUT_CHUNK: usize = 64 << 10;

/// Inflated bytes buffered at a time, at least one of these and at most the other unless a caller needs more.
const OUTPUT_CHUNK: std::ops::RangeInclusive<usize> = 1 << 10..=64 << 10;

/// Where a region lies in the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Extent {
    pub start: u64,
    pub len: u64,
}

/// Reads the inflated bytes of a region, once, from its beginning.
///
/// Memory is two buffers of 64 KiB and the decoder's window, however large the region. After an error nothing
/// more is read.
#[derive(Debug)]
pub(crate) struct Region<'a> {
    file: &'a str,
    source: &'a Source,
    name: Cow<'static, str>,
    extent: Extent,
    /// Compressed bytes not fetched yet, and where the region, or the file, ends.
    next: u64,
    end: u64,
    /// Compressed bytes fetched from a file; unused when the log is in memory.
    input: Vec<u8>,
    input_at: usize,
    decoder: Decoder,
    inside_stream: bool,
    /// Inflated bytes not taken yet are `output[output_at..]`.
    output: Vec<u8>,
    output_at: usize,
    chunk: usize,
    inflated: u64,
    limit: u64,
    collected_limit: u64,
    record: Option<u64>,
    ended: bool,
    failure: Option<Error>,
}

impl<'a> Region<'a> {
    pub(crate) fn new(
        file: &'a str,
        source: &'a Source,
        compression: Compression,
        limits: &Limits,
        name: Cow<'static, str>,
        extent: Extent,
    ) -> Self {
        let end = extent.start.saturating_add(extent.len).min(source.len());
        let available = end.saturating_sub(extent.start);
        let chunk = available.saturating_mul(16).min(*OUTPUT_CHUNK.end() as u64) as usize;
        Region {
            file,
            source,
            name,
            extent,
            next: extent.start,
            end,
            input: Vec::new(),
            input_at: 0,
            decoder: if available == 0 { Decoder::None } else { Decoder::new(compression) },
            inside_stream: false,
            output: Vec::new(),
            output_at: 0,
            chunk: chunk.max(*OUTPUT_CHUNK.start()),
            inflated: 0,
            limit: limits.inflated(available),
            collected_limit: limits.collected(available),
            record: None,
            ended: false,
            failure: None,
        }
    }

    /// Says which record is being read, for messages.
    pub(crate) fn set_record(&mut self, record: u64) {
        self.record = Some(record);
    }

    /// How many bytes may be collected in memory from this region.
    pub(crate) fn collected_limit(&self) -> u64 {
        self.collected_limit
    }

    /// How many inflated bytes the region may have in all.
    pub(crate) fn inflated_limit(&self) -> u64 {
        self.limit
    }

    /// Takes the next `n` bytes: `None` at the end of the region, an error if fewer are left.
    pub(crate) fn take(&mut self, n: usize, what: &'static str) -> Result<Option<&[u8]>> {
        if !self.has(n, what)? {
            return Ok(None);
        }
        let at = self.output_at;
        self.output_at += n;
        Ok(Some(&self.output[at..at + n]))
    }

    /// Takes the next `n` bytes, which a record just read has promised.
    pub(crate) fn take_promised(&mut self, n: usize, what: &'static str) -> Result<&[u8]> {
        if !self.has(n, what)? {
            return Err(
                self.truncated(format!("{what} of {n} bytes").into(), "the end of the region".to_owned())
            );
        }
        let at = self.output_at;
        self.output_at += n;
        Ok(&self.output[at..at + n])
    }

    /// Takes at least 1 byte and at most `max`; none at the end of the region.
    pub(crate) fn take_up_to(&mut self, max: usize) -> Result<&[u8]> {
        if max == 0 || !self.has(1, "text")? {
            return Ok(&[]);
        }
        let at = self.output_at;
        self.output_at = self.output.len().min(at + max);
        Ok(&self.output[at..self.output_at])
    }

    /// Whether `n` more bytes follow; `false` at the end of the region, an error if only some do.
    fn has(&mut self, n: usize, what: &'static str) -> Result<bool> {
        self.fill(n);
        let available = self.output.len() - self.output_at;
        if available >= n {
            return Ok(true);
        }
        let error = match self.failure.take() {
            Some(failure) => failure,
            None if available == 0 => return Ok(false),
            None => self.truncated(format!("{what} of {n} bytes").into(), format!("{available} bytes")),
        };
        self.output_at = self.output.len();
        Err(error)
    }

    /// Takes the bytes up to the next NUL, which is dropped, or at most `max` bytes.
    pub(crate) fn take_to_nul(&mut self, max: usize, what: &'static str) -> Result<&[u8]> {
        let mut seen = 0;
        loop {
            self.fill(seen + 1);
            let buffered = &self.output[self.output_at..];
            if let Some(at) = buffered[seen..].iter().position(|b| *b == 0) {
                let start = self.output_at;
                let end = start + seen + at;
                if seen + at > max {
                    return Err(self.too_large(format!("{what} of {} bytes", seen + at), max as u64));
                }
                self.output_at = end + 1;
                return Ok(&self.output[start..end]);
            }
            if buffered.len() > max {
                return Err(self.too_large(format!("{what} without an end"), max as u64));
            }
            if buffered.len() == seen {
                let found = format!("{seen} bytes and the end of the region");
                let failure = self.failure.take();
                let error = self.truncated(format!("{what} with a NUL at its end").into(), found);
                self.output_at = self.output.len();
                return Err(failure.unwrap_or(error));
            }
            seen = buffered.len();
        }
    }

    /// Passes over `n` promised bytes.
    pub(crate) fn skip(&mut self, mut n: u64, what: &'static str) -> Result<()> {
        while n > 0 {
            let step = n.min(*OUTPUT_CHUNK.end() as u64);
            self.take_promised(step as usize, what)?;
            n -= step;
        }
        Ok(())
    }

    /// Inflates until `n` bytes are buffered, the region ends, or it fails.
    fn fill(&mut self, n: usize) {
        if self.output.len() - self.output_at >= n || self.ended {
            return;
        }
        self.output.drain(..self.output_at);
        self.output_at = 0;
        while self.output.len() < n && !self.ended {
            if let Err(failure) = self.inflate_more(n) {
                self.failure = Some(failure);
                self.ended = true;
            }
        }
    }

    /// One step of the decoder, with room for at least the `n` bytes wanted.
    fn inflate_more(&mut self, n: usize) -> Result<()> {
        if self.output.capacity() == self.output.len() {
            self.output.reserve(self.chunk.max(n - self.output.len()));
        }
        self.fetch()?;
        let before = self.output.len();
        let input = match self.source.in_memory(self.next, self.end) {
            Some(bytes) => bytes,
            None => &self.input[self.input_at..],
        };
        let nothing_left = input.is_empty();
        if nothing_left && !self.inside_stream {
            self.ended = true;
            if self.end >= self.extent.start.saturating_add(self.extent.len) {
                return Ok(());
            }
            let expected = format!("{} compressed bytes", self.extent.len);
            let found = format!("{} before the end of the file", self.end.saturating_sub(self.extent.start));
            return Err(self.truncated(expected.into(), found));
        }
        let step = self.decoder.step(input, &mut self.output);
        self.inflated += (self.output.len() - before) as u64;
        let step = step.map_err(|found| self.corrupt("valid compressed data".into(), found))?;
        self.next += step.consumed as u64;
        self.input_at += step.consumed;
        self.inside_stream = step.inside;
        let idle = step.consumed == 0 && self.output.len() == before;
        if idle && step.inside {
            return Err(if nothing_left {
                self.truncated("the end of a compressed stream".into(), "the end of the region".to_owned())
            } else {
                self.corrupt("valid compressed data".into(), "a stream that does not go on".to_owned())
            });
        }
        if self.inflated > self.limit {
            return Err(self.too_large("the inflated data".to_owned(), self.limit));
        }
        Ok(())
    }

    /// Fetches compressed bytes from the file when there are none at hand. In memory, all of them are.
    fn fetch(&mut self) -> Result<()> {
        if self.source.in_memory(0, 0).is_some() || self.input_at < self.input.len() || self.next >= self.end
        {
            return Ok(());
        }
        let want = (self.end - self.next).min(INPUT_CHUNK as u64) as usize;
        self.input.resize(want, 0);
        self.input_at = 0;
        let got = self.source.read_at(self.next, &mut self.input).map_err(|source| Error::Io {
            file: self.file.into(),
            action: "read",
            source,
        })?;
        self.input.truncate(got);
        if got < want {
            // The file became shorter since it was opened.
            self.end = self.next + got as u64;
        }
        Ok(())
    }

    fn place(&self) -> Box<Place> {
        let left = (self.output.len() - self.output_at) as u64;
        Box::new(Place {
            region: self.name.clone(),
            start: self.extent.start,
            offset: self.inflated.saturating_sub(left),
            record: self.record,
        })
    }

    pub(crate) fn corrupt(&self, expected: Cow<'static, str>, found: String) -> Error {
        Error::Corrupt { file: self.file.into(), place: self.place(), expected, found }
    }

    pub(crate) fn truncated(&self, expected: Cow<'static, str>, found: String) -> Error {
        Error::Truncated { file: self.file.into(), place: self.place(), expected, found }
    }

    pub(crate) fn too_large(&self, what: String, limit: u64) -> Error {
        Error::TooLarge { file: self.file.into(), place: self.place(), what, limit }
    }

    pub(crate) fn unsupported(&self, what: String, expected: Cow<'static, str>, found: String) -> Error {
        Error::Unsupported { file: self.file.into(), what: what.into(), expected, found }
    }
}
