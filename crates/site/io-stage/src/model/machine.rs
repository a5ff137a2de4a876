//! The machine: files in memory behind the trait that the protocol is written against. Before every call, the
//! explorer says whether the job goes first, or the machine fails.

use super::disk::{Content, Disk, Inode};
use super::explore::{Choice, Chooser};
use super::job::Job;
use crate::journal::{DraftName, Line};
use crate::plan::Direction;
use crate::protocol::copy::{Notes, Replaced};
use crate::stop::Stop;
use crate::system::{Holders, System, Writers};
use files::{Error, Kind, Replace, Result, Stat};
use rustix::io::Errno;
use std::cell::RefCell;
use std::ffi::{OsStr, OsString};
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use twox_hash::XxHash64;

/// What the machine can do.
#[derive(Clone, Copy, Debug)]
pub struct Abilities {
    /// The first write through a mapping changes the times of the file.
    pub tells: bool,
    /// There are leases.
    pub leases: bool,
    /// All processes can be seen.
    pub sees_all: bool,
    /// Two names can change places.
    pub exchanges: bool,
}

/// All that there is at one moment.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    pub disk: Disk,
    pub job: Job,
}

pub struct Inner {
    pub state: State,
    pub abilities: Abilities,
    pub chooser: Chooser,
    /// What the program has been told so far: with it, what it will do is fixed.
    told: u64,
    /// The rest is known already, or something is wrong.
    pub stopped: bool,
    pub journal: Vec<String>,
    /// What must hold whenever the machine fails; and what did not.
    failure: Option<Failure>,
    pub wrong: Option<String>,
}

/// Looks at what is left if the machine fails now, or the process is killed.
pub type Failure = Rc<dyn Fn(&State, &[String]) -> std::result::Result<(), String>>;

/// The machine.
#[derive(Clone)]
pub struct Machine(pub Rc<RefCell<Inner>>);

/// A file that the program has open.
pub struct Open {
    machine: Machine,
    inode: Inode,
    handle: u64,
}

impl Drop for Open {
    fn drop(&mut self) {
        let inner = &mut *self.machine.0.borrow_mut();
        if !inner.stopped {
            let node = &mut inner.state.disk.nodes[self.inode];
            node.readers = node.readers.saturating_sub(1);
            if node.lease.is_some_and(|(holder, _)| holder == self.handle) {
                node.lease = None;
            }
        }
    }
}

impl Machine {
    pub fn new(state: State, abilities: Abilities, chooser: Chooser, failure: Option<Failure>) -> Self {
        let (told, stopped, journal, wrong) = (0, false, Vec::new(), None);
        let inner = Inner { state, abilities, chooser, told, stopped, journal, failure, wrong };
        Machine(Rc::new(RefCell::new(inner)))
    }

    /// Before a call: the job may go first, several times. And what if the machine fails now?
    fn step(&self) -> Result<()> {
        let inner = &mut *self.0.borrow_mut();
        loop {
            if inner.stopped {
                return Err(gone());
            }
            let job = inner.state.job.can_go_on(&inner.state.disk);
            let state = (&inner.state, inner.told);
            match inner.chooser.choose(|| hash_of(&state), job) {
                Choice::GoOn => {
                    if let Some(failure) = inner.failure.clone().filter(|_| inner.chooser.is_new()) {
                        inner.wrong = failure(&inner.state, &inner.journal).err();
                        inner.stopped = inner.wrong.is_some();
                        continue_unless(inner.stopped)?;
                    }
                    return Ok(());
                }
                Choice::Job => {
                    let State { disk, job } = &mut inner.state;
                    job.go_on(disk, inner.abilities.tells);
                }
                Choice::Known => inner.stopped = true,
            }
        }
    }

    /// One call, and what it answers.
    fn call<T: Hash>(
        &self,
        call: impl FnOnce(&mut Disk, &Abilities) -> std::result::Result<T, Errno>,
    ) -> Result<T> {
        self.step()?;
        let inner = &mut *self.0.borrow_mut();
        let answer = call(&mut inner.state.disk, &inner.abilities);
        inner.note(&answer.as_ref().map_err(|errno| errno.raw_os_error()));
        answer.map_err(|errno| Error::new(Path::new("x"), errno))
    }

    /// Everybody who was about to open a file has done so.
    pub fn rest(&self) {
        let inner = &mut *self.0.borrow_mut();
        if inner.stopped {
            return;
        }
        let State { disk, job } = &mut inner.state;
        if job.is_opening() && job.can_go_on(disk) {
            job.go_on(disk, inner.abilities.tells);
        }
        disk.clock += 1;
    }
}

impl Inner {
    /// The program was told this.
    fn note(&mut self, answer: &impl Hash) {
        self.told = hash_of(&(self.told, answer));
    }
}

fn continue_unless(stopped: bool) -> Result<()> {
    if stopped { Err(gone()) } else { Ok(()) }
}

fn gone() -> Error {
    Error::new(Path::new("x"), Errno::IO)
}

fn text(name: &OsStr) -> String {
    name.to_str().expect("names are simple here").to_owned()
}

fn find(disk: &Disk, at: Inode, name: &OsStr) -> std::result::Result<Inode, Errno> {
    disk.find(at, &text(name)).ok_or(Errno::NOENT)
}

impl System for Machine {
    type Dir = Inode;
    type File = Open;

    fn folder(&self, at: &Inode, name: &OsStr) -> Result<Inode> {
        self.call(|disk, _| {
            let found = find(disk, *at, name)?;
            if disk.is_folder(found) { Ok(found) } else { Err(Errno::NOTDIR) }
        })
    }

    fn make_folder(&self, at: &Inode, name: &OsStr) -> Result<Inode> {
        self.call(|disk, _| {
            if find(disk, *at, name).is_ok() {
                return Err(Errno::EXIST);
            }
            let made = disk.new_folder(*at);
            disk.rename(vec![(*at, text(name), Some(made))]);
            Ok(made)
        })
    }

    fn remove_folder(&self, at: &Inode, name: &OsStr) -> Result<()> {
        self.call(|disk, _| {
            if !disk.names(find(disk, *at, name)?).is_empty() {
                return Err(Errno::NOTEMPTY);
            }
            disk.rename(vec![(*at, text(name), None)]);
            Ok(())
        })
    }

    fn above(&self, at: &Inode) -> Result<Option<Inode>> {
        self.call(|disk, _| Ok(Some(disk.nodes[*at].above).filter(|above| above != at)))
    }

    fn stat_folder(&self, at: &Inode) -> Result<Stat> {
        self.call(|disk, _| Ok(disk.stat(*at)))
    }

    fn leads_elsewhere(&self, _: &Inode) -> Option<String> {
        None
    }

    fn names(&self, at: &Inode) -> Result<Vec<(OsString, Option<Kind>)>> {
        self.call(|disk, _| Ok(disk.names(*at).keys().map(|name| (name.into(), None)).collect()))
    }

    fn sync_folder(&self, at: &Inode) -> Result<()> {
        self.call(|disk, _| {
            disk.sync_folder(*at);
            Ok(())
        })
    }

    fn dress_folder(&self, _: &Inode, _: &Inode) -> Result<()> {
        Ok(())
    }

    fn look(&self, at: &Inode, name: &OsStr) -> Result<Stat> {
        self.call(|disk, _| Ok(disk.stat(find(disk, *at, name)?)))
    }

    fn open(&self, at: &Inode, name: &OsStr) -> Result<Open> {
        let (inode, handle) = self.call(|disk, _| {
            let inode = find(disk, *at, name)?;
            disk.data(inode).ok_or(Errno::ISDIR)?;
            disk.nodes[inode].readers += 1;
            Ok((inode, disk.handle()))
        })?;
        Ok(Open { machine: self.clone(), inode, handle })
    }

    fn stat(&self, file: &Open) -> Result<Stat> {
        self.call(|disk, _| Ok(disk.stat(file.inode)))
    }

    fn sync(&self, file: &Open) -> Result<()> {
        self.call(|disk, _| {
            disk.sync(file.inode);
            Ok(())
        })
    }

    fn rename(&self, from: &Inode, name: &OsStr, to: &Inode, new: &OsStr, replace: Replace) -> Result<()> {
        self.call(|disk, _| {
            let file = find(disk, *from, name)?;
            if replace == Replace::Never && find(disk, *to, new).is_ok() {
                return Err(Errno::EXIST);
            }
            disk.rename(vec![(*from, text(name), None), (*to, text(new), Some(file))]);
            Ok(())
        })
    }

    fn exchange(&self, at: &Inode, name: &OsStr, other: &OsStr) -> Result<()> {
        self.call(|disk, abilities| {
            let (a, b) = (find(disk, *at, name)?, find(disk, *at, other)?);
            if !abilities.exchanges {
                return Err(Errno::INVAL);
            }
            disk.rename(vec![(*at, text(name), Some(b)), (*at, text(other), Some(a))]);
            Ok(())
        })
    }

    fn remove(&self, at: &Inode, name: &OsStr) -> Result<()> {
        self.call(|disk, _| {
            find(disk, *at, name)?;
            disk.rename(vec![(*at, text(name), None)]);
            Ok(())
        })
    }

    fn link(&self, from: &Inode, name: &OsStr, to: &Inode, new: &OsStr) -> Result<()> {
        self.call(|disk, _| {
            let file = find(disk, *from, name)?;
            if find(disk, *to, new).is_ok() {
                return Err(Errno::EXIST);
            }
            disk.rename(vec![(*to, text(new), Some(file))]);
            Ok(())
        })
    }

    fn symlink(&self, _: &Path, _: &Inode, _: &OsStr) -> Result<()> {
        Err(gone())
    }

    fn read_link(&self, _: &Inode, _: &OsStr) -> Result<PathBuf> {
        Err(gone())
    }

    /// Byte by byte: anything may happen in between.
    fn produce(
        &self,
        (source, ..): (&Open, &Inode, &OsStr),
        (at, name): (&Inode, &OsStr),
        size: u64,
        checksum: bool,
    ) -> std::result::Result<(Open, Option<u64>), Stop> {
        let made = self.call(|disk, _| {
            if find(disk, *at, name).is_ok() {
                return Err(Errno::EXIST);
            }
            let made = disk.new_file(b"", disk.nodes[*at].side);
            disk.rename(vec![(*at, text(name), Some(made))]);
            Ok((made, disk.handle()))
        });
        let (inode, handle) = made.map_err(Stop::writing)?;
        let draft = Open { machine: self.clone(), inode, handle };
        let mut read = Vec::new();
        for place in 0..size as usize {
            let byte =
                self.call(|disk, _| Ok(disk.data(source.inode).and_then(|data| data.get(place)).copied()));
            let byte = byte.map_err(Stop::reading)?.ok_or(Stop::Changed)?;
            self.0.borrow_mut().state.disk.write(inode, place, byte, true);
            read.push(byte);
        }
        Ok((draft, checksum.then(|| sum(&read))))
    }

    fn dress(&self, like: &Open, made: &Open) -> Result<Vec<String>> {
        self.call(|disk, _| {
            let clock = disk.clock;
            disk.nodes[made.inode].modified = disk.nodes[like.inode].modified;
            disk.nodes[made.inode].changed = clock;
            Ok(Vec::new())
        })
    }

    fn checksum(&self, file: &Open, size: u64) -> std::result::Result<u64, Stop> {
        let mut read = Vec::new();
        for place in 0..size as usize {
            let byte =
                self.call(|disk, _| Ok(disk.data(file.inode).and_then(|data| data.get(place)).copied()));
            read.push(byte.map_err(Stop::reading)?.ok_or(Stop::Changed)?);
        }
        Ok(sum(&read))
    }

    fn take_lease(&self, file: &Open) -> Writers {
        let answer = self.call(|disk, abilities| {
            let node = &mut disk.nodes[file.inode];
            match (abilities.leases, node.writers, node.lease) {
                (false, ..) => Ok(2),
                (true, 0, None) => {
                    node.lease = Some((file.handle, false));
                    Ok(0)
                }
                (true, 0, Some((holder, false))) if holder == file.handle => Ok(0),
                _ => Ok(1),
            }
        });
        match answer {
            Ok(0) => Writers::Nobody,
            Ok(1) => Writers::Somebody,
            _ => Writers::Unknown,
        }
    }

    fn keeps_lease(&self, file: &Open) -> bool {
        let kept = self.call(|disk, _| Ok(disk.nodes[file.inode].lease == Some((file.handle, false))));
        kept.unwrap_or(false)
    }

    fn give_lease_back(&self, file: &Open) {
        let _ = self.call(|disk, _| {
            let node = &mut disk.nodes[file.inode];
            if node.lease.is_some_and(|(holder, _)| holder == file.handle) {
                node.lease = None;
            }
            Ok(())
        });
    }

    fn holders(&self, file: &Stat) -> Holders {
        let answer = self.call(|disk, abilities| {
            let held = disk.nodes[file.inode as usize].writers > 0;
            Ok((held && abilities.sees_all, abilities.sees_all))
        });
        match answer {
            Ok((true, _)) => Holders::Somebody,
            Ok((false, true)) => Holders::Nobody,
            _ => Holders::Unknown,
        }
    }

    fn tells(&self, _: &Inode) -> bool {
        self.0.borrow().abilities.tells
    }

    fn settle(&self, _: &Inode, _: &Stat) {
        self.0.borrow_mut().state.disk.clock += 1;
    }
}

fn sum(bytes: &[u8]) -> u64 {
    hash_of(&bytes)
}

pub fn hash_of(what: &impl Hash) -> u64 {
    let mut hasher = XxHash64::with_seed(0);
    what.hash(&mut hasher);
    hasher.finish()
}

impl Notes for Machine {
    fn draft(&mut self, direction: Direction, path: &Path) -> std::result::Result<(), Stop> {
        self.write(&Line::Draft(DraftName { direction, path: path.into() }))
    }

    fn replaces(
        &mut self,
        direction: Direction,
        draft: &Path,
        change: &Replaced,
    ) -> std::result::Result<(), Stop> {
        let draft = DraftName { direction, path: draft.into() };
        self.write(&Line::Replaces { draft, change: change.clone() })
    }

    fn dropped(&mut self, direction: Direction, path: &Path) -> std::result::Result<(), Stop> {
        self.write(&Line::Dropped(DraftName { direction, path: path.into() }))
    }

    fn made_folder(&mut self) {}
}

impl Machine {
    /// A line of the journal, which outlives the process.
    pub fn write(&self, line: &Line) -> std::result::Result<(), Stop> {
        self.call(|_, _| Ok(())).map_err(Stop::writing)?;
        self.0.borrow_mut().journal.push(serde_json::to_string(line).expect("it can be written"));
        Ok(())
    }
}

/// Files that were open when the machine failed, or its names, are of no use any more.
pub fn is_empty_folder(disk: &Disk, node: Inode) -> bool {
    matches!(&disk.nodes[node].content, Content::Folder { names, .. } if names.is_empty())
}
