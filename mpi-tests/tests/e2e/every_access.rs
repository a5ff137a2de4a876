//! Every data access routine of MPI is counted exactly: independent, collective, nonblocking and split, with
//! explicit offsets, individual and shared pointers.

use crate::harness::Mpi;
use crate::traced::{assert_exact, assert_exact_where};

fn exact_with_pointers(access: &str, pointers: &[&str]) {
    for pointer in pointers {
        assert_exact(&["--access", access, "--pointer", pointer, "--read", "--zero"]);
    }
}

#[test]
fn blocking() {
    exact_with_pointers("blocking", &["explicit", "individual", "shared"]);
}

#[test]
fn nonblocking() {
    exact_with_pointers("nonblocking", &["explicit", "individual", "shared"]);
}

#[test]
fn collective_and_ordered() {
    exact_with_pointers("collective", &["explicit", "individual", "shared"]);
}

#[test]
fn nonblocking_collective() {
    exact_with_pointers("nonblocking-collective", &["explicit", "individual"]);
}

#[test]
fn split_collective_and_split_ordered() {
    exact_with_pointers("split-collective", &["explicit", "individual", "shared"]);
}

/// The same with counts of type `MPI_Count`, which Open MPI 4 and 5 do not have.
mod large_counts {
    use super::*;

    fn exact(access: &str, pointers: &[&str]) {
        for pointer in pointers {
            let args = ["--access", access, "--pointer", pointer, "--read", "--large-count"];
            assert_exact_where(&args, Mpi::has_large_counts);
        }
    }

    #[test]
    fn blocking_and_nonblocking() {
        exact("blocking", &["explicit", "individual", "shared"]);
        exact("nonblocking", &["explicit", "individual", "shared"]);
    }

    #[test]
    fn collective() {
        exact("collective", &["explicit", "individual", "shared"]);
        exact("nonblocking-collective", &["explicit", "individual"]);
        exact("split-collective", &["explicit", "individual", "shared"]);
    }
}
