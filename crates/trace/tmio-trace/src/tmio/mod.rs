//! The three file formats of the C++ TMIO, in which the Python FTIO reads traces.
//!
//! They hold no operations but [phases]: what a rank moved between two moments, and how fast.
//! [`convert`] writes them from one of our traces; [`read`] reads them, whichever program wrote them, into
//! a [`Digest`]. `docs/tmio-formats.md` describes them.

mod custom;
mod digest;
mod io_time;
mod json_pull;
mod mode;
mod number;
pub mod phases;
mod read_json;
mod read_msgpack;
mod summary;
mod window;
mod write_json;
mod write_msgpack;

pub use digest::{Digest, Scalars, Series};
pub use io_time::IoTime;
pub use mode::Mode;
pub use phases::{Phase, PhaseBuilder, Phases};
pub use summary::{Statistics, Totals};
pub use write_json::{json as write_json, jsonl as write_jsonl};
pub use write_msgpack::msgpack as write_msgpack;

use crate::read::reader::{Event, Outcome, ReadError, Trace};
use crate::{Operation, TraceLayer};
use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// A file format of TMIO's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// One object, written when the job has ended.
    Json,
    /// Seven lines for each flush.
    Jsonl,
    /// Five MessagePack arrays for each flush.
    Msgpack,
}

impl Format {
    /// All formats.
    pub const ALL: [Format; 3] = [Format::Json, Format::Jsonl, Format::Msgpack];

    /// The name used in options: `tmio-json`, `tmio-jsonl`, `tmio-msgpack`.
    pub fn name(self) -> &'static str {
        match self {
            Format::Json => "tmio-json",
            Format::Jsonl => "tmio-jsonl",
            Format::Msgpack => "tmio-msgpack",
        }
    }

    /// The format of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.name() == name)
    }
}

/// What is written at once: everything since the flush before, or everything.
#[derive(Clone, Copy, Debug)]
pub struct Flush<'a> {
    /// The phases; for JSON and JSONL with their [requests](PhaseBuilder::keep_requests).
    pub phases: &'a Phases,
    /// Where the time went.
    pub io_time: IoTime,
    /// Ranks of the job.
    pub processes: u32,
}

/// Why a trace could not be converted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)] // the messages say it
pub enum ConvertError {
    #[error(transparent)]
    Read(#[from] ReadError),
    #[error("cannot write the converted trace: {0}")]
    Write(#[from] io::Error),
    #[error("converting the trace needs more than the {limit} bytes of memory that it may use")]
    Memory { limit: usize },
}

/// Writes one of our traces as one flush in a format of TMIO's: its MPI-IO, or if there is none, what it has
/// of other layers.
///
/// The formats want totals before phases, and phases by rank, so that all of them are in memory for a
/// while (24 bytes per blocking call); with `memory`, more than that is an error.
pub fn convert(
    trace: Trace,
    format: Format,
    memory: Option<usize>,
    output: &mut impl Write,
) -> Result<Outcome, ConvertError> {
    let limit = memory.unwrap_or(usize::MAX);
    let new = || {
        let builder = PhaseBuilder::new();
        if format == Format::Msgpack { builder } else { builder.keep_requests() }
    };
    let (mut builder, mut below) = (new(), new());
    let mut has_mpi_io = false;
    let mut ranks = BTreeMap::new();
    // In a finished trace the blocks of a rank follow each other.
    let finished = !trace.is_unfinished();
    let mut before = None;
    let mut fits = true;
    let outcome = trace.read(|event| match event {
        Event::Rank(rank) => {
            ranks.insert(rank.rank, rank.clone());
        }
        Event::Block(block) if fits => {
            if before != Some(block.rank) {
                if let Some(rank) = before.filter(|_| finished) {
                    builder.finish_rank(rank);
                    below.finish_rank(rank);
                }
                before = Some(block.rank);
            }
            let is_mpi_io = |op: &Operation| op.kind.layer() == TraceLayer::MpiIo;
            if block.operations.iter().all(is_mpi_io) {
                has_mpi_io |= !block.operations.is_empty();
                fits = builder.push(block.rank, block.operations).is_ok();
            } else {
                let (mpi_io, others): (Vec<_>, Vec<_>) =
                    block.operations.iter().copied().partition(is_mpi_io);
                has_mpi_io |= !mpi_io.is_empty();
                fits = builder.push(block.rank, &mpi_io).is_ok()
                    && (has_mpi_io || below.push(block.rank, &others).is_ok());
            }
            fits &= builder.memory() + below.memory() <= limit;
        }
        Event::Header(_) | Event::Block(_) => {}
    })?;
    if !fits {
        return Err(ConvertError::Memory { limit });
    }
    let phases = if has_mpi_io { builder } else { below }.finish();
    let known = phases.ranks().last().map_or(0, |rank| rank.saturating_add(1));
    let processes = outcome.header.as_ref().map_or(known, |header| header.ranks);
    write(format, &Flush { phases: &phases, io_time: IoTime::of(&phases, &ranks), processes }, output)?;
    output.flush()?;
    Ok(outcome)
}

/// Writes one flush; those of JSONL and MessagePack can be appended to each other.
pub fn write(format: Format, flush: &Flush<'_>, output: &mut impl Write) -> io::Result<()> {
    match format {
        Format::Json => write_json(flush, output),
        Format::Jsonl => write_jsonl(flush, output),
        Format::Msgpack => write_msgpack(flush, output),
    }
}

/// What to read of a TMIO file. The default is what an analysis of bandwidth needs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReadOptions {
    /// Also the sums of bandwidths, `b_rank_sum` and `b_overlap_sum`.
    pub sums: bool,
    /// Also the single operations, `b_ind`, `t_ind_s` and `t_ind_e`.
    pub individual: bool,
    /// Leave the numbers of the first versions of TMIO in MB and MB/s, as FTIO does.
    pub keep_units: bool,
}

impl ReadOptions {
    /// Everything, in bytes.
    pub const ALL: ReadOptions = ReadOptions { sums: true, individual: true, keep_units: false };
}

/// Why there is nothing to read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)] // the messages say it
pub enum DigestError {
    #[error("{}: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
    #[error("{}: is empty", path.display())]
    Empty { path: PathBuf },
    #[error("{}: not a TMIO file: expected its JSON, JSONL or MessagePack, found {found}", path.display())]
    Foreign { path: PathBuf, found: String },
    #[error("{}: no complete section{detail}", path.display())]
    NothingWhole { path: PathBuf, detail: String },
}

/// Which of TMIO's formats these first bytes of a file (some hundred will do) are in, if any. JSON that is
/// made for FTIO counts as [`Format::Json`].
pub fn detect(first_bytes: &[u8]) -> Option<Format> {
    if read_msgpack::is_start(first_bytes) {
        return Some(Format::Msgpack);
    }
    let text = first_bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(first_bytes).trim_ascii_start();
    let object = text.strip_prefix(b"{")?.trim_ascii_start().strip_prefix(b"\"")?;
    let end = object.iter().position(|&byte| byte == b'"')?;
    let (key, rest) = object.split_at_checked(end)?;
    let is_section = key == b"io_time" || Mode::from_name(key).is_some();
    if is_section {
        // JSON has a line for each key.
        let start_of_section = rest.get(..rest.len().min(16)).unwrap_or_default();
        let before_key = text.get(..text.len() - object.len()).unwrap_or_default();
        let has_lines = before_key.contains(&b'\n') || start_of_section.contains(&b'\n');
        return Some(if has_lines { Format::Json } else { Format::Jsonl });
    }
    let is_list = matches!(key, b"b" | b"bw" | b"t" | b"ts" | b"te" | b"time" | b"times")
        || key.starts_with(b"b_")
        || key.starts_with(b"t_")
        || key.starts_with(b"bandwidth");
    is_list.then_some(Format::Json)
}

/// A phase as MessagePack has it: with its bytes, which bandwidth and times do not tell where it took no
/// measurable time. Times are seconds, bandwidths bytes per second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FilePhase {
    /// Entry of the first call.
    pub start: f64,
    /// When its last operation was seen complete.
    pub end: f64,
    /// When it had to be complete so that no rank waits; 0 for a blocking phase.
    pub required_end: f64,
    /// Bytes of all its operations.
    pub bytes: f64,
    /// Its bandwidth.
    pub throughput: f64,
    /// The bandwidth required of it; 0 for a blocking phase.
    pub required: f64,
}

/// Takes the phases of a file, each with its class.
pub type VisitPhase<'a> = dyn FnMut(crate::Class, &FilePhase) + 'a;

/// Reads a file of TMIO's; `path` is used in messages. What is whole of a damaged file is used, and the
/// digest says that it is not complete.
pub fn read(path: &Path, input: impl Read, options: ReadOptions) -> Result<Digest, DigestError> {
    read_by(path, input, options, None)
}

/// The same, but phases of MessagePack are handed to `visit` as they come, and are not in the digest: however
/// many there are, they take no memory. Those of the other formats are in the digest.
pub fn read_visiting(
    path: &Path,
    input: impl Read,
    options: ReadOptions,
    visit: &mut VisitPhase<'_>,
) -> Result<Digest, DigestError> {
    read_by(path, input, options, Some(visit))
}

fn read_by(
    path: &Path,
    input: impl Read,
    options: ReadOptions,
    visit: Option<&mut VisitPhase<'_>>,
) -> Result<Digest, DigestError> {
    let path = || path.to_owned();
    let io_error = |source| DigestError::Io { path: path(), source };
    let mut input = input;
    let mut start = Vec::new();
    (&mut input).take(4096).read_to_end(&mut start).map_err(io_error)?;
    if start.is_empty() {
        return Err(DigestError::Empty { path: path() });
    }
    let format = detect(&start);
    let all = start.as_slice().chain(input);
    let mut digest = match format {
        Some(Format::Msgpack) => read_msgpack::read(all, options, visit).map_err(io_error)?,
        Some(format) => read_json::read(all, format, options).map_err(io_error)?,
        None if start.trim_ascii_start().starts_with(b"{") => {
            read_json::read(all, Format::Json, options).map_err(io_error)?
        }
        None => {
            let found = window::excerpt(&start);
            return Err(DigestError::Foreign { path: path(), found });
        }
    };
    if !digest.has_sections() {
        let detail = digest.warnings.first().map_or_else(String::new, |warning| format!(" ({warning})"));
        return Err(DigestError::NothingWhole { path: path(), detail });
    }
    let name = path();
    digest.warnings.iter_mut().for_each(|warning| *warning = format!("{}: {warning}", name.display()));
    Ok(digest)
}
