//! What is in the burst buffer: looked at in a thread of its own, so that a large folder does not keep a copy
//! from being suspended in time.

use crate::scan::{Except, Scan, scan};
use files::Dir;
use std::io;
use std::os::fd::AsFd;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

/// How often to look, at most; and what share of the time may be spent looking.
const BETWEEN: Duration = Duration::from_secs(1);
const SHARE: u32 = 50;

/// A look.
#[derive(Debug)]
pub(super) struct Look {
    /// When it began.
    pub(super) began: Instant,
    pub(super) found: files::Result<Scan>,
}

/// Looks at a folder.
#[derive(Debug)]
pub struct Buffer {
    orders: Sender<i64>,
    looks: Receiver<Look>,
    folder: Dir,
    /// A look is under way.
    looking: bool,
    next: Instant,
}

impl Buffer {
    /// `wake` is called after every look.
    pub fn open(folder: Dir, except: Except, wake: impl Fn() + Send + 'static) -> io::Result<Self> {
        let (orders, received) = channel::<i64>();
        let (finished, looks) = channel();
        let looked_at = folder.again()?;
        let work = move || {
            for origin in received {
                let began = Instant::now();
                if finished.send(Look { began, found: scan(&looked_at, origin, except) }).is_err() {
                    break;
                }
                wake();
            }
        };
        std::thread::Builder::new().name("buffer".into()).spawn(work)?;
        Ok(Buffer { orders, looks, folder, looking: false, next: Instant::now() })
    }

    /// Look again if it is time, or now. `origin` is job time 0.
    pub(super) fn look(&mut self, origin: i64, now: bool) {
        if !self.looking && (now || Instant::now() >= self.next) {
            self.looking = self.orders.send(origin).is_ok();
        }
    }

    /// What the last look found, once.
    pub(super) fn found(&mut self) -> Option<Look> {
        let look = self.looks.try_recv().ok()?;
        self.looking = false;
        self.next = Instant::now() + BETWEEN.max(look.began.elapsed() * SHARE);
        Some(look)
    }

    /// When the next look is due.
    pub(super) fn due(&self) -> Option<Duration> {
        (!self.looking).then(|| self.next.saturating_duration_since(Instant::now()))
    }

    /// How much of its file system is used, and how much there is.
    pub(super) fn file_system(&self) -> Option<(u64, u64)> {
        let found = rustix::fs::fstatvfs(self.folder.as_fd()).ok()?;
        let total = found.f_blocks.saturating_mul(found.f_frsize);
        let free = found.f_bfree.saturating_mul(found.f_frsize);
        (total > 0).then(|| (total.saturating_sub(free), total))
    }
}
