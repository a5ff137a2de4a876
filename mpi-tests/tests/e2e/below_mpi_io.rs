//! POSIX and C streams of MPI programs: what the program does itself is recorded, what MPI does is not.
//!
//! That no existing test of MPI-IO sees anything below is part of [`Run::differences`].

use crate::harness::{Mpi, installed_mpis};
use crate::traced::{
    Run, Scratch, info, names, run_ftio, trace_job, trace_workload, trace_workload_alone, traced,
};
use crate::ways::bytes_in;
use serde_json::Value;

/// Bytes of a layer. Bytes that the program has moved at a layer. MPI has files of its own in shared memory,
/// which are files, too.
fn moved(info: &Value, layer: &str) -> u64 {
    let of = |way: &str| info["layers"][layer][way]["bytes"].as_u64().unwrap_or(0);
    let files = info["files"].as_array().into_iter().flatten();
    let is_of_mpi = |file: &&Value| {
        file["layer"] == layer && file["name"].as_str().is_some_and(|name| name.starts_with("/dev/shm/"))
    };
    let bytes = |file: &Value| [&file["bytes_read"], &file["bytes_written"]].map(|n| n.as_u64().unwrap_or(0));
    of("read") + of("write") - files.filter(is_of_mpi).flat_map(bytes).sum::<u64>()
}

#[test]
fn posix_alone() {
    for mpi in installed_mpis() {
        let run = trace_workload(&mpi, 2, &["--posix", "--size", "256k", "--read"]);
        assert_eq!(run.differences(), [""; 0], "{}", mpi.name);
        assert!(run.info["layers"].get("mpiio").is_none(), "{}: {:#}", mpi.name, run.info["layers"]);
        let said = run_ftio(&["info"], &run.scratch.trace());
        assert!(!said.stdout.contains("TMIO_LAYERS"), "{}: {said:?}", mpi.name);
    }
}

#[test]
fn the_period_of_posix_alone() {
    for mpi in installed_mpis() {
        let shape = ["--posix", "--iterations", "12", "--compute", "0.3", "--paced", "--size", "1m"];
        let run = trace_workload_alone(&mpi, 2, &shape);
        let outcome = run_ftio(&["--json"], &run.scratch.trace());
        assert!(outcome.success(), "{}: {outcome:?}", mpi.name);
        let found = outcome.json();
        let truth = run.truth["mean_period"].as_f64().expect("a number");
        let period = found["period"].as_f64().unwrap_or_else(|| panic!("{}: {found:#}", mpi.name));
        assert!((period / truth - 1.0).abs() < 0.01, "{}: found {period}, truth {truth}", mpi.name);
    }
}

/// Fewer bytes than `TMIO_MIN_BYTES`, in less than a second: a thousand ranks that read a file of options
/// make no files of ours.
#[test]
fn little_posix_leaves_nothing() {
    for mpi in installed_mpis() {
        let scratch = Scratch::new();
        let job = mpi.job(2, mpi.program("workload")).args(["--posix", "--iterations", "1", "--size", "4k"]);
        let job = job.args(["--compute", "0", "--dir"]).args([scratch.data()]);
        let outcome = traced(job, &scratch).run();
        assert!(outcome.success() && outcome.stderr.is_empty(), "{}: {outcome:?}", mpi.name);
        assert_eq!(scratch.traces(), [""; 0], "{}", mpi.name);
        assert_eq!(names(scratch.spool()), [""; 0], "{}", mpi.name);
    }
}

fn mixed(mpi: &Mpi, settings: &[(&str, &str)]) -> (Value, Value, Scratch) {
    let scratch = Scratch::new();
    let mut job = traced(mpi.job(2, mpi.program("mixed_io")).args([scratch.data()]).args(["0.02"]), &scratch);
    for (name, value) in settings {
        job = job.env(name, value);
    }
    let outcome = job.run();
    assert!(outcome.success() && outcome.stderr.is_empty(), "{}: {outcome:?}", mpi.name);
    assert_eq!(scratch.leftovers(), [""; 0], "{}", mpi.name);
    (outcome.json(), info(&scratch.trace()), scratch)
}

/// Each call is counted at one layer, whoever makes it and on whatever descriptor.
#[test]
fn all_three() {
    for mpi in installed_mpis() {
        for settings in [&[][..], &[("MPICH_ASYNC_PROGRESS", "1")]] {
            let (truth, info, scratch) = mixed(&mpi, settings);
            for layer in ["mpiio", "posix", "stdio"] {
                assert_eq!(truth[layer], moved(&info, layer), "{}: {layer}: {:#}", mpi.name, info["files"]);
            }
            assert!(info["filters"].is_null(), "{}: {}", mpi.name, info["filters"]);
            // A log by C streams does not change what is analysed, and is no reason for a word.
            let found = run_ftio(&["--json"], &scratch.trace());
            assert!(found.success(), "{}: {found:?}", mpi.name);
            let found = found.json();
            assert_eq!(found["layer"], "mpiio", "{}: {found}", mpi.name);
            assert!(!found["notes"].to_string().contains("left out"), "{}: {found}", mpi.name);
        }
    }
}

#[test]
fn mpi_io_alone_if_that_is_asked_for() {
    // As a site's file does it, too.
    let scratch = Scratch::new();
    let file = scratch.path().join("tmio.conf");
    std::fs::write(&file, "layers = mpiio\n").expect("the scratch directory can be written");
    for mpi in installed_mpis() {
        for setting in [("TMIO_LAYERS", "mpiio"), ("TMIO_CONFIG", file.to_str().expect("UTF-8"))] {
            let (truth, info, _) = mixed(&mpi, &[setting]);
            assert_eq!(truth["mpiio"], moved(&info, "mpiio"), "{}: {setting:?}", mpi.name);
            assert_eq!(moved(&info, "posix") + moved(&info, "stdio"), 0, "{}: {setting:?}", mpi.name);
            assert_eq!(info["filters"], "TMIO_LAYERS=mpiio", "{}: {setting:?}", mpi.name);
        }
    }
}

/// One trace of all ranks, in which MPI-IO is what it does by POSIX.
#[test]
fn posix_and_streams_if_only_they_are_asked_for() {
    for mpi in installed_mpis() {
        let (truth, info, scratch) = mixed(&mpi, &[("TMIO_LAYERS", "posix,stdio")]);
        assert_eq!(scratch.traces().len(), 1, "{}: {:?}", mpi.name, scratch.traces());
        assert_eq!((&info["ranks"], &info["filters"]), (&2.into(), &"TMIO_LAYERS=posix,stdio".into()));
        assert_eq!(truth["stdio"], moved(&info, "stdio"), "{}: {:#}", mpi.name, info["files"]);
        let of = |layer: &str| truth[layer].as_u64().expect("a number");
        let posix = moved(&info, "posix");
        assert!(posix >= of("posix") + of("mpiio"), "{}: {posix} of {truth}", mpi.name);
        assert!(info["layers"].get("mpiio").is_none(), "{}: {:#}", mpi.name, info["layers"]);
    }
}

/// What a rank does before `MPI_Init` is the job's, however much that is and however long it takes.
#[test]
fn before_mpi_begins() {
    for mpi in installed_mpis() {
        for (layers, moved_by_all) in [("posix,stdio", 2 * 8), ("mpiio,posix,stdio", 2 * 6)] {
            let scratch = Scratch::new();
            let job = mpi.job(2, mpi.program("begins_before_mpi")).args([scratch.data()]);
            let outcome = traced(job, &scratch).env("TMIO_LAYERS", layers).run();
            assert!(outcome.success() && outcome.stderr.is_empty(), "{}: {outcome:?}", mpi.name);
            assert_eq!(scratch.leftovers(), [""; 0], "{}, {layers}", mpi.name);
            let info = info(&scratch.trace());
            let what = format!("{}, {layers}: {info:#}", mpi.name);
            let written = bytes_in(&scratch, &info).1 - moved(&info, "mpiio");
            assert_eq!((&info["ranks"], written), (&2.into(), moved_by_all << 20), "{what}");
        }
        // One that a launcher has started and that never calls MPI is a process.
        let scratch = Scratch::new();
        let job = mpi.job(1, mpi.program("begins_before_mpi")).args([scratch.data()]).args(["never"]);
        let outcome = traced(job, &scratch).env("TMIO_LAYERS", "posix,stdio").run();
        assert!(outcome.success() && outcome.stderr.is_empty(), "{}: {outcome:?}", mpi.name);
        assert_eq!(bytes_in(&scratch, &info(&scratch.trace())), (0, 4 << 20), "{}", mpi.name);
    }
}

/// Sieving and two-phase I/O move other bytes than were asked for, by other ranks: none of them counts.
#[test]
fn what_mpi_io_does_below() {
    let check = |run: &Run, mpi: &Mpi, what: &[&str]| {
        assert_eq!(run.differences(), [""; 0], "{}: {what:?}", mpi.name);
    };
    for mpi in installed_mpis() {
        for args in [
            &["--access", "blocking", "--datatype", "vector", "--read"][..],
            &["--access", "collective", "--datatype", "vector", "--read"],
            &["--access", "nonblocking", "--pointer", "shared", "--read"],
        ] {
            for progress in [false, true] {
                let mut job = mpi.job(2, mpi.program("workload")).env("TMIO_LAYERS", "mpiio,posix,stdio");
                if progress {
                    job = job.env("MPICH_ASYNC_PROGRESS", "1");
                }
                check(&trace_job(job, args), &mpi, args);
            }
        }
    }
}
