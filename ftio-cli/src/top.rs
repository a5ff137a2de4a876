//! `ftio top`: who does I/O on a file system, and who waits.

use crate::arbiter::secret;
use crate::exit::Exit;
use crate::terminal::style::Style;
use crate::terminal::text::printable;
use crate::terminal::units::{seconds, si};
use crate::values::positive_seconds;
use anyhow::Context;
use clap::ValueHint;
use io_arbiter::client::Client;
use io_arbiter::report::{JobReport, Report};
use lease_protocol::Address;
use std::fmt::Write as _;
use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::time::Duration;

const EXAMPLES: &str = "\
Examples:
  On a terminal, refreshed every second until interrupted:
      ftio top --arbiter unix:/run/scratch.sock
  Once, for a script:
      ftio top --arbiter unix:/run/scratch.sock --json | jq '.jobs[] | select(.state == \"waiting\") | .job'
  For the textfile collector of Prometheus' node exporter:
      ftio top --arbiter unix:/run/scratch.sock --prometheus > turns.prom

Exit status: 0 done (also when interrupted), 1 failed, 2 wrong usage.";

/// Show which jobs do I/O now, and which wait for their turn
///
/// Asks a running `ftio arbiter`. A job holds its turn, waits for it, is paused within an I/O phase, or
/// computes.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Where the arbiter listens: unix:PATH, tcp:HOST:PORT or dir:PATH
    #[arg(long, value_name = "ADDRESS")]
    pub arbiter: Address,

    /// File with the secret of an arbiter that listens at tcp
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub secret: Option<PathBuf>,

    /// Print one JSON object
    #[arg(long, conflicts_with = "prometheus")]
    pub json: bool,

    /// Print in the text format of Prometheus
    #[arg(long)]
    pub prometheus: bool,

    /// Print again every so many seconds [default: 1 on a terminal, else once]
    #[arg(long, value_name = "SECONDS", value_parser = positive_seconds)]
    pub interval: Option<f64>,
}

/// Shows it once, or again and again.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    let about = || format!("no answer of an arbiter at {}", args.arbiter);
    let secret = secret(args.secret.as_deref())?;
    let mut client = Client::new(&args.arbiter, secret.as_deref()).with_context(about)?;
    let screen = !args.json && !args.prometheus && std::io::stdout().is_terminal();
    let interval = args.interval.or(screen.then_some(1.0));
    loop {
        let report = client.report().with_context(about)?;
        let text = match (args.json, args.prometheus) {
            (true, _) => serde_json::to_string(&report)? + "\n",
            (_, true) => prometheus(&report),
            _ => table(&report, Style::for_stdout()),
        };
        let mut out = std::io::stdout().lock();
        if screen {
            // To the upper left corner, and nothing of what was there.
            out.write_all(b"\x1b[H\x1b[2J")?;
        }
        out.write_all(text.as_bytes())?;
        out.flush()?;
        match interval {
            Some(interval) => std::thread::sleep(Duration::from_secs_f64(interval)),
            None => return Ok(Exit::Done),
        }
    }
}

fn table(report: &Report, style: Style) -> String {
    let mut text = format!(
        "{} jobs, {} hold, {} wait; {} of {} seen at most; leases: {} ({} now)\n",
        report.jobs.len(),
        report.holding,
        report.waiting,
        si(report.bandwidth, "B/s"),
        si(report.capacity, "B/s"),
        report.leases,
        report.width,
    );
    let head = format!(
        "{:<20} {:>4} {:<10} {:>8} {:>11} {:>10} {:>9} {:>7} {:>9}",
        "job", "set", "state", "waiting", "now", "period", "next", "phases", "waited"
    );
    let _ = writeln!(text, "{}", style.bold(&head));
    for job in &report.jobs {
        let _ = writeln!(text, "{}", row(job));
    }
    text
}

fn row(job: &JobReport) -> String {
    let time = |value: Option<f64>| value.map_or("-".to_owned(), seconds);
    let waiting = Some(job.waiting).filter(|waiting| *waiting > 0.0);
    let name: String = printable(&job.job).chars().take(20).collect();
    format!(
        "{name:<20} {:>4} {:<10} {:>8} {:>11} {:>10} {:>9} {:>7} {:>9}",
        job.set,
        job.state,
        time(waiting),
        si(job.bandwidth, "B/s"),
        time(job.period),
        time(job.next_phase),
        job.phases,
        seconds(job.waited),
    )
}

/// A metric of a job: name, type, what it is, its value.
type Metric = (&'static str, &'static str, &'static str, fn(&JobReport) -> Option<f64>);

const METRICS: [Metric; 8] = [
    ("ftio_turn_holding", "gauge", "Whether the job may do I/O now.", |job| {
        Some(f64::from(u8::from(job.state == "holding")))
    }),
    ("ftio_turn_waiting_seconds", "gauge", "How long the job has been waiting now.", |job| Some(job.waiting)),
    ("ftio_turn_waited_seconds_total", "counter", "How long the job has waited.", |job| Some(job.waited)),
    ("ftio_turn_held_seconds_total", "counter", "How long the job has had its turn.", |job| Some(job.held)),
    ("ftio_turn_bytes_total", "counter", "Bytes that the job has moved.", |job| Some(job.bytes as f64)),
    ("ftio_turn_bandwidth_bytes", "gauge", "Bytes per second over the last second.", |job| {
        Some(job.bandwidth)
    }),
    ("ftio_turn_period_seconds", "gauge", "Time between the starts of its I/O phases.", |job| job.period),
    ("ftio_turn_set", "gauge", "Order of magnitude of its period.", |job| Some(f64::from(job.set))),
];

fn prometheus(report: &Report) -> String {
    let mut text = String::new();
    let all = [
        ("ftio_arbiter_width", "Jobs that may hold now.", report.width as f64),
        ("ftio_arbiter_holding", "Jobs that hold their turn.", report.holding as f64),
        ("ftio_arbiter_waiting", "Jobs that wait for their turn.", report.waiting as f64),
        ("ftio_arbiter_capacity_bytes", "What the file system was seen to take per second.", report.capacity),
    ];
    for (name, help, value) in all {
        let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} gauge\n{name} {value}");
    }
    for (name, kind, help, get) in METRICS {
        let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}");
        for job in &report.jobs {
            if let Some(value) = get(job) {
                let id = job.job.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
                let _ = writeln!(text, "{name}{{jobid=\"{id}\",run=\"{}\"}} {value}", job.run);
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_and_metrics() {
        let job = JobReport {
            job: "47\"11".into(),
            run: "0f".into(),
            state: "waiting".into(),
            waiting: 1.5,
            period: Some(19.2),
            ..JobReport::default()
        };
        let report = Report { jobs: vec![job], waiting: 1, ..Report::default() };
        let text = table(&report, Style::for_stderr());
        assert!(text.contains("waiting") && text.contains("19.20 s"), "{text}");
        let text = prometheus(&report);
        assert!(text.contains("ftio_turn_waiting_seconds{jobid=\"47\\\"11\",run=\"0f\"} 1.5\n"), "{text}");
    }
}
