//! Calls that give descriptors a meaning, or take it away.

use super::descriptors::{self, Entry};
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
use super::next::Next;
use super::next::wrappers;
use super::recording::{self, file_of, is_mpis, own_work};
use super::vfork::is_own_memory;
use super::{life, names};
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
use std::ffi::c_void;
use std::ffi::{c_char, c_int, c_uint};
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
use std::sync::atomic::{AtomicPtr, Ordering::Release};
use tmio_api::clock;
use tmio_api::thread::{self, ThreadState};
use tmio_trace::{Metadata, TraceLayer};

type Name = *const c_char;

/// Runs a call that opens a file by its name, and takes note of the descriptor that it returns.
///
/// # Safety
///
/// The name is the argument of the call.
#[inline(always)]
unsafe fn opening(name: Name, call: impl FnOnce() -> c_int) -> c_int {
    opened(call, |thread, descriptor| {
        // SAFETY: the call was successful, so a name that is not null is a string.
        if name.is_null() { Entry::Unknown } else { unsafe { meaning(thread, descriptor, name) } }
    })
}

/// The same where the file may be one without a name: then it is the directory's that is given.
///
/// # Safety
///
/// The name is the argument of the call.
#[inline(always)]
unsafe fn opening_for(how: c_int, name: Name, call: impl FnOnce() -> c_int) -> c_int {
    match how & libc::O_TMPFILE == libc::O_TMPFILE {
        true => opened(call, look_at),
        // SAFETY: as the caller promises.
        false => unsafe { opening(name, call) },
    }
}

/// What a descriptor means of which no name is known.
fn look_at(thread: &ThreadState, descriptor: c_int) -> Entry {
    if is_mpis(thread) {
        return Entry::Mpi;
    }
    descriptors::set(descriptor, Entry::Unknown);
    // A look at it learns what it is.
    let _ = file_of(thread, descriptor, TraceLayer::Posix);
    descriptors::get(descriptor)
}

/// Runs a call that returns a new descriptor, and takes note of what `look` says it means.
#[inline(always)]
fn opened(call: impl FnOnce() -> c_int, look: impl FnOnce(&ThreadState, c_int) -> Entry) -> c_int {
    if !recording::is_on() {
        return call();
    }
    thread::with(|thread| {
        if thread.is_own_work() {
            return call();
        }
        let start = clock::now();
        let descriptor = call();
        if descriptor >= 0 && is_own_memory() {
            let entry = look(thread, descriptor);
            descriptors::set(descriptor, entry);
            note(thread, entry, TraceLayer::Posix, Metadata::Open, start);
        }
        descriptor
    })
}

/// What a descriptor means that was just opened by a name.
///
/// # Safety
///
/// The name is a string.
pub(super) unsafe fn meaning(thread: &ThreadState, descriptor: c_int, name: Name) -> Entry {
    if is_mpis(thread) {
        return Entry::Mpi;
    }
    // SAFETY: as the caller promises.
    match unsafe { names::known(name) } {
        Some(entry) => entry,
        // SAFETY: as above.
        None => own_work(thread, || unsafe { names::opened(descriptor, name) }),
    }
}

/// Records an operation that moved no data and ends now, if it is about a file.
pub(super) fn note(thread: &ThreadState, entry: Entry, layer: TraceLayer, operation: Metadata, start: u64) {
    if let Entry::File(file) = entry
        && recording::wants(layer)
        && !is_mpis(thread)
    {
        recording::record(thread, file, &recording::metadata(layer, operation, start, clock::now()));
    }
}

/// The same, relative to a directory.
///
/// # Safety
///
/// The name is the argument of the call.
#[inline(always)]
unsafe fn open_at(directory: c_int, name: Name, how: c_int, call: impl FnOnce() -> c_int) -> c_int {
    // SAFETY: a name that is not null is a string, or the call fails.
    let is_relative = directory != libc::AT_FDCWD && !name.is_null() && unsafe { *name } != b'/' as c_char;
    if !is_relative {
        // SAFETY: as the caller promises.
        return unsafe { opening_for(how, name, call) };
    }
    opened(call, look_at)
}

/// Runs a call that closes a descriptor. What it meant is forgotten before, as another thread may get the
/// number at once.
#[inline(always)]
fn closing(descriptor: c_int, call: impl FnOnce() -> c_int) -> c_int {
    if !recording::is_on() {
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
        note(thread, entry, TraceLayer::Posix, Metadata::Close, start);
        result
    })
}

/// Whether what a call does to descriptors is to be noted.
fn is_ours() -> bool {
    recording::is_on() && thread::with(|thread| !thread.is_own_work()) && is_own_memory()
}

/// Runs a call that makes a second descriptor of one.
#[inline(always)]
fn duplicate(descriptor: c_int, call: impl FnOnce() -> c_int) -> c_int {
    let result = call();
    if result >= 0 && is_ours() {
        descriptors::set(result, descriptors::get(descriptor));
    }
    result
}

/// The same, where the number of the second one is chosen, and closed first if it was in use.
#[inline(always)]
fn duplicate_to(descriptor: c_int, to: c_int, call: impl FnOnce() -> c_int) -> c_int {
    if descriptor == to || !is_ours() {
        return call();
    }
    let entry = descriptors::get(descriptor);
    descriptors::set(to, Entry::Unknown);
    let result = call();
    if result >= 0 {
        descriptors::set(result, entry);
    }
    result
}

fn close_many(first: c_uint, last: c_uint) {
    if is_ours() {
        let number = |value: c_uint| c_int::try_from(value).unwrap_or(c_int::MAX);
        descriptors::forget_range(number(first), number(last));
    }
}

#[cfg_attr(test, allow(dead_code))]
const CLOSE_RANGE_CLOEXEC: c_int = 4;

fn duplicates(command: c_int) -> bool {
    matches!(command, libc::F_DUPFD | libc::F_DUPFD_CLOEXEC)
}

wrappers! {
    open (name: Name, how: c_int, mode: c_uint) -> c_int,
        |next| opening_for(how, name, || next(name, how, mode));
    open64 (name: Name, how: c_int, mode: c_uint) -> c_int,
        |next| opening_for(how, name, || next(name, how, mode));
    __open_2 (name: Name, how: c_int) -> c_int, |next| opening_for(how, name, || next(name, how));
    __open64_2 (name: Name, how: c_int) -> c_int, |next| opening_for(how, name, || next(name, how));
    creat (name: Name, mode: c_uint) -> c_int, |next| opening(name, || next(name, mode));
    creat64 (name: Name, mode: c_uint) -> c_int, |next| opening(name, || next(name, mode));
    openat (at: c_int, name: Name, how: c_int, mode: c_uint) -> c_int,
        |next| open_at(at, name, how, || next(at, name, how, mode));
    openat64 (at: c_int, name: Name, how: c_int, mode: c_uint) -> c_int,
        |next| open_at(at, name, how, || next(at, name, how, mode));
    __openat_2 (at: c_int, name: Name, how: c_int) -> c_int,
        |next| open_at(at, name, how, || next(at, name, how));
    __openat64_2 (at: c_int, name: Name, how: c_int) -> c_int,
        |next| open_at(at, name, how, || next(at, name, how));
    // The name is complete only after the call.
    mkstemp (name: Name) -> c_int, |next| opening(name, || next(name));
    mkstemp64 (name: Name) -> c_int, |next| opening(name, || next(name));
    mkostemp (name: Name, how: c_int) -> c_int, |next| opening(name, || next(name, how));
    mkostemp64 (name: Name, how: c_int) -> c_int, |next| opening(name, || next(name, how));
    mkstemps (name: Name, rest: c_int) -> c_int, |next| opening(name, || next(name, rest));
    mkstemps64 (name: Name, rest: c_int) -> c_int, |next| opening(name, || next(name, rest));
    mkostemps (name: Name, rest: c_int, how: c_int) -> c_int, |next| opening(name, || next(name, rest, how));
    mkostemps64 (name: Name, rest: c_int, how: c_int) -> c_int,
        |next| opening(name, || next(name, rest, how));

    close (fd: c_int) -> c_int, |next| closing(fd, || next(fd));
    dup (fd: c_int) -> c_int, |next| duplicate(fd, || next(fd));
    dup2 (fd: c_int, to: c_int) -> c_int, |next| duplicate_to(fd, to, || next(fd, to));
    dup3 (fd: c_int, to: c_int, how: c_int) -> c_int, |next| duplicate_to(fd, to, || next(fd, to, how));
    fcntl (fd: c_int, command: c_int, argument: usize) -> c_int, |next| match duplicates(command) {
        true => duplicate(fd, || next(fd, command, argument)),
        false => next(fd, command, argument),
    };
    fcntl64 (fd: c_int, command: c_int, argument: usize) -> c_int, |next| match duplicates(command) {
        true => duplicate(fd, || next(fd, command, argument)),
        false => next(fd, command, argument),
    };

    chdir (name: Name) -> c_int, |next| { names::directory_changes(); next(name) };
    fchdir (fd: c_int) -> c_int, |next| { names::directory_changes(); next(fd) };
}

// Functions that older C libraries do not have: who asks at run time whether they are there finds ours, so
// they are made of the system call.

/// # Safety
///
/// As for the system call.
#[cfg_attr(not(test), unsafe(no_mangle))]
#[cfg_attr(test, allow(dead_code))]
unsafe extern "C-unwind" fn close_range(first: c_uint, last: c_uint, how: c_int) -> c_int {
    if how & CLOSE_RANGE_CLOEXEC == 0 {
        close_many(first, last);
    }
    // SAFETY: the arguments are the caller's.
    unsafe { libc::syscall(libc::SYS_close_range, first, last, how) as c_int }
}

/// # Safety
///
/// As for the C library's.
#[cfg_attr(not(test), unsafe(no_mangle))]
#[cfg_attr(test, allow(dead_code))]
unsafe extern "C-unwind" fn closefrom(first: c_int) {
    let first = first.max(0);
    close_many(first as c_uint, c_uint::MAX);
    // SAFETY: the arguments are the caller's.
    if unsafe { libc::syscall(libc::SYS_close_range, first, c_uint::MAX, 0) } != 0 {
        life::close_one_by_one(first);
    }
}

/// Comes before the C library's `syscall`: programs that close descriptors by it (node does) take their
/// meaning away. All other calls go straight on, as if this had never been: some of them return twice.
///
/// # Safety
///
/// As for the C library's.
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
#[cfg_attr(not(test), unsafe(no_mangle))]
#[cfg_attr(test, allow(dead_code))]
#[unsafe(naked)]
unsafe extern "C" fn syscall() {
    core::arch::naked_asm!(
        "mov rax, qword ptr [rip + {next}]",
        "test rax, rax",
        "je 2f",
        "cmp rdi, {close}",
        "je 2f",
        "cmp rdi, {close_range}",
        "je 2f",
        "cmp rdi, {dup2}",
        "je 2f",
        "cmp rdi, {dup3}",
        "je 2f",
        "cmp rdi, {vfork}",
        "je 2f",
        "cmp rdi, {clone}",
        "je 2f",
        "cmp rdi, {seccomp}",
        "je 2f",
        "cmp rdi, {prctl}",
        "je 2f",
        "jmp rax",
        "2:",
        crate::caller::call_before!(),
        "jmp r11",
        next = sym SYSCALL,
        before = sym before_syscall,
        close = const libc::SYS_close,
        close_range = const libc::SYS_close_range,
        dup2 = const libc::SYS_dup2,
        dup3 = const libc::SYS_dup3,
        vfork = const libc::SYS_vfork,
        clone = const libc::SYS_clone,
        seccomp = const libc::SYS_seccomp,
        prctl = const libc::SYS_prctl,
    )
}

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
static SYSCALL: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());

/// Gives the address of the next `syscall`.
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
extern "C" fn before_syscall(number: i64, first: usize, second: usize) -> *mut c_void {
    static NEXT: Next = Next::new("syscall\0");
    let next = NEXT.get();
    SYSCALL.store(next, Release);
    super::vfork::before_raw(number, first);
    // Questions about what the kernel can do are more numerous than filters.
    const SECCOMP_SET_MODE_FILTER: usize = 1;
    if matches!((number, first), (libc::SYS_seccomp, ..=SECCOMP_SET_MODE_FILTER))
        || (number == libc::SYS_prctl && first == libc::PR_SET_SECCOMP as usize)
    {
        life::forbids_system_calls();
    }
    if is_ours() {
        match number {
            libc::SYS_close => descriptors::set(first as c_int, Entry::Unknown),
            libc::SYS_dup2 | libc::SYS_dup3 => descriptors::set(second as c_int, Entry::Unknown),
            libc::SYS_close_range => close_many(first as c_uint, second as c_uint),
            _ => {}
        }
    }
    next
}
