//! `ftio TRACE…`: find the period.

mod csv;
mod report;
mod sparkline;

use crate::canvas::Format;
use crate::cli::{CsvChoice, DetectArgs};
use crate::exit::Exit;
use crate::inputs;
use crate::plot;
use crate::terminal::style::Style;
use crate::terminal::text::{complain, printable, warn_once};
use anyhow::{Context, bail};
use ftio_core::detect::per_group::{Group, detect_each};
use ftio_core::detect::{Analysis, Options, detect};
use ftio_core::source::{OpenOptions, Opened, SourceError};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Analyse every trace; one that cannot be read does not stop the others.
pub fn run(args: &DetectArgs) -> anyhow::Result<Exit> {
    // Know what to draw, and that one can, before the work begins.
    let picture = args.plot.as_deref().map(|path| Format::of(path).map(|format| (path, format))).transpose();
    let picture = match picture {
        Ok(picture) => picture,
        Err(problem) => {
            complain("", &format!("{problem:#}"));
            return Ok(Exit::Usage);
        }
    };
    if !in_order(args.ts, args.te) {
        return Ok(Exit::Usage);
    }
    if let [first, second, rest @ ..] = &args.outlier[..]
        && (first == second || !rest.is_empty() || args.compat)
    {
        let problem = if args.compat {
            "--compat knows only one method"
        } else {
            "expected one method, or two different ones"
        };
        complain("", &format!("--outlier: {problem}"));
        return Ok(Exit::Usage);
    }
    if args.compat && args.csv == Some(CsvChoice::Segments) {
        complain("", "--compat has no segments");
        return Ok(Exit::Usage);
    }
    let options = args.options();
    let style = Style::for_stdout();
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    let mut exit = Exit::Done;
    if let Some(what) = args.csv {
        csv::header(&mut out, what)?;
    }
    let reading = args.input.options()?;
    let mut sources = inputs::sources(&args.traces, args.input.merge, &reading).peekable();
    // Pictures of several results are numbered.
    let (mut number, mut drawn) = (0, 0);
    while let Some(opened) = sources.next() {
        let several = number > 0 || sources.peek().is_some() || args.group().is_some();
        number += 1;
        let (name, analyses) = match opened.and_then(|opened| analyse(opened, args.group(), &options)) {
            Ok(analysed) => analysed,
            Err(error) => {
                complain("", &error.to_string());
                exit = Exit::Failed;
                continue;
            }
        };
        match analyses.first() {
            Some(first) if !args.quiet => narrate(first, args.verbose),
            None => complain("note", &format!("{name}: no requests to analyse")),
            _ => {}
        }
        if args.csv.is_none() && !args.json {
            let gap = if number > 1 && !args.quiet { "\n" } else { "" };
            let text = match &analyses[..] {
                [only] if args.quiet => report::line(only, style),
                [only] if args.group().is_none() => report::detection(only, style),
                all => report::groups(&name, all, style),
            };
            write!(out, "{gap}{text}")?;
        }
        for analysis in &analyses {
            if let Some(what) = args.csv {
                csv::rows(&mut out, analysis, what)?;
            } else if args.json {
                serde_json::to_writer(&mut out, &analysis.detection).map_err(std::io::Error::from)?;
                writeln!(out)?;
            }
            if let Some((file, format)) = picture {
                drawn += 1;
                let file = numbered(file, several.then_some(drawn));
                if let Err(problem) = draw(analysis, &reading, &file, format) {
                    complain("", &format!("{problem:#}"));
                    exit = Exit::Failed;
                }
            }
            if args.exit_status && !analysis.detection.periodic && exit == Exit::Done {
                exit = Exit::NotPeriodic;
            }
        }
        out.flush()?;
    }
    Ok(exit)
}

/// The name of an input, and one result, or one for each rank or file.
fn analyse(
    opened: Opened,
    group: Option<Group>,
    options: &Options,
) -> Result<(String, Vec<Analysis>), SourceError> {
    let Opened { name, source, .. } = opened;
    let analyses = match group {
        Some(group) => detect_each(&name, source, group, options)?,
        None => vec![detect(&name, source, options)?],
    };
    Ok((name, analyses))
}

/// Warnings always; how the answer came about only if asked for.
fn narrate(analysis: &Analysis, verbose: u8) {
    let found = &analysis.detection;
    warn_once(&found.notes[..analysis.warnings.min(found.notes.len())]);
    if verbose > 0 {
        let name = printable(&found.source);
        eprintln!(
            "{name}: {} requests in {} bins of {} ns, frequencies {} Hz apart, abstraction error {:e}",
            found.requests,
            found.n_samples,
            analysis.signal.bin,
            found.frequency_resolution,
            found.abstraction_error
        );
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

/// Does the window end after it starts? If not, say so.
pub fn in_order(from: Option<f64>, to: Option<f64>) -> bool {
    if let (Some(from), Some(to)) = (from, to)
        && from >= to
    {
        complain("", &format!("the window must end after it starts: --ts {from} is not before --te {to}"));
        return false;
    }
    true
}

fn draw(analysis: &Analysis, reading: &OpenOptions, file: &Path, format: Format) -> anyhow::Result<()> {
    if analysis.signal.samples.is_empty() {
        bail!("{}: not drawn, there is no signal in {}", file.display(), analysis.detection.source);
    }
    let picture = plot::picture(analysis, reading, format);
    let drawn = plot::draw(&[picture], format).with_context(|| file.display().to_string())?;
    std::fs::write(file, drawn).with_context(|| file.display().to_string())
}

/// `plot.html` for one trace; `plot-1.html`, `plot-2.html` … for several.
fn numbered(file: &Path, number: Option<usize>) -> PathBuf {
    let Some(number) = number else { return file.to_owned() };
    let stem = file.file_stem().unwrap_or_default().to_string_lossy();
    let extension = file.extension().unwrap_or_default().to_string_lossy();
    file.with_file_name(format!("{stem}-{number}.{extension}"))
}
