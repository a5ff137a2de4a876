//! `ftio info TRACE…`: what a trace holds.

use crate::exit::Exit;
use crate::inputs;
use crate::terminal::style::Style;
use crate::terminal::text::{Severity, complain, printable, warn_once};
use crate::terminal::units::{bytes, counted, percent, ranks, seconds, si};
use ftio_core::inspect::module::ModuleSummary;
use ftio_core::inspect::summarize;
use ftio_core::inspect::summary::{AsyncSummary, ClassSummary, Summary};
use std::fmt::Write as _;
use std::io::Write;

use crate::inputs::InputArgs;
use clap::ValueHint;
use std::path::PathBuf;

/// Show what a trace holds: operations and bytes by class, files, cost of tracing
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Traces, of any format that ftio reads, or folders of them
    #[arg(required = true, value_name = "TRACE", value_hint = ValueHint::AnyPath)]
    pub traces: Vec<PathBuf>,

    #[command(flatten)]
    pub input: InputArgs,

    /// Print one JSON object per trace and line
    #[arg(long)]
    pub json: bool,
}

/// How many files are listed.
const MAX_FILES: usize = 20;
/// How many marks are listed.
const MAX_MARKS: usize = 20;

/// Sum up every trace; one that cannot be read does not stop the others.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    let style = Style::for_stdout();
    let mut out = std::io::stdout().lock();
    let mut exit = Exit::Done;
    let reading = args.input.options()?;
    for (number, opened) in inputs::opened(&args.traces, &reading).enumerate() {
        let summary = match opened.and_then(summarize) {
            Ok(summary) => summary,
            Err(error) => {
                complain(Severity::Error, &inputs::explained(&error));
                exit = Exit::Failed;
                continue;
            }
        };
        warn_once(&summary.warnings);
        if args.json {
            serde_json::to_writer(&mut out, &summary).map_err(std::io::Error::from)?;
            writeln!(out)?;
        } else {
            let gap = if number > 0 { "\n" } else { "" };
            write!(out, "{gap}{}", table(&summary, style))?;
        }
        out.flush()?;
    }
    Ok(exit)
}

fn table(summary: &Summary, style: Style) -> String {
    let mut out = format!("{}\n", style.bold(&printable(&summary.source)));
    let mut line = |label: &str, text: String| {
        let _ = writeln!(out, "  {} {text}", style.dim(&format!("{label:<12}")));
    };
    if let Some(job) = &summary.job {
        line("Program", printable(&job.executable).into_owned());
        if !job.mpi.is_empty() {
            line("MPI", printable(&job.mpi).into_owned());
        }
    }
    let state = if summary.complete { "complete" } else { "incomplete" };
    line("Job", format!("{}, {}, {state}", ranks(summary.ranks), seconds(summary.t_end)));
    for (name, class) in [("write_sync", &summary.write_sync), ("read_sync", &summary.read_sync)] {
        line(name, class_line(class));
    }
    for (name, class) in [("write_async", &summary.write_async), ("read_async", &summary.read_async)] {
        line(name, class_line(&class.class));
        if class.class.ops > 0 {
            line("", async_line(class));
        }
    }
    for (name, module) in summary.modules.iter().flatten() {
        line(name, module_line(module));
    }
    for file in summary.files.iter().take(MAX_FILES) {
        let text = format!(
            "{}  {}, {} written, {} read",
            printable(&file.name),
            counted(file.ops, "operation"),
            bytes(file.bytes_written as f64),
            bytes(file.bytes_read as f64)
        );
        line("File", text);
    }
    if summary.files.len() > MAX_FILES {
        line("", format!("and {} more", counted((summary.files.len() - MAX_FILES) as u64, "file")));
    }
    for mark in summary.marks.iter().take(MAX_MARKS) {
        line("Mark", format!("{}  {} (rank {})", seconds(mark.time), printable(&mark.text), mark.rank));
    }
    if summary.marks.len() > MAX_MARKS {
        line("", format!("and {} more", counted((summary.marks.len() - MAX_MARKS) as u64, "mark")));
    }
    for (name, value) in summary.counters.iter().flatten() {
        line("Counter", format!("{}  {value}", printable(name)));
    }
    if let (Some(time), per_op) = (summary.overhead.time, summary.overhead.per_op) {
        let each = per_op.map(|each| format!(", {} per operation", seconds(each))).unwrap_or_default();
        line("Overhead", format!("{} over all ranks{each}", seconds(time)));
    }
    if let Some(error) = summary.clock.max_error {
        let nodes = summary.clock.nodes.map(|nodes| format!("{}, ", counted(nodes as u64, "node")));
        line("Clocks", format!("{}at most {} apart", nodes.unwrap_or_default(), seconds(error)));
    }
    if let Some(all) = summary.coverage.process_bytes {
        let through = bytes(summary.coverage.mpi_io_bytes as f64);
        line("Coverage", format!("{through} by MPI-IO, {} by the processes in all", bytes(all as f64)));
    }
    for note in &summary.notes {
        line("Note", style.warn(&printable(note)));
    }
    out
}

fn module_line(module: &ModuleSummary) -> String {
    let mut text = counted(module.records, "record");
    if let Some(segments) = module.segments {
        text += &format!(", {}", counted(segments, "segment"));
    }
    if let (Some(bins), Some(width)) = (module.bins, module.bin_width) {
        text += &format!(", {} of {}", counted(bins, "bin"), seconds(width));
    }
    let (written, read) = (bytes(module.bytes_written as f64), bytes(module.bytes_read as f64));
    text += &format!(", {written} written, {read} read");
    if let Some(layer) = &module.layer {
        text += &format!(" ({layer})");
    }
    if module.partial {
        text += ", partial";
    }
    text
}

fn class_line(class: &ClassSummary) -> String {
    if class.ops == 0 {
        return "none".into();
    }
    let bandwidth = class.bandwidth.map(|b| format!(", {} on average", si(b, "B/s"))).unwrap_or_default();
    format!(
        "{} of {}, {} in {}{bandwidth}",
        counted(class.ops, "operation"),
        ranks(class.ranks),
        bytes(class.bytes as f64),
        seconds(class.time),
    )
}

fn async_line(class: &AsyncSummary) -> String {
    let rate = |value: Option<f64>| value.map_or("unknown".into(), |value| si(value, "B/s"));
    let upper = class.actual_upper.map(|value| format!(" to {}", si(value, "B/s"))).unwrap_or_default();
    let hidden = match (class.hidden, class.hiding_bandwidth) {
        (Some(hidden), Some(bandwidth)) => {
            format!("; {} hidden, {} would hide all", percent(hidden), si(bandwidth, "B/s"))
        }
        _ => String::new(),
    };
    format!(
        "required {}, actual {}{upper}, lost {}{hidden}",
        rate(class.required_bandwidth),
        rate(class.actual_bandwidth),
        class.lost_time.map_or("unknown".into(), seconds)
    )
}
