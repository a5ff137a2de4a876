//! `ftio signature`: logs and samples in; JSON, tables and pictures out.

use crate::schemas::valid;
use crate::support::{Script, ftio, stderr, stdout};
use serde_json::Value;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use tempfile::tempdir;

mod job_logs;
mod logs;

/// 1 GB/s for 20 s at 100, 220, 340 … s of a run of 600 s.
fn own(second: usize) -> f64 {
    if (100..580).contains(&second) && (second - 100) % 120 < 20 { 1e9 } else { 0.0 }
}

/// A sample of 2 s steps: the application, a little noise, and somebody else at a time of his own.
fn sample(run: usize) -> String {
    let mut text = "time,value\n".to_owned();
    for line in 0..300 {
        let second = 2 * line;
        let noise = 2e7 + 1e6 * ((line * 7 + run * 13) % 10) as f64;
        let foreign = if (150 + 57 * run..165 + 57 * run).contains(&second) { 8e8 } else { 0.0 };
        let _ = writeln!(text, "{second},{}", own(second) + noise + foreign);
    }
    text
}

fn write_samples(directory: &Path, count: usize) -> Vec<String> {
    let write = |run: usize| {
        let name = format!("run-{run}.csv");
        fs::write(directory.join(&name), sample(run)).unwrap();
        name
    };
    (0..count).map(write).collect()
}

fn run(directory: &Path, options: &[&str], files: &[String]) -> std::process::Output {
    let mut arguments = vec!["signature"];
    arguments.extend(options);
    arguments.extend(files.iter().map(String::as_str));
    ftio(directory, &arguments)
}

/// A log of two servers and the jobs of two users; the second runs at other times.
fn write_logs(directory: &Path, runs: usize) {
    let mut log = "time,ost0_write [MB/s],ost1_write [MB/s],ost0_read [MB/s]\n".to_owned();
    for line in 0..(runs * 1000) / 2 {
        let second = 2 * line;
        let half = own(second % 1000) / 2e6 + 10.0;
        let _ = writeln!(log, "{second},{half},{half},{}", 5.0);
    }
    fs::write(directory.join("servers.csv"), log).unwrap();
    let mut jobs = "JobID|User|NNodes|Start|End|JobName\n".to_owned();
    for run in 0..runs {
        let _ = writeln!(jobs, "{run}|ann|64|{}|{}|lmp", 1000 * run, 1000 * run + 600);
        let _ = writeln!(jobs, "{run}.batch||1|{}|{}|batch", 1000 * run, 1000 * run + 600);
    }
    let _ = writeln!(jobs, "900|bob|8|0|Unknown|x");
    fs::write(directory.join("jobs.txt"), jobs).unwrap();
}

const LOGS: [&str; 5] = ["signature", "--log", "servers.csv", "--jobs", "jobs.txt"];

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[test]
fn samples_to_json_and_json_is_an_input() {
    let directory = tempdir().unwrap();
    let files = write_samples(directory.path(), 8);
    let output = run(directory.path(), &["--json", "--samples"], &files);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let text = stdout(&output);
    assert!(text.starts_with("{\"schema\":\"ftio.signature/1\""));
    valid(&text, "ftio.signature/1");
    let found = json(&text);
    let bursts = found["bursts"].as_array().unwrap();
    assert_eq!(bursts.len(), 4);
    for (number, burst) in bursts.iter().enumerate() {
        let start = burst["start"].as_f64().unwrap();
        assert!((start - 100.0 - 120.0 * number as f64).abs() < 3.0, "{burst}");
        assert!(burst["votes"].as_u64().unwrap() >= 6 && burst["height"].as_f64().unwrap() > 8e8);
    }
    assert!((found["bytes"].as_f64().unwrap() / 8e10 - 1.0).abs() < 0.1);
    assert_eq!(found["series"].as_array().unwrap().len() as f64, found["duration"].as_f64().unwrap());
    assert!(found["quality"]["mean"].as_f64().unwrap() > 0.9);
    assert!(found["samples"].as_array().unwrap().iter().all(|sample| sample["used"] == true));
    for key in ["background", "grid", "period"] {
        assert!(!found[key].is_null(), "{key}");
    }

    fs::write(directory.path().join("signature.json"), &text).unwrap();
    let output = ftio(directory.path(), &["--json", "signature.json"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let period = json(&stdout(&output))["period"].as_f64().unwrap();
    assert!((period - 120.0).abs() < 3.0, "{period}");
}

#[test]
fn table_csv_and_pictures() {
    let directory = tempdir().unwrap();
    let files = write_samples(directory.path(), 6);
    let options = ["--csv", "out.csv", "--plot", "out.svg", "--samples"];
    let output = run(directory.path(), &options, &files);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let text = stdout(&output);
    assert!(
        text.contains("4 bursts") && text.contains("from 6 of 6 runs") && text.contains("votes"),
        "{text}"
    );
    let csv = fs::read_to_string(directory.path().join("out.csv")).unwrap();
    assert!(csv.starts_with("time,bandwidth\n0,0\n"), "{}", &csv[..40]);
    let svg = fs::read_to_string(directory.path().join("out.svg")).unwrap();
    assert!(svg.contains("Signature of samples") && svg.contains(">4<"), "bursts are numbered");
    let output = ftio(directory.path(), &["--json", "out.csv"]);
    assert!((json(&stdout(&output))["period"].as_f64().unwrap() - 120.0).abs() < 3.0);
}

#[test]
fn log_and_jobs() {
    let directory = tempdir().unwrap();
    write_logs(directory.path(), 7);
    let mut arguments = LOGS.to_vec();
    arguments.extend(["--user", "ann", "--nodes", "64", "--json"]);
    let output = ftio(directory.path(), &arguments);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let found = json(&stdout(&output));
    valid(&stdout(&output), "ftio.signature/1");
    assert_eq!(found["name"], "ann 64 lmp");
    assert_eq!((&found["user"], &found["runs"]), (&Value::from("ann"), &Value::from(7)));
    assert_eq!(found["bursts"].as_array().unwrap().len(), 4);
    // Two servers of half a GB/s each, in MB/s.
    assert!((found["bytes"].as_f64().unwrap() / 8e10 - 1.0).abs() < 0.1, "{}", found["bytes"]);
    assert!(stderr(&output).contains("\"Unknown\""), "{}", stderr(&output));

    arguments.push("--apart");
    let output = ftio(directory.path(), &arguments);
    let lines: Vec<Value> = stdout(&output).lines().map(json).collect();
    assert_eq!(lines.len(), 2);
    assert!((lines[0]["bytes"].as_f64().unwrap() / 4e10 - 1.0).abs() < 0.1);

    let output = ftio(directory.path(), &[&LOGS[..], &["--user", "eve", "--nodes", "1"]].concat());
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("--user ann --nodes 64 --name lmp (7 runs)"), "{}", stderr(&output));
}

#[test]
fn all_applications_and_resuming() {
    let directory = tempdir().unwrap();
    write_logs(directory.path(), 7);
    let arguments = [&LOGS[..], &["--all", "-o", "out.jsonl"]].concat();
    let first = ftio(directory.path(), &arguments);
    assert_eq!(first.status.code(), Some(0), "{}", stderr(&first));
    assert!(
        stdout(&first).contains("ann 64 lmp") && stdout(&first).contains("4 bursts, every 120 s"),
        "{}",
        stdout(&first)
    );
    let file = directory.path().join("out.jsonl");
    let whole = fs::read_to_string(&file).unwrap();
    assert_eq!(whole.lines().count(), 2);
    valid(whole.lines().nth(1).unwrap(), "ftio.signature/1");
    // All of them are an input.
    let output = ftio(directory.path(), &["--json", "out.jsonl"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!((json(&stdout(&output))["period"].as_f64().unwrap() - 120.0).abs() < 3.0);
    // Killed in the middle of a line.
    fs::write(&file, &whole[..whole.len() - 100]).unwrap();
    let second = ftio(directory.path(), &arguments);
    assert_eq!(second.status.code(), Some(0), "{}", stderr(&second));
    assert_eq!(fs::read_to_string(&file).unwrap(), whole);
    let third = ftio(directory.path(), &arguments);
    assert!(stderr(&third).contains("1 signature already there; 0 to go"), "{}", stderr(&third));
    let other = ftio(directory.path(), &[&arguments[..], &["--kappa", "0.8"]].concat());
    assert_eq!(other.status.code(), Some(1));
    assert!(stderr(&other).contains("other settings"), "{}", stderr(&other));
    let jobs = fs::read_to_string(directory.path().join("jobs.txt")).unwrap();
    fs::write(directory.path().join("jobs.txt"), jobs + "901|bob|8|0|100|x\n").unwrap();
    let other = ftio(directory.path(), &arguments);
    assert_eq!(other.status.code(), Some(1));
    assert!(stderr(&other).contains("a log has grown since"), "{}", stderr(&other));
}

#[test]
fn bad_input_is_named() {
    let directory = tempdir().unwrap();
    let path = directory.path();
    let mut files = write_samples(path, 6);
    fs::write(path.join("short.csv"), "time,value\n0,1\n2,1\n4,1\n").unwrap();
    fs::write(path.join("broken.csv"), "what is this?").unwrap();
    let idle: String =
        (0..300).fold("time,value\n".to_owned(), |text, line| format!("{text}{},0\n", 2 * line));
    fs::write(path.join("idle.csv"), &idle).unwrap();
    let gap: String = sample(1)
        .lines()
        .enumerate()
        .filter(|(i, _)| !(100..150).contains(i))
        .map(|(_, line)| format!("{line}\n"))
        .collect();
    fs::write(path.join("gap.csv"), gap).unwrap();
    let long: String =
        (0..900).fold("time,value\n".to_owned(), |text, line| format!("{text}{},3e8\n", 2 * line));
    fs::write(path.join("long.csv"), long).unwrap();
    files.extend(
        ["short.csv", "broken.csv", "idle.csv", "gap.csv", "long.csv", "missing.csv"].map(String::from),
    );
    let output = run(path, &["--json", "--samples"], &files);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let found = json(&stdout(&output));
    let reason = |name: &str| {
        let samples = found["samples"].as_array().unwrap();
        let sample = samples.iter().find(|sample| sample["name"] == name).unwrap_or_else(|| panic!("{name}"));
        assert_eq!(sample["used"], false, "{name}");
        sample["reason"].as_str().unwrap().to_owned()
    };
    assert!(reason("short.csv").contains("too short: 3 lines"));
    assert!(reason("idle.csv").contains("idle"));
    assert!(
        reason("gap.csv").contains("% of the run") || reason("gap.csv").contains("gap"),
        "{}",
        reason("gap.csv")
    );
    assert!(reason("long.csv").contains("unlike the others"), "{}", reason("long.csv"));
    assert!(reason("missing.csv").contains("missing.csv"));
    assert!(reason("broken.csv").contains("broken.csv"));
    assert_eq!(found["bursts"].as_array().unwrap().len(), 4);

    let output = run(path, &["--samples"], &files[..3]);
    assert!(stderr(&output).contains("only 3 usable samples"), "{}", stderr(&output));
    fs::write(path.join("idle2.csv"), &idle).unwrap();
    let output = run(path, &["--samples"], &["idle.csv".to_owned(), "idle2.csv".to_owned()]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("no signature"), "{}", stderr(&output));
    assert!(stdout(&output).contains("not used: idle.csv: idle"), "{}", stdout(&output));
}

#[test]
fn clocks_that_do_not_fit_are_said() {
    let directory = tempdir().unwrap();
    write_logs(directory.path(), 6);
    let jobs = fs::read_to_string(directory.path().join("jobs.txt")).unwrap();
    let times = |factor: f64, offset: f64| {
        let change = |line: &str| {
            let fields: Vec<String> = line
                .split('|')
                .enumerate()
                .map(|(i, field)| match field.parse::<f64>() {
                    Ok(time) if i == 3 || i == 4 => (factor * time + offset).to_string(),
                    _ => field.to_owned(),
                })
                .collect();
            fields.join("|")
        };
        jobs.lines().map(change).collect::<Vec<_>>().join("\n")
    };
    let refused = |text: &str| {
        fs::write(directory.path().join("jobs.txt"), text).unwrap();
        let output = ftio(directory.path(), &[&LOGS[..], &["--user", "ann", "--nodes", "64"]].concat());
        assert_eq!(output.status.code(), Some(1), "{}", stdout(&output));
        stderr(&output)
    };
    assert!(refused(&times(1000.0, 1e6)).contains("factor 1000"), "milliseconds");
    assert!(refused(&times(1.0, 1e6)).contains("same clock"), "another clock");
}

#[test]
fn beside_a_trace() {
    let directory = tempdir().unwrap();
    let files = write_samples(directory.path(), 6);
    Script::bursts(2, 12).write(&directory.path().join("truth.msgpack"));
    let output = run(directory.path(), &["--json", "--truth", "truth.msgpack", "--samples"], &files);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    valid(&stdout(&output), "ftio.signature/1");
    let truth = &json(&stdout(&output))["truth"];
    assert_eq!(truth["bursts"], 12);
    assert!(truth["volume"].as_f64().unwrap() > 1000.0, "another application altogether");
}

#[test]
fn place_and_stagger() {
    let directory = tempdir().unwrap();
    let path = directory.path();
    let files = write_samples(path, 6);
    let output = run(path, &["--json", "--samples"], &files);
    fs::write(path.join("signature.json"), stdout(&output)).unwrap();
    // One partition that is busy all day, one that is idle.
    let log = |level: f64| {
        (0..8640).fold("time,value\n".to_owned(), |text, line| format!("{text}{},{level}\n", 10 * line))
    };
    fs::write(path.join("busy.csv"), log(1.5e9)).unwrap();
    fs::write(path.join("idle.csv"), log(1e7)).unwrap();
    let arguments =
        ["signature", "place", "signature.json", "--capacity", "2GB", "--json", "--plot", "place.svg"];
    let output = ftio(path, &[&arguments[..], &["--partition", "busy.csv", "idle.csv"]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    valid(&stdout(&output), "ftio.signature-place/1");
    let found = json(&stdout(&output));
    assert_eq!(found["placements"][0]["partition"], "idle.csv");
    assert_eq!(found["placements"][0]["interference"], 0.0);
    assert!(found["placements"][0]["gain"].as_f64().unwrap() > 10.0, "{found}");
    assert!(fs::read_to_string(path.join("place.svg")).unwrap().contains("idle.csv: start in 0 s"));

    let arguments = ["signature", "stagger", "signature.json", "signature.json", "signature.json"];
    let options = ["--capacity", "1.2GB", "--wait", "120", "--json", "--plot", "stagger.svg"];
    let output = ftio(path, &[&arguments[..], &options].concat());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    valid(&stdout(&output), "ftio.signature-stagger/1");
    let found = json(&stdout(&output));
    assert!(found["peak_at_once"].as_f64().unwrap() > 2.5e9);
    assert!(found["peak"].as_f64().unwrap() < 1.3e9, "{found}");
    assert!(found["gain"].as_f64().unwrap() > 50.0);
    assert!(path.join("stagger.svg").exists());
}
