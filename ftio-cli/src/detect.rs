//! `ftio TRACE…`: find the period.

use crate::args::{CsvChoice, DetectArgs};
use crate::csv;
use crate::exit::Exit;
use crate::plot::{self, Format};
use crate::report;
use crate::style::Style;
use crate::text::{complain, printable, warn_once};
use anyhow::{Context, bail};
use ftio_core::detect::{Analysis, Options, detect};
use ftio_core::group::{Group, detect_each};
use ftio_core::source::{SourceError, TmioTrace};
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
    // Pictures of several results are numbered.
    let (mut drawn, several) = (0, args.traces.len() > 1 || args.group().is_some());
    for (number, path) in args.traces.iter().enumerate() {
        let name = path.to_string_lossy();
        let analyses = match analyse(&name, path, args.group(), &options) {
            Ok(analyses) => analyses,
            Err(error) => {
                complain("", &error.to_string());
                exit = Exit::Failed;
                continue;
            }
        };
        match analyses.first() {
            Some(first) => narrate(first, args.verbose),
            None => complain("note", &format!("{name}: no requests to analyse")),
        }
        if args.csv.is_none() && !args.json {
            let gap = if number > 0 { "\n" } else { "" };
            let text = match &analyses[..] {
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
                let file = if several { numbered(file, drawn) } else { file.to_owned() };
                drawn += 1;
                if let Err(problem) = draw(analysis, &file, format) {
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

/// One result, or one for each rank or file.
fn analyse(
    name: &str,
    path: &Path,
    group: Option<Group>,
    options: &Options,
) -> Result<Vec<Analysis>, SourceError> {
    let source = TmioTrace::new(path);
    match group {
        Some(group) => detect_each(name, source, group, options),
        None => Ok(vec![detect(name, source, options)?]),
    }
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

/// `plot-1.html`, `plot-2.html` …
fn numbered(file: &Path, number: usize) -> PathBuf {
    let stem = file.file_stem().unwrap_or_default().to_string_lossy();
    let extension = file.extension().unwrap_or_default().to_string_lossy();
    file.with_file_name(format!("{stem}-{}.{extension}", number + 1))
}
