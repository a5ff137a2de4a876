//! The second stage: records in, lines and the summary out.
//!
//! Memory is about 150 bytes for each application, whatever the number of logs.

use super::application::{Key, key};
use super::line::Line;
use super::merged::{Merged, Weight, check, record};
use super::part::{PartError, Written};
use super::site::SiteRow;
use super::summary::{Adder, Summary};
use crate::category::Categories;
use std::collections::HashMap;
use std::io::{self, Write};
use std::path::Path;

/// Why there is no result.
#[derive(Debug, thiserror::Error)]
pub enum ReduceError {
    /// The parts are to blame.
    #[error(transparent)]
    Part(#[from] PartError),
    /// Lines cannot be written.
    #[error(transparent)]
    Output(#[from] io::Error),
}

/// The runs of an application.
#[derive(Debug)]
struct Application {
    runs: u64,
    bytes: u64,
    heaviest: Box<str>,
    /// Of the heaviest run.
    categories: Categories,
    /// Bytes of all runs.
    total: u64,
    /// Further runs with the categories of the heaviest.
    alike: u64,
}

/// Join parts. Each log's line goes to `lines`, if given, and a line for each that could not be used (path,
/// tab, reason) to `bad_logs`, in the order of paths. With `partial`, shards may be missing or unfinished.
pub fn reduce<P: AsRef<Path>>(
    parts: &[P],
    partial: bool,
    mut lines: Option<&mut dyn Write>,
    mut bad_logs: Option<&mut dyn Write>,
) -> Result<Summary, ReduceError> {
    let written =
        parts.iter().map(|path| Written::scan(path.as_ref(), None)).collect::<Result<Vec<_>, _>>()?;
    let settings = check(&written, partial)?;
    let mut applications = applications(&written)?;
    let mut site: Vec<(Key, SiteRow)> = Vec::new();
    let mut adder = Adder::new(&settings);
    let mut output = Ok(());
    let mut text = Vec::new();
    Merged::of(&written)?.each(|from, line| {
        if output.is_err() {
            return Ok(());
        }
        let record = record(from, line)?;
        let source = record.source.as_str();
        let result = match (&record.valid, &record.invalid) {
            (Some(run), _) => {
                let key = key(run.user, &run.application, source);
                let Some(application) = applications.get_mut(&key) else {
                    return Ok(());
                };
                if *application.heaviest == *source {
                    adder.heaviest(source, run, application.runs);
                    site.push((key, SiteRow::new(source, run, application.runs, application.total)));
                } else {
                    let alike = run.categories == application.categories;
                    application.alike += u64::from(alike);
                    adder.duplicate(alike);
                }
                Line::valid(source, run, application.runs, &application.heaviest, &settings.thresholds)
            }
            (None, Some(invalid)) => {
                adder.invalid(source, invalid);
                if let Some(out) = bad_logs.as_deref_mut() {
                    // Reasons name their log first.
                    let reason = invalid.reason.strip_prefix(source).unwrap_or(&invalid.reason);
                    let reason = reason.strip_prefix(": ").unwrap_or(reason);
                    output = writeln!(out, "{}\t{}", one_line(source), one_line(reason));
                    if output.is_err() {
                        return Ok(());
                    }
                }
                Line::invalid(source, &invalid.reason)
            }
            (None, None) => return Ok(()),
        };
        if let Some(out) = lines.as_deref_mut() {
            text.clear();
            output = serde_json::to_writer(&mut text, &result).map_err(io::Error::from).and_then(|()| {
                text.push(b'\n');
                out.write_all(&text)
            });
        }
        Ok(())
    })?;
    output?;
    for (key, row) in &mut site {
        let further = row.runs - 1;
        let alike = applications.get(key).map_or(0, |application| application.alike);
        row.like_the_heaviest = (further > 0).then(|| alike as f64 / further as f64);
    }
    Ok(adder.finish(site.into_iter().map(|(_, row)| row).collect()))
}

/// How often each application ran, and when heaviest. Of equally heavy runs the first counts.
fn applications(parts: &[Written]) -> Result<HashMap<Key, Application>, PartError> {
    let mut applications: HashMap<Key, Application> = HashMap::new();
    Merged::of(parts)?.each(|from, line| {
        let Weight { source, valid } = from.parse(line)?;
        let Some(run) = valid else { return Ok(()) };
        let entry = applications.entry(key(run.user, &run.application, &source));
        let application = entry.or_insert_with(|| Application {
            runs: 0,
            bytes: run.bytes,
            heaviest: source.as_ref().into(),
            categories: run.categories,
            total: 0,
            alike: 0,
        });
        application.runs += 1;
        application.total = application.total.saturating_add(run.bytes);
        if run.bytes > application.bytes {
            application.bytes = run.bytes;
            application.heaviest = source.as_ref().into();
            application.categories = run.categories;
        }
        Ok(())
    })?;
    Ok(applications)
}

fn one_line(text: &str) -> String {
    text.replace(['\n', '\t', '\r'], " ")
}
