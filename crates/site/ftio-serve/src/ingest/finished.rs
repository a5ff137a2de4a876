//! A job has ended: its row, its profile, its series and its day are written in one transaction.

use super::below::OpenFile;
use super::trace::Read;
use crate::job::{Kind, Origin, State, Totals};
use crate::judged;
use crate::live::LiveJob;
use crate::service::{Service, now};
use crate::store::{JobRow, RunRow, Version};
use serde_json::{Value, json};
use std::path::Path;

/// A trace was read to its end. The number of its job.
pub fn trace(
    service: &Service,
    path: &Path,
    version: Version,
    read: Read,
    file: &OpenFile,
) -> anyhow::Result<i64> {
    // Of the file that was read, whatever is under its name by now.
    let findings = judged::findings(&file.door());
    let mut desc = read.desc;
    if desc.cluster.is_empty() {
        desc.cluster = service.config.cluster.clone();
    }
    let mut row = LiveJob::row(desc, Origin::Trace, Some(read.owner), read.start);
    let found = read.detection.as_ref();
    row.end = read.end;
    row.desc.end_time = read.end as u64;
    row.state = read.state;
    row.path = path.to_string_lossy().into_owned();
    row.period = found.and_then(|found| found.period);
    row.confidence = found.filter(|found| found.period.is_some()).map(|found| found.confidence);
    row.io_share = read.io_share;
    let value = |name: &str| read.totals.get(name).map_or(0.0, |total| total.value);
    (row.written_bytes, row.read_bytes) = (value(crate::job::WRITTEN), value(crate::job::READ));
    row.high_findings = high(&findings);
    row.categories = read.categories;
    let detection = serde_json::to_value(&read.detection)?;
    let _saving = service.saving();
    let id = service.writer().transaction(|store| {
        // The same run again, or one that was followed while it ran.
        let known = store.same_run(&row)?;
        let again = known.is_some_and(|(_, state)| state != State::Running);
        row.id = match known {
            Some((id, _)) => id,
            None => store.insert_job(&row)?,
        };
        store.update_job(&row)?;
        store.set_details(row.id, &read.totals, &detection, &findings)?;
        if row.state == State::Finished {
            let run = RunRow { job: row.id, size: row.desc.size, measurements: read.measurements };
            store.insert_run(&run, &row.app, row.end, row.owner)?;
        }
        if !again {
            store.add_to_day(&row)?;
        }
        store.set_source(path, version, Some(row.id), None)?;
        // Before the job is there for good: nobody finds one whose series is missing.
        service.files.put(row.id, &read.series)?;
        Ok(row.id)
    })?;
    let live = service.running().remove(id);
    service.was_stored(&row, &read.series, detection.to_string().len());
    judge_last(service, live.as_ref(), found);
    service.stats.traces_read.add(1);
    told(service, &row);
    Ok(id)
}

/// Those who watch learn that a job has ended.
fn told(service: &Service, row: &JobRow) {
    service.tell("ended", row.owner, &json!({"id": row.id, "jobid": row.desc.jobid, "app": row.app}));
}

fn high(findings: &Value) -> i64 {
    let all = findings.as_array().map(Vec::as_slice).unwrap_or_default();
    all.iter().filter(|finding| finding["severity"] == "high").count() as i64
}

/// Whether the last prediction was right can be seen in the whole trace.
fn judge_last(
    service: &Service,
    live: Option<&LiveJob>,
    found: Option<&ftio_core::detect::detection::Detection>,
) {
    if let (Some(live), Some(found)) = (live, found) {
        crate::tick::judge(service, live, found);
    }
}

/// A pushed job has ended, by its own word or because it is silent. If that cannot be stored it goes on, and
/// ends at the next attempt.
pub fn pushed(service: &Service, id: i64, state: State) -> anyhow::Result<()> {
    let _saving = service.saving();
    let Some(job) = service.running().remove(id) else { return Ok(()) };
    let done = keep(service, job.clone(), state);
    match &done {
        Ok(row) => told(service, row),
        Err(_) => service.running().insert(job),
    }
    done.map(|_| ())
}

fn keep(service: &Service, mut job: LiveJob, state: State) -> anyhow::Result<JobRow> {
    let id = job.row.id;
    let end = if state == State::Finished { now() } else { job.last };
    job.row.end = end.max(job.row.start);
    job.row.desc.end_time = job.row.end as u64;
    job.row.state = state;
    let ranks = job.row.desc.size;
    let known = job.row.end - job.row.start;
    let found = crate::foresee::of_bytes(&job.row.desc.jobid, &job.series, ranks, known);
    if let Some(found) = &found {
        crate::tick::judge(service, &job, found);
        job.row.period = found.period;
        job.row.confidence = found.period.map(|_| found.confidence);
    }
    job.row.categories = crate::categories::of_series(&job.series, ranks, known);
    service.files.save(std::iter::once((id, &job.series)))?;
    let detection = serde_json::to_value(&found)?;
    service.writer().transaction(|store| {
        store.update_job(&job.row)?;
        store.set_details(id, &job.totals, &detection, &json!([]))?;
        let is_job = job.row.origin == Origin::Push;
        if is_job && state == State::Finished && ranks > 0 {
            let run = RunRow { job: id, size: ranks, measurements: measured(&job.totals, known) };
            store.insert_run(&run, &job.row.app, job.row.end, job.row.owner)?;
        }
        if is_job {
            store.add_to_day(&job.row)?;
        }
        Ok(())
    })?;
    service.was_stored(&job.row, &job.series, 2 * job.memory());
    Ok(job.row)
}

/// What counters came to, under the names that the original gives Extra-P: `mpi___hits___mpi_send` is the
/// metric `hits` of the callpath `mpi->mpi_send`.
fn measured(totals: &Totals, walltime: f64) -> Vec<(String, String, f64)> {
    let counters = totals.iter().filter(|(_, total)| total.kind == Kind::Counter);
    let mut all: Vec<(String, String, f64)> = counters
        .map(|(name, total)| {
            let second = name.split("___").nth(1);
            let metric = match second.filter(|part| ["hits", "time", "size"].contains(part)) {
                Some(part) => part,
                None if name.ends_with("_bytes") => "Size (B)",
                None if name.ends_with("_seconds") => "Time (s)",
                None if name.ends_with("_operations") => "Hits",
                None => "various",
            };
            (name.replace("___", "->"), metric.to_owned(), total.value)
        })
        .collect();
    all.push(("walltime".into(), "Time (s)".into(), walltime));
    all
}
