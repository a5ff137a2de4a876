//! `ftio arbiter`, `ftio top` and `ftio schedule --apply`: commands against a running arbiter.

use crate::support::{ftio, skipped, stderr, stdout};
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use tempfile::{TempDir, tempdir};
use turns::{Hello, Kind, Message};

/// A running command, killed when dropped.
struct Running(Child);

impl Running {
    fn start(command: &mut Command) -> Self {
        Running(command.stdin(Stdio::null()).spawn().unwrap())
    }

    /// Asks it to end, and waits.
    fn end(&mut self) -> bool {
        let process = self.0.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &process]).status().unwrap().success());
        self.0.wait().unwrap().success()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn program() -> Command {
    Command::new(env!("CARGO_BIN_EXE_ftio"))
}

/// An arbiter with one lease, of which job `holds` has it and job `waits` does not.
struct Turns {
    place: TempDir,
    address: String,
    _arbiter: Running,
    _nodes: [UnixStream; 2],
}

impl Turns {
    fn new() -> Self {
        let place = tempfile::Builder::new().prefix("t").tempdir_in("/tmp").unwrap();
        let socket = place.path().join("a");
        let address = format!("unix:{}", socket.display());
        // The one that holds is of a much heavier set, and is not interrupted.
        let priorities = place.path().join("priorities");
        fs::create_dir_all(priorities.join("holds")).unwrap();
        fs::write(priorities.join("holds/priority"), "1000000000\n").unwrap();
        let mut command = program();
        command.args(["arbiter", "--leases", "1", "--listen", &address, "--priorities"]).arg(&priorities);
        let mut arbiter = Running::start(command.stderr(Stdio::piped()));
        let mut line = String::new();
        BufReader::new(arbiter.0.stderr.take().unwrap()).read_line(&mut line).unwrap();
        assert!(line.starts_with("listening at "), "{line}");
        let ask = |job: &str| {
            let mut node = UnixStream::connect(&socket).unwrap();
            let hello = Hello { job: job.into(), ..Hello::default() };
            node.write_all(&Message::new(Kind::Hello).with(1, 1000).encode_with(&hello.encode())).unwrap();
            node.write_all(&Message::new(Kind::Ask).seq(1).encode()).unwrap();
            node
        };
        let holds = ask("holds");
        let mut beats = holds.try_clone().unwrap();
        thread::spawn(move || {
            while beats.write_all(&Message::new(Kind::Beat).with(1 << 20, 1).encode()).is_ok() {
                thread::sleep(Duration::from_millis(100));
            }
        });
        let turns = Turns { place, address, _arbiter: arbiter, _nodes: [holds, ask("waits")] };
        until("both are known, and one waits", || {
            let jobs = turns.report()["jobs"].clone();
            let state = |name: &str| {
                let all = jobs.as_array().unwrap().iter();
                all.filter(|job| job["job"] == name).map(|job| job["state"].clone()).next()
            };
            state("holds") == Some("holding".into()) && state("waits") == Some("waiting".into())
        });
        turns
    }

    fn report(&self) -> serde_json::Value {
        let output = ftio(Path::new("."), &["top", "--json", "--arbiter", &self.address]);
        assert!(output.status.success(), "{}", stderr(&output));
        crate::schemas::valid(&stdout(&output), "ftio.arbiter/1");
        serde_json::from_str(&stdout(&output)).unwrap()
    }

    fn path(&self, name: &str) -> PathBuf {
        self.place.path().join(name)
    }

    fn apply(&self, arguments: &[&str]) -> Command {
        let mut command = program();
        command.args(["schedule", "--arbiter", &self.address, "--apply"]).args(arguments);
        command
    }
}

/// What daemons log, for programs; and a format that there is not.
#[test]
fn the_log_can_be_json() {
    let place = tempfile::Builder::new().prefix("t").tempdir_in("/tmp").unwrap();
    let address = format!("unix:{}", place.path().join("a").display());
    let mut command = program();
    command.args(["arbiter", "--listen", &address]).env("FTIO_LOG_FORMAT", "json");
    let mut arbiter = Running::start(command.stderr(Stdio::piped()));
    let mut line = String::new();
    BufReader::new(arbiter.0.stderr.take().unwrap()).read_line(&mut line).unwrap();
    let entry: serde_json::Value = serde_json::from_str(&line).unwrap();
    assert_eq!(entry["level"], "INFO", "{line}");
    assert_eq!(entry["fields"]["message"], format!("listening at {address}"), "{line}");
    assert_eq!(entry["fields"]["address"], address, "{line}");
    assert!(arbiter.end());
    for (name, value) in [("FTIO_LOG_FORMAT", "xml"), ("FTIO_LOG", "loud")] {
        let wrong = program().args(["arbiter", "--listen", &address]).env(name, value).output().unwrap();
        assert_eq!(wrong.status.code(), Some(2), "{}", stderr(&wrong));
        assert!(stderr(&wrong).contains(name) && stderr(&wrong).contains(value), "{}", stderr(&wrong));
    }
}

/// `ftio arbiter --json`: a phase that is under way when the arbiter ends is told as well.
#[test]
fn phases_are_as_their_schema_says() {
    let place = tempfile::Builder::new().prefix("t").tempdir_in("/tmp").unwrap();
    let socket = place.path().join("a");
    let address = format!("unix:{}", socket.display());
    let mut command = program();
    command.args(["arbiter", "--json", "--leases", "1", "--listen", &address]);
    let mut arbiter = Running::start(command.stdout(Stdio::piped()).stderr(Stdio::piped()));
    let mut line = String::new();
    BufReader::new(arbiter.0.stderr.take().unwrap()).read_line(&mut line).unwrap();
    assert!(line.starts_with("listening at "), "{line}");
    let mut node = UnixStream::connect(&socket).unwrap();
    let hello = Hello { job: "writes".into(), ..Hello::default() };
    node.write_all(&Message::new(Kind::Hello).with(1, 1000).encode_with(&hello.encode())).unwrap();
    node.write_all(&Message::new(Kind::Ask).seq(1).encode()).unwrap();
    until("it holds the lease", || {
        let output = ftio(Path::new("."), &["top", "--json", "--arbiter", &address]);
        stdout(&output).contains("\"holding\"")
    });
    node.write_all(&Message::new(Kind::Beat).with(1 << 20, 1).encode()).unwrap();
    assert!(arbiter.end());
    let mut told = String::new();
    arbiter.0.stdout.take().unwrap().read_to_string(&mut told).unwrap();
    crate::schemas::valid(&told, "ftio.phase/1");
    assert!(told.contains("\"writes\""), "{told}");
}

fn until(what: &str, mut done: impl FnMut() -> bool) {
    let began = Instant::now();
    while !done() {
        assert!(began.elapsed() < Duration::from_secs(60), "never: {what}");
        thread::sleep(Duration::from_millis(20));
    }
}

fn lines(path: &Path) -> Vec<String> {
    fs::read_to_string(path).unwrap_or_default().lines().map(str::to_owned).collect()
}

/// `lctl` as nrs_tbf.c has it: a rule that exists is not started, one that does not is not changed.
const LCTL: &str = r#"#!/bin/sh
rule=${2#*=}
set -- $rule
case $1 in
    start) [ ! -e "$RULES/$2" ] || exit 17; touch "$RULES/$2" ;;
    change) [ -e "$RULES/$2" ] || exit 2 ;;
    stop) rm -f "$RULES/$2" ;;
esac
echo "$rule" >> "$RULES/../log"
"#;

#[test]
fn lustre_gets_rules_and_loses_them() {
    let turns = Turns::new();
    let rules = turns.path("rules");
    fs::create_dir(&rules).unwrap();
    // An earlier run was killed: its rule is still there.
    fs::write(rules.join("jwaits"), "").unwrap();
    let tools = turns.path("tools");
    fs::create_dir(&tools).unwrap();
    fs::write(tools.join("lctl"), LCTL).unwrap();
    fs::set_permissions(tools.join("lctl"), fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", tools.display(), std::env::var("PATH").unwrap());
    let mut command = turns.apply(&["lustre-tbf", "--set", "closed-rate=3"]);
    let mut applying = Running::start(command.env("PATH", path).env("RULES", &rules));
    let log = turns.path("log");
    until("both have a rule", || lines(&log).len() == 2);
    assert_eq!(lines(&log), ["start jholds jobid={holds} rate=10000", "change jwaits rate=3"]);
    assert!(applying.end());
    assert_eq!(lines(&log)[2..], ["stop jholds", "stop jwaits"]);
    assert_eq!(fs::read_dir(&rules).unwrap().count(), 0);
}

#[test]
fn a_command_of_the_site_hears_of_every_turn() {
    let turns = Turns::new();
    let log = turns.path("log");
    let command = format!("echo {{job}} {{state}} >> {}", log.display());
    let dry = ftio(
        Path::new("."),
        &["schedule", "--apply", "command", "--arbiter", &turns.address, "--command", &command, "--dry-run"],
    );
    assert_eq!(stdout(&dry).lines().count(), 2, "{dry:?}");
    assert!(lines(&log).is_empty(), "and nothing was done");
    let mut applying = Running::start(&mut turns.apply(&["command", "--command", &command]));
    until("it hears", || lines(&log).len() == 2);
    assert!(applying.end());
    assert_eq!(lines(&log), ["holds open", "waits closed", "holds gone", "waits gone"]);
}

/// Groups of the kernel, version 1: a job that waits is limited, and the limit is taken back.
#[test]
fn the_kernel_limits_a_group_that_waits() {
    let root = Path::new("/sys/fs/cgroup/blkio");
    let name = |job: &str| root.join(format!("ftio-test-{}-{job}", std::process::id()));
    let groups = ["holds", "waits"].map(name);
    if !groups.iter().all(|group| fs::create_dir(group).is_ok()) {
        return skipped("no groups of the blkio controller (cgroup version 1) can be made here");
    }
    let number = |path: &str| fs::read_to_string(path).ok().map(|text| text.trim().to_owned());
    let Some(device) = number("/sys/block/loop0/dev") else {
        groups.iter().for_each(|group| fs::remove_dir(group).unwrap());
        return skipped("there is no loop device");
    };
    let turns = Turns::new();
    let group = name("{job}").display().to_string();
    let limit = format!("{device}=1048576");
    let mut applying = Running::start(&mut turns.apply(&["cgroup", "--cgroup", &group, "--limit", &limit]));
    let shown = || {
        groups.each_ref().map(|group| {
            fs::read_to_string(group.join("blkio.throttle.write_bps_device")).unwrap().trim().to_owned()
        })
    };
    until("the one that waits is limited", || shown() == [String::new(), format!("{device} 1048576")]);
    assert!(applying.end());
    let left = shown();
    groups.iter().for_each(|group| fs::remove_dir(group).unwrap());
    assert_eq!(left, [String::new(), String::new()], "the limit is gone");
}

#[test]
fn two_arbiters_and_a_socket_that_somebody_left() {
    let turns = Turns::new();
    let second = ftio(Path::new("."), &["arbiter", "--listen", &turns.address]);
    assert_eq!(second.status.code(), Some(1));
    assert!(stderr(&second).contains("another arbiter listens at"), "{second:?}");
    let place = tempdir().unwrap();
    let address = format!("unix:{}", place.path().join("none").display());
    let none = ftio(Path::new("."), &["top", "--arbiter", &address]);
    assert_eq!(none.status.code(), Some(1));
    assert!(stderr(&none).contains("no answer of an arbiter at"), "{none:?}");
}

#[test]
fn top_for_people_and_for_prometheus() {
    let turns = Turns::new();
    let output = ftio(Path::new("."), &["top", "--arbiter", &turns.address]);
    let text = stdout(&output);
    assert!(text.starts_with("2 jobs, 1 hold, 1 wait; "), "{text}");
    assert!(text.lines().any(|line| line.starts_with("waits ") && line.contains("waiting")), "{text}");
    let output = ftio(Path::new("."), &["top", "--prometheus", "--arbiter", &turns.address]);
    let text = stdout(&output);
    assert!(text.contains("ftio_turn_holding{jobid=\"holds\",run=\"0000000000000000\"} 1\n"), "{text}");
}

/// Whoever asks sees the jobs of others as numbers: no names, no users.
#[test]
fn top_tells_nothing_of_the_jobs_of_others() {
    if !rustix::process::geteuid().is_root() {
        return skipped("another user needs the administrator");
    }
    let turns = Turns::new();
    fs::set_permissions(turns.place.path(), fs::Permissions::from_mode(0o755)).unwrap();
    // Where this program was built, others need not be able to reach.
    let reachable = turns.path("ftio");
    fs::copy(env!("CARGO_BIN_EXE_ftio"), &reachable).unwrap();
    for format in ["--json", "--prometheus", "--color=never"] {
        let mut command = Command::new(&reachable);
        command.args(["top", format, "--arbiter", &turns.address]).current_dir(turns.place.path());
        let output = command.uid(54_350).gid(54_350).output().unwrap();
        let text = stdout(&output);
        assert!(output.status.success(), "{format}: {output:?}");
        assert!(!text.contains("\"holds\"") && !text.contains("waits "), "{format}: {text}");
        if format == "--json" {
            let report: serde_json::Value = serde_json::from_str(&text).unwrap();
            assert_eq!((&report["others"]["jobs"], report["jobs"].as_array().unwrap().len()), (&2.into(), 0));
        }
    }
}
