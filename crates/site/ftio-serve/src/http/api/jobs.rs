//! Jobs: lists, one job, its series, predictions, findings and report.

use crate::foresee::by_direction;
use crate::http::context::{Answer, Context, Fault, Result, absent, bad};
use crate::ingest::below::OpenFile;
use crate::job::{Origin, State, WRITTEN};
use crate::judged;
use crate::store::{JobFilter, JobRow, Sort};
use crate::users;
use serde_json::{Value, json};
use std::path::Path;

/// Rows of a list.
const MAX_LISTED: usize = 500;
/// Points of a chart.
const MAX_POINTS: usize = 5_000;
const USUAL_POINTS: f64 = 1_200.0;

/// A job with the name of its user.
pub fn shown(row: &JobRow) -> Value {
    let mut value = json!(row);
    value["user"] = json!(row.owner.map(users::name));
    value
}

/// `/api/v1/jobs`.
pub fn list(context: &Context) -> Result {
    let word = |name: &str| context.get(name).filter(|text| !text.is_empty());
    let limit = context.number("limit")?.map_or(50.0, |limit| limit.clamp(1.0, MAX_LISTED as f64)) as usize;
    let named = |name: &str, text: &str| bad(format!("{name}: there is no {}", crate::job::clean(text, 64)));
    let filter = JobFilter {
        state: word("state")
            .map(|text| State::from_name(&text).ok_or_else(|| named("state", &text)))
            .transpose()?,
        origin: word("origin")
            .map(|text| Origin::from_name(&text).ok_or_else(|| named("origin", &text)))
            .transpose()?,
        owner: word("user").map(|text| users::uid(&text).ok_or_else(|| named("user", &text))).transpose()?,
        app: word("app"),
        category: word("category"),
        text: word("q"),
        from: context.number("from")?,
        to: context.number("to")?,
        sort: word("sort")
            .map(|text| Sort::from_name(&text).ok_or_else(|| named("sort", &text)))
            .transpose()?
            .unwrap_or_default(),
        ascending: word("order").as_deref() == Some("asc"),
        limit: limit + 1,
        after: context.number("cursor")?.map(|cursor| cursor as i64),
    };
    let mut rows = context.service.reader().jobs(&filter, &context.viewer())?;
    let more = rows.len() > limit;
    rows.truncate(limit);
    let cursor = rows.last().filter(|_| more).map(|row| row.id);
    // What runs has newer numbers in memory.
    let running = context.service.running();
    let rows: Vec<Value> =
        rows.iter().map(|row| shown(running.jobs.get(&row.id).map_or(row, |job| &job.row))).collect();
    drop(running);
    Ok(Answer::json(&json!({"jobs": rows, "cursor": cursor})))
}

/// `/api/v1/jobs/{id}`.
pub fn job(context: &Context) -> Result {
    let row = context.job_by_number()?;
    let mut value = shown(&row);
    value["totals"] = json!(context.service.totals(row.id)?);
    // What is known of it otherwise is shown all the same.
    let series = context.service.series(row.id);
    value["series_damaged"] = json!(series.is_err());
    let series = series.unwrap_or_default();
    value["metrics"] = json!(series.columns().keys().collect::<Vec<_>>());
    value["series_period"] = json!(series.period());
    value["series_bytes"] = json!(series.bytes());
    let until = if row.end > 0.0 { row.end - row.start } else { series.bins() as f64 * series.period() };
    let rhythms = by_direction(&row.desc.jobid, &series, row.desc.size, until);
    let rhythms = rhythms.iter().filter(|found| found.period.is_some()).map(
        |found| json!({"direction": found.mode, "period": found.period, "confidence": found.confidence}),
    );
    value["rhythms"] = rhythms.collect();
    value["has_trace"] = json!(row.origin == Origin::Trace && trace(context, &row).is_some());
    Ok(Answer::json(&value))
}

/// `/api/v1/jobs/{id}/series`: for each bin its start, least, mean and greatest value.
pub fn series(context: &Context) -> Result {
    let row = context.job_by_number()?;
    let series = context.service.series(row.id)?;
    let metric = context.get("metric").unwrap_or_else(|| WRITTEN.to_owned());
    let column = series.column(&metric);
    if column.is_none() && metric != WRITTEN {
        return Err(absent("no such metric"));
    }
    let end = series.bins() as f64 * series.period();
    let from = context.number("from")?.unwrap_or(0.0);
    let to = context.number("to")?.unwrap_or(end);
    let points = context.number("points")?.unwrap_or(USUAL_POINTS).clamp(1.0, MAX_POINTS as f64) as usize;
    let values = series.window(&metric, from, to, points);
    Ok(Answer::json(&json!({
        "metric": metric,
        "kind": column.map(crate::series::Column::kind),
        "start": row.start,
        "period": series.period(),
        "end": end,
        "points": values,
    })))
}

/// `/api/v1/jobs/{id}/prediction`.
pub fn prediction(context: &Context) -> Result {
    let row = context.job_by_number()?;
    prediction_of(context, &row)
}

/// What is expected next; of a job that has ended, what its period was.
pub fn prediction_of(context: &Context, row: &JobRow) -> Result {
    let live = {
        let running = context.service.running();
        running.jobs.get(&row.id).map(|job| json!(job.detection))
    };
    let detection = match live {
        Some(detection) => detection,
        None => detection_of(context, row)?,
    };
    let next = &detection["next_phase"];
    let at = |name: &str| next[name].as_f64().map(|time| row.start + time);
    Ok(Answer::json(&json!({
        "id": row.id,
        "jobid": row.desc.jobid,
        "state": row.state,
        "period": detection["period"],
        "confidence": detection["confidence"],
        "signal": detection["signal"],
        "next_phase": next,
        "next_start": at("start"),
        "next_end": at("end"),
    })))
}

/// `/api/v1/jobs/{id}/predictions`.
pub fn predictions(context: &Context) -> Result {
    let row = context.job_by_number()?;
    let limit = context.number("limit")?.unwrap_or(100.0).clamp(1.0, MAX_LISTED as f64) as usize;
    let reader = context.service.reader();
    let all = reader.predictions(row.id, limit)?;
    let hits = reader.hits(row.id)?;
    Ok(Answer::json(&json!({"predictions": all, "quality": hits})))
}

fn detection_of(context: &Context, row: &JobRow) -> Result<Value> {
    Ok(context.service.reader().details(row.id)?.map(|(_, detection, _)| detection).unwrap_or_default())
}

/// `/api/v1/jobs/{id}/detection`.
pub fn detection(context: &Context) -> Result {
    let row = context.job_by_number()?;
    let live = context.service.running().jobs.get(&row.id).map(|job| json!(job.detection));
    match live {
        Some(detection) => Ok(Answer::json(&detection)),
        None => Ok(Answer::json(&detection_of(context, &row)?)),
    }
}

/// `/api/v1/jobs/{id}/findings`.
pub fn findings(context: &Context) -> Result {
    let row = context.job_by_number()?;
    let details = context.service.reader().details(row.id)?;
    let findings = details.map_or(json!([]), |(_, _, findings)| findings);
    Ok(Answer::json(&json!({"id": row.id, "findings": findings})))
}

/// The report has its style and script in itself.
const REPORT_POLICY: &str = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; \
                             img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
                             sandbox allow-scripts";

/// The trace of a job, if it is still there. Somebody may have put something else there: what is told of it
/// is told of the file that is looked at here.
fn trace(context: &Context, row: &JobRow) -> Option<OpenFile> {
    let path = Path::new(&row.path);
    let root = context.service.config.watch.iter().find(|root| path.starts_with(root))?;
    OpenFile::open(root, path).ok().filter(|file| Some(file.about.user) == row.owner)
}

/// `/api/v1/jobs/{id}/report.html`.
pub fn report(context: &Context) -> Result {
    let row = context.job_by_number()?;
    if row.origin != Origin::Trace {
        return Err(absent("a report needs a trace, and this job was pushed"));
    }
    let path = Path::new(&row.path);
    let file = trace(context, &row).ok_or_else(|| absent("its trace is gone, or no longer where it was"))?;
    let door = file.door();
    let page = judged::report(&door).map_err(|text| Fault::new(422, text))?;
    // The name of the file, without any letter that means something in a page.
    let plain = |letter: char| if letter.is_alphanumeric() || "._-".contains(letter) { letter } else { '_' };
    let name: String = path.file_name().unwrap_or_default().to_string_lossy().chars().map(plain).collect();
    let page = page.replace(&*door.to_string_lossy(), &name);
    Ok(Answer { policy: Some(REPORT_POLICY), ..Answer::text("text/html; charset=utf-8", page) })
}
