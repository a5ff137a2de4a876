//! The state of the service, and what may be asked of it.

mod data;
mod keep;
mod limits;
mod open;

use crate::apps::Fitted;
use crate::config::Config;
use crate::job::{JobDesc, Kind, Total, Totals};
use crate::live::LiveJob;
use crate::lock::locked;
use crate::priorities::{Priorities, earlier_runs};
use crate::running::Running;
use crate::series::{Damaged, Series, SeriesFiles};
use crate::share::Pot;
use crate::stats::Stats;
use crate::store::{JobRow, Lock, Store, is_damaged};
use crate::viewer::Viewer;
use crate::workers::Workers;
use hyper::body::Bytes;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Instant, SystemTime, UNIX_EPOCH};
use tokio::sync::broadcast;

/// Seconds since 1970.
pub fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |time| time.as_secs_f64())
}

/// What watchers of the page are told.
#[derive(Debug)]
pub struct Event {
    pub id: u64,
    pub name: &'static str,
    pub about: About,
    /// The text as those see it who see everything, and as each user does: made once, however many watch.
    pub made: Mutex<HashMap<(bool, Option<u32>), Bytes>>,
}

impl Event {
    pub fn new(id: u64, name: &'static str, about: About) -> Self {
        Event { id, name, about, made: Mutex::default() }
    }
}

/// What an event is about.
#[derive(Clone, Debug)]
pub enum About {
    /// One job, or none: for its owner, and those who see everything.
    One { owner: Option<u32>, text: String },
    /// All running jobs, each with its owner.
    Jobs { time: f64, jobs: Vec<(Option<u32>, String)> },
}

/// An application, and the user whose runs count; `None`: those of everybody.
type ModelsOf = (String, Option<u32>);

/// The service.
#[derive(Debug)]
pub struct Service {
    pub config: Config,
    pub files: SeriesFiles,
    pub stats: Stats,
    pub started: f64,
    /// The same by a clock that nobody sets.
    pub opened: Instant,
    pub events: broadcast::Sender<Arc<Event>>,
    /// Bytes for bodies of requests, and places of watchers.
    pub bodies: Pot,
    pub watchers: Pot,
    pub workers: Workers,
    /// What each owner has added to the data lately.
    stored: limits::Stored,
    /// Held by whoever writes the journal.
    journal: Mutex<()>,
    /// Something was written to it that may not be on the disk yet.
    unflushed: AtomicBool,
    running: Mutex<Running>,
    writer: Mutex<Store>,
    /// A question that takes long does not keep others waiting.
    readers: [Mutex<Store>; READERS],
    next_reader: AtomicUsize,
    damaged: AtomicBool,
    /// Held by whoever writes what is kept of a job, so that nobody writes something older over it.
    saving: Mutex<()>,
    /// Held by whoever makes a new job of a push, so that two pushes make one job.
    beginning: Mutex<()>,
    models: Mutex<HashMap<ModelsOf, Arc<Fitted>>>,
    pub alarms: Mutex<crate::alarms::Alarms>,
    /// What jobs moved that have ended.
    pub past: Mutex<crate::past::Past>,
    pub squeue: Mutex<crate::ingest::slurm::Queue>,
    priorities: Mutex<Priorities>,
    lock: Mutex<Lock>,
    /// Traces of jobs that were lost by damage.
    again: Mutex<Vec<PathBuf>>,
}

/// Connections to the database for questions.
const READERS: usize = 4;
/// Models of this many applications are kept.
const MAX_MODELS: usize = 256;
/// Running jobs that a watcher is told of.
pub const MAX_TOLD: usize = 300;
/// Watchers at the same time.
const MAX_WATCHERS: usize = 1024;
/// Events that a slow watcher may be behind: they stay in memory for it.
const MAX_EVENTS: usize = 32;

impl Service {
    /// Running jobs. Nobody waits for a disk while holding this.
    pub fn running(&self) -> MutexGuard<'_, Running> {
        locked(&self.running)
    }

    /// The priorities of running jobs, as they are now.
    pub fn priorities(&self) -> MutexGuard<'_, Priorities> {
        let mut priorities = locked(&self.priorities);
        let seen = priorities.seen(&self.running());
        priorities.look(seen, |job| {
            if job.app.is_empty() {
                return Vec::new();
            }
            let rows = self.reader().jobs(&earlier_runs(job), &Viewer::ALL).unwrap_or_default();
            let own = rows.into_iter().filter(|row| row.owner == job.owner);
            own.filter_map(|row| row.period).collect()
        });
        priorities
    }

    /// The database, to change it.
    pub fn writer(&self) -> MutexGuard<'_, Store> {
        locked(&self.writer)
    }

    /// The database, to ask it.
    pub fn reader(&self) -> MutexGuard<'_, Store> {
        let free = self.readers.iter().find_map(|reader| reader.try_lock().ok());
        free.unwrap_or_else(|| locked(&self.readers[self.next_reader.fetch_add(1, Relaxed) % READERS]))
    }

    /// Nobody else writes what is kept of a job meanwhile.
    pub fn saving(&self) -> MutexGuard<'_, ()> {
        locked(&self.saving)
    }

    /// Nobody else makes a new job meanwhile.
    pub fn beginning(&self) -> MutexGuard<'_, ()> {
        locked(&self.beginning)
    }

    /// Whether something could be stored: it is said if not. Damage is mended at the next opportunity.
    pub fn stored<T>(&self, done: anyhow::Result<T>) -> Option<T> {
        let problem = done.as_ref().err();
        if problem.is_some_and(is_damaged) {
            self.damaged.store(true, Relaxed);
        }
        let text = problem.map(|error| format!("the data cannot be written: {error:#}"));
        self.stats.problem("database", text);
        done.ok()
    }

    /// A question could not be answered because of damage.
    pub fn notice_damage(&self) {
        self.damaged.store(true, Relaxed);
    }

    /// Was damage met since this was last asked?
    pub fn database_is_damaged(&self) -> bool {
        self.damaged.swap(false, Relaxed)
    }

    /// Tell those who watch about a job.
    pub fn tell(&self, name: &'static str, owner: Option<u32>, data: &serde_json::Value) {
        self.send(name, About::One { owner, text: data.to_string() });
    }

    /// Tell those who watch what runs.
    pub fn tell_jobs(&self, time: f64, jobs: Vec<(Option<u32>, String)>) {
        self.send("jobs", About::Jobs { time, jobs });
    }

    fn send(&self, name: &'static str, about: About) {
        let id = self.stats.events.add(1);
        // Nobody may be there.
        let _ = self.events.send(Arc::new(Event::new(id, name, about)));
    }

    /// The clock of this machine was set: jobs whose times are those of our clock go on where they were.
    pub fn clock_was_set(&self, by: f64) {
        for job in self.running().jobs.values_mut().filter(|job| job.by_our_clock) {
            job.row.start += by;
            job.row.desc.start_time = job.row.start as u64;
            job.last += by;
            job.saved = false;
        }
    }

    /// The service was stopped for this long: whoever could not be heard meanwhile was not silent.
    pub fn was_stopped(&self, gap: std::time::Duration) {
        let gap_s = gap.as_secs_f64();
        tracing::warn!(gap_s, "nothing could be done for {gap_s:.0} s; nobody is silent for it");
        for job in self.running().jobs.values_mut() {
            job.heard += gap;
        }
    }

    /// The latest job of that id, running ones first.
    pub fn find(&self, jobid: &str, viewer: &Viewer) -> anyhow::Result<Option<JobRow>> {
        let live = {
            let running = self.running();
            let of_id = |job: &&LiveJob| job.row.desc.jobid == jobid && viewer.sees(job.row.owner);
            running.jobs.values().rev().find(of_id).map(|job| job.row.clone())
        };
        match live {
            Some(row) => Ok(Some(row)),
            None => self.reader().job_by_jobid(jobid, viewer),
        }
    }

    /// A job by its number.
    pub fn job(&self, id: i64, viewer: &Viewer) -> anyhow::Result<Option<JobRow>> {
        let live = self.running().jobs.get(&id).map(|job| job.row.clone());
        let row = match live {
            Some(row) => Some(row),
            None => self.reader().job(id)?,
        };
        Ok(row.filter(|row| viewer.sees(row.owner)))
    }

    /// What the metrics of a job came to.
    pub fn totals(&self, id: i64) -> anyhow::Result<Totals> {
        if let Some(job) = self.running().jobs.get(&id) {
            return Ok(job.totals.clone());
        }
        Ok(self.reader().details(id)?.map(|(totals, _, _)| totals).unwrap_or_default())
    }

    /// The series of a job; empty if there is none. `Err`: it is damaged.
    pub fn series(&self, id: i64) -> Result<Series, Damaged> {
        if let Some(job) = self.running().jobs.get(&id) {
            return Ok(job.series.clone());
        }
        let loaded = self.files.load(id);
        if let Err(damaged) = &loaded {
            self.series_is_damaged(id, damaged);
        }
        loaded.map(Option::unwrap_or_default)
    }

    /// Sums of counters and means of gauges over all running jobs that somebody may see: the job `main`.
    pub fn main(&self, viewer: &Viewer) -> (JobDesc, Totals) {
        let running = self.running();
        let jobs: Vec<&LiveJob> = running.jobs.values().filter(|job| viewer.sees(job.row.owner)).collect();
        let desc = JobDesc {
            jobid: "main".into(),
            command: "Sum of all jobs".into(),
            size: jobs.iter().map(|job| job.row.desc.size).sum(),
            start_time: self.started as u64,
            cluster: self.config.cluster.clone(),
            ..JobDesc::default()
        };
        let mut totals = Totals::new();
        let mut counts: HashMap<&str, f64> = HashMap::new();
        for (name, total) in jobs.iter().flat_map(|job| &job.totals) {
            let sum = totals.entry(name.clone()).or_insert_with(|| Total::new(total.kind, &total.doc));
            if sum.kind == total.kind {
                sum.value += total.value;
                sum.time = sum.time.max(total.time);
                *counts.entry(name).or_default() += 1.0;
            }
        }
        for (name, total) in totals.iter_mut().filter(|(_, total)| total.kind == Kind::Gauge) {
            total.value /= counts.get(name.as_str()).copied().unwrap_or(1.0);
        }
        (desc, totals)
    }

    /// The models of an application, fitted anew when there are new runs.
    pub fn models(&self, app: &str, viewer: &Viewer) -> anyhow::Result<Arc<Fitted>> {
        let key = (app.to_owned(), viewer.uid.filter(|_| !viewer.all));
        let version = self.reader().runs_version(app, viewer)?;
        let known = locked(&self.models).get(&key).cloned();
        if let Some(fitted) = known.filter(|fitted| fitted.version == version) {
            return Ok(fitted);
        }
        let runs = self.reader().runs(app, viewer, self.config.last_runs)?;
        let fitted = Arc::new(Fitted::new(&runs, version)?);
        let mut models = locked(&self.models);
        if models.len() >= MAX_MODELS {
            models.clear();
        }
        models.insert(key, Arc::clone(&fitted));
        Ok(fitted)
    }
}

/// Running jobs as JSON, from the JSON of each.
pub fn listed<'a>(time: f64, jobs: impl Iterator<Item = &'a str>) -> String {
    format!("{{\"time\":{time},\"jobs\":[{}]}}", jobs.collect::<Vec<_>>().join(","))
}
