//! A directory instead of a socket: where nothing can listen, but all nodes see a file system.
//!
//! ```text
//! DIR/.ftio-arbiter    the mark: this is the directory of an arbiter
//! DIR/arbiter          session number and a count that grows: the arbiter is there
//! DIR/report           the state as JSON, every second: for who runs the arbiter
//! DIR/report.public    the same without jobs, for everybody; report.UID with those of a user, for that user
//! DIR/nodes/ID.up      what node ID says, appended
//! DIR/nodes/ID.down    what it is told, appended
//! ```
//!
//! The bytes are those of the sockets. Both sides look often, so that a turn takes some 50 ms to change hands
//! and not 50 µs: right for phases of seconds. Files of a session before this one are removed, and those of
//! a node that was killed: a node that lives changes the time of its file every ten seconds.
//!
//! Everything is done by the handles of the two folders. The folder of nodes is open to all users: what is in
//! it is opened only if it is a regular file, and nothing is removed from it but `*.up` and `*.down`.

use super::ground::Ground;
use super::stream;
use crate::arbiter::job::NodeId;
use crate::arbiter::report::Report;
use files::{Dir, Expect};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::{File, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};
use turns::{Message, Stream};

/// How often it is looked for messages, and for new nodes; in seconds.
pub(super) const POLL: f64 = 0.02;
const NEW: f64 = 0.1;
/// After the folder was listed, so many times as long as that took passes until it is listed again.
const LISTING: f64 = 20.0;
/// How often the arbiter shows that it is there, how often it shows its state, and that to each user.
const SIGN_PAUSE: f64 = 0.25;
const REPORT: f64 = 1.0;
const TO_USERS: f64 = 5.0;
/// Reports for more users than this are not written.
const MAX_USERS: usize = 64;
/// How often it is looked whether nodes live, and without what sign for how long they do not.
const LIVES: f64 = 10.0;
const DEAD: f64 = 60.0;
/// For how long it is looked whether another arbiter shows itself, in steps of 100 ms.
const STEPS: u32 = 12;
/// Directories with more nodes than this are somebody's mistake.
const MAX_FILE_NODES: usize = 100_000;
/// Whoever can read the folder of nodes looks for changes; the sign is for everybody.
const FOR_ALL: u32 = 0o644;

#[derive(Debug)]
struct FileNode {
    up: File,
    down: File,
    stream: Stream,
    user: u32,
    /// The time of its file, and when it was seen to change.
    changed: Option<SystemTime>,
    seen: f64,
}

#[derive(Debug)]
pub(super) struct Directory {
    path: PathBuf,
    ground: Ground,
    session: u64,
    count: u64,
    nodes: HashMap<NodeId, FileNode>,
    /// By the name of the file; also those that made no sense, and are not listened to.
    names: BTreeMap<String, NodeId>,
    /// Users for whom there is a report.
    told: BTreeSet<u32>,
    next_look: f64,
    next_lives: f64,
    next_sign: f64,
    next_report: f64,
    next_told: f64,
}

/// What happened to a node.
#[derive(Debug)]
pub(super) enum Event {
    /// It said something; the user whose file it was in.
    Said((Message, String), u32),
    /// It is gone; the user whose file it was in.
    Gone(u32),
}

/// Which node.
pub(super) type Arrived = (NodeId, Event);

impl Directory {
    /// `AddrInUse`: another arbiter is there.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let ground = Ground::claim(path)?;
        if is_taken(&ground.root) {
            return Err(io::ErrorKind::AddrInUse.into());
        }
        ground.clear()?;
        let time = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let session = time.as_nanos() as u64 ^ u64::from(std::process::id()).rotate_left(40);
        let mut directory = Directory {
            path: path.to_owned(),
            ground,
            session,
            count: 0,
            nodes: HashMap::new(),
            names: BTreeMap::new(),
            told: BTreeSet::new(),
            next_look: 0.0,
            next_lives: 0.0,
            next_sign: 0.0,
            next_report: 0.0,
            next_told: 0.0,
        };
        directory.sign()?;
        Ok(directory)
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn has(&self, node: NodeId) -> bool {
        self.nodes.contains_key(&node)
    }

    pub(super) fn send(&mut self, node: NodeId, bytes: &[u8]) {
        if let Some(one) = self.nodes.get_mut(&node) {
            // If it cannot be written, the node hears nothing, and goes on.
            let _ = one.down.write_all(bytes);
        }
    }

    /// Shows that this arbiter is there; an error if another one does.
    fn sign(&mut self) -> io::Result<()> {
        let shown = shown(&self.ground.root);
        let session = format!("{:016x}", self.session);
        if self.count > 0 && !shown.is_empty() && !shown.starts_with(&session) {
            return Err(io::ErrorKind::AddrInUse.into());
        }
        self.count += 1;
        self.ground.write("arbiter", &format!("{session} {}\n", self.count), FOR_ALL)
    }

    /// Shows the state: all of it to who runs the arbiter, numbers to everybody, their jobs to users.
    fn report(&mut self, now: f64, report: &Report) {
        let text = |report: &Report| serde_json::to_string(report).unwrap_or_default();
        // Where nothing can be written, nobody sees anything new.
        let _ = self.ground.write("report", &text(report), 0o600);
        let _ = self.ground.write("report.public", &text(&report.seen_by(None)), FOR_ALL);
        if now < self.next_told {
            return;
        }
        self.next_told = now + TO_USERS;
        let users: BTreeSet<u32> = report.jobs.iter().filter_map(|job| job.user).take(MAX_USERS).collect();
        for user in self.told.difference(&users) {
            let _ = self.ground.root.remove(format!("report.{user}"));
        }
        for user in &users {
            let _ = self.ground.write_for(*user, &text(&report.seen_by(Some(*user))));
        }
        self.told = users;
    }

    /// Looks for new nodes and new messages, and shows that the arbiter is there. `may`: may this user have
    /// one node more? `AddrInUse`: another arbiter has taken its place.
    pub(super) fn look(
        &mut self,
        now: f64,
        next: &mut NodeId,
        report: impl FnOnce() -> Report,
        may: impl FnMut(u32) -> bool,
    ) -> io::Result<Vec<Arrived>> {
        if now >= self.next_sign {
            self.next_sign = now + SIGN_PAUSE;
            // Where nothing can be written, nodes see that nothing changes, and go on without turns.
            match self.sign() {
                Err(error) if error.kind() == io::ErrorKind::AddrInUse => return Err(error),
                _ => {}
            }
        }
        if now >= self.next_report {
            self.next_report = now + REPORT;
            self.report(now, &report());
        }
        let mut arrived = Vec::new();
        if now >= self.next_look {
            let begun = Instant::now();
            self.find_nodes(now, next, may, &mut arrived);
            // Somebody may have put very many names there.
            self.next_look = now + NEW.max(LISTING * begun.elapsed().as_secs_f64());
        }
        if now >= self.next_lives {
            self.next_lives = now + LIVES;
            self.find_dead(now, &mut arrived);
        }
        let mut nonsense = Vec::new();
        for (id, one) in &mut self.nodes {
            // No more than this at a time: nobody keeps others waiting by saying much.
            let mut bytes = [0; 4096];
            if let Ok(length @ 1..) = one.up.read(&mut bytes) {
                one.stream.push(&bytes[..length]);
            }
            loop {
                match one.stream.take() {
                    Ok(Some(message)) => arrived.push((*id, Event::Said(message, one.user))),
                    Ok(None) => break,
                    Err(_) => {
                        nonsense.push(*id);
                        break;
                    }
                }
            }
        }
        for id in nonsense {
            if let Some(one) = self.nodes.remove(&id) {
                arrived.push((id, Event::Gone(one.user)));
            }
        }
        Ok(arrived)
    }

    fn find_nodes(
        &mut self,
        now: f64,
        next: &mut NodeId,
        mut may: impl FnMut(u32) -> bool,
        arrived: &mut Vec<Arrived>,
    ) {
        let Ok(entries) = self.ground.nodes.entries() else { return };
        let mut present = Vec::new();
        for entry in entries.flatten().take(2 * MAX_FILE_NODES) {
            let Some(id) = entry.name.to_str().and_then(|name| name.strip_suffix(".up")) else { continue };
            present.push(id.to_owned());
            let is_new = !self.names.contains_key(id) && self.names.len() < MAX_FILE_NODES;
            if let Some(node) = is_new.then(|| open(&self.ground.nodes, id, now, &mut may).ok()).flatten() {
                self.names.insert(id.to_owned(), *next);
                self.nodes.insert(*next, node);
                *next += 1;
            }
        }
        present.sort_unstable();
        let (folder, nodes) = (&self.ground.nodes, &mut self.nodes);
        self.names.retain(|id, node| {
            let stays = present.binary_search(id).is_ok();
            if !stays {
                if let Some(one) = nodes.remove(node) {
                    arrived.push((*node, Event::Gone(one.user)));
                }
                let _ = folder.remove(format!("{id}.down"));
            }
            stays
        });
    }

    /// Nodes that were killed left their files.
    fn find_dead(&mut self, now: f64, arrived: &mut Vec<Arrived>) {
        let (folder, nodes) = (&self.ground.nodes, &mut self.nodes);
        self.names.retain(|id, number| {
            let Some(node) = nodes.get_mut(number) else { return true };
            let changed = node.up.metadata().and_then(|about| about.modified()).ok();
            if changed != node.changed {
                (node.changed, node.seen) = (changed, now);
            }
            let lives = now - node.seen < DEAD;
            if !lives {
                arrived.push((*number, Event::Gone(node.user)));
                nodes.remove(number);
                for end in ["up", "down"] {
                    let _ = folder.remove(format!("{id}.{end}"));
                }
            }
            lives
        });
    }
}

/// What an arbiter shows of itself.
fn shown(root: &Dir) -> String {
    let mut text = String::new();
    let opened = root.read("arbiter", &Expect::anybodys());
    let _ = opened.map(|file| file.take(256).read_to_string(&mut text));
    text
}

/// Whether another arbiter shows that it is there. One that was killed has left its sign, which does not
/// change any more.
fn is_taken(root: &Dir) -> bool {
    let before = shown(root);
    for _ in 0..STEPS {
        match shown(root) {
            now if now.is_empty() => return false,
            now if now != before => return true,
            _ => std::thread::sleep(Duration::from_millis(100)),
        }
    }
    false
}

impl Drop for Directory {
    fn drop(&mut self) {
        if shown(&self.ground.root).starts_with(&format!("{:016x}", self.session)) {
            let _ = self.ground.root.remove("arbiter");
        }
    }
}

/// The files of a node. What it says is read if it is in a regular file; who made that is who asks.
fn open(nodes: &Dir, id: &str, now: f64, may: &mut impl FnMut(u32) -> bool) -> io::Result<FileNode> {
    let up = nodes.read(format!("{id}.up"), &Expect::anybodys())?;
    let user = up.metadata()?.uid();
    if !may(user) {
        return Err(io::ErrorKind::QuotaExceeded.into());
    }
    // It is ours to make: whatever somebody has put there gives way.
    let name = format!("{id}.down");
    let _ = nodes.remove(&name);
    let down = nodes.create(&name, FOR_ALL)?;
    down.set_permissions(Permissions::from_mode(FOR_ALL))?;
    Ok(FileNode { up, down, stream: stream(), user, changed: None, seen: now })
}
