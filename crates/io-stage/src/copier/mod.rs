//! One copy at a time, in a thread of its own at a low priority: of the processor, and with it of the disk
//! (`ioprio_set(2)`: who has chosen no I/O priority has the one that goes with the nice value).
//!
//! A copy is made under the name of a draft in the folder where it belongs, verified there, and then renamed:
//! nobody ever finds half a file under its final name. Verified means: the source is the same file with the
//! same size and time of change as before, the copy has that size and that time, and its data is on the
//! storage; with a checksum, the data was read back as well.

mod command;
mod data;
mod file;
mod flow;
mod stop;

use crate::journal::{Journal, Name, Verified};
use crate::plan::{Copy, Direction, Kind, Outcome};
use crate::scan::DRAFT;
use flow::{Flow, Pace, State};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use stop::Stop;

pub use command::{BadCommand, Template};
pub use file::keep_name;

/// Low enough for the ranks to go first, and not the lowest: where ranks keep all cores busy, a thread of
/// nice 19 would hardly get to its next piece.
const NICE: i32 = 5;

/// How copies are made.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// At most so many bytes per second.
    pub rate: Option<f64>,
    /// Read copies back and compare checksums.
    pub checksum: bool,
    /// A program that copies instead.
    pub command: Option<Template>,
}

/// The two folders.
#[derive(Clone, Debug)]
pub struct Folders {
    /// The burst buffer.
    pub buffer: PathBuf,
    /// Where files go when they leave it, and come from when a phase needs them.
    pub storage: PathBuf,
}

impl Folders {
    /// Where a file comes from, and where it goes.
    pub fn ends(&self, direction: Direction) -> (&Path, &Path) {
        match direction {
            Direction::Out => (&self.buffer, &self.storage),
            Direction::In => (&self.storage, &self.buffer),
        }
    }
}

/// Copies.
#[derive(Debug)]
pub struct Copier {
    orders: Option<Sender<Copy>>,
    results: Receiver<Outcome>,
    flow: Arc<Flow>,
    progress: Arc<AtomicU64>,
    thread: Option<JoinHandle<()>>,
}

impl Copier {
    /// Start the thread. `wake` is called whenever a copy has ended.
    pub fn start(
        folders: Folders,
        options: Options,
        journal: Arc<Mutex<Journal>>,
        wake: impl Fn() + Send + 'static,
    ) -> std::io::Result<Self> {
        let (orders, received) = channel::<Copy>();
        let (finished, results) = channel();
        let (flow, progress) = (Arc::new(Flow::default()), Arc::new(AtomicU64::new(0)));
        let mut worker = Worker {
            folders,
            pace: Pace::new(options.rate),
            options,
            journal,
            flow: Arc::clone(&flow),
            progress: Arc::clone(&progress),
            drafts: 0,
            host: crate::host(),
        };
        let work = move || {
            // As a thread has a number of its own, this is about this thread alone.
            let _ = rustix::process::setpriority_process(Some(rustix::thread::gettid()), NICE);
            for copy in received {
                if finished.send(worker.copy(&copy)).is_err() {
                    break;
                }
                wake();
            }
        };
        let thread = std::thread::Builder::new().name("copier".into()).spawn(work)?;
        Ok(Copier { orders: Some(orders), results, flow, progress, thread: Some(thread) })
    }

    /// Begin a copy; the one before has ended.
    pub fn begin(&self, copy: Copy) {
        self.progress.store(0, Relaxed);
        self.flow.set(State::Running);
        if let Some(orders) = &self.orders {
            // The thread ends only with us.
            let _ = orders.send(copy);
        }
    }

    /// The copy under way rests.
    pub fn suspend(&self) {
        self.flow.set(State::Paused);
    }

    /// It goes on.
    pub fn resume(&self) {
        self.flow.set(State::Running);
    }

    /// It is given up.
    pub fn cancel(&self) {
        self.flow.set(State::Cancelled);
    }

    /// How the copy has ended, if it has.
    pub fn ended(&self) -> Option<Outcome> {
        self.results.try_recv().ok()
    }

    /// Bytes of the copy under way that are copied.
    pub fn progress(&self) -> u64 {
        self.progress.load(Relaxed)
    }
}

impl Drop for Copier {
    /// A copy under way is given up; its draft is removed.
    fn drop(&mut self) {
        self.cancel();
        self.orders = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// What the thread has.
struct Worker {
    folders: Folders,
    options: Options,
    journal: Arc<Mutex<Journal>>,
    flow: Arc<Flow>,
    pace: Pace,
    progress: Arc<AtomicU64>,
    drafts: u64,
    host: String,
}

impl Worker {
    fn copy(&mut self, copy: &Copy) -> Outcome {
        self.pace.begin();
        match self.make(copy) {
            Ok(verified) => {
                let (stamp, copy) = (verified.source, verified.target);
                Outcome::Verified { stamp, copy, seconds: self.pace.seconds() }
            }
            Err(stop) => stop.into(),
        }
    }

    /// Make a draft, verify it, give it its name, and write that down.
    fn make(&mut self, copy: &Copy) -> Result<Verified, Stop> {
        let (from, to) = self.folders.ends(copy.direction);
        let (source, target) = (from.join(&copy.path), to.join(&copy.path));
        let same_as = copy.same_as.as_ref().map(|path| to.join(path));
        file::make_folders(from, to, &copy.path)?;
        let draft = self.draft_beside(&target);
        self.note(|journal| journal.draft(&draft))?;
        let made = self.make_draft(copy, &source, &draft, same_as.as_deref());
        let named = made.and_then(|made| file::give_name(&draft, &target).map(|target| (made, target)));
        match named {
            Ok(((source, checksum), target)) => {
                let path = Name::from(copy.path.as_path());
                let verified = Verified { direction: copy.direction, path, source, target, checksum };
                self.note(|journal| journal.verified(verified.clone()))?;
                Ok(verified)
            }
            Err(stop) => {
                let _ = std::fs::remove_file(&draft);
                self.note(|journal| journal.dropped(&draft))?;
                Err(stop)
            }
        }
    }

    /// A name that no other process uses, of this host or another.
    fn draft_beside(&mut self, target: &Path) -> PathBuf {
        loop {
            self.drafts += 1;
            let name = format!("{DRAFT}{}.{}.{}", self.host, std::process::id(), self.drafts);
            let draft = target.with_file_name(name);
            if draft.symlink_metadata().is_err() {
                return draft;
            }
        }
    }

    /// The version that was copied, and its checksum if that was compared.
    fn make_draft(
        &mut self,
        copy: &Copy,
        source: &Path,
        draft: &Path,
        same_as: Option<&Path>,
    ) -> Result<(crate::stamp::Stamp, Option<u64>), Stop> {
        if copy.kind == Kind::Link {
            return file::link(source, draft, copy.stamp).map(|stamp| (stamp, None));
        }
        if let Some(same) = same_as {
            // If that fails, there is still the usual way.
            if let Ok(stamp) = file::second_name(source, same, draft, copy.stamp) {
                return Ok((stamp, None));
            }
        }
        let journal = Arc::clone(&self.journal);
        let mut made = file::Making {
            flow: &self.flow,
            pace: &mut self.pace,
            progress: &self.progress,
            checksum: self.options.checksum,
        };
        match &self.options.command {
            Some(command) => command.make(source, draft, copy.stamp, &mut made, &journal),
            None => made.make(source, draft, copy.stamp),
        }
    }

    fn note(&self, write: impl FnOnce(&mut Journal) -> std::io::Result<()>) -> Result<(), Stop> {
        let mut journal = self.journal.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let path = journal.path().to_owned();
        write(&mut journal).map_err(|error| Stop::writing(&path, &error))
    }
}

#[cfg(test)]
mod tests;
