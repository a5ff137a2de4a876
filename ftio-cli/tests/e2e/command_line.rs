//! What the command says about itself: manual, completions, other names, colours.

use crate::support::{Script, exit_code, ftio, stderr, stdout};
use std::os::unix::process::CommandExt;
use std::process::Command;

#[test]
fn completions_and_manual_pages_come_from_the_arguments() {
    let dir = tempfile::tempdir().unwrap();
    let bash = stdout(&ftio(dir.path(), &["completions", "bash"]));
    assert!(bash.contains("complete -F _ftio") && bash.contains("recover"));
    let man = stdout(&ftio(dir.path(), &["man"]));
    assert!(man.contains(".TH ftio") && man.contains("EXIT STATUS"), "{man}");
    let man = stdout(&ftio(dir.path(), &["man", "recover"]));
    assert!(man.contains(".TH ftio-recover") && man.contains("\\-\\-clean"), "{man}");
    assert_eq!(exit_code(dir.path(), &["man", "nothing"]), Some(1));
}

#[test]
fn other_names_are_subcommands() {
    let dir = tempfile::tempdir().unwrap();
    Script::bursts(1, 10).write(&dir.path().join("t"));
    let called = |name: &str, args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ftio"));
        let output = command.arg0(format!("/usr/bin/{name}")).args(args).current_dir(dir.path()).output();
        let output = output.unwrap();
        assert_eq!(output.status.code(), Some(0), "{name}: {}", stderr(&output));
        stdout(&output)
    };
    assert_eq!(called("ioplot", &["-o", "t.svg", "t"]), "t.svg\n");
    let predicted = called("predictor", &["--json", "--until-complete", "t"]);
    assert!(predicted.starts_with("{\"schema\":\"ftio.prediction/"), "{predicted}");
    // As the Python FTIO's: a file of that name, written anew.
    std::fs::write(dir.path().join("scale.jsonl"), "old").unwrap();
    assert_eq!(called("ioparse", &["t"]), "");
    let written = std::fs::read_to_string(dir.path().join("scale.jsonl")).unwrap();
    assert_eq!(written, stdout(&ftio(dir.path(), &["scale", "t"])));
    assert_eq!(called("ioparse", &["-o", "-", "t"]), written);
}

#[test]
fn colours_follow_the_option_and_then_the_environment() {
    let dir = tempfile::tempdir().unwrap();
    Script::bursts(1, 10).write(&dir.path().join("t"));
    let coloured = |args: &[&str], variables: &[(&str, &str)]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ftio"));
        for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE"] {
            command.env_remove(name);
        }
        let command = command.args(args).current_dir(dir.path()).envs(variables.iter().copied());
        stdout(&command.output().unwrap()).contains("\x1b[")
    };
    assert!(!coloured(&["t"], &[]), "not on a terminal");
    assert!(coloured(&["--color", "always", "t"], &[]));
    assert!(coloured(&["info", "--color=always", "t"], &[("NO_COLOR", "1")]));
    assert!(!coloured(&["--color", "never", "t"], &[("CLICOLOR_FORCE", "1")]));
    assert!(coloured(&["t"], &[("CLICOLOR_FORCE", "1")]));
    assert!(!coloured(&["t"], &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]));
}

#[test]
fn quiet_is_one_line_per_trace() {
    let dir = tempfile::tempdir().unwrap();
    Script::bursts(1, 10).write(&dir.path().join("t"));
    let quiet = stdout(&ftio(dir.path(), &["-q", "t", "t"]));
    assert!(quiet.lines().count() == 2 && quiet.starts_with("t: 10.00 s ("), "{quiet}");
    assert_eq!(exit_code(dir.path(), &["-q", "-v", "t"]), Some(2));
}
