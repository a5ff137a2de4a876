//! The same window of the same trace has the same period, to the last digit, whichever command is asked. (The
//! core's tests of the same name hold single windows against each other; here every command is.)

use crate::support::{SECOND, Script, blocking, ftio, stderr, stdout};
use darshan_log::write::LogWriter;
use darshan_log::{Format, HeatmapRecord, Job, Layer, PosixCounter, PosixRecord, PosixTime, Timestamp};
use serde_json::Value;
use sources::time::nanoseconds;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;
use tmio_trace::Direction;

fn lines(folder: &Path, args: &[&str]) -> Vec<Value> {
    let output = ftio(folder, args);
    assert_eq!(output.status.code(), Some(0), "{args:?}: {}", stderr(&output));
    stdout(&output).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn detected(folder: &Path, args: &[&str]) -> (Value, Value) {
    let found = lines(folder, &[args, &["--json"]].concat()).remove(0);
    (found["period"].clone(), found["confidence"].clone())
}

/// A trace of one rank that writes for a second at these times, and ends some seconds after the last. Beside
/// it, under the name `running-…`, the same while the job still runs: all of it but its end.
fn trace(folder: &Path, name: &str, starts: &[f64]) {
    let write = |start: &f64| {
        let start = nanoseconds(*start);
        blocking(Direction::Write, start, start + SECOND, 1 << 26)
    };
    let end = nanoseconds(*starts.last().unwrap()) + 4 * SECOND;
    let blocks = vec![(0, starts.iter().map(write).collect())];
    let script = Script { ranks: 1, end, blocks, process_written: 0 };
    script.write(&folder.join(name));
    let (bytes, ends) = script.frames();
    let parts = folder.join(format!("running-{name}.parts"));
    std::fs::create_dir(&parts).unwrap();
    std::fs::write(parts.join("node"), &bytes[..ends[ends.len() - 2]]).unwrap();
}

fn traces(folder: &Path) -> [&'static str; 3] {
    let regular: Vec<f64> = (0..25).map(|i| 3.21 + 8.017 * f64::from(i)).collect();
    let irregular: Vec<f64> =
        [0.0, 3.0, 21.0, 24.5, 27.0, 66.0, 90.0, 92.2, 131.0, 180.0, 183.0, 199.0, 240.0].to_vec();
    let changing: Vec<f64> = (0..20)
        .map(|i| 1.0 + 6.1 * f64::from(i))
        .chain((0..20).map(|i| 130.0 + 15.3 * f64::from(i)))
        .collect();
    trace(folder, "regular", &regular);
    trace(folder, "irregular", &irregular);
    trace(folder, "changing", &changing);
    ["regular", "irregular", "changing"]
}

#[test]
fn detect_over_time_predict_schedule_and_scale_agree() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("config")).unwrap();
    for name in traces(folder.path()) {
        let (period, confidence) = detected(folder.path(), &[name]);
        assert!(name != "regular" || period.is_f64(), "{period}");

        let over_time = lines(folder.path(), &[name, "--over-time", "--json"]).remove(0);
        let segments = over_time["over_time"]["segments"].as_array().unwrap().clone();
        assert!(name != "changing" || segments.len() > 1, "{segments:?}");
        for segment in segments {
            let window = [segment["start"].to_string(), segment["end"].to_string()];
            let alone = detected(folder.path(), &[name, "--ts", &window[0], "--te", &window[1]]);
            assert_eq!((segment["period"].clone(), segment["confidence"].clone()), alone, "{name} {segment}");
        }

        let args = ["predict", "--window", "all", "--until-complete", "--json", name];
        let predicted = lines(folder.path(), &args).pop().unwrap();
        assert_eq!(predicted["period"], period, "{name}: {predicted}");
        assert_eq!(predicted["confidence"], confidence, "{name}: {predicted}");

        let args = ["predict", "--until-complete", "--json", name];
        let predicted = lines(folder.path(), &args).pop().unwrap();
        let window = [predicted["window"][0].to_string(), predicted["window"][1].to_string()];
        let alone = detected(folder.path(), &[name, "--ts", &window[0], "--te", &window[1]]);
        assert_eq!(
            (predicted["period"].clone(), predicted["confidence"].clone()),
            alone,
            "{name}: {predicted}"
        );

        schedule_agrees(folder.path(), name);

        let scaled = lines(folder.path(), &["scale", "-o", "-", name]);
        let measured = scaled.iter().find(|line| line["metric"] == "Period (s)").map(|line| &line["value"]);
        assert_eq!(measured.unwrap_or(&Value::Null), &period, "{name}");
    }
}

/// The period that a priority is based on is that of a prediction, and of a detection in its window.
/// `schedule` follows running jobs, and asks for periods of a second or more.
fn schedule_agrees(folder: &Path, name: &str) {
    let name = format!("running-{name}");
    let shortest = ["--min-period", "1"];
    let predicted = lines(folder, &[&["predict", "--timeout", "1", "--json", &name], &shortest[..]].concat());
    let predicted = predicted.first().expect("a prediction");
    let window = [predicted["window"][0].to_string(), predicted["window"][1].to_string()];
    let found = detected(folder, &[&[&name, "--ts", &window[0], "--te", &window[1]], &shortest[..]].concat());
    assert_eq!((&predicted["period"], &predicted["confidence"]), (&found.0, &found.1), "{name}: {predicted}");

    let mut child = Command::new(env!("CARGO_BIN_EXE_ftio"))
        .args(["schedule", "--configfs", "config", "--json", "--job", "7", &name])
        .current_dir(folder)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut next = || serde_json::from_str::<Value>(&said.next().expect("a line").unwrap()).unwrap();
    let started = next();
    assert_eq!((&started["event"], &started["period"]), (&"started".into(), &Value::Null), "{name}");
    if found.0.is_null() {
        // Its first look is over with this line, or a little later; nothing else may be said.
        std::thread::sleep(Duration::from_millis(500));
    } else {
        let changed = next();
        assert_eq!(changed["event"], "changed", "{name}: {changed}");
        assert_eq!((&changed["t"], &changed["period"]), (&predicted["t"], &found.0), "{name}: {changed}");
    }
    let pid = child.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
    assert!(child.wait().unwrap().success());
    let rest: Vec<String> = said.map(Result::unwrap).collect();
    assert!(!rest.iter().any(|line| line.contains("\"changed\"")), "{name}: {rest:?}");
}

#[test]
fn categorize_says_what_ftio_says_of_a_heatmap() {
    for every in [7, 10, 25] {
        let folder = tempfile::tempdir().unwrap();
        let job = Job {
            nprocs: 4,
            start: Timestamp { seconds: 1000, nanoseconds: 0 },
            end: Timestamp { seconds: 1200, nanoseconds: 0 },
            command: "/bin/app".into(),
            ..Job::default()
        };
        let mut posix = PosixRecord::new(7, -1);
        posix[PosixCounter::Opens] = 4;
        posix[PosixCounter::BytesWritten] = 10_000_000_000;
        posix[PosixTime::WriteStartTimestamp] = 1.0;
        posix[PosixTime::WriteEndTimestamp] = 199.0;
        let heatmap = HeatmapRecord {
            id: HeatmapRecord::id_of(Layer::Posix),
            rank: -1,
            bin_width: 1.0,
            write_bins: (0..200).map(|bin| if bin % every == 3 { 500_000_000 } else { 0 }).collect(),
            read_bins: vec![0; 200],
        };
        let log = LogWriter::new(Format::V3_41, job).name(7, "/scratch/out").records(4, &[posix]);
        let bytes = log.heatmaps(&[heatmap]).to_bytes().unwrap();
        std::fs::write(folder.path().join("app.darshan"), bytes).unwrap();
        let (period, confidence) = detected(folder.path(), &["app.darshan"]);
        assert!(period.is_f64(), "{every}: {period}");
        let line = lines(folder.path(), &["categorize", "--json", "app.darshan"]).remove(0);
        let witness = &line["write"]["witness"];
        assert_eq!((&witness["period"], &witness["confidence"]), (&period, &confidence), "{every}: {line}");
    }
}
