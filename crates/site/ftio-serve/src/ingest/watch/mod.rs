//! Below a watched directory, what is new is read, and what grows is followed.
//!
//! What this machine writes is looked at as soon as the kernel tells of it. What other machines write to a
//! shared file system is found by looking: for new names often, and at every file less often, so that looking
//! takes a small share of a core however many files there are. One thread looks after each directory, so that
//! one that hangs does not stop the others.

mod tree;
mod waiting;

use super::events::Events;
use super::follow::Followed;
use super::{below, finished, trace};
use crate::service::Service;
use crate::share::Payer;
use crate::store::Version;
use files::{Dir, Expect, Kind, Stat};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};
use tree::{How, MAX_FILES, Tree, is_parts, is_passed_over};
use waiting::Waiting;

/// At most this many running traces are followed.
const MAX_FOLLOWED: usize = 10_000;
/// How often to see what the kernel tells, and which of those that are followed are due.
const NEWS_PAUSE: Duration = Duration::from_millis(200);
/// A file that has not changed for this long is read.
const SETTLED: Duration = Duration::from_secs(1);
/// Files are read, and followed, for this long before something else has its turn.
const READING_TIME: Duration = Duration::from_secs(1);
/// Of the time, one part in this many goes into looking for new names …
const QUICK: u32 = 100;
/// … and one in this many into looking at every file, …
const THOROUGH: u32 = 33;
/// … but there is never more time than this in between.
const MAX_PAUSE: Duration = Duration::from_secs(600);

/// Look after a directory until told to stop.
pub fn run(service: &Arc<Service>, root: &Path, stop: &AtomicBool) {
    let mut watch = Watch::new(service, root);
    let poll = service.config.poll;
    let step = NEWS_PAUSE.min(poll);
    let (mut thorough, mut quick, mut soon) = (Instant::now(), Instant::now(), Instant::now());
    // What a thorough look costs says nothing about a quick one: each has its own pause.
    let mut between_quick = poll;
    while !stop.load(Relaxed) {
        let begun = Instant::now();
        let again = watch.forget(&service.read_again(root));
        if begun >= thorough || begun >= quick || again {
            let all = begun >= thorough || again;
            watch.look(all);
            let took = begun.elapsed();
            // A directory that takes long is looked at less often.
            let pause = |share: u32| poll.max((took * share).min(MAX_PAUSE.max(poll)));
            if all {
                service.stats.scan_millis.set(took.as_millis() as u64);
                thorough = Instant::now() + pause(THOROUGH);
            } else {
                between_quick = pause(QUICK);
            }
            quick = Instant::now() + between_quick;
        }
        if begun >= soon {
            soon = begun + step;
            if watch.news() {
                quick = begun;
            }
            watch.follow();
        }
        if !watch.read(stop) {
            std::thread::sleep(Duration::from_millis(50).min(step));
        }
    }
}

/// One directory.
#[derive(Debug)]
struct Watch<'a> {
    service: &'a Arc<Service>,
    root: PathBuf,
    /// What was read already.
    known: HashMap<PathBuf, Version>,
    /// What may not be opened, and when that was last changed (nanoseconds since 1970).
    refused: HashMap<PathBuf, i64>,
    waiting: Waiting,
    followed: BTreeMap<PathBuf, Followed>,
    /// Parts that nothing more is expected of, and how they were.
    over: HashMap<PathBuf, Option<PartsVersion>>,
    tree: Tree,
    events: Events,
    /// Was everything looked at?
    looked: bool,
    /// That there are directories without file events was said.
    complained: bool,
}

impl<'a> Watch<'a> {
    fn new(service: &'a Arc<Service>, root: &Path) -> Self {
        let mut known = HashMap::new();
        let read = service.reader().each_source(|path, version| {
            if Path::new(path).starts_with(root) {
                known.insert(PathBuf::from(path), version);
            }
        });
        service.stored(read);
        Watch {
            service,
            root: root.to_owned(),
            known,
            refused: HashMap::new(),
            waiting: Waiting::default(),
            followed: BTreeMap::new(),
            over: HashMap::new(),
            tree: Tree::default(),
            events: Events::new(),
            looked: false,
            complained: false,
        }
    }

    /// These are to be read again. Whether there are any.
    fn forget(&mut self, paths: &[PathBuf]) -> bool {
        paths.iter().for_each(|path| _ = self.known.remove(path));
        !paths.is_empty()
    }

    /// Look for what is new; if thorough, for what has changed as well.
    fn look(&mut self, thorough: bool) {
        let config = &self.service.config;
        let standing = |user: u32| config.standing(&Payer::User(user));
        let (data, most) = (&config.data, MAX_FILES);
        let how = How { depth: config.depth, data, thorough, most, standing: &standing };
        let (known, refused) = (&self.known, &self.refused);
        let is_known = |path: &Path, inode: u64| {
            known.get(path).is_some_and(|version| version.inode == inode) || refused.contains_key(path)
        };
        let name = self.root.display().to_string();
        let looked = Dir::open(&self.root).and_then(|root| self.tree.look(&root, how, &is_known));
        let mut found = match looked {
            Ok(found) => found,
            Err(error) => {
                self.events.keep(|_| false);
                return self.service.stats.problem(&name, Some(error.to_string()));
            }
        };
        self.service.stats.problem(&name, None);
        self.service.stats.scanned_files.set(found.files_of.taken() as u64);
        for (owner, full) in &found.full {
            // Told as everything else that somebody has too much of.
            let reason = format!("below {name}: {full}");
            self.service.stats.refusals.add(full.what, &Payer::User(*owner), &reason);
        }
        let followed = &self.followed;
        self.events.keep(|folder| found.folders.contains(folder) || followed.contains_key(folder));
        found.folders.iter().for_each(|folder| self.events.watch(folder));
        // If there are many, the latest come first.
        found.files.sort_by_cached_key(|(_, about)| std::cmp::Reverse(about.modified));
        found.files.into_iter().for_each(|(path, about)| self.found(path, &about));
        if thorough {
            let there: HashSet<&PathBuf> = found.parts.iter().map(|(path, _)| path).collect();
            self.over.retain(|path, _| there.contains(path));
        }
        for (path, owner) in found.parts {
            self.found_parts(path, owner, thorough);
        }
        self.looked = true;
        self.complain();
    }

    /// That what is written to some directories is found later is said once.
    fn complain(&mut self) {
        if let Some(why) = self.events.refused.filter(|_| !self.complained) {
            self.complained = true;
            let name = self.root.display();
            tracing::warn!(
                path = %name,
                "{name}: not all directories have file events ({why}); those without are looked through every \
                 now and then"
            );
        }
    }

    /// Look at what the kernel tells of. `true`: there was more than it could tell.
    fn news(&mut self) -> bool {
        let news = self.events.news();
        for path in news.paths {
            let folder = path.parent().unwrap_or(&path);
            if let Some(followed) = self.followed.get_mut(if is_parts(folder) { folder } else { &path }) {
                followed.soon();
                continue;
            }
            let inside = path.strip_prefix(&self.root).map(|inside| inside.components().count());
            let (Ok(inside), Ok(about)) = (inside, below::look(&self.root, &path)) else { continue };
            if is_passed_over(&path) || path == self.service.config.data || is_parts(folder) {
                continue;
            }
            let is_folder = about.kind == Kind::Folder;
            if about.kind == Kind::File {
                self.found(path, &about);
            } else if is_folder && is_parts(&path) {
                self.found_parts(path, about.user, true);
            } else if is_folder && inside > 0 && inside <= self.service.config.depth {
                self.found_folder(&path, self.service.config.depth - inside);
            }
        }
        news.lost
    }

    /// A directory that is new: there may be something in it already.
    fn found_folder(&mut self, path: &Path, depth: usize) {
        let data = &self.service.config.data;
        let standing = |user: u32| self.service.config.standing(&Payer::User(user));
        let how = How { depth, data, thorough: true, most: MAX_FILES, standing: &standing };
        let folder = below::folder(&self.root, path);
        let found = folder.and_then(|folder| Tree::default().look(&folder, how, &|_, _| false));
        let Ok(found) = found else { return };
        found.folders.iter().for_each(|folder| self.events.watch(folder));
        found.files.into_iter().for_each(|(path, about)| self.found(path, &about));
        found.parts.into_iter().for_each(|(path, owner)| self.found_parts(path, owner, true));
    }

    /// A file: it is read if it is new or has changed.
    fn found(&mut self, path: PathBuf, about: &Stat) {
        let (version, changed) = (Version::of(about), about.changed);
        let dealt_with = self.known.get(&path) == Some(&version) || self.refused.get(&path) == Some(&changed);
        if about.size > 0 && !dealt_with && !self.waiting.contains(&path) {
            self.waiting.add(path, version, !self.looked);
        }
    }

    /// Parts of a trace. Those that are over are looked at again if `again` says so, and they have changed.
    fn found_parts(&mut self, path: PathBuf, owner: u32, again: bool) {
        if self.followed.contains_key(&path) || self.followed.len() >= MAX_FOLLOWED {
            return;
        }
        match self.over.get(&path) {
            Some(before) if !again || *before == parts_version(&self.root, &path) => return,
            _ => self.over.remove(&path),
        };
        let folder = below::folder(&self.root, &path);
        let Ok(folder) = folder.and_then(|folder| folder.check(&Expect::of_user(owner)).map(|_| folder))
        else {
            // It is somebody else's by now: it is found again.
            return;
        };
        self.events.watch(&path);
        let followed = Followed::new(&self.root, &path, folder, owner);
        self.followed.insert(path, followed);
    }

    /// Read files that have not changed for a moment, for a while. `false`: there are none.
    fn read(&mut self, stop: &AtomicBool) -> bool {
        let begun = Instant::now();
        let time = SETTLED.min(self.service.config.poll);
        let mut some = false;
        while begun.elapsed() < READING_TIME && !stop.load(Relaxed) {
            let Some((path, before, _)) = self.waiting.next(time) else { break };
            let Ok(about) = below::look(&self.root, &path) else { continue };
            let (version, is_file) = (Version::of(&about), about.kind == Kind::File);
            if version == before && is_file {
                self.read_file(&path, version, &about);
                some = true;
            } else if is_file {
                self.waiting.add(path, version, false);
            }
        }
        some
    }

    fn read_file(&mut self, path: &Path, version: Version, about: &Stat) {
        self.known.insert(path.to_owned(), version);
        let (largest, budget) = (self.service.config.largest, self.service.config.budget);
        let file = match below::OpenFile::open(&self.root, path) {
            Ok(file) => file,
            Err(error) => return self.refused(path, about, &error.why.to_string()),
        };
        self.refused.remove(path);
        let read = match file.about.size > largest {
            true => Err(format!("{} bytes: larger than {largest}", file.about.size)),
            false => trace::read_file(&file, path, budget),
        };
        let done = match read {
            Ok(read) => finished::trace(self.service, path, version, read, &file).map(|_| ()),
            // It is no trace, or a damaged one: not again until it changes.
            Err(problem) => {
                self.service.stats.trace_errors.add(1);
                let name = path.display();
                tracing::warn!(path = %name, "{name}: {problem}; it is not read again until it changes");
                self.service.writer().set_source(path, version, None, Some(&problem))
            }
        };
        if self.service.stored(done).is_none() {
            // The database could not be written: again after a moment.
            self.known.remove(path);
            self.waiting.add(path.to_owned(), version, false);
        }
    }

    /// It may not be opened, say because of its permissions: again when these change, and told once.
    fn refused(&mut self, path: &Path, about: &Stat, problem: &str) {
        self.known.remove(path);
        let changed = about.changed;
        if self.refused.insert(path.to_owned(), changed) != Some(changed) {
            self.service.stats.trace_errors.add(1);
            let name = path.display();
            tracing::warn!(path = %name, "{name}: {problem}; it is tried again when that changes");
        }
    }

    /// Take in what has grown, of those that are due, for a while.
    fn follow(&mut self) {
        let (service, count, begun) = (self.service, self.followed.len(), Instant::now());
        let mut over = Vec::new();
        let mut due: Vec<_> =
            self.followed.iter_mut().filter(|(_, followed)| followed.due() <= begun).collect();
        // The one that has waited longest comes first.
        due.sort_by_key(|(_, followed)| followed.due());
        for (path, followed) in due {
            if begun.elapsed() >= READING_TIME {
                break;
            }
            if !followed.look(service, count) {
                over.push(path.clone());
            }
        }
        for path in over {
            self.followed.remove(&path);
            self.events.forget(&path);
            // Parts that are gone need not be remembered.
            if let Some(version) = parts_version(&self.root, &path) {
                self.over.insert(path, Some(version));
            }
        }
        service.stats.followed.set(self.followed.len() as u64);
    }
}

/// What tells whether parts have changed: how many files there are, how long they are together, and when one
/// of them was last changed.
type PartsVersion = (usize, u64, i64);

/// `None`: they are gone.
fn parts_version(root: &Path, parts: &Path) -> Option<PartsVersion> {
    let folder = below::folder(root, parts).ok()?;
    let all = folder.entries().ok()?.flatten().filter_map(|entry| folder.look(&entry.name).ok());
    Some(all.fold((0, 0, 0), |(count, length, changed), about| {
        (count + 1, length + about.size, changed.max(about.modified))
    }))
}
