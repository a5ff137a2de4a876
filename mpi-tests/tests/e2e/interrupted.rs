//! Whatever ends a job early, every operation completed before it can be read, and the trace says that it is not
//! complete.

use crate::harness::{Mpi, installed_mpis};
use crate::traced::{Scratch, info, traced};

/// Runs `program`, which does `ops` requests of 1000 bytes on each of `ranks` ranks before it ends badly.
fn keeps_all(mpi: &Mpi, program: &str, args: &[&str], ranks: u32, ops: u32) {
    let label = format!("{} on {ranks} ranks: {program} {}", mpi.name, args.join(" "));
    let untraced = Scratch::new();
    let job = |scratch: &Scratch| {
        mpi.job(ranks, mpi.program(program)).args([scratch.data()]).args(args.iter().copied())
    };
    let expected = job(&untraced).run().code;

    let scratch = Scratch::new();
    let outcome = traced(job(&scratch), &scratch).run();
    assert_eq!(outcome.code, expected, "{label}: another exit code than untraced: {outcome:?}");
    assert!(!outcome.stderr.contains("panicked"), "{label}: {outcome:?}");
    let info = info(&scratch.trace());
    assert_eq!(info["write_sync"]["ops"], ops * ranks, "{label}");
    assert_eq!(info["write_sync"]["bytes"], u64::from(ops * ranks) * 1000, "{label}");
    assert_eq!(info["write_sync"]["ranks"], ranks, "{label}");
    assert_eq!(info["complete"], false, "{label}");
}

#[test]
fn killed() {
    for mpi in installed_mpis() {
        keeps_all(&mpi, "killed", &["20", "all"], 1, 20);
        keeps_all(&mpi, "killed", &["20", "0"], 4, 20);
        keeps_all(&mpi, "killed", &["20", "3"], 4, 20);
        keeps_all(&mpi, "killed", &["20", "all"], 4, 20);
    }
}

#[test]
fn killed_after_many_blocks() {
    for mpi in installed_mpis() {
        keeps_all(&mpi, "killed", &["50000", "1"], 2, 50_000);
    }
}

#[test]
fn aborted() {
    for mpi in installed_mpis() {
        keeps_all(&mpi, "aborts", &[], 2, 20);
    }
}

#[test]
fn ended_without_finalize() {
    for mpi in installed_mpis() {
        keeps_all(&mpi, "exits_without_finalize", &["exit"], 2, 20);
        keeps_all(&mpi, "exits_without_finalize", &["_exit"], 2, 20);
    }
}
