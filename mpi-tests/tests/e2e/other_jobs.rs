//! Jobs that use the same names as others, of whoever and wherever: each keeps what it has.

use crate::harness::{Job, Mpi, around, installed_mpis, libtmio, run_limited, skip};
use crate::traced::{Scratch, info, names, traced};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

const LIMIT: Duration = Duration::from_secs(180);

fn writer(mpi: &Mpi, scratch: &Scratch, count: &str, go: &str) -> Job {
    let go = if go == "-" { "-".into() } else { scratch.data().join(go) };
    traced(mpi.job(1, mpi.program("waits_between")).args([scratch.data()]).args([count.into(), go]), scratch)
}

fn operations(scratch: &Scratch) -> Vec<u64> {
    let traces = scratch.path().join("traces");
    let mut counts: Vec<u64> = scratch
        .traces()
        .iter()
        .map(|name| info(&traces.join(name))["write_sync"]["ops"].as_u64().expect("a number"))
        .collect();
    counts.sort_unstable();
    counts
}

/// A job of another user of the group, whose processes and spool this user may not look at, and that has
/// written nothing for more than an hour: it still runs.
#[test]
fn of_another_user_and_long_silent() {
    let root = Command::new("id").arg("-u").output().is_ok_and(|output| output.stdout == b"0\n");
    if !root {
        return skip("only root can be another user");
    }
    for mpi in installed_mpis() {
        let scratch = Scratch::new();
        let open_to_all = |path: &std::path::Path| {
            fs::set_permissions(path, fs::Permissions::from_mode(0o777)).expect("it is there");
        };
        open_to_all(&scratch.data());
        open_to_all(scratch.spool());
        open_to_all(scratch.path());
        open_to_all(&scratch.path().join("traces"));
        // As a first job of a group leaves it whose mask is 002 or 000.
        let parts = tmio_trace::parts::directory(&scratch.trace());
        fs::create_dir(&parts).expect("the scratch directory can be written");
        open_to_all(&parts);
        let first = writer(&mpi, &scratch, "3000", "go").env("TMIO_MAX_AGE", "0");
        let outcome = first.run_with(|_| {
            let start = Instant::now();
            let begun = || names(&scratch.data()).iter().any(|name| name.starts_with("some_"));
            while (!begun() || names(&parts).is_empty()) && start.elapsed() < Duration::from_secs(60) {
                sleep(Duration::from_millis(10));
            }
            sleep(Duration::from_millis(500));
            let part = names(&parts).first().map(|name| parts.join(name)).expect("a part");
            let touched = Command::new("touch").args(["-d", "61 minutes ago"]).arg(&part).status();
            assert!(touched.is_ok_and(|status| status.success()));
            let mut command = Command::new("setpriv");
            command.args(["--reuid", "65534", "--regid", "65534", "--clear-groups"]);
            let second = writer(&mpi, &scratch, "50", "-").env("HOME", scratch.data());
            let outcome = run_limited(around(command, &second.command()), LIMIT);
            assert!(outcome.success(), "{}: {outcome:?}", mpi.name);
            assert!(part.is_file(), "{}: the part of the running job", mpi.name);
            fs::write(scratch.data().join("go"), "").expect("the scratch directory can be written");
        });
        assert!(outcome.success(), "{}: {outcome:?}", mpi.name);
        assert_eq!(operations(&scratch), [100, 6000], "{}: {:?}", mpi.name, outcome.stderr);
    }
}

/// The trace that finds many of its name there takes the next number, and does not try them all.
#[test]
fn of_which_there_are_very_many() {
    for mpi in installed_mpis() {
        let scratch = Scratch::new();
        let traces = scratch.path().join("traces");
        fs::write(traces.join("tmio_77_1.msgpack"), "").expect("the scratch directory can be written");
        for number in 2..=12_000 {
            fs::write(traces.join(format!("tmio_77_1-{number}.msgpack")), "").expect("it can be written");
        }
        let job = mpi.job(1, mpi.program("waits_between")).args([scratch.data()]).args(["5", "-"]);
        let job = job.env("LD_PRELOAD", libtmio()).env("TMIO_SPOOL", scratch.spool());
        let log = scratch.path().join("calls");
        let mut strace = Command::new("strace");
        strace.args(["-f", "-qq", "-e", "trace=file", "-o"]).arg(&log);
        let mut command = around(strace, &job.env("SLURM_JOB_ID", "77").command());
        command.current_dir(&traces);
        let outcome = run_limited(command, LIMIT);
        assert!(outcome.success(), "{}: {outcome:?}", mpi.name);
        let made = info(&traces.join("tmio_77_1-12001.msgpack"));
        assert_eq!(made["write_sync"]["ops"], 10, "{}", mpi.name);
        let calls = fs::read_to_string(&log).expect("strace has written it");
        let tried = calls.lines().filter(|line| line.contains("tmio_77_1-")).count();
        assert!(tried < 20, "{}: {tried} calls with a name that is taken", mpi.name);
    }
}
