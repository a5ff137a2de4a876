//! `ftio plot`: several traces in one picture.

use crate::support::{Script, exit_code, ftio, stderr};

#[test]
fn pictures_of_several_traces() {
    let dir = tempfile::tempdir().unwrap();
    Script::bursts(2, 10).write(&dir.path().join("a"));
    Script::bursts(3, 8).write(&dir.path().join("b"));
    for name in ["p.svg", "p.html", "p.png"] {
        let output = ftio(dir.path(), &["plot", "-o", name, "a", "b"]);
        assert_eq!((output.status.code(), stderr(&output)), (Some(0), String::new()), "{name}");
        let bytes = std::fs::read(dir.path().join(name)).unwrap();
        match name {
            "p.png" => {
                assert!(bytes.starts_with(b"\x89PNG\r\n\x1a\n"));
                // Two beside each other, at twice the size.
                assert_eq!(u32::from_be_bytes(bytes[16..20].try_into().unwrap()), 2560);
            }
            _ => assert!(!String::from_utf8(bytes).unwrap().contains("NaN")),
        }
    }
    assert_eq!(exit_code(dir.path(), &["plot", "a", "missing"]), Some(1));
    assert!(dir.path().join("ftio.html").is_file(), "what can be read is drawn");
    assert_eq!(exit_code(dir.path(), &["plot", "-o", "x.gif", "a"]), Some(2));
    assert_eq!(exit_code(dir.path(), &["plot", "-m", "read", "a"]), Some(1));
}

/// A request far above the samples must not squeeze the rest, but it is not cut off without a word.
#[test]
fn what_is_cut_off_at_the_top_says_how_high_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let mut script = Script::bursts(2, 10);
    script.write(&dir.path().join("even"));
    let short = &mut script.blocks[0].1[3];
    short.end = short.start + 1_000_000;
    script.write(&dir.path().join("short"));
    let drawn = |name: &str| {
        assert_eq!(exit_code(dir.path(), &["plot", "-o", "p.svg", name]), Some(0));
        std::fs::read_to_string(dir.path().join("p.svg")).unwrap()
    };
    assert!(drawn("short").contains("exact, up to 1.04"), "1 MiB in a millisecond");
    assert!(!drawn("even").contains("up to 1"), "nothing is cut off");
}

#[test]
fn the_page_needs_no_network_and_little_code() {
    let code = [
        include_str!("../../../crates/insight/draw/src/plot/page.html"),
        include_str!("../../../crates/insight/draw/src/plot/page.css"),
        include_str!("../../../crates/insight/draw/src/plot/chart.js"),
        include_str!("../../../crates/insight/draw/src/plot/page.js"),
    ];
    assert!(code.iter().map(|part| part.len()).sum::<usize>() < 100 << 10);
    for forbidden in ["http:", "https:", "src=", "import ", "@import", "url(", "fetch("] {
        assert!(!code.iter().any(|part| part.contains(forbidden)), "{forbidden}");
    }
}
