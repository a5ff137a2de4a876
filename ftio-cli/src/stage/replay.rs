//! `--dry-run` on the trace of a job that is over: what would have been done, and when.

use super::Args;
use super::handler::show;
use crate::exit::Exit;
use crate::inputs;
use crate::terminal::text::note;
use ftio_core::detect::Options;
use io_stage::live::replay::{self, played, records};
use io_stage::plan::Settings;
use io_stage::simulate::Script;
use sources::OpenOptions;
use std::path::Path;

/// Play the trace, and print the decisions.
pub fn run(
    args: &Args,
    trace: &Path,
    settings: &Settings,
    detect: &Options,
    reading: &OpenOptions,
    rate: f64,
) -> anyhow::Result<Exit> {
    let script = script(trace, reading)?;
    let capacity = args.rules.capacity.map(|capacity| capacity as u64);
    let run = played(&script, settings, detect, rate, capacity);
    for record in records(&trace.display().to_string(), &run, settings, capacity) {
        show(args.json, &record)?;
    }
    Ok(Exit::Done)
}

/// What the job did, from its trace.
pub fn script(trace: &Path, reading: &OpenOptions) -> anyhow::Result<Script> {
    let name = trace.display().to_string();
    let (script, named) = replay::script(&name, inputs::opened(&[trace.to_owned()], reading))?;
    if !named {
        let why = "the trace does not tell files: every phase is taken for one file";
        note!("{name}: {why}");
    }
    Ok(script)
}
