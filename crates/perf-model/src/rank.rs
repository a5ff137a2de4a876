//! Which callpath will dominate at a given scale.

use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

use crate::error::{Error, Result};
use crate::model::Model;
use crate::modeler::Models;

/// A callpath's place among those of its metric.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Ranked {
    /// From one.
    pub rank: usize,
    /// Where.
    pub callpath: String,
    /// What.
    pub metric: String,
    /// Predicted value at the point.
    pub value: f64,
    /// Predicted value over the greatest of the metric, negative values counting as none. Not a share of the
    /// sum: callpaths may contain each other.
    pub of_largest: f64,
    /// Predicted value without that of the callpaths inside this one (`a->b` is inside `a`), where the metric
    /// counts them in.
    pub own: f64,
    /// That over the sum of all of the metric under the same heading: the first name of callpaths that is no
    /// callpath itself. Headings are views of the same thing: `function->write_at` and `write_sync->total`
    /// count the same bytes.
    pub share: f64,
    /// Predicted value over the one at the largest measured point: how much it grows from there; `None` if
    /// that is 0.
    pub growth: Option<f64>,
}

/// Ranks the callpaths of each metric, or of one of them, by what they themselves are predicted to take at a
/// point, greatest first.
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
    let mut metrics: Vec<&str> = Vec::new();
    for model in &models.models {
        if !metrics.contains(&model.metric.as_str()) && metric.is_none_or(|metric| metric == model.metric) {
            metrics.push(&model.metric);
        }
    }
    let mut ranking = Vec::new();
    for metric in metrics {
        let ranked: Vec<(&Model, f64)> = models
            .models
            .iter()
            .filter(|model| model.metric == metric)
            .map(|model| (model, model.evaluate(point)))
            .collect();
        let mut ranked: Vec<(&Model, f64, f64)> =
            ranked.iter().map(|(model, value)| (*model, *value, own(model, *value, &ranked))).collect();
        // Not-a-number last; equal values keep the order of the file.
        let order = |value: f64| if value.is_nan() { f64::NEG_INFINITY } else { value };
        ranked.sort_by(|a, b| order(b.2).total_cmp(&order(a.2)));
        let greatest = ranked.iter().map(|(_, value, _)| *value).fold(0.0, f64::max);
        let names: BTreeSet<&str> = ranked.iter().map(|(model, ..)| model.callpath.as_str()).collect();
        let mut sums: BTreeMap<&str, f64> = BTreeMap::new();
        for (model, _, own) in &ranked {
            *sums.entry(heading(&model.callpath, &names)).or_default() += own.max(0.0);
        }
        for (position, (model, value, own)) in ranked.into_iter().enumerate() {
            let largest: Vec<f64> = model.ranges().iter().map(|(_, high)| *high).collect();
            let sum = sums.get(heading(&model.callpath, &names)).copied().unwrap_or(0.0);
            ranking.push(Ranked {
                rank: position + 1,
                callpath: model.callpath.clone(),
                metric: model.metric.clone(),
                value,
                of_largest: if greatest > 0.0 { value.max(0.0) / greatest } else { 0.0 },
                own,
                share: if sum > 0.0 { own.max(0.0) / sum } else { 0.0 },
                growth: Some(value / model.evaluate(&largest)).filter(|growth| growth.is_finite()),
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
        assert!((found.iter().map(|one| one.share).sum::<f64>() - 1.0).abs() < 1e-9);
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
        let share = |name: &str| found.iter().find(|one| one.callpath == name).unwrap().share;
        let shares = ["function->write", "function->open", "file->a", "alone", "other"].map(share);
        for (found, expected) in shares.iter().zip([0.75, 0.25, 1.0, 0.5, 0.5]) {
            assert!((found - expected).abs() < 1e-6, "{shares:?}");
        }
    }

    #[test]
    fn exclusive_values_stay_as_they_are() {
        let found = ranked(&[("main", |_| 1.0), ("main->write", |p| 3.0 * p)]);
        assert_eq!((found[1].callpath.as_str(), found[1].own), ("main", found[1].value));
    }
}
