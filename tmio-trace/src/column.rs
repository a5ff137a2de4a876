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
    bytes: Vec<u8>,
    zeros: u64,
}

impl ColumnWriter {
    /// Makes room for `count` numbers and forgets what was written before. `false`: no memory.
    pub fn restart(&mut self, count: usize) -> bool {
        self.bytes.clear();
        self.zeros = 0;
        self.bytes.try_reserve(count.saturating_mul(MAX_VARINT).saturating_add(2 * MAX_VARINT)).is_ok()
    }

    /// Appends a number.
    #[inline]
    pub fn push(&mut self, value: i64) {
        if value == 0 {
            self.zeros += 1;
            return;
        }
        self.end_run();
        push_varint(&mut self.bytes, zigzag(value));
    }

    /// Ends the column and gives its bytes.
    pub fn finish(&mut self) -> &[u8] {
        self.end_run();
        &self.bytes
    }

    #[inline]
    fn end_run(&mut self) {
        if self.zeros > 0 {
            self.bytes.push(0);
            push_varint(&mut self.bytes, self.zeros);
            self.zeros = 0;
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
    #[inline]
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

    #[inline]
    fn varint(&mut self) -> Option<u64> {
        let (&first, rest) = self.bytes.split_first()?;
        if first < 0x80 {
            self.bytes = rest;
            return Some(u64::from(first));
        }
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
fn push_varint(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

#[inline]
const fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)) as u64
}

#[inline]
const fn unzigzag(code: u64) -> i64 {
    (code >> 1) as i64 ^ -((code & 1) as i64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn round_trip(values: &[i64]) -> Vec<i64> {
        let mut writer = ColumnWriter::default();
        assert!(writer.restart(values.len()));
        let capacity = writer.bytes.capacity();
        values.iter().for_each(|&v| writer.push(v));
        let bytes = writer.finish().to_vec();
        assert_eq!(writer.bytes.capacity(), capacity, "a column never grows beyond what it reserved");
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
