//! Which inputs the arguments name, and what they say about reading them.

use crate::terminal::waiting::Waiting;
use crate::values::one_of;
use anyhow::Context;
use clap::{Args, ValueHint};
use sources::Layer;
use sources::content::Content;
use sources::{
    Folder, Input, Kind, Merged, OpenOptions, Opened, Pattern, Rate, Source, SourceError, folder, open,
};
use std::path::{Path, PathBuf};

/// The section of these options in the help: the same in every command, and explained once.
pub const HEADING: &str = "Inputs";

/// How inputs are read.
#[derive(Debug, Default, Args)]
pub struct InputArgs {
    #[command(flatten)]
    pub quantity: QuantityArgs,

    /// Layer to take from traces that have several, Darshan logs, Recorder and dftracer: mpiio, posix, stdio,
    /// dfs or daos [default: the one that moved most bytes]
    #[arg(long, help_heading = HEADING, value_name = "LAYER", value_parser = layer)]
    pub layer: Option<Layer>,

    /// Take all inputs together as parts of one job, such as one file per process
    #[arg(long, help_heading = HEADING)]
    pub merge: bool,
}

/// What is taken from tables, metrics and text, also while they grow.
#[derive(Clone, Debug, Default, Args)]
pub struct QuantityArgs {
    /// Read the inputs as text; this file (TOML) says where in it the numbers are
    #[arg(long, help_heading = HEADING, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub pattern: Option<PathBuf>,

    /// From inputs with several metrics, take those whose name contains this
    #[arg(long, help_heading = HEADING, value_name = "NAME")]
    pub metric: Option<String>,

    /// Treat sampled quantities as counters, and analyse their rate: on, off, or auto, which decides by their
    /// names and values
    #[arg(long, help_heading = HEADING, value_name = "WHEN", value_parser = one_of(COUNTERS))]
    #[arg(default_value = "auto", hide_possible_values = true)]
    pub counters: Rate,
}

/// `--counters`.
pub const COUNTERS: [(&str, Rate); 3] = [("auto", Rate::Auto), ("on", Rate::On), ("off", Rate::Off)];

/// `--layer`.
pub fn layer(text: &str) -> Result<Layer, String> {
    Layer::named(text).ok_or_else(|| "expected mpiio, posix, stdio, dfs or daos".to_owned())
}

impl InputArgs {
    /// For opening inputs. The pattern file is read now.
    pub fn options(&self) -> anyhow::Result<OpenOptions> {
        Ok(OpenOptions { layer: self.layer, ..self.quantity.options()? })
    }
}

impl QuantityArgs {
    /// For opening inputs. The pattern file is read now.
    pub fn options(&self) -> anyhow::Result<OpenOptions> {
        Ok(OpenOptions {
            pattern: self.pattern.as_deref().map(pattern).transpose()?,
            metric: self.metric.clone(),
            rate: self.counters,
            ..OpenOptions::default()
        })
    }
}

fn pattern(path: &Path) -> anyhow::Result<Pattern> {
    let name = path.display().to_string();
    let text = std::fs::read_to_string(path).with_context(|| name.clone())?;
    Ok(Pattern::parse(&name, &text)?)
}

/// A text that is not a recording, such as a job log: from a file or standard input, gzip undone.
pub fn text(path: &Path) -> Result<String, SourceError> {
    Content::open(&Input::new(path)).and_then(Content::into_text)
}

/// What is wrong with an input, and which option may help.
pub fn explained(error: &SourceError) -> String {
    match error {
        SourceError::Unknown { .. } => {
            format!("{error}; to read other text, describe it with --pattern FILE")
        }
        _ => error.to_string(),
    }
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

/// Every input of a command line, opened when its turn comes.
pub fn opened<'a>(
    paths: &[PathBuf],
    options: &'a OpenOptions,
) -> impl Iterator<Item = Result<Opened, SourceError>> + 'a {
    let open = move |input: Input| {
        let _waiting = Waiting::reading(&input.name());
        open(&input, options)
    };
    expand(paths).into_iter().flat_map(move |input| match input.and_then(open) {
        Ok(opened) => opened.into_iter().map(Ok).collect(),
        Err(error) => vec![Err(error)],
    })
}

/// What to analyse, opened when its turn comes.
pub fn sources<'a>(
    paths: &[PathBuf],
    merge: bool,
    options: &'a OpenOptions,
) -> Box<dyn Iterator<Item = Result<Opened, SourceError>> + 'a> {
    let each = opened(paths, options);
    if !merge {
        return Box::new(each);
    }
    let mut parts: Vec<(String, Box<dyn Source>)> = Vec::new();
    let mut errors = Vec::new();
    for part in each {
        let named = |part: Opened| Ok((part.name.clone(), part.into_source()?));
        match part.and_then(named) {
            Ok(part) => parts.push(part),
            Err(error) => errors.push(Err(error)),
        }
    }
    let name = match parts.as_slice() {
        [] => return Box::new(errors.into_iter()),
        [(one, _)] => one.clone(),
        [(first, _), rest @ ..] => format!("{first} and {} more", rest.len()),
    };
    errors.push(Ok(Opened { name, kind: Kind::Requests(Box::new(Merged(parts))) }));
    Box::new(errors.into_iter())
}
