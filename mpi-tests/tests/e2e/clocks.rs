//! Ranks whose monotonic clocks differ, as they do on several nodes: here by time namespaces, which only root
//! can make.

use crate::harness::{Mpi, installed_mpis, run_limited, skip};
use crate::traced::{Scratch, info, traced};
use std::collections::BTreeMap;
use std::process::Command;
use std::time::Duration;
use tmio_trace::{Event, Trace};

const IN_A_NAMESPACE: &str = r#"
rank=${OMPI_COMM_WORLD_RANK:-$PMI_RANK}
exec unshare --time --monotonic $((rank * 100000)) --boottime $((rank * 100000)) --fork -- "$@""#;

fn may_shift_clocks() -> bool {
    let mut command = Command::new("unshare");
    command.args(["--time", "--monotonic", "100", "--fork", "--", "true"]);
    let able = run_limited(command, Duration::from_secs(20)).success();
    if !able {
        skip("no permission to make time namespaces");
    }
    able
}

/// Nanoseconds by which each rank's operations lie beside the truth: the nearest of 50, because between the
/// program's reading of the clock and the tracer's the machine may do something else.
/// Also the largest error that the trace itself admits, in nanoseconds.
fn errors(mpi: &Mpi, ranks: u32) -> (BTreeMap<u32, i64>, i64) {
    let scratch = Scratch::new();
    let program = mpi.program("stamps").to_str().expect("UTF-8").to_owned();
    let job = mpi.job(ranks, "/bin/sh").args(["-c", IN_A_NAMESPACE, "sh", &program]).args([scratch.data()]);
    let outcome = traced(job, &scratch).run();
    assert!(outcome.success() && outcome.stderr.is_empty(), "{}: {outcome:?}", mpi.name);
    let admitted = info(&scratch.trace())["clock"]["max_error"].as_f64().expect("a number");
    assert!(admitted > 0.0, "{}: no clocks compared", mpi.name);

    let mut truth: BTreeMap<u32, Vec<i64>> = BTreeMap::new();
    for line in outcome.stdout.lines() {
        let (rank, stamp) = line.split_once(' ').expect("rank and stamp");
        truth.entry(rank.parse().expect("a rank")).or_default().push(stamp.parse().expect("a stamp"));
    }
    let mut traced: BTreeMap<u32, Vec<i64>> = BTreeMap::new();
    let outcome = Trace::open(&scratch.trace()).expect("a trace").read(|event| {
        if let Event::Block(block) = event {
            let writes = block.operations.iter().filter(|op| op.bytes > 0).map(|op| op.start);
            traced.entry(block.rank).or_default().extend(writes);
        }
    });
    let start = outcome.expect("a whole trace").header.expect("a header").start;
    let error = |rank: u32| {
        let (truth, traced) = (&truth[&rank], &traced[&rank]);
        assert_eq!((truth.len(), traced.len()), (50, 50), "{}", mpi.name);
        truth.iter().zip(traced).map(|(stamp, time)| (start + time - stamp).abs()).min().unwrap_or(i64::MAX)
    };
    ((0..ranks).map(|rank| (rank, error(rank))).collect(), (admitted * 1e9) as i64)
}

#[test]
fn operations_of_all_ranks_align() {
    if !may_shift_clocks() {
        return;
    }
    for mpi in installed_mpis() {
        // Where ranks share a core, a round trip between them takes as long as the scheduler likes, and the
        // trace says so.
        let (errors, admitted) = errors(&mpi, 3);
        let most = admitted.max(1_000_000);
        assert!(
            errors.values().all(|&e| e < most),
            "{}: {errors:?} ns beside, {admitted} admitted",
            mpi.name
        );
    }
}
