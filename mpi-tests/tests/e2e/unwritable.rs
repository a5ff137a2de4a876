//! When the trace cannot be written, the program ends as it would have, and one line says why there is no
//! trace.

use crate::harness::{Mpi, installed_mpis, skip};
use crate::traced::{Scratch, names, traced};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A small file system of its own, which only root can make.
struct Mount(PathBuf);

impl Mount {
    fn new(path: PathBuf, options: &str) -> Option<Self> {
        fs::create_dir(&path).expect("the scratch directory can be written");
        let mount = Command::new("mount").args(["-t", "tmpfs", "-o", options, "tmpfs"]).arg(&path).output();
        if mount.is_ok_and(|output| output.status.success()) {
            Some(Mount(path))
        } else {
            skip("no permission to mount a small file system");
            None
        }
    }

    /// Leaves not one byte free.
    fn fill(&self) {
        let mut size = 1 << 20;
        for number in 0.. {
            // A write fails half-way on a full disk, and keeps what fitted.
            if fs::write(self.0.join(format!("filler{number}")), vec![0; size]).is_err() {
                size /= 16;
                if size == 0 {
                    return;
                }
            }
        }
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

/// The workload with `TMIO_OUTPUT` set to a place where it cannot be written.
fn runs_on(mpi: &Mpi, scratch: &Scratch, output: &Path, reason: &str) {
    let args =
        ["--compute", "0", "--iterations", "4", "--requests", "2000", "--size", "64", "--read", "--keep"];
    let job = |scratch: &Scratch| {
        mpi.job(2, mpi.program("workload")).args(args).args(["--dir".into(), scratch.data()])
    };
    let data = |scratch: &Scratch| {
        let [name] = &names(&scratch.data())[..] else { panic!("{}: not one file", mpi.name) };
        fs::read(scratch.data().join(name)).expect("the workload kept it")
    };
    let untraced = Scratch::new();
    assert!(job(&untraced).run().success());

    let label = format!("{}: {}", mpi.name, output.display());
    let outcome = traced(job(scratch), scratch).env("TMIO_OUTPUT", output).run();
    assert!(outcome.success(), "{label}: {outcome:?}");
    assert_eq!(outcome.json()["verified"], true, "{label}");
    assert!(data(scratch) == data(&untraced), "{label}: the program's file changed");
    assert_eq!(outcome.stderr.lines().count(), 1, "{label}: not one line: {}", outcome.stderr);
    for word in ["tmio", reason] {
        assert!(outcome.stderr.contains(word), "{label}: no {word:?} in {:?}", outcome.stderr);
    }
    assert!(!output.exists(), "{label}: there is a trace after all");
}

#[test]
fn directory_missing() {
    for mpi in installed_mpis() {
        let scratch = Scratch::new();
        runs_on(&mpi, &scratch, &scratch.path().join("missing/trace.msgpack"), "No such file or directory");
        assert!(!scratch.path().join("missing").exists());
    }
}

#[test]
fn directory_is_a_file() {
    for mpi in installed_mpis() {
        let scratch = Scratch::new();
        fs::write(scratch.path().join("file"), "").expect("the scratch directory can be written");
        runs_on(&mpi, &scratch, &scratch.path().join("file/trace.msgpack"), "Not a directory");
    }
}

#[test]
fn read_only() {
    for mpi in installed_mpis() {
        let scratch = Scratch::new();
        let Some(mount) = Mount::new(scratch.path().join("read-only"), "size=1m,ro") else { return };
        runs_on(&mpi, &scratch, &mount.0.join("trace.msgpack"), "Read-only file system");
    }
}

#[test]
fn disk_full() {
    for mpi in installed_mpis() {
        let scratch = Scratch::new();
        let Some(mount) = Mount::new(scratch.path().join("full"), "size=256k") else { return };
        mount.fill();
        runs_on(&mpi, &scratch, &mount.0.join("trace.msgpack"), "No space left on device");
    }
}

#[test]
fn disk_full_half_way() {
    for mpi in installed_mpis() {
        let scratch = Scratch::new();
        // Room for the beginning of the trace, not for the 16,000 operations of each rank.
        let Some(mount) = Mount::new(scratch.path().join("small"), "size=16k") else { return };
        runs_on(&mpi, &scratch, &mount.0.join("trace.msgpack"), "No space left on device");
    }
}

/// The spool is where a rank's current block lives; without it there may or may not be a trace, but the
/// program goes on and at most one line says why.
#[test]
fn spool_unusable() {
    for mpi in installed_mpis() {
        for place in ["missing", "file/below", "full"] {
            let scratch = Scratch::new();
            fs::write(scratch.path().join("file"), "").expect("the scratch directory can be written");
            let mount = if place == "full" {
                let Some(mount) = Mount::new(scratch.path().join("full"), "size=64k") else { continue };
                mount.fill();
                Some(mount)
            } else {
                None
            };
            let args = ["--compute", "0", "--read", "--requests", "500", "--size", "64", "--dir"];
            let job = mpi.job(2, mpi.program("workload")).args(args).args([scratch.data()]);
            let outcome = traced(job, &scratch).env("TMIO_SPOOL", scratch.path().join(place)).run();
            let label = format!("{}: spool at {place}", mpi.name);
            assert!(outcome.success(), "{label}: {outcome:?}");
            let lines: Vec<&str> = outcome.stderr.lines().collect();
            assert!(lines.len() <= 1 && lines.iter().all(|line| line.contains("tmio")), "{label}: {lines:?}");
            assert!(
                !lines.is_empty() || scratch.trace().is_file(),
                "{label}: neither a trace nor a word about it"
            );
            drop(mount);
        }
    }
}
