//! One column of a block: a sequence of signed numbers, most of them small or zero.
//!
//! A number other than 0 is its zigzag code (0, −1, 1, −2, 2 … → 0, 1, 2, 3, 4 …) as a LEB128
//! varint. A run of zeros is one byte 0 and then the length of the run as a varint. Regular access
//! makes nearly all columns runs of zeros, so that only times cost anything.

/// Longest varint of a 64-bit number.
pub const MAX_VARINT: usize = 10;

/// Writes a column into memory that it was given beforehand.
#[derive(Debug, Default)]
pub struct ColumnWriter {
    /// Memory; the column so far is its first `used` bytes.
    bytes: Vec<u8>,
    used: usize,
    zeros: u64,
}

impl ColumnWriter {
    /// Makes room for `count` numbers and forgets what was written before. `false`: no memory.
    pub fn restart(&mut self, count: usize) -> bool {
        (self.used, self.zeros) = (0, 0);
        // A number is stored with eight bytes, of which the next one overwrites what is too many.
        let wanted = count.saturating_mul(MAX_VARINT).saturating_add(2 * MAX_VARINT + 8);
        if self.bytes.len() < wanted {
            if self.bytes.try_reserve_exact(wanted - self.bytes.len()).is_err() {
                return false;
            }
            self.bytes.resize(wanted, 0);
        }
        true
    }

    /// Appends a number.
    #[inline(always)]
    pub fn push(&mut self, value: i64) {
        let code = zigzag(value);
        // Times are mostly short: groups of seven bits in at most four bytes.
        if self.zeros == 0 && code != 0 && code >> 28 == 0 {
            let x = (code & 0x7f) | (code & 0x3f80) << 1 | (code & 0x1f_c000) << 2 | (code & 0xfe0_0000) << 3;
            self.store_varint(x, code);
        } else {
            self.push_any(code);
        }
    }

    #[inline(never)]
    fn push_any(&mut self, code: u64) {
        if code == 0 {
            self.zeros += 1;
            return;
        }
        self.end_run();
        self.push_varint(code);
    }

    /// Appends `count` zeros.
    #[inline]
    pub fn push_zeros(&mut self, count: u64) {
        self.zeros += count;
    }

    /// Ends the column and gives its bytes.
    pub fn finish(&mut self) -> &[u8] {
        self.end_run();
        self.bytes.get(..self.used).unwrap_or_default()
    }

    #[inline]
    fn end_run(&mut self) {
        if self.zeros > 0 {
            let run = std::mem::take(&mut self.zeros);
            self.store(0, 1);
            self.push_varint(run);
        }
    }

    #[inline]
    fn push_varint(&mut self, value: u64) {
        if value >> 56 != 0 {
            return self.push_long_varint(value);
        }
        // Spread groups of seven bits to bytes: halves, quarters, eighths.
        let x = value;
        let x = (x & 0x0000_0000_0fff_ffff) | (x & 0x00ff_ffff_f000_0000) << 4;
        let x = (x & 0x0000_3fff_0000_3fff) | (x & 0x0fff_c000_0fff_c000) << 2;
        let x = (x & 0x007f_007f_007f_007f) | (x & 0x3f80_3f80_3f80_3f80) << 1;
        self.store_varint(x, value);
    }

    /// Stores `value`, whose groups of seven bits are the bytes of `groups`.
    #[inline(always)]
    fn store_varint(&mut self, groups: u64, value: u64) {
        // Number of bytes: one for each seven bits begun. All but the last say that one follows.
        let last = (((value | 1).ilog2() * 9 + 9) >> 6) & 7;
        let more = 0x8080_8080_8080_8080 & ((1u64 << (8 * last)) - 1);
        self.store(groups | more, last as usize + 1);
    }

    #[cold]
    fn push_long_varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.store((value | 0x80) & 0xff, 1);
            value >>= 7;
        }
        self.store(value, 1);
    }

    /// Appends the low `length` bytes of a word.
    #[inline]
    fn store(&mut self, word: u64, length: usize) {
        if let Some(place) = self.bytes.get_mut(self.used..).and_then(|rest| rest.first_chunk_mut::<8>()) {
            *place = word.to_le_bytes();
            self.used += length;
        }
    }
}

/// Reads a column back; `None` from [`next`](Self::next_value) means that the bytes are exhausted or damaged.
#[derive(Clone, Debug)]
pub struct ColumnReader<'a> {
    bytes: &'a [u8],
    zeros: u64,
}

impl<'a> ColumnReader<'a> {
    /// Starts at the first number of a column.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, zeros: 0 }
    }

    /// The next number.
    #[inline(always)]
    pub fn next_value(&mut self) -> Option<i64> {
        if self.zeros > 0 {
            self.zeros -= 1;
            return Some(0);
        }
        let code = self.varint()?;
        if code == 0 {
            // An empty run is never written; take it for damage rather than loop on it.
            self.zeros = self.varint()?.checked_sub(1)?;
            return Some(0);
        }
        Some(unzigzag(code))
    }

    /// How many of the next numbers are known to be zero without reading further.
    #[inline]
    pub fn zeros_ahead(&mut self) -> u64 {
        if self.zeros == 0 && self.bytes.first() == Some(&0) {
            let before = self.bytes;
            // As in `next_value`; an empty or damaged run is left for it to refuse.
            match self.varint().and_then(|_| self.varint()) {
                Some(run) if run > 0 => self.zeros = run,
                _ => self.bytes = before,
            }
        }
        self.zeros
    }

    /// Passes over `count` zeros, at most as many as [`zeros_ahead`](Self::zeros_ahead) gave.
    #[inline]
    pub fn skip_zeros(&mut self, count: u64) {
        self.zeros = self.zeros.saturating_sub(count);
    }

    #[inline(always)]
    fn varint(&mut self) -> Option<u64> {
        let (&first, rest) = self.bytes.split_first()?;
        if first < 0x80 {
            self.bytes = rest;
            return Some(u64::from(first));
        }
        let Some(&word) = self.bytes.first_chunk::<8>() else { return self.varint_by_bytes() };
        let word = u64::from_le_bytes(word);
        // Times are mostly numbers of two to four bytes, and mostly of as many as the one before.
        let (value, length) = match word & 0x8080_8080 {
            mask if mask & 0x8000 == 0 => (word & 0x7f | (word & 0x7f00) >> 1, 2),
            mask if mask & 0x80_0000 == 0 => {
                (word & 0x7f | (word & 0x7f00) >> 1 | (word & 0x7f_0000) >> 2, 3)
            }
            mask if mask & 0x8000_0000 == 0 => {
                (word & 0x7f | (word & 0x7f00) >> 1 | (word & 0x7f_0000) >> 2 | (word & 0x7f00_0000) >> 3, 4)
            }
            _ => return self.long_varint(word),
        };
        self.bytes = self.bytes.get(length..)?;
        Some(value)
    }

    /// A number of five to eight bytes, the first eight of which are `word`.
    fn long_varint(&mut self, word: u64) -> Option<u64> {
        // The first byte whose high bit is clear ends the number.
        let ends = !word & 0x8080_8080_8080_8080;
        if ends == 0 {
            return self.varint_by_bytes();
        }
        let x = word & (ends ^ (ends - 1)) & 0x7f7f_7f7f_7f7f_7f7f;
        // Bring groups of seven bits together: eighths, quarters, halves.
        let x = (x & 0x007f_007f_007f_007f) | (x & 0x7f00_7f00_7f00_7f00) >> 1;
        let x = (x & 0x0000_3fff_0000_3fff) | (x & 0x3fff_0000_3fff_0000) >> 2;
        let x = (x & 0x0000_0000_0fff_ffff) | (x & 0x0fff_ffff_0000_0000) >> 4;
        self.bytes = self.bytes.get(ends.trailing_zeros() as usize / 8 + 1..)?;
        Some(x)
    }

    /// For numbers of nine or ten bytes, and at the end of the column.
    #[cold]
    fn varint_by_bytes(&mut self) -> Option<u64> {
        let mut value = 0u64;
        for (index, &byte) in self.bytes.iter().enumerate().take(MAX_VARINT) {
            value |= u64::from(byte & 0x7f) << (7 * index);
            if byte < 0x80 {
                self.bytes = self.bytes.get(index + 1..)?;
                return Some(value);
            }
        }
        None
    }
}

#[inline]
pub(crate) const fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)) as u64
}

#[inline]
pub(crate) const fn unzigzag(code: u64) -> i64 {
    (code >> 1) as i64 ^ -((code & 1) as i64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn round_trip(values: &[i64]) -> Vec<i64> {
        let mut writer = ColumnWriter::default();
        assert!(writer.restart(values.len()));
        values.iter().for_each(|&v| writer.push(v));
        let bytes = writer.finish().to_vec();
        let mut reader = ColumnReader::new(&bytes);
        let back = (0..values.len()).map_while(|_| reader.next_value()).collect();
        assert_eq!(reader.next_value(), None);
        back
    }

    #[test]
    fn zigzag_is_the_documented_order() {
        assert_eq!([0, -1, 1, -2, 2].map(zigzag), [0, 1, 2, 3, 4]);
        assert_eq!(zigzag(i64::MIN), u64::MAX);
        assert_eq!(unzigzag(u64::MAX), i64::MIN);
    }

    #[test]
    fn varints_are_those_of_the_definition_at_every_border() {
        for bits in 0..64 {
            for value in [(1u64 << bits) - 1, 1 << bits, (1 << bits) + 1] {
                let mut expected = Vec::new();
                let mut rest = value;
                while rest >= 0x80 {
                    expected.push(rest as u8 | 0x80);
                    rest >>= 7;
                }
                expected.push(rest as u8);
                let mut writer = ColumnWriter::default();
                assert!(writer.restart(1));
                writer.push_varint(value);
                assert_eq!(writer.finish(), expected, "{value}");
            }
        }
    }

    #[test]
    fn the_longest_numbers_fit_what_was_reserved() {
        let values: Vec<i64> = [i64::MIN, 0, i64::MAX, 0].repeat(50);
        assert_eq!(round_trip(&values), values);
    }

    #[test]
    fn a_run_of_zeros_costs_a_few_bytes() {
        let mut writer = ColumnWriter::default();
        assert!(writer.restart(6000));
        (0..6000).for_each(|_| writer.push(0));
        assert_eq!(writer.finish().len(), 3);
    }

    #[test]
    fn damage_ends_a_column() {
        assert_eq!(ColumnReader::new(&[0, 0]).next_value(), None, "empty run");
        assert_eq!(ColumnReader::new(&[0xff; 20]).next_value(), None, "endless varint");
        assert_eq!(ColumnReader::new(&[0x80]).next_value(), None, "cut varint");
    }

    proptest! {
        #[test]
        fn what_goes_in_comes_out(values in prop::collection::vec(
            prop_oneof![Just(0i64), -200i64..200, any::<i64>()], 0..300)) {
            prop_assert_eq!(round_trip(&values), values);
        }

        #[test]
        fn any_bytes_are_survived(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let mut reader = ColumnReader::new(&bytes);
            for _ in 0..1000 { if reader.next_value().is_none() { break } }
        }
    }
}
