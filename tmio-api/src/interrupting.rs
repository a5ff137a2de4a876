//! Records of signal handlers that have interrupted their thread while it stored one.
//!
//! The handler cannot use the thread's slot: the record that is half there would get its words. So it keeps
//! its own here, and whoever comes next to write out records takes it along.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use tmio_trace::spool::ASYNC_WORDS;

const PLACES: usize = 256;

struct Place {
    /// [`FREE`], [`IN_USE`], or how many words are in it.
    state: AtomicU64,
    words: [AtomicU64; ASYNC_WORDS],
}

const FREE: u64 = 0;
const IN_USE: u64 = u64::MAX;

static KEPT: [Place; PLACES] =
    [const { Place { state: AtomicU64::new(FREE), words: [const { AtomicU64::new(0) }; ASYNC_WORDS] } };
        PLACES];
/// How often something was kept: who takes it need not look before.
static EVER: AtomicU64 = AtomicU64::new(0);

/// Keeps a record. `false`: there is no room.
pub(crate) fn keep(words: &[u64]) -> bool {
    let free = |place: &&Place| place.state.compare_exchange(FREE, IN_USE, AcqRel, Relaxed).is_ok();
    if words.len() > ASYNC_WORDS {
        return false;
    }
    let Some(place) = KEPT.iter().find(free) else { return false };
    for (to, &word) in place.words.iter().zip(words) {
        to.store(word, Relaxed);
    }
    EVER.fetch_add(1, Relaxed);
    place.state.store(words.len() as u64, Release);
    true
}

/// Gives away what was kept.
pub(crate) fn take(mut give: impl FnMut(&[u64])) {
    if EVER.load(Relaxed) == 0 {
        return;
    }
    for place in &KEPT {
        let count = place.state.load(Acquire);
        let is_kept = count != FREE && count != IN_USE;
        if is_kept && place.state.compare_exchange(count, IN_USE, AcqRel, Relaxed).is_ok() {
            let words = place.words.each_ref().map(|word| word.load(Relaxed));
            place.state.store(FREE, Release);
            give(words.get(..count as usize).unwrap_or_default());
        }
    }
}

/// In the child of a fork: what is here is the parent's.
pub(crate) fn forget() {
    if EVER.swap(0, Relaxed) != 0 {
        KEPT.iter().for_each(|place| place.state.store(FREE, Relaxed));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_given_away_once() {
        assert!(keep(&[1, 2, 3, 4, 5]) && keep(&[6; ASYNC_WORDS]) && !keep(&[0; ASYNC_WORDS + 1]));
        let mut given = Vec::new();
        take(|words| given.push(words.to_vec()));
        given.sort();
        assert_eq!(given, [vec![1, 2, 3, 4, 5], vec![6; ASYNC_WORDS]]);
        take(|_| panic!("a second time"));
        assert!((0..PLACES).all(|_| keep(&[7])) && !keep(&[7]), "there is no more room");
        forget();
        take(|_| panic!("forgotten"));
    }
}
