//! JSON, JSONL and MessagePack of the C++ TMIO, and FTIO's custom JSON.
//!
//! They hold phases: a bandwidth from one moment to another. MessagePack has their bytes as well; in the
//! others these are the product, so that a phase that took no measurable time has none. Sections of required
//! bandwidth are read instead of those of actual bandwidth if that is asked for.

use super::bandwidth_piece::BandwidthPiece;
use super::content::{Content, beginning, contains};
use super::error::SourceError;
use super::intake::{Fed, Feed, Intake};
use super::job::{Job, Source};
use crate::request::{Batch, Class, Completion, Detail, Request, Span};
use crate::time::nanoseconds;
use std::io::Read;
use std::path::Path;
use tmio_trace::tmio::{self, Digest, FilePhase, Mode, ReadOptions};

/// A list of MessagePack. No text begins with these bytes.
pub(super) fn looks_like_message_pack(head: &[u8]) -> bool {
    matches!(head, [0x90..=0x9f | 0xdc | 0xdd, ..]) && tmio::detect(head) == Some(tmio::Format::Msgpack)
}

/// Any object of JSON: other formats are asked first.
pub(super) fn looks_like_json(head: &[u8]) -> bool {
    beginning(head).starts_with(b"{")
}

/// Do flushes of a file that begins like this end with the section `io_time`?
pub(super) fn is_jsonl(head: &[u8]) -> bool {
    tmio::detect(head) == Some(tmio::Format::Jsonl)
}

/// Is an entry of MessagePack the section `io_time`?
pub(super) fn is_io_time(entry: &[u8]) -> bool {
    contains(&entry[..entry.len().min(16)], "io_time")
}

/// Does an entry of JSON hold the section `io_time`?
pub(super) fn has_io_time(entry: &[u8]) -> bool {
    contains(entry, "\"io_time\"")
}

/// The file.
pub(super) fn open(content: Content) -> TmioFile {
    TmioFile { name: content.name.clone(), input: content.into_reader() }
}

/// A file of the C++ TMIO, or of that shape.
pub struct TmioFile {
    name: String,
    input: Box<dyn Read + Send>,
}

impl std::fmt::Debug for TmioFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TmioFile").field("name", &self.name).finish_non_exhaustive()
    }
}

impl TmioFile {
    /// Everything in it.
    pub fn into_digest(self) -> Result<Digest, SourceError> {
        Ok(tmio::read(Path::new(&self.name), self.input, ReadOptions::ALL)?)
    }

    /// Its phases.
    pub fn into_source(self) -> Box<dyn Source> {
        Box::new(Phases::Unread(self))
    }
}

/// The phases of a digest, as a source.
pub fn source(name: &str, digest: Digest) -> Box<dyn Source> {
    Box::new(Phases::Read(name.to_owned(), Box::new(digest)))
}

enum Phases {
    Unread(TmioFile),
    Read(String, Box<Digest>),
}

impl Source for Phases {
    fn read(self: Box<Self>, span: Span, visit: &mut dyn FnMut(&[Request])) -> Result<Job, SourceError> {
        match *self {
            Phases::Unread(file) => Box::new(Fed(file.name.clone(), file)).read(span, visit),
            Phases::Read(name, digest) => {
                Box::new(Fed(name, Sections { digest: &digest, classes: &Class::ALL })).read(span, visit)
            }
        }
    }

    fn read_detailed(
        self: Box<Self>,
        span: Span,
        visit: &mut dyn FnMut(Batch<'_>),
    ) -> Result<Job, SourceError> {
        let (name, digest) = match *self {
            Phases::Unread(file) => (file.name.clone(), file.into_digest()?),
            Phases::Read(name, digest) => (name, *digest),
        };
        for class in [Class::WriteAsync, Class::ReadAsync] {
            let details = nonblocking(&digest, class, span);
            visit(Batch { requests: &details, files: &[] });
        }
        let classes = &[Class::WriteSync, Class::ReadSync];
        Box::new(Fed(name, Sections { digest: &digest, classes })).read_detailed(span, visit)
    }

    fn read_pieces(
        self: Box<Self>,
        span: Span,
        visit: &mut dyn FnMut(&[BandwidthPiece]),
    ) -> Result<Job, SourceError> {
        match *self {
            Phases::Unread(file) => Box::new(Fed(file.name.clone(), file)).read_pieces(span, visit),
            Phases::Read(name, digest) => {
                Box::new(Fed(name, Sections { digest: &digest, classes: &Class::ALL }))
                    .read_pieces(span, visit)
            }
        }
    }
}

impl Feed for TmioFile {
    fn feed(self, span: Span, intake: &mut Intake<'_>) -> Result<Job, SourceError> {
        let mut counts = [0u64; 4];
        let mut take = |class: Class, phase: &FilePhase| {
            let count = &mut counts[class as usize];
            *count += 1;
            let place = || format!("phase {count} of {}", section(class, span).name());
            intake.push(piece(class, phase, span), place);
        };
        let digest =
            tmio::read_visiting(Path::new(&self.name), self.input, ReadOptions::default(), &mut take)?;
        Sections { digest: &digest, classes: &Class::ALL }.feed(span, intake)
    }
}

/// A phase of MessagePack.
fn piece(class: Class, phase: &FilePhase, span: Span) -> BandwidthPiece {
    let required = span == Span::Required && Mode::required(class).is_some();
    let (end, bandwidth) =
        if required { (phase.required_end, phase.required) } else { (phase.end, phase.throughput) };
    let bytes = known_bytes(phase.bytes, phase.start, end);
    BandwidthPiece { start: phase.start, end, bandwidth, bytes, rank: None, class }
}

/// Nonblocking phases with both their ends: the sections of actual and of required bandwidth list the same
/// phases.
fn nonblocking(digest: &Digest, class: Class, span: Span) -> Vec<Detail> {
    let actual = digest.series(Mode::actual(class));
    let required = Mode::required(class).map(|mode| digest.series(mode));
    let required = required.filter(|required| required.t_rank_s == actual.t_rank_s);
    let pieces = actual.t_rank_s.iter().zip(&actual.t_rank_e).zip(&actual.b_rank_avr);
    let detail = |(i, ((&start, &end), &bandwidth)): (usize, ((&f64, &f64), &f64))| {
        let bytes = actual.rank_bytes.get(i).and_then(|&bytes| known_bytes(bytes, start, end));
        let piece = BandwidthPiece { start, end, bandwidth, bytes, rank: None, class };
        let mut request = piece.request()?;
        let deadline = required.and_then(|required| required.t_rank_e.get(i)).copied().map(nanoseconds);
        let completion = deadline.map(|deadline| Completion { done: request.end, deadline });
        if let (Span::Required, Some(deadline)) = (span, deadline) {
            request.end = deadline;
        }
        Some(Detail { completion, ..Detail::new(request) })
    };
    pieces.enumerate().filter_map(detail).collect()
}

/// Bytes that the file says; those of a phase that ends before it starts say nothing.
fn known_bytes(bytes: f64, start: f64, end: f64) -> Option<u64> {
    (bytes >= 1.0 && bytes.is_finite() && end >= start).then_some(bytes as u64)
}

/// Some sections of a digest.
struct Sections<'a> {
    digest: &'a Digest,
    classes: &'a [Class],
}

impl Feed for Sections<'_> {
    fn feed(self, span: Span, intake: &mut Intake<'_>) -> Result<Job, SourceError> {
        let digest = self.digest;
        let mut job = Job {
            ranks: ranks(digest),
            complete: digest.complete,
            warnings: digest.warnings.clone(),
            ..Job::default()
        };
        if digest.anonymous {
            job.notes.push("the input does not say whether it was read or written; taken as read".into());
        }
        for mode in self.classes.iter().map(|class| section(*class, span)) {
            push(digest, mode, intake);
        }
        Ok(job)
    }
}

fn section(class: Class, span: Span) -> Mode {
    let required = Mode::required(class).filter(|_| span == Span::Required);
    required.unwrap_or(Mode::actual(class))
}

/// Ranks of the job where the file says so, else those that did I/O in any of its sections.
pub fn ranks(digest: &Digest) -> Option<u32> {
    let of = |mode: Mode| {
        let scalars = &digest.series(mode).scalars;
        // A float to an integer saturates, and NaN is 0.
        (scalars.processes as u32).max(scalars.number_of_ranks as u32)
    };
    // The file has 0 where it does not know.
    Mode::ALL.into_iter().map(of).max().filter(|ranks| *ranks > 0)
}

fn push(digest: &Digest, mode: Mode, intake: &mut Intake<'_>) {
    let series = digest.series(mode);
    let class = mode.class();
    let phase =
        |start, end, bandwidth| BandwidthPiece { start, end, bandwidth, bytes: None, rank: None, class };
    let phases = series.t_rank_s.iter().zip(&series.t_rank_e).zip(&series.b_rank_avr);
    for (index, ((&start, &end), &bandwidth)) in phases.enumerate() {
        let bytes = series.rank_bytes.get(index).and_then(|&bytes| known_bytes(bytes, start, end));
        intake.push(BandwidthPiece { bytes, ..phase(start, end, bandwidth) }, || {
            format!("phase {} of {}", index + 1, mode.name())
        });
    }
    if series.t_rank_s.is_empty() {
        // The bandwidth of the application from each moment to the next.
        let moments = series.t_overlap.windows(2).zip(&series.b_overlap_avr);
        for (index, (times, &bandwidth)) in moments.enumerate() {
            let [start, end] = [times[0], times[1]];
            intake.push(phase(start, end, bandwidth), || format!("moment {} of {}", index + 1, mode.name()));
        }
    }
}
