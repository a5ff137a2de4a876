//! The whole path: a periodic program, its trace, and the period found in it.

use crate::harness::{installed_mpis, say_skipped};
use crate::traced::{is_regular, phase_starts, run_ftio, trace_workload_alone};

/// The published method resolves one frequency bin, so twelve phases leave a few percent.
const TOLERANCE: f64 = 0.05;

fn finds_the_period(args: &[&str], mode: &str) {
    for mpi in installed_mpis() {
        let shape = ["--iterations", "12", "--compute", "0.4", "--size", "1m", "--requests", "4"];
        let args = [&shape, args].concat();
        let mut runs = (0..4).map(|_| trace_workload_alone(&mpi, 2, &args));
        let Some(run) = runs.find(|run| is_regular(&phase_starts(&run.truth))) else {
            say_skipped(&format!("{}: the machine is too busy for phases to come regularly", mpi.name));
            continue;
        };
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
