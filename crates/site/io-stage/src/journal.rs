//! What was copied and verified, on disk: a killed process is started again, and goes on.
//!
//! One JSON object per line, appended. Before a draft is made, its name is written down; when a copy has its
//! final name, that is written down. Whatever a process was killed in, the next one finds here which drafts
//! to throw away, and which copies were verified.
//!
//! A journal is believed only if nobody else can have written it: a regular file of this user's own with one
//! name, which nobody else may write to. And what it says is not believed further than need be: drafts are
//! removed only below the folders, and only if they are named like drafts, and only programs are ended that
//! were started for this very file ([`crate::copier`]).

use crate::name::Name;
use crate::plan::{Direction, Kind};
use crate::protocol::copy::{Made, Replaced};
use crate::protocol::evict::Leaving;
use crate::protocol::restart::Begun;
use crate::scan::DRAFT;
use crate::stamp::Stamp;
use files::{Access, Dir, Expect, Replace};
use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use twox_hash::XxHash64;

/// How long to wait for a lock.
const LOCK_TIMEOUT: Duration = Duration::from_millis(500);

/// The format, and that of version 0.2, which did not know the time of change of a file.
const FORMAT: &str = "ftio.stage-journal/2";
const FORMAT_0_2: &str = "ftio.stage-journal/1";

/// Why a journal cannot be used.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)] // the messages say it
pub enum JournalError {
    #[error("{}: {source}", files::shown(path))]
    Io { path: PathBuf, source: io::Error },
    #[error(
        "{problem}: a journal is believed only if nobody else can have written it; \
         remove it, or name another one with --journal"
    )]
    NotOwn { problem: files::Error },
    #[error("{}: another ftio stage is at work with this journal", files::shown(path))]
    Busy { path: PathBuf },
    #[error("{}: is not a journal of ftio stage: expected {FORMAT} in its first line", files::shown(path))]
    Foreign { path: PathBuf },
    #[error(
        "{}: is the journal of another staging, {folders}: give another one with --journal",
        files::shown(path)
    )]
    OtherFolders { path: PathBuf, folders: String },
    #[error(
        "{}: is a journal of version 0.2 and cannot be put aside, because there is {} already: remove one of the two",
        files::shown(path),
        files::shown(kept)
    )]
    OldOne { path: PathBuf, kept: PathBuf },
}

/// A copy that was verified.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verified {
    /// Which way it went.
    pub direction: Direction,
    /// Its path below the folder.
    pub path: Name,
    /// The version that was copied.
    pub source: Stamp,
    /// The version that the copy is.
    pub target: Stamp,
    /// The checksum of its data, if that was taken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checksum: Option<u64>,
    /// Nobody could write to the source while it was read, and its time of change tells of any write since.
    #[serde(default)]
    pub sealed: bool,
}

impl Verified {
    /// A copy that was made.
    pub fn new(direction: Direction, path: &Path, made: &Made) -> Self {
        let Made { source, target, checksum, sealed, .. } = *made;
        Verified { direction, path: path.into(), source, target, checksum, sealed }
    }

    /// The file in the buffer that this is the copy of, or that is a copy itself, for its removal.
    pub fn leaving(&self, kind: Kind) -> Leaving {
        let mut made = self.made();
        if self.direction == Direction::In {
            (made.source, made.target) = (made.target, made.source);
        }
        Leaving { path: self.path.clone().into(), kind, direction: self.direction, made }
    }

    /// As it was made.
    pub fn made(&self) -> Made {
        let Verified { source, target, checksum, sealed, .. } = *self;
        Made { source, target, checksum, sealed, lost: Vec::new() }
    }
}

/// A draft, below the folder that the file goes to.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct DraftName {
    pub direction: Direction,
    pub path: Name,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Line {
    Journal { format: String, from: Name, to: Name },
    Draft(DraftName),
    Replaces { draft: DraftName, change: Replaced },
    Command { pid: i32, started: u64 },
    Dropped(DraftName),
    Verified(Verified),
    Evicted(Name),
}

/// What earlier processes have left.
#[derive(Clone, Debug, Default)]
pub struct Past {
    /// Copies that were verified, the last version of each.
    pub verified: Vec<Verified>,
    /// Drafts that were begun.
    pub drafts: Vec<Begun>,
    /// Programs that made copies: process, and when it started by the kernel's count.
    pub commands: Vec<(i32, u64)>,
    /// Lines that could not be used.
    pub damaged: usize,
    /// A journal of version 0.2 that was put aside: what it says was verified is not believed.
    pub put_aside: Option<PathBuf>,
}

impl Past {
    /// From what was written down.
    pub(crate) fn of(lines: impl Iterator<Item = Option<Line>>) -> Self {
        let mut past = Past::default();
        let mut verified: BTreeMap<(Direction, PathBuf), Verified> = BTreeMap::new();
        for line in lines {
            match line {
                Some(Line::Draft(DraftName { direction, path })) => {
                    past.drafts.push(Begun { direction, path: path.into(), replaces: None });
                }
                Some(Line::Replaces { draft: DraftName { direction, path }, change }) => {
                    let path = PathBuf::from(path);
                    past.forget(direction, &path);
                    past.drafts.push(Begun { direction, path, replaces: Some(change) });
                }
                Some(Line::Dropped(DraftName { direction, path })) => {
                    past.forget(direction, &PathBuf::from(path))
                }
                Some(Line::Command { pid, started }) => past.commands.push((pid, started)),
                Some(Line::Verified(copy)) => {
                    verified.insert((copy.direction, copy.path.clone().into()), copy);
                }
                Some(Line::Evicted(_) | Line::Journal { .. }) => {}
                None => past.damaged += 1,
            }
        }
        past.verified = verified.into_values().collect();
        past
    }

    /// What is known of a file in the buffer, by this path, for its removal.
    pub fn leaving(&self, path: &Path, kind: Kind) -> Vec<Leaving> {
        let copies = self.verified.iter().map(|copy| copy.leaving(kind));
        copies.filter(|leaving| leaving.path == path).collect()
    }

    fn forget(&mut self, direction: Direction, path: &Path) {
        self.drafts.retain(|begun| begun.direction != direction || begun.path != path);
    }
}

/// The journal, open.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: File,
}

impl Journal {
    /// Open the journal of this name in a folder, or begin it; nobody else may have it open. `from` and `to`
    /// are the folders that it is about.
    pub fn open(at: &Dir, name: &OsStr, from: &Path, to: &Path) -> Result<(Self, Past), JournalError> {
        let path = at.path().join(name);
        let failed = |source| JournalError::Io { path: path.clone(), source };
        let mut file = open_own(at, name)?;
        if !lock(&file) {
            return Err(JournalError::Busy { path });
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(failed)?;
        // The last line of a process that was killed may be cut.
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1);
        if whole < bytes.len() && (whole > 0 || is_beginning(&bytes)) {
            file.set_len(whole as u64).map_err(failed)?;
            bytes.truncate(whole);
        }
        let mut lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        let mut journal = Journal { path: path.clone(), file };
        let Some(first) = lines.next() else {
            journal.begin(from, to).map_err(failed)?;
            return Ok((journal, Past::default()));
        };
        let Ok(Line::Journal { format, from: a, to: b }) = serde_json::from_slice(first) else {
            return Err(JournalError::Foreign { path });
        };
        let (a, b) = (PathBuf::from(a), PathBuf::from(b));
        if (a.as_path(), b.as_path()) != (from, to) {
            let folders = format!("from {} to {}", files::shown(a), files::shown(b));
            return Err(JournalError::OtherFolders { path, folders });
        }
        match format.as_str() {
            FORMAT => Ok((journal, Past::of(lines.map(|line| serde_json::from_slice(line).ok())))),
            FORMAT_0_2 => {
                let past = Past { drafts: drafts_of_0_2(lines, from, to), ..Past::default() };
                drop(journal);
                take_over(at, name, past, from, to)
            }
            _ => Err(JournalError::Foreign { path }),
        }
    }

    fn begin(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        self.write(&Line::Journal { format: FORMAT.into(), from: from.into(), to: to.into() })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Which file it is.
    pub fn identity(&self) -> Option<(u64, u64)> {
        files::Stat::of(&self.file).ok().map(|found| found.identity())
    }

    pub(crate) fn write(&mut self, line: &Line) -> io::Result<()> {
        let mut text = serde_json::to_vec(line)?;
        text.push(b'\n');
        self.file.write_all(&text)
    }
}

/// The journal, if it is this user's own; made if there is none.
fn open_own(at: &Dir, name: &OsStr) -> Result<File, JournalError> {
    let own = |problem: files::Error| {
        // One that may not even be opened: whose it is tells more than the system does.
        let theirs = at.look(name).ok().and_then(|found| Expect::own().check(&found).err());
        match (problem.why, theirs) {
            (files::Why::Io(source), None) => JournalError::Io { path: problem.path, source },
            (files::Why::Io(_), Some(why)) | (why, _) => {
                JournalError::NotOwn { problem: files::Error { path: problem.path, why } }
            }
        }
    };
    match at.file(name, Access::Append, &Expect::own()) {
        Err(error) if error.is_missing() => match at.create(name, 0o600) {
            Err(error) if error.exists() => at.file(name, Access::Append, &Expect::own()).map_err(own),
            made => made.map_err(own),
        },
        found => found.map_err(own),
    }
}

/// Drafts that version 0.2 has begun: it wrote whole paths.
fn drafts_of_0_2<'a>(lines: impl Iterator<Item = &'a [u8]>, from: &Path, to: &Path) -> Vec<Begun> {
    #[derive(Deserialize)]
    #[serde(rename_all = "kebab-case")]
    enum OldLine {
        Draft(Name),
        Dropped(Name),
    }
    let mut drafts: Vec<PathBuf> = Vec::new();
    for line in lines {
        match serde_json::from_slice(line) {
            Ok(OldLine::Draft(path)) => drafts.push(path.into()),
            Ok(OldLine::Dropped(path)) => {
                let path = PathBuf::from(path);
                drafts.retain(|draft| *draft != path);
            }
            Err(_) => {}
        }
    }
    let below = |draft: &PathBuf| {
        let find = |direction: Direction, top: &Path| {
            let path = draft.strip_prefix(top).ok()?.to_owned();
            Some(Begun { direction, path, replaces: None })
        };
        find(Direction::Out, to).or_else(|| find(Direction::In, from))
    };
    drafts.iter().filter_map(below).collect()
}

/// A journal of version 0.2 is put aside as it is, so that version 0.2 can be used again, and a new one
/// begun.
fn take_over(
    at: &Dir,
    name: &OsStr,
    past: Past,
    from: &Path,
    to: &Path,
) -> Result<(Journal, Past), JournalError> {
    let mut kept = name.to_owned();
    kept.push(".0.2");
    let (path, kept_path) = (at.path().join(name), at.path().join(&kept));
    match at.rename(name, at, &kept, Replace::Never) {
        Err(error) if error.exists() => return Err(JournalError::OldOne { path, kept: kept_path }),
        done => done.map_err(|error| JournalError::Io { path: path.clone(), source: error.into() })?,
    }
    let (journal, _) = Journal::open(at, name, from, to)?;
    Ok((journal, Past { put_aside: Some(kept_path), ..past }))
}

/// A process that was just killed, or its child, may hold the lock for a moment longer. Some file systems
/// have no locks: then it is up to the user.
pub(crate) fn lock(file: impl AsFd) -> bool {
    let began = Instant::now();
    while flock(&file, FlockOperation::NonBlockingLockExclusive) == Err(rustix::io::Errno::WOULDBLOCK) {
        if began.elapsed() > LOCK_TIMEOUT {
            return false;
        }
        std::thread::sleep(LOCK_TIMEOUT / 50);
    }
    true
}

/// Is this the beginning of the first line of a journal?
fn is_beginning(bytes: &[u8]) -> bool {
    let start = br#"{"journal":{"format":"ftio.stage-journal/"#;
    bytes.iter().zip(start).all(|(a, b)| a == b)
}

/// The usual name of the journal in the folder that files go to. It tells hosts and buffers apart: others may
/// stage to the same folder.
pub fn default_name(buffer: &Path) -> String {
    let checksum = XxHash64::oneshot(0, buffer.as_os_str().as_bytes());
    format!("{DRAFT}{}.{checksum:016x}.journal", crate::host())
}

#[cfg(test)]
mod tests;
