//! `ftio convert`: our trace in other formats.

use crate::support::{SECOND, Script, exit_code, ftio, nonblocking, stdout};
use serde_json::Value;
use tmio_trace::AsyncTimes;

fn mixed() -> Script {
    let mut script = Script::bursts(2, 2);
    let times = AsyncTimes { issued: SECOND, deadline: 3 * SECOND, pending_until: SECOND, test_time: 0 };
    script
        .blocks
        .push((1, vec![nonblocking(0, 4 * SECOND, 8, times), nonblocking(SECOND, 5 * SECOND, 8, times)]));
    script
}

#[test]
fn csv_has_a_line_per_operation() {
    let dir = tempfile::tempdir().unwrap();
    mixed().write(&dir.path().join("t"));
    assert_eq!(exit_code(dir.path(), &["convert", "t", "-o", "t.csv"]), Some(0));
    let text = std::fs::read_to_string(dir.path().join("t.csv")).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!((lines.len(), lines[0]), (7, "rank,start,end,bytes,kind,file,offset"));
    assert_eq!(lines[1], "0,4.000000000,6.000000000,1048576,write_at,/scratch/out.dat,0");
    assert_eq!(lines[5], "1,0.000000000,4.000000000,8,iwrite_at,/scratch/out.dat,0");
    let printed = ftio(dir.path(), &["convert", "t", "-o", "-", "--to", "csv"]);
    assert_eq!(stdout(&printed), text);
}

#[test]
fn chrome_events_do_not_overlap_in_a_row() {
    let dir = tempfile::tempdir().unwrap();
    mixed().write(&dir.path().join("t"));
    assert_eq!(exit_code(dir.path(), &["convert", "t", "-o", "t.json", "--to", "chrome"]), Some(0));
    let text = std::fs::read_to_string(dir.path().join("t.json")).unwrap();
    let found: Value = serde_json::from_str(&text).unwrap();
    let events = found["traceEvents"].as_array().unwrap();
    let complete: Vec<&Value> = events.iter().filter(|event| event["ph"] == "X").collect();
    assert_eq!(complete.len(), 6);
    assert_eq!((&complete[0]["ts"], &complete[0]["dur"]), (&Value::from(4e6), &Value::from(2e6)));
    assert_eq!(complete[0]["args"]["file"], "/scratch/out.dat");
    assert_ne!(complete[4]["tid"], complete[5]["tid"], "two that overlap are in two rows");
    let named = events.iter().filter(|event| event["name"] == "process_name").count();
    assert_eq!(named, 2);
}

#[test]
fn formats_of_the_cpp_tmio_are_read_back() {
    let dir = tempfile::tempdir().unwrap();
    Script::bursts(2, 10).write(&dir.path().join("t"));
    for format in ["tmio-json", "tmio-jsonl", "tmio-msgpack", "msgpack", "csv", "chrome"] {
        assert_eq!(
            exit_code(dir.path(), &["convert", "t", "-o", "out", "--to", format]),
            Some(0),
            "{format}"
        );
        let output = ftio(dir.path(), &["--json", "out"]);
        let found: Value = serde_json::from_str(&stdout(&output)).unwrap();
        let period = found["period"].as_f64().unwrap();
        assert!((period - 10.0).abs() < 0.2, "{format}: {found}");
    }
    assert_eq!(exit_code(dir.path(), &["convert", "t", "-o", "x.json"]), Some(2), "which JSON?");
    assert_eq!(exit_code(dir.path(), &["convert", "missing", "-o", "x.csv"]), Some(1));
    assert!(!dir.path().join("x.csv").exists());
}
