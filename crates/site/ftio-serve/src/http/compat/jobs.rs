//! `/job`, `/queue`: what runs and what waits.

use super::counters;
use crate::http::context::{Answer, Context, Result, absent};
use crate::job::State;
use crate::lock::locked;
use crate::store::{JobFilter, Sort};
use serde_json::{Value, json};

/// `/job`: one job with its counters, or all.
pub fn job(context: &Context) -> Result {
    let viewer = context.viewer();
    let main = || {
        let (desc, totals) = context.service.main(&viewer);
        json!({"desc": desc, "counters": counters(&totals)})
    };
    match context.jobid().as_deref() {
        Some("main") => Ok(Answer::json(&main())),
        Some(_) => {
            let row = context.job()?;
            let totals = context.service.totals(row.id)?;
            Ok(Answer::json(&json!({"desc": row.desc, "counters": counters(&totals)})))
        }
        None => {
            let running = context.service.running();
            let own = running.jobs.values().filter(|job| viewer.sees(job.row.owner));
            let mut all: Vec<Value> =
                own.map(|job| json!({"desc": job.row.desc, "counters": counters(&job.totals)})).collect();
            drop(running);
            all.insert(0, main());
            Ok(Answer::json(&all))
        }
    }
}

/// `/job/list`: running jobs, then the latest that have ended; the `end_time` of these is not 0.
pub fn list(context: &Context) -> Result {
    const MAX_LISTED: usize = 500;
    let viewer = context.viewer();
    let mut all = vec![context.service.main(&viewer).0];
    {
        let running = context.service.running();
        let own = running.jobs.values().filter(|job| viewer.sees(job.row.owner));
        all.extend(own.map(|job| job.row.desc.clone()));
    }
    let filter = JobFilter { sort: Sort::END, limit: MAX_LISTED, ..JobFilter::default() };
    let latest = context.service.reader().jobs(&filter, &viewer)?;
    all.extend(latest.into_iter().filter(|row| row.state != State::Running).map(|row| row.desc));
    Ok(Answer::json(&all))
}

/// `/queue/list`: what Slurm said last.
pub fn queue(context: &Context) -> Result {
    let queue = locked(&context.service.squeue).clone();
    let viewer = context.viewer();
    let own = context.who.name.clone();
    let jobs: serde_json::Map<String, Value> = queue
        .jobs
        .into_iter()
        .filter(|(_, fields)| viewer.all || fields.get("USER") == Some(&own))
        .map(|(id, fields)| (id, json!(fields)))
        .collect();
    Ok(Answer::json(&json!({"jobs": jobs})))
}

/// `/queue/model`: measurements of the application that a waiting job names in its comment.
pub fn queue_model(context: &Context) -> Result {
    let id = context.jobid().unwrap_or_default();
    let queue = locked(&context.service.squeue).clone();
    let viewer = context.viewer();
    let fields =
        queue.jobs.get(&id).filter(|fields| viewer.all || fields.get("USER") == Some(&context.who.name));
    let fields = fields.ok_or_else(|| absent(format!("{id}: not in the queue")))?;
    let comment = fields.get("COMMENT").map(String::as_str).unwrap_or_default();
    let app = crate::apps::key(comment, 0);
    let runs = context.service.reader().runs(&app, &viewer, context.service.config.last_runs)?;
    Ok(Answer::text("application/jsonl", crate::apps::json_lines(&runs)))
}
