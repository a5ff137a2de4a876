//! A directory instead of a socket: where nothing can listen, but all nodes see a file system.
//!
//! ```text
//! DIR/arbiter       session number and a count that grows: the arbiter is there
//! DIR/report        the state as JSON, every second
//! DIR/nodes/ID.up   what node ID says, appended
//! DIR/nodes/ID.down what it is told, appended
//! ```
//!
//! The bytes are those of the sockets. Both sides look often, so that a turn takes some 50 ms to change hands
//! and not 50 µs: right for phases of seconds. Files of a session before this one are removed, and those of
//! a node that was killed: a node that lives changes the time of its file every ten seconds.

use super::stream;
use crate::arbiter::NodeId;
use lease_protocol::{Message, Stream};
use rustix::fs::OFlags;
use std::collections::{BTreeMap, HashMap};
use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// How often it is looked for messages, and for new nodes; in seconds.
pub(super) const POLL: f64 = 0.02;
const NEW: f64 = 0.1;
/// How often the arbiter shows that it is there, and how often it shows its state.
const SIGN: f64 = 0.25;
const REPORT: f64 = 1.0;
/// How often it is looked whether nodes live, and without what sign for how long they do not.
const LIVES: f64 = 10.0;
const DEAD: f64 = 60.0;
/// For how long it is looked whether another arbiter shows itself, in steps of 100 ms.
const STEPS: u32 = 12;
/// Directories with more nodes than this are somebody's mistake.
const MOST: usize = 100_000;

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
    session: u64,
    count: u64,
    nodes: HashMap<NodeId, FileNode>,
    /// By the name of the file; also those that made no sense, and are not listened to.
    names: BTreeMap<String, NodeId>,
    next_look: f64,
    next_lives: f64,
    next_sign: f64,
    next_report: f64,
}

/// A message with its text, and the user whose file it was in; `None`: the node is gone.
type Arrived = (NodeId, Option<((Message, String), u32)>);

impl Directory {
    /// `AddrInUse`: another arbiter is there.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        if is_taken(path) {
            return Err(io::ErrorKind::AddrInUse.into());
        }
        let nodes = path.join("nodes");
        fs::create_dir_all(&nodes)?;
        // Nodes of all users make files there, and nobody removes those of others.
        fs::set_permissions(&nodes, Permissions::from_mode(0o1777))?;
        for entry in fs::read_dir(&nodes)?.flatten() {
            let _ = fs::remove_file(entry.path());
        }
        let time = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let session = time.as_nanos() as u64 ^ u64::from(std::process::id()).rotate_left(40);
        let mut directory = Directory {
            path: path.to_owned(),
            session,
            count: 0,
            nodes: HashMap::new(),
            names: BTreeMap::new(),
            next_look: 0.0,
            next_lives: 0.0,
            next_sign: 0.0,
            next_report: 0.0,
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

    /// A complete file takes the place of the old one.
    fn write(&self, name: &str, text: &str) -> io::Result<()> {
        let draft = self.path.join(format!(".{name}.{}", std::process::id()));
        fs::write(&draft, text)?;
        fs::set_permissions(&draft, Permissions::from_mode(0o644))?;
        fs::rename(&draft, self.path.join(name))
    }

    /// Shows that this arbiter is there; an error if another one does.
    fn sign(&mut self) -> io::Result<()> {
        let shown = fs::read_to_string(self.path.join("arbiter")).unwrap_or_default();
        let session = format!("{:016x}", self.session);
        if self.count > 0 && !shown.is_empty() && !shown.starts_with(&session) {
            return Err(io::ErrorKind::AddrInUse.into());
        }
        self.count += 1;
        self.write("arbiter", &format!("{session} {}\n", self.count))
    }

    /// Looks for new nodes and new messages, and shows that the arbiter is there. `AddrInUse`: another one
    /// has taken its place.
    pub(super) fn look(
        &mut self,
        now: f64,
        next: &mut NodeId,
        report: impl FnOnce() -> String,
    ) -> io::Result<Vec<Arrived>> {
        if now >= self.next_sign {
            self.next_sign = now + SIGN;
            // Where nothing can be written, nodes see that nothing changes, and go on without turns.
            match self.sign() {
                Err(error) if error.kind() == io::ErrorKind::AddrInUse => return Err(error),
                _ => {}
            }
        }
        if now >= self.next_report {
            self.next_report = now + REPORT;
            let _ = self.write("report", &report());
        }
        let mut arrived = Vec::new();
        if now >= self.next_look {
            self.next_look = now + NEW;
            self.find_nodes(now, next, &mut arrived);
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
                    Ok(Some(message)) => arrived.push((*id, Some((message, one.user)))),
                    Ok(None) => break,
                    Err(_) => {
                        nonsense.push(*id);
                        break;
                    }
                }
            }
        }
        for id in nonsense {
            self.nodes.remove(&id);
            arrived.push((id, None));
        }
        Ok(arrived)
    }

    fn find_nodes(&mut self, now: f64, next: &mut NodeId, arrived: &mut Vec<Arrived>) {
        let Ok(entries) = fs::read_dir(self.path.join("nodes")) else { return };
        let mut present = Vec::new();
        for entry in entries.flatten().take(2 * MOST) {
            let name = entry.file_name().to_string_lossy().into_owned();
            let Some(id) = name.strip_suffix(".up") else { continue };
            present.push(id.to_owned());
            let is_new = !self.names.contains_key(id) && self.names.len() < MOST;
            if let Some(node) = is_new.then(|| open(&entry.path(), now).ok()).flatten() {
                self.names.insert(id.to_owned(), *next);
                self.nodes.insert(*next, node);
                *next += 1;
            }
        }
        present.sort_unstable();
        let directory = self.path.join("nodes");
        let nodes = &mut self.nodes;
        self.names.retain(|id, node| {
            let stays = present.binary_search(id).is_ok();
            if !stays {
                nodes.remove(node);
                arrived.push((*node, None));
                let _ = fs::remove_file(directory.join(format!("{id}.down")));
            }
            stays
        });
    }

    /// Nodes that were killed left their files.
    fn find_dead(&mut self, now: f64, arrived: &mut Vec<Arrived>) {
        let directory = self.path.join("nodes");
        let nodes = &mut self.nodes;
        self.names.retain(|id, number| {
            let Some(node) = nodes.get_mut(number) else { return true };
            let changed = node.up.metadata().and_then(|about| about.modified()).ok();
            if changed != node.changed {
                (node.changed, node.seen) = (changed, now);
            }
            let lives = now - node.seen < DEAD;
            if !lives {
                nodes.remove(number);
                arrived.push((*number, None));
                for end in ["up", "down"] {
                    let _ = fs::remove_file(directory.join(format!("{id}.{end}")));
                }
            }
            lives
        });
    }
}

/// Whether another arbiter shows that it is there. One that was killed has left its sign, which does not
/// change any more.
fn is_taken(path: &Path) -> bool {
    let shown = || fs::read_to_string(path.join("arbiter")).unwrap_or_default();
    let before = shown();
    for _ in 0..STEPS {
        match shown() {
            now if now.is_empty() => return false,
            now if now != before => return true,
            _ => std::thread::sleep(Duration::from_millis(100)),
        }
    }
    false
}

impl Drop for Directory {
    fn drop(&mut self) {
        let sign = self.path.join("arbiter");
        let shown = fs::read_to_string(&sign).unwrap_or_default();
        if shown.starts_with(&format!("{:016x}", self.session)) {
            let _ = fs::remove_file(sign);
        }
    }
}

fn open(path: &Path, now: f64) -> io::Result<FileNode> {
    let nofollow = OFlags::NOFOLLOW.bits() as i32;
    let up = OpenOptions::new().read(true).custom_flags(nofollow).open(path)?;
    let about = up.metadata()?;
    if !about.is_file() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let down = path.with_extension("down");
    let down = OpenOptions::new().append(true).create(true).mode(0o644).custom_flags(nofollow).open(down)?;
    Ok(FileNode { up, down, stream: stream(), user: about.uid(), changed: None, seen: now })
}
