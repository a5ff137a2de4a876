//! `ftio stage` and `ftio simulate staging`: a job that runs, as far as its trace shows, and its buffer.

mod after_the_end;
mod destination;
mod journals;
mod planted;
mod removing;
mod while_it_runs;

use crate::support::{SECOND, blocking};
use serde_json::Value;
use std::fs::{self, File, Permissions};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tempfile::TempDir;
use tmio_trace::block::BlockEncoder;
use tmio_trace::frame::{self, FrameKind};
use tmio_trace::{Direction, Header, Operation, RankInfo, TraceEnd};

/// Two users whom no system knows.
pub const ANNA: u32 = 54_350;
pub const BERT: u32 = 54_351;

/// Every 2 s a phase of 0.4 s.
pub const PERIOD: i64 = 2 * SECOND;
const LENGTH: i64 = 4 * SECOND / 10;

pub fn now() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos() as i64
}

/// A trace of one rank, frame by frame.
pub struct Writer {
    path: PathBuf,
    /// On the clock, job time 0.
    origin: i64,
    bytes: Vec<u8>,
    blocks: u64,
    /// A request that no phase announces.
    pub early: Option<Arc<AtomicBool>>,
}

impl Writer {
    /// A job that began so many seconds ago.
    pub fn new(path: &Path, seconds_ago: i64) -> Self {
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
    pub fn block(&mut self, operations: &[Operation], name: &str, until: i64) {
        let mut encoder = BlockEncoder::default();
        assert!(encoder.restart(operations.len().max(1)));
        operations.iter().for_each(|op| encoder.push(op));
        let files = encoder.files().iter().map(|number| (*number, name)).collect();
        let block = encoder.finish(0, self.blocks, until, files).unwrap().to_vec();
        self.blocks += 1;
        self.bytes.extend(block);
    }

    /// The `i`th phase, at once.
    pub fn phase(&mut self, i: i64, direction: Direction, name: &str) {
        let request = blocking(direction, i * PERIOD, i * PERIOD + LENGTH, 1 << 20);
        self.block(&[request], name, i * PERIOD + LENGTH);
    }

    /// Append what is new to the part of a job that runs.
    pub fn write_part(&mut self) {
        let parts = PathBuf::from(format!("{}.parts", self.path.display()));
        fs::create_dir_all(&parts).unwrap();
        let mut part = File::options().append(true).create(true).open(parts.join("node")).unwrap();
        part.write_all(&std::mem::take(&mut self.bytes)).unwrap();
    }

    /// Go on in real time until told to end: a flush every 50 ms, with what was done since the last.
    pub fn live(mut self, ends: Arc<AtomicBool>) {
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
    pub fn finish(mut self, end: i64) {
        self.bytes.extend(frame::encode(FrameKind::End, &TraceEnd { end, ranks: 1, operations: 0 }).unwrap());
        fs::write(&self.path, self.bytes).unwrap();
    }
}

/// `ftio stage --json`, running.
pub struct Staging {
    pub child: Child,
    lines: Receiver<Value>,
    seen: Vec<Value>,
}

impl Staging {
    pub fn start(dir: &Path, args: &[&str]) -> Self {
        Self::start_as(Command::new(env!("CARGO_BIN_EXE_ftio")), dir, args)
    }

    /// By a command that ends with the path of the program.
    pub fn start_as(mut command: Command, dir: &Path, args: &[&str]) -> Self {
        let mut child = command
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

    /// The next line; `event` is what is waited for.
    pub fn next(&mut self, event: &str) -> Value {
        let line = self.lines.recv_timeout(Duration::from_secs(120));
        let line = line.unwrap_or_else(|_| panic!("no {event} after {:#?}", self.seen));
        self.seen.push(line.clone());
        line
    }

    /// The next line about this event.
    pub fn until(&mut self, event: &str) -> Value {
        loop {
            let line = self.next(event);
            if line["event"] == event {
                return line;
            }
        }
    }

    /// The exit code, and what was said on standard error.
    pub fn end(mut self) -> (Option<i32>, Vec<Value>, String) {
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

/// Make all the room that can be made.
pub fn relieve() -> [&'static str; 7] {
    ["--evict", "--capacity", "1k", "--set", "high-water=0.002", "--set", "low-water=0.001"]
}

/// Wait for something that is bound to happen.
pub fn until_file(what: &str, is: impl Fn() -> bool) {
    let began = std::time::Instant::now();
    while !is() {
        assert!(began.elapsed() < Duration::from_secs(120), "{what}: it never happened");
        std::thread::sleep(Duration::from_millis(2));
    }
}

pub fn folders() -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("bb")).unwrap();
    fs::create_dir(dir.path().join("storage")).unwrap();
    dir
}

/// Bytes that are different for every seed.
pub fn content(seed: u64, length: usize) -> Vec<u8> {
    let mut state = seed;
    let mut step = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    };
    (0..length).map(|_| step()).collect()
}

/// What is in a folder, without the journal.
pub fn names(folder: &Path) -> Vec<String> {
    let items = fs::read_dir(folder).unwrap().map(|item| item.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = items.filter(|name| !name.ends_with(".journal")).collect();
    names.sort();
    names
}

/// The trace of a job that ended just now, after ten phases.
pub fn ended_job(dir: &Path) {
    let mut writer = Writer::new(&dir.join("run"), 20);
    (0..10).for_each(|i| writer.phase(i, Direction::Write, "/elsewhere/out.dat"));
    writer.finish(10 * PERIOD);
}

pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// As another user, who need not be able to reach where this program was built.
pub fn stage_as(user: u32, dir: &TempDir, more: &[&str]) -> Output {
    let program = dir.path().join("ftio");
    if !program.exists() {
        let built = env!("CARGO_BIN_EXE_ftio");
        fs::hard_link(built, &program).or_else(|_| fs::copy(built, &program).map(drop)).unwrap();
    }
    let mut command = Command::new(program);
    command.args(["stage", "run", "--from", "bb", "--to", "storage"]).args(more).current_dir(dir.path());
    // Groups of root fall with it.
    command.uid(user).gid(user).output().unwrap()
}

/// Folders that everybody can reach.
pub fn open_folders() -> TempDir {
    let dir = folders();
    fs::set_permissions(dir.path(), Permissions::from_mode(0o755)).unwrap();
    fs::set_permissions(dir.path().join("storage"), Permissions::from_mode(0o777)).unwrap();
    ended_job(dir.path());
    dir
}
