//! The service opens its data, and brings back the jobs that were running, within the memory that it may
//! have.

use super::limits::Stored;
use super::{MAX_EVENTS, MAX_WATCHERS, READERS, Service, now};
use crate::config::Config;
use crate::damage::{Damages, Kind as Damage, copy_aside};
use crate::job::{Kind, Origin, State};
use crate::live::LiveJob;
use crate::running::Running;
use crate::series::journal::{self, Journal, Record};
use crate::series::{SeriesFiles, metric_cost};
use crate::share::Pot;
use crate::stats::Stats;
use crate::store::{JobFilter, JobRow, Sort, Store, claim};
use crate::viewer::Viewer;
use crate::workers::Workers;
use anyhow::Context;
use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::sync::{Arc, Mutex};
use std::time::Instant;
use tokio::sync::broadcast;

/// Of the jobs that ended last, so many are looked at at the start.
const MAX_ENDED: usize = 10_000;

impl Service {
    /// Open the data, and bring back the jobs that were running.
    pub fn open(config: Config) -> anyhow::Result<Arc<Self>> {
        let stats = Stats::default();
        let lock = claim(&config.data)?;
        let writer = Store::open_or_mend(&config.data, &stats.damage)?;
        let named = || format!("{}/jobs.db (and -wal, -shm beside it)", config.data.display());
        writer.check().with_context(named)?;
        let readers = [0; READERS].map(|_| writer.another(&config.data).map(Mutex::new));
        let [first, second, third, fourth] = readers;
        let readers = [first?, second?, third?, fourth?];
        let files = SeriesFiles::open(&config.data)?;
        let alarms = crate::alarms::Alarms::open(&config, &writer)?;
        let past = Past {
            config: &config,
            files: &files,
            damages: &stats.damage,
            journal: journal::files(&config.data),
        };
        let mut running = Running::new(Journal::open(&config.data)?, &config);
        let mut writer = writer;
        past.bring_back(&mut writer, &mut running)?;
        let ended = past.ended(&writer)?;
        let service = Arc::new(Service {
            started: now(),
            opened: Instant::now(),
            events: broadcast::channel(MAX_EVENTS).0,
            bodies: Pot::new("bytes of bodies", config.memory_of_bodies()),
            watchers: Pot::new("watchers", MAX_WATCHERS),
            workers: Workers::default(),
            stored: Stored::default(),
            journal: Mutex::default(),
            unflushed: AtomicBool::new(false),
            running: Mutex::new(running),
            writer: Mutex::new(writer),
            readers,
            next_reader: AtomicUsize::new(0),
            damaged: AtomicBool::new(false),
            saving: Mutex::default(),
            beginning: Mutex::default(),
            models: Mutex::default(),
            alarms: Mutex::new(alarms),
            past: Mutex::new(ended),
            squeue: Mutex::default(),
            priorities: Mutex::default(),
            lock: Mutex::new(lock),
            again: Mutex::default(),
            files,
            stats,
            config,
        });
        service.checkpoint()?;
        Ok(service)
    }
}

/// What a former service has left.
struct Past<'a> {
    config: &'a Config,
    files: &'a SeriesFiles,
    damages: &'a Damages,
    /// The files of its journal.
    journal: Vec<PathBuf>,
}

impl Past<'_> {
    /// Bring back all jobs. If there are more than fit, as after a start with less `--memory`, the largest of
    /// who has most have ended.
    fn bring_back(&self, store: &mut Store, running: &mut Running) -> anyhow::Result<()> {
        let mut without_room = Vec::new();
        for id in store.running()? {
            let Some(row) = store.job(id)? else { continue };
            if row.origin == Origin::Trace {
                if !is_there(Path::new(&row.path)) {
                    // What comes from a file is read from it again; this one is gone.
                    store.update_job(&JobRow { state: State::Lost, end: row.start, ..row })?;
                }
                continue;
            }
            let job = self.revived(row, store)?;
            without_room.extend(running.send_away(job.memory()));
            running.insert(job);
        }
        let mut last = 0;
        self.replay(true, &mut |record| {
            last = last.max(record.n);
            let id = record.job;
            let Some(job) = running.jobs.get(&id) else { return };
            let new = record.values.iter().filter(|(name, ..)| !job.totals.contains_key(name));
            let cost = new.map(|(name, ..)| metric_cost(name)).sum();
            without_room.extend(running.send_away(cost));
            if let Some(job) = running.jobs.get_mut(&id) {
                apply(job, record, self.config.budget);
                running.settle(id);
            }
        });
        last = running.jobs.values().map(|job| job.series.journaled).max().unwrap_or(0).max(last);
        running.journal.start_after(last);
        self.end_without_room(&without_room, store, running)
    }

    /// What jobs moved lately that have ended.
    fn ended(&self, store: &Store) -> anyhow::Result<crate::past::Past> {
        let (mut past, time) = (crate::past::Past::default(), now());
        let latest = JobFilter { sort: Sort::END, limit: MAX_ENDED, ..JobFilter::default() };
        let latest = store.jobs(&latest, &Viewer::ALL)?.into_iter();
        for row in latest.take_while(|row| row.end >= time - crate::past::SPAN) {
            match self.files.load(row.id) {
                Ok(Some(series)) => past.add(&row, &series, time),
                Err(damaged) if damaged.new => {
                    let (id, kept) = (row.id, damaged.aside.display());
                    self.damages
                        .add(Damage::Series, &format!("the series of job {id}: it is kept as {kept}"));
                }
                Ok(None) | Err(_) => {}
            }
        }
        Ok(past)
    }

    /// Jobs for which there is no room have ended: they are stored as far as they are known, some at a time.
    fn end_without_room(&self, ids: &[i64], store: &mut Store, running: &mut Running) -> anyhow::Result<()> {
        if !ids.is_empty() {
            let jobs = ids.len();
            tracing::warn!(
                jobs,
                "{jobs} running jobs do not fit into --memory: they are taken for ended, with all that is known"
            );
        }
        let mut ids = ids.iter();
        loop {
            let (mut some, mut memory) = (BTreeMap::new(), 0);
            while memory < self.config.memory / 8 {
                let Some(id) = ids.next() else { break };
                if let Some(row) = store.job(*id)? {
                    let job = self.revived(row, store)?;
                    memory += job.memory();
                    some.insert(*id, job);
                }
            }
            if some.is_empty() {
                return Ok(());
            }
            self.replay(false, &mut |record| {
                if let Some(job) = some.get_mut(&record.job) {
                    apply(job, record, self.config.budget);
                }
            });
            self.files.save(some.values().map(|job| (job.row.id, &job.series)))?;
            store.transaction(|store| {
                for job in some.values_mut() {
                    (job.row.state, job.row.end) = (State::Lost, job.row.start + job.known);
                    job.row.desc.end_time = job.row.end as u64;
                    store.update_job(&job.row)?;
                    let nothing = serde_json::Value::Null;
                    store.set_details(job.row.id, &job.totals, &nothing, &serde_json::json!([]))?;
                    if job.row.origin == Origin::Push {
                        store.add_to_day(&job.row)?;
                    }
                }
                Ok(())
            })?;
            let last = some.values().map(|job| job.series.journaled).max().unwrap_or(0);
            running.journal.start_after(last);
        }
    }

    /// Read the journal. What cannot be read of it is told if `tell` says so, and kept aside.
    fn replay(&self, tell: bool, visit: &mut dyn FnMut(Record)) {
        for path in &self.journal {
            let read = File::open(path).and_then(|file| journal::read(file, visit));
            let name = path.display();
            let text = match read {
                Ok(lost) if lost.is_empty() => continue,
                Ok(lost) => {
                    let bytes: u64 = lost.iter().map(|lost| lost.to - lost.from).sum();
                    let from = lost.first().map_or(0, |lost| lost.from);
                    let only_end = lost.iter().all(|lost| lost.at_end);
                    let end =
                        if only_end { " at its end: a write that was not finished, or damage" } else { "" };
                    format!("{name}: {bytes} bytes from {from} on cannot be read{end}; all others are")
                }
                Err(error) => format!("{name}: {error}; what it holds is lost"),
            };
            if tell {
                let number = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                let kept = copy_aside(&self.config.data, path, &format!("journal-{number}"));
                let kept = kept.map_or_else(|error| error.to_string(), |path| path.display().to_string());
                self.damages.add(Damage::Journal, &format!("{text}; the file is kept in {kept}"));
            }
        }
    }

    /// A pushed job that was running when the service ended.
    fn revived(&self, row: JobRow, store: &Store) -> anyhow::Result<LiveJob> {
        let id = row.id;
        let mut job = LiveJob::new(row, 0, now());
        job.saved = true;
        match self.files.load(id) {
            Ok(Some(series)) => {
                job.known = series.bins() as f64 * series.period();
                job.series = series;
            }
            Ok(None) => {}
            Err(damaged) if damaged.new => {
                let kept = damaged.aside.display();
                self.damages
                    .add(Damage::Series, &format!("the series of running job {id}: it is kept as {kept}"));
            }
            Err(_) => {}
        }
        job.foretold = store.predictions(id, 1)?.pop();
        if let Some((totals, _, _)) = store.details(id)? {
            job.restore(totals);
        }
        // Sums are those of the series, whatever was saved when.
        let sums: Vec<(String, f64)> =
            job.series.columns().keys().map(|name| (name.clone(), job.series.total(name))).collect();
        for (name, sum) in sums {
            if let Some(total) = job.totals.get_mut(&name).filter(|total| total.kind == Kind::Counter) {
                total.value = sum + total.first;
            }
        }
        job.sum_up();
        Ok(job)
    }
}

/// What the journal says of a job, unless its series has it already.
fn apply(job: &mut LiveJob, record: Record, budget: usize) {
    if record.n <= job.series.journaled {
        job.apply_sums(record.t, &record.values);
    } else {
        let wall = job.row.start + record.t;
        job.apply(record.t, &record.values, |_| String::new(), wall, budget);
        job.series.journaled = record.n;
    }
}

/// A trace, or its parts.
fn is_there(path: &Path) -> bool {
    path.exists() || tmio_trace::parts::directory(path).exists()
}
