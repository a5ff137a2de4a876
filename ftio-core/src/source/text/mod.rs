//! Any text, by a pattern file that says where in it the numbers are.
//!
//! A pattern file is TOML, with expressions in the syntax of the `regex` crates. Either `request` matches once per
//! request, with a named group for each field:
//!
//! ```toml
//! request = '^(?P<start>[\d.]+) (?P<op>read|write) (?P<bytes>\d+) B in (?P<duration>[\d.]+)'
//! [units]
//! duration = "ms"
//! ```
//!
//! or each of `lists` captures, in its first group, all numbers of a field:
//!
//! ```toml
//! mode = "write_sync"
//! [lists]
//! bandwidth = 'avg_thruput_mib: \[(.*)\]'
//! start = 'start_t_micro: \[(.*)\]'
//! end = 'end_t_micro: \[(.*)\]'
//! [units]
//! bandwidth = "MiB/s"
//! start = "us"
//! end = "us"
//! ```
//!
//! Fields are `start`, `end` or `duration`, `bytes` or `bandwidth`, and `rank`; in `request` also `op` (read or write). `[numbers]` may have
//! an expression for `ranks`. `^` and `$` match at every line.

use super::error::excerpt;
use super::intake::{Feed, Intake};
use super::{BandwidthPiece, Job, SourceError, Span, units};
use crate::request::{Class, Mode};
use regex_lite::{Regex, RegexBuilder};
use serde::Deserialize;
use std::collections::BTreeMap;

/// The text form of GekkoFS's client metrics, which FTIO reads without being told how.
const GEKKOFS: &str = r"
[lists]
bandwidth = 'avg_thr(?:ough|u)put_mib: *\[([^\]]*)\]'
start = 'start_t_micro: *\[([^\]]*)\]'
end = 'end_t_micro: *\[([^\]]*)\]'
[units]
bandwidth = 'MiB/s'
start = 'us'
end = 'us'
";

/// The fields of a request, in the order of their numbers.
const FIELDS: [&str; 6] = ["start", "end", "duration", "bytes", "bandwidth", "rank"];
const START: usize = 0;
const END: usize = 1;
const DURATION: usize = 2;
const BYTES: usize = 3;
const BANDWIDTH: usize = 4;
const RANK: usize = 5;

/// How to read a text.
#[derive(Clone, Debug)]
pub struct Pattern {
    class: Class,
    shape: Shape,
    /// Seconds, bytes or bytes per second in the unit of each field.
    units: [f64; 6],
    ranks: Option<Regex>,
}

#[derive(Clone, Debug)]
enum Shape {
    /// One match per request.
    Request(Regex),
    /// One match per list (or several, which are put after each other).
    Lists(Box<[Option<Regex>; 6]>),
}

/// The file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PatternFile {
    mode: Option<String>,
    request: Option<String>,
    #[serde(default)]
    lists: BTreeMap<String, String>,
    #[serde(default)]
    numbers: BTreeMap<String, String>,
    #[serde(default)]
    units: BTreeMap<String, String>,
}

impl Pattern {
    /// The text form of GekkoFS's client metrics.
    pub fn gekkofs() -> Self {
        match Self::parse("GekkoFS", GEKKOFS) {
            Ok(pattern) => pattern,
            Err(error) => unreachable!("{error}"),
        }
    }

    /// From the text of a pattern file; `name` is used in messages.
    pub fn parse(name: &str, text: &str) -> Result<Self, SourceError> {
        let wrong = |place: String, expected: String, found: String| SourceError::Malformed {
            name: name.into(),
            place,
            expected,
            found,
        };
        let file: PatternFile = toml::from_str(text).map_err(|error| {
            let start = error.span().map_or(0, |span| span.start);
            let line = text.get(..start).unwrap_or_default().matches('\n').count() + 1;
            wrong(format!("line {line}"), "a pattern file".into(), error.message().replace('\n', " "))
        })?;
        let compile = |field: &str, expression: &str, groups: &[&str]| {
            let regex = RegexBuilder::new(expression).multi_line(true).build().map_err(|error| {
                wrong(
                    field.into(),
                    "a regular expression".into(),
                    format!("{} ({error})", quoted(expression)),
                )
            })?;
            if groups.is_empty() && regex.captures_len() < 2 {
                return Err(wrong(field.into(), "a group in parentheses".into(), quoted(expression)));
            }
            let unknown =
                regex.capture_names().flatten().find(|name| !groups.is_empty() && !groups.contains(name));
            if let Some(name) = unknown {
                return Err(wrong(field.into(), format!("groups named {}", groups.join(", ")), quoted(name)));
            }
            Ok(regex)
        };
        let shape = match &file.request {
            Some(_) if !file.lists.is_empty() => {
                return Err(wrong("lists".into(), "either request or lists".into(), "both".into()));
            }
            Some(expression) => {
                let groups = [FIELDS.as_slice(), &["op"]].concat();
                Shape::Request(compile("request", expression, &groups)?)
            }
            None => {
                let mut lists = [const { None }; 6];
                for (field, expression) in &file.lists {
                    let number = field_number(field)
                        .ok_or_else(|| wrong("lists".into(), FIELDS.join(", "), quoted(field)))?;
                    lists[number] = Some(compile(field, expression, &[])?);
                }
                Shape::Lists(Box::new(lists))
            }
        };
        let has = |field: usize| match &shape {
            Shape::Request(regex) => regex.capture_names().flatten().any(|name| name == FIELDS[field]),
            Shape::Lists(lists) => lists[field].is_some(),
        };
        if !(has(START) && (has(END) || has(DURATION)) && (has(BYTES) || has(BANDWIDTH))) {
            let expected = "a request or lists with start, end (or duration) and bytes (or bandwidth)".into();
            let found: Vec<&str> =
                (0..FIELDS.len()).filter(|field| has(*field)).map(|field| FIELDS[field]).collect();
            let found = if found.is_empty() { "none of them".into() } else { found.join(", ") };
            return Err(wrong("the fields".into(), expected, found));
        }
        let mut factors = [1.0; 6];
        for (field, unit) in &file.units {
            let factor = match field_number(field) {
                Some(number @ (START | END | DURATION)) => units::time(unit).map(|factor| (number, factor)),
                Some(BYTES) => units::size(unit).map(|factor| (BYTES, factor)),
                Some(BANDWIDTH) => units::rate(unit).map(|factor| (BANDWIDTH, factor)),
                _ => None,
            };
            let Some((number, factor)) = factor else {
                let expected = "units such as \"us\", \"MiB\" or \"MiB/s\"".into();
                return Err(wrong(format!("units, {field}"), expected, quoted(unit)));
            };
            factors[number] = factor;
        }
        let mode = file.mode.as_deref().unwrap_or("write_sync");
        let class = class(mode)
            .ok_or_else(|| wrong("mode".into(), "a mode such as \"write_sync\"".into(), quoted(mode)))?;
        if let Some(unknown) = file.numbers.keys().find(|name| *name != "ranks") {
            return Err(wrong("numbers".into(), "ranks".into(), quoted(unknown)));
        }
        let ranks =
            file.numbers.get("ranks").map(|expression| compile("ranks", expression, &[])).transpose()?;
        Ok(Pattern { class, shape, units: factors, ranks })
    }

    /// Is there anything in the text that it matches?
    pub fn matches(&self, text: &str) -> bool {
        match &self.shape {
            Shape::Request(regex) => regex.is_match(text),
            Shape::Lists(lists) => lists.iter().flatten().all(|regex| regex.is_match(text)),
        }
    }
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", excerpt(text.as_bytes()))
}

fn field_number(field: &str) -> Option<usize> {
    FIELDS.iter().position(|name| *name == field)
}

fn class(mode: &str) -> Option<Class> {
    let mode: Mode = mode.to_ascii_lowercase().parse().ok()?;
    Some(match mode {
        Mode::Write | Mode::WriteSync => Class::WriteSync,
        Mode::Read | Mode::ReadSync => Class::ReadSync,
        Mode::WriteAsync => Class::WriteAsync,
        Mode::ReadAsync => Class::ReadAsync,
        _ => return None,
    })
}

/// A text and how to read it.
#[derive(Debug)]
pub(super) struct Text {
    pub name: String,
    pub text: String,
    pub pattern: Pattern,
}

impl Feed for Text {
    fn feed(self, _: Span, intake: &mut Intake<'_>) -> Result<Job, SourceError> {
        let Text { name, text, pattern } = self;
        let count = match &pattern.shape {
            Shape::Request(regex) => requests(&pattern, regex, &text, intake),
            Shape::Lists(lists) => match columns(&pattern, lists, &text) {
                Ok(columns) => phases(&pattern, &columns, intake),
                Err((place, expected, found)) => {
                    return Err(SourceError::Malformed { name, place, expected, found });
                }
            },
        };
        if count == 0 {
            let what = "expected text that the pattern matches, found none".into();
            return Err(SourceError::Nothing { name, what });
        }
        let ranks =
            pattern.ranks.as_ref().and_then(|regex| regex.captures(&text)?.get(1)?.as_str().parse().ok());
        Ok(Job { ranks: ranks.unwrap_or(0), complete: true, ..Job::default() })
    }
}

/// One request per match; returns how many matched.
fn requests(pattern: &Pattern, regex: &Regex, text: &str, intake: &mut Intake<'_>) -> usize {
    let mut count = 0;
    let (mut line, mut counted_to) = (1, 0);
    for captures in regex.captures_iter(text) {
        count += 1;
        let at = captures.get(0).map_or(0, |whole| whole.start());
        line += text[counted_to..at].matches('\n').count();
        counted_to = at;
        let numbers: [Option<f64>; 6] = std::array::from_fn(|field| {
            let text = captures.name(FIELDS[field])?.as_str();
            Some(text.trim().parse().map_or(f64::NAN, |number: f64| number * pattern.units[field]))
        });
        let named = captures.name("op").map(|word| word.as_str());
        match named.map_or(Some(pattern.class), class) {
            Some(class) => push(&numbers, class, intake, || format!("line {line}")),
            None => intake.leave_out(|| {
                format!("line {line}: expected read or write, found {}", quoted(named.unwrap_or_default()))
            }),
        }
    }
    count
}

type Columns = [Option<Vec<f64>>; 6];

/// The numbers of all lists. The error is place, expected and found.
fn columns(
    pattern: &Pattern,
    lists: &[Option<Regex>; 6],
    text: &str,
) -> Result<Columns, (String, String, String)> {
    let mut columns: Columns = Default::default();
    for (field, regex) in lists.iter().enumerate().filter_map(|(field, regex)| Some((field, regex.as_ref()?)))
    {
        let mut numbers = Vec::new();
        for captures in regex.captures_iter(text) {
            let Some(list) = captures.get(1) else { continue };
            let words =
                list.as_str().split([',', ';', ' ', '\t', '\n', '\r']).filter(|word| !word.is_empty());
            for word in words {
                let number: f64 = word.parse().map_err(|_| {
                    let line = text[..list.start()].matches('\n').count() + 1;
                    (format!("line {line}, {}", FIELDS[field]), "a number".to_owned(), quoted(word))
                })?;
                numbers.push(number * pattern.units[field]);
            }
        }
        columns[field] = Some(numbers);
    }
    let length = columns[START].as_ref().map_or(0, Vec::len);
    for (field, column) in columns.iter().enumerate() {
        if let Some(column) = column.as_ref().filter(|column| column.len() != length) {
            let expected = format!("as many numbers as in start ({length})");
            return Err((format!("the list of {}", FIELDS[field]), expected, column.len().to_string()));
        }
    }
    Ok(columns)
}

fn phases(pattern: &Pattern, columns: &Columns, intake: &mut Intake<'_>) -> usize {
    let count = columns[START].as_ref().map_or(0, Vec::len);
    for index in 0..count {
        let numbers = std::array::from_fn(|field| columns[field].as_ref().map(|column| column[index]));
        push(&numbers, pattern.class, intake, || format!("entry {}", index + 1));
    }
    count
}

fn push(numbers: &[Option<f64>; 6], class: Class, intake: &mut Intake<'_>, place: impl Fn() -> String) {
    let start = numbers[START].unwrap_or(f64::NAN);
    let end = numbers[END].or(numbers[DURATION].map(|duration| start + duration)).unwrap_or(f64::NAN);
    let bytes = match numbers[BYTES] {
        Some(bytes) if (0.0..9e18).contains(&bytes) => Some(bytes.round() as u64),
        Some(bytes) => {
            return intake.leave_out(|| format!("{}: expected a number of bytes, found {bytes}", place()));
        }
        None => None,
    };
    let bandwidth =
        numbers[BANDWIDTH].or(bytes.map(|bytes| bytes as f64 / (end - start))).unwrap_or(f64::NAN);
    let rank = numbers[RANK].filter(|rank| (0.0..4e9).contains(rank)).map(|rank| rank as u32);
    intake.push(BandwidthPiece { start, end, bandwidth, bytes, rank, class }, place);
}

#[cfg(test)]
mod tests;
