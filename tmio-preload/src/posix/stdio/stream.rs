//! The C library's streams, as far as their buffers are concerned.

use super::super::recording::{self, file_of};
use std::ffi::{c_int, c_void};
use std::mem::offset_of;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering::Acquire, Ordering::Release};
use tmio_api::thread::{self, ThreadState};
use tmio_api::{clock, process::Call};
use tmio_trace::Direction::{self, Read, Write};
use tmio_trace::TraceLayer;

/// `FILE`. Its fields have had these places since glibc 2.1, and are public.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct Stream {
    flags: c_int,
    read_ptr: *mut u8,
    read_end: *mut u8,
    read_base: *mut u8,
    write_base: *mut u8,
    write_ptr: *mut u8,
    write_end: *mut u8,
    buffer: *mut u8,
    buffer_end: *mut u8,
    save_base: *mut u8,
    backup_base: *mut u8,
    save_end: *mut u8,
    markers: *mut c_void,
    chain: *mut Stream,
    descriptor: c_int,
    flags2: c_int,
    old_offset: i64,
    column: u16,
    vtable_offset: i8,
    short_buffer: [u8; 1],
    lock: *mut c_void,
    offset: i64,
    codecvt: *mut c_void,
    wide: *const Wide,
    _rest: [*mut c_void; 3],
    mode: c_int,
}

/// The buffer of characters that a stream of wide ones has besides.
#[repr(C)]
#[derive(Debug)]
pub(super) struct Wide {
    pub(super) read_ptr: *const u32,
    pub(super) read_end: *const u32,
    _read_base: *const u32,
    pub(super) write_base: *const u32,
    pub(super) write_ptr: *const u32,
    pub(super) write_end: *const u32,
}

const _: () = {
    assert!(offset_of!(Stream, descriptor) == 112);
    assert!(offset_of!(Stream, offset) == 144);
    assert!(offset_of!(Stream, wide) == 160);
    assert!(offset_of!(Stream, mode) == 192);
};

/// The stream reads what was pushed back to it; what it has of the file is kept elsewhere meanwhile.
const IN_BACKUP: c_int = 0x100;
/// A call has failed to read or write.
const HAS_FAILED: c_int = 0x20;
/// Everything is written at the end of the file, wherever that is.
const APPENDS: c_int = 0x1000;

/// A buffer at one moment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Look {
    /// Bytes that wait to be written.
    pub(super) pending: i64,
    /// Bytes that were read and not asked for yet.
    pub(super) available: i64,
    read_ptr: usize,
    read_base: usize,
    read_end: usize,
    offset: i64,
    has_failed: bool,
}

impl Look {
    /// # Safety
    ///
    /// It is a stream.
    #[inline(always)]
    pub(super) unsafe fn at(stream: *const Stream) -> Self {
        // SAFETY: as the caller promises. Another thread may change the stream, so that the compiler may not
        // assume anything about it.
        macro_rules! field {
            ($name:ident) => {
                // SAFETY: as above.
                unsafe { (&raw const (*stream).$name).read_volatile() }.addr()
            };
        }
        let distance = |from: usize, to: usize| to as i64 - from as i64;
        let (read_ptr, read_base, read_end) = (field!(read_ptr), field!(read_base), field!(read_end));
        // SAFETY: as above.
        let (flags, offset) = unsafe { ((*stream).flags, (&raw const (*stream).offset).read_volatile()) };
        let pushed_back =
            if flags & IN_BACKUP != 0 { distance(field!(save_base), field!(save_end)) } else { 0 };
        Self {
            pending: distance(field!(write_base), field!(write_ptr)).max(0),
            available: distance(read_ptr, read_end).max(0) + pushed_back,
            read_ptr,
            read_base,
            read_end,
            offset,
            has_failed: flags & HAS_FAILED != 0,
        }
    }

    /// Whether a call could not write what it had to, by what it returned and by what the stream says. What
    /// had waited in the buffer is lost then, and nobody knows how much of it was written.
    pub(super) fn failed(&self, before: &Look, result_says_so: bool) -> bool {
        self.has_failed && (!before.has_failed || result_says_so)
    }

    /// Bytes that were read to fill the buffer once, if it was filled since `before`.
    pub(super) fn refilled(&self, before: &Look) -> i64 {
        let same = self.read_end == before.read_end
            && self.read_base == before.read_base
            && self.read_ptr >= before.read_ptr;
        if same { 0 } else { self.read_end as i64 - self.read_base as i64 }
    }

    /// Bytes that were read because the position was changed.
    pub(super) fn read_by_seek(&self, before: &Look) -> i64 {
        if self.offset == before.offset { 0 } else { (self.read_end as i64 - self.read_base as i64).max(0) }
    }
}

impl Stream {
    /// The buffer of a stream of wide characters.
    pub(super) fn wide(&self) -> Option<&Wide> {
        // SAFETY: a stream that is one of wide characters has such a buffer as long as it is open.
        if self.mode > 0 { unsafe { self.wide.as_ref() } } else { None }
    }

    /// It is one of bytes: calls for wide characters fail.
    pub(super) fn is_narrow(&self) -> bool {
        self.mode < 0
    }

    pub(super) fn appends(&self) -> bool {
        self.flags & APPENDS != 0
    }

    /// Bytes in its buffer for bytes that were read.
    pub(super) fn filled(&self) -> i64 {
        (self.read_end.addr() as i64 - self.read_base.addr() as i64).max(0)
    }

    pub(super) fn number(&self) -> c_int {
        self.descriptor
    }
}

/// The descriptor of a stream; −1: it has none, or is one of wide characters, which has other buffers
/// ([`wide`](super::wide)).
///
/// # Safety
///
/// It is null or a stream.
#[inline(always)]
pub(super) unsafe fn descriptor(stream: *const Stream) -> c_int {
    if stream.is_null() {
        return -1;
    }
    // SAFETY: as the caller promises.
    unsafe { if (&raw const (*stream).mode).read_volatile() > 0 { -1 } else { (*stream).descriptor } }
}

/// Bytes that wait to be written.
///
/// # Safety
///
/// It is a stream.
pub(super) unsafe fn pending(stream: *const Stream) -> i64 {
    // SAFETY: as the caller promises.
    unsafe { Look::at(stream) }.pending
}

/// What a call did: bytes that were read and written.
pub(super) type Moved = (i64, i64);

/// Runs a call on a stream, and records what it has moved, which `moved` says by its result and the buffer
/// before and after.
///
/// # Safety
///
/// It is the stream of the call.
#[inline(always)]
pub(super) unsafe fn on<R>(
    stream: *mut Stream,
    locks: bool,
    call: impl FnOnce() -> R,
    moved: impl FnOnce(&R, &Look, &Look) -> Moved,
) -> R {
    if !recording::is_on() {
        return call();
    }
    thread::with(|thread| {
        // SAFETY: as the caller promises.
        let number = unsafe { descriptor(stream) };
        if number < 0 {
            return call();
        }
        let Some(file) = file_of(thread, number, TraceLayer::Stdio) else { return call() };
        // Other threads may not use the stream between the two looks.
        let lock = locks.then(|| Lock::of(stream));
        // SAFETY: as the caller promises.
        let before = unsafe { Look::at(stream) };
        let start = clock::now();
        let result = call();
        // SAFETY: as the caller promises: the stream is there until it is closed, which is not done by this.
        let after = unsafe { Look::at(stream) };
        drop(lock);
        let (read, written) = moved(&result, &before, &after);
        if read > 0 || written > 0 {
            let end = clock::now();
            record(thread, file, Write, written, start, end);
            record(thread, file, Read, read, start, end);
        }
        result
    })
}

/// Records bytes that went to or came from the system.
pub(super) fn record(
    thread: &ThreadState,
    file: u32,
    direction: Direction,
    bytes: i64,
    start: u64,
    end: u64,
) {
    if bytes > 0 {
        let call: Call = recording::data(TraceLayer::Stdio, direction, None, bytes, start, end);
        recording::record(thread, file, &call);
    }
}

unsafe extern "C" {
    fn flockfile(stream: *mut Stream);
    fn funlockfile(stream: *mut Stream);
}

/// The stream is this thread's while it lasts.
pub(super) struct Lock(*mut Stream);

impl Lock {
    #[inline(always)]
    pub(super) fn of(stream: *mut Stream) -> Self {
        if is_alone() {
            return Self(null_mut());
        }
        // SAFETY: it is a stream; the lock may be taken several times by a thread.
        unsafe { flockfile(stream) };
        Self(stream)
    }
}

impl Drop for Lock {
    #[inline(always)]
    fn drop(&mut self) {
        if !self.0.is_null() {
            // SAFETY: taken above.
            unsafe { funlockfile(self.0) };
        }
    }
}

/// Whether the process has one thread, as far as the C library knows (from glibc 2.32 on).
#[inline(always)]
fn is_alone() -> bool {
    static FLAG: AtomicPtr<i8> = AtomicPtr::new(null_mut());
    static NEVER: i8 = 0;
    let mut flag = FLAG.load(Acquire);
    if flag.is_null() {
        // SAFETY: the call only looks a name up.
        flag = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"__libc_single_threaded".as_ptr()) }.cast();
        if flag.is_null() {
            flag = (&raw const NEVER).cast_mut();
        }
        FLAG.store(flag, Release);
    }
    // SAFETY: a byte of the C library's, or ours.
    unsafe { flag.read_volatile() != 0 }
}

/// Shows every stream of the process that has a descriptor.
pub(super) fn each(visit: &mut dyn FnMut(*mut Stream)) {
    // SAFETY: the names stand for these things in the C library; the list is that of all open streams, and is
    // held still meanwhile.
    unsafe {
        let find = |name: &std::ffi::CStr| libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr());
        let list = find(c"_IO_list_all").cast::<*mut Stream>();
        let (lock, unlock) = (find(c"_IO_list_lock"), find(c"_IO_list_unlock"));
        if list.is_null() || (!is_alone() && (lock.is_null() || unlock.is_null())) {
            return;
        }
        let held = !is_alone();
        if held {
            std::mem::transmute::<*mut c_void, unsafe extern "C" fn()>(lock)();
        }
        let mut stream = *list;
        for _ in 0..100_000 {
            if stream.is_null() {
                break;
            }
            if (*stream).descriptor >= 0 {
                visit(stream);
            }
            stream = (*stream).chain;
        }
        if held {
            std::mem::transmute::<*mut c_void, unsafe extern "C" fn()>(unlock)();
        }
    }
}
