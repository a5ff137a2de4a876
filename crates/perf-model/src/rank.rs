//! Which callpath will dominate at a given scale.

use serde::Serialize;

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
    /// Predicted value over the one at the largest measured point: how much it grows from there.
    pub growth: f64,
}

/// Ranks the callpaths of each metric, or of one of them, by what they are predicted to take at a point,
/// greatest first.
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
        let mut ranked: Vec<(&Model, f64)> = models
            .models
            .iter()
            .filter(|model| model.metric == metric)
            .map(|model| (model, model.evaluate(point)))
            .collect();
        // Not-a-number last; equal values keep the order of the file.
        let order = |value: f64| if value.is_nan() { f64::NEG_INFINITY } else { value };
        ranked.sort_by(|a, b| order(b.1).total_cmp(&order(a.1)));
        let greatest = ranked.iter().map(|(_, value)| *value).fold(0.0, f64::max);
        for (position, (model, value)) in ranked.into_iter().enumerate() {
            let largest: Vec<f64> = model.ranges().iter().map(|(_, high)| *high).collect();
            ranking.push(Ranked {
                rank: position + 1,
                callpath: model.callpath.clone(),
                metric: model.metric.clone(),
                value,
                of_largest: if greatest > 0.0 { value.max(0.0) / greatest } else { 0.0 },
                growth: value / model.evaluate(&largest),
            });
        }
    }
    Ok(ranking)
}
