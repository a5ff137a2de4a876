//! Every application of a job log, in parallel, and a file of results that a later run can continue.

use crate::application::application;
use crate::found::Found;
use crate::{Job, Jobs, Method, ServerLog, Settings};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// For each thread, this many applications are worked on before their results are handed on.
const JOBS_A_BATCH: usize = 8;

/// What is needed of a line to know that it is there.
#[derive(Deserialize)]
struct Known {
    name: String,
}

/// The first line of a file of results: what they were made from. If that has changed, nothing is resumed.
#[derive(Debug, Serialize)]
pub struct MadeFrom<'a> {
    /// It comes first: that is what readers look for.
    pub schema: &'static str,
    /// The logs and the job log, with their sizes.
    pub files: Vec<(&'a PathBuf, u64)>,
    /// By which method.
    pub method: Method,
    /// With which settings.
    pub settings: Settings,
    /// What was taken from the logs.
    pub direction: &'static str,
    /// Whether each log was taken for itself.
    pub apart: bool,
    /// Which columns were chosen.
    pub metric: Option<&'a str>,
    /// The unit that was given.
    pub unit: Option<f64>,
    /// Whether columns were taken as counters.
    pub rate: String,
    /// By how much the job log was ahead.
    pub utc_offset: f64,
}

/// Which applications are of interest.
#[derive(Clone, Copy, Debug, Default)]
pub struct Choice<'a> {
    /// Of this user.
    pub user: Option<&'a str>,
    /// On so many nodes.
    pub nodes: Option<u32>,
    /// With this in its name.
    pub name: Option<&'a str>,
    /// That ran at least so often.
    pub least_runs: usize,
}

/// The runs of an application.
#[derive(Clone, Debug)]
pub struct Application<'a> {
    /// User, nodes and name.
    pub name: String,
    /// In the order of the job log.
    pub runs: Vec<&'a Job>,
}

/// Those of a job log that are of interest.
pub fn applications<'a>(jobs: &'a Jobs, choice: &Choice<'_>) -> Vec<Application<'a>> {
    let fits = |(user, nodes, name): &(String, u32, String)| {
        choice.user.is_none_or(|wanted| wanted == user)
            && choice.nodes.is_none_or(|wanted| wanted == *nodes)
            && choice.name.is_none_or(|wanted| name.contains(wanted))
    };
    jobs.applications()
        .into_iter()
        .filter(|(key, runs)| runs.len() >= choice.least_runs && fits(key))
        .map(|((user, nodes, name), runs)| Application {
            name: format!("{user} {nodes} {name}").trim().into(),
            runs,
        })
        .collect()
}

/// An application on a log.
#[derive(Clone, Debug)]
pub struct Task<'a> {
    /// What its signature is called.
    pub name: String,
    log: &'a ServerLog,
    runs: &'a [&'a Job],
}

/// Each of these applications on each of these logs.
pub fn tasks<'a>(logs: &'a [ServerLog], applications: &'a [Application<'a>]) -> Vec<Task<'a>> {
    let name = |log: &ServerLog, one: &Application<'_>| match logs {
        [_] => one.name.clone(),
        _ => format!("{} on {}", one.name, log.name),
    };
    let task =
        |log: &'a ServerLog, one: &'a Application<'a>| Task { name: name(log, one), log, runs: &one.runs };
    logs.iter().flat_map(|log| applications.iter().map(move |one| task(log, one))).collect()
}

/// By what signatures are found.
#[derive(Clone, Copy, Debug)]
pub struct How<'a> {
    /// The method.
    pub method: Method,
    /// Its numbers.
    pub settings: &'a Settings,
    /// What the logs are of.
    pub direction: &'static str,
    /// On so many threads; 0: on all cores.
    pub threads: usize,
}

/// Finds the signatures of all tasks. `take` gets some of them at a time, in the order of the tasks.
pub fn search<E: From<io::Error>>(
    tasks: &[Task<'_>],
    how: How<'_>,
    mut take: impl FnMut(&[Found]) -> Result<(), E>,
) -> Result<(), E> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(how.threads).build().map_err(io::Error::other)?;
    let one = |task: &Task<'_>| {
        let found = application(task.runs, task.log, how.method, how.settings);
        Found::new(&task.name, how.direction, found.signature).of_runs(task.runs)
    };
    for chunk in tasks.chunks(JOBS_A_BATCH * pool.current_num_threads()) {
        let found: Vec<Found> = pool.install(|| chunk.par_iter().map(one).collect());
        take(&found)?;
    }
    Ok(())
}

/// Why a file of results cannot be continued.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)] // the messages say it
#[non_exhaustive]
pub enum NotContinued {
    #[error("{name}: {why}")]
    Io { name: String, why: io::Error },
    #[error("{0}: made from other logs or with other settings, or a log has grown since; name another file")]
    Other(String),
    #[error("{name}, line {number}: expected a signature: {why}")]
    Line { name: String, number: u64, why: serde_json::Error },
}

fn not(path: &Path, why: io::Error) -> NotContinued {
    NotContinued::Io { name: path.display().to_string(), why }
}

/// A file of results that grows.
#[derive(Debug)]
pub struct Results {
    file: BufWriter<File>,
    held: BTreeSet<String>,
}

impl Results {
    /// Open it, or make it. A last line that was cut off is removed.
    pub fn open(path: &Path, made_from: &MadeFrom<'_>) -> Result<Self, NotContinued> {
        Self::open_with(
            path,
            &serde_json::to_string(made_from).map_err(io::Error::from).map_err(|why| not(path, why))?,
        )
    }

    fn open_with(path: &Path, header: &str) -> Result<Self, NotContinued> {
        let failed = |why: io::Error| not(path, why);
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)
            .map_err(failed)?;
        let mut held = BTreeSet::new();
        let mut reader = BufReader::new(&file);
        let (mut whole, mut line, mut number) = (0u64, Vec::new(), 0u64);
        loop {
            line.clear();
            // Bytes: what was cut off may end within a letter.
            let read = reader.read_until(b'\n', &mut line).map_err(failed)?;
            if read == 0 || !line.ends_with(b"\n") {
                break;
            }
            number += 1;
            if number == 1 {
                if line.trim_ascii_end() != header.as_bytes() {
                    return Err(NotContinued::Other(path.display().to_string()));
                }
            } else {
                let bad = |why| NotContinued::Line { name: path.display().to_string(), number, why };
                let known: Known = serde_json::from_slice(&line).map_err(bad)?;
                held.insert(known.name);
            }
            whole += read as u64;
        }
        file.set_len(whole).map_err(failed)?;
        file.seek(SeekFrom::End(0)).map_err(failed)?;
        let mut file = BufWriter::new(file);
        if whole == 0 {
            writeln!(file, "{header}").map_err(failed)?;
            file.flush().map_err(failed)?;
        }
        Ok(Results { file, held })
    }

    /// The names of the signatures that it has held from the beginning.
    pub fn held(&self) -> &BTreeSet<String> {
        &self.held
    }

    /// Adds some, and writes them out.
    pub fn add(&mut self, lines: &[Found]) -> io::Result<()> {
        for line in lines {
            serde_json::to_writer(&mut self.file, line).map_err(io::Error::from)?;
            writeln!(self.file)?;
        }
        self.file.flush()
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
        let results = Results::open_with(&path, "{\"settings\":1}").unwrap();
        assert_eq!(results.held.into_iter().collect::<Vec<_>>(), ["jürgen 4 lmp"]);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), whole);
        assert!(Results::open_with(&path, "{\"settings\":2}").is_err());
    }
}
