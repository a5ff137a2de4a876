//! Extrapolation held against measurements: the largest scales of each file are left out, and asked for.
//!
//! Arguments: files of measurements of one parameter. Prints how many of the values that were left out lie in
//! the 95 % interval of the next run, the median relative width of that and the median relative error, and
//! how often our value is nearer than that of Extra-P (`--compat`), and how often farther.

use perf_model::{Experiment, Measure, Measurement, Options, input, model};
use std::fmt::Write;

/// Fewest scales that are kept.
const FEWEST: usize = 5;

fn main() {
    let (mut inside, mut asked, mut nearer, mut farther) = (0u32, 0u32, 0u32, 0u32);
    let (mut widths, mut errors, mut others) = (Vec::new(), Vec::new(), Vec::new());
    for path in std::env::args().skip(1) {
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        let Ok(experiment) = input::parse(&text, &path, None) else { continue };
        if experiment.parameters.len() != 1 {
            continue;
        }
        let mut scales: Vec<f64> = experiment.coordinates.iter().map(|point| point[0]).collect();
        scales.sort_by(f64::total_cmp);
        scales.dedup();
        let kept = (scales.len() * 2 / 3).max(FEWEST);
        if kept >= scales.len() {
            continue;
        }
        let largest = scales[kept - 1];
        let text: String = lines_up_to(&experiment, largest);
        let Ok(known) = input::parse(&text, &path, None) else { continue };
        let Ok(models) = model(&known, &Options::default()) else { continue };
        let Ok(theirs) = model(&known, &Options::compat()) else { continue };
        for (found, other) in models.models.iter().zip(&theirs.models) {
            let of = |set: &&perf_model::MeasurementSet| {
                set.callpath == found.callpath && set.metric == found.metric
            };
            let Some(set) = experiment.sets.iter().find(of) else { continue };
            if set.measurements.iter().all(|one| Measure::Mean.of(&one.values) == 0.0) {
                continue;
            }
            for one in &set.measurements {
                let point = &experiment.coordinates[one.coordinate];
                if point[0] <= largest {
                    continue;
                }
                let Ok(prediction) = found.predict(point, 0.95) else { continue };
                let value = Measure::Mean.of(&one.values);
                let Some(interval) = prediction.interval else { continue };
                let slack = 1e-9 * value.abs();
                asked += 1;
                inside += u32::from(interval.low - slack <= value && value <= interval.high + slack);
                let error = (prediction.value / value - 1.0).abs();
                let another = (other.evaluate(point) / value - 1.0).abs();
                nearer += u32::from(error < 0.99 * another);
                farther += u32::from(error > 1.01 * another);
                widths.push((interval.high - interval.low) / value.abs());
                errors.push(error);
                others.push(another);
            }
        }
    }
    let share = 100.0 * f64::from(inside) / f64::from(asked.max(1));
    println!(
        "{inside} of {asked} inside ({share:.1} %), median width {:.0} %, median error {:.1} % \
         (Extra-P's {:.1} %), {nearer} nearer, {farther} farther",
        100.0 * middle(&mut widths),
        100.0 * middle(&mut errors),
        100.0 * middle(&mut others),
    );
}

/// The measurements up to a scale, of series that have enough of them.
fn lines_up_to(experiment: &Experiment, largest: f64) -> String {
    let mut lines = String::new();
    for set in &experiment.sets {
        let scale = |one: &&Measurement| experiment.coordinates[one.coordinate][0] <= largest;
        let kept: Vec<&Measurement> = set.measurements.iter().filter(scale).collect();
        let all = kept.len() == experiment.coordinates.iter().filter(|point| point[0] <= largest).count();
        for one in kept.iter().filter(|_| all && kept.len() >= FEWEST) {
            let point = experiment.coordinates[one.coordinate][0];
            let (path, metric, values) = (&set.callpath, &set.metric, &one.values);
            let of = format!("\"callpath\":{path:?},\"metric\":{metric:?},\"value\":{values:?}");
            let _ = writeln!(lines, "{{\"params\":{{\"p\":{point}}},{of}}}");
        }
    }
    lines
}

fn middle(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}
