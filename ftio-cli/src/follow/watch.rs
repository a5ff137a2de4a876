//! Waits until there may be something new: a file event, a signal, a key, or the end of some time.
//!
//! Events come from the kernel (inotify) and cost nothing while there are none. Watched are the folder, for
//! files that appear in it, and the file itself and the parts of a trace, for what is appended. The kernel
//! does not see what other machines write to a network file system, so there the files are looked
//! at every now and then.

use anyhow::Context;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::inotify::{self, CreateFlags, WatchFlags};
use signal_hook::consts::{SIGINT, SIGTERM};
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};
use tmio_trace::reader::parts_path;

/// How often to look where there are no events; and where there are, in case one was missed.
const WITHOUT_EVENTS: Duration = Duration::from_secs(1);
const WITH_EVENTS: Duration = Duration::from_secs(10);

/// File systems that other machines write to (`statfs(2)`): NFS, SMB, CIFS, SMB2, AFS, Coda, Lustre, GPFS,
/// Ceph, BeeGFS, 9P, FUSE (sshfs, many parallel ones), OrangeFS, PanFS.
const NETWORK: [u64; 14] = [
    0x6969, 0x517b, 0xff534d42, 0xfe534d42, 0x5346414f, 0x73757245, 0x0bd00bd0, 0x47504653, 0x00c36400,
    0x19830326, 0x01021997, 0x65735546, 0x20030528, 0xaad7aaea,
];

/// Why the waiting ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wakeup {
    /// The user or the system wants us to stop.
    pub stop: bool,
    /// The process got SIGTERM (not Ctrl-C).
    pub terminate: bool,
    /// There may be something new in the files.
    pub look: bool,
}

/// Waits for files, signals, and what else has a descriptor.
#[derive(Debug)]
pub struct Watch {
    paths: Vec<PathBuf>,
    /// `None` where the kernel gives none.
    events: Option<File>,
    signals: UnixStream,
    terminated: Arc<AtomicBool>,
    every: Duration,
    last_look: Instant,
}

impl Watch {
    /// For these traces, looking at least this often.
    pub fn new(paths: &[&Path], every: Option<f64>) -> anyhow::Result<Self> {
        let paths: Vec<PathBuf> = paths
            .iter()
            .map(std::path::absolute)
            .collect::<io::Result<_>>()
            .context("no working directory")?;
        let events = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK).ok().map(File::from);
        let usual = if events.is_none() || paths.iter().any(|path| is_on_network(path)) {
            WITHOUT_EVENTS
        } else {
            WITH_EVENTS
        };
        let (signals, sender) = UnixStream::pair().context("cannot wait for signals")?;
        signals.set_nonblocking(true)?;
        for signal in [SIGINT, SIGTERM] {
            signal_hook::low_level::pipe::register(signal, sender.try_clone()?)
                .context("cannot wait for signals")?;
        }
        let terminated = Arc::new(AtomicBool::new(false));
        signal_hook::flag::register(SIGTERM, Arc::clone(&terminated)).context("cannot wait for signals")?;
        let every = every.map_or(usual, Duration::from_secs_f64);
        let watch = Watch { paths, events, signals, terminated, every, last_look: Instant::now() };
        watch.refresh();
        Ok(watch)
    }

    /// Wait for something to happen, but no longer than `most`.
    pub fn wait(&mut self, most: Option<Duration>, others: &[BorrowedFd<'_>]) -> anyhow::Result<Wakeup> {
        let until_look = self.every.saturating_sub(self.last_look.elapsed());
        let time = most.map_or(until_look, |most| most.min(until_look));
        let ready = {
            let mut fds = vec![PollFd::new(&self.signals, PollFlags::IN)];
            fds.extend(others.iter().map(|fd| PollFd::from_borrowed_fd(*fd, PollFlags::IN)));
            fds.extend(
                self.events.as_ref().map(|events| PollFd::from_borrowed_fd(events.as_fd(), PollFlags::IN)),
            );
            let time = rustix::event::Timespec::try_from(time).context("too long a time to wait")?;
            match poll(&mut fds, Some(&time)) {
                Ok(_) => {}
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(io::Error::from(error)).context("cannot wait"),
            }
            let happened = |fd: &PollFd<'_>| !fd.revents().is_empty();
            (happened(&fds[0]), self.events.is_some() && fds.last().is_some_and(happened))
        };
        let stop = ready.0 && drain(&mut self.signals);
        let mut look = self.last_look.elapsed() >= self.every;
        if ready.1 {
            if let Some(events) = &mut self.events {
                drain(events);
            }
            look = true;
        }
        if look {
            self.refresh();
            self.last_look = Instant::now();
        }
        Ok(Wakeup { stop, terminate: self.terminated.swap(false, Relaxed), look })
    }

    /// Watch files that have appeared. Watching a file again changes nothing.
    fn refresh(&self) {
        let Some(events) = &self.events else { return };
        let appears =
            WatchFlags::CREATE | WatchFlags::MOVED_TO | WatchFlags::DELETE_SELF | WatchFlags::MOVE_SELF;
        let grows = WatchFlags::MODIFY | WatchFlags::DELETE_SELF | WatchFlags::MOVE_SELF;
        for path in &self.paths {
            if let Some(folder) = path.ancestors().skip(1).find(|folder| folder.is_dir()) {
                let _ = inotify::add_watch(events, folder, appears);
            }
            let _ = inotify::add_watch(events, path, grows);
            let _ = inotify::add_watch(events, parts_path(path), appears | grows);
        }
    }
}

/// Read all there is. `true` if there was something.
fn drain(from: &mut impl Read) -> bool {
    let mut buffer = [0u8; 16 << 10];
    let mut some = false;
    while from.read(&mut buffer).is_ok_and(|read| read > 0) {
        some = true;
    }
    some
}

fn is_on_network(path: &Path) -> bool {
    let there = path.ancestors().find(|path| path.exists());
    there
        .and_then(|path| rustix::fs::statfs(path).ok())
        .is_some_and(|found| NETWORK.contains(&(found.f_type as u64 & 0xffff_ffff)))
}
