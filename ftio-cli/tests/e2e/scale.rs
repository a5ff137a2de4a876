//! `ftio scale TRACE…`.

use crate::support::{SECOND, Script, assert_snapshot, blocking, ftio, nonblocking, stderr, stdout};
use darshan_log::write::LogWriter;
use darshan_log::{Format, Job, PosixCounter, PosixRecord};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;
use tempfile::tempdir;
use tmio_trace::{AsyncTimes, Direction};

/// What Extra-P reads, and nothing else.
#[derive(Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
struct Line {
    params: BTreeMap<String, f64>,
    callpath: String,
    metric: String,
    value: f64,
}

fn lines(text: &str) -> Vec<Line> {
    text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}"))).collect()
}

fn value(lines: &[Line], processes: f64, callpath: &str, metric: &str) -> Option<f64> {
    let is_it = |line: &&Line| {
        line.params["Processes"] == processes && line.callpath == callpath && line.metric == metric
    };
    lines.iter().find(is_it).map(|line| line.value)
}

/// Bursts, and on every rank a nonblocking write of 1000 bytes that had to be complete after one second and
/// took two.
fn mixed(ranks: u32) -> Script {
    let mut script = Script::bursts(ranks, 12);
    for (_, operations) in &mut script.blocks {
        let times = AsyncTimes { issued: 0, deadline: SECOND, pending_until: 0, test_time: 0 };
        operations.push(nonblocking(0, 2 * SECOND, 1000, times));
    }
    script
}

fn write_runs(directory: &Path) {
    for (name, ranks) in [("a", 1), ("b", 2), ("c", 4)] {
        mixed(ranks).write(&directory.join(format!("{name}.msgpack")));
    }
}

const RUNS: [&str; 4] = ["scale", "a.msgpack", "b.msgpack", "c.msgpack"];

#[test]
fn names_of_ioparse_and_values_of_the_runs() {
    let directory = tempdir().unwrap();
    write_runs(directory.path());
    let output = ftio(directory.path(), &RUNS);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(stderr(&output), "");
    let lines = lines(&stdout(&output));
    let at = |processes: f64, callpath: &str, metric: &str| value(&lines, processes, callpath, metric);
    for ranks in [1.0, 2.0, 4.0] {
        let mib = (1 << 20) as f64;
        assert_eq!(at(ranks, "write_sync->total_bytes", "Size (B)"), Some(ranks * 12.0 * mib));
        assert_eq!(at(ranks, "write_sync->max_bytes_per_rank", "Size (B)"), Some(12.0 * mib));
        assert_eq!(at(ranks, "write_sync->T_E", "Bandwidth (B/s)"), Some(ranks * mib / 2.0));
        assert_eq!(at(ranks, "read_sync->total_io_ops", "Hits"), Some(0.0));
        // Nothing was read: there is no bandwidth of it, and no −1 either.
        assert_eq!(at(ranks, "read_sync->T_E", "Bandwidth (B/s)"), None);
        assert_eq!(at(ranks, "write_async_t->T_A", "Bandwidth (B/s)"), Some(500.0 * ranks));
        assert_eq!(at(ranks, "write_async_b->B_A", "Bandwidth (B/s)"), Some(1000.0 * ranks));
        assert_eq!(at(ranks, "write_async->required_bandwidth", "Bandwidth (B/s)"), Some(1000.0));
        assert_eq!(at(ranks, "write_async->actual_bandwidth", "Bandwidth (B/s)"), Some(500.0));
        assert_eq!(at(ranks, "write_async->lost_time", "Time (s)"), Some(ranks));
        assert_eq!(at(ranks, "io_time->total_time", "Time (s)"), Some(120.0 * ranks));
        assert_eq!(at(ranks, "io_time->delta_t_aw_lost", "Time (s)"), Some(ranks));
        assert_eq!(at(ranks, "function->write_at", "Hits"), Some(12.0 * ranks));
        assert_eq!(at(ranks, "file->out.dat->written", "Size (B)"), Some(ranks * (12.0 * mib + 1000.0)));
        let period = at(ranks, "main", "Period (s)").unwrap();
        assert!((period - 10.0).abs() < 0.05, "{period}");
        assert!((at(ranks, "main", "Frequency (Hz)").unwrap() - 0.1).abs() < 5e-4);
    }
    assert!(lines.iter().all(|line| line.value >= 0.0));
    let names: Vec<String> = lines
        .iter()
        .filter(|line| line.params["Processes"] == 1.0)
        .map(|line| format!("{} | {}\n", line.callpath, line.metric))
        .collect();
    assert_snapshot("scale.txt", &names.concat());
}

#[test]
fn each_run_is_appended_and_models_refine() {
    let directory = tempdir().unwrap();
    write_runs(directory.path());
    for name in ["a.msgpack", "b.msgpack", "c.msgpack"] {
        let output = ftio(directory.path(), &["scale", "-o", "scale.jsonl", name]);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        assert!(stderr(&output).starts_with("scale.jsonl: "), "{}", stderr(&output));
        assert_eq!(stdout(&output), "");
    }
    let appended = std::fs::read_to_string(directory.path().join("scale.jsonl")).unwrap();
    let at_once = stdout(&ftio(directory.path(), &RUNS));
    assert_eq!(lines(&appended), lines(&at_once));
}

#[test]
fn a_metric_that_one_run_lacks_is_left_out_unless_ragged() {
    let directory = tempdir().unwrap();
    write_runs(directory.path());
    // A run that reads and has no period.
    let once = blocking(Direction::Read, SECOND, 2 * SECOND, 100);
    let script = Script { ranks: 8, end: 20 * SECOND, blocks: vec![(0, vec![once])], process_written: 0 };
    script.write(&directory.path().join("d.msgpack"));
    let output = ftio(directory.path(), &["scale", "a.msgpack", "d.msgpack"]);
    let text = stderr(&output);
    assert!(text.contains("not every run has ") && text.contains("--ragged"), "{text}");
    let complete = lines(&stdout(&output));
    let mut covered: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for line in &complete {
        *covered.entry((&line.callpath, &line.metric)).or_default() += 1;
    }
    assert!(covered.values().all(|count| *count == 2), "{covered:?}");
    assert_eq!(value(&complete, 1.0, "main", "Period (s)"), None);
    assert_eq!(value(&complete, 1.0, "function->read_at", "Hits"), Some(0.0));
    assert_eq!(value(&complete, 8.0, "function->read_at", "Hits"), Some(1.0));

    let output = ftio(directory.path(), &["scale", "--ragged", "a.msgpack", "d.msgpack"]);
    assert_eq!(stderr(&output), "");
    let ragged = lines(&stdout(&output));
    assert!(value(&ragged, 1.0, "main", "Period (s)").is_some());
    assert_eq!(value(&ragged, 8.0, "main", "Period (s)"), None);
}

#[test]
fn parameters_come_from_options_and_from_names() {
    let directory = tempdir().unwrap();
    Script::bursts(2, 3).write(&directory.path().join("app.p99.n10.msgpack"));
    let args = ["scale", "--param", "n", "--param", "nodes=3", "app.p99.n10.msgpack"];
    let output = ftio(directory.path(), &args);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let text = stdout(&output);
    assert!(text.starts_with("{\"params\":{\"Processes\":2,\"n\":10,\"nodes\":3},\"callpath\":"), "{text}");

    let output = ftio(directory.path(), &["scale", "--param", "m", "app.p99.n10.msgpack"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("app.p99.n10.msgpack: expected m and a number"), "{}", stderr(&output));

    std::fs::write(directory.path().join("other.jsonl"), "{\"params\":{\"p\":1},\"value\":2}\n").unwrap();
    let output = ftio(directory.path(), &["scale", "-o", "other.jsonl", "app.p99.n10.msgpack"]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(
        stderr(&output),
        "ftio: other.jsonl: expected the parameters Processes, found p: use --param, or another file\n"
    );
}

#[test]
fn one_bad_trace_does_not_stop_the_others() {
    let directory = tempdir().unwrap();
    write_runs(directory.path());
    std::fs::write(directory.path().join("bad.msgpack"), "nothing of the kind").unwrap();
    let output = ftio(directory.path(), &["scale", "a.msgpack", "bad.msgpack", "b.msgpack"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("bad.msgpack"), "{}", stderr(&output));
    assert!(value(&lines(&stdout(&output)), 2.0, "write_sync->total_bytes", "Size (B)").is_some());
}

#[test]
fn files_of_tmio_give_what_our_trace_gives() {
    let directory = tempdir().unwrap();
    mixed(4).write(&directory.path().join("ours.msgpack"));
    let ours = lines(&stdout(&ftio(directory.path(), &["scale", "ours.msgpack"])));
    for (format, digits) in [("tmio-msgpack", 1e-9), ("tmio-json", 6e-3)] {
        let name = format!("4.{format}");
        let output = ftio(directory.path(), &["convert", "ours.msgpack", "--to", format, "-o", &name]);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        let output = ftio(directory.path(), &["scale", &name]);
        assert_eq!((output.status.code(), stderr(&output)), (Some(0), String::new()));
        let theirs = lines(&stdout(&output));
        let common =
            theirs.iter().filter(|line| !line.callpath.starts_with("io_") && line.callpath != "main");
        for line in common {
            let expected = value(&ours, 4.0, &line.callpath, &line.metric);
            let near = |expected: f64| (line.value - expected).abs() <= digits * expected.abs();
            assert!(expected.is_some_and(near), "{format}: {line:?}, expected {expected:?}");
        }
        let period = value(&theirs, 4.0, "main", "Period (s)").unwrap();
        assert!((period - 10.0).abs() < 0.1, "{period}");
        assert!(value(&theirs, 4.0, "io_time->total_time", "Time (s)").is_some());
    }
}

#[test]
fn logs_of_darshan_give_their_counters() {
    let directory = tempdir().unwrap();
    for ranks in [2, 4, 8] {
        let record = |rank: i64| {
            let mut record = PosixRecord::new(7, rank);
            record[PosixCounter::Opens] = 1;
            record[PosixCounter::Writes] = 3;
            record[PosixCounter::BytesWritten] = 3000;
            record
        };
        let records: Vec<PosixRecord> = (0..ranks).map(record).collect();
        let log = LogWriter::new(Format::V3_21, Job { nprocs: ranks, ..Job::default() })
            .name(7, "/scratch/out.12.dat")
            .records(4, &records)
            .to_bytes()
            .unwrap();
        std::fs::write(
            directory.path().join(format!("{}.darshan", ["", "a", "b", "", "c"][ranks as usize / 2])),
            log,
        )
        .unwrap();
    }
    let output = ftio(directory.path(), &["scale", "."]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stderr(&output).contains("does not tell when its I/O took place"), "{}", stderr(&output));
    let found = lines(&stdout(&output));
    for ranks in [2.0, 4.0, 8.0] {
        assert_eq!(value(&found, ranks, "write_sync->total_bytes", "Size (B)"), Some(3000.0 * ranks));
        assert_eq!(value(&found, ranks, "write_sync->max_io_ops_per_rank", "Hits"), Some(3.0));
        assert_eq!(value(&found, ranks, "function->open", "Hits"), Some(ranks));
        assert_eq!(value(&found, ranks, "file->out.#.dat->written", "Size (B)"), Some(3000.0 * ranks));
        assert_eq!(value(&found, ranks, "write_sync->T_E", "Bandwidth (B/s)"), None);
    }
}
