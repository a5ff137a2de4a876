//! Memory of our own, beside the application's.
//!
//! The library takes nothing from the application's `malloc`: that may be replaced, limited, or interrupted
//! by a signal whose handler ends the job, and then calls us while the lock of `malloc` is held. Small
//! pieces come from lists by size, large ones are mappings of their own. When the system gives no more
//! memory, small pieces come from a reserve that is part of the library, so that a message can still be
//! made of what then fails.

use std::alloc::{GlobalAlloc, Layout};
use std::cell::UnsafeCell;
use std::ptr::{NonNull, null_mut};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Acquire, Ordering::Relaxed, Ordering::Release};

#[global_allocator]
static MEMORY: Memory = Memory {
    locked: AtomicBool::new(false),
    lists: UnsafeCell::new(Lists { free: [null_mut(); CLASSES], fresh: null_mut(), left: 0 }),
    reserve_used: AtomicUsize::new(0),
};

/// Sizes of small pieces: powers of two from 16 bytes on.
const CLASSES: usize = 12;
const SMALLEST: usize = 16;
const LARGEST: usize = SMALLEST << (CLASSES - 1);
/// What is asked of the system for small pieces at a time.
const PIECE: usize = 256 << 10;
const PAGE: usize = 4096;

struct Memory {
    locked: AtomicBool,
    lists: UnsafeCell<Lists>,
    reserve_used: AtomicUsize,
}

/// Free pieces by size, each with the address of the next one in its first word, and what was not cut up yet.
struct Lists {
    free: [*mut u8; CLASSES],
    fresh: *mut u8,
    left: usize,
}

#[repr(align(4096))]
struct Reserve(UnsafeCell<[u8; PIECE]>);

static RESERVE: Reserve = Reserve(UnsafeCell::new([0; PIECE]));

// SAFETY: its parts are handed out once each, see `take_of_reserve`.
unsafe impl Sync for Reserve {}
// SAFETY: the lists are only touched by whoever has set `locked`.
unsafe impl Sync for Memory {}

/// Which list a small piece belongs to; `None`: it is large.
fn class(layout: Layout) -> Option<usize> {
    let size = layout.size().max(layout.align()).max(SMALLEST).next_power_of_two();
    (size <= LARGEST).then(|| (size / SMALLEST).trailing_zeros() as usize)
}

/// A large piece: whole pages.
fn pages(size: usize) -> Option<usize> {
    size.checked_next_multiple_of(PAGE)
}

fn map(length: usize) -> *mut u8 {
    const WRITABLE: i32 = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: a new mapping anywhere; nothing existing is touched. The error number is the application's.
    unsafe {
        let errno = *libc::__errno_location();
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        let address = libc::mmap(null_mut(), length, WRITABLE, flags, -1, 0);
        *libc::__errno_location() = errno;
        if address == libc::MAP_FAILED { null_mut() } else { address.cast() }
    }
}

impl Memory {
    /// Does something with the lists. `None`: they are in use, perhaps by what a signal interrupted in this
    /// very thread.
    fn with_lists<T>(&self, body: impl FnOnce(&mut Lists) -> T) -> Option<T> {
        let mut tries = 0;
        while self.locked.compare_exchange_weak(false, true, Acquire, Relaxed).is_err() {
            tries += 1;
            match tries {
                0..100 => std::hint::spin_loop(),
                // SAFETY: the call has no premises.
                100..200 => unsafe { _ = libc::sched_yield() },
                _ => return None,
            }
        }
        // SAFETY: whoever sets `locked` has the lists for itself.
        let result = body(unsafe { &mut *self.lists.get() });
        self.locked.store(false, Release);
        Some(result)
    }

    fn small(&self, class: usize) -> *mut u8 {
        let size = SMALLEST << class;
        let found = self.with_lists(|lists| lists.take(class, size));
        match found {
            Some(Some(piece)) => piece.as_ptr(),
            Some(None) => self.take_of_reserve(size),
            None => match map(PAGE.max(size)) {
                page if page.is_null() => self.take_of_reserve(size),
                page => page,
            },
        }
    }

    fn take_of_reserve(&self, size: usize) -> *mut u8 {
        let used = self.reserve_used.fetch_update(Relaxed, Relaxed, |used| {
            // Sizes are powers of two, so a place that is a multiple of the size is aligned as well as can
            // be.
            let end = used.next_multiple_of(size.min(PAGE)) + size;
            (end <= PIECE).then_some(end)
        });
        match used {
            Ok(used) => RESERVE.0.get().cast::<u8>().wrapping_add(used.next_multiple_of(size.min(PAGE))),
            Err(_) => null_mut(),
        }
    }
}

impl Lists {
    fn take(&mut self, class: usize, size: usize) -> Option<NonNull<u8>> {
        let list = self.free.get_mut(class)?;
        if let Some(piece) = NonNull::new(*list) {
            // SAFETY: a piece in the list is free, aligned for its size, and holds the address of the next.
            *list = unsafe { piece.cast::<*mut u8>().read() };
            return Some(piece);
        }
        // Small pieces lie behind each other, aligned to their size or to a page.
        let skip = self.fresh.addr().next_multiple_of(size.min(PAGE)) - self.fresh.addr();
        if self.left < skip + size {
            let fresh = map(PIECE);
            if fresh.is_null() {
                return None;
            }
            (self.fresh, self.left) = (fresh, PIECE);
            return self.cut(0, size);
        }
        self.cut(skip, size)
    }

    fn cut(&mut self, skip: usize, size: usize) -> Option<NonNull<u8>> {
        let piece = self.fresh.wrapping_add(skip);
        self.fresh = piece.wrapping_add(size);
        self.left -= skip + size;
        NonNull::new(piece)
    }
}

// SAFETY: every piece is given out once until it is given back, is at least as large as was asked for, and
// aligned to the power of two that is its size, or to a page.
unsafe impl GlobalAlloc for Memory {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        match (class(layout), pages(layout.size())) {
            _ if layout.align() > PAGE => null_mut(),
            (Some(class), _) => self.small(class),
            (None, Some(length)) => map(length),
            _ => null_mut(),
        }
    }

    unsafe fn dealloc(&self, piece: *mut u8, layout: Layout) {
        match (class(layout), pages(layout.size())) {
            (Some(class), _) => {
                // If the lists are in use the piece is lost, which is the least evil.
                self.with_lists(|lists| {
                    if let Some(list) = lists.free.get_mut(class) {
                        // SAFETY: the piece is free from now on, and has room for an address.
                        unsafe { piece.cast::<*mut u8>().write(*list) };
                        *list = piece;
                    }
                });
            }
            // SAFETY: a large piece is a mapping of its own.
            (None, Some(length)) => unsafe { _ = libc::munmap(piece.cast(), length) },
            _ => {}
        }
    }

    unsafe fn realloc(&self, piece: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let wanted = Layout::from_size_align(size, layout.align());
        let Ok(wanted) = wanted else { return null_mut() };
        // From list to list, from mapping to mapping, or from one kind to the other.
        match (class(layout), class(wanted), pages(layout.size()), pages(size)) {
            (Some(before), Some(after), ..) if before == after => piece,
            (None, None, Some(before), Some(after)) => {
                // SAFETY: a large piece is a mapping of its own, which may move.
                let moved = unsafe { libc::mremap(piece.cast(), before, after, libc::MREMAP_MAYMOVE) };
                if moved == libc::MAP_FAILED {
                    return null_mut();
                }
                moved.cast()
            }
            // SAFETY: both pieces are as large as their layouts say, and distinct.
            _ => unsafe {
                let new = self.alloc(wanted);
                if !new.is_null() {
                    std::ptr::copy_nonoverlapping(piece, new, layout.size().min(size));
                    self.dealloc(piece, layout);
                }
                new
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_of_all_sizes_keep_what_is_in_them() {
        let mut random = 0x2545_f491_4f6c_dd1du64;
        let mut kept: Vec<Vec<u8>> = Vec::new();
        for step in 0..20_000u64 {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            let size = (random % 40_000) as usize >> (random >> 60);
            match random % 3 {
                0 if !kept.is_empty() => drop(kept.swap_remove(random as usize % kept.len())),
                1 if !kept.is_empty() => {
                    let place = random as usize % kept.len();
                    let byte = kept[place].first().copied().unwrap_or(step as u8);
                    kept[place].resize(size, byte);
                }
                _ => kept.push(vec![step as u8; size]),
            }
            kept.truncate(300);
        }
        for piece in &kept {
            assert!(piece.iter().all(|byte| byte == &piece[0]), "{} bytes", piece.len());
        }
    }

    #[test]
    fn pieces_are_aligned_and_apart() {
        for align in [1, 8, 64, 4096] {
            for size in [1, 17, 4000, 5000, 70_000] {
                let layout = Layout::from_size_align(size, align).unwrap();
                // SAFETY: the layout has a size; both pieces are given back with it.
                unsafe {
                    let (a, b) = (MEMORY.alloc(layout), MEMORY.alloc(layout));
                    assert!(a.addr() % align == 0 && b.addr() % align == 0);
                    assert!(a.addr().abs_diff(b.addr()) >= size);
                    MEMORY.dealloc(a, layout);
                    MEMORY.dealloc(b, layout);
                }
            }
        }
    }

    #[test]
    fn the_reserve_is_given_out_once() {
        let memory = Memory {
            locked: AtomicBool::new(true),
            lists: UnsafeCell::new(Lists { free: [null_mut(); CLASSES], fresh: null_mut(), left: 0 }),
            reserve_used: AtomicUsize::new(0),
        };
        assert!(memory.with_lists(|_| ()).is_none(), "in use");
        let (a, b) = (memory.take_of_reserve(16), memory.take_of_reserve(4096));
        assert_eq!((b.addr() - a.addr(), b.addr() % 4096), (4096, 0));
        while !memory.take_of_reserve(32768).is_null() {}
        assert!(memory.take_of_reserve(32768).is_null());
    }
}
