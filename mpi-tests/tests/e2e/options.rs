//! What the `TMIO_*` options do to a trace.

use crate::harness::{Job, Mpi, Outcome, installed_mpis};
use crate::traced::{Scratch, info, traced};
use serde_json::Value;
use std::fs;

/// Four ranks with two files, two requests to each per rank.
fn job(mpi: &Mpi, scratch: &Scratch) -> Job {
    let args =
        ["--compute", "0", "--iterations", "1", "--requests", "4", "--files", "2", "--size", "1k", "--dir"];
    traced(mpi.job(4, mpi.program("workload")).args(args).args([scratch.data()]), scratch)
}

fn quiet_info(mpi: &Mpi, scratch: &Scratch, outcome: &Outcome) -> Value {
    assert!(outcome.success() && outcome.stderr.is_empty(), "{}: {outcome:?}", mpi.name);
    assert_eq!(scratch.leftovers(), [""; 0], "{}", mpi.name);
    info(&scratch.trace())
}

#[test]
fn some_ranks() {
    for mpi in installed_mpis() {
        let scratch = Scratch::new();
        let outcome = job(&mpi, &scratch).env("TMIO_RANKS", "1,3").run();
        let info = quiet_info(&mpi, &scratch, &outcome);
        assert_eq!(info["write_sync"]["ops"], 8, "{}", mpi.name);
        assert_eq!(info["write_sync"]["ranks"], 2, "{}", mpi.name);
        assert_eq!(info["filters"], "TMIO_RANKS=1,3", "{}", mpi.name);
        assert_eq!(info["ranks"], 4, "{}", mpi.name);
        assert_eq!(info["complete"], true, "{}", mpi.name);
    }
}

#[test]
fn some_files() {
    for mpi in installed_mpis() {
        let scratch = Scratch::new();
        let outcome = job(&mpi, &scratch).env("TMIO_FILES", "*_1.dat,nothing*").run();
        let info = quiet_info(&mpi, &scratch, &outcome);
        assert_eq!(info["write_sync"]["ops"], 8, "{}", mpi.name);
        let files = info["files"].as_array().expect("an array");
        let names: Vec<&str> = files.iter().filter_map(|file| file["name"].as_str()).collect();
        assert!(names.len() == 1 && names[0].ends_with("_1.dat"), "{}: {names:?}", mpi.name);
        assert_eq!(info["filters"], "TMIO_FILES=*_1.dat,nothing*", "{}", mpi.name);
    }
}

#[test]
fn a_file_of_options_which_the_environment_overrides() {
    for mpi in installed_mpis() {
        let scratch = Scratch::new();
        let config = scratch.path().join("tmio.conf");
        fs::write(&config, "# ranks of interest\nranks = 0-1\nTMIO_FILES = *_0.dat\n")
            .expect("a fresh directory");
        let outcome = job(&mpi, &scratch).env("TMIO_CONFIG", &config).env("TMIO_RANKS", "2").run();
        let info = quiet_info(&mpi, &scratch, &outcome);
        assert_eq!(info["write_sync"]["ops"], 2, "{}", mpi.name);
    }
}

#[test]
fn nonsense_is_one_line_and_no_trace() {
    for mpi in installed_mpis() {
        for (name, value) in [
            ("TMIO_BUFFER", "lots"),
            ("TMIO_FLUSH", "interval:now"),
            ("TMIO_RANKS", "all but one"),
            ("TMIO_OUTPUT", "%q.msgpack"),
            ("TMIO_CONFIG", "/nowhere/tmio.conf"),
        ] {
            let scratch = Scratch::new();
            let outcome = job(&mpi, &scratch).env(name, value).run();
            assert!(outcome.success(), "{}: {outcome:?}", mpi.name);
            assert_eq!(outcome.stderr.lines().count(), 1, "{}, {name}={value}: {outcome:?}", mpi.name);
            assert!(outcome.stderr.contains(value), "{}, {name}={value}: {outcome:?}", mpi.name);
            assert_eq!(scratch.traces(), [""; 0], "{}, {name}={value}", mpi.name);
            assert_eq!(scratch.leftovers(), [""; 0], "{}, {name}={value}", mpi.name);
        }
    }
}

#[test]
fn silence() {
    for mpi in installed_mpis() {
        let scratch = Scratch::new();
        let outcome = job(&mpi, &scratch).env("TMIO_BUFFER", "lots").env("TMIO_LOG", "silent").run();
        assert!(outcome.success() && outcome.stderr.is_empty(), "{}: {outcome:?}", mpi.name);
    }
}

/// A file of options that never ends, or that nobody writes to.
#[test]
fn a_file_of_options_that_is_none() {
    for mpi in installed_mpis() {
        let scratch = Scratch::new();
        let pipe = scratch.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        assert!(made.is_ok_and(|status| status.success()), "a pipe can be made");
        let directory = scratch.path().to_owned();
        for config in [pipe, "/dev/zero".into(), directory] {
            let outcome = job(&mpi, &scratch).env("TMIO_CONFIG", &config).run();
            assert!(outcome.success(), "{}: {outcome:?}", mpi.name);
            assert_eq!(outcome.stderr.lines().count(), 1, "{}: {outcome:?}", mpi.name);
            assert!(outcome.stderr.contains("not a regular file"), "{}: {outcome:?}", mpi.name);
            assert_eq!(scratch.traces(), [""; 0], "{}", mpi.name);
        }
    }
}
