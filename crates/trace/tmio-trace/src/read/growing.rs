//! Follows the trace of a job that runs: what was added since the last look, each block once.
//!
//! While the job runs, whole frames are appended to `OUT.parts/HOST`. [`GrowingTrace::poll`] reads what is
//! new of every part. When the job has ended, `OUT` appears with the same blocks and those last ones that
//! never were in the parts; [`GrowingTrace::read_committed`] hands out only these, and passes over the
//! others: a block is known by its rank and number.

use crate::format::block::{self, IDENTITY_BYTES};
use crate::format::checksum::crc32;
use crate::format::frame::{FrameKind, HEAD, Head, TAG, find_tag, parse_head};
use crate::liveness::{self, Life};
use crate::read::reader::parts_path;
use crate::read::reading::Reading;
use crate::read::told::Event;
use crate::{Header, TraceEnd, parts};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// How much is read at once.
const PIECE: usize = 1 << 20;

/// How many operations are handed out at once: that number stays in the cache.
const PIECE_OPERATIONS: usize = 512;

/// What a look at the parts showed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    /// There are no parts.
    Nothing,
    /// There are parts; whether they had grown.
    Parts(bool),
    /// The parts are not those of the job that was followed: forget it, and make a new [`GrowingTrace`].
    OtherJob,
}

/// Job and start of the last run that has parts of the trace `path`, if any has.
pub fn running(path: &Path) -> Option<(String, i64)> {
    running_in(&parts_path(path))
}

/// The same for parts in this directory.
pub fn running_in(parts: &Path) -> Option<(String, i64)> {
    let job = parts::jobs(parts).ok()?.into_iter().next()?;
    job.header.map(|header| header.run())
}

/// Job and start of the finished trace `path`, if it is one.
pub fn finished(path: &Path) -> Option<(String, i64)> {
    parts::first_header(path).map(|header| header.run())
}

/// The trace of a job that runs.
#[derive(Debug)]
pub struct GrowingTrace {
    path: PathBuf,
    directory: PathBuf,
    reading: Reading,
    parts: BTreeMap<OsString, Part>,
    /// The job that is followed, once its parts were seen.
    job: Option<Option<u64>>,
    /// The parts turned out to be those of another job.
    other_job: bool,
}

#[derive(Debug)]
struct Part {
    /// Kept open: it can be read to its end even after the job has removed it.
    file: File,
    identity: (u64, u64),
    offset: u64,
    /// How long it was when last looked at.
    length: u64,
    /// Bytes after the last whole frame.
    rest: Vec<u8>,
}

impl GrowingTrace {
    /// The trace that will be `path`.
    pub fn new(path: &Path) -> Self {
        Self::of_parts(path, &parts_path(path))
    }

    /// The same, of a trace whose parts are in this directory.
    pub fn of_parts(path: &Path, directory: &Path) -> Self {
        Self {
            path: path.to_owned(),
            directory: directory.to_owned(),
            reading: Reading::new(PIECE_OPERATIONS),
            parts: BTreeMap::new(),
            job: None,
            other_job: false,
        }
    }

    /// About the job, once that is known.
    pub fn header(&self) -> Option<&Header> {
        self.reading.outcome.header.as_ref()
    }

    /// Ranks that are known so far.
    pub fn known_ranks(&self) -> usize {
        self.reading.ranks.len()
    }

    /// The end of the trace, once it was read.
    pub fn end(&self) -> Option<&TraceEnd> {
        self.reading.outcome.end.as_ref()
    }

    /// What could not be used so far.
    pub fn warnings(&self) -> &[String] {
        &self.reading.outcome.warnings
    }

    /// Hands out what was added to the parts since the last time.
    pub fn poll(&mut self, mut visit: impl FnMut(Event<'_>)) -> io::Result<Look> {
        let jobs = match parts::jobs(&self.directory) {
            Ok(jobs) => jobs,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(error),
        };
        if self.job.is_none() {
            self.job = jobs.first().map(|job| job.number);
            self.reading.start = jobs.first().and_then(|job| job.header.as_ref()).map(|header| header.start);
        }
        let Some(job) = jobs.iter().find(|job| Some(job.number) == self.job) else {
            if self.parts.is_empty() || (!jobs.is_empty() && !self.path.is_file()) {
                return Ok(if jobs.is_empty() { Look::Nothing } else { Look::OtherJob });
            }
            // Removed after the commit: what was written before can be read still.
            for part in self.parts.values_mut() {
                part.length = part.file.metadata()?.len();
            }
            let grew = self.read_parts(&mut visit)?;
            return Ok(if grew { Look::Parts(true) } else { Look::Nothing });
        };
        for path in &job.files {
            let Some(name) = path.file_name() else { continue };
            // It may be gone by now: the job has ended.
            let Ok(about) = parts::look(path) else { continue };
            match self.parts.get_mut(name) {
                Some(part) if part.identity == about.identity() && about.size >= part.offset => {
                    part.length = about.size;
                }
                Some(_) => return Ok(Look::OtherJob),
                None => {
                    let Ok(file) = parts::open(path) else { continue };
                    let meta = file.metadata()?;
                    let identity = (meta.dev(), meta.ino());
                    let part = Part { file, identity, offset: 0, length: meta.len(), rest: Vec::new() };
                    self.parts.insert(name.to_owned(), part);
                }
            }
        }
        let grew = self.read_parts(&mut visit)?;
        Ok(if self.other_job { Look::OtherJob } else { Look::Parts(grew) })
    }

    /// Hands out what ranks of this host have not written out yet. Only for a job that is dead: what a living
    /// one has not written out comes again.
    pub fn read_spools(&mut self, mut visit: impl FnMut(Event<'_>)) {
        self.reading.spools(&mut visit);
    }

    /// Is the job dead, as far as can be seen from this host? Its ranks' memory lies here, and none of their
    /// processes is left.
    pub fn is_dead(&self) -> bool {
        let ranks = self.reading.ranks.values();
        let mut local = ranks
            .filter(|rank| {
                liveness::is_here(rank) && !rank.spool.is_empty() && Path::new(&rank.spool).exists()
            })
            .peekable();
        local.peek().is_some() && liveness::of_ranks(local) == Life::Dead
    }

    /// Hands out what the finished trace has beyond what was read before. `false`: it is the trace of another
    /// job.
    pub fn read_committed(&mut self, mut visit: impl FnMut(Event<'_>)) -> io::Result<bool> {
        let mut file = BufReader::with_capacity(PIECE, File::open(&self.path)?);
        let mut body = Vec::new();
        let mut head = [0u8; HEAD];
        loop {
            match file.read_exact(&mut head) {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(true),
                Err(error) => return Err(error),
            }
            let Head::Frame { kind, checksum, length } = parse_head(&head) else {
                self.reading.warn(format!("{}: damaged; what follows was left out", self.path.display()));
                return Ok(true);
            };
            let kind = FrameKind::from_code(kind);
            body.clear();
            let begin = length.min(IDENTITY_BYTES);
            (&mut file).take(begin as u64).read_to_end(&mut body)?;
            if kind.is_some_and(FrameKind::is_block) && self.was_handed_out(&body) {
                file.seek_relative((length - begin) as i64)?;
                continue;
            }
            (&mut file).take((length - begin) as u64).read_to_end(&mut body)?;
            if body.len() != length || crc32(&body) != checksum {
                self.reading.warn(format!("{}: a damaged frame was left out", self.path.display()));
                continue;
            }
            if kind == Some(FrameKind::Header) && self.is_of_another_job(&body) {
                return Ok(false);
            }
            self.frame(kind, &body, &mut visit);
        }
    }

    fn is_of_another_job(&self, body: &[u8]) -> bool {
        let other: Option<Header> = rmp_serde::from_slice(body).ok();
        match (self.header(), &other) {
            (Some(known), Some(other)) => known.run() != other.run(),
            // What was followed has not said who it is.
            (None, _) => !self.parts.is_empty(),
            (Some(_), None) => true,
        }
    }

    fn read_parts(&mut self, visit: &mut impl FnMut(Event<'_>)) -> io::Result<bool> {
        let mut grew = false;
        let mut parts = std::mem::take(&mut self.parts);
        for part in parts.values_mut().filter(|part| part.length > part.offset) {
            part.file.seek(SeekFrom::Start(part.offset))?;
            self.reading.owner = part.file.metadata().ok().map(|meta| meta.uid());
            loop {
                let read = (&mut part.file).take(PIECE as u64).read_to_end(&mut part.rest)?;
                part.offset += read as u64;
                let used = self.frames(&part.rest, visit);
                part.rest.drain(..used);
                grew |= read > 0;
                if read == 0 {
                    break;
                }
            }
        }
        self.parts = parts;
        Ok(grew)
    }

    /// Takes the whole frames that bytes begin with, and says how many bytes are done with.
    fn frames(&mut self, bytes: &[u8], visit: &mut impl FnMut(Event<'_>)) -> usize {
        let mut at = 0;
        loop {
            let rest = bytes.get(at..).unwrap_or_default();
            match parse_head(rest) {
                Head::Frame { kind, checksum, length } => {
                    // The rest of the frame may come yet.
                    let Some(body) = rest.get(HEAD..HEAD + length) else { return at };
                    if crc32(body) == checksum {
                        self.frame(FrameKind::from_code(kind), body, visit);
                        at += HEAD + length;
                        continue;
                    }
                }
                Head::Cut => return at,
                Head::Foreign => {}
            }
            // Not a frame: on to the next one, if it can be seen.
            let next = rest.get(1..).and_then(find_tag);
            match next {
                Some(distance) => at += 1 + distance,
                None => return bytes.len().saturating_sub(TAG.len() - 1).max(at),
            }
        }
    }

    fn was_handed_out(&self, body: &[u8]) -> bool {
        block::identity(body).is_some_and(|identity| self.reading.written.contains(&identity))
    }

    fn frame(&mut self, kind: Option<FrameKind>, body: &[u8], visit: &mut impl FnMut(Event<'_>)) {
        if kind.is_some_and(FrameKind::is_block) && self.was_handed_out(body) {
            return;
        }
        if kind == Some(FrameKind::Header) && self.header().is_some() && self.is_of_another_job(body) {
            self.other_job = true;
        }
        if let Err(problem) = self.reading.frame(kind, body, visit) {
            self.reading.warn(format!("{}: {problem}", self.path.display()));
        }
    }
}
