//! Runs a program under `libtmio.so` in a directory of its own and holds what `ftio` says against what the
//! program itself says.

use crate::harness::{Job, Mpi, Outcome, ftio, libtmio, run_limited, target_directory};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use tempfile::TempDir;

pub const CLASSES: [&str; 4] = ["write_sync", "read_sync", "write_async", "read_async"];

/// Fresh directories for a run: the program's files, the trace, and the tracer's spool.
#[derive(Debug)]
pub struct Scratch {
    directory: TempDir,
    spool: TempDir,
}

impl Scratch {
    pub fn new() -> Self {
        let directory = TempDir::new_in(target_directory().join("tmp")).expect("target/tmp can be written");
        for part in ["data", "traces"] {
            fs::create_dir(directory.path().join(part)).expect("target/tmp can be written");
        }
        let shm = Path::new("/dev/shm");
        let spool = if shm.is_dir() { TempDir::new_in(shm) } else { TempDir::new_in(directory.path()) };
        Scratch { directory, spool: spool.expect("a spool directory can be made") }
    }

    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    /// Where the program writes.
    pub fn data(&self) -> PathBuf {
        self.path().join("data")
    }

    pub fn trace(&self) -> PathBuf {
        self.path().join("traces/trace.msgpack")
    }

    pub fn spool(&self) -> &Path {
        self.spool.path()
    }

    /// What is in the trace's directory, by name.
    pub fn traces(&self) -> Vec<String> {
        names(&self.path().join("traces"))
    }

    /// The tracer's own files that should not outlive a job.
    pub fn leftovers(&self) -> Vec<String> {
        let beside = self.traces().into_iter().filter(|name| name != "trace.msgpack");
        beside.chain(names(self.spool())).collect()
    }
}

pub fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap_or_else(|error| panic!("{}: {error}", directory.display()));
    let mut names: Vec<String> =
        entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// Preloads the tracer into the ranks of a job.
pub fn traced(job: Job, scratch: &Scratch) -> Job {
    job.env("LD_PRELOAD", libtmio()).env("TMIO_OUTPUT", scratch.trace()).env("TMIO_SPOOL", scratch.spool())
}

pub fn run_ftio(args: &[&str], trace: &Path) -> Outcome {
    let mut command = Command::new(ftio());
    command.args(args).arg(trace);
    run_limited(command, Duration::from_secs(60))
}

/// `ftio info --json TRACE`, which must succeed.
pub fn info(trace: &Path) -> Value {
    let outcome = run_ftio(&["info", "--json"], trace);
    assert!(outcome.success(), "ftio info {}: {outcome:?}", trace.display());
    outcome.json()
}

/// The workload's own account of a run, and the tracer's.
#[derive(Debug)]
pub struct Run {
    pub truth: Value,
    pub info: Value,
    pub scratch: Scratch,
}

/// Runs the C workload, traced, with no computation unless `args` ask for some.
pub fn trace_workload(mpi: &Mpi, ranks: u32, args: &[&str]) -> Run {
    trace_job(mpi.job(ranks, mpi.program("workload")), args)
}

/// The same while no other job runs, for what is measured in seconds.
pub fn trace_workload_alone(mpi: &Mpi, ranks: u32, args: &[&str]) -> Run {
    trace_job(mpi.job(ranks, mpi.program("workload")).alone(), args)
}

/// A job whose program takes the workload's arguments.
pub fn trace_job(job: Job, args: &[&str]) -> Run {
    let scratch = Scratch::new();
    let label = format!("{job}, {}", args.join(" "));
    let job = job.args(["--compute", "0", "--iterations", "3", "--size", "4k"]);
    let job = job.args(args.iter().copied()).args(["--dir", scratch.data().to_str().expect("UTF-8")]);
    let outcome = traced(job, &scratch).run();
    assert!(outcome.success(), "{label}: the traced program failed: {outcome:?}");
    assert_eq!(outcome.stderr, "", "{label}: nothing was wrong, so nothing should have been said");
    assert_eq!(scratch.leftovers(), [""; 0], "{label}: left behind after a normal end");
    let truth = outcome.json();
    // Otherwise the test would ask the tracer for something MPI itself did not know.
    assert_eq!(truth["total"]["status_mismatches"], 0, "{label}: this MPI's statuses are not true here");
    Run { truth, info: info(&scratch.trace()), scratch }
}

/// When the phases began, by the workload's own account.
pub fn phase_starts(truth: &Value) -> Vec<f64> {
    truth["phase_starts"].as_array().expect("a list").iter().filter_map(Value::as_f64).collect()
}

impl Run {
    /// Every difference between the two accounts.
    pub fn differences(&self) -> Vec<String> {
        let mut found = Vec::new();
        let mut compare = |what: &str, truth: &Value, traced: &Value| {
            if truth != traced {
                found.push(format!("{what}: truth {truth}, traced {traced}"));
            }
        };
        compare("ranks", &self.truth["ranks"], &self.info["ranks"]);
        compare("complete", &Value::Bool(true), &self.info["complete"]);
        // What MPI-IO does by POSIX is not the program's.
        let posix = &self.truth["total"]["posix"];
        for (way, number, amount) in [("write", "writes", "bytes_written"), ("read", "reads", "bytes_read")] {
            let of =
                |layer: &str, figure: &str| self.info["layers"][layer][way][figure].as_u64().unwrap_or(0);
            // A program that does nothing by POSIX need not say so.
            let told = |figure: &str| posix[figure].as_u64().unwrap_or(0).into();
            compare(&format!("posix {way} ops"), &told(number), &of("posix", "ops").into());
            compare(&format!("posix {way} bytes"), &told(amount), &of("posix", "bytes").into());
            compare(&format!("stdio {way} bytes"), &0.into(), &of("stdio", "bytes").into());
        }
        if posix["writes"].as_u64() > Some(0) {
            // The classes are those of POSIX, as there is no MPI-IO.
            return found;
        }
        for class in CLASSES {
            for figure in ["ops", "bytes"] {
                let truth = &self.truth["total"][class][figure];
                compare(&format!("{class}.{figure}"), truth, &self.info[class][figure]);
            }
        }
        found
    }
}

/// Traces the workload under each MPI on several numbers of ranks, and fails with every difference found.
pub fn assert_exact(args: &[&str]) {
    assert_exact_where(args, |_| true);
}

/// The same, only under those MPIs that can do what `args` ask for.
pub fn assert_exact_where(args: &[&str], able: fn(&Mpi) -> bool) {
    let mut wrong = Vec::new();
    for mpi in crate::harness::installed_mpis().iter().filter(|mpi| able(mpi)) {
        for &ranks in mpi.rank_counts() {
            let differences = trace_workload(mpi, ranks, args).differences();
            wrong.extend(differences.into_iter().map(|difference| {
                format!("{} on {ranks} ranks, {}: {difference}", mpi.name, args.join(" "))
            }));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}
