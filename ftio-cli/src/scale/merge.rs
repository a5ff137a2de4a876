//! Runs joined with what a file holds already, so that every metric is there at every scale.

use super::measurements::{Measurement, is_zero_if_absent};
use perf_model::Experiment;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// One run: where it stands, and what was measured there.
#[derive(Clone, Debug)]
pub struct Run {
    pub point: Vec<f64>,
    pub measurements: Vec<Measurement>,
}

/// A callpath and a metric.
type Set = (String, String);

/// What is to be added to a file.
#[derive(Debug, Default)]
pub struct Merged {
    lines: Vec<(Vec<f64>, Set, f64)>,
    /// Sets that not every run has.
    pub left_out: Vec<Set>,
    /// Sets of the file that the new runs do not have.
    pub missing: Vec<Set>,
}

/// Decide what to write. Sums of functions and files that a run does not have are 0. Of the rest, what is missing at some
/// scale is left out (Extra-P would refuse the file) unless `ragged`; but what the file has already is continued.
pub fn merge(existing: Option<&Experiment>, runs: &[Run], ragged: bool) -> Merged {
    let key = |point: &[f64]| point.iter().map(|value| value.to_bits()).collect::<Vec<u64>>();
    let mut scales: BTreeMap<Vec<u64>, Vec<f64>> = BTreeMap::new();
    let mut covered: BTreeMap<Set, BTreeSet<Vec<u64>>> = BTreeMap::new();
    let mut in_file: BTreeSet<Set> = BTreeSet::new();
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
        for measurement in &run.measurements {
            covered.entry(name(measurement)).or_default().insert(key(&run.point));
        }
    }
    let (countable, others): (Vec<Set>, Vec<Set>) =
        covered.keys().cloned().partition(|(callpath, metric)| is_zero_if_absent(callpath, metric));
    let incomplete: Vec<Set> = others.into_iter().filter(|set| covered[set].len() < scales.len()).collect();

    let mut merged = Merged::default();
    for set in incomplete {
        if in_file.contains(&set) { merged.missing.push(set) } else { merged.left_out.push(set) }
    }
    if ragged {
        merged.left_out.clear();
        merged.missing.clear();
    }
    for run in runs {
        let kept = run
            .measurements
            .iter()
            .filter(|measurement| merged.left_out.binary_search(&name(measurement)).is_err());
        merged
            .lines
            .extend(kept.map(|measurement| (run.point.clone(), name(measurement), measurement.value)));
        let own: BTreeSet<Set> = run.measurements.iter().map(name).collect();
        let absent = countable.iter().filter(|set| !own.contains(*set));
        merged.lines.extend(absent.map(|set| (run.point.clone(), set.clone(), 0.0)));
    }
    for (scale, set) in before.iter().flat_map(|scale| countable.iter().map(move |set| (scale, set))) {
        // A new function: the runs before had none of it.
        let measured = covered[set].contains(scale);
        if !measured && !runs.iter().any(|run| key(&run.point) == *scale) {
            merged.lines.push((scales[scale].clone(), set.clone(), 0.0));
        }
    }
    merged
}

fn name(measurement: &Measurement) -> Set {
    (measurement.callpath.clone(), measurement.metric.to_owned())
}

impl Merged {
    /// How many measurements.
    pub fn len(&self) -> usize {
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
    use perf_model::input::parse;

    fn run(processes: f64, values: &[(&str, &'static str, f64)]) -> Run {
        let measurement = |(callpath, metric, value): &(&str, &'static str, f64)| Measurement {
            callpath: (*callpath).to_owned(),
            metric,
            value: *value,
        };
        Run { point: vec![processes], measurements: values.iter().map(measurement).collect() }
    }

    fn text(merged: &Merged) -> String {
        merged.lines(&["Processes".to_owned()])
    }

    #[test]
    fn what_not_every_run_has_is_left_out() {
        let runs = [
            run(2.0, &[("a", "Time (s)", 0.5), ("main", "Period (s)", 3.0), ("function->open", "Hits", 2.0)]),
            run(4.0, &[("a", "Time (s)", 0.25)]),
        ];
        let merged = merge(None, &runs, false);
        assert_eq!(
            text(&merged),
            "{\"params\":{\"Processes\":2},\"callpath\":\"a\",\"metric\":\"Time (s)\",\"value\":0.5}\n\
             {\"params\":{\"Processes\":2},\"callpath\":\"function->open\",\"metric\":\"Hits\",\"value\":2}\n\
             {\"params\":{\"Processes\":4},\"callpath\":\"a\",\"metric\":\"Time (s)\",\"value\":0.25}\n\
             {\"params\":{\"Processes\":4},\"callpath\":\"function->open\",\"metric\":\"Hits\",\"value\":0}\n"
        );
        assert_eq!(merged.left_out, [("main".to_owned(), "Period (s)".to_owned())]);
        let ragged = merge(None, &runs, true);
        assert!(text(&ragged).contains("Period") && ragged.left_out.is_empty());
    }

    #[test]
    fn a_file_is_continued() {
        let first = merge(None, &[run(2.0, &[("a", "Time (s)", 0.5), ("main", "Period (s)", 3.0)])], false);
        let existing = parse(&text(&first), "x", None).unwrap();
        let later =
            run(4.0, &[("a", "Time (s)", 0.25), ("function->open", "Hits", 4.0), ("b", "Time (s)", 1.0)]);
        let merged = merge(Some(&existing), &[later], false);
        assert_eq!(merged.missing, [("main".to_owned(), "Period (s)".to_owned())]);
        assert_eq!(merged.left_out, [("b".to_owned(), "Time (s)".to_owned())]);
        let text = text(&merged);
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
