//! Logs and job logs with something wrong in them, and those of other tools.

use super::{LOGS, json, own, run, write_logs, write_samples};
use crate::schemas::valid;
use crate::support::{ftio, stderr, stdout};
use serde_json::Value;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use tempfile::tempdir;

/// The log as it would be if only `keep` of its lines were there, with times changed by `time`.
fn change_log(directory: &Path, keep: impl Fn(usize) -> bool, time: impl Fn(usize) -> f64) {
    let path = directory.join("servers.csv");
    let text = fs::read_to_string(&path).unwrap();
    let mut lines = text.lines();
    let mut out = format!("{}\n", lines.next().unwrap());
    for (number, line) in lines.enumerate().filter(|(number, _)| keep(*number)) {
        let (_, rest) = line.split_once(',').unwrap();
        let _ = writeln!(out, "{},{rest}", time(number));
    }
    fs::write(path, out).unwrap();
}

fn of_ann(directory: &Path, more: &[&str]) -> std::process::Output {
    ftio(directory, &[&LOGS[..], &["--user", "ann", "--nodes", "64", "--json"], more].concat())
}

fn reasons(output: &std::process::Output) -> Vec<String> {
    let found = json(&stdout(output));
    let samples = found["samples"].as_array().unwrap();
    samples.iter().filter_map(|sample| sample["reason"].as_str().map(str::to_owned)).collect()
}

#[test]
fn a_log_that_ends_too_early_or_has_gaps() {
    let directory = tempdir().unwrap();
    let path = directory.path();
    let even = |line: usize| 2.0 * line as f64;
    // Ends in the last of eight runs; the third one has a gap of 100 s, the fourth one of 10 s.
    write_logs(path, 8);
    let missing = |line: usize| line > 3600 || (1100..1150).contains(&line) || (1600..1605).contains(&line);
    change_log(path, |line| !missing(line), even);
    let output = of_ann(path, &[]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let reasons = reasons(&output);
    assert_eq!(reasons.len(), 2, "{reasons:?}");
    assert!(reasons.iter().any(|reason| reason.contains("covers 34 % of the run")), "{reasons:?}");
    assert!(reasons.iter().any(|reason| reason.contains("covers 83 % of the run")), "{reasons:?}");
    assert!(stderr(&output).contains("% of the time nothing was logged"), "{}", stderr(&output));
    assert_eq!(json(&stdout(&output))["bursts"].as_array().unwrap().len(), 4);
}

#[test]
fn a_clock_that_steps_is_said() {
    let directory = tempdir().unwrap();
    write_logs(directory.path(), 8);
    // At the end of the seventh run the clock is set back by 40 s.
    let time = |line: usize| 2.0 * line as f64 - if line >= 3300 { 40.0 } else { 0.0 };
    change_log(directory.path(), |_| true, time);
    let output = of_ann(directory.path(), &[]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stderr(&output).contains("the clock goes back by 38 s at 6598 s"), "{}", stderr(&output));
}

#[test]
fn daylight_saving_in_the_job_log_is_said() {
    let directory = tempdir().unwrap();
    let path = directory.path();
    write_logs(path, 6);
    // The log counts from 1970; the jobs are on 2024-10-27 in summer time, UTC + 2.
    let begin = 1_729_980_000.0;
    change_log(path, |_| true, |line| begin + 2.0 * line as f64);
    let mut jobs = "JobID|User|NNodes|Start|End|Elapsed|JobName\n".to_owned();
    let clock =
        |second: usize| format!("2024-10-27T{:02}:{:02}:{:02}", second / 3600, second / 60 % 60, second % 60);
    for run in 0..6 {
        // 22:00 UTC is midnight there; the end of the last run is written in winter time.
        let (start, end) = (1000 * run, 1000 * run + 600);
        let shown = if run == 5 { clock(end + 3600) } else { clock(end) };
        let _ = writeln!(jobs, "{run}|ann|64|{}|{shown}|00:10:00|lmp", clock(start));
    }
    fs::write(path.join("jobs.txt"), jobs).unwrap();
    let output = of_ann(path, &["--utc-offset", "7200"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stderr(&output).contains("1 jobs end an hour earlier or later"), "{}", stderr(&output));
    let found = json(&stdout(&output));
    assert_eq!(found["bursts"].as_array().unwrap().len(), 4);
    assert!(found["samples"].as_array().unwrap().iter().all(|sample| sample["used"] == true));
}

#[test]
fn reads_counters_and_logs_of_other_tools() {
    let directory = tempdir().unwrap();
    let path = directory.path();
    write_logs(path, 6);
    let lines = 6 * 1000 / 2;
    let found = |more: &[&str]| {
        let output = of_ann(path, more);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        json(&stdout(&output))
    };
    let is_right = |found: &Value, bytes: f64| {
        assert_eq!(found["bursts"].as_array().unwrap().len(), 4, "{found}");
        assert!((found["bytes"].as_f64().unwrap() / bytes - 1.0).abs() < 0.1, "{}", found["bytes"]);
    };
    // Two columns of reads, in bytes per second.
    let mut text = "time,read,write\n".to_owned();
    for line in 0..lines {
        let _ = writeln!(text, "{},{},1e6", 2 * line, own(2 * line % 1000) + 1e7);
    }
    fs::write(path.join("servers.csv"), text).unwrap();
    let reads = found(&["--direction", "read"]);
    is_right(&reads, 8e10);
    assert_eq!(reads["direction"], "read");
    assert_eq!(of_ann(path, &[]).status.code(), Some(1), "there are no bursts in the writes");

    // LMT: a row for each server and moment, counters.
    let mut text = "timestamp,ost,read_bytes,write_bytes\n".to_owned();
    let mut counter = 1e12;
    for line in 0..lines {
        for ost in ["OST0000", "OST0001"] {
            let _ = writeln!(text, "{},{ost},7,{counter}", 2 * line);
        }
        counter += own(2 * line % 1000) + 1e7;
    }
    fs::write(path.join("servers.csv"), text).unwrap();
    is_right(&found(&[]), 8e10);

    // collectl: day and time of day, KB per second.
    let mut text = "#Date Time [CPU]User% [DSK]WriteTot [DSK]ReadKBTot [DSK]WriteKBTot\n".to_owned();
    for line in 0..lines {
        let second = 2 * line;
        let clock = format!("{:02}:{:02}:{:02}", second / 3600, second / 60 % 60, second % 60);
        let kilobytes = (own(second % 1000) + 1e7) / 1024.0;
        let _ = writeln!(text, "19700101 {clock} 12 999 0 {kilobytes:.0}");
    }
    fs::write(path.join("servers.csv"), text).unwrap();
    is_right(&found(&[]), 8e10);

    // The answer of Prometheus to a range query, of two servers.
    let result = |server: &str| {
        let mut sum = 0.0;
        let values: Vec<Value> = (0..lines)
            .map(|line| {
                sum += own(2 * line % 1000) + 1e7;
                serde_json::json!([2 * line, format!("{sum}")])
            })
            .collect();
        serde_json::json!({"metric": {"__name__": "ost_write_bytes_total", "ost": server}, "values": values})
    };
    let results = [result("OST0000"), result("OST0001")].map(|one| one.to_string()).join(",");
    let answer = format!(r#"{{"status":"success","data":{{"resultType":"matrix","result":[{results}]}}}}"#);
    fs::write(path.join("servers.csv"), answer).unwrap();
    is_right(&found(&[]), 8e10);
}

#[test]
fn runs_of_different_length_and_a_periodic_neighbour() {
    let directory = tempdir().unwrap();
    let path = directory.path();
    // The sixth of seven runs takes twice as long; during the fourth somebody writes every 45 s.
    let mut log = "time,write\n".to_owned();
    for line in 0..7 * 1500 / 2 {
        let (run, second) = (2 * line / 1500, 2 * line % 1500);
        let pace = if run == 5 { 2 } else { 1 };
        let neighbour = if run == 3 && second % 45 < 6 { 4e8 } else { 0.0 };
        let noise = 1e7 + 1e6 * (line * 7 % 10) as f64;
        let _ = writeln!(log, "{},{}", 2 * line, own(second / pace) + noise + neighbour);
    }
    fs::write(path.join("servers.csv"), log).unwrap();
    let mut jobs = "id,user,nodes,start,end,name\n".to_owned();
    for run in 0..7 {
        let length = if run == 5 { 1200 } else { 600 };
        let _ = writeln!(jobs, "{run},ann,64,{},{},lmp", 1500 * run, 1500 * run + length);
    }
    jobs.push_str("77,eve,2,4450,5900,pulse\n78,bob,2,0,1000,other\n");
    fs::write(path.join("jobs.txt"), jobs).unwrap();
    let output = of_ann(path, &["--outlier-share", "0"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(
        stderr(&output).contains("1 of 7 samples run more than 1.5 times as long"),
        "{}",
        stderr(&output)
    );
    let found = json(&stdout(&output));
    assert_eq!(found["bursts"].as_array().unwrap().len(), 4);
    valid(&stdout(&output), "ftio.signature/1");
    let periodic = &found["background"]["periodic"][0];
    assert!((periodic["period"].as_f64().unwrap() - 45.0).abs() < 1.0, "{periodic}");
    assert_eq!(periodic["samples"][0], "3");
    assert_eq!(periodic["candidates"][0], "eve 2 pulse (77)");
}

#[test]
fn a_signature_is_an_input_of_the_other_commands() {
    let directory = tempdir().unwrap();
    let path = directory.path();
    let output = run(path, &["--json", "--samples"], &write_samples(path, 6));
    fs::write(path.join("signature.json"), stdout(&output)).unwrap();
    let output = ftio(path, &["--json", "signature.json"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let found = json(&stdout(&output));
    assert!((found["period"].as_f64().unwrap() - 120.0).abs() < 2.0, "{}", found["period"]);
    // The last burst began at 460 s; the next one of the period is due when the signature ends.
    let next = found["next_phase"]["start"].as_f64().unwrap();
    assert!((570.0..610.0).contains(&next), "{next}");
    let output = ftio(path, &["categorize", "signature.json"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let periodic =
        stdout(&output).lines().any(|line| line.contains("write_periodic") && line.contains("100.0 %"));
    assert!(periodic, "{}", stdout(&output));
}
