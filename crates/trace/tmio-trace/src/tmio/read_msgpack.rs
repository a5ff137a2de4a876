//! Reads TMIO's MessagePack: arrays of totals and phases, five for each flush.

use super::digest::{Digest, Scalars, Series};
use super::io_time::IoTime;
use super::window::{Place, Problem, Window};
use super::write_msgpack::IO_TIME;
use super::{FilePhase, Format, Mode, ReadOptions, VisitPhase};
use crate::Class;
use std::io::{self, Read};

/// Phases go to `visit` if there is one, else into the digest.
pub(super) fn read(
    input: impl Read,
    options: ReadOptions,
    visit: Option<&mut VisitPhase<'_>>,
) -> io::Result<Digest> {
    let mut reader = Reader {
        window: Window::new(input),
        digest: Digest::new(Format::Msgpack),
        options,
        visit,
        counts: [0; 5],
    };
    loop {
        reader.window.fill(1)?;
        if reader.window.bytes().is_empty() {
            break;
        }
        match reader.object() {
            Ok(()) => {}
            Err(Problem::Io(error)) => return Err(error),
            Err(problem) => {
                reader.digest.warn(problem.to_string());
                break;
            }
        }
    }
    Ok(reader.finish())
}

/// Whether these bytes begin an array that TMIO writes.
pub(super) fn is_start(bytes: &[u8]) -> bool {
    let Some((Token::Array(14..=19), rest)) = token(bytes) else { return false };
    let Some((Token::Text(length), rest)) = token(rest) else { return false };
    let name = rest.get(..length as usize).unwrap_or_default();
    name == b"io_time" || class_of(name).is_some()
}

fn class_of(name: &[u8]) -> Option<Class> {
    Class::ALL.into_iter().find(|class| class.name().as_bytes() == name)
}

/// The head of a MessagePack value, which for numbers is all of it.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Token {
    Number(f64),
    Boolean,
    Nil,
    /// Bytes that follow.
    Text(u32),
    Bytes(u32),
    /// Values that follow.
    Array(u32),
    Map(u32),
}

impl Token {
    fn name(self) -> &'static str {
        match self {
            Token::Number(_) => "a number",
            Token::Boolean => "a boolean",
            Token::Nil => "nil",
            Token::Text(_) => "a string",
            Token::Bytes(_) => "bytes",
            Token::Array(_) => "an array",
            Token::Map(_) => "a map",
        }
    }
}

/// Longest head of a value.
const MAX_TOKEN: usize = 9;

/// The head of the first value and what follows it; `None` if there is no whole one.
#[inline]
fn token(bytes: &[u8]) -> Option<(Token, &[u8])> {
    let (&tag, rest) = bytes.split_first()?;
    let number = |value: f64| Some((Token::Number(value), rest));
    match tag {
        0x00..=0x7f => number(f64::from(tag)),
        0xe0..=0xff => number(f64::from(tag as i8)),
        0x80..=0x8f => Some((Token::Map(u32::from(tag & 0x0f)), rest)),
        0x90..=0x9f => Some((Token::Array(u32::from(tag & 0x0f)), rest)),
        0xa0..=0xbf => Some((Token::Text(u32::from(tag & 0x1f)), rest)),
        0xcb => fixed(rest, |b: [u8; 8]| Token::Number(f64::from_be_bytes(b))),
        0xca => fixed(rest, |b: [u8; 4]| Token::Number(f64::from(f32::from_be_bytes(b)))),
        0xcc => fixed(rest, |[b]: [u8; 1]| Token::Number(f64::from(b))),
        0xcd => fixed(rest, |b: [u8; 2]| Token::Number(f64::from(u16::from_be_bytes(b)))),
        0xce => fixed(rest, |b: [u8; 4]| Token::Number(f64::from(u32::from_be_bytes(b)))),
        0xcf => fixed(rest, |b: [u8; 8]| Token::Number(u64::from_be_bytes(b) as f64)),
        0xd0 => fixed(rest, |b: [u8; 1]| Token::Number(f64::from(i8::from_be_bytes(b)))),
        0xd1 => fixed(rest, |b: [u8; 2]| Token::Number(f64::from(i16::from_be_bytes(b)))),
        0xd2 => fixed(rest, |b: [u8; 4]| Token::Number(f64::from(i32::from_be_bytes(b)))),
        0xd3 => fixed(rest, |b: [u8; 8]| Token::Number(i64::from_be_bytes(b) as f64)),
        0xc0 | 0xc1 => Some((Token::Nil, rest)),
        0xc2 | 0xc3 => Some((Token::Boolean, rest)),
        0xd9 => fixed(rest, |[b]: [u8; 1]| Token::Text(u32::from(b))),
        0xda => fixed(rest, |b: [u8; 2]| Token::Text(u32::from(u16::from_be_bytes(b)))),
        0xdb => fixed(rest, |b: [u8; 4]| Token::Text(u32::from_be_bytes(b))),
        0xc4 => fixed(rest, |[b]: [u8; 1]| Token::Bytes(u32::from(b))),
        0xc5 => fixed(rest, |b: [u8; 2]| Token::Bytes(u32::from(u16::from_be_bytes(b)))),
        0xc6 => fixed(rest, |b: [u8; 4]| Token::Bytes(u32::from_be_bytes(b))),
        0xdc => fixed(rest, |b: [u8; 2]| Token::Array(u32::from(u16::from_be_bytes(b)))),
        0xdd => fixed(rest, |b: [u8; 4]| Token::Array(u32::from_be_bytes(b))),
        0xde => fixed(rest, |b: [u8; 2]| Token::Map(u32::from(u16::from_be_bytes(b)))),
        0xdf => fixed(rest, |b: [u8; 4]| Token::Map(u32::from_be_bytes(b))),
        // Extensions: their bytes and the one that says which extension.
        0xd4..=0xd8 => Some((Token::Bytes(1 + (1 << (tag - 0xd4))), rest)),
        0xc7 => fixed(rest, |[b]: [u8; 1]| Token::Bytes(1 + u32::from(b))),
        0xc8 => fixed(rest, |b: [u8; 2]| Token::Bytes(1 + u32::from(u16::from_be_bytes(b)))),
        0xc9 => fixed(rest, |b: [u8; 4]| Token::Bytes(u32::from_be_bytes(b).saturating_add(1))),
    }
}

#[inline]
fn fixed<const N: usize>(bytes: &[u8], make: impl Fn([u8; N]) -> Token) -> Option<(Token, &[u8])> {
    let (value, rest) = bytes.split_first_chunk()?;
    Some((make(*value), rest))
}

/// The nine numbers of a phase.
#[inline]
fn phase(bytes: &[u8]) -> Option<([f64; 9], &[u8])> {
    let [0x99, rest @ ..] = bytes else { return None };
    let mut rest = rest;
    let mut numbers = [0.0; 9];
    for number in &mut numbers {
        (*number, rest) = match rest {
            // What TMIO writes, without the detour.
            [0xcb, b0, b1, b2, b3, b4, b5, b6, b7, tail @ ..] => {
                (f64::from_be_bytes([*b0, *b1, *b2, *b3, *b4, *b5, *b6, *b7]), tail)
            }
            [small @ ..0x80, tail @ ..] => (f64::from(*small), tail),
            _ => {
                let (Token::Number(value), tail) = token(rest)? else { return None };
                (value, tail)
            }
        };
    }
    Some((numbers, rest))
}

impl From<[f64; 9]> for FilePhase {
    #[inline]
    fn from([bytes, start, end, required_end, _, throughput, _, required, _]: [f64; 9]) -> Self {
        FilePhase { start, end, required_end, bytes, throughput, required }
    }
}

struct Reader<'a, 'b, R> {
    window: Window<R>,
    digest: Digest,
    options: ReadOptions,
    visit: Option<&'a mut VisitPhase<'b>>,
    /// How often each of the five objects was there.
    counts: [u64; 5],
}

impl<R: Read> Reader<'_, '_, R> {
    fn place(&self) -> Place {
        Place { offset: self.window.offset(), line: 0 }
    }

    fn unexpected(&self, place: Place, expected: impl Into<String>, found: impl Into<String>) -> Problem {
        Problem::Unexpected { place, expected: expected.into(), found: found.into() }
    }

    fn token(&mut self, expected: &'static str) -> Result<Token, Problem> {
        self.window.fill(MAX_TOKEN)?;
        let bytes = self.window.bytes();
        let Some((token, rest)) = token(bytes) else {
            return Err(Problem::Cut { place: self.place(), expected });
        };
        let length = bytes.len() - rest.len();
        self.window.advance(length);
        Ok(token)
    }

    fn number(&mut self, expected: &'static str) -> Result<f64, Problem> {
        let place = self.place();
        match self.token(expected)? {
            Token::Number(value) => Ok(value),
            Token::Nil => Ok(f64::NAN),
            other => Err(self.unexpected(place, expected, other.name())),
        }
    }

    /// Reads over values.
    fn skip(&mut self, values: u64) -> Result<(), Problem> {
        let mut left = values;
        while left > 0 {
            left -= 1;
            match self.token("a value")? {
                Token::Array(count) => left = left.saturating_add(u64::from(count)),
                Token::Map(count) => left = left.saturating_add(2 * u64::from(count)),
                Token::Text(length) | Token::Bytes(length) => self.skip_bytes(u64::from(length))?,
                Token::Number(_) | Token::Boolean | Token::Nil => {}
            }
        }
        Ok(())
    }

    fn skip_bytes(&mut self, mut length: u64) -> Result<(), Problem> {
        while length > 0 {
            self.window.fill(1)?;
            let there = self.window.bytes().len().min(usize::try_from(length).unwrap_or(usize::MAX));
            if there == 0 {
                return Err(Problem::Cut { place: self.place(), expected: "the rest of a string" });
            }
            self.window.advance(there);
            length -= there as u64;
        }
        Ok(())
    }

    /// One array: what it is called decides what is in it.
    fn object(&mut self) -> Result<(), Problem> {
        let place = self.place();
        let length = match self.token("an array of TMIO's")? {
            Token::Array(length @ 1..) => length,
            other => return Err(self.unexpected(place, "an array of TMIO's", other.name())),
        };
        let name_place = self.place();
        let name = match self.token("the name of a section")? {
            Token::Text(length @ 0..=64) => {
                self.window.fill(length as usize)?;
                let name = self.window.bytes().get(..length as usize).map(<[u8]>::to_vec);
                let cut = Problem::Cut { place: name_place, expected: "the name of a section" };
                self.window.advance(length as usize);
                name.ok_or(cut)?
            }
            other => return Err(self.unexpected(name_place, "the name of a section", other.name())),
        };
        let (needed, index) = match (name.as_slice(), class_of(&name)) {
            (b"io_time", _) => (18, 4),
            (_, Some(class)) => (14, Class::ALL.iter().position(|&other| other == class).unwrap_or(0)),
            _ => return self.skip(u64::from(length) - 1),
        };
        if length < needed {
            let found = format!("{length} values");
            let what = format!("at least {needed} values in {}", name.escape_ascii());
            return Err(self.unexpected(place, what, found));
        }
        match class_of(&name) {
            Some(class) => self.class(class, length)?,
            None => self.io_time(length)?,
        }
        self.counts.iter_mut().skip(index).take(1).for_each(|count| *count += 1);
        Ok(())
    }

    fn io_time(&mut self, length: u32) -> Result<(), Problem> {
        let mut time = IoTime::default();
        let values = IO_TIME.len().min(length as usize - 1);
        for key in IO_TIME.into_iter().take(values) {
            let value = self.number("a time")?;
            time.get_mut(key.as_bytes()).into_iter().for_each(|field| *field = value);
        }
        self.digest.io_time.get_or_insert_default().add(&time);
        self.skip(u64::from(length) - 1 - values as u64)
    }

    fn class(&mut self, class: Class, length: u32) -> Result<(), Problem> {
        self.skip(2)?;
        let mut scalars = Scalars::default();
        for value in [
            &mut scalars.total_bytes,
            &mut scalars.max_bytes_per_rank,
            &mut scalars.max_bytes_per_phase,
            &mut scalars.max_io_phases_per_rank,
            &mut scalars.total_io_phases,
            &mut scalars.max_io_ops_in_phase,
            &mut scalars.max_io_ops_per_rank,
            &mut scalars.total_io_ops,
            &mut scalars.number_of_ranks,
            &mut scalars.processes,
        ] {
            *value = self.number("a total")?;
        }
        let place = self.place();
        let count = match self.token("the phases")? {
            Token::Array(count) => count,
            other => return Err(self.unexpected(place, "an array of phases", other.name())),
        };
        // Phases that are whole count, also if the array is cut off.
        for mode in [Some(Mode::actual(class)), Mode::required(class)].into_iter().flatten() {
            let series = self.digest.series_mut(mode);
            series.scalars.merge(&scalars, series.flushes);
            series.flushes += 1;
        }
        self.phases(class, count)?;
        self.skip(u64::from(length) - 14)
    }

    fn phases(&mut self, class: Class, count: u32) -> Result<(), Problem> {
        const MAX_PHASE: usize = 1 + 9 * MAX_TOKEN;
        let sums = self.options.sums;
        let mut left = count;
        while left > 0 {
            self.window.fill(MAX_PHASE)?;
            let bytes = self.window.bytes();
            let mut rest = bytes;
            if let Some(visit) = &mut self.visit {
                while left > 0 && (rest.len() >= MAX_PHASE || self.window.ended()) {
                    let Some((numbers, tail)) = phase(rest) else { break };
                    visit(class, &numbers.into());
                    rest = tail;
                    left -= 1;
                }
                let used = bytes.len() - rest.len();
                self.window.advance(used);
                if used == 0 {
                    self.odd_phase(class, count - left, count)?;
                    left -= 1;
                }
                continue;
            }
            // Moved out, so that the loop has no look-ups.
            let (mut actual, mut required) = taken(&mut self.digest, class);
            while left > 0 && (rest.len() >= MAX_PHASE || self.window.ended()) {
                let Some((numbers, tail)) = phase(rest) else { break };
                push(&mut actual, required.as_mut(), numbers, sums);
                rest = tail;
                left -= 1;
            }
            let used = bytes.len() - rest.len();
            put_back(&mut self.digest, class, actual, required);
            self.window.advance(used);
            if used == 0 {
                self.odd_phase(class, count - left, count)?;
                left -= 1;
            }
        }
        Ok(())
    }

    /// A phase that is not exactly nine numbers: with nil among them, or with more behind them, or cut
    /// off, or no phase at all.
    fn odd_phase(&mut self, class: Class, index: u32, count: u32) -> Result<(), Problem> {
        const EXPECTED: &str = "a phase (an array of 9 numbers)";
        let place = self.place();
        let length = match self.token(EXPECTED) {
            Ok(Token::Array(length @ 9..)) => length,
            Ok(other) => return Err(self.unexpected(place, EXPECTED, other.name())),
            Err(problem) => return Err(cut_list(problem, index, count)),
        };
        let mut numbers = [0.0; 9];
        for number in &mut numbers {
            *number = self.number(EXPECTED).map_err(|problem| cut_list(problem, index, count))?;
        }
        self.skip(u64::from(length) - 9)?;
        if let Some(visit) = &mut self.visit {
            visit(class, &numbers.into());
            return Ok(());
        }
        let (mut actual, mut required) = taken(&mut self.digest, class);
        push(&mut actual, required.as_mut(), numbers, self.options.sums);
        put_back(&mut self.digest, class, actual, required);
        Ok(())
    }

    fn finish(mut self) -> Digest {
        let most = self.counts.iter().copied().max().unwrap_or(0);
        self.digest.flushes = most;
        if self.digest.complete && self.counts.iter().any(|&count| count != most) {
            let place = self.place();
            self.digest.warn(format!("{place}: expected all 5 arrays of flush {most}, found some of them"));
        }
        self.digest
    }
}

/// Moves the sections of a class out of the digest: by actual and by required bandwidth.
fn taken(digest: &mut Digest, class: Class) -> (Series, Option<Series>) {
    let required = Mode::required(class).map(|mode| digest.take_series(mode));
    (digest.take_series(Mode::actual(class)), required)
}

fn put_back(digest: &mut Digest, class: Class, actual: Series, required: Option<Series>) {
    *digest.series_mut(Mode::actual(class)) = actual;
    if let (Some(mode), Some(required)) = (Mode::required(class), required) {
        *digest.series_mut(mode) = required;
    }
}

/// Adds a phase to the sections of its class.
#[inline]
fn push(actual: &mut Series, required: Option<&mut Series>, numbers: [f64; 9], sums: bool) {
    let [bytes, start, end, required_end, t_sum, t_avr, b_sum, b_avr, _] = numbers;
    let add = |series: &mut Series, average: f64, sum: f64, end: f64| {
        series.rank_bytes.push(bytes);
        series.b_rank_avr.push(average);
        series.t_rank_s.push(start);
        series.t_rank_e.push(end);
        if sums {
            series.b_rank_sum.push(sum);
        }
    };
    add(actual, t_avr, t_sum, end);
    if let Some(required) = required {
        add(required, b_avr, b_sum, required_end);
    }
}

/// Says which phase it was that is not whole.
fn cut_list(problem: Problem, index: u32, count: u32) -> Problem {
    match problem {
        Problem::Cut { place, .. } => Problem::Unexpected {
            place,
            expected: format!("phase {} of {count}", u64::from(index) + 1),
            found: "the end".to_owned(),
        },
        other => other,
    }
}
