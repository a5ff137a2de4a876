//! The whole path: a periodic program, its trace, and the period found in it.

use crate::harness::installed_mpis;
use crate::traced::{run_ftio, trace_workload_alone};

/// The published method resolves one frequency bin, so twelve phases leave a few percent.
const TOLERANCE: f64 = 0.05;

fn finds_the_period(args: &[&str], mode: &str) {
    for mpi in installed_mpis() {
        // Phases begin by the clock, so that a busy machine delays one and not all that follow.
        let shape = ["--iterations", "12", "--compute", "0.6", "--paced", "--size", "1m", "--requests", "4"];
        let run = trace_workload_alone(&mpi, 2, &[&shape, args].concat());
        let truth = run.truth["mean_period"].as_f64().expect("a number");
        let outcome = run_ftio(&["--json", "-m", mode], &run.scratch.trace());
        assert!(outcome.success(), "{}: {outcome:?}", mpi.name);
        let found = outcome.json();
        assert_eq!(found["periodic"], true, "{}: {found}", mpi.name);
        let period = found["period"].as_f64().expect("a number");
        assert!((period / truth - 1.0).abs() < TOLERANCE, "{}: found {period}, truth {truth}", mpi.name);
    }
}

#[test]
fn of_blocking_writes() {
    finds_the_period(&["--access", "blocking"], "write_sync");
}

#[test]
fn of_nonblocking_writes() {
    finds_the_period(&["--access", "nonblocking"], "write_async");
}
