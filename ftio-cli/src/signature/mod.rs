//! `ftio signature`: what an application does, from the log of the storage servers alone.

mod all;
mod args;
mod options;
mod output;
pub mod place;
mod read;
pub mod stagger;

pub use args::Args;
use args::SignatureCommand;

use crate::exit::{Exit, wrong_usage};
use crate::picture::{PictureFile, numbered};
use crate::print;
use crate::terminal::style::Style;
use crate::terminal::text::{Severity, complain, warning};
use crate::terminal::units::counted;
use crate::terminal::waiting::Waiting;
use draw::draw_sheet;
use io_signature::application::samples;
use io_signature::compare::{bursts_of, compare};
use io_signature::found::Found;
use io_signature::{Analysis, Job, Jobs, Listed, Sample, ServerLog, analyse, periodic, time_zone};
use std::io::{self, Write};

/// Find signatures, or use them.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    match &args.command {
        Some(SignatureCommand::Place(args)) => place::run(args),
        Some(SignatureCommand::Stagger(args)) => stagger::run(args),
        None if args.all => all::run(args),
        None => one(args),
    }
}

/// Samples of one application on one log.
struct Task {
    name: String,
    samples: Vec<Sample>,
    dropped: Vec<Listed>,
    /// What the samples were cut out of.
    log: Option<ServerLog>,
}

fn one(args: &Args) -> anyhow::Result<Exit> {
    let picture = args.plot.as_deref().map(PictureFile::open_drawing).transpose()?;
    let jobs = args.jobs.as_deref().map(|path| read::jobs(path, args.utc_offset)).transpose()?;
    let runs = jobs.as_ref().map(|jobs| selected(jobs, args)).transpose()?;
    let tasks = match &runs {
        Some(runs) => from_logs(args, jobs.as_ref(), runs)?,
        None => {
            let (samples, dropped) = read::samples(&args.samples, &args.reading, &args.method.settings());
            vec![Task { name: "samples".into(), samples, dropped, log: None }]
        }
    };
    let mut stdout = io::stdout().lock();
    let mut exit = Exit::Done;
    for (number, task) in tasks.iter().enumerate() {
        let waiting = Waiting::working(&format!("analysing {}", task.name));
        let mut analysis = analyse(&task.samples, args.method.method(), &args.method.settings());
        drop(waiting);
        analysis.signature.samples.extend(task.dropped.iter().cloned());
        let foreign = foreign(jobs.as_ref(), runs.as_deref().unwrap_or_default());
        analysis.signature.background.periodic = periodic::others(&analysis, &foreign);
        let mut found = found(task, analysis, args)?;
        if let Some(runs) = &runs {
            found = found.of_runs(runs);
        }
        for warning in &found.signature.warnings {
            warning!("{}: {warning}", task.name);
        }
        if found.signature.bursts.is_empty() {
            exit = Exit::Failed;
            if let (Some(jobs), Some(runs), Some(log)) = (&jobs, &runs, &task.log) {
                suggest_zone(jobs, runs, log, args);
            }
        }
        if args.json {
            print::json(&mut stdout, &found)?;
        } else {
            write!(stdout, "{}", output::table(&found, Style::for_stdout()))?;
        }
        let several = tasks.len() > 1;
        if let Some(path) = &args.csv {
            let path = if several { numbered(path, number + 1) } else { path.clone() };
            output::csv(&found.signature, &path)?;
        }
        if let Some(file) = &picture {
            let file = if several { file.numbered(number + 1) } else { file.clone() };
            file.write(draw_sheet(
                &draw::signature::sheet(&found.name, &found.signature, &task.samples),
                file.format(),
            ))?;
        }
    }
    stdout.flush()?;
    Ok(exit)
}

/// Is the job log in another time zone? Says so if the runs have bursts in common then.
fn suggest_zone(jobs: &Jobs, runs: &[&Job], log: &ServerLog, args: &Args) -> bool {
    if !jobs.local {
        return false;
    }
    let found = time_zone::ahead(runs, log, args.method.method(), &args.method.settings());
    if let Some((ahead, signature)) = &found {
        let offset = args.utc_offset + ahead;
        let bursts = counted(signature.bursts.len() as u64, "burst");
        let quality = signature.quality.mean;
        let what = format!(
            "with --utc-offset {offset} the runs have {bursts} in common (quality {quality:.2}): are the \
             times of the job log in another time zone?"
        );
        complain(Severity::Note, &what);
    }
    found.is_some()
}

/// The result, with what follows from it.
fn found(task: &Task, analysis: Analysis, args: &Args) -> anyhow::Result<Found> {
    let mut found = Found::new(&task.name, args.reading.direction.name(), analysis.signature);
    if let Some(path) = &args.truth {
        let truth = read::course(path)?.into_iter().next().unwrap_or_default();
        found.truth = Some(compare(&found.signature, &truth, &bursts_of(&truth)));
    }
    Ok(found)
}

/// The runs that the options select.
fn selected<'a>(jobs: &'a Jobs, args: &Args) -> anyhow::Result<Vec<&'a Job>> {
    let fits = |job: &&Job| {
        args.user.as_ref().is_none_or(|user| *user == job.user)
            && args.nodes.is_none_or(|nodes| nodes == job.nodes)
            && args.name.as_ref().is_none_or(|name| job.name.contains(name.as_str()))
    };
    let mut runs: Vec<&Job> = jobs.jobs.iter().filter(fits).collect();
    runs.sort_by(|a, b| a.start.total_cmp(&b.start));
    if runs.is_empty() {
        return Err(wrong_usage(format!("no job fits; the job log has {}", known(jobs))));
    }
    let mut applications: Vec<(&str, u32, &str)> =
        runs.iter().map(|job| (job.user.as_str(), job.nodes, job.name.as_str())).collect();
    applications.sort_unstable();
    applications.dedup();
    if applications.len() > 1 && (args.user.is_none() || args.nodes.is_none()) {
        let what =
            "the jobs are of several applications; choose with --user, --nodes and --name, or take --all";
        return Err(wrong_usage(format!("{what}; the job log has {}", known(jobs))));
    }
    if applications.len() > 1 {
        let what =
            format!("runs with {} different names are taken as one application (--name)", applications.len());
        complain(Severity::Warning, &what);
    }
    Ok(runs)
}

/// The applications that ran most often.
fn known(jobs: &Jobs) -> String {
    let mut all: Vec<(usize, String)> = jobs
        .applications()
        .into_iter()
        .map(|((user, nodes, name), runs)| {
            let name = if name.is_empty() { String::new() } else { format!(" --name {name}") };
            let count = counted(runs.len() as u64, "run");
            (runs.len(), format!("--user {user} --nodes {nodes}{name} ({count})"))
        })
        .collect();
    all.sort_by(|a, b| b.cmp(a));
    let more = if all.len() > 5 { format!(" and {} more", all.len() - 5) } else { String::new() };
    let listed: Vec<String> = all.into_iter().take(5).map(|(_, text)| text).collect();
    format!("{}{more}", listed.join("; "))
}

fn from_logs(args: &Args, jobs: Option<&Jobs>, runs: &[&Job]) -> anyhow::Result<Vec<Task>> {
    let logs = whole_logs(args)?;
    let mut tasks = Vec::new();
    for log in logs {
        if let Some(problem) = jobs.and_then(|jobs| jobs.against_log(log.start, log.end())) {
            anyhow::bail!("{}: {problem}", log.name);
        }
        let (samples, dropped) = samples(runs, &log, &args.method.settings());
        let job = runs[0];
        let mut name = format!("{} {} {}", job.user, job.nodes, job.name).trim().to_owned();
        if args.reading.apart {
            name = format!("{name} on {}", log.name);
        }
        tasks.push(Task { name, samples, dropped, log: Some(log) });
    }
    Ok(tasks)
}

/// The log to look at: the sum of all, or each.
fn whole_logs(args: &Args) -> anyhow::Result<Vec<ServerLog>> {
    let logs = read::logs(&args.log, &args.reading)?;
    if args.reading.apart || logs.len() == 1 {
        return Ok(logs);
    }
    Ok(vec![ServerLog::sum("the sum of all logs", &logs)?])
}

/// Jobs of others.
fn foreign<'a>(jobs: Option<&'a Jobs>, runs: &[&Job]) -> Vec<&'a Job> {
    let own = |job: &Job| runs.iter().any(|run| run.user == job.user && run.name == job.name);
    jobs.map_or(Vec::new(), |jobs| jobs.jobs.iter().filter(|job| !own(job)).collect())
}
