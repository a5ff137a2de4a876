//! `MPI_Pcontrol`: what began before a pause is recorded when it ends in it; what begins in it is not; 2
//! flushes.

use crate::harness::{Mpi, installed_mpis};
use crate::traced::{Scratch, info, traced};
use serde_json::Value;
use std::thread::sleep;
use std::time::{Duration, Instant};

fn trace(mpi: &Mpi, what: &str) -> Value {
    let scratch = Scratch::new();
    let outcome =
        traced(mpi.job(2, mpi.program("pauses")).args([scratch.data()]).args([what]), &scratch).run();
    assert!(outcome.success() && outcome.stderr.is_empty(), "{}, {what}: {outcome:?}", mpi.name);
    info(&scratch.trace())
}

#[test]
fn requests_that_are_completed_in_it() {
    for mpi in installed_mpis() {
        let class = &trace(&mpi, "async")["write_async"];
        assert_eq!((&class["ops"], &class["bytes"]), (&20.into(), &20_000.into()), "{}", mpi.name);
    }
}

/// Of two split collectives the first began before it and is recorded, with its own time; the second began
/// in it.
#[test]
fn split_collectives_across_its_borders() {
    for mpi in installed_mpis() {
        let class = &trace(&mpi, "split")["write_sync"];
        assert_eq!((&class["ops"], &class["bytes"]), (&2.into(), &2000.into()), "{}", mpi.name);
        // The two are half a second apart, so that one that was taken for the other lasts as long.
        assert!(class["time"].as_f64() < Some(0.5), "{}: {class}", mpi.name);
    }
}

#[test]
fn level_2_flushes_and_changes_nothing_else() {
    for mpi in installed_mpis() {
        let scratch = Scratch::new();
        let ready = scratch.data().join("ready");
        let job = mpi.job(1, mpi.program("pauses")).args([scratch.data()]).args(["flush"]);
        let mut parts = Vec::new();
        let outcome = traced(job, &scratch).run_with(|_| {
            let start = Instant::now();
            while !ready.is_file() && start.elapsed() < Duration::from_secs(60) {
                sleep(Duration::from_millis(10));
            }
            // The program does not wait for its flush, and does nothing more until it may go on.
            let directory = tmio_trace::reader::parts_path(&scratch.trace());
            while operations(&scratch, &parts) < 10 && start.elapsed() < Duration::from_secs(60) {
                sleep(Duration::from_millis(10));
                parts.clear();
                for entry in std::fs::read_dir(&directory).into_iter().flatten().flatten() {
                    parts.extend(std::fs::read(entry.path()).unwrap_or_default());
                }
            }
            let _ = std::fs::remove_file(&ready);
        });
        assert!(outcome.success(), "{}: {outcome:?}", mpi.name);
        assert_eq!(operations(&scratch, &parts), 10, "{}: on disk after the flush", mpi.name);
        assert_eq!(info(&scratch.trace())["write_sync"]["ops"], 10, "{}: still paused", mpi.name);
    }
}

/// Operations that moved something in the bytes of parts.
fn operations(scratch: &Scratch, parts: &[u8]) -> usize {
    let mut written = 0;
    let bytes = Box::new(std::io::Cursor::new(parts.to_vec()));
    let trace = tmio_trace::Trace::from_reader(&scratch.trace(), bytes);
    // Before the first flush there is nothing to read.
    let _ = trace.read(|event| {
        if let tmio_trace::Event::Block(block) = event {
            written += block.operations.iter().filter(|op| op.bytes > 0).count();
        }
    });
    written
}
