//! `ftio trace -- COMMAND`: the program gets its environment.

use crate::support::{stderr, stdout};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

/// A directory with stand-ins for the library and its recorder, which cannot be loaded but have their names.
fn directory() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for name in ["libtmio.so", "libtmio_recorder.so"] {
        std::fs::write(dir.path().join(name), "").unwrap();
    }
    dir
}

fn trace(dir: &Path, args: &[&str]) -> Output {
    let library = dir.join("libtmio.so");
    let mut command = Command::new(env!("CARGO_BIN_EXE_ftio"));
    command.arg("trace").args(args).current_dir(dir).env_remove("LD_PRELOAD").env("TMIO_LIBRARY", library);
    command.output().unwrap()
}

/// A program of some name that says something about its version.
fn program(dir: &Path, name: &str, says: &str) -> String {
    let path = dir.join(name);
    std::fs::write(&path, format!("#!/bin/sh\necho '{says}'\n")).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn a_plain_program_inherits_the_environment() {
    let dir = directory();
    let output = trace(dir.path(), &["-o", "out.msgpack", "--flush", "close", "--", "env"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let path = dir.path().canonicalize().unwrap();
    let text = stdout(&output);
    assert!(text.contains(&format!("LD_PRELOAD={}/libtmio.so\n", path.display())), "{text}");
    assert!(text.contains("/out.msgpack\n") && text.contains("TMIO_OUTPUT=/"), "{text}");
    assert!(text.contains("TMIO_FLUSH=close\n"), "{text}");
}

#[test]
fn the_exit_code_is_that_of_the_program() {
    let dir = directory();
    assert_eq!(trace(dir.path(), &["--", "sh", "-c", "exit 42"]).status.code(), Some(42));
    let output = trace(dir.path(), &["--", "./no-such-program"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("no-such-program"));
}

/// As under nohup: what is ignored stays ignored.
#[test]
fn ignored_signals_are_inherited() {
    let dir = directory();
    let seen = |command: &str| {
        let script = format!("trap '' HUP INT USR1; exec {command} grep SigIgn /proc/self/status");
        let mut shell = Command::new("sh");
        shell
            .args(["-c", &script])
            .env("TMIO_LIBRARY", dir.path().join("libtmio.so"))
            .env_remove("LD_PRELOAD");
        stdout(&shell.current_dir(dir.path()).output().unwrap())
    };
    let alone = seen("");
    assert!(alone.starts_with("SigIgn:"), "{alone}");
    assert_eq!(seen(&format!("{} trace --", env!("CARGO_BIN_EXE_ftio"))), alone);
}

#[test]
fn each_launcher_gets_its_own_options() {
    let dir = directory();
    let shown = |program: &str| {
        let output = trace(dir.path(), &["--dry-run", "-o", "/x/o", "--", program, "-n", "2", "./app", "-x"]);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        stdout(&output)
    };
    let library = dir.path().canonicalize().unwrap().join("libtmio.so").display().to_string();
    let ompi = shown(&program(dir.path(), "mpirun", "mpirun (Open MPI) 4.1.4"));
    assert!(
        ompi.contains(&format!("mpirun -x LD_PRELOAD={library} -x TMIO_OUTPUT=/x/o -n 2 ./app -x")),
        "{ompi}"
    );
    let hydra = shown(&program(dir.path(), "mpiexec", "HYDRA build details:"));
    assert!(
        hydra.contains(&format!("mpiexec -genv LD_PRELOAD {library} -genv TMIO_OUTPUT /x/o -n 2 ./app -x")),
        "{hydra}"
    );
    assert!(!hydra.contains("LD_PRELOAD="), "the launcher itself is not preloaded: {hydra}");
    let srun = shown("srun");
    assert!(
        srun.contains(&format!("srun --export=ALL,LD_PRELOAD={library},TMIO_OUTPUT=/x/o -n 2 ./app -x")),
        "{srun}"
    );
    let other = shown(&program(dir.path(), "launcher", ""));
    for variable in [format!("LD_PRELOAD={library} "), "TMIO_OUTPUT=/x/o ".into(), "TMIO_RUN=".into()] {
        assert!(other.contains(&variable), "{variable}: {other}");
    }
    assert!(other.contains("TMIO_LAYERS=mpiio,posix,stdio"), "{other}");
}

#[test]
fn a_missing_recorder_is_an_error_that_names_it() {
    let dir = directory();
    std::fs::remove_file(dir.path().join("libtmio_recorder.so")).unwrap();
    let output = trace(dir.path(), &["--", "echo", "has run"]);
    assert_eq!(output.status.code(), Some(1));
    let (said, path) = (stderr(&output), dir.path().canonicalize().unwrap());
    assert!(said.contains(&format!("{}/libtmio_recorder.so is missing", path.display())), "{said}");
    assert!(!stdout(&output).contains("has run"));
}

#[test]
fn a_missing_library_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let output = trace(dir.path(), &["--", "true"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("libtmio.so"), "{}", stderr(&output));
    assert_eq!(trace(dir.path(), &[]).status.code(), Some(2));
}
