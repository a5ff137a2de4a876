//! A command without a launcher: it and all that it starts become one trace, with the processes as ranks.
//!
//! Their records are in spools, which a helper writes to the parts of the trace. When the command has ended,
//! one file is made of them. If some processes still run then (a daemon), or ftio itself is killed, the parts
//! stay, and all other commands read them.

use crate::error::{Context, Error};
use crate::helper;
use files::printable;
use rustix::process::{Pid, Signal};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
use signal_hook::iterator::Signals;
use std::ffi::OsString;
use std::fs;
use std::io::IsTerminal;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::sync::Mutex;
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tmio_trace::liveness;
use tmio_trace::reader::is_trace_start;
use tmio_trace::recover::Remains;

/// What is traced of a command by default.
const LAYERS: &str = "mpiio,posix,stdio";

/// The processes of one command.
#[derive(Debug)]
pub struct Run {
    number: u64,
    path: PathBuf,
    /// The trace that was at that place before.
    before: Option<Identity>,
    waiting: Mutex<Option<Waiting>>,
}

/// A thread that is there as long as processes that end leave their records to this one. They ask for it by
/// its number: this process itself is still seen when it has looked for the last time.
#[derive(Debug)]
struct Waiting {
    thread: JoinHandle<()>,
    stop: Sender<()>,
    number: u64,
}

impl Waiting {
    fn begin() -> std::io::Result<Self> {
        let (stop, stopped) = channel();
        let (tell, told) = channel();
        let thread = std::thread::Builder::new().name("waits".into()).spawn(move || {
            let own = fs::read_link("/proc/thread-self").unwrap_or_default();
            let number = own.file_name().and_then(|name| name.to_str()?.parse().ok());
            let _ = tell.send(number.unwrap_or_else(|| u64::from(std::process::id())));
            let _: Result<(), _> = stopped.recv();
        })?;
        let number = told.recv().map_err(std::io::Error::other)?;
        Ok(Self { thread, stop, number })
    }

    fn end(self) {
        drop(self.stop);
        let _ = self.thread.join();
    }
}

/// What became of the trace of a run.
#[derive(Debug)]
#[non_exhaustive]
pub enum End {
    /// It is in this file.
    Whole(PathBuf),
    /// It is in this file, but processes run still, and its parts stay.
    Grows {
        /// The file.
        trace: PathBuf,
        /// Why what came last could not be written.
        late: Option<Error>,
    },
    /// So many processes run still: it stays in its parts.
    Running(usize),
    /// The file system of this trace did not answer in time.
    Unanswered(PathBuf),
    /// No process has left records.
    Nothing {
        /// Whether something else has put a file at the place of the trace.
        replaced: bool,
    },
}

/// Runs a command until it ends, and passes on to it the signals that this process gets.
pub fn attend(mut command: Command) -> Result<ExitStatus, Error> {
    // Who stops or wakes up ftio means the command. What the terminal sends reaches both.
    // A signal that is ignored (nohup, jobs in the background of a script) stays so for the command, too.
    let ignored = ignored_signals();
    let caught = [SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGINT, SIGQUIT];
    let caught = caught.into_iter().filter(|signal| ignored >> (signal - 1) & 1 == 0);
    let mut signals = Signals::new(caught).context("cannot wait for signals")?;
    let program = command.get_program().to_string_lossy().into_owned();
    let mut child = command.spawn().context(format!("cannot run {program}"))?;
    let id = Pid::from_child(&child);
    let handle = signals.handle();
    let forwarding = std::thread::spawn(move || {
        for signal in signals.forever() {
            let by_terminal = matches!(signal, SIGINT | SIGQUIT) && std::io::stdin().is_terminal();
            if let Some(signal) = Signal::from_named_raw(signal).filter(|_| !by_terminal) {
                // It may have ended already.
                let _ = rustix::process::kill_process(id, signal);
            }
        }
    });
    let status = child.wait().context(format!("cannot wait for {program}"));
    handle.close();
    let _ = forwarding.join();
    status
}

/// The signals that this process ignores, a bit for each. 0 where that is not known.
fn ignored_signals() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

/// What tells a file from another one of the same name.
type Identity = (u64, u64, i64, i64);

fn identity(path: &Path) -> Option<Identity> {
    fs::metadata(path).ok().map(|meta| (meta.ino(), meta.len(), meta.mtime(), meta.mtime_nsec()))
}

impl Run {
    /// A new run, and the variables that tell its processes about it. `None`: nothing but MPI-IO is wanted,
    /// or the name of the trace has letters that only the traced program can fill in.
    pub fn new(
        output: Option<&Path>,
        layers: Option<&str>,
        variables: &mut Vec<(&'static str, OsString)>,
    ) -> Result<Option<Self>, Error> {
        let given = std::env::var("TMIO_LAYERS").ok();
        let layers =
            layers.map(str::to_owned).or(given.filter(|given| !given.is_empty())).unwrap_or_else(|| {
                variables.push(("TMIO_LAYERS", LAYERS.into()));
                LAYERS.to_owned()
            });
        let output =
            output.map(Path::to_owned).or_else(|| std::env::var_os("TMIO_OUTPUT").map(PathBuf::from));
        let has_letters =
            output.as_ref().is_some_and(|path| path.as_os_str().as_encoded_bytes().contains(&b'%'));
        if has_letters || !(layers.contains("posix") || layers.contains("stdio")) {
            return Ok(None);
        }
        let output = output.unwrap_or_else(default_path);
        let path = std::path::absolute(&output).context(output.display().to_string())?;
        if path.exists() && !is_trace(&path) {
            return Err(Error::new(format!("{} exists and is not a tmio trace", path.display())));
        }
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos() as u64;
        let clock = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
        let monotonic = clock.tv_sec as u64 * 1_000_000_000 + clock.tv_nsec as u64;
        let number = mixed(now ^ u64::from(std::process::id()).rotate_left(40));
        let waiting = Waiting::begin().context("cannot start a thread")?;
        let process = waiting.number << 32 | u64::from(std::process::id());
        let mut told = OsString::from(format!("{number:016x}:{now:x}:{monotonic:x}:{process:x}:"));
        told.push(&path);
        variables.push(("TMIO_RUN", told));
        let before = identity(&path);
        Ok(Some(Self { number, path, before, waiting: Mutex::new(Some(waiting)) }))
    }

    /// One file of all parts, if all processes have ended; `write` makes it at the place that it is given.
    pub fn finish<E: From<Error>>(
        &self,
        library: &Path,
        write: impl FnOnce(&Remains, &Path) -> Result<(), E>,
    ) -> Result<End, E> {
        // Asked before the parts are read: what a process wrote before it ended is then in what is read.
        let mut written = helper::write_out(library, self.number, patience())?;
        let goes_on = Remains::has_run(&self.path, self.number) && self.goes_on();
        // Some may have ended meanwhile; from here on they see to it that somebody writes their records.
        let waiting = self.waiting.lock().ok().and_then(|mut waiting| waiting.take());
        waiting.into_iter().for_each(Waiting::end);
        written = written && helper::write_out(library, self.number, patience())?;
        if !written {
            return Ok(End::Unanswered(self.path.clone()));
        }
        let named = || printable(&self.path.to_string_lossy()).into_owned();
        let Some(remains) = Remains::of_run(&self.path, self.number).context(named())? else {
            cannot_be_made(&self.path)?;
            return Ok(End::Nothing { replaced: identity(&self.path) != self.before });
        };
        let running = remains.running();
        if running > 0 {
            return Ok(End::Running(running));
        }
        // An MPI program among them may have put its trace there.
        let taken = self.path.exists() && identity(&self.path) != self.before;
        let place = if taken { free_place(&self.path) } else { self.path.clone() };
        write(&remains, &place)?;
        if goes_on {
            // The parts are read as long as they are there, and a daemon may still add to them. One that has
            // ended meanwhile has left its records to this process.
            let late = helper::write_out(library, self.number, patience()).err();
            return Ok(End::Grows { trace: place, late });
        }
        // The spools of killed processes are in it now. Those in other namespaces of this host have ended.
        remains
            .remove(remains.ranks.iter().all(liveness::is_here))
            .context(remains.parts.display().to_string())?;
        Ok(End::Whole(place))
    }

    /// Whether processes of the run are there still, such as daemons that have not done enough yet to have a
    /// part. Servers that end with their client get a moment for it.
    fn goes_on(&self) -> bool {
        let begin = format!("TMIO_RUN={:016x}:", self.number);
        let any = || {
            let Ok(processes) = fs::read_dir("/proc") else { return false };
            processes.flatten().any(|process| {
                process.file_name().to_string_lossy().bytes().all(|byte| byte.is_ascii_digit())
                    && may_be_member(&process.path(), begin.as_bytes())
            })
        };
        (0..30).all(|_| {
            // Twice: where process numbers begin again, a look from low to high can miss one that starts
            // another one and ends.
            (any() || any()) && {
                std::thread::sleep(Duration::from_millis(10));
                true
            }
        })
    }
}

/// Whether the process has the variable that begins so. One that is just becoming another program has no
/// variables for a moment: it may have this one.
fn may_be_member(process: &Path, begin: &[u8]) -> bool {
    /// A thread of the kernel (`PF_KTHREAD`).
    const OF_THE_KERNEL: u64 = 0x0020_0000;
    let Ok(variables) = fs::read(process.join("environ")) else { return false };
    if !variables.is_empty() {
        return variables.split(|&byte| byte == 0).any(|word| word.starts_with(begin));
    }
    let Ok(stat) = fs::read_to_string(process.join("stat")) else { return false };
    // Behind the name, which may hold anything, from the third field on.
    let fields: Vec<&str> = stat.rsplit(") ").next().unwrap_or_default().split_whitespace().collect();
    let [state, .., end_of_variables, _exit_code] = fields[..] else { return false };
    let of_the_kernel = fields
        .get(6)
        .and_then(|flags| flags.parse::<u64>().ok())
        .is_none_or(|flags| flags & OF_THE_KERNEL != 0);
    // Z, X: it has ended. Who was started without variables has a place where they end.
    !matches!(state, "Z" | "X") && end_of_variables == "0" && !of_the_kernel
}

/// How long the file system of the trace may take.
fn patience() -> Duration {
    let given = std::env::var("TMIO_FINALIZE_TIMEOUT").ok().and_then(|seconds| seconds.parse().ok());
    Duration::from_secs_f64(given.filter(|seconds| (0.1..=1e6).contains(seconds)).unwrap_or(30.0))
}

fn default_path() -> PathBuf {
    let job = ["SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "FLUX_JOB_ID", "COBALT_JOBID"]
        .iter()
        .find_map(|name| std::env::var(name).ok().filter(|job| !job.is_empty() && !job.contains('/')));
    let path =
        PathBuf::from(format!("tmio_{}.msgpack", job.unwrap_or_else(|| std::process::id().to_string())));
    if path.exists() { free_place(&path) } else { path }
}

/// `trace.msgpack` → `trace-2.msgpack`, or the next number that is free.
fn free_place(path: &Path) -> PathBuf {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let ending = path.extension().map(|ending| format!(".{}", ending.to_string_lossy())).unwrap_or_default();
    (2u64..)
        .map(|number| path.with_file_name(format!("{stem}-{number}{ending}")))
        .find(|candidate| !candidate.exists())
        .unwrap_or_else(|| path.to_owned())
}

fn is_trace(path: &Path) -> bool {
    use std::io::Read;
    let mut start = Vec::new();
    fs::File::open(path).is_ok_and(|file| file.take(64).read_to_end(&mut start).is_ok())
        && is_trace_start(&start)
}

/// Bits that look like chance (splitmix64).
fn mixed(seed: u64) -> u64 {
    let mut bits = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

/// Why there can be no trace of this path, if there cannot.
fn cannot_be_made(path: &Path) -> Result<(), Error> {
    use rustix::fs::{Access, access};
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let problem = access(directory, Access::WRITE_OK | Access::EXEC_OK);
    problem.context(format!("no trace: cannot create {}", printable(&path.to_string_lossy())))
}
