//! `ftio plot TRACE…`: several traces side by side in one picture.

use crate::canvas::Format;
use crate::cli::PlotArgs;
use crate::detect::in_order;
use crate::exit::Exit;
use crate::inputs;
use crate::plot;
use crate::terminal::text::{complain, warn_once};
use anyhow::Context;
use ftio_core::detect::detect;
use std::io::Write;

/// Draw what can be read; the others do not stop it.
pub fn run(args: &PlotArgs) -> anyhow::Result<Exit> {
    let format = match Format::of(&args.output) {
        Ok(format) if in_order(args.ts, args.te) => format,
        Ok(_) => return Ok(Exit::Usage),
        Err(problem) => {
            complain("", &format!("{problem:#}"));
            return Ok(Exit::Usage);
        }
    };
    let options = args.options();
    let mut exit = Exit::Done;
    let mut pictures = Vec::new();
    let reading = args.input.options()?;
    for opened in inputs::sources(&args.traces, args.input.merge, &reading) {
        match opened.and_then(|opened| detect(&opened.name, opened.source, &options)) {
            Ok(analysis) if analysis.signal.samples.is_empty() => {
                let found = &analysis.detection;
                complain("warning", &format!("{}: left out, nothing in mode {}", found.source, found.mode));
            }
            Ok(analysis) => {
                let notes = &analysis.detection.notes;
                warn_once(&notes[..analysis.warnings.min(notes.len())]);
                pictures.push(plot::picture(&analysis, &reading, format));
            }
            Err(error) => {
                complain("", &error.to_string());
                exit = Exit::Failed;
            }
        }
    }
    if pictures.is_empty() {
        complain("", "there is nothing to draw");
        return Ok(Exit::Failed);
    }
    std::fs::write(&args.output, plot::draw(&pictures, format)?)
        .with_context(|| args.output.display().to_string())?;
    writeln!(std::io::stdout(), "{}", args.output.display())?;
    Ok(exit)
}
