//! Where there is nothing to trace, nothing happens; where there is, the program does not notice.

use crate::harness::{Outcome, installed_mpis, libtmio, run_limited, skip, wait_until};
use crate::traced::{Scratch, assert_exact, info, names, traced};
use serde_json::Value;
use std::fs;
use std::process::Command;
use std::time::Duration;

/// Runs a command that is no MPI job in a fresh directory, with and without the tracer.
fn with_and_without(mut command: impl FnMut(&Scratch) -> Command) -> [(Outcome, Vec<String>); 2] {
    [false, true].map(|preloaded| {
        let scratch = Scratch::new();
        let mut command = command(&scratch);
        command.current_dir(scratch.data()).env_remove("LD_PRELOAD");
        if preloaded {
            command.env("LD_PRELOAD", libtmio()).env("TMIO_SPOOL", scratch.spool());
        }
        let outcome = run_limited(command, Duration::from_secs(30));
        assert_eq!(scratch.leftovers(), [""; 0]);
        (outcome, names(&scratch.data()))
    })
}

fn assert_same(runs: [(Outcome, Vec<String>); 2], code: i32, stdout: &str) {
    for (outcome, files) in &runs {
        assert_eq!(outcome.code, Some(code), "{outcome:?}");
        assert_eq!(outcome.stdout, stdout, "{outcome:?}");
        assert_eq!(outcome.stderr, "", "{outcome:?}");
        assert_eq!(files, &runs[0].1);
    }
}

#[test]
fn in_a_shell() {
    let runs = with_and_without(|_| {
        let mut command = Command::new("sh");
        command.args(["-c", "echo one; (exit 4); echo $?; ls / > /dev/null; exit 3"]);
        command
    });
    assert_same(runs, 3, "one\n4\n");
}

#[test]
fn in_a_program_without_mpi() {
    for mpi in installed_mpis() {
        let runs = with_and_without(|scratch| {
            let mut command = Command::new(mpi.program("no_mpi"));
            command.arg(scratch.data());
            command
        });
        assert_same(runs, 7, "no MPI here\n");
    }
}

#[test]
fn in_the_launcher() {
    for mpi in installed_mpis() {
        let scratch = Scratch::new();
        let job = mpi.job(2, mpi.program("workload")).args([
            "--compute",
            "0",
            "--iterations",
            "2",
            "--requests",
            "3",
        ]);
        let job = job.args(["--dir".into(), scratch.data()]).launcher_env("LD_PRELOAD", libtmio());
        let job =
            job.launcher_env("TMIO_OUTPUT", scratch.trace()).launcher_env("TMIO_SPOOL", scratch.spool());
        let outcome = job.run();
        assert!(outcome.success() && outcome.stderr.is_empty(), "{}: {outcome:?}", mpi.name);
        assert_eq!(info(&scratch.trace())["write_sync"]["ops"], 12, "{}", mpi.name);
        assert_eq!(scratch.traces(), ["trace.msgpack"], "{}", mpi.name);
        assert_eq!(scratch.leftovers(), [""; 0], "{}", mpi.name);
    }
}

#[test]
fn in_a_program_that_forks() {
    for mpi in installed_mpis() {
        for end in ["exit", "_exit", "exec"] {
            let scratch = Scratch::new();
            let job = mpi.job(2, mpi.program("forks")).args([scratch.data()]).args([end]);
            let outcome = traced(job, &scratch).run();
            assert!(outcome.success(), "{}, {end}: {outcome:?}", mpi.name);
            assert_eq!(outcome.stdout + &outcome.stderr, "", "{}, {end}", mpi.name);
            let info = info(&scratch.trace());
            assert_eq!(info["write_sync"]["ops"], 20, "{}, {end}", mpi.name);
            assert_eq!(info["complete"], true, "{}, {end}", mpi.name);
            assert_eq!(scratch.leftovers(), [""; 0], "{}, {end}", mpi.name);
        }
    }
}

fn at(scratch: &Scratch, trace: &str) -> std::path::PathBuf {
    scratch.path().join("traces").join(trace)
}

/// What a child writes is in no trace of the job, and what it is and how it ends stays the same. A child that
/// comes to MPI itself is a job.
#[test]
fn forks_around_mpi() {
    let layers = [None, Some("mpiio,posix,stdio")];
    for (mpi, layers) in installed_mpis().into_iter().flat_map(|mpi| layers.map(|layers| (mpi, layers))) {
        for way in ["before", "child", "after", "chain", "ended"] {
            let job = |scratch: &Scratch| {
                let mut command = mpi.singleton(&mpi.program("forks_around_mpi"));
                command.arg(scratch.data()).arg(way).envs(mpi.variables());
                command
            };
            let what = format!("{}, {way}, {layers:?}", mpi.name);
            let alone = run_limited(job(&Scratch::new()), Duration::from_secs(60));
            let scratch = Scratch::new();
            let mut command = job(&scratch);
            command.env("LD_PRELOAD", libtmio()).env("TMIO_OUTPUT", scratch.path().join("traces/%p.msgpack"));
            command.env("TMIO_SPOOL", scratch.spool()).envs(layers.map(|layers| ("TMIO_LAYERS", layers)));
            let outcome = run_limited(command, Duration::from_secs(60));
            assert_eq!((alone.code, &alone.stdout), (outcome.code, &outcome.stdout), "{what}: {outcome:?}");
            assert_eq!(outcome.stderr, alone.stderr, "{what}");
            let is_idle = || names(scratch.spool()).is_empty();
            assert!(wait_until(Duration::from_secs(20), is_idle), "{what}: {:?}", names(scratch.spool()));
            // Bytes of MPI-IO, and of others, by a name for each process.
            const EACH: u64 = 40 * (64 << 10);
            let traces: Vec<Value> = scratch.traces().iter().map(|name| info(&at(&scratch, name))).collect();
            let moved = |is_mpi_io: bool| -> u64 {
                let files = traces.iter().flat_map(|trace| trace["files"].as_array().expect("a list"));
                let files = files.filter(|file| file.get("layer").is_none() == is_mpi_io);
                files.filter_map(|file| file["bytes_written"].as_u64()).sum()
            };
            let by_mpi = if matches!(way, "after" | "chain") { 2 * EACH } else { EACH };
            let by_others = if way == "before" && layers.is_some() { 2 * EACH } else { 0 };
            assert_eq!((moved(true), moved(false)), (by_mpi, by_others), "{what}: {traces:#?}");
        }
    }
}

#[test]
fn switched_off() {
    for mpi in installed_mpis() {
        let scratch = Scratch::new();
        let job =
            mpi.job(2, mpi.program("workload")).args(["--compute", "0", "--dir"]).args([scratch.data()]);
        let outcome = traced(job, &scratch).env("TMIO_DISABLE", "1").run();
        assert!(outcome.success() && outcome.stderr.is_empty(), "{}: {outcome:?}", mpi.name);
        assert_eq!(scratch.traces(), [""; 0], "{}", mpi.name);
        assert_eq!(scratch.leftovers(), [""; 0], "{}", mpi.name);
    }
}

#[test]
fn an_earlier_trace_of_the_name_is_replaced() {
    for mpi in installed_mpis() {
        let scratch = Scratch::new();
        for requests in [5, 3] {
            let args = ["--compute", "0", "--iterations", "1", "--requests", &requests.to_string(), "--dir"];
            let job = mpi.job(2, mpi.program("workload")).args(args).args([scratch.data()]);
            assert!(traced(job, &scratch).run().success(), "{}", mpi.name);
            assert_eq!(info(&scratch.trace())["write_sync"]["ops"], 2 * requests, "{}", mpi.name);
            assert_eq!(scratch.leftovers(), [""; 0], "{}", mpi.name);
        }
    }
}

#[test]
fn another_file_of_the_name_is_kept() {
    for mpi in installed_mpis() {
        let scratch = Scratch::new();
        fs::write(scratch.trace(), "somebody's results").expect("the directory was just made");
        let job =
            mpi.job(2, mpi.program("workload")).args(["--compute", "0", "--dir"]).args([scratch.data()]);
        let outcome = traced(job, &scratch).run();
        assert!(outcome.success(), "{}: {outcome:?}", mpi.name);
        assert_eq!(outcome.stderr.lines().count(), 1, "{}: {outcome:?}", mpi.name);
        assert!(outcome.stderr.contains("tmio"), "{}: {outcome:?}", mpi.name);
        assert_eq!(
            fs::read_to_string(scratch.trace()).unwrap_or_default(),
            "somebody's results",
            "{}",
            mpi.name
        );
    }
}

#[test]
fn files_are_the_same() {
    for mpi in installed_mpis() {
        let [without, with] = [false, true].map(|is_traced| {
            let scratch = Scratch::new();
            let args =
                ["--compute", "0", "--access", "collective", "--datatype", "vector", "--keep", "--dir"];
            let job = mpi.job(4, mpi.program("workload")).args(args).args([scratch.data()]);
            let outcome = if is_traced { traced(job, &scratch).run() } else { job.run() };
            assert!(outcome.success(), "{}: {outcome:?}", mpi.name);
            assert_eq!(scratch.trace().is_file(), is_traced, "{}", mpi.name);
            let [name] = &names(&scratch.data())[..] else { panic!("{}: not one file", mpi.name) };
            fs::read(scratch.data().join(name)).expect("the workload kept it")
        });
        assert!(!without.is_empty() && without == with, "{}: the files differ", mpi.name);
    }
}

#[test]
fn flushing_without_a_tracer_does_nothing() {
    for mpi in installed_mpis() {
        let scratch = Scratch::new();
        let args = ["--compute", "0", "--flush", "--dir"];
        let outcome = mpi.job(2, mpi.program("workload")).args(args).args([scratch.data()]).run();
        assert!(outcome.success() && outcome.stderr.is_empty(), "{}: {outcome:?}", mpi.name);
    }
    assert_exact(&["--flush", "--iterations", "10"]);
}

#[test]
fn the_calls_of_the_header_do_not_race() {
    let scratch = Scratch::new();
    let program = scratch.path().join("marks");
    let root = env!("CARGO_MANIFEST_DIR");
    let mut compile = Command::new("cc");
    compile.args(["-O1", "-g", "-fsanitize=thread", "-I"]).arg(format!("{root}/../c-headers"));
    compile
        .arg(format!("{root}/programs/marks_in_threads.c"))
        .args(["-lpthread", "-ldl", "-o"])
        .arg(&program);
    if !compile.output().is_ok_and(|output| output.status.success()) {
        return skip("the C compiler has no thread sanitizer");
    }
    let outcome = run_limited(Command::new(&program), Duration::from_secs(60));
    if outcome.stderr.contains("unexpected memory mapping") {
        return skip("the thread sanitizer does not work with this kernel");
    }
    assert!(outcome.success() && !outcome.stderr.contains("data race"), "{outcome:?}");
}
