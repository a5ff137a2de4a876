//! Plans of Fourier transforms, kept for the next signal of the same length.
//!
//! A plan takes longer to make than to use. An archive has thousands of short jobs, and a prediction asks
//! again every few seconds.
//!
//! Each plan is made by a planner of its own. One that is used again builds a plan from those that it has
//! made before, so that the last digits of a transform would depend on what was analysed earlier.

use realfft::{ComplexToReal, RealFftPlanner, RealToComplex};
use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

/// After this many lengths, or samples in all of them, plans are made anew: lengths that come once would fill
/// the memory.
const MOST_LENGTHS: usize = 64;
const MOST_SAMPLES: usize = 1 << 20;

/// Plans of one direction, by length.
struct Plans<T: ?Sized>(HashMap<usize, Arc<T>>);

impl<T: ?Sized> Plans<T> {
    fn new() -> Self {
        Plans(HashMap::new())
    }

    fn plan(&mut self, length: usize, make: impl FnOnce(&mut RealFftPlanner<f64>) -> Arc<T>) -> Arc<T> {
        let is_full = || self.0.len() >= MOST_LENGTHS || self.0.keys().sum::<usize>() >= MOST_SAMPLES;
        if !self.0.contains_key(&length) && is_full() {
            self.0.clear();
        }
        self.0.entry(length).or_insert_with(|| make(&mut RealFftPlanner::new())).clone()
    }
}

thread_local! {
    static FORWARD: RefCell<Plans<dyn RealToComplex<f64>>> = RefCell::new(Plans::new());
    static INVERSE: RefCell<Plans<dyn ComplexToReal<f64>>> = RefCell::new(Plans::new());
}

/// From `length` real samples to their spectrum.
pub fn forward(length: usize) -> Arc<dyn RealToComplex<f64>> {
    FORWARD.with_borrow_mut(|plans| plans.plan(length, |planner| planner.plan_fft_forward(length)))
}

/// From a spectrum to `length` real samples.
pub fn inverse(length: usize) -> Arc<dyn ComplexToReal<f64>> {
    INVERSE.with_borrow_mut(|plans| plans.plan(length, |planner| planner.plan_fft_inverse(length)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_transformed_before_changes_no_bit() {
        let transformed = |length: usize| {
            let mut samples: Vec<f64> = (0..length).map(|i| (i * i % 17) as f64 + 0.1).collect();
            let there = forward(length);
            let mut spectrum = there.make_output_vec();
            there.process(&mut samples, &mut spectrum).unwrap();
            spectrum
        };
        let lengths: Vec<usize> =
            (1..60).flat_map(|i| [16 * i, 97 * i, 4096 / i.min(64), 31 * i + 1]).collect();
        // In a thread of its own, nothing came before.
        let alone = |length: usize| std::thread::spawn(move || transformed(length)).join().unwrap();
        for &length in lengths.iter().filter(|length| **length >= 2) {
            assert_eq!(transformed(length), alone(length), "{length}");
        }
    }

    #[test]
    fn a_plan_that_is_known_stays_also_when_there_is_no_room_for_more() {
        let (small, large) = (forward(8), forward(MOST_SAMPLES));
        for _ in 0..3 {
            assert!(Arc::ptr_eq(&large, &forward(MOST_SAMPLES)));
            assert!(Arc::ptr_eq(&small, &forward(8)));
        }
    }

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
        assert!(FORWARD.with_borrow(|plans| plans.0.len()) <= MOST_LENGTHS);
    }
}
