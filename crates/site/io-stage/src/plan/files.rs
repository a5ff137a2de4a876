//! What is known of the files in the buffer.

use super::phases::Phases;
use super::settings::Settings;
use crate::stamp::Stamp;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Times of files are those of the last tick of the kernel's clock, or of a server's.
const CLOCK_TICK: f64 = 0.05;

/// What a name stands for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A regular file.
    #[default]
    File,
    /// A symbolic link, which is copied as such.
    Link,
}

/// A file as a look at the buffer found it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Entry {
    /// Its path below the folder.
    pub path: PathBuf,
    /// Which version it is.
    pub stamp: Stamp,
    /// File or link.
    pub kind: Kind,
    /// Names that the file has.
    pub names: u64,
    /// Room that it takes.
    pub room: u64,
    /// When it was last changed, in seconds of job time.
    pub written: f64,
}

/// What the job did with a file, since the last time that was told. Times are seconds of job time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Use {
    /// How many times it was opened.
    pub opened: u32,
    /// How many times it was closed.
    pub closed: u32,
    /// When it was last opened, closed, read or written.
    pub touched: Option<f64>,
    /// When it was last read.
    pub read: Option<f64>,
}

/// What is known of a file.
#[derive(Clone, Debug, Default)]
pub(super) struct Known {
    pub entry: Entry,
    /// The version of which there is a verified copy, and when that was verified.
    pub staged: Option<(Stamp, f64)>,
    /// It was tried this often in vain, last after this many phases.
    pub failed: (u32, usize),
    /// Somebody has it open, or it has changed just now: not before this time.
    pub not_before: f64,
    /// Every write since it was copied would be told by another version; otherwise its content has to be
    /// compared when the job has ended.
    pub certain: bool,
    /// It is about to be removed.
    pub leaving: bool,
    /// How often it was to be removed when the job had ended, and could not be.
    pub kept: u32,
    /// It was there at the first look, and has not changed since: by its time it may be older than the job.
    pub found_first: bool,
}

impl Known {
    fn new(entry: Entry) -> Self {
        Known { entry, not_before: f64::NEG_INFINITY, certain: true, ..Known::default() }
    }

    /// Room that its removal makes.
    pub fn room(&self) -> u64 {
        if self.entry.names > 1 { 0 } else { self.entry.room }
    }

    /// It was there before the job.
    pub fn is_older_than(&self, job: Option<f64>) -> bool {
        self.found_first && job.is_some_and(|begin| self.entry.written < begin)
    }

    pub fn is_staged(&self) -> bool {
        self.staged.is_some_and(|(stamp, _)| stamp == self.entry.stamp)
    }
}

/// All files of the buffer.
#[derive(Clone, Debug, Default)]
pub(super) struct Files {
    files: BTreeMap<PathBuf, Known>,
    /// By name, also of files that no look has found yet.
    uses: BTreeMap<PathBuf, Used>,
    /// Copies that were verified before this process began.
    before: BTreeMap<PathBuf, (Stamp, bool)>,
    /// Files that were removed and had other names: the version that those have, and the path of the copy.
    gone: BTreeMap<(u64, u64), (Stamp, PathBuf)>,
    looked: bool,
}

#[derive(Clone, Copy, Debug, Default)]
struct Used {
    /// Handles that are open; below 0 if some were open before we looked.
    open: i64,
    touched: Option<f64>,
    read: Option<f64>,
    /// It was seen being closed.
    closed: bool,
}

impl Used {
    /// All who had it open have closed it after the last change.
    fn is_closed_since(&self, written: f64) -> bool {
        self.closed && self.open == 0 && self.touched.is_some_and(|touched| touched + CLOCK_TICK >= written)
    }
}

impl Files {
    pub fn get(&self, path: &Path) -> Option<&Known> {
        self.files.get(path)
    }

    pub fn get_mut(&mut self, path: &Path) -> Option<&mut Known> {
        self.files.get_mut(path)
    }

    pub fn iter(&self) -> impl Iterator<Item = &Known> {
        self.files.values()
    }

    pub fn remove(&mut self, path: &Path) -> Option<Known> {
        self.files.remove(path)
    }

    /// A copy of this version was verified by an earlier process.
    pub fn verified_before(&mut self, path: PathBuf, stamp: Stamp, certain: bool) {
        if let Some(known) = self.files.get_mut(&path) {
            (known.staged, known.certain) = (Some((stamp, f64::NEG_INFINITY)), certain);
        }
        self.before.insert(path, (stamp, certain));
    }

    /// The job has ended: where not every write is told, copies that were made before may be out of date.
    pub fn doubt(&mut self) {
        self.before.retain(|_, (_, certain)| *certain);
        for known in self.files.values_mut().filter(|known| !known.certain) {
            known.staged = None;
        }
    }

    /// What is there now. Hands files that have grown to `grown`, with the time and the bytes.
    pub fn scanned(&mut self, entries: Vec<Entry>, mut grown: impl FnMut(f64, u64)) {
        let mut before = std::mem::take(&mut self.files);
        for entry in entries {
            let known = match before.remove(&entry.path) {
                Some(known) if known.entry.stamp == entry.stamp => Known { entry, ..known },
                Some(known) => {
                    let old = known.entry.stamp;
                    let same = old.inode == entry.stamp.inode;
                    let bytes = entry.stamp.size.saturating_sub(if same { old.size } else { 0 });
                    grown(entry.written, bytes);
                    Known { entry, failed: (0, 0), found_first: false, ..known }
                }
                None => {
                    if self.looked && entry.kind == Kind::File {
                        grown(entry.written, entry.stamp.size);
                    }
                    let before = self.before.get(&entry.path);
                    let staged = before.map(|(stamp, _)| (*stamp, f64::NEG_INFINITY));
                    let certain = before.is_none_or(|(_, certain)| *certain);
                    let found_first = !self.looked;
                    Known { staged, certain, found_first, ..Known::new(entry) }
                }
            };
            self.files.insert(known.entry.path.clone(), known);
        }
        // What is about to be removed has another name until then.
        self.files.extend(before.into_iter().filter(|(_, known)| known.leaving));
        self.looked = true;
    }

    /// A file came in, and is the same at both ends.
    pub fn arrived(&mut self, entry: Entry, now: f64, certain: bool) {
        let staged = Some((entry.stamp, now));
        let known = Known { staged, certain, ..Known::new(entry) };
        self.files.insert(known.entry.path.clone(), known);
    }

    /// A file was removed: its copy is known still, if it has other names.
    pub fn gone(&mut self, known: &Known) {
        if let Some((stamp, _)) = known.staged.filter(|_| known.entry.names > 1) {
            self.gone.insert((stamp.device, stamp.inode), (stamp, known.entry.path.clone()));
        }
    }

    /// The path of a removed name of this version.
    pub fn gone_name(&self, stamp: Stamp) -> Option<&PathBuf> {
        self.gone.get(&(stamp.device, stamp.inode)).filter(|(found, _)| *found == stamp).map(|(_, path)| path)
    }

    /// A version is another one with the same content.
    pub fn restamped(&mut self, path: &Path, before: Stamp, after: Stamp, others: bool) {
        if let Some((stamp, _)) =
            self.gone.get_mut(&(before.device, before.inode)).filter(|(s, _)| *s == before)
        {
            *stamp = after;
        }
        let restamp = |known: &mut Known| {
            if known.entry.stamp == before {
                known.entry.stamp = after;
            }
            if let Some((stamp, _)) = known.staged.as_mut().filter(|(stamp, _)| *stamp == before) {
                *stamp = after;
            }
        };
        match others {
            true => self.files.values_mut().for_each(restamp),
            false => self.files.get_mut(path).into_iter().for_each(restamp),
        }
    }

    pub fn used(&mut self, path: &Path, used: Use) {
        let before = self.uses.entry(path.to_owned()).or_default();
        before.open += i64::from(used.opened) - i64::from(used.closed);
        before.closed |= used.closed > 0;
        before.touched = latest(before.touched, used.touched);
        before.read = latest(before.read, used.read);
    }

    fn use_of(&self, path: &Path) -> Used {
        self.uses.get(path).copied().unwrap_or_default()
    }

    /// May it leave the buffer, apart from the question when?
    pub fn is_candidate(
        &self,
        known: &Known,
        now: f64,
        ended: bool,
        settings: &Settings,
        phases: &Phases,
        guard: f64,
    ) -> bool {
        let (failures, failed_in) = known.failed;
        let waits = failures > 0 && failed_in >= phases.count() && !ended;
        let foreign = known.is_older_than(settings.not_before);
        if known.leaving
            || known.is_staged()
            || foreign
            || waits
            || failures >= settings.attempts
            || now < known.not_before
        {
            return false;
        }
        if ended {
            return true;
        }
        let used = self.use_of(&known.entry.path);
        let read_lately = used
            .read
            .is_some_and(|time| phases.number_at(time, guard) + settings.read_phases > phases.count());
        let rests = now >= known.entry.written + guard || used.is_closed_since(known.entry.written);
        used.open <= 0 && rests && !read_lately
    }

    /// May it be removed from the buffer: is there a verified copy of it, and nobody has opened it since?
    pub fn is_removable(&self, known: &Known, now: f64) -> bool {
        let used = self.use_of(&known.entry.path);
        let Some((_, at)) = known.staged.filter(|_| known.is_staged() && !known.leaving) else {
            return false;
        };
        now >= known.not_before && used.open <= 0 && used.touched.is_none_or(|touched| touched <= at)
    }
}

fn latest(a: Option<f64>, b: Option<f64>) -> Option<f64> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.max(b)),
        (a, b) => a.or(b),
    }
}
