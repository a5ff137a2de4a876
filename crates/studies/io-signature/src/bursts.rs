//! The bursts of one sample (paper, 5.2): waves of the smoothed sample between deep troughs.

use crate::settings::Settings;
use crate::statistics::mean;
use crate::wavelet::smooth;

/// A burst of a sample, in seconds from its start.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wave {
    /// The trough before it.
    pub start: usize,
    /// Its time: the highest crest as published, else its centre of mass.
    pub time: usize,
    /// The trough behind it.
    pub end: usize,
}

/// The bursts of a preprocessed sample.
///
/// As published, troughs below the mean height of all crests separate bursts, and the time of a burst is
/// that of its highest crest. That cuts a long flat burst into pieces, and its crest lies anywhere in it.
/// With [`Settings::trough`] below 1, only troughs below that share of the mean height separate, and the
/// time is the centre of mass.
pub fn waves(sample: &[f64], settings: &Settings) -> Vec<Wave> {
    let smoothed = smooth(sample, settings.level as usize);
    let crests: Vec<f64> =
        extremes(&smoothed, |a, b| a > b).map(|i| smoothed[i]).filter(|height| *height > 0.0).collect();
    if crests.is_empty() {
        return Vec::new();
    }
    let height = mean(&crests);
    let deep = settings.trough * height;
    let last = smoothed.len() - 1;
    let troughs = extremes(&smoothed, |a, b| a < b);
    let cuts: Vec<usize> =
        std::iter::once(0).chain(troughs).chain([last]).filter(|&i| smoothed[i] < deep).collect();
    let mut found = Vec::new();
    for pair in cuts.windows(2) {
        let (start, end) = (pair[0], pair[1]);
        if end < start + 2 {
            continue;
        }
        let wave = &smoothed[start..=end];
        let highest = (0..wave.len()).fold(0, |best, i| if wave[i] > wave[best] { i } else { best });
        if wave[highest] >= height {
            let offset = if settings.trough < 1.0 { centre(wave) } else { highest };
            found.push(Wave { start, time: start + offset, end });
        }
    }
    found
}

/// Indices of values that exceed, in the sense of `beyond`, the one before and are not exceeded by the one
/// behind.
fn extremes<'a>(
    values: &'a [f64],
    beyond: impl Fn(f64, f64) -> bool + 'a,
) -> impl Iterator<Item = usize> + 'a {
    let inner = 1..values.len().saturating_sub(1).max(1);
    inner.filter(move |&i| beyond(values[i], values[i - 1]) && !beyond(values[i + 1], values[i]))
}

fn centre(wave: &[f64]) -> usize {
    let (mut sum, mut weighted) = (0.0, 0.0);
    for (i, value) in wave.iter().enumerate() {
        sum += value.max(0.0);
        weighted += i as f64 * value.max(0.0);
    }
    if sum > 0.0 { (weighted / sum).round() as usize } else { wave.len() / 2 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blocks(length: usize, blocks: &[(usize, usize, f64)]) -> Vec<f64> {
        let mut values = vec![0.0; length];
        for &(start, end, height) in blocks {
            values[start..end].fill(height);
        }
        values
    }

    #[test]
    fn bursts_are_where_they_are() {
        let sample = blocks(600, &[(100, 120, 2.0), (300, 350, 2.0), (500, 510, 2.0)]);
        let found = waves(&sample, &Settings::default());
        let times: Vec<usize> = found.iter().map(|wave| wave.time).collect();
        assert_eq!(times.len(), 3, "{found:?}");
        for (time, middle) in times.iter().zip([110, 325, 505]) {
            assert!(time.abs_diff(middle) <= 2, "{found:?}");
        }
        assert!(found.iter().all(|wave| wave.start < wave.time && wave.time < wave.end));
    }

    #[test]
    fn a_long_flat_burst_stays_whole() {
        let mut sample = blocks(400, &[(100, 200, 2.0)]);
        // Dips to a quarter.
        sample[130..140].fill(0.5);
        sample[160..170].fill(0.5);
        assert_eq!(waves(&sample, &Settings::default()).len(), 1);
        assert!(waves(&sample, &Settings::published()).len() >= 2);
    }

    #[test]
    fn nothing_in_nothing() {
        assert!(waves(&[0.0; 100], &Settings::default()).is_empty());
        assert!(waves(&[], &Settings::default()).is_empty());
        assert!(waves(&[1.0], &Settings::default()).is_empty());
    }
}
