//! New runs joined with what a file of measurements holds already, so that every metric is there at every
//! scale.

use crate::experiment::Experiment;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// A callpath and a metric.
pub type Name = (String, String);

/// One run: the values of its parameters, and what was measured.
#[derive(Clone, Debug, Default)]
pub struct Run {
    /// One for each parameter.
    pub point: Vec<f64>,
    /// What was measured; each name once.
    pub values: Vec<(Name, f64)>,
}

/// What is to be added to a file.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Extension {
    lines: Vec<(Vec<f64>, Name, f64)>,
    /// What not every run has; it is left out.
    pub left_out: Vec<Name>,
    /// What the file has and the new runs do not have at some scale.
    pub missing: Vec<Name>,
}

/// Decide what to add to `existing`. What is `countable` and was not measured in a run is 0 there. Of the
/// rest, what is missing at some scale is left out (Extra-P would refuse the file) unless `ragged`; but what
/// the file has already is continued.
pub fn extend(
    existing: Option<&Experiment>,
    runs: &[Run],
    countable: impl Fn(&Name) -> bool,
    ragged: bool,
) -> Extension {
    let key = |point: &[f64]| point.iter().map(|value| value.to_bits()).collect::<Vec<u64>>();
    let mut scales: BTreeMap<Vec<u64>, Vec<f64>> = BTreeMap::new();
    let mut covered: BTreeMap<Name, BTreeSet<Vec<u64>>> = BTreeMap::new();
    let mut in_file: BTreeSet<Name> = BTreeSet::new();
    for set in existing.iter().flat_map(|existing| &existing.sets) {
        let name = (set.callpath.clone(), set.metric.clone());
        let coordinates = existing.map_or(&[][..], |existing| &existing.coordinates);
        for measurement in &set.measurements {
            let point = &coordinates[measurement.coordinate];
            scales.insert(key(point), point.to_vec());
            covered.entry(name.clone()).or_default().insert(key(point));
        }
        in_file.insert(name);
    }
    let before: Vec<Vec<u64>> = scales.keys().cloned().collect();
    for run in runs {
        scales.insert(key(&run.point), run.point.clone());
        for (name, _) in &run.values {
            covered.entry(name.clone()).or_default().insert(key(&run.point));
        }
    }
    let (countable, others): (Vec<Name>, Vec<Name>) = covered.keys().cloned().partition(countable);
    let incomplete: Vec<Name> = others.into_iter().filter(|set| covered[set].len() < scales.len()).collect();

    let mut added = Extension::default();
    for set in incomplete {
        if in_file.contains(&set) { added.missing.push(set) } else { added.left_out.push(set) }
    }
    if ragged {
        added.left_out.clear();
        added.missing.clear();
    }
    for run in runs {
        let kept = run.values.iter().filter(|(name, _)| added.left_out.binary_search(name).is_err());
        added.lines.extend(kept.map(|(name, value)| (run.point.clone(), name.clone(), *value)));
        let own: BTreeSet<&Name> = run.values.iter().map(|(name, _)| name).collect();
        let absent = countable.iter().filter(|name| !own.contains(name));
        added.lines.extend(absent.map(|set| (run.point.clone(), set.clone(), 0.0)));
    }
    for (scale, set) in before.iter().flat_map(|scale| countable.iter().map(move |set| (scale, set))) {
        // A new function: the runs before had none of it.
        let measured = covered[set].contains(scale);
        if !measured && !runs.iter().any(|run| key(&run.point) == *scale) {
            added.lines.push((scales[scale].clone(), set.clone(), 0.0));
        }
    }
    added
}

impl Extension {
    /// How many measurements are added.
    pub fn measurements(&self) -> usize {
        self.lines.len()
    }

    /// Extra-P's JSON lines.
    pub fn lines(&self, parameters: &[String]) -> String {
        let mut text = String::new();
        for (point, (callpath, metric), value) in &self.lines {
            let params: Vec<String> = parameters
                .iter()
                .zip(point)
                .map(|(name, value)| format!("{}:{}", quoted(name), number(*value)))
                .collect();
            // Writing to a string cannot fail.
            let _ = writeln!(
                text,
                "{{\"params\":{{{}}},\"callpath\":{},\"metric\":{},\"value\":{}}}",
                params.join(","),
                quoted(callpath),
                quoted(metric),
                number(*value)
            );
        }
        text
    }
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// A whole number without a fraction; anything else with as many digits as it takes.
fn number(value: f64) -> String {
    if value.fract() == 0.0 && value.abs() < 9e15 {
        return format!("{value:.0}");
    }
    serde_json::Value::from(value).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::parse;

    fn run(processes: f64, values: &[(&str, &str, f64)]) -> Run {
        let named = |(callpath, metric, value): &(&str, &str, f64)| {
            ((callpath.to_string(), metric.to_string()), *value)
        };
        Run { point: vec![processes], values: values.iter().map(named).collect() }
    }

    fn extended(existing: Option<&Experiment>, runs: &[Run], ragged: bool) -> Extension {
        extend(existing, runs, |(callpath, _)| callpath.starts_with("function->"), ragged)
    }

    fn text(added: &Extension) -> String {
        added.lines(&["Processes".to_owned()])
    }

    #[test]
    fn what_not_every_run_has_is_left_out() {
        let runs = [
            run(2.0, &[("a", "Time (s)", 0.5), ("main", "Period (s)", 3.0), ("function->open", "Hits", 2.0)]),
            run(4.0, &[("a", "Time (s)", 0.25)]),
        ];
        let added = extended(None, &runs, false);
        assert_eq!(
            text(&added),
            "{\"params\":{\"Processes\":2},\"callpath\":\"a\",\"metric\":\"Time (s)\",\"value\":0.5}\n\
             {\"params\":{\"Processes\":2},\"callpath\":\"function->open\",\"metric\":\"Hits\",\"value\":2}\n\
             {\"params\":{\"Processes\":4},\"callpath\":\"a\",\"metric\":\"Time (s)\",\"value\":0.25}\n\
             {\"params\":{\"Processes\":4},\"callpath\":\"function->open\",\"metric\":\"Hits\",\"value\":0}\n"
        );
        assert_eq!(added.left_out, [("main".to_owned(), "Period (s)".to_owned())]);
        let ragged = extended(None, &runs, true);
        assert!(text(&ragged).contains("Period") && ragged.left_out.is_empty());
    }

    #[test]
    fn a_file_is_continued() {
        let first =
            extended(None, &[run(2.0, &[("a", "Time (s)", 0.5), ("main", "Period (s)", 3.0)])], false);
        let existing = parse(&text(&first), "x", None).unwrap();
        let later =
            run(4.0, &[("a", "Time (s)", 0.25), ("function->open", "Hits", 4.0), ("b", "Time (s)", 1.0)]);
        let added = extended(Some(&existing), &[later], false);
        assert_eq!(added.missing, [("main".to_owned(), "Period (s)".to_owned())]);
        assert_eq!(added.left_out, [("b".to_owned(), "Time (s)".to_owned())]);
        let text = text(&added);
        assert!(text.ends_with(
            "{\"params\":{\"Processes\":2},\"callpath\":\"function->open\",\"metric\":\"Hits\",\"value\":0}\n"
        ));
        assert_eq!(text.lines().count(), 3);
    }

    #[test]
    fn numbers_keep_their_digits() {
        assert_eq!(number(4_294_967_296.0), "4294967296");
        assert_eq!(number(0.1), "0.1");
        assert_eq!(number(1e300).parse(), Ok(1e300));
        assert_eq!(number(-0.0), "-0");
    }
}
