//! The directories below a watched one, and what is new in them.
//!
//! A directory whose time has not changed has no new names in it, and is not listed again. So a look at a
//! tree in which nothing happens costs one system call for each directory, however many files there are. A
//! file that changes in place is not found that way: a thorough look asks for every file.

use crate::share::{Full, Standing};
use fair_share::Shared;
use files::{Dir, Entry, Kind, Result, Stat};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Files below a directory that are looked at. One user has a share of them, so that nobody hides the traces
/// of others behind millions of files.
pub const MAX_FILES: usize = 2_000_000;
/// File systems count the time of directories in steps of up to this: two changes may have the same time.
const CLOCK_STEP: Duration = Duration::from_secs(2);

/// How to look.
#[derive(Clone, Copy)]
pub struct How<'a> {
    /// Levels of directories below.
    pub depth: usize,
    /// Our own data, which are no traces.
    pub data: &'a Path,
    /// Ask for every file, not only for those of names that are new.
    pub thorough: bool,
    /// Files that are looked at, and who may have more than any user.
    pub most: usize,
    pub standing: &'a dyn Fn(u32) -> Standing,
}

/// What a look finds.
#[derive(Debug)]
pub struct Found {
    /// Files that may be new or changed.
    pub files: Vec<(PathBuf, Stat)>,
    /// The `.parts` of traces, and their owners.
    pub parts: Vec<(PathBuf, u32)>,
    /// Directories that are there.
    pub folders: HashSet<PathBuf>,
    /// Files that were looked at, by the owner of their folder.
    pub files_of: Shared<u32>,
    /// Whose files are more than that.
    pub full: BTreeMap<u32, Full>,
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
    owner: u32,
    files: usize,
}

impl Folder {
    /// Was it listed when no other change could have the same time?
    fn is_settled(&self) -> bool {
        self.listed.duration_since(self.since) >= CLOCK_STEP
    }
}

impl Tree {
    /// Look at everything below a directory. `is_known`: is that the name and the number of a file that was
    /// dealt with?
    pub fn look(&mut self, root: &Dir, how: How<'_>, is_known: &dyn Fn(&Path, u64) -> bool) -> Result<Found> {
        let mut found = Found {
            files: Vec::new(),
            parts: Vec::new(),
            folders: HashSet::new(),
            files_of: Shared::new("files", how.most),
            full: BTreeMap::new(),
        };
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
            Some(folder) if !how.thorough && folder.is_settled() => {
                found.files_of.add(&folder.owner, folder.files);
                folder
            }
            before => {
                let since = before.map_or_else(Instant::now, |folder| folder.since);
                let mut folder = Folder {
                    changed,
                    since,
                    listed: Instant::now(),
                    folders: Vec::new(),
                    parts: Vec::new(),
                    owner: about.user,
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
        } else if kind == Kind::File {
            if let Err(full) = found.files_of.check(&self.owner, (how.standing)(self.owner), 1) {
                found.full.entry(self.owner).or_insert(full);
                return;
            }
            found.files_of.add(&self.owner, 1);
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

    const TRUSTED: Standing = Standing::Trusted;

    /// One with very many files, in as many folders as they like, does not hide those of others.
    #[test]
    fn whoever_has_very_many_files_hides_those_of_nobody() {
        let root = tempfile::tempdir().unwrap();
        let at = |name: &str| root.path().join(name);
        // Whatever comes first in the directory.
        let (greedy, others) = (4711, [4712, 4713]);
        for (folder, files, user) in
            [("a", 60, greedy), ("m", 1, others[0]), ("x", 60, greedy), ("z", 3, others[1])]
        {
            fs::create_dir(at(folder)).unwrap();
            for file in 0..files {
                fs::write(at(folder).join(file.to_string()), "x").unwrap();
            }
            if std::os::unix::fs::chown(at(folder), Some(user), None).is_err() {
                return test_data::skip(
                    "whoever_has_very_many_files_hides_those_of_nobody",
                    "only root gives away",
                );
            }
        }
        let mut tree = Tree::default();
        for thorough in [true, false, true] {
            let standing = |user: u32| if user == 0 { Standing::Trusted } else { Standing::User };
            let how = How { depth: 2, data: &at("data"), thorough, most: 100, standing: &standing };
            let found = tree.look(&Dir::open(root.path()).unwrap(), how, &|_, _| false).unwrap();
            let of =
                |folder: &str| found.files.iter().filter(|(path, _)| path.starts_with(at(folder))).count();
            assert_eq!((of("m"), of("z")), (1, 3));
            assert!((of("a") + of("x")) <= 25, "{} {}", of("a"), of("x"));
            assert_eq!(found.full.keys().copied().collect::<Vec<_>>(), [greedy]);
        }
    }

    fn look(tree: &mut Tree, root: &Path, thorough: bool) -> Vec<String> {
        let how = How { depth: 2, data: &root.join("data"), thorough, most: 100, standing: &|_| TRUSTED };
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
            folder.since = folder.listed.checked_sub(CLOCK_STEP).unwrap();
        }
        assert!(look(&mut tree, root.path(), false).is_empty(), "nothing has changed");
        fs::write(at("a/b/another"), "x").unwrap();
        assert_eq!(look(&mut tree, root.path(), false), ["a/b/another", "a/b/deep"]);
        let how = How { depth: 2, data: &at("data"), thorough: false, most: 100, standing: &|_| TRUSTED };
        let opened = Dir::open(root.path()).unwrap();
        let found = tree.look(&opened, how, &|_, _| true).unwrap();
        assert_eq!((found.files_of.taken(), found.parts.len(), found.folders.len()), (4, 1, 3));
        fs::remove_dir_all(at("a")).unwrap();
        tree.look(&opened, how, &|_, _| true).unwrap();
        assert_eq!(tree.folders.len(), 1, "what is gone is forgotten");
    }
}
