//! `ftio report`.

use crate::support::{SECOND, Script, exit_code, ftio, nonblocking, stderr, stdout};
use serde_json::Value;
use tmio_trace::AsyncTimes;

/// The sections of a page, by their ids.
const SECTIONS: [&str; 9] =
    ["findings", "job", "cost", "time", "phases", "sizes", "files", "nonblocking", "ranks"];

#[test]
fn one_page_holds_everything_and_nothing_from_outside() {
    let dir = tempfile::tempdir().unwrap();
    Script::bursts(4, 12).write(&dir.path().join("run.msgpack"));
    let output = ftio(dir.path(), &["report", "run.msgpack"]);
    assert_eq!((output.status.code(), stderr(&output)), (Some(0), String::new()));
    assert_eq!(stdout(&output), "report.html\n");
    let page = std::fs::read_to_string(dir.path().join("report.html")).unwrap();
    for id in SECTIONS {
        assert!(page.contains(&format!("<section id=\"{id}\">")), "{id}");
    }
    for outside in ["http://", "https://", "src=", "@import", "url("] {
        assert!(!page.contains(outside), "{outside}");
    }
    assert!(!page.contains("{{"), "a place was not filled");
}

#[test]
fn names_from_outside_are_text() {
    let dir = tempfile::tempdir().unwrap();
    let mut record = darshan_log::PosixRecord::new(7, 0);
    record[darshan_log::PosixCounter::Writes] = 1;
    record[darshan_log::PosixCounter::BytesWritten] = 1;
    let mut job = darshan_log::Job { nprocs: 1, ..Default::default() };
    job.command = "/bin/<script>alert(1)</script> {{data}}".into();
    job.end.seconds = 100;
    let log = darshan_log::write::LogWriter::new(darshan_log::Format::V3_41, job).records(4, &[record]);
    std::fs::write(dir.path().join("job.darshan"), log.to_bytes().unwrap()).unwrap();
    assert_eq!(exit_code(dir.path(), &["report", "job.darshan", "-o", "x.html"]), Some(0));
    let page = std::fs::read_to_string(dir.path().join("x.html")).unwrap();
    assert!(!page.contains("<script>alert") && page.contains("&lt;script&gt;alert"), "markup from a log");
    // A log of counters alone: what is missing is said, with how to get it.
    assert!(page.contains("DXT_ENABLE_IO_TRACE=1"), "no way on");
}

#[test]
fn what_a_list_of_requests_does_not_tell_is_left_out() {
    let dir = tempfile::tempdir().unwrap();
    let rows: String = (0..24).map(|i| format!("{0}.0,{0}.5,{1}\n", 10 * i, 1_000_000 + i % 2)).collect();
    std::fs::write(dir.path().join("run.csv"), format!("start,end,bytes\n{rows}")).unwrap();
    assert_eq!(exit_code(dir.path(), &["report", "run.csv", "-o", "x.html"]), Some(0));
    let page = std::fs::read_to_string(dir.path().join("x.html")).unwrap();
    for unknown in ["Time of day", "Ranks begin within", "<span>Metadata</span>"] {
        assert!(!page.contains(unknown), "{unknown}");
    }
    // Ranks and lost time are not known: that is said, and no number is shown.
    assert!(page.contains("does not tell which rank made which request"), "no word on ranks");
    let phases = page.split("<section id=\"phases\">").nth(1).unwrap().split("</section>").next().unwrap();
    assert_eq!(phases.matches(">–</td>").count(), 2 * 24, "{phases}");
    let page = page.replace('\u{202f}', " ");
    assert!(page.contains("1 000 000 B (12×), 1 000 001 B (12×)"), "sizes that differ look alike");
}

/// A trace of tmio names files and times, but there are none.
#[test]
fn a_job_without_io_is_not_blamed_on_its_trace() {
    let dir = tempfile::tempdir().unwrap();
    Script { blocks: Vec::new(), ..Script::bursts(2, 1) }.write(&dir.path().join("t"));
    assert_eq!(ftio(dir.path(), &["report", "t", "-o", "t.html"]).status.code(), Some(0));
    let page = std::fs::read_to_string(dir.path().join("t.html")).unwrap();
    let body = &page[..page.find("<script").unwrap()];
    assert!(body.matches("No I/O was recorded.").count() >= 4, "{body}");
    assert!(!body.contains("This input does not") && !body.contains("it takes a trace of tmio"), "{body}");
}

#[test]
fn the_same_as_text_and_json() {
    let dir = tempfile::tempdir().unwrap();
    Script::bursts(4, 12).write(&dir.path().join("run.msgpack"));
    let text = stdout(&ftio(dir.path(), &["report", "--format", "text", "run.msgpack"]));
    for part in ["JOB", "PERIOD", "   12  ", "FINDINGS"] {
        assert!(text.contains(part), "{part} in {text}");
    }
    let json = stdout(&ftio(dir.path(), &["report", "--json", "run.msgpack"]));
    assert!(json.starts_with("{\"schema\":\"ftio.report/1\",\"source\":\"run.msgpack\","));
    let found: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(found["detection"]["phases"].as_array().unwrap().len(), 12);
    assert_eq!(found["usage"]["by_rank"].as_array().unwrap().len(), 4);
    assert_eq!(found["summary"]["ranks"], 4);
    let phases = found["phases"].as_array().unwrap();
    assert_eq!(phases.len(), 12);
    for phase in phases {
        // Four ranks begin together, and write for two seconds each.
        let told = (&phase["ranks"], &phase["lost_time"], &phase["spread"], &phase["bytes"]);
        assert_eq!(told, (&4.into(), &8.0.into(), &0.0.into(), &(4 << 20).into()), "{phase}");
        assert!(phase["end"].as_f64() > phase["start"].as_f64() && phase["bandwidth"].is_number());
    }
    let line = text.lines().find(|line| line.contains("Lost time")).unwrap();
    for heading in ["Phase", "Start", "End", "Bytes", "Bandwidth", "Ranks"] {
        assert!(line.contains(heading), "{heading} in {line}");
    }
    assert!(text.contains("8.000 s"), "{text}");
    assert_eq!(found["usage"]["layers"]["mpiio"]["write"]["ops"], 48);
    assert_eq!(exit_code(dir.path(), &["report", "run.msgpack", "-o", "x.pdf"]), Some(2));
    assert_eq!(exit_code(dir.path(), &["report", "missing"]), Some(1));
}

/// The lost time of the phases is what the ranks spend in calls: one wait for several requests counts once.
#[test]
fn lost_time_of_phases_adds_up_to_that_of_the_job() {
    let dir = tempfile::tempdir().unwrap();
    let two = |i: i64| {
        let start = (10 * i + 4) * SECOND;
        let times =
            AsyncTimes { issued: start + 1000, deadline: start + SECOND, pending_until: start, test_time: 0 };
        [0, 1].map(|_| nonblocking(start, start + 2 * SECOND, 1 << 20, times))
    };
    let blocks = (0..3).map(|rank| (rank, (0..12).flat_map(two).collect())).collect();
    let script = Script { ranks: 3, end: 120 * SECOND, blocks, process_written: 72 << 20 };
    script.write(&dir.path().join("run.msgpack"));
    let json = stdout(&ftio(dir.path(), &["report", "--json", "run.msgpack"]));
    let found: Value = serde_json::from_str(&json).unwrap();
    let lost = |phase: &Value| phase["lost_time"].as_f64().unwrap();
    let phases: Vec<f64> = found["phases"].as_array().unwrap().iter().map(lost).collect();
    assert_eq!(phases.len(), 12);
    assert!(phases.iter().all(|lost| (lost - 3.000_006).abs() < 1e-9), "{phases:?}");
    let all = found["summary"]["write_async"]["lost_time"].as_f64().unwrap();
    assert!((phases.iter().sum::<f64>() - all).abs() < 1e-6, "{all}");
}

/// A heat map tells ranks, but neither times nor what is closer than its bins.
#[test]
fn what_a_heat_map_does_not_tell_is_absent() {
    let Some(log) = test_data::shared_or_skip(
        "what_a_heat_map_does_not_tell_is_absent",
        "traces/darshan/e3sm_io_heatmap_only.darshan",
    ) else {
        return;
    };
    let dir = tempfile::tempdir().unwrap();
    let json = stdout(&ftio(dir.path(), &["report", "--json", &log.display().to_string()]));
    let found: Value = serde_json::from_str(&json).unwrap();
    let phases = found["phases"].as_array().unwrap();
    assert!(!phases.is_empty());
    for phase in phases {
        assert!(phase["ranks"].as_u64().is_some_and(|ranks| (1..=512).contains(&ranks)), "{phase}");
        assert_eq!(phase["lost_time"], Value::Null);
        assert!(phase["spread"].as_f64().is_none_or(|spread| spread >= 6.4), "{phase}");
    }
    let job = &found["summary"]["job"];
    assert_eq!((&job["mpi"], &job["tmio"]), (&Value::Null, &Value::Null));
}

#[test]
fn a_folder_may_hold_more_inputs_than_may_be_open() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("runs")).unwrap();
    for i in 0..60 {
        Script::bursts(2, 5).write(&dir.path().join(format!("runs/{i}.msgpack")));
    }
    let output = std::process::Command::new("sh")
        .args(["-c", "ulimit -n 32 && exec \"$0\" report --json runs", env!("CARGO_BIN_EXE_ftio")])
        .current_dir(dir.path())
        .output()
        .unwrap();
    assert_eq!((output.status.code(), stderr(&output)), (Some(0), String::new()));
    assert_eq!(stdout(&output).lines().count(), 60);
}

#[test]
fn several_inputs_are_compared() {
    let dir = tempfile::tempdir().unwrap();
    Script::bursts(4, 12).write(&dir.path().join("a.msgpack"));
    Script::bursts(2, 5).write(&dir.path().join("b.msgpack"));
    let output = ftio(dir.path(), &["report", "a.msgpack", "b.msgpack", "missing", "-o", "ab.html"]);
    assert_eq!(output.status.code(), Some(1), "one is missing, the others are compared");
    let page = std::fs::read_to_string(dir.path().join("ab.html")).unwrap();
    assert!(page.contains("<section id=\"numbers\">") && page.contains("data-picture=\"1\""));
}
