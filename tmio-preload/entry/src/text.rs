//! Small texts without an allocator: paths that are put together, numbers in variables.

use core::ffi::CStr;

/// A text that grows in memory that somebody has lent.
#[derive(Debug)]
pub struct Text<'a> {
    memory: &'a mut [u8],
    length: usize,
    /// Something did not fit.
    cut: bool,
}

impl<'a> Text<'a> {
    pub fn new(memory: &'a mut [u8]) -> Self {
        Self { memory, length: 0, cut: false }
    }

    pub fn push(&mut self, bytes: &[u8]) -> &mut Self {
        let end = self.length + bytes.len();
        // One byte is kept for a final zero.
        let fits = end < self.memory.len();
        match self.memory.get_mut(self.length..end) {
            Some(place) if fits => {
                place.copy_from_slice(bytes);
                self.length = end;
            }
            _ => self.cut = true,
        }
        self
    }

    /// Whether so many bytes fit behind it.
    pub fn has_room_for(&self, bytes: usize) -> bool {
        self.length + bytes < self.memory.len()
    }

    pub fn push_number(&mut self, number: u64) -> &mut Self {
        self.push_digits(number, 10)
    }

    pub fn push_hex(&mut self, number: u64) -> &mut Self {
        self.push_digits(number, 16)
    }

    fn push_digits(&mut self, mut number: u64, base: u64) -> &mut Self {
        let mut digits = [0u8; 20];
        let mut count = 0;
        for place in digits.iter_mut().rev() {
            let digit = (number % base) as u8;
            *place = if digit < 10 { b'0' + digit } else { b'a' + digit - 10 };
            number /= base;
            count += 1;
            if number == 0 {
                break;
            }
        }
        self.push(digits.get(20 - count..).unwrap_or_default())
    }

    /// Takes what follows the first `length` bytes away again.
    pub fn cut_to(&mut self, length: usize) {
        self.length = self.length.min(length);
    }

    pub fn len(&self) -> usize {
        self.length
    }

    #[cfg(test)]
    pub fn is_whole(&self) -> bool {
        !self.cut
    }

    pub fn bytes(&self) -> &[u8] {
        self.memory.get(..self.length).unwrap_or_default()
    }

    /// The text with a zero at its end, if it is whole.
    pub fn as_path(&mut self) -> Option<&CStr> {
        if self.cut {
            return None;
        }
        *self.memory.get_mut(self.length)? = 0;
        CStr::from_bytes_with_nul(self.memory.get(..=self.length)?).ok()
    }
}

/// A number of digits only.
pub fn number(text: &[u8]) -> Option<u64> {
    digits(text, 10)
}

/// A number in hexadecimal.
pub fn hex(text: &[u8]) -> Option<u64> {
    digits(text, 16)
}

fn digits(text: &[u8], base: u64) -> Option<u64> {
    let value = |byte: u8| match byte.to_ascii_lowercase() {
        digit @ b'0'..=b'9' => Some(u64::from(digit - b'0')),
        letter @ b'a'..=b'f' if base == 16 => Some(u64::from(letter - b'a') + 10),
        _ => None,
    };
    let all = text.iter().try_fold(0u64, |sum, &byte| sum.checked_mul(base)?.checked_add(value(byte)?));
    if text.is_empty() { None } else { all }
}

/// A size: a number, and perhaps K, M or G.
pub fn size(text: &[u8]) -> Option<u64> {
    let text = text.trim_ascii();
    let (&last, rest) = text.split_last()?;
    let shift = match last.to_ascii_uppercase() {
        b'K' => 10,
        b'M' => 20,
        b'G' => 30,
        _ => return number(text),
    };
    number(rest.trim_ascii())?.checked_mul(1 << shift)
}

/// Seconds with a fraction, as nanoseconds.
pub fn seconds(text: &[u8]) -> Option<u64> {
    let text = text.trim_ascii();
    let point = text.iter().position(|&byte| byte == b'.');
    let (whole, fraction) = text.split_at_checked(point.unwrap_or(text.len()))?;
    let mut nanoseconds = if whole.is_empty() { 0 } else { number(whole)?.checked_mul(1_000_000_000)? };
    let mut unit = 100_000_000;
    for &byte in fraction.get(1..).unwrap_or_default() {
        nanoseconds =
            nanoseconds.checked_add(unit * u64::from(byte.is_ascii_digit().then(|| byte - b'0')?))?;
        unit /= 10;
    }
    (text.len() > usize::from(point.is_some())).then_some(nanoseconds)
}

/// Mixes bytes into a number (FNV-1a).
pub fn mix(seed: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(seed, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// What [`mix`] begins with.
pub const SEED: u64 = 0xcbf2_9ce4_8422_2325;

/// No path of ours is longer.
pub(crate) const PATH_BYTES: usize = 4096;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_texts() {
        assert_eq!((number(b"17"), number(b""), number(b"1x")), (Some(17), None, None));
        assert_eq!((hex(b"1f"), hex(b"1G")), (Some(31), None));
        assert_eq!(
            (size(b"4M"), size(b" 64 k"), size(b"7"), size(b"M")),
            (Some(4 << 20), Some(64 << 10), Some(7), None)
        );
        assert_eq!(seconds(b"2"), Some(2_000_000_000));
        assert_eq!(seconds(b"0.25"), Some(250_000_000));
        assert_eq!(seconds(b".5"), Some(500_000_000));
        assert_eq!((seconds(b"."), seconds(b""), seconds(b"1e3"), seconds(b"-1")), (None, None, None, None));
    }

    #[test]
    fn a_text_that_does_not_fit_is_not_whole() {
        let mut memory = [0; 8];
        let mut text = Text::new(&mut memory);
        text.push(b"/a/").push_hex(0xbc).push_number(0);
        assert_eq!(text.as_path(), Some(c"/a/bc0"));
        text.push(b"12");
        assert!(!text.is_whole() && text.as_path().is_none());
        text.cut_to(2);
        assert_eq!(text.bytes(), b"/a");
    }
}
