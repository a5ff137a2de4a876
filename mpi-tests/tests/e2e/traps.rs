//! What applications do that a tracer could trip over.

use crate::harness::{Lack, Mpi, Outcome, ftio, installed_mpis, installed_mpis_with, libtmio, run_limited};
use crate::traced::{Scratch, info, traced};
use serde_json::Value;
use std::process::Command;
use std::time::Duration;

/// Runs a program of `programs/` that takes a directory, traced on two ranks; it must end well and in
/// silence.
fn trace_quietly(mpi: &Mpi, program: &str) -> (Outcome, Value, Scratch) {
    let scratch = Scratch::new();
    let outcome = traced(mpi.job(2, mpi.program(program)).args([scratch.data()]), &scratch).run();
    assert!(outcome.success() && outcome.stderr.is_empty(), "{}: {program}: {outcome:?}", mpi.name);
    let info = info(&scratch.trace());
    assert_eq!(info["complete"], true, "{}: {program}", mpi.name);
    assert_eq!(scratch.leftovers(), [""; 0], "{}: {program}", mpi.name);
    (outcome, info, scratch)
}

#[test]
fn io_inside_finalize() {
    for mpi in installed_mpis() {
        let (_, info, _) = trace_quietly(&mpi, "writes_in_finalize");
        assert_eq!(info["write_sync"]["ops"], 20, "{}", mpi.name);
    }
}

#[test]
fn jumps_out_of_an_error_handler() {
    for mpi in installed_mpis() {
        let (_, info, _) = trace_quietly(&mpi, "jumps_out_of_error_handler");
        assert_eq!(info["write_sync"]["ops"], 20, "{}", mpi.name);
        assert_eq!(info["read_sync"]["bytes"], 0, "{}", mpi.name);
    }
}

#[test]
fn an_exception_out_of_an_error_handler() {
    for mpi in installed_mpis() {
        let scratch = Scratch::new();
        let untraced = mpi.job(2, mpi.program("throws_from_error_handler")).args([scratch.data()]).run();
        assert!(untraced.success(), "no exception passes through {}: {untraced:?}", mpi.name);
        let (_, info, _) = trace_quietly(&mpi, "throws_from_error_handler");
        assert_eq!(info["write_sync"]["ops"], 40, "{}", mpi.name);
        assert_eq!(info["read_sync"]["bytes"], 0, "{}", mpi.name);
    }
}

#[test]
fn standard_descriptors_closed() {
    for mpi in installed_mpis() {
        let (_, info, _) = trace_quietly(&mpi, "closes_descriptors");
        assert_eq!(info["write_sync"]["ops"], 40, "{}", mpi.name);
    }
}

/// Several steps of one batch job write to one directory with one environment, one after the other and at
/// once.
#[test]
fn steps_of_one_job() {
    for mpi in installed_mpis() {
        let scratch = Scratch::new();
        for (step, requests) in [("0", "2"), ("1", "3"), ("1", "4")] {
            let args = ["--compute", "0", "--iterations", "1", "--requests", requests, "--dir"];
            let job = mpi.job(2, mpi.program("workload")).args(args).args([scratch.data()]);
            let job = job.env("LD_PRELOAD", libtmio()).env("TMIO_SPOOL", scratch.spool());
            let job = job.env("SLURM_JOB_ID", "77").env("SLURM_STEP_ID", step);
            let mut command = job.command();
            command.current_dir(scratch.path().join("traces"));
            let outcome = run_limited(command, Duration::from_secs(120));
            assert!(outcome.success() && outcome.stderr.is_empty(), "{}: {outcome:?}", mpi.name);
        }
        let expected = ["tmio_77.0_2.msgpack", "tmio_77.1_2-2.msgpack", "tmio_77.1_2.msgpack"];
        assert_eq!(scratch.traces(), expected, "{}", mpi.name);
        let ops =
            expected.map(|name| info(&scratch.path().join("traces").join(name))["write_sync"]["ops"].clone());
        assert_eq!(ops, [4, 8, 6], "{}", mpi.name);
    }
}

#[test]
fn no_descriptor_is_kept() {
    for mpi in installed_mpis() {
        let scratch = Scratch::new();
        let untraced = mpi.job(2, mpi.program("counts_descriptors")).args([scratch.data()]).run();
        assert!(untraced.success(), "{}: {untraced:?}", mpi.name);
        let (traced, info, _) = trace_quietly(&mpi, "counts_descriptors");
        assert_eq!(info["write_sync"]["ops"], 20, "{}", mpi.name);
        assert_eq!(traced.stdout, untraced.stdout, "{}: descriptors open", mpi.name);
    }
}

#[test]
fn a_limit_on_the_size_of_files() {
    for mpi in installed_mpis() {
        let scratch = Scratch::new();
        let job = mpi.job(2, mpi.program("limits_file_size")).args([scratch.data()]);
        let outcome = traced(job, &scratch).run();
        assert!(outcome.success(), "{}: {outcome:?}", mpi.name);
        // Lines of two ranks may run into each other.
        assert_eq!(outcome.stdout.matches("done").count(), 2, "{}: {outcome:?}", mpi.name);
        let lines: Vec<&str> = outcome.stderr.lines().collect();
        assert!(
            lines.len() <= 1 && lines.iter().all(|line| line.contains("tmio")),
            "{}: {lines:?}",
            mpi.name
        );
        assert!(!lines.is_empty() || scratch.trace().is_file(), "{}: neither a trace nor a word", mpi.name);
    }
}

/// What could be written nowhere is counted: by the line that is printed, and by what can still be read.
#[test]
fn a_limit_that_forbids_all_files() {
    const READS: u64 = 2 * 20000;
    for mpi in installed_mpis() {
        for when in ["early", "late"] {
            let scratch = Scratch::new();
            let job = || mpi.job(2, mpi.program("reads_under_a_limit")).args([scratch.data()]).args([when]);
            let untraced = job().run();
            let outcome = traced(job(), &scratch).run();
            // Some need files of their own to open one: then nobody reads anything, with a tracer or without.
            if when == "early" && !untraced.success() {
                assert!(!outcome.success() && !outcome.stdout.contains("reads"), "{}: {outcome:?}", mpi.name);
                continue;
            }
            assert!(untraced.success(), "{}, {when}: {untraced:?}", mpi.name);
            assert!(outcome.success(), "{}, {when}: {outcome:?}", mpi.name);
            let lines: Vec<&str> = outcome
                .stderr
                .lines()
                .filter(|line| line.contains("no trace") || line.contains("no complete trace"))
                .collect();
            // A helper that runs by then, or is root's, has no such limit.
            if lines.is_empty() {
                let info = info(&scratch.trace());
                assert_eq!(info["read_sync"]["ops"], READS, "{}: {outcome:?}\n{info:#}", mpi.name);
                assert_eq!((&info["lost"], &info["complete"]), (&0.into(), &true.into()), "{}", mpi.name);
                continue;
            }
            let [line] = lines[..] else { panic!("{}, {when}: {outcome:?}", mpi.name) };
            // There was room for records, and no helper.
            if line.contains("ftio recover") {
                let mut recover = Command::new(ftio());
                recover.arg("recover").arg(scratch.trace()).env("TMIO_LIBRARY", libtmio());
                recover.env("TMIO_SPOOL", scratch.spool());
                let recovered = run_limited(recover, Duration::from_secs(100));
                assert!(recovered.success(), "{}: {line}: {recovered:?}", mpi.name);
                assert_eq!(info(&scratch.trace())["read_sync"]["ops"], READS, "{}: {line}", mpi.name);
                continue;
            }
            let words: Vec<&str> = line.split(' ').collect();
            let lost =
                words.windows(2).find(|pair| pair[1] == "operations").map(|pair| pair[0].parse::<u64>());
            let Some(Ok(lost)) = lost else { panic!("{}, {when}: {line}", mpi.name) };
            let kept = if when == "early" {
                assert!(line.contains("; all "), "{}: {line}", mpi.name);
                0
            } else {
                assert!(line.contains("reads the others"), "{}: {line}", mpi.name);
                let info = info(&scratch.trace());
                assert_eq!(info["lost"], lost, "{}: {line}\n{info:#}", mpi.name);
                assert_eq!(info["complete"], false, "{}", mpi.name);
                info["read_sync"]["ops"].as_u64().expect("a number")
            };
            // Opening and closing count, too.
            assert!((READS..READS + 20).contains(&(kept + lost)), "{}, {when}: {kept} + {line}", mpi.name);
        }
    }
}

#[test]
fn spawned_processes() {
    for mpi in installed_mpis_with(Lack::Spawn) {
        let scratch = Scratch::new();
        let job = mpi.job(2, mpi.program("spawns")).args([scratch.data()]);
        // By way of the launcher's environment: Open MPI 5 does not pass on `-x` to what is spawned.
        let job = job.launcher_env("LD_PRELOAD", libtmio()).launcher_env("TMIO_SPOOL", scratch.spool());
        let outcome = job.launcher_env("TMIO_OUTPUT", scratch.path().join("traces/%p.msgpack")).run();
        assert!(outcome.success() && outcome.stderr.is_empty(), "{}: {outcome:?}", mpi.name);
        let traces = scratch.traces();
        let mut ops: Vec<u64> = traces
            .iter()
            .filter_map(|name| info(&scratch.path().join("traces").join(name))["write_sync"]["ops"].as_u64())
            .collect();
        ops.sort();
        assert_eq!(ops, [3, 20], "{}: {traces:?}", mpi.name);
    }
}

/// There is no MPI_COMM_WORLD, so every process has a trace of its own.
#[test]
fn sessions_without_init() {
    for mpi in installed_mpis_with(Lack::Sessions) {
        let scratch = Scratch::new();
        let untraced = mpi.job(2, mpi.program("sessions")).args([scratch.data()]).run();
        assert!(untraced.success(), "{}: without a tracer: {untraced:?}", mpi.name);
        let job = traced(mpi.job(2, mpi.program("sessions")).args([scratch.data()]), &scratch);
        let outcome = job.env("TMIO_OUTPUT", scratch.path().join("traces/%p.msgpack")).run();
        assert!(outcome.success() && outcome.stderr.is_empty(), "{}: {outcome:?}", mpi.name);
        let traces = scratch.traces();
        assert_eq!(traces.len(), 2, "{}: {traces:?}", mpi.name);
        for name in traces {
            let info = info(&scratch.path().join("traces").join(&name));
            assert_eq!(info["write_sync"]["ops"], 10, "{}: {name}", mpi.name);
            assert_eq!(info["complete"], true, "{}: {name}", mpi.name);
        }
    }
}
