//! `ftio stage` and `ftio stage simulate`.

use crate::predict::promtool_accepts;
use crate::support::{SECOND, blocking, ftio, skipped, stderr, stdout};
use serde_json::Value;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::{FileExt, MetadataExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, channel};
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tmio_trace::block::BlockEncoder;
use tmio_trace::frame::{self, FrameKind};
use tmio_trace::{Direction, Header, Operation, RankInfo, TraceEnd};

/// Every 2 s a phase of 0.4 s.
const PERIOD: i64 = 2 * SECOND;
const LENGTH: i64 = 4 * SECOND / 10;

fn now() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos() as i64
}

/// A trace of one rank, frame by frame.
struct Writer {
    path: PathBuf,
    /// On the clock, job time 0.
    origin: i64,
    bytes: Vec<u8>,
    blocks: u64,
    /// A request that no phase announces.
    early: Option<Arc<AtomicBool>>,
}

impl Writer {
    /// A job that began so many seconds ago.
    fn new(path: &Path, seconds_ago: i64) -> Self {
        let origin = now() - seconds_ago * SECOND;
        let header = Header { version: 1, job: "1".into(), ranks: 1, start: origin, ..Header::default() };
        let rank = RankInfo { host: "node".into(), boot_id: "boot".into(), pid: 1, ..RankInfo::default() };
        let bytes = [
            frame::encode(FrameKind::Header, &header).unwrap(),
            frame::encode(FrameKind::Rank, &rank).unwrap(),
        ];
        Writer { path: path.to_owned(), origin, bytes: bytes.concat(), blocks: 0, early: None }
    }

    fn time(&self) -> i64 {
        now() - self.origin
    }

    /// A block of these operations on a file, which tells everything up to `until`.
    fn block(&mut self, operations: &[Operation], name: &str, until: i64) {
        let mut encoder = BlockEncoder::default();
        assert!(encoder.restart(operations.len().max(1)));
        operations.iter().for_each(|op| encoder.push(op));
        let files = encoder.files().iter().map(|number| (*number, name)).collect();
        let block = encoder.finish(0, self.blocks, until, files).unwrap().to_vec();
        self.blocks += 1;
        self.bytes.extend(block);
    }

    /// The `i`th phase, at once.
    fn phase(&mut self, i: i64, direction: Direction, name: &str) {
        let request = blocking(direction, i * PERIOD, i * PERIOD + LENGTH, 1 << 20);
        self.block(&[request], name, i * PERIOD + LENGTH);
    }

    /// Append what is new to the part of a job that runs.
    fn write_part(&mut self) {
        let parts = PathBuf::from(format!("{}.parts", self.path.display()));
        fs::create_dir_all(&parts).unwrap();
        let mut part = File::options().append(true).create(true).open(parts.join("node")).unwrap();
        part.write_all(&std::mem::take(&mut self.bytes)).unwrap();
    }

    /// Go on in real time until told to end: a flush every 50 ms, with what was done since the last.
    fn live(mut self, ends: Arc<AtomicBool>) {
        let mut told = self.time();
        while !ends.load(Relaxed) {
            std::thread::sleep(Duration::from_millis(50));
            let until = self.time();
            let phase = until / PERIOD * PERIOD;
            let (start, end) = (phase.max(told), (phase + LENGTH).min(until));
            let early = self.early.as_ref().is_some_and(|early| early.swap(false, Relaxed));
            let mut requests = Vec::new();
            if start < end {
                requests.push(blocking(Direction::Write, start, end, 1 << 17));
            } else if early {
                requests.push(blocking(Direction::Write, told, until, 1 << 17));
            }
            self.block(&requests, "/elsewhere/out.dat", until);
            self.write_part();
            told = until;
        }
        let parts = format!("{}.parts", self.path.display());
        let mut whole = fs::read(format!("{parts}/node")).unwrap();
        let end = TraceEnd { end: told, ranks: 1, operations: 0 };
        whole.extend(frame::encode(FrameKind::End, &end).unwrap());
        let draft = self.path.with_extension("tmp");
        fs::write(&draft, whole).unwrap();
        fs::rename(&draft, &self.path).unwrap();
        fs::remove_dir_all(parts).unwrap();
    }

    /// The trace of a job that has ended.
    fn finish(mut self, end: i64) {
        self.bytes.extend(frame::encode(FrameKind::End, &TraceEnd { end, ranks: 1, operations: 0 }).unwrap());
        fs::write(&self.path, self.bytes).unwrap();
    }
}

/// `ftio stage --json`, running.
struct Staging {
    child: Child,
    lines: Receiver<Value>,
    seen: Vec<Value>,
}

impl Staging {
    fn start(dir: &Path, args: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_ftio"))
            .args(["stage", "--json", "run", "--from", "bb", "--to", "storage", "--poll", "0.05"])
            .args(args)
            .current_dir(dir)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let stdout = child.stdout.take().unwrap();
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                assert!(line.starts_with("{\"schema\":\"ftio.stage/1\","), "{line}");
                let _ = sender.send(serde_json::from_str(&line).unwrap());
            }
        });
        Staging { child, lines, seen: Vec::new() }
    }

    /// The next line about this event.
    fn until(&mut self, event: &str) -> Value {
        loop {
            let line = self.lines.recv_timeout(Duration::from_secs(120));
            let line = line.unwrap_or_else(|_| panic!("no {event} after {:#?}", self.seen));
            self.seen.push(line.clone());
            if line["event"] == event {
                return line;
            }
        }
    }

    /// The exit code, and what was said on standard error.
    fn end(mut self) -> (Option<i32>, Vec<Value>, String) {
        let status = self.child.wait().unwrap();
        let mut said = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        self.seen.extend(self.lines.iter());
        (status.code(), std::mem::take(&mut self.seen), said)
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn folders() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("bb")).unwrap();
    fs::create_dir(dir.path().join("storage")).unwrap();
    dir
}

/// Bytes that are different for every seed.
fn content(seed: u64, length: usize) -> Vec<u8> {
    let mut state = seed;
    let mut step = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    };
    (0..length).map(|_| step()).collect()
}

/// What is in a folder, without the journal.
fn names(folder: &Path) -> Vec<String> {
    let items = fs::read_dir(folder).unwrap().map(|item| item.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = items.filter(|name| !name.ends_with(".journal")).collect();
    names.sort();
    names
}

/// The trace of a job that ended just now, after ten phases.
fn ended_job(dir: &Path) {
    let mut writer = Writer::new(&dir.join("run"), 20);
    (0..10).for_each(|i| writer.phase(i, Direction::Write, "/elsewhere/out.dat"));
    writer.finish(10 * PERIOD);
}

#[test]
fn files_leave_in_the_quiet_and_wait_while_an_early_phase_goes_on() {
    let dir = folders();
    let at = |name: &str| dir.path().join(name);
    let mut writer = Writer::new(&at("run"), 20);
    (0..10).for_each(|i| writer.phase(i, Direction::Write, "/elsewhere/out.dat"));
    writer.write_part();
    for i in 0..6 {
        fs::write(at("bb").join(format!("f{i}")), content(i, 150_000)).unwrap();
    }
    let (ends, early) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
    writer.early = Some(Arc::clone(&early));
    let job: JoinHandle<()> = std::thread::spawn({
        let ends = Arc::clone(&ends);
        move || writer.live(ends)
    });
    let mut staging =
        Staging::start(dir.path(), &["--guard", "0.2", "--rate", "200k", "--prometheus", "m.prom"]);
    let copy = staging.until("copy");
    assert_eq!((&copy["reason"], &copy["direction"]), (&"quiet".into(), &"out".into()), "{copy}");
    assert!(copy["t"].as_f64() < copy["quiet_until"].as_f64(), "{copy}");
    assert!((copy["period"].as_f64().unwrap() - 2.0).abs() < 0.1, "{copy}");
    // Whether the copy is suspended by this request, or by the next phase before it: it is not ended here.
    early.store(true, Relaxed);
    let suspended = staging.until("suspend");
    assert!(["phase", "next_phase_near"].contains(&suspended["reason"].as_str().unwrap()), "{suspended}");
    staging.until("resume");
    staging.until("copied");
    ends.store(true, Relaxed);
    job.join().unwrap();
    let (code, seen, said) = staging.end();
    assert_eq!((code, said.as_str()), (Some(0), ""), "{seen:#?}");
    for i in 0..6 {
        assert!(fs::read(at("storage").join(format!("f{i}"))).unwrap() == content(i, 150_000), "f{i}");
    }
    assert_eq!(names(&at("storage")).len(), 6, "no draft is left");
    let report = &seen.last().unwrap()["report"];
    assert_eq!((&report["files_out"], &report["bytes_left"]), (&6.into(), &0.into()), "{report}");
    assert!(seen.iter().any(|line| line["event"] == "job-ended"));
    let metrics = fs::read_to_string(at("m.prom")).unwrap();
    assert!(metrics.contains("\nftio_stage_out_files_total{source=\"run\"} 6\n"), "{metrics}");
    assert!(metrics.contains("ftio_period_seconds{"), "{metrics}");
    promtool_accepts(&metrics);
}

/// Every file at the destination is whole, whatever a killed process was doing.
fn check_whole(storage: &Path, originals: &[(String, Vec<u8>)]) {
    for name in names(storage).iter().filter(|name| !name.starts_with(".ftio-stage.")) {
        let original = originals.iter().find(|(original, _)| original == name).unwrap();
        assert!(fs::read(storage.join(name)).unwrap() == original.1, "{name} is not whole");
    }
}

#[test]
fn killed_at_any_moment_it_leaves_nothing_half_done_and_goes_on() {
    let dir = folders();
    let (bb, storage) = (dir.path().join("bb"), dir.path().join("storage"));
    ended_job(dir.path());
    let mut originals = Vec::new();
    let args = ["--rate", "10M", "--evict", "--capacity", "1M", "--high-water", "0.5", "--low-water", "0.1"];
    let mut state = 12345u64;
    let mut removed = 0;
    for round in 0..40 {
        let file = (format!("f{round:02}"), content(round, 100_000 + 3_000 * round as usize));
        fs::write(bb.join(&file.0), &file.1).unwrap();
        originals.push(file);
        let mut staging = Staging::start(dir.path(), &args);
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        // First let it come to its first copy; then any moment.
        if round % 4 > 0 {
            staging.until("copy");
        }
        std::thread::sleep(Duration::from_micros((state >> 33) % 60_000));
        staging.child.kill().unwrap();
        staging.child.wait().unwrap();
        check_whole(&storage, &originals);
        for (name, bytes) in &originals {
            let there = fs::read(bb.join(name)).map_or(false, |found| found == *bytes);
            let copied = fs::read(storage.join(name)).map_or(false, |found| found == *bytes);
            assert!(there || copied, "round {round}: {name} is lost");
            removed += usize::from(!there);
        }
    }
    assert!(removed > 0, "some were removed from the buffer meanwhile");
    let (code, seen, said) = Staging::start(dir.path(), &args).end();
    assert_eq!(code, Some(0), "{said}{seen:#?}");
    assert_eq!(names(&storage).len(), 40, "all are out, and no draft is left: {:?}", names(&storage));
    check_whole(&storage, &originals);
    let again = Staging::start(dir.path(), &args).end();
    let copies = again.1.iter().filter(|line| line["event"] == "copy").count();
    assert_eq!((again.0, copies), (Some(0), 0), "nothing is copied twice");
}

#[test]
fn files_of_every_kind_after_the_end_of_the_job() {
    let dir = folders();
    let (bb, storage) = (dir.path().join("bb"), dir.path().join("storage"));
    fs::create_dir_all(bb.join("a/b")).unwrap();
    fs::write(bb.join("a/b/plain"), content(1, 200_000)).unwrap();
    fs::hard_link(bb.join("a/b/plain"), bb.join("second")).unwrap();
    symlink("a/b/plain", bb.join("link")).unwrap();
    symlink("nowhere", bb.join("dangling")).unwrap();
    let sparse = File::create(bb.join("sparse")).unwrap();
    sparse.set_len(100 << 20).unwrap();
    sparse.write_all_at(b"data", 60 << 20).unwrap();
    fs::write(bb.join("empty"), "").unwrap();
    let old = File::create(bb.join("foreign")).unwrap();
    old.set_modified(SystemTime::now() - Duration::from_secs(3600)).unwrap();
    assert!(Command::new("mkfifo").arg(bb.join("pipe")).status().unwrap().success());
    ended_job(dir.path());
    let output = ftio(dir.path(), &["stage", "run", "--from", "bb", "--to", "storage", "--checksum"]);
    assert_eq!(output.status.code(), Some(0), "{}{}", stdout(&output), stderr(&output));
    assert_eq!(stderr(&output).matches("pipes").count(), 1, "{}", stderr(&output));
    assert!(stdout(&output).contains("6 files out"), "{}", stdout(&output));
    assert_eq!(names(&storage), ["a", "dangling", "empty", "link", "second", "sparse"]);
    let meta = |name: &str| fs::symlink_metadata(storage.join(name)).unwrap();
    assert_eq!(meta("second").ino(), meta("a/b/plain").ino());
    assert_eq!(fs::read_link(storage.join("link")).unwrap(), Path::new("a/b/plain"));
    assert_eq!(fs::read(storage.join("second")).unwrap(), content(1, 200_000));
    assert!(meta("sparse").len() == 100 << 20 && meta("sparse").blocks() * 512 < 2 << 20);
    let journal = fs::read_dir(&storage).unwrap().flatten();
    let journals = journal.filter(|item| item.file_name().to_str().unwrap().ends_with(".journal"));
    assert_eq!(journals.count(), 1);
}

#[test]
fn a_full_destination_is_reported_and_nothing_is_removed() {
    let dir = folders();
    let (bb, storage) = (dir.path().join("bb"), dir.path().join("storage"));
    let mounted = Command::new("mount")
        .args(["-t", "tmpfs", "-o", "size=1m", "none"])
        .arg(&storage)
        .stderr(Stdio::null())
        .status();
    if !mounted.is_ok_and(|status| status.success()) {
        return skipped("mounting a small tmpfs needs the administrator");
    }
    fs::write(bb.join("small"), content(1, 100_000)).unwrap();
    fs::write(bb.join("large"), content(2, 3_000_000)).unwrap();
    ended_job(dir.path());
    let args = ["stage", "run", "--from", "bb", "--to", "storage", "--evict", "--capacity", "1M", "--json"];
    let output = ftio(dir.path(), &args);
    let seen = names(&storage);
    let umounted = Command::new("umount").arg(&storage).status().unwrap();
    assert!(umounted.success());
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert_eq!(seen, ["small"]);
    assert!(stdout(&output).contains("\"event\":\"full\""), "{}", stdout(&output));
    assert!(bb.join("large").exists());
}

#[test]
fn needed_files_are_there_before_the_job_begins() {
    let dir = folders();
    let (bb, storage) = (dir.path().join("bb"), dir.path().join("storage"));
    fs::create_dir(storage.join("in")).unwrap();
    for name in ["listed", "in/first", "in/later"] {
        fs::write(storage.join(name), content(7, 50_000)).unwrap();
    }
    fs::write(dir.path().join("list"), "# what every phase needs\nlisted\teach\nmissing\t1\n").unwrap();
    // An earlier run, in another folder, has read two files: in its first and in its third phase.
    let mut history = Writer::new(&dir.path().join("history"), 20);
    for i in 0..8 {
        match i {
            0 => history.phase(i, Direction::Read, "/bb/job1/in/first"),
            2 => history.phase(i, Direction::Read, "/bb/job1/in/later"),
            _ => history.phase(i, Direction::Write, "/bb/job1/out"),
        }
    }
    history.finish(8 * PERIOD);
    let args = ["--stage-in", "list", "--history", "history", "--guard", "0.2"];
    let mut staging = Staging::start(dir.path(), &args);
    for _ in 0..2 {
        let copied = staging.until("copied");
        assert_eq!((&copied["direction"], &copied["phase"]), (&"in".into(), &1.into()), "{copied}");
    }
    assert_eq!(fs::read(bb.join("in/first")).unwrap(), content(7, 50_000));
    assert!(bb.join("listed").exists() && !bb.join("in/later").exists());
    ended_job(dir.path());
    let (code, seen, said) = staging.end();
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("missing") && said.contains("waiting for run"), "{said}");
    let report = &seen.last().unwrap()["report"];
    assert_eq!((&report["files_in"], &report["files_out"]), (&2.into(), &0.into()), "what came in stays");
}

#[test]
fn a_dry_run_touches_nothing() {
    let dir = folders();
    fs::write(dir.path().join("bb/file"), content(1, 1000)).unwrap();
    let mut writer = Writer::new(&dir.path().join("run"), 100);
    for i in 0..10 {
        let name = format!("/bb/out.{i}");
        let request = blocking(Direction::Write, 10 * i * SECOND, (10 * i + 2) * SECOND, 1 << 20);
        writer.block(&[request], &name, (10 * i + 2) * SECOND);
    }
    writer.finish(100 * SECOND);
    let base = ["stage", "run", "--from", "bb", "--to", "storage", "--dry-run"];
    let output = ftio(dir.path(), &[&base[..], &["--rate", "1M", "--json"]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(names(&dir.path().join("storage")), [""; 0]);
    let lines: Vec<Value> = stdout(&output).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(lines.iter().all(|line| line["dry_run"] == true));
    let copies: Vec<&Value> = lines.iter().filter(|line| line["event"] == "copy").collect();
    assert_eq!(copies.len(), 10);
    let quiet = copies.iter().filter(|line| line["reason"] == "quiet").count();
    assert!(quiet >= 4, "from the time on that there is a period: {copies:#?}");
    for copy in copies.iter().filter(|line| line["reason"] == "quiet") {
        let t = copy["t"].as_f64().unwrap() % 10.0;
        assert!((3.0..9.0).contains(&t), "{copy}");
    }
    let report = &lines.last().unwrap()["report"];
    assert_eq!((&report["files_out"], &report["seconds_overlap"]), (&10.into(), &Value::from(0.0)));
    assert_eq!(ftio(dir.path(), &base).status.code(), Some(2), "how fast would it be?");
}

#[test]
fn wrong_usage_is_told() {
    let dir = folders();
    ended_job(dir.path());
    let stage = |args: &[&str]| {
        let output = ftio(dir.path(), &[&["stage"], args].concat());
        (output.status.code(), stderr(&output))
    };
    let inside = stage(&["run", "--from", ".", "--to", "storage"]);
    assert!(inside.0 == Some(2) && inside.1.contains("one is inside the other"), "{inside:?}");
    let missing = stage(&["run", "--from", "none", "--to", "storage"]);
    assert!(missing.0 == Some(1) && missing.1.contains("--from none"), "{missing:?}");
    let folders = ["run", "--from", "bb", "--to", "storage"];
    for wrong in
        [&["--command", "cp a b"][..], &["--rate", "fast"], &["--low-water", "0.9"], &["--rate", "0"]]
    {
        let found = stage(&[&folders[..], wrong].concat());
        assert_eq!(found.0, Some(2), "{wrong:?}: {}", found.1);
    }
    assert_eq!(stage(&["run"]).0, Some(2));
    fs::write(dir.path().join("list"), "../x\n").unwrap();
    let outside = stage(&[&folders[..], &["--stage-in", "list"]].concat());
    assert!(outside.0 == Some(1) && outside.1.contains("line 1"), "{outside:?}");
    fs::write(dir.path().join("journal"), "something else\n").unwrap();
    let foreign = stage(&[&folders[..], &["--journal", "journal"]].concat());
    assert!(foreign.0 == Some(1) && foreign.1.contains("is not a journal"), "{foreign:?}");
}

#[test]
fn a_command_copies_and_an_interrupt_is_a_normal_end() {
    let dir = folders();
    fs::write(dir.path().join("bb/a b"), content(1, 1000)).unwrap();
    ended_job(dir.path());
    let args = ["stage", "run", "--from", "bb", "--to", "storage", "--command", "cat {src} > {dst}"];
    let output = ftio(dir.path(), &args);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(fs::read(dir.path().join("storage/a b")).unwrap(), content(1, 1000));
    fs::write(dir.path().join("bb/large"), content(2, 1_000_000)).unwrap();
    let mut staging = Staging::start(dir.path(), &["--rate", "100k"]);
    staging.until("copy");
    let pid = staging.child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    let (code, seen, said) = staging.end();
    assert_eq!((code, &seen.last().unwrap()["event"]), (Some(0), &"summary".into()), "{said}");
    assert!(said.contains("1 files are left") || said.contains("1 file is left"), "{said}");
    assert_eq!(names(&dir.path().join("storage")), ["a b"], "its draft was removed");
}

#[test]
fn a_simulation_compares_policies() {
    let dir = tempfile::tempdir().unwrap();
    let args = ["--period", "100", "--phase-bytes", "100G", "--bandwidth", "10G", "--rate", "1.5G"];
    let more = ["--phases", "12", "--files", "4", "--capacity", "10T", "--flush", "2"];
    let output = ftio(dir.path(), &[&["stage", "simulate", "--json"][..], &args, &more].concat());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stdout(&output).starts_with("{\"schema\":\"ftio.stage-simulate/1\","));
    let found: Value = serde_json::from_str(&stdout(&output)).unwrap();
    let names: Vec<_> =
        found["policies"].as_array().unwrap().iter().map(|p| p["policy"].as_str().unwrap()).collect();
    assert_eq!(names, ["none", "at-once", "at-end", "quiet"]);
    let of = |i: usize, field: &str| found["policies"][i][field].as_f64().unwrap();
    assert_eq!(of(0, "added"), 0.0);
    assert!(of(3, "added") < 0.01 && of(3, "drained") < of(2, "drained"), "{found:#}");
    assert_eq!(found["policies"][3]["report"]["bytes_left"], 0);
    let again = ftio(dir.path(), &[&["stage", "simulate", "--json"][..], &args, &more].concat());
    assert_eq!(stdout(&output), stdout(&again), "the same seed");
    let text = ftio(dir.path(), &[&["stage", "simulate"][..], &args, &more].concat());
    assert!(stdout(&text).contains("after the end"), "{}", stdout(&text));
    let wrong = ftio(
        dir.path(),
        &["stage", "simulate", "--period", "10", "--phase-bytes", "1T", "--bandwidth", "1G", "--rate", "1G"],
    );
    assert_eq!(wrong.status.code(), Some(2));
}
