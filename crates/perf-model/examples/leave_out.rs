//! Extrapolation held against measurements: the largest scales of each file are left out, and asked for.
//!
//! Arguments: files of measurements of one parameter. Prints how many of the values that were left out lie in
//! the 95 % interval of the next run, and the median relative error.

use perf_model::{Experiment, Measure, Options, input, model};

/// Fewest scales that are kept.
const FEWEST: usize = 5;

fn main() {
    let (mut inside, mut asked, mut errors) = (0u32, 0u32, Vec::new());
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
        let mut known: Experiment = experiment.clone();
        for set in &mut known.sets {
            set.measurements.retain(|one| experiment.coordinates[one.coordinate][0] <= largest);
        }
        known.sets.retain(|set| set.measurements.len() >= FEWEST);
        let Ok(models) = model(&known, &Options::default()) else { continue };
        for found in &models.models {
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
                errors.push(((prediction.value - value) / value).abs());
            }
        }
    }
    errors.sort_by(f64::total_cmp);
    let median = errors.get(errors.len() / 2).copied().unwrap_or(f64::NAN);
    let share = 100.0 * f64::from(inside) / f64::from(asked.max(1));
    println!("{inside} of {asked} inside ({share:.1} %), median error {:.1} %", 100.0 * median);
}
