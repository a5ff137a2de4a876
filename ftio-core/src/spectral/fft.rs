//! Plans of Fourier transforms, kept for the next signal of the same length.
//!
//! A plan takes longer to make than to use. An archive has thousands of short jobs, and a prediction asks
//! again every few seconds.

use realfft::{ComplexToReal, RealFftPlanner, RealToComplex};
use std::cell::RefCell;
use std::sync::Arc;

/// After this many lengths, or samples in all of them, plans are made anew: lengths that come once would fill
/// the memory.
const MOST_LENGTHS: usize = 64;
const MOST_SAMPLES: usize = 1 << 20;

struct Plans {
    planner: RealFftPlanner<f64>,
    lengths: Vec<usize>,
}

impl Plans {
    fn new() -> Self {
        Plans { planner: RealFftPlanner::new(), lengths: Vec::new() }
    }

    fn planner(&mut self, length: usize) -> &mut RealFftPlanner<f64> {
        if !self.lengths.contains(&length) {
            if self.lengths.len() >= MOST_LENGTHS || self.lengths.iter().sum::<usize>() >= MOST_SAMPLES {
                *self = Plans::new();
            }
            self.lengths.push(length);
        }
        &mut self.planner
    }
}

thread_local! {
    static PLANS: RefCell<Plans> = RefCell::new(Plans::new());
}

/// From `length` real samples to their spectrum.
pub fn forward(length: usize) -> Arc<dyn RealToComplex<f64>> {
    PLANS.with_borrow_mut(|plans| plans.planner(length).plan_fft_forward(length))
}

/// From a spectrum to `length` real samples.
pub fn inverse(length: usize) -> Arc<dyn ComplexToReal<f64>> {
    PLANS.with_borrow_mut(|plans| plans.planner(length).plan_fft_inverse(length))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_lengths_in_turn_are_transformed_and_back() {
        for length in (2..400).chain([1 << 21, 3]) {
            let samples: Vec<f64> = (0..length).map(|i| (i * i % 17) as f64).collect();
            let (there, back) = (forward(length), inverse(length));
            let mut spectrum = there.make_output_vec();
            there.process(&mut samples.clone(), &mut spectrum).unwrap();
            let mut again = back.make_output_vec();
            back.process(&mut spectrum, &mut again).unwrap();
            let error = samples.iter().zip(&again).map(|(x, y)| (x - y / length as f64).abs());
            assert!(error.fold(0.0, f64::max) < 1e-9);
        }
        assert!(PLANS.with_borrow(|plans| plans.lengths.len()) <= MOST_LENGTHS);
    }
}
