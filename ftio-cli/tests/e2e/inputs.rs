//! Inputs of other formats, from files, standard input and folders.

use crate::support::{Script, ftio, stderr, stdout};
use serde_json::Value;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

fn fixtures() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/inputs/sources/tests/fixtures")
}

fn json(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn standard_input_gives_what_the_file_gives() {
    for (name, arguments) in
        [("tmio.jsonl", &["--json", "-"][..]), ("requests.csv", &["info", "--json", "-"])]
    {
        let mut child = Command::new(env!("CARGO_BIN_EXE_ftio"))
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(&std::fs::read(fixtures().join(name)).unwrap()).unwrap();
        let found = &json(&stdout(&child.wait_with_output().unwrap()))[0];
        assert_eq!(found["source"], "standard input");
        match found.get("period") {
            Some(period) => assert!((period.as_f64().unwrap() - 10.0).abs() < 0.1),
            None => assert_eq!(found["write_sync"]["bytes"], 24 << 20),
        }
    }
}

#[test]
fn every_file_of_a_folder_is_analysed() {
    let dir = tempfile::tempdir().unwrap();
    let results = dir.path().join("results");
    std::fs::create_dir(&results).unwrap();
    for name in ["tmio.json", "tmio.msgpack", "requests.csv", "proxy.msgpack"] {
        std::fs::copy(fixtures().join(name), results.join(name)).unwrap();
    }
    Script::bursts(2, 10).write(&results.join("a.msgpack"));
    let output = ftio(dir.path(), &["--json", "results"]);
    assert_eq!((output.status.code(), stderr(&output)), (Some(0), String::new()));
    let found = json(&stdout(&output));
    assert_eq!(found.len(), 5);
    assert!(found.iter().all(|found| (found["period"].as_f64().unwrap() - 10.0).abs() < 0.2));

    // A file that is not a trace is named, and the others are read.
    std::fs::write(results.join("README"), "Lorem ipsum dolor sit amet\n").unwrap();
    for command in [&["--json", "results"][..], &["info", "--json", "results"]] {
        let output = ftio(dir.path(), command);
        assert_eq!(output.status.code(), Some(1));
        assert!(stderr(&output).starts_with("ftio: results/README: unknown format: expected a trace"));
        assert!(stderr(&output).contains("--pattern FILE"), "{}", stderr(&output));
        assert_eq!(stdout(&output).lines().count(), 5);
    }
}

#[test]
fn merge_takes_inputs_as_parts_of_one_job() {
    let dir = fixtures();
    let output = ftio(&dir, &["--json", "--merge", "gekkofs_write.json", "gekkofs_write.msgpack"]);
    let found = &json(&stdout(&output))[0];
    assert_eq!(found["source"], "gekkofs_write.json and 1 more");
    assert_eq!((found["ranks"].as_u64(), found["total_bytes"].as_u64()), (Some(2), Some(48 << 20)));
}

#[test]
fn a_pattern_file_says_where_the_numbers_are() {
    let dir = fixtures();
    let output = ftio(&dir, &["--json", "--pattern", "log.toml", "log.txt"]);
    let found = &json(&stdout(&output))[0];
    assert_eq!((found["ranks"].as_u64(), found["total_bytes"].as_u64()), (Some(2), Some(24 << 20)));
    let output = ftio(&dir, &["--pattern", "log.txt", "log.txt"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        stderr(&output).starts_with("ftio: log.txt: line 1: expected a pattern file"),
        "{}",
        stderr(&output)
    );
    let output = ftio(&dir, &["log.txt"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("text that a pattern describes"), "{}", stderr(&output));
}

#[test]
fn metric_selects_by_a_part_of_the_name() {
    let dir = tempfile::tempdir().unwrap();
    let rows: String = (0..60).map(|t| format!("{t},{},{}\n", t % 10 / 8, t % 6 / 4)).collect();
    std::fs::write(dir.path().join("two.csv"), format!("time,cpu,network\n{rows}")).unwrap();
    let found = json(&stdout(&ftio(dir.path(), &["--json", "two.csv"])));
    let names: Vec<&str> = found.iter().map(|found| found["source"].as_str().unwrap()).collect();
    assert_eq!(names, ["two.csv: cpu", "two.csv: network"]);
    let period = |found: &Value| found["period"].as_f64().unwrap();
    assert!((period(&found[0]) - 10.0).abs() < 0.2 && (period(&found[1]) - 6.0).abs() < 0.2, "{found:?}");
    let found = json(&stdout(&ftio(dir.path(), &["--json", "--metric", "net", "two.csv"])));
    assert_eq!(found.len(), 1);
    let output = ftio(dir.path(), &["--metric", "disk", "two.csv"]);
    assert_eq!(
        stderr(&output),
        "ftio: two.csv: expected a metric whose name contains \"disk\", found cpu, network\n"
    );
}
