//! A profile of the metric proxy (`JOB.profile`): what the counters of a job came to in the end, and nothing
//! about when.
//!
//! `{"desc": {"jobid": …, "command": …, "size": 4, "start_time": …, "end_time": …}, "counters": [{"name": …,
//! "ctype": {"Counter": {"value": 5}}}, …]}`; a gauge has `total` and `hits`, and stands for their quotient.

use super::content::{beginning, contains};
use super::error::SourceError;
use super::value::Value;

/// What a job came to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ProxyProfile {
    /// What results call it.
    pub name: String,
    /// The job's number.
    pub job: String,
    /// Its command.
    pub command: String,
    /// Its processes, if the profile tells.
    pub ranks: Option<u32>,
    /// Begin in seconds since 1970.
    pub start: f64,
    /// How long it took in seconds, if the profile tells.
    pub run_time: Option<f64>,
    /// Counters and what they came to.
    pub counters: Vec<(String, f64)>,
}

/// Does a text that begins like this hold one?
pub(super) fn looks_like(head: &[u8]) -> bool {
    let text = beginning(head);
    text.starts_with(b"{") && ["\"desc\"", "\"counters\"", "\"ctype\""].iter().all(|key| contains(text, key))
}

/// The profile.
pub(super) fn open(name: &str, values: &[Value]) -> Result<ProxyProfile, SourceError> {
    let value = values.first().unwrap_or(&Value::Null);
    let desc = value.get("desc").unwrap_or(&Value::Null);
    let text = |key: &str| match desc.get(key) {
        Some(Value::Text(text)) => text.trim().to_owned(),
        _ => String::new(),
    };
    let number = |key: &str| desc.get(key).and_then(Value::as_number).filter(|number| number.is_finite());
    let (start, end) = (number("start_time").unwrap_or(0.0), number("end_time").unwrap_or(0.0));
    let list = value.get("counters").and_then(Value::as_list).unwrap_or_default();
    let counters: Vec<(String, f64)> = list.iter().filter_map(counter).collect();
    if counters.is_empty() {
        let (expected, found) = ("counters with a name and a value".into(), "none".into());
        return Err(SourceError::Absent { name: name.into(), expected, found });
    }
    Ok(ProxyProfile {
        name: name.to_owned(),
        job: text("jobid"),
        command: text("command"),
        ranks: number("size").map(|size| size as u32).filter(|size| *size > 0),
        start,
        run_time: Some(end - start).filter(|time| *time > 0.0),
        counters,
    })
}

fn counter(value: &Value) -> Option<(String, f64)> {
    let Value::Text(name) = value.get("name")? else { return None };
    let kind = value.get("ctype")?;
    let of = |kind: &Value, key: &str| kind.get(key)?.as_number();
    let amount = match (kind.get("Counter"), kind.get("Gauge")) {
        (Some(counter), _) => of(counter, "value")?,
        (None, Some(gauge)) => of(gauge, "total")? / of(gauge, "hits")?,
        (None, None) => return None,
    };
    amount.is_finite().then(|| (name.clone(), amount))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_and_gauges() {
        let text = br#"{"desc": {"jobid": "7", "command": "./a ", "size": 4,
            "start_time": 100, "end_time": 160},
            "counters": [{"name": "a", "doc": "", "ctype": {"Counter": {"value": 5}}},
            {"name": "b", "doc": "", "ctype": {"Gauge": {"min": 1, "max": 3, "hits": 4, "total": 8}}},
            {"name": "c", "doc": "", "ctype": {"Gauge": {"min": 0, "max": 0, "hits": 0, "total": 0}}}]}"#;
        assert!(looks_like(text));
        let found = open("7.profile", &Value::from_json("7.profile", text).unwrap()).unwrap();
        assert_eq!(found.counters, [("a".to_owned(), 5.0), ("b".to_owned(), 2.0)]);
        assert_eq!((found.ranks, found.run_time, found.command.as_str()), (Some(4), Some(60.0), "./a"));
    }
}
