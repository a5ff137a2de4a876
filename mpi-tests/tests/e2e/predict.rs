//! Predictions while the job runs: the paper's HACC-IO run (III-B c) scaled down, with ten phases of which the first is delayed.

use crate::harness::{Mpi, Outcome, ftio, installed_mpis, libtmio, run_limited};
use crate::traced::{Scratch, traced};
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::JoinHandle;
use std::time::Duration;

/// Compute, write, read, verify, ten times.
const SHAPE: [&str; 10] =
    ["--iterations", "10", "--compute", "0.5", "--size", "512k", "--requests", "8", "--read", "--dir"];

/// The paper: 8.66 against 8.7 s.
const TOLERANCE: f64 = 0.01;

/// `ftio predict --json --until-complete` beside a job, from before it begins.
struct Predicting {
    child: Child,
    predictions: JoinHandle<Vec<Value>>,
}

impl Predicting {
    fn start(trace: &Path, args: &[&str]) -> Self {
        let mut child = Command::new(ftio())
            .args(["predict", "--json", "--until-complete", "-m", "write"])
            .args(args)
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

fn followed(mpi: &Mpi, flush: &str, args: &[&str], how: &[&str]) -> (Vec<Value>, Value) {
    let scratch = Scratch::new();
    let job =
        mpi.job(2, mpi.program("workload")).args(SHAPE).args([scratch.data()]).args(args.iter().copied());
    let predicting = Predicting::start(&scratch.trace(), how);
    let outcome = traced(job, &scratch).env("TMIO_FLUSH", flush).run();
    assert!(outcome.success() && outcome.stderr.is_empty(), "{}: {outcome:?}", mpi.name);
    (predicting.end(), outcome.json())
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or(f64::NAN)
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// When the phases began, by the workload itself.
fn starts(truth: &Value) -> Vec<f64> {
    truth["phase_starts"].as_array().expect("a list").iter().map(number).collect()
}

/// Windows begin later and later, and not because the behaviour had changed.
fn assert_window_adapts(predictions: &[Value], label: &str) {
    let begins: Vec<f64> = predictions.iter().map(|found| number(&found["window"][0])).collect();
    assert!(begins.is_sorted(), "{label}: {begins:?}");
    let mut steps = begins.clone();
    steps.dedup();
    assert!(steps.len() >= 2 && begins[0] == 0.0, "{label}: the window stayed: {begins:?}");
    assert!(predictions.iter().all(|found| found["changed"] == false), "{label}");
}

fn assert_close(found: f64, truth: f64, label: &str) {
    assert!((found / truth - 1.0).abs() < TOLERANCE, "{label}: predicted {found}, truth {truth}");
}

/// `iotrace_summary()` after each phase, as in the paper.
#[test]
fn a_first_phase_that_begins_late() {
    for mpi in installed_mpis() {
        let (predictions, truth) = followed(&mpi, "finalize", &["--flush", "--delay", "1"], &[]);
        let label = format!("{}: {}", mpi.name, summary(&predictions));
        assert!((10..=11).contains(&predictions.len()), "{label}: one for each phase, and one for the end");
        assert_window_adapts(&predictions, &label);
        let periods: Vec<f64> = predictions.iter().filter_map(|found| found["period"].as_f64()).collect();
        assert!(periods.len() >= 6, "{label}");
        let last = number(&predictions[9]["window"][0]);
        assert!(last > starts(&truth)[1], "{label}: the first phase is out of sight");
        assert_close(mean(&periods), number(&truth["mean_period"]), &label);
        // After three phases, every next one is foreseen.
        let starts = starts(&truth);
        let shift = number(&predictions[9]["t"]) - starts[9];
        for (prediction, begun) in predictions[5..9].iter().zip(&starts[6..]) {
            let foreseen = number(&prediction["next_phase"]["start"]) - shift;
            let off = (foreseen - begun) / mean(&periods);
            assert!(off.abs() < 0.5, "{label}: at {} for {foreseen}, was {begun}", prediction["t"]);
        }
    }
}

/// The same with a first phase that takes longer than a period; flushes by themselves, in a program that knows nothing of them.
#[test]
fn a_first_phase_that_takes_long() {
    for mpi in installed_mpis().into_iter().rev().take(1) {
        let (predictions, truth) = followed(&mpi, "interval:0.25", &["--prolong", "0.6"], &[]);
        let label = format!("{}: {}", mpi.name, summary(&predictions));
        assert!(predictions.len() >= 20, "{label}");
        assert_window_adapts(&predictions, &label);
        // Once the first phase is out of sight, only the distances of the others count.
        let starts = starts(&truth);
        let later: Vec<f64> = predictions
            .iter()
            .filter(|found| number(&found["window"][0]) > starts[0] + 0.6)
            .filter_map(|found| found["period"].as_f64())
            .collect();
        assert!(later.len() >= 8, "{label}");
        let last = (later[later.len() - 1] / mean(&later) - 1.0).abs();
        assert!(last < 0.1, "{label}: they converge");
        assert_close(mean(&later), (starts[9] - starts[1]) / 8.0, &label);
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
        let outcome: Outcome = run_limited(command, Duration::from_secs(120));
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
