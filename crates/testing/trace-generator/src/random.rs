//! Random numbers of the distributions needed, the same in every run.

/// Draws from distributions.
#[derive(Clone, Debug)]
pub struct Random(seeded_random::Random);

impl Random {
    /// The same seed gives the same numbers.
    pub fn new(seed: u64) -> Self {
        let mut random = seeded_random::Random::new(seed ^ 0x5eed_0f1e_1d00_0001);
        random.bits();
        Random(random)
    }

    /// Between 0 and 1, never 0 itself.
    pub fn unit(&mut self) -> f64 {
        ((self.0.bits() >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }

    /// Evenly between two numbers.
    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    /// A whole number below `count`, which must not be 0.
    pub fn below(&mut self, count: usize) -> usize {
        ((self.unit() * count as f64) as usize).min(count - 1)
    }

    /// Exponential with that mean.
    pub fn exponential(&mut self, mean: f64) -> f64 {
        -mean * self.unit().ln()
    }

    /// Normal with mean 0 and deviation 1 (Box and Muller).
    pub fn normal(&mut self) -> f64 {
        (-2.0 * self.unit().ln()).sqrt() * (std::f64::consts::TAU * self.unit()).cos()
    }

    /// Normal, drawn again until it is positive: the paper's distribution of computing times.
    pub fn positive_normal(&mut self, mean: f64, deviation: f64) -> f64 {
        loop {
            let x = mean + deviation * self.normal();
            if x > 0.0 {
                return x;
            }
        }
    }

    /// Evenly between the logarithms of two numbers.
    pub fn log_between(&mut self, low: f64, high: f64) -> f64 {
        self.between(low.ln(), high.ln()).exp()
    }

    /// A whole number from `low` to `high`, both included.
    pub fn whole(&mut self, low: usize, high: usize) -> usize {
        low + self.below(high + 1 - low)
    }

    /// True with that probability.
    pub fn chance(&mut self, probability: f64) -> bool {
        self.unit() < probability
    }

    /// One of several.
    pub fn pick<T: Copy>(&mut self, choice: &[T]) -> T {
        choice[self.below(choice.len())]
    }

    /// Gamma with that shape, mean 1 (Marsaglia and Tsang, 2000).
    pub fn gamma(&mut self, shape: f64) -> f64 {
        let boost = if shape < 1.0 { self.unit().powf(1.0 / shape) } else { 1.0 };
        let d = if shape < 1.0 { shape + 1.0 } else { shape } - 1.0 / 3.0;
        let c = 1.0 / (9.0 * d).sqrt();
        loop {
            let x = self.normal();
            let v = (1.0 + c * x).powi(3);
            if v > 0.0 && self.unit().ln() < 0.5 * x * x + d - d * v + d * v.ln() {
                return boost * d * v / shape;
            }
        }
    }

    /// Pareto's distribution from 0 on (Lomax), with tail exponent `exponent` and scale 1.
    pub fn pareto(&mut self, exponent: f64) -> f64 {
        self.unit().powf(-1.0 / exponent) - 1.0
    }

    /// 1 on average, spread by `spread` (the deviation of its logarithm).
    pub fn factor(&mut self, spread: f64) -> f64 {
        (spread * self.normal() - spread * spread / 2.0).exp()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_and_deviations() {
        let mut random = Random::new(7);
        let mut check = |draw: &mut dyn FnMut(&mut Random) -> f64, mean: f64, deviation: f64| {
            let all: Vec<f64> = (0..20_000).map(|_| draw(&mut random)).collect();
            let found = all.iter().sum::<f64>() / all.len() as f64;
            let spread = (all.iter().map(|x| (x - found).powi(2)).sum::<f64>() / all.len() as f64).sqrt();
            assert!((found - mean).abs() < 0.05 * deviation, "mean {found} instead of {mean}");
            assert!((spread / deviation - 1.0).abs() < 0.05, "deviation {spread} instead of {deviation}");
        };
        check(&mut |r| r.unit(), 0.5, 1.0 / 12f64.sqrt());
        check(&mut |r| r.exponential(3.0), 3.0, 3.0);
        check(&mut |r| r.normal(), 0.0, 1.0);
        // A normal distribution cut at 0 half a deviation below its mean.
        check(&mut |r| r.positive_normal(11.0, 22.0), 22.2, 15.33);
        check(&mut |r| r.factor(0.3), 1.0, 0.307);
        check(&mut |r| r.gamma(4.0), 1.0, 0.5);
        check(&mut |r| r.gamma(0.5), 1.0, 2f64.sqrt());
        // Lomax with exponent 6: mean 1/5, variance 6/(5²·4).
        check(&mut |r| r.pareto(6.0), 0.2, 0.245);
    }
}
