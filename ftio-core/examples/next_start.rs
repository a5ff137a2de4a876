//! When does the next phase of a running job start? `next_start [--traces N] [--seed N] [--ftio-json DIR]`
//!
//! Jobs of the eight kinds of `trace_generator::running`, each asked after k phases; one JSON object a line:
//! the truth, our answer, and that of a rule of thumb, which is given the true starts: the last one plus the
//! median distance. With --ftio-json the jobs are also written as the Python FTIO reads them.

use ftio_core::detect::{Options, detect};
use ftio_core::signal::statistics::median;
use seeded_random::Random;
use serde_json::json;
use sources::request::{Class, Request};
use sources::{InMemory, Job};
use std::error::Error;
use std::fs::{File, create_dir_all};
use std::path::PathBuf;
use trace_generator::generated::Write;
use trace_generator::kinds::Recording;
use trace_generator::running::{KINDS, Running, running};
use trace_generator::write::{ftio_json, nanoseconds};

/// After so many phases.
const AFTER: [usize; 6] = [2, 3, 4, 5, 8, 16];

fn median_distance(starts: &[f64]) -> f64 {
    median(&starts.windows(2).map(|pair| pair[1] - pair[0]).collect::<Vec<f64>>())
}

fn asked(kind: &str, job: &Running) -> Result<serde_json::Value, Box<dyn Error>> {
    let request = |write: &Write| {
        Request::new(nanoseconds(write.start), nanoseconds(write.end), write.bytes, Class::WriteSync)
    };
    let requests: Vec<Request> = job.writes.iter().map(request).collect();
    let end = Some(nanoseconds(job.now));
    let about = Job { ranks: Some(1), start: Some(0), end, complete: false, ..Job::default() };
    let found = detect(kind, InMemory { requests: &requests, job: about }, &Options::default())?.detection;
    Ok(json!(found.next_phase.map(|next| [next.start, next.start_low, next.start_high])))
}

fn main() -> Result<(), Box<dyn Error>> {
    let (mut traces, mut seed, mut folder) = (100, 0, None);
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        let value = args.next().ok_or_else(|| format!("{arg} wants a value"))?;
        match arg.as_str() {
            "--traces" => traces = value.parse()?,
            "--seed" => seed = value.parse::<u64>()?,
            "--ftio-json" => folder = Some(PathBuf::from(value)),
            _ => return Err(format!("{arg}: unknown; see the head of examples/next_start.rs").into()),
        }
    }
    for (number, kind) in KINDS.iter().enumerate() {
        for after in AFTER {
            for trace in 0..traces {
                let own = seed + 1_000_003 * (trace * 1000 + 100 * number as u64 + after as u64);
                let job = running(kind, after, &mut Random::new(own));
                let name = format!("{number}-{after}-{trace}");
                if let Some(folder) = &folder {
                    create_dir_all(folder)?;
                    let (writes, duration) = (job.writes.clone(), job.now);
                    let recording = Recording::Requests { ranks: 1, duration, writes, reads: Vec::new() };
                    ftio_json(&recording, &mut File::create(folder.join(format!("{name}.json")))?)?;
                }
                let last = job.starts[after - 1];
                let line = json!({
                    "name": name, "kind": kind, "after": after, "period": job.period, "last": last,
                    "now": job.now, "next": job.next, "thumb": last + median_distance(&job.starts),
                    "ours": asked(kind, &job)?,
                });
                println!("{line}");
            }
        }
    }
    Ok(())
}
