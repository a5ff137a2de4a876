//! What a new user meets: typing errors, narrow terminals, the examples of the Python FTIO, jobs that are not
//! there yet.

use crate::support::{Script, ftio, stderr, stdout};
use std::process::{Command, Output};

fn in_columns(directory: &std::path::Path, columns: &str, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_ftio"))
        .args(args)
        .current_dir(directory)
        .env("COLUMNS", columns)
        .output()
        .unwrap()
}

#[test]
fn a_mistyped_command_is_told_apart_from_a_file() {
    let dir = tempfile::tempdir().unwrap();
    for (word, meant) in [("inf", "ftio info"), ("predic", "ftio predict"), ("version", "ftio --version")] {
        let output = ftio(dir.path(), &[word, "run.msgpack"]);
        assert_eq!(output.status.code(), Some(2), "{word}");
        assert!(stderr(&output).contains(&format!("did you mean {meant}?")), "{}", stderr(&output));
    }
    let output = ftio(dir.path(), &["run.msgpack"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(!stderr(&output).contains("did you mean"), "{}", stderr(&output));
}

#[test]
fn text_fits_the_terminal() {
    let dir = tempfile::tempdir().unwrap();
    Script::bursts(4, 12).write(&dir.path().join("run.msgpack"));
    Script::bursts(2, 5).write(&dir.path().join("other.msgpack"));
    let commands: [&[&str]; 5] = [
        &["run.msgpack"],
        &["info", "run.msgpack"],
        &["advise", "run.msgpack"],
        &["report", "--format", "text", "run.msgpack"],
        &["diff", "run.msgpack", "other.msgpack"],
    ];
    for command in commands {
        for columns in [60, 80, 200] {
            let output = in_columns(dir.path(), &columns.to_string(), command);
            let text = stdout(&output);
            let longest = text.lines().map(|line| line.chars().count()).max().unwrap();
            assert!(longest <= columns, "{command:?} at {columns}: {longest}\n{text}");
        }
    }
    let wide = stdout(&in_columns(dir.path(), "200", &["run.msgpack"]));
    let narrow = stdout(&in_columns(dir.path(), "80", &["run.msgpack"]));
    let bars = |text: &str| text.lines().find(|line| line.contains("Bandwidth")).unwrap().chars().count();
    assert!(bars(&wide) > bars(&narrow) + 80, "the line grows with the terminal");
}

#[test]
fn tables_fit_80_columns() {
    let dir = tempfile::tempdir().unwrap();
    let long = format!("{}.msgpack", "run-with-all-its-settings-in-the-name".repeat(3));
    for name in [long.as_str(), "other.msgpack"] {
        Script::bursts(2, 5).write(&dir.path().join(name));
    }
    let text = stdout(&in_columns(dir.path(), "80", &[&long, "other.msgpack"]));
    let table: Vec<&str> = text.lines().skip_while(|line| !line.ends_with("  Phases")).collect();
    assert_eq!(table.len(), 3, "{text}");
    assert!(table.iter().all(|line| line.chars().count() <= 80), "{table:#?}");
    assert!(table[1].starts_with("run-with-a") && table[1].contains("name.msgpack "), "{table:#?}");

    let job = |number, run| format!("{number} 0 -1 {run} 4 -1 -1 4 {run} -1 1 1 1 -1 1 -1 -1 -1\n");
    std::fs::write(dir.path().join("jobs.swf"), job(1, 100) + &job(2, 999_999)).unwrap();
    let text = stdout(&in_columns(dir.path(), "80", &["simulate", "batch", "jobs.swf", "--nodes", "4"]));
    assert!(text.contains("mean wait") && text.contains("mebf"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
}

#[test]
fn every_phase_has_a_mark() {
    let dir = tempfile::tempdir().unwrap();
    Script::bursts(2, 12).write(&dir.path().join("run.msgpack"));
    for columns in ["60", "80", "96"] {
        let text = stdout(&in_columns(dir.path(), columns, &["run.msgpack"]));
        assert!(text.lines().any(|line| line.ends_with("12 phases")), "{text}");
        let line =
            text.lines().find(|line| line.contains('‾')).unwrap_or_else(|| panic!("{columns}: {text}"));
        let marks = line.split(' ').filter(|part| part.contains('‾')).count();
        assert_eq!(marks, 12, "{columns}: {text}");
    }
}

#[test]
fn command_lines_of_the_python_ftio() {
    let dir = tempfile::tempdir().unwrap();
    Script::bursts(2, 12).write(&dir.path().join("8.jsonl"));
    for args in [
        &["8.jsonl", "-e", "no"][..],
        &["-re", "8.jsonl", "-e", "no"],
        &["8.jsonl", "-re"],
        &["8.jsonl", "-ts", "10", "-te", "100", "-f", "10", "-v", "-e", "no"],
        &["8.jsonl", "-m", "write_sync", "-o", "z-score", "-au", "-np", "-e", "no"],
        &["predict", "8.jsonl", "-w", "-e", "no", "--timeout", "0.2"],
        &["predict", "8.jsonl", "-x", "5", "--timeout", "0.2"],
        &["predict", "-w", "frequency_hits", "8.jsonl", "--timeout", "0.2"],
    ] {
        let output = ftio(dir.path(), args);
        assert_eq!(output.status.code(), Some(0), "{args:?}: {}", stderr(&output));
    }
    let output = ftio(dir.path(), &["8.jsonl", "-e", "plotly"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(dir.path().join("ftio.html").exists());
}

#[test]
fn predict_says_what_it_waits_for() {
    let dir = tempfile::tempdir().unwrap();
    let output = ftio(dir.path(), &["predict", "--timeout", "0.3", "nope.msgpack"]);
    assert!(stderr(&output).contains("waiting for nope.msgpack"), "{}", stderr(&output));
    std::fs::write(dir.path().join("LICENSE"), "Redistribution and use in source and binary forms").unwrap();
    let output = ftio(dir.path(), &["predict", "--timeout", "2.5", "--poll", "0.5", "LICENSE"]);
    assert!(stderr(&output).contains("LICENSE: unknown format"), "{}", stderr(&output));
    let output = ftio(dir.path(), &["predict", "http://localhost:1337/metrics"]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(stderr(&output).contains("follows files, not servers"), "{}", stderr(&output));
    for target in ["9798", ":99999"] {
        let output = ftio(dir.path(), &["predict", "--prometheus", target, "LICENSE"]);
        assert_eq!(output.status.code(), Some(2), "{target}: {}", stderr(&output));
        assert!(!dir.path().join(target).exists());
    }
    let output = ftio(dir.path(), &["predict", "--timeout", "0.3", "--socket", ":99999", "LICENSE"]);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    for command in ["trace", "run"] {
        let output = ftio(dir.path(), &[command, "--flush", "interval:-1", "--", "true"]);
        assert_eq!(output.status.code(), Some(2), "{command}: {}", stderr(&output));
        assert!(stderr(&output).contains("interval:SECONDS with 0.01 or more"), "{}", stderr(&output));
    }
}

#[test]
fn what_cannot_be_known_is_null() {
    let dir = tempfile::tempdir().unwrap();
    // Nothing was moved, but when is known.
    std::fs::write(dir.path().join("zero.csv"), "start,end,bytes\n1,2,0\n3,4,0\n").unwrap();
    let json = |args: &[&str]| -> serde_json::Value {
        serde_json::from_str(&stdout(&ftio(dir.path(), args))).unwrap()
    };
    let found = json(&["--json", "zero.csv"]);
    assert_eq!((&found["t_start"], &found["t_end"]), (&1.0.into(), &4.0.into()), "{found}");
    for name in ["sampling_frequency", "frequency_resolution", "period"] {
        assert!(found[name].is_null(), "{name}: {found}");
    }
    assert!(found["evidence"]["no_period"].is_null(), "{found}");
    assert!(json(&["info", "--json", "zero.csv"])["coverage"]["mpi_io_bytes"].is_null());
    // The same bandwidth all the time: no phase.
    std::fs::write(dir.path().join("one.csv"), "start,end,bytes\n1,2,5\n").unwrap();
    let found = json(&["--json", "one.csv"]);
    assert_eq!((&found["signal"], &found["phases"]), (&"constant".into(), &serde_json::json!([])), "{found}");
}

#[test]
fn a_folder_that_is_not_there_is_no_archive() {
    let dir = tempfile::tempdir().unwrap();
    let output = ftio(dir.path(), &["categorize", "typo"]);
    assert_eq!((output.status.code(), stdout(&output)), (Some(1), String::new()));
    assert_eq!(stderr(&output), "ftio: typo: No such file or directory (os error 2)\n");
}

#[test]
fn a_sampled_quantity_has_its_own_numbers() {
    let dir = tempfile::tempdir().unwrap();
    let mut text = String::from("time,load\n");
    for t in 0..240 {
        text += &format!("{t},{}\n", if t % 10 < 3 { 0.75 } else { 0.0 });
    }
    std::fs::write(dir.path().join("load.csv"), text).unwrap();
    let output = ftio(dir.path(), &["load.csv"]);
    let shown = stdout(&output);
    assert!(shown.contains("Value") && !shown.contains("B/s") && !shown.contains(" ranks"), "{shown}");
    let output = ftio(dir.path(), &["--json", "load.csv"]);
    let found: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
    let b_io = found["characterization"]["b_io"].as_f64().unwrap();
    assert!((b_io - 0.75).abs() < 0.01, "{b_io}");
}

#[test]
fn no_advice_to_switch_on_an_incomplete_trace() {
    let dir = tempfile::tempdir().unwrap();
    let mut script = Script::bursts(4, 20);
    script.process_written = 4 << 30;
    let (bytes, ends) = script.frames();
    // The last frames are lost: the blocks of the last rank, and the end.
    std::fs::write(dir.path().join("cut.msgpack"), &bytes[..ends[ends.len() - 3]]).unwrap();
    for args in [&["cut.msgpack"][..], &["info", "cut.msgpack"]] {
        let output = ftio(dir.path(), args);
        assert!(!stdout(&output).contains("MPI-IO mode"), "{}", stdout(&output));
    }
    script.write(&dir.path().join("whole.msgpack"));
    assert!(stdout(&ftio(dir.path(), &["info", "whole.msgpack"])).contains("MPI-IO mode"));
}

#[test]
fn phases_as_a_table() {
    let dir = tempfile::tempdir().unwrap();
    Script::bursts(2, 5).write(&dir.path().join("run.msgpack"));
    let text = stdout(&ftio(dir.path(), &["--csv=phases", "run.msgpack"]));
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "source,rank,file,phase,start,end,bytes,bandwidth,start_time,end_time");
    assert_eq!(lines.len(), 6);
    let start: f64 = lines[1].split(',').nth(4).unwrap().parse().unwrap();
    assert!(lines[1].starts_with("run.msgpack,,,1,") && (start - 4.0).abs() < 0.2, "{}", lines[1]);
    assert!(lines[1].contains("2023-11-14T22:13:2"), "{}", lines[1]);
}

#[test]
fn the_next_phase_on_the_clock() {
    let dir = tempfile::tempdir().unwrap();
    Script::bursts(2, 12).write(&dir.path().join("run.msgpack"));
    let args = ["predict", "--json", "--until-complete", "--prometheus", "ftio.prom", "run.msgpack"];
    let output = ftio(dir.path(), &args);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let last = stdout(&output).lines().last().unwrap().to_owned();
    let found: serde_json::Value = serde_json::from_str(&last).unwrap();
    // The job began at 1 700 000 000 s; its next phase is expected 124 s later.
    let next = found["next_phase"]["start_timestamp"].as_f64().unwrap();
    assert!((next - 1_700_000_124.0).abs() < 0.5, "{found}");
    assert!(found["next_phase"]["start_time"].as_str().unwrap().starts_with("2023-11-14T22:15:2"), "{found}");
    let text = std::fs::read_to_string(dir.path().join("ftio.prom")).unwrap();
    let metric = "ftio_next_phase_start_timestamp_seconds{source=\"run.msgpack\"} ";
    let value = text.lines().find_map(|line| line.strip_prefix(metric)).unwrap();
    assert_eq!(value.parse::<f64>().unwrap(), next);
}
