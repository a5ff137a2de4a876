//! Programs that make namespaces of process ids.

use crate::harness::{ftio, installed_mpis, libtmio, plain_program, run_limited};
use crate::traced::{Scratch, info, traced};
use crate::ways::{Way, bytes_in, is_root, settled};
use serde_json::Value;
use std::process::Command;
use std::time::{Duration, Instant};

/// The first process there is to be one of the program: were it one of ours, the namespace would end with it
/// and the program could not fork.
#[test]
fn a_program_whose_children_have_a_namespace() {
    if !is_root() {
        return;
    }
    let program = plain_program("makes_a_namespace");
    let alone = Way::Alone.run(&Scratch::new(), &Command::new(&program));
    assert!(alone.success() && alone.stdout.contains("child 1\n"), "{alone:?}");
    for way in Way::WITH_US {
        let scratch = Scratch::new();
        let outcome = way.run(&scratch, &Command::new(&program));
        assert_eq!((outcome.code, &outcome.stdout), (alone.code, &alone.stdout), "{way:?}: {outcome:?}");
    }
}

/// The helper of a child in a namespace has a number that means somebody else to whoever comes next in this
/// session: they do not wait for that one.
#[test]
fn a_program_that_follows_one_with_a_namespace() {
    if !is_root() {
        return;
    }
    let scratch = Scratch::new();
    let mut command = Command::new("sh");
    command.args(["-c", "\"$0\"; exec dd if=/dev/zero of=zeros bs=64k count=32 status=none"]);
    command.arg(plain_program("makes_a_namespace"));
    command.env("TMIO_OUTPUT", scratch.path().join("traces/%e.msgpack"));
    let began = Instant::now();
    let outcome = Way::Recorded.run(&scratch, &command);
    assert!(outcome.success(), "{outcome:?}");
    assert!(began.elapsed() < Duration::from_secs(25), "somebody has waited: {:?}", began.elapsed());
    let info = info(&scratch.path().join("traces/dd.msgpack"));
    assert_eq!(bytes_in(&scratch, &info), (0, 2 << 20), "{info:#}");
}

/// Writes 20 MB to a file, in so many records that its helper has to write while it runs.
const WRITER: &str = "dd if=/dev/zero of=$1 bs=1k count=20000 status=none";
/// Bytes of it.
const EACH: u64 = 20_000 << 10;

/// Processes in several namespaces that follow each other and run beside each other. In one of them `/proc`
/// shows those above.
fn in_namespaces() -> Command {
    let script = format!(
        "write() {{ {WRITER}; }}; \
         inside() {{ unshare --pid --fork \"$@\" sh -c '{WRITER}; exit 6' sh $name; test $? = 6; }}; \
         name=first; inside --mount-proc & write second & name=third; inside & wait; \
         write fourth; name=fifth; inside --mount-proc; name=sixth; inside; write seventh; exit 3"
    );
    let mut command = Command::new("sh");
    command.args(["-c", &script]).env("TMIO_BUFFER", "256K").env("TMIO_MIN_BYTES", "0");
    command
}

#[test]
fn several_under_one_run() {
    if !is_root() {
        return;
    }
    let scratch = Scratch::new();
    let began = Instant::now();
    let outcome = Way::Traced.run(&scratch, &in_namespaces());
    assert!(outcome.code == Some(3) && outcome.stderr.is_empty(), "{outcome:?}");
    assert!(began.elapsed() < Duration::from_secs(60), "somebody has waited: {:?}", began.elapsed());
    let info = info(&scratch.trace());
    assert_eq!(bytes_in(&scratch, &info), (0, 7 * EACH), "{info:#}");
    assert_eq!((&info["lost"], &info["complete"]), (&0.into(), &true.into()), "{info:#}");
    assert_eq!(scratch.leftovers(), [""; 0]);
}

#[test]
fn several_in_one_batch_job() {
    if !is_root() {
        return;
    }
    let scratch = Scratch::new();
    let began = Instant::now();
    let mut command = in_namespaces();
    command.env("SLURM_JOB_ID", "4711");
    let outcome = Way::Recorded.run(&scratch, &command);
    assert!(outcome.code == Some(3) && outcome.stderr.is_empty(), "{outcome:?}");
    assert!(began.elapsed() < Duration::from_secs(60), "somebody has waited: {:?}", began.elapsed());
    let is_right = |info: &Value| bytes_in(&scratch, info) == (0, 7 * EACH);
    let info = settled(&scratch, is_right).expect("parts");
    assert!(is_right(&info) && info["lost"] == 0, "{info:#}");
}

/// The monotonic clock is another one there.
#[test]
fn of_time_under_one_run() {
    if !is_root() {
        return;
    }
    let scratch = Scratch::new();
    let script = format!(
        "write() {{ {WRITER}; }}; write first; for shift in 1000000 -100; do unshare --time --fork \
         --monotonic $shift --boottime $shift sh -c '{WRITER}' sh by$shift || exit 1; done; write last; exit 3"
    );
    let mut command = Command::new("sh");
    command.args(["-c", &script]).env("TMIO_MIN_BYTES", "0");
    let began = Instant::now();
    let outcome = Way::Traced.run(&scratch, &command);
    assert!(outcome.code == Some(3) && outcome.stderr.is_empty(), "{outcome:?}");
    let info = info(&scratch.trace());
    assert_eq!(bytes_in(&scratch, &info), (0, 4 * EACH), "{info:#}");
    let end = info["t_end"].as_f64().expect("a number");
    assert!((0.0..=began.elapsed().as_secs_f64()).contains(&end), "{end}: {info:#}");
}

/// Process numbers begin again soon: what a killed process has left is written also where another one that
/// lives on has its number.
#[test]
fn a_number_that_somebody_else_has_now() {
    if !is_root() {
        return;
    }
    let scratch = Scratch::new();
    // Nobody of the run is there to write what `dd` did before ftio looks.
    let script = "(head -c 3072000 /dev/zero; sleep 20) | dd bs=1k iflag=fullblock of=zeros status=none & \
         dd=$!; while [ $(stat -c %s zeros || echo 0) -lt 3072000 ]; do sleep 0.05; done; \
         for name in /proc/[0-9]*/comm; do \
             process=${name#/proc/}; grep -q tmio-helper $name && kill -9 ${process%/comm}; done; \
         kill -9 $dd; wait $dd; sleep 2; echo $((dd - 1)) > /proc/sys/kernel/ns_last_pid; \
         env -i sleep 60 & test $! = $dd; echo same $?; kill -9 $$";
    let mut command = Command::new("unshare");
    command.args(["--pid", "--fork", "--mount-proc"]).arg(ftio()).args(["trace", "-o"]).arg(scratch.trace());
    command.arg("--library").arg(libtmio()).args(["--", "sh", "-c", script]).current_dir(scratch.data());
    command.env("TMIO_SPOOL", scratch.spool());
    let outcome = run_limited(command, Duration::from_secs(100));
    assert!(outcome.stdout == "same 0\n", "{outcome:?}");
    let info = info(&scratch.trace());
    assert_eq!(bytes_in(&scratch, &info), (0, 3_072_000), "{outcome:?} {info:#}");
    assert_eq!(scratch.leftovers(), [""; 0]);
}

/// Each rank in a container of its own, which shares /dev/shm with the others.
#[test]
fn one_for_each_rank() {
    if !is_root() {
        return;
    }
    for mpi in installed_mpis() {
        let scratch = Scratch::new();
        let job = |scratch: &Scratch| {
            let words = ["--pid", "--fork", "--mount-proc"].map(Into::into);
            let program = mpi.program("forks").into_os_string();
            let program = [program, scratch.data().into_os_string(), "exit".into()];
            mpi.job(3, "/usr/bin/unshare").args(words.into_iter().chain(program))
        };
        let alone = job(&scratch).run();
        if !alone.success() {
            crate::harness::skip(&format!("{} cannot be run in such namespaces", mpi.name));
            continue;
        }
        let outcome = traced(job(&scratch), &scratch).run();
        assert!(outcome.success() && outcome.stderr.is_empty(), "{}: {outcome:?}", mpi.name);
        let info = info(&scratch.trace());
        assert_eq!(
            (&info["ranks"], &info["write_sync"]["ops"]),
            (&3.into(), &30.into()),
            "{}: {info:#}",
            mpi.name
        );
        assert_eq!(
            (&info["complete"], scratch.leftovers()),
            (&true.into(), vec![]),
            "{}: {info:#}",
            mpi.name
        );
    }
}
