//! Operations and bytes of every class are exactly the program's own, for each MPI on 1, 2 and 4 ranks.

use crate::harness::{Lack, installed_mpis};
use crate::traced::{assert_exact, assert_exact_where, trace_workload};

#[test]
fn blocking() {
    assert_exact(&["--access", "blocking", "--read"]);
}

#[test]
fn statuses_ignored() {
    assert_exact(&["--access", "blocking", "--read", "--ignore-status"]);
    assert_exact(&["--access", "nonblocking", "--read", "--ignore-status"]);
}

#[test]
fn collective_with_derived_datatype() {
    assert_exact(&["--access", "collective", "--datatype", "vector", "--read"]);
    assert_exact(&["--access", "collective", "--datatype", "vector", "--pointer", "individual", "--read"]);
}

#[test]
fn zero_bytes() {
    assert_exact(&["--access", "blocking", "--zero", "--read"]);
    assert_exact(&["--access", "nonblocking", "--zero", "--read"]);
    assert_exact(&["--access", "collective", "--zero", "--requests", "0"]);
}

#[test]
fn short_reads() {
    assert_exact(&["--short-read", "--pointer", "explicit"]);
    assert_exact(&["--short-read", "--pointer", "individual", "--ignore-status"]);
    assert_exact_where(&["--short-read", "--access", "nonblocking"], |mpi| {
        !mpi.lacks(Lack::NonblockingReadBeyondEnd)
    });
}

#[test]
fn two_files_one_per_process_and_flushes() {
    assert_exact(&["--files", "2", "--read"]);
    assert_exact(&["--layout", "per-process", "--read", "--access", "collective"]);
    assert_exact(&["--flush", "--read"]);
}

#[test]
fn each_file_has_its_own_bytes() {
    for mpi in installed_mpis() {
        let run = trace_workload(&mpi, 2, &["--files", "2", "--requests", "2", "--zero", "--read", "--keep"]);
        let files = run.info["files"].as_array().expect("files is an array");
        for truth in run.truth["files"].as_array().expect("files is an array") {
            let name = truth["name"].as_str().expect("a name");
            let traced: Vec<_> = files.iter().filter(|file| file["name"] == truth["name"]).collect();
            assert_eq!(traced.len(), 1, "{}: {name} in {files:?}", mpi.name);
            assert_eq!(traced[0]["bytes_written"], truth["size"], "{}: {name}", mpi.name);
            assert_eq!(traced[0]["bytes_read"], truth["size"], "{}: {name}", mpi.name);
        }
        assert_eq!(files.len(), 2, "{}: {files:?}", mpi.name);
    }
}

#[test]
fn threads() {
    assert_exact(&["--threads", "4", "--requests", "50", "--size", "512", "--read"]);
    assert_exact_where(
        &["--threads", "4", "--requests", "20", "--size", "512", "--access", "nonblocking"],
        |mpi| !mpi.lacks(Lack::RequestsInThreads),
    );
}

/// Nonblocking requests completed by each of MPI's eight functions, from the variables they were issued to
/// and from copies.
mod completed_by {
    use super::*;

    fn both_ways(function: &str) {
        assert_exact(&["--access", "nonblocking", "--complete", function, "--read"]);
        assert_exact(&["--access", "nonblocking", "--complete", function, "--read", "--copy-request"]);
    }

    #[test]
    fn wait() {
        both_ways("wait");
    }

    #[test]
    fn waitall() {
        both_ways("waitall");
    }

    #[test]
    fn waitany() {
        both_ways("waitany");
    }

    #[test]
    fn waitsome() {
        both_ways("waitsome");
    }

    #[test]
    fn test() {
        both_ways("test");
    }

    #[test]
    fn testall() {
        let args = ["--access", "nonblocking", "--complete", "testall", "--copy-request", "--read"];
        assert_exact_where(&args, |mpi| !mpi.lacks(Lack::RepeatedTestall));
        assert_exact(&[&args[..], &["--requests", "1", "--iterations", "10"]].concat());
    }

    #[test]
    fn testany() {
        both_ways("testany");
    }

    #[test]
    fn testsome() {
        both_ways("testsome");
    }
}
