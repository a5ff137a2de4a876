//! Calls that give descriptors a meaning, or take it away.

use crate::descriptors::{self, Entry};
use crate::entry::{preceded, wrappers};
use crate::page::{is_mpis, wants};
use crate::thread::{self, ThreadState};
use crate::vfork::is_own_memory;
use crate::{anew, clock, helper, life, names, recording, settings, stdio, sys};
use core::ffi::{c_char, c_int, c_uint, c_void};
use tmio_spool::kind::{Metadata, TraceLayer};

type Name = *const c_char;

/// Runs a call that returns a new descriptor, and takes note of what `look` says it means.
#[inline(always)]
fn opened(call: impl FnOnce() -> c_int, look: impl FnOnce(&ThreadState, c_int) -> (Entry, u32)) -> c_int {
    if !anew::is_on() {
        return call();
    }
    thread::with(|thread| {
        if thread.is_own_work() {
            return call();
        }
        let start = clock::begin();
        let descriptor = call();
        if descriptor >= 0 && is_own_memory() {
            let (entry, identity) = look(thread, descriptor);
            stdio::may_have_files(descriptor);
            descriptors::set_with(descriptor, entry, identity);
            note(thread, entry, TraceLayer::Posix, Metadata::Open, start.ticks());
        }
        descriptor
    })
}

/// The same for a call that opens a file by its name.
///
/// # Safety
///
/// The name is the argument of the call.
#[inline(always)]
unsafe fn opening(how: c_int, name: Name, call: impl FnOnce() -> c_int) -> c_int {
    const O_TMPFILE: c_int = 0o20_000_000;
    opened(call, |thread, descriptor| match how & O_TMPFILE != 0 || name.is_null() {
        // A file without a name: the one that is given is the directory's.
        true => names::look(thread, descriptor),
        // SAFETY: the call was successful, so the name is a string.
        false => unsafe { names::opened(thread, descriptor, name) },
    })
}

/// The same, relative to a directory.
///
/// # Safety
///
/// The name is the argument of the call.
#[inline(always)]
unsafe fn open_at(directory: c_int, name: Name, how: c_int, call: impl FnOnce() -> c_int) -> c_int {
    // SAFETY: a name that is not null is a string, or the call fails.
    let is_relative = directory != sys::AT_FDCWD && !name.is_null() && unsafe { *name } != b'/' as c_char;
    if !is_relative {
        // SAFETY: as the caller promises.
        return unsafe { opening(how, name, call) };
    }
    // The kernel may give the number of a directory that is gone to another one, and links may lead elsewhere
    // since: a name in a directory is not remembered.
    opened(call, names::look)
}

/// Records an operation that moved no data and ends now, if it is about a file.
pub(crate) fn note(thread: &ThreadState, entry: Entry, layer: TraceLayer, operation: Metadata, start: u64) {
    if let Entry::File(file) = entry
        && wants(layer)
        && !is_mpis(thread)
    {
        recording::record(thread, file, &recording::metadata(layer, operation, start, clock::now()));
        if operation == Metadata::Close && settings::flushes_on_close() {
            helper::flush();
        }
    }
}

/// Runs a call that closes a descriptor. What it meant is forgotten before, as another thread may get the
/// number at once.
#[inline(always)]
pub(crate) fn closing(layer: TraceLayer, descriptor: c_int, call: impl FnOnce() -> c_int) -> c_int {
    if !anew::is_on() {
        return call();
    }
    thread::with(|thread| {
        let entry = descriptors::get(descriptor);
        if thread.is_own_work() || entry == Entry::Unknown || !is_own_memory() {
            return call();
        }
        descriptors::set(descriptor, Entry::Unknown);
        let start = clock::now();
        let result = call();
        note(thread, entry, layer, Metadata::Close, start);
        result
    })
}

/// Whether what a call does to descriptors is to be noted.
pub(crate) fn are_ours() -> bool {
    anew::is_on() && thread::with(|thread| !thread.is_own_work()) && is_own_memory()
}

/// Runs a call that makes a second descriptor of one.
#[inline(always)]
fn duplicate(descriptor: c_int, call: impl FnOnce() -> c_int) -> c_int {
    let result = call();
    if result >= 0 && are_ours() {
        stdio::may_have_files(result);
        descriptors::copy(descriptor, result);
    }
    result
}

/// The same, where the number of the second one is chosen, and closed first if it was in use.
#[inline(always)]
fn duplicate_to(descriptor: c_int, to: c_int, call: impl FnOnce() -> c_int) -> c_int {
    if descriptor == to || !are_ours() {
        return call();
    }
    descriptors::set(to, Entry::Unknown);
    let result = call();
    if result >= 0 {
        stdio::may_have_files(result);
        descriptors::copy(descriptor, result);
    }
    result
}

fn close_many(first: c_uint, last: c_uint) {
    if are_ours() {
        descriptors::forget_range(first, last);
    }
}

const CLOSE_RANGE_UNSHARE: c_int = 2;
const CLOSE_RANGE_CLOEXEC: c_int = 4;
const CLONE_FILES: c_int = 0x400;

fn is_duplication(command: c_int) -> bool {
    const F_DUPFD: c_int = 0;
    const F_DUPFD_CLOEXEC: c_int = 1030;
    matches!(command, F_DUPFD | F_DUPFD_CLOEXEC)
}

/// Runs a call that may change what descriptors mean in ways that are not looked at one by one.
fn changing<T>(call: impl FnOnce() -> T) -> T {
    let result = call();
    if are_ours() {
        stdio::may_have_files(0);
        descriptors::doubt_all();
    }
    result
}

wrappers! {
    open (name: Name, how: c_int, mode: c_uint) -> c_int, |next| opening(how, name, || next(name, how, mode));
    open64 (name: Name, how: c_int, mode: c_uint) -> c_int, |next| opening(how, name, || next(name, how, mode));
    __open_2 (name: Name, how: c_int) -> c_int, |next| opening(how, name, || next(name, how));
    __open64_2 (name: Name, how: c_int) -> c_int, |next| opening(how, name, || next(name, how));
    creat (name: Name, mode: c_uint) -> c_int, |next| opening(0, name, || next(name, mode));
    creat64 (name: Name, mode: c_uint) -> c_int, |next| opening(0, name, || next(name, mode));
    openat (at: c_int, name: Name, how: c_int, mode: c_uint) -> c_int,
        |next| open_at(at, name, how, || next(at, name, how, mode));
    openat64 (at: c_int, name: Name, how: c_int, mode: c_uint) -> c_int,
        |next| open_at(at, name, how, || next(at, name, how, mode));
    __openat_2 (at: c_int, name: Name, how: c_int) -> c_int,
        |next| open_at(at, name, how, || next(at, name, how));
    __openat64_2 (at: c_int, name: Name, how: c_int) -> c_int,
        |next| open_at(at, name, how, || next(at, name, how));
    // The name is complete only after the call.
    mkstemp (name: Name) -> c_int, |next| opening(0, name, || next(name));
    mkstemp64 (name: Name) -> c_int, |next| opening(0, name, || next(name));
    mkostemp (name: Name, how: c_int) -> c_int, |next| opening(0, name, || next(name, how));
    mkostemp64 (name: Name, how: c_int) -> c_int, |next| opening(0, name, || next(name, how));
    mkstemps (name: Name, rest: c_int) -> c_int, |next| opening(0, name, || next(name, rest));
    mkstemps64 (name: Name, rest: c_int) -> c_int, |next| opening(0, name, || next(name, rest));
    mkostemps (name: Name, rest: c_int, how: c_int) -> c_int, |next| opening(0, name, || next(name, rest, how));
    mkostemps64 (name: Name, rest: c_int, how: c_int) -> c_int,
        |next| opening(0, name, || next(name, rest, how));

    close (fd: c_int) -> c_int, |next| closing(TraceLayer::Posix, fd, || next(fd));
    dup (fd: c_int) -> c_int, |next| duplicate(fd, || next(fd));
    dup2 (fd: c_int, to: c_int) -> c_int, |next| duplicate_to(fd, to, || next(fd, to));
    dup3 (fd: c_int, to: c_int, how: c_int) -> c_int, |next| duplicate_to(fd, to, || next(fd, to, how));
    fcntl (fd: c_int, command: c_int, argument: usize) -> c_int, |next| match is_duplication(command) {
        true => duplicate(fd, || next(fd, command, argument)),
        false => next(fd, command, argument),
    };
    fcntl64 (fd: c_int, command: c_int, argument: usize) -> c_int, |next| match is_duplication(command) {
        true => duplicate(fd, || next(fd, command, argument)),
        false => next(fd, command, argument),
    };

    // These close or replace descriptors inside the C library.
    closedir (directory: *mut c_void) -> c_int, |next| {
        if are_ours() && !directory.is_null() {
            // The descriptor is the first field of it, since there is a C library of this kind.
            descriptors::set(*directory.cast::<c_int>(), Entry::Unknown);
        }
        next(directory)
    };
    daemon (keeps_directory: c_int, keeps_descriptors: c_int) -> c_int, |next| {
        life::goes_on_as_a_child(|| changing(|| next(keeps_directory, keeps_descriptors)))
    };
    login_tty (fd: c_int) -> c_int, |next| changing(|| next(fd));
    unshare (flags: c_int) -> c_int, |next| { before_unshare(flags); next(flags) };
    // Descriptors may come with a message.
    recvmsg (fd: c_int, message: *mut c_void, how: c_int) -> isize, |next| {
        let result = next(fd, message, how);
        if result >= 0 && has_control(message) && are_ours() {
            stdio::may_have_files(0);
            descriptors::doubt_all();
        }
        result
    };
    recvmmsg (fd: c_int, messages: *mut c_void, n: c_uint, how: c_int, time: *mut c_void) -> c_int,
        |next| changing(|| next(fd, messages, n, how, time));

    chdir (name: Name) -> c_int, |next| { let result = next(name); names::directory_changes(); result };
    fchdir (fd: c_int) -> c_int, |next| { let result = next(fd); names::directory_changes(); result };

    close_range (first: c_uint, last: c_uint, how: c_int) -> c_int, |next| {
        if how & CLOSE_RANGE_UNSHARE != 0 {
            descriptors::doubt_always();
        }
        if how & CLOSE_RANGE_CLOEXEC == 0 {
            close_many(first, last);
        }
        next(first, last, how)
    };
    closefrom (first: c_int) -> (), |next| { close_many(first.max(0) as c_uint, c_uint::MAX); next(first) };
}

/// The thread gets descriptors or a current directory of its own.
fn before_unshare(flags: c_int) {
    /// With a namespace of mounts a directory of its own comes as well.
    const DIRECTORY: c_int = 0x200 | 0x20000;
    if flags & CLONE_FILES != 0 {
        descriptors::doubt_always();
    }
    if flags & DIRECTORY != 0 {
        names::directory_wanders();
    }
}

preceded! {
    // These go from directory to directory inside the C library, and come back to the program in between.
    nftw (_root: Name, _visit: usize, _most: c_int, how: c_int) goes_through(how & FTW_CHDIR != 0);
    nftw64 (_root: Name, _visit: usize, _most: c_int, how: c_int) goes_through(how & FTW_CHDIR != 0);
    fts_open (_roots: usize, how: c_int) goes_through(how & FTS_NOCHDIR == 0);
    fts64_open (_roots: usize, how: c_int) goes_through(how & FTS_NOCHDIR == 0);
}

const FTW_CHDIR: c_int = 4;
const FTS_NOCHDIR: c_int = 4;

fn goes_through(changes_directory: bool) {
    if changes_directory {
        names::directory_wanders();
    }
}

/// Whether a message brought something besides its bytes.
///
/// # Safety
///
/// It is a message that was received.
unsafe fn has_control(message: *const c_void) -> bool {
    /// The place of `msg_controllen` in `struct msghdr`.
    const CONTROL_LENGTH: usize = 40;
    // SAFETY: as the caller promises.
    unsafe { *message.byte_add(CONTROL_LENGTH).cast::<usize>() != 0 }
}

/// Numbers of system calls that programs make by `syscall` and that do something to descriptors.
#[cfg(target_arch = "x86_64")]
mod numbers {
    pub const CLOSE: i64 = 3;
    pub const DUP: i64 = 32;
    pub const DUP2: i64 = 33;
    pub const FCNTL: i64 = 72;
    pub const OPEN: i64 = 2;
    pub const CREAT: i64 = 85;
    pub const OPENAT: i64 = 257;
    pub const DUP3: i64 = 292;
    pub const RECVMSG: i64 = 47;
    pub const MEMFD_CREATE: i64 = 319;
    pub const VFORK: i64 = 58;
    pub const CLONE: i64 = 56;
    pub const SECCOMP: i64 = 317;
    pub const PRCTL: i64 = 157;
    pub const UNSHARE: i64 = 272;
    pub const CHDIR: i64 = 80;
    pub const FCHDIR: i64 = 81;
}
#[cfg(target_arch = "aarch64")]
mod numbers {
    pub const CLOSE: i64 = 57;
    pub const DUP: i64 = 23;
    // There are no system calls of these names.
    pub const DUP2: i64 = -2;
    pub const OPEN: i64 = -3;
    pub const CREAT: i64 = -4;
    pub const VFORK: i64 = -5;
    pub const FCNTL: i64 = 25;
    pub const OPENAT: i64 = 56;
    pub const DUP3: i64 = 24;
    pub const RECVMSG: i64 = 212;
    pub const MEMFD_CREATE: i64 = 279;
    pub const CLONE: i64 = 220;
    pub const SECCOMP: i64 = 277;
    pub const PRCTL: i64 = 167;
    pub const UNSHARE: i64 = 97;
    pub const CHDIR: i64 = 49;
    pub const FCHDIR: i64 = 50;
}
const CLOSE_RANGE: i64 = 436;
const OPENAT2: i64 = 437;
const PIDFD_GETFD: i64 = 438;
const CLONE3: i64 = 435;

preceded! {
    // Some of these calls return twice: all go straight on.
    syscall (number: i64, first: usize, second: usize, third: usize) before_system_call(number, first, second, third);
}

/// A system call of the program's own. What it does to descriptors is done after this: their words become
/// unknown, or doubtful, now.
fn before_system_call(number: i64, first: usize, second: usize, third: usize) {
    const SECCOMP_SET_MODE_FILTER: usize = 1;
    match number {
        numbers::VFORK | numbers::CLONE | CLONE3 => crate::vfork::before_raw(number == numbers::VFORK, first),
        // Questions about what the kernel can do are more numerous than filters.
        numbers::SECCOMP if first <= SECCOMP_SET_MODE_FILTER => life::forbids_system_calls(),
        numbers::PRCTL if first == life::PR_SET_SECCOMP as usize => life::forbids_system_calls(),
        numbers::UNSHARE => before_unshare(first as c_int),
        numbers::CHDIR | numbers::FCHDIR => names::directory_changes(),
        _ if !are_ours() => {}
        numbers::CLOSE => descriptors::set(first as c_int, Entry::Unknown),
        numbers::DUP2 | numbers::DUP3 => {
            stdio::may_have_files(second as c_int);
            descriptors::set(second as c_int, Entry::Unknown);
        }
        CLOSE_RANGE => {
            if third as c_int & CLOSE_RANGE_UNSHARE != 0 {
                descriptors::doubt_always();
            }
            close_many(first as c_uint, second as c_uint);
        }
        numbers::OPEN
        | numbers::CREAT
        | numbers::OPENAT
        | OPENAT2
        | PIDFD_GETFD
        | numbers::DUP
        | numbers::FCNTL
        | numbers::RECVMSG
        | numbers::MEMFD_CREATE => {
            stdio::may_have_files(0);
            descriptors::doubt_all();
        }
        _ => {}
    }
    crate::rights::before_system_call(number, first, second, third);
}

/// Whether a descriptor is a regular file: standard input or output may be one.
pub(crate) fn is_regular(descriptor: c_int) -> bool {
    sys::fstat(descriptor).is_ok_and(|about| about.mode & sys::S_IFMT == sys::S_IFREG)
}
