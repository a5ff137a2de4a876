//! `/profiles`: what finished jobs came to.

use super::counters;
use crate::http::context::{Answer, Context, Result};
use crate::job::{JobDesc, State, Total};
use crate::store::{JobFilter, JobRow, RunRow};
use serde_json::json;
use std::collections::BTreeMap;

/// The latest jobs that are listed.
const MAX_LISTED: usize = 500;

fn finished(context: &Context) -> Result<Vec<JobRow>> {
    let state = Some(State::Finished);
    let filter = JobFilter { state, limit: MAX_LISTED, ..JobFilter::default() };
    Ok(context.service.reader().jobs(&filter, &context.viewer())?)
}

/// `/profiles`.
pub fn list(context: &Context) -> Result {
    let all: Vec<JobDesc> = finished(context)?.into_iter().map(|row| row.desc).collect();
    Ok(Answer::json(&all))
}

/// `/profiles/get`: with the time that the job took.
pub fn profile(context: &Context) -> Result {
    let row = context.job()?;
    let mut totals = context.service.totals(row.id)?;
    let end = if row.end > 0.0 { row.end } else { crate::service::now() };
    totals.insert("walltime".into(), Total::counter(end - row.start, end));
    Ok(Answer::json(&json!({"desc": row.desc, "counters": counters(&totals)})))
}

/// `/profiles/percmd`.
pub fn by_command(context: &Context) -> Result {
    let mut all: BTreeMap<String, Vec<JobDesc>> = BTreeMap::new();
    for row in finished(context)? {
        all.entry(row.desc.command.clone()).or_default().push(row.desc);
    }
    Ok(Answer::json(&all))
}

fn runs(context: &Context) -> Result<Vec<RunRow>> {
    let app = context.app()?;
    Ok(context.service.reader().runs(&app, &context.viewer(), context.service.config.last_runs)?)
}

/// `/profiles/extrap` and `/model/download`.
pub fn extra_p(context: &Context) -> Result {
    Ok(Answer::text("application/jsonl", crate::apps::json_lines(&runs(context)?)))
}

/// `/profiles/points`.
pub fn points(context: &Context) -> Result {
    Ok(Answer::json(&crate::apps::points(&runs(context)?)))
}
