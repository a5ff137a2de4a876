//! The inputs of a command, each studied: everything that is known about one job.

pub mod args;

use crate::inputs::{self, InputArgs};
use crate::terminal::progress::Progress;
use crate::terminal::waiting::Waiting;
use anyhow::Context;
use io_advice::study;
pub use io_advice::study::{PhaseRow, Question, Study};
use sources::{Input, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

/// What messages call it.
const STDIN: &str = "standard input";

/// Study every input; the result of each is handed on as it comes.
pub fn studies(
    paths: &[PathBuf],
    input: &InputArgs,
    question: &Question,
    mut take: impl FnMut(Result<Study, String>) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    if input.merge {
        anyhow::bail!(crate::exit::wrong_usage("--merge: give one input, or several to compare them"));
    }
    let reading = input.options()?;
    // One file after the other: a folder may hold more of them than may be open at a time.
    let files = inputs::expand(paths);
    let mut progress = (files.len() > 1).then(|| Progress::new(files.len() as u64, "input"));
    for file in files {
        let found = match file {
            Ok(Input::Path(path)) => study_path(&path, &reading, question),
            // An input is read four times: what can be read only once is kept in a file.
            Ok(Input::Stdin) => study_stdin(&reading, question)?,
            Err(error) => vec![Err(error.to_string())],
        };
        progress.iter_mut().for_each(Progress::hide);
        for one in found {
            take(one)?;
        }
        progress.iter_mut().for_each(|progress| progress.add(1));
    }
    progress.into_iter().for_each(Progress::finish);
    Ok(())
}

fn study_stdin(reading: &OpenOptions, question: &Question) -> anyhow::Result<Vec<Result<Study, String>>> {
    let mut file = tempfile::Builder::new().prefix("ftio-stdin-").tempfile().context("standard input")?;
    io::copy(&mut io::stdin().lock(), &mut file).context("standard input")?;
    // Not by the name of the file that it was kept in.
    let name = |name: &str| name.replace(&*file.path().to_string_lossy(), STDIN);
    let found = study_path(file.path(), reading, question);
    let renamed = |one: Result<Study, String>| match one {
        Ok(study) => Ok(called(study, &name)),
        Err(problem) => Err(name(&problem)),
    };
    Ok(found.into_iter().map(renamed).collect())
}

/// By another name.
fn called(mut study: Study, name: &dyn Fn(&str) -> String) -> Study {
    study.name = name(&study.name);
    study.summary.source = name(&study.summary.source);
    match &mut study.analysis {
        Ok(analysis) => analysis.detection.source = name(&analysis.detection.source),
        Err(problem) => *problem = name(problem),
    }
    study
}

fn study_path(path: &Path, reading: &OpenOptions, question: &Question) -> Vec<Result<Study, String>> {
    let input = Input::new(path);
    let _waiting = Waiting::reading(&input.name());
    match study::studies(&input, reading, question) {
        Ok(found) => found.into_iter().map(|one| one.map_err(|error| error.to_string())).collect(),
        Err(error) => vec![Err(error.to_string())],
    }
}
