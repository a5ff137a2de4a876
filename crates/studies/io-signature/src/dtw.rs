//! Dynamic time warping, the paper's rival (6.1): two samples are averaged along their cheapest path, the
//! result with the next sample, and so on.

use crate::resample::{background, shrink, subtract, to_seconds};

/// The signature by chained warping, of samples at one value a second, with the paper's preprocessing.
pub fn chained(samples: &[Vec<f64>]) -> Vec<f64> {
    let length = samples.iter().map(Vec::len).min().unwrap_or(0);
    let mut samples: Vec<Vec<f64>> = samples.iter().map(|sample| shrink(sample, length)).collect();
    let level = background(&samples);
    subtract(&mut samples, level);
    let mut samples = samples.into_iter();
    let Some(mut average) = samples.next() else { return Vec::new() };
    for sample in samples {
        let path = path(&average, &sample);
        let means: Vec<f64> = path.iter().map(|&(i, j)| (average[i] + sample[j]) / 2.0).collect();
        average = to_seconds(&means, length as f64 / means.len() as f64);
        average.resize(length, 0.0);
    }
    average
}

/// The cheapest path through the differences of two series, from both beginnings to both ends.
pub fn path(a: &[f64], b: &[f64]) -> Vec<(usize, usize)> {
    let (rows, columns) = (a.len(), b.len());
    if rows == 0 || columns == 0 {
        return Vec::new();
    }
    // For each pair where it came from: 0 both before, 1 the one before in a, 2 the one before in b.
    let mut from = vec![0u8; rows * columns];
    let (mut above, mut row) = (vec![f64::INFINITY; columns], vec![0.0; columns]);
    for i in 0..rows {
        for j in 0..columns {
            let left = if j > 0 { row[j - 1] } else { f64::INFINITY };
            let diagonal = match (i, j) {
                (0, 0) => 0.0,
                (_, 0) => f64::INFINITY,
                _ => above[j - 1],
            };
            let (mut best, mut came) = (diagonal, 0);
            if above[j] < best {
                (best, came) = (above[j], 1);
            }
            if left < best {
                (best, came) = (left, 2);
            }
            row[j] = best + (a[i] - b[j]).abs();
            from[i * columns + j] = came;
        }
        std::mem::swap(&mut above, &mut row);
    }
    let (mut i, mut j) = (rows - 1, columns - 1);
    let mut out = vec![(i, j)];
    while (i, j) != (0, 0) {
        match from[i * columns + j] {
            0 => (i, j) = (i - 1, j - 1),
            1 => i -= 1,
            _ => j -= 1,
        }
        out.push((i, j));
    }
    out.reverse();
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_delay_is_warped_away() {
        let burst = |at: usize| -> Vec<f64> { (0..40).map(|i| f64::from(u8::from(i / 5 == at))).collect() };
        let path = path(&burst(2), &burst(4));
        assert_eq!((path[0], path[path.len() - 1]), ((0, 0), (39, 39)));
        let cost: f64 = path.iter().map(|&(i, j)| (burst(2)[i] - burst(4)[j]).abs()).sum();
        assert_eq!(cost, 0.0);
        assert!(path.windows(2).all(|pair| pair[1].0 - pair[0].0 <= 1 && pair[1].1 - pair[0].1 <= 1));
    }

    #[test]
    fn equal_samples_stay() {
        let sample: Vec<f64> = (0..60).map(|i| if i % 20 < 5 { 2.0 } else { 0.0 }).collect();
        let found = chained(&[sample.clone(), sample.clone(), sample.clone()]);
        assert!(found.iter().zip(&sample).all(|(a, b)| (a - b).abs() < 1e-9));
        assert!(chained(&[]).is_empty());
    }
}
