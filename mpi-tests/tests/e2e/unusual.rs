//! What the MPI standard and the system allow and few programs do: exact counts all the same.

use crate::harness::{
    Lack, Mpi, Outcome, around, copy_libtmio, installed_mpis, libtmio, run_limited, skip, skip_for_lack_of,
    wait_until,
};
use crate::traced::{Scratch, info, names, traced};
use crate::ways::is_root;
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(120);

/// Runs a program of `programs/` on two ranks, traced; it must end well, in silence, and leave nothing.
fn trace(mpi: &Mpi, program: &str, args: &[&str]) -> (Outcome, Value) {
    let scratch = Scratch::new();
    let job = mpi.job(2, mpi.program(program)).args([scratch.data()]).args(args.iter().copied());
    let outcome = traced(job, &scratch).run();
    assert!(outcome.success() && outcome.stderr.is_empty(), "{}: {program}: {outcome:?}", mpi.name);
    let info = info(&scratch.trace());
    assert_eq!(info["complete"], true, "{}: {program}", mpi.name);
    assert_eq!(scratch.leftovers(), [""; 0], "{}: {program}", mpi.name);
    (outcome, info)
}

fn assert_class(info: &Value, class: &str, operations: u64, bytes: u64, label: &str) {
    assert_eq!(info[class]["ops"], operations, "{label}: {class}");
    assert_eq!(info[class]["bytes"], bytes, "{label}: {class}");
}

#[test]
fn requests_that_share_a_handle() {
    for mpi in installed_mpis() {
        let (_, info) = trace(&mpi, "zero_bytes_together", &[]);
        assert_class(&info, "write_async", 2 * 3 * 24, 2 * 3 * 1200, mpi.name);
    }
}

#[test]
fn generalized_requests_that_write() {
    for mpi in installed_mpis() {
        let (_, info) = trace(&mpi, "generalized_requests", &[]);
        assert_class(&info, "write_async", 2 * 5 * 2, 2 * 5 * 2000, mpi.name);
        assert_class(&info, "write_sync", 2 * 5, 2 * 5 * 10, mpi.name);
    }
}

#[test]
fn threads_that_hand_over_files_and_requests() {
    for mpi in installed_mpis() {
        let args = if mpi.lacks(Lack::RequestsInThreads) { &["one-at-a-time"][..] } else { &[] };
        let (_, info) = trace(&mpi, "hands_over", args);
        let bytes: u64 = (0..6).map(|number| 200 + number).sum();
        assert_class(&info, "write_async", 2 * 4 * 50 * 6, 2 * 4 * 50 * bytes, mpi.name);
        let files = info["files"].as_array().unwrap();
        let others: Vec<_> = files.iter().filter(|file| file["ops"] == 0).collect();
        assert_eq!(files.len(), 2 * 201, "{}: {others:#?}", mpi.name);
    }
}

#[test]
fn requests_of_more_than_four_gigabytes() {
    for mpi in installed_mpis() {
        let scratch = Scratch::new();
        let ints = mpi.job(1, mpi.program("large_requests"));
        let mut job = if mpi.has_large_counts() { ints.clone().args(["counts"]) } else { ints.clone() };
        let mut untraced = job.run();
        if !untraced.success() {
            // MPICH 4.0 has the functions, and an assertion that the count is an int.
            job = ints;
            untraced = job.run();
        }
        assert!(untraced.success(), "{}: without a tracer: {untraced:?}", mpi.name);
        let outcome = traced(job, &scratch).run();
        assert!(outcome.success(), "{}: {outcome:?}", mpi.name);
        assert_eq!(outcome.stdout, untraced.stdout, "{}", mpi.name);
        // Where MPI itself loses count, what it says is what is recorded.
        let said = |start: &str| -> (u64, u64) {
            let lines = outcome.stdout.lines().filter(|line| line.starts_with(start));
            let bytes: Vec<u64> = lines.filter_map(|line| line.rsplit(' ').next()?.parse().ok()).collect();
            (bytes.len() as u64, bytes.iter().sum())
        };
        let info = info(&scratch.trace());
        for (class, start) in [("write_sync", "blocking"), ("write_async", "nonblocking")] {
            let (operations, bytes) = said(start);
            assert!(operations > 0, "{}: {outcome:?}", mpi.name);
            assert_class(&info, class, operations, bytes, mpi.name);
        }
    }
}

#[test]
fn the_end_of_mpi_in_an_exit_handler() {
    for mpi in installed_mpis() {
        for args in [&[][..], &["late"]] {
            let (_, info) = trace(&mpi, "finalizes_at_exit", args);
            assert_class(&info, "write_sync", 20, 20_000, mpi.name);
        }
    }
}

/// A site that traces everybody, and a user who does so, too, with another copy of the library.
#[test]
fn two_copies_of_the_library() {
    for mpi in installed_mpis() {
        let scratch = Scratch::new();
        let copy = scratch.path().join("libtmio.so");
        copy_libtmio(&copy);
        let job = mpi.job(2, mpi.program("waits_between")).args([scratch.data()]).args(["10", "-"]);
        let preload = format!("{}:{}", copy.display(), libtmio().display());
        let outcome = traced(job, &scratch).env("LD_PRELOAD", preload).run();
        assert!(outcome.success() && outcome.stderr.is_empty(), "{}: {outcome:?}", mpi.name);
        assert_eq!(scratch.traces(), ["trace.msgpack"], "{}", mpi.name);
        assert_class(&info(&scratch.trace()), "write_sync", 40, 40 * 64, mpi.name);
        assert_eq!(scratch.leftovers(), [""; 0], "{}", mpi.name);
    }
}

/// Lets every user write below a directory.
fn open_to_all(path: &Path) {
    fs::set_permissions(path, fs::Permissions::from_mode(0o777)).expect("it is there");
}

/// A program of one rank as a user who has nothing else.
fn as_another_user(mpi: &Mpi, program: &str, scratch: &Scratch) -> Command {
    for path in [scratch.path(), &scratch.data(), &scratch.path().join("traces"), scratch.spool()] {
        open_to_all(path);
    }
    let mut command = Command::new("setpriv");
    command.args(["--reuid", "61235", "--regid", "61235", "--clear-groups"]);
    let mut command = around(command, &mpi.singleton(&mpi.program(program)));
    command.arg(scratch.data()).current_dir(scratch.data()).env("HOME", scratch.data());
    command.env("LD_PRELOAD", libtmio()).env("TMIO_SPOOL", scratch.spool());
    command
}

/// The program's mask is for its own files.
#[test]
fn a_mask_that_forbids_everything() {
    if !is_root() {
        return;
    }
    for mpi in installed_mpis() {
        let scratch = Scratch::new();
        let mut command = as_another_user(&mpi, "masks_permissions", &scratch);
        let outcome = run_limited(
            {
                command.env("TMIO_OUTPUT", scratch.trace());
                command
            },
            LIMIT,
        );
        assert!(outcome.success() && outcome.stderr.is_empty(), "{}: {outcome:?}", mpi.name);
        let info = info(&scratch.trace());
        assert_eq!(info["complete"], true, "{}", mpi.name);
        assert_class(&info, "write_sync", 20_000, 20_000_000, mpi.name);
        assert_eq!(scratch.leftovers(), [""; 0], "{}", mpi.name);
    }
}

/// The default place is the working directory, which may be nobody's.
#[test]
fn a_working_directory_that_cannot_be_written() {
    if !is_root() {
        return;
    }
    for mpi in installed_mpis() {
        for directory in ["/", "/proc/self"] {
            let scratch = Scratch::new();
            let mut command = as_another_user(&mpi, "marks", &scratch);
            command.current_dir(directory).arg("3");
            let outcome = run_limited(command, LIMIT);
            let label = format!("{} in {directory}", mpi.name);
            assert!(outcome.success(), "{label}: {outcome:?}");
            assert_eq!(outcome.stderr.lines().count(), 1, "{label}: {outcome:?}");
            assert!(outcome.stderr.contains("tmio"), "{label}: {outcome:?}");
            // The helper clears up when the process is gone.
            wait_until(LIMIT, || names(scratch.spool()).is_empty());
            assert_eq!(names(scratch.spool()), [""; 0], "{label}: {outcome:?}");
        }
    }
}

const WITHOUT_SHARED_MEMORY: [(&str, &str); 5] = [
    ("UCX_TLS", "sysv,self"),
    ("MPIR_CVAR_NOLOCAL", "1"),
    ("OMPI_MCA_btl", "self,tcp"),
    ("OMPI_MCA_pml", "ob1"),
    ("OMPI_MCA_sharedfp", "individual,lockedfile"),
];

/// A full `/dev/shm`, and one that cannot be written: ranks do not find each other there, nor have spools.
#[test]
fn without_shared_memory() {
    if !is_root() {
        return;
    }
    for mpi in installed_mpis() {
        for (name, way) in [
            ("full", "mount -t tmpfs -o size=4k tmpfs /dev/shm && head -c 4096 /dev/zero > /dev/shm/filler"),
            ("read-only", "mount -t tmpfs -o ro tmpfs /dev/shm"),
        ] {
            let scratch = Scratch::new();
            let job = mpi.job(2, mpi.program("waits_between")).args([scratch.data()]).args(["10", "-"]);
            // MPI itself does without it.
            let job =
                WITHOUT_SHARED_MEMORY.iter().fold(job, |job, (name, value)| job.launcher_env(name, value));
            let run = |job: &crate::harness::Job| {
                let mut command = Command::new("unshare");
                let script = format!("mount --make-rprivate / && {way} || exit 97; exec \"$@\"");
                command.args(["-m", "sh", "-c", &script, "sh"]);
                run_limited(around(command, &job.command()), LIMIT)
            };
            let label = format!("{}: {name}", mpi.name);
            let untraced = run(&job);
            assert_ne!(untraced.code, Some(97), "{label}: {untraced:?}");
            if !untraced.success() {
                skip_for_lack_of(&format!("{label}: a job without shared memory"));
                continue;
            }
            let job = job.env("LD_PRELOAD", libtmio()).env("TMIO_OUTPUT", scratch.trace());
            let outcome = run(&job);
            assert!(outcome.success(), "{label}: {outcome:?}");
            let ours = outcome.stderr.lines().filter(|line| line.starts_with("tmio")).count();
            assert!(ours <= 1, "{label}: {outcome:?}");
            let operations: u64 = scratch
                .traces()
                .iter()
                .map(|name| info(&scratch.path().join("traces").join(name)))
                .filter_map(|info| info["write_sync"]["ops"].as_u64())
                .sum();
            assert_eq!(operations, 40, "{label}: {outcome:?}, {:?}", scratch.traces());
        }
    }
}

/// Containers forbid system calls, old kernels do not have them: there are other ways.
#[test]
fn system_calls_that_are_not_allowed() {
    let able = Command::new("strace").args(["-qq", "true"]).output();
    if !able.is_ok_and(|output| output.status.success()) {
        return skip("strace is not installed, or may not trace");
    }
    for mpi in installed_mpis() {
        for error in ["EPERM", "ENOSYS"] {
            let scratch = Scratch::new();
            for round in ["new", "replaced"] {
                let mut strace = Command::new("strace");
                strace.args(["-f", "-qq", "-o", "/dev/null", "-e", "trace=renameat2,close_range", "-e"]);
                strace.arg(format!("inject=renameat2,close_range:error={error}"));
                let job = mpi.job(1, mpi.program("waits_between")).args([scratch.data()]).args(["10", "-"]);
                let job = job.env("LD_PRELOAD", libtmio()).env("TMIO_OUTPUT", scratch.trace());
                let outcome = run_limited(around(strace, &job.command()), LIMIT);
                let label = format!("{}, {error}, {round}", mpi.name);
                assert!(outcome.success(), "{label}: {outcome:?}");
                assert_eq!(scratch.traces(), ["trace.msgpack"], "{label}: {outcome:?}");
                let info = info(&scratch.trace());
                assert_eq!(info["complete"], true, "{label}");
                assert_class(&info, "write_sync", 20, 20 * 64, &label);
            }
        }
    }
}
