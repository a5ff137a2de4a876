//! Samples unlike the others: the local outlier factor over run time and volume (paper, 5.1).

use crate::settings::Settings;
use crate::statistics::{median, median_deviation};

/// Keeps densities finite where points coincide (scikit-learn has the same).
const TINY: f64 = 1e-10;

/// The local outlier factor of each point (Breunig et al., SIGMOD 2000) with that many neighbours.
///
/// The *reachability* of a from b is their distance, but at least the distance from b to its last
/// neighbour. The density of a point is the inverse of its mean reachability from its neighbours; its
/// factor is the mean density of these neighbours divided by its own: about 1 inside a cluster.
pub fn local_outlier_factors(points: &[[f64; 2]], neighbours: usize) -> Vec<f64> {
    let neighbours = neighbours.min(points.len().saturating_sub(1));
    if neighbours == 0 {
        return vec![1.0; points.len()];
    }
    let distance = |a: usize, b: usize| {
        let [dx, dy] = [points[a][0] - points[b][0], points[a][1] - points[b][1]];
        dx.hypot(dy)
    };
    let nearest: Vec<Vec<(f64, usize)>> = (0..points.len())
        .map(|a| {
            let others = (0..points.len()).filter(|&b| b != a);
            let mut all: Vec<(f64, usize)> = others.map(|b| (distance(a, b), b)).collect();
            all.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            all.truncate(neighbours);
            all
        })
        .collect();
    let reach = |&(distance, b): &(f64, usize)| distance.max(nearest[b][neighbours - 1].0);
    let density: Vec<f64> = nearest
        .iter()
        .map(|near| 1.0 / (near.iter().map(reach).sum::<f64>() / neighbours as f64 + TINY))
        .collect();
    let factor = |(a, near): (usize, &Vec<(f64, usize)>)| {
        near.iter().map(|&(_, b)| density[b]).sum::<f64>() / neighbours as f64 / density[a]
    };
    nearest.iter().enumerate().map(factor).collect()
}

/// Which samples to drop, given run time and volume of each, with their factors: the most extreme first.
pub fn outliers(samples: &[[f64; 2]], settings: &Settings) -> Vec<(usize, f64)> {
    if (samples.len() as f64) < settings.least_runs {
        return Vec::new();
    }
    let scaled = scale(samples);
    let neighbours = samples.len().div_ceil(2).clamp(2, 10);
    let factors = local_outlier_factors(&scaled, neighbours);
    let mut found: Vec<(usize, f64)> =
        factors.into_iter().enumerate().filter(|(_, factor)| *factor > settings.outlier_factor).collect();
    found.sort_by(|a, b| b.1.total_cmp(&a.1));
    let most = (settings.outlier_share * samples.len() as f64) as usize;
    let spare = samples.len().saturating_sub(settings.least_left as usize);
    found.truncate(most.min(spare));
    found
}

/// Both coordinates less their median, in units of their median deviation. A coordinate that hardly varies
/// is not blown up: the unit is at least a hundredth of the median.
fn scale(samples: &[[f64; 2]]) -> Vec<[f64; 2]> {
    let axis = |axis: usize| {
        let values: Vec<f64> = samples.iter().map(|sample| sample[axis]).collect();
        let middle = median(&values);
        let unit = median_deviation(&values, middle).max(0.01 * middle.abs()).max(f64::MIN_POSITIVE);
        move |sample: &[f64; 2]| (sample[axis] - middle) / unit
    };
    let (x, y) = (axis(0), axis(1));
    samples.iter().map(|sample| [x(sample), y(sample)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ten() -> Vec<[f64; 2]> {
        (0..10).map(|i| [1500.0 + 3.0 * f64::from(i), 700.0 + f64::from(i * i % 7)]).collect()
    }

    #[test]
    fn a_sample_unlike_the_others_is_named() {
        let mut samples = ten();
        assert!(outliers(&samples, &Settings::default()).is_empty());
        samples[4] = [2600.0, 700.0];
        let found = outliers(&samples, &Settings::default());
        assert_eq!(found.iter().map(|one| one.0).collect::<Vec<_>>(), [4]);
        assert!(found[0].1 > 10.0);
    }

    #[test]
    fn never_too_many() {
        let mut samples = ten();
        for (i, sample) in samples.iter_mut().enumerate().take(5) {
            *sample = [3000.0 + 900.0 * i as f64, 100.0];
        }
        assert!(outliers(&samples, &Settings::default()).len() <= 3);
        assert!(outliers(&samples[..4], &Settings::default()).is_empty());
        let settings = Settings { outlier_share: 1.0, outlier_factor: 1.0, ..Settings::default() };
        assert!(samples.len() - outliers(&samples, &settings).len() >= 4);
    }

    #[test]
    fn equal_samples_are_no_outliers() {
        assert!(outliers(&[[100.0, 5.0]; 8], &Settings::default()).is_empty());
    }
}
