//! Whatever ends a job early, every operation completed before it can be read, and the trace says that it is
//! not complete.

use crate::harness::{Lack, Mpi, installed_mpis, wait_until};
use crate::traced::{Scratch, info, traced};
use std::process::{Child, Command};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Runs `program`, which does `ops` requests of 1000 bytes on each of `ranks` ranks before it ends badly.
fn keeps_all(mpi: &Mpi, program: &str, args: &[&str], ranks: u32, ops: u32) {
    let label = format!("{} on {ranks} ranks: {program} {}", mpi.name, args.join(" "));
    let untraced = Scratch::new();
    let job = |scratch: &Scratch| {
        mpi.job(ranks, mpi.program(program)).args([scratch.data()]).args(args.iter().copied())
    };
    let scratch = Scratch::new();
    let outcome = traced(job(&scratch), &scratch).run();
    let without = job(&untraced).run();
    assert!(
        mpi.lacks(Lack::ExitCodes) || outcome.code == without.code,
        "{label}: {outcome:?}, not {without:?}"
    );
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

/// The ranks have done their work and wait; `end` ends the job from outside.
fn keeps_all_when(end: impl Fn(&mut Child), how: &str) {
    for mpi in installed_mpis() {
        let scratch = Scratch::new();
        let ready = scratch.data().join("ready");
        let job = mpi.job(4, mpi.program("killed")).args([scratch.data()]).args(["20", "nobody"]);
        let outcome = traced(job, &scratch).run_with(|launcher| {
            let start = Instant::now();
            while !ready.is_file() && start.elapsed() < Duration::from_secs(120) {
                sleep(Duration::from_millis(10));
            }
            end(launcher);
        });
        assert!(ready.is_file(), "{}: the ranks never came to wait: {outcome:?}", mpi.name);
        let ended_badly = !outcome.success() || mpi.lacks(Lack::ExitCodes);
        assert!(ended_badly, "{}, {how}: {outcome:?}", mpi.name);
        let info = info(&scratch.trace());
        assert_eq!(info["write_sync"]["ops"], 80, "{}, {how}", mpi.name);
        assert_eq!(info["complete"], false, "{}, {how}", mpi.name);
    }
}

/// A batch system's time limit begins with SIGTERM to what it started.
#[test]
fn launcher_asked_to_end() {
    keeps_all_when(
        |launcher| {
            let _ = Command::new("kill").args(["-TERM", &launcher.id().to_string()]).status();
        },
        "SIGTERM to the launcher",
    );
}

#[test]
fn launcher_killed() {
    keeps_all_when(
        |launcher| {
            let _ = launcher.kill();
        },
        "SIGKILL to the launcher",
    );
}

#[test]
fn ranks_asked_to_end() {
    for mpi in installed_mpis() {
        keeps_all(&mpi, "killed", &["20", "all", "15"], 2, 20);
        keeps_all(&mpi, "killed", &["20", "1", "15"], 2, 20);
    }
}

/// What is in the spool of a process that exits is written out, and the helper takes the spool and then
/// itself away.
#[test]
fn an_exit_leaves_no_spool() {
    for mpi in installed_mpis() {
        let scratch = Scratch::new();
        let job = mpi.job(1, mpi.program("exits_without_finalize")).args([scratch.data()]).args(["exit"]);
        traced(job, &scratch).run();
        wait_until(Duration::from_secs(20), || scratch.leftovers() == ["trace.msgpack.parts"]);
        assert_eq!(scratch.leftovers(), ["trace.msgpack.parts"], "{}", mpi.name);
    }
}
