//! Where in each sample the edges of bursts are.
//!
//! Each edge of a burst, its beginning and its end, is looked for around where it would be without delay.
//! How late a sample may be is bounded by its run time: delays add up to what it ran longer than the
//! others.

use crate::resample::at;
use crate::settings::Settings;
use crate::spans::Span;

/// Delays are looked for in steps of this many seconds.
const STEP: f64 = 0.5;

/// At most so many seconds beside an edge are compared.
pub(crate) const REACH: f64 = 10.0;

/// At most so many steps of delay are tried; a sample that runs longer still is looked at around even
/// stretching.
const MAX_STEPS: usize = 1200;

/// An edge in a sample.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Located {
    /// When it takes place, in seconds of the sample.
    pub time: f64,
    /// How clear it is there: 1 is as high as the burst.
    pub clear: f64,
}

/// A sample prepared for looking up edges: the integral of what is above its background, high values cut.
#[derive(Clone, Debug)]
pub(crate) struct Integral(Vec<f64>);

impl Integral {
    pub fn of(sample: &[f64], background: f64, most: f64) -> Self {
        let mut sum = 0.0;
        let add = |value: &f64| {
            sum += (value - background).clamp(0.0, most);
            sum
        };
        Integral(std::iter::once(0.0).chain(sample.iter().map(add)).collect())
    }

    pub fn until(&self, time: f64) -> f64 {
        at(&self.0, time)
    }

    /// The mean behind a moment less the mean before it.
    fn rise(&self, time: f64, reach: f64) -> f64 {
        (self.until(time + reach) - 2.0 * self.until(time) + self.until(time - reach)) / reach
    }

    /// The mean of a place less the mean of what is beside it on both sides.
    pub fn contrast(&self, start: f64, width: f64) -> f64 {
        let (end, reach) = (start + width, (width / 2.0).clamp(2.0, REACH));
        let inside = self.until(end) - self.until(start);
        let beside =
            self.until(end + reach) - self.until(end) + self.until(start) - self.until(start - reach);
        inside / width - beside / (2.0 * reach)
    }
}

/// One edge on the common time line.
struct Edge {
    time: f64,
    rising: bool,
    height: f64,
    reach: f64,
    /// Seconds to the middle of the burst, and to the middle of the pause beside it.
    inside: f64,
    outside: f64,
}

fn edges(spans: &[Span]) -> Vec<Edge> {
    let mut out = Vec::with_capacity(2 * spans.len());
    for (i, span) in spans.iter().enumerate() {
        let before = if i == 0 { 2.0 * REACH } else { span.start - spans[i - 1].end };
        let behind = spans.get(i + 1).map_or(2.0 * REACH, |next| next.start - span.end);
        let inside = (span.end - span.start) / 2.0;
        let edge = |time: f64, rising: bool, gap: f64| {
            let reach = (gap / 2.0).min(inside).clamp(1.0, REACH);
            Edge { time, rising, height: span.height, reach, inside, outside: gap / 2.0 }
        };
        out.push(edge(span.start, true, before));
        out.push(edge(span.end, false, behind));
    }
    out
}

/// When the edges of the bursts take place in a sample, and how clear each edge is there (1: as high as the
/// burst).
///
/// The most likely delays by dynamic programming: clear edges count for a delay, every second by which it
/// differs from the delay of the edge before counts against it, becoming less twice as much as becoming
/// more. That keeps an edge from being mistaken for another, and it also draws the edges of a burst together;
/// so each is then taken [where exactly it is](exact).
fn locate(
    sample: &[f64],
    edges: &[Edge],
    length: f64,
    background: f64,
    logged: f64,
    settings: &Settings,
) -> Vec<Located> {
    let highest = edges.iter().map(|edge| edge.height).fold(0.0, f64::max);
    let integral = Integral::of(sample, background, 1.3 * highest);
    let surplus = sample.len() as f64 - length;
    let least = surplus.min(0.0) - settings.slack;
    let steps = (((surplus.abs() + 2.0 * settings.slack) / STEP) as usize + 1).min(MAX_STEPS);
    // With more surplus than steps, the steps follow even stretching.
    let truncated = steps == MAX_STEPS;
    let offset = |edge: &Edge| {
        if truncated { surplus * edge.time / length - STEP * steps as f64 / 2.0 } else { least }
    };
    let delay = |edge: &Edge, step: usize| offset(edge) + STEP * step as f64;
    let cost = settings.reluctance;
    let mut score: Vec<f64> = match edges.first() {
        Some(first) => (0..steps).map(|step| -cost * delay(first, step).abs()).collect(),
        None => return Vec::new(),
    };
    let mut came_from: Vec<Vec<u32>> = Vec::with_capacity(edges.len());
    let mut clearness: Vec<Vec<f64>> = Vec::with_capacity(edges.len());
    for (number, edge) in edges.iter().enumerate() {
        let mut from: Vec<u32> = (0..steps as u32).collect();
        if number > 0 {
            // Two sweeps give the best predecessor of every step.
            let jump = (offset(edge) - offset(&edges[number - 1])) / STEP;
            let shift = if truncated { jump.round() as isize } else { 0 };
            if shift != 0 {
                let moved = |step: usize| (step as isize + shift).clamp(0, steps as isize - 1) as u32;
                from = (0..steps).map(moved).collect();
                score = from.iter().map(|&step| score[step as usize]).collect();
            }
            for step in 1..steps {
                let more = score[step - 1] - cost * STEP;
                if more > score[step] {
                    (score[step], from[step]) = (more, from[step - 1]);
                }
            }
            for step in (0..steps - 1).rev() {
                let less = score[step + 1] - 2.0 * cost * STEP;
                if less > score[step] {
                    (score[step], from[step]) = (less, from[step + 1]);
                }
            }
        }
        let sign = if edge.rising { 1.0 } else { -1.0 };
        let clear: Vec<f64> = (0..steps)
            .map(|step| sign * integral.rise(edge.time + delay(edge, step), edge.reach) / edge.height)
            .collect();
        score.iter_mut().zip(&clear).for_each(|(score, clear)| *score += clear.min(1.0));
        came_from.push(from);
        clearness.push(clear);
    }
    let mut step = (0..steps).fold(0, |best, step| if score[step] > score[best] { step } else { best });
    let mut found = vec![Located::default(); edges.len()];
    for number in (0..edges.len()).rev() {
        found[number] = Located {
            time: edges[number].time + delay(&edges[number], step),
            clear: clearness[number][step],
        };
        step = came_from[number][step] as usize;
    }
    for (number, edge) in edges.iter().enumerate() {
        // Edges stay in their order, however short the pause between two bursts is.
        let after = number.checked_sub(1).map_or(f64::NEG_INFINITY, |before| found[before].time);
        let before = found.get(number + 1).map_or(f64::INFINITY, |next| next.time);
        let exactly = exact(&integral, edge, found[number].time, logged);
        if let Some(time) = exactly.filter(|time| after < *time && *time < before) {
            found[number].time = time;
        }
    }
    found
}

/// Where exactly an edge is that was found near that time, in a log of one value every `step` seconds.
///
/// The log makes a slope of it, and so does bringing the log to seconds; but what was written is still there.
/// Between the level of the burst and the level beside it, the edge is where a jump would leave the same
/// volume. Nothing if the edge is not clear, or would be elsewhere.
fn exact(integral: &Integral, edge: &Edge, time: f64, step: f64) -> Option<f64> {
    let step = step.max(1.0);
    let (slope, far) = (1.5 * step, 4.0 * step);
    if edge.inside < 1.25 * step {
        return None;
    }
    let (within, beside) = (edge.inside.min(far), edge.outside.min(far));
    // A short burst is at its level only in the middle.
    let level = if within >= slope + step {
        (slope, within)
    } else {
        (slope.min(edge.inside - step / 2.0), (slope + step).min(edge.inside + step / 2.0))
    };
    let (into, out) = (level.0, slope.min(beside));
    let sign = if edge.rising { 1.0 } else { -1.0 };
    let volume = |from: f64, to: f64| sign * (integral.until(to) - integral.until(from));
    let mean = |time: f64, (from, to): (f64, f64)| volume(time + sign * from, time + sign * to) / (to - from);
    let mut found = time;
    for _ in 0..3 {
        let low = if beside >= slope + step { mean(found, (-beside, -slope)) } else { 0.0 };
        let high = mean(found, level);
        if high - low < 0.5 * edge.height {
            return None;
        }
        let written = volume(found - sign * out, found + sign * into) - (into + out) * low;
        found += sign * (into - written / (high - low));
        if (found - time).abs() > 0.75 * step {
            return None;
        }
    }
    Some(found)
}

/// The edges of these bursts in each sample; `length` is that of the time line the bursts are on, `step` the
/// seconds between two values of the log.
pub(crate) fn locate_all(
    samples: &[Vec<f64>],
    spans: &[Span],
    length: f64,
    backgrounds: &[f64],
    step: f64,
    settings: &Settings,
) -> Vec<Vec<Located>> {
    let edges = edges(spans);
    let one = |(sample, level): (&Vec<f64>, &f64)| locate(sample, &edges, length, *level, step, settings);
    samples.iter().zip(backgrounds).map(one).collect()
}

/// Places of that width in a sample of that length that no burst touches, at least a stride apart.
pub(crate) fn places(edges: &[Located], length: f64, width: f64, stride: f64, mut each: impl FnMut(f64)) {
    let (mut start, mut next) = (0.0, 0);
    while start + width <= length {
        while edges.get(next + 1).is_some_and(|end| end.time <= start) {
            next += 2;
        }
        match edges.get(next) {
            // Behind the burst that this place would overlap.
            Some(edge) if edge.time < start + width => {
                start = edges.get(next + 1).map_or(length, |end| end.time).max(start + 1.0);
            }
            _ => {
                each(start);
                start += stride.max(1.0);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resample::to_seconds;

    /// A burst of 2 between two moments, beside others of 0.3, in a log of one value every two seconds.
    fn logged(start: f64, end: f64) -> Vec<f64> {
        let inside = |from: f64| ((from + 2.0).min(end) - from.max(start)).max(0.0) / 2.0;
        let values: Vec<f64> = (0..60).map(|line| 0.3 + 2.0 * inside(2.0 * f64::from(line))).collect();
        to_seconds(&values, 2.0)
    }

    #[test]
    fn edges_are_found_within_a_step_of_the_log() {
        let settings = Settings::default();
        for (start, end) in [(40.0, 60.0), (40.7, 66.1), (41.3, 61.9), (40.4, 46.9)] {
            let span = Span { start: 40.0, end: 40.0 + end - start, height: 2.0 };
            let sample = logged(start, end);
            let found = &locate_all(&[sample], &[span], 120.0, &[0.3], 2.0, &settings)[0];
            let wrong = (found[0].time - start).abs().max((found[1].time - end).abs());
            assert!(wrong < 0.1, "{start} to {end}: {found:?}");
        }
    }

    #[test]
    fn an_edge_that_is_not_clear_stays_where_it_is() {
        let flat = Integral::of(&[1.0; 120], 0.0, 10.0);
        let edge = &edges(&[Span { start: 40.0, end: 60.0, height: 2.0 }])[0];
        assert_eq!(exact(&flat, edge, 40.0, 2.0), None);
    }
}
