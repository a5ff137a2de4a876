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
//! and not 50 µs: right for phases of seconds. Files of a session before this one are removed.

use super::stream;
use crate::arbiter::NodeId;
use lease_protocol::{Message, Stream};
use rustix::fs::OFlags;
use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// How often it is looked for messages, and for new nodes; in seconds.
pub(super) const POLL: f64 = 0.02;
const NEW: f64 = 0.1;
/// How often the arbiter shows that it is there, and how often it shows its state.
const SIGN: f64 = 0.25;
const REPORT: f64 = 1.0;
/// Directories with more nodes than this are somebody's mistake.
const MOST: usize = 100_000;

#[derive(Debug)]
struct FileNode {
    id: NodeId,
    up: File,
    down: File,
    stream: Stream,
    user: u32,
}

#[derive(Debug)]
pub(super) struct Directory {
    path: PathBuf,
    session: u64,
    count: u64,
    nodes: BTreeMap<String, FileNode>,
    next_look: f64,
    next_sign: f64,
    next_report: f64,
}

/// A message with its text, and the user whose file it was in; `None`: the node is gone.
type Arrived = (NodeId, Option<((Message, String), u32)>);

impl Directory {
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let nodes = path.join("nodes");
        fs::create_dir_all(&nodes)?;
        // Nodes of all users make files there, and nobody removes those of others.
        fs::set_permissions(&nodes, Permissions::from_mode(0o1777))?;
        for entry in fs::read_dir(&nodes)?.flatten() {
            let _ = fs::remove_file(entry.path());
        }
        let time = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        let session = time.as_nanos() as u64 ^ u64::from(std::process::id()).rotate_left(40);
        let mut directory = Directory {
            path: path.to_owned(),
            session,
            count: 0,
            nodes: BTreeMap::new(),
            next_look: 0.0,
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
        self.nodes.values().any(|one| one.id == node)
    }

    pub(super) fn send(&mut self, node: NodeId, bytes: &[u8]) {
        if let Some(one) = self.nodes.values_mut().find(|one| one.id == node) {
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

    fn sign(&mut self) -> io::Result<()> {
        self.count += 1;
        self.write("arbiter", &format!("{:016x} {}\n", self.session, self.count))
    }

    /// Looks for new nodes and new messages, and shows that the arbiter is there.
    pub(super) fn look(
        &mut self,
        now: f64,
        next: &mut NodeId,
        report: impl FnOnce() -> String,
    ) -> Vec<Arrived> {
        if now >= self.next_sign {
            self.next_sign = now + SIGN;
            let _ = self.sign();
        }
        if now >= self.next_report {
            self.next_report = now + REPORT;
            let _ = self.write("report", &report());
        }
        let mut arrived = Vec::new();
        if now >= self.next_look {
            self.next_look = now + NEW;
            self.find_nodes(next, &mut arrived);
        }
        for one in self.nodes.values_mut() {
            let mut bytes = [0; 4096];
            while let Ok(length @ 1..) = one.up.read(&mut bytes) {
                one.stream.push(&bytes[..length]);
            }
            while let Ok(Some(message)) = one.stream.take() {
                arrived.push((one.id, Some((message, one.user))));
            }
        }
        arrived
    }

    fn find_nodes(&mut self, next: &mut NodeId, arrived: &mut Vec<Arrived>) {
        let Ok(entries) = fs::read_dir(self.path.join("nodes")) else { return };
        let mut present = Vec::new();
        for entry in entries.flatten().take(2 * MOST) {
            let name = entry.file_name().to_string_lossy().into_owned();
            let Some(id) = name.strip_suffix(".up") else { continue };
            present.push(id.to_owned());
            let is_new = !self.nodes.contains_key(id) && self.nodes.len() < MOST;
            if let Some(node) = is_new.then(|| open(&entry.path(), *next).ok()).flatten() {
                *next += 1;
                self.nodes.insert(id.to_owned(), node);
            }
        }
        present.sort_unstable();
        let directory = self.path.join("nodes");
        self.nodes.retain(|id, node| {
            let stays = present.binary_search(id).is_ok();
            if !stays {
                arrived.push((node.id, None));
                let _ = fs::remove_file(directory.join(format!("{id}.down")));
            }
            stays
        });
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = fs::remove_file(self.path.join("arbiter"));
    }
}

fn open(path: &Path, id: NodeId) -> io::Result<FileNode> {
    let nofollow = OFlags::NOFOLLOW.bits() as i32;
    let up = OpenOptions::new().read(true).custom_flags(nofollow).open(path)?;
    let about = up.metadata()?;
    if !about.is_file() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let down = path.with_extension("down");
    let down = OpenOptions::new().append(true).create(true).mode(0o644).custom_flags(nofollow).open(down)?;
    Ok(FileNode { id, up, down, stream: stream(), user: about.uid() })
}
