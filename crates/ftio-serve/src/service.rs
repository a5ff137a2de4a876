//! The state of the service, and what may be asked of it.

use crate::apps::Fitted;
use crate::config::Config;
use crate::job::{JobDesc, Kind, Origin, State, Total, Totals};
use crate::live::LiveJob;
use crate::series::journal::{self, Journal};
use crate::series::{Series, SeriesFiles};
use crate::stats::Stats;
use crate::store::{JobFilter, JobRow, Lock, Store, claim};
use crate::viewer::Viewer;
use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{SystemTime, UNIX_EPOCH};
use tokio::sync::broadcast;

/// What the command gives the service: charts that pictures and reports use as well, and reports.
#[derive(Clone, Copy)]
pub struct Hooks {
    /// Charts, light and dark, and their style.
    pub chart: &'static str,
    pub theme: &'static str,
    pub style: &'static str,
    /// The report about a trace, as a page.
    pub report: fn(&Path) -> Result<String, String>,
    /// What is wrong with the I/O of a trace, as `ftio advise --json` says it.
    pub findings: fn(&Path) -> Result<serde_json::Value, String>,
}

impl std::fmt::Debug for Hooks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Hooks")
    }
}

/// Seconds since 1970.
pub fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |time| time.as_secs_f64())
}

/// Running jobs, and the journal of what is pushed.
#[derive(Debug)]
pub struct Running {
    pub jobs: BTreeMap<i64, LiveJob>,
    pub journal: Journal,
}

/// What watchers of the page are told.
#[derive(Clone, Debug)]
pub struct Event {
    pub id: u64,
    pub name: &'static str,
    pub about: About,
}

/// What an event is about. The text is made once, however many watch.
#[derive(Clone, Debug)]
pub enum About {
    /// One job, or none: for its owner, and those who see everything.
    One { owner: Option<u32>, text: String },
    /// All running jobs, each with its owner; and the whole for those who see everything.
    Jobs { time: f64, jobs: Vec<(Option<u32>, String)>, whole: String },
}

/// An application, and the user whose runs count; `None`: those of everybody.
type ModelsOf = (String, Option<u32>);

/// The service.
#[derive(Debug)]
pub struct Service {
    pub config: Config,
    pub hooks: Hooks,
    pub files: SeriesFiles,
    pub stats: Stats,
    pub started: f64,
    pub events: broadcast::Sender<Arc<Event>>,
    running: Mutex<Running>,
    writer: Mutex<Store>,
    reader: Mutex<Store>,
    models: Mutex<HashMap<ModelsOf, Arc<Fitted>>>,
    pub alarms: Mutex<crate::alarms::Alarms>,
    pub squeue: Mutex<crate::ingest::slurm::Queue>,
    _lock: Lock,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// Models of this many applications are kept.
const MOST_MODELS: usize = 256;
/// Events that a slow watcher may be behind.
const EVENTS: usize = 256;

impl Service {
    /// Open the data, and bring back the jobs that were running.
    pub fn open(config: Config, hooks: Hooks) -> anyhow::Result<Arc<Self>> {
        let lock = claim(&config.data)?;
        let writer = Store::open(&config.data)?;
        let reader = Store::open(&config.data)?;
        let files = SeriesFiles::open(&config.data)?;
        let alarms = crate::alarms::Alarms::open(&config, &writer)?;
        let (journal, records) = Journal::open(&config.data)?;
        let mut running = Running { jobs: BTreeMap::new(), journal };
        let filter = JobFilter { state: Some(State::Running), limit: usize::MAX, ..JobFilter::default() };
        for row in writer.jobs(&filter, &Viewer::ALL)? {
            if row.origin != Origin::Trace {
                running.jobs.insert(row.id, revived(row, &writer, &files)?);
            } else if !is_there(Path::new(&row.path)) {
                // What comes from a file is read from it again; this one is gone.
                writer.update_job(&JobRow { state: State::Lost, end: row.start, ..row })?;
            }
        }
        for record in &records {
            running.journal.start_after(record.n);
            let Some(job) = running.jobs.get_mut(&record.job) else { continue };
            if record.n > job.series.journaled {
                let wall = job.row.start + record.t;
                job.apply(record.t, &record.values, |_| String::new(), wall, config.budget);
                job.series.journaled = record.n;
            }
        }
        let last = running.jobs.values().map(|job| job.series.journaled).max().unwrap_or(0);
        running.journal.start_after(last);
        let service = Arc::new(Service {
            hooks,
            files,
            stats: Stats::default(),
            started: now(),
            events: broadcast::channel(EVENTS).0,
            running: Mutex::new(running),
            writer: Mutex::new(writer),
            reader: Mutex::new(reader),
            models: Mutex::default(),
            alarms: Mutex::new(alarms),
            squeue: Mutex::default(),
            _lock: lock,
            config,
        });
        service.checkpoint()?;
        Ok(service)
    }

    /// Running jobs. Nobody waits for a disk while holding this.
    pub fn running(&self) -> MutexGuard<'_, Running> {
        locked(&self.running)
    }

    /// The database, to change it.
    pub fn writer(&self) -> MutexGuard<'_, Store> {
        locked(&self.writer)
    }

    /// The database, to ask it.
    pub fn reader(&self) -> MutexGuard<'_, Store> {
        locked(&self.reader)
    }

    /// Tell those who watch about a job.
    pub fn tell(&self, name: &'static str, owner: Option<u32>, data: &serde_json::Value) {
        self.send(name, About::One { owner, text: data.to_string() });
    }

    /// Tell those who watch what runs.
    pub fn tell_jobs(&self, time: f64, jobs: Vec<(Option<u32>, String)>) {
        let whole = listed(time, jobs.iter().map(|(_, job)| job.as_str()));
        self.send("jobs", About::Jobs { time, jobs, whole });
    }

    fn send(&self, name: &'static str, about: About) {
        let id = self.stats.events.add(1);
        // Nobody may be there.
        let _ = self.events.send(Arc::new(Event { id, name, about }));
    }

    /// Put what was pushed in the last second on disk.
    pub fn flush_journal(&self) -> anyhow::Result<()> {
        let frame = self.running().journal.frame()?;
        if let Some((frame, mut file)) = frame {
            journal::write(&frame, &mut file)?;
            self.stats.journal_bytes.add(frame.len() as u64);
        }
        Ok(())
    }

    /// Write all running series to their files, so that the journal can begin anew.
    pub fn checkpoint(&self) -> anyhow::Result<()> {
        self.flush_journal()?;
        let (before, jobs) = {
            let mut running = self.running();
            let pushed = |job: &&LiveJob| job.row.origin != Origin::Trace;
            let jobs: Vec<LiveJob> = running.jobs.values().filter(pushed).cloned().collect();
            (running.journal.rotate()?, jobs)
        };
        for job in &jobs {
            self.files.save(job.row.id, &job.series, true)?;
        }
        self.writer().transaction(|store| {
            for job in &jobs {
                store.update_job(&job.row)?;
                let detection = serde_json::to_value(&job.detection)?;
                store.set_details(job.row.id, &job.totals, &detection, &serde_json::json!([]))?;
            }
            Ok(())
        })?;
        self.running().journal.forget(before);
        Ok(())
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

    /// The series of a job; empty if there is none.
    pub fn series(&self, id: i64) -> Series {
        if let Some(job) = self.running().jobs.get(&id) {
            return job.series.clone();
        }
        self.files.load(id).unwrap_or_default()
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
        if models.len() >= MOST_MODELS {
            models.clear();
        }
        models.insert(key, Arc::clone(&fitted));
        Ok(fitted)
    }
}

/// A trace, or its parts.
fn is_there(path: &Path) -> bool {
    path.exists() || tmio_trace::parts::directory(path).exists()
}

/// Running jobs as JSON, from the JSON of each.
pub fn listed<'a>(time: f64, jobs: impl Iterator<Item = &'a str>) -> String {
    format!("{{\"time\":{time},\"jobs\":[{}]}}", jobs.collect::<Vec<_>>().join(","))
}

/// A pushed job that was running when the service ended.
fn revived(row: JobRow, store: &Store, files: &SeriesFiles) -> anyhow::Result<LiveJob> {
    let id = row.id;
    let mut job = LiveJob::new(row, 0, now());
    if let Some(series) = files.load(id) {
        job.known = series.bins() as f64 * series.period();
        job.series = series;
    }
    if let Some((totals, _, _)) = store.details(id)? {
        job.totals = totals;
    }
    // Sums are those of the series, whatever was saved when.
    let sums: Vec<(String, f64)> =
        job.series.columns().keys().map(|name| (name.clone(), job.series.total(name))).collect();
    for (name, sum) in sums {
        if let Some(total) = job.totals.get_mut(&name).filter(|total| total.kind == Kind::Counter) {
            total.value = sum;
        }
    }
    let value = |name: &str| job.totals.get(name).map_or(0.0, |total| total.value);
    (job.row.written_bytes, job.row.read_bytes) = (value(crate::job::WRITTEN), value(crate::job::READ));
    Ok(job)
}
