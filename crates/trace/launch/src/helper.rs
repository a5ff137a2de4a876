//! The helper of the tracer, started for what processes have left in memory: it knows where their records
//! belong, and writes them to the parts of their trace.

use crate::error::{Context, Error};
use std::ffi::OsString;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use tmio_spool::{control, layout};
use tmio_trace::liveness;

/// The library next to `libtmio.so` that is the helper when it is run.
pub const RECORDER: &str = "libtmio_recorder.so";

/// Directories in which this user's processes may have spools.
pub fn spool_directories() -> Vec<PathBuf> {
    let user = rustix::process::geteuid().as_raw();
    let variables =
        ["TMIO_SPOOL", "TMPDIR"].iter().filter_map(|name| std::env::var_os(name).map(PathBuf::from));
    let mut bases: Vec<PathBuf> = variables.chain(["/dev/shm", "/tmp"].map(PathBuf::from)).collect();
    bases.sort();
    bases.dedup();
    let own =
        |path: &PathBuf| fs::symlink_metadata(path).is_ok_and(|meta| meta.is_dir() && meta.uid() == user);
    bases.into_iter().map(|base| base.join(format!("tmio-{user}"))).filter(own).collect()
}

fn names_in(directory: &Path) -> impl Iterator<Item = String> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().into_string().ok())
}

/// Those that have a helper together: what the names of their spools in a directory begin with.
fn groups(directory: &Path, is_meant: impl Fn(u64) -> bool) -> Vec<String> {
    let group_of = |name: String| {
        let group = name.split(['-', '.']).next()?;
        let (job, _) = group.split_once(control::OF_NAMESPACE)?;
        u64::from_str_radix(job, 16).ok().filter(|job| is_meant(*job)).map(|_| group.to_owned())
    };
    let mut groups: Vec<String> = names_in(directory).filter_map(group_of).collect();
    groups.sort_unstable();
    groups.dedup();
    groups
}

/// The spools of a group in a directory whose processes are gone, and those that somebody is just taking to
/// the part: these have that one's number for an ending.
fn left_behind(directory: &Path, group: &str) -> Vec<PathBuf> {
    let is_taken = |name: &str| {
        let taker = name.rsplit('.').next().and_then(|ending| ending.parse().ok());
        taker.is_some_and(|taker| liveness::started(taker).is_some())
    };
    let begin = format!("{group}-");
    let of_group = names_in(directory)
        .filter(|name| name.starts_with(&begin) && (name.ends_with(".spool") || is_taken(name)));
    // The process is the second of the numbers in its name; in a container it is somebody else's.
    let is_gone = |name: &String| {
        let process = name.split('-').nth(1).and_then(|digits| digits.parse().ok());
        let spool = directory.join(name);
        if liveness::is_namespace_of(word(&spool, layout::NAMESPACE).unwrap_or(0)) {
            let made = word(&spool, layout::MADE_NS).unwrap_or(0) as i64;
            process.is_none_or(|process| liveness::started_before(process, made, slept()).is_none())
        } else {
            !liveness::is_in_memory(&spool)
        }
    };
    of_group.filter(is_gone).map(|name| directory.join(name)).collect()
}

/// How long the machine has slept, in nanoseconds.
fn slept() -> i64 {
    let now = |clock| {
        let time = rustix::time::clock_gettime(clock);
        time.tv_sec * 1_000_000_000 + time.tv_nsec
    };
    now(rustix::time::ClockId::Boottime) - now(rustix::time::ClockId::Monotonic)
}

/// Has the spools of a job's dead processes written to its parts, and waits for that no longer than
/// `patience`. `false`: it took longer.
pub fn write_out(library: &Path, job: u64, patience: Duration) -> Result<bool, Error> {
    let began = Instant::now();
    for directory in spool_directories() {
        for group in groups(&directory, |one| one == job) {
            let mut started = None;
            while !left_behind(&directory, &group).is_empty() {
                if began.elapsed() >= patience {
                    return Ok(false);
                }
                // One that is about to end gives way to another.
                if started.is_none_or(|time: Instant| time.elapsed() > Duration::from_secs(3)) {
                    started = Some(Instant::now());
                    start(library, &directory, &group)?;
                }
                std::thread::sleep(Duration::from_millis(2));
            }
            dismiss(&directory, &group);
        }
    }
    Ok(true)
}

/// The jobs of this user's dead processes of which no part knows: there was no helper when they ended.
pub fn forgotten_jobs() -> Vec<u64> {
    let mut jobs: Vec<u64> = Vec::new();
    for directory in spool_directories() {
        let has_forgotten =
            |group: &String| left_behind(&directory, group).iter().any(|spool| is_forgotten(spool));
        let job_of = |group: String| u64::from_str_radix(group.split(control::OF_NAMESPACE).next()?, 16).ok();
        jobs.extend(groups(&directory, |_| true).into_iter().filter(has_forgotten).filter_map(job_of));
    }
    jobs.sort_unstable();
    jobs.dedup();
    jobs
}

/// Has the spools of these jobs written. `false`: it took longer than `patience`.
pub fn write_out_all(library: &Path, jobs: Vec<u64>, patience: Duration) -> Result<bool, Error> {
    let began = Instant::now();
    for job in jobs {
        if !write_out(library, job, patience.saturating_sub(began.elapsed()))? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether a spool does not say where its records belong, or there is nothing yet.
fn is_forgotten(spool: &Path) -> bool {
    let part = || {
        let spool = tmio_trace::spool::Spool::parse(&fs::read(spool).ok()?)?;
        spool.part.map(|part| PathBuf::from(OsString::from_vec(part)))
    };
    match word(spool, layout::IDENTITY_LENGTH) {
        Some(0) => true,
        Some(_) => part().is_some_and(|part| !part.exists()),
        None => false,
    }
}

/// A word at the beginning of a spool.
fn word(spool: &Path, index: usize) -> Option<u64> {
    let mut word = [0; 8];
    let flags = rustix::fs::OFlags::NOFOLLOW.bits() as i32;
    let file = OpenOptions::new().read(true).custom_flags(flags).open(spool).ok()?;
    file.read_exact_at(&mut word, 8 * index as u64).ok()?;
    Some(u64::from_ne_bytes(word))
}

/// Tells a helper that no further process will start, and waits a moment for it to end.
fn dismiss(directory: &Path, group: &str) {
    const MAX_WAIT: Duration = Duration::from_secs(1);
    let page = directory.join(format!("{group}{}", control::ENDING));
    let Ok(file) =
        OpenOptions::new().write(true).custom_flags(rustix::fs::OFlags::NOFOLLOW.bits() as i32).open(&page)
    else {
        return;
    };
    let _ = file.write_all_at(&1u64.to_ne_bytes(), control::LAST as u64 * 8);
    let began = Instant::now();
    while page.exists() && began.elapsed() < MAX_WAIT {
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Starts the helper of a group, unless one runs.
fn start(library: &Path, directory: &Path, group: &str) -> Result<(), Error> {
    let recorder = library.with_file_name(RECORDER);
    let page = directory.join(format!("{group}{}", control::ENDING));
    let mut helper = word(&page, control::HELPER);
    let namespace = group.split_once(control::OF_NAMESPACE);
    let namespace = namespace.and_then(|(_, number)| u64::from_str_radix(number, 16).ok());
    let is_of_here = namespace.is_none_or(liveness::is_namespace_of);
    let runs = match helper {
        None => false,
        Some(helper) if is_of_here => liveness::started(helper as u32).is_some(),
        // Its number means somebody else here.
        Some(_) => liveness::has_helper(&page),
    };
    if runs {
        return Ok(());
    }
    if helper.is_some() && !is_of_here && fs::remove_file(&page).is_ok() {
        helper = None;
    }
    if helper.is_none() {
        let mut bytes = vec![0; control::LENGTH];
        let me = control::STARTING | u64::from(std::process::id());
        for (index, word) in [(0, control::MAGIC), (control::HELPER, me)] {
            if let Some(place) = bytes.get_mut(8 * index..8 * index + 8) {
                place.copy_from_slice(&word.to_ne_bytes());
            }
        }
        match OpenOptions::new().write(true).create_new(true).mode(0o600).open(&page) {
            Ok(mut file) => file.write_all(&bytes).context(page.display().to_string())?,
            // Somebody else was faster.
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error).context(page.display().to_string()),
        }
    }
    let mut path = OsString::from(directory);
    path.push("/");
    path.push(group);
    let null = Stdio::null;
    let mut command = Command::new(&recorder);
    command.arg(path).env_clear().stdin(null()).stdout(null()).stderr(null());
    command.spawn().context(format!("cannot run {}", recorder.display()))?;
    Ok(())
}
