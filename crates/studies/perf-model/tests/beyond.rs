//! Beyond the measured scales: measured series of which the largest scales are left out and asked for.
//!
//! `reference/series.jsonl` has series of two sources: jobs of Python's library, measured by
//! `scripts/bench.support/measured_series.py`, and a seeded draw from hpc-uk/archer-benchmarks (commit
//! f644ea4, GPL-3.0). A point is a scale and the mean of its runs. `forecasts` is what the prototype of the
//! method, in numpy, says from the smallest `known` scales.

use perf_model::{Experiment, Model, Modeler, Options, Prediction, input, model, predict_all};
use proptest::prelude::*;
use serde::Deserialize;

#[derive(Debug, Deserialize)]
struct Series {
    source: String,
    metric: String,
    points: Vec<[f64; 2]>,
    forecasts: Vec<Golden>,
}

#[derive(Debug, Deserialize)]
struct Golden {
    known: usize,
    at: f64,
    value: f64,
    low: f64,
    high: f64,
}

fn series() -> Vec<Series> {
    let parse = |line: &str| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
    include_str!("reference/series.jsonl").lines().map(parse).collect()
}

fn experiment(metric: &str, points: &[[f64; 2]]) -> Experiment {
    let line = |[p, value]: &[f64; 2]| {
        serde_json::json!({"params": {"p": p}, "metric": metric, "value": value}).to_string() + "\n"
    };
    input::parse(&points.iter().map(line).collect::<String>(), "test", None).unwrap()
}

fn modelled(metric: &str, points: &[[f64; 2]], options: &Options) -> Model {
    model(&experiment(metric, points), options).unwrap().models.remove(0)
}

fn close(found: f64, expected: f64) -> bool {
    (found / expected - 1.0).abs() < 1e-6
}

#[test]
fn as_the_prototype_has_it() {
    let mut compared = 0;
    for one in series() {
        for golden in &one.forecasts {
            let model = modelled(&one.metric, &one.points[..golden.known], &Options::default());
            let found = model.predict(&[golden.at], 0.95).unwrap();
            let interval = found.interval.unwrap();
            let same = close(found.value, golden.value)
                && close(interval.low, golden.low)
                && close(interval.high, golden.high);
            assert!(same, "{one:?}\n{golden:?}\n{found:?}");
            compared += 1;
        }
    }
    assert!(compared > 100, "{compared}");
}

#[test]
fn exact_series_stay_exact() {
    let points = [1.0, 2.0, 4.0, 8.0].map(|p| [p, 3_670_016.0 * p]);
    let found = modelled("Size (B)", &points, &Options::default()).predict(&[64.0], 0.95).unwrap();
    assert_eq!(found.value, 234_881_024.0);
    let points = [2.0, 4.0, 8.0, 16.0, 32.0].map(|p| [p, 2.0 + 500.0 / p]);
    let found = modelled("time", &points, &Options::default()).predict(&[256.0], 0.95).unwrap();
    assert!((found.value - 3.953).abs() < 1e-3, "{found:?}");
}

/// |ln(predicted / measured)|; what is not above 0 counts as a factor of 100.
fn error(predicted: f64, measured: f64) -> f64 {
    let worst = 100f64.ln();
    if predicted > 0.0 { (predicted / measured).ln().abs().min(worst) } else { worst }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn quantile(values: &mut [f64], share: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    values[(share * (values.len() - 1) as f64).round() as usize]
}

/// A power law through the last three points, which goes on from the last: the least that a modeller is for.
fn last_three(known: &[[f64; 2]], at: f64) -> f64 {
    let last = &known[known.len() - 3..];
    let (x, z): (Vec<f64>, Vec<f64>) = last.iter().map(|[p, value]| (p.ln(), value.ln())).unzip();
    let (middle, level) = (mean(&x), mean(&z));
    let product: f64 = x.iter().zip(&z).map(|(x, z)| (x - middle) * (z - level)).sum();
    let square: f64 = x.iter().map(|x| (x - middle).powi(2)).sum();
    (z[2] + product / square * (at.ln() - x[2])).exp()
}

#[test]
fn no_modeller_loses_to_the_last_three_points() {
    let all = series();
    for modeler in [Modeler::Default, Modeler::Refining, Modeler::Segmented] {
        let options = Options { modeler, ..Options::default() };
        for scales in [4, 5, 6] {
            let (mut ours, mut line, mut inside) = (Vec::new(), Vec::new(), Vec::new());
            for one in all.iter().filter(|one| one.points.len() > scales) {
                let (known, beyond) = one.points.split_at(scales);
                let largest = known[scales - 1][0];
                let found = modelled(&one.metric, known, &options);
                let predictor = found.predictor();
                for [p, value] in beyond.iter().filter(|[p, _]| (1.45..16.5).contains(&(p / largest))) {
                    let prediction = predictor.predict(&[*p], 0.95).unwrap();
                    let interval = prediction.interval.unwrap();
                    ours.push(error(prediction.value, *value));
                    line.push(error(last_three(known, *p), *value));
                    inside.push(f64::from(interval.low <= *value && *value <= interval.high));
                    possible(&one.source, &prediction);
                }
            }
            let told = format!("{modeler:?}, {scales} scales, {} values", ours.len());
            println!(
                "{told}: mean {:.3} (line {:.3}), median {:.3} ({:.3}), 90 % {:.2} ({:.2}), covers {:.3}",
                mean(&ours),
                mean(&line),
                quantile(&mut ours, 0.5),
                quantile(&mut line, 0.5),
                quantile(&mut ours, 0.9),
                quantile(&mut line, 0.9),
                mean(&inside)
            );
            assert!(mean(&ours) < mean(&line), "{told}: {} {}", mean(&ours), mean(&line));
            let medians = (quantile(&mut ours, 0.5), quantile(&mut line, 0.5));
            assert!(medians.0 < medians.1, "{told}: {medians:?}");
            assert!(mean(&inside) >= 0.93, "{told}: {}", mean(&inside));
        }
    }
}

/// Above zero, within an interval that does not begin at it.
fn possible(name: &str, prediction: &Prediction) {
    let interval = prediction.interval.unwrap();
    let fine = interval.low > 0.0 && interval.low <= prediction.value && prediction.value <= interval.high;
    assert!(fine && interval.high.is_finite() && !prediction.negative, "{name}: {prediction:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// Whatever was measured: what is not negative is foretold as not negative, inside of its interval, by a
    /// formula without negative coefficients; above zero if all of it was.
    #[test]
    fn no_answer_is_impossible(
        values in prop::collection::vec((0u8..8, -6.0..6.0f64), 1..9),
        smallest in 1.0..5.0f64,
        step in 1.1..4.0f64,
        far in 1.0001..16.0f64,
        rate: bool,
    ) {
        // One in eight is 0.
        let value = |(kind, log): &(u8, f64)| if *kind == 0 { 0.0 } else { log.exp() };
        let points: Vec<[f64; 2]> = values
            .iter()
            .enumerate()
            .map(|(k, drawn)| [smallest * step.powi(k as i32), value(drawn)])
            .collect();
        let metric = if rate { "Bandwidth (B/s)" } else { "Time (s)" };
        let all_positive = points.iter().all(|[_, value]| *value > 0.0);
        let largest = points[points.len() - 1][0];
        for modeler in [Modeler::Default, Modeler::Refining, Modeler::Segmented] {
            let found = modelled(metric, &points, &Options { modeler, ..Options::default() });
            let formula = found.function.leading();
            prop_assert!(formula.constant >= 0.0, "{formula:?}");
            prop_assert!(formula.terms.iter().all(|term| term.coefficient >= 0.0), "{formula:?}");
            for at in [smallest, smallest / 3.0, (smallest * largest).sqrt(), largest, far * largest] {
                let told = found.predict(&[at], 0.95).unwrap();
                prop_assert!(told.value >= 0.0 && told.value.is_finite() && !told.negative, "{told:?}");
                if let Some(interval) = told.interval {
                    prop_assert!(interval.low <= told.value && told.value <= interval.high, "{told:?}");
                    prop_assert!(interval.low >= 0.0, "{told:?}");
                }
                if all_positive && points.len() >= 3 && at > largest {
                    possible("drawn", &told);
                }
            }
        }
    }

    /// Parts, wholes, frequencies and periods of one experiment.
    #[test]
    fn what_belongs_together_fits_together(
        drawn in prop::collection::vec((-3.0..5.0f64, 0.01..1.0f64), 3..8),
        far in 1.1..1000.0f64,
    ) {
        let mut lines = String::new();
        let mut line = |p: f64, callpath: &str, metric: &str, value: f64| {
            lines += &serde_json::json!(
                {"params": {"p": p}, "callpath": callpath, "metric": metric, "value": value}
            ).to_string();
            lines.push('\n');
        };
        for (k, (log, share)) in drawn.iter().enumerate() {
            let (p, whole) = (2f64.powi(k as i32), log.exp());
            line(p, "main->write", "Time (s)", share * whole);
            line(p, "main", "Time (s)", whole);
            line(p, "main", "Period (s)", whole);
            line(p, "main", "Frequency (Hz)", 1.0 / whole);
        }
        let models = model(&input::parse(&lines, "test", None).unwrap(), &Options::default()).unwrap();
        let at = far * 2f64.powi(drawn.len() as i32 - 1);
        let told: Vec<Prediction> =
            predict_all(&models, &[vec![at]], 0.95).unwrap().into_iter().flatten().collect();
        prop_assert!(told[0].value <= told[1].value, "{told:?}");
        prop_assert!((told[2].value * told[3].value - 1.0).abs() < 1e-12, "{told:?}");
        for one in &told {
            possible("drawn", one);
        }
    }
}
