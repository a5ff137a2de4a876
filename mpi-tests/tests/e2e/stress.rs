//! Random interleavings of operations, requests, threads and completions against the program's own account.
//!
//! `MPI_STRESS_SEEDS=FIRST-LAST` and `MPI_STRESS_STEPS` ask for more than the usual few seconds
//! (`scripts/test --stress`).

use crate::harness::{Lack, Mpi, installed_mpis};
use crate::traced::{Run, Scratch, info, traced};

fn seeds() -> std::ops::RangeInclusive<u32> {
    let asked = std::env::var("MPI_STRESS_SEEDS").unwrap_or_else(|_| "1-1".into());
    let (first, last) = asked.split_once('-').unwrap_or((&asked, &asked));
    let number = |text: &str| text.parse().expect("MPI_STRESS_SEEDS is FIRST-LAST");
    number(first)..=number(last)
}

fn exact(mpi: &Mpi, seed: u32, threads: u32, options: &[(&str, &str)]) {
    let steps = std::env::var("MPI_STRESS_STEPS").unwrap_or_else(|_| "2000".into());
    let label = format!("{}, seed {seed}, {threads} threads, {options:?}", mpi.name);
    let scratch = Scratch::new();
    let (seed, threads) = (seed.to_string(), threads.to_string());
    let job = mpi.job(2, mpi.program("stress")).args([scratch.data()]).args([&seed, &steps, &threads]);
    let job = if mpi.lacks(Lack::RepeatedTestall) { job.args(["no-testall"]) } else { job };
    let job = if mpi.lacks(Lack::RequestsInThreads) { job.args(["one-at-a-time"]) } else { job };
    let job = options.iter().fold(traced(job, &scratch), |job, (name, value)| job.env(name, value));
    let outcome = job.run();
    assert!(outcome.success() && outcome.stderr.is_empty(), "{label}: {outcome:?}");
    assert_eq!(scratch.leftovers(), [""; 0], "{label}");
    let run = Run { truth: outcome.json(), info: info(&scratch.trace()), scratch };
    assert_eq!(run.truth["total"]["status_mismatches"], 0, "{label}");
    assert!(
        run.truth["total"]["read_async"]["ops"].as_u64() > Some(100),
        "{label}: hardly anything was done"
    );
    assert_eq!(run.differences(), [""; 0], "{label}");
    assert_eq!(run.info["lost"], 0, "{label}");
}

#[test]
fn one_thread() {
    for mpi in installed_mpis() {
        seeds().for_each(|seed| exact(&mpi, seed, 1, &[]));
    }
}

/// More threads than slots, and a thread that flushes all the time.
#[test]
fn many_threads_in_little_memory() {
    let options = [("TMIO_BUFFER", "64K"), ("TMIO_FLUSH", "interval:0.01")];
    for mpi in installed_mpis() {
        seeds().for_each(|seed| exact(&mpi, seed, 6, &options));
    }
}
