//! Samples on one time line, and their median.
//!
//! Others slow an application down, so that in each sample bursts come later and last longer by different
//! amounts. Between the edges of bursts, time runs evenly.

use crate::resample::at;
use crate::spans::Span;
use crate::statistics::{mean, quantile_of};

/// Where in a sample a moment of the common time line is: places between which time runs evenly.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Warp {
    /// (common time, sample time), both ascending.
    knots: Vec<(f64, f64)>,
}

impl Warp {
    /// Through these places, from the start of both to the end of both. Places out of order are left out.
    pub fn through(places: impl IntoIterator<Item = (f64, f64)>, length: f64, sample: f64) -> Self {
        let mut knots = vec![(0.0, 0.0)];
        for (common, own) in places {
            let &(last_common, last_own) = knots.last().unwrap_or(&(0.0, 0.0));
            if common > last_common && own > last_own && common < length && own < sample {
                knots.push((common, own));
            }
        }
        knots.push((length, sample));
        Warp { knots }
    }

    /// The sample on the common time line, one value a second.
    pub fn apply(&self, sample: &[f64], length: usize) -> Vec<f64> {
        let mut out = Vec::with_capacity(length);
        let mut segment = 1;
        for second in 0..length {
            let time = second as f64 + 0.5;
            while segment + 1 < self.knots.len() && self.knots[segment].0 < time {
                segment += 1;
            }
            let ((a, from), (b, to)) = (self.knots[segment - 1], self.knots[segment]);
            let own = from + (time - a) / (b - a).max(1e-9) * (to - from);
            out.push(at(sample, own - 0.5));
        }
        out
    }
}

/// For each second the median over samples that are on one time line.
pub(crate) fn median_of(samples: &[Vec<f64>]) -> Vec<f64> {
    let length = samples.iter().map(Vec::len).min().unwrap_or(0);
    let mut column = Vec::with_capacity(samples.len());
    let mut out = Vec::with_capacity(length);
    for second in 0..length {
        column.clear();
        column.extend(samples.iter().map(|sample| sample[second]));
        out.push(quantile_of(&mut column, 0.5));
    }
    out
}

/// The level of a sample, on the common time line, outside bursts: their mean if that is little.
pub(crate) fn level_outside(sample: &[f64], spans: &[Span]) -> f64 {
    let mut outside = Vec::with_capacity(sample.len());
    let mut next = 0;
    for (second, value) in sample.iter().enumerate() {
        let time = second as f64 + 0.5;
        while next < spans.len() && spans[next].end + 3.0 < time {
            next += 1;
        }
        if spans.get(next).is_none_or(|span| time < span.start - 3.0) {
            outside.push(*value);
        }
    }
    if outside.is_empty() {
        sample.iter().copied().fold(f64::INFINITY, f64::min).min(mean(sample))
    } else {
        quantile_of(&mut outside, 0.5)
    }
}
