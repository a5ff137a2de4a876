//! What `ftio` does with traces that are cut short, and with what is no trace at all.

use crate::harness::{Outcome, installed_mpis};
use crate::traced::{Scratch, run_ftio, trace_workload};
use std::fs;
use std::path::Path;

fn info(trace: &Path) -> Outcome {
    run_ftio(&["info", "--json"], trace)
}

#[test]
fn cut_short() {
    let Some(mpi) = installed_mpis().into_iter().next() else { return };
    let run = trace_workload(&mpi, 4, &["--requests", "100"]);
    let whole = fs::read(run.scratch.trace()).expect("it was just written");
    let truth = run.truth["total"]["write_sync"]["ops"].as_u64().expect("a number");
    let cut = run.scratch.path().join("cut.msgpack");
    let mut used = 0;
    for eighth in 0..8 {
        for less in [0, 1, 7] {
            let length = (whole.len() - 1) * (8 - eighth) / 8 - less;
            fs::write(&cut, &whole[..length]).expect("target/tmp can be written");
            let outcome = info(&cut);
            let label = format!("{length} of {} bytes", whole.len());
            assert!(!outcome.stderr.contains("panicked"), "{label}: {outcome:?}");
            match outcome.code {
                Some(0) => {
                    let info = outcome.json();
                    let ops = info["write_sync"]["ops"].as_u64().expect("a number");
                    assert_eq!(info["complete"], false, "{label}");
                    assert!(ops <= truth, "{label}: {ops} operations of {truth}");
                    assert_eq!(outcome.stderr.lines().count(), 1, "{label}: not one warning: {outcome:?}");
                    used += 1;
                }
                Some(1) => assert!(outcome.stderr.contains("cut.msgpack"), "{label}: {outcome:?}"),
                _ => panic!("{label}: {outcome:?}"),
            }
        }
    }
    assert!(used > 3, "of 24 cut traces only {used} could be used");
    fs::write(&cut, &whole[..whole.len() - 1]).expect("target/tmp can be written");
    let ops = info(&cut).json()["write_sync"]["ops"].as_u64();
    assert!(ops > Some(0), "one missing byte at the end lost every operation");
}

#[test]
fn no_trace() {
    let scratch = Scratch::new();
    let path = |name: &str| scratch.path().join(name);
    fs::write(path("empty"), "").expect("target/tmp can be written");
    fs::write(path("text"), "period 3 s\nconfidence 80 %\n").expect("target/tmp can be written");
    fs::write(path("bytes"), (0..=255).cycle().take(5000).collect::<Vec<u8>>())
        .expect("target/tmp can be written");
    fs::create_dir(path("directory")).expect("target/tmp can be written");
    for name in ["empty", "text", "bytes", "directory", "missing"] {
        for args in [&["info", "--json"][..], &["--json"]] {
            let outcome = run_ftio(args, &path(name));
            assert_eq!(outcome.code, Some(1), "{name} {args:?}: {outcome:?}");
            assert_eq!(outcome.stdout, "", "{name} {args:?}: {outcome:?}");
            assert!(outcome.stderr.contains(name), "{name} {args:?}: {outcome:?}");
            assert!(!outcome.stderr.contains("panicked"), "{name} {args:?}: {outcome:?}");
        }
    }
}
