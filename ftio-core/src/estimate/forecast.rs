//! When does the next phase begin? A mixture over the hypotheses, each weighted by its probability.
//!
//! | hypothesis | the next start |
//! |---|---|
//! | mean | one mean distance after the last start, an odd first distance left out; a clear trend of the distances goes on |
//! | drift | its line goes on |
//! | change | the second period |
//! | comb | one, two or three slots ahead, with the chance that slots are empty |
//!
//! What is left to a probability of 1 goes to a *fallback*: the list of at least two phases that looks best.
//! Each part is a Student's t distribution: k distances with a relative spread σ say as much about the next
//! one as if two more had varied by 3 % (10 % for the fallback). What lies before now is cut off and the
//! rest normalised, so that a late phase moves the answer on. The answer is where most of the mixture is
//! within ± 10 % of the period; the interval is from its 10 % to its 90 % quantile.

use crate::estimate::hypotheses::whole::straight_line;
use crate::estimate::hypotheses::{Form, Hypothesis};
use crate::estimate::view::View;
use crate::phases::PhaseList;
use crate::phases::phase::Phase;
use crate::signal::statistics::{deviation, median, robust_spread};
use schemars::JsonSchema;
use serde::Serialize;

/// The spread of distances before any was seen, and how many distances that is worth.
const SPREAD: f64 = 0.03;
const SPREAD_OF_FALLBACK: f64 = 0.1;
const WORTH: f64 = 2.0;

/// At most this many hypotheses, each with at least this probability.
const MOST: usize = 6;
const LEAST: f64 = 0.01;

/// Points at which the mixture is added up.
const GRID: usize = 2000;

/// The answer is right if the phase begins within this share of the period.
const REACH: f64 = 0.1;

/// An answer is as good as the best if it is right with this share of its probability.
const AS_GOOD: f64 = 0.995;

/// Parts of the mixture where nothing is known but the period.
const EVENLY: usize = 16;

/// One part of the mixture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Part {
    pub(crate) weight: f64,
    /// Seconds from the start of the window.
    pub(crate) centre: f64,
    pub(crate) scale: f64,
    /// Degrees of freedom.
    pub(crate) freedom: usize,
    pub(crate) period: f64,
}

/// What is known about the next phase.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Forecast {
    parts: Vec<Part>,
    /// How long it will take, in seconds.
    pub length: f64,
    /// How much it will transfer.
    pub bytes: f64,
}

/// A start, and the interval that holds it with a probability of 80 %; seconds from the start of the window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NextStart {
    /// The most probable start.
    pub start: f64,
    /// The 10 % quantile.
    pub low: f64,
    /// The 90 % quantile.
    pub high: f64,
}

/// An answer while there is no period yet.
#[derive(Clone, Copy, Debug, PartialEq, JsonSchema, Serialize)]
pub struct Provisional {
    /// Mean distance of the starts so far; `None` after one phase.
    pub period: Option<f64>,
    /// The interval that holds the period with a probability of 80 %, in seconds; after one phase the time
    /// since its start.
    pub low: f64,
    /// Its upper end; `None` after one phase.
    pub high: Option<f64>,
    /// Phases seen.
    pub phases: usize,
}

/// Scale and degrees of freedom of relative distances, of which `k` varied by `sigma`.
fn spread(sigma: f64, k: usize, before: f64) -> (f64, usize) {
    let seen = k.saturating_sub(1) as f64;
    let freedom = WORTH + seen;
    (((WORTH * before * before + seen * sigma * sigma) / freedom).sqrt(), freedom as usize)
}

impl Forecast {
    /// By all hypotheses of a signal.
    pub fn of(view: &View) -> Self {
        let mut parts = Vec::new();
        let mut typical: Option<Vec<Phase>> = None;
        for candidate in view.posterior.candidates.iter().take(MOST) {
            let one = &candidate.best.hypothesis;
            let in_pauses = one.form == Form::Comb && one.time_in_pauses(&view.lists) > 0.5;
            if candidate.probability < LEAST || one.form == Form::Line || in_pauses {
                continue;
            }
            parts.extend(parts_of(view, one, candidate.probability));
            typical = typical.or_else(|| Some(view.members(one)));
        }
        let known: f64 = parts.iter().map(|part| part.weight).sum();
        if known < 0.9
            && let Some(list) = fallback(view)
        {
            let part = part_of_fallback(view, list, (1.0 - known).max(0.05));
            typical = if part.weight > known { None } else { typical };
            parts.push(part);
            typical = typical.or_else(|| Some(list.phases.clone()));
        }
        Forecast::with(parts, &typical.unwrap_or_default())
    }

    /// By one hypothesis alone: for each of two rhythms.
    pub fn of_rhythm(
        view: &View,
        starts: &[f64],
        sigma: f64,
        empty: f64,
        period: f64,
        phases: &[Phase],
    ) -> Self {
        let last = starts.last().map_or(0.0, |last| anchor(view, *last, period));
        Forecast::with(slots_ahead(1.0, last, period, sigma, empty, starts.len().saturating_sub(1)), phases)
    }

    /// Anywhere in the period after `now`: where the last start is not known to a part of the period, as in a
    /// job of a million phases.
    pub fn anywhere(now: f64, period: f64, length: f64, bytes: f64) -> Self {
        let width = period / EVENLY as f64;
        let part = |i: usize| Part {
            weight: 1.0 / EVENLY as f64,
            centre: now + (i as f64 + 0.5) * width,
            scale: 0.5 * width,
            freedom: EVENLY,
            period,
        };
        Forecast { parts: (0..EVENLY).map(part).collect(), length, bytes }
    }

    /// A mixture, and phases that are like the next one.
    pub(crate) fn with(mut parts: Vec<Part>, phases: &[Phase]) -> Self {
        parts.sort_by(|a, b| b.weight.total_cmp(&a.weight));
        // The first phase is often longer, and the last one may not be over.
        let inner = if phases.len() >= 4 { &phases[1..phases.len() - 1] } else { phases };
        let lengths: Vec<f64> = inner.iter().map(|phase| phase.end - phase.start).collect();
        let bytes = inner.iter().map(|phase| phase.volume).sum::<f64>() / inner.len().max(1) as f64;
        Forecast { parts, length: median(&lengths), bytes }
    }

    /// The next start after `now` (seconds from the start of the window).
    pub fn next(&self, now: f64) -> Option<NextStart> {
        let all: f64 = self.parts.iter().map(|part| part.weight).sum();
        let first = self.parts.first().filter(|_| all > 0.0)?;
        let reach = |part: &Part, side: f64| part.centre + 8.0 * side * part.scale;
        let low = self.parts.iter().map(|part| reach(part, -1.0)).fold(f64::INFINITY, f64::min).max(now);
        let high = self.parts.iter().map(|part| reach(part, 1.0)).fold(low, f64::max);
        // Far behind everything that was expected: one period from now is as good as any.
        if high <= low {
            let period = first.period;
            return Some(NextStart { start: now + period / 2.0, low: now, high: now + 2.0 * period });
        }
        let step = (high - low) / (GRID - 1) as f64;
        let mut sums = Vec::with_capacity(GRID + 1);
        let mut sum = 0.0;
        sums.push(0.0);
        for i in 0..GRID {
            let at = low + i as f64 * step;
            sum += self.parts.iter().map(|part| part.weight * part.density(at)).sum::<f64>();
            sums.push(sum);
        }
        if sum <= 0.0 {
            return Some(NextStart { start: first.centre.max(now), low: now, high: high.max(now) });
        }
        let quantile =
            |share: f64| low + sums[1..].partition_point(|x| *x < share * sum).min(GRID - 1) as f64 * step;
        let near = ((REACH * first.period / step) as usize).max(1);
        let within = |i: usize| sums[(i + near).min(GRID)] - sums[i.saturating_sub(near)];
        // Where starts are known much better than that, many places are as good: the middle one is taken.
        let most = (0..GRID).map(within).fold(0.0, f64::max);
        let middle = sums[1..].partition_point(|x| *x < 0.5 * sum);
        let as_good = (0..GRID).filter(|&i| within(i) >= AS_GOOD * most);
        let best = as_good.min_by_key(|i| i.abs_diff(middle)).unwrap_or(middle);
        let start = low + best as f64 * step;
        Some(NextStart { start, low: quantile(0.1).min(start), high: quantile(0.9).max(start) })
    }
}

impl Part {
    /// Student's t.
    fn density(&self, at: f64) -> f64 {
        let off = (at - self.centre) / self.scale;
        let freedom = self.freedom as f64;
        if self.freedom > 100 {
            return (-0.5 * off * off).exp() / (std::f64::consts::TAU.sqrt() * self.scale);
        }
        unit_of(self.freedom) * (1.0 + off * off / freedom).powf(-(freedom + 1.0) / 2.0) / self.scale
    }
}

/// The density of Student's t at 0.
fn unit_of(freedom: usize) -> f64 {
    let odd = freedom % 2 == 1;
    let (mut unit, mut n) = if odd { (1.0 / std::f64::consts::PI, 1.0) } else { (1.0 / 8f64.sqrt(), 2.0) };
    while n + 0.5 < freedom as f64 {
        unit *= (n + 1.0) / n * (n / (n + 2.0)).sqrt();
        n += 2.0;
    }
    unit
}

/// The last start to count from: that of a phase that has begun since the last member, if one has.
fn anchor(view: &View, last: f64, period: f64) -> f64 {
    view.begun(last + period / 2.0).filter(|begun| *begun < last + 1.5 * period).unwrap_or(last)
}

fn parts_of(view: &View, one: &Hypothesis, weight: f64) -> Vec<Part> {
    let starts = one.starts(&view.lists);
    let Some(&last) = starts.last() else { return Vec::new() };
    let distances: Vec<f64> = starts.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let k = distances.len();
    let single = |distance: f64, sigma: f64, k: usize, wider: f64| {
        let (relative, freedom) = spread(sigma, k, SPREAD);
        let scale = (relative * distance * wider.sqrt()).max(1e-9);
        vec![Part {
            weight,
            centre: anchor(view, last, distance) + distance,
            scale,
            freedom,
            period: distance,
        }]
    };
    match one.form {
        Form::Drift => {
            let logarithms: Vec<f64> = distances.iter().map(|distance| distance.max(1e-9).ln()).collect();
            let (mean, slope, _) = straight_line(&logarithms);
            let n = k as f64;
            single((mean + slope * (n + 1.0) / 2.0).exp(), one.sigma, k, 1.0 + 3.0 / n)
        }
        Form::Change => single(one.ends.map_or(one.period, |ends| ends[1]), one.sigma, k / 2, 1.0),
        Form::Mean if k >= 3 => {
            let (distance, sigma, k) = expected_distance(&distances);
            single(distance, sigma, k, 1.0 + 1.0 / k as f64)
        }
        _ => {
            let links = one.links.iter().filter(|link| **link > 0).count();
            let empty = match one.form {
                Form::Comb => {
                    let empty = (one.slots - links) as f64;
                    ((empty + 0.3) / (one.slots as f64 + 1.5)).min(0.4)
                }
                _ => 0.03,
            };
            slots_ahead(weight, anchor(view, last, one.period), one.period, one.sigma.min(0.5), empty, k)
        }
    }
}

/// One, two or three slots after the last start.
fn slots_ahead(weight: f64, last: f64, period: f64, sigma: f64, empty: f64, k: usize) -> Vec<Part> {
    let (relative, freedom) = spread(sigma, k, SPREAD);
    let part = |n: usize| {
        let slots = n as f64;
        Part {
            weight: weight * (1.0 - empty) * empty.powi(n as i32 - 1),
            centre: last + slots * period,
            scale: (relative * period * (slots + 1.0 / k.max(1) as f64).sqrt()).max(1e-9),
            freedom,
            period,
        }
    };
    (1..=3).map(part).collect()
}

/// The next distance, how much distances vary, and how many said so: without an odd first one; a clear trend
/// goes on.
fn expected_distance(distances: &[f64]) -> (f64, f64, usize) {
    let later = &distances[1..];
    let usual = median(later);
    let odd = (distances[0] / usual - 1.0).abs() > (4.0 * robust_spread(later) / usual).max(0.15);
    let kept = if odd { later } else { distances };
    let n = kept.len() as f64;
    let mean = kept.iter().sum::<f64>() / n;
    let sigma = deviation(kept) / mean * (n / (n - 1.0).max(1.0)).sqrt();
    if kept.len() >= 5 {
        let (mean, slope, rest) = straight_line(kept);
        let error = rest / (n * (n * n - 1.0) / 12.0).sqrt();
        let next = mean + slope * (n + 1.0) / 2.0;
        if slope.abs() > 3.0 * error && slope.abs() * (n - 1.0) > 0.05 * mean && next > 0.0 {
            return (next, rest / next, kept.len());
        }
    }
    (mean, sigma, kept.len())
}

/// The list of at least two phases that looks best.
pub fn fallback(view: &View) -> Option<&PhaseList> {
    let rating = |list: &PhaseList| {
        let few = list.phases.len() < 3;
        let distances = if few { 0.25 } else { list.regularity.distances };
        let octaves = list.octaves.min(4.0) * if few { 0.9 } else { 1.0 };
        octaves / (0.15 + distances) / (1.0 + list.regularity.volumes)
    };
    let lists = view.lists.iter().map(|marked| &marked.list).filter(|list| list.phases.len() >= 2);
    lists.reduce(|a, b| if rating(b) > rating(a) { b } else { a })
}

fn part_of_fallback(view: &View, list: &PhaseList, weight: f64) -> Part {
    let distances: Vec<f64> = list.phases.windows(2).map(|pair| pair[1].start - pair[0].start).collect();
    let k = distances.len();
    let period = median(&distances);
    let varies = list.regularity.distances * (k as f64 / (k as f64 - 1.0).max(1.0)).sqrt();
    let (relative, freedom) = spread(varies.min(0.6), k, SPREAD_OF_FALLBACK);
    let last = list.phases.last().map_or(0.0, |phase| anchor(view, phase.start, period));
    let scale = (relative * period * (1.0 + 1.0 / k as f64).sqrt()).max(1e-9);
    Part { weight, centre: last + period, scale, freedom, period }
}

/// A provisional answer, `now` being seconds from the start of the window.
pub fn provisional(view: &View, now: f64) -> Option<Provisional> {
    let Some(list) = fallback(view) else {
        let quiet = view.ground.quiet;
        let first = view.signal.samples.iter().position(|x| *x > quiet)?;
        let low = (now - first as f64 * view.signal.step()).max(0.0);
        return Some(Provisional { period: None, low, high: None, phases: 1 });
    };
    let k = list.phases.len() - 1;
    let period = list.regularity.period;
    let factor = provisional_factor(list.regularity.distances, k, 0.1);
    Some(Provisional {
        period: Some(period),
        low: period / factor,
        high: Some(period * factor),
        phases: k + 1,
    })
}

/// By what factor the mean of k distances may be wrong that vary by a share of it, and by no less than
/// `least`.
pub(crate) fn provisional_factor(varies: f64, k: usize, least: f64) -> f64 {
    if k < 2 {
        return 3.0;
    }
    let spread = varies * (k as f64 / (k as f64 - 1.0)).sqrt();
    (t_quantile_90(k - 1) * spread.max(least) / (k as f64).sqrt()).exp()
}

/// The 90 % quantile of Student's t.
fn t_quantile_90(freedom: usize) -> f64 {
    const TABLE: [f64; 10] = [3.078, 1.886, 1.638, 1.533, 1.476, 1.440, 1.415, 1.397, 1.383, 1.372];
    TABLE.get(freedom.max(1) - 1).copied().unwrap_or(1.2816 + 0.85 / freedom as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(weight: f64, centre: f64, scale: f64) -> Part {
        Part { weight, centre, scale, freedom: 5, period: 10.0 }
    }

    #[test]
    fn one_part_is_itself() {
        let forecast = Forecast { parts: vec![part(1.0, 50.0, 0.5)], length: 1.0, bytes: 1.0 };
        let next = forecast.next(41.0).unwrap();
        assert!((next.start - 50.0).abs() < 0.05, "{next:?}");
        // t with 5 degrees of freedom: 1.476 at 90 %.
        assert!((next.high - 50.74).abs() < 0.05 && (next.low - 49.26).abs() < 0.05, "{next:?}");
    }

    #[test]
    fn a_start_that_is_known_well_lies_in_the_middle_of_its_interval() {
        for now in [41.0, 49.0, 49.95] {
            let parts = vec![part(0.97, 50.0, 0.02), part(0.03, 60.0, 3.0)];
            let next = Forecast { parts, length: 1.0, bytes: 1.0 }.next(now).unwrap();
            assert!((next.start - 50.0).abs() < 0.1 && next.low <= next.start, "{now}: {next:?}");
            assert!(next.start <= next.high && next.high < 50.3, "{now}: {next:?}");
        }
    }

    #[test]
    fn a_late_phase_moves_the_answer_on() {
        let forecast =
            Forecast { parts: vec![part(0.9, 50.0, 0.3), part(0.1, 60.0, 0.4)], length: 1.0, bytes: 1.0 };
        assert!((forecast.next(45.0).unwrap().start - 50.0).abs() < 0.1);
        let late = forecast.next(53.0).unwrap();
        assert!((late.start - 60.0).abs() < 0.2 && late.low >= 53.0, "{late:?}");
        let lost = forecast.next(500.0).unwrap();
        assert!(lost.start >= 500.0 && lost.low >= 500.0 && lost.high > lost.start, "{lost:?}");
        assert_eq!(Forecast::default().next(1.0), None);
    }

    #[test]
    fn densities_are_those_of_student() {
        for (freedom, expected) in
            [(1, std::f64::consts::FRAC_1_PI), (2, 0.353_55), (3, 0.367_55), (5, 0.379_61), (30, 0.395_63)]
        {
            assert!((unit_of(freedom) - expected).abs() < 1e-4, "{freedom}");
        }
        assert_eq!(t_quantile_90(1), 3.078);
        assert!((t_quantile_90(30) - 1.310).abs() < 0.01);
    }

    #[test]
    fn a_trend_goes_on_and_an_odd_first_distance_does_not() {
        let (distance, sigma, k) = expected_distance(&[25.0, 10.0, 10.1, 9.9, 10.0]);
        assert!((distance - 10.0).abs() < 1e-9 && sigma < 0.02 && k == 4);
        let (distance, ..) = expected_distance(&[10.0, 10.5, 11.0, 11.5, 12.0, 12.5]);
        assert!((distance - 13.0).abs() < 1e-6);
    }
}
