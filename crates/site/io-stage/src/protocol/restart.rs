//! What a process that was killed has left: drafts go, and files that were set aside get their names back.

use super::copy::Replaced;
use super::evict::{End, Leaving, finish, resume};
use super::folders::{Durable, Places, is_aside, is_draft, parent};
use crate::plan::{Direction, Kind as What};
use crate::stamp::Stamp;
use crate::system::System;
use files::{Expect, Kind, Replace, Stat, user};
use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

/// What was done.
#[derive(Debug, Default)]
pub struct InOrder {
    /// Drafts that are done with: they need not be looked for again.
    pub drafts: Vec<Begun>,
    /// How many of them were there.
    pub removed: usize,
    /// Files that were set aside, whose names others have by now, and that were what was copied: they are
    /// gone.
    pub evicted: Vec<PathBuf>,
    /// What could not be done, in words.
    pub problems: Vec<String>,
}

/// Put everything in order that an earlier process has left: drafts that it began, and files that it set
/// aside. `known` tells what was copied under a path. `rest` is called before anything is removed from the
/// buffer.
pub fn put_in_order<S: System>(
    system: &S,
    places: &Places<S::Dir>,
    drafts: &[Begun],
    known: impl Fn(&Path, What) -> Vec<Leaving>,
    aside_name: &str,
    rest: impl FnOnce(),
) -> files::Result<InOrder> {
    let left = put_back_all(system, &places.buffer, aside_name)?;
    let mut done = InOrder { problems: left.problems, ..InOrder::default() };
    for begun in drafts {
        match remove_draft(system, places, begun) {
            Ok(Draft::Stays(why)) => done.problems.push(why),
            Ok(draft) => {
                done.removed += usize::from(draft == Draft::Removed);
                done.drafts.push(begun.clone());
            }
            Err(error) => done.problems.push(error.to_string()),
        }
    }
    let mut waiting = Vec::new();
    for (path, kind) in left.superseded {
        let mut resumed = known(&path, kind).into_iter().filter_map(|leaving| {
            let set = resume(system, places, &leaving, aside_name, &mut Durable::new()).ok()?;
            Some((leaving, set))
        });
        match resumed.next() {
            Some(set) => waiting.push(set),
            None => done.problems.push(stays(&path, aside_name)),
        }
    }
    if !waiting.is_empty() {
        rest();
    }
    for (leaving, set) in waiting {
        let path = leaving.path.clone();
        match finish(system, places, &leaving, set) {
            End::Removed(_) => done.evicted.push(path),
            // Another file has its name still, or it has it again.
            End::PutBack(..) => {}
            End::Stays(_) => done.problems.push(stays(&path, aside_name)),
        }
    }
    Ok(done)
}

/// A file that is not what was copied, and whose name another has.
fn stays(path: &Path, aside_name: &str) -> String {
    let folder = path.parent().unwrap_or(Path::new("")).join(aside_name);
    format!(
        "{}: an older version, which was never copied, is kept in {}",
        files::shown(path),
        files::shown(folder)
    )
}

/// A draft that was begun.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Begun {
    /// Which way the file went: its draft is below the folder that it went to.
    pub direction: Direction,
    /// The path of the draft.
    pub path: PathBuf,
    /// It was about to take the place of an older file: then that may have the draft's name.
    pub replaces: Option<Replaced>,
}

/// What was done with a draft.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Draft {
    /// It is removed.
    Removed,
    /// There was none.
    Missing,
    /// It is not ours, in words, and stays.
    Stays(String),
}

/// Remove a draft that an earlier process has begun. Only what is named like one, and lies below the folder,
/// is touched: whatever a journal says.
fn remove_draft<S: System>(system: &S, places: &Places<S::Dir>, begun: &Begun) -> files::Result<Draft> {
    let is_plain = begun.path.components().all(|part| matches!(part, Component::Normal(_)));
    let shown = || files::shown(&begun.path);
    if !is_plain || !begun.path.file_name().is_some_and(is_draft) {
        return Ok(Draft::Stays(format!("{}: is not a draft below the folder", shown())));
    }
    let (folder, name) = match parent(system, places.ends(begun.direction).1, &begun.path) {
        Err(error) if error.is_missing() => return Ok(Draft::Missing),
        found => found?,
    };
    let found = match system.look(&folder, name) {
        Err(error) if error.is_missing() => return Ok(Draft::Missing),
        found => found?,
    };
    if !is_ours(&found)
        || found.kind == Kind::Folder
        || !give_place_back(system, &folder, name, &found, begun)?
    {
        let why = "is not what was begun there, and stays; rename or remove it";
        return Ok(Draft::Stays(format!("{}: {why}", shown())));
    }
    system.remove(&folder, name)?;
    Ok(Draft::Removed)
}

/// Root may have given a draft to the user whose file it is a copy of.
fn is_ours(file: &Stat) -> bool {
    user::is_root() || file.user == user::effective()
}

/// If a draft and a file had changed places, and that was not the one that was to be replaced, it gets its
/// place back. Says whether what has the draft's name now may be removed.
fn give_place_back<S: System>(
    system: &S,
    folder: &S::Dir,
    name: &OsStr,
    found: &Stat,
    begun: &Begun,
) -> files::Result<bool> {
    let Some(change) = &begun.replaces else { return Ok(true) };
    let is_draft = |stat: &Stat| (stat.device, stat.inode) == (change.draft.device, change.draft.inode);
    if is_draft(found) || Stamp::of(found).is_renamed(&change.old) {
        return Ok(true);
    }
    let path = PathBuf::from(change.path.clone());
    let Some(place) = path.file_name() else { return Ok(false) };
    if system.look(folder, place).is_ok_and(|there| is_ours(&there) && is_draft(&there)) {
        system.exchange(folder, name, place)?;
        return Ok(system.look(folder, name).is_ok_and(|now| is_draft(&now)));
    }
    Ok(false)
}

/// What was not put back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Left {
    /// Paths whose names other files have by now.
    superseded: Vec<(PathBuf, What)>,
    /// Anything else, in words.
    problems: Vec<String>,
}

/// Files that were set aside below this folder get their names back.
fn put_back_all<S: System>(system: &S, top: &S::Dir, aside_name: &str) -> files::Result<Left> {
    let mut left = Left::default();
    let mut folders = vec![(top.clone(), PathBuf::new())];
    while let Some((folder, path)) = folders.pop() {
        let Ok(names) = system.names(&folder) else { continue };
        for (name, kind) in names {
            let is_folder = || system.look(&folder, &name).is_ok_and(|found| found.kind == Kind::Folder);
            if !kind.map_or_else(is_folder, |kind| kind == Kind::Folder) {
                continue;
            }
            let Ok(inner) = system.folder(&folder, &name) else { continue };
            match is_aside(&name) {
                true if name == OsStr::new(aside_name) => {
                    put_back(system, (&folder, &path), (&inner, &name), &mut left)?;
                }
                true => {}
                false => folders.push((inner, path.join(&name))),
            }
        }
    }
    Ok(left)
}

fn put_back<S: System>(
    system: &S,
    (folder, path): (&S::Dir, &Path),
    (aside, aside_name): (&S::Dir, &OsStr),
    left: &mut Left,
) -> files::Result<()> {
    let expected = Expect::of_user(files::user::effective()).private();
    let shown = |name: &OsStr| files::shown(path.join(aside_name).join(name));
    if let Err(why) = expected.check(&system.stat_folder(aside)?) {
        left.problems.push(format!("{}: {why}", shown(OsStr::new(""))));
        return Ok(());
    }
    for (name, _) in system.names(aside)? {
        match system.rename(aside, &name, folder, &name, Replace::Never) {
            Err(error) if error.exists() => {
                let is_link = system.look(aside, &name).is_ok_and(|found| found.kind == Kind::Link);
                left.superseded.push((path.join(&name), if is_link { What::Link } else { What::File }));
            }
            Err(error) if !error.is_missing() => left.problems.push(error.to_string()),
            _ => {}
        }
    }
    // Names reach the disk before the folder goes.
    system.sync_folder(folder)?;
    let _ = system.remove_folder(folder, aside_name);
    Ok(())
}
