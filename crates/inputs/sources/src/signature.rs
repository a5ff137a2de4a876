//! Signatures as `ftio signature --json` writes them: the bandwidth of an application, second by second.

use super::content::{beginning, contains};
use super::error::SourceError;
use super::series::Series;
use super::value::Value;
use crate::request::Class;

/// Their schema comes first, or a line that says what the signatures behind it were made from.
pub(super) fn looks_like(head: &[u8]) -> bool {
    let text = beginning(head);
    let start = &text[..text.len().min(64)];
    let schemas = ["\"ftio.signature/1\"", "\"ftio.signature-archive/1\""];
    text.starts_with(b"{") && schemas.iter().any(|schema| contains(start, schema))
}

/// A series for each signature.
pub(super) fn series(input: &str, values: &[Value]) -> Result<Vec<Series>, SourceError> {
    let mut found = Vec::new();
    for (number, value) in values.iter().enumerate() {
        let Some(bandwidths) = value.get("series").and_then(Value::as_numbers) else { continue };
        let text = |key: &str| match value.get(key) {
            Some(Value::Text(text)) => text.clone(),
            _ => String::new(),
        };
        let name = if text("name").is_empty() { format!("signature {}", number + 1) } else { text("name") };
        let class = if text("direction") == "read" { Class::ReadSync } else { Class::WriteSync };
        let samples =
            bandwidths.into_iter().zip(0u32..).map(|(value, time)| (f64::from(time), value)).collect();
        found.push(Series { name, samples, class, is_bandwidth: true });
    }
    if found.is_empty() {
        let (expected, found) = ("\"series\", a list of bandwidths".into(), "none".into());
        return Err(SourceError::Absent { name: input.into(), expected, found });
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_is_a_series() {
        let text =
            br#"{"schema":"ftio.signature/1","name":"ann 64 lmp","direction":"read","series":[0,5,5,0]}"#;
        assert!(looks_like(text) && !looks_like(b"{\"schema\":\"ftio.detection/1\"}"));
        let found = series("x", &Value::from_json("x", text).unwrap()).unwrap();
        assert_eq!((found[0].name.as_str(), found[0].class), ("ann 64 lmp", Class::ReadSync));
        assert_eq!(found[0].samples, [(0.0, 0.0), (1.0, 5.0), (2.0, 5.0), (3.0, 0.0)]);
        let header = br#"{"schema":"ftio.signature-archive/1","jobs":"jobs.txt"}"#;
        let many = [header.as_slice(), b"\n", text, b"\n", text].concat();
        assert!(looks_like(&many));
        assert_eq!(series("x", &Value::from_json("x", &many).unwrap()).unwrap().len(), 2);
        assert!(series("x", &Value::from_json("x", b"{\"schema\":\"ftio.signature/1\"}").unwrap()).is_err());
    }
}
