//! A process that goes on with other rights: as another user, or below another root directory.
//!
//! The helper reads a spool with the rights of the user who made it. A process that has given these up for
//! good must not be able to write there any more, whatever becomes of it: its spool ends, the trace says that
//! it is not complete, and what follows is recorded as the new user. A process that can become that user
//! again keeps its spool, and whatever is done to files of ours is done as that user
//! ([`workshop::with_own_descriptors`]).

use crate::entry::{preceded, wrappers};
use crate::page::{self, PAGE, mode};
use crate::{anew, helper, process_io, recording, spool, sys};
use core::ffi::c_int;
use core::sync::atomic::Ordering::{Relaxed, Release};
use tmio_spool::layout;

/// "Leave it as it is" in the arguments of the calls below.
const SAME: u32 = u32::MAX;

/// The users of a process, real, effective and saved, after each of these calls.
fn after_setuid(user: u32) -> [u32; 3] {
    let [real, effective, saved] = sys::users();
    if effective == 0 { [user; 3] } else { [real, user, saved] }
}

fn after_seteuid(user: u32) -> [u32; 3] {
    let [real, _, saved] = sys::users();
    [real, user, saved]
}

fn after_setreuid(real: u32, effective: u32) -> [u32; 3] {
    let before = sys::users();
    let new = |wanted: u32, before: u32| if wanted == SAME { before } else { wanted };
    let (new_real, new_effective) = (new(real, before[0]), new(effective, before[1]));
    let saves = real != SAME || (effective != SAME && effective != before[0]);
    [new_real, new_effective, if saves { new_effective } else { before[2] }]
}

fn after_setresuid(real: u32, effective: u32, saved: u32) -> [u32; 3] {
    let before = sys::users();
    let new = |wanted: u32, before: u32| if wanted == SAME { before } else { wanted };
    [new(real, before[0]), new(effective, before[1]), new(saved, before[2])]
}

/// Whether a process of these users can no more become the one who made its spool.
fn parts(users: impl FnOnce() -> [u32; 3]) -> bool {
    anew::is_on() && page::is_own_process() && page::maker().is_some_and(|maker| !users().contains(&maker))
}

/// What is recorded so far is left to a helper that still has the rights for it. Returns what the process
/// did.
fn leave_records() -> u32 {
    helper::keep();
    process_io::tell();
    helper::call();
    PAGE.mode.swap(mode::STARTING, Release)
}

/// The process is another user's: it has no spool until its next call.
fn begins_as_another() {
    page::set_state(layout::LEFT);
    helper::wake();
    spool::part_with_memory();
    anew::drop_spool();
    PAGE.changed_user.store(1, Relaxed);
    PAGE.mode.store(mode::ARMED, Release);
}

fn becomes(users: impl FnOnce() -> [u32; 3], call: impl FnOnce() -> c_int) -> c_int {
    if !parts(users) {
        return call();
    }
    let was = leave_records();
    let result = call();
    if result == 0 {
        begins_as_another();
    } else {
        PAGE.mode.store(was, Release);
    }
    result
}

wrappers! {
    setuid (user: u32) -> c_int, |next| becomes(|| after_setuid(user), || next(user));
    seteuid (user: u32) -> c_int, |next| becomes(|| after_seteuid(user), || next(user));
    setreuid (real: u32, effective: u32) -> c_int,
        |next| becomes(|| after_setreuid(real, effective), || next(real, effective));
    setresuid (real: u32, effective: u32, saved: u32) -> c_int,
        |next| becomes(|| after_setresuid(real, effective, saved), || next(real, effective, saved));
}

preceded! {
    chroot () another_root();
}

/// The paths of ours mean something else soon: whoever needs them is started now.
pub(crate) fn another_root() {
    if anew::is_on() && recording::is_recording() && page::is_own_process() {
        helper::keep();
        helper::call();
        if let Some(flags) = page::head_word(layout::FLAGS) {
            flags.fetch_or(layout::FLAG_ELSEWHERE, Relaxed);
        }
    }
}

/// A system call of the program's own that is about to change its users: whether it fails is not seen.
pub(crate) fn before_system_call(number: i64, first: usize, second: usize, third: usize) {
    let (first, second, third) = (first as u32, second as u32, third as u32);
    let parts = match number {
        numbers::SETUID => parts(|| after_setuid(first)),
        numbers::SETREUID => parts(|| after_setreuid(first, second)),
        numbers::SETRESUID => parts(|| after_setresuid(first, second, third)),
        numbers::CHROOT => return another_root(),
        _ => return,
    };
    if parts {
        leave_records();
        begins_as_another();
    }
}

#[cfg(target_arch = "x86_64")]
mod numbers {
    pub const SETUID: i64 = 105;
    pub const SETREUID: i64 = 113;
    pub const SETRESUID: i64 = 117;
    pub const CHROOT: i64 = 161;
}
#[cfg(target_arch = "aarch64")]
mod numbers {
    pub const SETUID: i64 = 146;
    pub const SETREUID: i64 = 145;
    pub const SETRESUID: i64 = 147;
    pub const CHROOT: i64 = 51;
}
