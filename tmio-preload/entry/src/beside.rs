//! Where the recorder is: beside this object.

use crate::text::{self, Text};
use crate::{load, sys};
use core::ffi::CStr;
use core::sync::atomic::AtomicUsize;
use core::sync::atomic::Ordering::Relaxed;

const FILE: &[u8] = b"libtmio_recorder.so";

/// The directory in which the program was started, if this object was found by a path that is relative to it.
#[cfg_attr(tmio_object, unsafe(link_section = ".bss.tmio_large"))]
static STARTED_IN: Paths = Paths(core::cell::UnsafeCell::new([0; 2 * text::PATH_BYTES]));

static STARTED_IN_LENGTH: AtomicUsize = AtomicUsize::new(0);

/// Takes note of where this object is, before the program can go to another directory.
pub(crate) fn remember_place() {
    let is_relative =
        load::mine().is_some_and(|own| !matches!(own.name().to_bytes().first(), None | Some(b'/')));
    if is_relative {
        // SAFETY: the program has not begun: nobody else is here.
        let length = sys::current_directory(unsafe { &mut *STARTED_IN.0.get() }).unwrap_or(0);
        // With a zero at the end, which becomes a slash.
        STARTED_IN_LENGTH.store(length.saturating_sub(1), Relaxed);
    }
}

/// Shows the paths where the recorder may be: beside this object, or beside what that is a link to. Until one
/// is right.
pub(crate) fn each_path(memory: &mut [u8], mut is_right: impl FnMut(&CStr) -> bool) {
    let Some(own) = load::mine() else { return };
    let (first, second) = memory.split_at_mut(memory.len() / 2);
    let mut path = Text::new(first);
    // SAFETY: it was written before the program began.
    if let Some(directory) = unsafe { &*STARTED_IN.0.get() }.get(..STARTED_IN_LENGTH.load(Relaxed))
        && !directory.is_empty()
    {
        path.push(directory).push(b"/");
    }
    path.push(own.name().to_bytes());
    for _ in 0..8 {
        let slash = path.bytes().iter().rposition(|&byte| byte == b'/').map_or(0, |slash| slash + 1);
        let mut beside = Text::new(second);
        beside.push(path.bytes().get(..slash).unwrap_or_default()).push(FILE);
        if beside.as_path().is_some_and(&mut is_right) {
            return;
        }
        let Some(Ok(length)) = path.as_path().map(|path| sys::read_link(path, second)) else { return };
        let target = second.get(..length).unwrap_or_default();
        path.cut_to(if target.first() == Some(&b'/') { 0 } else { slash });
        path.push(target);
    }
}

/// Whether the recorder is there, and this user may read it. The workshop is held.
pub(crate) fn can_be_read(memory: &mut [u8]) -> bool {
    let mut found = false;
    each_path(memory, |path| {
        found = sys::can_be_read(path);
        found
    });
    found
}

/// Why there is no recorder.
pub(crate) const NOT_BESIDE: &[u8] = b"libtmio_recorder.so is not beside libtmio.so, or cannot be loaded";

pub(crate) struct Paths(pub(crate) core::cell::UnsafeCell<[u8; 2 * text::PATH_BYTES]>);
// SAFETY: used by whoever has set the state, or before the program begins.
unsafe impl Sync for Paths {}

/// Whether an object has all its bytes: one that was cut off would be the end of the program, in the dynamic
/// linker.
pub(crate) fn is_whole(path: &CStr) -> bool {
    let Ok(file) = sys::open(path, sys::O_RDONLY | sys::O_CLOEXEC, 0) else { return false };
    let mut head = [0u8; 64];
    let has_head = sys::read(file, &mut head) == Ok(head.len());
    let length = sys::fstat(file).map_or(0, |about| about.length);
    sys::close(file);
    // The table of sections comes last: where it begins, the size of an entry, and how many there are.
    let number = |at: usize, size: usize| {
        let bytes = head.get(at..at + size).unwrap_or_default();
        bytes.iter().rev().fold(0u64, |number, &byte| number << 8 | u64::from(byte))
    };
    has_head && number(40, 8).saturating_add(number(58, 2) * number(60, 2)) <= length
}
