//! Options of the detection that change what is analysed: methods, groups, waves, segments, required
//! bandwidth, compatibility.

use crate::support::{SECOND, Script, blocking, ftio, nonblocking, stderr, stdout};
use serde_json::Value;
use std::path::Path;
use tmio_trace::{AsyncTimes, Direction};

fn lines(dir: &Path, args: &[&str]) -> Vec<Value> {
    let output = ftio(dir, args);
    assert_eq!((output.status.code(), stderr(&output)), (Some(0), String::new()), "{args:?}");
    stdout(&output).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn period(value: &Value) -> f64 {
    value["period"].as_f64().unwrap_or(f64::NAN)
}

/// Rank 0 writes every 10 s, rank 1 every 4 s.
fn two_ranks() -> Script {
    let mut script = Script::bursts(2, 12);
    let short = |i: i64| blocking(Direction::Write, 4 * i * SECOND, (4 * i + 1) * SECOND, 1 << 20);
    script.blocks[1].1 = (0..30).map(short).collect();
    script
}

#[test]
fn every_outlier_method_alone_and_together() {
    let dir = tempfile::tempdir().unwrap();
    Script::bursts(2, 12).write(&dir.path().join("t"));
    for method in ["zscore", "dbscan", "isolation-forest", "lof", "peaks", "zscore,dbscan", "zscore,lof"] {
        let found = &lines(dir.path(), &["--json", "--outlier", method, "t"])[0];
        assert!((period(found) - 10.0).abs() < 0.05, "{method}: {found}");
        assert!(found["confidence"].as_f64().unwrap() > 0.3, "{method}: {found}");
    }
    for wrong in [
        &["--outlier", "zscore,zscore"][..],
        &["--outlier", "zscore,lof,peaks"],
        &["--compat", "-o", "zscore,lof"],
    ] {
        assert_eq!(ftio(dir.path(), &[wrong, &["t"]].concat()).status.code(), Some(2), "{wrong:?}");
    }
}

#[test]
fn one_result_per_rank_and_per_file() {
    let dir = tempfile::tempdir().unwrap();
    two_ranks().write(&dir.path().join("t"));
    let ranks = lines(dir.path(), &["--json", "--per-rank", "-c", "-n", "2", "--reconstruct", "3", "t"]);
    assert_eq!(ranks.len(), 2);
    for (found, (rank, expected)) in ranks.iter().zip([(0, 10.0), (1, 4.0)]) {
        assert_eq!(found["rank"], rank);
        assert!((period(found) / expected - 1.0).abs() < 0.01, "{found}");
        assert_eq!(found["top_frequencies"].as_array().unwrap().len(), 2);
        assert_eq!(found["reconstruction"]["waves"].as_array().unwrap().len(), 3);
        assert!(found["refined_confidence"].is_number());
    }
    let files = lines(dir.path(), &["--json", "--per-file", "--ts", "20", "--skip-first-phase", "t"]);
    assert_eq!((files.len(), files[0]["file"].as_str()), (1, Some("/scratch/out.dat")));
    assert!(files[0]["t_start"].as_f64().unwrap() >= 20.0);
    let compat = lines(dir.path(), &["--json", "--per-rank", "--compat", "t"]);
    assert!((period(&compat[1]) / 4.0 - 1.0).abs() < 0.1, "{}", compat[1]);
    let text = stdout(&ftio(dir.path(), &["--per-rank", "t"]));
    assert!(text.contains("Rank 0") && text.contains("period 4.00"), "{text}");
    assert_eq!(ftio(dir.path(), &["--per-rank", "--per-file", "t"]).status.code(), Some(2));
}

#[test]
fn a_window_reconstruction_and_segments_in_one_result() {
    let dir = tempfile::tempdir().unwrap();
    // Every 5 s for 200 s, then every 8 s.
    let mut script = Script::bursts(1, 40);
    let at = |start: i64| blocking(Direction::Write, start * SECOND, (start + 1) * SECOND, 1 << 20);
    script.blocks[0].1 = (0..40).map(|i| at(5 * i)).chain((0..25).map(|i| at(200 + 8 * i))).collect();
    script.write(&dir.path().join("t"));
    let found = &lines(dir.path(), &["--json", "--over-time", "t"])[0];
    let segments = found["over_time"]["segments"].as_array().unwrap();
    let periods: Vec<f64> = segments.iter().map(|s| period(s).round()).collect();
    assert_eq!(periods, [5.0, 8.0], "{segments:?}");
    let border = segments[0]["end"].as_f64().unwrap();
    assert!((border - 200.0).abs() < 10.0, "{border}");
    let args = [
        "--json",
        "--over-time",
        "--te",
        "180",
        "--reconstruct",
        "100000",
        "-n",
        "3",
        "--skip-first-phase",
        "t",
    ];
    let found = &lines(dir.path(), &args)[0];
    assert_eq!(found["over_time"]["segments"].as_array().unwrap().len(), 1);
    let rebuilt = &found["reconstruction"];
    assert_eq!(rebuilt["samples"].as_array().unwrap().len() as u64, found["n_samples"].as_u64().unwrap());
    assert!((rebuilt["power"].as_f64().unwrap() - 1.0).abs() < 1e-9);
    assert!(stdout(&ftio(dir.path(), &["--over-time", "t"])).contains("Over time"));
}

#[test]
fn csv_has_a_header_and_a_row_per_result_sample_or_segment() {
    let dir = tempfile::tempdir().unwrap();
    Script::bursts(1, 12).write(&dir.path().join("a,b"));
    let table = |args: &[&str]| {
        let text = stdout(&ftio(dir.path(), &[args, &["a,b"]].concat()));
        text.lines().map(str::to_owned).collect::<Vec<_>>()
    };
    let results = table(&["--csv"]);
    assert_eq!(results.len(), 2);
    assert!(results[0].starts_with("source,rank,file,mode,ranks,total_bytes,"));
    assert!(results[1].starts_with("\"a,b\",,,write,1,12582912,0,120"), "{}", results[1]);
    assert_eq!(results[0].split(',').count() + 1, results[1].split(',').count(), "the name has a comma");
    let signal = table(&["--csv=signal", "-f", "1", "--reconstruct", "4"]);
    assert_eq!((signal.len(), signal[0].as_str()), (121, "source,rank,file,time,bandwidth,reconstruction"));
    assert!(signal[5].starts_with("\"a,b\",,,4,52428"), "{}", signal[5]);
    assert_eq!(table(&["--csv=spectrum", "-f", "1"]).len(), 61);
    assert_eq!(table(&["--csv=segments"]).len(), 2);
    assert_eq!(ftio(dir.path(), &["--csv", "--json", "a,b"]).status.code(), Some(2));
}

#[test]
fn required_bandwidth_and_what_was_hidden() {
    let dir = tempfile::tempdir().unwrap();
    let mut script = Script::bursts(1, 12);
    // Two writes every 10 s, issued together and completed by one wait of 2 s, 4 s later.
    let write = |i: i64| {
        let start = 10 * i * SECOND;
        let times =
            AsyncTimes { issued: start, deadline: start + 4 * SECOND, pending_until: start, test_time: 0 };
        nonblocking(start, start + 6 * SECOND, 4000, times)
    };
    script.blocks[0].1 = (0..24).map(|i| write(i / 2)).collect();
    script.write(&dir.path().join("t"));
    let args = ["--json", "-m", "write_async_required", "-f", "1", "t"];
    let required = &lines(dir.path(), &args)[0];
    assert_eq!(
        (required["mode"].as_str(), required["total_bytes"].as_u64()),
        (Some("write_async_required"), Some(96_000))
    );
    assert!((period(required) - 10.0).abs() < 0.05);
    let b_io = |value: &Value| value["characterization"]["b_io"].as_f64().unwrap();
    assert!((b_io(required) - 2000.0).abs() < 1.0, "{required}");
    let actual = &lines(dir.path(), &["--json", "-m", "write_async", "-f", "1", "t"])[0];
    assert!((b_io(actual) - 8000.0 / 6.0).abs() < 1.0, "{actual}");

    let info = &lines(dir.path(), &["info", "--json", "t"])[0]["write_async"];
    // Twelve waits of 2 s, not twenty-four; of every 6 s with I/O under way 4 were hidden.
    assert!((info["lost_time"].as_f64().unwrap() - 24.0).abs() < 1e-9, "{info}");
    assert!((info["hidden"].as_f64().unwrap() - 4.0 / 6.0).abs() < 1e-9, "{info}");
    assert!((info["hiding_bandwidth"].as_f64().unwrap() / 2000.0 - 1.0).abs() < 0.01, "{info}");
}

#[test]
fn compat_has_its_own_defaults() {
    let dir = tempfile::tempdir().unwrap();
    let mut script = Script::bursts(2, 12);
    let reads = (0..24).map(|i| blocking(Direction::Read, (5 * i + 1) * SECOND, (5 * i + 2) * SECOND, 1000));
    script.blocks.push((0, reads.collect()));
    script.write(&dir.path().join("t"));
    let found = &lines(dir.path(), &["--json", "--compat", "t"])[0];
    assert_eq!(
        (found["mode"].as_str(), found["sampling_frequency"].as_f64()),
        (Some("write_sync"), Some(10.0))
    );
    // From the first event at 4 s to the last at 116 s, on the grid of the DFT: 11.2 periods, of which it
    // sees 11.
    assert_eq!((found["t_start"].as_f64(), found["n_samples"].as_u64()), (Some(4.0), Some(1120)));
    assert!((found["frequency"].as_f64().unwrap() - 10.0 * 11.0 / 1120.0).abs() < 1e-12);
    let refined = &lines(dir.path(), &["--json", "--compat", "-au", "t"])[0];
    assert_eq!(refined["confidence"], refined["refined_confidence"]);
    let read = &lines(dir.path(), &["--json", "--compat", "-m", "read", "-f", "100", "t"])[0];
    assert_eq!(read["mode"].as_str(), Some("read_sync"));
    let none = &lines(dir.path(), &["--json", "--compat", "-m", "write_async", "t"])[0];
    assert!(none["period"].is_null() && none["notes"][0].as_str().unwrap().contains("write_async"));
}

#[test]
fn traces_of_one_or_no_operation_work_with_every_option() {
    let dir = tempfile::tempdir().unwrap();
    let mut script = Script::bursts(1, 1);
    script.write(&dir.path().join("one"));
    script.blocks[0].1[0].bytes = 0;
    script.write(&dir.path().join("zero"));
    script.blocks[0].1[0].end = script.blocks[0].1[0].start;
    script.write(&dir.path().join("instant"));
    script.blocks[0].1.clear();
    script.write(&dir.path().join("none"));
    for trace in ["one", "zero", "instant", "none"] {
        for args in [
            &["--compat", "-c", "--reconstruct", "3", "-n", "3"][..],
            &["--compat", "-f", "-1", "-o", "lof"],
            &["--over-time", "-c", "--reconstruct", "3", "--skip-first-phase"],
            &["--per-rank", "--over-time", "-o", "isolation-forest"],
            &["--per-file", "--csv=segments"],
            &["-m", "write_async_required", "-o", "zscore,peaks"],
            &["-o", "dbscan", "--csv=spectrum"],
        ] {
            let output = ftio(dir.path(), &[args, &[trace]].concat());
            assert_eq!(output.status.code(), Some(0), "{trace} {args:?}: {}", stderr(&output));
            assert!(!stdout(&output).contains("NaN"), "{trace} {args:?}");
        }
    }
}

/// A window that begins within a phase: what is left of it is no phase that begins there.
#[test]
fn a_window_that_cuts_a_phase_of_a_table() {
    let dir = tempfile::tempdir().unwrap();
    let row = |i: i32| format!("{:.6},{:.6},1048576\n", f64::from(i) * 0.8, f64::from(i) * 0.8 + 0.24);
    let rows: String = (0..14).map(row).collect();
    std::fs::write(dir.path().join("run.csv"), format!("start,end,bytes\n{rows}")).unwrap();
    for from in ["7.9", "8.03", "8.06", "8.1", "8.15", "8.2", "8.5"] {
        let text = stdout(&ftio(dir.path(), &["--json", "--ts", from, "--te", "11.5", "run.csv"]));
        let found: Value = serde_json::from_str(&text).unwrap();
        let period = found["period"].as_f64().unwrap_or(f64::NAN);
        assert!((period - 0.8).abs() < 0.004, "from {from}: {period}");
    }
}
