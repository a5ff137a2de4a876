//! `ftio categorize`: a small archive, read as users do.

use crate::support::{ftio, stderr, stdout};
use darshan_log::write::LogWriter;
use darshan_log::{Format, Job, PosixCounter, PosixRecord, PosixTime, Timestamp};
use serde_json::Value;
use std::path::Path;

/// A log of a run of 1000 s that wrote at these times.
fn log(path: &Path, user: i64, command: &str, writes: &[(f64, f64, i64)]) {
    let record = |(at, &(start, end, bytes)): (usize, &(f64, f64, i64))| {
        let mut record = PosixRecord::new(1 + at as u64, -1);
        record[PosixCounter::Opens] = 1;
        record[PosixCounter::BytesWritten] = bytes;
        record[PosixTime::OpenStartTimestamp] = start;
        record[PosixTime::OpenEndTimestamp] = start;
        record[PosixTime::WriteStartTimestamp] = start;
        record[PosixTime::WriteEndTimestamp] = end;
        record[PosixTime::CloseStartTimestamp] = end;
        record[PosixTime::CloseEndTimestamp] = end;
        record
    };
    let records: Vec<PosixRecord> = writes.iter().enumerate().map(record).collect();
    let job = Job {
        uid: user,
        nprocs: 4,
        start: Timestamp { seconds: 1000, nanoseconds: 0 },
        end: Timestamp { seconds: 2000, nanoseconds: 0 },
        command: command.into(),
        ..Job::default()
    };
    std::fs::write(path, LogWriter::new(Format::V3_41, job).records(4, &records).to_bytes().unwrap())
        .unwrap();
}

/// Checkpoints of one application, twice; a result at the end of another; and a file that is not a log.
fn archive(folder: &Path) {
    std::fs::create_dir_all(folder.join("logs/2024")).unwrap();
    let bursts = |bytes: i64| -> Vec<(f64, f64, i64)> {
        (0..10).map(|i| (100.0 * f64::from(i), 100.0 * f64::from(i) + 5.0, bytes)).collect()
    };
    log(&folder.join("logs/2024/a.darshan"), 1, "/bin/sim x", &bursts(100_000_000));
    log(&folder.join("logs/2024/b.darshan"), 1, "/opt/sim y", &bursts(200_000_000));
    log(&folder.join("logs/c.darshan"), 2, "/bin/sim", &[(950.0, 990.0, 5_000_000_000)]);
    std::fs::write(folder.join("logs/broken.darshan"), b"3.41\0 and no more").unwrap();
    std::fs::write(folder.join("logs/notes.txt"), b"not looked at").unwrap();
}

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn every_log_has_a_line() {
    let folder = tempfile::tempdir().unwrap();
    archive(folder.path());
    let output = ftio(folder.path(), &["categorize", "logs", "--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stdout(&output).starts_with(
        "{\"schema\":\"ftio.category/1\",\"source\":\"logs/2024/a.darshan\",\"status\":\"duplicate\""
    ));
    let lines = lines(&stdout(&output));
    let told: Vec<(&str, &str)> = lines
        .iter()
        .map(|line| (line["source"].as_str().unwrap(), line["status"].as_str().unwrap()))
        .collect();
    assert_eq!(
        told,
        [
            ("logs/2024/a.darshan", "duplicate"),
            ("logs/2024/b.darshan", "ok"),
            ("logs/broken.darshan", "invalid"),
            ("logs/c.darshan", "ok")
        ]
    );
    assert!(lines[0]["reason"].as_str().unwrap().contains("logs/2024/b.darshan"));
    assert!(lines[2]["reason"].as_str().unwrap().starts_with("logs/broken.darshan: "));
    assert_eq!(lines[1]["bytes_written"], 2_000_000_000u64);
    let period = &lines[1]["periods"][0];
    assert_eq!((period["direction"].as_str(), period["period"].as_f64()), (Some("write"), Some(100.0)));
    let witness = lines[1]["write"]["witness"]["period"].as_f64().unwrap();
    assert!((witness - 100.0).abs() < 3.0, "{witness}");
    for name in ["write_periodic_minute", "periodic_minute", "write_steady", "read_insignificant"] {
        assert!(lines[1]["categories"].as_array().unwrap().iter().any(|other| other == name), "{name}");
    }
    assert!(lines[3]["why"].to_string().contains("write_on_end: "), "{}", lines[3]["why"]);
    assert!(!stderr(&output).contains("left"), "no progress bar without a terminal: {}", stderr(&output));
}

#[test]
fn shards_joined_are_what_one_machine_makes() {
    let folder = tempfile::tempdir().unwrap();
    archive(folder.path());
    let run = |args: &[&str]| {
        let output = ftio(folder.path(), args);
        assert_eq!(output.status.code(), Some(0), "{args:?}: {}", stderr(&output));
        stdout(&output)
    };
    let results = ["--json", "--html", "one.html", "--summary", "one.json", "--bad-logs", "one.txt"];
    let one = run(&[&["categorize", "logs"][..], &results].concat());
    for shard in ["1/3", "2/3", "3/3"] {
        let part = format!("part-{}", &shard[..1]);
        assert_eq!(run(&["categorize", "logs", "--shard", shard, "-o", &part]), "");
    }
    let results = ["--json", "--html", "three.html", "--summary", "three.json", "--bad-logs", "three.txt"];
    let three = run(&[&["categorize", "merge", "part-1", "part-2", "part-3"][..], &results].concat());
    assert_eq!(one, three);
    for ending in ["html", "json", "txt"] {
        let read =
            |name: &str| std::fs::read_to_string(folder.path().join(format!("{name}.{ending}"))).unwrap();
        assert_eq!(read("one"), read("three"), "{ending}");
    }
    assert_eq!(run(&["categorize", "logs"]), run(&["categorize", "merge", "part-3", "part-1", "part-2"]));
    let missing = ftio(folder.path(), &["categorize", "merge", "part-1", "part-3"]);
    assert_eq!(missing.status.code(), Some(1));
    assert!(stderr(&missing).contains("missing of 3: 2"), "{}", stderr(&missing));
}

#[test]
fn the_summary_and_the_report() {
    let folder = tempfile::tempdir().unwrap();
    archive(folder.path());
    let output = ftio(
        folder.path(),
        &["categorize", "logs", "--summary", "s.json", "--html", "r.html", "--bad-logs", "bad.txt"],
    );
    let text = stdout(&output);
    assert!(
        text.starts_with("4 logs: 2 applications, 1 further run, 1 invalid\n100.0 % of the further runs"),
        "{text}"
    );
    assert!(
        text.contains("write_on_end                                  50.0 %        33.3 %     8 %, 14 %"),
        "{text}"
    );
    assert!(text.contains("logs/broken.darshan: "), "{text}");
    let summary: Value =
        serde_json::from_slice(&std::fs::read(folder.path().join("s.json")).unwrap()).unwrap();
    assert_eq!(summary["schema"], "ftio.categorize.summary/1");
    assert_eq!(summary["unique"]["table_2"]["write"]["minute"], 0.5);
    assert_eq!(summary["all_runs"]["table_2"]["write"]["periodic"], 2.0 / 3.0);
    assert_eq!(summary["all_runs"]["witness"]["write"]["same_period"], 2);
    let page = std::fs::read_to_string(folder.path().join("r.html")).unwrap();
    assert!(page.contains("logs/c.darshan") && page.contains("write_periodic_minute"));
    assert!(
        !page.contains("http://") && !page.contains("https://") && !page.contains("{{"),
        "needs a network"
    );
    let bad = std::fs::read_to_string(folder.path().join("bad.txt")).unwrap();
    assert!(bad.starts_with("logs/broken.darshan\t") && bad.lines().count() == 1, "{bad}");
}

#[test]
fn thresholds_are_options_and_documented() {
    let folder = tempfile::tempdir().unwrap();
    archive(folder.path());
    let categories = |args: &[&str]| {
        let output = ftio(folder.path(), &[&["categorize", "--json", "logs/c.darshan"], args].concat());
        lines(&stdout(&output))[0]["categories"].to_string()
    };
    assert!(categories(&[]).contains("write_on_end"));
    assert!(categories(&["--set", "significant-bytes=6e9"]).contains("write_insignificant"));
    assert_eq!(ftio(folder.path(), &["categorize", "logs", "--set", "chunks=2"]).status.code(), Some(2));
    let help = stdout(&ftio(folder.path(), &["categorize", "--set", "help"]));
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/archives.md");
    let docs = std::fs::read_to_string(docs).unwrap();
    let help_words = help.split_whitespace().collect::<Vec<_>>().join(" ");
    for row in mosaic::thresholds::TABLE {
        assert!(help_words.contains(row.name), "help: {}", row.name);
        assert!(help_words.contains(row.source), "help: {}", row.source);
        let documented = format!("| {} | {} |", row.meaning, row.source);
        assert!(docs.contains(&format!("| `{}` |", row.name)) && docs.contains(&documented), "{}", row.name);
    }
}

#[test]
fn an_interrupted_run_is_resumed_and_other_settings_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    archive(folder.path());
    let first = ftio(folder.path(), &["categorize", "logs/2024", "-o", "part"]);
    assert_eq!(first.status.code(), Some(0));
    let second = ftio(folder.path(), &["categorize", "logs", "-o", "part"]);
    assert!(stderr(&second).contains("part holds 2 logs already; 2 logs to go"), "{}", stderr(&second));
    assert_eq!(stdout(&second), stdout(&ftio(folder.path(), &["categorize", "logs"])));
    let other = ftio(folder.path(), &["categorize", "logs", "-o", "part", "--spike", "60"]);
    assert_eq!(other.status.code(), Some(1));
    assert!(stderr(&other).contains("spike 60,"), "{}", stderr(&other));
}

#[test]
fn an_archive_without_a_usable_log_is_a_failure() {
    let folder = tempfile::tempdir().unwrap();
    archive(folder.path());
    for (args, code) in [
        (&["categorize", "logs/broken.darshan"][..], 1),
        (&["categorize", "logs/none.darshan"], 1),
        (&["categorize"], 2),
        (&["categorize", "merge"], 2),
        (&["categorize", "merge", "logs/c.darshan"], 1),
        (&["categorize", "logs", "--shard", "1/2"], 2),
        (&["categorize", "logs", "--shard", "3/2", "-o", "p"], 2),
    ] {
        let output = ftio(folder.path(), args);
        assert_eq!(output.status.code(), Some(code), "{args:?} {}", stderr(&output));
        assert!(!output.stderr.is_empty() || !output.stdout.is_empty(), "{args:?}");
    }
}

#[test]
fn a_sample_is_judged() {
    let folder = tempfile::tempdir().unwrap();
    archive(folder.path());
    let args = ["categorize", "logs", "--judge", "judge.html", "--sample", "1", "--html", "site.html"];
    let output = ftio(folder.path(), &args);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stdout(&output).contains("read_insignificant: write_insignificant"), "{}", stdout(&output));
    let page = std::fs::read_to_string(folder.path().join("judge.html")).unwrap();
    assert_eq!(page.matches("class=\"case\"").count(), 1);
    // Two applications; the one with two runs moved 3 GB, the other 5 GB.
    let site = std::fs::read_to_string(folder.path().join("site.html")).unwrap();
    let rows = site.split("<table id=\"site\">").nth(1).unwrap().split("</table>").next().unwrap();
    assert_eq!(rows.matches("<tr><td>sim</td>").count(), 2, "{rows}");
    assert!(
        rows.contains("data-value=\"3000000000\"") && rows.contains("data-value=\"5000000000\""),
        "{rows}"
    );
    let judged = r#"{"judged":[{"source":"a","right":true},{"source":"b","right":false}]}"#;
    std::fs::write(folder.path().join("judged.json"), judged).unwrap();
    let output = ftio(folder.path(), &["categorize", "accuracy", "judged.json", "judged.json"]);
    assert!(stdout(&output).starts_with("50.0 % of 4 applications judged right"), "{}", stdout(&output));
    std::fs::write(folder.path().join("judged.json"), "{}").unwrap();
    let output = ftio(folder.path(), &["categorize", "accuracy", "judged.json"]);
    assert_eq!(output.status.code(), Some(1));
}

/// A run that tmio and Darshan have traced at the same time, and the same as a table.
#[test]
fn any_input_is_categorised() {
    let folder = tempfile::tempdir().unwrap();
    let pairs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/studies/mosaic/tests/pairs");
    for name in ["checkpoints.msgpack", "checkpoints.darshan"] {
        std::fs::copy(pairs.join(name), folder.path().join(name)).unwrap();
    }
    let output = ftio(folder.path(), &["convert", "checkpoints.msgpack", "-o", "table.csv"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let output = ftio(folder.path(), &["categorize", ".", "--json"]);
    assert_eq!(lines(&stdout(&output)).len(), 1, "only Darshan logs: {}", stdout(&output));
    let output = ftio(folder.path(), &["categorize", "--all-files", ".", "--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let all = lines(&stdout(&output));
    let told: Vec<(&str, &str)> =
        all.iter().map(|line| (line["source"].as_str().unwrap(), line["status"].as_str().unwrap())).collect();
    // Two runs of one application by one user, of which the Darshan log has a few bytes more; of the table
    // nobody knows whose it is.
    assert_eq!(
        told,
        [("./checkpoints.darshan", "ok"), ("./checkpoints.msgpack", "duplicate"), ("./table.csv", "ok")]
    );
    let names = |line: &Value| -> Vec<String> {
        let names = line["categories"].as_array().unwrap().iter();
        names.map(|name| name.as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names(&all[0]), names(&all[1]));
    let without_metadata: Vec<String> =
        names(&all[2]).into_iter().filter(|name| !name.starts_with("metadata")).collect();
    assert_eq!(without_metadata, names(&all[1]), "which has no category of metadata");
    assert!(all[1]["metadata"]["operations"].as_u64().unwrap() >= 192, "{}", all[1]["metadata"]);
    let nothing = tempfile::tempdir().unwrap();
    let none = ftio(nothing.path(), &["categorize", "."]);
    assert!(stderr(&none).contains("--all-files takes others"), "{}", stderr(&none));
}
