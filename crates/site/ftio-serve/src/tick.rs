//! What happens once a second, and when a phase has ended: the journal, predictions, silent jobs, alarms.

use crate::foresee;
use crate::ingest::finished;
use crate::job::{Origin, State};
use crate::live::LiveJob;
use crate::service::{Service, now};
use crate::store::PredictionRow;
use ftio_core::detect::detection::Detection;
use io_sets::configfs::Configfs;
use serde::Serialize;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

const SECOND: Duration = Duration::from_secs(1);
/// The journal begins anew this often, or when it has grown to this size, but not at once again: a checkpoint
/// writes all jobs, and one who pushes very much must not make that happen all the time.
const CHECKPOINT: Duration = Duration::from_secs(300);
const MAX_JOURNAL: u64 = 32 << 20;
const MIN_CHECKPOINT_PAUSE: Duration = Duration::from_secs(30);
/// How often jobs are looked for that are too old to be kept.
const FORGET: Duration = Duration::from_secs(600);
/// A clock that is off by more than this, in seconds, was set.
const CLOCK_STEP: f64 = 2.0;
/// If nothing happens for this long, the service was stopped, and nobody could be heard.
const STOPPED: Duration = Duration::from_secs(5);
/// Predictions are made for this long before it is asked again which are due.
const PREDICTING_TIME: Duration = Duration::from_secs(1);
/// Points of the small pictures.
pub const SPARK: usize = 60;
/// A phase within this part of the period of what was foretold counts as right.
const TOLERANCE: f64 = 0.1;

/// Once a second until told to stop.
pub fn run(service: &Service, stop: &AtomicBool) {
    let mut checkpoint = Instant::now();
    let mut kept = clock_may_be_wrong(service).then(Instant::now);
    let mut clock = Clock::new();
    let mut before = Instant::now();
    while !stop.load(Relaxed) {
        let begun = Instant::now();
        let gap = begun - std::mem::replace(&mut before, begun);
        if gap >= STOPPED {
            service.was_stopped(gap);
        }
        // First the rows of new jobs, then what was pushed to them.
        let emptied = service.empty_log();
        service.stored(emptied);
        if let Err(error) = service.flush_journal() {
            service.stats.problem("journal", Some(format!("the journal cannot be written: {error}")));
        }
        let (long, broken) = {
            let running = service.running();
            (running.journal.written() > MAX_JOURNAL, running.journal.broken)
        };
        let long = long && checkpoint.elapsed() >= MIN_CHECKPOINT_PAUSE;
        if long || broken || checkpoint.elapsed() >= CHECKPOINT {
            checkpoint = Instant::now();
            let done = service.checkpoint();
            if broken && done.is_ok() {
                service.stats.problem("journal", None);
            }
            service
                .stats
                .problem("series", done.err().map(|error| format!("series cannot be written: {error:#}")));
        }
        if clock.look(service) {
            kept = Some(Instant::now());
        }
        if kept.is_none_or(|kept| kept.elapsed() >= FORGET) {
            kept = Some(Instant::now());
            forget_old(service);
        }
        if service.database_is_damaged() {
            let mended = service.mend();
            let text = |error: anyhow::Error| format!("the damaged database cannot be replaced: {error:#}");
            service.stats.problem("damage", mended.err().map(text));
        }
        if !service.data_are_there() {
            let problem = service.write_again().err();
            let text =
                |error| format!("the data were removed or replaced, and cannot be written anew: {error:#}");
            service.stats.problem("data", problem.map(text));
        } else {
            service.stats.problem("data", None);
        }
        end_silent(service);
        crate::alarms::look(service);
        tell(service);
        while begun.elapsed() < SECOND && !stop.load(Relaxed) {
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

/// Do something again and again, with such a pause in between, until told to stop.
pub fn every(pause: Duration, stop: &AtomicBool, mut work: impl FnMut()) {
    let mut last: Option<Instant> = None;
    while !stop.load(Relaxed) {
        if last.is_some_and(|last| last.elapsed() < pause) {
            std::thread::sleep(Duration::from_millis(100).min(pause));
            continue;
        }
        last = Some(Instant::now());
        work();
    }
}

/// Keep the priorities of running jobs in a directory, which may hang: nobody waits for this.
pub fn keep_priorities(service: &Service, mut directory: Configfs, stop: &AtomicBool) {
    every(SECOND, stop, || {
        let wanted = service.priorities().all();
        let problem = directory.keep(&wanted).err();
        let text = problem.map(|error| format!("a priority cannot be written: {error}"));
        service.stats.problem("priorities", text);
    });
}

/// A pushed job that says nothing any more has ended somehow.
fn end_silent(service: &Service) {
    let longest = service.config.silence;
    let silent: Vec<i64> = {
        let running = service.running();
        let is_silent = |job: &&LiveJob| {
            job.row.origin != Origin::Trace && job.connections == 0 && job.heard.elapsed() > longest
        };
        running.jobs.values().filter(is_silent).map(|job| job.row.id).collect()
    };
    for id in silent {
        let done = finished::pushed(service, id, State::Lost);
        service.stored(done);
    }
}

/// Jobs that ended too long ago, with their series.
fn forget_old(service: &Service) {
    let Some(keep) = service.config.keep else { return };
    loop {
        let forgotten = service.writer().forget_some(now() - keep.as_secs_f64());
        let Some(ids) = service.stored(forgotten).filter(|ids| !ids.is_empty()) else { return };
        ids.iter().for_each(|id| service.files.remove(*id));
        service.stats.forgotten.add(ids.len() as u64);
    }
}

/// Nothing is known of the last day: the clock may be ahead, and is likely to be set soon after a start.
/// Nothing is forgotten at once then.
fn clock_may_be_wrong(service: &Service) -> bool {
    const DAY: f64 = 86_400.0;
    let latest = service.reader().latest_end();
    service.stored(latest).flatten().is_some_and(|latest| latest < now() - DAY)
}

/// Notices when the clock of the machine is set.
struct Clock {
    wall: f64,
    steady: Instant,
}

impl Clock {
    fn new() -> Self {
        Clock { wall: now(), steady: Instant::now() }
    }

    /// Whether it was set.
    fn look(&mut self, service: &Service) -> bool {
        let before = std::mem::replace(self, Self::new());
        let by = (self.wall - before.wall) - (self.steady - before.steady).as_secs_f64();
        if by.abs() >= CLOCK_STEP {
            tracing::warn!(by, "the clock was set by {by:+.1} s; running jobs go on where they were");
            service.clock_was_set(by);
        }
        by.abs() >= CLOCK_STEP
    }
}

/// Tell watchers what running jobs do, once a second for all of them.
fn tell(service: &Service) {
    if service.events.receiver_count() == 0 {
        return;
    }
    let time = now();
    let mut jobs: Vec<Brief> = service.running().jobs.values().map(|job| Brief::of(job, time)).collect();
    // Those that move most come first: there may be too many to be shown.
    jobs.sort_by(|a, b| b.rate.total_cmp(&a.rate));
    let text = |job: Brief| (job.owner, serde_json::to_string(&job).unwrap_or_default());
    service.tell_jobs(time, jobs.into_iter().map(text).collect());
}

/// A running job in a few numbers.
#[derive(Clone, Debug, Serialize)]
pub struct Brief {
    #[serde(skip)]
    pub owner: Option<u32>,
    id: i64,
    jobid: String,
    origin: Origin,
    app: String,
    size: i64,
    start: f64,
    rate: f64,
    written_bytes: f64,
    read_bytes: f64,
    period: Option<f64>,
    confidence: Option<f64>,
    next_start: Option<f64>,
    next_end: Option<f64>,
    next_bytes: Option<u64>,
    /// Up to when it is known what it does.
    known: f64,
    lag: f64,
    spark: Vec<f64>,
}

impl Brief {
    pub fn of(job: &LiveJob, time: f64) -> Self {
        let found = job.detection.as_ref();
        let next = job.expected();
        Brief {
            owner: job.row.owner,
            id: job.row.id,
            jobid: job.row.desc.jobid.clone(),
            origin: job.row.origin,
            app: job.row.app.clone(),
            size: job.row.desc.size,
            start: job.row.start,
            rate: job.rate(time),
            written_bytes: job.row.written_bytes,
            read_bytes: job.row.read_bytes,
            period: found.and_then(|found| found.period),
            confidence: found.map(|found| found.confidence),
            next_start: next.map(|(start, ..)| job.row.start + start),
            next_end: next.map(|(_, end, _)| job.row.start + end),
            next_bytes: next.map(|(.., bytes)| bytes),
            known: job.known_until(),
            lag: time - job.last,
            spark: job.spark(time, SPARK),
        }
    }
}

/// Look at the period of jobs whose phase has ended, until told to stop.
pub fn predict(service: &Service, stop: &AtomicBool) {
    while !stop.load(Relaxed) {
        let due: Vec<i64> = {
            let running = service.running();
            let due = running.jobs.values().filter(|job| job.is_due() && job.row.origin != Origin::Node);
            in_turn(due.map(|job| (job.row.owner, job.row.id)))
        };
        let begun = Instant::now();
        for id in due.iter().take_while(|_| begun.elapsed() < PREDICTING_TIME) {
            service.stored(predict_job(service, *id));
        }
        std::thread::sleep(Duration::from_millis(if due.is_empty() { 200 } else { 10 }));
    }
}

/// One job of each owner, then the next of each, and so on: who has many makes nobody else wait.
fn in_turn(jobs: impl Iterator<Item = (Option<u32>, i64)>) -> Vec<i64> {
    let mut counts: HashMap<Option<u32>, usize> = HashMap::new();
    let mut all: Vec<(usize, i64)> = jobs
        .map(|(owner, id)| {
            let count = counts.entry(owner).or_default();
            *count += 1;
            (*count, id)
        })
        .collect();
    all.sort_by_key(|(round, _)| *round);
    all.into_iter().map(|(_, id)| id).collect()
}

fn predict_job(service: &Service, id: i64) -> anyhow::Result<()> {
    let Some(job) = service.running().jobs.get(&id).cloned() else { return Ok(()) };
    let begun = Instant::now();
    let known = job.known;
    let found = foresee::of_bytes(&job.row.desc.jobid, &job.series, job.row.desc.size, known);
    service.stats.prediction(begun.elapsed().as_secs_f64());
    let mut foretold = job.foretold.clone();
    if let Some(found) = &found {
        if let (Some(hit), Some(foretold)) = (judge(service, &job, found), &mut foretold) {
            foretold.hit = Some(hit);
        }
        foretold = keep(service, &job, found, known)?.or(foretold);
    }
    if let Some(job) = service.running().jobs.get_mut(&id) {
        job.looked(known);
        job.foretold = foretold;
        if let Some(found) = &found {
            (job.row.period, job.row.confidence) = (found.period, found.period.map(|_| found.confidence));
        }
        job.detection = found;
    }
    service.running().settle(id);
    Ok(())
}

/// Keep what was foretold: nothing if that was done already, as before a restart.
fn keep(
    service: &Service,
    job: &LiveJob,
    found: &Detection,
    known: f64,
) -> anyhow::Result<Option<PredictionRow>> {
    let Some(next) = found.next_phase.filter(|next| !next.provisional) else { return Ok(None) };
    let at = |time: f64| job.row.start + time;
    if job.foretold.as_ref().is_some_and(|before| at(known) <= before.made) {
        return Ok(None);
    }
    let mut row = PredictionRow {
        id: 0,
        job: job.row.id,
        made: at(known),
        start: at(next.start),
        low: at(next.start_low),
        high: at(next.start_high),
        end: at(next.end),
        bytes: next.bytes as f64,
        period: found.period,
        confidence: found.confidence,
        came: None,
        hit: None,
    };
    row.id = service.writer().insert_prediction(&row)?;
    Ok(Some(row))
}

/// Was the last prediction right? The first phase that begins after it was made tells.
pub fn judge(service: &Service, job: &LiveJob, found: &Detection) -> Option<bool> {
    let foretold = job.foretold.as_ref().filter(|foretold| foretold.hit.is_none())?;
    // Phases of reads say nothing about one of writes.
    if job.detection.as_ref().is_some_and(|before| before.mode != found.mode) {
        return None;
    }
    let mut starts = found.phases.iter().map(|phase| job.row.start + phase.start);
    let came = starts.find(|start| *start > foretold.made)?;
    let near = foretold.period.map_or(0.0, |period| TOLERANCE * period);
    let hit = (foretold.low..=foretold.high).contains(&came) || (came - foretold.start).abs() <= near;
    let judged = service.writer().judge_prediction(foretold.id, came, hit);
    service.stored(judged).map(|()| hit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_has_one_job_comes_before_the_second_of_another() {
        let jobs = [(Some(1), 10), (Some(1), 11), (Some(1), 12), (Some(2), 20), (None, 30), (Some(2), 21)];
        assert_eq!(in_turn(jobs.into_iter()), [10, 20, 30, 11, 21, 12]);
    }
}
