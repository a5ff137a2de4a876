//! Jobs in which only some ranks have a tracer: nobody waits for the others, and those that have one make a
//! trace.

use crate::harness::{Job, Mpi, Outcome, installed_mpis};
use crate::traced::{Scratch, info, traced};
use std::process::Command;

fn writing(mpi: &Mpi, ranks: u32, scratch: &Scratch) -> Job {
    mpi.job(ranks, mpi.program("loads_a_library")).args([scratch.data()]).args(["nothing", "nobody"])
}

fn assert_some_traced(mpi: &Mpi, outcome: &Outcome, scratch: &Scratch, ranks: u32) {
    assert!(outcome.success(), "{}: {outcome:?}", mpi.name);
    assert_eq!(outcome.stderr.lines().count(), 1, "{}: {outcome:?}", mpi.name);
    assert!(outcome.stderr.contains("of 3 ranks are traced"), "{}: {outcome:?}", mpi.name);
    let info = info(&scratch.trace());
    assert_eq!(info["write_sync"]["ops"], 10 * ranks, "{}", mpi.name);
    assert_eq!(info["write_sync"]["ranks"], ranks, "{}", mpi.name);
    assert_eq!(info["ranks"], 3, "{}", mpi.name);
    assert_eq!(scratch.leftovers(), [""; 0], "{}", mpi.name);
}

#[test]
fn the_last_rank_has_none() {
    for mpi in installed_mpis() {
        let scratch = Scratch::new();
        // Open MPI 5.0.11 gives what is for the first part of a job to all of them.
        let program = mpi.program("loads_a_library");
        let without = mpi.job(1, "/usr/bin/env").args(["-u", "LD_PRELOAD"]).args([program, scratch.data()]);
        let without = without.args(["nothing", "nobody"]);
        let outcome = traced(writing(&mpi, 2, &scratch), &scratch).run_together_with(&without);
        assert_some_traced(&mpi, &outcome, &scratch, 2);
    }
}

#[test]
fn the_first_two_ranks_have_none() {
    for mpi in installed_mpis() {
        let scratch = Scratch::new();
        let outcome =
            writing(&mpi, 2, &scratch).run_together_with(&traced(writing(&mpi, 1, &scratch), &scratch));
        assert_some_traced(&mpi, &outcome, &scratch, 1);
    }
}

#[test]
fn one_rank_has_it_switched_off() {
    for mpi in installed_mpis() {
        let scratch = Scratch::new();
        let job = |ranks| traced(writing(&mpi, ranks, &scratch), &scratch);
        let outcome = job(2).run_together_with(&job(1).env("TMIO_DISABLE", "1"));
        assert_some_traced(&mpi, &outcome, &scratch, 2);
    }
}

/// MKL has a library with "ilp64" in its name, and it is no MPI with 64-bit integers.
#[test]
fn one_rank_has_loaded_mkl() {
    for mpi in installed_mpis() {
        let scratch = Scratch::new();
        let library = scratch.path().join("libmkl_intel_ilp64.so.2");
        let source = scratch.path().join("mkl.c");
        std::fs::write(&source, "int mkl(void) { return 0; }\n").expect("scratch can be written");
        let compiled =
            Command::new("cc").args(["-shared", "-fPIC", "-o"]).arg(&library).arg(&source).status();
        assert!(compiled.is_ok_and(|status| status.success()), "there is a C compiler");
        for ranks in ["all", "0"] {
            let job = mpi.job(2, mpi.program("loads_a_library")).args([scratch.data(), library.clone()]);
            let outcome = traced(job.args([ranks]), &scratch).run();
            assert!(outcome.success() && outcome.stderr.is_empty(), "{}, {ranks}: {outcome:?}", mpi.name);
            let info = info(&scratch.trace());
            assert_eq!(info["write_sync"]["ops"], 20, "{}, {ranks}", mpi.name);
        }
    }
}
