//! The lists by which the traced ranks of a node find each other at their start, and what is left of them.
//!
//! A list is a file of 64-bit words: the number of entries, and for each of them who it is (0: it has not
//! said so yet) and its process. It lives for as long as `MPI_Init` takes; only processes that are killed in
//! it leave one behind.

use crate::liveness;
use files::{Dir, Expect, user};
use std::ffi::OsStr;
use std::io::Read;
use std::path::Path;
use std::time::{Duration, SystemTime};

/// Where the lists are: in the first of these that can be used.
pub const DIRECTORIES: [&str; 2] = ["/dev/shm", "/tmp"];
/// Entries of a list.
pub const PLACES: usize = 2048;
/// In the number of entries: nobody else may enrol.
pub const CLOSED: u64 = 1 << 63;

/// A list that nobody was on for as long was left behind by whoever made it.
const EMPTY: Duration = Duration::from_secs(60);
/// So was one, after as long, whose processes cannot be seen from here.
const UNSEEN: Duration = Duration::from_secs(3600);
/// What a process needs to make a list and enrol.
const ENROLLING: Duration = Duration::from_secs(2);

/// Name of the list of a user's job.
pub fn name(user: u32, job: u64) -> String {
    format!("tmio-{user}-roll-{job:016x}")
}

/// How an entry names this process: its id, and in the upper half where that is valid.
pub fn this_process() -> u64 {
    u64::from(std::process::id()) | u64::from(namespace()) << 32
}

fn namespace() -> u32 {
    liveness::namespace().map_or(0, |number| (number ^ (number >> 32)) as u32)
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
    if file.take(8 * (1 + 2 * PLACES as u64)).read_to_end(&mut bytes).is_err() {
        return false;
    }
    let words: Vec<u64> = bytes.as_chunks().0.iter().map(|&word| u64::from_ne_bytes(word)).collect();
    is_over(&words, age.unwrap_or_default(), namespace(), &|process| {
        Path::new(&format!("/proc/{process}")).exists()
    })
}

fn is_over(words: &[u64], age: Duration, here: u32, is_alive: &dyn Fn(u32) -> bool) -> bool {
    let count = words.first().map_or(0, |count| count & !CLOSED) as usize;
    let processes = words.get(1..).unwrap_or_default().chunks(2).take(count).filter_map(|pair| pair.get(1));
    let (seen, unseen): (Vec<u64>, Vec<u64>) =
        processes.filter(|process| **process != 0).partition(|process| (**process >> 32) as u32 == here);
    if seen.iter().any(|&process| is_alive(process as u32)) {
        return false;
    }
    match (count, unseen.is_empty()) {
        (0, _) => age > EMPTY,
        (_, true) => age > ENROLLING,
        (_, false) => age > UNSEEN,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_list_goes_when_its_processes_are_gone() {
        let over = |words: &[u64], seconds: u64| {
            is_over(words, Duration::from_secs(seconds), 7, &|process| process == 100)
        };
        let entry = |process: u64| process | 7 << 32;
        assert!(!over(&[1, 0, entry(100)], 9999), "alive");
        assert!(over(&[2, 0, entry(50), 0, entry(51)], 3), "all dead");
        assert!(!over(&[2, 0, entry(50), 0, entry(51)], 1), "one may just be enrolling");
        assert!(!over(&[2, 0, entry(50), 0, entry(100)], 9999) && over(&[CLOSED | 1, 0, entry(50)], 3));
        // Those of another container.
        assert!(!over(&[1, 0, 50 | 8 << 32], 100) && over(&[1, 0, 50 | 8 << 32], 4000));
        assert!(!over(&[0], 10) && over(&[], 100) && over(&[u64::MAX], 100), "nobody was on it");
    }

    #[test]
    fn only_lists_are_touched() {
        let directory = std::env::temp_dir().join(format!("tmio-rolls-{}", std::process::id()));
        fs::create_dir(&directory).unwrap();
        let me = user::effective();
        let live = directory.join(name(me, 5));
        let words = [1, 0, this_process()].map(u64::to_ne_bytes);
        fs::write(&live, words.as_flattened()).unwrap();
        let dead = directory.join(name(me, 6));
        fs::write(
            &dead,
            [1u64, 0, u64::from(namespace()) << 32 | 0x7fff_fff0].map(u64::to_ne_bytes).as_flattened(),
        )
        .unwrap();
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
