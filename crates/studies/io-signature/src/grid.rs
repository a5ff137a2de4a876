//! Bursts that the samples have in common: clustering on a grid (paper, 5.3, after CLIQUE).
//!
//! Each burst of each sample is a point (time, likeness to the mean burst). The plane is cut into units; a
//! unit with points of many samples is dense, and with its eight neighbours, if these hold points of almost
//! all samples, a common burst. Several sizes of units are tried.

use crate::bursts::Wave;
use crate::settings::Settings;
use crate::statistics::{correlation, mean};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// The grid that was chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, JsonSchema, Serialize)]
pub struct Grid {
    /// Width of a unit in seconds.
    pub width: f64,
    /// Height of a unit in likeness.
    pub height: f64,
    /// Points in common bursts.
    pub points: usize,
    /// Common bursts.
    pub bursts: usize,
}

/// A burst of one sample as a point.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// Which sample.
    pub sample: usize,
    /// The burst there.
    pub wave: Wave,
    /// Likeness to the mean burst, 0 to 1.
    pub likeness: f64,
    /// The burst cut out of the preprocessed sample, its time in the middle, 0 outside the burst.
    pub window: Vec<f64>,
}

/// The bursts of all samples as points. Windows reach half the longest burst to both sides.
pub fn points(samples: &[Vec<f64>], waves: &[Vec<Wave>]) -> Vec<Point> {
    let longest = waves.iter().flatten().map(|wave| wave.end - wave.start).max().unwrap_or(0);
    let half = (longest as f64 / 2.0).round().max(2.0) as usize;
    let mut points = Vec::new();
    for (sample, waves) in waves.iter().enumerate() {
        for wave in waves {
            let window = window(&samples[sample], wave, half);
            points.push(Point { sample, wave: *wave, likeness: 0.0, window });
        }
    }
    let mut reference = vec![0.0; 2 * half + 1];
    for point in &points {
        reference.iter_mut().zip(&point.window).for_each(|(sum, value)| *sum += value);
    }
    for point in &mut points {
        point.likeness = correlation(&point.window, &reference).max(0.0);
    }
    points
}

fn window(sample: &[f64], wave: &Wave, half: usize) -> Vec<f64> {
    let mut out = vec![0.0; 2 * half + 1];
    let from = wave.start.max(wave.time.saturating_sub(half));
    let to = wave.end.min(wave.time + half).min(sample.len() - 1);
    out[from + half - wave.time..=to + half - wave.time].copy_from_slice(&sample[from..=to]);
    out
}

/// For each common burst the points that form it, one per sample, by the grid that puts most points into
/// common bursts; of equals the one with smaller units.
pub fn common(points: &[Point], samples: usize, settings: &Settings) -> (Vec<Vec<usize>>, Grid) {
    let mut best: (Vec<Vec<usize>>, Grid) = Default::default();
    if points.is_empty() {
        return best;
    }
    let lengths: Vec<f64> = points.iter().map(|point| (point.wave.end - point.wave.start) as f64).collect();
    let distances: Vec<f64> = points
        .windows(2)
        .filter(|pair| pair[0].sample == pair[1].sample)
        .map(|pair| (pair[1].wave.time - pair[0].wave.time) as f64)
        .collect();
    let length = mean(&lengths).max(1.0);
    let distance = if distances.is_empty() { length } else { mean(&distances).max(1.0) };
    let widths = steps(length.min(distance), length.max(distance), settings.widths);
    for (i, &width) in widths.iter().enumerate() {
        for &height in &steps(settings.least_height, settings.largest_height, settings.heights) {
            let found = clusters(points, samples, width, height, settings);
            let count = found.iter().map(Vec::len).sum();
            if count > best.1.points || (i == 0 && best.1.width == 0.0) {
                let grid = Grid { width, height, points: count, bursts: found.len() };
                best = (found, grid);
            }
        }
    }
    best.0.sort_by_key(|members| {
        members.iter().map(|&point| points[point].wave.time).sum::<usize>() / members.len()
    });
    best
}

fn steps(low: f64, high: f64, count: f64) -> Vec<f64> {
    let count = count as usize;
    let step = if count > 1 { (high - low) / (count - 1) as f64 } else { 0.0 };
    (0..count).map(|i| low + step * i as f64).collect()
}

fn clusters(
    points: &[Point],
    samples: usize,
    width: f64,
    height: f64,
    settings: &Settings,
) -> Vec<Vec<usize>> {
    let rows = (1.0 / height).ceil() as i64;
    let mut units: BTreeMap<(i64, i64), Vec<usize>> = BTreeMap::new();
    for (index, point) in points.iter().enumerate() {
        let column = (point.wave.time as f64 / width) as i64;
        let row = ((point.likeness / height) as i64).min(rows - 1);
        units.entry((column, row)).or_default().push(index);
    }
    let different =
        |members: &[usize]| members.iter().map(|&i| points[i].sample).collect::<BTreeSet<_>>().len();
    let (dense, enough) =
        (Settings::share_of(settings.gamma, samples), Settings::share_of(settings.kappa, samples));
    let mut centres: Vec<(usize, (i64, i64))> = units
        .iter()
        .map(|(unit, members)| (different(members), *unit))
        .filter(|one| one.0 >= dense)
        .collect();
    centres.sort_by_key(|&(density, unit)| (std::cmp::Reverse(density), unit));
    let mut used = vec![false; points.len()];
    let mut found = Vec::new();
    for (_, (column, row)) in centres {
        let mut members = Vec::new();
        for unit in (-1..=1).flat_map(|dx| (-1..=1).map(move |dy| (column + dx, row + dy))) {
            members.extend(units.get(&unit).into_iter().flatten().filter(|&&point| !used[point]));
        }
        if different(&members) < enough {
            continue;
        }
        members.iter().for_each(|&point| used[point] = true);
        found.push(one_per_sample(points, &members, width, height));
    }
    found
}

/// The vote: of each sample the point with the least sum of distances to all.
fn one_per_sample(points: &[Point], members: &[usize], width: f64, height: f64) -> Vec<usize> {
    let distance = |a: usize, b: usize| {
        let dx = points[a].wave.time as f64 - points[b].wave.time as f64;
        (dx / width).hypot((points[a].likeness - points[b].likeness) / height)
    };
    let mut chosen: BTreeMap<usize, (f64, usize)> = BTreeMap::new();
    for &a in members {
        let sum: f64 = members.iter().map(|&b| distance(a, b)).sum();
        let best = chosen.entry(points[a].sample).or_insert((sum, a));
        if sum < best.0 {
            *best = (sum, a);
        }
    }
    chosen.into_values().map(|(_, point)| point).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(sample: usize, time: usize, likeness: f64) -> Point {
        Point { sample, wave: Wave { start: time - 5, time, end: time + 5 }, likeness, window: Vec::new() }
    }

    #[test]
    fn common_bursts_are_found_and_a_foreign_one_is_not() {
        let mut points = Vec::new();
        for sample in 0..5 {
            points.push(point(sample, 100 + sample, 0.9));
            if sample == 2 {
                points.push(point(sample, 240, 0.5));
            }
            points.push(point(sample, 400 - sample, 0.95));
        }
        let (found, grid) = common(&points, 5, &Settings::default());
        assert_eq!(found.len(), 2);
        assert!(found.iter().all(|members| members.len() == 5));
        assert_eq!((grid.points, grid.bursts), (10, 2));
        assert!(grid.width >= 10.0);
    }

    #[test]
    fn of_two_points_of_a_sample_the_one_like_the_others_is_taken() {
        let mut points: Vec<Point> = (0..4).map(|sample| point(sample, 100, 0.9)).collect();
        points.push(point(4, 98, 0.9));
        points.push(point(4, 109, 0.8));
        let found = clusters(&points, 5, 20.0, 0.25, &Settings::default());
        assert_eq!(found, [vec![0, 1, 2, 3, 4]]);
    }

    #[test]
    fn too_few_samples_are_no_common_burst() {
        let points: Vec<Point> = (0..4).map(|sample| point(sample, 100, 0.9)).collect();
        assert!(common(&points, 10, &Settings::default()).0.is_empty());
        assert!(common(&[], 10, &Settings::default()).0.is_empty());
    }
}
