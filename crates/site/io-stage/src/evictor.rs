//! Files leave the buffer, in a thread of its own: bringing names to the disk, and reading files again, takes
//! time in which copies must be suspended when a phase begins.

use crate::copier::{Flow, Making, Pace, State};
use crate::ledger::Ledger;
use crate::plan::Kind;
use crate::protocol::evict::{AsideOf, End, Kept, Leaving, finish, set_aside, take_back};
use crate::protocol::{Durable, Places, aside_name};
use crate::stamp::Stamp;
use crate::system::Real;
use files::Dir;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::atomic::AtomicU64;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// As many files are set aside at once, at most: each is open until it is removed.
const FILES_A_ROUND: usize = 200;

/// How long files rest under their private names. Who had found the file before, and was about to open it,
/// has opened it by then, and is seen.
pub const REST: Duration = Duration::from_secs(1);

/// What to remove.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Order {
    /// Its path below the folder.
    pub path: PathBuf,
    /// File or link.
    pub kind: Kind,
    /// The version that is meant.
    pub stamp: Stamp,
}

/// What has happened to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// Its version is another one, because it has another name or lost one; the content is the same.
    Restamped {
        /// Its path below the folder.
        path: PathBuf,
        /// Before.
        before: Stamp,
        /// Now.
        after: Stamp,
        /// The file has other names, which have this version as well.
        others: bool,
    },
    /// It is removed.
    Removed(PathBuf),
    /// It stays in the buffer.
    Kept(PathBuf, Kept),
}

/// Removes.
#[derive(Debug)]
pub struct Evictor {
    orders: Option<Sender<Order>>,
    events: Receiver<Event>,
    flow: Arc<Flow>,
    thread: Option<JoinHandle<()>>,
}

impl Evictor {
    /// Start the thread. `wake` is called whenever there is an event.
    pub fn start(
        places: Places<Dir>,
        ledger: Arc<Mutex<Ledger>>,
        wake: impl Fn() + Send + 'static,
    ) -> std::io::Result<Self> {
        let (orders, received) = channel::<Order>();
        let (tell, events) = channel();
        let flow = Arc::new(Flow::default());
        let told = Arc::clone(&flow);
        let work = move || {
            let places = Places { buffer: Rc::new(places.buffer), storage: Rc::new(places.storage) };
            let tell = |event: Event| {
                let _ = tell.send(event);
                wake();
            };
            let aside = aside_name(&crate::host());
            let mut worker = Worker {
                places,
                ledger,
                flow: told,
                aside,
                durable: Durable::new(),
                folders: 0,
                tell: &tell,
            };
            while let Ok(first) = received.recv() {
                let more = received.try_iter().take(FILES_A_ROUND - 1);
                worker.remove(std::iter::once(first).chain(more).collect());
            }
        };
        let thread = std::thread::Builder::new().name("evictor".into()).spawn(work)?;
        Ok(Evictor { orders: Some(orders), events, flow, thread: Some(thread) })
    }

    /// Remove a file.
    pub fn remove(&self, order: Order) {
        if let Some(orders) = &self.orders {
            // The thread ends only with us.
            let _ = orders.send(order);
        }
    }

    /// What has happened since the last time.
    pub fn events(&self) -> impl Iterator<Item = Event> + '_ {
        self.events.try_iter()
    }
}

impl Drop for Evictor {
    /// Files that were set aside get their names back.
    fn drop(&mut self) {
        self.flow.set(State::Cancelled);
        self.orders = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// A file that was set aside.
type Set<'a> = (Leaving, AsideOf<Real<'a>>);

/// What the thread has.
struct Worker<'a> {
    places: Places<Rc<Dir>>,
    ledger: Arc<Mutex<Ledger>>,
    flow: Arc<Flow>,
    aside: String,
    durable: Durable,
    /// As many folders were made when `durable` was right.
    folders: u64,
    tell: &'a dyn Fn(Event),
}

impl Worker<'_> {
    /// Set them aside, rest, and remove what nothing has happened to.
    fn remove(&mut self, orders: Vec<Order>) {
        let (flow, ledger) = (Arc::clone(&self.flow), Arc::clone(&self.ledger));
        let (mut pace, progress) = (Pace::new(None), AtomicU64::new(0));
        let making = Making::new(&flow, &mut pace, &progress, &ledger);
        let system = match Real::new(&self.places.buffer, &self.places.storage, making) {
            Ok(system) => system,
            Err(error) => {
                let kept = |order: Order| Event::Kept(order.path, Kept::Failed(error.to_string()));
                return orders.into_iter().map(kept).for_each(self.tell);
            }
        };
        system.look_at_holders();
        let (mut waiting, mut later) = (Vec::new(), Vec::new());
        let mut files = HashSet::new();
        for order in orders {
            // To set another name of the same file aside would look like a change of the first.
            if !files.insert((order.stamp.device, order.stamp.inode)) {
                later.push(order);
                continue;
            }
            match self.set_aside(&system, &order) {
                Ok(set) => waiting.push(set),
                Err(kept) => (self.tell)(Event::Kept(order.path, kept)),
            }
        }
        if !waiting.is_empty() {
            self.rest();
        }
        // From here on: whoever has one of them open is seen.
        system.look_at_holders();
        for (leaving, aside) in waiting {
            let given_up = flow.state() == State::Cancelled;
            let ((_, stamp), others) = (aside.renamed(), aside.has_other_names());
            let end = match given_up {
                true => take_back(&system, aside),
                false => finish(&system, &self.places, &leaving, aside),
            };
            self.end(&leaving.path, stamp, others, end);
        }
        drop(system);
        if !later.is_empty() {
            self.remove(later);
        }
    }

    fn set_aside<'s>(&mut self, system: &Real<'s>, order: &Order) -> Result<Set<'s>, Kept> {
        if self.flow.state() == State::Cancelled {
            return Err(Kept::Failed("interrupted".into()));
        }
        let leaving = {
            let ledger = Arc::clone(&self.ledger);
            let ledger = ledger.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            if self.folders != ledger.folders() {
                self.folders = ledger.folders();
                self.durable.clear();
            }
            ledger.copy_of(&order.path).ok_or(Kept::CopyLost)?.leaving(order.kind)
        };
        // Another name of it may have been removed since the order was given.
        if !leaving.made.source.is_renamed(&order.stamp) {
            return Err(Kept::Changed);
        }
        let aside = set_aside(system, &self.places, &leaving, &self.aside, &mut self.durable)?;
        let (before, after) = aside.renamed();
        self.restamp(&leaving.path, (before, after), aside.has_other_names());
        Ok((leaving, aside))
    }

    fn rest(&self) {
        let began = Instant::now();
        while began.elapsed() < REST && self.flow.state() != State::Cancelled {
            self.flow.sleep(REST.saturating_sub(began.elapsed()));
        }
    }

    fn end(&self, path: &Path, before: Stamp, others: bool, end: End) {
        let event = match end {
            End::Removed(after) => {
                if let Some(after) = after {
                    self.restamp(path, (before, after), true);
                }
                // If the journal cannot be written, the next copy tells.
                let _ = self.ledger().evicted(path);
                Event::Removed(path.to_owned())
            }
            End::PutBack(why, after) => {
                if let Some(after) = after {
                    self.restamp(path, (before, after), others);
                }
                Event::Kept(path.to_owned(), why)
            }
            End::Stays(why) => Event::Kept(path.to_owned(), Kept::Failed(why)),
        };
        (self.tell)(event);
    }

    /// All names of a file have its new version, with the same content.
    fn restamp(&self, path: &Path, (before, after): (Stamp, Stamp), others: bool) {
        // If the journal cannot be written, a later process copies it once more.
        let _ = self.ledger().restamp(path, before, after, others);
        (self.tell)(Event::Restamped { path: path.to_owned(), before, after, others });
    }

    fn ledger(&self) -> MutexGuard<'_, Ledger> {
        self.ledger.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}
