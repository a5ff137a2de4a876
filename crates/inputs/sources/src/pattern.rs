//! Pattern files, which say where in a text the numbers are.
//!
//! A pattern file is TOML, with expressions in the syntax of the `regex` crates. Either `request` matches
//! once per request, with a named group for each field:
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
//! Fields are `start`, `end` or `duration`, `bytes` or `bandwidth`, and `rank`; in `request` also `op` (read
//! or write). `[numbers]` may have an expression for `ranks`. `^` and `$` match at every line. Files of the
//! Python FTIO, which end in `.py`, are read as well.

use super::error::{SourceError, excerpt};
use super::pattern_fields::{BANDWIDTH, BYTES, DURATION, END, FIELDS, START};
use super::python_pattern;
use super::units;
use crate::request::{Class, Mode};
use regex_lite::{Regex, RegexBuilder};
use serde::Deserialize;
use std::collections::BTreeMap;

/// The text form of GekkoFS's client metrics, which FTIO reads without a pattern file.
pub(super) const GEKKOFS: &str = r"
[lists]
bandwidth = 'avg_thr(?:ough|u)put_mib: *\[([^\]]*)\]'
start = 'start_t_micro: *\[([^\]]*)\]'
end = 'end_t_micro: *\[([^\]]*)\]'
[units]
bandwidth = 'MiB/s'
start = 'us'
end = 'us'
";

/// How to read a text.
#[derive(Clone, Debug)]
pub struct Pattern {
    pub(super) class: Class,
    pub(super) shape: Shape,
    /// Seconds, bytes or bytes per second in the unit of each field.
    pub(super) units: [f64; 6],
    pub(super) ranks: Option<Regex>,
}

#[derive(Clone, Debug)]
pub(super) enum Shape {
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
        let mut scales = None;
        let file = if name.ends_with(".py") {
            let found = python_pattern::fields(text);
            let (fields, ranks) =
                found.map_err(|expected| wrong("a file of Python".into(), expected, "none".into()))?;
            let lists = fields.iter().map(|field| (FIELDS[field.0].to_owned(), field.1.clone())).collect();
            scales = Some(fields);
            let numbers = ranks.map(|ranks| ("ranks".to_owned(), ranks)).into_iter().collect();
            PatternFile { mode: None, request: None, lists, numbers, units: BTreeMap::new() }
        } else {
            toml::from_str(text).map_err(|error| {
                let start = error.span().map_or(0, |span| span.start);
                let line = text.get(..start).unwrap_or_default().matches('\n').count() + 1;
                wrong(format!("line {line}"), "a pattern file".into(), error.message().replace('\n', " "))
            })?
        };
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
        scales.iter().flatten().for_each(|(number, _, factor)| factors[*number] = *factor);
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

pub(super) fn quoted(text: &str) -> String {
    format!("\"{}\"", excerpt(text.as_bytes()))
}

fn field_number(field: &str) -> Option<usize> {
    FIELDS.iter().position(|name| *name == field)
}

pub(super) fn class(mode: &str) -> Option<Class> {
    let mode: Mode = mode.to_ascii_lowercase().parse().ok()?;
    Some(match mode {
        Mode::Write | Mode::WriteSync => Class::WriteSync,
        Mode::Read | Mode::ReadSync => Class::ReadSync,
        Mode::WriteAsync => Class::WriteAsync,
        Mode::ReadAsync => Class::ReadAsync,
        _ => return None,
    })
}
