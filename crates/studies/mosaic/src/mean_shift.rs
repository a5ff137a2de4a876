//! Mean Shift (Fukunaga and Hostetler, 1975) with a flat kernel: points that climb to the same peak of
//! density are one group.
//!
//! Each point moves to the mean of all points within a radius of it, again and again, until it rests. Points
//! that come to rest within a radius of each other belong together. The number of groups need not be known.

/// A point that has moved less than this share of the radius rests.
const AT_REST: f64 = 1e-3;
/// More steps than this are not taken.
const MAX_STEPS: usize = 300;

/// The group of each point; groups are numbered in the order of their first point.
pub fn groups(points: &[[f64; 2]], radius: f64) -> Vec<usize> {
    let mut by_x: Vec<[f64; 2]> = points.to_vec();
    by_x.sort_unstable_by(|a, b| a[0].total_cmp(&b[0]).then(a[1].total_cmp(&b[1])));
    let peaks: Vec<Peak> = points.iter().map(|point| climb(*point, &by_x, radius)).collect();

    // The highest peaks claim those around them.
    let mut order: Vec<usize> = (0..peaks.len()).collect();
    order.sort_by(|&a, &b| peaks[b].neighbours.cmp(&peaks[a].neighbours).then(a.cmp(&b)));
    let mut centres: Vec<[f64; 2]> = Vec::new();
    for at in order {
        if !centres.iter().any(|centre| distance(*centre, peaks[at].place) <= radius) {
            centres.push(peaks[at].place);
        }
    }
    let nearest = |place: [f64; 2]| {
        let closer = |a: &usize, b: &usize| {
            distance(centres[*a], place).total_cmp(&distance(centres[*b], place)).then(a.cmp(b))
        };
        (0..centres.len()).min_by(closer).unwrap_or(0)
    };
    let mut numbers = vec![None; centres.len()];
    let mut next = 0;
    let number = |peak: &Peak| {
        *numbers[nearest(peak.place)].get_or_insert_with(|| {
            next += 1;
            next - 1
        })
    };
    peaks.iter().map(number).collect()
}

#[derive(Clone, Copy, Debug)]
struct Peak {
    place: [f64; 2],
    neighbours: usize,
}

/// Where a point comes to rest, among points in the order of their first coordinate.
fn climb(mut place: [f64; 2], points: &[[f64; 2]], radius: f64) -> Peak {
    let mut neighbours = 0;
    for _ in 0..MAX_STEPS {
        let from = points.partition_point(|point| point[0] < place[0] - radius);
        let mut sum = [0.0; 2];
        neighbours = 0;
        for point in points[from..].iter().take_while(|point| point[0] <= place[0] + radius) {
            if distance(*point, place) <= radius {
                neighbours += 1;
                sum[0] += point[0];
                sum[1] += point[1];
            }
        }
        if neighbours == 0 {
            break;
        }
        let mean = sum.map(|sum| sum / neighbours as f64);
        let moved = distance(mean, place);
        place = mean;
        if moved < AT_REST * radius {
            break;
        }
    }
    Peak { place, neighbours }
}

fn distance(a: [f64; 2], b: [f64; 2]) -> f64 {
    (a[0] - b[0]).hypot(a[1] - b[1])
}

#[cfg(test)]
mod tests {
    use super::*;
    use seeded_random::Random;

    #[test]
    fn far_points_are_alone_and_near_ones_together() {
        assert_eq!(groups(&[], 1.0), [0usize; 0]);
        assert_eq!(
            groups(&[[0.0, 0.0], [5.0, 5.0], [0.1, 0.0], [5.0, 5.1], [9.0, 0.0]], 1.0),
            [0, 1, 0, 1, 2]
        );
        // Equal in one coordinate is not enough.
        assert_eq!(groups(&[[0.0, 0.0], [0.0, 2.5]], 1.0), [0, 1]);
    }

    #[test]
    fn the_border_belongs_to_the_radius() {
        // Both see each other and meet in the middle.
        assert_eq!(groups(&[[0.0, 0.0], [1.0, 0.0]], 1.0), [0, 0]);
        assert_eq!(groups(&[[0.0, 0.0], [1.000_001, 0.0]], 1.0), [0, 1]);
    }

    #[test]
    fn clouds_are_found_whole_whatever_the_order() {
        let mut random = Random::new(7);
        // The sum of twelve uniform numbers is nearly normal.
        let mut normal = || (0..12).map(|_| random.unit()).sum::<f64>() - 6.0;
        let centres = [[0.0, 0.0], [3.0, 0.0], [0.0, 4.0]];
        let points: Vec<[f64; 2]> = (0..150)
            .map(|i| {
                let centre = centres[i % 3];
                [centre[0] + 0.1 * normal(), centre[1] + 0.1 * normal()]
            })
            .collect();
        let found = groups(&points, 0.5);
        assert!(found.iter().enumerate().all(|(i, group)| *group == i % 3), "{found:?}");
        let backwards: Vec<[f64; 2]> = points.iter().rev().copied().collect();
        let found = groups(&backwards, 0.5);
        assert!(found.iter().enumerate().all(|(i, group)| *group == i % 3), "{found:?}");
    }
}
