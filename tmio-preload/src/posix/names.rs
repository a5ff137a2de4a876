//! Which files are recorded, and under which names.
//!
//! A name that was seen before is found by its hash, without a system call. A new one, or a descriptor of
//! which no name is known, is looked at once: is it a regular file, on a real file system, and not left out?

use super::descriptors::Entry;
use super::recording::{self, with_lock};
use std::borrow::Cow;
use std::ffi::{CStr, c_char, c_int};
use std::mem::MaybeUninit;
use std::ptr::null_mut;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64};
use tmio_api::process;

/// Files with names of their own; all others are one.
const MOST: usize = 1 << 16;
const OTHERS: u32 = MOST as u32 - 1;

/// A file that is recorded.
struct Name {
    text: AtomicPtr<Box<str>>,
    /// Its number in the trace, and in the upper half for which [generation](recording::generation).
    number: AtomicU64,
}

static NAMES: [Name; MOST] =
    [const { Name { text: AtomicPtr::new(null_mut()), number: AtomicU64::new(0) } }; MOST];
static COUNT: AtomicU32 = AtomicU32::new(0);

/// What names stand for, by their hashes.
struct Known {
    hash: AtomicU64,
    /// 0: nothing; 1: it is left out; from 2 on: the file of that number less two.
    meaning: AtomicU64,
}

const KNOWN: usize = 1 << 17;
static TABLE: [Known; KNOWN] =
    [const { Known { hash: AtomicU64::new(0), meaning: AtomicU64::new(0) } }; KNOWN];

/// How often the current directory has changed: relative names mean something else then.
static DIRECTORY: AtomicU64 = AtomicU64::new(0);

pub(super) fn directory_changes() {
    DIRECTORY.fetch_add(1, Relaxed);
}

/// Eight bytes at a time: every open of a file hashes its name.
fn hash(seed: u64, bytes: &[u8]) -> u64 {
    const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
    let mix = |hash: u64, word: u64| {
        let product = (hash ^ word).wrapping_mul(ODD);
        product ^ (product >> 32)
    };
    let (words, rest) = bytes.as_chunks::<8>();
    let start = mix(seed.wrapping_add(bytes.len() as u64), 0xcbf2_9ce4_8422_2325);
    let hash = words.iter().fold(start, |hash, word| mix(hash, u64::from_le_bytes(*word)));
    let last = rest.iter().fold(0, |last, &byte| last << 8 | u64::from(byte));
    mix(mix(hash, last), ODD).max(1)
}

/// As many places are tried.
const TRIES: usize = 16;

fn places(hash: u64) -> impl Iterator<Item = &'static Known> {
    (0..TRIES).filter_map(move |step| TABLE.get((hash as usize).wrapping_add(step) % KNOWN))
}

fn find(hash: u64) -> Option<Entry> {
    let known = places(hash).find(|known| known.hash.load(Acquire) == hash)?;
    match known.meaning.load(Acquire) {
        0 => None,
        1 => Some(Entry::Ignored),
        number => Some(Entry::File((number - 2) as u32)),
    }
}

/// The lock is held.
fn remember(hash: u64, entry: Entry) {
    let meaning = match entry {
        Entry::File(number) => u64::from(number) + 2,
        _ => 1,
    };
    if let Some(known) =
        places(hash).find(|known| matches!(known.hash.load(Relaxed), 0) || known.hash.load(Relaxed) == hash)
    {
        known.meaning.store(meaning, Release);
        known.hash.store(hash, Release);
    }
}

/// What a descriptor is that was just opened by this name, if that is known already.
///
/// # Safety
///
/// The name is a string.
pub(super) unsafe fn known(name: *const c_char) -> Option<Entry> {
    // SAFETY: as the caller promises.
    find(hash_of(unsafe { CStr::from_ptr(name) }.to_bytes()))
}

fn hash_of(name: &[u8]) -> u64 {
    let seed = if name.first() == Some(&b'/') { 0 } else { DIRECTORY.load(Relaxed) + 1 };
    hash(seed, name)
}

/// What a descriptor is that was just opened by this name, which is not known yet.
///
/// # Safety
///
/// The name is a string.
#[cold]
pub(super) unsafe fn opened(descriptor: c_int, name: *const c_char) -> Entry {
    // SAFETY: as the caller promises.
    let name = unsafe { CStr::from_ptr(name) }.to_bytes();
    let hash = hash_of(name);
    let Some(path) = absolute(name) else { return Entry::Ignored };
    if recording::leaves_out(&path) {
        with_lock(|| remember(hash, Entry::Ignored));
        return Entry::Ignored;
    }
    if !is_real_file(descriptor) {
        return Entry::Ignored;
    }
    let entry = intern(&path);
    with_lock(|| remember(hash, entry));
    entry
}

/// What a descriptor is of which nothing is known.
#[cold]
pub(super) fn look(descriptor: c_int) -> Entry {
    if !is_real_file(descriptor) {
        return Entry::Ignored;
    }
    match path_of(descriptor) {
        Some(path) if !path.starts_with("/memfd:") && !recording::leaves_out(&path) => {
            intern(&without_number(path))
        }
        _ => Entry::Ignored,
    }
}

/// Files that never had a name (`O_TMPFILE`) are numbered by the kernel: all of a directory become one.
fn without_number(path: String) -> String {
    let is_numbered = |name: &str| {
        name.strip_prefix('#')
            .and_then(|rest| rest.strip_suffix(" (deleted)"))
            .is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
    };
    match path.rsplit_once('/') {
        Some((directory, name)) if is_numbered(name) => format!("{directory}/(temporary)"),
        _ => path,
    }
}

fn intern(path: &str) -> Entry {
    let hash = hash(0, path.as_bytes());
    with_lock(|| {
        if let Some(entry) = find(hash) {
            return entry;
        }
        let number = COUNT.load(Relaxed).min(OTHERS);
        let text = if number == OTHERS { "(other files)" } else { path };
        let Some(name) = NAMES.get(number as usize) else { return Entry::Ignored };
        if name.text.load(Relaxed).is_null() {
            name.text.store(Box::into_raw(Box::new(text.into())), Release);
            COUNT.fetch_add(1, Relaxed);
        }
        let entry = Entry::File(number);
        remember(hash, entry);
        entry
    })
    .unwrap_or(Entry::Unknown)
}

/// The number of a file in the trace. `None`: nobody is there to record it.
#[inline(always)]
pub(super) fn number(file: u32) -> Option<u32> {
    let name = NAMES.get(file as usize)?;
    let (number, generation) = (name.number.load(Acquire), recording::generation());
    if number >> 32 == u64::from(generation) && number as u32 != 0 {
        return Some(number as u32);
    }
    announce(name, generation)
}

#[cold]
fn announce(name: &Name, generation: u32) -> Option<u32> {
    // SAFETY: null, or a text that is never freed.
    let text = unsafe { name.text.load(Acquire).as_ref() }?;
    let number = process::file_number(text);
    if number == 0 {
        return None;
    }
    name.number.store(u64::from(generation) << 32 | u64::from(number), Release);
    Some(number)
}

/// A path as the program would give it from the root: dots and links stay.
fn absolute(name: &[u8]) -> Option<Cow<'_, str>> {
    if name.first() == Some(&b'/') {
        return Some(String::from_utf8_lossy(name));
    }
    let mut buffer = [0u8; 4096];
    // SAFETY: the buffer is writable for its whole length.
    let here = unsafe { libc::getcwd(buffer.as_mut_ptr().cast(), buffer.len()) };
    if here.is_null() {
        return None;
    }
    let here = CStr::from_bytes_until_nul(&buffer).ok()?.to_string_lossy();
    let name = String::from_utf8_lossy(name);
    let name = name.strip_prefix("./").unwrap_or(&name);
    Some(Cow::Owned(format!("{}/{name}", here.trim_end_matches('/'))))
}

fn path_of(descriptor: c_int) -> Option<String> {
    let link = format!("/proc/self/fd/{descriptor}\0");
    let mut buffer = [0u8; 4096];
    // SAFETY: the link's name ends with a zero, and the buffer is writable for its whole length.
    let length = unsafe { libc::readlink(link.as_ptr().cast(), buffer.as_mut_ptr().cast(), buffer.len()) };
    let bytes = buffer.get(..usize::try_from(length).ok()?)?;
    (bytes.first() == Some(&b'/')).then(|| String::from_utf8_lossy(bytes).into_owned())
}

/// File systems whose files are no data: what the kernel tells, and memory that only looks like files.
const NOT_REAL: [libc::__fsword_t; 17] = [
    0x9fa0,      // proc
    0x6265_6572, // sysfs
    0x6462_6720, // debugfs
    0x7472_6163, // tracefs
    0x1cd1,      // devpts
    0x0027_e0eb, // cgroup
    0x6367_7270, // cgroup2
    0xcafe_4a11, // bpf
    0x6e73_6673, // nsfs
    0x1980_0202, // mqueue
    0x7363_6673, // securityfs
    0x4249_4e4d, // binfmt_misc
    0x6573_5543, // fusectl
    0x8584_58f6, // ramfs
    0x0904_1934, // anonymous inodes
    0x5049_5045, // pipes
    0x534f_434b, // sockets
];

fn is_real_file(descriptor: c_int) -> bool {
    let mut stat = MaybeUninit::<libc::stat>::zeroed();
    let mut system = MaybeUninit::<libc::statfs>::zeroed();
    // SAFETY: both places are valid, and all zeros are values of these types.
    unsafe {
        libc::fstat(descriptor, stat.as_mut_ptr()) == 0
            && stat.assume_init().st_mode & libc::S_IFMT == libc::S_IFREG
            && (libc::fstatfs(descriptor, system.as_mut_ptr()) != 0
                || !NOT_REAL.contains(&system.assume_init().f_type))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_without_a_name_are_one() {
        let told = |path: &str| without_number(path.to_owned());
        assert_eq!(told("/a/#123 (deleted)"), "/a/(temporary)");
        for path in ["/a/#123", "/a/b (deleted)", "/a/# (deleted)", "/a/#1x (deleted)", "x"] {
            assert_eq!(told(path), path);
        }
    }
}
