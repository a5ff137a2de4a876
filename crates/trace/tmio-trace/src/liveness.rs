//! Whether a job still runs, as far as can be seen from here: all commands use this one answer.
//!
//! A process is known by its id, the time it started at and the namespaces these numbers are of. What
//! cannot be seen (another host, another container, another user's processes where `/proc` hides
//! them) is [`Life::Unknown`]: it must not be taken for dead.

use crate::RankInfo;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// What is known about the life of a process or a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Life {
    /// It is there.
    Alive,
    /// It is certainly gone.
    Dead,
    /// It cannot be seen from here.
    Unknown,
}

/// Identifies the running kernel; empty where `/proc` does not tell.
pub fn boot_id() -> String {
    let text = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    text.trim().to_owned()
}

/// Identifies the namespaces in which process ids and start times of this process are valid.
pub fn namespace() -> Option<u64> {
    let inode = |name: &str| fs::metadata(Path::new("/proc/self/ns").join(name)).ok().map(|meta| meta.ino());
    // Kernels before 5.6 have no time namespaces.
    Some(inode("pid")?.rotate_left(32) ^ inode("time").unwrap_or(0))
}

/// Whether process ids of the namespace with this number mean the same here. Nothing is known of number 0.
pub fn is_namespace_of(number: u64) -> bool {
    let own = || fs::metadata("/proc/self/ns/pid").map(|about| about.ino());
    number == 0 || own().is_ok_and(|own| own == number)
}

/// Whether numbers of processes mean the same in `/proc`, which may show those of a namespace above.
fn is_own_proc() -> bool {
    let own = fs::read_link("/proc/self").ok();
    own.and_then(|link| link.to_str()?.parse().ok()) == Some(std::process::id())
}

/// Where `/proc` shows a process of this namespace.
pub fn place_of(pid: u32) -> Option<PathBuf> {
    if is_own_proc() {
        return Some(PathBuf::from(format!("/proc/{pid}")));
    }
    let namespace = |process: &Path| fs::metadata(process.join("ns/pid")).ok().map(|about| about.ino());
    let own = namespace(Path::new("/proc/self"))?;
    let is_it = |process: &PathBuf| {
        let status = fs::read_to_string(process.join("status")).unwrap_or_default();
        // Its numbers from the namespace that `/proc` shows down to its own.
        let numbers = status.lines().find_map(|line| line.strip_prefix("NSpid:"));
        let last = numbers.and_then(|numbers| numbers.split_whitespace().last()?.parse().ok());
        last == Some(pid) && namespace(process) == Some(own)
    };
    shown().find(is_it)
}

/// All processes that `/proc` shows.
fn shown() -> impl Iterator<Item = PathBuf> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let is_number = |name: &OsStr| name.as_encoded_bytes().iter().all(u8::is_ascii_digit);
    entries.filter(move |entry| is_number(&entry.file_name())).map(|entry| entry.path())
}

/// What the helper process of the tracer calls itself.
pub const HELPER: &str = "tmio-helper";

/// Whether some process that is seen from here, other than the helper, has a file in its memory. This takes
/// long where there are many.
pub fn is_in_memory(path: &Path) -> bool {
    // A helper looks at it, and is not who writes to it.
    is_in_memory_of(path, |process| !is_helper(process))
}

/// Whether a helper that is seen from here has a file in its memory.
pub fn has_helper(path: &Path) -> bool {
    is_in_memory_of(path, is_helper)
}

fn is_helper(process: &Path) -> bool {
    fs::read(process.join("comm")).is_ok_and(|comm| comm.trim_ascii_end() == HELPER.as_bytes())
}

fn is_in_memory_of(path: &Path, is_meant: impl Fn(&Path) -> bool) -> bool {
    let Ok(about) = fs::metadata(path) else { return false };
    // The fifth word of a line; the device of the fourth is not the one that the file tells on some file
    // systems.
    let inode = about.ino().to_string();
    if fs::read_dir("/proc").is_err() {
        return true;
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let maps = shown().filter(|process| is_meant(process));
    let mut maps = maps.filter_map(|process| fs::read_to_string(process.join("maps")).ok());
    let has_it = |line: &str| line.split_whitespace().nth(4) == Some(&inode) && line.contains(&name);
    maps.any(|maps| maps.lines().any(has_it))
}

/// Who this process is, for [`of_rank`] in another one.
pub fn identify(info: &mut RankInfo) {
    identify_process(info, std::process::id());
}

/// The same of another process, which is in the same namespaces.
pub fn identify_process(info: &mut RankInfo, pid: u32) {
    info.boot_id = boot_id();
    info.pid = pid;
    info.namespace = namespace();
    info.started = started(pid);
    info.user = fs::metadata("/proc/self").ok().map(|meta| meta.uid());
}

/// Whether the rank ran under the running kernel.
pub fn is_here(rank: &RankInfo) -> bool {
    !rank.boot_id.is_empty() && rank.boot_id == boot_id()
}

/// Whether the rank's process still runs.
pub fn of_rank(rank: &RankInfo) -> Life {
    if !is_here(rank) || (rank.namespace.is_some() && rank.namespace != namespace()) {
        return Life::Unknown;
    }
    of_process(rank.pid, rank.started, rank.user)
}

/// Whether a process of this namespace still runs: the one of this id that started at this time, as a process
/// of this user, where these are known.
pub fn of_process(pid: u32, started: Option<u64>, user: Option<u32>) -> Life {
    match process(pid) {
        Some(process) if process.ended || started.is_some_and(|time| time != process.started) => Life::Dead,
        Some(_) => Life::Alive,
        // `/proc` may hide the processes of others.
        None => {
            let own = fs::metadata("/proc/self").map(|meta| meta.uid()).ok();
            let visible = user.is_none() || own == Some(0) || own == user;
            if visible { Life::Dead } else { Life::Unknown }
        }
    }
}

/// When a process of this namespace that runs was started, in ticks after boot. `None`: there is none.
pub fn started(pid: u32) -> Option<u64> {
    process(pid).filter(|process| !process.ended).map(|process| process.started)
}

/// The same, unless the process that has this number now came later than `made`: a time of the monotonic
/// clock, of which that since boot is ahead by `slept` now. The one that was there then has ended.
pub fn started_before(pid: u32, made: i64, slept: i64) -> Option<u64> {
    /// Nanoseconds of a tick: the same on all processors that the tracer knows.
    const TICK: i64 = 10_000_000;
    /// More than clocks can be off, and less than it takes until numbers begin again.
    const OFF: i64 = 1_000_000_000;
    let started = started(pid)?;
    let clock = |process: &Path| fs::metadata(process.join("ns/time")).ok().map(|about| about.ino());
    let has_own_clock = || place_of(pid).and_then(|place| clock(&place)) != clock(Path::new("/proc/self"));
    let latest = made.saturating_add(slept).saturating_add(OFF);
    let came_later =
        made > 0 && i64::try_from(started).is_ok_and(|ticks| ticks.saturating_mul(TICK) > latest);
    (!came_later || has_own_clock()).then_some(started)
}

/// Whether any of these ranks still runs: dead only if all are.
pub fn of_ranks<'a>(ranks: impl IntoIterator<Item = &'a RankInfo>) -> Life {
    let mut life = Life::Dead;
    for rank in ranks {
        match of_rank(rank) {
            Life::Alive => return Life::Alive,
            Life::Unknown => life = Life::Unknown,
            Life::Dead => {}
        }
    }
    life
}

/// Whether a process stands still: stopped by a signal, or by a debugger.
pub fn is_stopped(pid: u32) -> bool {
    let text = place_of(pid).and_then(|place| fs::read_to_string(place.join("stat")).ok());
    text.unwrap_or_default().rsplit(") ").next().is_some_and(|fields| fields.starts_with(['T', 't']))
}

struct Process {
    /// Ticks after boot at which it started.
    started: u64,
    /// It ended, and its parent has not noticed yet.
    ended: bool,
}

fn process(pid: u32) -> Option<Process> {
    // By its first thread, which has the same times: emulators make up what is in the short path of a process
    // that asks about itself.
    let place = place_of(pid)?;
    let threads = place.join("task");
    let text = fs::read_to_string(threads.join(place.file_name()?).join("stat")).ok()?;
    // The command, in parentheses, may hold anything; fields are counted after it (proc(5)).
    let mut fields = text.get(text.rfind(')')? + 1..)?.split_whitespace();
    let state = fields.next()?;
    let started = fields.nth(18)?.parse().ok()?;
    // The first thread may have ended while others go on.
    let threads = || fs::read_dir(&threads).map_or(0, Iterator::count);
    Some(Process { started, ended: matches!(state, "Z" | "X" | "x") && threads() <= 1 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    fn this_process() -> RankInfo {
        let mut info = RankInfo::default();
        identify(&mut info);
        info
    }

    #[test]
    fn a_process_is_known_by_its_id_and_its_start() {
        let info = this_process();
        assert_eq!(of_rank(&info), Life::Alive);
        let later = RankInfo { started: info.started.map(|time| time + 1), ..info.clone() };
        assert_eq!(of_rank(&later), Life::Dead, "another process got the same id");
        let other_kernel = RankInfo { boot_id: "another".to_owned(), ..info.clone() };
        assert_eq!(of_rank(&other_kernel), Life::Unknown);
        let container = RankInfo { namespace: info.namespace.map(|ns| ns ^ 1), ..info.clone() };
        assert_eq!(of_rank(&container), Life::Unknown);
        assert_eq!(of_ranks([&info, &later]), Life::Alive);
        assert_eq!(of_ranks([&later, &other_kernel]), Life::Unknown);
        assert_eq!(of_ranks([&later]), Life::Dead);
    }

    #[test]
    fn who_came_later_is_somebody_else() {
        let child = Command::new("sleep").arg("60").stdin(Stdio::null()).spawn();
        let mut child = child.unwrap();
        let started = started(child.id());
        let began = started.unwrap() as i64 * 10_000_000;
        assert!(started.is_some());
        // What it made it made after it had begun, whatever the machine slept meanwhile.
        for (made, slept) in [(began, 0), (began + 5, 0), (1, began), (0, 0), (i64::MAX, i64::MAX)] {
            assert_eq!(started_before(child.id(), made, slept), started, "{made} {slept}");
        }
        assert_eq!(started_before(child.id(), began - 2_000_000_000, 0), None);
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(started_before(child.id(), began, 0), None);
    }

    #[test]
    fn a_zombie_is_dead() {
        let mut child = Command::new("sleep").arg("60").stdin(Stdio::null()).spawn().unwrap();
        let started = started(child.id());
        let info = RankInfo { pid: child.id(), started, ..this_process() };
        assert_eq!(of_rank(&info), Life::Alive);
        child.kill().unwrap();
        while process(child.id()).is_some_and(|process| !process.ended) {
            std::thread::yield_now();
        }
        assert_eq!(of_rank(&info), Life::Dead, "its parent has not waited for it yet");
        child.wait().unwrap();
        assert_eq!(of_rank(&info), Life::Dead);
    }
}
