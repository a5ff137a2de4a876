//! A program in Rust, which reaches MPI and the kernel by the same functions as one in C, is counted as well.

use crate::harness::{installed_mpis, target_directory};
use crate::traced::{Scratch, info, traced};
use std::process::Command;

#[test]
fn its_own_library_writes() {
    for mpi in installed_mpis().into_iter().filter(|mpi| ["openmpi", "mpich"].contains(&mpi.name)) {
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/programs/written_in_rust.rs");
        let directory = target_directory().join("mpi-tests").join(mpi.name);
        std::fs::create_dir_all(&directory).unwrap();
        let program = directory.join("written_in_rust");
        let linker = format!("linker=mpicc.{}", mpi.name);
        let mut compile = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
        compile.args(["--edition", "2021", "-O", "-C", &linker, "-o"]).arg(&program).arg(source);
        let output = compile.output().expect("there is a Rust compiler");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        for ranks in [1, 3] {
            let scratch = Scratch::new();
            let job = mpi.job(ranks, &program).args([scratch.data()]);
            let outcome =
                traced(job, &scratch).env("TMIO_LAYERS", "mpiio,posix").env("TMIO_MIN_BYTES", "0").run();
            assert!(outcome.success() && outcome.stderr.is_empty(), "{}: {outcome:?}", mpi.name);
            let info = info(&scratch.trace());
            assert_eq!(info["write_sync"]["ops"], 10 * ranks, "{}", mpi.name);
            assert_eq!(info["write_sync"]["bytes"], 10_000 * ranks, "{}", mpi.name);
        }
    }
}
