//! Which file a handle stands for.

use crate::options;
#[cfg(not(test))]
use crate::process::preloaded;
use crate::process::thread::ThreadState;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering::Acquire, Ordering::Release};

/// Number of a file that was not seen opened.
pub(crate) const UNKNOWN: u32 = 0;
/// Not a file: operations on it are not recorded.
pub(crate) const IGNORED: u32 = u32::MAX;
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
    handle: usize,
    number: u32,
    /// Which of all openings it was.
    opening: u64,
}

#[derive(Debug, Default)]
struct Table {
    handles: HashMap<usize, Opened>,
    openings: u64,
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

    /// A file was opened.
    pub(crate) fn open(&self, handle: usize, name: &str) -> u32 {
        let number = self.number_of(name).unwrap_or(IGNORED);
        let mut table = self.table.lock();
        if table.handles.try_reserve(1).is_ok() {
            table.openings += 1;
            let opening = table.openings;
            table.handles.insert(handle, Opened { handle, number, opening });
        }
        CHANGES.fetch_add(1, Release);
        number
    }

    /// The number of a name. `None`: the file is not recorded.
    pub(crate) fn number_of(&self, name: &str) -> Option<u32> {
        self.wants(name).then(|| number_of(name))
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
}

/// The object that is preloaded gives numbers to names.
#[cfg(not(test))]
fn number_of(name: &str) -> u32 {
    let Some(core) = preloaded::get() else { return UNKNOWN };
    // SAFETY: it is a name of that length.
    crate::process::thread::with(|thread| unsafe { (core.name)(thread, name.as_ptr(), name.len()) })
}

#[cfg(test)]
fn number_of(name: &str) -> u32 {
    static NAMES: Mutex<Vec<String>> = Mutex::new(Vec::new());
    let mut names = NAMES.lock();
    let known = names.iter().position(|known| known == name);
    let index = known.unwrap_or_else(|| {
        names.push(name.to_owned());
        names.len() - 1
    });
    index as u32 + 1
}

impl Opened {
    pub(crate) fn handle(&self) -> usize {
        self.handle
    }

    pub(crate) fn number(&self) -> u32 {
        self.number
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reused_handle_is_the_file_that_it_was_opened_as_last() {
        let files = Files::new(vec!["*.dat".to_owned()], Vec::new());
        let lookup = |handle| crate::process::thread::with(|thread| files.lookup(thread, handle));
        let a = files.open(0x10, "a.dat");
        assert_eq!(lookup(0x10), a);
        files.close(files.opened(0x10));
        assert_eq!(lookup(0x10), UNKNOWN);
        let b = files.open(0x10, "b.dat");
        assert_ne!(a, b);
        assert_eq!(lookup(0x10), b);
        assert_eq!(files.open(0x20, "a.dat"), a, "the same name is the same file");
        assert_eq!(files.open(0x30, "c.txt"), IGNORED);
        let log = "/logs/app_id7.darshan_partial";
        assert_eq!(Files::new(Vec::new(), Vec::new()).open(0x40, log), IGNORED);
    }

    #[test]
    fn a_handle_that_is_used_again_before_the_close_has_returned_stays_open() {
        let files = Files::new(Vec::new(), Vec::new());
        let lookup = |handle| crate::process::thread::with(|thread| files.lookup(thread, handle));
        let a = files.open(0x10, "a.dat");
        let closing = files.opened(0x10);
        assert_eq!(closing.number, a);
        // Another thread, meanwhile; of the same name, too.
        let b = files.open(0x10, "b.dat");
        files.close(closing);
        assert_eq!(lookup(0x10), b);
        let closing = files.opened(0x10);
        assert_eq!(files.open(0x10, "b.dat"), b);
        files.close(closing);
        assert_eq!(lookup(0x10), b);
        files.close(files.opened(0x10));
        assert_eq!(lookup(0x10), UNKNOWN);
        files.close(files.opened(0x10));
        assert_eq!(files.opened(0x10).number, UNKNOWN);
    }
}
