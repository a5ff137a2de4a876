//! `ftio schedule` and `ftio simulate turns`.

use crate::support::{SECOND, Script, blocking, ftio, stderr, stdout};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};
use tempfile::tempdir;
use tmio_trace::block::BlockEncoder;
use tmio_trace::frame::{self, FrameKind};
use tmio_trace::{Direction, TraceEnd};

/// What is looked at here; the schema is checked, too.
#[derive(Debug, Deserialize)]
struct Simulated {
    applications: u32,
    frame: [f64; 2],
    repetitions: u32,
    policies: BTreeMap<String, Metrics>,
    change: BTreeMap<String, Change>,
    paper: Option<BTreeMap<String, Change>>,
    repetition: BTreeMap<String, Vec<Metrics>>,
}

#[derive(Debug, Deserialize, PartialEq)]
struct Metrics {
    stretch_max: f64,
    stretch_geomean: f64,
    io_slowdown: f64,
    utilisation: f64,
}

#[derive(Debug, Deserialize, PartialEq)]
struct Change {
    io_slowdown: Option<f64>,
    utilisation: Option<f64>,
}

fn simulate(args: &[&str]) -> Simulated {
    let output = ftio(Path::new("."), &[&["simulate", "turns", "--json"], args].concat());
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(stdout(&output).starts_with("{\"schema\":\"ftio.set10/1\","));
    crate::schemas::valid(&stdout(&output), "ftio.set10/1");
    serde_json::from_str(&stdout(&output)).unwrap()
}

#[test]
fn the_published_experiment_with_our_predictor_in_the_loop() {
    // Coarse sampling, for the sake of time.
    let found = simulate(&["--repetitions", "1", "--freq", "2"]);
    assert_eq!((found.applications, found.repetitions, found.frame), (16, 1, [400.0, 3200.0]));
    let paper = found.paper.as_ref().unwrap();
    for name in ["fair_share", "fcfs", "set10_clairvoyant", "set10_predicted", "set10_error50"] {
        let metrics = &found.policies[name];
        assert!(metrics.stretch_max >= metrics.stretch_geomean && metrics.stretch_geomean >= 1.0, "{name}");
        assert!(metrics.io_slowdown >= 1.0 && metrics.utilisation < 1.0, "{name}: {metrics:?}");
        assert_eq!(found.repetition[name].len(), 1);
        assert!(paper.contains_key(name));
    }
    assert_eq!(paper["set10_clairvoyant"].io_slowdown, Some(-0.63));
    assert_eq!(paper["set10_predicted"].utilisation, Some(0.26));
    let change = |name: &str| &found.change[name];
    assert_eq!(change("fair_share").io_slowdown, Some(0.0));
    // What must come out whatever the details: sets help, most when periods are known, less when they have to
    // be found.
    let slowdown = |name: &str| found.policies[name].io_slowdown;
    assert!(slowdown("set10_clairvoyant") < slowdown("set10_predicted"));
    assert!(slowdown("set10_predicted") < slowdown("set10_strict"));
    assert!(slowdown("set10_strict") < 0.9 * slowdown("fair_share"), "predictions are acted upon");
    let utilisation = change("set10_clairvoyant").utilisation.unwrap();
    assert!((0.24..0.34).contains(&utilisation), "{utilisation}");
}

#[test]
fn simulations_of_other_workloads_and_their_picture() {
    let found = simulate(&["--applications", "50", "--repetitions", "2", "--policies", "fair_share,fcfs"]);
    assert_eq!(found.policies.keys().collect::<Vec<_>>(), ["fair_share", "fcfs"]);
    assert_eq!((found.applications, found.paper.is_none()), (50, true));
    let again = simulate(&["--applications", "50", "--repetitions", "2", "--policies", "fair_share,fcfs"]);
    assert_eq!(found.policies, again.policies, "the same seed");

    let dir = tempdir().unwrap();
    let few = ["--policies", "fair_share,set10_clairvoyant", "--repetitions", "2"];
    let output =
        ftio(dir.path(), &[&["simulate", "turns", "--servers", "4", "--plot", "a.svg"], &few[..]].concat());
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(
        stdout(&output).contains("16 applications, 4 servers of 220 MiB/s together"),
        "{}",
        stdout(&output)
    );
    let svg = fs::read_to_string(dir.path().join("a.svg")).unwrap();
    for text in ["max stretch", "mean stretch", "I/O slowdown", "utilisation", "Set-10 clairvoyant"] {
        assert!(svg.contains(text), "{text}");
    }
    for wrong in [
        &["--plot", "a.html"][..],
        &["--policies", "best"],
        &["--capacity", "0"],
        &["--load", "0.5"],
        &["--servers", "0"],
    ] {
        let output = ftio(dir.path(), &[&["simulate", "turns"], wrong].concat());
        assert_eq!(output.status.code(), Some(2), "{wrong:?}");
        assert!(!output.stderr.is_empty());
    }
}

/// One line of `ftio schedule --json`.
#[derive(Debug, Deserialize)]
struct Said {
    schema: String,
    job: String,
    event: String,
    t: Option<f64>,
    period: Option<f64>,
    set: Option<i32>,
    priority: Option<u32>,
}

/// A job that is running, as far as its trace shows.
struct Job {
    path: PathBuf,
    bytes: Vec<u8>,
    ends: Vec<usize>,
    written: usize,
}

impl Job {
    /// One rank that writes for two seconds every ten, with a block per phase.
    fn new(path: PathBuf, phases: i64) -> Self {
        let script = Script { ranks: 1, end: 0, blocks: Vec::new(), process_written: 0 };
        let (mut bytes, mut ends) = script.frames();
        // The header and the rank.
        ends.truncate(2);
        bytes.truncate(ends[1]);
        let mut encoder = BlockEncoder::default();
        for i in 0..phases {
            assert!(encoder.restart(1));
            let (start, end) = ((10 * i + 4) * SECOND, (10 * i + 6) * SECOND);
            encoder.push(&blocking(Direction::Write, start, end, 1 << 20));
            bytes.extend_from_slice(encoder.finish(0, i as u64, end, Vec::new()).unwrap());
            ends.push(bytes.len());
        }
        let end = TraceEnd { end: 10 * phases * SECOND, ranks: 1, operations: phases as u64 };
        bytes.extend(frame::encode(FrameKind::End, &end).unwrap());
        ends.push(bytes.len());
        Job { path, bytes, ends, written: 0 }
    }

    /// Append this many frames: header, rank, then the phases.
    fn grow(&mut self, frames: usize) {
        let parts =
            self.path.with_file_name(format!("{}.parts", self.path.file_name().unwrap().to_str().unwrap()));
        fs::create_dir_all(&parts).unwrap();
        let from = if self.written == 0 { 0 } else { self.ends[self.written - 1] };
        self.written += frames;
        let mut part = fs::OpenOptions::new().append(true).create(true).open(parts.join("node")).unwrap();
        part.write_all(&self.bytes[from..self.ends[self.written - 1]]).unwrap();
    }

    /// The job ends: the trace is there as a whole.
    fn commit(&self) {
        let complete = self.path.with_extension("tmp");
        fs::write(&complete, &self.bytes).unwrap();
        fs::rename(&complete, &self.path).unwrap();
        let parts =
            self.path.with_file_name(format!("{}.parts", self.path.file_name().unwrap().to_str().unwrap()));
        fs::remove_dir_all(parts).unwrap();
    }
}

struct Scheduling {
    child: Child,
    lines: Receiver<String>,
}

impl Scheduling {
    fn start(dir: &Path, args: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_ftio"))
            .args(["schedule", "--configfs", "config", "--json"])
            .args(args)
            .current_dir(dir)
            .env_remove("IOSETS_JOB_ID")
            .env_remove("SLURM_JOB_ID")
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = channel();
        std::thread::spawn(move || out.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
        Scheduling { child, lines }
    }

    fn next(&mut self) -> Said {
        let line = self.lines.recv_timeout(Duration::from_secs(60)).expect("nothing was said");
        crate::schemas::valid(&line, "ftio.priority/1");
        serde_json::from_str(&line).unwrap()
    }
}

impl Drop for Scheduling {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn priority(dir: &Path, job: &str) -> Option<String> {
    fs::read_to_string(dir.join("config").join(job).join("priority")).ok()
}

#[test]
fn from_the_start_of_a_job_to_its_end() {
    let dir = tempdir().unwrap();
    fs::create_dir(dir.path().join("config")).unwrap();
    let mut scheduling =
        Scheduling::start(dir.path(), &["--until-complete", "--poll", "0.05", "run.msgpack"]);
    let mut job = Job::new(dir.path().join("run.msgpack"), 12);
    job.grow(3);
    let said = scheduling.next();
    assert_eq!(
        (said.schema.as_str(), said.job.as_str(), said.event.as_str()),
        ("ftio.priority/1", "4711", "started")
    );
    assert_eq!((said.period, said.set, said.priority), (None, None, Some(204_712)));
    assert_eq!(priority(dir.path(), "4711").as_deref(), Some("204712\n"));
    for _ in 0..7 {
        job.grow(1);
        std::thread::sleep(Duration::from_millis(60));
    }
    let said = scheduling.next();
    assert_eq!((said.event.as_str(), said.set, said.priority), ("changed", Some(1), Some(1_000_000)));
    assert!(said.period.is_some() && said.t.is_some(), "{said:?}");
    assert_eq!(priority(dir.path(), "4711").as_deref(), Some("1000000\n"));
    job.commit();
    assert_eq!(scheduling.next().event, "ended");
    assert!(scheduling.child.wait().unwrap().success());
    assert_eq!(fs::read_dir(dir.path().join("config")).unwrap().count(), 0, "nothing is left");
}

#[test]
fn history_job_id_and_removal_of_priorities_at_a_signal() {
    let dir = tempdir().unwrap();
    fs::create_dir(dir.path().join("config")).unwrap();
    Script::bursts(1, 12).write(&dir.path().join("old.msgpack"));
    let mut scheduling = Scheduling::start(
        dir.path(),
        &["--history", "old.msgpack", "--job", "77", "--poll", "0.05", "run.msgpack"],
    );
    let mut job = Job::new(dir.path().join("run.msgpack"), 12);
    job.grow(3);
    let said = scheduling.next();
    assert_eq!((said.job.as_str(), said.set, said.priority), ("77", Some(1), Some(1_000_000)));
    assert!((said.period.unwrap() - 10.0).abs() < 0.1, "{said:?}");
    assert_eq!(priority(dir.path(), "77").as_deref(), Some("1000000\n"));
    let pid = scheduling.child.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
    let end = Instant::now() + Duration::from_secs(20);
    let status = loop {
        if let Some(status) = scheduling.child.try_wait().unwrap() {
            break status;
        }
        assert!(Instant::now() < end, "it goes on after SIGTERM");
        std::thread::sleep(Duration::from_millis(20));
    };
    assert!(status.success());
    assert_eq!(priority(dir.path(), "77"), None, "its priorities go with it");
}

#[test]
fn wrong_usage_and_missing_files_are_refused() {
    let dir = tempdir().unwrap();
    fs::create_dir(dir.path().join("config")).unwrap();
    for wrong in [
        &["schedule"][..],
        &["schedule", "run.msgpack"],
        &["schedule", "--configfs", "config"],
        &["schedule", "--configfs", "config", "--job", "1", "a", "b"],
    ] {
        assert_eq!(ftio(dir.path(), wrong).status.code(), Some(2), "{wrong:?}");
    }
    let output = ftio(dir.path(), &["schedule", "--configfs", "nowhere", "run.msgpack"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("nowhere"), "{}", stderr(&output));
    let output =
        ftio(dir.path(), &["schedule", "--configfs", "config", "--history", "none.msgpack", "run.msgpack"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("none.msgpack") && stderr(&output).contains("--history"));
}

/// What a simulation did, written as traces, has the metrics of the simulation.
#[test]
fn measured_from_traces_exactly_as_simulated() {
    use io_sets::metrics::{Frame, Metrics as Exact};
    use io_sets::simulate::{Application, Known, Level, Noise, Platform, Sharing, Simulation};
    let dir = tempdir().unwrap();
    let job = |(job, (compute, bytes))| Application {
        job,
        processes: 1,
        compute,
        bytes,
        iterations: None,
        start: 0.0,
    };
    let jobs = [(0.9, 2_000_000), (9.0, 20_000_000), (7.0, 30_000_000), (11.0, 10_000_000)];
    let applications: Vec<Application> = (1..).zip(jobs).map(job).collect();
    let platform = Platform { servers: 1, stripe: 1, capacity: 1e7, alone: 1e7, request: 1 << 20 };
    let simulation = Simulation {
        platform,
        applications: &applications,
        noise: Noise::default(),
        sharing: Sharing::Fair,
        known: Known::All,
        level: Level::Fluid,
        until: 160.0,
        seed: 1,
    };
    let outcome = simulation.run();
    let expected = Exact::of(&outcome, Frame { begin: 20.0, end: 100.0 }, platform.alone);
    let mut names = Vec::new();
    for (number, course) in outcome.courses.iter().enumerate() {
        let ns = |seconds: f64| (seconds * 1e9).round() as i64;
        let write = |phase: &io_sets::simulate::IoPhase| {
            blocking(Direction::Write, ns(phase.start), ns(phase.end), phase.bytes.round() as u64)
        };
        let blocks = vec![(0, course.phases.iter().map(write).collect())];
        let script = Script { ranks: 1, end: ns(course.end), blocks, process_written: 0 };
        names.push(script.write(&dir.path().join(format!("{number}.msgpack"))).display().to_string());
    }
    let mut args = vec!["measure", "--json", "--frame", "20..100", "--alone", "10000000"];
    args.extend(names.iter().map(String::as_str));
    let output = ftio(dir.path(), &args);
    assert!(output.status.success(), "{}", stderr(&output));
    let record: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
    crate::schemas::valid(&stdout(&output), "ftio.measure/1");
    let pairs = [
        ("stretch_max", expected.stretch_max),
        ("stretch_geomean", expected.stretch_geomean),
        ("io_slowdown", expected.io_slowdown),
        ("utilisation", expected.utilisation),
    ];
    for (name, exact) in pairs {
        let measured = record["metrics"][name].as_f64().unwrap();
        assert!((measured / exact - 1.0).abs() < 1e-9, "{name}: {measured} {exact}");
    }
    // A frame that reaches beyond a trace is an error, not a number.
    args[3] = "20..1000";
    let output = ftio(dir.path(), &args);
    assert!(output.status.code() == Some(2) && stderr(&output).contains("not for all of the frame"));
}
