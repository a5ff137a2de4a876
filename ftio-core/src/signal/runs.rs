//! Runs of samples above a threshold.

use std::ops::Range;

/// The runs of consecutive samples above a threshold, first to last. A sample that is not a number is below.
pub fn runs_above(samples: &[f64], threshold: f64) -> impl Iterator<Item = Range<usize>> {
    let is_above = move |sample: &f64| *sample > threshold;
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = at + samples[at..].iter().position(is_above)?;
        let length = samples[start..].iter().position(|sample| !is_above(sample));
        at = length.map_or(samples.len(), |length| start + length);
        Some(start..at)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn from_the_first_sample_to_the_last() {
        let runs = |samples: &[f64]| -> Vec<(usize, usize)> {
            runs_above(samples, 1.0).map(|run| (run.start, run.end)).collect()
        };
        assert_eq!(runs(&[]), []);
        assert_eq!(runs(&[1.0, 0.0, 1.0]), []);
        assert_eq!(runs(&[2.0, 2.0]), [(0, 2)]);
        assert_eq!(runs(&[2.0, 1.0, 3.0, 3.0, f64::NAN, 2.0]), [(0, 1), (2, 4), (5, 6)]);
    }
}
