//! The column of times of a block: for each operation the distance from the end of the one before to its
//! start, and its duration.
//!
//! Nearly all that a block of regular access holds are times. A pair of numbers is stored as one byte that
//! says how long both are, and then the bytes of their [zigzag](crate::column) codes, lowest first. Bits 0–2
//! of the first byte are the bytes of the first number less one, bits 4–6 those of the second.
//!
//! Neighbouring operations mostly take numbers of the same lengths, so pairs may share that byte: if bit 7 is
//! set, a byte follows that says how many pairs there are, less one, and all of them are stored with these
//! lengths. Bit 3 is 0.

use crate::format::column::{unzigzag, zigzag};

/// Longest pair of numbers.
pub const MAX_PAIR: usize = 17;

/// What is stored at once: the longest pair, in whole words.
const STORED: usize = 24;

/// There is so much room before a pair is stored: what precedes it may take two bytes.
const ROOM: usize = STORED + 8;

/// Set in the byte of lengths if several pairs share it.
const SHARED: u8 = 0x80;

/// As many pairs share a byte of lengths at most.
const MOST: u8 = 255;

/// As many pairs in a row may be stored in one byte more than they need. Starting a new run takes two bytes:
/// worth it for a lasting change, but not for one short number among longer ones.
const PATIENCE: u8 = 2;

/// Writes the column into memory that it was given beforehand.
#[derive(Debug, Default)]
pub struct TimesWriter {
    /// Memory; the column so far is its first `used` bytes.
    bytes: Vec<u8>,
    used: usize,
    group: Group,
}

/// The pairs that share a byte of lengths, so far.
#[derive(Clone, Copy, Debug, Default)]
struct Group {
    /// Where its byte of lengths is.
    at: usize,
    lengths: Lengths,
    /// Number of pairs; 0: nothing was written yet.
    pairs: u8,
    /// How many of the last ones could have been shorter.
    wasteful: u8,
}

/// Bytes of the two numbers of a pair, less one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Lengths(usize, usize);

impl TimesWriter {
    /// Makes room for `count` pairs and forgets what was written before. `false`: no memory.
    pub fn restart(&mut self, count: usize) -> bool {
        (self.used, self.group) = (0, Group::default());
        let wanted = count.saturating_mul(MAX_PAIR).saturating_add(ROOM);
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
        let (bytes, mut used, mut group) = (&mut self.bytes[..], self.used, self.group);
        while let Some(place) = bytes.get_mut(used..).and_then(|rest| rest.first_chunk_mut::<ROOM>()) {
            let Some((distance, duration)) = next() else { break };
            let (first, second) = (zigzag(distance), zigzag(duration));
            let lengths = Lengths(length(first), length(second));
            if lengths == group.lengths && group.pairs > 1 && group.pairs < MOST {
                used += place.first_chunk_mut().map_or(0, |place| store(place, lengths, first, second));
                (group.pairs, group.wasteful) = (group.pairs + 1, 0);
            } else {
                used = store_another(bytes, used, &mut group, lengths, first, second);
            }
        }
        group.tell(bytes);
        (self.used, self.group) = (used, group);
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

impl Group {
    /// Whether a pair of these lengths should join it.
    fn takes(&mut self, lengths: Lengths) -> bool {
        if self.pairs == 0 || self.pairs == MOST {
            return false;
        }
        if lengths == self.lengths {
            self.wasteful = 0;
            return true;
        }
        let (Lengths(one, two), Lengths(its_one, its_two)) = (self.lengths, lengths);
        let fits = its_one <= one && its_two <= two && one + two - its_one - its_two == 1;
        self.wasteful += 1;
        // A group of one may have been the exception itself.
        fits && self.wasteful <= PATIENCE && self.pairs > 1
    }

    /// Says before its pairs how long their numbers are, and how many there are.
    fn tell(&self, bytes: &mut [u8]) {
        let lengths = (self.lengths.0 | self.lengths.1 << 4) as u8;
        match (self.pairs, bytes.get_mut(self.at..)) {
            (1, Some([place, ..])) => *place = lengths,
            (2.., Some([place, number, ..])) => (*place, *number) = (lengths | SHARED, self.pairs - 1),
            _ => {}
        }
    }
}

/// Number of bytes of a code, less one.
#[inline(always)]
fn length(code: u64) -> usize {
    ((code | 1).ilog2() / 8) as usize
}

/// Stores a pair that is not just one more of its group, and gives the new end. There is room for it.
#[inline(never)]
fn store_another(
    bytes: &mut [u8],
    mut used: usize,
    group: &mut Group,
    lengths: Lengths,
    first: u64,
    second: u64,
) -> usize {
    if !group.takes(lengths) {
        group.tell(bytes);
        *group = Group { at: used, lengths, pairs: 0, wasteful: 0 };
        used += 1;
    } else if group.pairs == 1
        && let Some(pair) = bytes.get_mut(group.at + 1..used + 1)
    {
        // The number of pairs goes before the first one.
        pair.copy_within(..pair.len() - 1, 1);
        used += 1;
    }
    group.pairs += 1;
    match bytes.get_mut(used..).and_then(|rest| rest.first_chunk_mut()) {
        Some(place) => used + store(place, group.lengths, first, second),
        None => used,
    }
}

/// Stores a pair and gives its length; what is written beyond that is of no meaning.
#[inline(always)]
fn store(place: &mut [u8; STORED], Lengths(one, two): Lengths, first: u64, second: u64) -> usize {
    if let Some(bytes) = place.first_chunk_mut() {
        *bytes = first.to_le_bytes();
    }
    if let Some(bytes) = place.get_mut(one + 1..).and_then(|rest| rest.first_chunk_mut()) {
        *bytes = second.to_le_bytes();
    }
    one + two + 2
}

/// Reads the column back.
#[derive(Clone, Debug)]
pub struct TimesReader<'a> {
    bytes: &'a [u8],
    /// Bytes of the two numbers of the pairs that follow, less one.
    one: usize,
    two: usize,
    /// How many pairs have these lengths.
    left: u32,
}

impl<'a> TimesReader<'a> {
    /// Starts at the first pair of a column.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, one: 0, two: 0, left: 0 }
    }

    /// The next pair: the distance from the end before, and the duration. `None`: the bytes are exhausted or
    /// damaged.
    #[inline(always)]
    pub fn next_pair(&mut self) -> Option<(i64, i64)> {
        if self.left == 0 {
            self.lengths()?;
        }
        self.left -= 1;
        // They are below 8, and if the compiler sees that, it checks no length below.
        let (one, two) = (self.one & 7, self.two & 7);
        let Some(place) = self.bytes.first_chunk::<STORED>() else { return self.near_the_end() };
        self.bytes = self.bytes.get(one + two + 2..)?;
        load(place, one, two)
    }

    /// The byte of lengths, and the number of pairs that have them.
    #[inline(always)]
    fn lengths(&mut self) -> Option<()> {
        let (&lengths, mut rest) = self.bytes.split_first()?;
        if lengths & 0x08 != 0 {
            return None;
        }
        self.left = 1;
        if lengths & SHARED != 0 {
            let (&number, after) = rest.split_first()?;
            (self.left, rest) = (u32::from(number) + 1, after);
        }
        (self.one, self.two) = (usize::from(lengths & 7), usize::from(lengths >> 4 & 7));
        self.bytes = rest;
        Some(())
    }

    /// Where there is less than is loaded at once.
    #[inline(never)]
    fn near_the_end(&mut self) -> Option<(i64, i64)> {
        let (pair, rest) = self.bytes.split_at_checked(self.one + self.two + 2)?;
        let mut place = [0; STORED];
        place.get_mut(..pair.len())?.copy_from_slice(pair);
        self.bytes = rest;
        load(&place, self.one, self.two)
    }
}

/// A pair whose numbers have these lengths.
#[inline(always)]
fn load(place: &[u8; STORED], one: usize, two: usize) -> Option<(i64, i64)> {
    let first = u64::from_le_bytes(*place.first_chunk()?) & mask(one);
    let second = u64::from_le_bytes(*place.get(one + 1..)?.first_chunk()?) & mask(two);
    Some((unzigzag(first), unzigzag(second)))
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
    fn neighbours_share_their_lengths() {
        assert_eq!(written(&[(1, 1); 3]), [0x80, 2, 2, 2, 2, 2, 2, 2]);
        assert_eq!(written(&[(1, 1), (300, 1)]), [0, 2, 2, 1, 0x58, 2, 2]);
        // Two more are less than a new beginning, a third is not.
        let few = [(300, 1), (300, 1), (1, 1), (1, 1), (300, 1)];
        assert_eq!(written(&few)[..2], [0x81, 4]);
        let mut for_good = few;
        for_good[4] = (1, 1);
        assert_eq!(written(&for_good)[..2], [0x81, 3]);
        assert_eq!(written(&for_good).len(), 2 + 4 * 3 + 3);
        let many = [(1000, 1000); 1000];
        assert_eq!(written(&many).len(), 4 * 1000 + 4 * 2);
        assert_eq!(read(&written(&many)), many);
    }

    /// What was written before pairs shared their lengths.
    #[test]
    fn each_with_its_own_lengths() {
        assert_eq!(read(&[0, 2, 2, 0, 2, 2, 1, 0x58, 2, 2]), [(1, 1), (1, 1), (300, 1)]);
    }

    /// Never much more than if each pair had its own byte of lengths.
    #[test]
    fn irregular_times_take_no_more() {
        let mut state = 88172645463325252u64;
        let mut random = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state
        };
        for spread in 1..40 {
            let pairs: Vec<_> = (0..2000)
                .map(|_| {
                    (
                        (random() >> (random() % spread + 24)) as i64,
                        (random() >> (random() % spread + 24)) as i64,
                    )
                })
                .collect();
            let alone: usize = pairs.iter().map(|&(a, b)| 3 + length(zigzag(a)) + length(zigzag(b))).sum();
            let bytes = written(&pairs);
            assert!(bytes.len() <= alone + alone / 50, "{spread}: {} for {alone}", bytes.len());
            assert_eq!(read(&bytes), pairs);
        }
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
        assert!(writer.bytes().len() <= MAX_PAIR + ROOM);
        assert!(read(writer.bytes()).iter().all(|&pair| pair == (i64::MIN, i64::MIN)));
    }

    #[test]
    fn damage_ends_the_column() {
        assert_eq!(read(&[]), []);
        assert_eq!(read(&[0, 4]), [], "cut");
        assert_eq!(read(&[0x88; 40]), [], "no such length");
        assert_eq!(read(&[0x80]), [], "cut before the number of pairs");
        let whole = written(&[(1000, 1000); 10]);
        for cut in 2..whole.len() {
            assert_eq!(read(&whole[..cut]).len(), (cut - 2) / 4);
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
