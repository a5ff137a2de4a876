//! The ways in which a command is run to compare them: alone, with the library preloaded and nothing asked
//! for, recorded, and under `ftio trace`; and a parent that sees all that a command leaves.

use crate::harness::{Outcome, collect, ftio, libtmio, plain_program, skip, wait_until};
use crate::traced::{Scratch, names};
use serde_json::Value;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::thread::JoinHandle;
use std::time::Duration;

/// After which a command hangs.
const LIMIT: Duration = Duration::from_secs(120);
/// After which a process that a command has left is there for ever.
const FOR_EVER: Duration = Duration::from_secs(60);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// Without the library.
    Alone,
    /// A site's default: the library is preloaded, and nothing else is set.
    Preloaded,
    /// Preloaded, and the environment asks for all that the program reads and writes.
    Recorded,
    /// Under `ftio trace`.
    Traced,
}

impl Way {
    pub const WITH_US: [Way; 3] = [Way::Preloaded, Way::Recorded, Way::Traced];

    /// Whether there is to be a trace of what a program does by POSIX.
    pub fn records(self) -> bool {
        matches!(self, Way::Recorded | Way::Traced)
    }

    /// The variables of the command.
    fn variables(self, scratch: &Scratch) -> Vec<(&'static str, OsString)> {
        let mut variables = vec![("TMIO_SPOOL", scratch.spool().into())];
        if matches!(self, Way::Preloaded | Way::Recorded) {
            variables.push(("LD_PRELOAD", libtmio().into()));
        }
        if self == Way::Recorded {
            variables.push(("TMIO_LAYERS", "mpiio,posix,stdio".into()));
            variables.push(("TMIO_OUTPUT", scratch.trace().into()));
        }
        variables
    }

    /// The words of a command, run in this way. Its own variables win.
    fn words(self, scratch: &Scratch, command: &Command) -> Vec<OsString> {
        let assign = |name: &std::ffi::OsStr, value: &std::ffi::OsStr| {
            let mut word = name.to_owned();
            word.push("=");
            word.push(value);
            word
        };
        let mut words: Vec<OsString> = vec!["env".into()];
        for (name, value) in self.variables(scratch) {
            words.push(assign(name.as_ref(), &value));
        }
        for (name, value) in command.get_envs() {
            words.extend(value.map(|value| assign(name, value)));
        }
        if self == Way::Traced {
            let ftio: [OsString; 2] = [ftio().into(), "trace".into()];
            words.extend(ftio);
            words.extend(["-o".into(), scratch.trace().into(), "--library".into(), libtmio().into()]);
            words.push("--".into());
        }
        words.push(command.get_program().to_owned());
        words.extend(command.get_args().map(|word| word.to_owned()));
        words
    }

    /// Starts a command. Its working directory is that of the program's files, unless it has another one.
    pub fn start(self, scratch: &Scratch, command: &Command) -> Watched {
        Watched::start(scratch, command, &self.words(scratch, command))
    }

    /// Runs a command to its end, which must come, and nothing that it has started may stay.
    pub fn run(self, scratch: &Scratch, command: &Command) -> Outcome {
        self.start(scratch, command).finish()
    }
}

/// A command that runs below a parent that collects all its orphans.
#[derive(Debug)]
pub struct Watched {
    parent: Child,
    report: PathBuf,
    stdout: JoinHandle<String>,
    stderr: JoinHandle<String>,
    what: String,
}

impl Watched {
    fn start(scratch: &Scratch, command: &Command, words: &[OsString]) -> Watched {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let report = scratch.path().join(format!("report-{}", COUNT.fetch_add(1, Relaxed)));
        let mut parent = Command::new(plain_program("watches"));
        parent.arg(&report).arg(FOR_EVER.as_secs().to_string()).args(words);
        parent.current_dir(command.get_current_dir().unwrap_or(&scratch.data()));
        for (name, _) in std::env::vars_os() {
            if name.to_str().is_some_and(|name| name.starts_with("TMIO_") || name == "LD_PRELOAD") {
                parent.env_remove(name);
            }
        }
        parent.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut parent = parent.spawn().expect("it was just compiled");
        let stdout = collect(parent.stdout.take().expect("piped"));
        let stderr = collect(parent.stderr.take().expect("piped"));
        Watched { parent, report, stdout, stderr, what: format!("{words:?}") }
    }

    fn lines(&self, first_word: &str) -> Vec<String> {
        let report = fs::read_to_string(&self.report).unwrap_or_default();
        let lines = report.lines().filter_map(|line| line.strip_prefix(first_word));
        lines.map(|rest| rest.trim().to_owned()).collect()
    }

    /// Whether its parent's `wait` has returned it.
    pub fn has_ended(&self) -> bool {
        !self.lines("ended").is_empty()
    }

    /// Whether nobody has its standard output and error any more.
    pub fn is_silent(&self) -> bool {
        self.stdout.is_finished() && self.stderr.is_finished()
    }

    /// Waits for its end.
    pub fn finish(mut self) -> Outcome {
        let ended = wait_until(LIMIT, || self.has_ended());
        if !ended {
            let children = format!("/proc/{0}/task/{0}/children", self.parent.id());
            let children = fs::read_to_string(children).unwrap_or_default();
            for child in children.split_whitespace() {
                let _ = Command::new("kill").args(["-KILL", child]).status();
            }
        }
        let done = wait_until(FOR_EVER * 2, || !self.lines("done").is_empty());
        assert!(done, "its parent does not end: {}", self.what);
        self.parent.wait().expect("it is our child");
        let (left, codes) = (self.lines("left"), self.lines("ended"));
        let outcome = Outcome {
            code: codes.first().and_then(|code| code.parse().ok()),
            stdout: self.stdout.join().expect("reader"),
            stderr: self.stderr.join().expect("reader"),
        };
        assert!(ended, "still running after {LIMIT:?}: {}\n{outcome:?}", self.what);
        assert_eq!(left, [""; 0], "processes that it has left do not end: {}\n{outcome:?}", self.what);
        outcome
    }
}

/// Runs a command in all ways. With the library it does what it does alone, and says the same: but for
/// standard error, where one line of ours may say why there is no trace.
pub fn is_the_same(what: &str, ways: &[Way], command: impl Fn(&Scratch) -> Command) {
    let scratch = Scratch::new();
    let alone = Way::Alone.run(&scratch, &command(&scratch));
    assert!(alone.code.is_some_and(|code| code < 126), "{what}, alone: {alone:?}");
    for &way in ways {
        let scratch = Scratch::new();
        let outcome = way.run(&scratch, &command(&scratch));
        assert_same(&format!("{what}, {way:?}"), &outcome, &alone);
    }
}

/// Exit code and output are the same; on standard error there may be one line of ours.
pub fn assert_same(what: &str, outcome: &Outcome, alone: &Outcome) {
    assert_eq!(
        (outcome.code, &outcome.stdout),
        (alone.code, &alone.stdout),
        "{what}: {outcome:?}, {alone:?}"
    );
    let (ours, others): (Vec<&str>, Vec<&str>) =
        outcome.stderr.lines().partition(|line| line.starts_with("tmio: ") || line.starts_with("ftio: "));
    assert_eq!(others, alone.stderr.lines().collect::<Vec<_>>(), "{what}: {outcome:?}");
    assert!(ours.len() <= 1, "{what}: not one line: {ours:?}");
}

/// What `ftio info` says of the trace, once `is_right` holds of it: a helper may still be writing, and what
/// stayed in the spool is found by `ftio recover`. `None`: there is nothing to read.
pub fn settled(scratch: &Scratch, is_right: impl Fn(&Value) -> bool) -> Option<Value> {
    let ask = |mode: &str, args: &[&str]| {
        let mut command = Command::new(ftio());
        command.arg(mode).args(args).arg(scratch.trace());
        command.env("TMIO_SPOOL", scratch.spool()).env("TMIO_LIBRARY", libtmio());
        crate::harness::run_limited(command, Duration::from_secs(60))
    };
    let info = || {
        let outcome = ask("info", &["--json"]);
        outcome.success().then(|| outcome.json())
    };
    if !wait_until(Duration::from_secs(10), || info().as_ref().is_some_and(&is_right)) {
        ask("recover", &[]);
    }
    info()
}

/// Bytes read and written, in all layers, that a trace has of files in the program's directory.
pub fn bytes_in(scratch: &Scratch, info: &Value) -> (u64, u64) {
    let data = scratch.data().canonicalize().expect("it is ours");
    let is_ours =
        |file: &&Value| file["name"].as_str().is_some_and(|name| Path::new(name).starts_with(&data));
    let sum = |what: &str| {
        let files = info["files"].as_array().expect("a list").iter().filter(is_ours);
        files.filter_map(|file| file[what].as_u64()).sum()
    };
    (sum("bytes_read"), sum("bytes_written"))
}

/// Whether a trace says that there was more than is in it.
pub fn says_that_more_was_done(info: &Value) -> bool {
    info["complete"] == false || info["lost"].as_u64() > Some(0)
}

/// A C program of `programs/`, built with `flags` by `compiler`.
pub fn built(scratch: &Scratch, compiler: &str, source: &str, flags: &[&str]) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let program = scratch.path().join(format!("{source}-{}", names(scratch.path()).len()));
    let mut compile = Command::new(compiler);
    compile.args(["-O1", "-Wall", "-Wextra", "-pthread", "-I"]).arg(root.join("../c-headers"));
    compile.arg(root.join(format!("programs/{source}.c"))).arg("-o").arg(&program).args(flags).arg("-ldl");
    let output = compile.output().unwrap_or_else(|error| panic!("{compiler}: {error}"));
    assert!(output.status.success(), "{compiler} {flags:?}: {}", String::from_utf8_lossy(&output.stderr));
    program
}

/// Directories that any user may write.
pub fn open_to_all() -> Scratch {
    let scratch = Scratch::new();
    let traces = scratch.path().join("traces");
    for path in [scratch.path(), &scratch.data(), &traces, scratch.spool()] {
        fs::set_permissions(path, fs::Permissions::from_mode(0o777)).expect("it is ours");
    }
    scratch
}

/// Whether a compiler can build programs with `flags`; a line says so if not.
pub fn can_build(compiler: &str, flags: &[&str]) -> bool {
    let scratch = Scratch::new();
    let mut compile = Command::new(compiler);
    compile.args(["-x", "c", "-", "-o"]).arg(scratch.path().join("program")).args(flags);
    let source = Stdio::from(fs::File::open(empty_main(&scratch)).expect("it was just written"));
    let able = compile.stdin(source).output().is_ok_and(|output| output.status.success());
    if !able {
        skip(&format!("{compiler} cannot build with {flags:?}"));
    }
    able
}

fn empty_main(scratch: &Scratch) -> PathBuf {
    let source = scratch.path().join("main.c");
    fs::write(&source, "#include <stdio.h>\nint main(void) { return puts(\"\") < 0; }\n")
        .expect("it is ours");
    source
}

/// The process that writes for the jobs of a spool directory.
pub fn helper_of(scratch: &Scratch) -> Option<String> {
    let place = scratch.spool().display().to_string();
    fs::read_dir("/proc").expect("there is one").flatten().map(|entry| entry.path()).find_map(|process| {
        let command = String::from_utf8_lossy(&fs::read(process.join("cmdline")).ok()?).into_owned();
        let is_it = command.contains("libtmio_recorder.so") && command.contains(&place);
        is_it.then(|| process.file_name().expect("a number").to_string_lossy().into_owned())
    })
}

/// Whether this test may do what only root can.
pub fn is_root() -> bool {
    let root = Command::new("id").arg("-u").output().is_ok_and(|output| output.stdout == b"0\n");
    if !root {
        skip("only root can do that");
    }
    root
}
