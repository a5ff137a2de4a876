//! The workload in Rust, which reaches MPI through rsmpi, is counted exactly as well.

use crate::harness::{installed_mpis, skip, target_directory};
use crate::traced::trace_job;

#[test]
fn exact() {
    // rsmpi binds to one MPI when it is built; scripts/test builds it with the two that Debian has.
    for mpi in installed_mpis().into_iter().filter(|mpi| ["openmpi", "mpich"].contains(&mpi.name)) {
        let program = target_directory().join("mpi-tests").join(mpi.name).join("workload_rust");
        if !program.is_file() {
            skip(&format!("the Rust workload was not built with {}: scripts/test does", mpi.name));
            continue;
        }
        for access in ["blocking", "nonblocking", "collective"] {
            for ranks in [1, 2, 4] {
                let run = trace_job(mpi.job(ranks, &program), &["--access", access, "--read"]);
                assert_eq!(run.differences(), [""; 0], "{} on {ranks} ranks, {access}", mpi.name);
                assert!(run.truth["total"]["write_sync"]["ops"] != run.truth["total"]["write_async"]["ops"]);
            }
        }
    }
}
