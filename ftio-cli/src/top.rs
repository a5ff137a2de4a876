//! `ftio top`: who does I/O on a file system, and who waits.

use crate::arbiter::secret;
use crate::exit::Exit;
use crate::terminal::style::Style;
use crate::terminal::text::printable;
use crate::terminal::units::{seconds, si};
use crate::terminal::width::{columns, wrapped};
use crate::values::positive_seconds;
use anyhow::Context;
use clap::ValueHint;
use emit::prometheus::{Kind::Counter, Kind::Gauge, Labels, Row, Text};
use io_sets::arbiter::client::Client;
use io_sets::arbiter::report::{JobReport, Others, Report};
use std::fmt::Write as _;
use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::time::Duration;
use turns::Address;

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
/// computes. Who runs the arbiter, and root, see all jobs; others see their own, and those of others as
/// numbers.
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
    let connect = || Client::new(&args.arbiter, secret.as_deref());
    let mut client = Some(connect().with_context(about)?);
    let screen = !args.json && !args.prometheus && std::io::stdout().is_terminal();
    let interval = args.interval.or(screen.then_some(1.0));
    loop {
        let answer = match &mut client {
            Some(client) => client.report(),
            None => connect().and_then(|mut new| {
                let report = new.report();
                client = Some(new);
                report
            }),
        };
        let text = match answer {
            Ok(report) if args.json => serde_json::to_string(&report)? + "\n",
            Ok(report) if args.prometheus => prometheus(&report),
            Ok(report) => table(&report, Style::for_stdout(), columns(), screen.then(rows).flatten()),
            // An arbiter that is restarted is there again in a moment.
            Err(error) if screen => {
                client = None;
                format!("{}: {error}; trying again\n", about())
            }
            Err(error) => return Err(error).with_context(about),
        };
        let mut out = std::io::stdout().lock();
        if screen {
            // Over what was there, line by line, and nothing of what was below: that does not flicker.
            let lines = text.lines().flat_map(|line| [line, "\x1b[K\r\n"]).collect::<String>();
            write!(out, "\x1b[H{lines}\x1b[J")?;
        } else {
            out.write_all(text.as_bytes())?;
        }
        out.flush()?;
        match interval {
            Some(interval) => std::thread::sleep(Duration::from_secs_f64(interval)),
            None => return Ok(Exit::Done),
        }
    }
}

/// A column: its title, its width, whether it is aligned to the left, and what is in it.
type Column = (&'static str, usize, bool, fn(&JobReport) -> String);

/// In the order of their places.
const COLUMNS: [Column; 12] = [
    ("set", 3, false, |job| job.set.to_string()),
    ("state", 9, true, |job| job.state.clone()),
    ("waiting", 8, false, |job| time(Some(job.waiting).filter(|waiting| *waiting > 0.0))),
    ("now", 10, false, |job| si(job.bandwidth, "B/s")),
    ("period", 9, false, |job| time(job.period)),
    ("next", 9, false, |job| time(job.next_phase)),
    ("waited", 9, false, |job| brief(job.waited)),
    ("phases", 7, false, |job| job.phases.to_string()),
    ("moved", 10, false, |job| si(job.bytes as f64, "B")),
    ("held", 9, false, |job| brief(job.held)),
    ("nodes", 6, false, |job| job.nodes.to_string()),
    ("ranks", 7, false, |job| job.ranks.to_string()),
];
/// The narrowest and the widest column of names.
const NAME: (usize, usize) = (14, 40);
/// Columns that are shown where it is not known how many there is room for.
const USUAL: usize = 100;

fn time(value: Option<f64>) -> String {
    value.map_or("-".to_owned(), brief)
}

/// A time that fits a column.
fn brief(value: f64) -> String {
    match value / 3600.0 {
        hours if hours >= 1.0 => format!("{hours:.1} h"),
        _ => seconds(value),
    }
}

/// Rows of the terminal.
fn rows() -> Option<usize> {
    rustix::termios::tcgetwinsize(std::io::stdout()).ok().map(|size| usize::from(size.ws_row))
}

/// As much as there is room for: columns from the left, and jobs from the top.
fn table(report: &Report, style: Style, columns: Option<usize>, rows: Option<usize>) -> String {
    let room = columns.unwrap_or(USUAL);
    let mut used = NAME.0;
    let fits = |(_, width, ..): &&Column| {
        used += width + 1;
        used <= room
    };
    let shown: Vec<Column> = COLUMNS.iter().take_while(fits).copied().collect();
    let taken: usize = shown.iter().map(|(_, width, ..)| width + 1).sum();
    let name = room.saturating_sub(taken).clamp(NAME.0, NAME.1);
    let others = report.others.map_or(0, |others| others.jobs);
    let about = [
        format!("{} jobs, {} hold, {} wait", report.jobs.len() + others, report.holding, report.waiting),
        format!("{} of {} seen at most", si(report.bandwidth, "B/s"), si(report.capacity, "B/s")),
        format!("leases: {} ({} now)", report.leases, report.width),
    ];
    let mut lines = wrapped(&about.join("; "), room);
    let line = |first: &str, cell: &dyn Fn(&Column) -> String| {
        let first: String = first.chars().take(name).collect();
        let mut text = format!("{first:<name$}");
        for column in &shown {
            let (_, width, left, _) = *column;
            let cell = cell(column);
            let _ = if left { write!(text, " {cell:<width$}") } else { write!(text, " {cell:>width$}") };
        }
        text
    };
    let head = line("job", &|(title, ..)| (*title).to_owned());
    lines.push(style.bold(&head).to_string());
    // The last row of a terminal stays empty: a line there would move all others up.
    let most = rows.map_or(report.jobs.len(), |rows| rows.saturating_sub(lines.len() + 3));
    let row = |job: &JobReport| line(&printable(&job.job), &|(.., get)| get(job));
    lines.extend(report.jobs.iter().take(most).map(row));
    let left = report.jobs.len().saturating_sub(most);
    if left > 0 {
        lines.push(format!("and {left} more"));
    }
    if let Some(Others { jobs, holding, waiting, bandwidth, .. }) = report.others.filter(|all| all.jobs > 0) {
        let now = si(bandwidth, "B/s");
        lines.push(format!("{jobs} jobs of other users: {holding} hold, {waiting} wait, {now} now"));
    }
    lines.iter().map(|line| format!("{}\n", line.trim_end())).collect()
}

/// A metric of a job.
type Metric = Row<fn(&JobReport) -> Option<f64>>;

const METRICS: [Metric; 8] = [
    ("ftio_turn_holding", Gauge, "Whether the job may do I/O now.", |job| {
        Some(f64::from(u8::from(job.state == "holding")))
    }),
    ("ftio_turn_waiting_seconds", Gauge, "How long the job has been waiting now.", |job| Some(job.waiting)),
    ("ftio_turn_waited_seconds_total", Counter, "How long the job has waited.", |job| Some(job.waited)),
    ("ftio_turn_held_seconds_total", Counter, "How long the job has had its turn.", |job| Some(job.held)),
    ("ftio_turn_bytes_total", Counter, "Bytes that the job has moved.", |job| Some(job.bytes as f64)),
    ("ftio_turn_bandwidth_bytes", Gauge, "Bytes per second over the last second.", |job| Some(job.bandwidth)),
    ("ftio_turn_period_seconds", Gauge, "Time between the starts of its I/O phases.", |job| job.period),
    ("ftio_turn_set", Gauge, "Order of magnitude of its period.", |job| Some(f64::from(job.set))),
];

fn prometheus(report: &Report) -> String {
    let mut text = Text::default();
    let all = [
        ("ftio_arbiter_width", "Jobs that may hold now.", report.width as f64),
        ("ftio_arbiter_holding", "Jobs that hold their turn.", report.holding as f64),
        ("ftio_arbiter_waiting", "Jobs that wait for their turn.", report.waiting as f64),
        ("ftio_arbiter_capacity_bytes", "What the file system was seen to take per second.", report.capacity),
    ];
    for (name, help, value) in all {
        text.single(name, Gauge, help, value);
    }
    for (name, kind, help, get) in METRICS {
        let mut metric = text.metric(name, kind, help);
        for job in &report.jobs {
            if let Some(value) = get(job) {
                metric.sample(&Labels::of([("jobid", &job.job), ("run", &job.run)]), value);
            }
        }
    }
    text.finish()
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
        let text = table(&report, Style::for_stderr(), None, None);
        assert!(text.contains("waiting") && text.contains("19.20 s"), "{text}");
        let text = prometheus(&report);
        assert!(text.contains("ftio_turn_waiting_seconds{jobid=\"47\\\"11\",run=\"0f\"} 1.5\n"), "{text}");
    }

    #[test]
    fn it_fits_the_terminal() {
        let job = |number: usize| JobReport {
            job: format!("{number}-with-a-name-that-is-longer-than-any-column"),
            state: "computing".into(),
            period: Some(19.2),
            bandwidth: 123_456_789.0,
            bytes: u64::MAX,
            held: 1e7,
            ranks: 1 << 20,
            ..JobReport::default()
        };
        let jobs: Vec<JobReport> = (0..100).map(job).collect();
        let report = Report { jobs, leases: "auto".into(), ..Report::default() };
        for (columns, title) in [(60, "period"), (80, "waited"), (200, "ranks")] {
            let text = table(&report, Style::for_stderr(), Some(columns), Some(24));
            assert!(text.lines().all(|line| crate::terminal::width::width(line) <= columns), "{text}");
            assert!(text.contains(title) && text.lines().count() < 24, "{text}");
            assert!(text.ends_with(" more\n"), "{text}");
        }
    }
}
