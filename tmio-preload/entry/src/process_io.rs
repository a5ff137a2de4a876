//! Bytes that the process has moved, as the kernel counts them.

use crate::page::{self, PAGE, set};
use crate::sys;
use crate::text::Text;
use crate::workshop::{WORKSHOP, with_own_descriptors};
use core::ffi::c_void;
use core::sync::atomic::AtomicU64;
use core::sync::atomic::Ordering::Relaxed;
use tmio_spool::layout;

/// Bytes that the process has moved since the spool was made, as the kernel counts them, go into the head.
pub(crate) fn tell() {
    let Some(head) = page::head() else { return };
    let mut io = ProcessIo::default();
    WORKSHOP.alone(|| with_own_descriptors(read_process_io, (&raw mut io).cast()));
    let now = [io.read, io.written, io.device_read, io.device_written];
    for ((index, now), before) in (layout::IO_READ..).zip(now).zip(&IO_BEFORE) {
        set(head, index, now.saturating_sub(before.load(Relaxed)));
    }
}

/// What the kernel had counted before: a process may have been other programs.
pub(crate) static IO_BEFORE: [AtomicU64; 4] = [const { AtomicU64::new(0) }; 4];

#[derive(Default)]
pub(crate) struct ProcessIo {
    pub(crate) read: u64,
    pub(crate) written: u64,
    pub(crate) device_read: u64,
    pub(crate) device_written: u64,
}

pub(crate) unsafe extern "C" fn read_process_io(io: *mut c_void) -> bool {
    // SAFETY: it is what the callers give; the workshop is held.
    let (io, memory) = unsafe { (&mut *io.cast::<ProcessIo>(), &mut *WORKSHOP.other_path.get()) };
    let mut path = Text::new(memory);
    // Not "self": this may be another process.
    path.push(b"/proc/").push_number(u64::from(PAGE.process.load(Relaxed))).push(b"/io");
    let Some(Ok(file)) = path.as_path().map(|path| sys::open(path, sys::O_RDONLY | sys::O_CLOEXEC, 0)) else {
        return false;
    };
    let length = sys::read(file, memory).unwrap_or(0);
    sys::close(file);
    let text = memory.get(..length).unwrap_or_default();
    let value = |name: &[u8]| {
        let mut lines = text.split(|&byte| byte == b'\n');
        lines.find_map(|line| crate::text::number(line.strip_prefix(name)?.trim_ascii())).unwrap_or(0)
    };
    *io = ProcessIo {
        read: value(b"rchar:"),
        written: value(b"wchar:"),
        device_read: value(b"read_bytes:"),
        device_written: value(b"write_bytes:"),
    };
    true
}
