//! The directories below a watched one, and what is new in them.
//!
//! A directory whose time has not changed has no new names in it, and is not listed again. So a look at a
//! tree in which nothing happens costs one system call for each directory, however many files there are. A
//! file that changes in place is not found that way: a thorough look asks for every file.

use files::{Dir, Entry, Kind, Result, Stat};
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// A look through a directory stops at this many files.
const MOST_FILES: usize = 1_000_000;
/// File systems count the time of directories in steps of up to this: two changes may have the same time.
const STEP: Duration = Duration::from_secs(2);

/// How to look.
#[derive(Clone, Copy, Debug)]
pub struct How<'a> {
    /// Levels of directories below.
    pub depth: usize,
    /// Our own data, which are no traces.
    pub data: &'a Path,
    /// Ask for every file, not only for those of names that are new.
    pub thorough: bool,
}

/// What a look finds.
#[derive(Debug, Default)]
pub struct Found {
    /// Files that may be new or changed.
    pub files: Vec<(PathBuf, Stat)>,
    /// The `.parts` of traces, and their owners.
    pub parts: Vec<(PathBuf, u32)>,
    /// Directories that are there.
    pub folders: HashSet<PathBuf>,
    /// Files that are there.
    pub count: usize,
}

/// What is known of directories.
#[derive(Debug, Default)]
pub struct Tree {
    folders: HashMap<PathBuf, Folder>,
}

/// A directory that was listed.
#[derive(Debug)]
struct Folder {
    /// When it was changed, in nanoseconds since 1970 by the clock of its file system.
    changed: i64,
    /// Since when it has that time, and when it was listed, by a clock that nobody sets.
    since: Instant,
    listed: Instant,
    folders: Vec<PathBuf>,
    parts: Vec<(PathBuf, u32)>,
    files: usize,
}

impl Folder {
    /// Was it listed when no other change could have the same time?
    fn is_settled(&self) -> bool {
        self.listed.duration_since(self.since) >= STEP
    }
}

impl Tree {
    /// Look at everything below a directory. `is_known`: is that the name and the number of a file that was
    /// dealt with?
    pub fn look(&mut self, root: &Dir, how: How<'_>, is_known: &dyn Fn(&Path, u64) -> bool) -> Result<Found> {
        let mut found = Found::default();
        let about = root.stat()?;
        let looked = self.visit(root.path(), &about, &|| root.again(), how, is_known, &mut found);
        self.folders.retain(|folder, _| found.folders.contains(folder));
        looked.map(|()| found)
    }

    fn visit(
        &mut self,
        path: &Path,
        about: &Stat,
        open: &dyn Fn() -> Result<Dir>,
        how: How<'_>,
        is_known: &dyn Fn(&Path, u64) -> bool,
        found: &mut Found,
    ) -> Result<()> {
        let changed = about.modified;
        let mut opened = None;
        let before = self.folders.remove(path).filter(|folder| folder.changed == changed);
        let folder = match before {
            Some(folder) if !how.thorough && folder.is_settled() => folder,
            before => {
                let since = before.map_or_else(Instant::now, |folder| folder.since);
                let mut folder = Folder {
                    changed,
                    since,
                    listed: Instant::now(),
                    folders: Vec::new(),
                    parts: Vec::new(),
                    files: 0,
                };
                let handle = opened.insert(open()?);
                for entry in handle.entries()?.flatten() {
                    folder.take(handle, &entry, how, is_known, found);
                }
                folder
            }
        };
        found.folders.insert(path.to_owned());
        found.count += folder.files;
        found.parts.extend(folder.parts.iter().cloned());
        if how.depth > 0 && !folder.folders.is_empty() {
            let inside = How { depth: how.depth - 1, ..how };
            let handle = opened.map_or_else(open, Ok)?;
            for path in &folder.folders {
                // What may not be entered belongs to somebody else, and what vanishes is no business of ours.
                let Some(name) = path.file_name() else { continue };
                let Some(about) = handle.look(name).ok().filter(|about| about.kind == Kind::Folder) else {
                    continue;
                };
                let _ = self.visit(path, &about, &|| handle.folder(name), inside, is_known, found);
            }
        }
        self.folders.insert(path.to_owned(), folder);
        Ok(())
    }
}

impl Folder {
    /// One name in it. Links are not followed, and hidden names passed over.
    fn take(
        &mut self,
        folder: &Dir,
        entry: &Entry,
        how: How<'_>,
        is_known: &dyn Fn(&Path, u64) -> bool,
        found: &mut Found,
    ) {
        let look = || folder.look(&entry.name).ok();
        let path = folder.path().join(&entry.name);
        if is_passed_over(&path) || path == how.data {
            return;
        }
        // Not all file systems say what an entry is.
        let Some(kind) = entry.kind.or_else(|| look().map(|about| about.kind)) else { return };
        if kind == Kind::Folder && is_parts(&path) {
            self.parts.extend(look().map(|about| (path, about.user)));
        } else if kind == Kind::Folder {
            self.folders.push(path);
        } else if kind == Kind::File && found.count + self.files < MOST_FILES {
            self.files += 1;
            if how.thorough || !is_known(&path, entry.inode) {
                found
                    .files
                    .extend(look().filter(|about| about.kind == Kind::File).map(|about| (path, about)));
            }
        }
    }
}

/// The parts of a trace that grows: `OUT.parts`.
pub fn is_parts(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "parts")
}

/// Hidden names, and `OUT.RUN.tmp`, which becomes `OUT` when the job has ended.
pub fn is_passed_over(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().as_encoded_bytes();
    name.starts_with(b".") || name.ends_with(b".tmp")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn look(tree: &mut Tree, root: &Path, thorough: bool) -> Vec<String> {
        let how = How { depth: 2, data: &root.join("data"), thorough };
        let found = tree.look(&Dir::open(root).unwrap(), how, &|path, _| path.ends_with("known")).unwrap();
        let name = |(path, _): &(PathBuf, Stat)| path.strip_prefix(root).unwrap().display().to_string();
        let mut names: Vec<String> = found.files.iter().map(name).collect();
        names.sort();
        names
    }

    #[test]
    fn new_names_are_found_and_known_ones_only_by_a_thorough_look() {
        let root = tempfile::tempdir().unwrap();
        let at = |name: &str| root.path().join(name);
        for folder in ["a/b/c/d", "data", ".hidden", "a/run.parts"] {
            fs::create_dir_all(at(folder)).unwrap();
        }
        for file in
            ["known", "a/new", "a/b/deep", "a/b/c/deeper", "data/x", ".hidden/x", "a/run.parts/x", "y.tmp"]
        {
            fs::write(at(file), "x").unwrap();
        }
        std::os::unix::fs::symlink(at("a"), at("link")).unwrap();
        let mut tree = Tree::default();
        assert_eq!(look(&mut tree, root.path(), false), ["a/b/deep", "a/new"]);
        assert_eq!(look(&mut tree, root.path(), true), ["a/b/deep", "a/new", "known"]);
        // As if a while had passed.
        for folder in tree.folders.values_mut() {
            folder.since = folder.listed.checked_sub(STEP).unwrap();
        }
        assert!(look(&mut tree, root.path(), false).is_empty(), "nothing has changed");
        fs::write(at("a/b/another"), "x").unwrap();
        assert_eq!(look(&mut tree, root.path(), false), ["a/b/another", "a/b/deep"]);
        let how = How { depth: 2, data: &at("data"), thorough: false };
        let opened = Dir::open(root.path()).unwrap();
        let found = tree.look(&opened, how, &|_, _| true).unwrap();
        assert_eq!((found.count, found.parts.len(), found.folders.len()), (4, 1, 3));
        fs::remove_dir_all(at("a")).unwrap();
        tree.look(&opened, how, &|_, _| true).unwrap();
        assert_eq!(tree.folders.len(), 1, "what is gone is forgotten");
    }
}
