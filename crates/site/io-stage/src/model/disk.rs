//! Files in memory, and what is left of them after a failure of the machine.

use files::{Kind, Stat};
use std::collections::{BTreeMap, BTreeSet};

/// The number of a file. That of its folder of a side, at the start, is the side's.
pub type Inode = usize;

/// The buffer's folder and the storage's.
pub const BUFFER: Inode = 0;
pub const STORAGE: Inode = 1;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Content {
    /// Bytes, and those of them that are on the disk.
    File { data: Vec<u8>, durable: Vec<u8> },
    /// Names, and those that are on the disk.
    Folder { names: BTreeMap<String, Inode>, durable: BTreeMap<String, Inode> },
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Node {
    pub content: Content,
    pub side: Inode,
    pub above: Inode,
    pub modified: i64,
    pub changed: i64,
    pub names: u64,
    /// Descriptors and mappings through which it can be written, and all others.
    pub writers: u32,
    pub readers: u32,
    /// The handle that holds a lease, and whether somebody waits for it.
    pub lease: Option<(u64, bool)>,
}

/// A name in a folder that is another file's now, or nobody's.
type Change = (Inode, String, Option<Inode>);

/// What was done to names in one call, which happens as a whole or not at all.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Pending {
    changes: Vec<Change>,
    by_job: bool,
}

/// Files of both sides.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Disk {
    pub nodes: Vec<Node>,
    pub clock: i64,
    /// What was done to names and is not on the disk for sure.
    pending: Vec<Pending>,
    next_handle: u64,
    /// A failure has taken back something that the job did to names, and did not bring to the disk.
    pub forgot_the_job: bool,
}

impl Disk {
    pub fn new() -> Self {
        let mut disk =
            Disk { nodes: Vec::new(), clock: 10, pending: Vec::new(), next_handle: 0, forgot_the_job: false };
        for side in [BUFFER, STORAGE] {
            let (names, durable) = (BTreeMap::new(), BTreeMap::new());
            disk.new_node(Content::Folder { names, durable }, side);
            disk.nodes[side].above = side;
        }
        disk
    }

    pub fn handle(&mut self) -> u64 {
        self.next_handle += 1;
        self.next_handle
    }

    pub fn new_node(&mut self, content: Content, side: Inode) -> Inode {
        let time = self.clock;
        let (names, writers, readers, lease) = (0, 0, 0, None);
        let above = side;
        self.nodes.push(Node {
            content,
            side,
            above,
            modified: time,
            changed: time,
            names,
            writers,
            readers,
            lease,
        });
        self.nodes.len() - 1
    }

    pub fn new_file(&mut self, data: &[u8], side: Inode) -> Inode {
        self.new_node(Content::File { data: data.to_vec(), durable: Vec::new() }, side)
    }

    pub fn new_folder(&mut self, at: Inode) -> Inode {
        let (names, durable) = (BTreeMap::new(), BTreeMap::new());
        let folder = self.new_node(Content::Folder { names, durable }, self.nodes[at].side);
        self.nodes[folder].above = at;
        folder
    }

    pub fn names(&self, folder: Inode) -> &BTreeMap<String, Inode> {
        match &self.nodes[folder].content {
            Content::Folder { names, .. } => names,
            Content::File { .. } => panic!("not a folder"),
        }
    }

    pub fn find(&self, folder: Inode, name: &str) -> Option<Inode> {
        self.names(folder).get(name).copied()
    }

    pub fn data(&self, file: Inode) -> Option<&Vec<u8>> {
        match &self.nodes[file].content {
            Content::File { data, .. } => Some(data),
            Content::Folder { .. } => None,
        }
    }

    /// Write to a file; whether its times tell so is said.
    pub fn write(&mut self, file: Inode, at: usize, byte: u8, told: bool) {
        let clock = self.clock;
        let node = &mut self.nodes[file];
        let Content::File { data, .. } = &mut node.content else { panic!("not a file") };
        if data.len() <= at {
            data.resize(at + 1, 0);
        }
        data[at] = byte;
        if told {
            (node.modified, node.changed) = (clock, clock);
        }
    }

    /// The job changes names.
    pub fn rename_by_job(&mut self, changes: Vec<Change>) {
        self.rename(changes);
        if let Some(last) = self.pending.last_mut() {
            last.by_job = true;
        }
    }

    /// Names change, all at once.
    pub fn rename(&mut self, changes: Vec<Change>) {
        let clock = self.clock;
        let mut touched = BTreeSet::new();
        for (folder, name, file) in &changes {
            let Content::Folder { names, .. } = &mut self.nodes[*folder].content else {
                panic!("not a folder")
            };
            let before = match file {
                Some(file) => names.insert(name.clone(), *file),
                None => names.remove(name),
            };
            for (file, count) in [(before, -1), (*file, 1)] {
                if let Some(file) = file {
                    self.nodes[file].names = self.nodes[file].names.wrapping_add_signed(count);
                    touched.insert(file);
                }
            }
            (self.nodes[*folder].modified, self.nodes[*folder].changed) = (clock, clock);
        }
        touched.into_iter().for_each(|file| self.nodes[file].changed = clock);
        self.pending.push(Pending { changes, by_job: false });
    }

    /// The content of a file is on the disk.
    pub fn sync(&mut self, file: Inode) {
        if let Content::File { data, durable } = &mut self.nodes[file].content {
            *durable = data.clone();
        }
    }

    /// So are the names in a folder, and whatever they depend on.
    pub fn sync_folder(&mut self, folder: Inode) {
        let mut wanted: BTreeSet<(Inode, String)> = BTreeSet::new();
        let mut applied = vec![false; self.pending.len()];
        for (index, Pending { changes, .. }) in self.pending.iter().enumerate().rev() {
            let keys = || changes.iter().map(|(folder, name, _)| (*folder, name.clone()));
            if changes.iter().any(|(at, ..)| *at == folder) || keys().any(|key| wanted.contains(&key)) {
                wanted.extend(keys());
                applied[index] = true;
            }
        }
        let pending = std::mem::take(&mut self.pending);
        for (one, apply) in pending.into_iter().zip(applied) {
            match apply {
                true => self.reaches_disk(&one.changes),
                false => self.pending.push(one),
            }
        }
    }

    /// Everything is on the disk: how it was before anything began.
    pub fn settle(&mut self) {
        for one in std::mem::take(&mut self.pending) {
            self.reaches_disk(&one.changes);
        }
        (0..self.nodes.len()).for_each(|file| self.sync(file));
    }

    fn reaches_disk(&mut self, changes: &[Change]) {
        for (folder, name, file) in changes {
            let Content::Folder { durable, .. } = &mut self.nodes[*folder].content else {
                panic!("not a folder")
            };
            match file {
                Some(file) => drop(durable.insert(name.clone(), *file)),
                None => drop(durable.remove(name)),
            }
        }
    }

    pub fn stat(&self, file: Inode) -> Stat {
        let node = &self.nodes[file];
        let (kind, size) = match &node.content {
            Content::File { data, .. } => (Kind::File, data.len() as u64),
            Content::Folder { .. } => (Kind::Folder, 0),
        };
        let user = files::user::effective();
        Stat {
            device: node.side as u64,
            inode: file as u64,
            kind,
            mode: 0o700,
            user,
            group: 0,
            names: node.names,
            size,
            room: size,
            accessed: 0,
            modified: node.modified,
            changed: node.changed,
        }
    }

    /// What a job has written and not brought to the disk is its own loss, which staging can only not add to:
    /// so its files are taken to be on the disk.
    pub fn with_synced_files(&self, side: Inode) -> Disk {
        let mut disk = self.clone();
        (0..disk.nodes.len()).filter(|file| self.nodes[*file].side == side).for_each(|file| disk.sync(file));
        disk
    }

    /// What one side may look like after the machine has failed: of what was done to names, any part that
    /// does not need what is missing; of a file's content, what is on the disk or all of it.
    pub fn after_failure(&self, side: Inode) -> Vec<Disk> {
        let of_side = |one: &Pending| self.nodes[one.changes[0].0].side == side;
        let mine: Vec<usize> =
            (0..self.pending.len()).filter(|index| of_side(&self.pending[*index])).collect();
        let unsynced: Vec<Inode> = (0..self.nodes.len())
            .filter(|file| self.nodes[*file].side == side && self.is_unsynced(*file))
            .collect();
        let mut out = Vec::new();
        for chosen in 0..1u32 << mine.len() {
            let kept: Vec<usize> = mine
                .iter()
                .enumerate()
                .filter(|(bit, _)| chosen >> bit & 1 == 1)
                .map(|(_, index)| *index)
                .collect();
            if !self.is_possible(&mine, &kept) {
                continue;
            }
            for data in 0..1u32 << unsynced.len().min(4) {
                let mut disk = self.clone();
                kept.iter().for_each(|index| disk.reaches_disk(&self.pending[*index].changes));
                disk.forgot_the_job |=
                    mine.iter().any(|index| self.pending[*index].by_job && !kept.contains(index));
                for (bit, file) in unsynced.iter().enumerate() {
                    if data >> bit & 1 == 1 {
                        disk.sync(*file);
                    }
                }
                disk.forget(side);
                out.push(disk);
            }
        }
        out
    }

    /// The extremes of these: nothing is kept but what is on the disk; everything is.
    pub fn least_and_most(&self, side: Inode) -> [Disk; 2] {
        let (mut least, mut most) = (self.clone(), self.clone());
        let of_side = |one: &&Pending| self.nodes[one.changes[0].0].side == side;
        least.forgot_the_job |= self.pending.iter().filter(of_side).any(|one| one.by_job);
        self.pending.iter().filter(of_side).for_each(|one| most.reaches_disk(&one.changes));
        (0..self.nodes.len()).filter(|file| self.nodes[*file].side == side).for_each(|file| most.sync(file));
        for disk in [&mut least, &mut most] {
            disk.forget(side);
        }
        [least, most]
    }

    fn is_unsynced(&self, file: Inode) -> bool {
        matches!(&self.nodes[file].content, Content::File { data, durable } if data != durable)
    }

    /// Nothing is kept without what was done before to the same names.
    fn is_possible(&self, mine: &[usize], kept: &[usize]) -> bool {
        let key = |index: &usize| {
            self.pending[*index].changes.iter().map(|(folder, name, _)| (*folder, name)).collect()
        };
        kept.iter().all(|late| {
            let names: BTreeSet<(Inode, &String)> = key(late);
            let earlier = mine.iter().filter(|early| *early < late);
            earlier.filter(|early| !names.is_disjoint(&key(early))).all(|early| kept.contains(early))
        })
    }

    /// Only what is on the disk is left of this side; nobody has anything open.
    fn forget(&mut self, side: Inode) {
        let pending = std::mem::take(&mut self.pending);
        self.pending = pending.into_iter().filter(|one| self.nodes[one.changes[0].0].side != side).collect();
        for node in self.nodes.iter_mut().filter(|node| node.side == side) {
            (node.writers, node.readers, node.lease) = (0, 0, None);
            match &mut node.content {
                Content::File { data, durable } => *data = durable.clone(),
                Content::Folder { names, durable } => *names = durable.clone(),
            }
        }
        let counts: Vec<u64> = (0..self.nodes.len())
            .map(|file| {
                let folders = (0..self.nodes.len()).filter(|folder| self.is_folder(*folder));
                folders
                    .map(|folder| self.names(folder).values().filter(|found| **found == file).count() as u64)
                    .sum()
            })
            .collect();
        for (node, count) in self.nodes.iter_mut().zip(counts).filter(|(node, _)| node.side == side) {
            node.names = count;
        }
    }

    pub fn is_folder(&self, node: Inode) -> bool {
        matches!(self.nodes[node].content, Content::Folder { .. })
    }

    /// It has a name, and so have the folders above it.
    pub fn is_reachable(&self, node: Inode) -> bool {
        node == BUFFER
            || node == STORAGE
            || (self.nodes[node].names > 0 && self.is_reachable(self.nodes[node].above))
    }

    /// The file at a path below a folder.
    pub fn at(&self, top: Inode, path: &str) -> Option<Inode> {
        path.split('/').try_fold(top, |at, name| if self.is_folder(at) { self.find(at, name) } else { None })
    }
}

#[cfg(test)]
mod checks {
    use super::*;

    /// A folder, a file in it, and a rename, with nothing, something or all of it synchronised.
    #[test]
    fn what_is_not_synchronised_may_be_lost() {
        let mut disk = Disk::new();
        let folder = disk.new_folder(STORAGE);
        disk.rename(vec![(STORAGE, "d".into(), Some(folder))]);
        let file = disk.new_file(b"1", STORAGE);
        disk.rename(vec![(folder, "draft".into(), Some(file))]);
        disk.rename(vec![(folder, "draft".into(), None), (folder, "x".into(), Some(file))]);
        let contents = |disk: &Disk| {
            let found = disk.after_failure(STORAGE);
            let content = |disk: &Disk| disk.at(STORAGE, "d/x").map(|file| disk.data(file).unwrap().clone());
            found.iter().map(content).collect::<BTreeSet<_>>()
        };
        let all = BTreeSet::from([None, Some(vec![]), Some(b"1".to_vec())]);
        assert_eq!(contents(&disk), all);
        disk.sync(file);
        assert_eq!(contents(&disk), BTreeSet::from([None, Some(b"1".to_vec())]));
        disk.sync_folder(folder);
        assert_eq!(contents(&disk), BTreeSet::from([None, Some(b"1".to_vec())]), "the folder itself may go");
        disk.sync_folder(STORAGE);
        assert_eq!(contents(&disk), BTreeSet::from([Some(b"1".to_vec())]));
        // A name that was taken back is not taken back by something that came before.
        disk.rename(vec![(folder, "x".into(), None)]);
        assert_eq!(contents(&disk), BTreeSet::from([None, Some(b"1".to_vec())]));
        assert!(disk.after_failure(BUFFER).len() == 1);
    }
}
