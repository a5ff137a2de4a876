//! What is known of copies, shared by those who copy and those who remove: in memory, and in the journal.

use crate::journal::{DraftName, Journal, Line, Verified};
use crate::plan::Direction;
use crate::protocol::copy::{Made, Notes, Replaced};
use crate::stamp::Stamp;
use crate::stop::Stop;
use std::collections::{BTreeMap, HashMap};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};

/// A file: in the buffer or not, file system, number.
type File = (bool, u64, u64);

/// The names of files.
#[derive(Debug, Default)]
struct Names(HashMap<File, Vec<PathBuf>>);

impl Names {
    fn add(&mut self, path: &Path, copy: &Verified) {
        let source_in_buffer = in_buffer(copy.direction);
        for (side, stamp) in [(source_in_buffer, copy.source), (!source_in_buffer, copy.target)] {
            let names = self.0.entry((side, stamp.device, stamp.inode)).or_default();
            if !names.iter().any(|name| name == path) {
                names.push(path.to_owned());
            }
        }
    }
}

/// Is what is copied in the buffer?
fn in_buffer(direction: Direction) -> bool {
    direction == Direction::Out
}

/// Copies that were verified, and the journal.
#[derive(Debug)]
pub struct Ledger {
    journal: Journal,
    copies: BTreeMap<PathBuf, Verified>,
    /// Names of files at both ends; made when a file with several names is met for the first time.
    names: Option<Names>,
    /// How many folders were made.
    folders: u64,
}

impl Ledger {
    /// With nothing in it yet.
    pub fn new(journal: Journal) -> Self {
        Ledger { journal, copies: BTreeMap::new(), names: None, folders: 0 }
    }

    /// The journal's path.
    pub fn path(&self) -> &Path {
        self.journal.path()
    }

    /// Which file the journal is.
    pub fn identity(&self) -> Option<(u64, u64)> {
        self.journal.identity()
    }

    /// A copy that an earlier process has verified, and that is still there.
    pub fn remember(&mut self, copy: Verified) {
        let path = PathBuf::from(copy.path.clone());
        self.insert(path, copy);
    }

    fn insert(&mut self, path: PathBuf, copy: Verified) {
        if let Some(names) = &mut self.names {
            names.add(&path, &copy);
        }
        self.copies.insert(path, copy);
    }

    /// Other names of a file of one of the two folders.
    fn others(&mut self, path: &Path, file: File) -> Vec<PathBuf> {
        let copies = &self.copies;
        let names = self.names.get_or_insert_with(|| {
            let mut names = Names::default();
            copies.iter().for_each(|(path, copy)| names.add(path, copy));
            names
        });
        let all = names.0.get(&file).into_iter().flatten();
        all.filter(|other| *other != path).cloned().collect()
    }

    /// The copy of a file.
    pub fn copy_of(&self, path: &Path) -> Option<&Verified> {
        self.copies.get(path)
    }

    /// How many folders were made so far.
    pub fn folders(&self) -> u64 {
        self.folders
    }

    /// A copy was verified and has its final name. The line is not brought to the disk: it outlives a killed
    /// process, and if the machine fails before the system has written it, the file is copied once more.
    pub fn verified(&mut self, direction: Direction, path: &Path, made: &Made) -> io::Result<()> {
        let copy = Verified::new(direction, path, made);
        self.journal.write(&Line::Verified(copy.clone()))?;
        self.insert(path.to_owned(), copy);
        Ok(())
    }

    /// The same of a copy that is a second name of another: that has changed its time of change.
    pub fn linked(&mut self, direction: Direction, path: &Path, made: &Made) -> io::Result<()> {
        self.verified(direction, path, made)?;
        let target = made.target;
        for other in self.others(path, (!in_buffer(direction), target.device, target.inode)) {
            self.change(&other, |copy| {
                if target.is_renamed(&copy.target) {
                    copy.target = target;
                }
            })?;
        }
        Ok(())
    }

    /// The version in the buffer is another one, with the same content: it was renamed, or has lost a name.
    pub fn restamp(&mut self, path: &Path, before: Stamp, after: Stamp, others: bool) -> io::Result<()> {
        let mut paths = vec![path.to_owned()];
        if others {
            paths.extend(self.others(path, (true, before.device, before.inode)));
        }
        for path in paths {
            self.change(&path, |copy| {
                let stamp = match copy.direction {
                    Direction::Out => &mut copy.source,
                    Direction::In => &mut copy.target,
                };
                if *stamp == before {
                    *stamp = after;
                }
            })?;
        }
        Ok(())
    }

    fn change(&mut self, path: &Path, change: impl FnOnce(&mut Verified)) -> io::Result<()> {
        let Some(copy) = self.copies.get_mut(path) else { return Ok(()) };
        let before = copy.clone();
        change(copy);
        if *copy == before {
            return Ok(());
        }
        let line = Line::Verified(copy.clone());
        self.journal.write(&line)
    }

    /// A file was removed from the buffer.
    pub fn evicted(&mut self, path: &Path) -> io::Result<()> {
        self.journal.write(&Line::Evicted(path.into()))
    }

    /// A program makes the copy.
    pub fn command(&mut self, pid: i32, started: u64) -> io::Result<()> {
        self.journal.write(&Line::Command { pid, started })
    }

    /// A draft that an earlier process has left is done with.
    pub fn draft_is_gone(&mut self, direction: Direction, path: &Path) -> io::Result<()> {
        self.journal.write(&Line::Dropped(DraftName { direction, path: path.into() }))
    }

    fn note(&mut self, line: &Line) -> Result<(), Stop> {
        let written = self.journal.write(line);
        written.map_err(|error| Stop::writing(files::Error::new(self.journal.path(), error)))
    }
}

impl Notes for Ledger {
    fn draft(&mut self, direction: Direction, path: &Path) -> Result<(), Stop> {
        self.note(&Line::Draft(DraftName { direction, path: path.into() }))
    }

    fn replaces(&mut self, direction: Direction, draft: &Path, change: &Replaced) -> Result<(), Stop> {
        let draft = DraftName { direction, path: draft.into() };
        self.note(&Line::Replaces { draft, change: change.clone() })
    }

    fn dropped(&mut self, direction: Direction, path: &Path) -> Result<(), Stop> {
        self.note(&Line::Dropped(DraftName { direction, path: path.into() }))
    }

    fn made_folder(&mut self) {
        self.folders += 1;
    }
}

/// The ledger, locked for each note alone: a copy may take hours.
#[derive(Debug)]
pub(crate) struct Shared<'a>(pub &'a Mutex<Ledger>);

impl Shared<'_> {
    fn lock(&self) -> MutexGuard<'_, Ledger> {
        self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    pub fn copy_of(&self, path: &Path) -> Option<Verified> {
        self.lock().copy_of(path).cloned()
    }

    /// A copy was made; `linked`: as a second name of another.
    pub fn verified(&self, direction: Direction, path: &Path, made: &Made, linked: bool) -> Result<(), Stop> {
        let mut ledger = self.lock();
        let written = match linked {
            true => ledger.linked(direction, path, made),
            false => ledger.verified(direction, path, made),
        };
        written.map_err(|error| Stop::writing(files::Error::new(ledger.journal.path(), error)))
    }
}

impl Notes for Shared<'_> {
    fn draft(&mut self, direction: Direction, path: &Path) -> Result<(), Stop> {
        self.lock().draft(direction, path)
    }

    fn replaces(&mut self, direction: Direction, draft: &Path, change: &Replaced) -> Result<(), Stop> {
        self.lock().replaces(direction, draft, change)
    }

    fn dropped(&mut self, direction: Direction, path: &Path) -> Result<(), Stop> {
        self.lock().dropped(direction, path)
    }

    fn made_folder(&mut self) {
        self.lock().made_folder();
    }
}
