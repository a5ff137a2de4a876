//! Predictions while the job runs: the paper's HACC-IO run (III-B c) scaled down, with ten phases of which
//! the first is delayed.

use crate::harness::{Mpi, Outcome, ftio, installed_mpis, libtmio, run_alone};
use crate::traced::{Scratch, phase_starts, traced};
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::JoinHandle;
use std::time::Duration;

/// Compute, write, read, verify, ten times.
const SHAPE: [&str; 11] = [
    "--iterations",
    "10",
    "--compute",
    "0.8",
    "--paced",
    "--size",
    "4k",
    "--requests",
    "2500",
    "--read",
    "--dir",
];

/// The paper: 8.66 against 8.7 s.
const TOLERANCE: f64 = 0.01;

/// `ftio predict --json --until-complete` beside a job, from before it begins.
struct Predicting {
    child: Child,
    predictions: JoinHandle<Vec<Value>>,
}

impl Predicting {
    fn start(trace: &Path) -> Self {
        let mut child = Command::new(ftio())
            .args(["predict", "--json", "--until-complete", "-m", "write"])
            .arg(trace)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .expect("ftio can be run");
        let lines = BufReader::new(child.stdout.take().expect("piped")).lines();
        let predictions = std::thread::spawn(move || {
            lines.map(|line| serde_json::from_str(&line.expect("UTF-8")).expect("JSON")).collect()
        });
        Predicting { child, predictions }
    }

    /// It ends with the job.
    fn end(mut self) -> Vec<Value> {
        let status = self.child.wait().expect("it is our child");
        assert!(status.success(), "ftio predict: {status}");
        self.predictions.join().expect("reader")
    }
}

/// Predictions and the workload's own account. Phases begin by the clock: a busy machine delays one and not
/// all that follow.
fn followed(mpi: &Mpi, flush: &str, args: &[&str]) -> (Vec<Value>, Value) {
    let scratch = Scratch::new();
    let job = mpi.job(2, mpi.program("workload")).args(SHAPE).args([scratch.data()]);
    // Ranks that wait should leave the core to those that do not.
    let job = job.args(args.iter().copied()).env("OMPI_MCA_mpi_yield_when_idle", "1");
    let predicting = Predicting::start(&scratch.trace());
    let outcome = traced(job, &scratch).alone().env("TMIO_FLUSH", flush).run();
    assert!(outcome.success() && outcome.stderr.is_empty(), "{}: {outcome:?}", mpi.name);
    (predicting.end(), outcome.json())
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or(f64::NAN)
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Windows begin later and later.
fn assert_window_adapts(predictions: &[Value], label: &str) {
    let begins: Vec<f64> = predictions.iter().map(|found| number(&found["window"][0])).collect();
    assert!(begins.is_sorted(), "{label}: {begins:?}");
    let mut steps = begins.clone();
    steps.dedup();
    assert!(steps.len() >= 2 && begins[0] == 0.0, "{label}: the window stayed: {begins:?}");
}

/// The mean of the predicted periods is that of the distances of those phases that each prediction has
/// seen. Predictions of fewer than three phases do not count, and none that is later may be missing.
fn assert_mean_period(predictions: &[Value], starts: &[f64], label: &str) {
    let mut found = Vec::new();
    let mut truth = Vec::new();
    for prediction in predictions {
        let window = [number(&prediction["window"][0]), number(&prediction["window"][1])];
        let seen: Vec<f64> =
            starts.iter().copied().filter(|start| (window[0]..window[1]).contains(start)).collect();
        if let ([first, _, .., last], Some(period)) = (&seen[..], prediction["period"].as_f64()) {
            found.push(period);
            truth.push((last - first) / (seen.len() - 1) as f64);
        }
    }
    let (predicted, real) = (mean(&found), mean(&truth));
    eprintln!(
        "{label}: mean predicted period {predicted:.4} s, truth {real:.4} s, of {} predictions",
        found.len()
    );
    assert!(found.len() * 2 > predictions.len(), "{label}: too few of {}", predictions.len());
    assert!((predicted / real - 1.0).abs() < TOLERANCE, "{label}: predicted {predicted}, truth {real}");
    let (last, real) = (found[found.len() - 1], truth[truth.len() - 1]);
    assert!((last / real - 1.0).abs() < 0.05, "{label}: converged to {last}, truth {real}");
}

/// `iotrace_summary()` after each phase, as in the paper.
#[test]
fn a_first_phase_that_begins_late() {
    for mpi in installed_mpis() {
        let (predictions, truth) = followed(&mpi, "finalize", &["--flush", "--delay", "1"]);
        let label = format!("{}: {}", mpi.name, summary(&predictions));
        // One for each phase, and one for the end; more if a rank is so late that the other one is taken
        // alone.
        assert!(predictions.len() >= 10, "{label}");
        assert_window_adapts(&predictions, &label);
        let starts = phase_starts(&truth);
        assert_mean_period(&predictions, &starts, &label);
        // The later phases were foreseen.
        let mut off: Vec<f64> = Vec::new();
        for prediction in predictions.iter().skip(5) {
            let next = starts.iter().find(|start| **start > number(&prediction["t"]));
            if let (Some(begun), Some(period)) = (next, prediction["period"].as_f64()) {
                off.push(((number(&prediction["next_phase"]["start"]) - begun) / period).abs());
            }
        }
        off.sort_by(f64::total_cmp);
        assert!(off.len() >= 3 && off[off.len() / 2] < 0.25, "{label}: off by {off:?} periods");
    }
}

/// A first phase that takes longer than a period, and more of the others; flushes by themselves, in a
/// program that knows nothing of them.
#[test]
fn a_first_phase_that_takes_long() {
    for mpi in installed_mpis().into_iter().rev().take(1) {
        let (predictions, truth) =
            followed(&mpi, "interval:0.25", &["--prolong", "0.6", "--iterations", "14"]);
        let label = format!("{}: {}", mpi.name, summary(&predictions));
        assert!(predictions.len() >= 20, "{label}");
        assert_window_adapts(&predictions, &label);
        let starts = phase_starts(&truth);
        // Once the first phase is out of sight, only the distances of the others count.
        let later = predictions.iter().position(|found| number(&found["window"][0]) > starts[0] + 0.6);
        let later = later.unwrap_or_else(|| panic!("{label}: the first phase stays in sight"));
        assert!(predictions.len() - later >= 6, "{label}");
        assert_mean_period(&predictions[later..], &starts, &label);
    }
}

fn summary(predictions: &[Value]) -> String {
    let short = |found: &Value| format!("{}: {} since {}", found["t"], found["period"], found["window"][0]);
    predictions.iter().map(short).collect::<Vec<_>>().join("; ")
}

/// One command for all of it.
#[test]
fn run_traces_predicts_and_detects() {
    for mpi in installed_mpis().into_iter().take(1) {
        let scratch = Scratch::new();
        let job = mpi.job(2, mpi.program("workload")).args(SHAPE).args([scratch.data()]);
        let launch = job.env("TMIO_SPOOL", scratch.spool()).command();
        let mut command = Command::new(ftio());
        command.args(["run", "--flush", "interval:0.25", "-o"]).arg(scratch.trace()).arg("--library");
        command.arg(libtmio()).arg("--").arg(launch.get_program()).args(launch.get_args());
        command.envs(launch.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let outcome: Outcome = run_alone(command, Duration::from_secs(120));
        assert!(outcome.success(), "{}: {outcome:?}", mpi.name);
        let live = outcome.stderr.lines().filter(|line| line.contains("period ")).count();
        assert!(live >= 8, "{}: predictions while it ran: {}", mpi.name, outcome.stderr);
        assert!(
            outcome.stdout.starts_with('{'),
            "{}: the program's own output: {}",
            mpi.name,
            outcome.stdout
        );
        assert!(outcome.stdout.contains("\n  Period  "), "{}: the detection: {}", mpi.name, outcome.stdout);
        assert_eq!(scratch.leftovers(), [""; 0], "{}", mpi.name);
    }
}
