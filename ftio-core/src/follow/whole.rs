//! Inputs that do not grow: all requests at once, and that was all.

use super::event::{Event, Stream};
use crate::source::content::{Content, Input};
use crate::source::format::Format;
use crate::source::{OpenOptions, Opened, SourceError, Span, open, open_as};
use std::path::Path;

/// Read a file whose format is known.
pub(super) fn file(
    content: Content,
    format: &Format,
    span: Span,
    options: &OpenOptions,
    visit: &mut dyn FnMut(Event<'_>),
) -> Result<(), SourceError> {
    read(open_as(content, format, options)?, span, visit)
}

/// Read a folder that is one input.
pub(super) fn folder(
    path: &Path,
    span: Span,
    options: &OpenOptions,
    visit: &mut dyn FnMut(Event<'_>),
) -> Result<(), SourceError> {
    read(open(&Input::Path(path.to_owned()), options)?, span, visit)
}

fn read(inputs: Vec<Opened>, span: Span, visit: &mut dyn FnMut(Event<'_>)) -> Result<(), SourceError> {
    for (stream, input) in inputs.into_iter().enumerate() {
        let name = input.name.clone();
        // The begin and the unit of a signal are known when all of it has been read, and are told first.
        let mut requests = Vec::new();
        let job = input.into_source()?.read(span, &mut |batch| requests.extend_from_slice(batch))?;
        let first = requests.iter().map(|request| request.start).min();
        let last = requests.iter().map(|request| request.end).max();
        job.warnings.iter().for_each(|warning| visit(Event::Warning(warning)));
        visit(Event::Stream(&Stream { name, begins: job.start.min(first).or(first), per_unit: job.per_unit }));
        visit(Event::Requests { stream, requests: &requests });
        if let Some(until) = job.end.max(last) {
            visit(Event::Flush { stream, until });
        }
    }
    Ok(())
}
