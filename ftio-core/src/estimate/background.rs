//! Phases on top of traffic that has many of the bytes.
//!
//! A job may write small things all the time, and in each phase for a moment much more. The usual bandwidth
//! of its bytes is then that of the small things, and phases are only what exceeds it. Where the bandwidth
//! has two clear levels, what is above the lower one is looked at alone.

use crate::estimate::view::View;
use crate::signal::statistics::evenness;

/// The lower level has at least this share of the bytes; with less, phases are seen without this.
const MANY_BYTES: f64 = 0.35;

/// It goes on all the time: over this many parts of the window its bytes are spread as evenly as this.
const PARTS: usize = 20;
const SPREAD: f64 = 0.7;

/// The levels are this many times their deviations apart.
const APART: f64 = 2.0;

/// The upper level takes at most this share of the time.
const RARE: f64 = 0.4;

/// Two levels of bandwidth.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Levels {
    /// The mean of the lower one.
    low: f64,
    /// Between the two.
    between: f64,
}

impl View {
    /// What exceeds the traffic that has many of the bytes, if there are two clear levels of bandwidth.
    pub fn above_background(&self) -> Option<View> {
        let levels = levels(&self.signal.samples)?;
        let traffic = |x: &f64| if *x > levels.between { 0.0 } else { *x };
        let each = self.signal.samples.len().div_ceil(PARTS).max(1);
        let part = |part: &[f64]| part.iter().map(traffic).sum::<f64>();
        let parts: Vec<f64> = self.signal.samples.chunks(each).map(part).collect();
        if evenness(&parts) < SPREAD {
            return None;
        }
        let above = |x: &f64| if *x > levels.between { x - levels.low } else { 0.0 };
        let mut signal = self.signal.clone();
        signal.samples = self.signal.samples.iter().map(above).collect();
        let left_out = Some("traffic that goes on between phases is left out");
        let pedestal = self.pedestal + levels.low;
        Some(View { left_out, pedestal, ..View::of(&signal, &self.given) })
    }
}

/// The two levels that explain most of the variance (Otsu's method), if they are clear.
fn levels(samples: &[f64]) -> Option<Levels> {
    let mut sorted = samples.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let count = sorted.len() as f64;
    let (sum, squares) = sorted.iter().fold((0.0, 0.0), |(sum, squares), x| (sum + x, squares + x * x));
    let mut best = (0.0, 0, 0.0, 0.0);
    let (mut below, mut squares_below) = (0.0, 0.0);
    for (i, x) in sorted.iter().enumerate().take(sorted.len().saturating_sub(1)) {
        below += x;
        squares_below += x * x;
        let taken = (i + 1) as f64;
        let difference = below / taken - (sum - below) / (count - taken);
        let explained = taken * (count - taken) * difference * difference;
        if explained > best.0 {
            best = (explained, i, below, squares_below);
        }
    }
    let (explained, last, below, squares_below) = best;
    if explained == 0.0 {
        return None;
    }
    let (lower, upper) = ((last + 1) as f64, count - (last + 1) as f64);
    let (low, high) = (below / lower, (sum - below) / upper);
    let deviation = |squares: f64, count: f64, mean: f64| (squares / count - mean * mean).max(0.0).sqrt();
    let spread = deviation(squares_below, lower, low) + deviation(squares - squares_below, upper, high);
    let clear = high - low >= APART * spread;
    let levels = Levels { low, between: 0.5 * (low + high) };
    (clear && below >= MANY_BYTES * sum && upper <= RARE * count).then_some(levels)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_clear_levels_are_told_apart() {
        // Phases of a twentieth of the time at 100, and traffic at 20 to 40.
        let traffic = |i: usize| if i % 100 < 5 { 100.0 } else { 20.0 + (i * 7 % 21) as f64 };
        let found = levels(&(0..1000).map(traffic).collect::<Vec<f64>>()).unwrap();
        assert!((25.0..35.0).contains(&found.low) && (60.0..70.0).contains(&found.between), "{found:?}");
        // Phases that have most of the bytes are seen anyway, and what wanders has no levels.
        let phases = |i: usize| if i % 10 < 3 { 100.0 } else { 5.0 };
        assert_eq!(levels(&(0..1000).map(phases).collect::<Vec<f64>>()), None);
        let wanders = |i: usize| 50.0 + 49.0 * (i as f64 / 50.0).sin();
        assert_eq!(levels(&(0..1000).map(wanders).collect::<Vec<f64>>()), None);
        assert_eq!(levels(&[]), None);
        assert_eq!(levels(&[3.0; 50]), None);
    }
}
