//! Local maxima of a sequence, by the rules of SciPy's `find_peaks`.
//!
//! A peak is higher than both its neighbours; of a plateau the middle sample counts (the left one of two).
//! The first and the last sample are never peaks. Rules narrow the selection, in this order: height,
//! distance, prominence.

/// Which local maxima count.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PeakRules {
    /// At least this high.
    pub height: Option<f64>,
    /// At least this many samples apart; of two that are closer, the higher one stays.
    pub distance: Option<usize>,
    /// At least this far above the higher of the two valleys that separate it from higher ground.
    pub prominence: Option<f64>,
}

/// The peaks of `values` that follow the rules, ascending.
pub fn find_peaks(values: &[f64], rules: &PeakRules) -> Vec<usize> {
    let mut peaks = local_maxima(values);
    if let Some(height) = rules.height {
        peaks.retain(|&i| values[i] >= height);
    }
    if let Some(distance) = rules.distance {
        peaks = far_enough(values, peaks, distance);
    }
    if let Some(least) = rules.prominence {
        peaks.retain(|&i| prominence(values, i) >= least);
    }
    peaks
}

/// The middle of every plateau, of one sample or more, with lower samples on both sides.
pub fn local_maxima(values: &[f64]) -> Vec<usize> {
    let mut peaks = Vec::new();
    let mut i = 1;
    while i + 1 < values.len() {
        if values[i - 1] < values[i] {
            let end = (i + 1..values.len()).find(|&j| values[j] != values[i]).unwrap_or(values.len());
            if end < values.len() && values[end] < values[i] {
                peaks.push((i + end - 1) / 2);
            }
            i = end;
        } else {
            i += 1;
        }
    }
    peaks
}

/// How far a peak rises above its surroundings.
pub fn prominence(values: &[f64], peak: usize) -> f64 {
    let top = values[peak];
    let valley = |side: &mut dyn Iterator<Item = &f64>| {
        side.take_while(|value| **value <= top).copied().fold(top, f64::min)
    };
    let left = valley(&mut values[..peak].iter().rev());
    let right = valley(&mut values[peak + 1..].iter());
    top - left.max(right)
}

/// Remove peaks closer than `distance` to a higher one, from the highest down.
fn far_enough(values: &[f64], peaks: Vec<usize>, distance: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..peaks.len()).collect();
    order.sort_by(|&a, &b| values[peaks[a]].total_cmp(&values[peaks[b]]));
    let mut keep = vec![true; peaks.len()];
    for &i in order.iter().rev() {
        if keep[i] {
            let before = (0..i).rev().take_while(|&j| peaks[i] - peaks[j] < distance);
            let after = (i + 1..peaks.len()).take_while(|&j| peaks[j] - peaks[i] < distance);
            before.chain(after).for_each(|j| keep[j] = false);
        }
    }
    peaks.into_iter().zip(keep).filter(|(_, keep)| *keep).map(|(peak, _)| peak).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plateaus_and_edges() {
        assert_eq!(local_maxima(&[9.0, 1.0, 2.0, 1.0, 3.0, 3.0, 3.0, 3.0, 0.0, 5.0, 5.0]), [2, 5]);
        assert_eq!(local_maxima(&[1.0, 2.0, 2.0]), [0usize; 0]);
        assert_eq!(local_maxima(&[]), [0usize; 0]);
        assert_eq!(local_maxima(&[f64::NAN, 1.0, f64::NAN]), [0usize; 0]);
    }

    #[test]
    fn rules() {
        let values = [0.0, 4.0, 3.0, 5.0, 0.0, 1.0, 0.5, 2.0, 0.0];
        let find = |rules: PeakRules| find_peaks(&values, &rules);
        assert_eq!(find(PeakRules::default()), [1, 3, 5, 7]);
        assert_eq!(find(PeakRules { height: Some(2.0), ..PeakRules::default() }), [1, 3, 7]);
        assert_eq!(find(PeakRules { distance: Some(3), ..PeakRules::default() }), [3, 7]);
        assert_eq!(find(PeakRules { prominence: Some(1.5), ..PeakRules::default() }), [3, 7]);
        assert_eq!(prominence(&values, 1), 1.0);
        assert_eq!(prominence(&values, 3), 5.0);
    }
}
