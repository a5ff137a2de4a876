//! Trouble that does not pass: the file system of one rank, a file server that fails at the end, no thread,
//! no start. The job goes on, what can be kept is kept, and one line says what is missing.

use crate::harness::{Job, Mpi, installed_mpis, libtmio, run_limited, skip};
use crate::traced::{Scratch, info, names, traced};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;
use std::time::Duration;

fn writer(mpi: &Mpi, ranks: u32, scratch: &Scratch, count: &str) -> Job {
    traced(mpi.job(ranks, mpi.program("waits_between")).args([scratch.data()]).args([count, "-"]), scratch)
}

/// A job with a file system that fails as `trouble` says where a path contains `path`.
fn troubled(job: Job, mpi: &Mpi, trouble: &str, path: &str) -> Job {
    let preload = format!("{}:{}", mpi.program("troubled_tool").display(), libtmio().display());
    job.env("LD_PRELOAD", preload).env("TROUBLE", trouble).env("TROUBLE_PATH", path)
}

/// One rank cannot write any more, for good. It gives up blocks; the others have theirs, and there is a
/// trace.
#[test]
fn blocks_of_one_rank_that_cannot_be_written() {
    for mpi in installed_mpis() {
        let scratch = Scratch::new();
        let job = |ranks| writer(&mpi, ranks, &scratch, "20000").env("TMIO_BUFFER", "64K");
        let outcome = job(2).run_together_with(&troubled(job(1), &mpi, "broken", ".parts/"));
        assert!(outcome.success(), "{}: {outcome:?}", mpi.name);
        let info = info(&scratch.trace());
        let (kept, lost) = (info["write_sync"]["ops"].as_u64(), info["lost"].as_u64());
        let (kept, lost) = (kept.expect("a number"), lost.expect("a number"));
        assert!(kept >= 80_000, "{}: the two others have 40,000 each, {kept} in all", mpi.name);
        // What is missing is said.
        let open_and_close = 2;
        assert!(
            (120_000..=120_000 + open_and_close).contains(&(kept + lost)),
            "{}: {kept} kept, {lost} lost: {outcome:?}",
            mpi.name
        );
    }
}

/// A file server reports when a file is closed that it could not keep it: the parts stay, and all is in them.
#[test]
fn a_file_that_cannot_be_closed() {
    for mpi in installed_mpis() {
        let scratch = Scratch::new();
        let job = troubled(writer(&mpi, 2, &scratch, "500"), &mpi, "close", "*.tmp");
        let outcome = job.run();
        assert!(outcome.success(), "{}: {outcome:?}", mpi.name);
        assert!(outcome.stderr.contains("no complete trace"), "{}: {outcome:?}", mpi.name);
        assert!(!scratch.trace().is_file(), "{}: a trace that the server does not have", mpi.name);
        let info = info(&scratch.trace());
        assert_eq!(info["write_sync"]["ops"], 2000, "{}", mpi.name);
        assert_eq!(info["complete"], false, "{}", mpi.name);
    }
}

/// One rank has options that make no sense and no place for its records: those of the first rank count, and
/// nobody leaves anything.
#[test]
fn a_rank_that_has_nothing_to_begin_with() {
    for mpi in installed_mpis() {
        let scratch = Scratch::new();
        let job = |ranks| writer(&mpi, ranks, &scratch, "10");
        let without = job(1).env("TMIO_CONFIG", "/nowhere/tmio.conf").env("TMIO_SPOOL", "/nowhere");
        let outcome = job(2).run_together_with(&without);
        assert!(outcome.success(), "{}: {outcome:?}", mpi.name);
        assert!(outcome.stderr.lines().count() <= 1, "{}: {outcome:?}", mpi.name);
        assert_eq!(info(&scratch.trace())["write_sync"]["ops"], 60, "{}: {outcome:?}", mpi.name);
        assert_eq!(scratch.leftovers(), [""; 0], "{}: {outcome:?}", mpi.name);
    }
}

/// The user may have no more threads: there is no online mode, a line says so, and the trace is whole.
#[test]
fn no_thread_can_be_started() {
    let root = Command::new("id").arg("-u").output().is_ok_and(|output| output.stdout == b"0\n");
    if !root {
        return skip("only root can become a user who has no other process");
    }
    for mpi in installed_mpis() {
        let scratch = Scratch::new();
        for path in [scratch.path().to_owned(), scratch.data(), scratch.path().join("traces")] {
            fs::set_permissions(path, fs::Permissions::from_mode(0o777)).expect("it is there");
        }
        fs::set_permissions(scratch.spool(), fs::Permissions::from_mode(0o777)).expect("it is there");
        // The limit comes when MPI has started its own threads: a process of no other user's has the id
        // 61234.
        let run = |preload: &str| {
            let mut command = Command::new("setpriv");
            command.args(["--reuid", "61234", "--regid", "61234", "--clear-groups"]);
            let inner = mpi.singleton(&mpi.program("has_no_more_threads"));
            let mut command = crate::harness::around(command, &inner);
            command.arg(scratch.data()).current_dir(scratch.data()).env("HOME", scratch.data());
            command.env("TMIO_OUTPUT", scratch.trace()).env("TMIO_SPOOL", scratch.spool());
            command.env("TMIO_FLUSH", "interval:0.1").env("LD_PRELOAD", preload);
            run_limited(command, Duration::from_secs(60))
        };
        let untraced = run("");
        assert!(untraced.success(), "{}: without a tracer: {untraced:?}", mpi.name);
        let outcome = run(libtmio().to_str().expect("test paths are UTF-8"));
        assert!(outcome.success(), "{}: {outcome:?}", mpi.name);
        let lines: Vec<&str> = outcome.stderr.lines().filter(|line| line.contains("tmio")).collect();
        assert!(
            lines.len() == 1 && lines.iter().all(|line| line.contains("no thread can be started")),
            "{}: {outcome:?}",
            mpi.name
        );
        assert_eq!(info(&scratch.trace())["write_sync"]["ops"], 10, "{}", mpi.name);
        assert_eq!(names(scratch.spool()), [""; 0], "{}", mpi.name);
    }
}
