//! Fortran programs reach MPI by other symbols than C does; they are counted exactly, once.

use crate::harness::{Lack, installed_mpis, skip};
use crate::traced::{Scratch, info, traced};

fn counted_once(program: &str) {
    for mpi in installed_mpis() {
        if mpi.lacks(Lack::Fortran) || (program.ends_with("f08") && mpi.lacks(Lack::FortranF08)) {
            continue;
        }
        if mpi.fortran().is_none() {
            skip(&format!("{} has no Fortran compiler", mpi.name));
            continue;
        }
        for ranks in [1, 4] {
            let scratch = Scratch::new();
            let name = scratch.data().join(format!("{program}_{}_{}.dat", mpi.name, std::process::id()));
            let outcome = traced(mpi.job(ranks, mpi.program(program)).args([name]), &scratch).run();
            assert!(outcome.success() && outcome.stderr.is_empty(), "{}: {outcome:?}", mpi.name);
            let info = info(&scratch.trace());
            for (class, ops, bytes) in
                [("write_sync", 10, 10_000), ("read_sync", 10, 10_000), ("write_async", 5, 500)]
            {
                assert_eq!(info[class]["ops"], ops * ranks, "{} {ranks} ranks: {class}", mpi.name);
                assert_eq!(info[class]["bytes"], bytes * ranks, "{} {ranks} ranks: {class}", mpi.name);
            }
            assert_eq!(info["complete"], true);
            assert_eq!(scratch.leftovers(), [""; 0]);
        }
    }
}

#[test]
fn mpif_h() {
    counted_once("fortran_mpif_h");
}

#[test]
fn use_mpi() {
    counted_once("fortran_use_mpi");
}

#[test]
fn use_mpi_f08() {
    counted_once("fortran_use_mpi_f08");
}
