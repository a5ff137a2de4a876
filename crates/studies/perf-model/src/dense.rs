//! Small dense least squares: Householder QR, and singular values where columns may depend on each other.
//!
//! Matrices are row-major slices of `n` rows and `k` columns with `k` a handful (the constant and the terms).
//!
//! Two solvers, for two purposes. [`minimum_norm`] answers whatever the matrix, as `numpy.linalg.lstsq` does,
//! and is what the compatibility mode needs. [`Fit`] scales columns to unit length first (a column of p³
//! beside one of ones is not ill-conditioned, only badly scaled), refuses dependent columns, and keeps the
//! triangle for leverages.

/// A least-squares solution.
#[derive(Debug, Clone)]
pub(crate) struct Solution {
    /// One coefficient per column.
    pub coefficients: Vec<f64>,
    /// Columns that count as independent.
    pub rank: usize,
}

/// `R` and `Qᵀy` of a matrix with at least one row per column.
struct Factored {
    k: usize,
    /// Upper triangle, k × k.
    r: Vec<f64>,
    /// First k entries of Qᵀy.
    qty: Vec<f64>,
}

/// The Euclidean norm, without overflow for values as large as p³.
fn norm(values: impl Iterator<Item = f64> + Clone) -> f64 {
    let largest = values.clone().fold(0.0, |largest: f64, value| largest.max(value.abs()));
    if largest == 0.0 || !largest.is_finite() {
        // NaN is not the largest of anything, but it is in the sum.
        return largest + values.sum::<f64>().abs();
    }
    largest * values.map(|value| (value / largest).powi(2)).sum::<f64>().sqrt()
}

/// Householder QR (Golub & Van Loan, Matrix Computations, §5.2). Rows are padded with zeros if there are
/// fewer than columns, which leaves the least-squares problem unchanged.
fn factor(rows: &[f64], k: usize, y: &[f64]) -> Factored {
    let n = y.len().max(k);
    let mut a = rows.to_vec();
    a.resize(n * k, 0.0);
    let mut y = y.to_vec();
    y.resize(n, 0.0);
    for column in 0..k {
        let norm = norm((column..n).map(|row| a[row * k + column]));
        if norm == 0.0 {
            continue;
        }
        let head = a[column * k + column];
        let alpha = if head > 0.0 { -norm } else { norm };
        // v = x − αe₁, scaled so that its first entry is one: no overflow for columns as large as p³.
        let first = head - alpha;
        let reflector: Vec<f64> =
            (column..n).map(|row| if row == column { 1.0 } else { a[row * k + column] / first }).collect();
        let beta = -first / alpha;
        for other in column..k {
            let dot: f64 = reflector.iter().enumerate().map(|(i, v)| v * a[(column + i) * k + other]).sum();
            for (i, v) in reflector.iter().enumerate() {
                a[(column + i) * k + other] -= beta * dot * v;
            }
        }
        let dot: f64 = reflector.iter().enumerate().map(|(i, v)| v * y[column + i]).sum();
        for (i, v) in reflector.iter().enumerate() {
            y[column + i] -= beta * dot * v;
        }
    }
    let mut r = vec![0.0; k * k];
    for row in 0..k {
        r[row * k + row..row * k + k].copy_from_slice(&a[row * k + row..row * k + k]);
    }
    y.truncate(k);
    Factored { k, r, qty: y }
}

/// Singular value decomposition `R = U · diag(s) · Vᵀ` of a k × k matrix by one-sided Jacobi rotations
/// (Demmel & Veselić 1992: accurate for columns of very different size). Returns `U·diag(s)` and `V`, both
/// row-major.
fn jacobi(r: &[f64], k: usize) -> (Vec<f64>, Vec<f64>) {
    const MOST_SWEEPS: usize = 60;
    let mut us = r.to_vec();
    let mut v = vec![0.0; k * k];
    for i in 0..k {
        v[i * k + i] = 1.0;
    }
    for _ in 0..MOST_SWEEPS {
        let mut rotated = false;
        for p in 0..k {
            for q in p + 1..k {
                let (mut pp, mut qq, mut pq) = (0.0, 0.0, 0.0);
                for row in 0..k {
                    let (a, b) = (us[row * k + p], us[row * k + q]);
                    pp += a * a;
                    qq += b * b;
                    pq += a * b;
                }
                if pq.abs() <= f64::EPSILON * (pp * qq).sqrt() || !pq.is_finite() {
                    continue;
                }
                rotated = true;
                let zeta = (qq - pp) / (2.0 * pq);
                let t = zeta.signum() / (zeta.abs() + zeta.hypot(1.0));
                let c = 1.0 / t.hypot(1.0);
                let s = c * t;
                for matrix in [&mut us, &mut v] {
                    for row in 0..k {
                        let (a, b) = (matrix[row * k + p], matrix[row * k + q]);
                        matrix[row * k + p] = c * a - s * b;
                        matrix[row * k + q] = s * a + c * b;
                    }
                }
            }
        }
        if !rotated {
            break;
        }
    }
    (us, v)
}

/// The minimum-norm least-squares solution; singular values of at most `limit` times the greatest count as
/// zero.
pub(crate) fn minimum_norm(rows: &[f64], k: usize, y: &[f64], limit: f64) -> Solution {
    let Factored { r, qty, .. } = factor(rows, k, y);
    let (us, v) = jacobi(&r, k);
    let squared: Vec<f64> =
        (0..k).map(|column| (0..k).map(|row| us[row * k + column].powi(2)).sum()).collect();
    let greatest = squared.iter().copied().fold(0.0, f64::max).sqrt();
    let mut coefficients = vec![0.0; k];
    let mut rank = 0;
    for (column, squared) in squared.iter().enumerate() {
        if squared.sqrt() <= limit * greatest || greatest == 0.0 {
            continue;
        }
        rank += 1;
        // (uᵀ Qᵀy) / s with u = us / s.
        let along = (0..k).map(|row| us[row * k + column] * qty[row]).sum::<f64>() / squared;
        for row in 0..k {
            coefficients[row] += along * v[row * k + column];
        }
    }
    Solution { coefficients, rank }
}

/// A fit with independent columns, and what follows from its triangle.
#[derive(Debug, Clone)]
pub(crate) struct Fit {
    pub coefficients: Vec<f64>,
    k: usize,
    r: Vec<f64>,
}

impl Fit {
    /// Solves by QR after scaling each column to unit length; `None` if the columns depend on each other.
    pub(crate) fn new(rows: &[f64], k: usize, y: &[f64]) -> Option<Fit> {
        const DEPENDENT: f64 = 1e-10;
        if y.len() < k {
            return None;
        }
        let scales: Vec<f64> =
            (0..k).map(|column| norm(rows.iter().skip(column).step_by(k).copied())).collect();
        if scales.iter().any(|scale| !(scale.is_finite() && *scale > 0.0)) {
            return None;
        }
        let scaled: Vec<f64> = rows
            .chunks_exact(k)
            .flat_map(|row| row.iter().zip(&scales).map(|(value, scale)| value / scale))
            .collect();
        let Factored { k, mut r, qty } = factor(&scaled, k, y);
        if (0..k).any(|i| r[i * k + i].abs() < DEPENDENT) {
            return None;
        }
        for row in 0..k {
            for column in row..k {
                r[row * k + column] *= scales[column];
            }
        }
        let mut coefficients = qty;
        for row in (0..k).rev() {
            let known: f64 = (row + 1..k).map(|column| r[row * k + column] * coefficients[column]).sum();
            coefficients[row] = (coefficients[row] - known) / r[row * k + row];
        }
        coefficients.iter().all(|c| c.is_finite()).then_some(Fit { coefficients, k, r })
    }

    /// `aᵀ (AᵀA)⁻¹ a`: the leverage of a row, or the variance of the fitted value there for residuals of
    /// variance one. With `AᵀA = RᵀR` this is |z|² where `Rᵀz = a`.
    pub(crate) fn leverage(&self, row: &[f64]) -> f64 {
        let k = self.k;
        let mut z = row.to_vec();
        for i in 0..k {
            let known: f64 = (0..i).map(|j| self.r[j * k + i] * z[j]).sum();
            z[i] = (z[i] - known) / self.r[i * k + i];
        }
        z.iter().map(|value| value * value).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The obvious version: normal equations by Gaussian elimination with pivoting.
    fn normal_equations(rows: &[f64], k: usize, y: &[f64]) -> Vec<f64> {
        let mut system = vec![vec![0.0; k + 1]; k];
        for (row, y) in rows.chunks_exact(k).zip(y) {
            for i in 0..k {
                for j in 0..k {
                    system[i][j] += row[i] * row[j];
                }
                system[i][k] += row[i] * y;
            }
        }
        for column in 0..k {
            let pivot =
                (column..k).max_by(|a, b| system[*a][column].abs().total_cmp(&system[*b][column].abs()));
            system.swap(column, pivot.unwrap());
            let pivot = system[column].clone();
            for (_, row) in system.iter_mut().enumerate().filter(|(index, _)| *index != column) {
                let factor = row[column] / pivot[column];
                for (entry, from) in row.iter_mut().zip(&pivot) {
                    *entry -= factor * from;
                }
            }
        }
        (0..k).map(|i| system[i][k] / system[i][i]).collect()
    }

    #[test]
    fn textbook_solution() {
        // A plane through four points that lie on it: z = 1 + 2x − 3y.
        let rows = [1.0, 0.0, 0.0, 1.0, 1.0, 0.0, 1.0, 0.0, 1.0, 1.0, 1.0, 1.0];
        let y = [1.0, 3.0, -2.0, 0.0];
        for coefficients in [
            Fit::new(&rows, 3, &y).unwrap().coefficients,
            minimum_norm(&rows, 3, &y, 1e-14).coefficients,
            normal_equations(&rows, 3, &y),
        ] {
            for (found, expected) in coefficients.iter().zip([1.0, 2.0, -3.0]) {
                assert!((found - expected).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn dependent_columns_share_their_coefficient() {
        let rows = [1.0, 2.0, 2.0, 1.0, 3.0, 3.0, 1.0, 5.0, 5.0];
        let y = [5.0, 7.0, 11.0];
        let solution = minimum_norm(&rows, 3, &y, 1e-14);
        assert_eq!(solution.rank, 2);
        for (found, expected) in solution.coefficients.iter().zip([1.0, 1.0, 1.0]) {
            assert!((found - expected).abs() < 1e-12, "{solution:?}");
        }
        assert!(Fit::new(&rows, 3, &y).is_none());
    }

    #[test]
    fn degenerate_systems_do_not_fail() {
        assert_eq!(minimum_norm(&[0.0, 0.0], 2, &[1.0], 1e-15).coefficients, [0.0, 0.0]);
        assert!(Fit::new(&[1.0, f64::NAN, 1.0, 2.0], 2, &[1.0, 2.0]).is_none());
        assert!(Fit::new(&[1.0, 2.0], 2, &[1.0]).is_none());
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            cases: 300,
            failure_persistence: None,
            ..ProptestConfig::default()
        })]
        #[test]
        fn factorisations_agree_with_the_normal_equations(
            k in 1usize..5,
            entries in prop::collection::vec(-3.0f64..3.0, 60),
            y in prop::collection::vec(-10.0f64..10.0, 12),
        ) {
            let rows = &entries[..12 * k];
            let expected = normal_equations(rows, k, &y);
            let norm = minimum_norm(rows, k, &y, 1e-13);
            prop_assert_eq!(norm.rank, k);
            let fit = Fit::new(rows, k, &y).unwrap();
            for found in [&norm.coefficients, &fit.coefficients] {
                for (found, expected) in found.iter().zip(&expected) {
                    prop_assert!((found - expected).abs() < 1e-8 * (1.0 + expected.abs()));
                }
            }
            // The trace of the hat matrix is the number of columns.
            let trace: f64 = rows.chunks_exact(k).map(|row| fit.leverage(row)).sum();
            prop_assert!((trace - k as f64).abs() < 1e-8);

            // Leaving a row out changes its fitted value as its leverage says.
            let left_out = 3;
            let rest: Vec<f64> =
                rows.chunks_exact(k).enumerate().filter(|(i, _)| *i != left_out)
                    .flat_map(|(_, row)| row.to_vec()).collect();
            let rest_y: Vec<f64> =
                y.iter().enumerate().filter(|(i, _)| *i != left_out).map(|(_, y)| *y).collect();
            let row = &rows[left_out * k..(left_out + 1) * k];
            let at = |coefficients: &[f64]| row.iter().zip(coefficients).map(|(x, c)| x * c).sum::<f64>();
            let direct = at(&normal_equations(&rest, k, &rest_y)) - y[left_out];
            let leverage = fit.leverage(row);
            prop_assume!(leverage < 0.99);
            let quick = (at(&fit.coefficients) - y[left_out]) / (1.0 - leverage);
            prop_assert!((quick - direct).abs() < 1e-6 * (1.0 + direct.abs()));
        }
    }
}
