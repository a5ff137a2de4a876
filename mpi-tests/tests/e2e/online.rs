//! Traces that are read while the job runs: no half block, no step back, and nothing that appears later
//! than promised.

use crate::harness::{Mpi, installed_mpis, wait_until};
use crate::traced::{Scratch, traced};
use std::collections::BTreeMap;
use std::io::Cursor;
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;
use tmio_trace::reader::parts_path;
use tmio_trace::{Event, Operation, Trace};

/// What a reader learns from the parts, or from the finished trace.
#[derive(Debug, Default)]
struct View {
    /// Up to which job time each rank's blocking operations are known.
    covered: BTreeMap<u32, i64>,
    operations: BTreeMap<u32, Vec<Operation>>,
    warnings: Vec<String>,
}

impl View {
    /// What has been written so far, and not what a reader on the same host can also find in memory.
    fn of_parts(parts: &Path) -> Option<View> {
        let mut bytes = Vec::new();
        for entry in std::fs::read_dir(parts).ok()?.flatten() {
            bytes.extend(std::fs::read(entry.path()).ok()?);
        }
        Self::read(Trace::from_reader(parts, Box::new(Cursor::new(bytes))))
    }

    fn read(trace: Trace) -> Option<View> {
        let mut view = View::default();
        let outcome = trace.read(|event| {
            if let Event::Block(block) = event {
                let covered = view.covered.entry(block.rank).or_insert(i64::MIN);
                *covered = (*covered).max(block.covered_until);
                view.operations.entry(block.rank).or_default().extend(block.operations);
            }
        });
        view.warnings = outcome.ok()?.warnings;
        Some(view)
    }

    /// Blocking reads and writes of a rank that had begun by some time: the promise is about these.
    fn known(&self, rank: u32, until: i64) -> usize {
        let operations = self.operations.get(&rank).map(Vec::as_slice).unwrap_or_default();
        operations.iter().filter(|op| op.bytes > 0 && op.nonblocking.is_none() && op.start < until).count()
    }
}

/// Runs the workload and looks at what it has written every hundredth of a second, and at the trace in the
/// end.
fn follow(mpi: &Mpi, flush: &str, args: &[&str]) -> (Vec<View>, View) {
    follow_program(mpi, "workload", flush, &[args, &["--dir"]].concat())
}

/// The same with another program, which takes a directory after `args`.
fn follow_program(mpi: &Mpi, program: &str, flush: &str, args: &[&str]) -> (Vec<View>, View) {
    let scratch = Scratch::new();
    let job = mpi.job(2, mpi.program(program)).args(args.iter().copied()).args([scratch.data()]);
    let parts = parts_path(&scratch.trace());
    let mut views = Vec::new();
    let outcome = traced(job, &scratch).env("TMIO_FLUSH", flush).run_with(|launcher| {
        while launcher.try_wait().is_ok_and(|ended| ended.is_none()) {
            views.extend(View::of_parts(&parts));
            sleep(Duration::from_millis(10));
        }
    });
    assert!(outcome.success() && outcome.stderr.is_empty(), "{}: {outcome:?}", mpi.name);
    assert_eq!(scratch.leftovers(), [""; 0], "{}", mpi.name);
    (views, {
        let trace = Trace::open(&scratch.trace()).expect("the job ended well");
        View::read(trace).expect("the job ended well")
    })
}

fn assert_true_to_the_end(mpi: &Mpi, views: &[View], end: &View, least: usize) {
    assert!(views.len() >= least, "{}: only {} views while the job ran", mpi.name, views.len());
    let mut covered: BTreeMap<u32, i64> = BTreeMap::new();
    let mut seen_early = 0;
    for view in views {
        // A file system may show the beginning of a write before its end: that block is not counted yet,
        // and nothing else is missing.
        let harmless = ["the end of the trace is missing", "expected the rest of a frame at byte"];
        for warning in &view.warnings {
            let fine = harmless.iter().any(|text| warning.contains(text)) && !warning.contains("more places");
            assert!(fine, "{}: {warning}", mpi.name);
        }
        for (&rank, &until) in &view.covered {
            let before = covered.insert(rank, until).unwrap_or(i64::MIN);
            assert!(before <= until, "{}: rank {rank} covered {before}, then {until}", mpi.name);
            let (then, now) = (view.known(rank, until), end.known(rank, until));
            assert_eq!(then, now, "{}: rank {rank} up to {until}: known then and in the end", mpi.name);
            seen_early += then;
        }
    }
    assert!(seen_early > 0, "{}: nothing was seen before the end", mpi.name);
}

#[test]
fn every_tenth_of_a_second() {
    for mpi in installed_mpis() {
        let args = ["--compute", "0.05", "--iterations", "20", "--requests", "200", "--size", "64", "--read"];
        let (views, end) = follow(&mpi, "interval:0.1", &args);
        assert_true_to_the_end(&mpi, &views, &end, 5);
    }
}

#[test]
fn with_many_threads() {
    for mpi in installed_mpis() {
        let args =
            ["--compute", "0.02", "--iterations", "20", "--requests", "40", "--size", "64", "--threads", "4"];
        let (views, end) = follow(&mpi, "interval:0.05", &args);
        assert_true_to_the_end(&mpi, &views, &end, 5);
    }
}

/// An idle program writes nothing: what it told with its last block stands until it goes on.
#[test]
fn while_idle() {
    for mpi in installed_mpis() {
        let (views, _) =
            follow(&mpi, "interval:0.05", &["--compute", "0.8", "--iterations", "3", "--size", "64"]);
        let covered: Vec<i64> = views.iter().filter_map(|view| view.covered.get(&0).copied()).collect();
        let mut steps = covered.clone();
        steps.dedup();
        // A phase may be seen in several blocks, but not the time between two of them.
        assert!((2..10).contains(&steps.len()), "{}: two phases before the last: {covered:?}", mpi.name);
        assert!(covered.len() > 5 * steps.len(), "{}: many looks at the same: {covered:?}", mpi.name);
    }
}

/// A split collective has begun when its first half has.
#[test]
fn between_the_halves_of_a_split_collective() {
    for mpi in installed_mpis() {
        let (views, end) = follow_program(&mpi, "splits_slowly", "interval:0.1", &[]);
        assert_true_to_the_end(&mpi, &views, &end, 5);
    }
}

/// A call that was left by an exception is over.
#[test]
fn after_an_exception() {
    for mpi in installed_mpis() {
        let scratch = Scratch::new();
        let untraced = mpi.job(2, mpi.program("throws_then_computes")).args([scratch.data()]).run();
        assert!(untraced.success(), "no exception passes through {}: {untraced:?}", mpi.name);
        let (views, _) = follow_program(&mpi, "throws_then_computes", "interval:0.1", &[]);
        let mut steps: Vec<i64> = views.iter().filter_map(|view| view.covered.get(&0).copied()).collect();
        steps.dedup();
        assert!(steps.len() >= 5, "{}: time stood still after the exception: {steps:?}", mpi.name);
    }
}

/// Who looks at a running job again finds no less than before, while records move from memory to the parts.
#[test]
fn no_look_at_a_running_job_finds_less_than_the_one_before() {
    for mpi in installed_mpis() {
        let scratch = Scratch::new();
        let enough = scratch.data().join("enough");
        let job = mpi.job(2, mpi.program("waits_between")).args([scratch.data()]).args(["1000"]);
        let job = job.args([&enough]).args(["until"]);
        // Small blocks, so that they leave all the time.
        let job = traced(job, &scratch).env("TMIO_BUFFER", "64K");
        let (mut looks, mut before, mut steps) = (0, 0, 0);
        let outcome = job.run_with(|launcher| {
            while launcher.try_wait().is_ok_and(|ended| ended.is_none()) {
                let mut operations = 0;
                let read = Trace::open(&scratch.trace()).and_then(|trace| {
                    trace.read(|event| {
                        if let Event::Block(block) = event {
                            operations += block.operations.len();
                        }
                    })
                });
                // At the very end the parts go, while the trace is not there yet.
                if read.is_err() {
                    continue;
                }
                assert!(operations >= before, "{}: look {looks}: {before}, then {operations}", mpi.name);
                steps += usize::from(operations > before);
                (looks, before) = (looks + 1, operations);
                if steps == 20 {
                    std::fs::write(&enough, "").unwrap();
                }
            }
        });
        assert!(outcome.success() && outcome.stderr == "half-way\n", "{}: {outcome:?}", mpi.name);
        assert!(steps >= 20, "{}: {looks} looks, {steps} steps", mpi.name);
    }
}

#[test]
fn at_every_close() {
    for mpi in installed_mpis() {
        let scratch = Scratch::new();
        let ready = scratch.data().join("ready");
        let job = mpi.job(2, mpi.program("closes_then_waits")).args([scratch.data()]);
        let mut seen = None;
        let outcome = traced(job, &scratch).env("TMIO_FLUSH", "close").run_with(|launcher| {
            while !ready.is_file() && launcher.try_wait().is_ok_and(|ended| ended.is_none()) {
                sleep(Duration::from_millis(10));
            }
            // The helper does it, and the program does not wait for that.
            let known = |view: &View| (0..2).all(|rank| view.known(rank, i64::MAX) == 10);
            wait_until(Duration::from_secs(10), || {
                seen = View::of_parts(&parts_path(&scratch.trace()));
                seen.as_ref().is_some_and(known)
            });
            let _ = std::fs::remove_file(&ready);
        });
        assert!(outcome.success(), "{}: {outcome:?}", mpi.name);
        let seen = seen.unwrap_or_else(|| panic!("{}: nothing was written at the close", mpi.name));
        for rank in 0..2 {
            assert_eq!(seen.known(rank, i64::MAX), 10, "{}: rank {rank}", mpi.name);
        }
    }
}
