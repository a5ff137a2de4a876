//! More than one MPI in a process, or none: a call goes where it would go without us, and an MPI is known
//! by what it is.

use crate::harness::{Mpi, installed_mpis, libtmio, plain_program, run_limited, skip};
use crate::traced::{Scratch, info, traced};
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

/// Two MPIs of different families, in both orders.
fn pairs() -> Vec<[Mpi; 2]> {
    let find = |name: &str| installed_mpis().into_iter().find(|mpi| mpi.name == name);
    match (find("openmpi"), find("mpich")) {
        (Some(one), Some(other)) => vec![[one, other], [other, one]],
        _ => {
            skip("this takes Open MPI and MPICH");
            Vec::new()
        }
    }
}

/// Runs the host program with some modules, traced; what the last one says, and the trace.
fn host(modules: &[PathBuf], scratch: &Scratch) -> crate::harness::Outcome {
    let mut command = Command::new(plain_program("hosts_modules"));
    command.arg(scratch.data()).args(modules).env("LD_PRELOAD", libtmio());
    command.env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
    command.env("TMIO_OUTPUT", scratch.trace()).env("TMIO_SPOOL", scratch.spool());
    run_limited(command, Duration::from_secs(60))
}

#[test]
fn two_modules_with_an_mpi_each() {
    for [unused, used] in pairs() {
        let scratch = Scratch::new();
        let outcome = host(&[unused.program("io_module"), used.program("io_module")], &scratch);
        assert!(outcome.success() && outcome.stderr.is_empty(), "{}: {outcome:?}", used.name);
        assert_eq!(outcome.stdout, "done\n", "{}", used.name);
        assert_eq!(info(&scratch.trace())["write_sync"]["ops"], 10, "{}", used.name);
    }
}

/// The program asked for MPI before it was there.
#[test]
fn an_mpi_that_is_loaded_late() {
    for mpi in installed_mpis().into_iter().filter(|mpi| ["openmpi", "mpich"].contains(&mpi.name)) {
        let scratch = Scratch::new();
        let outcome = host(&[mpi.program("io_module")], &scratch);
        assert!(outcome.success() && outcome.stderr.is_empty(), "{}: {outcome:?}", mpi.name);
        assert_eq!(outcome.stdout, "done\n", "{}", mpi.name);
        assert_eq!(info(&scratch.trace())["write_sync"]["ops"], 10, "{}", mpi.name);
    }
}

/// The other MPI is there for all to see, and nobody uses it.
#[test]
fn a_second_mpi_beside_the_first() {
    for [other, used] in pairs() {
        let scratch = Scratch::new();
        let module = other.program("io_module");
        let job = mpi_job(&used, &scratch, &module);
        let untraced = job.run();
        assert!(untraced.success(), "{}: without a tracer: {untraced:?}", used.name);
        let outcome = traced(job, &scratch).run();
        assert!(outcome.success() && outcome.stderr == untraced.stderr, "{}: {outcome:?}", used.name);
        assert_eq!(info(&scratch.trace())["write_sync"]["ops"], 20, "{}", used.name);
    }
}

fn mpi_job(mpi: &Mpi, scratch: &Scratch, library: &std::path::Path) -> crate::harness::Job {
    mpi.job(2, mpi.program("loads_a_library")).args([scratch.data(), library.to_path_buf()]).args(["all"])
}

#[test]
fn an_mpi_that_is_not_known() {
    let scratch = Scratch::new();
    let outcome = host(&[plain_program("unknown_mpi_module")], &scratch);
    assert!(outcome.success(), "{outcome:?}");
    assert_eq!(outcome.stdout, "done\n", "{outcome:?}");
    assert_eq!(outcome.stderr.lines().count(), 1, "{outcome:?}");
    assert!(outcome.stderr.contains("this MPI is not known"), "{outcome:?}");
    assert_eq!(scratch.traces(), [""; 0]);
}

#[test]
fn a_program_that_looks_for_an_mpi_and_finds_none() {
    let run = |preloaded: bool| {
        let mut command = Command::new(plain_program("looks_for_mpi"));
        if preloaded {
            command.env("LD_PRELOAD", libtmio());
        }
        run_limited(command, Duration::from_secs(30))
    };
    for outcome in [run(false), run(true)] {
        assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(0), "serial run\n"), "{}", outcome.stderr);
    }
}
