//! What was copied and verified, on disk: a killed process is started again, and goes on.
//!
//! One JSON object per line, appended. Before a draft is made, its name is written down; when a copy has its
//! final name, that is written down, and reaches the disk before anything is removed. Whatever a process was
//! killed in, the next one finds here which drafts to throw away, and which copies were verified.

use crate::plan::Direction;
use crate::scan::DRAFT;
use crate::stamp::Stamp;
use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use twox_hash::XxHash64;

/// How long to wait for a lock.
const PATIENCE: Duration = Duration::from_millis(500);

/// The format.
const FORMAT: &str = "ftio.stage-journal/1";

/// Why a journal cannot be used.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)] // the messages say it
pub enum JournalError {
    #[error("{}: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
    #[error("{}: another ftio stage is at work with this journal", path.display())]
    Busy { path: PathBuf },
    #[error("{}: is not a journal of ftio stage: expected {FORMAT} in its first line", path.display())]
    Foreign { path: PathBuf },
    #[error("{}: is the journal of another staging, {folders}: give another one with --journal", path.display())]
    OtherFolders { path: PathBuf, folders: String },
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
    /// The checksum of its data, if that was compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checksum: Option<u64>,
}

/// A path; as bytes if it is no text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Name {
    /// As nearly always.
    Text(String),
    /// Anything else.
    Bytes(Vec<u8>),
}

impl From<&Path> for Name {
    fn from(path: &Path) -> Self {
        match path.to_str() {
            Some(text) => Name::Text(text.to_owned()),
            None => Name::Bytes(path.as_os_str().as_bytes().to_vec()),
        }
    }
}

impl From<Name> for PathBuf {
    fn from(name: Name) -> Self {
        match name {
            Name::Text(text) => PathBuf::from(text),
            Name::Bytes(bytes) => PathBuf::from(OsString::from_vec(bytes)),
        }
    }
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Line {
    Journal { format: String, from: Name, to: Name },
    Draft(Name),
    Command { pid: i32, started: u64 },
    Dropped(Name),
    Verified(Verified),
    Evicted(Name),
}

/// What earlier processes have left.
#[derive(Clone, Debug, Default)]
pub struct Past {
    /// Copies that were verified, the last version of each.
    pub verified: Vec<Verified>,
    /// Drafts that were begun.
    pub drafts: Vec<PathBuf>,
    /// Programs that made copies: process, and when it started by the kernel's count.
    pub commands: Vec<(i32, u64)>,
    /// Lines that could not be used.
    pub damaged: usize,
}

/// The journal, open.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: File,
}

impl Journal {
    /// Open it, or begin it; nobody else may have it open.
    pub fn open(path: &Path, from: &Path, to: &Path) -> Result<(Self, Past), JournalError> {
        let failed = |source| JournalError::Io { path: path.to_owned(), source };
        let options = OpenOptions::new().read(true).append(true).create(true).mode(0o600).open(path);
        let mut file = options.map_err(failed)?;
        if !lock(&file) {
            return Err(JournalError::Busy { path: path.to_owned() });
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(failed)?;
        // The last line of a process that was killed may be cut.
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1);
        if whole < bytes.len() && (whole > 0 || is_beginning(&bytes)) {
            file.set_len(whole as u64).map_err(failed)?;
            bytes.truncate(whole);
        }
        let mut journal = Journal { path: path.to_owned(), file };
        if bytes.is_empty() {
            let header = Line::Journal { format: FORMAT.into(), from: from.into(), to: to.into() };
            journal.write(&header).map_err(failed)?;
            return Ok((journal, Past::default()));
        }
        let past = read(path, &bytes, from, to)?;
        Ok((journal, past))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A draft is about to be made.
    pub fn draft(&mut self, path: &Path) -> io::Result<()> {
        self.write(&Line::Draft(path.into()))
    }

    /// A program makes the copy.
    pub fn command(&mut self, pid: i32, started: u64) -> io::Result<()> {
        self.write(&Line::Command { pid, started })
    }

    /// A draft was thrown away.
    pub fn dropped(&mut self, path: &Path) -> io::Result<()> {
        self.write(&Line::Dropped(path.into()))
    }

    /// A copy was verified and has its final name. The line is not brought to the disk: it outlives a killed
    /// process, and if the machine fails before the system has written it, the file is copied once more.
    pub fn verified(&mut self, verified: Verified) -> io::Result<()> {
        self.write(&Line::Verified(verified))
    }

    /// A file was removed from the buffer.
    pub fn evicted(&mut self, path: &Path) -> io::Result<()> {
        self.write(&Line::Evicted(path.into()))
    }

    fn write(&mut self, line: &Line) -> io::Result<()> {
        let mut text = serde_json::to_vec(line)?;
        text.push(b'\n');
        self.file.write_all(&text)
    }
}

/// A process that was just killed, or its child, may hold the lock for a moment longer. Some file systems
/// have no locks: then it is up to the user.
fn lock(file: &File) -> bool {
    let began = Instant::now();
    while flock(file, FlockOperation::NonBlockingLockExclusive) == Err(rustix::io::Errno::WOULDBLOCK) {
        if began.elapsed() > PATIENCE {
            return false;
        }
        std::thread::sleep(PATIENCE / 50);
    }
    true
}

/// Is this the beginning of the first line of a journal?
fn is_beginning(bytes: &[u8]) -> bool {
    let start = br#"{"journal":{"format":"ftio.stage-journal/"#;
    bytes.iter().zip(start).all(|(a, b)| a == b)
}

fn read(path: &Path, bytes: &[u8], from: &Path, to: &Path) -> Result<Past, JournalError> {
    let mut lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    let first = lines.next().and_then(|line| serde_json::from_slice(line).ok());
    match first {
        Some(Line::Journal { format, from: a, to: b }) if format == FORMAT => {
            let (a, b) = (PathBuf::from(a), PathBuf::from(b));
            if (a.as_path(), b.as_path()) != (from, to) {
                let folders = format!("from {} to {}", a.display(), b.display());
                return Err(JournalError::OtherFolders { path: path.to_owned(), folders });
            }
        }
        _ => return Err(JournalError::Foreign { path: path.to_owned() }),
    }
    let mut past = Past::default();
    let mut verified: std::collections::BTreeMap<(Direction, PathBuf), Verified> = Default::default();
    for line in lines {
        match serde_json::from_slice(line) {
            Ok(Line::Draft(draft)) => past.drafts.push(draft.into()),
            Ok(Line::Dropped(draft)) => {
                let draft = PathBuf::from(draft);
                past.drafts.retain(|other| *other != draft);
            }
            Ok(Line::Command { pid, started }) => past.commands.push((pid, started)),
            Ok(Line::Verified(copy)) => {
                verified.insert((copy.direction, copy.path.clone().into()), copy);
            }
            Ok(Line::Evicted(_) | Line::Journal { .. }) => {}
            Err(_) => past.damaged += 1,
        }
    }
    past.verified = verified.into_values().collect();
    Ok(past)
}

/// The usual name of the journal in the folder that files go to. It tells hosts and buffers apart: others may
/// stage to the same folder.
pub fn default_name(buffer: &Path) -> String {
    let checksum = XxHash64::oneshot(0, buffer.as_os_str().as_bytes());
    format!("{DRAFT}{}.{checksum:016x}.journal", crate::host())
}

/// Remove drafts that earlier processes left, and end programs that still write to them. Returns how many
/// drafts there were.
pub fn clean(past: &Past, journal: &mut Journal) -> io::Result<usize> {
    for (pid, started) in &past.commands {
        let same = started_at(*pid) == Some(*started);
        if let Some(pid) = rustix::process::Pid::from_raw(*pid).filter(|_| same) {
            let _ = rustix::process::kill_process_group(pid, rustix::process::Signal::KILL);
        }
    }
    let mut removed = 0;
    for draft in &past.drafts {
        match fs::remove_file(draft) {
            Ok(()) => removed += 1,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(io::Error::new(error.kind(), format!("{}: {error}", draft.display()))),
        }
        journal.dropped(draft)?;
    }
    Ok(removed)
}

/// When a process was started, by the kernel's count: field 22 of `/proc/PID/stat`.
pub fn started_at(pid: i32) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let after_name = text.rsplit_once(')')?.1;
    after_name.split_whitespace().nth(19)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn copy(path: &str, size: u64) -> Verified {
        let stamp = Stamp { size, ..Stamp::default() };
        let (direction, path) = (Direction::Out, Path::new(path).into());
        Verified { direction, path, source: stamp, target: stamp, checksum: Some(u64::MAX) }
    }

    #[test]
    fn what_was_written_is_there_again_wherever_it_was_cut() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("journal");
        let (from, to) = (Path::new("/bb"), Path::new("/pfs"));
        let odd = PathBuf::from(OsString::from_vec(vec![b'a', 0xff, b'\n']));
        {
            let (mut journal, past) = Journal::open(&path, from, to).unwrap();
            assert!(past.verified.is_empty());
            let busy = Journal::open(&path, from, to).unwrap_err();
            assert!(matches!(busy, JournalError::Busy { .. }), "{busy}");
            journal.draft(&dir.path().join("one")).unwrap();
            journal.verified(copy("a", 1)).unwrap();
            journal.draft(&odd).unwrap();
            journal.dropped(&odd).unwrap();
            journal.verified(copy("a", 2)).unwrap();
            journal.draft(&dir.path().join("two")).unwrap();
        }
        let whole = fs::read(&path).unwrap();
        let (_, past) = Journal::open(&path, from, to).unwrap();
        assert_eq!(past.verified, [copy("a", 2)]);
        assert_eq!(past.drafts, [dir.path().join("one"), dir.path().join("two")]);
        for length in 0..whole.len() {
            fs::write(&path, &whole[..length]).unwrap();
            let (mut journal, past) = Journal::open(&path, from, to).unwrap();
            assert!(past.damaged == 0 && past.verified.len() <= 1);
            journal.draft(&odd).unwrap();
            drop(journal);
            let (_, past) = Journal::open(&path, from, to).unwrap();
            assert!(past.drafts.contains(&odd), "cut at {length}");
        }
    }

    #[test]
    fn files_of_others_are_not_taken_for_journals() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("journal");
        let (from, to) = (Path::new("/bb"), Path::new("/pfs"));
        for foreign in ["text\n", "{}", "text without an end", "{\"a\":1}\n{}\n"] {
            fs::write(&path, foreign).unwrap();
            let error = Journal::open(&path, from, to).unwrap_err();
            assert!(matches!(error, JournalError::Foreign { .. }), "{foreign}: {error}");
            assert_eq!(fs::read_to_string(&path).unwrap(), foreign, "left as it was");
        }
        fs::remove_file(&path).unwrap();
        drop(Journal::open(&path, from, to).unwrap());
        let error = Journal::open(&path, from, Path::new("/other")).unwrap_err();
        assert!(matches!(error, JournalError::OtherFolders { .. }), "{error}");
    }

    #[test]
    fn drafts_of_a_killed_process_are_removed() {
        let dir = tempfile::tempdir().unwrap();
        let (path, draft) = (dir.path().join("journal"), dir.path().join(".ftio-stage.1.1"));
        let (from, to) = (Path::new("/bb"), Path::new("/pfs"));
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let pid = child.id() as i32;
        {
            let (mut journal, _) = Journal::open(&path, from, to).unwrap();
            journal.draft(&draft).unwrap();
            journal.command(pid, started_at(pid).unwrap() + 1).unwrap();
        }
        fs::write(&draft, "half").unwrap();
        let (mut journal, past) = Journal::open(&path, from, to).unwrap();
        assert_eq!(clean(&past, &mut journal).unwrap(), 1);
        assert!(!draft.exists());
        assert!(child.try_wait().unwrap().is_none(), "another process of the same number stays");
        child.kill().unwrap();
        child.wait().unwrap();
        drop(journal);
        let (_, past) = Journal::open(&path, from, to).unwrap();
        assert!(past.drafts.is_empty());
    }
}
