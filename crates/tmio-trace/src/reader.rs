//! Reads a trace, finished or not, and hands out its operations in job time.
//!
//! A finished trace is one file. Of an unfinished one (the job runs still, or was killed) there are
//! `OUT.parts/HOST`, one file of frames per host, and on the host where it ran the spools that the
//! rank frames name, with what had not left memory. [`Trace`] makes one stream of either.

use crate::block::Block;
use crate::frame::{Damage, FrameKind, FrameReader, TAG};
use crate::spool::Spool;
use crate::{Header, Operation, RankInfo, TraceEnd};
use std::collections::{BTreeMap, HashSet};
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Why there is nothing to read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)] // the messages say it
pub enum ReadError {
    #[error("{}: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
    #[error("{}: is a directory, and not the .parts of a tmio trace", path.display())]
    Directory { path: PathBuf },
    #[error("{}: is empty", path.display())]
    Empty { path: PathBuf },
    #[error("{}: is not a tmio trace: expected the bytes \\x94\\xa5tmio1 at its start, found {found}", path.display())]
    NotATrace { path: PathBuf, found: String },
    #[error("{}: was written in format {found} of the tmio trace; this version reads format 1", path.display())]
    Newer { path: PathBuf, found: char },
    #[error("{}: holds not one whole block{detail}", path.display())]
    NoBlock { path: PathBuf, detail: String },
}

/// Something that the trace tells.
#[derive(Debug)]
pub enum Event<'a> {
    /// About the job.
    Header(&'a Header),
    /// About a rank; comes before its blocks.
    Rank(&'a RankInfo),
    /// Operations of a rank.
    Block(Operations<'a>),
}

/// The operations of one block.
#[derive(Debug)]
pub struct Operations<'a> {
    /// Rank whose operations they are.
    pub rank: u32,
    /// Job time up to which this rank's blocking operations are known after this block.
    pub covered_until: i64,
    /// Numbers and names of the files they refer to; numbers are the rank's own.
    pub files: &'a [(u32, &'a str)],
    /// The operations, in job time.
    pub operations: &'a [Operation],
}

/// How reading went.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// The job reached `MPI_Finalize` and every byte of the trace could be used.
    pub complete: bool,
    /// About the job, if that frame was whole.
    pub header: Option<Header>,
    /// Last frame, if it was there.
    pub end: Option<TraceEnd>,
    /// Whole blocks.
    pub blocks: u64,
    /// Operations handed out.
    pub operations: u64,
    /// Operations among them that came from the spool of an unfinished job.
    pub from_spool: u64,
    /// What could not be used and why, for people.
    pub warnings: Vec<String>,
}

/// A trace that can be read once.
#[derive(Debug)]
pub struct Trace {
    path: PathBuf,
    sources: Vec<Source>,
    /// Parts of an unfinished trace: look for spools, too.
    unfinished: bool,
}

enum Source {
    File(PathBuf),
    Stream(Box<dyn Read + Send>),
}

impl std::fmt::Debug for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Source::File(path) => path.fmt(f),
            Source::Stream(_) => f.write_str("stream"),
        }
    }
}

/// Whether bytes begin like a trace (of any version).
pub fn is_trace_start(bytes: &[u8]) -> bool {
    bytes.len() >= 6 && TAG.starts_with(bytes.get(..6).unwrap_or_default())
}

/// Where the blocks of the unfinished trace `path` are collected.
pub fn parts_path(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".parts");
    PathBuf::from(name)
}

impl Trace {
    /// Finds the trace `path`, or else its parts. A directory is one only if it is named `….parts`.
    pub fn open(path: &Path) -> Result<Self, ReadError> {
        let io_error = |source| ReadError::Io { path: path.to_owned(), source };
        match fs::metadata(path) {
            // Of any other directory, the traces in it would be taken for the parts of one job.
            Ok(meta) if meta.is_dir() => match path.extension() {
                Some(extension) if extension == "parts" => Self::from_parts(path, path).map_err(io_error)?,
                _ => None,
            }
            .ok_or_else(|| ReadError::Directory { path: path.to_owned() }),
            Ok(_) => {
                let sources = vec![Source::File(path.to_owned())];
                Ok(Self { path: path.to_owned(), sources, unfinished: false })
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let parts = parts_path(path);
                Self::from_parts(path, &parts).ok().flatten().ok_or_else(|| io_error(error))
            }
            Err(error) => Err(io_error(error)),
        }
    }

    /// Reads a finished trace from any stream; `name` is used in messages.
    pub fn from_reader(name: &Path, input: Box<dyn Read + Send>) -> Self {
        Self { path: name.to_owned(), sources: vec![Source::Stream(input)], unfinished: false }
    }

    /// `None`: there is no part in that directory.
    fn from_parts(path: &Path, parts: &Path) -> io::Result<Option<Self>> {
        let mut files = Vec::new();
        for entry in fs::read_dir(parts)? {
            let file = entry?.path();
            let mut start = [0u8; 7];
            let is_part = File::open(&file).and_then(|mut f| f.read_exact(&mut start)).is_ok();
            if is_part && is_trace_start(&start) {
                files.push(file);
            }
        }
        files.sort();
        if files.is_empty() {
            return Ok(None);
        }
        let sources = files.into_iter().map(Source::File).collect();
        Ok(Some(Self { path: path.to_owned(), sources, unfinished: true }))
    }

    /// Whether this is what an unfinished job has written so far.
    pub fn is_unfinished(&self) -> bool {
        self.unfinished
    }

    /// Reads everything, in the order of the files.
    pub fn read(self, visit: impl FnMut(Event<'_>)) -> Result<Outcome, ReadError> {
        self.read_pieces(usize::MAX, visit)
    }

    /// The same, with blocks handed out in pieces of at most `most` operations: faster where only the operations matter.
    pub fn read_pieces(self, most: usize, mut visit: impl FnMut(Event<'_>)) -> Result<Outcome, ReadError> {
        let mut reading = Reading::new(most);
        for source in self.sources {
            match source {
                Source::File(path) => {
                    let file =
                        File::open(&path).map_err(|source| ReadError::Io { path: path.clone(), source })?;
                    reading.stream(&path, file, &mut visit)?;
                }
                Source::Stream(input) => reading.stream(&self.path, input, &mut visit)?,
            }
        }
        if self.unfinished {
            reading.spools(&mut visit);
        }
        reading.finish(&self.path, self.unfinished)
    }
}

/// What was read so far.
#[derive(Debug)]
pub(crate) struct Reading {
    pub(crate) outcome: Outcome,
    pub(crate) ranks: BTreeMap<u32, RankInfo>,
    /// Names of files that ranks had no room for in their spools.
    names: BTreeMap<u32, Vec<(u32, String)>>,
    /// Rank and number of every block, to recognise a block that is also in a spool, or twice.
    written: HashSet<(u32, u64)>,
    operations: Vec<Operation>,
    /// Operations that are handed out at a time.
    most: usize,
    end_is_last: bool,
    damaged: bool,
}

impl Reading {
    /// Nothing so far; blocks are handed out in pieces of at most `most` operations.
    pub(crate) fn new(most: usize) -> Self {
        Reading {
            outcome: Outcome::default(),
            ranks: BTreeMap::new(),
            names: BTreeMap::new(),
            written: HashSet::new(),
            operations: Vec::new(),
            most: most.max(1),
            end_is_last: false,
            damaged: false,
        }
    }

    fn stream(
        &mut self,
        path: &Path,
        input: impl Read,
        visit: &mut impl FnMut(Event<'_>),
    ) -> Result<(), ReadError> {
        let mut input = input;
        let mut start = Vec::new();
        let io_error = |source| ReadError::Io { path: path.to_owned(), source };
        (&mut input).take(TAG.len() as u64).read_to_end(&mut start).map_err(io_error)?;
        check_start(path, &start)?;
        let mut frames = FrameReader::new(start.as_slice().chain(input));
        while let Some(frame) = frames.next_frame().map_err(io_error)? {
            let offset = frame.offset;
            if let Err(problem) = self.frame(frame.kind, frame.body, visit) {
                self.warn(format!("{}: at byte {offset}: {problem}", path.display()));
            }
        }
        if let Some(message) = describe_damage(frames.damage()) {
            self.warn(format!("{}: {message}", path.display()));
        }
        Ok(())
    }

    /// Takes a frame whose checksum is right.
    pub(crate) fn frame(
        &mut self,
        kind: Option<FrameKind>,
        body: &[u8],
        visit: &mut impl FnMut(Event<'_>),
    ) -> Result<(), String> {
        self.end_is_last = false;
        match kind {
            Some(FrameKind::Header) => parse(body).map(|header: Header| {
                visit(Event::Header(&header));
                self.outcome.header = Some(header);
            }),
            Some(FrameKind::Rank) => parse(body).map(|rank: RankInfo| {
                visit(Event::Rank(&rank));
                self.ranks.insert(rank.rank, rank);
            }),
            Some(FrameKind::End) => parse(body).map(|end: TraceEnd| {
                self.outcome.end = Some(end);
                self.end_is_last = true;
            }),
            Some(FrameKind::Block) => self.block(body, visit),
            None => Ok(()),
        }
    }

    fn block(&mut self, body: &[u8], visit: &mut impl FnMut(Event<'_>)) -> Result<(), String> {
        let block = Block::parse(body)?;
        if !self.written.insert((block.rank, block.seq)) {
            return Err(format!("block {} of rank {} is here twice", block.seq, block.rank));
        }
        if block.count == 0 && !block.files.is_empty() {
            let names = block.files.iter().map(|&(number, name)| (number, name.to_owned()));
            self.names.entry(block.rank).or_default().extend(names);
        }
        let mut operations = std::mem::take(&mut self.operations);
        let info = self.ranks.get(&block.rank);
        // Mostly one shift fits the whole block.
        let shift = info.and_then(|rank| constant_shift(rank, block.t_min, block.t_max));
        let covered = info.and_then(|rank| rank.job_time(block.covered_until));
        let covered_until = covered.unwrap_or(block.covered_until);
        let mut count = 0;
        let decoded = block.decode_pieces(shift.unwrap_or(0), self.most, &mut operations, |piece| {
            if shift.is_none() {
                to_job_time(info, piece);
            }
            count += piece.len() as u64;
            visit(Event::Block(Operations {
                rank: block.rank,
                covered_until,
                files: &block.files,
                operations: piece,
            }));
        });
        self.outcome.blocks += u64::from(decoded.is_ok() || count > 0);
        self.outcome.operations += count;
        self.operations = operations;
        decoded.map_err(|error| error.to_string())
    }

    /// What unfinished ranks of this host have not written out yet.
    pub(crate) fn spools(&mut self, visit: &mut impl FnMut(Event<'_>)) {
        let boot_id = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
        let ranks: Vec<RankInfo> = self.ranks.values().cloned().collect();
        for rank in ranks {
            if rank.finished || rank.spool.is_empty() || rank.boot_id != boot_id.trim() {
                continue;
            }
            let Some(spool) = fs::read(&rank.spool).ok().and_then(|bytes| Spool::parse(&bytes)) else {
                continue;
            };
            if (spool.rank, spool.pid) != (rank.rank, rank.pid) {
                continue;
            }
            let more = self.names.get(&rank.rank).into_iter().flatten();
            let names: Vec<(u32, &str)> =
                spool.names.iter().chain(more).map(|(number, name)| (*number, name.as_str())).collect();
            for slot in &spool.slots {
                let was_written = |seq| self.written.contains(&(rank.rank, seq));
                let mut operations: Vec<Operation> = slot.records(was_written).collect();
                if operations.is_empty() {
                    continue;
                }
                to_job_time(Some(&rank), &mut operations);
                self.outcome.blocks += 1;
                self.outcome.operations += operations.len() as u64;
                self.outcome.from_spool += operations.len() as u64;
                visit(Event::Block(Operations {
                    rank: rank.rank,
                    covered_until: operations.last().map_or(0, |op| op.end),
                    files: &names,
                    operations: &operations,
                }));
            }
        }
    }

    pub(crate) fn warn(&mut self, message: String) {
        self.damaged = true;
        if self.outcome.warnings.len() < 100 {
            self.outcome.warnings.push(message);
        }
    }

    fn finish(mut self, path: &Path, unfinished: bool) -> Result<Outcome, ReadError> {
        if self.outcome.blocks == 0 {
            let detail = match self.outcome.warnings.first() {
                Some(warning) => format!(" ({warning})"),
                None if unfinished => {
                    " (the job was killed before it completed an operation, or its spool is gone)".to_owned()
                }
                None => String::new(),
            };
            return Err(ReadError::NoBlock { path: path.to_owned(), detail });
        }
        let ranks_agree = self.outcome.end.as_ref().is_some_and(|end| {
            end.ranks as usize == self.ranks.len() && end.operations == self.outcome.operations
        });
        let finished = self.ranks.values().all(|rank| rank.finished);
        self.outcome.complete = self.end_is_last && ranks_agree && finished && !self.damaged && !unfinished;
        if unfinished {
            self.outcome.warnings.push(format!(
                "{}: the job has not reached MPI_Finalize; this is what it had written so far",
                path.display()
            ));
        } else if self.end_is_last && ranks_agree && !finished && self.outcome.warnings.is_empty() {
            self.outcome.warnings.push(format!(
                "{}: the job did not reach MPI_Finalize; this is what was recovered of it",
                path.display()
            ));
        } else if !self.outcome.complete && self.outcome.warnings.is_empty() {
            self.outcome.warnings.push(format!("{}: the end of the trace is missing", path.display()));
        }
        Ok(self.outcome)
    }
}

fn parse<'a, T: serde::Deserialize<'a>>(body: &'a [u8]) -> Result<T, String> {
    rmp_serde::from_slice(body).map_err(|error| error.to_string())
}

fn check_start(path: &Path, start: &[u8]) -> Result<(), ReadError> {
    let path = path.to_owned();
    if start.is_empty() {
        return Err(ReadError::Empty { path });
    }
    if start.starts_with(&TAG) {
        return Ok(());
    }
    match start.get(6) {
        Some(&version) if is_trace_start(start) => Err(ReadError::Newer { path, found: char::from(version) }),
        _ => Err(ReadError::NotATrace { path, found: start.escape_ascii().to_string() }),
    }
}

fn describe_damage(damage: &[Damage]) -> Option<String> {
    let first = damage.first()?;
    let total: u64 = damage.iter().map(|stretch| stretch.length).sum();
    let more = match damage.len() {
        1 => String::new(),
        n => format!(" and {} more places", n - 1),
    };
    Some(format!(
        "{total} bytes cannot be used: expected {} at byte {}{more}; the whole blocks around them are used",
        first.what, first.offset
    ))
}

/// What has to be added to the clock of a rank anywhere between two moments, if it is the same and no time would overflow.
fn constant_shift(rank: &RankInfo, t_min: i64, t_max: i64) -> Option<i64> {
    let shift = rank.shift(t_min).filter(|first| rank.shift(t_max) == Some(*first))?;
    (t_min.checked_add(shift).is_some() && t_max.checked_add(shift).is_some()).then_some(shift)
}

/// Moves operations from the rank's clock to job time.
fn to_job_time(rank: Option<&RankInfo>, operations: &mut [Operation]) {
    let Some(rank) = rank else { return };
    for op in operations {
        *op = op.shifted(rank.shift(op.start).unwrap_or(0));
    }
}
