//! What a picture of a model shows, and where on its axes.

use super::formula::{function, number, unit};
use crate::canvas::axis::Axis;
use crate::units::prefix;
use perf_model::output::plot::{Plot, plot};
use perf_model::{Model, Models, Note, Result};

/// Points along the curve.
const POINTS: usize = 160;
/// Without a point to evaluate, the curve goes on to this many times the largest measured scale.
const BEYOND: f64 = 2.0;

/// A chart of one model.
#[derive(Debug)]
pub struct Chart {
    pub data: Plot,
    /// The runner-up, where the data cannot tell the two apart.
    pub other: Vec<[f64; 2]>,
    /// The formula for people.
    pub formula: String,
    /// Error, and what else there is to say.
    pub remark: String,
    /// Up to here there are measurements.
    pub measured_to: f64,
    pub x: Axis,
    pub y: Axis,
}

/// Is it 0 at every scale?
pub fn is_zero(model: &Model) -> bool {
    model.measured().all(|(_, value)| value == 0.0)
}

/// Charts of all models along the first parameter; those that are 0 everywhere only if `all`.
pub fn charts(models: &Models, points: &[Vec<f64>], level: f64, all: bool) -> Result<Vec<Chart>> {
    let asked = points.iter().filter_map(|point| point.first()).copied().reduce(f64::max);
    let listed = models.models.iter().filter(|model| all || !is_zero(model));
    listed
        .map(|model| {
            let measured_to = model.ranges().first().map_or(1.0, |(_, high)| *high);
            let to = asked.unwrap_or(BEYOND * measured_to);
            let data = plot(model, &models.parameters, 0, Some(to), POINTS, level)?;
            let mut remark = vec![format!("{} points", data.points.len())];
            if let Some(costs) = model.leave_one_out {
                remark.push(format!("leave-one-out error {:.1} %", costs.smape));
            }
            let special = model.notes.iter().filter(|note| **note != Note::FewPoints);
            remark.extend(special.map(|note| note.explanation().to_owned()));
            let formula = function(&model.function, &models.parameters);
            let (x, y) = axes(&data);
            // Along one parameter of several, the others would have to be chosen.
            let alone = models.parameters.len() == 1;
            let other = model.runner_up.as_ref().filter(|other| alone && !other.distinguishable);
            let at = |x: f64| other.map(|other| [x, other.formula.evaluate(&[x])]);
            let other = data.curve.iter().filter_map(|point| at(point.x)).collect();
            Ok(Chart { data, other, formula, remark: remark.join(", "), measured_to, x, y })
        })
        .collect()
}

/// Both logarithmic where powers are to be seen as lines: over a wide range, and if all is positive.
fn axes(data: &Plot) -> (Axis, Axis) {
    let range = |values: &mut dyn Iterator<Item = f64>| {
        values
            .filter(|value| value.is_finite())
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)))
    };
    let xs = range(&mut data.curve.iter().map(|at| at.x).chain(data.points.iter().map(|point| point[0])));
    let values = || data.curve.iter().map(|at| at.y).chain(data.points.iter().map(|point| point[1]));
    let (low, high) = range(&mut values());
    // An interval may be far wider than the curve: it is cut rather than flattening everything else.
    let highest = data.curve.iter().filter_map(|at| at.interval).map(|interval| interval.high);
    let reach = highest.filter(|high| high.is_finite()).fold(high, f64::max).min(if high > 0.0 {
        2.5 * high
    } else {
        high
    });
    let wide = xs.0 > 0.0 && xs.1 >= 4.0 * xs.0;
    let x = Axis { low: xs.0, high: xs.1, logarithmic: wide }.widened();
    let y = if wide && low > 0.0 && high > 3.0 * low {
        Axis { low: low / 1.6, high: reach.max(1.3 * high), logarithmic: true }
    } else {
        // A model that plunges below 0 beyond the points is cut as well.
        let measured = data.points.iter().map(|point| point[1]);
        let (least, most) = range(&mut measured.clone());
        let floor = if least >= 0.0 { low.max(-0.25 * most) } else { low };
        Axis { low: floor.min(0.0), high: if reach > 0.0 { 1.08 * reach } else { 1.0 }, logarithmic: false }
    };
    (x, y.widened())
}

/// Round values along an axis with their labels, `unit` in them.
pub fn labelled_ticks(axis: Axis, count: usize, base: f64, unit: &str) -> Vec<(f64, String)> {
    let values = axis.ticks(count, base);
    let largest = values.iter().fold(0.0, |most: f64, value| most.max(value.abs()));
    let label = |value: f64| {
        // Along a linear axis all labels have one prefix; counts and scales have none.
        let (factor, letter) = match (base == 2.0 || unit.is_empty(), axis.logarithmic) {
            (true, _) => (1.0, ""),
            (false, true) => prefix(value),
            (false, false) => prefix(largest),
        };
        let digits = shortest(value / factor);
        if value == 0.0 { digits } else { format!("{digits} {letter}{unit}").trim_end().to_owned() }
    };
    values.into_iter().map(|value| (value, label(value))).collect()
}

/// Without zeros that say nothing.
fn shortest(value: f64) -> String {
    let text = number(value);
    match text.contains('.') && !text.contains('e') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

impl Chart {
    /// The unit of the values, if the metric names one.
    pub fn unit(&self) -> &str {
        unit(&self.data.metric).unwrap_or("")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_of_two_and_ten() {
        let ranks = Axis { low: 1.0, high: 16.0, logarithmic: true };
        let labels: Vec<String> =
            labelled_ticks(ranks, 6, 2.0, "").into_iter().map(|(_, label)| label).collect();
        assert_eq!(labels, ["1", "2", "4", "8", "16"]);
        let bytes = Axis { low: 2e6, high: 5e7, logarithmic: true };
        let labels: Vec<String> =
            labelled_ticks(bytes, 5, 10.0, "B").into_iter().map(|(_, label)| label).collect();
        assert_eq!(labels, ["2 MB", "5 MB", "10 MB", "20 MB", "50 MB"]);
        let plain = Axis { low: 0.0, high: 1.0, logarithmic: false };
        let labels: Vec<String> =
            labelled_ticks(plain, 2, 10.0, "s").into_iter().map(|(_, label)| label).collect();
        assert_eq!(labels, ["0", "0.5 s", "1 s"]);
    }
}
