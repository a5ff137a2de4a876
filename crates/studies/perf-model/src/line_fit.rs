//! Least squares for one term: `y ≈ constant + slope · x`, on all points and with each left out in turn.
//!
//! Both follow the minimum-norm solution of `[1 x] · c = y` by singular values, as `numpy.linalg.lstsq`
//! computes it: a singular value below `ε · max(n, 2)` times the greatest counts as zero. For two columns the
//! singular values have a closed form, so that no decomposition is needed.

/// Coefficients of `constant + slope · x`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Line {
    pub constant: f64,
    pub slope: f64,
}

/// Sums over some points from which their fit follows.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sums {
    n: f64,
    /// Means.
    pub x: f64,
    pub y: f64,
    /// Σ (x − x̄)²
    pub xx: f64,
    /// Σ (x − x̄)(y − ȳ)
    pub xy: f64,
}

impl Sums {
    pub(crate) fn of(points: impl Iterator<Item = (f64, f64)> + Clone) -> Self {
        let mut n = 0.0;
        let (mut x, mut y) = (0.0, 0.0);
        for point in points.clone() {
            n += 1.0;
            x += point.0;
            y += point.1;
        }
        let (x, y) = (x / n, y / n);
        let (mut xx, mut xy) = (0.0, 0.0);
        for point in points {
            let dx = point.0 - x;
            xx += dx * dx;
            xy += dx * (point.1 - y);
        }
        Sums { n, x, y, xx, xy }
    }

    /// The sums without one of the points, by the update formulas for means and co-moments; `None` where that
    /// would cancel the leading digits, which is when the point carries nearly all of Σ (x − x̄)².
    fn without(&self, x: f64, y: f64) -> Option<Sums> {
        const CANCELLATION: f64 = 1e-3;
        let (dx, dy) = (x - self.x, y - self.y);
        let rest = self.n - 1.0;
        let factor = self.n / rest;
        let xx = self.xx - factor * dx * dx;
        (xx > CANCELLATION * self.xx).then(|| Sums {
            n: rest,
            x: self.x - dx / rest,
            y: self.y - dy / rest,
            xx,
            xy: self.xy - factor * dx * dy,
        })
    }

    /// The minimum-norm least-squares line.
    ///
    /// With `G = [1 x]ᵀ[1 x]`, the squared singular values are the eigenvalues of `G`: their sum is
    /// `n + Σx² = n + Σ(x−x̄)² + n·x̄²`, their product `n · Σ(x−x̄)²`.
    fn line(&self) -> Line {
        let Sums { n, x, y, xx, xy } = *self;
        let trace = n + xx + n * x * x;
        let determinant = n * xx;
        let greatest = (trace + (trace * trace - 4.0 * determinant).max(0.0).sqrt()) / 2.0;
        let ratio = determinant.sqrt() / greatest; // least over greatest singular value
        if ratio > f64::EPSILON * n.max(2.0) {
            let slope = xy / xx;
            return Line { constant: y - slope * x, slope };
        }
        // One direction is left: the eigenvector of the greatest eigenvalue, v = (Σx, λ − n) up to its
        // length.
        let direction = (n * x, greatest - n);
        let squared = direction.0 * direction.0 + direction.1 * direction.1;
        let (a, b) = if squared > 0.0 { direction } else { (1.0, 0.0) };
        let squared = if squared > 0.0 { squared } else { 1.0 };
        // Aᵀy in terms of the sums: Σy and Σxy = Σ(x−x̄)(y−ȳ) + n·x̄·ȳ.
        let along = (a * n * y + b * (xy + n * x * y)) / (squared * greatest);
        Line { constant: along * a, slope: along * b }
    }
}

/// Fits all points.
pub(crate) fn fit(x: &[f64], y: &[f64]) -> Line {
    Sums::of(x.iter().copied().zip(y.iter().copied())).line()
}

/// Fits all points but one, for each of them, calling `visit` with its index and the line. One pass over the
/// points: O(n) altogether where nothing cancels.
pub(crate) fn leave_one_out(x: &[f64], y: &[f64], mut visit: impl FnMut(usize, Line)) {
    let all = Sums::of(x.iter().copied().zip(y.iter().copied()));
    for left_out in 0..x.len() {
        let sums = all.without(x[left_out], y[left_out]).unwrap_or_else(|| without_directly(x, y, left_out));
        visit(left_out, sums.line());
    }
}

fn without_directly(x: &[f64], y: &[f64], left_out: usize) -> Sums {
    let points = x.iter().copied().zip(y.iter().copied()).enumerate();
    Sums::of(points.filter(move |(index, _)| *index != left_out).map(|(_, point)| point))
}

/// Least squares with weights.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WeightedLine {
    pub line: Line,
    /// Σ w · residual².
    pub rss: f64,
}

impl WeightedLine {
    /// Fits `y` against `x` with weights; the slope is zero if all `x` are equal.
    pub(crate) fn fit(x: &[f64], y: &[f64], weights: &[f64]) -> Self {
        let weight: f64 = weights.iter().sum();
        let (mut centre, mut level) = (0.0, 0.0);
        for ((x, y), w) in x.iter().zip(y).zip(weights) {
            centre += w * x;
            level += w * y;
        }
        let (centre, level) = (centre / weight, level / weight);
        let (mut spread, mut product) = (0.0, 0.0);
        for ((x, y), w) in x.iter().zip(y).zip(weights) {
            let dx = x - centre;
            spread += w * dx * dx;
            product += w * dx * (y - level);
        }
        let slope = if spread > 0.0 { product / spread } else { 0.0 };
        let rss = x
            .iter()
            .zip(y)
            .zip(weights)
            .map(|((x, y), w)| {
                let residual = (y - level) - slope * (x - centre);
                w * residual * residual
            })
            .sum();
        WeightedLine { line: Line { constant: level - slope * centre, slope }, rss }
    }

    /// The same without negative coefficients: through zero if the constant would be one. `None` if the slope
    /// would be: that is a constant.
    pub(crate) fn positive(x: &[f64], y: &[f64], weights: &[f64]) -> Option<Self> {
        let free = WeightedLine::fit(x, y, weights);
        if free.line.constant >= 0.0 {
            return (free.line.slope >= 0.0).then_some(free);
        }
        let sum = |of: fn(f64, f64) -> f64| -> f64 {
            x.iter().zip(y).zip(weights).map(|((x, y), w)| w * of(*x, *y)).sum()
        };
        let slope = sum(|x, y| x * y) / sum(|x, _| x * x);
        let rss = x.iter().zip(y).zip(weights).map(|((x, y), w)| w * (y - slope * x).powi(2)).sum();
        (slope > 0.0).then_some(WeightedLine { line: Line { constant: 0.0, slope }, rss })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dense;
    use proptest::prelude::*;

    /// The obvious version: build the matrix without the point, decompose it, solve.
    fn slow_leave_one_out(x: &[f64], y: &[f64], left_out: usize) -> Line {
        let kept = (0..x.len()).filter(|&index| index != left_out);
        let rows: Vec<f64> = kept.clone().flat_map(|index| [1.0, x[index]]).collect();
        let values: Vec<f64> = kept.map(|index| y[index]).collect();
        let limit = f64::EPSILON * values.len().max(2) as f64;
        let solution = dense::minimum_norm(&rows, 2, &values, limit);
        Line { constant: solution.coefficients[0], slope: solution.coefficients[1] }
    }

    fn close(a: f64, b: f64, scale: f64) -> bool {
        (a - b).abs() <= 1e-7 * scale.max(b.abs())
    }

    #[test]
    fn textbook_line() {
        // Anscombe's first quartet: y = 3.00 + 0.500 x.
        let x = [10.0, 8.0, 13.0, 9.0, 11.0, 14.0, 6.0, 4.0, 12.0, 7.0, 5.0];
        let y = [8.04, 6.95, 7.58, 8.81, 8.33, 9.96, 7.24, 4.26, 10.84, 4.82, 5.68];
        let line = fit(&x, &y);
        assert!((line.constant - 3.000_090_909).abs() < 1e-8, "{line:?}");
        assert!((line.slope - 0.500_090_909).abs() < 1e-8, "{line:?}");
        let weighted = WeightedLine::fit(&x, &y, &[1.0; 11]);
        assert!((weighted.line.slope - line.slope).abs() < 1e-12);
        assert!((weighted.rss - 13.762_69).abs() < 1e-5, "{}", weighted.rss);
    }

    #[test]
    fn one_point_has_the_minimum_norm_line() {
        // c0 + 4 c1 = 12 with the least c0² + c1²: (12, 48) / 17.
        let line = fit(&[4.0], &[12.0]);
        assert!((line.constant - 12.0 / 17.0).abs() < 1e-12 && (line.slope - 48.0 / 17.0).abs() < 1e-12);
    }

    #[test]
    fn a_column_beyond_precision_is_left_alone() {
        let x = [1e18, 8e18, 27e18, 64e18];
        let line = fit(&x, &[1.0, 8.0, 27.0, 64.0]);
        assert!((line.slope - 1e-18).abs() < 1e-27 && line.constant.abs() < 1e-9, "{line:?}");
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            cases: 400,
            failure_persistence: None,
            ..ProptestConfig::default()
        })]
        #[test]
        fn fast_leave_one_out_is_the_slow_one(
            points in prop::collection::vec((1.0f64..2000.0, -100.0f64..100.0), 2..40),
            power in prop::sample::select(vec![0.25, 0.5, 1.0, 1.5, 2.0, 3.0]),
        ) {
            let x: Vec<f64> = points.iter().map(|(x, _)| x.powf(power)).collect();
            let y: Vec<f64> = points.iter().map(|(_, y)| *y).collect();
            let mut failure = None;
            leave_one_out(&x, &y, |index, fast| {
                let slow = slow_leave_one_out(&x, &y, index);
                let (at_fast, at_slow) =
                    (fast.constant + fast.slope * x[index], slow.constant + slow.slope * x[index]);
                let scale = 100.0 * (1.0 + (slow.slope * x[index]).abs());
                if !close(at_fast, at_slow, scale) {
                    failure = Some((index, fast, slow));
                }
            });
            prop_assert!(failure.is_none(), "{failure:?}");
        }
    }
}
