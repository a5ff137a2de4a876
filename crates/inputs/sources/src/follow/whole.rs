//! Inputs that do not grow: all requests at once, and that was all.

use super::event::{Event, Stream};
use super::sampled::Quantities;
use crate::content::{Content, Input};
use crate::format::{Format, Holds};
use crate::{OpenOptions, Opened, SourceError, Span, open, since_first};
use std::path::Path;

/// Read a file whose format is known.
pub(super) fn file(
    content: Content,
    format: &Format,
    span: Span,
    options: &OpenOptions,
    visit: &mut dyn FnMut(Event<'_>),
) -> Result<(), SourceError> {
    let name = content.name.clone();
    match (format.read)(content, options)? {
        Holds::One(kind) => read(Opened { name, kind: since_first(kind, options.origin) }, 0, span, visit),
        Holds::Series(series) => {
            let several = series.len() > 1 || format.grows.is_some_and(|growth| !growth.header);
            Quantities::default().take(&name, series, several, options, visit)
        }
    }
}

/// Read a folder that is one input.
pub(super) fn folder(
    path: &Path,
    span: Span,
    options: &OpenOptions,
    visit: &mut dyn FnMut(Event<'_>),
) -> Result<(), SourceError> {
    let inputs = open(&Input::Path(path.to_owned()), options)?;
    inputs.into_iter().enumerate().try_for_each(|(stream, input)| read(input, stream, span, visit))
}

fn read(
    input: Opened,
    stream: usize,
    span: Span,
    visit: &mut dyn FnMut(Event<'_>),
) -> Result<(), SourceError> {
    let name = input.name.clone();
    // When a signal begins is known when all of it has been read, and is announced first.
    let mut requests = Vec::new();
    let job = input.into_source()?.read(span, &mut |batch| requests.extend_from_slice(batch))?;
    let first = requests.iter().map(|request| request.start).min();
    let last = requests.iter().map(|request| request.end).max();
    job.warnings.iter().for_each(|warning| visit(Event::Warning(warning)));
    let begins = job.start.into_iter().chain(first).min();
    visit(Event::Stream(&Stream { name, begins, per_unit: job.per_unit }));
    if let Some(origin) = job.origin {
        visit(Event::Clock { stream, origin });
    }
    visit(Event::Requests { stream, requests: &requests });
    if let Some(until) = job.end.max(last) {
        visit(Event::Flush { stream, until });
    }
    Ok(())
}
