//! A copy: a draft, which is verified and gets its name.

use super::folders::{Places, both_parents, name_of, parent};
use super::{Step, left_out};
use crate::name::Name;
use crate::plan::{Direction, Kind};
use crate::stamp::Stamp;
use crate::stop::Stop;
use crate::system::{System, Writers};
use files::{Error, Replace, Stat};
use serde::{Deserialize, Serialize};
use std::ffi::OsStr;
use std::path::Path;

/// What is to be copied.
#[derive(Clone, Copy, Debug)]
pub struct Order<'a> {
    /// Which way.
    pub direction: Direction,
    /// Its path below the folders.
    pub path: &'a Path,
    /// File or link.
    pub kind: Kind,
    /// The version that is meant; `None`: whichever is there.
    pub expected: Option<Stamp>,
    /// The copy that was made before, if there is one: it may be replaced.
    pub before: Option<&'a Made>,
    /// Another name of the same file, and its copy: a second name for that is enough.
    pub same_as: Option<(&'a Path, &'a Made)>,
    /// Read the copy back.
    pub read_back: bool,
}

/// A copy that was verified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Made {
    /// The version that was copied.
    pub source: Stamp,
    /// The version that the copy is.
    pub target: Stamp,
    /// The checksum of what was read, if it was taken.
    pub checksum: Option<u64>,
    /// Nobody could write to the source while it was read, and its time of change tells whether anybody has
    /// since: otherwise its content is compared before it is removed.
    pub sealed: bool,
    /// What could not be kept.
    pub lost: Vec<String>,
}

/// What is noted about a copy, before it is done.
pub trait Notes {
    /// A draft is about to be made below the folder that the file goes to.
    fn draft(&mut self, direction: Direction, path: &Path) -> Result<(), Stop>;
    /// The draft is about to take the place of an older file, which will then have the draft's name.
    fn replaces(&mut self, direction: Direction, draft: &Path, change: &Replaced) -> Result<(), Stop>;
    /// It was thrown away.
    fn dropped(&mut self, direction: Direction, path: &Path) -> Result<(), Stop>;
    /// A folder was made: its name is not on the disk yet.
    fn made_folder(&mut self);
}

/// A draft, and the older file that it replaces.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Replaced {
    /// The path of the older file.
    pub path: Name,
    /// The draft.
    pub draft: Stamp,
    /// The older file.
    pub old: Stamp,
}

/// Copy a file or a link under the name of a draft, verify it, and give it its name.
pub fn copy<S: System>(
    system: &S,
    places: &Places<S::Dir>,
    order: &Order<'_>,
    draft: &OsStr,
    notes: &mut impl Notes,
) -> Result<Made, Stop> {
    let ends = places.ends(order.direction);
    let (from, to) = both_parents(system, ends, order.path, &mut || notes.made_folder())?;
    let draft_path = order.path.with_file_name(draft);
    notes.draft(order.direction, &draft_path)?;
    let mut copy = Copy { system, places, order, from, to, draft, draft_path: &draft_path, exchanged: false };
    match copy.make(notes) {
        // The draft's name is that of another file, which could not be given its own back.
        Err(stop) if copy.exchanged => Err(stop),
        Err(stop) => {
            copy.forget_draft()?;
            notes.dropped(order.direction, &draft_path)?;
            // An open file whose name is removed looks changed, by its number of names.
            Err(if stop == Stop::Changed && copy.is_gone() { Stop::Vanished } else { stop })
        }
        made => made,
    }
}

/// A copy under way.
struct Copy<'a, S: System> {
    system: &'a S,
    places: &'a Places<S::Dir>,
    order: &'a Order<'a>,
    /// The folders at both ends.
    from: S::Dir,
    to: S::Dir,
    draft: &'a OsStr,
    draft_path: &'a Path,
    /// The draft has changed places with an older file.
    exchanged: bool,
}

impl<'a, S: System> Copy<'a, S> {
    fn name(&self) -> &'a OsStr {
        name_of(self.order.path)
    }

    /// What went wrong with the file that is read.
    fn reading(&self) -> impl Fn(Error) -> Stop + use<'a, S> {
        let path = self.order.path;
        move |error| Stop::reading(named(error, path))
    }

    /// What went wrong with the copy.
    fn writing(&self) -> impl Fn(Error) -> Stop + use<'a, S> {
        let path = self.order.path;
        move |error| Stop::writing(named(error, path))
    }

    /// The name of the file that is read does not exist any more.
    fn is_gone(&self) -> bool {
        self.system.look(&self.from, self.name()).is_err_and(|error| error.is_missing())
    }

    fn make(&mut self, notes: &mut impl Notes) -> Result<Made, Stop> {
        let in_the_way = self.in_the_way()?;
        let (made, draft) = match (self.order.kind, self.order.same_as) {
            (Kind::Link, _) => self.link()?,
            // If that fails, there is still the usual way.
            (Kind::File, Some((path, same))) => match self.second_name(path, same) {
                Ok(made) => made,
                Err(_) => {
                    self.forget_draft()?;
                    self.file()?
                }
            },
            (Kind::File, None) => self.file()?,
        };
        self.may_replace(in_the_way.as_ref(), &made.source)?;
        let target = self.give_name(&draft, in_the_way, notes)?;
        Ok(Made { target, ..made })
    }

    /// What has the name where the copy goes.
    fn in_the_way(&self) -> Result<Option<Stat>, Stop> {
        match self.system.look(&self.to, self.name()) {
            Ok(_) if self.order.direction == Direction::In && !left_out(Step::NoReplaceInwards) => {
                Err(Stop::Exists)
            }
            Ok(found) => Ok(Some(found)),
            Err(error) if error.is_missing() => Ok(None),
            Err(error) => Err(self.writing()(error)),
        }
    }

    /// Only what is older than the source, or was copied by us, gives way.
    fn may_replace(&self, old: Option<&Stat>, source: &Stamp) -> Result<(), Stop> {
        let Some(old) = old else { return Ok(()) };
        // A version that is older than the one that was copied has come back by a failure of the machine.
        let is_later = |made: &Made| made.target == Stamp::of(old) && made.source.changed <= source.changed;
        let is_ours = self.order.before.is_some_and(is_later);
        let name = files::shown(self.order.path);
        if old.kind == files::Kind::Folder {
            return Err(Stop::Failed(format!("{name}: is a folder at the destination")));
        }
        if !is_ours && old.modified > source.modified && !left_out(Step::LookAtReplaced) {
            let why = "is newer at the destination, and stays: rename or remove one of the two";
            return Err(Stop::Failed(format!("{name}: {why}")));
        }
        Ok(())
    }

    /// A regular file.
    fn file(&self) -> Result<(Made, Stat), Stop> {
        let system = self.system;
        let source = system.open(&self.from, self.name()).map_err(self.reading())?;
        let first = system.stat(&source).map_err(self.reading())?;
        self.is_expected(&first)?;
        if !left_out(Step::Settle) {
            system.settle(&self.from, &first);
        }
        let sealed_before = self.nobody_writes(&source);
        // From here on every change is told by another stamp.
        let stamp = Stamp::of(&first);
        if stamp_of(&system.stat(&source).map_err(self.reading())?) != stamp_of(&first) {
            return Err(Stop::Changed);
        }
        let can_seal = self.order.direction == Direction::Out && sealed_before && system.tells(&self.from);
        let wants_checksum = self.order.read_back || !can_seal;
        let ends = ((&source, &self.from, self.name()), (&self.to, self.draft));
        let (draft, checksum) = system.produce(ends.0, ends.1, first.size, wants_checksum)?;
        self.is_not_in_the_source()?;
        let lost = system.dress(&source, &draft).map_err(self.writing())?;
        if !left_out(Step::SyncDraft) {
            system.sync(&draft).map_err(self.writing())?;
        }
        if let Some(expected) = checksum.filter(|_| self.order.read_back)
            && system.checksum(&draft, first.size)? != expected
        {
            let name = files::shown(self.order.path);
            return Err(Stop::Failed(format!("{name}: the copy reads differently than it was written")));
        }
        let sealed = can_seal && self.nobody_writes(&source);
        if !sealed && self.order.direction == Direction::Out && !left_out(Step::ReadTwice) {
            // Somebody may write through a mapping, and nothing tells: what was read must be there still.
            if checksum != Some(system.checksum(&source, first.size)?) {
                return Err(Stop::Changed);
            }
        }
        if !left_out(Step::LookAfterCopy) {
            // The same version as before, still under its name.
            let now = system.stat(&source).map_err(self.reading())?;
            let named = system.look(&self.from, self.name()).map_err(self.reading())?;
            if stamp_of(&now) != stamp_of(&first) || stamp_of(&named) != stamp_of(&first) {
                return Err(Stop::Changed);
            }
        }
        let made = system.stat(&draft).map_err(self.writing())?;
        if (made.size, made.modified.div_euclid(SECOND)) != (first.size, first.modified.div_euclid(SECOND)) {
            let name = files::shown(self.order.path);
            return Err(Stop::Failed(format!(
                "{name}: expected {} bytes of time {}, found {} of {} in the copy",
                first.size, first.modified, made.size, made.modified
            )));
        }
        let target = Stamp::of(&made);
        Ok((Made { source: stamp, target, checksum, sealed, lost }, made))
    }

    fn is_expected(&self, found: &Stat) -> Result<(), Stop> {
        let matches = |expected: Stamp| seen(expected) == stamp_of(found);
        if self.order.expected.is_none_or(matches) { Ok(()) } else { Err(Stop::Changed) }
    }

    /// Nobody of this machine has the file open for writing, or mapped so, at this moment.
    fn nobody_writes(&self, file: &S::File) -> bool {
        if left_out(Step::Writers) {
            return true;
        }
        let nobody = self.system.take_lease(file) == Writers::Nobody;
        self.system.give_lease_back(file);
        nobody
    }

    /// Where the draft was made is not, by whatever mount, where the file comes from.
    fn is_not_in_the_source(&self) -> Result<(), Stop> {
        match self.system.look(&self.from, self.draft) {
            Err(error) if error.is_missing() => Ok(()),
            Err(error) => Err(self.reading()(error)),
            Ok(_) => {
                let name = files::shown(self.order.path.parent().unwrap_or(Path::new("")));
                Err(Stop::Failed(format!("{name}: is the same folder at both ends, under two names")))
            }
        }
    }

    /// A symbolic link as it is.
    fn link(&self) -> Result<(Made, Stat), Stop> {
        let system = self.system;
        let found = system.look(&self.from, self.name()).map_err(self.reading())?;
        self.is_expected(&found)?;
        if found.kind != files::Kind::Link {
            return Err(Stop::Changed);
        }
        let leads_to = system.read_link(&self.from, self.name()).map_err(self.reading())?;
        system.symlink(&leads_to, &self.to, self.draft).map_err(self.writing())?;
        let made = system.look(&self.to, self.draft).map_err(self.writing())?;
        let (source, target) = (Stamp::of(&found), Stamp::of(&made));
        Ok((Made { source, target, checksum: None, sealed: false, lost: Vec::new() }, made))
    }

    /// Another name of a file whose copy is known, and is still what was verified.
    fn second_name(&self, path: &Path, same: &Made) -> Result<(Made, Stat), Stop> {
        let system = self.system;
        let source = system.open(&self.from, self.name()).map_err(self.reading())?;
        let first = system.stat(&source).map_err(self.reading())?;
        self.is_expected(&first)?;
        if stamp_of(&first) != seen(same.source) {
            return Err(Stop::Changed);
        }
        let expected = same.target;
        let (folder, name) =
            parent(system, self.places.ends(self.order.direction).1, path).map_err(self.writing())?;
        if Stamp::of(&system.look(&folder, name).map_err(self.writing())?) != expected {
            return Err(Stop::Changed);
        }
        system.link(&folder, name, &self.to, self.draft).map_err(self.writing())?;
        let made = system.look(&self.to, self.draft).map_err(self.writing())?;
        if !Stamp::of(&made).is_renamed(&expected) {
            return Err(Stop::Changed);
        }
        Ok((Made { target: Stamp::of(&made), lost: Vec::new(), ..same.clone() }, made))
    }

    /// The draft becomes the copy. Returns which version that is.
    fn give_name(&mut self, draft: &Stat, old: Option<Stat>, notes: &mut impl Notes) -> Result<Stamp, Stop> {
        let (system, name) = (self.system, self.name());
        match old {
            _ if self.order.direction == Direction::In && left_out(Step::NoReplaceInwards) => {
                system
                    .rename(&self.to, self.draft, &self.to, name, Replace::Anything)
                    .map_err(self.writing())?;
            }
            None => match system.rename(&self.to, self.draft, &self.to, name, Replace::Never) {
                Err(error) if error.exists() && self.order.direction == Direction::In => {
                    return Err(Stop::Exists);
                }
                // Somebody has written it at the destination just now: it is looked at anew.
                Err(error) if error.exists() => return Err(Stop::Changed),
                done => done.map_err(self.writing())?,
            },
            Some(old) => self.take_place_of(draft, &old, notes)?,
        }
        let found = system.look(&self.to, name).map_err(self.writing())?;
        if found.identity() != draft.identity() {
            let name = files::shown(self.order.path);
            return Err(Stop::Failed(format!(
                "{name}: somebody else has put a file in the place of the copy"
            )));
        }
        Ok(Stamp::of(&found))
    }

    /// The draft and what it replaces change places; then what was replaced is looked at again before it is
    /// removed, as it may be another file than before.
    fn take_place_of(&mut self, draft: &Stat, old: &Stat, notes: &mut impl Notes) -> Result<(), Stop> {
        let (system, name) = (self.system, self.name());
        let change = Replaced { path: self.order.path.into(), draft: Stamp::of(draft), old: Stamp::of(old) };
        notes.replaces(self.order.direction, self.draft_path, &change)?;
        match system.exchange(&self.to, self.draft, name) {
            Ok(()) => self.exchanged = true,
            // The file system has no such call: then there is a moment in which another file could be lost.
            Err(error) if is_unsupported(&error) => {
                let done = system.rename(&self.to, self.draft, &self.to, name, Replace::Anything);
                done.map_err(self.writing())?;
                // Two names of one file: renaming one to the other does nothing.
                return self.forget_draft();
            }
            Err(error) if error.is_missing() => {
                let done = system.rename(&self.to, self.draft, &self.to, name, Replace::Never);
                return done.map_err(self.writing());
            }
            Err(error) => return Err(self.writing()(error)),
        }
        let displaced = system.look(&self.to, self.draft).map(|found| Stamp::of(&found));
        let expected = |found: &Stamp| found.is_renamed(&change.old) || left_out(Step::LookAtReplaced);
        if displaced.as_ref().is_ok_and(expected) {
            self.forget_draft()?;
            self.exchanged = false;
            return Ok(());
        }
        system.exchange(&self.to, self.draft, name).map_err(self.writing())?;
        self.exchanged = false;
        let name = files::shown(self.order.path);
        Err(Stop::Failed(format!("{name}: was written at the destination just now, and stays")))
    }

    fn forget_draft(&self) -> Result<(), Stop> {
        match self.system.remove(&self.to, self.draft) {
            Err(error) if !error.is_missing() => Err(self.writing()(error)),
            _ => Ok(()),
        }
    }
}

/// Copies keep times to the second at least.
const SECOND: i64 = 1_000_000_000;

fn is_unsupported(error: &files::Error) -> bool {
    use rustix::io::Errno;
    matches!(error.errno(), Some(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP))
}

/// A message names the file, also if only its handle was at hand.
fn named(error: Error, path: &Path) -> Error {
    if error.path.as_os_str().is_empty() { Error { path: path.to_owned(), ..error } } else { error }
}

/// The stamp of a file, for comparisons.
pub(super) fn stamp_of(stat: &Stat) -> Stamp {
    seen(Stamp::of(stat))
}

/// A stamp as it is compared.
pub(super) fn seen(stamp: Stamp) -> Stamp {
    if left_out(Step::TimeOfChange) { Stamp { changed: 0, ..stamp } } else { stamp }
}
