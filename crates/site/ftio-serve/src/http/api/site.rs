//! The site as a whole: what runs, what is ahead, who moves how much, alarms; health; pushes.

use crate::http::context::{Answer, Context, Fault, Result, bad};
use crate::ingest::push::{Push, take};
use crate::job::Origin;
use crate::live::LiveJob;
use crate::lock::locked;
use crate::past::SPAN;
use crate::service::now;
use crate::store::Hits;
use crate::tick::Brief;
use io_sets::rules::Set;
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;

const DAY: f64 = 86_400.0;
/// Phases of one job that a forecast lists.
const MAX_PHASES: usize = 1000;

/// Stretches in which phases meet, the soonest first.
const MAX_CONFLICTS: usize = 200;
/// Jobs that are named of one of them.
const MAX_NAMED: usize = 100;

/// Phases of all jobs that a forecast lists, the soonest first.
const MAX_AHEAD: usize = 2000;

/// `/healthz`.
pub fn health(_: &Context) -> Result {
    Ok(Answer::text("text/plain; charset=utf-8", "ok\n"))
}

/// `/readyz`: 503 while something is wrong.
pub fn ready(context: &Context) -> Result {
    let mut problems = context.service.stats.problems();
    problems.extend(context.service.writer().check().err().map(|error| error.to_string()));
    let status = if problems.is_empty() { 200 } else { 503 };
    let (all, own) = (context.viewer().all, context.who.payer());
    // They name files: others learn only how many there are.
    let shown = |texts: &[String]| if all { json!(texts) } else { json!(texts.len()) };
    // What others were refused is nobody else's business.
    let refusals = context.service.stats.refusals.recent();
    let refused: Vec<Value> = refusals
        .iter()
        .filter(|one| all || one.payer == own)
        .map(|one| {
            let user = one.payer.to_string();
            json!({"what": one.what, "user": user, "count": one.count, "reason": one.reason})
        })
        .collect();
    let damage = context.service.stats.damage.latest();
    let answer = json!({"ready": problems.is_empty(), "problems": shown(&problems), "refused": refused,
        "damaged": shown(&damage)});
    Ok(Answer { status, ..Answer::json(&answer) })
}

/// `/api/v1/version`.
pub fn version(context: &Context) -> Result {
    let who = json!({"name": context.who.name, "role": context.who.role, "uid": context.who.uid});
    let config = &context.service.config;
    let site = json!({"cluster": config.cluster, "capacity": config.capacity, "watch": config.watch.len()});
    Ok(Answer::json(&json!({"version": env!("CARGO_PKG_VERSION"), "you": who, "site": site})))
}

/// `/api/v1/running`.
pub fn running(context: &Context) -> Result {
    let (viewer, time) = (context.viewer(), now());
    // The text is made when nobody has to wait for it any more.
    let jobs: Vec<Brief> = {
        let running = context.service.running();
        let own = running.jobs.values().filter(|job| viewer.sees(job.row.owner));
        own.map(|job| Brief::of(job, time)).collect()
    };
    #[derive(Serialize)]
    struct Listed {
        time: f64,
        jobs: Vec<Brief>,
    }
    Ok(Answer::json(&Listed { time, jobs }))
}

/// A job whose next phase is known.
struct Expected {
    job: i64,
    jobid: String,
    /// Of its next phase, in seconds since 1970.
    start: f64,
    end: f64,
    bytes: f64,
    period: Option<f64>,
    confidence: f64,
}

impl Expected {
    fn of(job: &LiveJob) -> Option<Self> {
        let found = job.detection.as_ref()?;
        let (start, end, bytes) = job.expected()?;
        Some(Expected {
            job: job.row.id,
            jobid: job.row.desc.jobid.clone(),
            start: start + job.row.start,
            end: end + job.row.start,
            bytes: bytes as f64,
            period: found.period.filter(|period| *period > 0.0),
            confidence: found.confidence,
        })
    }

    /// Its phases up to a time: the next one, and its repetitions.
    fn ahead(&self, time: f64, until: f64) -> impl Iterator<Item = Ahead<'_>> {
        let most = if self.period.is_some() { MAX_PHASES } else { 1 };
        let phase = |i: usize| {
            let shift = self.period.unwrap_or(0.0) * i as f64;
            let (start, end) = (self.start + shift, self.end + shift);
            Ahead {
                job: self.job,
                jobid: &self.jobid,
                start,
                end: end.max(start + 1e-3),
                bytes: self.bytes,
                confidence: self.confidence,
            }
        };
        (0..most).map(phase).take_while(move |one| one.start <= until).filter(move |one| one.end >= time)
    }
}

/// A phase that is ahead, in seconds since 1970.
#[derive(Serialize)]
struct Ahead<'a> {
    job: i64,
    jobid: &'a str,
    start: f64,
    end: f64,
    bytes: f64,
    confidence: f64,
}

/// `/api/v1/forecast`: phases ahead, and stretches in which several jobs are expected at once.
pub fn forecast(context: &Context) -> Result {
    let (viewer, time) = (context.viewer(), now());
    let horizon = context.number("horizon")?.unwrap_or(600.0).clamp(1.0, DAY);
    let jobs: Vec<Expected> = {
        let running = context.service.running();
        let own = running.jobs.values().filter(|job| viewer.sees(job.row.owner));
        own.filter_map(Expected::of).collect()
    };
    let mut phases: Vec<Ahead<'_>> = jobs.iter().flat_map(|job| job.ahead(time, time + horizon)).collect();
    phases.sort_by(|a, b| a.start.total_cmp(&b.start));
    let conflicts = conflicts(&phases, context.service.config.capacity);
    phases.truncate(MAX_AHEAD);
    #[derive(Serialize)]
    struct Forecast<'a> {
        time: f64,
        horizon: f64,
        phases: Vec<Ahead<'a>>,
        conflicts: Vec<Value>,
    }
    Ok(Answer::json(&Forecast { time, horizon, phases, conflicts }))
}

/// Stretches in which phases of several jobs fall together, and what they would need at worst.
fn conflicts(phases: &[Ahead<'_>], capacity: Option<f64>) -> Vec<Value> {
    let mut edges: Vec<(f64, bool, usize)> = Vec::with_capacity(2 * phases.len());
    for (i, phase) in phases.iter().enumerate() {
        edges.push((phase.start, true, i));
        edges.push((phase.end, false, i));
    }
    // What ends makes room for what begins.
    edges.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    // Jobs with a phase at that time: how many of them, and the id. All together move so much at worst.
    let mut open: BTreeMap<i64, (usize, &str)> = BTreeMap::new();
    let mut rate = 0.0f64;
    let mut found: Vec<Value> = Vec::new();
    // Since when, who, and how much at worst.
    let mut meeting: Option<(f64, BTreeMap<i64, &str>, f64)> = None;
    for (time, begins, i) in edges {
        let phase = &phases[i];
        let bandwidth = phase.bytes / (phase.end - phase.start);
        if begins {
            open.entry(phase.job).or_insert((0, phase.jobid)).0 += 1;
            rate += bandwidth;
        } else {
            if let Some((count, _)) = open.get_mut(&phase.job) {
                *count -= 1;
                if *count == 0 {
                    open.remove(&phase.job);
                }
            }
            // Without what is left of rounding.
            rate = if open.is_empty() { 0.0 } else { rate - bandwidth };
        }
        if open.len() > 1 {
            let all = || open.iter().map(|(job, (_, jobid))| (*job, *jobid)).collect();
            let (_, jobs, most) = meeting.get_or_insert_with(|| (time, all(), 0.0));
            if begins {
                jobs.insert(phase.job, phase.jobid);
            }
            *most = most.max(rate);
        } else if let Some((start, jobs, rate)) = meeting.take().filter(|(start, ..)| time > *start) {
            let jobs: Vec<&str> = jobs.into_values().take(MAX_NAMED).collect();
            let share = capacity.map(|capacity| rate / capacity);
            found.push(json!({"start": start, "end": time, "jobs": jobs, "rate": rate, "share": share}));
            if found.len() >= MAX_CONFLICTS {
                break;
            }
        }
    }
    found
}

/// `/api/v1/schedule`: what `ftio schedule` would give each running job. The period is that of earlier runs
/// until its own is known.
pub fn schedule(context: &Context) -> Result {
    let viewer = context.viewer();
    let priorities = context.service.priorities();
    let running = context.service.running();
    let of = |job: &LiveJob| {
        let standing = priorities.standing(job.row.id).filter(|_| viewer.sees(job.row.owner))?;
        let (period, priority) = (standing.period(), standing.priority());
        let set = period.and_then(Set::of_period).map(Set::number);
        Some(json!({"id": job.row.id, "jobid": job.row.desc.jobid, "period": period, "set": set,
            "priority": priority.value(), "stored": priority.stored()}))
    };
    let all: Vec<Value> = running.jobs.values().filter_map(of).collect();
    Ok(Answer::json(&json!({"jobs": all})))
}

/// `/api/v1/site`: sums by user, application and day.
pub fn site(context: &Context) -> Result {
    let days = context.number("days")?.unwrap_or(30.0).clamp(1.0, 3660.0);
    let from = ((now() - days * DAY) / DAY) as i64;
    let rows = context.service.reader().days(from, &context.viewer())?;
    let mut by_user: BTreeMap<String, [f64; 3]> = BTreeMap::new();
    let mut by_app: BTreeMap<String, [f64; 3]> = BTreeMap::new();
    let mut by_day: BTreeMap<i64, [f64; 3]> = BTreeMap::new();
    for row in rows {
        let user = row.owner.map_or_else(|| "unknown".to_owned(), crate::users::name);
        for sum in [
            by_user.entry(user).or_default(),
            by_app.entry(row.app.clone()).or_default(),
            by_day.entry(row.day).or_default(),
        ] {
            sum[0] += row.jobs as f64;
            sum[1] += row.written_bytes;
            sum[2] += row.read_bytes;
        }
    }
    let table = |name: &str, [jobs, written, read]: [f64; 3]| json!({"name": name, "jobs": jobs, "written_bytes": written, "read_bytes": read});
    let largest = |rows: BTreeMap<String, [f64; 3]>| {
        let mut rows: Vec<(String, [f64; 3])> = rows.into_iter().collect();
        rows.sort_by(|a, b| (b.1[1] + b.1[2]).total_cmp(&(a.1[1] + a.1[2])));
        rows.into_iter().take(50).map(|(name, sums)| table(&name, sums)).collect::<Vec<_>>()
    };
    let days: Vec<Value> = by_day
        .into_iter()
        .map(|(day, [jobs, written, read])| {
            json!({"day": day as f64 * DAY, "jobs": jobs, "written_bytes": written, "read_bytes": read})
        })
        .collect();
    Ok(Answer::json(&json!({"users": largest(by_user), "apps": largest(by_app), "days": days})))
}

/// `/api/v1/site/series`: the last ten minutes of all jobs together, in bytes per second.
pub fn series(context: &Context) -> Result {
    let (viewer, time) = (context.viewer(), now());
    let points = context.number("points")?.unwrap_or(300.0).clamp(10.0, 1200.0) as usize;
    let step = SPAN / points as f64;
    let begin = time - SPAN;
    let mut sums = vec![[0.0f64; 2]; points];
    let running = context.service.running();
    let own = running.jobs.values().filter(|job| viewer.sees(job.row.owner));
    for job in own.filter(|job| job.row.origin != Origin::Node) {
        for (place, rates) in job.rates(begin, step, points).into_iter().enumerate() {
            sums.iter_mut().zip(rates).for_each(|(sum, rate)| sum[place] += rate);
        }
    }
    drop(running);
    locked(&context.service.past).add_to(&mut sums, begin, step, &viewer);
    let list: Vec<[f64; 3]> = sums
        .iter()
        .enumerate()
        .map(|(i, [written, read])| [begin + i as f64 * step, *written, *read])
        .collect();
    Ok(Answer::json(&json!({"time": time, "capacity": context.service.config.capacity, "points": list})))
}

/// `/api/v1/site/categories`: how many jobs of which category ended when, in at most 60 stretches.
pub fn categories(context: &Context) -> Result {
    const STRETCHES: f64 = 60.0;
    let days = context.number("days")?.unwrap_or(30.0).clamp(1.0, 3660.0);
    let step = (days / STRETCHES).ceil() as i64;
    let from = ((now() - days * DAY) / DAY) as i64;
    let rows = context.service.reader().categories(from, step, &context.viewer())?;
    let rows: Vec<Value> = rows
        .into_iter()
        .map(|row| {
            json!({"day": row.day as f64 * DAY, "category": row.category, "jobs": row.jobs, "bytes": row.bytes})
        })
        .collect();
    Ok(Answer::json(&json!({"days": days, "step": step, "categories": rows})))
}

/// `/api/v1/quality`: of all jobs that one may see, or those of an application.
pub fn quality(context: &Context) -> Result {
    let days = context.number("days")?.unwrap_or(30.0).clamp(1.0, 3660.0);
    let app = context.get("app").filter(|app| !app.is_empty());
    let since = now() - days * DAY;
    let weeks = context.service.reader().judged(since, app.as_deref(), &context.viewer())?;
    let all: Vec<_> = weeks.values().flatten().copied().collect();
    let all = Hits::of(&all);
    let weeks: Vec<Value> = weeks
        .into_iter()
        .map(|(day, judged)| (day, Hits::of(&judged)))
        .map(|(day, hits)| json!({"day": day as f64 * DAY, "judged": hits.judged, "hits": hits.hits}))
        .collect();
    Ok(Answer::json(&json!({"days": days, "quality": all, "weeks": weeks})))
}

/// `/api/v1/alarms`.
pub fn alarms(context: &Context) -> Result {
    let rows = context.service.reader().alarms(&context.viewer(), context.flag("standing"), 500)?;
    let thresholds = crate::http::compat::alarms::own_rules(context)?;
    let rules: Vec<Value> = {
        let alarms = locked(&context.service.alarms);
        let shown = |rule: &crate::alarms::Rule| {
            json!({"name": rule.name, "metric": rule.metric, "operation": rule.sign(), "value": rule.value,
                "for": rule.duration, "site": rule.site})
        };
        alarms.rules.iter().map(shown).collect()
    };
    Ok(Answer::json(&json!({"alarms": rows, "rules": rules, "thresholds": thresholds})))
}

/// `/api/v1/push`.
pub fn push(context: &Context) -> Result {
    let push: Push = serde_json::from_slice(&context.bytes).map_err(|error| bad(error.to_string()))?;
    if context.who.role == crate::viewer::Role::Agent && push.node.is_none() {
        return Err(Fault::new(403, "an agent tells of its node only"));
    }
    let taken = take(&context.service, &push, context.who.uid)?;
    let mut answer =
        json!({"job": taken.job, "values": taken.values, "refused": taken.refused, "success": true});
    if let Some(full) = taken.full {
        answer["reason"] = json!(full.to_string());
    }
    Ok(Answer::json(&answer))
}

/// `/api/v1/write`. What cannot be read is 400, so that Prometheus does not send it again; what cannot be
/// stored is 503, so that it does.
pub fn remote_write(context: &Context) -> Result {
    let samples = crate::ingest::remote_write::decode(&context.bytes).map_err(bad)?;
    let only_nodes = context.who.role == crate::viewer::Role::Agent;
    let samples: Vec<_> =
        samples.into_iter().filter(|sample| !only_nodes || !sample.labels.contains_key("jobid")).collect();
    let applied = crate::ingest::labelled::take(&context.service, &samples, context.who.uid)?;
    let mut answer = json!({"values": applied.taken, "refused": applied.refused});
    if let Some(full) = applied.full {
        answer["reason"] = json!(full.to_string());
    }
    Ok(Answer::json(&answer))
}

/// The stream is made where connections are.
pub fn events_are_elsewhere(_: &Context) -> Result {
    Err(Fault::new(500, "the stream of events was not opened"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_conflict_is_one_stretch() {
        let names: Vec<String> = (0..5).map(|job| job.to_string()).collect();
        let phase = |job: i64, start: f64, end: f64| Ahead {
            job,
            jobid: &names[job as usize],
            start,
            end,
            bytes: 10.0 * (end - start),
            confidence: 1.0,
        };
        // Two that nearly begin together, a third in the middle; one job's own phases are no conflict.
        let phases = [
            phase(1, 0.0, 5.0),
            phase(2, 0.1, 6.0),
            phase(3, 2.0, 3.0),
            phase(4, 20.0, 25.0),
            phase(4, 24.0, 29.0),
        ];
        let found = conflicts(&phases, Some(60.0));
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!((&found[0]["start"], &found[0]["end"]), (&json!(0.1), &json!(5.0)));
        assert_eq!(found[0]["jobs"], json!(["1", "2", "3"]));
        assert_eq!(found[0]["share"], json!(0.5));
        // What ends when another begins is none.
        assert!(conflicts(&[phase(1, 0.0, 5.0), phase(2, 5.0, 6.0)], None).is_empty());
    }
}
