//! `ftio batch`: workloads in, schedules out.

use crate::schemas::valid;
use crate::support::{Script, ftio, gzip, stderr, stdout};
use serde_json::Value;
use std::fs;
use tempfile::tempdir;

/// Number, submit time, run time, nodes and requested time of three rigid jobs; the third fits before the
/// second.
const PLAIN: &str = "; Computer: a test\n\
    1 0 -1 100 3 -1 -1 3 -1 -1 1 1 1 7 1 -1 -1 -1\n\
    2 10 -1 50 4 -1 -1 4 60 -1 1 1 1 8 1 -1 -1 -1\n\
    3 20 -1 60 1 -1 -1 1 -1 -1 1 1 1 7 1 -1 -1 -1\n";

fn objects(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_plain_workload_by_hand() {
    let dir = tempdir().unwrap();
    fs::write(dir.path().join("a.swf"), PLAIN).unwrap();
    let args = ["simulate", "batch", "a.swf", "--nodes", "4", "--json"];
    let output = ftio(dir.path(), &args);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    valid(&stdout(&output), "ftio.batch/1");
    let found = objects(&stdout(&output));
    let starts = |one: &Value| -> Vec<f64> {
        one["jobs"].as_array().unwrap().iter().map(|job| job["start"].as_f64().unwrap()).collect()
    };
    let policies: Vec<&str> = found.iter().map(|one| one["policy"].as_str().unwrap()).collect();
    assert_eq!(policies, ["fcfs", "easy", "mebf"]);
    assert_eq!(starts(&found[0]), [0.0, 100.0, 150.0]);
    assert_eq!(starts(&found[1]), [0.0, 100.0, 20.0]);
    assert_eq!(found[1]["metrics"]["makespan"], 150.0);
    assert_eq!(found[2]["jobs"], found[1]["jobs"]);
}

/// The Parallel Workloads Archive has them compressed, some with names in Latin-1.
#[test]
fn a_compressed_workload() {
    let dir = tempdir().unwrap();
    let workload = [b"; Installation: Universit\xe9\n", PLAIN.as_bytes()].concat();
    fs::write(dir.path().join("a.swf"), workload).unwrap();
    gzip(dir.path(), "a.swf");
    let jobs = |file: &str| {
        let output = ftio(dir.path(), &["simulate", "batch", file, "--nodes", "4", "--json"]);
        assert_eq!(output.status.code(), Some(0), "{file}: {}", stderr(&output));
        objects(&stdout(&output)).iter().map(|one| one["jobs"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(jobs("a.swf").len(), 3);
    assert_eq!(jobs("a.swf.gz"), jobs("a.swf"));
}

#[test]
fn a_generated_workload_with_everything() {
    let dir = tempdir().unwrap();
    let make =
        ["simulate", "workload", "--jobs", "120", "--nodes", "16", "--malleable", "0.5", "-o", "g.swf"];
    assert_eq!(ftio(dir.path(), &make).status.code(), Some(0));
    let first = fs::read_to_string(dir.path().join("g.swf")).unwrap();
    assert_eq!(ftio(dir.path(), &make).status.code(), Some(0));
    assert_eq!(fs::read_to_string(dir.path().join("g.swf")).unwrap(), first);
    let args = ["simulate", "batch", "g.swf", "--policy", "mebf", "--balance", "--plot", "g.svg"];
    let output = ftio(dir.path(), &[&args[..], &["--events", "g.csv", "--cost", "5", "--json"]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    valid(&stdout(&output), "ftio.batch/1");
    assert!(fs::read_to_string(dir.path().join("g.svg")).unwrap().contains("sum of the running jobs"));
    let events = fs::read_to_string(dir.path().join("g.csv")).unwrap();
    assert!(events.starts_with("policy,time,event,job,nodes,free,queued\nmebf,0,submit,1,"), "{events}");
    assert!(events.contains(",expand,") && events.contains(",shrink,"));
    let table = stdout(&ftio(dir.path(), &["simulate", "batch", "g.swf"]));
    assert!(table.contains("120 jobs on 16 nodes") && table.contains("mebf"), "{table}");
}

#[test]
fn models_and_traces_tell_about_jobs() {
    let dir = tempdir().unwrap();
    Script::bursts(4, 12).write(&dir.path().join("run.msgpack"));
    let line = |p: i32| {
        let value = 10.0 + 320.0 / f64::from(p);
        format!("{{\"params\":{{\"p\":{p}}},\"callpath\":\"a\",\"metric\":\"time\",\"value\":{value}}}\n")
    };
    let scales: String = [1, 2, 4, 8, 16, 32].map(line).concat();
    fs::write(dir.path().join("scale.jsonl"), scales).unwrap();
    let model = stdout(&ftio(dir.path(), &["model", "--json", "scale.jsonl"]));
    fs::write(dir.path().join("model.jsonl"), model).unwrap();
    // One malleable job on an empty machine: it takes t(8) / t(4) of its time.
    let job = "1 0 -1 90 4 -1 -1 4 -1 -1 1 1 1 7 1 -1 -1 -1 malleable 1 8\n";
    fs::write(dir.path().join("a.swf"), job).unwrap();
    let args = ["simulate", "batch", "a.swf", "--nodes", "8", "--policy", "mebf", "--json"];
    let more = ["--model", "7=model.jsonl", "--io", "run.msgpack"];
    let output = ftio(dir.path(), &[&args[..], &more].concat());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let found = &objects(&stdout(&output))[0];
    let end = found["jobs"][0]["end"].as_f64().unwrap();
    assert!((end - 90.0 * 50.0 / 90.0).abs() < 0.5, "{end}");
    assert!(found["metrics"]["bandwidth_peak"].as_f64().unwrap() > 0.0);
}

#[test]
fn the_queue_of_jobs_from_their_traces() {
    let dir = tempdir().unwrap();
    Script::bursts(4, 12).write(&dir.path().join("run.msgpack"));
    let args = ["simulate", "queue", "run.msgpack", "--copies", "4", "--bandwidth", "1e6", "--gap", "0.5"];
    let output = ftio(dir.path(), &[&args[..], &["--json", "--plot", "queue.svg"]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    valid(&stdout(&output), "ftio.batch-queue/1");
    let found = &objects(&stdout(&output))[0];
    let shares = found["stationary"].as_array().unwrap();
    assert_eq!((found["jobs"].as_u64(), shares.len()), (Some(4), 5));
    assert!((shares.iter().map(|share| share.as_f64().unwrap()).sum::<f64>() - 1.0).abs() < 1e-9);
    assert!(fs::read_to_string(dir.path().join("queue.svg")).unwrap().contains("I/O queue of 4 jobs"));
    let table = stdout(&ftio(dir.path(), &args));
    assert!(table.contains("of 4 jobs in the I/O queue on average"), "{table}");
}

#[test]
fn what_is_wrong_is_told() {
    let dir = tempdir().unwrap();
    fs::write(dir.path().join("a.swf"), PLAIN).unwrap();
    fs::write(dir.path().join("bad.swf"), "1 0 -1 x 3\n").unwrap();
    fs::write(dir.path().join("empty.swf"), "; nothing\n").unwrap();
    for (args, code, said) in [
        (&["a.swf"][..], 2, "expected --nodes N"),
        (&["bad.swf", "--nodes", "4"], 1, "line 1: expected a number in column 4, found \"x\""),
        (&["empty.swf", "--nodes", "4"], 1, "there is no job in it"),
        (&["missing.swf", "--nodes", "4"], 1, "missing.swf"),
        (&["a.swf", "--nodes", "4", "--policy", "sjf"], 2, "fcfs, easy, mebf"),
    ] {
        let output = ftio(dir.path(), &[&["simulate", "batch"], args].concat());
        assert_eq!(output.status.code(), Some(code), "{args:?}");
        assert!(stderr(&output).contains(said), "{args:?}: {}", stderr(&output));
    }
    let output = ftio(dir.path(), &["simulate", "batch", "a.swf", "--nodes", "3"]);
    assert!(stderr(&output).contains("1 job that needs more than 3 nodes left out"), "{}", stderr(&output));
}
