//! Rows of plain numbers, as programs write them: read where they lie in the buffer, without the care that
//! other rows need.
//!
//! What is not plain (quotes, dates, a word that is not known, a column too few, a row that is not whole in
//! the buffer) is left to the careful way, which decides what it means and what to say about it. So both ways
//! must agree wherever this one gives an answer.

use super::columns::{Columns, Quantity, Word, number, word};
use crate::bandwidth_piece::BandwidthPiece;
use crate::request::Class;

/// Tables with more columns are read the careful way.
const MAX_COLUMNS: usize = 32;

/// Digits that a 64-bit number holds for sure, and the largest whole number that is exact as a double.
const MAX_DIGITS: usize = 18;
const EXACT: u64 = 1 << 53;

/// Powers of ten that are exact as doubles.
const POWERS: [f64; MAX_DIGITS + 1] =
    [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18];

/// Words that were understood: further ones are looked up each time.
const MAX_WORDS: usize = 8;

/// A field of a row: where it is, and its digits as far as it is nothing else.
#[derive(Clone, Copy, Debug, Default)]
struct Field {
    from: usize,
    to: usize,
    mantissa: u64,
    digits: usize,
    /// Digits after the point.
    after: usize,
    /// It has nothing but digits and at most one point.
    is_number: bool,
}

/// Reads plain rows of one table.
#[derive(Debug)]
pub(super) struct PlainRows {
    separator: u8,
    columns: usize,
    rank: Option<(usize, f64)>,
    start: Option<(usize, f64)>,
    end: Option<(usize, f64)>,
    duration: Option<(usize, f64)>,
    bytes: Option<(usize, f64)>,
    bandwidth: Option<(usize, f64)>,
    operation: Option<usize>,
    words: Vec<(Vec<u8>, Class)>,
    /// Those of the last row; kept, because to empty them costs as much as to fill them.
    fields: Box<[Field; MAX_COLUMNS]>,
}

impl PlainRows {
    /// Of a table with these columns; `None` if it has too many.
    pub fn of(columns: &Columns) -> Option<Self> {
        let place = |quantity| columns.place(quantity);
        (columns.count() <= MAX_COLUMNS).then(|| PlainRows {
            separator: columns.separator() as u8,
            columns: columns.count(),
            rank: place(Quantity::Rank),
            start: place(Quantity::Start),
            end: place(Quantity::End),
            duration: place(Quantity::Duration),
            bytes: place(Quantity::Bytes),
            bandwidth: place(Quantity::Bandwidth),
            operation: place(Quantity::Operation).map(|(index, _)| index),
            words: Vec::new(),
            fields: Box::default(),
        })
    }

    /// The request of the first row of a buffer, and the length of that row with its line break; `None` if it
    /// is not plain.
    #[inline]
    pub fn next(&mut self, buffer: &[u8]) -> Option<(BandwidthPiece, usize)> {
        let length = self.split(buffer)?;
        let fields = &self.fields;
        let value = |place: Option<(usize, f64)>| {
            let Some((index, unit)) = place else { return Some(None) };
            number_of(buffer, &fields[index], char::from(self.separator)).map(|value| Some(value * unit))
        };
        let start = value(self.start)??;
        let end = match value(self.end)? {
            Some(end) => end,
            None => start + value(self.duration)??,
        };
        let bytes = value(self.bytes)?;
        let bytes = match bytes {
            Some(bytes) if (0.0..9e18).contains(&bytes) => Some(bytes.round() as u64),
            Some(_) => return None,
            None => None,
        };
        let bandwidth = match bytes {
            Some(bytes) => bytes as f64 / (end - start),
            None => value(self.bandwidth)??,
        };
        let rank = match value(self.rank)? {
            Some(rank) if rank.fract() == 0.0 && (0.0..f64::from(u32::MAX)).contains(&rank) => {
                Some(rank as u32)
            }
            Some(_) => return None,
            None => None,
        };
        let class = match self.operation {
            Some(index) => {
                let (from, to) = (fields[index].from, fields[index].to);
                self.class(&buffer[from..to])?
            }
            None => Class::WriteSync,
        };
        Some((BandwidthPiece { start, end, bandwidth, bytes, rank, class }, length))
    }

    /// Finds the fields of the first row and its length; `None` if it is not whole, empty, a comment, or has
    /// quotes.
    #[inline]
    fn split(&mut self, buffer: &[u8]) -> Option<usize> {
        if matches!(buffer.first()?, b'#' | b'\n' | b'\r' | b' ' | b'\t') {
            return None;
        }
        let (mut at, mut count) = (0, 0);
        loop {
            let from = at;
            let (mut mantissa, mut after) = (0u64, 0);
            let mut byte = digits(buffer, &mut at, &mut mantissa)?;
            let mut digits_in_all = at - from;
            if byte == b'.' {
                at += 1;
                let point = at;
                byte = digits(buffer, &mut at, &mut mantissa)?;
                after = at - point;
                digits_in_all += after;
            }
            let mut to = at;
            if byte == b'\r' && *buffer.get(at + 1)? == b'\n' {
                (at, byte) = (at + 1, b'\n');
            }
            let is_number = byte == self.separator || byte == b'\n';
            while byte != self.separator && byte != b'\n' {
                if byte == b'"' {
                    return None;
                }
                at += 1;
                byte = *buffer.get(at)?;
                to = at;
            }
            if !is_number && byte == b'\n' && buffer[at - 1] == b'\r' {
                to -= 1;
            }
            if let Some(place) = self.fields.get_mut(count) {
                *place = Field { from, to, mantissa, digits: digits_in_all, after, is_number };
            }
            (at, count) = (at + 1, count + 1);
            if byte == b'\n' {
                return (count >= self.columns).then_some(at);
            }
        }
    }

    /// What a word says, if it says that the row moves data.
    #[inline]
    fn class(&mut self, text: &[u8]) -> Option<Class> {
        if let Some((_, class)) = self.words.iter().find(|(known, _)| known == text) {
            return Some(*class);
        }
        let Word::Data(class) = word(std::str::from_utf8(text).ok()?.trim()) else { return None };
        if self.words.len() < MAX_WORDS {
            self.words.push((text.to_vec(), class));
        }
        Some(class)
    }
}

/// Takes in the digits from `at` on, and gives the byte behind them; `None` at the end of the buffer.
#[inline(always)]
fn digits(buffer: &[u8], at: &mut usize, mantissa: &mut u64) -> Option<u8> {
    loop {
        let byte = *buffer.get(*at)?;
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return Some(byte);
        }
        *mantissa = mantissa.wrapping_mul(10).wrapping_add(u64::from(digit));
        *at += 1;
    }
}

/// The number that a field is: digits and a point exactly as the library reads them, since both their digits
/// and the power of ten are exact; anything else by the library.
#[inline]
fn number_of(buffer: &[u8], field: &Field, separator: char) -> Option<f64> {
    let plain = field.is_number && (1..=MAX_DIGITS).contains(&field.digits) && field.mantissa < EXACT;
    if plain {
        return Some(field.mantissa as f64 / POWERS[field.after]);
    }
    number(std::str::from_utf8(&buffer[field.from..field.to]).ok()?.trim(), separator)
}
