//! Compiles the programs in `programs/` with each installed MPI and runs them, always with a time limit.

pub use crate::mpis::{Lack, Mpi, installed_mpis, installed_mpis_with};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io::{Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Condvar, Mutex};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

fn is_set(name: &str) -> bool {
    std::env::var(name).is_ok_and(|value| !value.is_empty() && value != "0")
}

/// Whether a test is a failure if it cannot be made because something is not installed: `STRICT=1`, or
/// `MPI_TESTS_STRICT=1` as in `scripts/test`, which has installed all that is needed.
pub fn is_strict() -> bool {
    is_set("STRICT") || is_set("MPI_TESTS_STRICT")
}

/// Says visibly that something was not tested; a failure where tests are strict.
pub fn skip(reason: &str) {
    say_skipped(reason);
    assert!(!is_strict(), "cannot be skipped where STRICT is set: {reason}");
}

/// The same for what none of the MPIs that `scripts/test` installs is able to do: a failure with `STRICT=1`.
pub fn skip_for_lack_of(ability: &str) {
    say_skipped(&format!("no MPI that is installed can do it: {ability}"));
    assert!(!is_set("STRICT"), "cannot be skipped with STRICT=1: {ability}");
}

fn say_skipped(reason: &str) {
    let test = thread::current().name().unwrap_or("?").to_string();
    // Written past the test runner's capture, which would hide it when the test passes.
    let _ = writeln!(std::io::stderr(), "SKIPPED {test}: {reason}");
}

pub fn target_directory() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("target/tmp has a parent").to_path_buf()
}

fn built(profile: &str, name: &str, command: &str) -> PathBuf {
    let path = target_directory().join(profile).join(name);
    assert!(path.is_file(), "{} is missing: run scripts/test, or `{command}` first", path.display());
    path
}

/// The library under test; `MPI_TESTS_LIBRARY` names another one, such as that of `scripts/release`.
pub fn libtmio() -> PathBuf {
    match std::env::var_os("MPI_TESTS_LIBRARY") {
        Some(path) => fs::canonicalize(path).expect("MPI_TESTS_LIBRARY is a file"),
        None => built("release", "libtmio.so", "cargo build --release -p tmio-preload"),
    }
}

/// What lies beside the library and does most of its work.
pub const RECORDER: &str = "libtmio_recorder.so";

/// A copy of the library under another name, with its recorder beside it.
pub fn copy_libtmio(copy: &Path) {
    let library = libtmio();
    fs::copy(&library, copy).expect("the library, and a directory that can be written");
    let beside = (library.with_file_name(RECORDER), copy.with_file_name(RECORDER));
    fs::copy(beside.0, beside.1).expect("the recorder");
}

/// A copy of the library whose helper has a file system that fails as `trouble` says where a path contains
/// `path`. `directory` is for it alone.
pub fn troubled_libtmio(mpi: &Mpi, directory: &Path, trouble: &str, path: &str) -> PathBuf {
    fs::create_dir(directory).expect("a new directory");
    let tool = directory.join("libtroubled_tool.so");
    fs::copy(mpi.program("troubled_tool"), &tool).expect("the tool");
    fs::write(directory.join("trouble"), format!("{trouble} {path}\n")).expect("its settings");
    let library = directory.join("libtmio.so");
    copy_libtmio(&library);
    let patched =
        Command::new("patchelf").arg("--add-needed").arg(&tool).arg(directory.join(RECORDER)).status();
    assert!(patched.is_ok_and(|status| status.success()), "patchelf is needed");
    library
}

/// As its own tests build it: what they say about it holds here, and it is built once.
pub fn ftio() -> PathBuf {
    built("debug", "ftio", "cargo build -p ftio-cli")
}

fn programs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("programs")
}

fn newest(directory: &Path) -> SystemTime {
    fs::read_dir(directory)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| match entry.metadata() {
            Ok(meta) if meta.is_dir() => newest(&entry.path()),
            Ok(meta) => meta.modified().unwrap_or(SystemTime::UNIX_EPOCH),
            Err(_) => SystemTime::UNIX_EPOCH,
        })
        .max()
        .unwrap_or(SystemTime::UNIX_EPOCH)
}

impl Mpi {
    /// A program of `programs/`, compiled with this MPI if that was not done since the sources changed.
    pub fn program(&self, name: &str) -> PathBuf {
        static COMPILING: Mutex<()> = Mutex::new(());
        let _one_at_a_time = COMPILING.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let headers = Path::new(env!("CARGO_MANIFEST_DIR")).join("../c-headers");
        let directory = target_directory().join("mpi-tests").join(self.name);
        let shared = is_shared(name);
        let binary = directory.join(if shared { format!("lib{name}.so") } else { name.to_string() });
        let fresh = newest(&programs()).max(newest(&headers));
        if fs::metadata(&binary).and_then(|meta| meta.modified()).is_ok_and(|built| built > fresh) {
            return binary;
        }
        fs::create_dir_all(&directory).expect("target/ can be written");
        let fortran = programs().join(format!("{name}.f90"));
        let (mut compile, libraries) = self.compiler();
        if fortran.is_file() {
            compile = self.fortran().expect("this MPI has Fortran");
            compile.args(["-O1", "-Wall"]).arg(&fortran);
            compile.arg("-J").arg(&directory);
        } else {
            // MPICH's MPI_STATUSES_IGNORE is an invalid pointer by design, which gcc takes for an overflow.
            compile.args(["-O2", "-Wall", "-Wextra", "-Wno-stringop-overflow", "-I"]).arg(&headers);
            compile.args(if shared { &["-shared", "-fPIC"][..] } else { &[] });
            let cpp = programs().join(format!("{name}.cpp"));
            if cpp.is_file() {
                compile.arg(cpp).arg("-lstdc++");
            } else {
                compile.arg("-std=gnu11").arg(programs().join(format!("{name}.c")));
            }
            compile.args(["-rdynamic", "-lm", "-ldl", "-lpthread"]);
            compile.args(libraries);
        }
        // Another process may be running or compiling the old one: the new one takes its place at once.
        let draft = binary.with_extension(format!("{}.tmp", std::process::id()));
        let output = compile.arg("-o").arg(&draft).output().expect("the compiler can be run");
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{} does not compile {name}:\n{text}", self.name);
        fs::rename(&draft, &binary).expect("target/ can be written");
        binary
    }

    /// `program` on `ranks` ranks, not yet running.
    pub fn job(&self, ranks: u32, program: impl Into<PathBuf>) -> Job {
        Job {
            mpi: *self,
            ranks,
            program: program.into(),
            args: Vec::new(),
            environment: BTreeMap::new(),
            launcher_environment: BTreeMap::new(),
            alone: false,
        }
    }
}

fn is_shared(name: &str) -> bool {
    name.ends_with("_tool") || name.ends_with("_module")
}

/// A program of `programs/`, compiled without any MPI, once.
pub fn plain_program(name: &str) -> PathBuf {
    plain_program_with(name, "", &["-O1"])
}

/// The same with these options of the compiler, which the suffix of its name stands for.
pub fn plain_program_with(name: &str, suffix: &str, options: &[&str]) -> PathBuf {
    static COMPILED: Mutex<BTreeMap<String, PathBuf>> = Mutex::new(BTreeMap::new());
    let file = if is_shared(name) { format!("lib{name}.so") } else { format!("{name}{suffix}") };
    let mut compiled = COMPILED.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    if let Some(binary) = compiled.get(&file) {
        return binary.clone();
    }
    let directory = target_directory().join("mpi-tests/plain");
    fs::create_dir_all(&directory).expect("target/ can be written");
    let binary = directory.join(&file);
    let draft = directory.join(format!("{file}.{}.tmp", std::process::id()));
    let mut compile = Command::new("cc");
    compile.args(["-Wall", "-Wextra", "-std=gnu11", "-pthread"]).args(options).arg("-I");
    compile.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("../c-headers"));
    compile.args(if is_shared(name) { &["-shared", "-fPIC"][..] } else { &[] });
    let output = compile.arg(programs().join(format!("{name}.c"))).args(["-ldl", "-o"]).arg(&draft).output();
    let output = output.expect("there is a C compiler");
    assert!(output.status.success(), "{name}:\n{}", String::from_utf8_lossy(&output.stderr));
    fs::rename(&draft, &binary).expect("target/ can be written");
    compiled.insert(file, binary.clone());
    binary
}

/// A launch of an MPI program.
#[derive(Debug, Clone)]
pub struct Job {
    mpi: Mpi,
    ranks: u32,
    program: PathBuf,
    args: Vec<OsString>,
    environment: BTreeMap<String, String>,
    launcher_environment: BTreeMap<String, String>,
    alone: bool,
}

impl std::fmt::Display for Job {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{} on {} ranks", self.mpi.name, self.ranks)
    }
}

impl Job {
    pub fn args<A: Into<OsString>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.args.extend(args.into_iter().map(Into::into));
        self
    }

    /// A variable of the ranks' environment.
    pub fn env(mut self, name: &str, value: impl AsRef<Path>) -> Self {
        self.environment.insert(name.into(), value.as_ref().to_str().expect("test paths are UTF-8").into());
        self
    }

    /// A variable of the launcher's environment, from where it reaches the ranks too.
    pub fn launcher_env(mut self, name: &str, value: impl AsRef<Path>) -> Self {
        self.launcher_environment
            .insert(name.into(), value.as_ref().to_str().expect("test paths are UTF-8").into());
        self
    }

    /// No other job may run beside it: for what is measured in seconds.
    pub fn alone(mut self) -> Self {
        self.alone = true;
        self
    }

    /// The launcher's whole command line.
    pub fn command(&self) -> Command {
        let mut command = self.mpi.launcher();
        self.add_to(&mut command);
        command.envs(&self.launcher_environment);
        command
    }

    fn add_to(&self, command: &mut Command) {
        command.arg("-n").arg(self.ranks.to_string());
        for (name, value) in &self.environment {
            command.args(self.mpi.give(name, value));
        }
        command.arg(&self.program).args(&self.args);
    }

    /// Runs this one and another as one job, of which the other one's ranks come last.
    pub fn run_together_with(&self, other: &Job) -> Outcome {
        let _room = Room::take(self.ranks + other.ranks);
        let mut command = self.command();
        command.arg(":");
        other.add_to(&mut command);
        run_limited(command, LIMIT)
    }

    /// Starts it, calls `meanwhile` with the launcher's process id, and waits for its end.
    pub fn run_with(&self, meanwhile: impl FnOnce(&mut Child)) -> Outcome {
        let _room = Room::take(if self.alone { Room::limit() } else { self.ranks });
        run_meanwhile(self.command(), LIMIT, meanwhile)
    }

    pub fn run(&self) -> Outcome {
        self.run_with(|_| {})
    }

    /// Runs it in this directory.
    pub fn run_in(&self, directory: Option<&Path>) -> Outcome {
        let _room = Room::take(self.ranks);
        let mut command = self.command();
        directory.map(|directory| command.current_dir(directory));
        run_meanwhile(command, LIMIT, |_| {})
    }
}

/// After which a job hangs.
const LIMIT: Duration = Duration::from_secs(180);

/// Room on the machine for some ranks, given back when dropped. MPI ranks wait by spinning, so that jobs of
/// many more ranks than there are cores crawl.
pub struct Room(u32);

static OCCUPIED: Mutex<u32> = Mutex::new(0);
static ROOM_MADE: Condvar = Condvar::new();

impl Room {
    /// For how many ranks there is room.
    fn limit() -> u32 {
        2 * thread::available_parallelism().map_or(1, |cores| cores.get() as u32)
    }

    pub fn take(ranks: u32) -> Self {
        let limit = Room::limit();
        let occupied = OCCUPIED.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        // A job that would never fit runs alone.
        let mut occupied = ROOM_MADE
            .wait_while(occupied, |occupied| *occupied > 0 && *occupied + ranks > limit)
            .unwrap_or_else(|poisoned| poisoned.into_inner());
        *occupied += ranks;
        Room(ranks)
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        *OCCUPIED.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) -= self.0;
        ROOM_MADE.notify_all();
    }
}

/// How a process ended and what it said.
#[derive(Debug)]
pub struct Outcome {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Outcome {
    pub fn success(&self) -> bool {
        self.code == Some(0)
    }

    /// The one JSON object on standard output.
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(self.stdout.trim())
            .unwrap_or_else(|error| panic!("not one JSON object ({error}): {}\n{}", self.stdout, self.stderr))
    }
}

/// A command that runs another one, which it gets as its last arguments.
pub fn around(mut outer: Command, inner: &Command) -> Command {
    outer.arg(inner.get_program()).args(inner.get_args());
    for (name, value) in inner.get_envs() {
        match value {
            Some(value) => outer.env(name, value),
            None => outer.env_remove(name),
        };
    }
    outer
}

/// Runs a command without the tracer's variables of this environment; ends it, and fails, after `limit`.
pub fn run_limited(command: Command, limit: Duration) -> Outcome {
    run_meanwhile(command, limit, |_| {})
}

/// Runs commands at the same time, each as above; but one that does not end in time has no exit code.
pub fn run_all(commands: Vec<Command>, limit: Duration) -> Vec<Outcome> {
    let _room = Room::take(commands.len() as u32);
    let run = |command| thread::spawn(move || run_limited(command, limit));
    let threads: Vec<_> = commands.into_iter().map(run).collect();
    let late = |_| Outcome { code: None, stdout: String::new(), stderr: String::new() };
    threads.into_iter().map(|thread| thread.join().unwrap_or_else(late)).collect()
}

/// The same while no job of another test runs.
pub fn run_alone(command: Command, limit: Duration) -> Outcome {
    let _room = Room::take(Room::limit());
    run_limited(command, limit)
}

fn run_meanwhile(mut command: Command, limit: Duration, meanwhile: impl FnOnce(&mut Child)) -> Outcome {
    for (name, _) in std::env::vars_os() {
        if name.to_str().is_some_and(|name| name.starts_with("TMIO_")) {
            command.env_remove(name);
        }
    }
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()
        .unwrap_or_else(|error| panic!("{command:?} cannot be run: {error}"));
    let stdout = collect(child.stdout.take().expect("piped"));
    let stderr = collect(child.stderr.take().expect("piped"));
    let start = Instant::now();
    meanwhile(&mut child);
    let status = loop {
        if let Some(status) = child.try_wait().expect("it is our child") {
            break status;
        }
        if start.elapsed() > limit {
            end_group(child.id());
            let _ = child.wait();
            panic!(
                "still running after {limit:?}: {command:?}\n{}\n{}",
                stdout.join().unwrap_or_default(),
                stderr.join().unwrap_or_default()
            );
        }
        thread::sleep(Duration::from_millis(5));
    };
    Outcome {
        code: status.code().or(status.signal().map(|signal| 128 + signal)),
        stdout: stdout.join().expect("reader"),
        stderr: stderr.join().expect("reader"),
    }
}

/// Whether something becomes true within a time.
pub fn wait_until(limit: Duration, mut condition: impl FnMut() -> bool) -> bool {
    let start = Instant::now();
    while !condition() {
        if start.elapsed() > limit {
            return false;
        }
        thread::sleep(Duration::from_millis(10));
    }
    true
}

/// Reads a pipe to its end.
pub fn collect(mut pipe: impl Read + Send + 'static) -> thread::JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = pipe.read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

/// Launchers end their ranks when asked politely; the second request is not polite.
fn end_group(pid: u32) {
    for signal in ["-TERM", "-KILL"] {
        let _ = Command::new("kill").args([signal, "--", &format!("-{pid}")]).status();
        thread::sleep(Duration::from_secs(3));
    }
}
