//! A JSON parser that builds no tree: the caller says what it expects next.

use super::number;
use super::window::{Place, Problem, Window, excerpt};
use std::io::Read;

/// A stream of JSON values.
pub(super) struct Json<R> {
    window: Window<R>,
    line: u64,
}

/// Bytes of a key that are compared; longer ones are cut.
const MAX_KEY: usize = 200;

impl<R: Read> Json<R> {
    pub fn new(input: R) -> Self {
        let mut window = Window::new(input);
        // A byte order mark is not part of the text.
        if window.fill(3).is_ok() && window.bytes().starts_with(b"\xef\xbb\xbf") {
            window.advance(3);
        }
        Self { window, line: 1 }
    }

    pub fn place(&self) -> Place {
        Place { offset: self.window.offset(), line: self.line }
    }

    fn unexpected(&self, expected: impl Into<String>) -> Problem {
        let found = excerpt(self.window.bytes());
        Problem::Unexpected { place: self.place(), expected: expected.into(), found }
    }

    /// The next byte that is not white space; `None` at the end.
    pub fn peek(&mut self) -> Result<Option<u8>, Problem> {
        loop {
            self.window.fill(1)?;
            let bytes = self.window.bytes();
            let (space, lines) = leading_space(bytes);
            let next = bytes.get(space).copied();
            self.line += lines;
            self.window.advance(space);
            if next.is_some() || (self.window.ended() && self.window.bytes().is_empty()) {
                return Ok(next);
            }
        }
    }

    fn next(&mut self, expected: &'static str) -> Result<u8, Problem> {
        self.peek()?.ok_or(Problem::Cut { place: self.place(), expected })
    }

    fn take(&mut self, byte: u8, expected: &'static str) -> Result<(), Problem> {
        if self.next(expected)? != byte {
            return Err(self.unexpected(expected));
        }
        self.window.advance(1);
        Ok(())
    }

    /// Reads an object: `member` gets each key and must read its value.
    pub fn object<E: From<Problem>>(
        &mut self,
        mut member: impl FnMut(&mut Self, &[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        self.take(b'{', "'{'")?;
        if self.next("a key or '}'")? == b'}' {
            self.window.advance(1);
            return Ok(());
        }
        let mut key = Vec::new();
        loop {
            if self.next("a key")? != b'"' {
                return Err(self.unexpected("a key").into());
            }
            self.string(Some(&mut key))?;
            self.take(b':', "':'")?;
            member(self, &key)?;
            match self.next("',' or '}'")? {
                b',' => self.window.advance(1),
                b'}' => {
                    self.window.advance(1);
                    return Ok(());
                }
                _ => return Err(self.unexpected("',' or '}'").into()),
            }
        }
    }

    /// Reads a string, its escapes as they are.
    fn string(&mut self, mut text: Option<&mut Vec<u8>>) -> Result<(), Problem> {
        self.take(b'"', "a string")?;
        if let Some(text) = &mut text {
            text.clear();
        }
        let mut escaped = false;
        loop {
            self.window.fill(1)?;
            let bytes = self.window.bytes();
            if bytes.is_empty() {
                return Err(Problem::Cut { place: self.place(), expected: "the end of a string" });
            }
            let mut end = None;
            for (place, &byte) in bytes.iter().enumerate() {
                self.line += u64::from(byte == b'\n');
                match byte {
                    _ if escaped => escaped = false,
                    b'\\' => escaped = true,
                    b'"' => {
                        end = Some(place);
                        break;
                    }
                    _ => {}
                }
            }
            let part = bytes.get(..end.unwrap_or(bytes.len())).unwrap_or_default();
            if let Some(text) = &mut text {
                text.extend(part.iter().take(MAX_KEY.saturating_sub(text.len())));
            }
            let length = part.len();
            self.window.advance(length + usize::from(end.is_some()));
            if end.is_some() {
                return Ok(());
            }
        }
    }

    /// Reads a number, or a word or string that stands for one.
    pub fn number(&mut self) -> Result<f64, Problem> {
        self.next("a number")?;
        self.window.fill(number::LONGEST)?;
        let bytes = self.window.bytes();
        let Some((value, rest)) = number::parse(bytes) else { return Err(self.unexpected("a number")) };
        let length = bytes.len() - rest.len();
        self.window.advance(length);
        Ok(value)
    }

    /// Reads a list of numbers and appends them.
    pub fn numbers(&mut self, list: &mut Vec<f64>) -> Result<(), Problem> {
        self.take(b'[', "'['")?;
        let mut after = After::Bracket;
        loop {
            self.window.fill(number::LONGEST)?;
            let bytes = self.window.bytes();
            let run = run_of_numbers(bytes, self.window.ended(), &mut after, list);
            self.line += run.lines;
            self.window.advance(run.used);
            match run.end {
                RunEnd::Bracket => return Ok(()),
                RunEnd::More if self.window.ended() && self.window.bytes().is_empty() => {
                    return Err(Problem::Cut { place: self.place(), expected: after.expected() });
                }
                RunEnd::More => {}
                RunEnd::Unexpected => return Err(self.unexpected(after.expected())),
            }
        }
    }

    /// Reads over a value of any kind.
    pub fn skip(&mut self) -> Result<(), Problem> {
        let mut depth = 0u64;
        loop {
            match self.next("a value")? {
                b'"' => self.string(None)?,
                b'{' | b'[' => {
                    depth += 1;
                    self.window.advance(1);
                }
                b'}' | b']' if depth > 0 => {
                    depth -= 1;
                    self.window.advance(1);
                }
                b',' | b':' if depth > 0 => self.window.advance(1),
                b',' | b':' | b'}' | b']' => return Err(self.unexpected("a value")),
                _ if depth > 0 => {}
                _ => self.skip_scalar()?,
            }
            if depth == 0 {
                return Ok(());
            }
            self.skip_plain()?;
        }
    }

    /// Skips a number or a word.
    fn skip_scalar(&mut self) -> Result<(), Problem> {
        let ends = |byte: &u8| byte.is_ascii_whitespace() || b",:[]{}\"".contains(byte);
        loop {
            self.window.fill(1)?;
            let bytes = self.window.bytes();
            let length = bytes.iter().position(ends).unwrap_or(bytes.len());
            let at_end = length < bytes.len() || bytes.is_empty();
            self.window.advance(length);
            if at_end {
                return Ok(());
            }
        }
    }

    /// Skips to the next byte that means something for the nesting: numbers, words and space.
    fn skip_plain(&mut self) -> Result<(), Problem> {
        loop {
            self.window.fill(1)?;
            let bytes = self.window.bytes();
            let length = plain_length(bytes);
            let at_end = length < bytes.len() || bytes.is_empty();
            self.line += count_lines(bytes.get(..length).unwrap_or_default());
            self.window.advance(length);
            if at_end {
                return Ok(());
            }
        }
    }

    /// Goes to the beginning of the next line that begins with an object; `false`: there is none.
    pub fn next_line_of_object(&mut self) -> Result<bool, Problem> {
        loop {
            self.window.fill(1)?;
            let bytes = self.window.bytes();
            if bytes.is_empty() {
                return Ok(false);
            }
            match bytes.iter().position(|&byte| byte == b'\n') {
                None => {
                    let length = bytes.len();
                    self.window.advance(length);
                }
                Some(length) => {
                    self.window.advance(length + 1);
                    self.line += 1;
                    if self.peek()? == Some(b'{') {
                        return Ok(true);
                    }
                }
            }
        }
    }
}

/// What came before in a list.
#[derive(Clone, Copy, PartialEq)]
enum After {
    Bracket,
    Comma,
    Number,
}

impl After {
    fn expected(self) -> &'static str {
        match self {
            After::Bracket => "a number or ']'",
            After::Comma => "a number",
            After::Number => "',' or ']'",
        }
    }
}

struct Run {
    used: usize,
    lines: u64,
    end: RunEnd,
}

enum RunEnd {
    Bracket,
    More,
    Unexpected,
}

/// Reads as much of a list as is in memory, as long as no number can be cut off.
fn run_of_numbers(bytes: &[u8], ended: bool, after: &mut After, list: &mut Vec<f64>) -> Run {
    let mut rest = bytes;
    let mut lines = 0;
    let run = |rest: &[u8], lines, end| Run { used: bytes.len() - rest.len(), lines, end };
    loop {
        while let [space @ (b' ' | b'\n' | b'\t' | b'\r'), tail @ ..] = rest {
            lines += u64::from(*space == b'\n');
            rest = tail;
        }
        if rest.is_empty() || (rest.len() < number::LONGEST && !ended) {
            return run(rest, lines, RunEnd::More);
        }
        match (*after, rest) {
            (After::Number, [b',', tail @ ..]) => (rest, *after) = (tail, After::Comma),
            (After::Bracket | After::Number, [b']', tail @ ..]) => return run(tail, lines, RunEnd::Bracket),
            (After::Bracket | After::Comma, _) => match number::parse(rest) {
                Some((value, tail)) => {
                    list.push(value);
                    (rest, *after) = (tail, After::Number);
                }
                None => return run(rest, lines, RunEnd::Unexpected),
            },
            _ => return run(rest, lines, RunEnd::Unexpected),
        }
    }
}

fn leading_space(bytes: &[u8]) -> (usize, u64) {
    let is_space = |byte: &u8| matches!(byte, b' ' | b'\n' | b'\t' | b'\r');
    let length = bytes.iter().position(|byte| !is_space(byte)).unwrap_or(bytes.len());
    (length, count_lines(bytes.get(..length).unwrap_or_default()))
}

fn count_lines(bytes: &[u8]) -> u64 {
    bytes.iter().filter(|&&byte| byte == b'\n').count() as u64
}

/// How many bytes come before the next quote, bracket or brace. By blocks, which the compiler turns into
/// vector instructions: long lists that are not needed are skipped at the speed of memory.
fn plain_length(bytes: &[u8]) -> usize {
    let matters = |byte: u8| matches!(byte, b'"' | b'[' | b']' | b'{' | b'}');
    let blocks = bytes.chunks_exact(64);
    let plain =
        blocks.take_while(|block| !block.iter().fold(false, |found, &byte| found | matters(byte))).count();
    let start = plain * 64;
    let rest = bytes.get(start..).unwrap_or_default();
    start + rest.iter().position(|&byte| matters(byte)).unwrap_or(rest.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hands out one byte at a time, so that every refill happens.
    struct Slow<'a>(&'a [u8]);

    impl Read for Slow<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            let [first, rest @ ..] = self.0 else { return Ok(0) };
            buffer[0] = *first;
            self.0 = rest;
            Ok(1)
        }
    }

    #[test]
    fn lists_are_read_across_refills() {
        let numbers: Vec<f64> = (0..200_000).map(|n| f64::from(n) * 1.25).collect();
        let text: Vec<String> = numbers.iter().map(|n| format!("\n{n:.6}")).collect();
        let text = format!("[{}] 7", text.join(" ,"));
        let mut json = Json::new(text.as_bytes());
        let mut list = Vec::new();
        json.numbers(&mut list).unwrap();
        assert_eq!(list, numbers);
        assert_eq!(json.place().line, 200_001);
        assert_eq!(json.number().unwrap(), 7.0);
        let mut list = Vec::new();
        Json::new(Slow(b"[1,2.5 , -3e0]")).numbers(&mut list).unwrap();
        assert_eq!(list, [1.0, 2.5, -3.0]);
    }

    #[test]
    fn any_value_is_skipped() {
        let text = r#"{"a": [1, {"b": "]}\"", "c": []}, null, true], "d": {}} [] "x" 12 -inf {"e"#;
        let mut json = Json::new(Slow(text.as_bytes()));
        for _ in 0..5 {
            json.skip().unwrap();
        }
        assert!(matches!(json.skip(), Err(Problem::Cut { .. })));
    }

    #[test]
    fn problems_name_the_place_and_what_is_there() {
        let message = |text: &str| {
            let mut json = Json::new(text.as_bytes());
            json.numbers(&mut Vec::new()).unwrap_err().to_string()
        };
        assert_eq!(message("[1, 2\n x]"), "line 2, at byte 7: expected ',' or ']', found 'x]'");
        assert_eq!(message("[1, ]"), "line 1, at byte 4: expected a number, found ']'");
        assert_eq!(message("[1, 2"), "line 1, at byte 5: expected ',' or ']', found the end");
    }
}
