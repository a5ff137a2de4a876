//! One or two segments: every place to cut is tried, and a cut must pay for the coefficients it adds.

use super::search::{Shrinking, single_on};
use super::{Outcome, Scaled};
use crate::basis::Basis;
use crate::function::{Formula, Function};
use crate::noise;
use crate::points::Points;
use crate::search_space::SearchSpace;

/// Fewest points in a segment: two coefficients and something to judge them by.
const MIN_SEGMENT_POINTS: usize = 4;

/// The model of a series of one parameter, in one or two segments.
pub(crate) fn segmented(points: &Points, space: &SearchSpace, shrinking: Shrinking) -> Outcome {
    let points = points.select(points.ascending());
    let basis = Basis::defined(space, &points);
    let known = noise::known_kind(&points);
    let whole = single_on(&points, &basis, shrinking, known);
    let n = points.len();
    if n < 2 * MIN_SEGMENT_POINTS {
        return whole;
    }
    let scaled = Scaled::new(&points, whole.kind);
    let rss = |formula: &Formula, range: std::ops::Range<usize>| -> f64 {
        range
            .map(|index| {
                let residual = formula.evaluate(points.point(index)) - points.values[index];
                (residual / scaled.scale[index]).powi(2)
            })
            .sum()
    };
    // Schwarz's criterion: ln n for each coefficient, and for the cut.
    let price = |coefficients: usize| coefficients as f64 * (n as f64).ln();
    let one = whole.function.leading();
    let mut best = (rss(one, 0..n), one.terms.len() + 1);
    let mut cut = None;
    let believed = scaled.believed(best.0, best.1);
    let score = |(rss, coefficients): (f64, usize)| scaled.deviance(rss, &believed, 0) + price(coefficients);
    for first in MIN_SEGMENT_POINTS..=n - MIN_SEGMENT_POINTS {
        let [below, above] = [0..first, first..n].map(|range| {
            let part = points.select(range.clone());
            single_on(&part, &basis.range(range), shrinking, Some(whole.kind)).function.leading().clone()
        });
        let next =
            (rss(&below, 0..first) + rss(&above, first..n), below.terms.len() + above.terms.len() + 2 + 1);
        if score(next) < score(best) {
            best = next;
            cut = Some((first, below, above));
        }
    }
    let Some((first, below, above)) = cut else { return whole };
    let change = meeting_point(&below, &above, points.point(first - 1)[0], points.point(first)[0]);
    let function =
        Function::Segmented { lower_end: change, upper_start: change, formulas: Box::new([below, above]) };
    Outcome { function, candidates: Vec::new(), kind: whole.kind }
}

/// Where the formulas meet between the last point below and the first above, or else halfway: a model has a
/// value everywhere.
fn meeting_point(below: &Formula, above: &Formula, last: f64, first: f64) -> f64 {
    const MEETING_STEPS: usize = 60;
    let difference = |p: f64| below.evaluate(&[p]) - above.evaluate(&[p]);
    let (mut low, mut high) = (last, first);
    if difference(low) * difference(high) > 0.0 {
        return f64::midpoint(low, high);
    }
    for _ in 0..MEETING_STEPS {
        let middle = f64::midpoint(low, high);
        if difference(low) * difference(middle) <= 0.0 { high = middle } else { low = middle }
    }
    f64::midpoint(low, high)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model(function: impl Fn(f64) -> f64) -> Function {
        let coordinates: Vec<f64> = (1..=16).map(|k| f64::from(5 * k)).collect();
        let values: Vec<f64> = coordinates.iter().map(|p| function(*p)).collect();
        let space = SearchSpace::new(true, true);
        segmented(&Points::single(&coordinates, &values), &space, Shrinking::WhereFalling).function
    }

    #[test]
    fn a_parabola_that_collapses_to_a_line() {
        let Function::Segmented { lower_end, formulas, .. } =
            model(|p| if p <= 40.0 { 30.0 + p * p } else { 30.0 + p })
        else {
            panic!("not segmented")
        };
        assert!((40.0..45.0).contains(&lower_end));
        assert_eq!(formulas[0].terms[0].factors[0].exponents.power.to_string(), "2");
        assert_eq!(formulas[1].terms[0].factors[0].exponents.power.to_string(), "1");
    }

    #[test]
    fn one_segment_stays_one() {
        assert!(matches!(model(|p| 3.0 + p.sqrt()), Function::Formula(_)));
    }
}
