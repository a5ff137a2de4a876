//! Predictions of all models of an experiment that can be true together: a frequency is one over its period,
//! a share is a quotient, and no part is larger than its whole.

use std::collections::HashMap;

use rayon::prelude::*;

use crate::error::Result;
use crate::model::Model;
use crate::modeler::Models;
use crate::prediction::{Interval, Prediction};

/// Divides a callpath from the one that it is inside of.
const INSIDE: &str = "->";
/// Metrics of one callpath of which one is the reciprocal of the other.
const FREQUENCY: &str = "Frequency (Hz)";
const PERIOD: &str = "Period (s)";
/// Metrics of shares, and of what they are shares of.
const RATIO: &str = "Ratio";
const TIME: &str = "Time (s)";
const TOTAL: &str = "io_time->total_time";
/// Shares of all time in per cent, as `ioparse` spells them, and whose.
const SHARES: [(&str, &str); 11] = [
    ("io_percent-> I/O to Total", "io_time->total_time->total_app_time->total_io_time"),
    ("io_percent-> Compute to Total", "io_time->total_time->total_app_time->total_com_time"),
    ("io_percent->AW->AW to Total (B)", "io_time->write_async_b"),
    ("io_percent->AW->AW to Total (T)", "io_time->write_async_t"),
    ("io_percent->AW->AW to Total (D)", "io_time->delta_t_aw_lost"),
    ("io_percent->AR->AR to Total (B)", "io_time->read_async_b"),
    ("io_percent->AR->AR to Total (T)", "io_time->read_async_t"),
    ("io_percent->AR->AR to Total (D)", "io_time->delta_t_ar_lost"),
    ("io_percent->SW->SW to Total", "io_time->total_time->total_app_time->total_io_time->write_sync"),
    ("io_percent->SR-> SR to Total", "io_time->total_time->total_app_time->total_io_time->read_sync"),
    ("io_percent->overhead-> lib overhead to Total", "io_time->total_time->lib_overhead_time"),
];
/// Last names of callpaths of which the first is never more than the second.
const AT_MOST: [(&str, &str); 6] = [
    ("max_bytes_per_rank", "total_bytes"),
    ("max_bytes_per_phase", "max_bytes_per_rank"),
    ("max_io_ops_per_rank", "total_io_ops"),
    ("max_io_ops_in_phase", "max_io_ops_per_rank"),
    ("max_io_phases_per_rank", "total_io_phases"),
    ("total_io_phases", "total_io_ops"),
];

/// What to expect of every model at every point: a list for each model, in their order.
///
/// ```
/// let text: String = [1, 2, 4, 8, 16]
///     .map(|p| {
///         let line = |metric: &str, value: f64| {
///             format!("{{\"params\":{{\"p\":{p}}},\"metric\":\"{metric}\",\"value\":{value}}}\n")
///         };
///         line("Period (s)", f64::from(p)) + &line("Frequency (Hz)", 1.0 / f64::from(p))
///     })
///     .concat();
/// let experiment = perf_model::input::parse(&text, "example", None)?;
/// let models = perf_model::model(&experiment, &perf_model::Options::default())?;
/// let predicted = perf_model::predict_all(&models, &[vec![64.0]], 0.95)?;
/// assert_eq!(predicted[1][0].value, 1.0 / predicted[0][0].value);
/// # Ok::<(), perf_model::Error>(())
/// ```
///
/// # Errors
/// A point does not have one value per parameter.
pub fn predict_all(models: &Models, points: &[Vec<f64>], level: f64) -> Result<Vec<Vec<Prediction>>> {
    let of = |model: &Model| {
        let predictor = model.predictor();
        points.iter().map(|point| predictor.predict(point, level)).collect::<Result<Vec<_>>>()
    };
    let mut all = models.models.par_iter().map(of).collect::<Result<Vec<_>>>()?;
    let every = models.models.iter().enumerate();
    let places: HashMap<(&str, &str), usize> =
        every.map(|(place, model)| ((model.callpath.as_str(), model.metric.as_str()), place)).collect();
    let find = |callpath: &str, metric: &str| places.get(&(callpath, metric)).copied();

    // Wholes before their parts.
    let mut order: Vec<usize> = (0..all.len()).collect();
    order.sort_by_key(|place| depth(&models.models[*place]));
    for part in order {
        let model = &models.models[part];
        for whole in wholes(model, &find) {
            if part != whole && never_more(model, &models.models[whole]) {
                let (capped, by) = (all[part].clone(), &all[whole]);
                all[part] = capped.iter().zip(by).map(|(one, whole)| at_most(one, whole)).collect();
            }
        }
    }
    for (place, model) in models.models.iter().enumerate() {
        if model.metric == FREQUENCY
            && let Some(period) = find(&model.callpath, PERIOD)
        {
            all[place] = all[place].iter().zip(&all[period]).map(|(own, of)| reciprocal(own, of)).collect();
        }
        if model.metric == RATIO
            && let Some((_, part)) = SHARES.iter().find(|(name, _)| *name == model.callpath)
            && let (Some(part), Some(whole)) = (find(part, TIME), find(TOTAL, TIME))
        {
            let both = all[part].iter().zip(&all[whole]);
            all[place] = all[place].iter().zip(both).map(|(own, (a, b))| quotient(own, a, b)).collect();
        }
    }
    Ok(all)
}

/// How deep a callpath is; what is at most something else comes behind that.
fn depth(model: &Model) -> (usize, usize) {
    let last = model.callpath.rsplit(INSIDE).next().unwrap_or_default();
    let mut steps = 0;
    let mut name = last;
    while let Some((_, of)) = AT_MOST.iter().find(|(part, _)| *part == name) {
        steps += 1;
        name = of;
    }
    (model.callpath.matches(INSIDE).count(), steps)
}

/// The nearest model that this one is inside of, and the one that it is never more than.
fn wholes(model: &Model, find: &impl Fn(&str, &str) -> Option<usize>) -> Vec<usize> {
    let mut found = Vec::new();
    let mut callpath = model.callpath.as_str();
    while let Some((above, _)) = callpath.rsplit_once(INSIDE) {
        if let Some(whole) = find(above, &model.metric) {
            found.push(whole);
            break;
        }
        callpath = above;
    }
    if let Some((above, last)) = model.callpath.rsplit_once(INSIDE)
        && let Some((_, of)) = AT_MOST.iter().find(|(part, _)| *part == last)
    {
        found.extend(find(&format!("{above}{INSIDE}{of}"), &model.metric));
    }
    found
}

/// Whether a part was nowhere measured as more than the whole.
fn never_more(part: &Model, whole: &Model) -> bool {
    /// Means of repetitions are rounded.
    const ROUNDING: f64 = 1.0 + 1e-9;
    let same = |point: &[f64]| whole.measured().find(|(other, _)| *other == point).map(|(_, value)| value);
    part.never_negative()
        && part.measured().all(|(point, value)| same(point).is_none_or(|whole| value <= whole * ROUNDING))
}

fn at_most(part: &Prediction, whole: &Prediction) -> Prediction {
    let value = part.value.min(whole.value);
    let most = whole.interval.map_or(f64::INFINITY, |interval| interval.high).max(value);
    let cut = |one: Interval| Interval { low: one.low.min(value), high: one.high.min(most).max(value) };
    Prediction { value, interval: part.interval.map(cut), ..part.clone() }
}

fn reciprocal(own: &Prediction, of: &Prediction) -> Prediction {
    if of.value.is_nan() || of.value <= 0.0 {
        return own.clone();
    }
    let turned = |one: Interval| Interval { low: 1.0 / one.high, high: 1.0 / one.low };
    let interval = of.interval.filter(|interval| interval.low > 0.0).map(turned).or(own.interval);
    contained(Prediction { value: 1.0 / of.value, interval, ..own.clone() })
}

/// A share in per cent; the interval is as wide as those of part and whole together.
fn quotient(own: &Prediction, part: &Prediction, whole: &Prediction) -> Prediction {
    const ALL: f64 = 100.0;
    if !(part.value > 0.0 && whole.value > 0.0) {
        return contained(Prediction { value: own.value.min(ALL), ..own.clone() });
    }
    let value = (ALL * part.value / whole.value).min(ALL);
    let interval = part.interval.zip(whole.interval).map(|(a, b)| {
        let down = (part.value / a.low).ln().hypot((b.high / whole.value).ln());
        let up = (a.high / part.value).ln().hypot((whole.value / b.low).ln());
        Interval { low: value * (-down).exp(), high: (value * up.exp()).min(ALL) }
    });
    contained(Prediction { value, interval, ..own.clone() })
}

/// With an interval that contains the value.
fn contained(mut prediction: Prediction) -> Prediction {
    let value = prediction.value;
    let around = |one: Interval| Interval { low: one.low.min(value), high: one.high.max(value) };
    prediction.interval = prediction.interval.map(around);
    prediction.negative &= value < 0.0;
    prediction
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Options, input, model};

    /// Predictions at 1024 of series at 1 to 16.
    fn predicted(series: &[(&str, &str, [f64; 5])]) -> Vec<Prediction> {
        let mut text = String::new();
        for (callpath, metric, values) in series {
            for (p, value) in [1, 2, 4, 8, 16].iter().zip(values) {
                text += &format!(
                    "{{\"params\":{{\"p\":{p}}},\"callpath\":\"{callpath}\",\"metric\":\"{metric}\",\
                     \"value\":{value}}}\n"
                );
            }
        }
        let models = model(&input::parse(&text, "test", None).unwrap(), &Options::default()).unwrap();
        let all = predict_all(&models, &[vec![1024.0]], 0.95).unwrap();
        all.into_iter().flatten().collect()
    }

    #[test]
    fn a_part_is_not_larger_than_its_whole() {
        let found = predicted(&[
            ("main", "time", [10.0, 11.0, 11.5, 11.8, 12.1]),
            ("main->write", "time", [1.0, 2.1, 3.9, 8.2, 12.0]),
        ]);
        assert!(found[1].value <= found[0].value, "{found:?}");
        assert!(found[1].interval.unwrap().high <= found[0].interval.unwrap().high, "{found:?}");
        // Where it was measured as more than that, the one does not contain the other.
        let found = predicted(&[
            ("main", "time", [1.0, 1.1, 1.0, 1.1, 1.0]),
            ("main->write", "time", [1.0, 2.0, 4.0, 8.0, 16.0]),
        ]);
        assert!(found[1].value > 100.0 * found[0].value, "{found:?}");
    }

    #[test]
    fn the_most_of_a_rank_is_not_more_than_all() {
        let found = predicted(&[
            ("w->max_bytes_per_rank", "Size (B)", [4.0, 6.1, 10.2, 17.9, 34.3]),
            ("w->total_bytes", "Size (B)", [4.0, 8.2, 15.9, 24.0, 34.4]),
        ]);
        assert!(found[0].value <= found[1].value, "{found:?}");
    }

    #[test]
    fn shares_are_quotients_of_at_most_all() {
        let found = predicted(&[
            (TOTAL, TIME, [10.0, 10.4, 10.9, 12.3, 15.0]),
            (SHARES[9].1, TIME, [1.0, 1.5, 2.4, 4.1, 7.5]),
            (SHARES[9].0, RATIO, [10.0, 14.4, 22.0, 33.3, 50.0]),
        ]);
        let expected = 100.0 * found[1].value / found[0].value;
        assert!(expected <= 100.0 && (found[2].value - expected).abs() < 1e-9, "{found:?}");
        let interval = found[2].interval.unwrap();
        assert!(interval.low > 0.0 && interval.high <= 100.0, "{interval:?}");
    }
}
