//! Which file a handle stands for.

use crate::options;
use crate::system;
use crate::thread::ThreadState;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Acquire, Ordering::Release};

/// Number of a file that was not seen opened.
pub(crate) const UNKNOWN: u32 = 0;
/// Not a file: operations on it are not recorded.
pub(crate) const IGNORED: u32 = u32::MAX;
/// All files beyond the first so many are one.
const MAX_FILES: usize = 100_000;

/// Endings of files that other tools write about a job by MPI-IO: they are not the job's own I/O. (Darshan,
/// in `MPI_Finalize`.)
const LOGS_OF_TOOLS: [&str; 2] = [".darshan", ".darshan_partial"];

#[derive(Debug)]
pub(crate) struct Files {
    patterns: Vec<String>,
    excluded: Vec<String>,
    table: Mutex<Table>,
}

/// Changes whenever a handle comes or goes, so that threads may remember the last one. They begin with a file
/// of handle 0 before the first change, which is [`UNKNOWN`].
static CHANGES: AtomicU64 = AtomicU64::new(0);

/// The number of a file if it is the one that the thread used last.
#[inline(always)]
pub(crate) fn remembered(thread: &ThreadState, handle: usize) -> Option<u32> {
    thread.remembered_file(handle, CHANGES.load(Acquire))
}

/// What a handle stood for at some moment. MPI may give the handle to another thread for another file as soon
/// as it has closed this one, before the call that closes it has returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Opened {
    pub(crate) handle: usize,
    pub(crate) number: u32,
    /// Which of all openings it was.
    opening: u64,
}

#[derive(Debug, Default)]
struct Table {
    handles: HashMap<usize, Opened>,
    openings: u64,
    numbers: HashMap<Arc<str>, u32>,
    names: Vec<Arc<str>>,
}

impl Table {
    /// The number of a name, and whether it is new.
    fn number(&mut self, name: &str) -> (u32, bool) {
        if let Some(&number) = self.numbers.get(name) {
            return (number, false);
        }
        let name = if self.names.len() >= MAX_FILES { "(other files)" } else { name };
        if let Some(&number) = self.numbers.get(name) {
            return (number, false);
        }
        let room = self.names.try_reserve(1).is_ok() && self.numbers.try_reserve(1).is_ok();
        if !room || !system::has_memory(name.len() + (64 << 10)) {
            return (UNKNOWN, false);
        }
        let name: Arc<str> = Arc::from(name);
        self.names.push(Arc::clone(&name));
        let number = self.names.len() as u32;
        self.numbers.insert(name, number);
        (number, true)
    }
}

impl Files {
    /// Files that match `patterns`, and not `excluded`.
    pub(crate) fn new(patterns: Vec<String>, excluded: Vec<String>) -> Self {
        Self { patterns, excluded, table: Mutex::default() }
    }

    /// Whether operations on a file of this name are recorded.
    pub(crate) fn wants(&self, name: &str) -> bool {
        let is_log = LOGS_OF_TOOLS.iter().any(|ending| name.ends_with(ending));
        !is_log && options::wants_file(&self.patterns, &self.excluded, name)
    }

    /// A file was opened; `announce` is told its number when the name is new.
    pub(crate) fn open(&self, handle: usize, name: &str, announce: impl FnOnce(u32)) -> u32 {
        let number = if self.wants(name) { self.intern(name, announce) } else { IGNORED };
        let mut table = self.table.lock();
        if table.handles.try_reserve(1).is_ok() {
            table.openings += 1;
            let opening = table.openings;
            table.handles.insert(handle, Opened { handle, number, opening });
        }
        CHANGES.fetch_add(1, Release);
        number
    }

    /// The number of a name.
    pub(crate) fn intern(&self, name: &str, announce: impl FnOnce(u32)) -> u32 {
        let mut table = self.table.lock();
        let (number, new) = table.number(name);
        if new {
            announce(number);
        }
        number
    }

    /// What a handle stands for now.
    pub(crate) fn opened(&self, handle: usize) -> Opened {
        let found = self.table.lock().handles.get(&handle).copied();
        found.unwrap_or(Opened { handle, number: UNKNOWN, opening: 0 })
    }

    /// A file was closed. Its handle may stand for another one by now.
    pub(crate) fn close(&self, file: Opened) {
        let mut table = self.table.lock();
        if table.handles.get(&file.handle) == Some(&file) {
            table.handles.remove(&file.handle);
            CHANGES.fetch_add(1, Release);
        }
    }

    /// The file of a handle. A thread that stays with one file pays for a comparison.
    #[inline]
    pub(crate) fn lookup(&self, thread: &ThreadState, handle: usize) -> u32 {
        remembered(thread, handle).unwrap_or_else(|| self.find(thread, handle))
    }

    fn find(&self, thread: &ThreadState, handle: usize) -> u32 {
        let changes = CHANGES.load(Acquire);
        let number = self.opened(handle).number;
        thread.remember_file(handle, changes, number);
        number
    }

    /// Names of some files.
    pub(crate) fn names(&self, numbers: &[u32]) -> Vec<(u32, Arc<str>)> {
        let table = self.table.lock();
        let name = |number: u32| table.names.get((number as usize).checked_sub(1)?).map(Arc::clone);
        let mut names = Vec::new();
        if names.try_reserve(numbers.len()).is_ok() {
            names.extend(numbers.iter().filter_map(|&number| Some((number, name(number)?))));
        }
        names
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reused_handle_is_the_file_that_it_was_opened_as_last() {
        let files = Files::new(vec!["*.dat".to_owned()], Vec::new());
        let lookup = |handle| crate::thread::with(|thread| files.lookup(thread, handle));
        let mut announced = Vec::new();
        let a = files.open(0x10, "a.dat", |n| announced.push(n));
        assert_eq!(lookup(0x10), a);
        files.close(files.opened(0x10));
        assert_eq!(lookup(0x10), UNKNOWN);
        let b = files.open(0x10, "b.dat", |n| announced.push(n));
        assert_ne!(a, b);
        assert_eq!(lookup(0x10), b);
        assert_eq!(files.open(0x20, "a.dat", |n| announced.push(n)), a, "the same name is the same file");
        assert_eq!(files.open(0x30, "c.txt", |n| announced.push(n)), IGNORED);
        let log = "/logs/app_id7.darshan_partial";
        assert_eq!(Files::new(Vec::new(), Vec::new()).open(0x40, log, |n| announced.push(n)), IGNORED);
        assert_eq!(announced, [a, b]);
        let names: Vec<_> = files.names(&[a, b]).iter().map(|(_, name)| name.to_string()).collect();
        assert_eq!(names, ["a.dat", "b.dat"]);
    }

    #[test]
    fn a_handle_that_is_used_again_before_the_close_has_returned_stays_open() {
        let files = Files::new(Vec::new(), Vec::new());
        let lookup = |handle| crate::thread::with(|thread| files.lookup(thread, handle));
        let a = files.open(0x10, "a.dat", |_| ());
        let closing = files.opened(0x10);
        assert_eq!(closing.number, a);
        // Another thread, meanwhile; of the same name, too.
        let b = files.open(0x10, "b.dat", |_| ());
        files.close(closing);
        assert_eq!(lookup(0x10), b);
        let closing = files.opened(0x10);
        assert_eq!(files.open(0x10, "b.dat", |_| ()), b);
        files.close(closing);
        assert_eq!(lookup(0x10), b);
        files.close(files.opened(0x10));
        assert_eq!(lookup(0x10), UNKNOWN);
        files.close(files.opened(0x10));
        assert_eq!(files.opened(0x10).number, UNKNOWN);
    }
}
