//! `ftio TRACE…`: find the period.

use crate::args::DetectArgs;
use crate::exit::Exit;
use crate::inputs;
use crate::plot::{self, Format};
use crate::report;
use crate::style::Style;
use crate::text::{complain, printable, warn_once};
use anyhow::{Context, bail};
use ftio_core::detect::{Analysis, detect};
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
    if let (Some(from), Some(to)) = (args.ts, args.te)
        && from >= to
    {
        complain("", &format!("the window must end after it starts: --ts {from} is not before --te {to}"));
        return Ok(Exit::Usage);
    }
    let options = args.options();
    let style = Style::for_stdout();
    let mut out = std::io::stdout().lock();
    let mut exit = Exit::Done;
    let reading = args.input.options()?;
    let mut sources = inputs::sources(&args.traces, args.input.merge, &reading).peekable();
    let mut number = 0;
    while let Some(opened) = sources.next() {
        let several = number > 0 || sources.peek().is_some();
        number += 1;
        let analysis = match opened.and_then(|opened| detect(&opened.name, opened.source, &options)) {
            Ok(analysis) => analysis,
            Err(error) => {
                complain("", &error.to_string());
                exit = Exit::Failed;
                continue;
            }
        };
        narrate(&analysis, args.verbose);
        if args.json {
            serde_json::to_writer(&mut out, &analysis.detection).map_err(std::io::Error::from)?;
            writeln!(out)?;
        } else {
            let gap = if number > 1 { "\n" } else { "" };
            write!(out, "{gap}{}", report::detection(&analysis, style))?;
        }
        out.flush()?;
        if let Some((file, format)) = picture {
            let file = numbered(file, several.then_some(number));
            if let Err(problem) = draw(&analysis, &file, format) {
                complain("", &format!("{problem:#}"));
                exit = Exit::Failed;
            }
        }
        if args.exit_status && !analysis.detection.periodic && exit == Exit::Done {
            exit = Exit::NotPeriodic;
        }
    }
    Ok(exit)
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

fn draw(analysis: &Analysis, file: &Path, format: Format) -> anyhow::Result<()> {
    if analysis.signal.samples.is_empty() {
        bail!("{}: not drawn, there is no signal in {}", file.display(), analysis.detection.source);
    }
    std::fs::write(file, plot::draw(analysis, format)).with_context(|| file.display().to_string())
}

/// `plot.html` for one trace; `plot-1.html`, `plot-2.html` … for several.
fn numbered(file: &Path, number: Option<usize>) -> PathBuf {
    let Some(number) = number else { return file.to_owned() };
    let stem = file.file_stem().unwrap_or_default().to_string_lossy();
    let extension = file.extension().unwrap_or_default().to_string_lossy();
    file.with_file_name(format!("{stem}-{number}.{extension}"))
}
