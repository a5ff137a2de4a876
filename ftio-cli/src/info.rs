//! `ftio info TRACE…`: what a trace holds.

use crate::exit::Exit;
use crate::inputs;
use crate::print;
use crate::terminal::clock;
use crate::terminal::style::Style;
use crate::terminal::text::{Severity, complain, printable, warn_once};
use crate::terminal::units::{bytes, counted, percent, ranks, seconds, si};
use crate::terminal::waiting::Waiting;
use crate::terminal::width::{columns, labelled};
use inspect::module::ModuleSummary;
use inspect::summarize;
use inspect::summary::{AsyncSummary, ClassSummary, FileSummary, JobInfo, Summary};
use inspect::usage::LayerUsage;
use std::io::Write;

use crate::inputs::InputArgs;
use clap::{ValueEnum, ValueHint};
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  What is in a trace, or in a Darshan log:
      ftio info run.msgpack
      ftio info job.darshan
  All files, the most often used first:
      ftio info --all --sort ops run.msgpack
  Bytes written by blocking calls, for a script:
      ftio info --json run.msgpack | jq .write_sync.bytes";

/// Show what a trace holds: operations, bytes, files, overhead
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Traces, of any format that ftio reads, or folders of them
    #[arg(required = true, value_name = "TRACE", value_hint = ValueHint::AnyPath)]
    pub traces: Vec<PathBuf>,

    #[command(flatten)]
    pub input: InputArgs,

    /// Print one JSON object per trace and line
    #[arg(long, help_heading = "Output")]
    pub json: bool,

    /// Order of the files: bytes, written, read, ops or name [default: bytes]
    #[arg(long, value_name = "ORDER", value_enum, hide_possible_values = true, help_heading = "Output")]
    pub sort: Option<Order>,

    /// List all files, not only the first 20
    #[arg(long, help_heading = "Output")]
    pub all: bool,
}

/// How many files are listed, unless all are asked for.
const MAX_FILES: usize = 20;
/// How many marks are listed.
const MAX_MARKS: usize = 20;

/// `--sort`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Order {
    Bytes,
    Written,
    Read,
    Ops,
    Name,
}

/// Sum up every trace; one that cannot be read does not stop the others.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    let style = Style::for_stdout();
    let mut out = std::io::stdout().lock();
    let mut exit = Exit::Done;
    let reading = args.input.options()?;
    for (number, opened) in inputs::opened(&args.traces, &reading).enumerate() {
        let summed_up = opened.and_then(|opened| {
            let _waiting = Waiting::reading(&opened.name);
            summarize(opened)
        });
        let mut summary = match summed_up {
            Ok(summary) => summary,
            Err(error) => {
                complain(Severity::Error, &inputs::explained(&error));
                exit = Exit::Failed;
                continue;
            }
        };
        warn_once(&summary.warnings);
        // JSON keeps its order, by name, unless another is asked for.
        if let Some(order) = args.sort.or((!args.json).then_some(Order::Bytes)) {
            sort(&mut summary.files, order);
        }
        if args.json {
            print::json(&mut out, &summary)?;
        } else {
            let gap = if number > 0 { "\n" } else { "" };
            let files = if args.all { usize::MAX } else { MAX_FILES };
            write!(out, "{gap}{}", table(&summary, style, columns(), files))?;
        }
        out.flush()?;
    }
    Ok(exit)
}

fn sort(files: &mut [FileSummary], order: Order) {
    files.sort_by(|a, b| {
        let key = |file: &FileSummary| match order {
            Order::Bytes => file.bytes_read.saturating_add(file.bytes_written),
            Order::Written => file.bytes_written,
            Order::Read => file.bytes_read,
            Order::Ops => file.ops,
            Order::Name => 0,
        };
        key(b).cmp(&key(a)).then_with(|| a.name.cmp(&b.name))
    });
}

/// What a trace holds, for a terminal of this width if it is known, with at most this number of files.
pub fn table(summary: &Summary, style: Style, columns: Option<usize>, most_files: usize) -> String {
    let mut out = format!("{}\n", style.bold(&printable(&summary.source)));
    let mut line = |label: &str, text: String| {
        out += &labelled(&format!("  {}", style.dim(&format!("{label:<12}"))), &text, columns);
    };
    if let Some(job) = &summary.job {
        job_lines(job, &mut line);
    }
    let state = if summary.complete { "complete" } else { "incomplete" };
    line("Job", format!("{}, {}, {state}", ranks(summary.ranks), seconds(summary.t_end)));
    let classes = [
        ("write_sync", &summary.write_sync, None),
        ("read_sync", &summary.read_sync, None),
        ("write_async", &summary.write_async.class, Some(&summary.write_async)),
        ("read_async", &summary.read_async.class, Some(&summary.read_async)),
    ];
    for (name, class, nonblocking) in classes.iter().filter(|(_, class, _)| class.ops > 0) {
        line(name, class_line(class));
        if let Some(class) = nonblocking {
            line("", async_line(class));
        }
    }
    if let Some(share) = summary.io_share {
        line("Time in I/O", format!("{} of the run, of an average rank", percent(share.all)));
    }
    if let Some(samples) = summary.samples {
        line("Data", counted(samples, "sample"));
    } else if classes.iter().all(|(_, class, _)| class.ops == 0) && summary.counters.is_none() {
        line("Data", "no reads or writes".into());
    }
    for (name, layer) in &summary.layers {
        line("Layer", format!("{name}: {}", layer_line(layer)));
    }
    for process in summary.processes.iter().take(most_files) {
        let state = if process.finished { "" } else { ", killed or running" };
        let words = printable(&process.command);
        line("Process", format!("{}: {words} (pid {}{state})", process.rank, process.pid));
    }
    if summary.processes.len() > most_files {
        line("", format!("and {} more; --all lists them", summary.processes.len() - most_files));
    }
    for (name, module) in summary.modules.iter().flatten() {
        line(name, module_line(module));
    }
    for file in summary.files.iter().take(most_files) {
        let layer = file.layer.map(|layer| format!(" ({layer})")).unwrap_or_default();
        let text = format!(
            "{}{layer}  {}, {} written, {} read",
            printable(&file.name),
            counted(file.ops, "operation"),
            bytes(file.bytes_written as f64),
            bytes(file.bytes_read as f64)
        );
        line("File", text);
    }
    if summary.files.len() > most_files {
        let more = counted((summary.files.len() - most_files) as u64, "file");
        line("", format!("and {more} more; --all lists them"));
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
        let all = bytes(all as f64);
        match summary.coverage.traced_bytes {
            Some(traced) => {
                let past = match summary.coverage.unseen {
                    Some(unseen) => format!("{} went past", bytes(unseen.bytes() as f64)),
                    None => format!("{all} by the processes in all, also by pipes"),
                };
                line("Coverage", format!("{} traced, {past}", bytes(traced as f64)));
            }
            None => {
                let through = bytes(summary.coverage.mpi_io_bytes.unwrap_or(0) as f64);
                line("Coverage", format!("{through} by MPI-IO, {all} by the processes in all"));
            }
        }
    }
    for note in &summary.notes {
        line("Note", style.warn(&printable(note)));
    }
    out
}

/// Who ran what, and when.
fn job_lines(job: &JobInfo, line: &mut dyn FnMut(&str, String)) {
    line("Program", printable(&job.executable).into_owned());
    if let Some(command) = &job.command {
        line("Command", printable(command).into_owned());
    }
    let user = job.user.as_ref().map(|user| format!("  user {}", printable(user)));
    if !job.id.is_empty() {
        line("Job id", format!("{}{}", printable(&job.id), user.unwrap_or_default()));
    }
    if let Some(start) = job.start_time {
        line("Start", clock::local(start));
    }
    if let Some(mpi) = &job.mpi {
        line("MPI", printable(mpi).into_owned());
    }
    if !job.tracer().is_empty() {
        line("Recorded by", printable(&job.tracer()).into_owned());
    }
}

fn layer_line(layer: &LayerUsage) -> String {
    format!(
        "{} written, {} read in {}; {} in {}",
        bytes(layer.write.bytes as f64),
        bytes(layer.read.bytes as f64),
        counted(layer.read.ops + layer.write.ops, "operation"),
        counted(layer.meta.ops, "metadata operation"),
        seconds(layer.meta.time)
    )
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
    let mut bandwidth = String::new();
    if let Some(all) = class.aggregate_bandwidth {
        bandwidth += &format!(", {} together", si(all, "B/s"));
    }
    if let Some(each) = class.bandwidth {
        bandwidth += &format!(", {} per rank", si(each, "B/s"));
    }
    let of_ranks = class.ranks.map(|_| format!(" of {}", ranks(class.ranks))).unwrap_or_default();
    format!(
        "{}{of_ranks}, {} in {}{bandwidth}",
        counted(class.ops, "operation"),
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
