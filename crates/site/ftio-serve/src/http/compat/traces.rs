//! `/trace`: series as they are kept.

use crate::http::context::{Answer, Context, Result, absent};
use crate::job::Totals;
use crate::series::{Column, Seen, Series};
use crate::store::{JobFilter, JobRow};
use serde_json::{Map, Value, json};

/// The latest jobs that are listed.
const MAX_LISTED: usize = 500;

fn info(context: &Context, row: &JobRow, bytes: usize) -> Value {
    let last = if row.end > 0.0 { row.end } else { crate::service::now() };
    let size = if row.end > 0.0 { context.service.files.size(row.id) as usize } else { bytes };
    json!({"desc": row.desc, "size": size, "lastwrite": last as u64})
}

/// `/trace/list`.
pub fn list(context: &Context) -> Result {
    let filter = JobFilter { limit: MAX_LISTED, ..JobFilter::default() };
    let rows = context.service.reader().jobs(&filter, &context.viewer())?;
    let all: Vec<Value> = rows
        .iter()
        .map(|row| {
            let bytes = context.service.running().jobs.get(&row.id).map_or(0, |job| job.series.bytes());
            info(context, row, bytes)
        })
        .collect();
    Ok(Answer::json(&all))
}

/// `/trace/read`: what is kept of one metric; of all, each by its name, if none is asked for.
pub fn read(context: &Context) -> Result {
    let row = context.job()?;
    let series = context.service.series(row.id)?;
    let info = info(context, &row, series.bytes());
    let totals = context.service.totals(row.id)?;
    let kept = |name: &str, column: &Column| kept(column, row.start, first(&totals, name), series.period());
    if let Some(name) = context.get("filter") {
        let column = series.column(&name).ok_or_else(|| no_metric(&name))?;
        return Ok(Answer::json(&json!({"info": info, "time_serie": kept(&name, column)})));
    }
    let all: Map<String, Value> =
        series.columns().iter().map(|(name, column)| (name.clone(), json!(kept(name, column)))).collect();
    Ok(Answer::json(&json!({"info": info, "time_serie": [], "time_series": all})))
}

/// Each bin with its time: a counter as what it had come to.
fn kept(column: &Column, start: f64, first: f64, period: f64) -> Vec<Value> {
    match column {
        Column::Counter(bins) => {
            let mut sum = first;
            let mut point = |(i, added): (usize, &f64)| {
                sum += added;
                let time = (i + 1) as f64 * period;
                json!([time, {"Counter": {"ts": ((start + time) * 1e6) as u64, "value": sum}}])
            };
            bins.iter().enumerate().map(&mut point).collect()
        }
        Column::Gauge(bins) => {
            let seen = |(i, seen): (usize, &Seen)| {
                let gauge = json!({
                    "min": seen.least, "max": seen.greatest, "hits": seen.count, "total": seen.sum,
                });
                (seen.count > 0.0).then(|| json!([(i as f64 + 0.5) * period, {"Gauge": gauge}]))
            };
            bins.iter().enumerate().filter_map(seen).collect()
        }
    }
}

/// Where a running sum began, before anything of it is known.
fn first(totals: &Totals, name: &str) -> f64 {
    totals.get(name).map_or(0.0, |total| total.first)
}

/// Points of a metric: a running sum from where it began.
fn points(series: &Series, totals: &Totals, name: &str, rate: bool) -> Vec<[f64; 2]> {
    let mut points = series.points(name, rate);
    if !rate {
        points.iter_mut().for_each(|point| point[1] += first(totals, name));
    }
    points
}

fn no_metric(name: &str) -> crate::http::context::Fault {
    absent(format!("{}: no such metric", crate::job::clean(name, 64)))
}

/// `/trace/plot`: points of one metric.
pub fn plot(context: &Context) -> Result {
    let row = context.job()?;
    let name = context.need("filter")?;
    let series = context.service.series(row.id)?;
    let (name, rate) = match name.strip_prefix("deriv__") {
        Some(name) => (name.to_owned(), true),
        None => (name.clone(), context.flag("derivate")),
    };
    if series.column(&name).is_none() {
        return Err(no_metric(&name));
    }
    Ok(Answer::json(&points(&series, &context.service.totals(row.id)?, &name, rate)))
}

/// `/trace/metrics`.
pub fn metrics(context: &Context) -> Result {
    let row = context.job()?;
    let series = context.service.series(row.id)?;
    Ok(Answer::json(&series.columns().keys().collect::<Vec<_>>()))
}

/// `/trace/json`.
pub fn json(context: &Context) -> Result {
    let row = context.job()?;
    let series = context.service.series(row.id)?;
    let totals = context.service.totals(row.id)?;
    let mut metrics = Map::new();
    for name in series.columns().keys() {
        metrics.insert(name.clone(), json!(points(&series, &totals, name, false)));
        metrics.insert(format!("deriv__{name}"), json!(series.points(name, true)));
    }
    Ok(Answer::json(&json!({"infos": info(context, &row, series.bytes()), "metrics": metrics})))
}

/// `/trace/size`.
pub fn size(context: &Context) -> Result {
    let row = context.job()?;
    let series = context.service.series(row.id)?;
    Ok(Answer::json(&[series.bytes(), context.service.config.budget]))
}
