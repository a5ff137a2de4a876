//! `ftio signature place`: which partition is best for a job, and when to start.

use super::options::{ReadingArgs, ResultArgs, seconds, throughput};
use super::read;
use crate::exit::Exit;
use crate::picture::PictureFile;
use crate::print;
use crate::terminal::text::printable;
use crate::terminal::units::{percent, si};
use crate::terminal::waiting::Waiting;
use anyhow::Context;
use clap::ValueHint;
use draw::draw_sheet;
use io_signature::place::{Partition, Placement, place};
use schemars::JsonSchema;
use serde::Serialize;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  The best partition for a job that may wait up to an hour:
      ftio signature place lmp.json --partition scratch1.csv scratch2.csv --wait 3600";

/// Find the partition, and the moment, at which a job meets least other traffic
///
/// What a partition will have to do is expected to be what it did at the same time of day in the last days.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// What the job does: a signature as JSON or CSV, or a trace
    #[arg(value_name = "SIGNATURE", value_hint = ValueHint::FilePath)]
    pub signature: PathBuf,

    /// The log of each partition; several columns of a file are several partitions
    #[arg(long, value_name = "LOG", num_args = 1.., required = true, value_hint = ValueHint::FilePath)]
    pub partition: Vec<PathBuf>,

    /// What a partition can do, such as 20GB (per second) [default: what it did in its best moments]
    #[arg(long, value_name = "BYTES", value_parser = throughput)]
    pub capacity: Option<f64>,

    /// How long the job may wait, in seconds
    #[arg(long, value_name = "SECONDS", value_parser = seconds, default_value = "0")]
    pub wait: f64,

    /// When the job could start, in seconds on the clock of the logs [default: the end of the logs]
    #[arg(long, value_name = "SECONDS")]
    pub at: Option<f64>,

    /// Days of the log that are looked at
    #[arg(long, value_name = "N", default_value = "7")]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=366))]
    pub days: u16,

    #[command(flatten)]
    pub reading: ReadingArgs,

    #[command(flatten)]
    pub results: ResultArgs,
}

#[derive(JsonSchema, Serialize)]
pub struct Record<'a> {
    schema: &'static str,
    /// When the job could start, in seconds on the clock of the logs.
    now: f64,
    /// The partitions, the best first.
    placements: &'a [Placement],
}

/// Rank the partitions.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    let picture = args.results.plot.as_deref().map(PictureFile::open_drawing).transpose()?;
    let waiting = Waiting::working("reading the logs of the partitions");
    let signature = read::course(&args.signature)?.into_iter().next().context("there is no signature")?;
    let partitions: Vec<Partition> = read::logs(&args.partition, &args.reading)?
        .into_iter()
        .map(|log| Partition::new(log, args.capacity))
        .collect();
    let last = partitions.iter().map(|partition| partition.log.end()).fold(f64::NEG_INFINITY, f64::max);
    let now = args.at.unwrap_or(last);
    let days = usize::from(args.days);
    let found = place(&signature, &partitions, now, args.wait, days);
    drop(waiting);
    let record = Record { schema: "ftio.signature-place/1", now, placements: &found };
    print::result(args.results.json, &record, |_| table(&found, &partitions[0].log.name))?;
    if let (Some(file), Some(best)) = (picture, found.first()) {
        let of = |partition: &&Partition| partition.log.name == best.partition;
        let seconds = signature.len() + best.wait as usize;
        let others = partitions.iter().find(of).map(|partition| partition.expected(now, seconds, days));
        let title = format!("{}: start in {:.0} s", best.partition, best.wait);
        let jobs = [(best.wait, signature.as_slice())];
        let names = ["the job".to_owned()];
        let sheet =
            draw::signature::stacked(&title, &names, &jobs, &others.unwrap_or_default(), best.capacity);
        file.write(draw_sheet(&sheet, file.format()))?;
    }
    Ok(Exit::Done)
}

fn table(found: &[Placement], first: &str) -> String {
    let row = |name: &str, cells: [&str; 5]| {
        let [wait, interference, delay, gain, capacity] = cells;
        format!("{name:<32}{wait:>14}{interference:>15}{delay:>11}{gain:>11}{capacity:>14}\n")
    };
    let mut out = row("partition", ["start in", "interference", "delay", "gain", "capacity"]);
    for one in found {
        let [wait, delay, gain] = [one.wait, one.delay, one.gain].map(|time| format!("{time:.0} s"));
        let (interference, capacity) = (percent(one.interference), si(one.capacity, "B/s"));
        out += &row(&printable(&one.partition), [&wait, &interference, &delay, &gain, &capacity]);
    }
    out + "interference: the share of the job's bytes that finds the partition busy; gain: seconds\n"
        + &format!("of I/O saved compared with starting on {} at once\n", printable(first))
}
