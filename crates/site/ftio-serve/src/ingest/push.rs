//! Values that others push: JSON over HTTP, or the messages of the metric proxy's clients.

use crate::ingest::finished;
use crate::job::{JobDesc, Kind, LONGEST_NAME, Origin, State, clean};
use crate::live::{LiveJob, MAX_METRICS};
use crate::series::{Seen, metric_cost};
use crate::service::{Service, now};
use crate::share::{Full, Payer};
use serde::de::{Error as _, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use std::collections::{BTreeMap, HashMap};
use std::marker::PhantomData;

/// `POST /api/v1/push`.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Push {
    /// Which job; at least its `jobid`.
    #[serde(default)]
    pub job: JobDesc,
    /// The node, instead of a job.
    #[serde(default)]
    pub node: Option<String>,
    /// A value, or values with their times.
    #[serde(default, deserialize_with = "bounded")]
    pub metrics: BTreeMap<String, Values>,
    /// What they are; without a word, names that end in `_total`, `_bytes`, `_operations`, `_seconds` are
    /// counters, and others gauges.
    #[serde(default, deserialize_with = "bounded")]
    pub kind: BTreeMap<String, PushKind>,
    #[serde(default, deserialize_with = "bounded")]
    pub doc: BTreeMap<String, String>,
    /// The job has ended.
    #[serde(default)]
    pub end: bool,
}

/// How a pushed value is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PushKind {
    /// A running sum: a message that is lost costs nothing.
    Counter,
    /// What was added since the last message.
    Increment,
    Gauge,
}

/// One value, now; or several, each with its time in seconds since 1970 or since the job began.
#[derive(Clone, Debug)]
pub enum Values {
    One(f64),
    Many(Vec<(f64, f64)>),
}

/// Without keeping what is too much: a push of nothing but brackets takes no more memory than another.
impl<'de> Deserialize<'de> for Values {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = Values;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a number, or a list of [time, number]")
            }

            fn visit_f64<E>(self, value: f64) -> Result<Values, E> {
                Ok(Values::One(value))
            }

            fn visit_u64<E>(self, value: u64) -> Result<Values, E> {
                Ok(Values::One(value as f64))
            }

            fn visit_i64<E>(self, value: i64) -> Result<Values, E> {
                Ok(Values::One(value as f64))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Values, A::Error> {
                let mut values = Vec::new();
                while let Some(value) = list.next_element()? {
                    values.push(value);
                    if values.len() > MAX_VALUES {
                        return Err(A::Error::custom(format_args!(
                            "at most {MAX_VALUES} values in one push"
                        )));
                    }
                }
                Ok(Values::Many(values))
            }
        }
        from.deserialize_any(Reader)
    }
}

/// A map that is read no further than it may be long: names that are two letters long would take thirty times
/// the memory of the push.
fn bounded<'de, D, T>(from: D) -> Result<BTreeMap<String, T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    struct Reader<T>(PhantomData<T>);
    impl<'de, T: Deserialize<'de>> Visitor<'de> for Reader<T> {
        type Value = BTreeMap<String, T>;

        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("names and what belongs to each")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut all = BTreeMap::new();
            while let Some((name, value)) = map.next_entry()? {
                all.insert(name, value);
                if all.len() > MAX_NAMES {
                    return Err(A::Error::custom(format_args!("at most {MAX_NAMES} names in one push")));
                }
            }
            Ok(all)
        }
    }
    from.deserialize_map(Reader(PhantomData))
}

/// No push has more names: a job takes fewer.
const MAX_NAMES: usize = 10_000;
/// No push has more values.
const MAX_VALUES: usize = 100_000;
/// Times up to this are seconds since the job began.
const SINCE_1970: f64 = 1e8;
/// A value of a time further ahead, in seconds, is of a clock that is wrong: it would make everything before
/// it one bin.
const AHEAD: f64 = 86_400.0;
/// Processes of one run say that it began at times that differ by less than this, in seconds.
const SAME_START: u64 = 60;
/// Bytes that the first bin of a metric takes, with those that are allocated with it.
const FIRST_BINS: usize = 4 * size_of::<Seen>();
const COUNTER_METRICS: [&str; 4] = ["_total", "_bytes", "_operations", "_seconds"];

/// Why values are not taken.
#[derive(Debug)]
pub enum NotTaken {
    /// They are wrong: there is no use in sending them again.
    Wrong(String),
    /// They cannot be stored now, say because the disk is full: they may be sent again.
    NotStored(String),
    /// Whoever sends them has as much as they may have.
    TooMuch(String),
}

impl From<Full> for NotTaken {
    fn from(full: Full) -> Self {
        NotTaken::TooMuch(full.to_string())
    }
}

impl From<&str> for NotTaken {
    fn from(text: &str) -> Self {
        NotTaken::Wrong(text.to_owned())
    }
}

impl From<String> for NotTaken {
    fn from(text: String) -> Self {
        NotTaken::Wrong(text)
    }
}

impl std::fmt::Display for NotTaken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (NotTaken::Wrong(text) | NotTaken::NotStored(text) | NotTaken::TooMuch(text)) = self;
        f.write_str(text)
    }
}

/// Whether something could be written to the database; a problem of the service if not.
fn stored<T>(service: &Service, done: anyhow::Result<T>) -> Result<T, NotTaken> {
    let text = done.as_ref().err().map(|error| format!("the data cannot be written: {error:#}"));
    service.stored(done).ok_or_else(|| NotTaken::NotStored(text.unwrap_or_default()))
}

/// What a push did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Taken {
    pub job: i64,
    pub values: usize,
    /// No numbers, too many metrics, or a name that is of another kind.
    pub refused: usize,
    /// Why some were refused, if it is because their owner has enough.
    pub full: Option<Full>,
}

/// What became of values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Applied {
    pub taken: usize,
    pub refused: usize,
    /// Why some were refused, if it is because their owner has enough.
    pub full: Option<Full>,
}

impl Applied {
    /// What became of others as well.
    pub fn with(&mut self, other: Applied) {
        self.taken += other.taken;
        self.refused += other.refused;
        self.full = self.full.take().or(other.full);
    }

    /// Nothing was taken because their owner has enough: that is an error. And what was taken must be on its
    /// way to the disk before anybody is told so.
    pub fn settled(self, service: &Service) -> Result<Self, NotTaken> {
        match &self.full {
            Some(full) if self.taken == 0 => Err(full.clone().into()),
            _ if self.taken > 0 => service.commit_journal().map(|()| self),
            _ => Ok(self),
        }
    }
}

/// Take in what somebody pushes; `owner` is who.
pub fn take(service: &Service, push: &Push, owner: Option<u32>) -> Result<Taken, NotTaken> {
    let count: usize = push
        .metrics
        .values()
        .map(|values| match values {
            Values::One(_) => 1,
            Values::Many(list) => list.len(),
        })
        .sum();
    if count > MAX_VALUES {
        return Err(format!("{count} values: at most {MAX_VALUES} in one push").into());
    }
    let (desc, origin) = match &push.node {
        Some(node) => (node_desc(node), Origin::Node),
        None => (push.job.clone(), Origin::Push),
    };
    let at = |(at, _): &(f64, f64)| Some(*at).filter(|at| *at > SINCE_1970);
    let listed = push.metrics.values().filter_map(|values| match values {
        Values::One(_) => None,
        Values::Many(list) => Some(list),
    });
    let first = listed.flatten().filter_map(at).min_by(f64::total_cmp);
    let id = job(service, desc, origin, owner, first)?;
    let mut all: BTreeMap<u64, Vec<(&str, f64)>> = BTreeMap::new();
    let time = now();
    {
        let mut running = service.running();
        let job = running.jobs.get_mut(&id).ok_or("the job has just ended")?;
        job.by_our_clock |= push.metrics.values().any(|values| matches!(values, Values::One(_)));
        let start = job.row.start;
        for (name, values) in &push.metrics {
            let mut add = |at: f64, value: f64| {
                let at = if at > SINCE_1970 { at - start } else { at };
                all.entry((at.max(0.0) * 1e3) as u64).or_default().push((name, value));
            };
            match values {
                Values::One(value) => add(time, *value),
                Values::Many(list) => list.iter().for_each(|(at, value)| add(*at, *value)),
            }
        }
    }
    let mut applied = Applied::default();
    for (millis, values) in all {
        let values = values.into_iter().map(|(name, value)| (name, kind_of(push, name), value));
        let docs = |name: &str| push.doc.get(name).cloned().unwrap_or_default();
        applied.with(apply(service, id, millis as f64 / 1e3, values, docs)?);
    }
    let Applied { taken, refused, full } = applied.settled(service)?;
    service.stats.pushes.add(1);
    if push.end || push.job.end_time > 0 {
        stored(service, finished::pushed(service, id, State::Finished))?;
    }
    Ok(Taken { job: id, values: taken, refused, full })
}

fn kind_of(push: &Push, name: &str) -> PushKind {
    push.kind.get(name).copied().unwrap_or_else(|| {
        let is_counter = COUNTER_METRICS.iter().any(|ending| name.ends_with(ending));
        if is_counter { PushKind::Counter } else { PushKind::Gauge }
    })
}

/// The job that a node is.
fn node_desc(node: &str) -> JobDesc {
    let node = clean(node, LONGEST_NAME);
    JobDesc {
        jobid: format!("Node: {node}"),
        command: "Sum of all jobs on a node".into(),
        nodelist: node,
        ..JobDesc::default()
    }
}

/// The running job of that description, or a new one; its number. One that does not say when it began has
/// begun with the `first` value that is told of it, in seconds since 1970.
pub fn job(
    service: &Service,
    mut desc: JobDesc,
    origin: Origin,
    owner: Option<u32>,
    first: Option<f64>,
) -> Result<i64, NotTaken> {
    desc = desc.cleaned();
    // The original sends milliseconds.
    if desc.start_time > 100_000_000_000 {
        desc.start_time /= 1000;
    }
    if desc.jobid.is_empty() {
        return Err("expected a job with a jobid, or a node".into());
    }
    if desc.jobid == "main" {
        return Err("main is the sum of all jobs: push to a job".into());
    }
    if desc.cluster.is_empty() {
        desc.cluster = service.config.cluster.clone();
    }
    if let Some(before) = earlier(service, &desc, origin, owner) {
        stored(service, finished::pushed(service, before, State::Lost))?;
    }
    if let Some(id) = known(service, &desc, origin, owner) {
        return Ok(id);
    }
    // Two pushes of a new job make one job. Nobody else waits for the disk meanwhile.
    let _beginning = service.beginning();
    if let Some(id) = known(service, &desc, origin, owner) {
        return Ok(id);
    }
    let time = now();
    let said = desc.start_time;
    let said_or_first = Some(said as f64).filter(|said| *said > 0.0).or(first);
    let start = said_or_first.filter(|start| *start <= time).unwrap_or(time);
    (desc.start_time, desc.end_time) = (start as u64, 0);
    let mut row = LiveJob::row(desc, origin, owner, start);
    if origin == Origin::Node || origin == Origin::Scrape {
        row.app.clear();
    }
    service.room_for_job(&row)?;
    row.id = stored(service, service.writer().insert_job(&row))?;
    let id = row.id;
    let data = serde_json::json!({"id": id, "jobid": row.desc.jobid, "app": row.app});
    let mut job = LiveJob::new(row, 0, time);
    job.said_start = said;
    service.running().insert(job);
    service.tell("began", owner, &data);
    Ok(id)
}

/// The job that ran under this id until now, if the description is that of a later run: job ids are used
/// again, and so are those of jobs that were requeued.
fn earlier(service: &Service, desc: &JobDesc, origin: Origin, owner: Option<u32>) -> Option<i64> {
    let running = service.running();
    let id = running.named(origin, owner, &desc.jobid)?;
    let job = running.jobs.get(&id)?;
    let later = job.said_start > 0 && desc.start_time > job.said_start + SAME_START;
    (later && desc.start_time as f64 > job.last && job.connections == 0).then_some(id)
}

/// The number of a job that runs. What is told about it later is added.
fn known(service: &Service, desc: &JobDesc, origin: Origin, owner: Option<u32>) -> Option<i64> {
    let mut running = service.running();
    let id = running.named(origin, owner, &desc.jobid)?;
    let job = running.jobs.get_mut(&id)?;
    if job.said_start == 0 {
        job.said_start = desc.start_time;
    }
    if job.row.desc.command.is_empty() && !desc.command.is_empty() {
        job.row.desc.command.clone_from(&desc.command);
        job.row.desc.size = desc.size;
        job.row.app = crate::apps::key(&desc.command, desc.size);
        running.settle(id);
    }
    Some(id)
}

/// Values of one time go into a job and the journal. [`Applied::settled`] when all have.
pub fn apply<'a>(
    service: &Service,
    id: i64,
    time: f64,
    values: impl Iterator<Item = (&'a str, PushKind, f64)>,
    docs: impl Fn(&str) -> String,
) -> Result<Applied, NotTaken> {
    let mut running = service.running();
    let running = &mut *running;
    let owner = running.jobs.get(&id).ok_or("the job has ended")?.row.owner;
    let payer = Payer::owner(owner);
    let standing = service.config.standing(&payer);
    running.make_room(&payer, standing);
    let budget = service.config.budget.min(running.bins(&payer, standing));
    let Some(job) = running.jobs.get(&id) else { return Err("the job has ended".into()) };
    if running.journal.broken {
        // It is not silent: it cannot be heard.
        if let Some(job) = running.jobs.get_mut(&id) {
            job.hear(now());
        }
        return Err(NotTaken::NotStored("the journal cannot be written: is the disk full?".into()));
    }
    if job.row.start + time > now() + AHEAD {
        let refused = values.count();
        service.stats.push_errors.add(refused as u64);
        return Ok(Applied { refused, ..Applied::default() });
    }
    let mut applied = Applied::default();
    let mut changes = Vec::new();
    // Names that this push brings count as well, and so do sums that it has brought already.
    let mut new: HashMap<String, usize> = HashMap::new();
    let mut sums: HashMap<String, f64> = HashMap::new();
    for (name, kind, value) in values {
        let (kind, is_sum) = match kind {
            PushKind::Counter => (Kind::Counter, true),
            PushKind::Increment => (Kind::Counter, false),
            PushKind::Gauge => (Kind::Gauge, false),
        };
        let Some(mut change) = job.change(name, kind, time, value, is_sum) else {
            applied.refused += 1;
            continue;
        };
        if let Some(sum) = change.3 {
            let before = sums.insert(change.0.clone(), sum);
            if let Some(before) = before.filter(|before| sum < *before) {
                sums.insert(change.0, before);
                applied.refused += 1;
                continue;
            }
            change.2 = before.map_or(change.2, |before| sum - before);
        }
        if !job.totals.contains_key(&change.0) && !new.contains_key(&change.0) {
            let cost = metric_cost(&change.0) + docs(name).len().min(4 * LONGEST_NAME) + FIRST_BINS;
            let more = new.values().sum::<usize>() + cost;
            let full = running.room_for(&payer, standing, more).err();
            if job.totals.len() + new.len() >= MAX_METRICS || full.is_some() {
                applied.full = applied.full.or(full);
                applied.refused += 1;
                continue;
            }
            new.insert(change.0.clone(), cost);
        }
        changes.push(change);
    }
    applied.taken = changes.len();
    if let Some(job) = running.jobs.get_mut(&id).filter(|_| applied.taken > 0) {
        job.apply(time, &changes, docs, now(), budget);
        job.series.journaled = running.journal.add(id, time, changes);
        running.settle(id);
    }
    if let Some(full) = &applied.full {
        service.stats.refusals.add(full.what, &payer, &full.to_string());
    }
    service.stats.push_errors.add(applied.refused as u64);
    Ok(applied)
}
