//! `ftio signature stagger`: when to start jobs so that together they stay below a capacity.

use super::options::{ResultArgs, seconds, throughput};
use super::read;
use crate::exit::Exit;
use crate::picture::PictureFile;
use crate::print;
use crate::terminal::text::printable;
use crate::terminal::units::{bytes, si};
use crate::terminal::waiting::Waiting;
use clap::ValueHint;
use draw::canvas::frame::shortened;
use draw::draw_sheet;
use io_signature::stagger::{Staggered, stagger};
use schemars::JsonSchema;
use serde::Serialize;
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  Starts of two jobs that together stay below 10 GB/s:
      ftio signature stagger lmp.json s3d.json --capacity 10GB";

/// Find starts of several jobs that keep their sum below a capacity
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// What the jobs do: signatures as JSON or CSV, or traces; a file named twice is two jobs
    #[arg(value_name = "SIGNATURE", required = true, value_hint = ValueHint::FilePath)]
    pub signatures: Vec<PathBuf>,

    /// What the servers can do, such as 20GB (per second)
    #[arg(long, value_name = "BYTES", value_parser = throughput)]
    pub capacity: f64,

    /// How long a job may wait, in seconds
    #[arg(long, value_name = "SECONDS", value_parser = seconds, default_value = "600")]
    pub wait: f64,

    #[command(flatten)]
    pub results: ResultArgs,
}

#[derive(JsonSchema, Serialize)]
pub struct Record<'a> {
    schema: &'static str,
    /// The jobs in the order they were given.
    jobs: Vec<Start<'a>>,
    /// What the servers can do, in bytes per second.
    capacity: f64,
    #[serde(flatten)]
    staggered: &'a Staggered,
}

#[derive(JsonSchema, Serialize)]
struct Start<'a> {
    /// The file of its signature.
    signature: &'a str,
    /// Seconds from now to its start.
    start: f64,
}

/// Letters of a name in a legend.
const MAX_LETTERS: f64 = 24.0;

/// Find the starts.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    let picture = args.results.plot.as_deref().map(PictureFile::open_drawing).transpose()?;
    let (mut names, mut courses) = (Vec::new(), Vec::new());
    for path in &args.signatures {
        for course in read::course(path)? {
            names.push(path.display().to_string());
            courses.push(course);
        }
    }
    let waiting = Waiting::working("looking for the best starts");
    let found = stagger(&courses, args.capacity, args.wait);
    drop(waiting);
    let jobs = names.iter().zip(&found.starts).map(|(name, start)| Start { signature: name, start: *start });
    let record = Record {
        schema: "ftio.signature-stagger/1",
        jobs: jobs.collect(),
        capacity: args.capacity,
        staggered: &found,
    };
    print::result(args.results.json, &record, table)?;
    if let Some(file) = picture {
        let jobs: Vec<(f64, &[f64])> =
            found.starts.iter().copied().zip(courses.iter().map(Vec::as_slice)).collect();
        let short = |name: &String| {
            let file = Path::new(name).file_name().map_or(name.clone(), |file| file.to_string_lossy().into());
            shortened(&printable(&file), MAX_LETTERS)
        };
        let listed: Vec<String> = names
            .iter()
            .zip(&found.starts)
            .map(|(name, start)| format!("{} at {start:.0} s", short(name)))
            .collect();
        let above = if found.excess > 0.0 {
            format!("{} stay above the capacity", bytes(found.excess))
        } else {
            "all stay below the capacity".to_owned()
        };
        let title = format!("Starts within {:.0} s: {above}", args.wait);
        let sheet = draw::signature::stacked(&title, &listed, &jobs, &[], args.capacity);
        file.write(draw_sheet(&sheet, file.format()))?;
    }
    Ok(Exit::Done)
}

fn table(record: &Record<'_>) -> String {
    let found = record.staggered;
    let start = |job: &Start<'_>| format!("{:<48} start in {:>6.0} s\n", printable(job.signature), job.start);
    let (excess, at_once) = (bytes(found.excess), bytes(found.excess_at_once));
    let (peak, peak_at_once) = (si(found.peak, "B/s"), si(found.peak_at_once, "B/s"));
    record.jobs.iter().map(start).collect::<String>()
        + &format!(
            "above the capacity: {excess} instead of {at_once} if all start at once; peak {peak} instead \
             of {peak_at_once}; gain {:.0} s of I/O\n",
            found.gain
        )
}
