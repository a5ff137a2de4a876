//! Bursts of the median of aligned samples: where it stands out of its own noise.

use crate::settings::Settings;
use crate::statistics::{mean, median, median_deviation, quantile};
use crate::wavelet::smooth;

/// A burst: edges at half its height.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Span {
    pub start: f64,
    pub end: f64,
    /// Above the background.
    pub height: f64,
}

/// What is found in a median.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Spans {
    pub spans: Vec<Span>,
    /// The level between the bursts.
    pub background: f64,
    /// The deviation of the median between the bursts.
    pub noise: f64,
}

/// Bursts stand out of the noise by [`Settings::contrast`] deviations and are at least
/// [`Settings::prominence`] times as high as the high ones. Two of them are separated by a trough below
/// [`Settings::trough`] of the lower.
pub(crate) fn spans(consensus: &[f64], settings: &Settings) -> Spans {
    let overall = mean(consensus);
    let below: Vec<f64> = consensus.iter().copied().filter(|value| *value < overall).collect();
    let level = mean(&below);
    let smoothed: Vec<f64> =
        smooth(consensus, settings.level as usize).into_iter().map(|value| value - level).collect();
    let crests: Vec<f64> = (1..smoothed.len().saturating_sub(1))
        .filter(|&i| smoothed[i] > smoothed[i - 1] && smoothed[i] >= smoothed[i + 1])
        .map(|i| smoothed[i])
        .collect();
    let typical = mean(&crests);
    let high = mean(&crests.into_iter().filter(|crest| *crest >= typical).collect::<Vec<_>>());
    // Noise reaches as far above the level as below it.
    let below: Vec<f64> =
        consensus.iter().filter(|value| **value < level).map(|value| level - value).collect();
    let spread = (below.iter().map(|below| below * below).sum::<f64>() / below.len().max(1) as f64).sqrt();
    let limit = level + (high / 4.0).max(4.0 * spread);
    let quiet: Vec<f64> = consensus.iter().copied().filter(|value| *value < limit).collect();
    if high <= 0.0 || quiet.is_empty() {
        return Spans { background: level, ..Spans::default() };
    }
    let background = median(&quiet);
    let noise = median_deviation(&quiet, background);
    let least = (settings.contrast * noise).max(settings.prominence * high);
    let above = |i: usize| smoothed[i] - (background - level) > least;
    let mut found = Vec::new();
    let mut from = 0;
    while from < smoothed.len() {
        if !above(from) {
            from += 1;
            continue;
        }
        let to = (from..smoothed.len()).find(|&i| !above(i)).unwrap_or(smoothed.len());
        peaks(&smoothed, from, to, background - level, &mut |from, to| {
            split(&smoothed, from, to, settings.trough, &mut |from, to| {
                found.extend(edges(consensus, from, to, background, least));
            });
        });
        from = to;
    }
    Spans { spans: found, background, noise }
}

/// A burst that stands on something wide and less than half as high is taken without it.
fn peaks(smoothed: &[f64], from: usize, to: usize, background: f64, out: &mut dyn FnMut(usize, usize)) {
    let highest = smoothed[from..to].iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let high = |i: usize| smoothed[i] - background > 0.5 * (highest - background);
    let count = (from..to).filter(|&i| high(i)).count();
    if 2 * count >= to - from || to - from < 20 {
        return out(from, to);
    }
    let mut start = from;
    while start < to {
        let end = (start..to).find(|&i| high(i) != high(start)).unwrap_or(to);
        // The foot beside a peak belongs to its slope.
        if high(start) {
            out(start.saturating_sub(3).max(from), (end + 3).min(to));
        } else if end - start > 10 {
            peaks(smoothed, start + 5, end - 5, background, out);
        }
        start = end;
    }
}

/// Cut at the deepest trough that is deep enough, again and again.
fn split(smoothed: &[f64], from: usize, to: usize, trough: f64, out: &mut dyn FnMut(usize, usize)) {
    let mut left = vec![f64::NEG_INFINITY; to - from];
    let mut highest = f64::NEG_INFINITY;
    for i in from..to {
        highest = highest.max(smoothed[i]);
        left[i - from] = highest;
    }
    let (mut right, mut best) = (f64::NEG_INFINITY, None);
    for i in (from..to).rev() {
        right = right.max(smoothed[i]);
        let depth = smoothed[i] / left[i - from].min(right);
        if depth < trough && best.is_none_or(|(least, _)| depth < least) {
            best = Some((depth, i));
        }
    }
    match best {
        Some((_, at)) if at > from && at + 1 < to => {
            split(smoothed, from, at, trough, out);
            split(smoothed, at, to, trough, out);
        }
        _ => out(from, to),
    }
}

/// The burst between two places, with edges where the median itself crosses half the height.
fn edges(consensus: &[f64], from: usize, to: usize, background: f64, least: f64) -> Option<Span> {
    let height = quantile(&consensus[from..to], 0.7) - background;
    if height < least {
        return None;
    }
    let half = background + height / 2.0;
    let first = (from..to).find(|&i| consensus[i] >= half)?;
    let last = (from..to).rev().find(|&i| consensus[i] >= half)?;
    // The value of second i stands in its middle; the edge lies between two of them.
    let crossing = |low: f64, high: f64| if high > low { (half - low) / (high - low) } else { 0.5 };
    let start = match first.checked_sub(1).map(|before| consensus[before]) {
        Some(before) if before < half => first as f64 - 0.5 + crossing(before, consensus[first]),
        _ => first as f64,
    };
    let end = match consensus.get(last + 1) {
        Some(&behind) if behind < half => last as f64 + 1.5 - crossing(behind, consensus[last]),
        _ => last as f64 + 1.0,
    };
    (end - start >= 1.5).then_some(Span { start, end, height })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noisy(length: usize, blocks: &[(usize, usize, f64)]) -> Vec<f64> {
        let mut random = seeded_random::Random::new(5);
        let mut values: Vec<f64> = (0..length).map(|_| 0.1 + 0.02 * random.unit()).collect();
        for &(start, end, height) in blocks {
            values[start..end].iter_mut().for_each(|value| *value += height);
        }
        values
    }

    #[test]
    fn edges_at_half_height() {
        let found =
            spans(&noisy(500, &[(100, 150, 2.0), (200, 206, 2.0), (300, 310, 1.0)]), &Settings::default());
        let expected = [(100.0, 150.0, 2.0), (200.0, 206.0, 2.0), (300.0, 310.0, 1.0)];
        assert_eq!(found.spans.len(), 3, "{found:?}");
        for (span, (start, end, height)) in found.spans.iter().zip(expected) {
            assert!((span.start - start).abs() <= 0.6 && (span.end - end).abs() <= 0.6, "{span:?}");
            assert!((span.height - height).abs() < 0.1, "{span:?}");
        }
        assert!((found.background - 0.11).abs() < 0.01);
    }

    #[test]
    fn noise_has_no_bursts() {
        assert!(spans(&noisy(500, &[]), &Settings::default()).spans.is_empty());
        assert!(spans(&[1.0; 100], &Settings::default()).spans.is_empty());
        assert!(spans(&[], &Settings::default()).spans.is_empty());
    }

    #[test]
    fn a_deep_trough_separates() {
        let found = spans(&noisy(400, &[(100, 130, 2.0), (142, 170, 2.0)]), &Settings::default());
        assert_eq!(found.spans.len(), 2, "{found:?}");
        let found = spans(&noisy(400, &[(100, 170, 2.0), (130, 142, -0.5)]), &Settings::default());
        assert_eq!(found.spans.len(), 1, "{found:?}");
    }
}
