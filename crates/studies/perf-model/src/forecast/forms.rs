//! The curves of a forecast: costs with positive coefficients, rates whose reciprocal is such a cost, a power
//! law, a constant, and from six scales on sums of what is shared and what grows.

use super::constants::{FALLING, LOGGED, RISING, SHARED};
use crate::dense::Fit;

/// A term of `c₀ + c₁ · f(p)`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Term {
    Power(f64),
    Logarithm(i32),
    PowerLogarithm(f64),
}

impl Term {
    /// All terms.
    pub(super) fn all() -> impl Iterator<Item = Term> {
        let powers = RISING.into_iter().chain(FALLING).map(Term::Power);
        powers.chain([1, 2].map(Term::Logarithm)).chain(LOGGED.map(Term::PowerLogarithm))
    }

    /// The value at a logarithm of p, the smallest scale having the logarithm `first`.
    ///
    /// Powers of p over the smallest scale are the same curves as powers of p. A logarithm of that is another
    /// curve, as the constant may not be negative, and is never negative itself.
    fn at(self, x: f64, first: f64) -> f64 {
        let log2 = |x: f64| x / std::f64::consts::LN_2;
        match self {
            Term::Power(power) => (power * (x - first)).exp(),
            Term::Logarithm(power) => log2(x - first).powi(power),
            Term::PowerLogarithm(power) => {
                let x = x - first.min(0.0);
                (power * x).exp() * log2(x)
            }
        }
    }
}

/// What may grow beside work that is shared.
#[derive(Debug, Clone, Copy)]
enum Growing {
    Logarithm,
    Power(f64),
}

const GROWING: [Growing; 3] = [Growing::Logarithm, Growing::Power(0.5), Growing::Power(1.0)];

impl Growing {
    fn at(self, x: f64) -> f64 {
        match self {
            Growing::Logarithm => x / std::f64::consts::LN_2,
            Growing::Power(power) => (power * x).exp(),
        }
    }
}

/// A curve with its coefficients.
#[derive(Debug, Clone, Copy)]
enum Curve {
    /// Of the value (sign 1), or of its reciprocal (−1).
    Cost { term: Term, sign: f64, constant: f64, slope: f64 },
    /// A line in both logarithms.
    Line { constant: f64, slope: f64 },
    /// Work that is shared, and a cost that grows; `None` where one of them would be negative.
    Pair { power: f64, growing: Growing, coefficients: Option<[f64; 3]> },
}

/// All curves, fitted to the same series.
#[derive(Debug, Clone)]
pub(super) struct Curves {
    /// Logarithm of the smallest scale.
    first: f64,
    curves: Vec<Curve>,
}

/// A series in logarithms, in order of its scales.
#[derive(Debug, Clone)]
pub(super) struct Series {
    pub(super) x: Vec<f64>,
    pub(super) z: Vec<f64>,
}

impl Series {
    pub(super) fn without(&self, left_out: usize) -> Series {
        let mut rest = self.clone();
        rest.x.remove(left_out);
        rest.z.remove(left_out);
        rest
    }

    /// The slope through the last points.
    pub(super) fn slope(&self, last: usize) -> f64 {
        let from = self.x.len() - last;
        line(&self.x[from..], &self.z[from..]).1
    }
}

/// Level at x = 0 and slope of the line through points.
fn line(x: &[f64], z: &[f64]) -> (f64, f64) {
    let n = x.len() as f64;
    let (middle, level) = (x.iter().sum::<f64>() / n, z.iter().sum::<f64>() / n);
    let (mut square, mut product) = (0.0, 0.0);
    for (x, z) in x.iter().zip(z) {
        square += (x - middle).powi(2);
        product += (x - middle) * (z - level);
    }
    (level - product / square * middle, product / square)
}

/// c₀, c₁ ≥ 0 that minimise Σ ((c₀ + c₁ f − v) / v)².
fn two(terms: &[f64], values: &[f64]) -> (f64, f64) {
    let (mut weights, mut mean, mut level) = (0.0, 0.0, 0.0);
    for (f, v) in terms.iter().zip(values) {
        let w = 1.0 / (v * v);
        weights += w;
        mean += w * f;
        level += w * v;
    }
    let (mean, level) = (mean / weights, level / weights);
    let (mut square, mut product, mut squares, mut products) = (0.0, 0.0, 0.0, 0.0);
    for (f, v) in terms.iter().zip(values) {
        let w = 1.0 / (v * v);
        square += w * (f - mean).powi(2);
        product += w * (f - mean) * (v - level);
        squares += w * f * f;
        products += w * f * v;
    }
    let mut slope = if square > 0.0 { product / square } else { 0.0 };
    let mut constant = level - slope * mean;
    if constant < 0.0 {
        (constant, slope) = (0.0, if squares > 0.0 { products / squares } else { 0.0 });
    }
    if slope < 0.0 { (level, 0.0) } else { (constant, slope) }
}

/// A constant, the shared and the growing part, both positive: as [`two`], with three coefficients.
fn three(power: f64, growing: Growing, x: &[f64], values: &[f64]) -> Option<[f64; 3]> {
    let from = *x.first()?;
    let ones = vec![1.0; values.len()];
    let rows = |constant: bool| -> Vec<f64> {
        let row = |(x, v): (&f64, &f64)| {
            let parts = [1.0, (power * (x - from)).exp(), growing.at(x - from)];
            parts.into_iter().skip(usize::from(!constant)).map(|part| part / v).collect::<Vec<f64>>()
        };
        x.iter().zip(values).flat_map(row).collect()
    };
    let [mut constant, mut shared, mut grows] = Fit::new(&rows(true), 3, &ones)?.coefficients[..] else {
        return None;
    };
    if constant < 0.0 {
        let without = Fit::new(&rows(false), 2, &ones)?.coefficients;
        (constant, shared, grows) = (0.0, without[0], without[1]);
    }
    (shared > 0.0 && grows > 0.0).then_some([constant, shared, grows])
}

impl Curves {
    pub(super) fn fitted(series: &Series, pairs: bool) -> Curves {
        let Series { x, z } = series;
        let first = x.first().copied().unwrap_or(0.0);
        let values: Vec<f64> = z.iter().map(|z| z.exp()).collect();
        let reciprocals: Vec<f64> = values.iter().map(|value| 1.0 / value).collect();
        let mut curves = Vec::with_capacity(64);
        for term in Term::all() {
            let terms: Vec<f64> = x.iter().map(|x| term.at(*x, first)).collect();
            for (sign, values) in [(1.0, &values), (-1.0, &reciprocals)] {
                let (constant, slope) = two(&terms, values);
                curves.push(Curve::Cost { term, sign, constant, slope });
            }
        }
        let (constant, slope) = line(x, z);
        curves.push(Curve::Line { constant, slope });
        curves.push(Curve::Line { constant: z.iter().sum::<f64>() / z.len() as f64, slope: 0.0 });
        if pairs {
            for power in SHARED {
                for growing in GROWING {
                    let coefficients = three(power, growing, x, &values);
                    curves.push(Curve::Pair { power, growing, coefficients });
                }
            }
        }
        Curves { first, curves }
    }

    /// The logarithm of every curve at a logarithm of p; not a number where it has none.
    pub(super) fn at(&self, x: f64) -> impl Iterator<Item = f64> + '_ {
        /// What a cost that is not positive (a logarithm below the smallest scale) counts as.
        const NOTHING: f64 = 1e-300;
        // The two curves of a term stand side by side.
        let mut last = (None, 0.0);
        self.curves.iter().map(move |curve| match *curve {
            Curve::Cost { term, sign, constant, slope } => {
                if last.0 != Some(term) {
                    last = (Some(term), term.at(x, self.first));
                }
                sign * (constant + slope * last.1).max(NOTHING).ln()
            }
            Curve::Line { constant, slope } => constant + slope * x,
            Curve::Pair { power, growing, coefficients } => {
                coefficients.map_or(f64::NAN, |[constant, shared, grows]| {
                    let x = x - self.first;
                    (constant + shared * (power * x).exp() + grows * growing.at(x)).ln()
                })
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_as_many_curves_as_described() {
        let series = Series { x: vec![0.0, 1.0, 2.0, 3.0], z: vec![0.0, 1.1, 1.9, 3.0] };
        assert_eq!(Curves::fitted(&series, false).curves.len(), 56);
        assert_eq!(Curves::fitted(&series, true).curves.len(), 62);
    }

    #[test]
    fn coefficients_are_never_negative() {
        let terms = [1.0, 2.0, 4.0];
        let exact = two(&terms, &[5.0, 7.0, 11.0]);
        assert!((exact.0 - 3.0).abs() < 1e-12 && (exact.1 - 2.0).abs() < 1e-12, "{exact:?}");
        // A line that starts below zero goes through it; one that falls is flat.
        let (constant, slope) = two(&terms, &[1.0, 3.0, 7.0]);
        assert!(constant == 0.0 && (1.0..1.8).contains(&slope), "{slope}");
        assert_eq!(two(&terms, &[7.0, 3.0, 1.0]).1, 0.0);
    }
}
