//! Periods of single metrics, in the shape that the original passes on from FTIO.

use crate::foresee::of_metric;
use crate::http::context::{Answer, Context, Fault, Result, absent, bad};
use ftio_core::detect::Options;
use ftio_core::detect::detection::Detection;
use serde_json::{Map, Value, json};

/// Waves that are listed.
const WAVES: usize = 10;

fn model(metric: &str, found: &Detection) -> Value {
    let waves = &found.top_frequencies;
    let all = |of: fn(&ftio_core::spectral::spectrum::TopFrequency) -> f64| {
        waves.iter().map(of).collect::<Vec<f64>>()
    };
    let near =
        |frequency: f64| waves.iter().find(|wave| (wave.frequency - frequency).abs() <= 0.1 * frequency);
    let dominant: Vec<f64> = found.frequency.into_iter().collect();
    let of_dominant = |of: fn(&ftio_core::spectral::spectrum::TopFrequency) -> f64| -> Vec<f64> {
        dominant.iter().filter_map(|frequency| near(*frequency)).map(of).collect()
    };
    json!({
        "metric": metric,
        "dominant_freq": dominant,
        "conf": dominant.iter().map(|_| found.confidence).collect::<Vec<f64>>(),
        "amp": of_dominant(|wave| wave.amplitude),
        "phi": of_dominant(|wave| wave.phase),
        "t_start": found.t_start,
        "t_end": found.t_end,
        "total_bytes": found.total_bytes,
        "ranks": found.ranks.unwrap_or(0),
        "freq": found.sampling_frequency.unwrap_or(0.0),
        "top_freq": {
            "freq": all(|wave| wave.frequency),
            "conf": all(|wave| wave.power),
            "amp": all(|wave| wave.amplitude),
            "phi": all(|wave| wave.phase),
        },
        "n_samples": found.n_samples,
        "wave_names": waves.iter().map(|wave| format!("{:.4} Hz", wave.frequency)).collect::<Vec<_>>(),
        "period": found.period,
    })
}

fn options() -> Options {
    Options { top: WAVES, ..Options::default() }
}

fn one(context: &Context, options: &Options) -> Result {
    let row = context.job()?;
    let metric =
        context.get("metricid").or_else(|| context.get("metric")).ok_or_else(|| bad("metricid: missing"))?;
    let name = metric.strip_prefix("deriv__").unwrap_or(&metric);
    let series = context.service.series(row.id)?;
    if series.column(name).is_none() {
        return Err(absent("no such metric"));
    }
    let found = of_metric(&series, name, options).map_err(|text| Fault::new(422, text))?;
    Ok(Answer::json(&model(&metric, &found)))
}

/// `/trace/ftio`.
pub fn metric(context: &Context) -> Result {
    one(context, &options())
}

/// `/ftio/modified_args`: `freq`, `ts`, `te` and `tol` are understood; others are left out.
pub fn modified(context: &Context) -> Result {
    let args: Value = match context.get("args") {
        Some(text) => serde_json::from_str(&text).map_err(|error| bad(format!("args: {error}")))?,
        None => Value::Null,
    };
    let number = |name: &str| args[name].as_f64().filter(|value| value.is_finite());
    let mut options = options();
    options.frequency = number("freq").filter(|hz| *hz > 0.0 && *hz <= 1e6);
    options.from = number("ts");
    options.to = number("te");
    options.tolerance = number("tol").map_or(options.tolerance, |tol| tol.clamp(0.0, 1.0));
    one(context, &options)
}

/// `/model/ftio`: every metric that has a period to be looked for.
pub fn all(context: &Context) -> Result {
    let row = context.job()?;
    let series = context.service.series(row.id)?;
    let mut models = Map::new();
    for name in series.columns().keys().take(64) {
        if let Ok(found) = of_metric(&series, name, &options()) {
            models.insert(name.clone(), model(name, &found));
        }
    }
    Ok(Answer::json(&json!({"models": models})))
}

/// `/predict`: the last prediction of a job, or that of one of its metrics.
pub fn predict(context: &Context) -> Result {
    if context.get("metric").is_some() {
        return one(context, &options());
    }
    let row = context.job()?;
    crate::http::api::jobs::prediction_of(context, &row)
}

/// `/ftio/args`.
pub fn args(_: &Context) -> Result {
    Ok(Answer::json(&json!({
        "freq": 10.0, "ts": null, "te": null, "transformation": "dft", "engine": "no", "outlier": "z-score",
        "tol": 0.8,
        "n_freq": WAVES, "autocorrelation": false, "note": "the sampling frequency is that of the bins",
    })))
}

/// There is one function for the period; it has no settings of the site.
pub fn set_args(_: &Context) -> Result {
    Err(Fault::new(
        403,
        "periods are found in one way for all; /ftio/modified_args takes other arguments once",
    ))
}

/// `/ftio/logs`.
pub fn logs(_: &Context) -> Result {
    Ok(Answer::json(&""))
}

/// `/ftio/port`.
pub fn port(_: &Context) -> Result {
    Ok(Answer::json(&"0"))
}
