//! `ftio predict`: follow traces, and predict the next I/O phase at every flush.

mod args;
mod exec;
mod lines;
mod prometheus;
mod published;
mod shown;
mod signals;
mod sink;
mod sinks;
mod socket;
mod tui;

use crate::exit::Exit;
use crate::follow::{Trace, Until, follow};
use crate::terminal::text::note;
pub use args::{Args, OutArgs, PredictionArgs};
pub use lines::Place;
pub use published::Published;
pub use signals::Predicting;
pub use sinks::Sinks;
use std::path::{Path, PathBuf};
use std::time::Duration;
pub use tui::Tui;

/// Follow until asked to stop, or until everything has ended if that is asked for.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    if let Some(url) = args.traces.iter().find(|path| path.to_string_lossy().contains("://")) {
        anyhow::bail!(
            "{}: ftio predict follows files, not servers; a server of ours foretells by itself (/predict), and \
             what it keeps of a job can be saved and analysed: curl -o job.json \
             'http://HOST:PORT/trace/json?jobid=ID'; ftio --metric written_bytes job.json",
            url.display()
        );
    }
    let reading = args.prediction.quantity.options()?;
    let options = args.prediction.options();
    let mut traces: Vec<Trace> =
        args.traces.iter().map(|path| Trace::new(path, options.detect.mode, &reading)).collect();
    let sinks = Sinks::open(&args.out, traces.len() > 1, Place::Stdout)?;
    let tui = args.out.tui.then(Tui::open).transpose()?;
    let mut predicting = Predicting::new(args.traces.iter().map(PathBuf::as_path), &options, sinks, tui);
    if !args.out.tui {
        args.traces.iter().filter(|path| !is_there(path)).for_each(|path| {
            note!("waiting for {}", path.display());
        });
    }
    let timeout = args.timeout.map(Duration::from_secs_f64);
    // Standard input is read once, to its end.
    let only_stdin = args.traces.iter().all(|path| path.as_os_str() == "-");
    let until = Until { complete: args.until_complete || only_stdin, timeout, program: None };
    let exit = follow(&mut traces, &mut predicting, args.poll, &until)?;
    predicting.finish()?;
    Ok(exit)
}

/// Is there something to follow already: a file, standard input, or the parts of a trace?
pub fn is_there(path: &Path) -> bool {
    let mut parts = path.as_os_str().to_owned();
    parts.push(".parts");
    path.as_os_str() == "-" || path.exists() || Path::new(&parts).exists()
}
