//! JSON as it is found: with `NaN` and `Infinity`, and with any number of values after each other.

use super::{Decoded, MAX_DEPTH, Problem, Value};

/// The next value; `None` at the end.
pub(super) fn next(bytes: &[u8], at: &mut usize) -> Decoded {
    let mut parser = Parser { bytes, at: *at };
    parser.skip_space();
    if parser.at == bytes.len() {
        return Ok(None);
    }
    let value = parser.value(0)?;
    *at = parser.at;
    Ok(Some(value))
}

struct Parser<'a> {
    bytes: &'a [u8],
    at: usize,
}

const WORDS: [(&[u8], Value); 8] = [
    (b"null", Value::Null),
    (b"true", Value::Bool(true)),
    (b"false", Value::Bool(false)),
    (b"NaN", Value::Number(f64::NAN)),
    (b"nan", Value::Number(f64::NAN)),
    (b"-nan", Value::Number(f64::NAN)),
    (b"Infinity", Value::Number(f64::INFINITY)),
    (b"-Infinity", Value::Number(f64::NEG_INFINITY)),
];

impl Parser<'_> {
    fn rest(&self) -> &[u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn wrong<T>(&self, expected: &'static str) -> Result<T, Problem> {
        Err(Problem { offset: self.at, expected })
    }

    fn value(&mut self, depth: usize) -> Result<Value, Problem> {
        self.skip_space();
        match self.peek() {
            Some(b'{' | b'[') if depth == MAX_DEPTH => self.wrong("at most 64 levels of nesting"),
            Some(b'{') => self.map(depth),
            Some(b'[') => self.list(depth),
            Some(b'"') => Ok(Value::Text(self.text()?)),
            Some(_) => self.number_or_word(),
            None => self.wrong("a value"),
        }
    }

    fn map(&mut self, depth: usize) -> Result<Value, Problem> {
        self.at += 1;
        let mut entries = Vec::new();
        loop {
            self.skip_space();
            match self.peek() {
                Some(b'}') if entries.is_empty() => break,
                Some(b'"') => {}
                _ => return self.wrong("a key in quotes"),
            }
            let key = self.text()?;
            self.skip_space();
            if self.peek() != Some(b':') {
                return self.wrong("a colon");
            }
            self.at += 1;
            entries.push((key, self.value(depth + 1)?));
            self.skip_space();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b'}') => break,
                _ => return self.wrong("a comma or }"),
            }
        }
        self.at += 1;
        Ok(Value::Map(entries))
    }

    fn list(&mut self, depth: usize) -> Result<Value, Problem> {
        self.at += 1;
        let mut elements = Vec::new();
        loop {
            self.skip_space();
            if self.peek() == Some(b']') && elements.is_empty() {
                break;
            }
            elements.push(self.value(depth + 1)?);
            self.skip_space();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b']') => break,
                _ => return self.wrong("a comma or ]"),
            }
        }
        self.at += 1;
        Ok(Value::List(elements))
    }

    fn number_or_word(&mut self) -> Result<Value, Problem> {
        if let Some((word, value)) = WORDS.iter().find(|(word, _)| self.rest().starts_with(word)) {
            self.at += word.len();
            return Ok(value.clone());
        }
        let is_part = |byte: &&u8| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E');
        let length = self.rest().iter().take_while(is_part).count();
        let text = self.rest().get(..length).and_then(|text| std::str::from_utf8(text).ok());
        match text.and_then(|text| text.parse().ok()) {
            Some(number) => {
                self.at += length;
                Ok(Value::Number(number))
            }
            None => self.wrong("a value"),
        }
    }

    /// A string; bytes that are not UTF-8 become U+FFFD.
    fn text(&mut self) -> Result<String, Problem> {
        self.at += 1;
        let mut text = Vec::new();
        loop {
            let plain = self.rest().iter().take_while(|byte| !matches!(byte, b'"' | b'\\')).count();
            text.extend_from_slice(&self.rest()[..plain]);
            self.at += plain;
            match self.peek() {
                Some(b'"') => break,
                Some(_) => self.escape(&mut text)?,
                None => return self.wrong("the closing quote"),
            }
        }
        self.at += 1;
        Ok(String::from_utf8(text)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
    }

    fn escape(&mut self, text: &mut Vec<u8>) -> Result<(), Problem> {
        let Some(&kind) = self.bytes.get(self.at + 1) else { return self.wrong("an escape sequence") };
        let c = match kind {
            b'n' => '\n',
            b't' => '\t',
            b'r' => '\r',
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'"' | b'\\' | b'/' => char::from(kind),
            b'u' => {
                let Some(code) = self.hexadecimal(self.at + 2) else {
                    return self.wrong("four hexadecimal digits");
                };
                self.at += 4;
                // Characters beyond U+FFFF are two escapes, one after the other.
                let second = matches!(self.bytes.get(self.at + 2..self.at + 4), Some(b"\\u"))
                    .then(|| self.hexadecimal(self.at + 4))
                    .flatten();
                let pair = second.and_then(|second| char::decode_utf16([code, second]).next()?.ok());
                match pair.filter(|c| c.len_utf16() == 2) {
                    Some(c) => {
                        self.at += 6;
                        c
                    }
                    None => char::from_u32(code.into()).unwrap_or('\u{fffd}'),
                }
            }
            _ => return self.wrong("an escape sequence"),
        };
        self.at += 2;
        text.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
        Ok(())
    }

    /// Four digits.
    fn hexadecimal(&self, at: usize) -> Option<u16> {
        let digits = self.bytes.get(at..at + 4).and_then(|digits| std::str::from_utf8(digits).ok())?;
        u16::from_str_radix(digits, 16).ok()
    }
}
