//! Calls that are left by an exception or a jump, or whose stack is left for another: nothing is lost, and
//! nothing counted twice.

use crate::harness::{Lack, Mpi, installed_mpis, installed_mpis_with, libtmio, plain_program, run_limited};
use crate::traced::{Scratch, info, traced};
use crate::ways::{Way, settled};
use serde_json::Value;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

fn trace(mpi: &Mpi, program: &str, args: &[&str]) -> Value {
    let scratch = Scratch::new();
    let job = mpi.job(2, mpi.program(program)).args([scratch.data()]).args(args.iter().copied());
    let outcome = traced(job, &scratch).run();
    assert!(outcome.success() && outcome.stderr.is_empty(), "{}: {program} {args:?}: {outcome:?}", mpi.name);
    let info = info(&scratch.trace());
    assert_eq!(info["complete"], true, "{}: {program} {args:?}", mpi.name);
    info
}

#[test]
fn what_follows_a_jump_is_deeper_than_what_was_left() {
    for mpi in installed_mpis() {
        let info = trace(&mpi, "jumps_then_goes_deeper", &[]);
        assert_eq!(info["write_sync"]["ops"], 200, "{}", mpi.name);
    }
}

#[test]
fn stacks_that_are_switched_inside_a_call() {
    for mpi in installed_mpis() {
        let info = trace(&mpi, "switches_stacks", &[]);
        assert_eq!(info["write_sync"]["ops"], 800, "{}", mpi.name);
        let scratch = Scratch::new();
        let tool = format!("{}:{}", libtmio().display(), mpi.program("yielding_tool").display());
        let job = mpi.job(2, mpi.program("switches_stacks")).args([scratch.data()]);
        let outcome = traced(job, &scratch).env("LD_PRELOAD", tool).run();
        assert!(outcome.success() && outcome.stderr.is_empty(), "{}: {outcome:?}", mpi.name);
        let info = crate::traced::info(&scratch.trace());
        assert_eq!(info["write_sync"]["ops"], 800, "{}: with a tool that switches", mpi.name);
    }
}

#[test]
fn a_wait_that_is_left() {
    for mpi in installed_mpis_with(Lack::LeavingAWait) {
        for how in ["throw", "jump"] {
            let scratch = Scratch::new();
            // Open MPI's launcher does not take it well when an error handler does not return.
            let run = |preload: Option<&Path>| {
                let mut command = mpi.singleton(&mpi.program("waits_in_vain"));
                command.arg(scratch.data()).arg(how);
                command.env("TMIO_OUTPUT", scratch.trace()).env("TMIO_SPOOL", scratch.spool());
                command.envs(preload.map(|library| ("LD_PRELOAD", library)));
                run_limited(command, Duration::from_secs(60))
            };
            let untraced = run(None);
            assert_eq!(untraced.stdout, "left 10\n", "{}, {how}: {untraced:?}", mpi.name);
            let outcome = run(Some(&libtmio()));
            assert!(
                outcome.success() && outcome.stdout == untraced.stdout,
                "{}, {how}: {outcome:?}",
                mpi.name
            );
            let info = info(&scratch.trace());
            assert_eq!(info["write_async"]["ops"], 10, "{}, {how}", mpi.name);
            assert_eq!(info["write_async"]["bytes"], 1000, "{}, {how}", mpi.name);
            assert_eq!(
                info["files"].as_array().map(Vec::len),
                Some(1),
                "{}, {how}: {}",
                mpi.name,
                info["files"]
            );
        }
    }
}

/// Files that are opened after handlers of signals have left many calls of `open`.
#[test]
fn an_open_that_is_left() {
    let scratch = Scratch::new();
    let outcome = Way::Recorded.run(&scratch, &Command::new(plain_program("jumps_out_of_open")));
    assert!(outcome.success() && outcome.stderr.is_empty(), "{outcome:?}");
    let written = |info: &Value| info["write_sync"]["bytes"].as_u64();
    let info = settled(&scratch, |info| written(info) == Some(20 << 21)).expect("a trace");
    assert_eq!(written(&info), Some(20 << 21), "{}", info["layers"]);
}
