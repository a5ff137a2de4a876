//! Hypotheses in which all phases of a list are members: mean, drift, change.

use super::hypothesis::{Form, Hypothesis, LEAST_SIGMA, Marked};
use crate::signal::statistics::{median, robust_spread, variation};
use std::f64::consts::TAU;

/// A drift has at least this many distances, changes by this share in all, and its slope exceeds this many
/// standard errors.
const DRIFT_DISTANCES: usize = 7;
const DRIFT_CHANGE: f64 = 0.15;
const DRIFT_ERRORS: f64 = 6.0;

/// The logarithm of a distance changes by no more than this from one to the next: of distances that halve
/// each time, no mean foretells anything.
const DRIFT_STEEPEST: f64 = 0.25;

/// A distance at an end is odd if it differs from the median of the others by more than this many robust
/// spreads and this share; with at least this many distances.
const ODD_SPREADS: f64 = 4.0;
const ODD_SHARE: f64 = 0.1;
const ODD_DISTANCES: usize = 6;

/// Distances that may differ by more than the first share are loose: then one that is odd differs by more
/// than the second.
const ODD_LOOSE: f64 = 0.5;
const ODD_LOOSE_FAR: f64 = 2.0;

/// Distances on each side of a change; how even they must be; and how different the two periods.
const SIDE: usize = 3;
const EVEN: f64 = 0.15;
const RATIO: f64 = 1.2;

/// Each side lasts at least this many of the longer period: what is shorter is one odd phase, and its bursts.
const SIDE_PERIODS: f64 = 1.5;

/// A silence between the two is longer than the longer of them by this factor.
const SILENCE: f64 = 1.2;

/// −ln of what such a silence costs.
const SILENCE_COST: f64 = 5.0;

/// All phases at distances that vary by `sigma`; `parameters` more were fitted for it.
fn all(number: usize, marked: &Marked, form: Form, sigma: f64, duration: f64, parameters: f64) -> Hypothesis {
    let count = marked.starts.len();
    let (links, period) = (count - 1, marked.list.regularity.period);
    let (k, at_least) = (links as f64, sigma.max(LEAST_SIGMA));
    let rate = count as f64 / duration;
    let each = -0.5 * (TAU * at_least * at_least).ln() - 0.5 - period.ln() - rate.ln() + 1.0;
    Hypothesis {
        form,
        period,
        list: number,
        members: (0..count).collect(),
        links: vec![1; links],
        slots: links,
        sigma,
        fill: 1.0,
        pause: 0.0,
        extra: 0.0,
        likelihood: k * each - parameters * k.max(2.0).ln(),
        within: 0.0,
        ends: None,
        at: 0,
        cut_first: false,
    }
}

/// Distances normal around their mean. One odd distance at the beginning or the end is left out, with the
/// phase beyond it: a long first phase (initialisation) or a late last one is no part of the rhythm.
pub fn mean(number: usize, marked: &Marked, distances: &[f64], duration: f64) -> Hypothesis {
    let k = distances.len() as f64;
    let varies = marked.list.regularity.distances;
    let sigma =
        if k > 2.0 { varies * (k / (k - 1.0)).sqrt() } else { varies * std::f64::consts::SQRT_2 + 0.02 };
    let found = all(number, marked, Form::Mean, sigma, duration, 1.0);
    let (first, last) = odd_ends(distances);
    if !first && !last {
        return found;
    }
    let kept = &distances[usize::from(first)..distances.len() - usize::from(last)];
    let n = kept.len() as f64;
    let period = kept.iter().sum::<f64>() / n;
    let sigma = variation(kept) * (n / (n - 1.0)).sqrt();
    let members: Vec<usize> = (usize::from(first)..marked.starts.len() - usize::from(last)).collect();
    let left_out = (marked.starts.len() - members.len()) as f64;
    let count = marked.starts.len() as f64;
    let at_least = sigma.max(LEAST_SIGMA);
    let rate = count / duration;
    let each = -0.5 * (TAU * at_least * at_least).ln() - 0.5 - period.ln() - rate.ln() + 1.0;
    Hypothesis {
        period,
        sigma,
        links: vec![1; kept.len()],
        slots: kept.len(),
        extra: left_out / count,
        likelihood: n * each + left_out * (left_out / count).ln() - n.ln(),
        members,
        ..found
    }
}

/// Is the first distance, is the last one, unlike all others?
pub fn odd_ends(distances: &[f64]) -> (bool, bool) {
    if distances.len() < ODD_DISTANCES {
        return (false, false);
    }
    let inner = &distances[1..distances.len() - 1];
    let usual = median(inner);
    let slack = (ODD_SPREADS * robust_spread(inner) / usual).max(ODD_SHARE);
    // All others must be even, or the odd one is but one of many.
    let even = inner.iter().all(|distance| (distance / usual - 1.0).abs() <= slack);
    // Of loose distances, one is easily half as long again.
    let far = if slack > ODD_LOOSE { ODD_LOOSE_FAR } else { slack };
    let odd = |distance: f64| even && (distance / usual - 1.0).abs() > far.max(slack);
    (odd(distances[0]), odd(distances[distances.len() - 1]))
}

/// A straight line through values at 0, 1, 2 …: mean, slope, and the standard deviation of what is left.
pub fn straight_line(values: &[f64]) -> (f64, f64, f64) {
    let n = values.len() as f64;
    let (middle, mean) = ((n - 1.0) / 2.0, values.iter().sum::<f64>() / n);
    let square = n * (n * n - 1.0) / 12.0;
    let along = values.iter().enumerate().map(|(i, y)| (i as f64 - middle) * y).sum::<f64>();
    let slope = if square > 0.0 { along / square } else { 0.0 };
    let rest = |(i, y): (usize, &f64)| (y - mean - slope * (i as f64 - middle)).powi(2);
    let left = values.iter().enumerate().map(rest).sum::<f64>() / (n - 2.0).max(1.0);
    (mean, slope, left.sqrt())
}

/// Logarithms of the distances on a line.
pub fn drift(
    number: usize,
    marked: &Marked,
    distances: &[f64],
    duration: f64,
    exactness: f64,
) -> Option<Hypothesis> {
    let k = distances.len();
    if k < DRIFT_DISTANCES || distances.iter().any(|distance| *distance <= 0.0) {
        return None;
    }
    let logarithms: Vec<f64> = distances.iter().map(|distance| distance.ln()).collect();
    let (mean, slope, sigma) = straight_line(&logarithms);
    let n = k as f64;
    let square = n * (n * n - 1.0) / 12.0;
    let steep = slope.abs() * square.sqrt() >= DRIFT_ERRORS * sigma.max(exactness);
    if slope.abs() * (n - 1.0) < DRIFT_CHANGE || !steep {
        return None;
    }
    if slope.abs() > DRIFT_STEEPEST {
        return None;
    }
    let half = slope * (n - 1.0) / 2.0;
    let found = all(number, marked, Form::Drift, sigma.max(exactness), duration, 1.5);
    Some(Hypothesis { ends: Some([(mean - half).exp(), (mean + half).exp()]), ..found })
}

/// Two means, one after the other.
struct Two {
    /// Where the second begins, and how many distances lie between the two.
    at: usize,
    between: usize,
    /// Both means, and how far distances vary about them.
    ends: [f64; 2],
    inside: f64,
}

fn two_means(distances: &[f64]) -> Option<Two> {
    let n = distances.len();
    if n < 2 * SIDE {
        return None;
    }
    let mut sums = vec![(0.0, 0.0)];
    let (mut sum, mut squares) = (0.0, 0.0);
    for d in distances {
        (sum, squares) = (sum + d, squares + d * d);
        sums.push((sum, squares));
    }
    // n·(σ/mean)² of a part.
    let spread = |from: usize, to: usize| {
        let m = (to - from) as f64;
        let mean = (sums[to].0 - sums[from].0) / m;
        ((sums[to].1 - sums[from].1) / m / (mean * mean) - 1.0).max(0.0) * m
    };
    // Where the second begins, and how many distances lie between the two.
    let both = |(at, between): (usize, usize)| spread(0, at - between) + spread(at, n);
    let least = |between: usize| {
        let places = (SIDE + between..=n - SIDE).map(|at| (at, between));
        places.min_by(|a, b| both(*a).total_cmp(&both(*b)))
    };
    let mean = |part: &[f64]| part.iter().sum::<f64>() / part.len() as f64;
    let of = |(at, between): (usize, usize)| {
        let (before, after) = (&distances[..at - between], &distances[at..]);
        let ends = [mean(before), mean(after)];
        let ratio = ends[0].max(ends[1]) / ends[0].min(ends[1]);
        let inside = (both((at, between)) / (n - between) as f64).sqrt();
        let even = variation(before).max(variation(after)) <= EVEN;
        let clear = variation(distances) >= 2.0 * inside && ratio - 1.0 >= 3.0 * inside && ratio >= RATIO;
        let (shortest, longer) = (before.iter().sum::<f64>().min(after.iter().sum()), ends[0].max(ends[1]));
        let is_silence = |one: &f64| *one > SILENCE * longer && *one <= shortest;
        let silent = distances[at - between..at].iter().all(is_silence);
        let lasting = shortest >= SIDE_PERIODS * longer;
        (even && clear && silent && lasting && ratio.is_finite()).then_some(Two { at, between, ends, inside })
    };
    least(0).and_then(of).or_else(|| least(1).and_then(of))
}

/// Two means, one after the other, each side much more even than the whole. The distance from the last phase
/// of the first to the first of the second may be longer, up to what either of them takes: a job that waited
/// to be restarted. Beyond that these are two bursts.
pub fn change(
    number: usize,
    marked: &Marked,
    distances: &[f64],
    duration: f64,
    exactness: f64,
) -> Option<Hypothesis> {
    let n = distances.len();
    let Two { at, between, ends, inside } = two_means(distances)?;
    let mut found = all(number, marked, Form::Change, inside.max(exactness), duration, 2.5);
    let period = found.period;
    let first = (at - between) as f64;
    found.likelihood -= first * (ends[0] / period).ln() + (n - at) as f64 * (ends[1] / period).ln();
    found.likelihood -= SILENCE_COST * between as f64;
    Some(Hypothesis { ends: Some(ends), at, ..found })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changes(parts: &[(usize, f64)]) -> Option<(usize, usize)> {
        let distances: Vec<f64> = parts.iter().flat_map(|(count, each)| vec![*each; *count]).collect();
        two_means(&distances).map(|two| (two.at, two.between))
    }

    #[test]
    fn a_change_lasts_longer_than_one_odd_phase() {
        // A last phase that is long, and its bursts.
        assert_eq!(changes(&[(22, 31.0), (3, 7.8)]), None);
        assert_eq!(changes(&[(3, 7.8), (22, 31.0)]), None, "nor a first one");
        assert_eq!(changes(&[(22, 31.0), (12, 7.8)]), Some((22, 0)));
        assert_eq!(changes(&[(6, 10.0), (6, 30.0)]), Some((6, 0)));
    }

    #[test]
    fn a_silence_may_lie_between_the_two() {
        assert_eq!(changes(&[(8, 10.0), (1, 70.0), (8, 30.0)]), Some((9, 1)));
        assert_eq!(changes(&[(8, 10.0), (1, 700.0), (8, 30.0)]), None, "these are two bursts");
        assert_eq!(changes(&[(16, 10.0)]), None);
        assert_eq!(changes(&[(8, 10.0), (8, 11.0)]), None, "too much alike");
    }
}
