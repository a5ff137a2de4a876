//! System calls. They go past the C library: they touch neither `errno` nor a function that somebody stands
//! in for, may be made anywhere, also in signal handlers and in a child of `vfork`, and are no cancellation
//! points.

use core::ffi::{CStr, c_void};

#[cfg(target_arch = "x86_64")]
mod numbers {
    pub const CLOCK_GETTIME: usize = 228;
    pub const CLONE: usize = 56;
    pub const CLOSE: usize = 3;
    pub const CLOSE_RANGE: usize = 436;
    pub const DUP3: usize = 292;
    pub const EXECVE: usize = 59;
    pub const EXIT: usize = 60;
    pub const FACCESSAT: usize = 269;
    pub const FALLOCATE: usize = 285;
    pub const FCHMOD: usize = 91;
    pub const FCHMODAT: usize = 268;
    pub const FSTAT: usize = 5;
    pub const FSTATFS: usize = 138;
    pub const FTRUNCATE: usize = 77;
    pub const FUTEX: usize = 202;
    pub const GETCWD: usize = 79;
    pub const GETEUID: usize = 107;
    pub const GETPGID: usize = 121;
    pub const GETPID: usize = 39;
    pub const GETPPID: usize = 110;
    pub const GETRESUID: usize = 118;
    pub const GETSID: usize = 124;
    pub const IOCTL: usize = 16;
    pub const KILL: usize = 62;
    pub const MADVISE: usize = 28;
    pub const MKDIRAT: usize = 258;
    pub const MMAP: usize = 9;
    pub const MPROTECT: usize = 10;
    pub const MREMAP: usize = 25;
    pub const MUNLOCK: usize = 150;
    pub const MUNMAP: usize = 11;
    pub const NANOSLEEP: usize = 35;
    pub const NEWFSTATAT: usize = 262;
    pub const OPENAT: usize = 257;
    pub const POLL: usize = 7;
    pub const PRCTL: usize = 157;
    pub const PRLIMIT64: usize = 302;
    pub const READ: usize = 0;
    pub const READLINKAT: usize = 267;
    pub const RENAMEAT2: usize = 316;
    pub const RT_SIGPROCMASK: usize = 14;
    pub const RT_SIGTIMEDWAIT: usize = 128;
    pub const SCHED_YIELD: usize = 24;
    pub const SENDTO: usize = 44;
    pub const SETFSUID: usize = 122;
    pub const SETRESUID: usize = 117;
    pub const SETSID: usize = 112;
    pub const STATFS: usize = 137;
    pub const UNLINKAT: usize = 263;
    pub const WAIT4: usize = 61;
    pub const WRITE: usize = 1;
}

#[cfg(target_arch = "aarch64")]
mod numbers {
    pub const CLOCK_GETTIME: usize = 113;
    pub const CLONE: usize = 220;
    pub const CLOSE: usize = 57;
    pub const CLOSE_RANGE: usize = 436;
    pub const DUP3: usize = 24;
    pub const EXECVE: usize = 221;
    pub const EXIT: usize = 93;
    pub const FACCESSAT: usize = 48;
    pub const FALLOCATE: usize = 47;
    pub const FCHMOD: usize = 52;
    pub const FCHMODAT: usize = 53;
    pub const FSTAT: usize = 80;
    pub const FSTATFS: usize = 44;
    pub const FTRUNCATE: usize = 46;
    pub const FUTEX: usize = 98;
    pub const GETCWD: usize = 17;
    pub const GETEUID: usize = 175;
    pub const GETPGID: usize = 155;
    pub const GETPID: usize = 172;
    pub const GETPPID: usize = 173;
    pub const GETRESUID: usize = 148;
    pub const GETSID: usize = 156;
    pub const IOCTL: usize = 29;
    pub const KILL: usize = 129;
    pub const MADVISE: usize = 233;
    pub const MKDIRAT: usize = 34;
    pub const MMAP: usize = 222;
    pub const MPROTECT: usize = 226;
    pub const MREMAP: usize = 216;
    pub const MUNLOCK: usize = 229;
    pub const MUNMAP: usize = 215;
    pub const NANOSLEEP: usize = 101;
    pub const NEWFSTATAT: usize = 79;
    pub const OPENAT: usize = 56;
    pub const PPOLL: usize = 73;
    pub const PRCTL: usize = 167;
    pub const PRLIMIT64: usize = 261;
    pub const READ: usize = 63;
    pub const READLINKAT: usize = 78;
    pub const RENAMEAT2: usize = 276;
    pub const RT_SIGPROCMASK: usize = 135;
    pub const RT_SIGTIMEDWAIT: usize = 137;
    pub const SCHED_YIELD: usize = 124;
    pub const SENDTO: usize = 206;
    pub const SETFSUID: usize = 151;
    pub const SETRESUID: usize = 147;
    pub const SETSID: usize = 157;
    pub const STATFS: usize = 43;
    pub const UNLINKAT: usize = 35;
    pub const WAIT4: usize = 260;
    pub const WRITE: usize = 64;
}

use numbers::*;

/// Makes a system call.
///
/// # Safety
///
/// What the call does with its arguments is safe.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub unsafe fn call(number: usize, arguments: [usize; 6]) -> isize {
    let [a, b, c, d, e, f] = arguments;
    let result: isize;
    // SAFETY: as the caller promises; the kernel changes these registers alone.
    unsafe {
        core::arch::asm!(
            "syscall",
            inlateout("rax") number as isize => result,
            in("rdi") a,
            in("rsi") b,
            in("rdx") c,
            in("r10") d,
            in("r8") e,
            in("r9") f,
            lateout("rcx") _,
            lateout("r11") _,
            options(nostack),
        );
    }
    result
}

/// Makes a system call.
///
/// # Safety
///
/// What the call does with its arguments is safe.
#[cfg(target_arch = "aarch64")]
#[inline(always)]
pub unsafe fn call(number: usize, arguments: [usize; 6]) -> isize {
    let [a, b, c, d, e, f] = arguments;
    let result: isize;
    // SAFETY: as the caller promises.
    unsafe {
        core::arch::asm!(
            "svc 0",
            in("x8") number,
            inlateout("x0") a => result,
            in("x1") b,
            in("x2") c,
            in("x3") d,
            in("x4") e,
            in("x5") f,
            options(nostack),
        );
    }
    result
}

/// An error number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Errno(pub i32);

pub const ENOENT: Errno = Errno(2);
pub const ESRCH: Errno = Errno(3);
pub const EEXIST: Errno = Errno(17);
pub const EINVAL: Errno = Errno(22);
pub const EAGAIN: Errno = Errno(11);
pub const ENFILE: Errno = Errno(23);
pub const EMFILE: Errno = Errno(24);
const EFBIG: Errno = Errno(27);
const EPIPE: Errno = Errno(32);

fn checked(result: isize) -> Result<usize, Errno> {
    if (-4095..0).contains(&result) { Err(Errno(-result as i32)) } else { Ok(result as usize) }
}

macro_rules! invoke {
    ($number:expr $(, $argument:expr)*) => {{
        let mut arguments = [0usize; 6];
        let given = [$($argument as usize),*];
        for (to, from) in arguments.iter_mut().zip(given) {
            *to = from;
        }
        checked(call($number, arguments))
    }};
}

pub const AT_FDCWD: i32 = -100;
pub const O_RDONLY: i32 = 0;
pub const O_RDWR: i32 = 2;
pub const O_CREAT: i32 = 0o100;
pub const O_EXCL: i32 = 0o200;
pub const O_CLOEXEC: i32 = 0o2_000_000;
#[cfg(target_arch = "x86_64")]
pub const O_NOFOLLOW: i32 = 0o400_000;
#[cfg(target_arch = "aarch64")]
pub const O_NOFOLLOW: i32 = 0o100_000;
pub const AT_SYMLINK_NOFOLLOW: i32 = 0x100;
pub const AT_REMOVEDIR: i32 = 0x200;

/// Pages are no larger than this, and divide it.
pub const LARGEST_PAGE: usize = if cfg!(target_arch = "aarch64") { 65536 } else { 4096 };
pub const PROT_READ: usize = 1;
pub const PROT_WRITE: usize = 2;
pub const MAP_SHARED: usize = 1;
pub const MAP_PRIVATE: usize = 2;
pub const MAP_ANONYMOUS: usize = 0x20;
pub const MAP_NORESERVE: usize = 0x4000;
pub const MADV_DONTNEED: usize = 4;
pub const MADV_WIPEONFORK: usize = 18;
/// Linux 5.14.
pub const MADV_POPULATE_WRITE: usize = 23;

pub const PR_GET_CHILD_SUBREAPER: usize = 37;
pub const PR_GET_SECCOMP: usize = 21;

pub const S_IFMT: u32 = 0o170_000;
pub const S_IFREG: u32 = 0o100_000;
pub const S_IFDIR: u32 = 0o040_000;
const S_IFIFO: u32 = 0o010_000;
const S_IFCHR: u32 = 0o020_000;
const S_IFSOCK: u32 = 0o140_000;

/// What `fstat` says, as far as it is used.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stat {
    pub device: u64,
    pub inode: u64,
    pub mode: u32,
    pub owner: u32,
    pub length: u64,
}

#[cfg(target_arch = "x86_64")]
fn stat_of(words: &[u64; 18]) -> Stat {
    let [device, inode, _, mode_owner, _, _, length, ..] = *words;
    Stat { device, inode, mode: mode_owner as u32, owner: (mode_owner >> 32) as u32, length }
}

#[cfg(target_arch = "aarch64")]
fn stat_of(words: &[u64; 18]) -> Stat {
    let [device, inode, mode_links, owner_group, _, _, length, ..] = *words;
    Stat { device, inode, mode: mode_links as u32, owner: owner_group as u32, length }
}

/// What a descriptor is.
#[inline(never)]
pub fn fstat(descriptor: i32) -> Result<Stat, Errno> {
    let mut words = [0u64; 18];
    // SAFETY: the structure of the kernel has 144 bytes on x86-64, and 128 on aarch64.
    unsafe { invoke!(FSTAT, descriptor, words.as_mut_ptr()) }?;
    Ok(stat_of(&words))
}

/// What a path is; a link is not followed.
pub fn lstat(path: &CStr) -> Result<Stat, Errno> {
    let mut words = [0u64; 18];
    // SAFETY: as above; the path is a string.
    unsafe { invoke!(NEWFSTATAT, AT_FDCWD, path.as_ptr(), words.as_mut_ptr(), AT_SYMLINK_NOFOLLOW) }?;
    Ok(stat_of(&words))
}

/// The number of a file; links are followed. 0: it cannot be looked at.
pub fn inode(path: &CStr) -> u64 {
    let mut words = [0u64; 18];
    // SAFETY: as above.
    let found = unsafe { invoke!(NEWFSTATAT, AT_FDCWD, path.as_ptr(), words.as_mut_ptr(), 0) };
    if found.is_ok() { stat_of(&words).inode } else { 0 }
}

/// The kind of file system that a descriptor is on, by its magic number.
pub fn file_system(descriptor: i32) -> Result<u64, Errno> {
    let mut words = [0u64; 16];
    // SAFETY: the structure has 120 bytes, of which the first word is the kind.
    unsafe { invoke!(FSTATFS, descriptor, words.as_mut_ptr()) }?;
    Ok(words[0] & 0xffff_ffff)
}

/// The same for a path.
pub fn file_system_at(path: &CStr) -> Result<u64, Errno> {
    let mut words = [0u64; 16];
    // SAFETY: as above; the path is a string.
    unsafe { invoke!(STATFS, path.as_ptr(), words.as_mut_ptr()) }?;
    Ok(words[0] & 0xffff_ffff)
}

pub fn open(path: &CStr, how: i32, mode: u32) -> Result<i32, Errno> {
    // SAFETY: the path is a string.
    unsafe { invoke!(OPENAT, AT_FDCWD, path.as_ptr(), how, mode) }.map(|descriptor| descriptor as i32)
}

pub fn close(descriptor: i32) {
    // SAFETY: what the caller has opened.
    let _ = unsafe { invoke!(CLOSE, descriptor) };
}

pub fn read(descriptor: i32, to: &mut [u8]) -> Result<usize, Errno> {
    // SAFETY: the memory is writable for that length.
    unsafe { invoke!(READ, descriptor, to.as_mut_ptr(), to.len()) }
}

/// Writes a line for people, shorter than what a pipe takes at once, if that can do no harm: the program may
/// neither wait for whoever reads it, nor be ended or stopped by a signal.
pub fn write_harmlessly(descriptor: i32, text: &[u8]) {
    let Ok(about) = fstat(descriptor) else { return };
    let kind = about.mode & S_IFMT;
    let can = match kind {
        S_IFREG => about.length.saturating_add(text.len() as u64) <= limits(RLIMIT_FSIZE)[0],
        S_IFCHR => may_use_terminal(descriptor),
        // Nothing is known of others, such as what an event is counted by.
        _ => matches!(kind, S_IFIFO | S_IFSOCK),
    };
    if !can || !takes_some(descriptor) {
        return;
    }
    // Whoever reads may go, and a file may grow, at this moment: the signal is held back, and taken away.
    without_signals(|| {
        let (from, length) = (text.as_ptr(), text.len());
        if kind == S_IFSOCK {
            const DONTWAIT_NOSIGNAL: usize = 0x4040;
            // SAFETY: the memory is readable for that length.
            let _ = unsafe { invoke!(SENDTO, descriptor, from, length, DONTWAIT_NOSIGNAL, 0, 0) };
            return;
        }
        // SAFETY: as above.
        match unsafe { invoke!(WRITE, descriptor, from, length) } {
            Err(EPIPE) => take_signal(13),
            Err(EFBIG) => take_signal(25),
            _ => {}
        }
    });
}

/// Whether a descriptor takes some bytes at once, and somebody is there who reads them.
#[inline(never)]
fn takes_some(descriptor: i32) -> bool {
    const POLLOUT: u16 = 4;
    #[repr(C)]
    struct Asked {
        descriptor: i32,
        events: u16,
        answer: u16,
    }
    let mut asked = Asked { descriptor, events: POLLOUT, answer: 0 };
    let place = &raw mut asked;
    // SAFETY: the place is valid, and so is the time; nothing is waited for.
    #[cfg(target_arch = "x86_64")]
    let done = unsafe { invoke!(POLL, place, 1, 0) };
    #[cfg(target_arch = "aarch64")]
    let done = {
        let no_time = [0u64; 2];
        // SAFETY: as above.
        unsafe { invoke!(PPOLL, place, 1, no_time.as_ptr(), 0, 8) }
    };
    // SAFETY: it was written before, and perhaps by the kernel.
    let answer = unsafe { place.read_volatile() }.answer;
    done == Ok(1) && answer == POLLOUT
}

/// Whether a character device is no terminal, or one that lets this process write.
#[inline(never)]
fn may_use_terminal(descriptor: i32) -> bool {
    const TCGETS: usize = 0x5401;
    const TIOCGPGRP: usize = 0x540f;
    const TOSTOP: u32 = 0o400;
    let mut settings = [0u32; 16];
    // SAFETY: the structure of the kernel has 36 bytes.
    if unsafe { invoke!(IOCTL, descriptor, TCGETS, settings.as_mut_ptr()) }.is_err() {
        return true;
    }
    let [_, _, _, local, ..] = settings;
    if local & TOSTOP == 0 {
        return true;
    }
    let mut foreground = 0u32;
    // SAFETY: the place is valid. The terminal of another session does not answer, and stops nobody.
    let asked = unsafe { invoke!(IOCTL, descriptor, TIOCGPGRP, &raw mut foreground) };
    // SAFETY: the call has no premises.
    let group = unsafe { invoke!(GETPGID, 0) };
    asked.is_err() || group == Ok(foreground as usize)
}

/// Takes away a signal that a call of ours has raised and that is blocked.
#[inline(never)]
fn take_signal(number: u32) {
    let (set, no_time) = (1u64 << (number - 1), [0u64; 2]);
    // SAFETY: the set and the time are valid; what it was about is not wanted.
    let _ = unsafe { invoke!(RT_SIGTIMEDWAIT, &raw const set, 0, no_time.as_ptr(), 8) };
}

pub fn make_directory(path: &CStr, mode: u32) -> Result<(), Errno> {
    // SAFETY: the path is a string.
    unsafe { invoke!(MKDIRAT, AT_FDCWD, path.as_ptr(), mode) }.map(drop)
}

pub fn change_mode(path: &CStr, mode: u32) {
    // SAFETY: the path is a string.
    let _ = unsafe { invoke!(FCHMODAT, AT_FDCWD, path.as_ptr(), mode) };
}

pub fn change_mode_of(descriptor: i32, mode: u32) {
    // SAFETY: the call changes nothing but the file.
    let _ = unsafe { invoke!(FCHMOD, descriptor, mode) };
}

pub fn remove(path: &CStr) -> Result<(), Errno> {
    // SAFETY: the path is a string.
    unsafe { invoke!(UNLINKAT, AT_FDCWD, path.as_ptr(), 0) }.map(drop)
}

pub fn remove_directory(path: &CStr) {
    // SAFETY: the path is a string.
    let _ = unsafe { invoke!(UNLINKAT, AT_FDCWD, path.as_ptr(), AT_REMOVEDIR) };
}

pub fn rename(from: &CStr, to: &CStr) -> Result<(), Errno> {
    // SAFETY: both paths are strings.
    unsafe { invoke!(RENAMEAT2, AT_FDCWD, from.as_ptr(), AT_FDCWD, to.as_ptr(), 0) }.map(drop)
}

pub fn read_link(path: &CStr, to: &mut [u8]) -> Result<usize, Errno> {
    // SAFETY: the path is a string, and the memory is writable for that length.
    unsafe { invoke!(READLINKAT, AT_FDCWD, path.as_ptr(), to.as_mut_ptr(), to.len()) }
}

/// The current directory; the length is that of the path with its final zero.
pub fn current_directory(to: &mut [u8]) -> Result<usize, Errno> {
    // SAFETY: the memory is writable for that length.
    unsafe { invoke!(GETCWD, to.as_mut_ptr(), to.len()) }
}

pub fn set_length(descriptor: i32, length: usize) -> Result<(), Errno> {
    // SAFETY: the call changes nothing but the file.
    unsafe { invoke!(FTRUNCATE, descriptor, length) }.map(drop)
}

pub fn allocate(descriptor: i32, offset: usize, length: usize) -> Result<(), Errno> {
    // SAFETY: the call changes nothing but the file.
    unsafe { invoke!(FALLOCATE, descriptor, 0, offset, length) }.map(drop)
}

/// A new mapping of a file, or of memory of our own (−1), wherever the kernel likes.
///
/// A program that has all its memory locked (`mlockall`) has a limit for that, of which nothing is for us:
/// the new mapping is not locked any more. If all of it does not fit into the limit even for that moment, a
/// piece is mapped, which grows: what it grows by is as it is.
pub fn map(length: usize, flags: usize, descriptor: i32, offset: usize) -> Result<*mut u8, Errno> {
    const MREMAP_MAYMOVE: usize = 1;
    let map = |length: usize| {
        // SAFETY: nothing that exists is touched.
        let address = unsafe { invoke!(MMAP, 0, length, PROT_READ | PROT_WRITE, flags, descriptor, offset) }?;
        // SAFETY: the new mapping, to which nothing else happens.
        let _ = unsafe { invoke!(MUNLOCK, address, length) };
        Ok(address)
    };
    let address = match map(length) {
        Err(EAGAIN) if length > LARGEST_PAGE => {
            let piece = map(LARGEST_PAGE)?;
            // SAFETY: nobody knows of it yet.
            unsafe { invoke!(MREMAP, piece, LARGEST_PAGE, length, MREMAP_MAYMOVE) }.inspect_err(|_| {
                // SAFETY: as above.
                unsafe { unmap(core::ptr::with_exposed_provenance_mut(piece), LARGEST_PAGE) };
            })?
        }
        whole => whole?,
    };
    Ok(core::ptr::with_exposed_provenance_mut(address))
}

/// Puts new memory where there is some; whoever still stores there stores to the new one.
///
/// # Safety
///
/// A mapping of our own whose content nobody relies on.
pub unsafe fn replace(address: *mut u8, length: usize) {
    const MAP_FIXED: usize = 0x10;
    let flags = MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    // SAFETY: as the caller promises.
    let _ = unsafe { invoke!(MMAP, address, length, PROT_READ | PROT_WRITE, flags, -1i32, 0) };
}

/// # Safety
///
/// Nobody uses the mapping any more.
pub unsafe fn unmap(address: *mut u8, length: usize) {
    // SAFETY: as the caller promises.
    let _ = unsafe { invoke!(MUNMAP, address, length) };
}

/// # Safety
///
/// Whole pages of our own, which nobody relies on to be readable or writable otherwise.
pub unsafe fn protect(address: usize, length: usize, how: usize) -> Result<(), Errno> {
    // SAFETY: as the caller promises.
    unsafe { invoke!(MPROTECT, address, length, how) }.map(drop)
}

/// # Safety
///
/// Whole pages of our own, for which the advice is right.
pub unsafe fn advise(address: *const u8, length: usize, advice: usize) -> Result<(), Errno> {
    // SAFETY: as the caller promises.
    unsafe { invoke!(MADVISE, address, length, advice) }.map(drop)
}

pub fn process() -> u32 {
    // SAFETY: the call has no premises.
    unsafe { call(GETPID, [0; 6]) as u32 }
}

pub fn parent() -> u32 {
    // SAFETY: the call has no premises.
    unsafe { call(GETPPID, [0; 6]) as u32 }
}

pub fn session() -> u32 {
    // SAFETY: the call has no premises.
    unsafe { call(GETSID, [0; 6]) as u32 }
}

pub fn user() -> u32 {
    // SAFETY: the call has no premises.
    unsafe { call(GETEUID, [0; 6]) as u32 }
}

/// The real, the effective and the saved user.
pub fn users() -> [u32; 3] {
    let mut users = [u32::MAX; 3];
    let place = users.as_mut_ptr();
    // SAFETY: the three places are valid.
    unsafe {
        call(GETRESUID, [place as usize, place.add(1) as usize, place.add(2) as usize, 0, 0, 0]);
    }
    users
}

/// The user whose files this thread may touch.
pub fn file_user() -> u32 {
    // SAFETY: this is nobody's number: nothing changes, and the answer is what is in force.
    unsafe { call(SETFSUID, [u32::MAX as usize, 0, 0, 0, 0, 0]) as u32 }
}

/// This process alone acts as another user from here on, if it may.
///
/// # Safety
///
/// It is a process of ours that is not the program's.
pub unsafe fn act_as(user: u32) {
    let user = user as usize;
    // SAFETY: as the caller promises.
    unsafe {
        call(SETRESUID, [u32::MAX as usize, user, u32::MAX as usize, 0, 0, 0]);
    }
}

/// The same for good.
///
/// # Safety
///
/// As above.
pub unsafe fn become_user(user: u32) {
    let user = user as usize;
    // SAFETY: as the caller promises.
    unsafe {
        call(SETRESUID, [user, user, user, 0, 0, 0]);
    }
}

/// Whether there is a file that this user may read.
pub fn can_be_read(path: &CStr) -> bool {
    const R_OK: usize = 4;
    // SAFETY: the path is a string.
    unsafe { invoke!(FACCESSAT, AT_FDCWD, path.as_ptr(), R_OK) }.is_ok()
}

/// Whether there is a process of this id.
pub fn exists(process: u32) -> bool {
    // SAFETY: signal 0 is never delivered.
    let answer = unsafe { invoke!(KILL, process, 0) };
    answer != Err(ESRCH)
}

/// Whether a child of this process is in its namespace: it may have made another one for its children, and
/// with the first of them that ends the namespace ends.
pub fn has_usual_children() -> bool {
    inode(c"/proc/self/ns/pid") == inode(c"/proc/self/ns/pid_for_children")
}

/// Has memory fetched into the cache, if it is there; nothing else happens.
#[inline(always)]
pub fn fetch(address: *const u8) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a hint, which is ignored where the address is none.
    unsafe {
        core::arch::asm!("prefetcht0 [{}]", in(reg) address, options(readonly, nostack, preserves_flags));
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: as above.
    unsafe {
        core::arch::asm!("prfm pldl1keep, [{}]", in(reg) address, options(readonly, nostack, preserves_flags));
    }
}

pub fn yield_now() {
    // SAFETY: the call has no premises.
    unsafe { call(SCHED_YIELD, [0; 6]) };
}

pub fn sleep(nanoseconds: u64) {
    let time = [nanoseconds / 1_000_000_000, nanoseconds % 1_000_000_000];
    // SAFETY: the time is valid for the call, and what is left of it is not wanted.
    unsafe { call(NANOSLEEP, [time.as_ptr() as usize, 0, 0, 0, 0, 0]) };
}

/// Nanoseconds of a clock, asked of the kernel.
pub fn clock(which: usize) -> i64 {
    let mut time = [0i64; 2];
    // SAFETY: the place is valid.
    unsafe { call(CLOCK_GETTIME, [which, time.as_mut_ptr() as usize, 0, 0, 0, 0]) };
    let [seconds, nanoseconds] = time;
    seconds.wrapping_mul(1_000_000_000).wrapping_add(nanoseconds)
}

pub const CLOCK_REALTIME: usize = 0;
pub const CLOCK_MONOTONIC: usize = 1;

/// Wakes whoever sleeps on a word, in any process.
pub fn wake(word: *const u32) {
    const FUTEX_WAKE: usize = 1;
    // SAFETY: the address only names the word.
    unsafe { call(FUTEX, [word as usize, FUTEX_WAKE, i32::MAX as usize, 0, 0, 0]) };
}

/// Sleeps until somebody wakes who sleeps on a word, but no longer than so many nanoseconds; not at all if it
/// is another one than this already.
pub fn wait(word: *const u32, seen: u32, nanoseconds: u64) {
    const FUTEX_WAIT: usize = 0;
    let time = [nanoseconds / 1_000_000_000, nanoseconds % 1_000_000_000];
    // SAFETY: the word is in a mapping of ours, and the time is valid for the call.
    unsafe { call(FUTEX, [word as usize, FUTEX_WAIT, seen as usize, time.as_ptr() as usize, 0, 0]) };
}

/// Runs with all signals blocked that can be.
pub fn without_signals<T>(body: impl FnOnce() -> T) -> T {
    const SIG_SETMASK: usize = 2;
    let (all, mut old) = (u64::MAX, 0u64);
    let set = |new: &u64, old: *mut u64| {
        // SAFETY: both sets have eight bytes and live as long as the call.
        unsafe {
            call(RT_SIGPROCMASK, [SIG_SETMASK, core::ptr::from_ref(new) as usize, old as usize, 8, 0, 0])
        }
    };
    let masked = set(&all, &mut old) == 0;
    let result = body();
    if masked {
        set(&old, core::ptr::null_mut());
    }
    result
}

/// The limits of a resource: the one in force, and the largest that the process may have.
pub fn limits(resource: usize) -> [u64; 2] {
    let mut limits = [u64::MAX; 2];
    // SAFETY: the place is valid, and nothing is set.
    unsafe { call(PRLIMIT64, [0, resource, 0, limits.as_mut_ptr() as usize, 0, 0]) };
    limits
}

/// Lifts a limit as far as any process may.
///
/// # Safety
///
/// It is a process of ours that is not the program's.
pub unsafe fn raise_limit(resource: usize) {
    let [_, most] = limits(resource);
    // SAFETY: the place is valid; as the caller promises.
    unsafe { call(PRLIMIT64, [0, resource, [most; 2].as_ptr() as usize, 0, 0, 0]) };
}

const RLIMIT_CPU: usize = 0;
pub const RLIMIT_FSIZE: usize = 1;
const RLIMIT_DATA: usize = 2;
const RLIMIT_STACK: usize = 3;
pub const RLIMIT_NOFILE: usize = 7;
const RLIMIT_AS: usize = 9;

/// Whether this process gets the orphans among its descendants: it has asked for it, or is the first one of
/// its namespace.
pub fn gets_orphans() -> bool {
    let mut answer = 0i32;
    // SAFETY: the place is valid.
    unsafe { call(PRCTL, [PR_GET_CHILD_SUBREAPER, (&raw mut answer) as usize, 0, 0, 0, 0]) };
    answer != 0 || process() == 1
}

/// Whether a filter of system calls is in force. Where one is, asking may be the end of the program.
pub fn has_filter() -> bool {
    // SAFETY: nothing is changed.
    unsafe { call(PRCTL, [PR_GET_SECCOMP, 0, 0, 0, 0, 0]) > 0 }
}

/// Runs `body` in a process that shares all memory with this one but has its own table of descriptors, on a
/// stack of its own. The calling thread stands still meanwhile; no other one notices. The process is gone
/// when this returns, and no `wait` of the program can see it, as it sends no signal when it ends.
///
/// Emulators refuse it with `EINVAL`: they have only threads and copies.
///
/// # Safety
///
/// All signals are blocked. The stack is memory of our own that nobody else uses, aligned to 16 bytes.
pub unsafe fn apart(
    stack: &mut [u8],
    body: unsafe extern "C" fn(*mut c_void),
    argument: *mut c_void,
) -> Result<(), Errno> {
    const CLONE_VM: usize = 0x100;
    const CLONE_VFORK: usize = 0x4000;
    const WCLONE: usize = 0x8000_0000;
    let top = stack.as_mut_ptr_range().end.addr() & !15;
    // SAFETY: as the caller promises: the child runs `body` on memory of its own and ends, and this thread
    // goes on after that.
    let child = unsafe { clone_and_run(CLONE_VM | CLONE_VFORK, top, body, argument) };
    let child = checked(child)?;
    let mut status = 0i32;
    // SAFETY: the place is valid.
    unsafe { call(WAIT4, [child, (&raw mut status) as usize, WCLONE, 0, 0, 0]) };
    Ok(())
}

/// Runs `body` in a child, which is gone when this returns. It shares the memory of this process, but for
/// emulators that cannot do that; in these it is a copy, which sends a signal when it ends.
///
/// # Safety
///
/// As for [`apart`].
pub unsafe fn in_a_child(stack: &mut [u8], body: unsafe extern "C" fn(*mut c_void), argument: *mut c_void) {
    const ANY_KIND: usize = 0x4000_0000;
    let top = stack.as_mut_ptr_range().end.addr() & !15;
    // SAFETY: as the caller promises; the place is valid.
    unsafe {
        let child = clone_or_fork(top, body, argument);
        if child > 0 {
            let mut status = 0i32;
            call(WAIT4, [child as usize, (&raw mut status) as usize, ANY_KIND, 0, 0, 0]);
        }
    }
}

/// # Safety
///
/// As for [`clone_and_run`].
unsafe fn clone_or_fork(top: usize, body: unsafe extern "C" fn(*mut c_void), argument: *mut c_void) -> isize {
    const CLONE_VM: usize = 0x100;
    const CLONE_VFORK: usize = 0x4000;
    const SIGCHLD: usize = 17;
    // SAFETY: as the caller promises.
    unsafe {
        match clone_and_run(CLONE_VM | CLONE_VFORK, top, body, argument) {
            // No kernel says so, but emulators that have only `fork` and `vfork`.
            refused if refused == -(EINVAL.0 as isize) => {
                clone_and_run(CLONE_VM | CLONE_VFORK | SIGCHLD, top, body, argument)
            }
            child => child,
        }
    }
}

/// As many descriptors as a helper may use at once, with room to spare.
const ENOUGH_DESCRIPTORS: u64 = 64;

/// Closes all descriptors, whether the kernel is new enough to do that at once or not.
///
/// # Safety
///
/// This is a process of ours that has its own table of descriptors.
pub unsafe fn close_all() {
    // SAFETY: as the caller promises.
    unsafe {
        if call(CLOSE_RANGE, [0, u32::MAX as usize, 0, 0, 0, 0]) != 0 {
            for descriptor in 0..limits(7)[0].min(1 << 20) as usize {
                call(CLOSE, [descriptor, 0, 0, 0, 0, 0]);
            }
        }
    }
}

/// Whether another descriptor can be had.
pub fn has_a_descriptor() -> bool {
    const O_PATH: i32 = 0o10_000_000;
    match open(c"/", O_PATH | O_CLOEXEC, 0) {
        Ok(descriptor) => {
            close(descriptor);
            true
        }
        Err(error) => !matches!(error, EMFILE | ENFILE),
    }
}

/// Starts a program for good: by a child that ends at once, so that the program is nobody's child whom
/// anybody waits for. It has no descriptors but the null device. The answer is its process id, even if it
/// ends at once.
///
/// # Safety
///
/// As for [`apart`]; the pointers are to strings, and to lists of them that end with a null pointer.
pub unsafe fn start(
    program: *const u8,
    arguments: *const *const u8,
    variables: *const *const u8,
    stack: usize,
) -> isize {
    struct Start {
        program: *const u8,
        arguments: *const *const u8,
        variables: *const *const u8,
    }
    unsafe extern "C" fn become_it(start: *mut c_void) {
        // SAFETY: it is what was given below, and lives until this process is another program.
        unsafe {
            let start = &*start.cast::<Start>();
            call(SETSID, [0; 6]);
            // Nothing of the program's is held, and its limits are for itself. Where descriptors are few,
            // they are for the dynamic linker and the helper, and none for what nobody reads.
            close_all();
            for limit in [RLIMIT_CPU, RLIMIT_DATA, RLIMIT_STACK, RLIMIT_NOFILE, RLIMIT_AS] {
                raise_limit(limit);
            }
            if limits(RLIMIT_NOFILE)[0] >= ENOUGH_DESCRIPTORS
                && let Ok(null) = open(c"/dev/null", O_RDWR, 0)
            {
                for number in 0..3 {
                    if null != number {
                        call(DUP3, [null as usize, number as usize, 0, 0, 0, 0]);
                    }
                }
            }
            let none = 0u64;
            call(RT_SIGPROCMASK, [2, (&raw const none) as usize, 0, 8, 0, 0]);
            call(
                EXECVE,
                [start.program as usize, start.arguments as usize, start.variables as usize, 0, 0, 0],
            );
        }
    }
    let start = Start { program, arguments, variables };
    // SAFETY: as the caller promises; the child is another program, or gone, when this goes on.
    unsafe { clone_or_fork(stack, become_it, (&raw const start).cast_mut().cast()) }
}

/// # Safety
///
/// The flags include those by which the caller stands still until the child has ended or become another
/// program; `top` is the aligned end of a stack of its own.
#[cfg(target_arch = "x86_64")]
unsafe fn clone_and_run(
    flags: usize,
    top: usize,
    body: unsafe extern "C" fn(*mut c_void),
    argument: *mut c_void,
) -> isize {
    let result: isize;
    // SAFETY: as the caller promises. The child begins with the registers of its parent but for the stack.
    unsafe {
        core::arch::asm!(
            "syscall",
            "test rax, rax",
            "jne 2f",
            "xor ebp, ebp",
            "mov rdi, r13",
            "call r12",
            "xor edi, edi",
            "mov eax, {exit}",
            "syscall",
            "ud2",
            "2:",
            exit = const EXIT,
            inlateout("rax") CLONE as isize => result,
            in("rdi") flags,
            in("rsi") top,
            in("rdx") 0usize,
            in("r10") 0usize,
            in("r8") 0usize,
            in("r12") body,
            in("r13") argument,
            lateout("rcx") _,
            lateout("r11") _,
        );
    }
    result
}

/// # Safety
///
/// As above.
#[cfg(target_arch = "aarch64")]
unsafe fn clone_and_run(
    flags: usize,
    top: usize,
    body: unsafe extern "C" fn(*mut c_void),
    argument: *mut c_void,
) -> isize {
    let result: isize;
    // SAFETY: as above.
    unsafe {
        core::arch::asm!(
            "svc 0",
            "cbnz x0, 2f",
            "mov x29, xzr",
            "mov x0, x21",
            "blr x20",
            "mov x0, xzr",
            "mov x8, {exit}",
            "svc 0",
            "brk 1",
            "2:",
            exit = const EXIT,
            in("x8") CLONE,
            inlateout("x0") flags => result,
            in("x1") top,
            in("x2") 0usize,
            in("x3") 0usize,
            in("x4") 0usize,
            in("x20") body,
            in("x21") argument,
            lateout("x30") _,
        );
    }
    result
}

/// Runs `body` on another stack.
///
/// # Safety
///
/// Nobody else uses that stack, and signals are blocked.
pub unsafe fn on_stack<T>(stack: &mut [u8], body: impl FnOnce() -> T) -> T {
    struct Work<F, T> {
        body: Option<F>,
        result: Option<T>,
    }
    unsafe extern "C" fn run<F: FnOnce() -> T, T>(work: *mut c_void) {
        // SAFETY: it is what is given below, which waits.
        let work = unsafe { &mut *work.cast::<Work<F, T>>() };
        work.result = work.body.take().map(|body| body());
    }
    fn runner<F: FnOnce() -> T, T>(_: &Work<F, T>) -> unsafe extern "C" fn(*mut c_void) {
        run::<F, T>
    }
    let mut work = Work { body: Some(body), result: None };
    let runner = runner(&work);
    let top = stack.as_mut_ptr_range().end.addr() & !15;
    // SAFETY: the stack is large enough and nobody else's; the stack pointer is put back, and everything that
    // a function may change is told.
    unsafe {
        #[cfg(target_arch = "x86_64")]
        core::arch::asm!(
            "mov r12, rsp",
            "mov rsp, {top}",
            "call {runner}",
            "mov rsp, r12",
            top = in(reg) top,
            runner = in(reg) runner,
            out("r12") _,
            inout("rdi") &raw mut work => _,
            clobber_abi("C"),
        );
        #[cfg(target_arch = "aarch64")]
        core::arch::asm!(
            "mov x20, sp",
            "mov sp, {top}",
            "blr {runner}",
            "mov sp, x20",
            top = in(reg) top,
            runner = in(reg) runner,
            out("x20") _,
            inout("x0") &raw mut work => _,
            clobber_abi("C"),
        );
        #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
        {
            let _ = top;
            runner((&raw mut work).cast());
        }
    }
    match work.result {
        Some(result) => result,
        // It has run, or nothing would have come back.
        // SAFETY: as above.
        None => unsafe { core::hint::unreachable_unchecked() },
    }
}
