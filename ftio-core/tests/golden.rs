//! Outlier methods and peaks against scikit-learn and SciPy; `golden/make.py` says how the files were made.

use ftio_core::spectral::find_peaks::{PeakRules, find_peaks};
use ftio_core::spectral::outlier::{Dbscan, IsolationForest, LocalOutlierFactor};
use serde::Deserialize;

#[derive(Deserialize)]
struct Case {
    name: String,
    p: Vec<f64>,
    dbscan: Vec<DbscanGolden>,
    lof: LofGolden,
    isolation_forest: ForestGolden,
}

#[derive(Deserialize)]
struct DbscanGolden {
    tolerance: f64,
    min_points: usize,
    epsilon: f64,
    noise: Vec<usize>,
}

#[derive(Deserialize)]
struct LofGolden {
    factors: Vec<f64>,
    estimate: Vec<f64>,
    outliers: Vec<usize>,
}

#[derive(Deserialize)]
struct ForestGolden {
    mean: Vec<f64>,
    deviation: Vec<f64>,
}

#[derive(Deserialize)]
struct PeakCase {
    x: Vec<f64>,
    y: Vec<f64>,
    height: f64,
    distance: usize,
    prominence: f64,
    plain: Vec<usize>,
    by_height: Vec<usize>,
    by_prominence: Vec<usize>,
    by_distance: Vec<usize>,
    by_all: Vec<usize>,
}

fn cases() -> Vec<Case> {
    serde_json::from_str(include_str!("golden/outliers.json")).unwrap()
}

#[test]
fn dbscan_as_in_scikit_learn() {
    for case in cases() {
        for golden in &case.dbscan {
            let method = Dbscan { tolerance: golden.tolerance, min_points: golden.min_points };
            let name = format!("{}, {method:?}", case.name);
            assert!((method.epsilon(&case.p) - golden.epsilon).abs() < 1e-12, "{name}");
            assert_eq!(method.noise(&case.p), golden.noise, "{name}");
        }
    }
}

#[test]
fn local_outlier_factor_as_in_scikit_learn() {
    let close = |a: &[f64], b: &[f64]| {
        a.len() == b.len() && a.iter().zip(b).all(|(x, y)| (x - y).abs() <= 1e-6 * y.abs().max(1.0))
    };
    for case in cases() {
        let method = LocalOutlierFactor::default();
        assert!(close(&method.factors(&case.p), &case.lof.factors), "{}", case.name);
        let (outliers, estimate) = method.as_published(&case.p);
        assert!(close(&estimate, &case.lof.estimate), "{}", case.name);
        assert_eq!(outliers, case.lof.outliers, "{}", case.name);
    }
}

/// Random numbers differ, so scores agree as two seeds of one library do: with the standard deviation σ of
/// each score over 20 seeds, on average within 1.5 σ of their mean, each within 5 σ + 0.03, and in their
/// order (Spearman's correlation above 0.95).
#[test]
fn isolation_forest_as_in_scikit_learn() {
    for case in cases() {
        let golden = &case.isolation_forest;
        let scores = IsolationForest::default().anomaly(&case.p);
        assert_eq!(scores.len(), golden.mean.len());
        let error: f64 = scores.iter().zip(&golden.mean).map(|(a, b)| (a - b).abs()).sum();
        let spread: f64 = golden.deviation.iter().sum();
        assert!(error < 1.5 * spread, "{}: {error} of {spread}", case.name);
        for ((score, mean), deviation) in scores.iter().zip(&golden.mean).zip(&golden.deviation) {
            assert!((score - mean).abs() < 5.0 * deviation + 0.03, "{}: {score} for {mean}", case.name);
        }
        let correlation = rank_correlation(&scores, &golden.mean);
        assert!(correlation > 0.95, "{}: {correlation}", case.name);
        let largest = |values: &[f64]| (0..values.len()).max_by(|&a, &b| values[a].total_cmp(&values[b]));
        // In noise no point is the most anomalous one for all seeds.
        if case.name != "noise" {
            assert_eq!(largest(&scores), largest(&golden.mean), "{}", case.name);
        }
    }
}

/// Spearman's: the correlation of ranks.
fn rank_correlation(a: &[f64], b: &[f64]) -> f64 {
    let ranks = |values: &[f64]| {
        let mut order: Vec<usize> = (0..values.len()).collect();
        order.sort_by(|&i, &j| values[i].total_cmp(&values[j]));
        let mut ranks = vec![0.0; values.len()];
        order.iter().enumerate().for_each(|(rank, &i)| ranks[i] = rank as f64);
        ranks
    };
    let n = a.len() as f64;
    let squares: f64 = ranks(a).iter().zip(ranks(b)).map(|(x, y)| (x - y).powi(2)).sum();
    1.0 - 6.0 * squares / (n * (n * n - 1.0))
}

#[test]
fn peaks_as_in_scipy() {
    let cases: Vec<PeakCase> = serde_json::from_str(include_str!("golden/peaks.json")).unwrap();
    for case in &cases {
        let rules = PeakRules::default();
        let (height, distance, prominence) = (Some(case.height), Some(case.distance), Some(case.prominence));
        assert_eq!(find_peaks(&case.x, &rules), case.plain);
        assert_eq!(find_peaks(&case.x, &PeakRules { height, ..rules }), case.by_height);
        assert_eq!(find_peaks(&case.x, &PeakRules { prominence, ..rules }), case.by_prominence);
        assert_eq!(find_peaks(&case.y, &PeakRules { distance, ..rules }), case.by_distance);
        assert_eq!(find_peaks(&case.y, &PeakRules { height, distance, prominence }), case.by_all);
    }
}
