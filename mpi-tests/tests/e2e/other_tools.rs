//! Another PMPI tool in the same process sees all its calls, whichever of the two comes first.

use crate::harness::{installed_mpis, libtmio};
use crate::traced::{Scratch, info, traced};
use std::collections::BTreeMap;
use std::fs;
use tmio_trace::{Event, Trace, TraceLayer};

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

/// What the tool passes on to PMPI is not a second operation.
#[test]
fn metadata_behind_a_tool() {
    for mpi in installed_mpis() {
        let scratch = Scratch::new();
        let order = format!("{}:{}", libtmio().display(), mpi.program("pmpi_tool").display());
        let job = traced(mpi.job(2, mpi.program("metadata")).args([scratch.data()]), &scratch);
        let job = job.env("PMPI_TOOL_OUTPUT", scratch.path().join("tool")).env("LD_PRELOAD", &order);
        let outcome = job.run();
        assert!(outcome.success() && outcome.stderr.is_empty(), "{}: {outcome:?}", mpi.name);
        let mut kinds: BTreeMap<String, u32> = BTreeMap::new();
        let read = Trace::open(&scratch.trace()).expect("a trace").read(|event| {
            if let Event::Block(block) = event {
                // The tool writes a file of its own, by C streams.
                let mpi_io = block.operations.iter().filter(|op| op.kind.layer() == TraceLayer::MpiIo);
                for operation in mpi_io {
                    *kinds.entry(operation.kind.to_string()).or_default() += 1;
                }
            }
        });
        assert!(read.is_ok(), "{}: {read:?}", mpi.name);
        let expected = ["close", "open", "set_view", "sync", "write_at"].map(|kind| (kind.to_owned(), 20));
        assert_eq!(kinds.into_iter().collect::<Vec<_>>(), expected, "{}", mpi.name);
        let info = info(&scratch.trace());
        let files = info["files"].as_array().expect("a list").iter();
        let of_mpi_io = files.filter(|file| file["layer"].as_str().unwrap_or("mpiio") == "mpiio").count();
        assert_eq!(of_mpi_io, 20, "{}: one more would be unknown", mpi.name);
    }
}
