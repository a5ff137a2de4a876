//! From an input to its source.

use super::content::{Content, Input};
use super::error::excerpt;
use super::gekkofs::ClientMetrics;
use super::intake::{Fed, Feed};
use super::recognise::{EXPECTED, Format};
use super::recorder::Recorder;
use super::text::{Pattern, Text};
use super::trace_events::TraceEvents;
use super::value::Value;
use super::{Source, SourceError, TmioTrace, cpp_tmio, csv, darshan, metrics};
use darshan_log::{Layer, Limits, Log};
use std::path::{Path, PathBuf};

/// What the user says about inputs.
#[derive(Clone, Debug, Default)]
pub struct OpenOptions {
    /// Inputs are text, to be read by this pattern.
    pub pattern: Option<Pattern>,
    /// The layer to take of a Darshan log, or of a trace of calls; by default the highest there is.
    pub layer: Option<Layer>,
    /// Of inputs with several quantities, only those whose name contains this.
    pub metric: Option<String>,
}

/// An input, or one quantity of several in it.
#[expect(missing_debug_implementations, reason = "a source need not have one")]
pub struct Opened {
    /// What results call it.
    pub name: String,
    /// Where its data come from.
    pub source: Box<dyn Source>,
}

/// Recognise an input by its content and open it. Most are one source; an export of several metrics is one for each.
pub fn open(input: &Input, options: &OpenOptions) -> Result<Vec<Opened>, SourceError> {
    if let Input::Path(path) = input
        && (path.is_dir() || !path.exists())
    {
        // The parts of an unfinished trace, or a message that says what is missing.
        let source = Box::new(TmioTrace::new(path));
        tmio_trace::Trace::open(path)?;
        return Ok(vec![Opened { name: input.name(), source }]);
    }
    let content = Content::open(input)?;
    if content.head().is_empty() {
        return Err(SourceError::Empty { name: content.name });
    }
    let format = if options.pattern.is_some() { Some(Format::Text) } else { Format::of(&content) };
    match format {
        Some(format) => open_content(content, format, options),
        None => {
            let found = excerpt(content.head());
            Err(SourceError::Unknown { name: content.name, expected: EXPECTED, found })
        }
    }
}

/// Open an input whose format is known.
pub fn open_content(
    content: Content,
    format: Format,
    options: &OpenOptions,
) -> Result<Vec<Opened>, SourceError> {
    let name = content.name.clone();
    let metric = options.metric.as_deref();
    let source: Box<dyn Source> = match format {
        Format::OurTrace => Box::new(TmioTrace::from_content(content)),
        Format::TmioMessagePack | Format::TmioJson => cpp_tmio::source(&name, content.into_reader())?,
        Format::GekkoFsJson => {
            let values = Value::from_json(&name, &content.into_bytes()?)?;
            fed(&name, ClientMetrics { name: name.clone(), values })
        }
        Format::GekkoFsMessagePack => {
            let values = Value::from_message_pack(&name, &content.into_bytes()?)?;
            fed(&name, ClientMetrics { name: name.clone(), values })
        }
        Format::ProxyJson => {
            let values = Value::from_json(&name, &content.into_bytes()?)?;
            return Ok(metrics::opened(
                &name,
                metrics::choose(&name, metrics::from_proxy(&name, &values)?, metric)?,
            ));
        }
        Format::ProxyMessagePack => {
            let values = Value::from_message_pack(&name, &content.into_bytes()?)?;
            return Ok(metrics::opened(
                &name,
                metrics::choose(&name, metrics::from_proxy(&name, &values)?, metric)?,
            ));
        }
        Format::Darshan => {
            let log = match &content.path {
                Some(path) => Log::open(path)?,
                None => Log::from_bytes_with(&name, content.into_bytes()?, Limits::default())?,
            };
            darshan::source(&name, log, options.layer)?
        }
        Format::Recorder => {
            let text = String::from_utf8_lossy(&content.into_bytes()?).into_owned();
            fed(&name, Recorder { name: name.clone(), text, layer: options.layer })
        }
        Format::TraceEvents => {
            let bytes = content.into_bytes()?;
            fed(&name, TraceEvents { name: name.clone(), bytes, layer: options.layer })
        }
        Format::Csv => return csv::open(content, options),
        Format::Text => {
            let pattern = options.pattern.clone().unwrap_or_else(Pattern::gekkofs);
            let text = String::from_utf8_lossy(&content.into_bytes()?).into_owned();
            fed(&name, Text { name: name.clone(), text, pattern })
        }
    };
    Ok(vec![Opened { name, source }])
}

fn fed(name: &str, feed: impl Feed + 'static) -> Box<dyn Source> {
    Box::new(Fed(name.to_owned(), feed))
}

/// What a folder holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Folder {
    /// It is none, or it is the `.parts` of a trace: an input itself.
    Input,
    /// Every file in it (and the `.parts` of every unfinished trace), in the order of their names.
    Of(Vec<PathBuf>),
}

/// Look into a folder. Hidden files and folders inside are passed over.
pub fn folder(path: &Path) -> Result<Folder, SourceError> {
    let is_parts = |path: &Path| path.extension().is_some_and(|extension| extension == "parts");
    if !path.is_dir() || is_parts(path) {
        return Ok(Folder::Input);
    }
    let io_error = |source| SourceError::Io { name: path.display().to_string(), source };
    let mut files = Vec::new();
    for entry in std::fs::read_dir(path).map_err(io_error)? {
        let entry = entry.map_err(io_error)?;
        let file = entry.path();
        let is_hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
        // Parts that were not cleared away after the trace was finished hold nothing more than it.
        let is_unfinished = is_parts(&file) && file.is_dir() && !file.with_extension("").exists();
        if !is_hidden && (file.is_file() || is_unfinished) {
            files.push(file);
        }
    }
    files.sort();
    if files.is_empty() {
        let what = "is a directory with no trace in it".into();
        return Err(SourceError::Nothing { name: path.display().to_string(), what });
    }
    Ok(Folder::Of(files))
}
