//! JSON lines, and Talpas, which differs from them in a separator and the name of a key.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{self, Deserializer, MapAccess, SeqAccess, Visitor};

use super::{DEFAULT_CALLPATH, DEFAULT_METRIC, builder, check_point};
use crate::error::{Error, Result, excerpt};
use crate::experiment::ExperimentBuilder;

/// Which of the two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    /// Fields separated by `,`, key `params`, callpath and metric optional.
    Extrap,
    /// Fields separated by `;`, key `parameters`, callpath and metric required.
    Talpas,
}

#[derive(Deserialize)]
struct Line<'a> {
    #[serde(borrow, alias = "parameters")]
    params: Option<Parameters<'a>>,
    #[serde(borrow)]
    callpath: Option<Cow<'a, str>>,
    #[serde(borrow)]
    metric: Option<Cow<'a, str>>,
    value: Option<Values>,
}

/// Parameters in the order of the line: the first line's order is the order of the experiment.
struct Parameters<'a>(Vec<(Cow<'a, str>, f64)>);

impl<'de: 'a, 'a> Deserialize<'de> for Parameters<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct Entries;
        impl<'de> Visitor<'de> for Entries {
            type Value = Parameters<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of parameters and numbers")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<Self::Value, A::Error> {
                let mut entries = Vec::with_capacity(map.size_hint().unwrap_or(1));
                while let Some(key) = map.next_key::<Text<'de>>()? {
                    entries.push((key.0, map.next_value::<f64>()?));
                }
                Ok(Parameters(entries))
            }
        }
        deserializer.deserialize_map(Entries)
    }
}

/// A string, borrowed where it has no escapes.
#[derive(Deserialize)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

/// A number or a list of numbers (repetitions); a null in the list is skipped.
struct Values(Vec<f64>);

impl<'de> Deserialize<'de> for Values {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct Numbers;
        impl<'de> Visitor<'de> for Numbers {
            type Value = Values;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number or a list of numbers")
            }
            fn visit_f64<E: de::Error>(self, value: f64) -> std::result::Result<Values, E> {
                Ok(Values(vec![value]))
            }
            fn visit_u64<E: de::Error>(self, value: u64) -> std::result::Result<Values, E> {
                Ok(Values(vec![value as f64]))
            }
            fn visit_i64<E: de::Error>(self, value: i64) -> std::result::Result<Values, E> {
                Ok(Values(vec![value as f64]))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> std::result::Result<Values, A::Error> {
                let mut values = Vec::with_capacity(seq.size_hint().unwrap_or(0));
                while let Some(value) = seq.next_element::<Option<f64>>()? {
                    values.extend(value);
                }
                Ok(Values(values))
            }
        }
        deserializer.deserialize_any(Numbers)
    }
}

pub(super) fn parse(text: &str, source: &str, dialect: Dialect) -> Result<ExperimentBuilder> {
    let mut experiment: Option<ExperimentBuilder> = None;
    let mut names: Vec<String> = Vec::new();
    let mut point = Vec::new();
    for (index, line) in text.lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        let number = Some(index + 1);
        let line = match dialect {
            Dialect::Extrap => Cow::Borrowed(line),
            Dialect::Talpas => Cow::Owned(replace_outside_strings(line, ";", ",")),
        };
        let repaired;
        let entry = match serde_json::from_str::<Line<'_>>(&line) {
            Ok(entry) => entry,
            Err(error) => {
                // Python writes the missing value as NaN, which is no JSON.
                repaired = replace_outside_strings(&line, "NaN", "null");
                match serde_json::from_str(&repaired) {
                    Ok(entry) if repaired != line => entry,
                    _ => return Err(malformed(source, number, &error, &line)),
                }
            }
        };
        let missing = |key: &str| {
            Error::format(source, number, format!("an object with the key `{key}`"), excerpt(&line))
        };
        let Some(Parameters(parameters)) = entry.params else {
            return Err(missing(if dialect == Dialect::Talpas { "parameters" } else { "params" }));
        };
        let Some(Values(values)) = entry.value else {
            // A null is a measurement that is absent; no key at all is a line of something else.
            if line.contains("\"value\"") {
                continue;
            }
            return Err(missing("value"));
        };
        if dialect == Dialect::Talpas && (entry.callpath.is_none() || entry.metric.is_none()) {
            return Err(missing(if entry.callpath.is_none() { "callpath" } else { "metric" }));
        }
        let experiment = match &mut experiment {
            Some(experiment) => experiment,
            none => {
                names = parameters.iter().map(|(name, _)| name.clone().into_owned()).collect();
                none.insert(builder(names.clone(), source, number)?)
            }
        };
        point.clear();
        for (position, name) in names.iter().enumerate() {
            // Lines nearly always keep the order of the first one.
            let entry = match parameters.get(position) {
                Some(entry) if entry.0 == *name => Some(entry),
                _ => parameters.iter().find(|entry| entry.0 == *name),
            };
            match entry {
                Some((_, value)) => point.push(*value),
                None => return Err(missing(name)),
            }
        }
        check_point(&point, source, number)?;
        if values.is_empty() {
            continue;
        }
        experiment.add(
            entry.callpath.as_deref().unwrap_or(DEFAULT_CALLPATH),
            entry.metric.as_deref().unwrap_or(DEFAULT_METRIC),
            &point,
            &values,
        );
    }
    Ok(experiment.unwrap_or_default())
}

fn malformed(source: &str, line: Option<usize>, error: &serde_json::Error, text: &str) -> Error {
    let message = error.to_string();
    let message = message.split(" at line ").next().unwrap_or(&message);
    let expected = "a JSON object such as {\"params\":{\"p\":4},\"value\":1.5}";
    Error::format(source, line, expected, format!("{} (column {}: {message})", excerpt(text), error.column()))
}

/// Replaces text outside of JSON strings.
fn replace_outside_strings(line: &str, from: &str, to: &str) -> String {
    let mut result = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(start) = rest.find('"') {
        result.push_str(&rest[..start].replace(from, to));
        let mut escaped = false;
        let end = rest[start + 1..].find(|c| {
            let closes = c == '"' && !escaped;
            escaped = c == '\\' && !escaped;
            closes
        });
        let end = end.map_or(rest.len(), |end| start + 1 + end + 1);
        result.push_str(&rest[start..end]);
        rest = &rest[end..];
    }
    result.push_str(&rest.replace(from, to));
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<crate::Experiment> {
        parse(text, "x.jsonl", Dialect::Extrap).map(ExperimentBuilder::build)
    }

    #[test]
    fn order_of_keys_repetitions_and_defaults() {
        let experiment = read(
            "{\"params\":{\"p\":4,\"n\":2},\"value\":1}\n\n\
             {\"value\":[2,3.5],\"params\":{\"n\":2.0,\"p\":4.0,\"q\":1}}\n",
        )
        .unwrap();
        assert_eq!(experiment.parameters, ["p", "n"]);
        assert_eq!(experiment.sets[0].callpath, "<root>");
        assert_eq!(experiment.sets[0].metric, "<default>");
        assert_eq!(experiment.sets[0].measurements[0].values, [1.0, 2.0, 3.5]);
    }

    #[test]
    fn missing_values_are_absent() {
        let experiment = read(
            "{\"params\":{\"p\":1},\"value\":NaN}\n{\"params\":{\"p\":2},\"value\":null}\n\
             {\"params\":{\"p\":4},\"callpath\":\"NaN\\\"NaN\",\"value\":[NaN, 3]}\n",
        )
        .unwrap();
        assert_eq!(experiment.sets.len(), 1);
        assert_eq!(experiment.sets[0].callpath, "NaN\"NaN");
        assert_eq!(experiment.sets[0].measurements[0].values, [3.0]);
    }

    #[test]
    fn errors_name_the_line() {
        for (text, message) in [
            ("{\"params\":{\"p\":4}", "x.jsonl:1: expected a JSON object such as"),
            ("{\"params\":{\"p\":4},\"value\":\"a\"}", "x.jsonl:1: expected a JSON object such as"),
            ("{\"value\":1}", "x.jsonl:1: expected an object with the key `params`, found `{\"value\":1}`"),
            ("{\"params\":{\"p\":4}}", "x.jsonl:1: expected an object with the key `value`"),
            ("{\"params\":{},\"value\":1}", "x.jsonl:1: expected at least one parameter, found none"),
            (
                "{\"params\":{\"p\":4},\"value\":1}\n{\"params\":{\"q\":4},\"value\":1}",
                "x.jsonl:2: expected an object with the key `p`",
            ),
            ("{\"params\":{\"p\":1e999},\"value\":1}", "x.jsonl:1: expected"),
            ("[1,2]", "x.jsonl:1: expected"),
            ("\"", "x.jsonl:1: expected"),
        ] {
            let error = read(text).unwrap_err().to_string();
            assert!(error.starts_with(message), "{text}: {error}");
        }
    }

    #[test]
    fn talpas_separators() {
        let line = "{\"parameters\":{\"x\":20,\"y\":1};\"metric\":\"a;b\";\"callpath\":\"c\";\"value\":8}";
        let experiment = parse(line, "x.txt", Dialect::Talpas).unwrap().build();
        assert_eq!(experiment.sets[0].metric, "a;b");
        let line = "{\"parameters\":{\"x\":20};\"metric\":\"a\";\"value\":8}";
        let error = parse(line, "x.txt", Dialect::Talpas).unwrap_err().to_string();
        assert!(error.starts_with("x.txt:1: expected an object with the key `callpath`"), "{error}");
    }
}
