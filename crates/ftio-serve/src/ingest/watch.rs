//! Directories are looked through every now and then: what is new is read, what grows is followed.
//!
//! Polling finds what other machines write to a shared file system, which file events do not; what this
//! machine writes is looked at as soon as the kernel tells of it. One thread looks after each directory, so
//! that one that hangs does not stop the others.

use super::events::Events;
use super::follow::Followed;
use super::{finished, trace};
use crate::job::{LONGEST_COMMAND, clean};
use crate::service::Service;
use crate::store::Version;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// A look through a directory stops at this many files.
const MOST_FILES: usize = 1_000_000;
/// At most this many running traces are followed.
const MOST_FOLLOWED: usize = 10_000;
/// After an event the next look comes no sooner than this.
const SOON: Duration = Duration::from_millis(200);
/// A file that has not changed for this long is read.
const AGAIN: Duration = Duration::from_secs(1);
/// Looking takes at most this share of the time.
const SHARE: u32 = 10;

/// Look after a directory until told to stop.
pub fn run(service: &Arc<Service>, root: &Path, stop: &AtomicBool) {
    let mut watch = Watch::new(service, root);
    while !stop.load(Relaxed) {
        let begun = Instant::now();
        watch.round();
        service.stats.scan_millis.set(begun.elapsed().as_millis() as u64);
        // A directory that takes long is looked at less often.
        let pause = service.config.poll.max((begun.elapsed() * SHARE).min(Duration::from_secs(60)));
        let soon = (begun.elapsed() * SHARE).max(SOON).min(pause);
        let begun = Instant::now();
        while begun.elapsed() < pause && !stop.load(Relaxed) {
            std::thread::sleep(Duration::from_millis(50).min(pause));
            let again = watch.waits() && begun.elapsed() >= AGAIN;
            if begun.elapsed() >= soon && (again || watch.events.happened()) {
                break;
            }
        }
    }
}

/// One directory.
#[derive(Debug)]
pub struct Watch<'a> {
    service: &'a Arc<Service>,
    root: PathBuf,
    /// What was read already.
    known: HashMap<PathBuf, Version>,
    /// What was there at the last look: a file is read when it did not change in between.
    before: HashMap<PathBuf, Version>,
    /// What may not be opened, and when that was last changed (seconds and nanoseconds since 1970).
    refused: HashMap<PathBuf, (i64, i64)>,
    followed: BTreeMap<PathBuf, Followed>,
    events: Events,
}

/// What a look finds.
#[derive(Debug, Default)]
struct Found {
    files: Vec<(PathBuf, Metadata)>,
    /// The `.parts` of traces, and their owners.
    parts: Vec<(PathBuf, u32)>,
    /// Directories that were looked through.
    folders: Vec<PathBuf>,
}

impl<'a> Watch<'a> {
    pub fn new(service: &'a Arc<Service>, root: &Path) -> Self {
        let sources = service.reader().sources().unwrap_or_default();
        let known = sources.into_iter().map(|(path, version)| (PathBuf::from(path), version)).collect();
        Watch {
            service,
            root: root.to_owned(),
            known,
            before: HashMap::new(),
            refused: HashMap::new(),
            followed: BTreeMap::new(),
            events: Events::new(),
        }
    }

    /// Is there a file that is read at the next look if it does not change?
    fn waits(&self) -> bool {
        !self.before.is_empty()
    }

    /// One look.
    pub fn round(&mut self) {
        let mut found = Found::default();
        let config = &self.service.config;
        let listed = list(&self.root, config.depth, &config.data, &mut found);
        let name = self.root.display().to_string();
        let problem = listed.err().map(|error| format!("{name}: {error}"));
        self.service.stats.problem(&name, problem);
        self.service.stats.scanned_files.set(found.files.len() as u64);
        let there: HashSet<&PathBuf> = found.folders.iter().collect();
        self.events.keep(|folder| there.contains(&folder.to_path_buf()));
        found.folders.iter().for_each(|folder| self.events.watch(folder));
        self.follow(found.parts);
        let mut now = HashMap::with_capacity(found.files.len());
        for (path, about) in found.files {
            let version = Version::of(&about);
            let changed = (about.ctime(), about.ctime_nsec());
            if self.known.get(&path) == Some(&version) || self.refused.get(&path) == Some(&changed) {
                continue;
            }
            if self.before.get(&path) == Some(&version) {
                self.read(&path, version, &about);
            } else {
                now.insert(path, version);
            }
        }
        self.before = now;
    }

    fn read(&mut self, path: &Path, version: Version, about: &Metadata) {
        self.known.insert(path.to_owned(), version);
        let (largest, budget) = (self.service.config.largest, self.service.config.budget);
        let file = match trace::OpenFile::open(&self.root, path) {
            Ok(file) => file,
            Err(problem) => return self.refused(path, about, &problem),
        };
        self.refused.remove(path);
        let read = match about.len() > largest {
            true => Err(format!("{} bytes: larger than {largest}", about.len())),
            false => trace::read_file(&file, path, budget),
        };
        let done = match read {
            Ok(read) => finished::trace(self.service, path, version, read, &file).map(|_| ()),
            // It is no trace, or a damaged one: not again until it changes.
            Err(problem) => {
                self.service.stats.trace_errors.add(1);
                let name = clean(&path.to_string_lossy(), LONGEST_COMMAND);
                eprintln!("ftio serve: {name}: {problem}; it is not read again until it changes");
                self.service.writer().set_source(path, version, None, Some(&problem))
            }
        };
        if self.service.stored(done).is_none() {
            // The database could not be written: again at the next look.
            self.known.remove(path);
        }
    }

    /// It may not be opened, say because of its permissions: again when these change, and told once.
    fn refused(&mut self, path: &Path, about: &Metadata, problem: &str) {
        self.known.remove(path);
        let changed = (about.ctime(), about.ctime_nsec());
        if self.refused.insert(path.to_owned(), changed) != Some(changed) {
            self.service.stats.trace_errors.add(1);
            let name = clean(&path.to_string_lossy(), LONGEST_COMMAND);
            eprintln!("ftio serve: {name}: {problem}; it is tried again when that changes");
        }
    }

    fn follow(&mut self, parts: Vec<(PathBuf, u32)>) {
        for (path, owner) in parts {
            if self.followed.len() < MOST_FOLLOWED && !self.followed.contains_key(&path) {
                self.followed.insert(path.clone(), Followed::new(&path, owner));
            }
        }
        let service = self.service;
        self.followed.retain(|_, followed| followed.look(service));
        service.stats.followed.set(self.followed.len() as u64);
    }
}

/// Everything below a directory that could be an input. Links are not followed, and hidden names passed over.
fn list(folder: &Path, depth: usize, data: &Path, found: &mut Found) -> std::io::Result<()> {
    let entries = std::fs::read_dir(folder)?;
    found.folders.push(folder.to_owned());
    for entry in entries {
        // Something that vanishes under way is none of our business.
        let Ok(entry) = entry else { continue };
        let Ok(about) = entry.metadata() else { continue };
        let path = entry.path();
        if entry.file_name().as_encoded_bytes().starts_with(b".") || found.files.len() >= MOST_FILES {
            continue;
        }
        let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        if path == data {
            // Our own.
            continue;
        }
        if about.is_dir() && ending == "parts" {
            found.folders.push(path.clone());
            found.parts.push((path, about.uid()));
        } else if about.is_dir() && depth > 0 {
            // What may not be entered belongs to somebody else.
            let _ = list(&path, depth - 1, data, found);
        } else if about.is_file() && about.len() > 0 && !is_temporary(&path) {
            found.files.push((path, about));
        }
    }
    Ok(())
}

/// `OUT.RUN.tmp` becomes `OUT` when the job has ended.
fn is_temporary(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "tmp")
}
