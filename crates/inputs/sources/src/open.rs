//! The one door: from an input to what it is.

use super::content::{Content, Input};
use super::error::{SourceError, excerpt};
use super::format::{FolderFormat, Format, Holds};
use super::formats::{self, FOLDERS};
use super::opened::{Kind, Opened, Sampled};
use super::options::OpenOptions;
use super::our_trace::TmioTrace;
use super::series::{self, Series};
use super::since_first::SinceFirst;
use std::path::{Path, PathBuf};

/// Recognise an input by its content and open it. Most are one; an export of several metrics is one for each.
///
/// # Errors
///
/// The input cannot be read, its format is not known, or it has nothing of what the options ask for.
pub fn open(input: &Input, options: &OpenOptions) -> Result<Vec<Opened>, SourceError> {
    if let Input::Path(path) = input
        && let Some(format) = folder_format(path)
    {
        return opened(&input.name(), (format.read)(path, options)?, options);
    }
    if let Input::Path(path) = input
        && path.is_dir()
    {
        return Err(SourceError::IsFolder { name: input.name() });
    }
    open_content(Content::open(input)?, options)
}

/// The parts of a trace of ours, in a directory that may have any name, say that of an open one.
///
/// # Errors
///
/// There are none, or they cannot be read.
pub fn open_parts(directory: &Path, options: &OpenOptions) -> Result<Opened, SourceError> {
    let trace = TmioTrace::of_parts(directory, options.layer)?;
    Ok(Opened { name: directory.display().to_string(), kind: Kind::Ours(trace) })
}

/// An input whose beginning was looked at, as [`open`] does.
///
/// # Errors
///
/// As for [`open`].
pub fn open_content(content: Content, options: &OpenOptions) -> Result<Vec<Opened>, SourceError> {
    if content.head().is_empty() {
        return Err(SourceError::Empty { name: content.name });
    }
    match recognise(&content, options) {
        Some(format) => open_as(content, format, options),
        None => {
            let found = excerpt(content.head());
            Err(SourceError::Unknown { name: content.name, expected: formats::expected(), found })
        }
    }
}

/// The format of an input. Where there is a pattern, it is text.
pub fn recognise(content: &Content, options: &OpenOptions) -> Option<&'static Format> {
    match options.pattern {
        Some(_) => formats::named("text"),
        None => formats::recognise(content.head()),
    }
}

/// Open an input whose format is known.
///
/// # Errors
///
/// The input is damaged, or has nothing of what the options ask for.
pub fn open_as(content: Content, format: &Format, options: &OpenOptions) -> Result<Vec<Opened>, SourceError> {
    let name = content.name.clone();
    opened(&name, (format.read)(content, options)?, options)
}

fn opened(name: &str, holds: Holds, options: &OpenOptions) -> Result<Vec<Opened>, SourceError> {
    let series = match holds {
        Holds::One(kind) => {
            return Ok(vec![Opened { name: name.to_owned(), kind: since_first(kind, options.origin) }]);
        }
        Holds::Series(series) => series::choose(name, series, options.metric.as_deref())?,
    };
    let several = series.len() > 1;
    let open = |series: Series| Opened {
        name: if several { format!("{name}: {}", series.name) } else { name.to_owned() },
        kind: Kind::Sampled(Sampled {
            input: name.to_owned(),
            series,
            rate: options.rate,
            origin: options.origin,
        }),
    };
    Ok(series.into_iter().map(open).collect())
}

/// Inputs other than our own may have times since 1970.
pub(crate) fn since_first(kind: Kind, origin: Option<i64>) -> Kind {
    match kind {
        Kind::Requests(source) => Kind::Requests(Box::new(SinceFirst { source, origin })),
        kind => kind,
    }
}

fn folder_format(path: &Path) -> Option<&'static FolderFormat> {
    FOLDERS.iter().find(|format| (format.recognise)(path))
}

/// What a folder holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Folder {
    /// The path is not a folder, or the folder as a whole is one input.
    Input,
    /// Every file in it, and every folder in it that is one input, in the order of their names.
    Of(Vec<PathBuf>),
}

/// Look into a folder. Hidden files and other folders inside are passed over.
///
/// # Errors
///
/// The folder cannot be read, or is empty.
pub fn folder(path: &Path) -> Result<Folder, SourceError> {
    if !path.is_dir() || folder_format(path).is_some() {
        return Ok(Folder::Input);
    }
    let io_error = |source| SourceError::Io { name: path.display().to_string(), source };
    let mut files = Vec::new();
    for entry in std::fs::read_dir(path).map_err(io_error)? {
        let entry = entry.map_err(io_error)?;
        let file = entry.path();
        let is_hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
        // Parts that were not cleared away after the trace was finished hold nothing more than it.
        let is_input = file.is_dir() && folder_format(&file).is_some() && !file.with_extension("").is_file();
        if !is_hidden && (file.is_file() || is_input) {
            files.push(file);
        }
    }
    files.sort();
    if files.is_empty() {
        return Err(SourceError::EmptyFolder { name: path.display().to_string() });
    }
    Ok(Folder::Of(files))
}
