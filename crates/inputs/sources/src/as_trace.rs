//! Any input as a trace of this project, so that what is done with a trace can be done with it.

use super::error::SourceError;
use super::job::Job;
use super::opened::{Kind, Opened};
use crate::request::{Class, Detail, Span};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{Cursor, Read};
use std::path::Path;
use tmio_trace::block::BlockEncoder;
use tmio_trace::frame::{self, FrameKind};
use tmio_trace::{
    AsyncTimes, ClockSample, Direction, FORMAT_VERSION, FilePointer, Flags, Header, OpKind, Operation,
    RankInfo, Trace, TraceEnd,
};

/// Operations of a block.
const BLOCK: usize = 4096;

/// A trace of ours as it is; else the requests of the input, encoded in memory as one (some 10 bytes each).
///
/// Returns also what the reader should know.
///
/// # Errors
///
/// The input cannot be read, or is a sampled quantity and not requests.
pub fn as_trace(opened: Opened) -> Result<(Trace, Told), SourceError> {
    let name = opened.name.clone();
    if let Kind::Ours(trace) = opened.kind {
        return Ok((trace.into_trace(), Told::default()));
    }
    let mut encoder = Encoder::default();
    let job = opened.into_source()?.read_detailed(Span::Actual, &mut |batch| {
        let files: BTreeMap<u32, u32> =
            batch.files.iter().map(|(number, name)| (*number, encoder.file(name))).collect();
        for detail in batch.requests {
            let file = detail.file.and_then(|number| files.get(&number));
            encoder.push(detail, file.copied().unwrap_or(0));
        }
    })?;
    if job.per_unit.is_some() {
        return Err(SourceError::SampledPart { name });
    }
    let mut notes = job.notes.clone();
    if encoder.deadline_guessed {
        notes.push(format!("{name}: deadlines of nonblocking requests are not known; their ends are used"));
    }
    let trace = encoder.finish(&name, &job)?;
    Ok((trace, Told { warnings: job.warnings, notes }))
}

/// What somebody should know about an input that became a trace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Told {
    /// What could not be used.
    pub warnings: Vec<String>,
    /// What else is good to know.
    pub notes: Vec<String>,
}

#[derive(Default)]
struct Encoder {
    /// By rank, what no block holds yet, and how many blocks there are.
    ranks: BTreeMap<u32, (Vec<Operation>, u64, u64)>,
    /// Names of files and their numbers, from 1 on.
    files: BTreeMap<String, u32>,
    blocks: Vec<u8>,
    encoder: BlockEncoder,
    last: i64,
    deadline_guessed: bool,
    failed: bool,
}

impl Encoder {
    /// The number of a file.
    fn file(&mut self, name: &str) -> u32 {
        if let Some(number) = self.files.get(name) {
            return *number;
        }
        let number = self.files.len() as u32 + 1;
        self.files.insert(name.to_owned(), number);
        number
    }

    /// A request to a file; 0 is one that is not known.
    fn push(&mut self, detail: &Detail, file: u32) {
        let request = &detail.request;
        let is_write = matches!(request.class, Class::WriteSync | Class::WriteAsync);
        let direction = if is_write { Direction::Write } else { Direction::Read };
        let nonblocking = matches!(request.class, Class::WriteAsync | Class::ReadAsync);
        let end = request.end.max(request.start);
        self.deadline_guessed |= nonblocking && detail.completion.is_none();
        let operation = Operation {
            kind: OpKind::data(direction, FilePointer::Individual, nonblocking, false, false),
            flags: Flags::default(),
            thread: 0,
            file,
            offset: -1,
            bytes: request.bytes,
            start: request.start,
            end,
            nonblocking: nonblocking.then(|| AsyncTimes {
                issued: request.start,
                deadline: detail.completion.map_or(end, |completion| completion.deadline),
                pending_until: request.start,
                test_time: 0,
            }),
        };
        self.last = self.last.max(end);
        let rank = request.rank.unwrap_or(0);
        let waiting = &mut self.ranks.entry(rank).or_default().0;
        waiting.push(operation);
        if waiting.len() == BLOCK {
            self.write_block(rank);
        }
    }

    fn write_block(&mut self, rank: u32) {
        let Some((waiting, blocks, operations)) = self.ranks.get_mut(&rank) else { return };
        if waiting.is_empty() || !self.encoder.restart(waiting.len()) {
            self.failed |= !waiting.is_empty();
            return;
        }
        waiting.iter().for_each(|op| self.encoder.push(op));
        let until = waiting.iter().map(|op| op.end).max().unwrap_or(0);
        let used: BTreeSet<u32> = waiting.iter().map(|op| op.file).collect();
        let named = self.files.iter().filter(|(_, number)| used.contains(number));
        let named = named.map(|(name, number)| (*number, name.as_str())).chain([(0, "")]);
        match self.encoder.finish(rank, *blocks, until, named.collect()) {
            Ok(block) => self.blocks.extend_from_slice(block),
            Err(_) => self.failed = true,
        }
        *blocks += 1;
        *operations += waiting.len() as u64;
        waiting.clear();
    }

    fn finish(mut self, name: &str, job: &Job) -> Result<Trace, SourceError> {
        let ranks: Vec<u32> = self.ranks.keys().copied().collect();
        ranks.iter().for_each(|rank| self.write_block(*rank));
        let cannot = || SourceError::Io {
            name: name.to_owned(),
            source: std::io::Error::other("its requests cannot be encoded as a trace"),
        };
        if self.failed {
            return Err(cannot());
        }
        let highest = ranks.last().map_or(0, |rank| rank.saturating_add(1));
        let header = Header {
            version: FORMAT_VERSION,
            job: String::new(),
            ranks: job.ranks.unwrap_or(0).max(highest),
            executable: String::new(),
            start: job.origin.unwrap_or(0),
            mpi: String::new(),
            tmio: format!("ftio {}", env!("CARGO_PKG_VERSION")),
            ..Header::default()
        };
        let mut bytes = frame::encode(FrameKind::Header, &header).map_err(|_| cannot())?;
        for (rank, (_, _, operations)) in &self.ranks {
            let info = RankInfo {
                rank: *rank,
                // Times are those of the job already.
                clock: vec![ClockSample { local: 0, job: 0, real: 0, error: 0 }],
                finished: job.complete,
                operations: *operations,
                ..RankInfo::default()
            };
            bytes.extend(frame::encode(FrameKind::Rank, &info).map_err(|_| cannot())?);
        }
        let end = TraceEnd {
            end: job.end.unwrap_or(self.last).max(self.last),
            ranks: ranks.len() as u32,
            operations: self.ranks.values().map(|(_, _, operations)| operations).sum(),
        };
        let end = frame::encode(FrameKind::End, &end).map_err(|_| cannot())?;
        let whole = Cursor::new(bytes).chain(Cursor::new(self.blocks)).chain(Cursor::new(end));
        Ok(Trace::from_reader(Path::new(name), Box::new(whole)))
    }
}
