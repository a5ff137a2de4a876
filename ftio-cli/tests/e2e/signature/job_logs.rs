//! What people bring in a hurry: other time zones, rows twice, uneven times, steps of jobs, odd names.

use super::{json, own};
use crate::support::{ftio, gzip, stderr, stdout};
use serde_json::Value;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Output;
use tempfile::{TempDir, tempdir};

/// 2024-05-01T03:00:00Z.
const BEGIN: usize = 1_714_532_400;

/// When a run begins: not at even distances, so that no other hour fits as well.
fn start(run: usize) -> usize {
    3000 + 2600 * run + 350 * (run * run % 7)
}

const RUNS: usize = 8;
const END: usize = 30_000;

/// The throughput at a second of the log: the runs, a little noise, and somebody else now and then.
fn throughput(second: usize) -> f64 {
    let own: f64 = (0..RUNS)
        .filter(|run| (start(*run)..start(*run) + 600).contains(&second))
        .map(|run| own(second - start(run)))
        .sum();
    let foreign = if second % 1730 < 25 { 7e8 } else { 0.0 };
    own + foreign + 1e7 + 1e6 * (second / 2 * 7 % 10) as f64
}

fn write_log(directory: &Path, header: &str, row: impl Fn(usize) -> String) {
    let rows = (0..END).step_by(2).fold(String::new(), |text, second| text + &row(second));
    fs::write(directory.join("servers.csv"), format!("{header}\n{rows}")).unwrap();
}

/// 03:00 to 12:00, `ahead` hours later.
fn clock(second: usize, ahead: usize) -> String {
    format!("2024-05-01T{:02}:{:02}:{:02}", 3 + ahead + second / 3600, second / 60 % 60, second % 60)
}

/// One or more lines of `sacct -P` for each run, made from its number, start and end.
fn write_jobs(directory: &Path, line: impl Fn(usize, usize, usize) -> String) {
    let mut text = "JobID|User|NNodes|Start|End|JobName\n".to_owned();
    for run in 0..RUNS {
        text.push_str(&line(run, start(run), start(run) + 600));
    }
    fs::write(directory.join("jobs.txt"), text).unwrap();
}

/// Both as they should be.
fn prepared() -> TempDir {
    let directory = tempdir().unwrap();
    write_log(directory.path(), "time,write", |second| {
        format!("{},{}\n", BEGIN + second, throughput(second))
    });
    write_jobs(directory.path(), |run, start, end| {
        format!("{run}|ann|64|{}|{}|lmp\n", clock(start, 0), clock(end, 0))
    });
    directory
}

fn run(directory: &TempDir, more: &[&str]) -> Output {
    let logs = ["signature", "--log", "servers.csv", "--jobs", "jobs.txt", "--json"];
    ftio(directory.path(), &[&logs[..], more].concat())
}

/// The signature, which has the four bursts of the application.
fn found(directory: &TempDir, more: &[&str]) -> Value {
    let output = run(directory, more);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let found = json(&stdout(&output));
    assert_eq!(found["bursts"].as_array().unwrap().len(), 4, "{}", found["bursts"]);
    found
}

fn bytes(found: &Value) -> f64 {
    found["bytes"].as_f64().unwrap()
}

#[test]
fn a_job_log_in_another_time_zone() {
    let directory = prepared();
    assert!((bytes(&found(&directory, &[])) / 8e10 - 1.0).abs() < 0.1);
    write_jobs(directory.path(), |run, start, end| {
        format!("{run}|ann|64|{}|{}|lmp\n", clock(start, 2), clock(end, 2))
    });
    let output = run(&directory, &[]);
    assert_eq!(output.status.code(), Some(1), "{}", stdout(&output));
    let said = stderr(&output);
    assert!(said.contains("with --utc-offset 7200 the runs have 4 bursts in common"), "{said}");
    found(&directory, &["--utc-offset", "7200"]);
    // The same for the whole job log, and not where there is nothing to find.
    let output = run(&directory, &["--all"]);
    assert!(stderr(&output).contains("--utc-offset 7200"), "{}", stderr(&output));
    write_log(directory.path(), "time,write", |second| {
        format!("{},{}\n", BEGIN + second, 1e7 + (second % 74) as f64)
    });
    let output = run(&directory, &[]);
    assert!(!stderr(&output).contains("--utc-offset"), "{}", stderr(&output));
}

#[test]
fn compressed_logs() {
    let directory = prepared();
    gzip(directory.path(), "servers.csv");
    gzip(directory.path(), "jobs.txt");
    let args = ["signature", "--log", "servers.csv.gz", "--jobs", "jobs.txt.gz", "--json"];
    let output = ftio(directory.path(), &args);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(json(&stdout(&output))["bursts"], found(&directory, &[])["bursts"]);
}

#[test]
fn rows_that_are_there_twice() {
    let directory = prepared();
    let once = bytes(&found(&directory, &[]));
    write_log(directory.path(), "time,write", |second| {
        let row = format!("{},{}\n", BEGIN + second, throughput(second));
        if second % 10 == 0 { row.repeat(2) } else { row }
    });
    write_jobs(directory.path(), |run, start, end| {
        format!("{run}|ann|64|{}|{}|lmp\n", clock(start, 0), clock(end, 0)).repeat(2)
    });
    let output = run(&directory, &[]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stderr(&output).contains("3000 lines repeat the time of the line before"), "{}", stderr(&output));
    assert!(stderr(&output).contains("8 lines repeat jobs and were left out"), "{}", stderr(&output));
    let found = json(&stdout(&output));
    assert_eq!(found["samples"].as_array().unwrap().len(), RUNS);
    assert_eq!(bytes(&found), once);
    // Tasks of a job array at the same time see the same log: no evidence of anything.
    write_jobs(directory.path(), |run, start, end| {
        let task = |task: usize| format!("{run}_{task}|ann|64|{}|{}|lmp\n", clock(start, 0), clock(end, 0));
        task(0) + &task(1)
    });
    let found = json(&stdout(&run(&directory, &[])));
    let twin = |sample: &&Value| sample["reason"].as_str().is_some_and(|why| why.contains("same time as"));
    assert_eq!(found["samples"].as_array().unwrap().iter().filter(twin).count(), RUNS);
}

#[test]
fn a_log_at_uneven_times() {
    let directory = prepared();
    // Lines are 2, 4, 8 or 2 s apart; each is the mean until the next.
    let mut text = "time,write\n".to_owned();
    let mut second = 0;
    for length in [2, 4, 8, 2].into_iter().cycle() {
        let mean = (second..second + length).map(throughput).sum::<f64>() / length as f64;
        let _ = writeln!(text, "{},{mean}", BEGIN + second);
        second += length;
        if second >= END {
            break;
        }
    }
    fs::write(directory.path().join("servers.csv"), text).unwrap();
    let output = run(&directory, &["--least-points", "30"]);
    assert!(stderr(&output).contains("2 to 8 s apart"), "{}", stderr(&output));
    let found = found(&directory, &["--least-points", "30"]);
    assert!((bytes(&found) / 8e10 - 1.0).abs() < 0.15, "{}", bytes(&found));
}

#[test]
fn kibibytes_and_milliseconds() {
    let directory = prepared();
    // Ten times as much, in KiB per second.
    write_log(directory.path(), "time,write [KiB/s]", |second| {
        format!("{},{}\n", BEGIN + second, throughput(second) / 102.4)
    });
    let found_kib = found(&directory, &[]);
    assert!((bytes(&found_kib) / 8e11 - 1.0).abs() < 0.1, "{}", bytes(&found_kib));
    let highest = found_kib["bursts"][0]["height"].as_f64().unwrap();
    assert!((highest / 1e10 - 1.0).abs() < 0.1, "{highest}");
    // Milliseconds since 1970 in a table are seen to be that; in a job log they are said to be.
    write_log(directory.path(), "time,write", |second| {
        format!("{},{}\n", 1000 * (BEGIN + second), throughput(second))
    });
    write_jobs(directory.path(), |run, start, end| {
        format!("{run}|ann|64|{}|{}|lmp\n", 1000 * (BEGIN + start), 1000 * (BEGIN + end))
    });
    let output = run(&directory, &[]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("a factor 1000 larger (milliseconds?)"), "{}", stderr(&output));
    // A column that says so is understood.
    write_log(directory.path(), "time [ms],write", |second| {
        format!("{},{}\n", 1000 * (BEGIN + second), throughput(second))
    });
    let output = run(&directory, &[]);
    assert!(stderr(&output).contains("times of the jobs are a factor 1000"), "{}", stderr(&output));
}

#[test]
fn steps_of_jobs_and_ends_before_starts() {
    let directory = prepared();
    write_jobs(directory.path(), |run, start, end| {
        let times = format!("{}|{}", clock(start, 0), clock(end, 0));
        // With users of their own, as after a join of tables.
        let steps = format!("{run}.batch|ann|64|{times}|batch\n{run}.extern|ann|64|{times}|extern\n");
        let line = match run {
            5 => format!("{run}|ann|64|{}|{}|lmp\n", clock(end, 0), clock(start, 0)),
            _ => format!("{run}|ann|64|{times}|lmp\n"),
        };
        let steps = if run == 5 { String::new() } else { steps };
        format!("{line}{steps}{run}.0||64|{times}|lmp\n")
    });
    let output = run(&directory, &[]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let said = stderr(&output);
    assert!(said.contains("1 line left out; the first is line 22: ends 600 s before it starts"), "{said}");
    assert_eq!(json(&stdout(&output))["samples"].as_array().unwrap().len(), RUNS - 1);
    assert_eq!(json(&stdout(&output))["name"], "ann 64 lmp");
}

#[test]
fn empty_names_and_names_in_any_script() {
    let directory = prepared();
    let named = |user: &str, name: &str| {
        write_jobs(directory.path(), |run, start, end| {
            format!("{run}|{user}|64|{}|{}|{name}\n", clock(start, 0), clock(end, 0))
        });
    };
    named("jürgen", "Größe→流体|v2");
    let found_named = found(&directory, &["--user", "jürgen", "--name", "流体"]);
    assert_eq!(found_named["name"], "jürgen 64 Größe→流体|v2");
    named("ann", "");
    assert_eq!(found(&directory, &[])["name"], "ann 64");
    let output = run(&directory, &["--user", "bob"]);
    assert!(stderr(&output).contains("--user ann --nodes 64 (8 runs)"), "{}", stderr(&output));
    named("", "lmp");
    let output = run(&directory, &[]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("expected a user, found nothing"), "{}", stderr(&output));
}
