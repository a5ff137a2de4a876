//! Tables in JSON, as ESnet's tools write the traffic of an interface:
//! `{"columns": ["time", "in", "out"], "points": [[t, 1, 2], …]}`, and lists of objects with a time,
//! `[{"ts": t, "val": 1}, …]`, by themselves or as the `data` of an object.
//!
//! Times are seconds, milliseconds (as JavaScript counts them) or dates.

use super::content::{beginning, contains};
use super::date::seconds_since_1970;
use super::error::SourceError;
use super::series::Series;
use super::value::Value;
use crate::request::Class;

/// Names of the time.
const TIMES: [&str; 5] = ["time", "ts", "timestamp", "t", "date"];

/// Seconds since 1970 beyond this (the year 5138) are milliseconds.
const MILLISECONDS: f64 = 1e11;

/// Does a text that begins like this hold such a table?
pub(super) fn looks_like(head: &[u8]) -> bool {
    let text = beginning(head);
    let has = |key: &str| contains(text, &format!("\"{key}\""));
    let has_time = TIMES.iter().any(|time| has(time));
    match text.first() {
        Some(b'{') => {
            (has("columns") && has("points")) || (has("data") && has_time && is_list_of_objects(text))
        }
        Some(b'[') => text[1..].trim_ascii_start().starts_with(b"{") && has_time && !has("ph"),
        _ => false,
    }
}

/// `"data": [{`.
fn is_list_of_objects(text: &[u8]) -> bool {
    let without_space: Vec<u8> =
        text.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).take(16 << 10).collect();
    contains(&without_space, "\"data\":[{")
}

/// A series for each column.
pub(super) fn series(name: &str, values: &[Value]) -> Result<Vec<Series>, SourceError> {
    let mut found: Vec<Series> = Vec::new();
    for value in values {
        match (value.get("columns").and_then(Value::as_list), value.get("points").and_then(Value::as_list)) {
            (Some(columns), Some(points)) => from_points(columns, points, &mut found),
            _ => {
                let data = value.get("data").unwrap_or(value);
                data.as_list().unwrap_or_default().iter().for_each(|row| from_row(row, &mut found));
            }
        }
    }
    if found.is_empty() {
        let expected = "columns and points, or a list of objects with a time and numbers".into();
        return Err(SourceError::Absent { name: name.into(), expected, found: "none".into() });
    }
    Ok(found)
}

fn from_points(columns: &[Value], points: &[Value], found: &mut Vec<Series>) {
    let named =
        |column: &Value| if let Value::Text(name) = column { name.clone() } else { "value".to_owned() };
    let names: Vec<String> = columns.iter().map(named).collect();
    let time = names.iter().position(|name| TIMES.contains(&name.as_str())).unwrap_or(0);
    for point in points.iter().filter_map(Value::as_list) {
        let Some(at) = point.get(time).and_then(moment) else { continue };
        for (index, value) in point.iter().enumerate().filter(|(index, _)| *index != time) {
            if let (Some(name), Some(value)) = (names.get(index), number(value)) {
                push(found, name, at, value);
            }
        }
    }
}

fn from_row(row: &Value, found: &mut Vec<Series>) {
    let entries = row.as_map().unwrap_or_default();
    let time = TIMES.iter().find_map(|time| row.get(time)).and_then(moment);
    let Some(at) = time else { return };
    for (key, value) in entries.iter().filter(|(key, _)| !TIMES.contains(&key.as_str())) {
        if let Some(value) = number(value) {
            push(found, key, at, value);
        }
    }
}

fn push(found: &mut Vec<Series>, name: &str, at: f64, value: f64) {
    match found.iter_mut().find(|series| series.name == name) {
        Some(series) => series.samples.push((at, value)),
        None => found.push(Series {
            name: name.to_owned(),
            samples: vec![(at, value)],
            class: Class::WriteSync,
            is_bandwidth: false,
        }),
    }
}

fn number(value: &Value) -> Option<f64> {
    if let Value::Number(number) = value { Some(*number) } else { None }
}

fn moment(value: &Value) -> Option<f64> {
    match value {
        Value::Number(time) if time.abs() > MILLISECONDS => Some(time / 1000.0),
        Value::Number(time) => Some(*time),
        Value::Text(text) => text.trim().parse().ok().or_else(|| seconds_since_1970(text)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<(String, Vec<(f64, f64)>)> {
        assert!(looks_like(text.as_bytes()), "{text}");
        let values = Value::from_json("x", text.as_bytes()).unwrap();
        series("x", &values).unwrap().into_iter().map(|series| (series.name, series.samples)).collect()
    }

    #[test]
    fn shapes() {
        let points = r#"{"name": "a", "columns": ["time", "in", "out"],
            "points": [[1794762000000, 1, 2], [1794762001000, 3, 4]]}"#;
        let expected = [
            ("in".to_owned(), vec![(1794762000.0, 1.0), (1794762001.0, 3.0)]),
            ("out".to_owned(), vec![(1794762000.0, 2.0), (1794762001.0, 4.0)]),
        ];
        assert_eq!(read(points), expected);
        let rows = [("val".to_owned(), vec![(5.0, 1.5), (6.0, 2.5)])];
        assert_eq!(read(r#"[{"ts": 5, "val": 1.5, "host": "a"}, {"ts": 6, "val": 2.5}]"#), rows);
        assert_eq!(read(r#"{"agg": "30", "data": [{"ts": 5, "val": 1.5}, {"ts": 6, "val": 2.5}]}"#), rows);
        assert!(!looks_like(br#"[{"name": "write", "ph": "X", "ts": 1}]"#));
    }
}
