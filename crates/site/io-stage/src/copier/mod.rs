//! One copy at a time, in a thread of its own at a low priority: of the processor, and with it of the disk
//! (`ioprio_set(2)`: who has chosen no I/O priority has the one that goes with the nice value).
//!
//! How a copy is made and verified is the [protocol](crate::protocol)'s; here it is begun, suspended and
//! given up, and its data moved.

mod command;
mod data;
mod flow;
pub(crate) mod left;
mod making;

use crate::ledger::{Ledger, Shared};
use crate::plan::{Copy, Direction, Kind, Outcome};
use crate::protocol::Places;
use crate::protocol::copy::{Made, Order, copy};
use crate::protocol::evict::is_confirmed;
use crate::scan::DRAFT;
use crate::stop::Stop;
use crate::system::{Real, System};
use files::Dir;
use std::ffi::OsString;
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

pub use command::{BadCommand, Template};
pub(crate) use flow::{Flow, Pace, State};
pub use making::Making;

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

/// Copies.
#[derive(Debug)]
pub struct Copier {
    orders: Option<Sender<Copy>>,
    results: Receiver<Done>,
    flow: Arc<Flow>,
    progress: Arc<AtomicU64>,
    thread: Option<JoinHandle<()>>,
}

/// How a copy has ended.
#[derive(Debug)]
pub struct Done {
    /// How.
    pub outcome: Outcome,
    /// What the copy does not have, in words.
    pub lost: Vec<String>,
}

impl Copier {
    /// Start the thread. `wake` is called whenever a copy has ended.
    pub fn start(
        places: Places<Dir>,
        options: Options,
        ledger: Arc<Mutex<Ledger>>,
        wake: impl Fn() + Send + 'static,
    ) -> std::io::Result<Self> {
        let (orders, received) = channel::<Copy>();
        let (finished, results) = channel();
        let (flow, progress) = (Arc::new(Flow::default()), Arc::new(AtomicU64::new(0)));
        let shared = (Arc::clone(&flow), Arc::clone(&progress));
        let work = move || {
            // As a thread has a number of its own, this is about this thread alone.
            let _ = rustix::process::setpriority_process(Some(rustix::thread::gettid()), NICE);
            let mut worker = Worker::new(places, options, ledger, shared);
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
    pub fn ended(&self) -> Option<Done> {
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
    places: Places<Rc<Dir>>,
    options: Options,
    ledger: Arc<Mutex<Ledger>>,
    flow: Arc<Flow>,
    pace: Pace,
    progress: Arc<AtomicU64>,
    drafts: u64,
    host: String,
}

impl Worker {
    fn new(
        places: Places<Dir>,
        options: Options,
        ledger: Arc<Mutex<Ledger>>,
        (flow, progress): (Arc<Flow>, Arc<AtomicU64>),
    ) -> Self {
        let places = Places { buffer: Rc::new(places.buffer), storage: Rc::new(places.storage) };
        let pace = Pace::new(options.rate);
        Worker { places, pace, options, ledger, flow, progress, drafts: 0, host: crate::host() }
    }

    fn copy(&mut self, copy: &Copy) -> Done {
        self.pace.begin();
        match self.make(copy) {
            Ok(None) => Done { outcome: Outcome::Confirmed, lost: Vec::new() },
            Ok(Some((made, certain))) => {
                let (stamp, copy, seconds) = (made.source, made.target, self.pace.seconds());
                Done { outcome: Outcome::Verified { stamp, copy, seconds, certain }, lost: made.lost }
            }
            Err(stop) => Done { outcome: stop.into(), lost: Vec::new() },
        }
    }

    /// Make a draft, verify it, give it its name, and write that down. Says whether every later write will be
    /// told; nothing, if the copy that was made before is still like the file.
    fn make(&mut self, order: &Copy) -> Result<Option<(Made, bool)>, Stop> {
        let ledger = Arc::clone(&self.ledger);
        let shared = &mut Shared(&ledger);
        let known = |path| shared.copy_of(path);
        let earlier = known(&order.path);
        let same_way = earlier.as_ref().filter(|copy| copy.direction == order.direction);
        let before = same_way.map(|copy| copy.made());
        let same = order.same_as.as_deref().and_then(|path| Some((path, known(path)?.made())));
        self.drafts += 1;
        // A name that no other process uses, of this host or another.
        let draft = OsString::from(format!("{DRAFT}{}.{}.{}", self.host, std::process::id(), self.drafts));
        let what = Order {
            direction: order.direction,
            path: &order.path,
            kind: order.kind,
            expected: order.stamp,
            before: before.as_ref(),
            same_as: same.as_ref().map(|(path, made)| (*path, made)),
            read_back: self.options.checksum,
        };
        let making = Making {
            flow: &self.flow,
            pace: &mut self.pace,
            progress: &self.progress,
            command: self.options.command.as_ref(),
            ledger: &self.ledger,
        };
        let system = Real::new(&self.places.buffer, &self.places.storage, making).map_err(Stop::writing)?;
        let earlier = earlier.filter(|_| order.direction == Direction::Out && order.kind == Kind::File);
        if let Some(earlier) = earlier.map(|copy| copy.leaving(order.kind))
            && is_confirmed(&system, &self.places, &earlier, order.stamp)?
        {
            return Ok(None);
        }
        let made = copy(&system, &self.places, &what, &draft, shared)?;
        let is_same =
            |same: &Made| (same.target.device, same.target.inode) == (made.target.device, made.target.inode);
        let linked = same.is_some_and(|(_, same)| is_same(&same));
        shared.verified(order.direction, &order.path, &made, linked)?;
        // What was brought in was made by us alone.
        let is_told = order.direction == Direction::In && system.tells(&self.places.buffer);
        let certain = made.sealed || order.kind == Kind::Link || is_told;
        Ok(Some((made, certain)))
    }
}

#[cfg(test)]
mod tests;
