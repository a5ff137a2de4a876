//! Which callpath will dominate at a given scale.

use schemars::JsonSchema;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

use crate::error::{Error, Result};
use crate::model::Model;
use crate::modeler::Models;
use crate::together::predict_all;

/// A callpath's place among those of its metric that count the same thing.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize)]
pub struct Ranked {
    /// From one.
    pub rank: usize,
    /// Where.
    pub callpath: String,
    /// What.
    pub metric: String,
    /// Predicted value at the point.
    pub value: f64,
    /// Predicted value over the greatest that counts the same thing, negative values counting as none. Not a
    /// share of the sum: callpaths may contain each other.
    pub of_largest: f64,
    /// Predicted value without that of the callpaths inside this one (`a->b` is inside `a`), where the metric
    /// counts them in.
    pub own: f64,
    /// That over the sum of all that count the same thing under the same heading: the first name of callpaths
    /// that is no callpath itself. Headings are views of the same thing: `function->write_at` and
    /// `write_sync->total` count the same bytes. `None` of what cannot be added up, such as bandwidths and
    /// maxima.
    pub share: Option<f64>,
    /// Predicted value over the one at the largest measured point: how much it grows from there; `None` if
    /// that is 0.
    pub growth: Option<f64>,
    /// What is counted, where a metric has several: `total_io_ops` and `total_io_phases` are both "Hits".
    pub quantity: Option<String>,
}

/// What `ftio model` (and FTIO's ioparse) count in one metric, by the last names of callpaths; in words; and
/// whether values of several callpaths can be added up.
const QUANTITIES: [(&str, &str, bool); 10] = [
    ("total_bytes", "over all ranks", true),
    ("max_bytes_per_rank", "most of a rank", false),
    ("max_bytes_per_phase", "most of a phase", false),
    ("total_io_ops", "operations", true),
    ("max_io_ops_per_rank", "operations, most of a rank", false),
    ("max_io_ops_in_phase", "operations, most of a phase", false),
    ("total_io_phases", "phases", true),
    ("max_io_phases_per_rank", "phases, most of a rank", false),
    ("number_of_ranks", "ranks", false),
    ("files", "files", true),
];

/// Of the intervals, which a ranking does not show.
const LEVEL: f64 = 0.95;

/// Names in metrics whose values cannot be added up.
const NOT_ADDED: [&str; 6] = ["B/s", "Bandwidth", "Ratio", "%", "Hz", "Period"];

impl Ranked {
    /// What is counted, in words.
    pub fn counts(&self) -> Option<&'static str> {
        let name = self.quantity.as_deref()?;
        QUANTITIES.iter().find(|(known, ..)| *known == name).map(|(_, words, _)| *words)
    }
}

/// What a callpath counts, if its last name says so.
fn quantity(callpath: &str) -> Option<&'static (&'static str, &'static str, bool)> {
    let (_, last) = callpath.rsplit_once(INSIDE)?;
    QUANTITIES.iter().find(|(name, ..)| *name == last)
}

fn adds_up(metric: &str, quantity: Option<&str>) -> bool {
    let known = QUANTITIES.iter().find(|(name, ..)| Some(*name) == quantity);
    known.is_none_or(|(.., adds_up)| *adds_up) && !NOT_ADDED.iter().any(|name| metric.contains(name))
}

/// Ranks the callpaths of each metric, or of one of them, by what they themselves are predicted to take at a
/// point, greatest first. Only what counts the same thing is compared: phases with phases.
///
/// ```
/// let text = r#"
/// {"params":{"p":2},"callpath":"write","metric":"time","value":4}
/// {"params":{"p":4},"callpath":"write","metric":"time","value":8}
/// {"params":{"p":8},"callpath":"write","metric":"time","value":16}
/// {"params":{"p":2},"callpath":"compute","metric":"time","value":100}
/// {"params":{"p":4},"callpath":"compute","metric":"time","value":100}
/// {"params":{"p":8},"callpath":"compute","metric":"time","value":100}
/// "#;
/// let experiment = perf_model::input::parse(text, "example", None)?;
/// let models = perf_model::model(&experiment, &perf_model::Options::default())?;
/// let ranked = perf_model::rank(&models, &[1024.0], None)?;
/// assert_eq!(ranked[0].callpath, "write");
/// # Ok::<(), perf_model::Error>(())
/// ```
///
/// # Errors
/// The point does not have one value per parameter.
pub fn rank(models: &Models, point: &[f64], metric: Option<&str>) -> Result<Vec<Ranked>> {
    if point.len() != models.parameters.len() {
        let expected = format!("one value for each of {}", models.parameters.join(", "));
        return Err(Error::Point { expected, found: format!("{point:?}") });
    }
    // Metrics in the order of the file, and in each what it counts.
    let mut groups: Vec<(&str, Option<&str>)> = Vec::new();
    let group_of = |model: &Model| quantity(&model.callpath).map(|(name, ..)| *name);
    for model in &models.models {
        let group = (model.metric.as_str(), group_of(model));
        if !groups.contains(&group) && metric.is_none_or(|metric| metric == model.metric) {
            let behind = groups.iter().rposition(|(metric, _)| *metric == group.0);
            groups.insert(behind.map_or(groups.len(), |place| place + 1), group);
        }
    }
    let mut ranking = Vec::new();
    let predicted = predict_all(models, &[point.to_vec()], LEVEL)?;
    for (metric, quantity) in groups {
        let ranked: Vec<(&Model, f64)> = models
            .models
            .iter()
            .zip(&predicted)
            .filter(|(model, _)| model.metric == metric && group_of(model) == quantity)
            .filter_map(|(model, predicted)| Some((model, predicted.first()?.value)))
            .collect();
        let mut ranked: Vec<(&Model, f64, f64)> =
            ranked.iter().map(|(model, value)| (*model, *value, own(model, *value, &ranked))).collect();
        // Not-a-number last; equal values keep the order of the file.
        let order = |value: f64| if value.is_nan() { f64::NEG_INFINITY } else { value };
        ranked.sort_by(|a, b| order(b.2).total_cmp(&order(a.2)));
        let greatest = ranked.iter().map(|(_, value, _)| *value).fold(0.0, f64::max);
        let names: BTreeSet<&str> = ranked.iter().map(|(model, ..)| model.callpath.as_str()).collect();
        // Of what is counted under one name, all callpaths stand under one heading.
        let heading = |model: &'_ Model| quantity.map_or(heading(&model.callpath, &names), |_| "").to_owned();
        let mut sums: BTreeMap<String, f64> = BTreeMap::new();
        for (model, _, own) in &ranked {
            *sums.entry(heading(model)).or_default() += own.max(0.0);
        }
        for (position, (model, value, own)) in ranked.into_iter().enumerate() {
            let largest: Vec<f64> = model.ranges().iter().map(|(_, high)| *high).collect();
            let sum = sums.get(&heading(model)).copied().unwrap_or(0.0);
            let share = if sum > 0.0 { own.max(0.0) / sum } else { 0.0 };
            ranking.push(Ranked {
                rank: position + 1,
                callpath: model.callpath.clone(),
                metric: model.metric.clone(),
                value,
                of_largest: if greatest > 0.0 { value.max(0.0) / greatest } else { 0.0 },
                own,
                share: adds_up(metric, quantity).then_some(share),
                growth: Some(value / model.evaluate(&largest)).filter(|growth| growth.is_finite()),
                quantity: quantity.map(str::to_owned),
            });
        }
    }
    Ok(ranking)
}

/// What divides a callpath from the one that it is inside of.
const INSIDE: &str = "->";

/// The heading that a callpath stands under: its first name, if that is no callpath itself.
fn heading<'a>(callpath: &'a str, all: &BTreeSet<&str>) -> &'a str {
    let first = callpath.split_once(INSIDE).map(|(first, _)| first);
    first.filter(|first| !all.contains(first)).unwrap_or("")
}

/// The value of a callpath without what is directly inside of it. Where the parts were measured as more than
/// the whole, the metric does not count them in, and the value is its own already.
fn own(model: &Model, value: f64, all: &[(&Model, f64)]) -> f64 {
    let inside = |other: &Model| {
        let rest = other.callpath.strip_prefix(model.callpath.as_str())?.strip_prefix(INSIDE)?;
        (!rest.contains(INSIDE)).then_some(())
    };
    let parts: Vec<&(&Model, f64)> = all.iter().filter(|(other, _)| inside(other).is_some()).collect();
    let largest: Vec<f64> = model.ranges().iter().map(|(_, high)| *high).collect();
    let measured: f64 = parts.iter().map(|(part, _)| part.evaluate(&largest)).sum();
    if parts.is_empty() || measured > 1.02 * model.evaluate(&largest) {
        return value;
    }
    (value - parts.iter().map(|(_, value)| value).sum::<f64>()).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    type Row<'a> = (&'a str, fn(f64) -> f64);

    fn ranked(rows: &[Row<'_>]) -> Vec<Ranked> {
        let line = |name: &str, p: f64, value: f64| {
            format!(
                "{{\"params\":{{\"p\":{p}}},\"callpath\":\"{name}\",\"metric\":\"time\",\"value\":{value}}}\n"
            )
        };
        let text: String = rows
            .iter()
            .flat_map(|(name, of)| [2.0, 4.0, 8.0, 16.0, 32.0].map(|p| line(name, p, of(p))))
            .collect();
        let experiment = crate::input::parse(&text, "test", None).unwrap();
        let models = crate::model(&experiment, &crate::Options::default()).unwrap();
        rank(&models, &[1024.0], None).unwrap()
    }

    #[test]
    fn what_is_inside_counts_once() {
        let found =
            ranked(&[("main", |p| 10.0 + 3.0 * p), ("main->solve", |_| 5.0), ("main->write", |p| 3.0 * p)]);
        let names: Vec<&str> = found.iter().map(|one| one.callpath.as_str()).collect();
        assert_eq!(names, ["main->write", "main", "main->solve"]);
        assert!((found[0].own - 3072.0).abs() < 1.0 && (found[1].own - 5.0).abs() < 1.0, "{found:?}");
        assert!((found.iter().filter_map(|one| one.share).sum::<f64>() - 1.0).abs() < 1e-9);
    }

    #[test]
    fn views_of_the_same_thing_have_shares_of_their_own() {
        let found = ranked(&[
            ("function->write", |p| 3.0 * p),
            ("function->open", |p| p),
            ("file->a", |p| 4.0 * p),
            ("alone", |p| p),
            ("other", |p| p),
        ]);
        let share = |name: &str| found.iter().find(|one| one.callpath == name).unwrap().share.unwrap();
        let shares = ["function->write", "function->open", "file->a", "alone", "other"].map(share);
        for (found, expected) in shares.iter().zip([0.75, 0.25, 1.0, 0.5, 0.5]) {
            assert!((found - expected).abs() < 1e-6, "{shares:?}");
        }
    }

    #[test]
    fn only_what_counts_the_same_is_compared() {
        let found = ranked(&[
            ("write->total_io_ops", |p| 30.0 * p),
            ("write->total_io_phases", |p| p),
            ("write->max_io_ops_per_rank", |_| 30.0),
            ("read->total_io_ops", |p| 10.0 * p),
            ("read->total_io_phases", |p| 3.0 * p),
        ]);
        let told = found.iter().map(|one| (one.callpath.as_str(), one.rank, one.share, one.counts()));
        let percent = |share: f64| (100.0 * share).round();
        let told: Vec<_> = told
            .map(|(name, rank, share, counts)| (name, rank, share.map(percent), counts.unwrap()))
            .collect();
        assert_eq!(
            told,
            [
                ("write->total_io_ops", 1, Some(75.0), "operations"),
                ("read->total_io_ops", 2, Some(25.0), "operations"),
                ("read->total_io_phases", 1, Some(75.0), "phases"),
                ("write->total_io_phases", 2, Some(25.0), "phases"),
                ("write->max_io_ops_per_rank", 1, None, "operations, most of a rank"),
            ]
        );
    }

    #[test]
    fn exclusive_values_stay_as_they_are() {
        let found = ranked(&[("main", |_| 1.0), ("main->write", |p| 3.0 * p)]);
        assert_eq!((found[1].callpath.as_str(), found[1].own), ("main", found[1].value));
    }
}
