//! Which inputs the arguments name, and what they say about reading them.

use anyhow::Context;
use clap::{Args, ValueEnum, ValueHint};
use darshan_log::Layer;
use ftio_core::source::text::Pattern;
use ftio_core::source::{Folder, Input, Merged, OpenOptions, Opened, SourceError, folder, open};
use std::path::{Path, PathBuf};

/// How inputs are read.
#[derive(Debug, Args)]
#[command(next_help_heading = "Inputs")]
pub struct InputArgs {
    /// The inputs are text; this file (TOML) says where in it the numbers are
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub pattern: Option<PathBuf>,

    /// Layer to take from Darshan logs, Recorder and dftracer [default: the first of these that tells when, and how much]
    #[arg(long, value_name = "LAYER", value_enum)]
    pub layer: Option<LayerChoice>,

    /// From inputs with several metrics, take those whose name contains this
    #[arg(long, value_name = "NAME")]
    pub metric: Option<String>,

    /// Take all inputs together as parts of one job, such as one file per process
    #[arg(long)]
    pub merge: bool,
}

/// `--layer`.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum LayerChoice {
    Mpiio,
    Posix,
    Stdio,
}

impl InputArgs {
    /// For opening inputs. The pattern file is read now.
    pub fn options(&self) -> anyhow::Result<OpenOptions> {
        Ok(OpenOptions {
            pattern: pattern(self.pattern.as_deref())?,
            layer: self.layer.map(|layer| match layer {
                LayerChoice::Mpiio => Layer::MpiIo,
                LayerChoice::Posix => Layer::Posix,
                LayerChoice::Stdio => Layer::Stdio,
            }),
            metric: self.metric.clone(),
        })
    }
}

/// `--pattern`: the file is read now.
pub fn pattern(path: Option<&Path>) -> anyhow::Result<Option<Pattern>> {
    let Some(path) = path else { return Ok(None) };
    let name = path.display().to_string();
    let text = std::fs::read_to_string(path).with_context(|| name.clone())?;
    Ok(Some(Pattern::parse(&name, &text)?))
}

/// The inputs of a command line: `-`, files, and the files of folders.
pub fn expand(paths: &[PathBuf]) -> Vec<Result<Input, SourceError>> {
    let of = |path: &PathBuf| match folder(path) {
        Ok(Folder::Input) => vec![Ok(Input::new(path))],
        Ok(Folder::Of(files)) => files.into_iter().map(Input::Path).map(Ok).collect(),
        Err(error) => vec![Err(error)],
    };
    paths.iter().flat_map(of).collect()
}

/// What to analyse, opened when its turn comes.
pub fn sources<'a>(
    paths: &[PathBuf],
    merge: bool,
    options: &'a OpenOptions,
) -> Box<dyn Iterator<Item = Result<Opened, SourceError>> + 'a> {
    let each = expand(paths).into_iter().flat_map(move |input| {
        match input.and_then(|input| open(&input, options)) {
            Ok(opened) => opened.into_iter().map(Ok).collect(),
            Err(error) => vec![Err(error)],
        }
    });
    if !merge {
        return Box::new(each);
    }
    let (mut parts, mut errors, mut names) = (Vec::new(), Vec::new(), Vec::new());
    for part in each {
        match part {
            Ok(part) => {
                names.push(part.name);
                parts.push(part.source);
            }
            Err(error) => errors.push(Err(error)),
        }
    }
    let name = match names.as_slice() {
        [] => return Box::new(errors.into_iter()),
        [one] => one.clone(),
        [first, rest @ ..] => format!("{first} and {} more", rest.len()),
    };
    errors.push(Ok(Opened { name, source: Box::new(Merged(parts)) }));
    Box::new(errors.into_iter())
}
