//! Every data access routine of MPI is counted exactly: independent, collective, nonblocking and split, with
//! explicit offsets, individual and shared pointers.

use crate::traced::assert_exact;

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
