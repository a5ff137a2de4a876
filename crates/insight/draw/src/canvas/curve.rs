//! A curve, and fewer points that look the same.

use serde::{Serialize, Serializer};

/// Points, x ascending.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Curve {
    #[serde(serialize_with = "short")]
    pub x: Vec<f64>,
    #[serde(serialize_with = "short")]
    pub y: Vec<f64>,
}

impl Curve {
    /// First, lowest, highest and last point of each of `points / 4` stretches: it looks the same and has no
    /// gaps.
    pub fn thinned(self, points: usize) -> Curve {
        let columns = points / 4;
        if self.x.len() <= points || columns == 0 {
            return self;
        }
        let (first, last) = (self.x[0], self.x[self.x.len() - 1]);
        let column = |x: f64| (((x - first) / (last - first) * columns as f64) as usize).min(columns - 1);
        let mut out = Curve::default();
        let mut from = 0;
        while from < self.x.len() {
            let this = column(self.x[from]);
            let to = from + self.x[from..].partition_point(|&x| column(x) <= this);
            let range = from..to.max(from + 1);
            let by_value = |a: &usize, b: &usize| self.y[*a].total_cmp(&self.y[*b]);
            let mut keep = vec![range.start, range.end - 1];
            keep.extend(range.clone().min_by(by_value));
            keep.extend(range.clone().max_by(by_value));
            keep.sort_unstable();
            keep.dedup();
            for i in keep {
                out.x.push(self.x[i]);
                out.y.push(self.y[i]);
            }
            from = range.end;
        }
        out
    }

    /// The highest value, at least 0.
    pub fn highest(&self) -> f64 {
        self.y.iter().copied().fold(0.0, f64::max)
    }

    /// Only the highest point of each stretch, if there are more than `points`.
    pub fn peaks(self, points: usize) -> Curve {
        if self.x.len() <= points {
            return self;
        }
        let size = self.x.len().div_ceil(points.max(1));
        let mut out = Curve::default();
        for start in (0..self.x.len()).step_by(size) {
            let range = start..(start + size).min(self.x.len());
            if let Some(i) = range.max_by(|a, b| self.y[*a].total_cmp(&self.y[*b])) {
                out.x.push(self.x[i]);
                out.y.push(self.y[i]);
            }
        }
        out
    }
}

/// Numbers with nine digits are half as long as exact ones, and enough to zoom in.
fn short<S: Serializer>(values: &[f64], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(values.iter().map(|&value| {
        let digits = 9 - value.abs().log10().ceil().clamp(-300.0, 300.0) as i32;
        let scale = 10f64.powi(digits.min(300));
        if value == 0.0 { 0.0 } else { (value * scale).round() / scale }
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thinning_keeps_extremes_and_order() {
        let x: Vec<f64> = (0..10_000).map(f64::from).collect();
        let y: Vec<f64> = x.iter().map(|x| if *x == 4321.0 { 99.0 } else { (x / 7.0).sin() }).collect();
        let thin = Curve { x, y }.thinned(400);
        assert!(thin.x.len() <= 400, "{}", thin.x.len());
        assert!(thin.x.is_sorted() && thin.y.contains(&99.0));
        assert_eq!((thin.x[0], thin.x[thin.x.len() - 1]), (0.0, 9999.0));
    }

    #[test]
    fn peaks_survive() {
        let y: Vec<f64> = (0..1000).map(|i| if i == 501 { 1.0 } else { 0.0 }).collect();
        let thin = Curve { x: (0..1000).map(f64::from).collect(), y }.peaks(100);
        assert_eq!(thin.x.len(), 100);
        assert!(thin.x.contains(&501.0));
    }
}
