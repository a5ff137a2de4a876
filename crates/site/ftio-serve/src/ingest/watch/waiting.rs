//! Files that are to be read, each when it has not changed for a moment.

use crate::store::Version;
use std::collections::{HashSet, VecDeque};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// A file, how it was, and when.
pub type Waits = (PathBuf, Version, Instant);

/// The queue of a watched directory. What appears while the service runs comes before the many that may have
/// been there at its start.
#[derive(Debug, Default)]
pub struct Waiting {
    new: VecDeque<Waits>,
    old: VecDeque<Waits>,
    names: HashSet<PathBuf>,
}

impl Waiting {
    /// Put a file in, unless it is in already. `was_there`: at the start.
    pub fn add(&mut self, path: PathBuf, version: Version, was_there: bool) {
        if self.names.insert(path.clone()) {
            let queue = if was_there { &mut self.old } else { &mut self.new };
            queue.push_back((path, version, Instant::now()));
        }
    }

    /// The next that has waited this long. It is out then.
    pub fn next(&mut self, time: Duration) -> Option<Waits> {
        let is_due = |queue: &VecDeque<Waits>| queue.front().is_some_and(|(.., at)| at.elapsed() >= time);
        let queue = [&mut self.new, &mut self.old].into_iter().find(|queue| is_due(queue))?;
        let next = queue.pop_front()?;
        self.names.remove(&next.0);
        Some(next)
    }

    pub fn contains(&self, path: &Path) -> bool {
        self.names.contains(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_files_come_first_and_none_before_its_time() {
        let mut waiting = Waiting::default();
        let version = Version { device: 1, inode: 2, size: 3, changed: 4 };
        for (name, was_there) in [("a", true), ("b", true), ("new", false), ("a", false)] {
            waiting.add(name.into(), version, was_there);
        }
        assert!(waiting.contains(Path::new("a")));
        assert!(waiting.next(Duration::from_secs(3600)).is_none());
        let mut next = || waiting.next(Duration::ZERO).map(|(path, ..)| path.display().to_string());
        assert_eq!(
            [next(), next(), next(), next()],
            ["new", "a", "b", ""].map(|name| Some(name.to_owned()).filter(|name| !name.is_empty()))
        );
        assert!(!waiting.contains(Path::new("a")));
    }
}
