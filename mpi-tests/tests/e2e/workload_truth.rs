//! The workload is the judge of the tracer, so it is judged first, untraced: its account against the files it
//! leaves, and its verification against damage.

use crate::harness::installed_mpis;
use crate::traced::{Scratch, names};
use serde_json::Value;

#[test]
fn the_account_is_what_the_files_hold() {
    for mpi in installed_mpis() {
        let scratch = Scratch::new();
        let job = mpi.job(4, mpi.program("workload")).args([
            "--dir",
            scratch.data().to_str().expect("UTF-8"),
            "--keep",
        ]);
        let job = job.args([
            "--compute",
            "0",
            "--iterations",
            "3",
            "--requests",
            "6",
            "--size",
            "1000",
            "--files",
            "2",
        ]);
        let outcome = job.run();
        assert!(outcome.success(), "{}: {outcome:?}", mpi.name);
        let truth = outcome.json();
        let on_disk: u64 = names(&scratch.data())
            .iter()
            .map(|name| scratch.data().join(name).metadata().expect("it was just listed").len())
            .sum();
        assert_eq!(on_disk, 4 * 3 * 6 * 1000, "{}", mpi.name);
        assert_eq!(truth["total"]["write_sync"]["bytes"], on_disk, "{}", mpi.name);
        assert_eq!(truth["total"]["write_sync"]["ops"], 4 * 3 * 6, "{}", mpi.name);
        let per_rank = truth["per_rank"].as_array().expect("an array");
        assert_eq!(per_rank.len(), 4);
        assert!(per_rank.iter().all(|rank| rank["write_sync"]["bytes"] == 3 * 6 * 1000), "{}", mpi.name);
    }
}

#[test]
fn files_go_unless_kept() {
    for mpi in installed_mpis() {
        let scratch = Scratch::new();
        let args = ["--compute", "0", "--iterations", "1", "--layout", "per-process", "--dir"];
        let outcome = mpi.job(2, mpi.program("workload")).args(args).args([scratch.data()]).run();
        assert!(outcome.success(), "{}: {outcome:?}", mpi.name);
        assert_eq!(names(&scratch.data()), [""; 0], "{}", mpi.name);
    }
}

#[test]
fn damage_is_noticed() {
    for mpi in installed_mpis() {
        for access in [&["--access", "blocking"][..], &["--access", "collective", "--datatype", "vector"]] {
            let scratch = Scratch::new();
            let job = mpi.job(2, mpi.program("workload")).args(["--compute", "0", "--read", "--corrupt"]);
            let outcome = job.args(access.iter().copied()).args(["--dir".into(), scratch.data()]).run();
            assert_eq!(outcome.code, Some(1), "{}: {outcome:?}", mpi.name);
            assert!(outcome.stderr.contains("verification failed"), "{}: {outcome:?}", mpi.name);
        }
    }
}

#[test]
fn the_mean_period_is_that_of_the_phase_starts() {
    for mpi in installed_mpis() {
        let scratch = Scratch::new();
        let args =
            ["--compute", "0.05", "--iterations", "5", "--jitter", "0.01", "--desync", "0.01", "--dir"];
        let truth = mpi.job(2, mpi.program("workload")).args(args).args([scratch.data()]).run().json();
        let starts: Vec<f64> =
            truth["phase_starts"].as_array().expect("an array").iter().filter_map(Value::as_f64).collect();
        assert_eq!(starts.len(), 5, "{}", mpi.name);
        let mean = (starts[4] - starts[0]) / 4.0;
        let told = truth["mean_period"].as_f64().expect("a number");
        assert!((mean - told).abs() < 1e-5, "{}: {mean} and {told}", mpi.name);
    }
}
