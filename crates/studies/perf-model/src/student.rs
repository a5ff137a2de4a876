//! Student's t distribution, for tests and intervals of small samples.

/// P(T ≤ t) for `degrees` of freedom (need not be whole).
///
/// With x = ν/(ν + t²), the upper tail is I_x(ν/2, 1/2) / 2 (Abramowitz & Stegun 26.7.1).
pub(crate) fn cumulative(t: f64, degrees: f64) -> f64 {
    if t.is_nan() || degrees.is_nan() || degrees <= 0.0 {
        return f64::NAN;
    }
    let tail = 0.5 * incomplete_beta(degrees / 2.0, 0.5, degrees / (degrees + t * t));
    if t > 0.0 { 1.0 - tail } else { tail }
}

/// P(|T| ≥ |t|): the two-sided significance of t.
pub(crate) fn significance(t: f64, degrees: f64) -> f64 {
    if t.is_infinite() {
        return 0.0;
    }
    incomplete_beta(degrees / 2.0, 0.5, degrees / (degrees + t * t))
}

/// How many deviations to both sides of its mean a normal distribution has with probability `level`.
pub(crate) fn normal_width(level: f64) -> f64 {
    /// So many degrees of freedom that nothing is left of the difference.
    const NORMAL: f64 = 1e7;
    const STEPS: usize = 60;
    let (mut low, mut high) = (0.0, 10.0);
    for _ in 0..STEPS {
        let middle = f64::midpoint(low, high);
        if significance(middle, NORMAL) > 1.0 - level { low = middle } else { high = middle }
    }
    high
}

/// Regularised incomplete beta function I_x(a, b), by Lentz's continued fraction (Abramowitz & Stegun
/// 26.5.8).
fn incomplete_beta(a: f64, b: f64, x: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if x >= 1.0 {
        return 1.0;
    }
    // The fraction converges quickly on one side of the mean; the other follows by symmetry.
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - incomplete_beta(b, a, 1.0 - x);
    }
    const MOST_STEPS: i32 = 300;
    const TINY: f64 = 1e-300;
    let front = (a * x.ln() + b * (-x).ln_1p() - ln_beta(a, b)).exp() / a;
    let guard = |value: f64| if value.abs() < TINY { TINY } else { value };
    let mut c = 1.0;
    let mut d = 1.0 / guard(1.0 - (a + b) * x / (a + 1.0));
    let mut fraction = d;
    for step in 1..=MOST_STEPS {
        let m = f64::from(step);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        d = 1.0 / guard(1.0 + even * d);
        c = guard(1.0 + even / c);
        fraction *= d * c;
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        d = 1.0 / guard(1.0 + odd * d);
        c = guard(1.0 + odd / c);
        fraction *= d * c;
        if (d * c - 1.0).abs() < 1e-15 {
            break;
        }
    }
    front * fraction
}

fn ln_beta(a: f64, b: f64) -> f64 {
    ln_gamma(a) + ln_gamma(b) - ln_gamma(a + b)
}

/// ln Γ(x) for x > 0: Stirling's series, shifted up by the recurrence where x is small.
fn ln_gamma(x: f64) -> f64 {
    const SHIFT: f64 = 16.0;
    let mut shifted = x;
    let mut product = 1.0;
    while shifted < SHIFT {
        product *= shifted;
        shifted += 1.0;
    }
    let inverse = 1.0 / shifted;
    let square = inverse * inverse;
    let series = inverse * (1.0 / 12.0 - square * (1.0 / 360.0 - square * (1.0 / 1260.0 - square / 1680.0)));
    (shifted - 0.5) * shifted.ln() - shifted + 0.5 * (2.0 * std::f64::consts::PI).ln() + series - product.ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gamma_of_halves_and_integers() {
        assert!((ln_gamma(5.0) - 24.0f64.ln()).abs() < 1e-13);
        assert!((ln_gamma(0.5) - std::f64::consts::PI.sqrt().ln()).abs() < 1e-13);
        assert!(ln_gamma(1.0).abs() < 1e-13);
    }

    #[test]
    fn printed_quantiles() {
        // Two-sided 5 % points of every textbook's table.
        for (degrees, t) in
            [(1.0, 12.706_205), (2.0, 4.302_653), (5.0, 2.570_582), (37.0, 2.026_192), (1e6, 1.959_966)]
        {
            assert!((cumulative(t, degrees) - 0.975).abs() < 1e-7, "{degrees}");
            assert!((cumulative(-t, degrees) - 0.025).abs() < 1e-7, "{degrees}");
            assert!((significance(t, degrees) - 0.05).abs() < 2e-7, "{degrees}");
        }
        assert_eq!(cumulative(0.0, 3.0), 0.5);
    }

    #[test]
    fn one_degree_is_cauchy() {
        for t in [-100.0f64, -1.0, 0.3, 7.0] {
            assert!((cumulative(t, 1.0) - (0.5 + t.atan() / std::f64::consts::PI)).abs() < 1e-12);
        }
    }
}
