//! Exports of the metric proxy: quantities, each a list of times and values.

use super::content::{beginning, contains};
use super::error::SourceError;
use super::series::Series;
use super::value::Value;
use crate::request::Class;

/// A map of MessagePack: other formats are asked first.
pub(super) fn looks_like_message_pack(head: &[u8]) -> bool {
    matches!(head, [0x80..=0x8f | 0xde | 0xdf, ..])
}

/// Metrics are lists of pairs under names of their own; TMIO has sections, and custom JSON plain lists.
pub(super) fn looks_like_json(head: &[u8]) -> bool {
    let text = beginning(head);
    if !text.starts_with(b"{") {
        return false;
    }
    let without_space: Vec<u8> =
        text.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).take(16 << 10).collect();
    contains(&without_space, "\"metrics\":{") || contains(&without_space, "\":[[")
}

/// The series of a metric-proxy export: the message it sends to FTIO
/// (`{"metrics": {"metrics": {NAME: [[t, v], …]}}}`), or any of the maps inside.
pub(super) fn series(input: &str, values: &[Value]) -> Result<Vec<Series>, SourceError> {
    let mut found = Vec::new();
    for value in values {
        let mut map = value;
        while let Some(inner) = map.get("metrics").filter(|inner| inner.as_map().is_some()) {
            map = inner;
        }
        for (name, value) in map.as_map().unwrap_or_default() {
            if let Some(samples) = pairs(value) {
                found.push(Series {
                    name: name.clone(),
                    samples,
                    class: Class::WriteSync,
                    is_bandwidth: false,
                });
            }
        }
    }
    if found.is_empty() {
        let (expected, found) = ("metrics, each a list of [time, value]".into(), "none".into());
        return Err(SourceError::Absent { name: input.into(), expected, found });
    }
    Ok(found)
}

fn pairs(value: &Value) -> Option<Vec<(f64, f64)>> {
    let pair = |value: &Value| match value.as_list()? {
        [time, value] => Some((time.as_number()?, value.as_number()?)),
        _ => None,
    };
    value.as_list()?.iter().map(pair).collect()
}
