//! A job that runs, followed through the parts of its trace.

use super::{below, trace};
use crate::job::{JobDesc, Origin, State};
use crate::live::LiveJob;
use crate::service::{Service, now};
use crate::share::Payer;
use files::{Dir, Kind};
use sources::OpenOptions;
use sources::follow::{Event, Follower};
use sources::request::Span;
use sources::time::seconds;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Ranks that have nothing to say are waited for this long.
const GRACE: Duration = Duration::from_secs(2);
/// How often to see whether the job is dead.
const LIVENESS: Duration = Duration::from_secs(5);
/// Time between two looks at a trace that does not grow, for each trace that is followed: a look takes about
/// a thirtieth of that, so all of them take that share of a core.
const PAUSE_OF_EACH: Duration = Duration::from_millis(3);
/// But it is looked at this often at least.
const SELDOM: Duration = Duration::from_secs(30);
/// Whether a job runs on another node cannot be seen. One whose parts have not changed for this long, in
/// seconds, is taken for dead.
const LEFT_BEHIND: f64 = 2.0 * 86_400.0;

/// One trace that grows.
#[derive(Debug)]
pub struct Followed {
    /// The watched directory, and the path of the parts below it.
    root: PathBuf,
    path: PathBuf,
    /// The parts: what has their name by now may be something else.
    folder: Dir,
    owner: u32,
    follower: Follower,
    job: Option<i64>,
    unsettled: Option<Instant>,
    checked: Instant,
    /// When to look again, and how long to wait after that if nothing has come.
    next: Instant,
    pause: Duration,
}

/// What begins.
enum Begun {
    Job(i64),
    /// Its header is not there yet, or the database cannot be written.
    NotYet,
    /// It was read already: parts that nobody has cleared away.
    Known,
}

impl Followed {
    /// Of the `.parts` of a trace, which are open, below a watched directory.
    pub fn new(root: &Path, parts: &Path, folder: Dir, owner: u32) -> Self {
        Followed {
            root: root.to_owned(),
            path: parts.to_owned(),
            owner,
            follower: follower(&folder),
            folder,
            job: None,
            unsettled: None,
            checked: Instant::now(),
            next: Instant::now(),
            pause: Duration::ZERO,
        }
    }

    /// When to look.
    pub fn due(&self) -> Instant {
        self.next
    }

    /// Something has happened to it.
    pub fn soon(&mut self) {
        self.next = Instant::now();
    }

    /// Look again after a while: twice as long as the last time if nothing has come. `count` are followed.
    fn later(&mut self, service: &Service, grew: bool, count: usize) {
        let poll = service.config.poll;
        let longest =
            (PAUSE_OF_EACH * u32::try_from(count).unwrap_or(u32::MAX)).clamp(poll, SELDOM.max(poll));
        self.pause = if grew { poll } else { (2 * self.pause).clamp(poll, longest) };
        self.next = Instant::now() + self.pause;
    }

    /// Take in what is new; one of `count` that are followed. `false`: there is nothing more to come.
    pub fn look(&mut self, service: &Service, count: usize) -> bool {
        let Some(changed) = self.changed() else {
            // The job has ended and its parts are gone; or somebody plays tricks.
            return self.gone(service);
        };
        if self.job.is_none() {
            match self.begin(service) {
                Begun::Job(id) => self.job = Some(id),
                Begun::Known => return false,
                Begun::NotYet => {}
            }
        }
        let Some(id) = self.job else {
            self.later(service, false, count);
            return true;
        };
        // Its trace was found, and read to its end.
        if !service.running().jobs.contains_key(&id) {
            return false;
        }
        let payer = Payer::owner(Some(self.owner));
        let bins = service.running().bins(&payer, service.config.standing(&payer));
        let budget = service.config.budget.min(bins);
        let time = now();
        let mut reset = false;
        let mut take = |event: Event<'_>| {
            let mut running = service.running();
            let Some(job) = running.jobs.get_mut(&id) else { return };
            match event {
                Event::Requests { requests, .. } => job.requests(requests, time, budget),
                Event::Flush { until, .. } => job.known = job.known.max(seconds(until)),
                Event::Restarted => reset = true,
                Event::Stream(_) | Event::Clock { .. } | Event::Warning(_) => {}
            }
        };
        let looked = self.follower.poll(&mut take);
        service.running().settle(id);
        let active = looked.as_ref().is_ok_and(|status| status.grew || status.unsettled);
        match &looked {
            Ok(status) if status.unsettled => {
                let since = *self.unsettled.get_or_insert_with(Instant::now);
                if since.elapsed() >= GRACE {
                    self.follower.settle(&mut take);
                    self.unsettled = None;
                }
            }
            _ => self.unsettled = None,
        }
        let told = service.running().jobs.get(&id).is_some_and(|job| job.is_over);
        let mut dead = !active && (told || time - changed > LEFT_BEHIND);
        if !dead && self.checked.elapsed() >= LIVENESS {
            self.checked = Instant::now();
            dead = self.follower.finish_if_dead(&mut take);
        }
        if reset {
            // Another run under the same name: begin anew.
            service.running().remove(id);
            self.follower = follower(&self.folder);
            (self.job, self.unsettled) = (None, None);
            self.soon();
            return true;
        }
        match looked {
            Ok(_) if dead => {
                self.dead(service, id);
                false
            }
            Ok(_) => {
                self.later(service, active, count);
                true
            }
            // What was read before stays: nothing more will come of it, unless it changes.
            Err(error) => {
                service.stats.trace_errors.add(1);
                let (door, name) = (self.folder.door(), self.path.to_string_lossy());
                let text = error.to_string().replace(&*door.to_string_lossy(), &name);
                tracing::warn!(path = %name, "{name}: {text}; it is not read again until it changes");
                self.dead(service, id);
                false
            }
        }
    }

    /// A new job, if its header is there.
    fn begin(&mut self, service: &Service) -> Begun {
        let jobs = tmio_trace::parts::jobs(&self.folder.door()).unwrap_or_default();
        let Some(job) = jobs.into_iter().next() else { return Begun::NotYet };
        let Some(header) = job.header else { return Begun::NotYet };
        let host = |path: &PathBuf| Some(path.file_name()?.to_str()?.split('.').next()?.to_owned());
        let mut hosts: Vec<String> = job.files.iter().filter_map(host).collect();
        hosts.dedup();
        let start = header.start as f64 / 1e9;
        let command = header.command.clone().filter(|command| !command.is_empty());
        let desc = JobDesc {
            jobid: header.job.clone(),
            command: command.unwrap_or_else(|| header.executable.clone()),
            size: header.ranks.into(),
            nodelist: hosts.join(","),
            cluster: service.config.cluster.clone(),
            run_dir: self.path.parent().unwrap_or(&self.path).to_string_lossy().into_owned(),
            start_time: start as u64,
            ..JobDesc::default()
        };
        let mut row = LiveJob::row(desc, Origin::Trace, Some(self.owner), start);
        row.path = self.path.with_extension("").to_string_lossy().into_owned();
        // Whose jobs are too many are looked at again later.
        if service.room_for_job(&row).is_err() {
            return Begun::NotYet;
        }
        let id = service.writer().transaction(|store| match store.same_run(&row)? {
            Some((id, State::Running)) => Ok(Some(id)),
            Some(_) => Ok(None),
            None => store.insert_job(&row).map(Some),
        });
        let id = match service.stored(id) {
            Some(Some(id)) => id,
            Some(None) => return Begun::Known,
            None => return Begun::NotYet,
        };
        row.id = id;
        let owner = row.owner;
        let data = serde_json::json!({"id": id, "jobid": row.desc.jobid, "app": row.app});
        let mut job = LiveJob::new(row, crate::series::FINEST, now());
        // One that is read again, after a restart, was foretold something already.
        job.foretold = service.reader().predictions(id, 1).ok().and_then(|mut last| last.pop());
        service.running().insert(job);
        service.tell("began", owner, &data);
        Begun::Job(id)
    }

    /// The job was killed: what it has left is all there will be.
    fn dead(&self, service: &Service, id: i64) {
        let live = service.running().remove(id);
        let Some(mut live) = live else { return };
        let read = trace::read_parts(&self.folder, &self.path, service.config.budget);
        let found = read.as_ref().ok().and_then(|read| read.detection.as_ref());
        live.row.state = State::Lost;
        live.row.end = live.row.start + live.known;
        live.row.desc.end_time = live.row.end as u64;
        live.row.period = found.and_then(|found| found.period);
        live.row.confidence = found.and_then(|found| found.period.map(|_| found.confidence));
        live.row.categories = read.as_ref().map(|read| read.categories.clone()).unwrap_or_default();
        let detection = serde_json::to_value(found).unwrap_or_default();
        let saved = service.writer().transaction(|store| {
            store.update_job(&live.row)?;
            store.set_details(id, &live.totals, &detection, &serde_json::json!([]))?;
            store.add_to_day(&live.row)?;
            service.files.put(id, &live.series)
        });
        service.stored(saved);
        service.was_stored(&live.row, &live.series, 0);
        let data = serde_json::json!({"id": id, "jobid": live.row.desc.jobid, "app": live.row.app});
        service.tell("ended", live.row.owner, &data);
    }

    /// The parts are gone. If the trace is there it will be found; if not, somebody has removed everything.
    fn gone(&self, service: &Service) -> bool {
        if let Some(id) = self.job
            && below::look(&self.root, &self.path.with_extension("")).is_err()
        {
            self.dead(service, id);
        }
        false
    }

    /// When a file of the parts was last changed, in seconds since 1970. `None` unless they are still there,
    /// and belong to who they belonged to, with nothing in them but regular files of theirs.
    fn changed(&self) -> Option<f64> {
        let about = self.folder.stat().ok().filter(|about| about.user == self.owner)?;
        below::look(&self.root, &self.path).ok().filter(|there| there.identity() == about.identity())?;
        let mut newest = 0;
        for entry in self.folder.entries().ok()?.flatten() {
            // One that was removed in the meantime does no harm.
            let Ok(about) = self.folder.look(&entry.name) else { continue };
            if about.kind != Kind::File || about.user != self.owner {
                return None;
            }
            newest = newest.max(about.modified);
        }
        Some((newest / 1_000_000_000) as f64)
    }
}

fn follower(folder: &Dir) -> Follower {
    Follower::of_parts(&folder.door(), Span::Actual, OpenOptions::default())
}
