//! `/metrics`: running jobs and the service itself, for Prometheus. Labels are few: job ids only, and users
//! and commands once, in an info metric.

use super::context::{Answer, Context, Result};
use crate::config::Listen;
use crate::damage;
use crate::job::{Kind, Origin, READ, READS, Totals, WRITES, WRITTEN};
use crate::live::LiveJob;
use crate::service::Service;
use crate::stats::EDGES;
use crate::viewer::Viewer;
use emit::prometheus::{CONTENT_TYPE, Kind::Counter, Kind::Gauge, Kind::Histogram, Labels, Row, Text};
use serde_json::json;

/// A metric of a job.
type Metric = Row<fn(&LiveJob) -> Option<f64>>;

fn total(job: &LiveJob, name: &str) -> Option<f64> {
    job.totals.get(name).map(|total| total.value)
}

/// Of each job.
const OF_JOBS: [Metric; 11] = [
    ("ftio_job_written_bytes_total", Counter, "Bytes written since the job began.", |job| {
        total(job, WRITTEN)
    }),
    ("ftio_job_read_bytes_total", Counter, "Bytes read since the job began.", |job| total(job, READ)),
    ("ftio_job_write_operations_total", Counter, "Write operations since the job began.", |job| {
        total(job, WRITES)
    }),
    ("ftio_job_read_operations_total", Counter, "Read operations since the job began.", |job| {
        total(job, READS)
    }),
    ("ftio_job_period_seconds", Gauge, "Period of the I/O phases, if there is one.", |job| {
        job.detection.as_ref()?.period
    }),
    ("ftio_job_confidence_ratio", Gauge, "Probability that the period is right.", |job| {
        job.detection.as_ref().map(|found| found.confidence)
    }),
    (
        "ftio_job_next_phase_start_timestamp_seconds",
        Gauge,
        "When the next I/O phase is expected to begin.",
        |job| Some(job.row.start + job.expected()?.0),
    ),
    (
        "ftio_job_next_phase_end_timestamp_seconds",
        Gauge,
        "When the next I/O phase is expected to end.",
        |job| Some(job.row.start + job.expected()?.1),
    ),
    ("ftio_job_next_phase_bytes", Gauge, "Bytes that the next I/O phase is expected to move.", |job| {
        Some(job.expected()?.2 as f64)
    }),
    ("ftio_job_ranks", Gauge, "Ranks of the job.", |job| Some(job.row.desc.size as f64)),
    ("ftio_job_start_timestamp_seconds", Gauge, "When the job began.", |job| Some(job.row.start)),
];

/// `/metrics`.
pub fn metrics(context: &Context) -> Result {
    let scrapes = context.who.role == crate::viewer::Role::Metrics;
    let sees = if scrapes { Viewer::ALL } else { context.viewer() };
    let wanted = Wanted {
        job: context.jobid().filter(|job| !job.is_empty() && job != "main"),
        node: context.get("node").filter(|node| !node.is_empty()),
    };
    let text = text(&context.service, &sees, &wanted)?;
    Ok(Answer::text(CONTENT_TYPE, text))
}

/// What is asked for: everything, or what is of one job or one node.
#[derive(Debug, Default)]
pub struct Wanted {
    job: Option<String>,
    node: Option<String>,
}

impl Wanted {
    fn takes(&self, job: &LiveJob) -> bool {
        let desc = &job.row.desc;
        let node = self.node.as_ref();
        self.job.as_ref().is_none_or(|jobid| *jobid == desc.jobid)
            && node.is_none_or(|node| desc.nodelist.split(',').any(|one| one == node))
    }

    fn is_all(&self) -> bool {
        self.job.is_none() && self.node.is_none()
    }
}

/// Samples of pushed metrics are no more than this: whoever has more asks by job or node.
const MAX_PUSHED: usize = 50_000;

/// Metrics that were pushed, each with its kind and the labels of whose it is.
#[derive(Default)]
struct Pushed {
    samples: Vec<(Kind, Labels, f64)>,
    left_out: usize,
}

impl Pushed {
    fn add(&mut self, of: &Labels, totals: &Totals, but: &[&str]) {
        for (name, total) in totals.iter().filter(|(name, _)| !but.contains(&name.as_str())) {
            if self.samples.len() < MAX_PUSHED {
                self.samples.push((total.kind, of.and(&Labels::of([("metric", name)])), total.value));
            } else {
                self.left_out += 1;
            }
        }
    }

    fn write(&self, out: &mut Text, counter: (&str, &str), gauge: (&str, &str), falls: bool) {
        let rows =
            [(Kind::Counter, counter, if falls { Gauge } else { Counter }), (Kind::Gauge, gauge, Gauge)];
        for (kind, (name, help), shown) in rows {
            let of_kind = self.samples.iter().filter(|(one, ..)| *one == kind);
            out.known((name, shown, help), of_kind.map(|(_, labels, value)| (labels, *value)));
        }
    }
}

/// What is said of one job.
struct Said {
    id: i64,
    /// `cluster` and `jobid`.
    labels: Labels,
    /// The other labels of the info metric.
    info: Labels,
    values: [Option<f64>; OF_JOBS.len()],
}

impl Said {
    fn of(job: &LiveJob, users: bool) -> Self {
        let desc = &job.row.desc;
        let user = job.row.owner.filter(|_| users).map(crate::users::name).unwrap_or_default();
        Said {
            id: job.row.id,
            labels: Labels::of([("cluster", &desc.cluster), ("jobid", &desc.jobid)]),
            info: Labels::of([("user", &user), ("partition", &desc.partition), ("app", &job.row.app)]),
            values: OF_JOBS.map(|(.., value)| value(job)),
        }
    }
}

/// All jobs that somebody may see, or one, and the service itself.
pub fn text(service: &Service, sees: &Viewer, wanted: &Wanted) -> anyhow::Result<String> {
    let mut out = Text::default();
    let (all, jobs, sums) = listed(service, sees, wanted);
    of_jobs(&mut out, &jobs);
    let left_out = pushed(&mut out, service, sees, wanted, &jobs);
    if !wanted.is_all() {
        return Ok(out.finish());
    }
    let cluster = Labels::of([("cluster", &service.config.cluster)]);
    for ((name, ..), sum) in OF_JOBS.iter().zip(sums) {
        // It falls when a job ends: no counter.
        let name = name.replace("ftio_job_", "ftio_site_").replace("_total", "");
        out.metric(&name, Gauge, "The sum over all running jobs.").sample(&cluster, sum);
    }
    let hidden = (all - jobs.len()) as f64;
    out.single("ftio_jobs_hidden", Gauge, "Running jobs that are not listed one by one.", hidden);
    let help = "Samples of pushed metrics that are left out: ask for ?job= or ?node=.";
    out.single("ftio_samples_hidden", Gauge, help, left_out as f64);
    of_service(&mut out, service)?;
    Ok(out.finish())
}

/// Metrics that were pushed, of jobs, nodes, and all together. How many are left out.
fn pushed(out: &mut Text, service: &Service, sees: &Viewer, wanted: &Wanted, jobs: &[Said]) -> usize {
    let (mut of_jobs, mut of_nodes, mut of_all) = (Pushed::default(), Pushed::default(), Pushed::default());
    {
        let running = service.running();
        for said in jobs {
            if let Some(job) = running.jobs.get(&said.id) {
                of_jobs.add(&said.labels, &job.totals, &[WRITTEN, READ, WRITES, READS]);
            }
        }
        let mut seen = std::collections::HashSet::new();
        let others = running.jobs.values().filter(|job| sees.sees(job.row.owner) && wanted.takes(job));
        for job in others.filter(|job| matches!(job.row.origin, Origin::Node | Origin::Scrape)) {
            let name = job.row.desc.jobid.trim_start_matches("Node: ");
            let labels = Labels::of([("cluster", &job.row.desc.cluster), ("node", name)]);
            if seen.insert(labels.clone()) {
                of_nodes.add(&labels, &job.totals, &[]);
            }
        }
    }
    if wanted.is_all() {
        let cluster = Labels::of([("cluster", &service.config.cluster)]);
        of_all.add(&cluster, &service.main(sees).1, &[WRITTEN, READ, WRITES, READS]);
    }
    of_jobs.write(
        out,
        ("ftio_job_pushed_total", "A counter that a job pushes."),
        ("ftio_job_pushed", "A gauge that a job pushes."),
        false,
    );
    of_nodes.write(
        out,
        ("ftio_node_pushed_total", "A counter of a node or of another server."),
        ("ftio_node_pushed", "A gauge of a node or of another server."),
        false,
    );
    of_all.write(
        out,
        ("ftio_site_pushed_counts", "The sum of a counter over all that runs."),
        ("ftio_site_pushed", "The mean of a gauge over all that runs."),
        true,
    );
    of_jobs.left_out + of_nodes.left_out + of_all.left_out
}

/// How many jobs there are, those that are listed, and the sums of all. The text is made later, when nobody
/// waits for it.
fn listed(service: &Service, sees: &Viewer, wanted: &Wanted) -> (usize, Vec<Said>, [f64; 4]) {
    let running = service.running();
    let mut jobs: Vec<&LiveJob> = running
        .jobs
        .values()
        .filter(|job| matches!(job.row.origin, Origin::Trace | Origin::Push))
        .filter(|job| sees.sees(job.row.owner))
        .filter(|job| wanted.takes(job))
        .collect();
    // Those that move most, if there are too many.
    let bytes = |job: &LiveJob| job.row.written_bytes + job.row.read_bytes;
    jobs.sort_by(|a, b| bytes(b).total_cmp(&bytes(a)));
    let all = jobs.len();
    let sums = [0, 1, 2, 3].map(|i| jobs.iter().filter_map(|job| (OF_JOBS[i].3)(job)).sum::<f64>() + 0.0);
    jobs.truncate(service.config.metrics_jobs);
    let mut said: Vec<Said> = jobs.iter().map(|job| Said::of(job, service.config.metrics_users)).collect();
    drop(running);
    // A job id may be in use by two users: the label would be there twice, and Prometheus would take nothing.
    let mut seen = std::collections::HashSet::new();
    said.retain(|one| seen.insert(one.labels.clone()));
    (all, said, sums)
}

fn of_jobs(out: &mut Text, jobs: &[Said]) {
    let info = jobs.iter().map(|job| (job.labels.and(&job.info), 1.0));
    out.known(("ftio_job_info", Gauge, "What a job is; the value is always 1."), info);
    for (place, (name, kind, help, _)) in OF_JOBS.into_iter().enumerate() {
        let values = jobs.iter().filter_map(|job| Some((&job.labels, job.values[place]?)));
        out.known((name, kind, help), values);
    }
}

fn of_service(out: &mut Text, service: &Service) -> anyhow::Result<()> {
    let stats = &service.stats;
    let mut jobs = out.metric("ftio_jobs", Gauge, "Jobs by state.");
    for (state, count) in service.reader().count_jobs()? {
        jobs.sample(&Labels::of([("state", state.name())]), count);
    }
    let counters = [
        ("ftio_traces_read_total", "Traces that were read.", &stats.traces_read),
        ("ftio_trace_errors_total", "Files that are no traces, or damaged.", &stats.trace_errors),
        ("ftio_pushes_total", "Pushes that were taken.", &stats.pushes),
        ("ftio_push_errors_total", "Pushed values that were not taken.", &stats.push_errors),
        ("ftio_jobs_forgotten_total", "Jobs that were too old to be kept.", &stats.forgotten),
        ("ftio_journal_bytes_total", "Bytes written to the journal.", &stats.journal_bytes),
        ("ftio_refused_connections_total", "Connections beyond the limits.", &stats.refused_connections),
    ];
    for (name, help, count) in counters {
        out.single(name, Counter, help, count.get() as f64);
    }
    let mut refused =
        out.metric("ftio_refused_total", Counter, "What was refused because somebody has enough.");
    for (what, count) in stats.refusals.sums() {
        refused.sample(&Labels::of([("what", what)]), count);
    }
    let mut damaged = out.metric("ftio_damaged_total", Counter, "Data that were found to be damaged.");
    for kind in damage::Kind::ALL {
        damaged.sample(&Labels::of([("kind", kind.name())]), stats.damage.count(kind));
    }
    let shares = {
        let running = service.running();
        let mut all = running.shared().map(|one| (one.what(), one.taken(), one.most())).to_vec();
        for pot in [&service.bodies, &service.watchers] {
            let shared = pot.shared();
            all.push((shared.what(), shared.taken(), shared.most()));
        }
        all
    };
    let mut shared = out.metric("ftio_shared", Gauge, "What all users together have, and may have.");
    for (what, taken, most) in shares {
        shared.sample(&Labels::of([("what", what), ("is", "taken")]), taken);
        shared.sample(&Labels::of([("what", what), ("is", "most")]), most);
    }
    let gauges = [
        ("ftio_connections", "Open connections.", stats.connections.get() as f64),
        ("ftio_watchers", "Open streams of events.", stats.watchers.get() as f64),
        ("ftio_followed_traces", "Growing traces that are followed.", stats.followed.get() as f64),
        ("ftio_scanned_files", "Files below a watched directory.", stats.scanned_files.get() as f64),
        ("ftio_scan_duration_seconds", "How long the last look took.", stats.scan_millis.get() as f64 / 1e3),
        ("ftio_problems", "Things that are wrong, as /readyz lists them.", stats.problems().len() as f64),
        ("process_start_time_seconds", "When the service began.", service.started),
    ];
    for (name, help, value) in gauges {
        out.single(name, Gauge, help, value);
    }
    if let Some((cpu, memory)) = own_use() {
        out.single("process_cpu_seconds_total", Counter, "Processor time of the service.", cpu);
        out.single("process_resident_memory_bytes", Gauge, "Memory of the service.", memory);
    }
    let mut times = out.metric("ftio_prediction_duration_seconds", Histogram, "How long predictions take.");
    let up_to = |edge: &str| Labels::of([("le", edge)]);
    let mut sum = 0;
    for (edge, count) in EDGES.iter().zip(&stats.prediction_times) {
        sum += count.get();
        times.part("_bucket", &up_to(&edge.to_string()), sum);
    }
    let all: u64 = stats.prediction_times.iter().map(|count| count.get()).sum();
    times.part("_bucket", &up_to("+Inf"), all);
    times.part("_sum", &Labels::default(), stats.prediction_micros.get() as f64 / 1e6);
    times.part("_count", &Labels::default(), all);
    let mut requests = out.metric("ftio_http_requests_total", Counter, "Requests by route and status.");
    for ((route, code), count) in stats.requests() {
        requests.sample(&Labels::of([("route", route), ("code", &code.to_string())]), count);
    }
    let version = Labels::of([("version", env!("CARGO_PKG_VERSION"))]);
    out.metric("ftio_build_info", Gauge, "The version.").sample(&version, 1);
    Ok(())
}

/// Processor seconds and resident bytes of this process.
fn own_use() -> Option<(f64, f64)> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // After the name, which may hold anything.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let number = |place: usize| fields.get(place)?.parse::<f64>().ok();
    let ticks = number(11)? + number(12)?;
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: f64 = resident.trim().trim_end_matches(" kB").parse().ok()?;
    Some((ticks / 100.0, 1024.0 * kilobytes))
}

/// `/metrics/sd`: where to scrape, for Prometheus' `http_sd_configs`.
pub fn discovery(context: &Context) -> Result {
    let targets: Vec<String> = context
        .service
        .config
        .listen
        .iter()
        .filter_map(|listen| match listen {
            Listen::Tcp(address) => Some(address.to_string()),
            Listen::Unix(_) => None,
        })
        .collect();
    Ok(Answer::json(&json!([{"targets": targets, "labels": {"service": "ftio"}}])))
}
