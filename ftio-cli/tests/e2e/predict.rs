//! `ftio predict` on files that grow.

use crate::support::{SECOND, Script, blocking, ftio, skipped, stderr, stdout};
use serde::Deserialize;
use std::fs::{self, OpenOptions};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Output, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;
use tmio_trace::block::BlockEncoder;
use tmio_trace::frame::{self, FrameKind};
use tmio_trace::{Direction, TraceEnd};

/// What is looked at here; the schema is checked with every line.
#[derive(Debug, Deserialize)]
struct Prediction {
    source: String,
    t: f64,
    period: Option<f64>,
    window: [f64; 2],
    next_phase: Option<NextPhase>,
    intervals: Vec<Interval>,
    n: u64,
    total_bytes: u64,
}

#[derive(Debug, Deserialize)]
struct NextPhase {
    start: f64,
}

#[derive(Debug, Deserialize)]
struct Interval {
    low: f64,
    high: f64,
}

/// `ftio predict` running.
struct Running {
    child: Child,
    lines: Receiver<String>,
}

impl Running {
    fn start(directory: &Path, args: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_ftio"))
            .arg("predict")
            .args(args)
            .current_dir(directory)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = lines(child.stdout.take().unwrap());
        Running { child, lines }
    }

    fn line(&self) -> String {
        self.lines.recv_timeout(Duration::from_secs(30)).expect("a prediction")
    }

    fn prediction(&self) -> Prediction {
        let line = self.line();
        assert!(line.starts_with("{\"schema\":\"ftio.prediction/1\","), "{line}");
        crate::schemas::valid(&line, "ftio.prediction/1");
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"))
    }

    fn signal(&self, name: &str) {
        assert!(Command::new("kill").args([name, &self.child.id().to_string()]).status().unwrap().success());
    }

    /// The exit code, the rest of standard output, and standard error.
    fn end(mut self) -> (Option<i32>, Vec<String>, String) {
        let status = self.child.wait().unwrap();
        let mut said = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        (status.code(), self.lines.iter().collect(), said)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
    }
}

fn lines(stdout: ChildStdout) -> Receiver<String> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(stdout).lines().map_while(Result::ok) {
            let _ = sender.send(line);
        }
    });
    receiver
}

fn append(path: &Path, bytes: &[u8]) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let mut file = OpenOptions::new().append(true).create(true).open(path).unwrap();
    file.write_all(bytes).unwrap();
}

/// The frames before the blocks of a trace with one rank.
fn beginning() -> Vec<u8> {
    let (bytes, ends) = Script::bursts(1, 0).frames();
    bytes[..ends[1]].to_vec()
}

/// The `i`th burst of two seconds in ten, flushed when it has ended.
fn burst(i: i64) -> Vec<u8> {
    let mut encoder = BlockEncoder::default();
    assert!(encoder.restart(1));
    encoder.push(&blocking(Direction::Write, (10 * i + 4) * SECOND, (10 * i + 6) * SECOND, 1 << 20));
    encoder.finish(0, i as u64, (10 * i + 6) * SECOND, Vec::new()).unwrap().to_vec()
}

/// The end of a job after this many bursts.
fn end(count: u64) -> Vec<u8> {
    let end = TraceEnd { end: 10 * count as i64 * SECOND, ranks: 1, operations: count };
    frame::encode(FrameKind::End, &end).unwrap()
}

/// One row of a table of samples for each second: 100 for two seconds of ten.
fn samples(seconds: std::ops::Range<i64>) -> String {
    seconds.map(|t| format!("{t},{},{}\n", if t % 10 < 2 { 100 } else { 0 }, t)).collect()
}

#[test]
fn a_job_from_before_its_beginning_to_its_end() {
    let dir = tempfile::tempdir().unwrap();
    let running = Running::start(dir.path(), &["--json", "--until-complete", "new/run.msgpack"]);
    let part = dir.path().join("new/run.msgpack.parts/node");
    append(&part, &beginning());
    let mut found = Vec::new();
    for i in 0..12 {
        append(&part, &burst(i));
        let prediction = running.prediction();
        assert_eq!((prediction.t, prediction.n), ((10 * i + 6) as f64, i as u64 + 1));
        assert_eq!(prediction.source, "new/run.msgpack");
        assert_eq!(prediction.total_bytes, (i as u64 + 1) << 20);
        found.push(prediction);
    }
    let last = &found[11];
    assert!((last.period.unwrap() - 10.0).abs() < 0.2, "{last:?}");
    assert!((last.next_phase.as_ref().unwrap().start - 124.0).abs() < 1.0, "{last:?}");
    assert!(last.window[0] > 0.0 && last.window[1] == last.t, "the window has adapted: {last:?}");
    assert!(last.intervals[0].low <= 10.05 && last.intervals[0].high >= 9.95, "{last:?}");
    // The commit.
    let blocks: Vec<u8> = (0..13).flat_map(burst).collect();
    fs::write(dir.path().join("new/run.tmp"), [beginning(), blocks, end(13)].concat()).unwrap();
    fs::rename(dir.path().join("new/run.tmp"), dir.path().join("new/run.msgpack")).unwrap();
    fs::remove_dir_all(part.parent().unwrap()).unwrap();
    let last = running.prediction();
    assert_eq!((last.t, last.total_bytes), (130.0, 13 << 20), "the last block was never in the parts");
    let (code, rest, said) = running.end();
    // On a busy machine it may have looked before the job began.
    let said = said.replace("ftio: note: waiting for new/run.msgpack\n", "");
    assert_eq!((code, said.as_str(), rest.len()), (Some(0), "", 0), "{rest:?}");
}

#[test]
fn text_has_one_line_per_prediction() {
    let dir = tempfile::tempdir().unwrap();
    Script::bursts(2, 12).write(&dir.path().join("a"));
    let output = ftio(dir.path(), &["predict", "--until-complete", "a"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let text = stdout(&output);
    assert!(text.starts_with("  120.0 s  period 10.0"), "{text}");
    assert!(text.contains("next phase 124.0 s to 126.") && text.contains(" s (22:15:2"), "{text}");
    assert_eq!(text.lines().count(), 1);
}

#[test]
fn an_interrupt_is_a_normal_end() {
    for signal in ["-INT", "-TERM"] {
        let dir = tempfile::tempdir().unwrap();
        let part = dir.path().join("a.parts/node");
        append(&part, &[beginning(), burst(0)].concat());
        let running = Running::start(dir.path(), &["--json", "a"]);
        running.prediction();
        running.signal(signal);
        let (code, rest, said) = running.end();
        assert_eq!((code, rest.len(), said.as_str()), (Some(0), 0, ""), "{signal}");
    }
}

#[test]
fn called_as_predictor() {
    let dir = tempfile::tempdir().unwrap();
    Script::bursts(1, 12).write(&dir.path().join("a"));
    let link = dir.path().join("predictor");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_ftio"), &link).unwrap();
    let output = Command::new(link).args(["--until-complete", "a"]).current_dir(dir.path()).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stdout(&output).contains("period"), "{}", stdout(&output));
}

#[test]
fn a_new_run_under_the_same_name_starts_anew() {
    let dir = tempfile::tempdir().unwrap();
    let table = dir.path().join("load.csv");
    let running = Running::start(dir.path(), &["--json", "--metric", "load", "--poll", "0.05", "load.csv"]);
    append(&table, format!("time,load,other\n{}", samples(0..120)).as_bytes());
    let first = running.prediction();
    assert!((first.period.unwrap() - 10.0).abs() < 0.2, "{first:?}");
    append(&table, samples(120..130).as_bytes());
    assert_eq!(running.prediction().t, 129.0);
    fs::write(&table, format!("time,load,other\n{}", samples(0..50))).unwrap();
    // It may be seen when it is still empty, or half full.
    let again = std::iter::repeat_with(|| running.prediction()).find(|found| found.t == 49.0).unwrap();
    assert!(again.n <= 2, "{again:?}");
    running.signal("-INT");
    let (code, _, said) = running.end();
    assert_eq!(code, Some(0));
    assert!(said.contains("load.csv: another run has begun"), "{said}");
}

#[test]
fn a_file_that_is_not_a_trace_does_not_stop_the_others() {
    let dir = tempfile::tempdir().unwrap();
    Script::bursts(1, 12).write(&dir.path().join("a"));
    fs::write(dir.path().join("b.csv"), format!("time,x,y\n{}", samples(0..100))).unwrap();
    fs::create_dir(dir.path().join("c")).unwrap();
    let output = ftio(dir.path(), &["predict", "--json", "--timeout", "0.3", "a", "b.csv", "c"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("c: is a directory"), "{}", stderr(&output));
    let text = stdout(&output);
    crate::schemas::valid(&text, "ftio.prediction/1");
    let names: Vec<String> =
        text.lines().map(|line| serde_json::from_str::<Prediction>(line).unwrap().source).collect();
    assert_eq!(names, ["a", "b.csv: x", "b.csv: y"], "{text}");
}

#[test]
fn a_command_for_every_prediction() {
    let dir = tempfile::tempdir().unwrap();
    append(&dir.path().join("a.parts/node"), &[beginning(), burst(0), burst(1)].concat());
    Script::bursts(1, 12).write(&dir.path().join("b"));
    let command = "printf '%s %s %s ' $FTIO_SOURCE $FTIO_T $FTIO_CHANGED >> out; cut -c1-29 >> out";
    let output = ftio(dir.path(), &["predict", "--timeout", "0.2", "--exec", command, "a", "b"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let expected = "a 16 0 {\"schema\":\"ftio.prediction/1\"\nb 120 0 {\"schema\":\"ftio.prediction/1\"\n";
    assert_eq!(fs::read_to_string(dir.path().join("out")).unwrap(), expected);
    let output = ftio(dir.path(), &["predict", "--until-complete", "--exec", "exit 3", "b"]);
    assert_eq!(output.status.code(), Some(0), "a command that fails ends nothing");
    assert!(stderr(&output).contains("exit 3"), "{}", stderr(&output));
}

/// What Prometheus itself says, where it is installed.
pub fn promtool_accepts(text: &str) {
    let child = Command::new("promtool")
        .args(["check", "metrics"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let Ok(mut child) = child else {
        return skipped("promtool is not installed");
    };
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let output: Output = child.wait_with_output().unwrap();
    let said = stdout(&output) + &stderr(&output);
    assert!(output.status.success() && said.is_empty(), "{said}\n{text}");
}

#[test]
fn prometheus_metrics_are_written_to_a_file() {
    let dir = tempfile::tempdir().unwrap();
    Script::bursts(2, 12).write(&dir.path().join("a \"b\""));
    let output = ftio(dir.path(), &["predict", "--until-complete", "--prometheus", "ftio.prom", "a \"b\""]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let text = fs::read_to_string(dir.path().join("ftio.prom")).unwrap();
    assert!(text.contains("\nftio_predictions_total{source=\"a \\\"b\\\"\"} 1\n"), "{text}");
    assert!(text.contains("\nftio_next_phase_bytes{source="), "{text}");
    promtool_accepts(&text);
    let left: Vec<_> = fs::read_dir(dir.path()).unwrap().flatten().map(|entry| entry.file_name()).collect();
    assert_eq!(left.len(), 2, "{left:?}");
    let output = ftio(dir.path(), &["predict", "--until-complete", "--prometheus", "no/such/dir", "a \"b\""]);
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn prometheus_metrics_are_served_over_http() {
    let dir = tempfile::tempdir().unwrap();
    append(&dir.path().join("a.parts/node"), &[beginning(), burst(0), burst(1)].concat());
    let port = free_port();
    let address = format!("127.0.0.1:{port}");
    let running = Running::start(dir.path(), &["--json", "--prometheus", &address, "a"]);
    running.prediction();
    let get = |path: &str| {
        let mut connection = TcpStream::connect(&address).unwrap();
        write!(connection, "GET {path} HTTP/1.1\r\nHost: {address}\r\n\r\n").unwrap();
        let mut text = String::new();
        connection.read_to_string(&mut text).unwrap();
        text
    };
    // The line comes before the metrics.
    let mut answer = get("/metrics");
    for _ in 0..100 {
        if answer.contains("ftio_predictions_total") {
            break;
        }
        std::thread::sleep(Duration::from_millis(10));
        answer = get("/metrics");
    }
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 200 OK\r\n") && head.contains("version=0.0.4"), "{head}");
    promtool_accepts(body);
    assert!(get("/other").starts_with("HTTP/1.1 404"));
    running.signal("-INT");
    assert_eq!(running.end().0, Some(0));
}

/// A port that was free a moment ago.
fn free_port() -> u16 {
    std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

#[test]
fn a_client_that_connects_gets_the_last_prediction_first() {
    let dir = tempfile::tempdir().unwrap();
    let part = dir.path().join("a.parts/node");
    append(&part, &[beginning(), burst(0)].concat());
    let port = format!("127.0.0.1:{}", free_port());
    for target in ["sock", &port] {
        let running = Running::start(dir.path(), &["--json", "--socket", target, "a"]);
        let first = running.line();
        let peer: Box<dyn Read> = match target {
            "sock" => Box::new(UnixStream::connect(dir.path().join("sock")).unwrap()),
            _ => Box::new(TcpStream::connect(target).unwrap()),
        };
        let mut received = BufReader::new(peer).lines();
        assert_eq!(received.next().unwrap().unwrap(), first, "the last one, at once");
        append(&part, &burst(i64::from(target != "sock") + 1));
        let second = running.line();
        assert_eq!(received.next().unwrap().unwrap(), second);
        running.signal("-INT");
        assert_eq!(running.end().0, Some(0));
        assert!(received.next().is_none(), "closed");
    }
    assert!(!dir.path().join("sock").exists());
    fs::write(dir.path().join("file"), "").unwrap();
    let output = ftio(dir.path(), &["predict", "--socket", "file", "a"]);
    assert_eq!(output.status.code(), Some(1), "a file that is not ours is not replaced");
    assert!(dir.path().join("file").exists());
}

#[test]
fn a_listening_socket_gets_predictions() {
    let dir = tempfile::tempdir().unwrap();
    append(&dir.path().join("a.parts/node"), &[beginning(), burst(0)].concat());
    let listener = std::os::unix::net::UnixListener::bind(dir.path().join("sock")).unwrap();
    let running = Running::start(dir.path(), &["--json", "--socket", "sock", "a"]);
    let (peer, _) = listener.accept().unwrap();
    let mut line = String::new();
    BufReader::new(peer).read_line(&mut line).unwrap();
    assert_eq!(line.trim_end(), running.line());
}

#[test]
fn wrong_usage() {
    let dir = tempfile::tempdir().unwrap();
    for args in [&["predict"][..], &["predict", "--window", "x", "a"], &["predict", "--timeout", "0", "a"]] {
        assert_eq!(ftio(dir.path(), args).status.code(), Some(2), "{args:?}");
    }
    assert_eq!(ftio(dir.path(), &["predict", "--tui", "a"]).status.code(), Some(1), "no terminal");
    let output = ftio(dir.path(), &["predict", "-"]);
    assert_eq!(output.status.code(), Some(1), "standard input is empty: {}", stderr(&output));
}

/// The live picture, in a terminal that can be looked at.
#[test]
fn the_live_picture_shows_period_and_countdown() {
    let tmux = |args: &[&str]| Command::new("tmux").args(["-L", "ftio-test"]).args(args).output();
    if !tmux(&["-V"]).is_ok_and(|output| output.status.success()) {
        return skipped("tmux is not installed");
    }
    let dir = tempfile::tempdir().unwrap();
    let part = dir.path().join("a.parts/node");
    let command = format!(
        "cd {}; {} predict --tui a; echo ended $?; sleep 60",
        dir.path().display(),
        env!("CARGO_BIN_EXE_ftio")
    );
    let session = format!("ftio-{}", std::process::id());
    let started = tmux(&["new-session", "-d", "-s", &session, "-x", "90", "-y", "28", &command]).unwrap();
    assert!(started.status.success(), "{}", stderr(&started));
    let seen = |what: &str| {
        let mut screen = String::new();
        for _ in 0..300 {
            screen = stdout(&tmux(&["capture-pane", "-p", "-t", &session]).unwrap());
            if screen.contains(what) {
                return screen;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        let _ = tmux(&["kill-session", "-t", &session]);
        panic!("no \"{what}\" in\n{screen}");
    };
    seen("waiting for");
    append(&part, &beginning());
    for i in 0..8 {
        append(&part, &burst(i));
    }
    let screen = seen("Period      ");
    assert!(screen.contains('█') && screen.contains('░') && screen.contains('┊'), "{screen}");
    assert!(screen.contains("Next phase  in ") && screen.contains(" s\nPeriod"), "{screen}");
    seen("Next phase  in 5.");
    tmux(&["send-keys", "-t", &session, "q"]).unwrap();
    let screen = seen("ended 0");
    assert!(!screen.contains("Period"), "the screen is as before: {screen}");
    tmux(&["kill-session", "-t", &session]).unwrap();
}
