//! MessagePack, by its specification: every type; extension types have no meaning here.
//!
//! By hand, because it is the smaller way: `rmpv` builds a tree of its own, which would have to be turned
//! into ours (twice the memory, and no place in messages); with `rmp`'s markers every width of a number or
//! length is an arm.

use super::{Decoded, MAX_DEPTH, Problem, Value};

/// The next value; `None` at the end.
pub(super) fn next(bytes: &[u8], at: &mut usize) -> Decoded {
    if *at == bytes.len() {
        return Ok(None);
    }
    let mut parser = Parser { bytes, at: *at };
    let value = parser.value(0)?;
    *at = parser.at;
    Ok(Some(value))
}

struct Parser<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Parser<'a> {
    fn wrong<T>(&self, expected: &'static str) -> Result<T, Problem> {
        Err(Problem { offset: self.at, expected })
    }

    fn take(&mut self, length: usize) -> Result<&'a [u8], Problem> {
        let Some(bytes) = self.at.checked_add(length).and_then(|end| self.bytes.get(self.at..end)) else {
            return Err(Problem { offset: self.bytes.len(), expected: "the rest of a value" });
        };
        self.at += length;
        Ok(bytes)
    }

    /// A big-endian number of up to 8 bytes.
    fn number(&mut self, length: usize) -> Result<u64, Problem> {
        Ok(self.take(length)?.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }

    fn length(&mut self, length: usize) -> Result<usize, Problem> {
        let number = self.number(length)?;
        usize::try_from(number).or_else(|_| self.wrong("a shorter value"))
    }

    fn value(&mut self, depth: usize) -> Result<Value, Problem> {
        let tag = self.number(1)? as u8;
        Ok(match tag {
            0x00..=0x7f => Value::Number(f64::from(tag)),
            0xe0..=0xff => Value::Number(f64::from(tag as i8)),
            0x80..=0x8f => self.map(usize::from(tag & 0x0f), depth)?,
            0x90..=0x9f => self.list(usize::from(tag & 0x0f), depth)?,
            0xa0..=0xbf => self.text(usize::from(tag & 0x1f))?,
            0xc0 => Value::Null,
            0xc1 => {
                self.at -= 1;
                return self.wrong("a value of MessagePack");
            }
            0xc2 | 0xc3 => Value::Bool(tag == 0xc3),
            0xc4..=0xc6 => {
                let length = self.length(1 << (tag - 0xc4))?;
                self.take(length)?;
                Value::Null
            }
            0xc7..=0xc9 => {
                let length = self.length(1 << (tag - 0xc7))?;
                self.take(length.saturating_add(1))?;
                Value::Null
            }
            0xca => Value::Number(f64::from(f32::from_bits(self.number(4)? as u32))),
            0xcb => Value::Number(f64::from_bits(self.number(8)?)),
            0xcc..=0xcf => Value::Number(self.number(1 << (tag - 0xcc))? as f64),
            0xd0..=0xd3 => {
                let length = 1 << (tag - 0xd0);
                let unused = 64 - 8 * length as u32;
                Value::Number(((self.number(length)? << unused) as i64 >> unused) as f64)
            }
            0xd4..=0xd8 => {
                self.take((1 << (tag - 0xd4)) + 1)?;
                Value::Null
            }
            0xd9..=0xdb => {
                let length = self.length(1 << (tag - 0xd9))?;
                self.text(length)?
            }
            0xdc | 0xdd => {
                let length = self.length(2 << (tag - 0xdc))?;
                self.list(length, depth)?
            }
            0xde | 0xdf => {
                let length = self.length(2 << (tag - 0xde))?;
                self.map(length, depth)?
            }
        })
    }

    fn text(&mut self, length: usize) -> Result<Value, Problem> {
        Ok(Value::Text(String::from_utf8_lossy(self.take(length)?).into_owned()))
    }

    /// An element takes at least a byte: no more than there are bytes need room at first.
    fn list(&mut self, length: usize, depth: usize) -> Result<Value, Problem> {
        if depth == MAX_DEPTH {
            return self.wrong("at most 64 levels of nesting");
        }
        if length > self.bytes.len() - self.at {
            return self.wrong("a list no longer than the rest of the input");
        }
        (0..length).map(|_| self.value(depth + 1)).collect::<Result<_, _>>().map(Value::List)
    }

    fn map(&mut self, length: usize, depth: usize) -> Result<Value, Problem> {
        if depth == MAX_DEPTH {
            return self.wrong("at most 64 levels of nesting");
        }
        if length > (self.bytes.len() - self.at) / 2 {
            return self.wrong("a map no longer than the rest of the input");
        }
        let entry = |parser: &mut Self| {
            let key = match parser.value(depth + 1)? {
                Value::Text(key) => key,
                Value::Number(key) => key.to_string(),
                _ => return parser.wrong("a text as key"),
            };
            Ok((key, parser.value(depth + 1)?))
        };
        (0..length).map(|_| entry(self)).collect::<Result<_, _>>().map(Value::Map)
    }
}
