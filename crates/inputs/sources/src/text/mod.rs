//! Any text, by a [pattern](super::pattern).

use super::bandwidth_piece::BandwidthPiece;
use super::content::{Content, beginning, contains};
use super::error::SourceError;
use super::intake::{Fed, Feed, Intake};
use super::job::{Job, Source};
use super::options::OpenOptions;
use super::pattern::{Pattern, Shape, class, quoted};
use super::pattern_fields::{BANDWIDTH, BYTES, DURATION, END, FIELDS, RANK, START};
use crate::request::{Class, Span};
use regex_lite::Regex;

/// The text form of GekkoFS's client metrics. Lists in brackets have commas, too: this comes before tables.
pub(super) fn looks_like_gekkofs(head: &[u8]) -> bool {
    let text = beginning(head);
    contains(text, "start_t_micro:") && Pattern::gekkofs().matches(&String::from_utf8_lossy(text))
}

/// A text, by the pattern of the options.
pub(super) fn open(content: Content, options: &OpenOptions) -> Result<Box<dyn Source>, SourceError> {
    let name = content.name.clone();
    let pattern = options.pattern.clone().unwrap_or_else(Pattern::gekkofs);
    let text = content.into_text()?;
    Ok(Box::new(Fed(name.clone(), Text { name, text, pattern })))
}

/// A text and how to read it.
#[derive(Debug)]
struct Text {
    name: String,
    text: String,
    pattern: Pattern,
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
            let (expected, found) = ("text that the pattern matches".into(), "none".into());
            return Err(SourceError::Absent { name, expected, found });
        }
        let ranks =
            pattern.ranks.as_ref().and_then(|regex| regex.captures(&text)?.get(1)?.as_str().parse().ok());
        Ok(Job { ranks, complete: true, ..Job::default() })
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
