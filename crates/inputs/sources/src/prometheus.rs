//! What Prometheus answers and writes: `query_range` as JSON, a bare list of times and values, and its text
//! format with time stamps.

use super::content::{beginning, contains};
use super::error::SourceError;
use super::series::Series;
use super::value::Value;
use crate::request::Class;

/// `{"status": "success", "data": {"resultType": "matrix", "result": […]}}`, or the `data` of it.
pub(super) fn looks_like_query(head: &[u8]) -> bool {
    let text = beginning(head);
    text.starts_with(b"{") && contains(text, "\"resultType\"") && contains(text, "\"result\"")
}

/// A list of pairs: `[[t, v], …]`.
pub(super) fn looks_like_pairs(head: &[u8]) -> bool {
    let Some(rest) = beginning(head).strip_prefix(b"[") else { return false };
    let Some(rest) = rest.trim_ascii_start().strip_prefix(b"[") else { return false };
    matches!(rest.trim_ascii_start(), [b'0'..=b'9' | b'-' | b'"', ..])
}

/// Lines of `name{label="…"} value timestamp`, the time in milliseconds.
pub(super) fn looks_like_text(head: &[u8]) -> bool {
    let text = String::from_utf8_lossy(beginning(head));
    let mut lines = text.lines().filter(|line| !line.trim().is_empty()).peekable();
    let is_declared =
        lines.peek().is_some_and(|line| line.starts_with("# HELP ") || line.starts_with("# TYPE "));
    let first = lines.find(|line| !line.starts_with('#'));
    first.and_then(sample).is_some_and(|sample| is_declared || sample.0.contains(['_', '{', ':']))
}

/// The series of a query, each named by its labels.
pub(super) fn of_query(name: &str, values: &[Value]) -> Result<Vec<Series>, SourceError> {
    let mut found = Vec::new();
    for value in values {
        let data = value.get("data").unwrap_or(value);
        for result in data.get("result").and_then(Value::as_list).unwrap_or_default() {
            let samples = result.get("values").and_then(pairs);
            found.extend(samples.map(|samples| series(labelled(result.get("metric")), samples)));
        }
    }
    some(name, found, "results with values, as query_range gives them")
}

/// The one series of a list of pairs, named after the file.
pub(super) fn of_pairs(name: &str, values: &[Value]) -> Result<Vec<Series>, SourceError> {
    let of_file = name.rsplit('/').next().unwrap_or(name);
    let stem = of_file.split('.').next().filter(|stem| !stem.is_empty()).unwrap_or(of_file);
    let lists = values.iter().filter_map(pairs);
    let samples: Vec<(f64, f64)> = lists.flatten().collect();
    let found = if samples.is_empty() { Vec::new() } else { vec![series(stem.to_owned(), samples)] };
    some(name, found, "a list of [time, value]")
}

/// The series of a text: lines of the same name and labels.
pub(super) fn of_text(name: &str, text: &str) -> Result<Vec<Series>, SourceError> {
    let mut found: Vec<Series> = Vec::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let Some((metric, value, time)) = sample(line) else { continue };
        match found.iter_mut().find(|series| series.name == metric) {
            Some(series) => series.samples.push((time, value)),
            None => found.push(series(metric.to_owned(), vec![(time, value)])),
        }
    }
    some(name, found, "lines of a name, a value and a time stamp")
}

fn series(name: String, samples: Vec<(f64, f64)>) -> Series {
    Series { name, samples, class: Class::WriteSync, is_bandwidth: false }
}

fn some(name: &str, found: Vec<Series>, expected: &str) -> Result<Vec<Series>, SourceError> {
    if found.is_empty() {
        let found = "none".into();
        return Err(SourceError::Absent { name: name.into(), expected: expected.into(), found });
    }
    Ok(found)
}

/// Times and values; Prometheus puts values into quotes.
fn pairs(value: &Value) -> Option<Vec<(f64, f64)>> {
    let number = |value: &Value| match value {
        Value::Text(text) => text.trim().parse().ok(),
        value => value.as_number(),
    };
    let pair = |value: &Value| match value.as_list()? {
        [time, value] => Some((number(time)?, number(value)?)),
        _ => None,
    };
    value.as_list()?.iter().map(pair).collect()
}

/// `name{a="1",b="2"}`.
fn labelled(metric: Option<&Value>) -> String {
    let labels = metric.and_then(Value::as_map).unwrap_or_default();
    let text = |value: &Value| if let Value::Text(text) = value { text.clone() } else { String::new() };
    let name =
        labels.iter().find(|(key, _)| key == "__name__").map(|(_, value)| text(value)).unwrap_or_default();
    let rest: Vec<String> = labels
        .iter()
        .filter(|(key, _)| key != "__name__")
        .map(|(key, value)| format!("{key}=\"{}\"", text(value)))
        .collect();
    match (name.is_empty(), rest.is_empty()) {
        (true, true) => "value".to_owned(),
        (_, true) => name,
        _ => format!("{name}{{{}}}", rest.join(",")),
    }
}

/// Name with labels, value, and time in seconds. Labels may hold spaces and braces in their quotes.
fn sample(line: &str) -> Option<(&str, f64, f64)> {
    let line = line.trim();
    let end = match line.find('{') {
        Some(open) => open + closing(&line[open..])? + 1,
        None => line.find([' ', '\t'])?,
    };
    let (name, rest) = line.split_at(end);
    let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_' || c == ':');
    let mut words = rest.split_ascii_whitespace();
    let value: f64 = words.next()?.parse().ok()?;
    let time: f64 = words.next()?.parse().ok()?;
    (is_name && words.next().is_none()).then_some((name, value, time / 1000.0))
}

/// Where the brace at the beginning is closed.
fn closing(text: &str) -> Option<usize> {
    let (mut quoted, mut escaped) = (false, false);
    for (at, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            '}' if !quoted => return Some(at),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_the_text_format() {
        let line = "disk_written_bytes_total{device=\"a b}\",x=\"\\\"\"} 1.5e3 1794762000500";
        let name = "disk_written_bytes_total{device=\"a b}\",x=\"\\\"\"}";
        assert_eq!(sample(line), Some((name, 1500.0, 1794762000.5)));
        assert_eq!(sample("up 1 1000"), Some(("up", 1.0, 1.0)));
        // Without a time it is the state of a moment, not of a series.
        assert_eq!(sample("up 1"), None);
        assert_eq!((sample("0.5 1 2"), sample("a{b=\"c 1 2")), (None, None));
    }

    #[test]
    fn texts_are_told_from_other_text() {
        assert!(looks_like_text(b"# HELP up Whether it is up\n# TYPE up gauge\nup 1 1000\n"));
        assert!(looks_like_text(b"node_load1{host=\"a\"} 0.5 1000\n"));
        assert!(!looks_like_text(b"wrote 5 6\n") && !looks_like_text(b"0.1 0.2 write 0 0 ( a )\n"));
        assert!(looks_like_pairs(b" [ [ 1, 2.5], [2, 3]]") && !looks_like_pairs(b"[{\"ph\": 1}]"));
    }
}
