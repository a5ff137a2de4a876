//! The life of a process: its start, MPI, becoming another program, and its end.

use crate::entry::{preceded, wrappers};
use crate::page::{self, Orphans, PAGE, mode};
use crate::vfork::is_own_memory;
use crate::{anew, beside, environment, filter, helper, load, process_io, settings, spool, stdio, telling};
use core::ffi::{c_int, c_void};
use core::sync::atomic::Ordering::{AcqRel, Relaxed, Release};
use tmio_spool::layout;

#[cfg(tmio_object)]
#[used]
#[unsafe(link_section = ".init_array")]
static AT_START: extern "C" fn() = at_start;

/// The program begins: if its environment asks for it, its calls are looked at from here on.
#[cfg_attr(not(tmio_object), allow(dead_code))]
extern "C" fn at_start() {
    beside::remember_place();
    if load::shows_any() {
        environment::keep();
    }
    if !load::is_asked() || load::another_copy_comes_first() || filter::is_restricted_at_start() {
        return;
    }
    let layers = settings::read();
    if layers & (page::POSIX | page::STDIO) == 0 || !page::turn_on(mode::ARMED, layers) {
        return;
    }
    stdio::at_start();
    telling::program_begins();
    at_the_end();
}

/// Has us called when the process ends: after the destructors of all libraries, which may write
/// (libgfortran's does), hence before all of these are registered, and not tied to this object.
pub(crate) fn at_the_end() {
    type AtExit = unsafe extern "C" fn(unsafe extern "C" fn(*mut c_void), *mut c_void, *mut c_void) -> c_int;
    type AtQuickExit = unsafe extern "C" fn(unsafe extern "C" fn(*mut c_void), *mut c_void) -> c_int;
    let none = core::ptr::null_mut();
    if let Some(function) = load::next(b"__cxa_atexit") {
        // SAFETY: the function of this name has this signature; ours lives as long as the process.
        unsafe { core::mem::transmute::<usize, AtExit>(function)(at_exit, none, none) };
    }
    if let Some(function) = load::next(b"__cxa_at_quick_exit") {
        // SAFETY: as above.
        unsafe { core::mem::transmute::<usize, AtQuickExit>(function)(at_quick_exit, none) };
    }
}

unsafe extern "C" fn at_quick_exit(_: *mut c_void) {
    ends();
}

unsafe extern "C" fn at_exit(_: *mut c_void) {
    // What streams hold may be the first that is recorded.
    let is_ours = match page::head() {
        Some(_) => page::is_no_rank(),
        // See `ends`.
        None => page::IS_RANK.load(Relaxed) == 0 && is_own_memory(),
    };
    if is_ours {
        stdio::write_out_all();
    }
    ends();
}

/// The process ends: what it has recorded is written out, or, if it has done next to nothing, forgotten.
fn ends() {
    // What its descendants have left, nobody else may start a helper for.
    let ends_others = matches!(page::orphans(), Orphans::Ours) && PAGE.mode.load(Relaxed) == mode::ARMED;
    // A process that nothing is recorded of may have forbidden itself to ask the kernel who it is.
    if !(page::head().is_some() || spool::has_failed() || ends_others) {
        // What comes after us is not recorded, either: nobody would end that spool.
        if is_own_memory() {
            let _ = PAGE.mode.compare_exchange(mode::ARMED, mode::OVER, AcqRel, Relaxed);
        }
        return;
    }
    if !page::is_no_rank() {
        return;
    }
    if ends_others && !settings::is_awaited() && spool::begin() {
        helper::keep();
    }
    let was = PAGE.mode.swap(mode::OVER, AcqRel);
    if matches!(was, mode::RECORDING | mode::PAUSED | mode::BECOMING) {
        leave(layout::ENDED);
    } else if was == mode::ARMED && spool::has_failed() {
        spool::say_that_it_failed();
    }
}

/// Leaves the spool to others, or takes it away.
fn leave(state: u64) {
    if PAGE.worth.load(Relaxed) != 0 {
        helper::keep();
    }
    if PAGE.kept.load(Relaxed) == 0 {
        spool::remove();
        return;
    }
    process_io::tell();
    if state == layout::ENDED
        && matches!(page::orphans(), Orphans::Ours)
        && let Some(flags) = page::head_word(layout::FLAGS)
    {
        flags.fetch_or(layout::FLAG_LAST, Relaxed);
    }
    page::set_state(state);
    // `ftio trace` reads spools when its command has ended. Without it, somebody must be waited for.
    // So must it be if that one looks for the spools of another user.
    if !settings::is_awaited() || PAGE.changed_user.load(Relaxed) != 0 {
        helper::finish();
    } else if helper::is_there() {
        helper::wake();
    }
}

/// The process tries to become another program. If that fails it goes on.
fn becomes_another() {
    if !page::is_own_process() || PAGE.mode.load(Relaxed) != mode::RECORDING {
        return;
    }
    if PAGE.kept.load(Relaxed) == 0 && PAGE.worth.load(Relaxed) == 0 {
        // If it is still there afterwards, it begins anew.
        PAGE.mode.store(mode::STARTING, Release);
        spool::remove();
        anew::drop_spool();
        PAGE.mode.store(mode::ARMED, Release);
        return;
    }
    PAGE.becoming.store(page::this_thread(), Relaxed);
    leave(layout::BECOMING);
    PAGE.mode.store(mode::BECOMING, Release);
}

/// Runs a call after which a child goes on and the parent is gone, without a word.
pub(crate) fn goes_on_as_a_child(call: impl FnOnce() -> c_int) -> c_int {
    let is_ours = anew::is_on() && page::is_own_process();
    if is_ours {
        becomes_another();
    }
    let result = call();
    if result != 0 && is_ours && PAGE.becoming.load(Relaxed) != 0 {
        page::goes_on();
    }
    result
}

/// Has the process get the orphans among its descendants.
const PR_SET_CHILD_SUBREAPER: c_int = 36;
/// Sets a filter of system calls, or allows only four of them.
pub(crate) const PR_SET_SECCOMP: c_int = 22;

/// The process forbids itself most system calls from here on: one of ours would be its end. What it has done
/// is written out, and nothing is recorded any more, neither here nor in its children.
pub(crate) fn forbids_system_calls() {
    if !anew::is_on() || !page::is_this_process() {
        return;
    }
    let is_own = page::is_own_process();
    let was = PAGE.mode.load(Relaxed);
    page::turn_off();
    if is_own && matches!(was, mode::RECORDING | mode::PAUSED | mode::BECOMING) {
        process_io::tell();
        // It does not say that it has ended: more may come that nobody sees.
        helper::call();
    }
}

wrappers! {
    prctl (option: c_int, a: usize, b: usize, c: usize, d: usize) -> c_int, |next| {
        if option == PR_SET_SECCOMP {
            forbids_system_calls();
        }
        let result = next(option, a, b, c, d);
        if option == PR_SET_CHILD_SUBREAPER && result == 0 && a as c_int != 0 && anew::is_on() {
            page::takes_orphans();
        }
        result
    };
}

preceded! {
    _exit () ends_at_once();
    _Exit () ends_at_once();
    execve () becomes_another();
    execv () becomes_another();
    execvp () becomes_another();
    execvpe () becomes_another();
    execl () becomes_another();
    execlp () becomes_another();
    execle () becomes_another();
    fexecve () becomes_another();
    execveat () becomes_another();
}

/// The process ends at once: what its streams hold is not written. A child of `vfork` is not it.
fn ends_at_once() {
    if anew::is_on() && page::is_this_process() {
        ends();
    }
}
