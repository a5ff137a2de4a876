//! The objects of the process, as the dynamic linker lists them, and their symbols.
//!
//! Names are looked up in the tables of the objects themselves. That takes no lock and no memory, and may
//! happen anywhere: while the process is being loaded, in signal handlers, in a child of `vfork`.

use core::ffi::{CStr, c_char};
use core::ptr::with_exposed_provenance as at;

/// An entry of an object's dynamic section.
#[repr(C)]
#[derive(Debug)]
pub struct Dynamic {
    tag: i64,
    value: usize,
}

/// An object, as the dynamic linker shows it to debuggers (`struct link_map` of link.h).
#[repr(C)]
#[derive(Debug)]
pub struct Object {
    base: usize,
    name: *const c_char,
    dynamic: *const Dynamic,
    next: *const Object,
    previous: *const Object,
}

/// What the dynamic linker tells debuggers (`struct r_debug`).
#[repr(C)]
struct Debug {
    version: i32,
    first: *const Object,
}

#[repr(C)]
struct Symbol {
    name: u32,
    info: u8,
    other: u8,
    section: u16,
    value: usize,
    size: usize,
}

const HASH: i64 = 4;
const STRINGS: i64 = 5;
const SYMBOLS: i64 = 6;
const GNU_HASH: i64 = 0x6fff_fef5;
const VERSIONS: i64 = 0x6fff_fff0;

/// A name, with the hash under which objects list it.
#[derive(Clone, Copy, Debug)]
pub struct Name<'a> {
    bytes: &'a [u8],
    hash: u32,
}

impl<'a> Name<'a> {
    /// A name without its final zero.
    pub fn new(bytes: &'a [u8]) -> Self {
        // The hash of the GNU tables (D. J. Bernstein).
        let hash =
            bytes.iter().fold(5381u32, |hash, &byte| hash.wrapping_mul(33).wrapping_add(u32::from(byte)));
        Self { bytes, hash }
    }

    /// # Safety
    ///
    /// It is a string.
    unsafe fn is(&self, text: *const u8) -> bool {
        // SAFETY: the string has not ended yet where the next byte is looked at: all before were not 0.
        let same = |(index, &byte): (usize, &u8)| unsafe { *text.add(index) } == byte;
        // SAFETY: as above.
        self.bytes.iter().enumerate().all(same) && unsafe { *text.add(self.bytes.len()) } == 0
    }

    /// The hash of the tables of before (System V ABI).
    fn old_hash(&self) -> u32 {
        self.bytes.iter().fold(0u32, |hash, &byte| {
            let hash = (hash << 4).wrapping_add(u32::from(byte));
            let high = hash & 0xf000_0000;
            (hash ^ (high >> 24)) & !high
        })
    }
}

/// What a symbol must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A function that can be called at its address.
    Function,
    /// Anything.
    Any,
}

impl Object {
    /// The object whose file begins at an address.
    ///
    /// # Safety
    ///
    /// An object is mapped there, and its dynamic section at `dynamic`.
    pub const unsafe fn mapped_at(base: usize, dynamic: *const Dynamic) -> Self {
        Self { base, name: c"".as_ptr(), dynamic, next: core::ptr::null(), previous: core::ptr::null() }
    }

    /// Where its first byte is.
    pub fn base(&self) -> usize {
        self.base
    }

    /// The path by which it was found; empty for the program itself.
    pub fn name(&self) -> &CStr {
        // SAFETY: null, or a string that lives as long as the object is loaded.
        if self.name.is_null() { c"" } else { unsafe { CStr::from_ptr(self.name) } }
    }

    /// The one after it.
    pub fn next(&self) -> Option<&'static Object> {
        // SAFETY: null, or an object that is loaded.
        unsafe { self.next.as_ref() }
    }

    /// An address that the dynamic section has: relative to the base, unless the linker has changed it
    /// already.
    fn entry(&self, tag: i64) -> usize {
        let mut entry = self.dynamic;
        // SAFETY: the section ends with a tag of 0.
        unsafe {
            while !entry.is_null() && (*entry).tag != 0 {
                if (*entry).tag == tag {
                    let value = (*entry).value;
                    return if value < self.base { self.base.wrapping_add(value) } else { value };
                }
                entry = entry.add(1);
            }
        }
        0
    }

    /// The address of what the object itself defines under this name, in the version that is the default.
    pub fn find(&self, name: Name<'_>, kind: Kind) -> Option<usize> {
        let (symbols, strings) = (self.entry(SYMBOLS), self.entry(STRINGS));
        if symbols == 0 || strings == 0 {
            return None;
        }
        let versions = self.entry(VERSIONS);
        let meant = |index: usize| {
            // SAFETY: the hash table says that there is a symbol of this index, and its name is a string.
            unsafe {
                let symbol = &*at::<Symbol>(symbols).add(index);
                let is_hidden = versions != 0 && *at::<u16>(versions).add(index) & 0x8000 != 0;
                // Kinds: 0 none, 2 function. 10 is a function that must be called to know it.
                let fits = kind == Kind::Any || matches!(symbol.info & 15, 0 | 2);
                let found = symbol.section != 0
                    && symbol.value != 0
                    && fits
                    && !is_hidden
                    && name.is(at::<u8>(strings).add(symbol.name as usize));
                found.then(|| self.base.wrapping_add(symbol.value))
            }
        };
        match (self.entry(GNU_HASH), self.entry(HASH)) {
            (0, 0) => None,
            // SAFETY: it is such a table.
            (0, table) => unsafe { in_old_table(at(table), name.old_hash(), meant) },
            // SAFETY: it is such a table.
            (table, _) => unsafe { in_table(at(table), name.hash, meant) },
        }
    }

    /// The hash table of our own names: the index of the first symbol in it, how many there are, and the
    /// words for them.
    pub(crate) fn chains(&self) -> Option<(usize, usize, *mut u32)> {
        let table = self.entry(GNU_HASH);
        if table == 0 {
            return None;
        }
        let words = core::ptr::with_exposed_provenance_mut::<u32>(table);
        // SAFETY: a head of four words, a filter of words of eight bytes, the buckets, and then these; the
        // lowest bit of a word says that it is the last one of its bucket.
        unsafe {
            let (buckets, first, filter) = (*words as usize, *words.add(1) as usize, *words.add(2) as usize);
            let bucket = words.add(4 + 2 * filter);
            let chain = bucket.add(buckets);
            let mut last = (0..buckets).map(|index| *bucket.add(index) as usize).fold(0, usize::max);
            if last < first {
                return None;
            }
            while *chain.add(last - first) & 1 == 0 {
                last += 1;
            }
            Some((first, last + 1 - first, chain))
        }
    }

    /// The values of symbols of ours, relative to the base.
    ///
    /// # Safety
    ///
    /// There are symbols of the indices that it is asked for.
    pub(crate) unsafe fn values(&self) -> impl Fn(usize) -> usize {
        let symbols = at::<Symbol>(self.entry(SYMBOLS));
        // SAFETY: as the caller promises.
        move |index| unsafe { (*symbols.add(index)).value }
    }
}

/// # Safety
///
/// It is a hash table of the GNU kind.
unsafe fn in_table(table: *const u32, hash: u32, meant: impl Fn(usize) -> Option<usize>) -> Option<usize> {
    // SAFETY: a head of four words, a filter of words of eight bytes, the buckets, and a word for each symbol
    // from the first one on, whose lowest bit says that it is the last one of its bucket.
    unsafe {
        let (buckets, first, filter, shift) = (*table, *table.add(1), *table.add(2), *table.add(3));
        if buckets == 0 || filter == 0 {
            return None;
        }
        let word = *table.add(4).cast::<u64>().add(((hash / 64) & (filter - 1)) as usize);
        if word >> (hash % 64) & word >> (hash.wrapping_shr(shift) % 64) & 1 == 0 {
            return None;
        }
        let bucket = table.add(4 + 2 * filter as usize);
        let chain = bucket.add(buckets as usize);
        let mut index = *bucket.add((hash % buckets) as usize);
        if index < first {
            return None;
        }
        loop {
            let there = *chain.add((index - first) as usize);
            if there | 1 == hash | 1
                && let Some(found) = meant(index as usize)
            {
                return Some(found);
            }
            if there & 1 != 0 {
                return None;
            }
            index += 1;
        }
    }
}

/// # Safety
///
/// It is a hash table of the System V kind.
unsafe fn in_old_table(
    table: *const u32,
    hash: u32,
    meant: impl Fn(usize) -> Option<usize>,
) -> Option<usize> {
    // SAFETY: the numbers of buckets and of symbols, the buckets, and for each symbol the next one of its
    // bucket.
    unsafe {
        let (buckets, symbols) = (*table, *table.add(1));
        if buckets == 0 {
            return None;
        }
        let mut index = *table.add(2 + (hash % buckets) as usize);
        for _ in 0..symbols {
            if index == 0 {
                return None;
            }
            if let Some(found) = meant(index as usize) {
                return Some(found);
            }
            index = *table.add(2 + buckets as usize + index as usize);
        }
    }
    None
}

/// The dynamic linker itself, by an address of its code. Not by a symbol of its own: the program may have a
/// copy of that, which is still empty while it is loaded.
///
/// # Safety
///
/// The address is one of its code.
pub unsafe fn linker_at(code: usize) -> Option<Object> {
    const PAGE: usize = 4096;
    const PT_DYNAMIC: u32 = 2;
    let mut base = code & !(PAGE - 1);
    // SAFETY: an object is mapped without gaps from its first page, where its header is, to its code.
    unsafe {
        for _ in 0..1024 {
            if *at::<u32>(base) == u32::from_ne_bytes(*b"\x7fELF") {
                break;
            }
            base -= PAGE;
        }
        let header = at::<u8>(base);
        let segments = base + *header.add(32).cast::<usize>();
        let (size, count) =
            (usize::from(*header.add(54).cast::<u16>()), usize::from(*header.add(56).cast::<u16>()));
        for index in 0..count {
            let segment = at::<u8>(segments + index * size);
            if *segment.cast::<u32>() == PT_DYNAMIC {
                let dynamic = at(base + *segment.add(16).cast::<usize>());
                return Some(Object::mapped_at(base, dynamic));
            }
        }
    }
    None
}

/// The list of all objects, which the dynamic linker has under a name of its own.
pub fn list(linker: &Object) -> Option<&'static Object> {
    let debug = linker.find(Name::new(b"_r_debug"), Kind::Any)?;
    // SAFETY: it is what the linker tells debuggers, and the list is complete when the first object is
    // relocated.
    unsafe { (*at::<Debug>(debug)).first.as_ref() }
}

/// Where the kernel has put the arguments of the program: their number, they themselves, a zero, the
/// environment, a zero, and the auxiliary vector.
pub fn stack(linker: &Object) -> Option<*const usize> {
    let place = linker.find(Name::new(b"__libc_stack_end"), Kind::Any)?;
    // SAFETY: a variable of that kind.
    let stack = unsafe { *at::<*const usize>(place) };
    (!stack.is_null()).then_some(stack)
}

impl Object {
    /// The part of the object that is written when it is loaded, and only read afterwards.
    pub(crate) fn read_only_after_load(&self) -> Option<(usize, usize)> {
        const PT_GNU_RELRO: u32 = 0x6474_e552;
        let segments = self.segments()?;
        segments.into_iter().find(|segment| segment.kind == PT_GNU_RELRO).map(|segment| {
            let begin = self.base.wrapping_add(segment.address);
            (begin, begin + segment.length)
        })
    }

    /// What the header of the object's file says about its parts.
    fn segments(&self) -> Option<impl Iterator<Item = Segment> + use<>> {
        let header = at::<u8>(self.base);
        // SAFETY: the object's file is mapped from its beginning on, where its header is.
        unsafe {
            if *header.cast::<u32>() != u32::from_ne_bytes(*b"\x7fELF") {
                return None;
            }
            let first = self.base.wrapping_add(*header.add(32).cast::<usize>());
            let size = usize::from(*header.add(54).cast::<u16>());
            let count = usize::from(*header.add(56).cast::<u16>());
            Some((0..count).map(move |index| {
                let segment = at::<u8>(first + index * size);
                Segment {
                    kind: *segment.cast::<u32>(),
                    address: *segment.add(16).cast::<usize>(),
                    length: *segment.add(40).cast::<usize>(),
                }
            }))
        }
    }
}

/// A part of an object.
struct Segment {
    kind: u32,
    /// Relative to the base.
    address: usize,
    length: usize,
}
