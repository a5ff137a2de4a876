//! `ftio TRACE…`: find the period.

mod args;
mod csv;
mod json;
mod output;
mod pictures;
pub mod report;
mod text;

use crate::exit::{Exit, wrong_usage};
use crate::inputs;
use crate::terminal::text::{Severity, complain, note, printable, warn_once};
use crate::terminal::waiting::Waiting;
use anyhow::bail;
pub use args::Args;
use args::CsvChoice;
use csv::Csv;
use ftio_core::detect::detection::Detection;
use ftio_core::detect::per_group::{Group, detect_each};
use ftio_core::detect::{Analysis, Method, Options, detect};
use ftio_core::estimate::evidence::Evidence;
use json::Json;
use output::{Output, Results};
use pictures::Pictures;
use sources::{OpenOptions, Opened, SourceError};
use std::path::PathBuf;
use text::Text;

/// Analyse every trace; one that cannot be read does not stop the others.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    args.window.check()?;
    check(args)?;
    let reading = args.input.options()?;
    let mut outputs = outputs(args)?;
    let work = Work {
        options: args.options(),
        group: args.group(),
        verbose: args.verbose,
        quiet: args.quiet,
        exit_status: args.exit_status,
    };
    work.run(inputs::sources(&args.traces, args.input.merge, &reading), &mut outputs)
}

/// What was found in the trace of a program that `ftio run` has run.
pub fn whole_trace(trace: PathBuf, options: &Options, json: bool) -> anyhow::Result<Exit> {
    let reading = OpenOptions::default();
    let output: Box<dyn Output> = if json { Box::new(Json::open()) } else { Box::new(Text::open(false)) };
    let work = Work { options: options.clone(), group: None, verbose: 0, quiet: false, exit_status: false };
    work.run(inputs::sources(&[trace], false, &reading), &mut [output])
}

/// The outputs that are asked for, opened: one that cannot be opened is reported before the work begins.
fn outputs(args: &Args) -> anyhow::Result<Vec<Box<dyn Output>>> {
    let mut outputs: Vec<Box<dyn Output>> = Vec::new();
    match args.csv {
        Some(what) => outputs.push(Box::new(Csv::open(what)?)),
        None if args.json => outputs.push(Box::new(Json::open())),
        None => outputs.push(Box::new(Text::open(args.quiet))),
    }
    if let Some(path) = args.picture() {
        outputs.push(Box::new(Pictures::open(path)?));
    }
    Ok(outputs)
}

/// Options that exclude each other in ways that the parser does not know.
fn check(args: &Args) -> anyhow::Result<()> {
    let published = args.method() != Method::Ours;
    match args.outlier.as_slice() {
        [_, _, ..] if published => bail!(wrong_usage("--outlier: --compat and --paper take only one method")),
        [first, second] if first != second => {}
        [_, _, ..] => bail!(wrong_usage("--outlier: expected one method, or two different ones")),
        _ => {}
    }
    if published && args.csv == Some(CsvChoice::Segments) {
        bail!(wrong_usage("--compat and --paper have no segments"));
    }
    Ok(())
}

/// The way on with an input that does not tell when its I/O took place.
const WITHOUT_TIMES: &str = "`ftio report`, `ftio advise` and `ftio info` work without times. Darshan 3.4 \
    and newer record a HEATMAP by default; DXT_ENABLE_IO_TRACE=1 records every request";

/// What is done with each input.
struct Work {
    options: Options,
    group: Option<Group>,
    verbose: u8,
    quiet: bool,
    exit_status: bool,
}

impl Work {
    fn run(
        &self,
        sources: impl Iterator<Item = Result<Opened, SourceError>>,
        outputs: &mut [Box<dyn Output>],
    ) -> anyhow::Result<Exit> {
        let mut exit = Exit::Done;
        let mut sources = sources.peekable();
        let mut first = true;
        while let Some(opened) = sources.next() {
            let several = !std::mem::take(&mut first) || sources.peek().is_some() || self.group.is_some();
            let (name, analyses) = match opened.and_then(|opened| self.analyse(opened)) {
                Ok(analysed) => analysed,
                Err(error) => {
                    complain(Severity::Error, &inputs::explained(&error));
                    if let SourceError::NoTimes { .. } = error {
                        complain(Severity::Note, WITHOUT_TIMES);
                    }
                    exit = Exit::Failed;
                    continue;
                }
            };
            match analyses.first() {
                Some(first) if !self.quiet => narrate(first, self.verbose),
                None => note!("{name}: no requests to analyse"),
                _ => {}
            }
            let results =
                Results { name: &name, analyses: &analyses, grouped: self.group.is_some(), several };
            for output in outputs.iter_mut() {
                if output.results(results)? == Exit::Failed {
                    exit = Exit::Failed;
                }
            }
            // Two periods in turn are periods.
            let is_periodic = |found: &Detection| found.periodic || !found.periods.is_empty();
            let periodic = analyses.iter().all(|analysis| is_periodic(&analysis.detection));
            if self.exit_status && !periodic && exit == Exit::Done {
                exit = Exit::NotPeriodic;
            }
        }
        outputs.iter_mut().try_for_each(|output| output.finish())?;
        Ok(exit)
    }

    /// The name of an input, and one result, or one for each rank or file.
    fn analyse(&self, opened: Opened) -> Result<(String, Vec<Analysis>), SourceError> {
        let name = opened.name.clone();
        let _waiting = Waiting::reading(&name);
        let source = opened.into_source()?;
        let analyses = match self.group {
            Some(group) => detect_each(&name, source, group, &self.options)?,
            None => vec![detect(&name, source, &self.options)?],
        };
        Ok((name, analyses))
    }
}

/// Warnings always; how the answer came about only if asked for.
fn narrate(analysis: &Analysis, verbose: u8) {
    let found = &analysis.detection;
    warn_once(&analysis.warnings);
    if verbose > 0 {
        let name = printable(&found.source);
        eprintln!(
            "{name}: {} requests in {} bins of {} ns, frequencies {} Hz apart, abstraction error {:e}",
            found.requests.map_or("unknown".into(), |requests| requests.to_string()),
            found.n_samples,
            analysis.signal.bin,
            found.frequency_resolution.unwrap_or(f64::NAN),
            found.abstraction_error
        );
        for line in found.evidence.iter().flat_map(Evidence::told) {
            eprintln!("{name}: {line}");
        }
        for candidate in &found.candidates {
            eprintln!(
                "{name}: candidate {} Hz, power {}, z {}, confidence {}",
                candidate.frequency, candidate.power, candidate.z, candidate.confidence
            );
        }
        if !found.harmonics.is_empty() {
            eprintln!("{name}: harmonics {:?} Hz", found.harmonics);
        }
    }
}
