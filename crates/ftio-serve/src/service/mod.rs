//! The state of the service, and what may be asked of it.

use crate::apps::Fitted;
use crate::config::Config;
use crate::job::{JobDesc, Kind, Origin, State, Total, Totals};
use crate::live::LiveJob;
use crate::priorities::{Priorities, earlier_runs};
use crate::running::Running;
use crate::series::journal::{self, Journal};
use crate::series::{Series, SeriesFiles};
use crate::stats::Stats;
use crate::store::{JobFilter, JobRow, Lock, Store, claim, is_damaged};
use crate::viewer::Viewer;
use anyhow::Context;
use hyper::body::Bytes;
use std::collections::HashMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Instant, SystemTime, UNIX_EPOCH};
use tokio::sync::{Semaphore, broadcast};

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
    pub hooks: Hooks,
    pub files: SeriesFiles,
    pub stats: Stats,
    pub started: f64,
    /// The same by a clock that nobody sets.
    pub opened: Instant,
    pub events: broadcast::Sender<Arc<Event>>,
    /// Room for bodies of requests, in KiB.
    pub bodies: Semaphore,
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
    pub squeue: Mutex<crate::ingest::slurm::Queue>,
    priorities: Mutex<Priorities>,
    lock: Mutex<Lock>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// Connections to the database for questions.
const READERS: usize = 4;
/// Jobs whose series are saved in one transaction.
const AT_ONCE: usize = 16;
/// However many jobs run, each has this many bytes for its series.
const LEAST_BUDGET: usize = 4096;
/// Models of this many applications are kept.
const MOST_MODELS: usize = 256;
/// Running jobs that a watcher is told of.
pub const MOST_TOLD: usize = 300;
/// Room for the bodies of all requests together, in KiB.
const ALL_BODIES: usize = 96 << 10;
/// Events that a slow watcher may be behind: they stay in memory for it.
const EVENTS: usize = 32;

impl Service {
    /// Open the data, and bring back the jobs that were running.
    pub fn open(config: Config, hooks: Hooks) -> anyhow::Result<Arc<Self>> {
        let lock = claim(&config.data)?;
        let writer = Store::open_or_mend(&config.data)?;
        let named = || format!("{}/jobs.db (and -wal, -shm beside it)", config.data.display());
        writer.check().with_context(named)?;
        let readers = [0; READERS].map(|_| Store::open(&config.data).map(Mutex::new));
        let [first, second, third, fourth] = readers;
        let readers = [first?, second?, third?, fourth?];
        let files = SeriesFiles::open(&config.data)?;
        let alarms = crate::alarms::Alarms::open(&config, &writer)?;
        let (journal, records) = Journal::open(&config.data)?;
        let mut running = Running::new(journal);
        let filter = JobFilter { state: Some(State::Running), limit: usize::MAX, ..JobFilter::default() };
        for row in writer.jobs(&filter, &Viewer::ALL)? {
            if row.origin != Origin::Trace {
                running.insert(revived(row, &writer, &files)?);
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
            opened: Instant::now(),
            events: broadcast::channel(EVENTS).0,
            bodies: Semaphore::new(ALL_BODIES),
            running: Mutex::new(running),
            writer: Mutex::new(writer),
            readers,
            next_reader: AtomicUsize::new(0),
            damaged: AtomicBool::new(false),
            saving: Mutex::default(),
            beginning: Mutex::default(),
            models: Mutex::default(),
            alarms: Mutex::new(alarms),
            squeue: Mutex::default(),
            priorities: Mutex::default(),
            lock: Mutex::new(lock),
            config,
        });
        service.checkpoint()?;
        Ok(service)
    }

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

    /// The database was found to be damaged: a new one takes its place, with all that can still be read.
    pub fn mend(&self) -> anyhow::Result<()> {
        let _saving = self.saving();
        let mut writer = self.writer();
        let mut readers: Vec<_> = self.readers.iter().map(locked).collect();
        // Nobody may have the old files open while they are moved away.
        *writer = Store::nowhere()?;
        for reader in &mut readers {
            **reader = Store::nowhere()?;
        }
        *writer = Store::open_or_mend(&self.config.data)?;
        for reader in &mut readers {
            **reader = Store::open(&self.config.data)?;
        }
        // Running jobs may not have been among what could be read.
        let rows: Vec<JobRow> = self.running().jobs.values().map(|job| job.row.clone()).collect();
        writer.transaction(|store| rows.iter().try_for_each(|row| store.put_job(row)))
    }

    /// Are the files of the data where they were?
    pub fn data_are_there(&self) -> bool {
        locked(&self.lock).holds() && self.writer().is_in_place() && self.running().journal.is_in_place()
    }

    /// The directory of data was removed, or something else was put there: what is known is written anew.
    pub fn write_again(&self) -> anyhow::Result<()> {
        let data = &self.config.data;
        let saving = self.saving();
        {
            let mut lock = locked(&self.lock);
            if !lock.holds() {
                *lock = claim(data)?;
            }
        }
        let mut writer = self.writer();
        if !writer.is_in_place() {
            let mut readers: Vec<_> = self.readers.iter().map(locked).collect();
            let aside = writer.write_again(data)?;
            *writer = Store::open(data)?;
            for reader in &mut readers {
                **reader = Store::open(data)?;
            }
            let aside = aside.map(|path| format!("; what was in its place is {}", path.display()));
            eprintln!(
                "ftio serve: {}: the database was removed or replaced while the service ran, and is written \
                 anew{}",
                data.display(),
                aside.unwrap_or_default()
            );
        }
        drop((writer, saving));
        self.running().jobs.values_mut().for_each(|job| job.saved = false);
        self.checkpoint()
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

    /// Bytes for the series of each job, if there are this many.
    pub fn budget(&self, running: usize) -> usize {
        self.config.budget.min((self.config.memory / running.max(1)).max(LEAST_BUDGET))
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

    /// Put what was pushed in the last second on disk.
    pub fn flush_journal(&self) -> anyhow::Result<()> {
        let frame = self.running().journal.frame()?;
        if let Some((frame, mut file)) = frame {
            if let Err(error) = journal::write(&frame, &mut file) {
                // Said before pushes are refused because of it.
                let text = format!("the journal cannot be written: {error}");
                self.stats.problem("journal", Some(text));
                self.running().journal.broken = true;
                return Err(error.into());
            }
            self.stats.journal_bytes.add(frame.len() as u64);
        }
        Ok(())
    }

    /// Write all running series to their files, so that the journal can begin anew.
    pub fn checkpoint(&self) -> anyhow::Result<()> {
        self.flush_journal()?;
        let (before, ids) = {
            let mut running = self.running();
            let before = running.journal.rotate()?;
            let pushed = running.jobs.values().filter(|job| job.row.origin != Origin::Trace && !job.saved);
            (before, pushed.map(|job| job.row.id).collect::<Vec<i64>>())
        };
        for some in ids.chunks(AT_ONCE) {
            self.save(some)?;
        }
        let mut running = self.running();
        running.journal.broken = false;
        running.journal.forget(before);
        Ok(())
    }

    /// Save some running jobs.
    fn save(&self, ids: &[i64]) -> anyhow::Result<()> {
        let _saving = self.saving();
        let jobs: Vec<LiveJob> = {
            let running = self.running();
            ids.iter().filter_map(|id| running.jobs.get(id).cloned()).collect()
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
        let mut running = self.running();
        for job in &jobs {
            if let Some(live) = running.jobs.get_mut(&job.row.id) {
                live.saved = live.series.journaled == job.series.journaled;
            }
        }
        Ok(())
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
