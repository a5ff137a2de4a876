//! Applications: runs, measured values, models, what to expect.

use crate::http::context::{Answer, Context, Fault, Result, absent, bad};
use crate::store::JobFilter;
use serde_json::{Map, json};

const MAX_LISTED: usize = 500;
/// Points of the curve of a model.
const CURVE_POINTS: usize = 60;

/// `/api/v1/apps`.
pub fn list(context: &Context) -> Result {
    let limit = context.number("limit")?.unwrap_or(200.0).clamp(1.0, MAX_LISTED as f64) as usize;
    Ok(Answer::json(&json!({"apps": context.service.reader().apps(&context.viewer(), limit)?})))
}

/// `/api/v1/apps/profiles`.
pub fn profiles(context: &Context) -> Result {
    let filter = JobFilter { app: Some(context.need("app")?), limit: MAX_LISTED, ..JobFilter::default() };
    let rows = context.service.reader().jobs(&filter, &context.viewer())?;
    let rows: Vec<_> = rows.iter().map(super::jobs::shown).collect();
    Ok(Answer::json(&json!({"jobs": rows})))
}

/// `/api/v1/apps/categories`: how many of its latest jobs are in which.
pub fn categories(context: &Context) -> Result {
    let app = context.need("app")?;
    let counts = context.service.reader().app_categories(&app, &context.viewer(), MAX_LISTED)?;
    let counts: Vec<_> =
        counts.into_iter().map(|(category, jobs)| json!({"category": category, "jobs": jobs})).collect();
    Ok(Answer::json(&json!({"app": app, "categories": counts})))
}

/// `/api/v1/apps/points`.
pub fn points(context: &Context) -> Result {
    let app = context.need("app")?;
    let runs = context.service.reader().runs(&app, &context.viewer(), context.service.config.last_runs)?;
    Ok(Answer::json(&crate::apps::points(&runs)))
}

/// `/api/v1/apps/models`.
pub fn models(context: &Context) -> Result {
    let app = context.need("app")?;
    let models = context.service.models(&app, &context.viewer())?;
    Ok(Answer::json(
        &json!({"app": app, "runs": models.version.0, "models": models.list(context.flag("all"))}),
    ))
}

fn ranks(context: &Context) -> Result<f64> {
    let ranks = context.need_number("ranks")?;
    if ranks >= 1.0 { Ok(ranks) } else { Err(bad("ranks: expected a number of ranks")) }
}

/// `/api/v1/apps/evaluate`.
pub fn evaluate(context: &Context) -> Result {
    let (app, metric) = (context.need("app")?, context.need("metric")?);
    let ranks = ranks(context)?;
    let models = context.service.models(&app, &context.viewer())?;
    let value = models.evaluate(&metric, ranks).ok_or_else(no_model)?;
    Ok(Answer::json(&value))
}

fn no_model() -> Fault {
    absent("no model of that name")
}

/// `/api/v1/apps/curve`: `[ranks, value, low, high]`, evenly spaced in the logarithm.
pub fn curve(context: &Context) -> Result {
    let (app, metric) = (context.need("app")?, context.need("metric")?);
    let models = context.service.models(&app, &context.viewer())?;
    let to = context.number("to")?.unwrap_or(1024.0).clamp(2.0, 1e9);
    let sizes: Vec<f64> = (0..=CURVE_POINTS).map(|i| to.powf(i as f64 / CURVE_POINTS as f64)).collect();
    let curve = models.curve(&metric, &sizes).ok_or_else(no_model)?;
    Ok(Answer::json(&json!({"metric": metric, "points": curve})))
}

/// `/api/v1/apps/expect`: for schedulers, before the job starts.
pub fn expect(context: &Context) -> Result {
    let app = context.need("app")?;
    let ranks = ranks(context)?;
    let models = context.service.models(&app, &context.viewer())?;
    let mut expected = Map::new();
    let wanted = [
        ("written_bytes", crate::job::WRITTEN),
        ("read_bytes", crate::job::READ),
        ("io_seconds", "io_time->total_time->total_app_time->total_io_time"),
        ("walltime", "walltime"),
        ("period", "main->Period (s)"),
    ];
    for (name, metric) in wanted {
        expected.insert(name.into(), json!(models.evaluate(metric, ranks)));
    }
    Ok(Answer::json(&json!({"app": app, "ranks": ranks, "runs": models.version.0, "expected": expected})))
}
