//! Trouble that does not pass: the file system of one rank, a file server that fails at the end, no thread,
//! no start. The job goes on, what can be kept is kept, and one line says what is missing.

use crate::harness::{Job, Mpi, installed_mpis, libtmio, run_limited, skip, troubled_libtmio};
use crate::traced::{Scratch, info, names, traced};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;
use std::time::Duration;

fn writer(mpi: &Mpi, ranks: u32, scratch: &Scratch, count: &str) -> Job {
    traced(mpi.job(ranks, mpi.program("waits_between")).args([scratch.data()]).args([count, "-"]), scratch)
}

/// A file system takes no more blocks, for good: what was written and what was not is all there is.
#[test]
fn blocks_that_cannot_be_written() {
    for mpi in installed_mpis() {
        let scratch = Scratch::new();
        let library = troubled_libtmio(&mpi, &scratch.path().join("tool"), "broken", ".parts/");
        let job = writer(&mpi, 3, &scratch, "20000").env("TMIO_BUFFER", "64K").env("LD_PRELOAD", library);
        let outcome = job.run();
        assert!(outcome.success(), "{}: {outcome:?}", mpi.name);
        let info = info(&scratch.trace());
        let (kept, lost) = (info["write_sync"]["ops"].as_u64(), info["lost"].as_u64());
        let (kept, lost) = (kept.expect("a number"), lost.expect("a number"));
        // What is missing is said.
        let open_and_close = 3 * 2;
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
        let library = troubled_libtmio(&mpi, &scratch.path().join("tool"), "close", "*.tmp");
        let outcome = writer(&mpi, 2, &scratch, "500").env("LD_PRELOAD", library).run();
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

/// The user may have no more threads, nor processes: the trace is whole, or a line says that there is none.
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
        if scratch.trace().is_file() {
            assert!(lines.is_empty(), "{}: {outcome:?}", mpi.name);
            assert_eq!(info(&scratch.trace())["write_sync"]["ops"], 10, "{}", mpi.name);
        } else {
            // Where MPI has threads, even a look at a file of ours needs a process.
            let [line] = lines[..] else { panic!("{}: not one line: {outcome:?}", mpi.name) };
            assert!(line.contains("operations are lost"), "{}: {line}", mpi.name);
        }
        assert_eq!(names(scratch.spool()), [""; 0], "{}", mpi.name);
    }
}
