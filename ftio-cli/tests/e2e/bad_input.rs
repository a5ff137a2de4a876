//! Files that are not traces, or only part of one.

use crate::support::{Script, ftio, stderr, stdout};
use serde_json::Value;

#[test]
fn a_file_that_is_not_a_trace_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let (whole, ends) = Script::bursts(2, 5).frames();
    let write = |name: &str, bytes: &[u8]| std::fs::write(dir.path().join(name), bytes).unwrap();
    write("empty", b"");
    write("text", b"Lorem ipsum dolor sit amet\n");
    write("headers only", &whole[..ends[2]]);
    std::fs::create_dir(dir.path().join("folder")).unwrap();
    for name in ["empty", "text", "headers only", "folder", "missing"] {
        for command in [&[name][..], &["--json", name], &["info", name], &["info", "--json", name]] {
            let output = ftio(dir.path(), command);
            let message = stderr(&output);
            assert_eq!((output.status.code(), stdout(&output)), (Some(1), String::new()), "{command:?}");
            assert!(message.starts_with(&format!("ftio: {name}: ")), "{message}");
            assert_eq!(message.lines().count(), 1, "{message}");
        }
    }
}

#[test]
fn a_truncated_trace_is_used_with_one_warning() {
    let dir = tempfile::tempdir().unwrap();
    let (whole, ends) = Script::bursts(4, 10).frames();
    // Header, four ranks, four blocks, end: cut within the third block.
    let cut = (ends[6] + ends[7]) / 2;
    std::fs::write(dir.path().join("cut"), &whole[..cut]).unwrap();
    for command in [&["--json", "cut"][..], &["info", "--json", "cut"]] {
        let output = ftio(dir.path(), command);
        assert_eq!(output.status.code(), Some(0));
        let message = stderr(&output);
        assert!(message.starts_with("ftio: warning: cut: ") && message.lines().count() == 1, "{message}");
        let found: Value = serde_json::from_str(&stdout(&output)).unwrap();
        assert_eq!(found["complete"], false);
        if let Some(bytes) = found.get("total_bytes") {
            assert_eq!(bytes, 20 << 20);
            assert!((found["period"].as_f64().unwrap() - 10.0).abs() < 0.2, "{found}");
        } else {
            assert_eq!(found["write_sync"]["ops"], 20);
        }
    }
}

#[test]
fn one_broken_file_does_not_stop_the_others() {
    let dir = tempfile::tempdir().unwrap();
    Script::bursts(1, 10).write(&dir.path().join("good"));
    std::fs::write(dir.path().join("bad"), "nothing").unwrap();
    let output = ftio(dir.path(), &["--json", "bad", "good", "bad", "good"]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!((stdout(&output).lines().count(), stderr(&output).lines().count()), (2, 2));
}

#[test]
fn damage_anywhere_never_panics() {
    let dir = tempfile::tempdir().unwrap();
    let (whole, _) = Script::bursts(2, 4).frames();
    let path = dir.path().join("damaged");
    // Each stretch of the file in turn is overwritten, cut off, or left out.
    let step = whole.len() / 23;
    for start in (0..whole.len()).step_by(step.max(1)) {
        let end = (start + step / 2).min(whole.len());
        let mut flipped = whole.clone();
        flipped[start..end].iter_mut().for_each(|byte| *byte ^= 0x5a);
        for bytes in
            [&flipped[..], &whole[..start], &whole[start..], &[&whole[..start], &whole[end..]].concat()]
        {
            std::fs::write(&path, bytes).unwrap();
            for command in [&["-c", "damaged"][..], &["info", "damaged"]] {
                let output = ftio(dir.path(), command);
                assert!(matches!(output.status.code(), Some(0 | 1)), "{:?}", output.status);
                assert!(!stderr(&output).contains("panicked"), "{}", stderr(&output));
            }
        }
    }
}

#[test]
fn control_characters_in_names_are_not_printed() {
    let dir = tempfile::tempdir().unwrap();
    let name = "a\x1b[31mred\n";
    Script::bursts(1, 10).write(&dir.path().join(name));
    for command in [&[name][..], &["info", name], &["-v", name], &["x\x1b[31m"]] {
        let output = ftio(dir.path(), command);
        assert!(!stdout(&output).contains('\x1b') && !stderr(&output).contains('\x1b'), "{command:?}");
    }
}
