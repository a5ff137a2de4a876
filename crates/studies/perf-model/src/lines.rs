//! From points of several parameters to one series per parameter.
//!
//! A line of parameter q is a set of points that differ in q only. Crosses, bands, sparse and full grids all
//! have lines; the longest ones of each parameter, averaged where there are several, are what its term is
//! found on.

use std::collections::HashMap;

use crate::experiment::mean;
use crate::points::Points;

/// Coordinates as map keys.
fn key(point: &[f64], without: usize) -> Vec<u64> {
    let others = point.iter().enumerate().filter(|(parameter, _)| *parameter != without);
    others.map(|(_, value)| (value + 0.0).to_bits()).collect()
}

/// The series of one parameter: its values, and the mean of the measured values on all longest lines there.
pub(crate) fn series(points: &Points, parameter: usize) -> Points {
    // Lines, in order of appearance.
    let mut index: HashMap<Vec<u64>, usize> = HashMap::new();
    let mut lines: Vec<Vec<usize>> = Vec::new();
    for point in 0..points.len() {
        let line = *index.entry(key(points.point(point), parameter)).or_insert_with(|| {
            lines.push(Vec::new());
            lines.len() - 1
        });
        lines[line].push(point);
    }
    let longest = lines.iter().map(Vec::len).max().unwrap_or(0);

    // The points of the longest lines by their value of the parameter.
    let mut index: HashMap<u64, usize> = HashMap::new();
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for &point in lines.iter().filter(|line| line.len() == longest).flatten() {
        let value = (points.point(point)[parameter] + 0.0).to_bits();
        let group = *index.entry(value).or_insert_with(|| {
            groups.push(Vec::new());
            groups.len() - 1
        });
        groups[group].push(point);
    }

    // Means are comparable only over the same lines: those that pass through the first value.
    let common: Vec<Vec<u64>> =
        groups.first().into_iter().flatten().map(|&point| key(points.point(point), parameter)).collect();
    let mut coordinates = Vec::new();
    let mut values = Vec::new();
    for (position, group) in groups.iter().enumerate() {
        let members: Vec<f64> = group
            .iter()
            .filter(|&&point| position == 0 || common.contains(&key(points.point(point), parameter)))
            .map(|&point| points.values[point])
            .collect();
        if let Some(&first) = group.first().filter(|_| !members.is_empty()) {
            coordinates.push(points.point(first)[parameter]);
            values.push(if members.len() == 1 { members[0] } else { mean(&members) });
        }
    }
    Points::single(&coordinates, &values)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(entries: &[(f64, f64, f64)]) -> Points {
        Points {
            dimensions: 2,
            coordinates: entries.iter().flat_map(|(x, y, _)| [*x, *y]).collect(),
            values: entries.iter().map(|(_, _, value)| *value).collect(),
            ..Points::default()
        }
    }

    #[test]
    fn a_grid_is_averaged() {
        let grid = points(&[(1.0, 1.0, 1.0), (1.0, 2.0, 3.0), (2.0, 1.0, 5.0), (2.0, 2.0, 7.0)]);
        assert_eq!(series(&grid, 0).values, [2.0, 6.0]);
        assert_eq!(series(&grid, 1).values, [3.0, 5.0]);
    }

    #[test]
    fn a_cross_has_one_line_each() {
        let cross =
            points(&[(1.0, 1.0, 1.0), (2.0, 1.0, 2.0), (3.0, 1.0, 3.0), (1.0, 2.0, 10.0), (1.0, 3.0, 20.0)]);
        assert_eq!(series(&cross, 0).values, [1.0, 2.0, 3.0]);
        assert_eq!(series(&cross, 1).values, [1.0, 10.0, 20.0]);
    }
}
