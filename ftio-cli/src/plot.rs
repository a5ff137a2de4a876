//! `ftio plot TRACE…`: several traces side by side in one picture.

use crate::exit::Exit;
use crate::inputs::{self, InputArgs};
use crate::picture::PictureFile;
use crate::signal::WindowArgs;
use crate::terminal::text::{Severity, complain, warn_once, warning};
use crate::terminal::waiting::Waiting;
use clap::ValueHint;
use draw::plot::{draw, picture};
use ftio_core::detect::Options;
use ftio_core::detect::detect;
use std::io::Write;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  Two runs in one page, to open in a browser:
      ftio plot before.msgpack after.msgpack -o both.html
  One picture for a paper:
      ftio plot run.msgpack -o run.svg

Exit status: 0 done, 1 failed (other traces are still drawn), 2 wrong usage.";

/// Draw several traces side by side in one picture
///
/// Each trace gets its charts: bandwidth with phases and dominant wave, spectrum, autocorrelation, ranks over
/// time, and for nonblocking operations the bandwidth they needed and got. Also called as `ioplot`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Traces, of any format that ftio reads, or folders of them
    #[arg(required = true, value_name = "TRACE", value_hint = ValueHint::AnyPath)]
    pub traces: Vec<PathBuf>,

    #[command(flatten)]
    pub input: InputArgs,

    /// The picture; the format follows from the ending: .html (zoom and hover; needs no network), .svg or
    /// .png
    #[arg(short, long, value_name = "FILE", default_value = "ftio.html", value_hint = ValueHint::FilePath)]
    pub output: PathBuf,

    #[command(flatten)]
    pub window: WindowArgs,
}

/// Draw every trace that can be read.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    args.window.check()?;
    let file = PictureFile::open(&args.output)?;
    let options = Options { keep_requests: true, ..args.window.options() };
    let mut exit = Exit::Done;
    let mut pictures = Vec::new();
    let reading = args.input.options()?;
    for opened in inputs::sources(&args.traces, args.input.merge, &reading) {
        let analysed = opened.and_then(|opened| {
            let name = opened.name.clone();
            let _waiting = Waiting::reading(&name);
            detect(&name, opened.into_source()?, &options)
        });
        match analysed {
            Ok(analysis) if analysis.signal.samples.is_empty() => {
                let found = &analysis.detection;
                warning!("{}: left out, nothing in mode {}", found.source, found.mode);
            }
            Ok(analysis) => {
                warn_once(&analysis.warnings);
                pictures.push(picture(&analysis, file.format()));
            }
            Err(error) => {
                complain(Severity::Error, &inputs::explained(&error));
                exit = Exit::Failed;
            }
        }
    }
    if pictures.is_empty() {
        complain(Severity::Error, "there is nothing to draw");
        return Ok(Exit::Failed);
    }
    file.write_silently(draw(&pictures, file.format()))?;
    writeln!(std::io::stdout(), "{}", args.output.display())?;
    Ok(exit)
}
