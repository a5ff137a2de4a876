//! The file system operations of a job, as docs/architecture.md counts them ("Scale"), seen with strace.

use crate::harness::{Job, Mpi, around, installed_mpis, run_limited, skip};
use crate::traced::{Scratch, traced};
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

/// Calls with a path below the trace's directory, of all processes of a job.
fn calls(job: &Job, scratch: &Scratch) -> Vec<String> {
    let log = scratch.path().join("calls");
    let mut command = Command::new("strace");
    command.args(["-f", "-qq", "-e", "trace=file", "-o"]).arg(&log);
    let outcome = run_limited(around(command, &job.command()), Duration::from_secs(120));
    assert!(outcome.success(), "{job}: {outcome:?}");
    let place = scratch.path().join("traces").display().to_string();
    let text = fs::read_to_string(&log).expect("strace has written it");
    // The launcher hands the path on; a call that another thread interrupts has a second line without the
    // path.
    text.lines()
        .filter(|line| line.contains(&place) && !line.contains("execve("))
        .map(str::to_owned)
        .collect()
}

fn has_strace() -> bool {
    let has =
        Command::new("strace").args(["-qq", "true"]).output().is_ok_and(|output| output.status.success());
    if !has {
        skip("strace is not installed, or may not trace");
    }
    has
}

fn workload(mpi: &Mpi, ranks: u32, scratch: &Scratch) -> Job {
    let job = mpi.job(ranks, mpi.program("workload")).args(
        ["--compute", "0", "--iterations", "2", "--requests", "10", "--size", "1000", "--dir"]
            .map(PathBuf::from)
            .into_iter()
            .chain([scratch.data()]),
    );
    traced(job, scratch)
}

#[test]
fn as_many_as_the_formula_says() {
    if !has_strace() {
        return;
    }
    for mpi in installed_mpis() {
        for ranks in [1, 2, 4] {
            let scratch = Scratch::new();
            let calls = calls(&workload(&mpi, ranks, &scratch), &scratch);
            // One node, and no block that leaves before the end: two looks at the place of the trace, the
            // file that becomes it is made, written to and ended, and gets its name, and the part and its
            // directory go.
            let formula = 8;
            // If the helper comes to it before the end, it makes the directory of parts, and enters each
            // rank.
            let before_the_end = 2 + ranks as usize;
            assert!(
                (formula..=formula + before_the_end).contains(&calls.len()),
                "{}, {ranks} ranks: {formula} expected, {} seen:\n{}",
                mpi.name,
                calls.len(),
                calls.join("\n")
            );
        }
    }
}

#[test]
fn a_job_without_io_touches_nothing() {
    if !has_strace() {
        return;
    }
    for mpi in installed_mpis() {
        let scratch = Scratch::new();
        let job = traced(mpi.job(2, mpi.program("idle")).args(["0"]), &scratch);
        let calls = calls(&job, &scratch);
        assert!(calls.is_empty(), "{}: {calls:?}", mpi.name);
        assert_eq!(scratch.leftovers(), [""; 0], "{}", mpi.name);
    }
}
