//! The helper: one process for each job and node, which alone touches the trace's file system.
//!
//! It looks at the spools of its job, whose names begin with the same number, takes records out of them and
//! appends them to the node's part. Processes wake it when there is something to do. When a process has
//! ended, however that came, the helper writes out what is left and takes the spool away. It ends when there
//! is no spool left.
//!
//! A file system that does not answer stops the helper, and nobody else: records stay in the spools
//! meanwhile.

mod control;
mod frames;
mod member;
mod process;
mod run;
mod source;
mod target;
mod trace;
mod write;

use control::Control;
use member::Member;
use source::{Memory, Source};
use std::collections::{HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering::{AcqRel, Acquire, Release};
use std::time::{Duration, Instant};
use target::Target;
use tmio_spool::control::{self as page, CLOSING, ENDS, HELPER, LAST, NAMESPACE, RUNNING};
use tmio_spool::layout;
use tmio_trace::block::BlockEncoder;
use tmio_trace::salvage;

/// How full the fullest ring of a spool is when it is emptied.
const FULL: f64 = 0.25;

/// How often the helper looks around without being woken.
const LOOK: Duration = Duration::from_millis(500);

/// How often it is asked whether processes are there, and whether there are new spools.
const ASK: Duration = Duration::from_millis(50);

/// How long the helper stays when there is no spool left: the next program of a session may come soon.
const LINGER: Duration = Duration::from_secs(2);

/// A helper that somebody may wait for stays no longer than this when nobody needs it.
const SHORT_STAY: Duration = Duration::from_millis(100);

/// After a failure no block is written to a part for as long.
const PAUSE: Duration = Duration::from_secs(1);

/// How long it is tried to write what a dead process has left; after that its spool stays, for `ftio
/// recover`.
const PATIENCE: Duration = Duration::from_secs(30);

/// As many descriptors as are used at once, with room to spare.
const ENOUGH_DESCRIPTORS: u64 = 64;

/// Runs the helper of a job until there is nothing left to do. `job` is what the paths of its spools begin
/// with.
pub fn run(job: &Path) {
    // What stops the job may not stop who writes down what it did.
    for signal in [
        libc::SIGHUP,
        libc::SIGINT,
        libc::SIGQUIT,
        libc::SIGTERM,
        libc::SIGUSR1,
        libc::SIGUSR2,
        libc::SIGXFSZ,
    ] {
        // SAFETY: ignoring a signal has no premises.
        unsafe { libc::signal(signal, libc::SIG_IGN) };
    }
    // SAFETY: the names end with a zero, and the places are valid. The directory may be one that is to be
    // unmounted.
    unsafe {
        libc::prctl(libc::PR_SET_NAME, c"tmio-helper".as_ptr());
        libc::chdir(c"/".as_ptr());
        libc::umask(0o077);
    }
    raise_limit(libc::RLIMIT_FSIZE);
    becomes_ordinary();
    // Where descriptors are few, none is for what nobody reads. A file could get the number of standard error
    // then, so that nothing is said.
    if raise_limit(libc::RLIMIT_NOFILE) < ENOUGH_DESCRIPTORS {
        crate::process::message::configure(crate::process::message::Level::Silent, false);
        // SAFETY: nothing here uses standard input, output or error.
        unsafe {
            libc::close(0);
            libc::close(1);
            libc::close(2);
        }
    }
    // With fewer than these it would take what it cannot open for what is not there.
    let has_room = [(); 3].map(|()| std::fs::File::open("/")).iter().all(Result::is_ok);
    if has_room && let Some(mut helper) = Helper::new(job) {
        helper.work();
    }
}

/// A program that must not be interrupted has a scheduling class for that: nothing of ours has.
fn becomes_ordinary() {
    // SAFETY: a number, and a place that is valid, with zeros as this class wants them.
    unsafe {
        if matches!(
            libc::sched_getscheduler(0) & !libc::SCHED_RESET_ON_FORK,
            libc::SCHED_FIFO | libc::SCHED_RR
        ) {
            libc::sched_setscheduler(0, libc::SCHED_OTHER, &std::mem::zeroed());
        }
    }
}

/// Limits are the program's, for its own files. Returns the one that is in force then.
fn raise_limit(resource: u32) -> u64 {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the place is valid.
    unsafe {
        if libc::getrlimit(resource as _, &mut limit) == 0 {
            limit.rlim_cur = limit.rlim_max;
            libc::setrlimit(resource as _, &limit);
        }
    }
    limit.rlim_max
}

/// Whether the helper is a child of somebody who takes orphans and may wait for all of them to end.
fn is_adopted() -> bool {
    // SAFETY: the call has no premises.
    unsafe { libc::getppid() > 1 }
}

/// Whether the first process that this one sees is not that of the system: it may wait for all others, too.
fn is_in_container() -> bool {
    // The number that the kernel gives to the namespace of its first process.
    const FIRST: u64 = 0xefff_fffc;
    std::fs::metadata("/proc/self/ns/pid").is_ok_and(|about| about.ino() != FIRST)
}

struct Helper {
    directory: PathBuf,
    prefix: Vec<u8>,
    control: Control,
    members: Vec<Member>,
    targets: HashMap<PathBuf, Target>,
    encoder: BlockEncoder,
    looked: Option<Instant>,
    /// How many processes had ended then, by the control page.
    ends: u64,
    idle_since: Instant,
    linger: Duration,
    /// Nanoseconds that storing a record takes, estimated.
    record_time: f64,
    /// The trace that the ranks of this node are making.
    trace: trace::Making,
    answered: u64,
}

impl Helper {
    fn new(job: &Path) -> Option<Self> {
        let directory = job.parent()?.to_owned();
        let number = job.file_name()?.as_bytes();
        let mut name = number.to_vec();
        name.extend_from_slice(page::ENDING.as_bytes());
        let control = Control::open(directory.join(OsString::from_vec(name)))?;
        let me = RUNNING | u64::from(std::process::id());
        let before = control.get(HELPER);
        // Another helper of the same job runs.
        if before & !0xffff_ffff == RUNNING
            && before != me
            && tmio_trace::liveness::started(before as u32).is_some()
        {
            return None;
        }
        control.set(HELPER, me);
        control.set(NAMESPACE, tmio_trace::liveness::namespace().unwrap_or(0));
        let mut prefix = number.to_vec();
        prefix.push(b'-');
        let linger = if is_adopted() || is_in_container() { Duration::ZERO } else { LINGER };
        Some(Self {
            directory,
            prefix,
            answered: control.get(page::ANSWER),
            control,
            members: Vec::new(),
            targets: HashMap::new(),
            encoder: BlockEncoder::default(),
            looked: None,
            ends: 0,
            idle_since: Instant::now(),
            linger,
            record_time: crate::store::record::measure(),
            trace: trace::Making::default(),
        })
    }

    fn work(&mut self) {
        loop {
            let wakes = self.control.wakes();
            self.look_for_spools();
            self.answer();
            for index in 0..self.members.len() {
                self.step(index);
            }
            self.members.iter().for_each(Member::remove_if_refused);
            self.members.retain(|member| !member.is_gone());
            self.end_runs();
            if self.members.is_empty() && self.waits_for_a_program() {
                self.idle_since = Instant::now();
            } else if self.members.is_empty() {
                let may_end = self.idle_since.elapsed() >= self.linger || self.control.get(LAST) != 0;
                if may_end && self.close() {
                    return;
                }
            } else if !is_adopted() || self.members.iter().any(Member::keeps_the_helper) {
                self.idle_since = Instant::now();
            } else if self.idle_since.elapsed() >= SHORT_STAY {
                return self.go();
            }
            self.control.sleep(wakes, self.pause());
        }
    }

    /// Whether the program of a run still runs, which may start other processes: the run becomes a trace when
    /// that one has ended. Where somebody may wait for this process, it does not stay for that.
    fn waits_for_a_program(&self) -> bool {
        let none = HashSet::new();
        // What is MPI's has ended with MPI.
        let may_go_on = |target: &Target| target.ends_alone && target.goes_on(&none);
        !is_adopted() && !is_in_container() && self.targets.values().any(may_go_on)
    }

    /// Until when nothing has to be done, as far as one knows.
    fn pause(&self) -> Duration {
        let ages = self.members.iter().filter_map(|member| {
            let age = member.place.as_ref()?.destination.age?;
            // One that has nothing to write does not get old, but may have something soon.
            let since =
                if member.source.waiting().0 > 0 { member.source.written.elapsed() } else { Duration::ZERO };
            Some(age.saturating_sub(since).max(Duration::from_millis(5)))
        });
        // One who waits for its end to be written, or whose part could not be, is looked at soon.
        let soon = self.members.iter().any(|member| {
            let state = member.source.memory.word(layout::STATE);
            !member.told && matches!(state, layout::ENDED | layout::BECOMING) || !member.alive
        });
        let longest = if soon || self.members.is_empty() && self.targets.is_empty() { ASK } else { LOOK };
        ages.min().unwrap_or(longest).min(longest)
    }

    /// Ends, if no spool has come meanwhile. Whoever comes now finds no control page, and starts another
    /// helper.
    fn close(&mut self) -> bool {
        let Some(helper) = self.control.words.get(HELPER) else { return true };
        let me = RUNNING | u64::from(std::process::id());
        let closing = CLOSING | u64::from(std::process::id());
        if helper.compare_exchange(me, closing, AcqRel, Acquire).is_err() {
            return true;
        }
        self.looked = None;
        self.look_for_spools();
        if !self.members.is_empty() {
            helper.store(me, Release);
            return false;
        }
        let _ = std::fs::remove_file(&self.control.path);
        // What dead processes of other jobs have left here; `ftio recover --host` does the same.
        salvage::clean(&self.directory, None, &mut salvage::Tally::default());
        for directory in tmio_trace::roll::DIRECTORIES {
            tmio_trace::roll::clean(Path::new(directory));
        }
        let _ = std::fs::remove_dir(&self.directory); // only if it is empty
        true
    }

    /// Ends although there are spools: whoever needs a helper starts another one.
    fn go(&mut self) {
        self.control.set(HELPER, CLOSING | u64::from(std::process::id()));
        let _ = std::fs::remove_file(&self.control.path);
    }

    fn look_for_spools(&mut self) {
        let ends = self.control.get(ENDS);
        if ends == self.ends && self.looked.is_some_and(|looked| looked.elapsed() < ASK) {
            return;
        }
        self.ends = ends;
        self.looked = Some(Instant::now());
        let Ok(entries) = std::fs::read_dir(&self.directory) else { return };
        let is_spool =
            |name: &OsStr| name.as_bytes().starts_with(&self.prefix) && name.as_bytes().ends_with(b".spool");
        let is_new = |path: &PathBuf| !self.members.iter().any(|member| member.source.path == *path);
        let found = entries.flatten().filter(|entry| is_spool(&entry.file_name())).map(|entry| entry.path());
        // The directory is closed before any of them is opened: there may be one descriptor.
        let found: Vec<PathBuf> = found.filter(is_new).collect();
        for path in found {
            if let Some(memory) = Memory::map(&path) {
                let member = Member::new(Source::new(&path, memory));
                // A job of MPI has one end.
                if member.is_rank {
                    self.linger = Duration::ZERO;
                }
                self.members.push(member);
            }
        }
    }

    /// Does what is to be done for one process.
    fn step(&mut self, index: usize) {
        let Some(member) = self.members.get_mut(index) else { return };
        member.ask();
        if member.is_refused() {
            return;
        }
        // Somebody else takes what is in it to the part.
        if !member.alive && !member.source.path.exists() {
            member.forgotten = true;
            return;
        }
        // Most processes do little, and take their spools away themselves.
        let kept = layout::FLAG_KEPT | layout::FLAG_ASKED_FOR;
        if member.alive && member.place.is_none() && member.source.memory.word(layout::FLAGS) & kept == 0 {
            return;
        }
        let state = member.source.memory.word(layout::STATE);
        // It wanted to become another program, and could not; it may have ended since.
        let goes_on = matches!(state, layout::RECORDING | layout::ENDED | layout::BECOMING);
        if member.told && member.alive && goes_on {
            member.told = false;
        }
        let flushes = member.source.memory.word(layout::FLUSHES);
        let asked_for = flushes != member.source.memory.word(layout::FLUSHED);
        let (waiting, fullest) = member.source.waiting();
        let age = member.place.as_ref().and_then(|place| place.destination.age);
        let is_old = age.is_some_and(|age| member.source.written.elapsed() >= age);
        // Its rank waits in MPI_Finalize: what it has is asked for.
        if state == layout::FINALIZING && member.alive && fullest < 0.75 {
            return;
        }
        let ends = matches!(state, layout::ENDED | layout::BECOMING) && !member.told;
        let due = fullest >= FULL || asked_for || ends || !member.alive || (is_old && waiting > 0);
        let is_new = member.place.as_ref().is_none_or(|place| !place.greeted);
        if !due && !is_new {
            return;
        }
        let done =
            self.may_write(index) && if due { self.write(index, asked_for) } else { self.enter(index) };
        let Some(member) = self.members.get_mut(index) else { return };
        if !done {
            member.source.memory.mark(layout::FLAG_UNWRITTEN);
            let target = member.place.as_ref().and_then(|place| self.targets.get(&place.destination.part));
            let never_works = target.is_some_and(|target| target.failure.is_some());
            return member.give_up(never_works);
        }
        if asked_for {
            member.source.memory.set(layout::FLUSHED, flushes);
        }
        let nothing_left = member.source.waiting().0 == 0;
        if !member.alive && (nothing_left || member.is_refused()) {
            self.finish(index, state);
        } else if ends && nothing_left && !self.waits_for_others(index) {
            self.tell(index, state);
        }
    }

    /// Whether a process that is to be told last has to wait: what somebody else has left is not written.
    fn waits_for_others(&mut self, index: usize) -> bool {
        if !self.members.get(index).is_some_and(Member::is_last) {
            return false;
        }
        let mut others = self.members.iter_mut().enumerate().filter(|(other, _)| *other != index);
        others.any(|(_, member)| {
            member.doubt();
            member.ask();
            !member.alive && !member.is_refused() && !member.is_gone()
        })
    }
}
