//! The column of times of a block: for each operation the distance from the end of the one before to its
//! start, and its duration.
//!
//! Nearly all that a block of regular access holds are times, so they are stored in the way that takes the
//! fewest instructions: one byte that says how long both numbers are, and then the bytes of their
//! [zigzag](crate::column) codes, lowest first. Bits 0–2 of the first byte are the bytes of the first number
//! less one, bits 4–6 those of the second; the others are 0.

use crate::column::{unzigzag, zigzag};

/// Longest pair of numbers.
pub const MAX_PAIR: usize = 17;

/// What is stored at once: the longest pair, in whole words.
const STORED: usize = 24;

/// Writes the column into memory that it was given beforehand.
#[derive(Debug, Default)]
pub struct TimesWriter {
    /// Memory; the column so far is its first `used` bytes.
    bytes: Vec<u8>,
    used: usize,
}

impl TimesWriter {
    /// Makes room for `count` pairs and forgets what was written before. `false`: no memory.
    pub fn restart(&mut self, count: usize) -> bool {
        self.used = 0;
        let wanted = count.saturating_mul(MAX_PAIR).saturating_add(STORED);
        if self.bytes.len() < wanted {
            if self.bytes.try_reserve_exact(wanted - self.bytes.len()).is_err() {
                return false;
            }
            self.bytes.resize(wanted, 0);
        }
        true
    }

    /// Appends the pairs that `next` gives, until it gives none or there is no more room.
    #[inline(always)]
    pub fn extend(&mut self, mut next: impl FnMut() -> Option<(i64, i64)>) {
        // Copies, so that they stay in registers.
        let (bytes, mut used) = (&mut self.bytes[..], self.used);
        while let Some(place) = bytes.get_mut(used..).and_then(|rest| rest.first_chunk_mut::<STORED>()) {
            let Some((distance, duration)) = next() else { break };
            used += store(place, zigzag(distance), zigzag(duration));
        }
        self.used = used;
    }

    /// Appends a pair.
    #[inline]
    pub fn push(&mut self, distance: i64, duration: i64) {
        let mut pair = Some((distance, duration));
        self.extend(|| pair.take());
    }

    /// The column so far.
    pub fn bytes(&self) -> &[u8] {
        self.bytes.get(..self.used).unwrap_or_default()
    }
}

/// Number of bytes of a code, less one.
#[inline(always)]
fn length(code: u64) -> usize {
    ((code | 1).ilog2() / 8) as usize
}

/// Stores a pair and gives its length; what is written beyond that is of no meaning.
#[inline(always)]
fn store(place: &mut [u8; STORED], first: u64, second: u64) -> usize {
    let (one, two) = (length(first), length(second));
    let lengths = (one | two << 4) as u8;
    if let Some(bytes) = place.first_chunk_mut::<9>() {
        *bytes = ((u128::from(first) << 8) | u128::from(lengths))
            .to_le_bytes()
            .first_chunk()
            .copied()
            .unwrap_or_default();
    }
    if let Some(bytes) = place.get_mut(one + 2..).and_then(|rest| rest.first_chunk_mut()) {
        *bytes = second.to_le_bytes();
    }
    one + two + 3
}

/// Reads the column back.
#[derive(Clone, Debug)]
pub struct TimesReader<'a> {
    bytes: &'a [u8],
}

impl<'a> TimesReader<'a> {
    /// Starts at the first pair of a column.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes }
    }

    /// The next pair: the distance from the end before, and the duration. `None`: the bytes are exhausted or
    /// damaged.
    #[inline(always)]
    pub fn next_pair(&mut self) -> Option<(i64, i64)> {
        let Some(place) = self.bytes.first_chunk::<STORED>() else { return self.last_pairs() };
        let (first, second, length) = load(place)?;
        self.bytes = self.bytes.get(length..)?;
        Some((first, second))
    }

    /// Near the end of the column, where there is less than is loaded at once.
    #[inline(never)]
    fn last_pairs(&mut self) -> Option<(i64, i64)> {
        let mut place = [0; STORED];
        place.get_mut(..self.bytes.len())?.copy_from_slice(self.bytes);
        let (first, second, length) = load(&place).filter(|_| !self.bytes.is_empty())?;
        self.bytes = self.bytes.get(length..)?;
        Some((first, second))
    }
}

/// A pair and its length. `None`: there is none.
#[inline(always)]
fn load(place: &[u8; STORED]) -> Option<(i64, i64, usize)> {
    let (&lengths, rest) = place.split_first()?;
    if lengths & 0x88 != 0 {
        return None;
    }
    let (one, two) = (usize::from(lengths & 7), usize::from(lengths >> 4));
    let first = u64::from_le_bytes(*rest.first_chunk()?) & mask(one);
    let second = u64::from_le_bytes(*rest.get(one + 1..)?.first_chunk()?) & mask(two);
    Some((unzigzag(first), unzigzag(second), one + two + 3))
}

/// The low bytes of a word, of which there is one more than `length`.
#[inline(always)]
fn mask(length: usize) -> u64 {
    u64::MAX >> (56 - 8 * length)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn written(pairs: &[(i64, i64)]) -> Vec<u8> {
        let mut writer = TimesWriter::default();
        assert!(writer.restart(pairs.len()));
        pairs.iter().for_each(|&(distance, duration)| writer.push(distance, duration));
        writer.bytes().to_vec()
    }

    fn read(bytes: &[u8]) -> Vec<(i64, i64)> {
        let mut reader = TimesReader::new(bytes);
        std::iter::from_fn(|| reader.next_pair()).collect()
    }

    #[test]
    fn the_bytes_are_the_documented_ones() {
        assert_eq!(written(&[(0, 0)]), [0, 0, 0]);
        assert_eq!(written(&[(-1, 200)]), [0x10, 1, 0x90, 1]);
        assert_eq!(written(&[(0x123456, 1)]), [2, 0xac, 0x68, 0x24, 2]);
        let longest = written(&[(i64::MIN, i64::MIN)]);
        assert_eq!((longest[0], longest.len()), (0x77, MAX_PAIR));
    }

    #[test]
    fn every_length_comes_back() {
        let borders = (0..63).flat_map(|bits| [(1i64 << bits) - 1, 1 << bits, -(1 << bits)]);
        let pairs: Vec<_> = borders.flat_map(|value| [(value, 3), (5, value), (value, value)]).collect();
        assert_eq!(read(&written(&pairs)), pairs);
    }

    #[test]
    fn no_more_than_there_is_room_for() {
        let mut writer = TimesWriter::default();
        assert!(writer.restart(1));
        (0..100).for_each(|_| writer.push(i64::MIN, i64::MIN));
        assert!(writer.bytes().len() <= MAX_PAIR + STORED);
        assert!(read(writer.bytes()).iter().all(|&pair| pair == (i64::MIN, i64::MIN)));
    }

    #[test]
    fn damage_ends_the_column() {
        assert_eq!(read(&[]), []);
        assert_eq!(read(&[0, 4]), [], "cut");
        assert_eq!(read(&[0x88; 40]), [], "no such length");
        let whole = written(&[(1000, 1000); 10]);
        for cut in 0..whole.len() {
            assert_eq!(read(&whole[..cut]).len(), cut / 5);
        }
    }

    proptest! {
        #[test]
        fn what_goes_in_comes_out(pairs in prop::collection::vec((any::<i64>(), -5000i64..5000), 0..100)) {
            prop_assert_eq!(read(&written(&pairs)), pairs);
        }

        #[test]
        fn any_bytes_are_survived(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            read(&bytes);
        }
    }
}
