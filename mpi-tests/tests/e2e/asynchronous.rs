//! The workload measures its own waits; what `ftio info` says was lost and required agrees with it.

use crate::harness::installed_mpis;
use crate::traced::{Run, trace_workload_alone};

fn number(value: &serde_json::Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("not a number: {value}"))
}

/// The program reads its clock before and after each call, the tracer inside: it can never see more time
/// lost than the program, whatever else the machine does between the two readings. What it must see is that
/// the calls took time.
fn assert_lost_is_within_the_calls(run: &Run, label: &str) {
    for class in ["write_async", "read_async"] {
        let [truth, traced] =
            [&run.truth["total"][class], &run.info[class]].map(|account| number(&account["lost_time"]));
        assert!(traced <= truth + 1e-6, "{label}, {class}: lost {truth} s, traced {traced} s");
        assert!(truth == 0.0 || traced > 0.0, "{label}, {class}: lost {truth} s, traced {traced} s");
    }
}

#[test]
fn waiting_at_once() {
    for mpi in installed_mpis() {
        for complete in ["wait", "waitall", "waitany", "waitsome"] {
            let shape =
                ["--access", "nonblocking", "--size", "1m", "--requests", "6", "--iterations", "4", "--read"];
            let run = trace_workload_alone(&mpi, 2, &[&shape[..], &["--complete", complete]].concat());
            let label = format!("{}, {complete}", mpi.name);
            assert_eq!(run.differences(), [""; 0], "{label}");
            assert!(
                number(&run.truth["total"]["write_async"]["lost_time"]) > 0.0,
                "{label}: nothing was lost"
            );
            assert_lost_is_within_the_calls(&run, &label);
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
        let calls = number(&truth["issue_time"]) + number(&truth["wait_time"]) + number(&truth["test_time"]);
        let lost = number(&class["lost_time"]);
        assert!(lost <= calls + 1e-6, "{}: lost {lost}, all calls took {calls}", mpi.name);
        // Tests after each twentieth of 0.4 s: no request is done before the first of them.
        let least = number(&class["bytes"]) / number(&class["actual_bandwidth"]) / 6.0;
        assert!(least >= 0.4 / 20.0, "{}: {least} s from issue to the test that said it was done", mpi.name);
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
        // The requests of a rank in an iteration overlap: two ranks and three iterations are six phases.
        let time = number(&class["bytes"]) / number(&class["required_bandwidth"]) / 6.0;
        assert!(time >= 0.299, "{}: {time} s from issue to deadline", mpi.name);
    }
}
