//! A file leaves the buffer: set aside first, then looked at again, then removed, or put back.

use super::copy::{Made, seen, stamp_of};
use super::folders::{Durable, Places, make_durable, parent};
use super::{Step, left_out};
use crate::plan::{Direction, Kind};
use crate::stamp::Stamp;
use crate::stop::Stop;
use crate::system::{Holders, System, Writers};
use files::{Error, Replace, Stat, Why};
use rustix::io::Errno;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// What is to leave the buffer.
#[derive(Clone, Debug)]
pub struct Leaving {
    /// Its path below the folders.
    pub path: PathBuf,
    /// File or link.
    pub kind: Kind,
    /// Which way the copy was made: a file that came in was there before.
    pub direction: Direction,
    /// The copy. `source` is the version in the buffer and `target` that in the storage, whichever way it
    /// went.
    pub made: Made,
}

/// Why a file stays in the buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kept {
    /// It is another version than that which was copied.
    Changed,
    /// The copy is not what was verified any more.
    CopyLost,
    /// A process has it open.
    Held,
    /// Whether another user or container has it open cannot be known here.
    Unknown,
    /// It is not there any more.
    Gone,
    /// Anything else, in words.
    Failed(String),
}

impl std::fmt::Display for Kept {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Kept::Changed => "it is not the file that was copied",
            Kept::CopyLost => "its copy is not what was verified any more",
            Kept::Held => "a process has it open",
            Kept::Unknown => "whether somebody has it open cannot be known here",
            Kept::Gone => "it is gone",
            Kept::Failed(why) => why,
        })
    }
}

/// A file under its private name.
#[derive(Debug)]
pub struct Aside<D, F> {
    folder: D,
    aside: D,
    aside_name: OsString,
    name: OsString,
    /// The file, with the lease that was taken before it was looked at, if there are leases. Of a link,
    /// nothing.
    file: Option<F>,
    leased: bool,
    /// What it was right after it got that name.
    found: Stat,
    /// Its version before.
    before: Stamp,
}

/// As a system has it.
pub type AsideOf<S> = Aside<<S as System>::Dir, <S as System>::File>;

impl<D, F> Aside<D, F> {
    /// Its version, if nothing has happened to it but the renaming. Other names of the file have it as well.
    pub fn renamed(&self) -> (Stamp, Stamp) {
        (self.before, Stamp::of(&self.found))
    }

    /// The file has other names as well.
    pub fn has_other_names(&self) -> bool {
        self.found.names > 1
    }
}

/// What became of a file that was set aside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// It is removed. If it has other names, this is their version now.
    Removed(Option<Stamp>),
    /// It has its name again. With its version, if nobody can have written to it.
    PutBack(Kept, Option<Stamp>),
    /// Its name is taken by another file: it stays under its private name.
    Stays(String),
}

/// The copy's names reach the disk; then the file, if it is what was copied and nobody has it open, gets a
/// private name.
pub fn set_aside<S: System>(
    system: &S,
    places: &Places<S::Dir>,
    leaving: &Leaving,
    aside_name: &str,
    durable: &mut Durable,
) -> Result<AsideOf<S>, Kept> {
    keep_copy(system, places, leaving, durable)?;
    let failed = |error: Error| Kept::failed(&error);
    let (folder, name) = parent(system, &places.buffer, &leaving.path).map_err(failed)?;
    let before = seen(leaving.made.source);
    #[cfg(test)]
    if left_out(Step::SetAside) {
        return look_and_remove(system, &folder, name, before);
    }
    // First the lease, which is held to the end: from before the look on nobody writes to the file. The
    // renaming hides its time of change, and a write right after it may have the same.
    let (file, leased) = open_leased(system, &folder, name, leaving.kind)?;
    let found = match &file {
        Some(file) => system.stat(file).map_err(failed)?,
        None => system.look(&folder, name).map_err(failed)?,
    };
    if stamp_of(&found) != before {
        return Err(Kept::Changed);
    }
    let aside = open_aside(system, &folder, OsStr::new(aside_name)).map_err(failed)?;
    // Nobody but us puts files there. So this needs no renaming without replacing, which some file systems
    // have to do in two steps, and that changes the file.
    match system.look(&aside, name) {
        Err(error) if error.is_missing() => {}
        Err(error) => return Err(failed(error)),
        Ok(_) => {
            return Err(Kept::Failed(format!("an older version is kept in {}", files::shown(aside_name))));
        }
    }
    let renamed = system.rename(&folder, name, &aside, name, Replace::Anything);
    let set = Aside {
        folder,
        aside,
        aside_name: aside_name.into(),
        name: name.to_owned(),
        file,
        leased,
        found,
        before: leaving.made.source,
    };
    if let Err(error) = renamed {
        set.clear(system);
        return Err(Kept::failed(&error));
    }
    set.look(system)
}

/// A file that an earlier process has set aside, and whose name another file has by now: if it is still what
/// was copied, it can be removed like any other.
pub fn resume<S: System>(
    system: &S,
    places: &Places<S::Dir>,
    leaving: &Leaving,
    aside_name: &str,
    durable: &mut Durable,
) -> Result<AsideOf<S>, Kept> {
    keep_copy(system, places, leaving, durable)?;
    let failed = |error: Error| Kept::failed(&error);
    let (folder, name) = parent(system, &places.buffer, &leaving.path).map_err(failed)?;
    let aside = system.folder(&folder, OsStr::new(aside_name)).map_err(failed)?;
    let (file, leased) = open_leased(system, &aside, name, leaving.kind)?;
    let found = system.look(&aside, name).map_err(failed)?;
    if stamp_of(&found) != seen(leaving.made.source) {
        return Err(Kept::Changed);
    }
    let (aside_name, name, before) = (aside_name.into(), name.to_owned(), leaving.made.source);
    Ok(Aside { folder, aside, aside_name, name, file, leased, found, before })
}

/// Is the copy what was verified, and is its name on the disk, whatever happens to the machine?
fn keep_copy<S: System>(
    system: &S,
    places: &Places<S::Dir>,
    leaving: &Leaving,
    durable: &mut Durable,
) -> Result<(), Kept> {
    let (folder, name) = match parent(system, &places.storage, &leaving.path) {
        Err(error) if error.is_missing() => return Err(Kept::CopyLost),
        found => found.map_err(|error| Kept::failed(&error))?,
    };
    is_copy(system, &folder, name, leaving)?;
    if leaving.direction == Direction::In && leaving.kind == Kind::File {
        // Others have written it, perhaps just now.
        let file = system.open(&folder, name).map_err(|error| Kept::failed(&error))?;
        system.sync(&file).map_err(|error| Kept::failed(&error))?;
    }
    make_durable(system, &folder, durable).map_err(|error| Kept::failed(&error))
}

/// Is the copy that was made before still like the file? Only content tells, where not every write is told by
/// another version.
pub fn is_confirmed<S: System>(
    system: &S,
    places: &Places<S::Dir>,
    leaving: &Leaving,
    expected: Option<Stamp>,
) -> Result<bool, Stop> {
    let version = leaving.made.source;
    let in_doubt = expected == Some(version) && !leaving.made.sealed;
    let Some(before) = leaving.made.checksum.filter(|_| in_doubt) else { return Ok(false) };
    let (folder, name) = parent(system, &places.buffer, &leaving.path).map_err(Stop::reading)?;
    let Ok((there, copy)) = parent(system, &places.storage, &leaving.path) else { return Ok(false) };
    if is_copy(system, &there, copy, leaving).is_err() {
        return Ok(false);
    }
    let file = system.open(&folder, name).map_err(Stop::reading)?;
    let is_same = |file: &S::File| system.stat(file).is_ok_and(|found| Stamp::of(&found) == version);
    Ok(is_same(&file) && system.checksum(&file, version.size)? == before && is_same(&file))
}

fn is_copy<S: System>(system: &S, folder: &S::Dir, name: &OsStr, leaving: &Leaving) -> Result<(), Kept> {
    match system.look(folder, name) {
        Ok(found) if Stamp::of(&found) == leaving.made.target => Ok(()),
        Ok(_) => Err(Kept::CopyLost),
        Err(error) if error.is_missing() => Err(Kept::CopyLost),
        Err(error) => Err(Kept::failed(&error)),
    }
}

/// Opens what is to leave, if nobody has it: a link is not opened. Whether it is leased.
fn open_leased<S: System>(
    system: &S,
    folder: &S::Dir,
    name: &OsStr,
    kind: Kind,
) -> Result<(Option<S::File>, bool), Kept> {
    if kind == Kind::Link {
        return Ok((None, false));
    }
    let file = system.open(folder, name).map_err(|error| Kept::failed(&error))?;
    let leased = nobody_has(system, &file)?;
    Ok((Some(file), leased))
}

/// Nobody has the file open for writing, by the kernel's word, and nobody who can be seen has it open at all.
/// The lease is held from then on, if there are leases; whether there are is said.
fn nobody_has<S: System>(system: &S, file: &S::File) -> Result<bool, Kept> {
    if left_out(Step::Writers) {
        return Ok(true);
    }
    let writers = system.take_lease(file);
    let found = system.stat(file).map_err(|error| Kept::failed(&error))?;
    match (writers, system.holders(&found)) {
        (Writers::Somebody, _) | (_, Holders::Somebody) => Err(Kept::Held),
        (Writers::Unknown, Holders::Unknown) => Err(Kept::Unknown),
        (writers, _) => Ok(writers == Writers::Nobody),
    }
}

/// The folder for private names: ours alone, whoever else may write beside it.
fn open_aside<S: System>(system: &S, folder: &S::Dir, name: &OsStr) -> files::Result<S::Dir> {
    let aside = match system.make_folder(folder, name) {
        Err(error) if error.exists() => system.folder(folder, name)?,
        made => {
            let made = made?;
            // Before anything is in it: a failure of the machine must not leave a file in a folder without a
            // name.
            if !left_out(Step::SyncAside) {
                system.sync_folder(folder)?;
            }
            made
        }
    };
    let found = system.stat_folder(&aside)?;
    let expected = files::Expect::of_user(files::user::effective()).private();
    expected.check(&found).map_err(|why| Error::new(Path::new(name), why))?;
    Ok(aside)
}

impl<D: Clone, F> Aside<D, F> {
    /// Is it the file that was looked at before?
    fn look<S: System<Dir = D, File = F>>(mut self, system: &S) -> Result<Self, Kept> {
        let expected = self.found;
        let found = match system.look(&self.aside, &self.name) {
            Ok(found) => found,
            Err(error) => return Err(Kept::failed(&error)),
        };
        let same = stamp_of(&found).is_renamed(&stamp_of(&expected)) || left_out(Step::LookAtAside);
        self.found = found;
        if same && !self.is_waited_for(system) {
            return Ok(self);
        }
        match self.put_back(system) {
            Ok(_) => Err(Kept::Changed),
            Err(why) => Err(Kept::Failed(why)),
        }
    }

    /// Does somebody wait for the lease, to write to the file?
    fn is_waited_for<S: System<Dir = D, File = F>>(&self, system: &S) -> bool {
        let lease = self.file.as_ref().filter(|_| self.leased && !left_out(Step::Writers));
        lease.is_some_and(|file| !system.keeps_lease(file))
    }

    /// It gets its name back, if nobody else has it by now. Says what it is then.
    fn put_back<S: System<Dir = D, File = F>>(mut self, system: &S) -> Result<Option<Stat>, String> {
        let replace = if left_out(Step::PutBackNoReplace) { Replace::Anything } else { Replace::Never };
        match system.rename(&self.aside, &self.name, &self.folder, &self.name, replace) {
            Ok(()) => {
                // Before the other folder goes, for the same reason.
                let synced = left_out(Step::SyncAside) || system.sync_folder(&self.folder).is_ok();
                let found = system.look(&self.folder, &self.name).ok();
                self.file = None;
                if synced {
                    self.clear(system);
                }
                Ok(found)
            }
            Err(error) if error.is_missing() => Ok(None),
            Err(error) => Err(format!("it could not be put back, and is kept in {}: {error}", self.shown())),
        }
    }

    /// When the file is closed: FUSE keeps names of open files.
    fn clear<S: System<Dir = D, File = F>>(&self, system: &S) {
        // Not as long as there are others in it.
        let _ = system.remove_folder(&self.folder, &self.aside_name);
    }

    fn shown(&self) -> String {
        files::shown(Path::new(&self.aside_name).join(&self.name))
    }
}

/// A while later: remove it if nothing has happened, or put it back.
pub fn finish<S: System>(
    system: &S,
    places: &Places<S::Dir>,
    leaving: &Leaving,
    mut aside: AsideOf<S>,
) -> End {
    if left_out(Step::SetAside) {
        return End::Removed(None);
    }
    if let Err(kept) = may_go(system, places, leaving, &aside) {
        return give_up(system, aside, kept);
    }
    if let Err(error) = system.remove(&aside.aside, &aside.name) {
        return give_up(system, aside, Kept::failed(&error));
    }
    let others = aside.file.take().and_then(|file| system.stat(&file).ok()).filter(|found| found.names > 0);
    aside.clear(system);
    End::Removed(others.map(|found| Stamp::of(&found)))
}

/// Is it still what it was, can nobody write to it, and is the copy what was verified?
fn may_go<S: System>(
    system: &S,
    places: &Places<S::Dir>,
    leaving: &Leaving,
    aside: &AsideOf<S>,
) -> Result<(), Kept> {
    let failed = |error: Error| Kept::failed(&error);
    let unchanged = |found: &Stat| left_out(Step::LookAtAside) || stamp_of(found) == stamp_of(&aside.found);
    let (folder, name) = parent(system, &places.storage, &leaving.path).map_err(failed)?;
    is_copy(system, &folder, name, leaving)?;
    // The name is still that of the file which was looked at.
    let named = system.look(&aside.aside, &aside.name).map_err(failed)?;
    if !unchanged(&named) {
        return Err(Kept::Changed);
    }
    let Some(file) = &aside.file else {
        let leads_to = system.read_link(&aside.aside, &aside.name).map_err(failed)?;
        let copy = system.read_link(&folder, name).map_err(failed)?;
        return if leads_to == copy { Ok(()) } else { Err(Kept::Changed) };
    };
    if aside.is_waited_for(system) {
        return Err(Kept::Held);
    }
    // Whoever can be seen, also of those who only read.
    match system.holders(&aside.found) {
        Holders::Nobody => {}
        Holders::Unknown if aside.leased => {}
        Holders::Somebody if left_out(Step::Writers) => {}
        Holders::Somebody => return Err(Kept::Held),
        Holders::Unknown => return Err(Kept::Unknown),
    }
    let is_told = leaving.made.sealed && aside.leased;
    if !is_told && !left_out(Step::CompareContent) {
        let now = system.checksum(file, aside.found.size).map_err(|stop| match stop {
            Stop::Failed(why) => Kept::Failed(why),
            _ => Kept::Changed,
        })?;
        if leaving.made.checksum != Some(now) {
            return Err(Kept::Changed);
        }
    }
    // Nobody waits to open it; and where there is no lease, nobody has written meanwhile.
    let last = system.stat(file).map_err(failed)?;
    if aside.is_waited_for(system) || !unchanged(&last) {
        return Err(Kept::Held);
    }
    Ok(())
}

/// Put it back, whatever it is: the process ends.
pub fn take_back<S: System>(system: &S, aside: AsideOf<S>) -> End {
    give_up(system, aside, Kept::Failed("interrupted".into()))
}

/// Put it back; whether it was surely not written to is known by the lease. Who waits for that goes on with
/// the file under its own name.
fn give_up<S: System>(system: &S, aside: AsideOf<S>, why: Kept) -> End {
    let unwritten = aside.leased && why != Kept::Changed && !aside.is_waited_for(system);
    let before = aside.before;
    match aside.put_back(system) {
        Ok(found) => {
            let version = found.map(|found| Stamp::of(&found)).filter(|_| unwritten);
            End::PutBack(why, version.filter(|version| version.is_renamed(&before)))
        }
        Err(why) => End::Stays(why),
    }
}

impl Kept {
    fn failed(error: &Error) -> Self {
        match error.errno() {
            Some(Errno::NOENT) => Kept::Gone,
            // A lease of somebody else's.
            Some(Errno::AGAIN) => Kept::Held,
            _ if matches!(error.why, Why::Link | Why::NotRegular) => Kept::Changed,
            _ => Kept::Failed(error.to_string()),
        }
    }
}

/// What evicting was once: a look at the name, and then its removal. The model must find what is wrong with
/// it.
#[cfg(test)]
fn look_and_remove<S: System>(
    system: &S,
    folder: &S::Dir,
    name: &OsStr,
    before: Stamp,
) -> Result<AsideOf<S>, Kept> {
    let found = system.look(folder, name).map_err(|error| Kept::failed(&error))?;
    if stamp_of(&found) != before {
        return Err(Kept::Changed);
    }
    let file = system.open(folder, name).map_err(|error| Kept::failed(&error))?;
    nobody_has(system, &file)?;
    drop(file);
    system.remove(folder, name).map_err(|error| Kept::failed(&error))?;
    let (folder, name) = (folder.clone(), name.to_owned());
    let (file, leased) = (None, false);
    Ok(Aside {
        aside: folder.clone(),
        folder,
        aside_name: OsString::new(),
        name,
        file,
        leased,
        found,
        before,
    })
}
