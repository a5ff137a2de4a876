//! `ftio TRACE`: the answer, as JSON and as text.

use crate::support::{SECOND, Script, assert_snapshot, blocking, ftio, stderr, stdout};
use serde::Deserialize;
use tmio_trace::Direction;

/// What is looked at here; the schema is checked with every line.
#[derive(Debug, Deserialize)]
struct Detection {
    source: String,
    mode: String,
    ranks: u32,
    total_bytes: u64,
    t_start: f64,
    t_end: f64,
    sampling_frequency: Option<f64>,
    n_samples: usize,
    abstraction_error: f64,
    periodic: bool,
    period: Option<f64>,
    frequency: Option<f64>,
    confidence: f64,
    refined_confidence: Option<f64>,
    signal: String,
    next_phase: Option<NextPhase>,
    complete: bool,
    top_frequencies: Vec<serde_json::Value>,
    notes: Vec<String>,
    #[serde(default)]
    periods: Vec<PeriodOf>,
    evidence: Evidence,
    phases: Vec<Phase>,
    start_time: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Phase {
    start: f64,
    end: f64,
    bytes: u64,
    start_time: Option<String>,
}

#[derive(Debug, Deserialize)]
struct PeriodOf {
    phases: usize,
}

#[derive(Debug, Deserialize)]
struct Evidence {
    method: Option<String>,
    phases: usize,
    spectrum_confidence: f64,
}

#[derive(Debug, Deserialize)]
struct NextPhase {
    start: f64,
    end: f64,
    bytes: u64,
    start_timestamp: Option<f64>,
    start_time: Option<String>,
}

fn parse(line: &str) -> Detection {
    crate::schemas::valid(line, "ftio.detection/1");
    serde_json::from_str(line).unwrap_or_else(|error| panic!("{error} in {line}"))
}

#[test]
fn json_is_one_object_per_line_with_the_schema_first() {
    let dir = tempfile::tempdir().unwrap();
    Script::bursts(4, 10).write(&dir.path().join("a.msgpack"));
    Script::bursts(2, 12).write(&dir.path().join("b.msgpack"));
    let output = ftio(dir.path(), &["--json", "-c", "-n", "3", "a.msgpack", "b.msgpack"]);
    assert_eq!((output.status.code(), stderr(&output)), (Some(0), String::new()));
    let text = stdout(&output);
    assert!(text.lines().all(|line| line.starts_with("{\"schema\":\"ftio.detection/1\",\"source\":")));
    let found: Vec<Detection> = text.lines().map(parse).collect();
    assert_eq!(found.len(), 2);
    for (found, (name, ranks, count)) in found.iter().zip([("a.msgpack", 4, 10), ("b.msgpack", 2, 12)]) {
        assert_eq!((found.source.as_str(), found.ranks, found.mode.as_str()), (name, ranks, "write"));
        assert!(found.periodic && found.complete && found.signal == "bursts", "{found:?}");
        assert!((found.period.unwrap() - 10.0).abs() < 0.05, "{found:?}");
        assert!((found.frequency.unwrap() - 0.1).abs() < 0.001);
        assert!(
            found.confidence > 0.9 && found.refined_confidence.unwrap() > found.evidence.spectrum_confidence
        );
        assert_eq!(
            (found.evidence.method.as_deref(), found.evidence.phases),
            (Some("phases"), count as usize)
        );
        assert_eq!((found.periods.len(), found.periods[0].phases), (1, count as usize));
        assert_eq!((found.t_start, found.t_end), (0.0, f64::from(count) * 10.0));
        assert_eq!(found.total_bytes, (u64::from(ranks) * u64::from(count as u32)) << 20);
        assert_eq!((found.abstraction_error, found.top_frequencies.len()), (0.0, 3));
        let next = found.next_phase.as_ref().unwrap();
        assert!((next.start - found.t_end - 4.0).abs() < 0.2 && (next.end - next.start - 2.0).abs() < 0.2);
        assert!((next.bytes as f64 / f64::from(ranks << 20) - 1.0).abs() < 0.01);
        // The job began at 1 700 000 000 s, which is 2023-11-14T22:13:20Z.
        assert!((next.start_timestamp.unwrap() - 1_700_000_000.0 - next.start).abs() < 0.001);
        assert_eq!(&next.start_time.as_ref().unwrap()[..11], "2023-11-14T");
        assert_eq!(found.start_time.as_deref(), Some("2023-11-14T22:13:20.000Z"));
        assert_eq!(found.phases.len(), count as usize);
        for (i, phase) in found.phases.iter().enumerate() {
            assert!(
                (phase.start - (10.0 * i as f64 + 4.0)).abs() < 0.2 && phase.end > phase.start,
                "{phase:?}"
            );
            assert!((phase.bytes as f64 / f64::from(ranks << 20) - 1.0).abs() < 0.01, "{phase:?}");
            assert!(phase.start_time.as_ref().is_some_and(|time| time.starts_with("2023-11-14T22:1")));
        }
    }
}

#[test]
fn the_text_report_is_as_recorded() {
    let dir = tempfile::tempdir().unwrap();
    Script::bursts(4, 10).write(&dir.path().join("run.msgpack"));
    let output = ftio(dir.path(), &["run.msgpack"]);
    assert_snapshot("bursts.txt", &stdout(&output));
    assert!(!stdout(&output).contains('\x1b'), "no colours in a pipe");
}

#[test]
fn modes_and_windows_select_what_is_analysed() {
    let dir = tempfile::tempdir().unwrap();
    let mut script = Script::bursts(1, 10);
    let reads = (0..20).map(|i| blocking(Direction::Read, (5 * i + 1) * SECOND, (5 * i + 2) * SECOND, 1000));
    script.blocks.push((0, reads.collect()));
    script.write(&dir.path().join("t"));
    let run = |args: &[&str]| {
        let output = ftio(dir.path(), &[args, &["--json", "t"]].concat());
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        parse(&stdout(&output))
    };
    assert_eq!(run(&[]).mode, "write");
    let read = run(&["-m", "read"]);
    assert!((read.period.unwrap() - 5.0).abs() < 0.05 && read.total_bytes == 20_000);
    assert_eq!(run(&["-m", "all"]).total_bytes, 20_000 + (10 << 20));
    let window = run(&["-ts", "20", "-te", "80", "-f", "10", "-np", "-au", "-t", "0.9"]);
    assert_eq!((window.t_start, window.t_end, window.n_samples), (20.0, 80.0, 600));
    assert_eq!((window.sampling_frequency, window.total_bytes), (Some(10.0), 6 << 20));
    assert!((window.period.unwrap() - 10.0).abs() < 0.1);
    assert!(window.refined_confidence.is_some());
}

#[test]
fn a_mode_without_requests_is_not_a_failure() {
    let dir = tempfile::tempdir().unwrap();
    Script::bursts(2, 5).write(&dir.path().join("t"));
    let output = ftio(dir.path(), &["--json", "-m", "read_async", "t"]);
    assert_eq!(output.status.code(), Some(0));
    let found = parse(&stdout(&output));
    assert_eq!((found.period, found.signal.as_str(), found.mode.as_str()), (None, "empty", "read_async"));
    assert!(found.notes[0].contains("read_async"));
    // When the job was is known all the same, also in the compatible mode.
    for args in [&["--json", "-m", "read_async", "t"][..], &["--json", "--compat", "-m", "read_async", "t"]] {
        let found: serde_json::Value = serde_json::from_str(&stdout(&ftio(dir.path(), args))).unwrap();
        assert_eq!((&found["t_start"], &found["t_end"]), (&0.0.into(), &50.0.into()), "{args:?}");
    }
    let output = ftio(dir.path(), &["-m", "read_async", "t"]);
    assert!(stdout(&output).contains("no bytes were transferred in mode read_async"), "{}", stdout(&output));
}

#[test]
fn exit_code_3_for_no_period_only_on_request() {
    let dir = tempfile::tempdir().unwrap();
    Script::bursts(1, 10).write(&dir.path().join("periodic"));
    Script::bursts(1, 1).write(&dir.path().join("once"));
    let code = |args: &[&str]| ftio(dir.path(), args).status.code();
    assert_eq!(code(&["periodic", "once"]), Some(0));
    assert_eq!(code(&["--exit-status", "periodic"]), Some(0));
    assert_eq!(code(&["--exit-status", "periodic", "once"]), Some(3));
    assert_eq!(code(&["--exit-status", "missing", "once"]), Some(1));
    for wrong in [
        &["-f", "0", "once"][..],
        &["-m", "sync", "once"],
        &["-ts", "5", "-te", "4", "once"],
        &["--plot", "x.gif", "once"],
    ] {
        assert_eq!(code(wrong), Some(2), "{wrong:?}");
    }
    assert_eq!(code(&["--help"]), Some(0));
    assert_eq!(code(&["--version"]), Some(0));
}

#[test]
fn a_job_that_moved_no_bytes_has_no_period() {
    let dir = tempfile::tempdir().unwrap();
    let mut script = Script::bursts(1, 3);
    script.blocks[0].1.iter_mut().for_each(|op| op.bytes = 0);
    script.write(&dir.path().join("t"));
    let output = ftio(dir.path(), &["--json", "-c", "t"]);
    assert_eq!((output.status.code(), parse(&stdout(&output)).signal), (Some(0), "empty".into()));
}

#[test]
fn pictures_are_written() {
    let dir = tempfile::tempdir().unwrap();
    Script::bursts(2, 10).write(&dir.path().join("a<b>&.msgpack"));
    for name in ["p.svg", "p.html"] {
        let output = ftio(dir.path(), &["--plot", name, "a<b>&.msgpack"]);
        // Where it is, is said; on stdout are the results.
        assert_eq!((output.status.code(), stderr(&output)), (Some(0), format!("{name}\n")));
        let text = std::fs::read_to_string(dir.path().join(name)).unwrap();
        assert!(text.contains("a&lt;b&gt;&amp;.msgpack") && !text.contains("a<b>"), "{name}");
        assert!(
            !text.contains("http")
                || text.matches("http").count() == text.matches("http://www.w3.org/2000/svg").count()
        );
        assert!(!text.contains("NaN") && !text.contains("inf"), "{name}");
    }
    Script::bursts(2, 3).write(&dir.path().join("b"));
    assert_eq!(ftio(dir.path(), &["--plot", "q.svg", "b", "b"]).status.code(), Some(0));
    assert!(dir.path().join("q-1.svg").is_file() && dir.path().join("q-2.svg").is_file());
    assert_eq!(ftio(dir.path(), &["--plot", "no/such/place.svg", "b"]).status.code(), Some(1));
}

#[test]
fn a_closed_pipe_is_quiet() {
    let dir = tempfile::tempdir().unwrap();
    Script::bursts(2, 10).write(&dir.path().join("t"));
    let script =
        format!("{} --json t t t t t t t t | true; exit ${{PIPESTATUS[0]}}", env!("CARGO_BIN_EXE_ftio"));
    let output =
        std::process::Command::new("bash").args(["-c", &script]).current_dir(dir.path()).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert_eq!(output.status.code(), Some(0));
}
