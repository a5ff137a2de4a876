//! `ftio run -- COMMAND`: programs without MPI here; those with it are among the end-to-end tests.

use crate::support::{Script, stderr, stdout};
use std::path::Path;
use std::process::{Command, Output};

/// Run it with a stand-in for the library, which cannot be preloaded but has its name, and the recorder's.
fn run(dir: &Path, args: &[&str]) -> Output {
    let library = dir.join("libtmio.so");
    std::fs::write(&library, "").unwrap();
    std::fs::write(dir.join("libtmio_recorder.so"), "").unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_ftio"));
    command.arg("run").args(args).current_dir(dir).env_remove("LD_PRELOAD").env("TMIO_LIBRARY", library);
    command.output().unwrap()
}

#[test]
fn the_exit_code_is_that_of_the_program() {
    let dir = tempfile::tempdir().unwrap();
    let output = run(dir.path(), &["--", "sh", "-c", "echo $TMIO_FLUSH; exit 42"]);
    assert_eq!(output.status.code(), Some(42));
    assert_eq!(stdout(&output), "interval:1\n");
    assert!(stderr(&output).contains("no trace"), "{}", stderr(&output));
    assert_eq!(run(dir.path(), &["--", "sh", "-c", "kill -9 $$"]).status.code(), Some(137));
    let output = run(dir.path(), &["--", "./no-such-program"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("no-such-program"), "{}", stderr(&output));
    assert_eq!(run(dir.path(), &[]).status.code(), Some(2));
    assert_eq!(run(dir.path(), &["-o", "run_%j", "--", "true"]).status.code(), Some(1));
}

/// A program that puts a trace where it is told to, as the library would.
#[test]
fn predictions_on_stderr_and_the_result_at_the_end_on_stdout() {
    let dir = tempfile::tempdir().unwrap();
    Script::bursts(2, 12).write(&dir.path().join("made"));
    // What an earlier run left is not taken for this one's.
    Script::bursts(1, 4).write(&dir.path().join("out"));
    let program = "echo hello; sleep 0.2; cp made $TMIO_OUTPUT.tmp; mv $TMIO_OUTPUT.tmp $TMIO_OUTPUT";
    let output = run(dir.path(), &["-o", "out", "--", "sh", "-c", program]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let (out, aside) = (stdout(&output), stderr(&output));
    assert!(out.starts_with("hello\n") && out.contains("  Period      10.0"), "{out}");
    // The loader complains about the stand-in.
    let predictions: Vec<&str> = aside.lines().filter(|line| !line.contains("ld.so")).collect();
    assert!(predictions.len() == 1 && predictions[0].contains("120.0 s  period 10.0"), "{aside}");

    std::fs::remove_file(dir.path().join("out")).unwrap();
    let output = run(dir.path(), &["-o", "out", "--json", "--", "sh", "-c", program]);
    let out = stdout(&output);
    let lines: Vec<&str> = out.lines().collect();
    // Whoever reads JSON does not find the program's words in between.
    assert_eq!(lines.len(), 2, "{out}");
    assert!(lines[0].starts_with("{\"schema\":\"ftio.prediction/1\""), "{out}");
    assert!(lines[1].starts_with("{\"schema\":\"ftio.detection/1\""), "{out}");
    assert!(stderr(&output).contains("hello\n"), "{}", stderr(&output));
}
