//! From runs at several scales to formulas: `ftio scale … | ftio model -` says of the workload what it was
//! told to do.

use crate::harness::{Mpi, Outcome, ftio, installed_mpis, run_limited};
use crate::traced::{Scratch, traced};
use serde_json::Value;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

const RANKS: [u32; 4] = [1, 2, 4, 8];

/// Runs the program at every scale, traced; the traces in the order of [`RANKS`].
fn runs(mpi: &Mpi, program: &Path, args: &[&str], scratch: &Scratch) -> Vec<PathBuf> {
    let run = |ranks: u32| {
        // The name says nothing of the number of ranks: it must come from the trace.
        let letter = char::from(b'a' + ranks as u8);
        let trace = scratch.path().join("traces").join(format!("run-{letter}.msgpack"));
        let job = mpi.job(ranks, program).args(args.iter().copied()).args(["--dir"]).args([scratch.data()]);
        let outcome = traced(job, scratch).env("TMIO_OUTPUT", &trace).run();
        assert!(outcome.success(), "{} on {ranks} ranks: {outcome:?}", mpi.name);
        trace
    };
    RANKS.into_iter().map(run).collect()
}

fn shell(script: &str, traces: &[PathBuf]) -> Outcome {
    let mut command = Command::new("sh");
    command.args(["-ec", script]).arg(ftio()).args(traces);
    run_limited(command, Duration::from_secs(120))
}

fn json_lines(outcome: &Outcome) -> Vec<Value> {
    assert!(outcome.success(), "{outcome:?}");
    let parse = |line: &str| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
    outcome.stdout.lines().map(parse).collect()
}

fn find<'a>(models: &'a [Value], callpath: &str, metric: &str) -> &'a Value {
    models
        .iter()
        .find(|model| model["callpath"] == callpath && model["metric"] == metric)
        .unwrap_or_else(|| panic!("no model of {callpath}, {metric}"))
}

/// The model is `factor · Processes`, exactly.
fn assert_proportional(models: &[Value], callpath: &str, metric: &str, factor: f64) {
    let model = find(models, callpath, metric);
    let terms = serde_json::json!([{
        "coefficient": factor,
        "factors": [{"parameter": "Processes", "exponent": "1", "log_exponent": 0}],
    }]);
    assert_eq!(model["terms"], terms, "{model}");
    assert_eq!(model["constant"], 0.0, "{model}");
    assert_eq!(model["points"], 4, "{model}");
}

/// The model is a constant, exactly.
fn assert_constant(models: &[Value], callpath: &str, metric: &str, value: f64) {
    let model = find(models, callpath, metric);
    assert_eq!((&model["terms"], &model["constant"]), (&serde_json::json!([]), &value.into()), "{model}");
}

#[test]
fn bytes_are_linear_in_the_ranks() {
    for mpi in installed_mpis() {
        let scratch = Scratch::new();
        let args = ["--compute", "0", "--iterations", "3", "--requests", "2", "--size", "4k"];
        let traces = runs(&mpi, &mpi.program("workload"), &args, &scratch);
        let models = json_lines(&shell("\"$0\" scale \"$@\" | \"$0\" model - --json", &traces));
        assert_proportional(&models, "write_sync->total_bytes", "Size (B)", 6.0 * 4096.0);
        assert_proportional(&models, "function->write_at", "Size (B)", 6.0 * 4096.0);
        assert_proportional(&models, "file->workload_#_#_#.dat->written", "Size (B)", 6.0 * 4096.0);
        assert_constant(&models, "write_sync->max_bytes_per_rank", "Size (B)", 6.0 * 4096.0);
    }
}

/// The I/O skeleton of the ADMIRE project is configured by its name: fifteen iterations that alternate are
/// eight writes and seven reads.
#[test]
fn eight_writes_and_seven_reads() {
    const SIZE: f64 = 65536.0;
    for mpi in installed_mpis() {
        let scratch = Scratch::new();
        let link = scratch.path().join("ioskel.2ms.64k.15.100");
        symlink(mpi.program("workload"), &link).expect("a link can be made");
        let traces = runs(&mpi, &link, &[], &scratch);

        // One run after the other, each refining the file.
        let script =
            "out=\"$1.jsonl\"; for t; do \"$0\" scale -o \"$out\" \"$t\"; done; \"$0\" model --json \"$out\"";
        let models = json_lines(&shell(script, &traces));
        assert_proportional(&models, "write_sync->total_bytes", "Size (B)", 8.0 * SIZE);
        assert_proportional(&models, "read_sync->total_bytes", "Size (B)", 7.0 * SIZE);
        assert_proportional(&models, "write_sync->total_io_ops", "Hits", 8.0);
        assert_proportional(&models, "read_sync->total_io_ops", "Hits", 7.0);
        assert_constant(&models, "write_sync->max_io_ops_per_rank", "Hits", 8.0);
        assert_constant(&models, "read_sync->max_bytes_per_phase", "Size (B)", SIZE);
    }
}

/// Writes behind computation, reads that are waited for at once: required and actual bandwidth and lost time
/// against ranks.
#[test]
fn required_and_actual_bandwidth_against_ranks() {
    for mpi in installed_mpis() {
        let scratch = Scratch::new();
        let args =
            ["--access", "nonblocking", "--overlap", "--compute", "0.03", "--iterations", "4", "--read"];
        let traces = runs(&mpi, &mpi.program("workload"), &args, &scratch);
        let measured = json_lines(&shell("\"$0\" scale \"$@\"", &traces));
        for direction in ["write", "read"] {
            let figures = ["required_bandwidth", "actual_bandwidth", "lost_time"];
            for callpath in figures.map(|figure| format!("{direction}_async->{figure}")) {
                let values: Vec<&Value> =
                    measured.iter().filter(|line| line["callpath"] == callpath.as_str()).collect();
                let ranks: Vec<u64> =
                    values.iter().filter_map(|line| line["params"]["Processes"].as_u64()).collect();
                assert_eq!(ranks, [1, 2, 4, 8], "{}, {callpath}", mpi.name);
                let above_zero = |line: &&Value| line["value"].as_f64().is_some_and(|value| value > 0.0);
                assert!(values.iter().all(above_zero), "{}: {values:?}", mpi.name);
                // What is written behind 0.03 s of computation has at least that long.
                if callpath == "write_async->required_bandwidth" {
                    let most = |line: &&&Value| {
                        let ranks = line["params"]["Processes"].as_f64().unwrap_or(0.0);
                        line["value"].as_f64() > Some(1.001 * ranks * 4.0 * 65536.0 / 0.03)
                    };
                    assert_eq!(values.iter().find(most), None, "{}, {callpath}", mpi.name);
                }
            }
        }
        let models =
            json_lines(&shell("\"$0\" scale \"$@\" | \"$0\" model - --json --evaluate p=64", &traces));
        for mode in ["write_async_b->B_A", "write_async_t->T_A", "read_async_b->B_A", "read_async_t->T_A"] {
            let model = find(&models, mode, "Bandwidth (B/s)");
            assert_eq!(model["points"], 4, "{model}");
            assert!(model["predictions"][0]["value"].is_f64(), "{model}");
        }
        let requests = 4.0 * 4.0;
        assert_proportional(&models, "write_async_t->total_bytes", "Size (B)", requests * 65536.0);
        assert_proportional(&models, "read_async_b->total_io_ops", "Hits", requests);
        assert_constant(&models, "write_async_b->max_io_ops_in_phase", "Hits", 4.0);
    }
}

#[test]
fn a_name_that_makes_no_sense() {
    for mpi in installed_mpis() {
        let scratch = Scratch::new();
        for name in ["ioskel.1.64k", "ioskel.1.64k.x", "ioskel.1.64k.3.101", "ioskel.1.64k.3.50.7"] {
            let link = scratch.path().join(name);
            symlink(mpi.program("workload"), &link).expect("a link can be made");
            let outcome = mpi.job(1, &link).run();
            assert_eq!(outcome.code, Some(2), "{}, {name}: {outcome:?}", mpi.name);
            assert!(outcome.stderr.contains(name), "{}: {outcome:?}", mpi.name);
        }
    }
}
