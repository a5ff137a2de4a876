//! Smoothing by the discrete Meyer wavelet (paper, 5.2).
//!
//! The signal is decomposed level by level into a coarse half and details; the details are left out and the
//! signal is put together again. Borders are continued by their mirror image, …x₁ x₀ | x₀ x₁…. Numbers
//! agree with PyWavelets' `dmey` in mode `symmetric` (tests/golden).

/// Taps of the low-pass filter. The first is 0, the others are symmetric about the 32nd.
const TAPS: usize = 62;

/// The first half of them, from the 2nd on, up to the middle one.
const HALF: [f64; 31] = [
    -1.009999956941423e-12,
    8.519459636796214e-09,
    -1.111944952595278e-08,
    -1.0798819539621958e-08,
    6.066975741351135e-08,
    -1.0866516536735883e-07,
    8.200680650386481e-08,
    1.1783004497663934e-07,
    -5.506340565252278e-07,
    1.1307947017916706e-06,
    -1.489549216497156e-06,
    7.367572885903746e-07,
    3.20544191334478e-06,
    -1.6312699734552807e-05,
    6.554305930575149e-05,
    -0.0006011502343516092,
    -0.002704672124643725,
    0.002202534100911002,
    0.006045814097323304,
    -0.006387718318497156,
    -0.011061496392513451,
    0.015270015130934803,
    0.017423434103729693,
    -0.03213079399021176,
    -0.024348745906078023,
    0.0637390243228016,
    0.030655091960824263,
    -0.13284520043622938,
    -0.035087555656258346,
    0.44459300275757724,
    0.7445855923188063,
];

/// The low-pass filter of the decomposition.
const fn decomposition() -> [f64; TAPS] {
    let mut taps = [0.0; TAPS];
    let mut i = 0;
    while i < HALF.len() {
        taps[1 + i] = HALF[i];
        taps[TAPS - 1 - i] = HALF[i];
        i += 1;
    }
    taps
}

const LOW_PASS: [f64; TAPS] = decomposition();

/// The signal without the details of the first `levels` levels.
pub fn smooth(signal: &[f64], levels: usize) -> Vec<f64> {
    if signal.is_empty() {
        return Vec::new();
    }
    let mut lengths = Vec::with_capacity(levels);
    let mut coarse = signal.to_vec();
    for _ in 0..levels {
        lengths.push(coarse.len());
        coarse = halve(&coarse);
    }
    for &length in lengths.iter().rev() {
        coarse = double(&coarse);
        coarse.truncate(length);
    }
    coarse
}

/// The coarse half: filtered, every second value, (n + 61) / 2 of them.
fn halve(signal: &[f64]) -> Vec<f64> {
    let length = (signal.len() + TAPS - 1) / 2;
    // out[k] = Σ_j h[j]·x[2k + 1 − j]. With x continued by TAPS on the left, the even and the odd values of
    // x lie next to each other: one pass over all outputs for each tap.
    let padded = 2 * length + 2 * TAPS;
    let (mut even, mut odd) = (Vec::with_capacity(padded / 2), Vec::with_capacity(padded / 2));
    for pair in 0..padded / 2 {
        even.push(mirrored(signal, 2 * pair as isize - TAPS as isize));
        odd.push(mirrored(signal, 2 * pair as isize + 1 - TAPS as isize));
    }
    let mut out = vec![0.0; length];
    for (j, tap) in LOW_PASS.iter().enumerate().skip(1) {
        // Index 2k + 1 − j + TAPS in the continued signal.
        let first = 1 + TAPS - j;
        let from = if first.is_multiple_of(2) { &even } else { &odd };
        let from = &from[first / 2..first / 2 + length];
        out.iter_mut().zip(from).for_each(|(out, x)| *out += tap * x);
    }
    out
}

/// Twice as many values from a coarse half whose details are 0: 2n − 60 of them.
fn double(coarse: &[f64]) -> Vec<f64> {
    let length = (2 * coarse.len()).saturating_sub(TAPS - 2);
    let half = length / 2;
    let (mut even, mut odd) = (vec![0.0; half], vec![0.0; half]);
    // out[n] = Σ_k c[k]·r[n + TAPS − 2 − 2k], r the taps in reverse.
    for k in 0..TAPS / 2 {
        let from = &coarse[k..k + half];
        let reversed = |tap: usize| LOW_PASS[TAPS - 1 - tap];
        let (low, high) = (reversed(TAPS - 2 - 2 * k), reversed(TAPS - 1 - 2 * k));
        even.iter_mut().zip(from).for_each(|(out, c)| *out += low * c);
        odd.iter_mut().zip(from).for_each(|(out, c)| *out += high * c);
    }
    even.into_iter().zip(odd).flat_map(|(even, odd)| [even, odd]).collect()
}

/// A value of the signal continued by its mirror image, as often as necessary.
fn mirrored(signal: &[f64], index: isize) -> f64 {
    let period = 2 * signal.len() as isize;
    let index = index.rem_euclid(period);
    let inside = if index < signal.len() as isize { index } else { period - 1 - index };
    signal[inside as usize]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As the formulas say.
    fn slow(signal: &[f64], levels: usize) -> Vec<f64> {
        if levels == 0 {
            return signal.to_vec();
        }
        let length = (signal.len() + TAPS - 1) / 2;
        let at = |k: usize, j: usize| mirrored(signal, 2 * k as isize + 1 - j as isize);
        let coarse: Vec<f64> = (0..length).map(|k| (0..TAPS).map(|j| LOW_PASS[j] * at(k, j)).sum()).collect();
        let coarse = slow(&coarse, levels - 1);
        let mut full = vec![0.0; 2 * coarse.len() + TAPS];
        for (k, value) in coarse.iter().enumerate() {
            for j in 0..TAPS {
                full[2 * k + j] += value * LOW_PASS[TAPS - 1 - j];
            }
        }
        full[TAPS - 2..][..signal.len()].to_vec()
    }

    #[test]
    fn the_fast_one_agrees_with_the_slow_one() {
        let mut random = seeded_random::Random::new(1);
        for length in (1..140).chain([511, 1000, 1001]) {
            let signal: Vec<f64> = (0..length).map(|_| random.unit()).collect();
            for levels in 1..=4 {
                let (fast, slow) = (smooth(&signal, levels), slow(&signal, levels));
                assert_eq!(fast.len(), length);
                let close = fast.iter().zip(&slow).all(|(a, b)| (a - b).abs() < 1e-12);
                assert!(close, "{length} values, level {levels}");
            }
        }
    }

    #[test]
    fn a_constant_stays() {
        assert!(smooth(&[3.0; 100], 2).iter().all(|value| (value - 3.0).abs() < 0.01));
        assert!(smooth(&[], 2).is_empty());
    }
}
