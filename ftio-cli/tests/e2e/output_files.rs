//! Where commands write: devices, pipes, links, files that cannot be written.

use crate::support::{Script, ftio, stderr, stdout};
use std::fs;
use std::os::unix::fs::{FileTypeExt, symlink};
use std::path::Path;

/// Every command with a file that it writes, and how to ask for it.
const WRITERS: [(&[&str], &str); 6] = [
    (&["convert", "run.msgpack", "--to", "csv", "-o"], "x.csv"),
    (&["convert", "run.msgpack", "--to", "chrome", "-o"], "x.json"),
    (&["plot", "run.msgpack", "-o"], "x.svg"),
    (&["run.msgpack", "--plot"], "x.svg"),
    (&["report", "run.msgpack", "--format", "html", "-o"], "x.html"),
    (&["report", "run.msgpack", "--format", "json", "-o"], "x.json"),
];

#[test]
fn links_are_followed_by_every_command() {
    for (args, name) in WRITERS {
        let dir = tempfile::tempdir().unwrap();
        Script::bursts(2, 5).write(&dir.path().join("run.msgpack"));
        fs::create_dir(dir.path().join("elsewhere")).unwrap();
        symlink(Path::new("elsewhere").join(name), dir.path().join(name)).unwrap();
        let output = ftio(dir.path(), &[args, &[name]].concat());
        assert_eq!(output.status.code(), Some(0), "{args:?}: {}", stderr(&output));
        assert!(fs::symlink_metadata(dir.path().join(name)).unwrap().is_symlink(), "{args:?}");
        assert!(fs::metadata(dir.path().join("elsewhere").join(name)).unwrap().len() > 100, "{args:?}");
        let left = fs::read_dir(dir.path().join("elsewhere")).unwrap().count();
        assert_eq!(left, 1, "{args:?} leaves a draft");
    }
}

/// Every command that reads a file, told to write to it.
#[test]
fn no_command_writes_over_its_input() {
    let cases: [&[&str]; 11] = [
        &["convert", "in.html", "--to", "csv", "-o", "in.html"],
        &["convert", "in.html", "--to", "msgpack", "-o", "./in.html"],
        &["convert", "link.html", "--to", "msgpack", "--output=in.html"],
        &["plot", "in.html", "-o", "in.html"],
        &["in.html", "--plot", "in.html"],
        &["in.html", "--plot=in.html"],
        &["report", "in.html", "-o", "in.html"],
        &["categorize", "--all-files", "in.html", "--html", "in.html"],
        &["categorize", "--all-files", "in.html", "--bad-logs", "in.html"],
        &["predict", "--until-complete", "--prometheus", "./in.html", "in.html"],
        &["recover", "in.html", "-o", "in.html"],
    ];
    for args in cases {
        let dir = tempfile::tempdir().unwrap();
        let input = dir.path().join("in.html");
        Script::bursts(2, 5).write(&input);
        symlink("in.html", dir.path().join("link.html")).unwrap();
        let before = fs::read(&input).unwrap();
        let output = ftio(dir.path(), args);
        assert_ne!(output.status.code(), Some(0), "{args:?}");
        assert!(
            stderr(&output).contains("is also an input of this command"),
            "{args:?}: {}",
            stderr(&output)
        );
        assert!(fs::read(&input).unwrap() == before, "{args:?}");
    }
}

#[test]
fn devices_stay_devices() {
    let dir = tempfile::tempdir().unwrap();
    Script::bursts(2, 5).write(&dir.path().join("run.msgpack"));
    // A device of our own: a mistake must not cost the machine its /dev/full.
    let full = dir.path().join("full.csv");
    let made = std::process::Command::new("mknod").arg(&full).args(["c", "1", "7"]).status();
    let target = if made.is_ok_and(|status| status.success()) { "full.csv" } else { "/dev/full" };
    let output = ftio(dir.path(), &["convert", "run.msgpack", "--to", "csv", "-o", target]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(stderr(&output).contains("No space left on device"), "{}", stderr(&output));
    assert!(fs::metadata(dir.path().join(target)).unwrap().file_type().is_char_device());
    let output = ftio(dir.path(), &["convert", "run.msgpack", "--to", "csv", "-o", "/dev/stdout"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stdout(&output).starts_with("rank,start,end,bytes,kind,file,offset\n"));
}

#[test]
fn messages_name_the_file_that_was_asked_for() {
    let dir = tempfile::tempdir().unwrap();
    Script::bursts(2, 5).write(&dir.path().join("run.msgpack"));
    let output = ftio(dir.path(), &["convert", "run.msgpack", "-o", "missing/x.csv"]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(stderr(&output), "ftio: missing/x.csv: No such file or directory (os error 2)\n");
}

#[test]
fn our_own_table_comes_back() {
    let dir = tempfile::tempdir().unwrap();
    let mut script = Script::bursts(2, 12);
    let reads = (0..12).map(|i| {
        let second = crate::support::SECOND;
        let start = (10 * i + 8) * second;
        crate::support::blocking(tmio_trace::Direction::Read, start, start + second / 2, 1 << 18)
    });
    script.blocks.push((0, reads.collect()));
    script.write(&dir.path().join("rw.msgpack"));
    assert_eq!(ftio(dir.path(), &["convert", "rw.msgpack", "-o", "rw.csv"]).status.code(), Some(0));
    for mode in ["write", "read"] {
        let period = |name: &str| {
            let output = ftio(dir.path(), &["--json", "-m", mode, name]);
            let found: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
            (found["total_bytes"].clone(), found["period"].as_f64().map(|period| (period * 100.0).round()))
        };
        assert_eq!(period("rw.csv"), period("rw.msgpack"), "{mode}");
    }
}
