//! `/model`: how metrics grow with the number of ranks.

use crate::http::context::{Answer, Context, Result, absent, bad};
use serde_json::json;

/// The original's loop has no end.
const MAX_STEPS: f64 = 10_000.0;

/// `/model/get`: `[name, formula, residual]`.
pub fn list(context: &Context) -> Result {
    let app = context.app()?;
    let models = context.service.models(&app, &context.viewer())?;
    let all: Vec<_> =
        models.list(false).into_iter().map(|one| json!([one.name, one.equation, one.rss])).collect();
    Ok(Answer::json(&all))
}

/// `/model/evaluate`: the formula of `/model/get` at a size, as the original does it. Beyond the measured
/// sizes something else may be expected: `expected`, with an interval.
pub fn evaluate(context: &Context) -> Result {
    let (metric, size) = (context.need("metric")?, context.need_number("size")?);
    if size <= 0.0 {
        return Err(bad("size: expected a number of ranks"));
    }
    let app = context.app()?;
    let models = context.service.models(&app, &context.viewer())?;
    let found = models.evaluate(&metric, size).ok_or_else(|| no_model(&metric))?;
    Ok(Answer::json(&json!({"metric": found.metric, "size": found.size, "value": found.formula_value,
        "expected": found.value, "low": found.low, "high": found.high, "extrapolated": found.extrapolated})))
}

/// `/model/plot`: `[size, value]` from `start` up to `end`, which is not among them.
pub fn plot(context: &Context) -> Result {
    let metric = context.need("metric")?;
    let (start, end) = (context.need_number("start")?, context.need_number("end")?);
    let step = context.number("step")?.unwrap_or(1.0);
    if step <= 0.0 || start <= 0.0 || (end - start) / step > MAX_STEPS {
        return Err(bad(format!("expected 0 < start, 0 < step, and at most {MAX_STEPS} steps")));
    }
    let steps = ((end - start) / step).ceil().max(0.0) as usize;
    let sizes: Vec<f64> = (0..steps).map(|i| start + i as f64 * step).collect();
    let app = context.app()?;
    let models = context.service.models(&app, &context.viewer())?;
    let points = models.formula(&metric, &sizes).ok_or_else(|| no_model(&metric))?;
    Ok(Answer::json(&points))
}

fn no_model(metric: &str) -> crate::http::context::Fault {
    absent(format!("{}: no model of that name", crate::job::clean(metric, 64)))
}
