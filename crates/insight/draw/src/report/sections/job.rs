//! Who ran what, when, and how complete the input is.

use super::{gap, pairs};
use crate::canvas::escaped;
use crate::report::Subject;
use crate::units::{bytes, counted, ranks, seconds};
use sources::time::{ClockTime, nanoseconds};

pub fn job(study: &Subject<'_>) -> String {
    let summary = study.summary;
    let mut rows: Vec<(&str, String)> = vec![("Input", format!("<code>{}</code>", escaped(study.name)))];
    if let Some(job) = &summary.job {
        let mut told = |name: &'static str, text: &str| {
            if !text.trim().is_empty() {
                rows.push((name, escaped(text)));
            }
        };
        told("Command", job.command());
        told("Job id", &job.id);
        told("User", job.user.as_deref().unwrap_or_default());
        told("MPI", job.mpi.as_deref().unwrap_or_default());
        told("Tracer", &job.tracer());
        if job.start > 0.0 {
            rows.push(("Start", time(job.start)));
            rows.push(("End", time(job.start + summary.t_end)));
        }
    }
    rows.push(("Run time", escaped(&seconds(study.usage.run_time.max(summary.t_end)))));
    rows.push(("Ranks", escaped(&ranks(summary.ranks))));
    if let Some(nodes) = summary.clock.nodes.filter(|nodes| *nodes > 0) {
        rows.push(("Nodes", counted(nodes as u64, "node")));
    }
    if !study.usage.file_systems.is_empty() {
        rows.push(("File systems", escaped(&study.usage.file_systems.join(", "))));
    }
    rows.push(("Complete", if summary.complete { "yes".into() } else { "no: see the notes".into() }));
    if let (Some(all), Some(traced)) = (summary.coverage.process_bytes, summary.coverage.recorded()) {
        let traced = bytes(traced as f64);
        rows.push(("Seen", format!("{traced} of the {} that the processes moved in all", bytes(all as f64))));
    }
    if let Some(time) = summary.overhead.time {
        rows.push(("Cost of tracing", format!("{} over all ranks", escaped(&seconds(time)))));
    }
    let mut out = pairs(&rows);
    if summary.job.is_none() {
        out += &gap(
            "This input says nothing about the job. A trace of tmio (ftio trace -- mpirun … ./app) or a \
                Darshan log does.",
        );
    }
    out + &summary.warnings.iter().chain(&summary.notes).map(|note| gap(note)).collect::<String>()
}

/// A moment, which the page shows in the reader's time zone.
pub fn time(seconds_since_1970: f64) -> String {
    let moment = ClockTime(nanoseconds(seconds_since_1970));
    format!("<time datetime=\"{moment}\">{moment}</time>")
}
