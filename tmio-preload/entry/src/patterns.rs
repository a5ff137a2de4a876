//! Lists of patterns that variables of the environment have, for what is asked at every new name of a file:
//! the variable is looked for once, and so are the patterns in it.

use crate::environment;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use core::sync::atomic::{AtomicPtr, AtomicU64, AtomicUsize};
use tmio_spool::pattern::{self, Place};

/// As many patterns of a list are remembered; in a list with more they are looked for each time.
const MOST: usize = 40;

/// The list that a variable has.
pub(crate) struct List {
    /// Null: nobody has looked.
    text: AtomicPtr<u8>,
    length: AtomicUsize,
    /// Where each pattern is, and which bytes it needs.
    patterns: [[AtomicU64; 2]; MOST],
    /// How many these are.
    count: AtomicUsize,
}

const TOO_MANY: usize = usize::MAX;

impl List {
    pub(crate) const fn new() -> Self {
        Self {
            text: AtomicPtr::new(core::ptr::null_mut()),
            length: AtomicUsize::new(0),
            patterns: [const { [AtomicU64::new(0), AtomicU64::new(0)] }; MOST],
            count: AtomicUsize::new(0),
        }
    }

    /// The list of the variable of this name, or, where that is not set, the usual one. Always the same.
    #[inline]
    fn text(&self, name: &[u8], usual: &'static [u8]) -> &'static [u8] {
        let text = self.text.load(Acquire);
        if text.is_null() {
            return self.look(name, usual);
        }
        // SAFETY: a text of this length, which stays.
        unsafe { core::slice::from_raw_parts(text, self.length.load(Relaxed)) }
    }

    #[cold]
    fn look(&self, name: &[u8], usual: &'static [u8]) -> &'static [u8] {
        let is_kept = environment::is_kept();
        let text = environment::variable(name).unwrap_or(usual);
        if !is_kept {
            return text;
        }
        let mut count = 0;
        for place in pattern::places(text) {
            count = match (self.patterns.get(count), place.pack()) {
                (Some([at, needs]), Some(packed)) => {
                    at.store(packed, Relaxed);
                    needs.store(place.needs(text), Relaxed);
                    count + 1
                }
                _ => TOO_MANY,
            };
            if count == TOO_MANY {
                break;
            }
        }
        // Whoever else looks at this moment finds the same.
        self.count.store(count, Relaxed);
        self.length.store(text.len(), Relaxed);
        self.text.store(text.as_ptr().cast_mut(), Release);
        text
    }

    /// Whether a path, which has these bytes, matches one of the patterns. `None`: the list says nothing.
    #[inline]
    pub(crate) fn has(&self, name: &[u8], usual: &'static [u8], path: &[u8], bytes: u64) -> Option<bool> {
        let text = self.text(name, usual);
        if matches!(text, b"" | b"none" | b"all") {
            return None;
        }
        match self.patterns.get(..self.count.load(Relaxed)).filter(|_| !self.text.load(Relaxed).is_null()) {
            Some(patterns) => Some(patterns.iter().any(|[at, needs]| {
                needs.load(Relaxed) & !bytes == 0 && Place::unpack(at.load(Relaxed)).matches(text, path)
            })),
            None => Some(pattern::matches_any(text, path)),
        }
    }
}
