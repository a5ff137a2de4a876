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
    }
}
