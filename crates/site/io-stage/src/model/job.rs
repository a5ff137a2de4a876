//! What a job, or anybody else, does to files while they are staged.

use super::disk::{BUFFER, Disk, Inode, STORAGE};

/// One call of the job's. The file is always `x` in the buffer, unless something else is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Act {
    /// The first half of an `open`: the name is looked up. If it is gone, the job does nothing more.
    LookUp,
    /// The second half, for writing: from now on the file can be written.
    Open,
    /// Write a byte at a place.
    Write(usize, u8),
    /// Shorten the file to this length.
    Truncate(usize),
    /// Set the time of the content back to what it was at first.
    SetTimeBack,
    Close,
    /// Map what is open.
    Map,
    /// Write a byte through the mapping.
    Store(usize, u8),
    Unmap,
    /// Write another file, and rename it to `x`.
    Replace(u8),
    /// Create `x` if it is not there.
    Create(u8),
    Remove,
    /// A second name, `y`.
    Link,
    /// At the destination, somebody writes a newer `x`.
    ReplaceThere(u8),
}

/// How far the job has come.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Job {
    acts: Vec<Act>,
    next: usize,
    looked_up: Option<Inode>,
    open: Option<Inode>,
    /// A mapping, and whether its page was written to: then the next write is not told.
    map: Option<(Inode, bool)>,
    first_modified: i64,
    /// The file that the job takes for `x`: whatever staging does, its content must not be lost.
    pub current: Option<Inode>,
    /// All contents that `x` ever had, and whether there was none at some time.
    pub versions: Vec<Vec<u8>>,
    pub was_missing: bool,
    /// A file at the destination that somebody else has put there, and its content.
    pub precious: Option<Inode>,
    pub precious_content: Option<Vec<u8>>,
    /// They have replaced a copy with it: what that was, is their loss.
    pub destroyed: Option<Vec<u8>>,
    /// Where its files are: the folder in the buffer, and that at the destination.
    folders: (String, String),
}

impl Job {
    pub fn new(acts: &[Act], disk: &Disk, folder: &str) -> Self {
        let current = disk.at(BUFFER, &format!("{folder}x"));
        let versions = current.and_then(|file| disk.data(file).cloned()).into_iter().collect();
        let first_modified = current.map_or(0, |file| disk.nodes[file].modified);
        Job {
            acts: acts.to_vec(),
            next: 0,
            looked_up: None,
            open: None,
            map: None,
            first_modified,
            current,
            versions,
            was_missing: current.is_none(),
            precious: None,
            precious_content: None,
            destroyed: None,
            folders: (folder.to_owned(), folder.to_owned()),
        }
    }

    /// Is there something that it can do? Who waits for a lease cannot.
    pub fn can_go_on(&self, disk: &Disk) -> bool {
        match self.acts.get(self.next) {
            None => false,
            Some(Act::Open) => {
                self.looked_up.is_some_and(|file| disk.nodes[file].lease.is_none_or(|(_, w)| !w))
            }
            Some(_) => true,
        }
    }

    /// Between the two halves of an `open`.
    pub fn is_opening(&self) -> bool {
        self.looked_up.is_some() && self.acts.get(self.next) == Some(&Act::Open)
    }

    fn folder(&self, disk: &Disk, top: Inode) -> Option<Inode> {
        let path = if top == BUFFER { &self.folders.0 } else { &self.folders.1 };
        match path.strip_suffix('/') {
            None => Some(top),
            Some(path) => disk.at(top, path),
        }
    }

    fn give_up(&mut self, disk: &mut Disk) {
        self.next = self.acts.len();
        self.leave(disk);
    }

    fn leave(&mut self, disk: &mut Disk) {
        for file in self.open.take().into_iter().chain(self.map.take().map(|(file, _)| file)) {
            disk.nodes[file].writers -= 1;
        }
    }

    /// The next call. `tells`: the file system tells the first write through a mapping.
    pub fn go_on(&mut self, disk: &mut Disk, tells: bool) {
        let act = self.acts[self.next];
        let Some(folder) = self.folder(disk, BUFFER) else { return self.give_up(disk) };
        match act {
            Act::LookUp => match disk.find(folder, "x") {
                Some(file) => self.looked_up = Some(file),
                None => return self.give_up(disk),
            },
            Act::Open => {
                let Some(file) = self.looked_up else { return self.give_up(disk) };
                if let Some((_, waits)) = &mut disk.nodes[file].lease {
                    // It waits, and whoever has the lease is told.
                    *waits = true;
                    return;
                }
                (self.looked_up, self.open) = (None, Some(file));
                disk.nodes[file].writers += 1;
            }
            Act::Write(at, byte) => self.with_open(|file, disk| disk.write(file, at, byte, true), disk),
            Act::Truncate(length) => self.with_open(
                |file, disk| {
                    let clock = disk.clock;
                    let node = &mut disk.nodes[file];
                    if let super::disk::Content::File { data, .. } = &mut node.content {
                        data.truncate(length);
                    }
                    (node.modified, node.changed) = (clock, clock);
                },
                disk,
            ),
            Act::SetTimeBack => {
                if let Some(file) = self.open.or(self.map.map(|(file, _)| file)) {
                    (disk.nodes[file].modified, disk.nodes[file].changed) = (self.first_modified, disk.clock);
                }
            }
            Act::Close => {
                if let Some(file) = self.open.take() {
                    disk.nodes[file].writers -= 1;
                }
            }
            Act::Map => {
                if let Some(file) = self.open {
                    self.map = Some((file, false));
                    disk.nodes[file].writers += 1;
                }
            }
            Act::Store(at, byte) => {
                if let Some((file, written)) = self.map {
                    disk.write(file, at, byte, tells && !written);
                    self.map = Some((file, true));
                }
            }
            Act::Unmap => {
                if let Some((file, _)) = self.map.take() {
                    disk.nodes[file].writers -= 1;
                }
            }
            Act::Replace(byte) => {
                let file = disk.new_file(&[byte, byte], BUFFER);
                disk.rename_by_job(vec![(folder, "x".into(), Some(file))]);
                self.current = Some(file);
            }
            Act::Create(byte) => {
                if disk.find(folder, "x").is_none() {
                    let file = disk.new_file(&[byte, byte], BUFFER);
                    disk.rename_by_job(vec![(folder, "x".into(), Some(file))]);
                    self.current = Some(file);
                }
            }
            Act::Remove => {
                if disk.find(folder, "x").is_some() {
                    disk.rename_by_job(vec![(folder, "x".into(), None)]);
                    self.current = None;
                    self.was_missing = true;
                }
            }
            Act::Link => {
                if let Some(file) = disk.find(folder, "x") {
                    disk.rename_by_job(vec![(folder, "y".into(), Some(file))]);
                }
            }
            Act::ReplaceThere(byte) => {
                if let Some(there) = self.folder(disk, STORAGE) {
                    disk.clock += 1;
                    self.destroyed = disk.find(there, "x").and_then(|copy| disk.data(copy).cloned());
                    let file = disk.new_file(&[byte, byte], STORAGE);
                    disk.sync(file);
                    disk.rename_by_job(vec![(there, "x".into(), Some(file))]);
                    self.precious = Some(file);
                    self.precious_content = Some(vec![byte, byte]);
                }
            }
        }
        self.next += 1;
        if let Some(data) =
            self.current.and_then(|file| disk.data(file)).filter(|data| !self.versions.contains(data))
        {
            self.versions.push(data.clone());
        }
    }

    fn with_open(&mut self, change: impl FnOnce(Inode, &mut Disk), disk: &mut Disk) {
        if let Some(file) = self.open {
            change(file, disk);
        }
    }
}
