//! Data of unknown shape, from JSON or MessagePack.
//!
//! For small inputs that are easiest understood as a whole. Both decoders are bounded: in depth, and in
//! memory by a small multiple of the bytes that are really there, whatever lengths they claim.

mod json;
mod message_pack;

use super::error::{SourceError, excerpt};

/// Deeper nesting is refused.
const MAX_DEPTH: usize = 64;

/// Any data.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Nothing, or a kind of data that has no meaning here.
    Null,
    /// True or false.
    Bool(bool),
    /// Any number; also NaN and infinities, which TMIO and Python write into JSON.
    Number(f64),
    /// Text.
    Text(String),
    /// A list.
    List(Vec<Value>),
    /// A map, in the order of the input.
    Map(Vec<(String, Value)>),
}

/// Where and why decoding stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Problem {
    offset: usize,
    expected: &'static str,
}

impl Value {
    /// All values of a JSON text: one, or several after each other, as in JSON Lines.
    pub fn from_json(name: &str, bytes: &[u8]) -> Result<Vec<Value>, SourceError> {
        all(bytes, json::next).map_err(|problem| {
            let before = &bytes[..problem.offset.min(bytes.len())];
            let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
            let column = before.iter().rev().take_while(|byte| **byte != b'\n').count() + 1;
            malformed(name, format!("line {line}, column {column}"), bytes, &problem)
        })
    }

    /// The JSON value that begins at a byte, and where it ends; else where and what was expected instead.
    pub fn next_json(bytes: &[u8], at: usize) -> Result<(Value, usize), String> {
        let mut end = at;
        match json::next(bytes, &mut end) {
            Ok(Some(value)) => Ok((value, end)),
            Ok(None) => Err(format!("byte {at}: expected a value, found the end")),
            Err(problem) => Err(format!("byte {}: expected {}", problem.offset, problem.expected)),
        }
    }

    /// All values of a MessagePack stream.
    pub fn from_message_pack(name: &str, bytes: &[u8]) -> Result<Vec<Value>, SourceError> {
        all(bytes, message_pack::next)
            .map_err(|problem| malformed(name, format!("byte {}", problem.offset), bytes, &problem))
    }

    /// The value of a key, if this is a map that has it.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.as_map()?.iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// The entries, if this is a map.
    pub fn as_map(&self) -> Option<&[(String, Value)]> {
        if let Value::Map(entries) = self { Some(entries) } else { None }
    }

    /// The elements, if this is a list.
    pub fn as_list(&self) -> Option<&[Value]> {
        if let Value::List(elements) = self { Some(elements) } else { None }
    }

    /// The number, if it is one; null is not.
    pub fn as_number(&self) -> Option<f64> {
        match self {
            Value::Number(number) => Some(*number),
            Value::Null => Some(f64::NAN),
            _ => None,
        }
    }

    /// The elements of a list of numbers.
    pub fn as_numbers(&self) -> Option<Vec<f64>> {
        self.as_list()?.iter().map(Value::as_number).collect()
    }

    /// What it is, in a word.
    pub fn kind(&self) -> &'static str {
        match self {
            Value::Null => "nothing",
            Value::Bool(_) => "true or false",
            Value::Number(_) => "a number",
            Value::Text(_) => "text",
            Value::List(_) => "a list",
            Value::Map(_) => "a map",
        }
    }
}

type Decoded = Result<Option<Value>, Problem>;

fn all(bytes: &[u8], next: fn(&[u8], &mut usize) -> Decoded) -> Result<Vec<Value>, Problem> {
    let mut values = Vec::new();
    let mut at = 0;
    while let Some(value) = next(bytes, &mut at)? {
        values.push(value);
    }
    Ok(values)
}

fn malformed(name: &str, place: String, bytes: &[u8], problem: &Problem) -> SourceError {
    let rest = bytes.get(problem.offset..).unwrap_or_default();
    let found = match rest {
        [] => "the end".to_owned(),
        rest => format!("\"{}\"", excerpt(rest)),
    };
    SourceError::Malformed { name: name.into(), place, expected: problem.expected.into(), found }
}

#[cfg(test)]
mod tests;
