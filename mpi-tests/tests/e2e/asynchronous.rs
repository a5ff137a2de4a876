//! The workload measures its own waits; what `ftio info` says was lost and required agrees with it.

use crate::harness::installed_mpis;
use crate::traced::{Run, trace_workload_alone};

fn number(value: &serde_json::Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("not a number: {value}"))
}

/// Where the two accounts differ by more than the project's own measure, 10 % and a millisecond.
fn disagreement(run: &Run) -> Option<String> {
    ["write_async", "read_async"].into_iter().find_map(|class| {
        let lost =
            [&run.truth["total"][class], &run.info[class]].map(|account| number(&account["lost_time"]));
        let [truth, traced] = lost;
        let differ = (truth - traced).abs() > 0.1 * truth + 1e-3;
        differ.then(|| format!("{class}: lost {truth} s, traced {traced} s"))
    })
}

/// Between the program's reading of the clock and the tracer's, the machine may do something else for some milliseconds; it does
/// not do so every time.
const ATTEMPTS: usize = 4;

#[test]
fn waiting_at_once() {
    for mpi in installed_mpis() {
        for complete in ["wait", "waitall", "waitany", "waitsome"] {
            let shape =
                ["--access", "nonblocking", "--size", "1m", "--requests", "6", "--iterations", "4", "--read"];
            let args = [&shape[..], &["--complete", complete]].concat();
            let attempt = || {
                let run = trace_workload_alone(&mpi, 2, &args);
                let label = format!("{}, {complete}", mpi.name);
                assert_eq!(run.differences(), [""; 0], "{label}");
                let lost = number(&run.truth["total"]["write_async"]["lost_time"]);
                assert!(lost > 0.0, "{label}: nothing was lost");
                disagreement(&run).map(|found| format!("{label}: {found}"))
            };
            let mut found = Vec::new();
            while found.len() < ATTEMPTS
                && let Some(disagreement) = attempt()
            {
                found.push(disagreement);
            }
            assert!(found.len() < ATTEMPTS, "every time: {found:#?}");
        }
    }
}

#[test]
fn long_compute_with_tests_between_its_slices() {
    for mpi in installed_mpis() {
        // One request: some MPICHs abort when several are tested again after some completed.
        let args = ["--access", "nonblocking", "--overlap", "--compute", "0.4", "--slices", "20"];
        let args = [&args[..], &["--size", "1m", "--requests", "1", "--iterations", "3"]].concat();
        let run = trace_workload_alone(&mpi, 2, &args);
        assert_eq!(run.differences(), [""; 0], "{}", mpi.name);
        let (class, truth) = (&run.info["write_async"], &run.truth["total"]["write_async"]);
        let (required, actual) = (number(&class["required_bandwidth"]), number(&class["actual_bandwidth"]));
        // The actual bandwidth is only known to lie between two bounds: what the last unsuccessful test and the
        // successful one say.
        assert!(actual <= required, "{}: required {required}, actual {actual} at least", mpi.name);
        if let Some(most) = class["actual_upper"].as_f64() {
            assert!(required < most, "{}: required {required}, actual {most} at most", mpi.name);
        }
        let calls = number(&truth["issue_time"]) + number(&truth["wait_time"]) + number(&truth["test_time"]);
        let lost = number(&class["lost_time"]);
        assert!(lost <= 1.1 * calls + 1e-3, "{}: lost {lost}, all calls took {calls}", mpi.name);
    }
}

/// Without tests nothing completes the request before the wait, so the time required is the computation's.
#[test]
fn long_compute_before_the_wait() {
    for mpi in installed_mpis() {
        let args = ["--access", "nonblocking", "--overlap", "--compute", "0.3"];
        let run =
            trace_workload_alone(&mpi, 2, &[&args[..], &["--size", "64k", "--iterations", "3"]].concat());
        assert_eq!(run.differences(), [""; 0], "{}", mpi.name);
        let class = &run.info["write_async"];
        let (bytes, ops) = (number(&class["bytes"]), number(&class["ops"]));
        let time = bytes / number(&class["required_bandwidth"]) / ops;
        assert!(time >= 0.299, "{}: {time} s from issue to deadline", mpi.name);
    }
}
