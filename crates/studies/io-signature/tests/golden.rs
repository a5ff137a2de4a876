//! Smoothing and outliers beside PyWavelets and scikit-learn.

use io_signature::outliers::local_outlier_factors;
use io_signature::wavelet::smooth;
use serde_json::Value;

fn cases(text: &str) -> Vec<Value> {
    let file: Value = serde_json::from_str(text).expect("JSON");
    file["cases"].as_array().expect("cases").clone()
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().expect("a list").iter().map(|number| number.as_f64().expect("a number")).collect()
}

#[test]
fn the_wavelet_is_that_of_pywavelets() {
    let cases = cases(include_str!("golden/wavelet.json"));
    assert_eq!(cases.len(), 9);
    for case in cases {
        let found = smooth(&numbers(&case["signal"]), case["level"].as_u64().unwrap() as usize);
        let expected = numbers(&case["smooth"]);
        assert_eq!(found.len(), expected.len());
        for (found, expected) in found.iter().zip(&expected) {
            assert!((found - expected).abs() < 1e-10, "{found} instead of {expected}");
        }
    }
}

#[test]
fn the_outlier_factor_is_that_of_scikit_learn() {
    for case in cases(include_str!("golden/outliers.json")) {
        let points: Vec<[f64; 2]> = case["points"]
            .as_array()
            .unwrap()
            .iter()
            .map(|point| numbers(point).try_into().unwrap())
            .collect();
        let found = local_outlier_factors(&points, case["neighbours"].as_u64().unwrap() as usize);
        for (found, expected) in found.iter().zip(numbers(&case["factors"])) {
            assert!((found / expected - 1.0).abs() < 1e-9, "{found} instead of {expected}");
        }
    }
}
