//! The helper: one process for each job and node, which takes records out of spools and writes them to the
//! trace's file system. Whoever needs it first starts it; nobody waits for a file system but it.
//!
//! It is started by a child that ends at once, so that it is no child of the program's: no `wait` of the
//! program sees it. Where it would become one all the same (the program gets the orphans among its
//! descendants), it is started only when the program ends, and by none of its fork children.

use crate::page::{self, Orphans, PAGE};
use crate::text::Text;
use crate::workshop::{self, WORKSHOP};
use crate::{beside, clock, load, settings, spool, sys, words};
use core::ffi::c_void;
use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use core::sync::atomic::{AtomicU32, AtomicU64};
use tmio_spool::control::{self, CLOSING, HELPER, RUNNING, SLEEPING, STARTING, WAKE};
use tmio_spool::layout;

/// Index of the words of the control page.
fn word(index: usize) -> Option<&'static AtomicU64> {
    let page = PAGE.control.load(Acquire);
    // SAFETY: null, or the beginning of a mapping of the control page, which stays.
    if page.is_null() || index >= control::LENGTH / 8 { None } else { Some(unsafe { &*page.add(index) }) }
}

/// Has the helper look at the spools of the job; it is started if it does not run.
#[cold]
#[inline(never)]
pub(crate) fn call() {
    if !is_there() {
        find_or_start(When::Running);
    }
    wake();
}

/// The same inside `MPI_Finalize`, where the program waits for nothing of its own.
pub(crate) fn call_at_the_end() {
    if !is_there() {
        find_or_start(When::Ending);
    }
    wake();
}

/// Whether a helper runs, or is being started.
pub(crate) fn is_there() -> bool {
    let Some(helper) = word(HELPER).map(|helper| helper.load(Acquire)) else { return false };
    let state = helper & !0xffff_ffff;
    state != CLOSING && sys::exists(helper as u32)
}

/// How long the helper has been in a call of a file system; `None`: it is in none.
pub(crate) fn in_file_system(now: i64) -> Option<i64> {
    let since = word(control::WRITING)?.load(Acquire);
    (since != 0).then(|| now.saturating_sub(since as i64).max(0))
}

/// How far the helper has come.
pub(crate) fn steps() -> u64 {
    word(control::STEPS).map_or(0, |steps| steps.load(Acquire))
}

pub(crate) fn wake() {
    let (Some(wake), Some(sleeping)) = (word(WAKE), word(SLEEPING)) else { return };
    wake.fetch_add(1, Release);
    if sleeping.load(Acquire) != 0 {
        sys::wake(low_half(wake));
    }
}

/// The half of a word that changes when it is counted up: a futex has four bytes.
fn low_half(word: &AtomicU64) -> *const u32 {
    let half = core::ptr::from_ref(word).cast::<u32>();
    if cfg!(target_endian = "big") { half.wrapping_add(1) } else { half }
}

/// How often it was tried, so that a place where it cannot be started is left alone.
static STARTS: AtomicU32 = AtomicU32::new(0);
const MOST_STARTS: u32 = 20;
const MOST_STARTS_AT_END: u32 = 3;

/// What starting the helper is about.
struct Starting {
    /// The control page, once it is mapped.
    page: *mut AtomicU64,
    /// There is one that cannot be used yet: somebody makes it, or is about to take it away.
    is_busy: bool,
    when: When,
}

/// When a helper is looked for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum When {
    Running,
    Ending,
    /// At the end, and the one that there seems to be does nothing.
    InDoubt,
}

/// `false`: nothing can be said before somebody else is done with the control page.
fn find_or_start(when: When) -> bool {
    if STARTS.fetch_add(1, Relaxed) >= MOST_STARTS && when == When::Running {
        return true;
    }
    if WORKSHOP.alone(can_be_read) == Some(false) {
        // It was there before, and others can still write what was recorded: the program has other files now.
        if !PAGE.control.load(Relaxed).is_null() {
            return true;
        }
        words::complain(beside::NOT_BESIDE);
        // Nobody can write a trace: what was recorded goes.
        page::turn_off();
        spool::remove();
        return true;
    }
    let mut starting = Starting { page: core::ptr::null_mut(), is_busy: false, when };
    let argument = (&raw mut starting).cast();
    let looked = WORKSHOP.alone(|| workshop::with_own_descriptors(find_control, argument));
    if starting.page.is_null() {
        return looked.is_some() && !starting.is_busy;
    }
    // One that was left behind by a helper that has ended stays mapped: others may look at it at this moment.
    PAGE.control.store(starting.page, Release);
    let Some(helper) = word(HELPER) else { return true };
    let now = helper.load(Acquire);
    if now != STARTING | u64::from(PAGE.process.load(Relaxed)) {
        return true;
    }
    let may_start = match page::orphans() {
        _ if !sys::has_usual_children() => false,
        Orphans::OfNobody => true,
        Orphans::Ours => when != When::Running,
        Orphans::OfAnAncestor => false,
    };
    let mut started = false;
    if may_start {
        WORKSHOP.alone(|| started = start(helper, now));
    }
    if !started {
        // Nobody waits for it; somebody else may try.
        let _ = helper.compare_exchange(now, STARTING | NO_PROCESS, AcqRel, Relaxed);
    }
    true
}

/// No process has this number.
const NO_PROCESS: u64 = 0x7fff_ffff;

/// Finds the control page of the job, or makes it. Whoever has made it, or finds that the helper is gone, is
/// to start one: the page then says so.
unsafe extern "C" fn find_control(starting: *mut c_void) -> bool {
    // SAFETY: it is what `find_or_start` has given, which waits; the workshop is held.
    let (starting, memory) = unsafe { (&mut *starting.cast::<Starting>(), &mut *WORKSHOP.path.get()) };
    let Some(job) = spool::job_path() else { return false };
    let mut path = Text::new(memory);
    path.push(job).push(control::ENDING.as_bytes());
    let Some(path) = path.as_path() else { return false };
    let me = STARTING | u64::from(PAGE.process.load(Relaxed));
    for _ in 0..40 {
        let how = sys::O_RDWR | sys::O_NOFOLLOW | sys::O_CLOEXEC;
        let (file, new) = match sys::open(path, how | sys::O_CREAT | sys::O_EXCL, 0o600) {
            Ok(file) => (file, true),
            Err(sys::EEXIST) => match sys::open(path, how, 0) {
                Ok(file) => (file, false),
                Err(sys::ENOENT) => continue,
                Err(_) => break,
            },
            Err(_) => break,
        };
        let page = map_control(file, new);
        sys::close(file);
        let Some(page) = page else {
            if new {
                let _ = sys::remove(path);
                break;
            }
            // Somebody is just making it.
            starting.is_busy = true;
            sys::sleep(1_000_000);
            continue;
        };
        // SAFETY: the mapping has these words.
        let helper = unsafe { &*page.add(HELPER) };
        let now = helper.load(Acquire);
        let gone = !sys::exists(now as u32) || starting.when == When::InDoubt && has_ended(now as u32);
        if new || (gone && helper.compare_exchange(now, me, AcqRel, Relaxed).is_ok()) {
            if new {
                helper.store(me, Release);
            }
            starting.page = page;
            return true;
        }
        if matches!(now & !0xffff_ffff, RUNNING | STARTING) && !gone {
            starting.page = page;
            return true;
        }
        // It is about to end, and takes the page away first.
        starting.is_busy = true;
        // SAFETY: nobody knows of this mapping.
        unsafe { sys::unmap(page.cast(), control::LENGTH) };
        sys::sleep(500_000);
    }
    false
}

/// Whether a process that is still there has ended, and its parent has not noticed, or never will: so it is
/// in containers whose first process waits for nobody.
fn has_ended(process: u32) -> bool {
    let mut memory = [0u8; 128];
    let mut path = Text::new(&mut memory);
    path.push(b"/proc/").push_number(u64::from(process)).push(b"/stat");
    let Some(Ok(file)) = path.as_path().map(|path| sys::open(path, sys::O_RDONLY | sys::O_CLOEXEC, 0)) else {
        return false;
    };
    let length = sys::read(file, &mut memory).unwrap_or(0);
    sys::close(file);
    // The state follows the name, which is in parentheses and may hold anything.
    let text = memory.get(..length).unwrap_or_default();
    let name = text.iter().rposition(|&byte| byte == b')').unwrap_or(length);
    matches!(text.get(name + 2), Some(b'Z' | b'X'))
}

fn map_control(file: i32, new: bool) -> Option<*mut AtomicU64> {
    if new {
        sys::change_mode_of(file, 0o600);
        sys::set_length(file, control::LENGTH).ok()?;
        sys::allocate(file, 0, control::LENGTH).ok()?;
    }
    let page = sys::map(control::LENGTH, sys::MAP_SHARED, file, 0).ok()?.cast::<AtomicU64>();
    if new {
        // SAFETY: the mapping has at least one word, and memory.
        unsafe { (*page).store(control::MAGIC, Release) };
        return Some(page);
    }
    // A file that is shorter than its mapping raises a signal where it is touched.
    let whole = sys::fstat(file).is_ok_and(|about| about.length >= control::LENGTH as u64);
    // SAFETY: as above.
    if whole && unsafe { (*page).load(Acquire) } == control::MAGIC {
        return Some(page);
    }
    // SAFETY: nobody knows of this mapping.
    unsafe { sys::unmap(page.cast(), control::LENGTH) };
    None
}

/// Starts the recorder as a program: by the dynamic linker, so that it needs no right to be executed.
/// `false`: it cannot be had.
fn start(helper: &AtomicU64, by_this: u64) -> bool {
    // SAFETY: the workshop is held.
    let (memory, other) = unsafe { (&mut *WORKSHOP.path.get(), &mut *WORKSHOP.other_path.get()) };
    let Some(linker) = load::linker_path() else { return false };
    let mut key = Text::new(other);
    key.push(spool::job_path().unwrap_or_default());
    let Some(key) = key.as_path() else { return false };
    let mut started = false;
    beside::each_path(memory, |recorder| {
        if !sys::can_be_read(recorder) {
            return false;
        }
        let arguments =
            [linker.as_ptr().cast::<u8>(), recorder.as_ptr().cast(), key.as_ptr().cast(), core::ptr::null()];
        let variables = [c"TMIO_DISABLE=1".as_ptr().cast::<u8>(), core::ptr::null()];
        let mut program = Program {
            path: arguments[0],
            arguments: arguments.as_ptr(),
            variables: variables.as_ptr(),
            helper: core::ptr::from_ref(helper),
            by_this,
        };
        // SAFETY: signals are blocked, and nobody else uses the stack. One half of it is for the child that
        // starts the program, the other for the program-to-be.
        unsafe {
            let stack = &mut (*WORKSHOP.stack.get()).0;
            sys::in_a_child(stack, start_program, (&raw mut program).cast());
        }
        started = helper.load(Acquire) != by_this;
        true
    });
    started
}

struct Program {
    path: *const u8,
    arguments: *const *const u8,
    variables: *const *const u8,
    /// The word of the control page, and what it says while this process starts the helper.
    helper: *const AtomicU64,
    by_this: u64,
}

unsafe extern "C" fn start_program(program: *mut c_void) {
    // SAFETY: it is what `start` has given, which waits.
    unsafe {
        let program = &*program.cast::<Program>();
        // Not as whom the program acts at this moment.
        if let Some(user) = page::maker() {
            sys::become_user(user);
        }
        let middle = (*WORKSHOP.stack.get()).0.as_ptr().addr() + (32 << 10);
        let process = sys::start(program.path, program.arguments, program.variables, middle);
        // From here on it counts whether that one lives, not who has started it.
        if process > 0 {
            let helper = &*program.helper;
            let _ = helper.compare_exchange(program.by_this, STARTING | process as u64, AcqRel, Relaxed);
        }
    }
}

/// A helper that does nothing for a process that ends, for so long, may have been killed.
const UNTIL_DOUBT: i64 = 100_000_000;

/// Whoever makes the control page or takes it away may get no time for so long, on a busy machine.
const FOR_THE_PAGE: i64 = 1_000_000_000;

/// The process ends: its records are to be written out, and it waits for that, but not for ever; not where
/// that does not succeed; and not where others of its job have waited in vain, until the helper gets on.
pub(crate) fn finish() {
    let (Some(state), Some(flags)) = (page::head_word(layout::STATE), page::head_word(layout::FLAGS)) else {
        return;
    };
    // It may be otherwise by now.
    flags.fetch_and(!layout::FLAG_UNWRITTEN, AcqRel);
    let cannot_be = || flags.load(Acquire) & layout::FLAG_UNWRITTEN != 0;
    let is_waiting = || matches!(state.load(Acquire), layout::ENDED | layout::BECOMING);
    let began = clock::monotonic();
    let passed = || clock::monotonic() - began;
    let longest = settings::timeout().min(i64::MAX as u64) as i64;
    let mut pause = 1_000_000;
    let mut told = core::ptr::null();
    let (mut starts, mut until_doubt) = (0, UNTIL_DOUBT);
    let mut in_vain = false;
    while is_waiting() && !cannot_be() && passed() < longest {
        // One that was there may have ended before it saw this process, …
        if !is_there() {
            in_vain = starts >= MOST_STARTS_AT_END;
            if in_vain {
                break;
            }
            let is_known = find_or_start(When::Ending);
            starts += u32::from(is_known || passed() > FOR_THE_PAGE);
        // … or only seem to be there.
        } else if passed() > until_doubt {
            until_doubt *= 2;
            let process = || word(HELPER).map(|helper| helper.load(Acquire) as u32);
            let before = process();
            find_or_start(When::InDoubt);
            starts += u32::from(process() != before);
            in_vain = starts > MOST_STARTS_AT_END;
            if in_vain {
                break;
            }
        }
        if is_there()
            && let Some(ends) = word(control::ENDS).filter(|ends| told != core::ptr::from_ref(*ends))
        {
            told = ends;
            ends.fetch_add(1, Release);
        }
        wake();
        if is_given_up() {
            break;
        }
        // The helper wakes who waits; but it may end.
        let now = state.load(Acquire);
        if matches!(now, layout::ENDED | layout::BECOMING) {
            sys::wait(low_half(state), now as u32, pause);
        }
        pause = (pause + pause / 2).min(5_000_000);
    }
    if is_waiting()
        && passed() >= longest
        && let Some(given_up) = word(control::GIVEN_UP)
    {
        given_up.store(steps().wrapping_add(1), Relaxed);
    }
    let ancestor_writes = matches!(page::orphans(), Orphans::OfAnAncestor);
    if state.load(Acquire) != layout::ENDED {
        return;
    }
    if cannot_be() {
        words::say(b"it cannot be written where it is to be");
    } else if (in_vain || !is_there()) && !ancestor_writes {
        words::say(b"no process can be started to write it; \"ftio recover\" finds what was recorded");
    }
}

/// Whether a process of the job has waited in vain for this helper, which has not got on since.
fn is_given_up() -> bool {
    word(control::GIVEN_UP).is_some_and(|at| at.load(Relaxed) == steps().wrapping_add(1))
}

/// Everything that was recorded so far is to be written out. Nobody waits.
pub(crate) fn flush() {
    if let Some(flushes) = page::head_word(layout::FLUSHES) {
        flushes.fetch_add(1, Release);
        keep();
        call();
    }
}

/// In the child of a fork.
pub(crate) fn begin_anew() {
    STARTS.store(0, Relaxed);
}

/// The process is of interest from here on.
pub(crate) fn keep() {
    if PAGE.kept.swap(1, AcqRel) != 0 {
        return;
    }
    if let Some(flags) = page::head_word(layout::FLAGS) {
        flags.fetch_or(layout::FLAG_KEPT, Relaxed);
    }
    if settings::wants_helper_at_once() {
        call();
    }
}

/// Whether the recorder can be the helper. The workshop is held.
fn can_be_read() -> bool {
    // SAFETY: the workshop is held.
    beside::can_be_read(unsafe { &mut *WORKSHOP.path.get() })
}
