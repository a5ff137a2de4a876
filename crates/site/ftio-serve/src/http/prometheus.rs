//! `/metrics`: running jobs and the service itself, for Prometheus. Labels are few: job ids only, and users
//! and commands once, in an info metric.

use super::context::{Answer, Context, Result};
use crate::config::Listen;
use crate::damage::Kind;
use crate::job::{Origin, READ, READS, WRITES, WRITTEN};
use crate::live::LiveJob;
use crate::service::Service;
use crate::stats::EDGES;
use crate::viewer::Viewer;
use serde_json::json;
use std::fmt::Write;

/// Name, type, what it is, and its value.
type Metric = (&'static str, &'static str, &'static str, fn(&LiveJob) -> Option<f64>);

fn total(job: &LiveJob, name: &str) -> Option<f64> {
    job.totals.get(name).map(|total| total.value)
}

/// Of each job.
const OF_JOBS: [Metric; 11] = [
    ("ftio_job_written_bytes_total", "counter", "Bytes written since the job began.", |job| {
        total(job, WRITTEN)
    }),
    ("ftio_job_read_bytes_total", "counter", "Bytes read since the job began.", |job| total(job, READ)),
    ("ftio_job_write_operations_total", "counter", "Write operations since the job began.", |job| {
        total(job, WRITES)
    }),
    ("ftio_job_read_operations_total", "counter", "Read operations since the job began.", |job| {
        total(job, READS)
    }),
    ("ftio_job_period_seconds", "gauge", "Period of the I/O phases, if there is one.", |job| {
        job.detection.as_ref()?.period
    }),
    ("ftio_job_confidence_ratio", "gauge", "Probability that the period is right.", |job| {
        job.detection.as_ref().map(|found| found.confidence)
    }),
    (
        "ftio_job_next_phase_start_timestamp_seconds",
        "gauge",
        "When the next I/O phase is expected to begin.",
        |job| Some(job.row.start + job.detection.as_ref()?.next_phase?.start),
    ),
    (
        "ftio_job_next_phase_end_timestamp_seconds",
        "gauge",
        "When the next I/O phase is expected to end.",
        |job| Some(job.row.start + job.detection.as_ref()?.next_phase?.end),
    ),
    ("ftio_job_next_phase_bytes", "gauge", "Bytes that the next I/O phase is expected to move.", |job| {
        Some(job.detection.as_ref()?.next_phase?.bytes as f64)
    }),
    ("ftio_job_ranks", "gauge", "Ranks of the job.", |job| Some(job.row.desc.size as f64)),
    ("ftio_job_start_timestamp_seconds", "gauge", "When the job began.", |job| Some(job.row.start)),
];

/// `/metrics`.
pub fn metrics(context: &Context) -> Result {
    let scrapes = context.who.role == crate::viewer::Role::Metrics;
    let sees = if scrapes { Viewer::ALL } else { context.viewer() };
    let text = text(&context.service, &sees, context.jobid().as_deref())?;
    Ok(Answer::text("text/plain; version=0.0.4; charset=utf-8", text))
}

/// What is said of one job.
struct Said {
    /// `cluster` and `jobid`.
    label: String,
    /// The other labels of the info metric.
    info: String,
    values: [Option<f64>; OF_JOBS.len()],
}

impl Said {
    fn of(job: &LiveJob, users: bool) -> Self {
        let desc = &job.row.desc;
        let user = job.row.owner.filter(|_| users).map(crate::users::name).unwrap_or_default();
        Said {
            label: format!("cluster=\"{}\",jobid=\"{}\"", escaped(&desc.cluster), escaped(&desc.jobid)),
            info: format!(
                "user=\"{}\",partition=\"{}\",app=\"{}\"",
                escaped(&user),
                escaped(&desc.partition),
                escaped(&job.row.app)
            ),
            values: OF_JOBS.map(|(.., value)| value(job)),
        }
    }
}

/// All jobs that somebody may see, or one, and the service itself.
pub fn text(service: &Service, sees: &Viewer, only: Option<&str>) -> anyhow::Result<String> {
    let mut out = String::new();
    let (all, jobs, sums) = listed(service, sees, only);
    of_jobs(&mut out, &jobs);
    let cluster = escaped(&service.config.cluster);
    for ((name, ..), sum) in OF_JOBS.iter().zip(sums) {
        // It falls when a job ends: no counter.
        let name = name.replace("ftio_job_", "ftio_site_").replace("_total", "");
        let _ = writeln!(out, "# HELP {name} The sum over all running jobs.\n# TYPE {name} gauge");
        let _ = writeln!(out, "{name}{{cluster=\"{cluster}\"}} {sum}");
    }
    let hidden = (all - jobs.len()) as f64;
    single(&mut out, "ftio_jobs_hidden", "gauge", "Running jobs that are not listed one by one.", hidden);
    of_service(&mut out, service)?;
    Ok(out)
}

/// How many jobs there are, those that are listed, and the sums of all. The text is made later, when nobody
/// waits for it.
fn listed(service: &Service, sees: &Viewer, only: Option<&str>) -> (usize, Vec<Said>, [f64; 4]) {
    let running = service.running();
    let mut jobs: Vec<&LiveJob> = running
        .jobs
        .values()
        .filter(|job| matches!(job.row.origin, Origin::Trace | Origin::Push))
        .filter(|job| sees.sees(job.row.owner))
        .filter(|job| only.is_none_or(|only| only == job.row.desc.jobid || only == "main"))
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
    said.retain(|one| seen.insert(one.label.clone()));
    (all, said, sums)
}

fn of_jobs(out: &mut String, jobs: &[Said]) {
    if jobs.is_empty() {
        return;
    }
    let _ = writeln!(
        out,
        "# HELP ftio_job_info What a job is; the value is always 1.\n# TYPE ftio_job_info gauge"
    );
    for job in jobs {
        let _ = writeln!(out, "ftio_job_info{{{},{}}} 1", job.label, job.info);
    }
    for (place, (name, kind, help, _)) in OF_JOBS.iter().enumerate() {
        let values = || jobs.iter().filter_map(|job| Some((&job.label, job.values[place]?)));
        if values().next().is_none() {
            continue;
        }
        let _ = writeln!(out, "# HELP {name} {help}\n# TYPE {name} {kind}");
        for (label, value) in values() {
            let _ = writeln!(out, "{name}{{{label}}} {value}");
        }
    }
}

fn single(out: &mut String, name: &str, kind: &str, help: &str, value: f64) {
    let _ = writeln!(out, "# HELP {name} {help}\n# TYPE {name} {kind}\n{name} {value}");
}

fn of_service(out: &mut String, service: &Service) -> anyhow::Result<()> {
    let stats = &service.stats;
    let _ = writeln!(out, "# HELP ftio_jobs Jobs by state.\n# TYPE ftio_jobs gauge");
    for (state, count) in service.reader().count_jobs()? {
        let _ = writeln!(out, "ftio_jobs{{state=\"{}\"}} {count}", state.name());
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
        single(out, name, "counter", help, count.get() as f64);
    }
    let name = "ftio_refused_total";
    let _ =
        writeln!(out, "# HELP {name} What was refused because somebody has enough.\n# TYPE {name} counter");
    for (what, count) in stats.refusals.sums() {
        let _ = writeln!(out, "{name}{{what=\"{what}\"}} {count}");
    }
    let name = "ftio_damaged_total";
    let _ = writeln!(out, "# HELP {name} Data that were found to be damaged.\n# TYPE {name} counter");
    for kind in Kind::ALL {
        let _ = writeln!(out, "{name}{{kind=\"{}\"}} {}", kind.name(), stats.damage.count(kind));
    }
    let name = "ftio_shared";
    let _ = writeln!(out, "# HELP {name} What all users together have, and may have.\n# TYPE {name} gauge");
    let shares = {
        let running = service.running();
        let mut all = running.shared().map(|one| (one.what(), one.taken(), one.most())).to_vec();
        for pot in [&service.bodies, &service.watchers] {
            let shared = pot.shared();
            all.push((shared.what(), shared.taken(), shared.most()));
        }
        all
    };
    for (what, taken, most) in shares {
        let _ = writeln!(out, "{name}{{what=\"{what}\",is=\"taken\"}} {taken}");
        let _ = writeln!(out, "{name}{{what=\"{what}\",is=\"most\"}} {most}");
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
        single(out, name, "gauge", help, value);
    }
    if let Some((cpu, memory)) = own_use() {
        single(out, "process_cpu_seconds_total", "counter", "Processor time of the service.", cpu);
        single(out, "process_resident_memory_bytes", "gauge", "Memory of the service.", memory);
    }
    let name = "ftio_prediction_duration_seconds";
    let _ = writeln!(out, "# HELP {name} How long predictions take.\n# TYPE {name} histogram");
    let mut sum = 0;
    for (edge, count) in EDGES.iter().zip(&stats.prediction_times) {
        sum += count.get();
        let _ = writeln!(out, "{name}_bucket{{le=\"{edge}\"}} {sum}");
    }
    let all: u64 = stats.prediction_times.iter().map(|count| count.get()).sum();
    let seconds = stats.prediction_micros.get() as f64 / 1e6;
    let _ = writeln!(out, "{name}_bucket{{le=\"+Inf\"}} {all}\n{name}_sum {seconds}\n{name}_count {all}");
    let name = "ftio_http_requests_total";
    let _ = writeln!(out, "# HELP {name} Requests by route and status.\n# TYPE {name} counter");
    for ((route, code), count) in stats.requests() {
        let _ = writeln!(out, "{name}{{route=\"{route}\",code=\"{code}\"}} {count}");
    }
    let (name, version) = ("ftio_build_info", env!("CARGO_PKG_VERSION"));
    let _ =
        writeln!(out, "# HELP {name} The version.\n# TYPE {name} gauge\n{name}{{version=\"{version}\"}} 1");
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

/// A label's value: backslash, quote and line feed have to be escaped.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
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
