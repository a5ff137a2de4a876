//! A program whose I/O goes past the layers that are recorded is told so, instead of getting an empty answer.

use crate::harness::installed_mpis;
use crate::traced::{run_ftio, trace_job, trace_workload};

#[test]
fn posix_only() {
    for mpi in installed_mpis() {
        let job = mpi.job(2, mpi.program("workload")).env("TMIO_LAYERS", "mpiio");
        let run = trace_job(job, &["--posix", "--size", "256k"]);
        let written = run.truth["total"]["posix"]["bytes_written"].as_u64().expect("a number");
        let coverage = &run.info["coverage"];
        assert_eq!(coverage["mpi_io_bytes"], 0, "{}", mpi.name);
        assert!(
            coverage["process_bytes"].as_u64() >= Some(written),
            "{}: {coverage}, {written} written",
            mpi.name
        );
        for arguments in [&["info"][..], &[]] {
            let outcome = run_ftio(arguments, &run.scratch.trace());
            let said = outcome.stdout.clone() + &outcome.stderr;
            assert!(outcome.success(), "{}: {outcome:?}", mpi.name);
            assert!(said.contains("POSIX") && said.contains("MPI-IO"), "{}: {arguments:?}: {said}", mpi.name);
        }
    }
}

#[test]
fn mpi_io() {
    for mpi in installed_mpis() {
        let run = trace_workload(&mpi, 2, &["--size", "256k"]);
        let coverage = &run.info["coverage"];
        assert_eq!(coverage["mpi_io_bytes"], run.truth["total"]["write_sync"]["bytes"], "{}", mpi.name);
        assert!(
            coverage["process_bytes"].as_u64() >= coverage["mpi_io_bytes"].as_u64(),
            "{}: {coverage}",
            mpi.name
        );
        let outcome = run_ftio(&["info"], &run.scratch.trace());
        assert!(!(outcome.stdout + &outcome.stderr).contains("POSIX"), "{}", mpi.name);
    }
}
