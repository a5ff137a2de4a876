//! Another PMPI tool in the same process sees all its calls, whichever of the two comes first.

use crate::harness::{installed_mpis, libtmio};
use crate::traced::{Scratch, info, traced};
use std::fs;

#[test]
fn both_orders() {
    for mpi in installed_mpis() {
        let tool = mpi.program("pmpi_tool");
        let (tool, tmio) = (tool.display(), libtmio());
        let tmio = tmio.display();
        for order in [format!("{tmio}:{tool}"), format!("{tool}:{tmio}")] {
            let scratch = Scratch::new();
            let args = ["--compute", "0", "--iterations", "3", "--requests", "5", "--read", "--dir"];
            let job = mpi.job(2, mpi.program("workload")).args(args).args([scratch.data()]);
            let job = traced(job, &scratch).env("PMPI_TOOL_OUTPUT", scratch.path().join("tool"));
            let outcome = job.env("LD_PRELOAD", &order).run();
            assert!(outcome.success() && outcome.stderr.is_empty(), "{order}: {outcome:?}");
            for rank in 0..2 {
                let seen =
                    fs::read_to_string(scratch.path().join(format!("tool.{rank}"))).unwrap_or_default();
                assert_eq!(seen.trim(), "15", "{}: what the tool saw on rank {rank}, {order}", mpi.name);
            }
            let info = info(&scratch.trace());
            assert_eq!(info["write_sync"]["ops"], 30, "{}: {order}", mpi.name);
            assert_eq!(info["read_sync"]["ops"], 30, "{}: {order}", mpi.name);
        }
    }
}
