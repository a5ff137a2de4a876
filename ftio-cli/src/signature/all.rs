//! `ftio signature --all`: every application of a job log, to a file that a later run can continue.

use super::args::Args;
use super::{read, suggest_zone, whole_logs};
use crate::exit::Exit;
use crate::print;
use crate::terminal::progress::Progress;
use crate::terminal::text::{Severity, complain, note, printable};
use crate::terminal::units::{bytes, counted};
use anyhow::{Context, bail};
use io_signature::archive::{Application, Choice, How, MadeFrom, Results, applications, search, tasks};
use io_signature::found::Found;
use io_signature::quality::DOUBTFUL;
use std::collections::BTreeSet;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

/// What results are made from.
fn made_from(args: &Args) -> MadeFrom<'_> {
    let size = |path: &PathBuf| std::fs::metadata(path).map_or(0, |file| file.len());
    let reading = &args.reading;
    MadeFrom {
        schema: "ftio.signature-archive/1",
        files: args.log.iter().chain(&args.jobs).map(|path| (path, size(path))).collect(),
        method: args.method.method(),
        settings: args.method.settings(),
        direction: reading.direction.name(),
        apart: reading.apart,
        metric: reading.metric.as_deref(),
        unit: reading.unit,
        rate: format!("{:?}", reading.counters).to_lowercase(),
        utc_offset: args.utc_offset,
    }
}

/// Find the signatures of all applications.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    let path = args.jobs.as_deref().context("expected --jobs")?;
    let mut output = args.output.as_deref().map(|path| Results::open(path, &made_from(args))).transpose()?;
    let jobs = read::jobs(path, args.utc_offset)?;
    let logs = whole_logs(args)?;
    for log in &logs {
        if let Some(problem) = jobs.against_log(log.start, log.end()) {
            bail!("{}: {problem}", log.name);
        }
    }
    let choice = Choice {
        user: args.user.as_deref(),
        nodes: args.nodes,
        name: args.name.as_deref(),
        least_runs: args.method.settings().least_runs as usize,
    };
    let applications = applications(&jobs, &choice);
    let held = output.as_ref().map_or(BTreeSet::new(), |results| results.held().clone());
    let mut rest = tasks(&logs, &applications);
    rest.retain(|task| !held.contains(&task.name));
    if !held.is_empty() {
        let what = format!("{} already there; {} to go", counted(held.len() as u64, "signature"), rest.len());
        complain(Severity::Note, &what);
    }
    let mut progress = Progress::new(rest.len() as u64, "application");
    let mut stdout = BufWriter::new(io::stdout().lock());
    let mut with_bursts = 0u64;
    let how = How {
        method: args.method.method(),
        settings: &args.method.settings(),
        direction: args.reading.direction.name(),
        threads: args.threads.map_or(0, usize::from),
    };
    search(&rest, how, |lines| -> anyhow::Result<()> {
        if let Some(results) = &mut output {
            results.add(lines)?;
        }
        for line in lines {
            with_bursts += u64::from(!line.signature.bursts.is_empty());
            if args.json {
                print::json(&mut stdout, line)?;
            } else {
                writeln!(stdout, "{}", shown(line))?;
            }
        }
        // Lines and the bar may share a terminal.
        progress.hide();
        stdout.flush()?;
        progress.add(lines.len() as u64);
        Ok(())
    })?;
    progress.finish();
    stdout.flush()?;
    let (all, few) = (jobs.applications().len(), args.method.settings().least_runs);
    note!(
        "{all} applications in the job log, {} with at least {few} runs, {with_bursts} signatures",
        applications.len()
    );
    if with_bursts == 0 && held.is_empty() {
        let mut most: Vec<&Application<'_>> = applications.iter().collect();
        most.sort_by_key(|one| std::cmp::Reverse(one.runs.len()));
        let mut tried = logs.iter().flat_map(|log| most.iter().take(MAX_TRIED).map(move |one| (log, one)));
        tried.any(|(log, one)| suggest_zone(&jobs, &one.runs, log, args));
    }
    Ok(Exit::Done)
}

/// If there is no signature at all, this many applications are looked at in other time zones.
const MAX_TRIED: usize = 5;

fn shown(line: &Found) -> String {
    let signature = &line.signature;
    let used = signature.samples.iter().filter(|sample| sample.used).count();
    let what = if signature.bursts.is_empty() {
        "no burst in common".to_owned()
    } else {
        let period = line.period.map_or(String::new(), |period| format!(", every {period:.0} s"));
        let doubtful = if signature.quality.mean < DOUBTFUL { ", doubtful" } else { "" };
        format!(
            "{}{period}, {}, quality {:.2}{doubtful}",
            counted(signature.bursts.len() as u64, "burst"),
            bytes(signature.bytes),
            signature.quality.mean
        )
    };
    format!(
        "{:<40} {used:>4} of {:>5} runs  {:>7.0} s  {what}",
        printable(&line.name),
        line.runs.unwrap_or(0),
        signature.duration
    )
}
