//! `ftio diff A B`, and the table after several inputs.

use crate::support::{Script, exit_code, ftio, stderr, stdout};
use serde_json::Value;

#[test]
fn equal_runs_do_not_differ() {
    let dir = tempfile::tempdir().unwrap();
    Script::bursts(4, 12).write(&dir.path().join("a"));
    Script::bursts(4, 12).write(&dir.path().join("b"));
    let output = ftio(dir.path(), &["diff", "a", "b"]);
    assert_eq!((output.status.code(), stderr(&output)), (Some(0), String::new()));
    assert!(stdout(&output).contains("Period"), "{}", stdout(&output));
}

#[test]
fn a_change_beyond_the_threshold_has_an_exit_code() {
    let dir = tempfile::tempdir().unwrap();
    Script::bursts(4, 12).write(&dir.path().join("a"));
    let mut slower = Script::bursts(4, 12);
    for op in slower.blocks.iter_mut().flat_map(|(_, ops)| ops) {
        op.end += (op.end - op.start) / 2;
    }
    slower.write(&dir.path().join("b"));
    let output = ftio(dir.path(), &["diff", "--json", "a", "b"]);
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    let found: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!((&found["schema"], &found["changed"]), (&"ftio.diff/1".into(), &true.into()));
    let of = |name: &str| {
        let all = found["differences"].as_array().unwrap();
        all.iter().find(|one| one["name"] == name).unwrap_or_else(|| panic!("{name} in {found}")).clone()
    };
    assert!((of("io_time")["change"].as_f64().unwrap() - 0.5).abs() < 0.01);
    assert_eq!((&of("io_time")["exceeds"], &of("io_time")["worse"]), (&true.into(), &true.into()));
    assert_eq!(of("bytes_written")["exceeds"], false);
    assert_eq!(exit_code(dir.path(), &["diff", "--only-worse", "b", "a"]), Some(0), "it got better");
    assert_eq!(exit_code(dir.path(), &["diff", "--threshold-change", "1", "a", "b"]), Some(0));
    assert_eq!(exit_code(dir.path(), &["diff", "a", "missing"]), Some(1));
    assert_eq!(exit_code(dir.path(), &["diff", "a"]), Some(2));
}

#[test]
fn several_inputs_end_with_a_table() {
    let dir = tempfile::tempdir().unwrap();
    Script::bursts(4, 12).write(&dir.path().join("a"));
    Script::bursts(2, 5).write(&dir.path().join("b"));
    let text = stdout(&ftio(dir.path(), &["a", "b"]));
    let last: Vec<&str> = text.lines().rev().take(3).collect();
    assert!(last[2].contains("Period") && last[2].contains("Confidence"), "{text}");
    assert!(last[1].starts_with("a ") && last[0].starts_with("b "), "{text}");
    assert!(!stdout(&ftio(dir.path(), &["a"])).contains("Confidence  Bytes"));
}
