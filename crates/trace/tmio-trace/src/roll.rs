//! The lists by which the traced ranks of a node find each other at their start, and what is left of them.
//!
//! A list is a file of 64-bit words: the number of entries, and for each of them who it is (0: it has not
//! said so yet), its process, when that started, and how many ranks its job has. Behind the list is a place
//! for each entry, in which these processes talk to each other. The file has a name for as long as `MPI_Init`
//! takes; only processes that are killed in it leave one behind.

use crate::liveness::{self, Life};
use files::{Dir, Expect, user};
use std::ffi::OsStr;
use std::io::Read;
use std::path::Path;
use std::time::{Duration, SystemTime};

/// Where the lists are: in the first of these that can be used.
pub const DIRECTORIES: [&str; 2] = ["/dev/shm", "/tmp"];
/// Entries of a list.
pub const PLACES: usize = 2048;
/// Words of an entry.
pub const ENTRY: usize = 4;
/// Words of a list.
pub const WORDS: usize = 1 + ENTRY * PLACES;
/// In the number of entries: no further process may enrol.
pub const CLOSED: u64 = 1 << 63;

/// A list that has been empty for this long was abandoned by the process that made it.
const EMPTY: Duration = Duration::from_secs(60);
/// So was one, after as long, whose processes cannot be seen from here.
const UNSEEN: Duration = Duration::from_secs(3600);
/// What a process needs to make a list and enrol.
const ENROLLING: Duration = Duration::from_secs(2);

/// Name of the list of a user's job.
pub fn name(user: u32, job: u64) -> String {
    format!("tmio-{user}-roll-{job:016x}")
}

/// How an entry names a process: its id, and in the upper half where that is valid; and when it started
/// (0: that cannot be told).
pub fn process(id: u32) -> [u64; 2] {
    [u64::from(id) | u64::from(namespace()) << 32, liveness::started(id).unwrap_or(0)]
}

/// Whether the process that an entry names so still runs.
pub fn life(process: u64, started: u64) -> Life {
    if (process >> 32) as u32 != namespace() || started == 0 {
        return Life::Unknown;
    }
    liveness::of_process(process as u32, Some(started), None)
}

fn namespace() -> u32 {
    liveness::namespace().map_or(0, |number| (number ^ (number >> 32)) as u32)
}

/// The processes on a list, and when each of them started.
fn entries(words: &[u64]) -> Vec<[u64; 2]> {
    let count = words.first().map_or(0, |count| count & !CLOSED) as usize;
    let entries = words.get(1..).unwrap_or_default().chunks_exact(ENTRY).take(count);
    entries.filter_map(|entry| Some([*entry.get(1)?, *entry.get(2)?])).collect()
}

/// Removes the lists of this user whose processes are all gone; returns how many there were. Those of others
/// are left alone: who is root has to become that user first.
pub fn clean(directory: &Path) -> u64 {
    Dir::open(directory).map_or(0, |directory| clean_in(&directory))
}

/// The same, in an open directory.
pub fn clean_in(directory: &Dir) -> u64 {
    let Ok(entries) = directory.entries() else { return 0 };
    let me = user::effective();
    let lists = entries.flatten().map(|entry| entry.name).filter(|name| user_of(name) == Some(me));
    lists.filter(|name| is_left_behind(directory, name) && directory.remove(name).is_ok()).count() as u64
}

/// The user whose list has this name.
pub fn user_of(name: &OsStr) -> Option<u32> {
    let (user, job) = name.to_str()?.strip_prefix("tmio-")?.split_once("-roll-")?;
    u64::from_str_radix(job, 16).ok()?;
    user.parse().ok()
}

fn is_left_behind(directory: &Dir, name: &OsStr) -> bool {
    let Ok(file) = directory.read(name, &Expect::of_user(user::effective())) else { return false };
    let Ok(meta) = file.metadata() else { return false };
    let age = meta.modified().ok().and_then(|time| SystemTime::now().duration_since(time).ok());
    let mut bytes = Vec::new();
    if file.take(8 * WORDS as u64).read_to_end(&mut bytes).is_err() {
        return false;
    }
    let words: Vec<u64> = bytes.as_chunks().0.iter().map(|&word| u64::from_ne_bytes(word)).collect();
    is_over(&entries(&words), age.unwrap_or_default(), &life)
}

fn is_over(entries: &[[u64; 2]], age: Duration, life: &dyn Fn(u64, u64) -> Life) -> bool {
    let lives: Vec<Life> = entries.iter().map(|&[process, started]| life(process, started)).collect();
    if lives.contains(&Life::Alive) {
        return false;
    }
    match (entries.is_empty(), lives.contains(&Life::Unknown)) {
        (true, _) => age > EMPTY,
        (false, false) => age > ENROLLING,
        (false, true) => age > UNSEEN,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_list_goes_when_its_processes_are_gone() {
        let of = |process: u64, _: u64| match process {
            100 => Life::Alive,
            50..60 => Life::Dead,
            _ => Life::Unknown,
        };
        let over = |words: &[u64], seconds: u64| is_over(&entries(words), Duration::from_secs(seconds), &of);
        assert!(!over(&[1, 0, 100, 7, 2], 9999), "alive");
        assert!(over(&[2, 0, 50, 7, 2, 0, 51, 7, 2], 3), "all dead");
        assert!(!over(&[2, 0, 50, 7, 2, 0, 51, 7, 2], 1), "one may just be enrolling");
        assert!(!over(&[2, 0, 50, 7, 2, 0, 100, 7, 2], 9999) && over(&[CLOSED | 1, 0, 50, 7, 2], 3));
        // Those of another container.
        assert!(!over(&[1, 0, 200, 7, 2], 100) && over(&[1, 0, 200, 7, 2], 4000));
        assert!(!over(&[0], 10) && over(&[], 100) && over(&[u64::MAX], 100), "nobody was on it");
    }

    #[test]
    fn a_process_is_not_the_one_that_had_its_number_before() {
        let [process, started] = process(std::process::id());
        assert_eq!(life(process, started), Life::Alive);
        assert_eq!(life(process, started - 1), Life::Dead, "another one had the number");
        assert_eq!(life(process, 0), Life::Unknown);
        assert_eq!(life(process ^ 1 << 32, started), Life::Unknown, "in another container");
    }

    #[test]
    fn only_lists_are_touched() {
        let directory = std::env::temp_dir().join(format!("tmio-rolls-{}", std::process::id()));
        fs::create_dir(&directory).unwrap();
        let me = user::effective();
        let [process, started] = process(std::process::id());
        let live = directory.join(name(me, 5));
        let words = [1, 0, process, started, 1].map(u64::to_ne_bytes);
        fs::write(&live, words.as_flattened()).unwrap();
        let dead = directory.join(name(me, 6));
        let words = [1, 0, process & !0xffff_ffff | 0x7fff_fff0, started, 1].map(u64::to_ne_bytes);
        fs::write(&dead, words.as_flattened()).unwrap();
        let old = SystemTime::now() - Duration::from_secs(100);
        for path in [&live, &dead] {
            fs::File::options().write(true).open(path).unwrap().set_modified(old).unwrap();
        }
        let (no_list, of_another) =
            (directory.join(format!("tmio-{me}-roll-x")), directory.join(name(me + 1, 6)));
        fs::write(&no_list, "mine").unwrap();
        fs::copy(&dead, &of_another).unwrap();
        assert_eq!(clean(&directory), 1);
        assert!(live.exists() && !dead.exists() && no_list.exists() && of_another.exists());
        fs::remove_dir_all(&directory).unwrap();
    }
}
