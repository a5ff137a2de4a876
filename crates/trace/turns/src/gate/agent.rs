//! The agent of a node: two threads in the process of its first rank.
//!
//! One talks to the arbiter, opens and closes the gate, and sees when all ranks are idle. The other sleeps
//! until a rank wants to begin, and asks. Neither calls MPI, both block all signals, and they have
//! descriptors of their own: what the application does with its descriptors does not concern them. They say
//! nothing: what there is to say is said at the end of the job, by the application's thread.

use super::Process;
use super::link::{self, Arrived, Link};
use super::page::{Page, Sums, sleep_while};
use crate::{BEAT, Hello, IoSets, Kind, Message, SILENT};
use parking_lot::Mutex;
use std::os::fd::RawFd;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32};
use std::time::{Duration, Instant};

/// A question that is not answered at all in this time is not waited for any longer. Healthy nodes under load
/// pause for 20 to 100 ms.
const ANSWER: Duration = Duration::from_millis(300);
/// How often a connection is tried again.
const AGAIN: Duration = Duration::from_secs(1);
/// How often it is looked around when nothing happens.
const IDLE: Duration = Duration::from_millis(250);

/// Where the two threads write to; −1: there is no connection.
static DESCRIPTOR: AtomicI32 = AtomicI32::new(-1);
static IS_FILE: AtomicBool = AtomicBool::new(false);
/// The number of the newest question, and whether it was asked and the lease not given back.
static SEQ: AtomicU32 = AtomicU32::new(0);
static OWES: AtomicBool = AtomicBool::new(false);
static STOP: AtomicU32 = AtomicU32::new(0);
const STOPPED: u32 = 2;

/// What there is to say at the end.
pub(super) static PROBLEM: Mutex<Option<String>> = Mutex::new(None);
/// Whether an arbiter has ever answered.
pub(super) static CONNECTED: AtomicBool = AtomicBool::new(false);

/// Who asks.
pub(super) struct Who {
    pub(super) job: String,
    pub(super) run: u64,
    pub(super) host: String,
    pub(super) ranks: u32,
    /// The job has other nodes, which have to know which collective calls were entered.
    pub(super) has_others: bool,
}

/// Starts the agent. `false`: it cannot run here.
pub(super) fn start(page: &'static Page, choice: IoSets, who: Who, process: &'static Process) -> bool {
    let body = move || {
        (process.begin_own_work)();
        if !take_own_descriptors() {
            *PROBLEM.lock() = Some("this kernel gives threads no descriptors of their own".to_owned());
            return page.open();
        }
        // It has the descriptors of the thread that starts it.
        let asks = std::thread::Builder::new().name("tmio-ask".to_owned()).stack_size(128 << 10);
        if asks.spawn(move || ask_when_wanted(page, process)).is_err() {
            return page.open();
        }
        let run = std::panic::AssertUnwindSafe(|| Agent::new(page, choice, who, process).run());
        let _ = std::panic::catch_unwind(run);
        DESCRIPTOR.store(-1, SeqCst);
        page.open();
        STOP.store(STOPPED, Release);
        super::page::wake(&STOP);
    };
    with_all_signals_blocked(|| {
        std::thread::Builder::new().name("tmio-turns".to_owned()).stack_size(256 << 10).spawn(body).is_ok()
    })
}

/// Ends the agent; only atomics and `futex`, so that a signal handler may do it. Waits for it no longer than
/// `patience`.
pub(super) fn stop(page: &Page, patience: Duration) {
    let _ = STOP.compare_exchange(0, 1, SeqCst, SeqCst);
    page.head.wish.fetch_add(1, SeqCst);
    super::page::wake(&page.head.wish);
    let began = Instant::now();
    while STOP.load(Acquire) == 1 && began.elapsed() < patience {
        sleep_while(&STOP, 1, patience);
    }
}

fn is_stopped() -> bool {
    STOP.load(Acquire) != 0
}

/// An empty table of descriptors for this thread and those that it starts. The lowest three are taken, so
/// that nothing that is written to the standard streams ever reaches the arbiter.
fn take_own_descriptors() -> bool {
    // SAFETY: closes descriptors of a table that belongs to this thread alone, in which it has none in use;
    // the name is a string.
    unsafe {
        let answer = libc::syscall(libc::SYS_close_range, 0, u32::MAX, libc::CLOSE_RANGE_UNSHARE);
        answer == 0 && (0..3).all(|_| libc::open(c"/dev/null".as_ptr(), libc::O_RDWR | libc::O_CLOEXEC) >= 0)
    }
}

fn send(descriptor: RawFd, bytes: &[u8]) -> bool {
    descriptor >= 0 && link::send(descriptor, bytes, IS_FILE.load(Relaxed))
}

/// Asks, unless a question is open.
fn ask(page: &Page) {
    let descriptor = DESCRIPTOR.load(SeqCst);
    if descriptor < 0 || page.is_open() || OWES.swap(true, SeqCst) {
        return;
    }
    let seq = SEQ.fetch_add(1, SeqCst).wrapping_add(1);
    let wanted = page.head.wanted.load(SeqCst);
    send(descriptor, &Message::new(Kind::Ask).seq(seq).with(0, wanted).encode());
}

/// The thread that sleeps until a rank wants to begin.
fn ask_when_wanted(page: &'static Page, process: &Process) {
    (process.begin_own_work)();
    let mut seen = 0;
    while !is_stopped() {
        sleep_while(&page.head.wish, seen, Duration::from_secs(3600));
        seen = page.head.wish.load(SeqCst);
        ask(page);
    }
}

struct Agent {
    page: &'static Page,
    choice: IoSets,
    who: Who,
    process: &'static Process,
    secret: String,
    began: Instant,
    link: Option<Link>,
    welcome: bool,
    refused: bool,
    again: Instant,
    heard: Instant,
    beat: Instant,
    /// What ranks had done when they were looked at last, and since when it has not changed.
    sums: Sums,
    quiet: Instant,
    /// A rank waited when it was looked last.
    waited: bool,
    told: u64,
    entered: [u32; crate::COLLECTIVE_SLOTS],
}

impl Agent {
    fn new(page: &'static Page, choice: IoSets, who: Who, process: &'static Process) -> Self {
        let file = choice.secret.as_ref().and_then(|file| std::fs::read_to_string(file).ok());
        let now = Instant::now();
        Agent {
            page,
            choice,
            who,
            process,
            secret: file.unwrap_or_default().trim().to_owned(),
            began: now,
            link: None,
            welcome: false,
            refused: false,
            again: now,
            heard: now,
            beat: now,
            sums: Sums::default(),
            quiet: now,
            waited: false,
            told: 0,
            entered: [0; crate::COLLECTIVE_SLOTS],
        }
    }

    fn run(mut self) {
        while !is_stopped() {
            self.page.head.beats.fetch_add(1, SeqCst);
            if self.link.is_none() {
                self.connect();
            }
            let pause = self.pause();
            match &self.link {
                Some(link) => link.wait(pause),
                None => sleep_while(&STOP, 0, pause),
            }
            if let Err(error) = self.hear() {
                // Not an arbiter, or one of another version: it will not be a better one in a second.
                if error.kind() == std::io::ErrorKind::InvalidData {
                    self.refused = true;
                    *PROBLEM.lock() = Some(format!("it has another protocol ({error})"));
                }
                self.lose();
            }
            self.look();
        }
        self.say(Kind::Bye, 0);
    }

    /// How long nothing has to be done, if nothing arrives.
    fn pause(&self) -> Duration {
        if self.link.is_none() {
            return IDLE
                .min(self.again.saturating_duration_since(Instant::now()))
                .max(Duration::from_millis(1));
        }
        // Whoever waits at the closed gate needs nothing but an answer, which ends the pause.
        if self.waited {
            return SILENT.saturating_sub(self.heard.elapsed()).clamp(Duration::from_millis(1), IDLE);
        }
        let idle = self.sums.under_way == 0 && self.sums.waiting == 0 && OWES.load(Relaxed);
        match self.welcome && (idle || self.page.is_open()) {
            true => {
                self.choice.grace.saturating_sub(self.quiet.elapsed()).clamp(Duration::from_millis(1), IDLE)
            }
            false => IDLE,
        }
    }

    fn connect(&mut self) {
        let now = Instant::now();
        if self.refused || now < self.again {
            return;
        }
        // Not all nodes at the same moment.
        let number = (self.process.random)();
        self.again = now + AGAIN + Duration::from_millis(number % 200);
        let Ok(link) = Link::connect(&self.choice.address, number) else { return };
        IS_FILE.store(link.is_slow(), Relaxed);
        let who = Hello {
            job: self.who.job.clone(),
            run: self.who.run,
            host: self.who.host.clone(),
            secret: self.secret.clone(),
        };
        let running = self.began.elapsed().as_millis() as u64;
        let hello =
            Message::new(Kind::Hello).with(u64::from(self.who.ranks), running).encode_with(&who.encode());
        if send(link.descriptor(), &hello) {
            (self.link, self.heard, self.welcome) = (Some(link), now, false);
            self.told = self.page.sums().bytes;
        }
    }

    /// There is no arbiter: operations are not held back.
    fn lose(&mut self) {
        DESCRIPTOR.store(-1, SeqCst);
        OWES.store(false, SeqCst);
        (self.link, self.welcome) = (None, false);
        self.page.own.opened.fetch_add(self.page.sums().waiting, Relaxed);
        self.page.open();
    }

    /// Says something with the bytes since the last message.
    fn say(&mut self, kind: Kind, b: u64) {
        let Some(link) = &self.link else { return };
        let bytes = self.page.sums().bytes;
        let message = Message::new(kind).seq(SEQ.load(SeqCst)).with(bytes.wrapping_sub(self.told), b);
        if send(link.descriptor(), &message.encode()) {
            self.told = bytes;
        } else {
            self.lose();
        }
    }

    fn hear(&mut self) -> std::io::Result<()> {
        while let Some(link) = &mut self.link {
            let Arrived::Message(message, text) = link.receive()? else { break };
            self.heard = Instant::now();
            match message.kind {
                Kind::Welcome => {
                    self.welcome = true;
                    CONNECTED.store(true, Relaxed);
                    // From here on operations wait for a lease.
                    self.page.close();
                    DESCRIPTOR.store(link.descriptor(), SeqCst);
                    if self.page.sums().waiting > 0 {
                        ask(self.page);
                    }
                }
                Kind::Grant => {
                    (self.sums, self.quiet, self.beat) = (self.page.sums(), self.heard, self.heard);
                    self.page.open();
                }
                Kind::Revoke => {
                    self.page.close();
                    let under_way = self.page.sums().under_way;
                    self.say(Kind::Beat, u64::from(under_way));
                }
                Kind::Pass => {
                    let slot = self.page.head.collective.get(message.a as usize);
                    if let (Some(slot), Ok(number)) = (slot, u32::try_from(message.b)) {
                        slot.fetch_max(number, SeqCst);
                        super::page::wake(&self.page.head.gate);
                    }
                }
                Kind::Refused => {
                    self.refused = true;
                    *PROBLEM.lock() = Some(text);
                    return Err(std::io::ErrorKind::PermissionDenied.into());
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Looks what the ranks do, and at the clock.
    fn look(&mut self) {
        if !self.welcome {
            if self.link.is_some() && self.heard.elapsed() > SILENT {
                self.lose();
            }
            return;
        }
        let now = Instant::now();
        let sums = self.page.sums();
        if sums.entered != self.sums.entered || sums.under_way > 0 {
            self.quiet = now;
        }
        self.sums = sums;
        let open = self.page.is_open();
        let waits = !open && OWES.load(SeqCst) && sums.waiting > 0;
        if !std::mem::replace(&mut self.waited, waits) {
            self.heard = self.heard.max(now.checked_sub(SILENT - ANSWER).unwrap_or(now));
        }
        if waits && self.is_silent(now) {
            return self.lose();
        }
        if self.who.has_others && !open {
            self.tell_entered();
        }
        let idle = now.saturating_duration_since(self.quiet);
        if sums.under_way == 0
            && sums.waiting == 0
            && idle >= self.choice.grace
            && (open || OWES.load(SeqCst))
        {
            self.give_back(idle);
        } else if open && now.saturating_duration_since(self.beat) >= BEAT {
            self.beat = now;
            self.say(Kind::Beat, u64::from(sums.under_way));
        }
    }

    /// A rank has waited too long for an answer. The first answer comes at once, or not at all: what was
    /// heard before the question counts as heard a little before it.
    fn is_silent(&self, now: Instant) -> bool {
        now.saturating_duration_since(self.heard) > SILENT
    }

    /// All ranks are idle. Closes first and looks second: an operation that begins meanwhile either sees the
    /// closed gate or is seen here.
    fn give_back(&mut self, idle: Duration) {
        let was_open = self.page.is_open();
        self.page.close();
        let sums = self.page.sums();
        if sums.entered != self.sums.entered || sums.under_way > 0 {
            self.quiet = Instant::now();
            self.sums = sums;
            if was_open {
                self.page.open();
            }
            return;
        }
        self.say(Kind::Yield, idle.as_nanos() as u64);
        OWES.store(false, SeqCst);
        // Whoever came to the closed gate before that did not ask.
        if self.page.sums().waiting > 0 {
            ask(self.page);
        }
    }

    /// Ranks on other nodes may enter the collective calls that ranks of this one have entered.
    fn tell_entered(&mut self) {
        let Some(descriptor) = self.link.as_ref().map(Link::descriptor) else { return };
        for ((number, known), slot) in self.page.head.collective.iter().zip(&mut self.entered).zip(0u64..) {
            let number = number.load(Relaxed);
            if number > *known {
                *known = number;
                send(descriptor, &Message::new(Kind::Entered).with(slot, u64::from(number)).encode());
            }
        }
    }
}

/// Runs with all signals blocked: a thread that is made meanwhile never has a moment with signals open.
fn with_all_signals_blocked<T>(body: impl FnOnce() -> T) -> T {
    // SAFETY: both sets are initialised by the calls before they are used. A thread inherits the
    // mask of its maker.
    unsafe {
        let mut all: libc::sigset_t = std::mem::zeroed();
        let mut old: libc::sigset_t = std::mem::zeroed();
        libc::sigfillset(&mut all);
        let masked = libc::pthread_sigmask(libc::SIG_SETMASK, &all, &mut old) == 0;
        let result = body();
        if masked {
            libc::pthread_sigmask(libc::SIG_SETMASK, &old, std::ptr::null_mut());
        }
        result
    }
}
