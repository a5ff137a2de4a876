//! `ftio report`.

use crate::support::{Script, exit_code, ftio, stderr, stdout};
use serde_json::Value;

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
    let page = page.replace('\u{202f}', " ");
    assert!(page.contains("1 000 000 B (12×), 1 000 001 B (12×)"), "sizes that differ look alike");
}

#[test]
fn the_same_as_text_and_json() {
    let dir = tempfile::tempdir().unwrap();
    Script::bursts(4, 12).write(&dir.path().join("run.msgpack"));
    let text = stdout(&ftio(dir.path(), &["report", "--format", "text", "run.msgpack"]));
    for part in ["JOB", "PERIOD", "Phase   12", "FINDINGS"] {
        assert!(text.contains(part), "{part} in {text}");
    }
    let json = stdout(&ftio(dir.path(), &["report", "--format", "json", "run.msgpack"]));
    assert!(json.starts_with("{\"schema\":\"ftio.report/1\",\"source\":\"run.msgpack\","));
    let found: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(found["detection"]["phases"].as_array().unwrap().len(), 12);
    assert_eq!(found["usage"]["by_rank"].as_array().unwrap().len(), 4);
    assert_eq!(found["summary"]["ranks"], 4);
    assert_eq!(found["usage"]["layers"]["mpiio"]["write"]["ops"], 48);
    assert_eq!(exit_code(dir.path(), &["report", "run.msgpack", "-o", "x.pdf"]), Some(2));
    assert_eq!(exit_code(dir.path(), &["report", "missing"]), Some(1));
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
