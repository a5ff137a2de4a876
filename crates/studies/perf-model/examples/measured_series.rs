//! Forecasts held against measured series: the smallest scales are known, the larger ones are asked for.
//!
//! Arguments: a file of series, {"series":[{"metric","source","points":[[scale,[value of each run]],…]},…]},
//! and how many scales are known. Prints median, 90 % quantile and mean (each source weighing the same) of
//! |ln(predicted / measured)|, of ours and of a power law through the last three points, how many values are
//! impossible, how many lie in the interval of 95 %, and what a value costs.

use perf_model::{Model, Options, input, model};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::Instant;

/// What an impossible value counts as: a factor of 100.
const WORST: f64 = 4.605_170_185_988_09;
/// Scales that are asked for, in units of the largest known one.
const ASKED: std::ops::Range<f64> = 1.45..16.5;

/// Errors of one method, by source.
#[derive(Default)]
struct Errors {
    by_source: BTreeMap<String, Vec<f64>>,
    impossible: usize,
}

impl Errors {
    fn add(&mut self, source: &str, predicted: f64, measured: f64) {
        let error = if predicted > 0.0 { (predicted / measured).ln().abs().min(WORST) } else { WORST };
        self.impossible += usize::from(predicted <= 0.0);
        self.by_source.entry(source.to_owned()).or_default().push(error);
    }

    fn print(&self, name: &str) {
        let mut all: Vec<f64> = self.by_source.values().flatten().copied().collect();
        all.sort_by(f64::total_cmp);
        let at = |share: f64| all[(share * (all.len() - 1) as f64).round() as usize];
        let mean = |values: &Vec<f64>| values.iter().sum::<f64>() / values.len() as f64;
        let by_source = self.by_source.values().map(mean).sum::<f64>() / self.by_source.len() as f64;
        println!(
            "{name:<24} median {:.3}, 90 % {:.2}, mean by source {by_source:.3}, impossible {} of {}",
            at(0.5),
            at(0.9),
            self.impossible,
            all.len()
        );
    }
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().expect("a file of series");
    let known: usize = arguments.next().map_or(5, |text| text.parse().expect("a number of scales"));
    let text = std::fs::read_to_string(&path).expect("a file that can be read");
    let all: Value = serde_json::from_str(&text).expect("JSON");
    let [mut ours, mut formula, mut compat, mut line] = std::array::from_fn(|_| Errors::default());
    let (mut inside, mut asked, mut seconds) = (0usize, 0usize, 0.0);
    for one in all["series"].as_array().expect("series") {
        let text = |name: &str| one[name].as_str().unwrap_or_default().to_owned();
        let (source, metric) = (text("source"), text("metric"));
        let points = one["points"].as_array().expect("points");
        if points.len() <= known {
            continue;
        }
        let lines: String = points[..known]
            .iter()
            .map(|point| {
                json!({"params": {"p": point[0]}, "metric": metric, "value": point[1]}).to_string() + "\n"
            })
            .collect();
        let experiment = input::parse(&lines, &path, None).expect("measurements");
        let modelled = |options: &Options| model(&experiment, options).expect("models").models.remove(0);
        let (found, other) = (modelled(&Options::default()), modelled(&Options::compat()));
        let largest = found.ranges()[0].1;
        let values: Vec<[f64; 2]> = points[known..].iter().map(mean_of).collect();
        let values: Vec<[f64; 2]> =
            values.into_iter().filter(|[p, _]| ASKED.contains(&(p / largest))).collect();
        let start = Instant::now();
        let predictor = found.predictor();
        let told: Vec<_> =
            values.iter().map(|[p, _]| predictor.predict(&[*p], 0.95).expect("one parameter")).collect();
        seconds += start.elapsed().as_secs_f64();
        for (told, [p, value]) in told.iter().zip(&values) {
            ours.add(&source, told.value, *value);
            formula.add(&source, told.formula_value, *value);
            compat.add(&source, other.evaluate(&[*p]), *value);
            line.add(&source, last_three(&found, *p), *value);
            asked += 1;
            inside += usize::from(told.interval.is_some_and(|one| one.low <= *value && *value <= one.high));
        }
    }
    ours.print("ftio model");
    formula.print("its formula alone");
    compat.print("--compat");
    line.print("power law, last three");
    println!("in the interval {:.1} %", 100.0 * inside as f64 / asked as f64);
    println!("{:.4} ms a value, preparation included", 1e3 * seconds / asked as f64);
}

/// The scale and the mean of its runs.
fn mean_of(point: &Value) -> [f64; 2] {
    let runs: Vec<f64> = point[1].as_array().into_iter().flatten().filter_map(Value::as_f64).collect();
    [point[0].as_f64().expect("a scale"), runs.iter().sum::<f64>() / runs.len() as f64]
}

fn last_three(model: &Model, at: f64) -> f64 {
    let mut points: Vec<(f64, f64)> =
        model.measured().map(|(point, value)| (point[0].ln(), value.ln())).collect();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    let last = &points[points.len() - 3..];
    let mean = |of: fn(&(f64, f64)) -> f64| last.iter().map(of).sum::<f64>() / 3.0;
    let (x, z) = (mean(|point| point.0), mean(|point| point.1));
    let product: f64 = last.iter().map(|point| (point.0 - x) * (point.1 - z)).sum();
    let square: f64 = last.iter().map(|point| (point.0 - x).powi(2)).sum();
    (last[2].1 + product / square * (at.ln() - last[2].0)).exp()
}
