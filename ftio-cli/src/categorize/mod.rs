//! `ftio categorize PATH…`: an archive of Darshan logs, or of other inputs, by categories of I/O behaviour.

mod args;
mod judge;
mod page;
mod paper;
mod table;

pub use args::Args;
use args::{CategorizeCommand, ResultArgs};

use crate::exit::Exit;
use crate::output::{self, Draft};
use crate::terminal::progress::Progress;
use crate::terminal::style::Style;
use crate::terminal::text::{Severity, complain, note};
use crate::terminal::units::counted;
use crate::terminal::waiting::Waiting;
use anyhow::Context;
use mosaic::archive::{Listing, Part, Shard, Summary, process, reduce};
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Write};
use std::path::PathBuf;

/// Read an archive, or join what several machines have read.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    match &args.command {
        Some(CategorizeCommand::Merge(merge)) => conclude(&merge.parts, merge.partial, &merge.results),
        Some(CategorizeCommand::Accuracy(accuracy)) => judge::accuracy(accuracy),
        None => read(args),
    }
}

fn read(args: &Args) -> anyhow::Result<Exit> {
    for path in args.paths.iter().filter(|path| path.as_os_str() != "-") {
        std::fs::metadata(path).with_context(|| path.display().to_string())?;
    }
    let waiting = Waiting::working("looking for logs");
    let listing = listed(args)?;
    drop(waiting);
    remarks(&listing);
    if listing.is_empty() {
        complain(
            Severity::Error,
            "expected Darshan logs, found no file with \".darshan\" in its name; --all-files takes others",
        );
        return Ok(Exit::Failed);
    }
    let outputs = Outputs::open(&args.results)?;
    // A part without a name is removed at the end.
    let temporary = tempfile::Builder::new().prefix("ftio-categorize-").suffix(".part").tempfile();
    let temporary = temporary.context("cannot create a temporary file; name a file with -o")?;
    let path = args.output.as_deref().unwrap_or(temporary.path());
    let shard = args.shard.unwrap_or(Shard::WHOLE);
    let mut part = Part::open(path, &args.settings(), shard)?;
    let held = part.held();
    let remaining = process::remaining(&listing, shard, &part);
    if held > 0 {
        note!("{} holds {} already; {} to go", path.display(), logs(held), logs(remaining));
    }
    let threads = args.threads.map_or(0, usize::from);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
    let mut progress = Progress::new(remaining, "log");
    pool.install(|| process(&listing, shard, &mut part, |more| progress.add(more)))?;
    progress.finish();
    drop((part, pool));
    if args.shard.is_some() {
        note!("{}: shard {shard} is done, {}", path.display(), logs(held + remaining));
        return Ok(Exit::Done);
    }
    drop(listing);
    finish(&[path.to_owned()], false, &args.results, outputs)
}

fn logs(count: u64) -> String {
    counted(count, "log")
}

fn listed(args: &Args) -> anyhow::Result<Listing> {
    let mut listing =
        if args.all_files { Listing::of_every_file(&args.paths) } else { Listing::of(&args.paths) };
    if let Some(from) = &args.from {
        listing = if from.as_os_str() == "-" {
            listing.with_lines(io::stdin().lock()).context("standard input")?
        } else {
            let name = || from.display().to_string();
            let file = File::open(from).with_context(name)?;
            listing.with_lines(BufReader::new(file)).with_context(name)?
        };
    }
    Ok(listing)
}

fn remarks(listing: &Listing) {
    for problem in listing.problems() {
        complain(Severity::Warning, problem);
    }
    if listing.passed_over() > 0 {
        note!("{} without \".darshan\" in the name skipped", counted(listing.passed_over(), "file"));
    }
}

fn conclude(parts: &[PathBuf], partial: bool, results: &ResultArgs) -> anyhow::Result<Exit> {
    finish(parts, partial, results, Outputs::open(results)?)
}

/// Files that results go to, opened before the work.
#[derive(Debug, Default)]
struct Outputs {
    summary: Option<Draft>,
    html: Option<Draft>,
    judge: Option<Draft>,
    bad_logs: Option<BufWriter<Draft>>,
}

impl Outputs {
    fn open(results: &ResultArgs) -> anyhow::Result<Self> {
        let open = |path: &Option<PathBuf>| path.as_deref().map(output::create).transpose();
        Ok(Outputs {
            summary: open(&results.summary)?,
            html: open(&results.html)?,
            judge: open(&results.judge)?,
            bad_logs: open(&results.bad_logs)?.map(BufWriter::new),
        })
    }
}

/// From parts to results.
fn finish(
    parts: &[PathBuf],
    partial: bool,
    results: &ResultArgs,
    mut outputs: Outputs,
) -> anyhow::Result<Exit> {
    let mut stdout = BufWriter::with_capacity(1 << 16, io::stdout().lock());
    let lines = results.json.then_some(&mut stdout as &mut dyn Write);
    let bad_logs = outputs.bad_logs.as_mut().map(|file| file as &mut dyn Write);
    // Lines of JSON tell by themselves that there is progress.
    let waiting = (!results.json).then(|| Waiting::working("adding up"));
    let summary: Summary = reduce(parts, partial, lines, bad_logs)?;
    drop(waiting);
    if let Some(file) = outputs.bad_logs {
        let name = || results.bad_logs.iter().map(|path| path.display().to_string()).collect::<String>();
        file.into_inner().map_err(io::IntoInnerError::into_error).with_context(name)?.finish()?;
    }
    if let Some(file) = outputs.summary {
        file.fill(format!("{}\n", serde_json::to_string(&summary)?).as_bytes())?;
    }
    if let Some(file) = outputs.html {
        file.fill(page::page(&summary).as_bytes())?;
    }
    if let Some(file) = outputs.judge {
        file.fill(judge::page(&summary, results.sample, results.seed).as_bytes())?;
    }
    if !results.json && summary.ok == 0 {
        write!(stdout, "{}", table::unusable(&summary, Style::for_stdout()))?;
    } else if !results.json {
        write!(stdout, "{}", table::table(&summary, Style::for_stdout()))?;
    } else if summary.invalid > 0 {
        note!("{} could not be used: see \"status\": \"invalid\"", logs(summary.invalid));
    }
    stdout.flush()?;
    Ok(if summary.ok > 0 { Exit::Done } else { Exit::Failed })
}
