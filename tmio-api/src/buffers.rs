//! Where the records of this process are until they are on disk: one for the process, from its first
//! I/O to its end.
//!
//! [`storing`](crate::storing) puts records in, [`blocks`](crate::blocks) takes them out. Nothing is
//! made before there is a first record: a process without MPI-IO touches no file.

use crate::blocks::Writer;
use crate::files::Files;
use crate::flush_thread::{self, FlushThread};
use crate::parts::{self, Extent, Part};
use crate::slot::Slot;
use crate::spool::Spool;
use crate::storing::WithoutSlot;
use crate::{clock, message, state, system};
use parking_lot::Mutex;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicI64, AtomicPtr, AtomicU64, AtomicUsize};
use std::time::Duration;
use tmio_trace::block::BlockEncoder;
use tmio_trace::frame::{self, FrameKind};
use tmio_trace::roll;
use tmio_trace::salvage::{self, Tally};
use tmio_trace::{Header, RankInfo};

#[derive(Debug)]
pub(crate) struct Buffers {
    pub(crate) rank: u32,
    pub(crate) part: Part,
    header: Header,
    info: RankInfo,
    settings: Settings,
    spool: OnceLock<Option<Spool>>,
    pub(crate) files: Files,
    /// There are operations of other layers than MPI-IO.
    pub(crate) has_layers: AtomicBool,
    /// Number of the next block.
    pub(crate) sequence: AtomicU64,
    pub(crate) covered: AtomicI64,
    pub(crate) without_slot: WithoutSlot,
    /// One for the application's threads, one for the flush thread: neither waits for the other.
    pub(crate) writers: [Mutex<Writer>; 2],
    /// Only one thread claims a slot at a time.
    pub(crate) claiming: Mutex<()>,
    /// The slot of threads beyond the last slot.
    pub(crate) shared: Mutex<Option<&'static Slot>>,
    pub(crate) lost: AtomicU64,
    /// Header and rank are in the part.
    greeted: AtomicBool,
    /// After a failure no block is written before this time, so that nobody waits again and again.
    pub(crate) not_before: AtomicI64,
    /// The last failure that was not over soon, as an error number.
    trouble: AtomicI32,
    failed: OnceLock<String>,
    flush_thread: Mutex<Option<FlushThread>>,
    has_flush_thread: AtomicBool,
    /// How long the node's part was when this rank wrote to it last.
    pub(crate) reached: AtomicU64,
    /// Bytes and nanoseconds that tmio itself has written and taken.
    pub(crate) own_bytes: AtomicUsize,
    pub(crate) own_time: AtomicI64,
}

/// What the options say about buffers.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    /// Where the spool is to be; `None`: in the usual places.
    pub(crate) spool: Option<PathBuf>,
    /// Bytes of records.
    pub(crate) bytes: usize,
    /// How often records are written out without being asked for; `None`: never.
    pub(crate) interval: Option<Duration>,
    /// The interval was asked for: tell if there can be no thread.
    pub(crate) online: bool,
    /// Take care of what dead processes have left.
    pub(crate) salvages: bool,
    /// Bytes of the node's part from which on blocks get coarser; 0: they never do.
    pub(crate) most_bytes: u64,
}

/// Who writes a block: an index of [`Buffers::writers`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Who {
    Application = 0,
    FlushThread = 1,
}

static BUFFERS: AtomicPtr<Buffers> = AtomicPtr::new(std::ptr::null_mut());

/// The buffers of this process, once tracing has begun.
#[inline]
pub(crate) fn get() -> Option<&'static Buffers> {
    // SAFETY: null, or buffers that are never freed.
    unsafe { BUFFERS.load(Acquire).as_ref() }
}

/// There are no buffers any more: in the child of a fork, and when another trace begins.
pub(crate) fn forget() {
    BUFFERS.store(std::ptr::null_mut(), Release);
}

impl Buffers {
    pub(crate) fn new(part: Part, header: Header, info: RankInfo, settings: Settings, files: Files) -> Self {
        Self {
            rank: info.rank,
            part,
            header,
            info,
            settings,
            spool: OnceLock::new(),
            files,
            has_layers: AtomicBool::new(false),
            sequence: AtomicU64::new(0),
            covered: AtomicI64::new(0),
            without_slot: WithoutSlot::default(),
            writers: Default::default(),
            claiming: Mutex::new(()),
            shared: Mutex::new(None),
            lost: AtomicU64::new(0),
            greeted: AtomicBool::new(false),
            not_before: AtomicI64::new(i64::MIN),
            trouble: AtomicI32::new(0),
            failed: OnceLock::new(),
            flush_thread: Mutex::new(None),
            has_flush_thread: AtomicBool::new(false),
            reached: AtomicU64::new(0),
            own_bytes: AtomicUsize::new(0),
            own_time: AtomicI64::new(0),
        }
    }

    /// Makes these the buffers of the process. `None`: there are some already.
    pub(crate) fn install(self) -> Option<&'static Self> {
        if !system::has_memory(size_of::<Self>() + BLOCK_MEMORY) {
            return None;
        }
        let place = Box::into_raw(Box::new(self));
        let before = BUFFERS.compare_exchange(std::ptr::null_mut(), place, AcqRel, Acquire);
        before.is_ok().then(get).flatten()
    }

    /// The spool, if there were records.
    pub(crate) fn spool(&self) -> Option<&Spool> {
        self.spool.get()?.as_ref()
    }

    pub(crate) fn most_bytes(&self) -> u64 {
        self.settings.most_bytes
    }

    /// The slots that were made so far.
    pub(crate) fn slots(&self) -> impl Iterator<Item = &Slot> {
        self.spool().into_iter().flat_map(Spool::slots)
    }

    /// The spool; the first time it is made, and the rank enters itself in the part, so that a killed
    /// process can be found. `None`: there is no memory.
    pub(crate) fn begin(&self) -> Option<&Spool> {
        match self.spool.get() {
            Some(spool) => spool.as_ref(),
            None => self.begin_now(),
        }
    }

    #[cold]
    fn begin_now(&self) -> Option<&Spool> {
        let began = clock::monotonic();
        let spool = self.spool.get_or_init(|| {
            let spool = Spool::new(self.settings.spool.as_deref(), self.rank, self.settings.bytes)
                .inspect_err(|error| {
                    self.give_up(&format!("no memory for records: {}", message::plain(error)));
                })
                .ok()?;
            spool.set_next_block(0);
            if let Ok(greeting) = self.greeting(&spool) {
                spool.identify(self.part.path(), &greeting);
                self.greet(&greeting);
            }
            if self.failure().is_some() {
                // No part will ever lead to it.
                spool.remove();
            }
            Some(spool)
        });
        if spool.is_some() && !self.has_flush_thread.swap(true, AcqRel) {
            self.start_flush_thread();
        }
        self.own_time.fetch_add(clock::monotonic() - began, Relaxed);
        spool.as_ref()
    }

    /// The frames with which this rank begins in the part.
    fn greeting(&self, spool: &Spool) -> Result<Vec<u8>, frame::EncodeError> {
        let info = RankInfo { spool: spool.path(), ..self.info.clone() };
        let mut frames = frame::encode(FrameKind::Header, &self.header)?;
        frames.extend(frame::encode(FrameKind::Rank, &info)?);
        Ok(frames)
    }

    fn greet(&self, greeting: &[u8]) {
        match self.part.append(greeting) {
            Ok(_) => self.greeted.store(true, Release),
            Err(error) if parts::is_permanent(&error) => self.give_up(&self.describe(&error)),
            // It may be over when the first block is written.
            Err(error) => self.note_trouble(&error),
        }
    }

    /// Appends a frame to the part, and says where it is.
    pub(crate) fn append(&self, frame: &[u8]) -> io::Result<Extent> {
        if self.greeted.load(Acquire) {
            return self.part.append(frame);
        }
        let spool = self.spool().ok_or(io::ErrorKind::OutOfMemory)?;
        let greeting = self.greeting(spool).map_err(io::Error::other)?;
        let extent = self.part.append(&[&greeting, frame].concat())?;
        self.greeted.store(true, Release);
        Ok(extent.start + greeting.len() as u64..extent.end)
    }

    /// A block could not be written: its records stay in memory, and it is tried again later.
    pub(crate) fn note_trouble(&self, error: &io::Error) {
        const PAUSE: i64 = 1_000_000_000;
        self.trouble.store(error.raw_os_error().unwrap_or(libc::EIO), Relaxed);
        self.not_before.store(clock::monotonic() + PAUSE, Relaxed);
        message::debug(self.describe(error));
    }

    pub(crate) fn note_success(&self) {
        self.not_before.store(i64::MIN, Relaxed);
    }

    fn describe(&self, error: &io::Error) -> String {
        format!("cannot write {}: {}", self.part.path().display(), message::plain(error))
    }

    fn start_flush_thread(&self) {
        let (Some(interval), Some(buffers)) = (self.settings.interval, get()) else {
            if self.settings.salvages && system::has_memory(SALVAGE_MEMORY) {
                self.salvage();
            }
            return;
        };
        let started = FlushThread::start(
            interval,
            || buffers.salvage(),
            || buffers.flush(Who::FlushThread),
            || buffers.end(Who::FlushThread),
        );
        match started {
            Ok(thread) => *self.flush_thread.lock() = Some(thread),
            Err(error) => {
                self.has_flush_thread.store(false, Release);
                if self.settings.online {
                    message::remark(format_args!(
                        "TMIO_FLUSH=interval: no thread can be started ({}); blocks are written when they are full",
                        message::plain(&error)
                    ));
                }
            }
        }
    }

    /// Takes care of what dead processes of this user have left here: `ftio clean` does the same.
    fn salvage(&self) {
        if let Some((spool, directory)) = self.spool().and_then(|spool| Some((spool, spool.directory()?))) {
            let mut tally = Tally::default();
            salvage::clean(directory, spool.file(), &mut tally);
            for directory in roll::DIRECTORIES {
                roll::clean(Path::new(directory));
            }
            if tally.removed > 0 {
                message::debug(format_args!("removed {} spools of dead processes", tally.removed));
            }
        }
    }

    pub(crate) fn stop_flush_thread(&self) {
        if let Some(thread) = self.flush_thread.lock().take() {
            thread.stop();
        }
    }

    /// Whether there is a thread that can write out what another one cannot.
    pub(crate) fn has_flush_thread(&self) -> bool {
        self.has_flush_thread.load(Acquire) && self.settings.interval.is_some() && !flush_thread::is_parked()
    }

    /// The process ends without `MPI_Finalize`: writes everything out. What cannot be written, or is
    /// being written by a thread that does not come to it, stays in the spool.
    pub(crate) fn end(&self, who: Who) {
        let Some(spool) = self.spool() else { return };
        if self.write_out(who, true) {
            spool.remove();
        }
    }

    /// Makes the name of a new file known to whoever finds the spool of a killed process: in the
    /// spool, or when that has no more room for names, in the part. Called with the file table
    /// locked, so one at a time.
    pub(crate) fn announce(&self, number: u32, name: &str) {
        let Some(spool) = self.begin() else { return };
        if spool.add_name(number, name) || !system::has_memory(BLOCK_MEMORY) {
            return;
        }
        let sequence = self.next_sequence(spool);
        let mut encoder = BlockEncoder::default();
        if encoder.restart(0)
            && let Ok(frame) =
                encoder.finish(self.rank, sequence, self.covered.load(Relaxed), vec![(number, name)])
        {
            // Only a reader of the parts needs it, so neither its place nor its failure is noted.
            let _ = self.append(frame);
        }
    }

    /// The number of a new block; from then on a reader of the spool knows that it is being made.
    pub(crate) fn next_sequence(&self, spool: &Spool) -> u64 {
        let sequence = self.sequence.fetch_add(1, AcqRel);
        spool.set_next_block(sequence + 1);
        sequence
    }

    /// So many operations could be kept nowhere; whoever reads the spool of a killed process learns it, too.
    pub(crate) fn lose(&self, operations: u64) {
        let lost = self.lost.fetch_add(operations, Relaxed) + operations;
        if let Some(spool) = self.spool() {
            spool.set_lost(lost);
        }
    }

    /// The process ends, and what is in its private memory could not be written: it is lost, too. Returns how
    /// many operations are.
    pub(crate) fn lose_what_is_at_risk(&self) -> u64 {
        let lost = self.lost.load(Relaxed);
        let Some(spool) = self.spool() else { return lost };
        let lost = lost + spool.operations_at_risk();
        spool.set_lost(lost);
        lost
    }

    /// Stops recording for good; the reason is said once, and told to all in `MPI_Finalize`.
    pub(crate) fn give_up(&self, reason: &str) {
        let _ = self.failed.set(reason.to_owned());
        state::stop();
        message::warn(format_args!("no trace: {reason}"));
    }

    /// Why this rank's records could not be kept.
    pub(crate) fn failure(&self) -> Option<&String> {
        self.failed.get()
    }

    /// Why blocks could not be written out, if some could not.
    pub(crate) fn trouble(&self) -> Option<String> {
        match self.trouble.load(Relaxed) {
            0 => None,
            code => Some(self.describe(&io::Error::from_raw_os_error(code))),
        }
    }
}

/// What small pieces of memory a block may need beside its encoder.
pub(crate) const BLOCK_MEMORY: usize = 256 << 10;

/// What taking care of dead processes' spools may take.
const SALVAGE_MEMORY: usize = 64 << 20;
