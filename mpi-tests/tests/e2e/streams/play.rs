//! Plays scripts, alone and traced, and gathers what they did: their logs, their files, what the kernel
//! counted, what was recorded.

use super::account::Account;
use super::recorded::Recorded;
use super::script::Script;
use crate::harness::{ftio, libtmio, plain_program_with, run_limited, target_directory};
use crate::traced::names;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::Duration;
use tempfile::TempDir;

/// What was done by each script of a batch.
#[derive(Debug)]
pub struct Played {
    /// What every call returned, and how the script ended.
    pub logs: Vec<String>,
    /// By script and name: the files it left.
    pub files: Vec<BTreeMap<String, Vec<u8>>>,
    /// How the program ended, and what it said.
    pub code: Option<i32>,
    pub said: String,
}

/// How and where scripts are played.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Which of the [players](PLAYERS).
    pub player: usize,
    /// On the disk, with the paths left out that are by default. Else in memory, which is several times
    /// faster, with none left out.
    pub on_disk: bool,
}

/// How the player is compiled: every way calls other names of the C library.
const PLAYERS: &[&[&str]] = &[
    &["-O2", "-D_FORTIFY_SOURCE=2"],
    &["-O1", "-fno-builtin", "-U_FORTIFY_SOURCE"],
    &["-O2", "-D_FILE_OFFSET_BITS=64", "-D_FORTIFY_SOURCE=2"],
    &["-O0", "-D_FILE_OFFSET_BITS=64", "-U_FORTIFY_SOURCE"],
];

/// How many players there are.
pub const NUMBER_OF_PLAYERS: usize = PLAYERS.len();

/// The programs, and a place where scripts are played.
#[derive(Debug)]
pub struct Stage {
    disk: TempDir,
    memory: TempDir,
    programs: &'static Programs,
    /// Further variables for the library.
    pub variables: Vec<(&'static str, &'static str)>,
}

#[derive(Debug)]
struct Programs {
    players: Vec<PathBuf>,
    counter: PathBuf,
}

/// Compiled once, whatever number of tests needs them.
fn programs() -> &'static Programs {
    static PROGRAMS: OnceLock<Programs> = OnceLock::new();
    PROGRAMS.get_or_init(|| {
        let player =
            |number: usize| plain_program_with("plays_streams", &format!(".{number}"), PLAYERS[number]);
        let counter = plain_program_with("counts_kernel_calls", "", &["-O2"]);
        Programs { players: (0..PLAYERS.len()).map(player).collect(), counter }
    })
}

/// Which run of a batch: each has its own directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Alone,
    Traced,
}

impl Side {
    fn name(self) -> &'static str {
        match self {
            Side::Alone => "a",
            Side::Traced => "t",
        }
    }
}

impl Stage {
    pub fn new() -> Self {
        let disk = TempDir::new_in(target_directory().join("tmp")).expect("target/tmp can be written");
        let memory = TempDir::new_in("/dev/shm").expect("there is shared memory");
        Stage { disk, memory, programs: programs(), variables: Vec::new() }
    }

    /// Files beside those of the scripts.
    fn path(&self, side: Side, what: &str) -> PathBuf {
        self.memory.path().join(side.name()).join(what)
    }

    /// How names of files in shared memory begin.
    fn shared_memory(&self, side: Side) -> String {
        let unique = self.memory.path().file_name().expect("it has a name").to_string_lossy().into_owned();
        format!("/dev/shm/{unique}-{}-", side.name())
    }

    fn place(&self, side: Side, settings: Settings) -> Place {
        let directory = if settings.on_disk { &self.disk } else { &self.memory };
        Place {
            root: directory.path().join(side.name()).join("root"),
            shared_memory: self.shared_memory(side),
        }
    }

    /// The words of the player's command, its directory made anew.
    fn prepare(&self, side: Side, scripts: &[Script], settings: Settings) -> Vec<PathBuf> {
        let root = self.place(side, settings).root;
        for directory in [&self.path(side, ""), &root] {
            let _ = fs::remove_dir_all(directory);
            fs::create_dir_all(directory).expect("target/tmp can be written");
        }
        let mut text: String =
            scripts.iter().enumerate().map(|(number, script)| script.numbered(number)).collect();
        if text.len().is_multiple_of(4096) {
            // The player maps it, and needs a zero behind it.
            text.push('\n');
        }
        fs::write(self.path(side, "scripts"), text).expect("target/tmp can be written");
        vec![
            self.programs.players[settings.player].clone(),
            self.path(side, "scripts"),
            self.board(side),
            root,
            self.shared_memory(side).into(),
        ]
    }

    fn board(&self, side: Side) -> PathBuf {
        self.path(side, "board")
    }

    /// Alone, with what the kernel counts.
    pub fn alone(&self, scripts: &[Script], settings: Settings) -> (Played, Account) {
        let words = self.prepare(Side::Alone, scripts, settings);
        let calls = self.path(Side::Alone, "calls");
        let mut command = Command::new(&self.programs.counter);
        command.arg(self.board(Side::Alone)).arg(&calls).args(words);
        let place = self.place(Side::Alone, settings);
        let played = self.play(Side::Alone, &place, scripts.len(), command);
        let account = Account::read(&calls, &place);
        (played, account)
    }

    /// The same in the other place, and without a filter: every call is looked at.
    pub fn alone_again(&self, scripts: &[Script], settings: Settings) -> (Played, Account) {
        let words = self.prepare(Side::Traced, scripts, settings);
        let calls = self.path(Side::Traced, "calls");
        let mut command = Command::new(&self.programs.counter);
        command.arg("--every-call").arg(self.board(Side::Traced)).arg(&calls).args(words);
        let place = self.place(Side::Traced, settings);
        let played = self.play(Side::Traced, &place, scripts.len(), command);
        let account = Account::read(&calls, &place);
        (played, account)
    }

    /// The same by strace, which knows nothing of scripts and layers.
    pub fn by_strace(&self, scripts: &[Script], settings: Settings) -> String {
        let words = self.prepare(Side::Alone, scripts, settings);
        let calls = self.path(Side::Alone, "strace");
        let mut command = Command::new("strace");
        command.args(["-f", "-y", "-qq", "-s", "0", "-e", "signal=none", "-o"]).arg(&calls);
        command
            .args(["-e", "trace=read,write,pread64,pwrite64,readv,writev,preadv,pwritev,preadv2,pwritev2"]);
        command.args(words);
        self.play(Side::Alone, &self.place(Side::Alone, settings), scripts.len(), command);
        fs::read_to_string(calls).expect("strace has written it")
    }

    /// Where the files of scripts are that are played alone.
    pub fn place_alone(&self, settings: Settings) -> Place {
        self.place(Side::Alone, settings)
    }

    /// Under `ftio trace`.
    pub fn traced(&self, scripts: &[Script], settings: Settings) -> (Played, Recorded) {
        let words = self.prepare(Side::Traced, scripts, settings);
        let command = self.trace_command(settings, &words);
        let place = self.place(Side::Traced, settings);
        let played = self.play(Side::Traced, &place, scripts.len(), command);
        (played, self.recorded(&place))
    }

    /// The same, with what the kernel counts meanwhile.
    pub fn traced_and_counted(&self, scripts: &[Script], settings: Settings) -> (Played, Recorded, Account) {
        let mut words = self.prepare(Side::Traced, scripts, settings);
        let calls = self.path(Side::Traced, "calls");
        let counter =
            [self.programs.counter.clone(), "--every-call".into(), self.board(Side::Traced), calls.clone()];
        words.splice(0..0, counter);
        let command = self.trace_command(settings, &words);
        let place = self.place(Side::Traced, settings);
        let played = self.play(Side::Traced, &place, scripts.len(), command);
        (played, self.recorded(&place), Account::read(&calls, &place))
    }

    fn trace_command(&self, settings: Settings, words: &[PathBuf]) -> Command {
        let traces = self.path(Side::Traced, "traces");
        fs::create_dir_all(&traces).expect("target/tmp can be written");
        fs::create_dir_all(self.path(Side::Traced, "spool")).expect("there is shared memory");
        let mut command = Command::new(ftio());
        command.args(["trace", "-o"]).arg(traces.join("trace.msgpack")).arg("--library").arg(libtmio());
        command.arg("--").args(words);
        command.env("TMIO_SPOOL", self.path(Side::Traced, "spool")).env("TMIO_MIN_BYTES", "0");
        command.envs(self.variables.iter().copied());
        if !settings.on_disk {
            command.env("TMIO_EXCLUDE_PATHS", "none");
        }
        for name in ["LD_PRELOAD", "TMIO_LAYERS", "TMIO_RUN", "TMIO_OUTPUT"] {
            command.env_remove(name);
        }
        command
    }

    fn recorded(&self, place: &Place) -> Recorded {
        let traces = self.path(Side::Traced, "traces");
        let mut recorded = Recorded::read(&traces.join("trace.msgpack"), &self.board(Side::Traced), place);
        let beside = names(&traces).into_iter().filter(|name| name != "trace.msgpack");
        let left: Vec<String> = beside.chain(names(&self.path(Side::Traced, "spool"))).collect();
        if !left.is_empty() {
            recorded.wrong.push(format!("left behind: {}", left.join(", ")));
        }
        recorded
    }

    fn play(&self, side: Side, place: &Place, count: usize, command: Command) -> Played {
        let outcome = run_limited(command, Duration::from_secs(600));
        let logs = logs(&self.board(side), count);
        let mut files = vec![BTreeMap::new(); count];
        for (number, files) in files.iter_mut().enumerate() {
            gather(&place.root.join(format!("s{number}")), "", files);
        }
        self.gather_shared_memory(side, &mut files);
        Played { logs, files, code: outcome.code, said: outcome.stdout + &outcome.stderr }
    }

    /// They are removed, too.
    fn gather_shared_memory(&self, side: Side, files: &mut [BTreeMap<String, Vec<u8>>]) {
        let begin = self.shared_memory(side);
        for entry in fs::read_dir("/dev/shm").expect("there is shared memory").flatten() {
            let path = entry.path().display().to_string();
            let Some(name) = path.strip_prefix(&begin) else { continue };
            let number = name[1..].split('-').next().and_then(|number| number.parse::<usize>().ok());
            if let Some(files) = number.and_then(|number| files.get_mut(number)) {
                files.insert(format!("+{name}"), fs::read(&path).unwrap_or_default());
            }
            let _ = fs::remove_file(path);
        }
    }
}

/// Where the files of a run are.
#[derive(Debug)]
pub struct Place {
    root: PathBuf,
    shared_memory: String,
}

impl Place {
    /// The name of a file of a script, the same in all runs; `None`: no script's.
    ///
    /// A file that was removed has its old name; those that never had one, or one that is drawn in every run,
    /// are one for each directory.
    pub fn name(&self, path: &str) -> Option<String> {
        let path = path.strip_suffix(" (deleted)").unwrap_or(path);
        let (directory, base) = path.rsplit_once('/')?;
        let is_temporary = base.starts_with('#') || base == "(temporary)";
        let base = if is_temporary { "(temporary)" } else { base };
        let base = if base.starts_with("mk-") { "mk-" } else { base };
        if let Some(rest) = path.strip_prefix(&self.shared_memory) {
            return Some(format!("+{rest}"));
        }
        let full = cleaned(&format!("{directory}/{base}"));
        if full == "/tmp/(temporary)" {
            return Some(full);
        }
        let root = self.root.to_str().expect("UTF-8");
        Some(full.strip_prefix(root)?.strip_prefix('/')?.to_owned())
    }
}

/// Without dots.
fn cleaned(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            _ => parts.push(part),
        }
    }
    format!("/{}", parts.join("/"))
}

/// Regular files below a directory by their names, the others with what they are.
fn gather(directory: &Path, below: &str, files: &mut BTreeMap<String, Vec<u8>>) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let name = format!("{below}{}", entry.file_name().to_string_lossy());
        let Ok(kind) = entry.file_type() else { continue };
        if kind.is_dir() {
            gather(&entry.path(), &format!("{name}/"), files);
        } else if kind.is_file() {
            files.insert(name, fs::read(entry.path()).unwrap_or_default());
        } else {
            files.insert(name, if kind.is_symlink() { b"a link" } else { b"a FIFO" }.to_vec());
        }
    }
}

/// Bytes before the log, and where its length is: see `plays_streams/board.h`.
const LOG: usize = 16 + 8 * 4096 + 8 * PROCESSES;
const PROCESSES: usize = 1 << 16;

fn number_at(board: &[u8], at: usize) -> u32 {
    board.get(at..at + 4).map_or(0, |bytes| u32::from_le_bytes(bytes.try_into().expect("four")))
}

/// Which process belongs to which script.
pub fn owners(board: &Path) -> BTreeMap<u32, usize> {
    let board = fs::read(board).unwrap_or_default();
    let count = (number_at(&board, 4) as usize).min(PROCESSES);
    let at = |index: usize| 16 + 8 * 4096 + 8 * index;
    (0..count)
        .map(|index| (number_at(&board, at(index)), number_at(&board, at(index) + 4) as usize))
        .collect()
}

fn logs(board: &Path, count: usize) -> Vec<String> {
    let mut logs = vec![String::new(); count];
    let board = fs::read(board).unwrap_or_default();
    let length = number_at(&board, 8) as usize;
    let text =
        String::from_utf8_lossy(board.get(LOG..).unwrap_or_default().get(..length).unwrap_or_default());
    let mut number = None;
    for line in text.lines() {
        if let Some(script) = line.strip_prefix("script ") {
            number = script.parse::<usize>().ok();
        } else if let Some(log) = number.and_then(|number| logs.get_mut(number)) {
            *log += line;
            log.push('\n');
        }
    }
    logs
}
