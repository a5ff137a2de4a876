//! `ftio signature --all`: every application of a job log, in parallel, to a file that a later run can
//! continue.

use super::args::Args;
use super::output::Found;
use super::{read, suggest_zone, whole_logs};
use crate::exit::Exit;
use crate::terminal::progress::Progress;
use crate::terminal::text::{Severity, complain, printable};
use crate::terminal::units::{bytes, counted};
use anyhow::{Context, bail};
use io_signature::application::application;
use io_signature::quality::DOUBTFUL;
use io_signature::{Job, Jobs, Method, ServerLog, Settings};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// For each thread, this many applications are worked on before their results are written.
const AT_ONCE: usize = 8;

/// What is needed of a line to know that it is there.
#[derive(Deserialize)]
struct Known {
    name: String,
}

/// The first line of a file of results: what they were made from. If that has changed, nothing is resumed.
fn header(args: &Args) -> anyhow::Result<String> {
    let size = |path: &PathBuf| std::fs::metadata(path).map_or(0, |file| file.len());
    let files: Vec<(&PathBuf, u64)> =
        args.log.iter().chain(&args.jobs).map(|path| (path, size(path))).collect();
    let reading = &args.reading;
    // The schema comes first: that is what readers look for.
    let made_from = MadeFrom {
        schema: "ftio.signature-archive/1",
        files,
        method: args.method.method,
        settings: &args.method.settings,
        direction: reading.direction.name(),
        apart: reading.apart,
        metric: reading.metric.as_deref(),
        unit: reading.unit,
        rate: format!("{:?}", reading.rate).to_lowercase(),
        utc_offset: args.utc_offset,
    };
    Ok(serde_json::to_string(&made_from)?)
}

#[derive(Serialize)]
struct MadeFrom<'a> {
    schema: &'static str,
    files: Vec<(&'a PathBuf, u64)>,
    method: Method,
    settings: &'a Settings,
    direction: &'static str,
    apart: bool,
    metric: Option<&'a str>,
    unit: Option<f64>,
    rate: String,
    utc_offset: f64,
}

/// Find the signatures of all applications.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    let path = args.jobs.as_deref().context("expected --jobs")?;
    let mut output = args.output.as_deref().map(|path| Results::open(path, &header(args)?)).transpose()?;
    let jobs = read::jobs(path, args.utc_offset)?;
    let logs = whole_logs(args)?;
    for log in &logs {
        if let Some(problem) = jobs.against_log(log.start, log.end()) {
            bail!("{}: {problem}", log.name);
        }
    }
    let applications = applications(&jobs, args);
    let work: Vec<(&ServerLog, &Application<'_>)> =
        logs.iter().flat_map(|log| applications.iter().map(move |one| (log, one))).collect();
    let several = logs.len() > 1;
    let name = |(log, one): &(&ServerLog, &Application<'_>)| match several {
        true => format!("{} on {}", one.name, log.name),
        false => one.name.clone(),
    };
    let held = output.as_ref().map_or(BTreeSet::new(), |results| results.held.clone());
    let rest: Vec<_> = work.into_iter().filter(|one| !held.contains(&name(one))).collect();
    if !held.is_empty() {
        let what = format!("{} already there; {} to go", counted(held.len() as u64, "signature"), rest.len());
        complain(Severity::Note, &what);
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(args.threads.map_or(0, usize::from)).build()?;
    let mut progress = Progress::new(rest.len() as u64, "application");
    let mut stdout = BufWriter::new(io::stdout().lock());
    let mut with_bursts = 0u64;
    for chunk in rest.chunks(AT_ONCE * pool.current_num_threads()) {
        let one = |task: &(&ServerLog, &Application<'_>)| line(&name(task), task.0, task.1, args);
        let lines: Vec<Found> = pool.install(|| chunk.par_iter().map(one).collect());
        for line in &lines {
            with_bursts += u64::from(!line.signature.bursts.is_empty());
            if let Some(results) = &mut output {
                results.add(line)?;
            }
            if args.json {
                serde_json::to_writer(&mut stdout, line).map_err(io::Error::from)?;
                writeln!(stdout)?;
            } else {
                writeln!(stdout, "{}", shown(line))?;
            }
        }
        if let Some(results) = &mut output {
            results.file.flush()?;
        }
        // Lines and the bar may share a terminal.
        progress.hide();
        stdout.flush()?;
        progress.add(chunk.len() as u64);
    }
    progress.finish();
    stdout.flush()?;
    let (all, few) = (jobs.applications().len(), args.method.settings.least_runs);
    complain(
        Severity::Note,
        &format!(
            "{all} applications in the job log, {} with at least {few} runs, {with_bursts} signatures",
            applications.len()
        ),
    );
    if with_bursts == 0 && held.is_empty() {
        let mut most: Vec<&Application<'_>> = applications.iter().collect();
        most.sort_by_key(|one| std::cmp::Reverse(one.runs.len()));
        let mut tried = logs.iter().flat_map(|log| most.iter().take(MOST_TRIED).map(move |one| (log, one)));
        tried.any(|(log, one)| suggest_zone(&jobs, &one.runs, log, args));
    }
    Ok(Exit::Done)
}

/// If there is no signature at all, this many applications are looked at in other time zones.
const MOST_TRIED: usize = 5;

/// The runs of an application.
struct Application<'a> {
    name: String,
    runs: Vec<&'a Job>,
}

/// Those that ran often enough and that the options select.
fn applications<'a>(jobs: &'a Jobs, args: &Args) -> Vec<Application<'a>> {
    let least = args.method.settings.least_runs as usize;
    let fits = |(user, nodes, name): &(String, u32, String)| {
        args.user.as_ref().is_none_or(|wanted| wanted == user)
            && args.nodes.is_none_or(|wanted| wanted == *nodes)
            && args.name.as_ref().is_none_or(|wanted| name.contains(wanted.as_str()))
    };
    jobs.applications()
        .into_iter()
        .filter(|(key, runs)| runs.len() >= least && fits(key))
        .map(|((user, nodes, name), runs)| Application {
            name: format!("{user} {nodes} {name}").trim().into(),
            runs,
        })
        .collect()
}

fn line(name: &str, log: &ServerLog, one: &Application<'_>, args: &Args) -> Found {
    let found = application(&one.runs, log, args.method.method, &args.method.settings);
    Found::new(name, args.reading.direction.name(), found.signature).of_runs(&one.runs)
}

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

/// A file of results that grows.
struct Results {
    file: BufWriter<File>,
    held: BTreeSet<String>,
}

impl Results {
    /// Open it, or make it. A last line that was cut off is removed.
    fn open(path: &Path, header: &str) -> anyhow::Result<Self> {
        let name = || path.display().to_string();
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)
            .with_context(name)?;
        let mut held = BTreeSet::new();
        let mut reader = BufReader::new(&file);
        let (mut whole, mut line, mut number) = (0u64, Vec::new(), 0u64);
        loop {
            line.clear();
            // Bytes: what was cut off may end within a letter.
            let read = reader.read_until(b'\n', &mut line).with_context(name)?;
            if read == 0 || !line.ends_with(b"\n") {
                break;
            }
            number += 1;
            if number == 1 {
                if line.trim_ascii_end() != header.as_bytes() {
                    bail!(
                        "{}: made from other logs or with other settings, or a log has grown since; name another \
                         file",
                        path.display()
                    );
                }
            } else {
                let known: Known = serde_json::from_slice(&line)
                    .with_context(|| format!("{}, line {number}: expected a signature", path.display()))?;
                held.insert(known.name);
            }
            whole += read as u64;
        }
        file.set_len(whole).with_context(name)?;
        file.seek(SeekFrom::End(0)).with_context(name)?;
        let mut file = BufWriter::new(file);
        if whole == 0 {
            writeln!(file, "{header}")?;
            file.flush().with_context(name)?;
        }
        Ok(Results { file, held })
    }

    fn add(&mut self, line: &Found) -> anyhow::Result<()> {
        serde_json::to_writer(&mut self.file, line).map_err(io::Error::from)?;
        Ok(writeln!(self.file)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_was_cut_off_within_a_letter_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.jsonl");
        let whole = "{\"settings\":1}\n{\"schema\":\"ftio.signature/1\",\"name\":\"jürgen 4 lmp\"}\n";
        let cut = &"{\"schema\":\"ftio.signature/1\",\"name\":\"jü".as_bytes()[..39];
        std::fs::write(&path, [whole.as_bytes(), cut].concat()).unwrap();
        assert!(std::fs::read_to_string(&path).is_err(), "half a letter");
        let results = Results::open(&path, "{\"settings\":1}").unwrap();
        assert_eq!(results.held.into_iter().collect::<Vec<_>>(), ["jürgen 4 lmp"]);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), whole);
        assert!(Results::open(&path, "{\"settings\":2}").is_err());
    }
}
