//! Which files are recorded, and under which names.
//!
//! A name that was seen before is found by its hash. A new one gets a number, and its text goes to the spool
//! as a record. Nothing here takes a lock: a thread that finds another one at the same name, or has
//! interrupted it, gives the file a second number, and whoever reads the spool finds the same name under
//! both.
//!
//! What a descriptor is, is asked of the kernel each time one is opened: a name that was a file may be a pipe
//! by now.

use crate::descriptors::{self, Entry};
use crate::page::{self, is_mpis};
use crate::text::Text;
use crate::thread::ThreadState;
use crate::{known, recording, settings, sys};
use core::cell::UnsafeCell;
use core::ffi::{CStr, c_char};
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use core::sync::atomic::{AtomicU8, AtomicU32, AtomicU64};
use tmio_spool::{cell, layout};

/// How many files have a number.
static FILES: AtomicU32 = AtomicU32::new(0);

/// How often the current directory has changed: relative names mean something else then.
static DIRECTORY: AtomicU64 = AtomicU64::new(0);

pub(crate) fn directory_changes() {
    DIRECTORY.fetch_add(1, Relaxed);
}

/// The C library changes it where nobody sees it, or threads have directories of their own.
static WANDERS: AtomicU8 = AtomicU8::new(0);

/// From here on only the kernel knows what a relative name means.
pub(crate) fn directory_wanders() {
    WANDERS.store(1, Relaxed);
}

/// In the child of a fork: its spool knows no names.
pub(crate) fn forget_all() {
    known::forget_all();
    FILES.store(0, Relaxed);
    POOL.iter().for_each(|buffer| buffer.in_use.store(0, Relaxed));
    directory_changes();
}

/// Eight bytes at a time: every open of a file hashes its name.
fn hash(seed: u64, bytes: &[u8]) -> u64 {
    const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
    let mix = |hash: u64, word: u64| {
        let product = u128::from(hash ^ word).wrapping_mul(u128::from(ODD));
        (product as u64) ^ ((product >> 64) as u64)
    };
    let (words, rest) = bytes.as_chunks::<8>();
    let start = mix(seed.wrapping_add(bytes.len() as u64), 0xcbf2_9ce4_8422_2325);
    let hash = words.iter().fold(start, |hash, word| mix(hash, u64::from_le_bytes(*word)).wrapping_add(ODD));
    let last = rest.iter().fold(0, |last, &byte| last << 8 | u64::from(byte));
    mix(mix(hash, last), ODD)
}

/// Memory in which a path is put together, lent to one thread at a time.
struct Buffer {
    in_use: AtomicU8,
    bytes: UnsafeCell<[u8; BUFFER_BYTES]>,
}

const BUFFER_BYTES: usize = 8 << 10;

// SAFETY: the bytes are used by whoever has set `in_use`.
unsafe impl Sync for Buffer {}

#[cfg_attr(tmio_object, unsafe(link_section = ".bss.tmio_large"))]
static POOL: [Buffer; 8] =
    [const { Buffer { in_use: AtomicU8::new(0), bytes: UnsafeCell::new([0; BUFFER_BYTES]) } }; 8];

/// Runs `body` with memory of its own. `None`: there is none.
fn with_buffer<T>(body: impl FnOnce(&mut [u8]) -> T) -> Option<T> {
    let is_free = |buffer: &&Buffer| buffer.in_use.compare_exchange(0, 1, Acquire, Relaxed).is_ok();
    let Some(buffer) = POOL.iter().find(is_free) else { return with_new_buffer(body) };
    // SAFETY: this thread has set the mark.
    let result = body(unsafe { &mut *buffer.bytes.get() });
    buffer.in_use.store(0, Release);
    Some(result)
}

/// Where all buffers are in use, or handlers of signals have jumped out of calls that used them, which nobody
/// can tell. Nothing jumps out of this one.
#[cold]
#[inline(never)]
fn with_new_buffer<T>(body: impl FnOnce(&mut [u8]) -> T) -> Option<T> {
    sys::without_signals(|| {
        let bytes = sys::map(BUFFER_BYTES, sys::MAP_PRIVATE | sys::MAP_ANONYMOUS, -1, 0).ok()?;
        // SAFETY: memory of this length that nobody else knows of.
        let result = body(unsafe { core::slice::from_raw_parts_mut(bytes.cast(), BUFFER_BYTES) });
        // SAFETY: as above; what `body` returns does not borrow it.
        unsafe { sys::unmap(bytes, BUFFER_BYTES) };
        Some(result)
    })
}

/// What a descriptor is that was just opened by this name.
///
/// # Safety
///
/// The name is a string.
pub(crate) unsafe fn opened(thread: &ThreadState, descriptor: i32, name: *const c_char) -> (Entry, u32) {
    // SAFETY: as the caller promises.
    let name = unsafe { CStr::from_ptr(name) }.to_bytes();
    let is_absolute = name.first() == Some(&b'/');
    // What such a name means, only the kernel knows.
    if is_alias(name) || name.is_empty() || !is_absolute && WANDERS.load(Relaxed) != 0 {
        return look(thread, descriptor);
    }
    let seed = if is_absolute { 0 } else { DIRECTORY.load(Relaxed) + 1 };
    let hash = hash(seed, name);
    // Where it may be is fetched while the kernel is asked what it is.
    known::fetch(hash);
    of_regular(thread, descriptor, |thread| {
        if is_absolute {
            return known(hash).unwrap_or_else(|| new(thread, hash, name));
        }
        named(thread, hash, |memory| {
            // The current directory may be gone, or its path too long.
            absolute(name, memory).or_else(|| path_of(descriptor, memory)).or_else(|| as_given(name, memory))
        })
    })
}

/// Whether only the kernel knows what such a name means: `/dev/stdout`, but not `/dev/shm/x`.
fn is_alias(name: &[u8]) -> bool {
    name.strip_prefix(b"/dev/").is_some_and(|name| name.starts_with(b"fd/") || !name.contains(&b'/'))
        || name.starts_with(b"/proc/")
}

/// What a descriptor is of which nothing is known but the kernel's name for it.
pub(crate) fn look(thread: &ThreadState, descriptor: i32) -> (Entry, u32) {
    of_regular(thread, descriptor, |thread| {
        let mut found = None;
        let done = with_buffer(|memory| {
            let length = path_of(descriptor, memory)?;
            let path = memory.get(..length)?;
            if path.starts_with(b"/memfd:") || path.first() != Some(&b'/') {
                return None;
            }
            let length = without_number(memory, length);
            let path = memory.get(..length)?;
            let hash = hash(0, path);
            found = Some(known(hash).unwrap_or_else(|| new(thread, hash, path)));
            found
        });
        done.map_or(Entry::Unknown, |found| found.unwrap_or(Entry::Ignored))
    })
}

/// A regular file on a real file system is what `look` says it is; everything else is ignored.
fn of_regular(
    thread: &ThreadState,
    descriptor: i32,
    look: impl FnOnce(&ThreadState) -> Entry,
) -> (Entry, u32) {
    let Ok(about) = sys::fstat(descriptor) else { return (Entry::Unknown, 0) };
    let identity = descriptors::identity(&about);
    if is_mpis(thread) {
        return (Entry::Mpi, identity);
    }
    let is_data = about.mode & sys::S_IFMT == sys::S_IFREG && is_real(descriptor, about.device);
    if !is_data {
        return (Entry::Ignored, identity);
    }
    (look(thread), identity)
}

/// The file of a name with this hash; `path` puts the name together if it is new.
fn named(thread: &ThreadState, hash: u64, path: impl FnOnce(&mut [u8]) -> Option<usize>) -> Entry {
    if let Some(entry) = known(hash) {
        return entry;
    }
    let entry = with_buffer(|memory| {
        let length = path(memory)?;
        Some(new(thread, hash, memory.get(..length)?))
    });
    entry.map_or(Entry::Unknown, |entry| entry.unwrap_or(Entry::Ignored))
}

/// The number of names that are left out.
const LEFT_OUT: u32 = 0;

/// What is known of the name with this hash.
fn known(hash: u64) -> Option<Entry> {
    known::find(hash).map(|number| if number == LEFT_OUT { Entry::Ignored } else { Entry::File(number) })
}

/// The file of a name that was not seen before.
fn new(thread: &ThreadState, hash: u64, path: &[u8]) -> Entry {
    if settings::leaves_out(path) {
        known::learn(hash, LEFT_OUT);
        return Entry::Ignored;
    }
    // The name goes to the spool with its number.
    if !recording::is_recording() {
        return Entry::Unknown;
    }
    let number = new_number_below(thread, path);
    known::learn(hash, number);
    Entry::File(number)
}

/// Files beyond this number are one.
const OTHERS: u32 = descriptors::MOST_FILES - 1;

/// Gives a name its number, and tells the spool.
fn new_number(thread: &ThreadState, path: &[u8]) -> u32 {
    let number = FILES.fetch_update(Relaxed, Relaxed, |files| (files < OTHERS).then_some(files + 1));
    let (number, path) = match number {
        Ok(before) => (before + 1, path),
        Err(_) => (OTHERS, &b"(other files)"[..]),
    };
    recording::store_text(thread, number, cell::NAME, 0, path);
    number
}

/// The number of a file that the layers below MPI-IO have opened.
fn new_number_below(thread: &ThreadState, path: &[u8]) -> u32 {
    if let Some(flags) = page::head_word(layout::FLAGS)
        && flags.load(Relaxed) & layout::FLAG_LAYERS == 0
    {
        flags.fetch_or(layout::FLAG_LAYERS, Relaxed);
    }
    new_number(thread, path)
}

/// The number of a file that MPI has opened by this name.
pub(crate) fn number_of(thread: &ThreadState, path: &[u8]) -> u32 {
    // Another seed: whether a name is left out is decided elsewhere.
    let hash = hash(u64::MAX, path);
    if let Some(number) = known::find(hash) {
        return number;
    }
    let number = new_number(thread, path);
    known::learn(hash, number);
    number
}

/// A relative path as the program would give it from the root: dots and links stay. Returns its length.
fn absolute(name: &[u8], memory: &mut [u8]) -> Option<usize> {
    let here = sys::current_directory(memory).ok()?.checked_sub(1)?;
    let here = if here == 1 { 0 } else { here };
    let name = name.strip_prefix(b"./").unwrap_or(name);
    *memory.get_mut(here)? = b'/';
    memory.get_mut(here + 1..here + 1 + name.len())?.copy_from_slice(name);
    Some(here + 1 + name.len())
}

fn as_given(name: &[u8], memory: &mut [u8]) -> Option<usize> {
    memory.get_mut(..name.len())?.copy_from_slice(name);
    Some(name.len())
}

fn path_of(descriptor: i32, memory: &mut [u8]) -> Option<usize> {
    let mut link = [0u8; 40];
    let mut link = Text::new(&mut link);
    // Threads may have descriptors of their own.
    link.push(b"/proc/thread-self/fd/").push_number(u64::from(descriptor as u32));
    sys::read_link(link.as_path()?, memory).ok()
}

/// Files that never had a name (`O_TMPFILE`) are numbered by the kernel: all of a directory become one.
/// Returns the length of the path.
fn without_number(memory: &mut [u8], length: usize) -> usize {
    const INSTEAD: &[u8] = b"(temporary)";
    let path = memory.get(..length).unwrap_or_default();
    let begin = path.iter().rposition(|&byte| byte == b'/').map_or(0, |slash| slash + 1);
    let name = path.get(begin..).unwrap_or_default();
    let number = name.strip_prefix(b"#").and_then(|rest| rest.strip_suffix(b" (deleted)"));
    if !number.is_some_and(|digits| !digits.is_empty() && digits.iter().all(u8::is_ascii_digit)) {
        return length;
    }
    match memory.get_mut(begin..begin + INSTEAD.len()) {
        Some(place) => {
            place.copy_from_slice(INSTEAD);
            begin + INSTEAD.len()
        }
        None => length,
    }
}

/// Whether a device holds files that are data. What the kernel shows as files is none, nor is memory that
/// only looks like files.
fn is_real(descriptor: i32, device: u64) -> bool {
    /// Devices that were looked at: their number and one more, doubled, and whether they are real.
    static DEVICES: [AtomicU64; 16] = [const { AtomicU64::new(0) }; 16];
    let key = device.wrapping_add(1) << 1;
    let known = DEVICES.iter().map(|place| place.load(Relaxed)).find(|word| word & !1 == key);
    if let Some(word) = known {
        return word & 1 != 0;
    }
    let Ok(kind) = sys::file_system(descriptor) else { return true };
    // In hexadecimal, with zeros in front: one text needs nothing filled in when the object is loaded.
    const NOT_REAL: &[u8] =
        b"00009fa0 62656572 64626720 74726163 00001cd1 0027e0eb 63677270 cafe4a11 6e736673 \
19800202 73636673 42494e4d 65735543 09041934 50495045 534f434b";
    let listed = NOT_REAL.split(|&byte| byte == b' ').any(|word| crate::text::hex(word) == Some(kind));
    let is_noted =
        |place: &AtomicU64| place.compare_exchange(0, key | u64::from(!listed), Relaxed, Relaxed).is_ok();
    // If all places are taken, this device is looked at again.
    let _ = DEVICES.iter().any(is_noted);
    !listed
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(path: &str) -> std::string::String {
        let mut memory = [0; 64];
        memory[..path.len()].copy_from_slice(path.as_bytes());
        let length = without_number(&mut memory, path.len());
        std::str::from_utf8(&memory[..length]).unwrap().into()
    }

    #[test]
    fn files_without_a_name_are_one() {
        assert_eq!(told("/a/#123 (deleted)"), "/a/(temporary)");
        for path in ["/a/#123", "/a/b (deleted)", "/a/# (deleted)", "/a/#1x (deleted)", "x"] {
            assert_eq!(told(path), path);
        }
    }

    #[test]
    fn a_relative_name_gets_its_directory() {
        let mut memory = [0; 4096];
        let length = absolute(b"./a/b", &mut memory).unwrap();
        let here = std::env::current_dir().unwrap();
        assert_eq!(&memory[..length], here.join("a/b").to_str().unwrap().as_bytes());
    }
}
