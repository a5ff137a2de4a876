//! The two folders, those below them, and the names that staging uses in them.

use crate::plan::Direction;
use crate::scan::DRAFT;
use crate::stop::Stop;
use crate::system::System;
use files::Result;
use std::collections::HashSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// The ending of folders with files that are about to be removed.
const ASIDE: &str = ".aside";

/// Is this the name of a draft: `.ftio-stage.HOST.PID.NUMBER`? Other names that begin like it are the user's.
pub fn is_draft(name: &OsStr) -> bool {
    let Some(rest) = name.to_str().and_then(|name| name.strip_prefix(DRAFT)) else { return false };
    let is_number = |field: Option<&str>| {
        field.is_some_and(|field| !field.is_empty() && field.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let mut fields = rest.rsplitn(3, '.');
    is_number(fields.next()) && is_number(fields.next()) && fields.next().is_some_and(is_host)
}

/// Is this the name of a folder with files that are about to be removed, of whatever host?
pub fn is_aside(name: &OsStr) -> bool {
    let rest = name.to_str().and_then(|name| name.strip_prefix(DRAFT)?.strip_suffix(ASIDE));
    rest.is_some_and(is_host)
}

/// The name of such a folder of this host.
pub fn aside_name(host: &str) -> String {
    format!("{DRAFT}{host}{ASIDE}")
}

fn is_host(name: &str) -> bool {
    let fine = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    !name.is_empty() && name.bytes().all(fine)
}

/// The two folders, open.
#[derive(Clone, Debug)]
pub struct Places<D> {
    /// The burst buffer.
    pub buffer: D,
    /// Where files go when they leave it.
    pub storage: D,
}

impl<D> Places<D> {
    /// Where a file comes from, and where it goes.
    pub fn ends(&self, direction: Direction) -> (&D, &D) {
        match direction {
            Direction::Out => (&self.buffer, &self.storage),
            Direction::In => (&self.storage, &self.buffer),
        }
    }
}

/// The folder that has this path's last name in it, and the name.
pub(super) fn parent<'a, S: System>(system: &S, top: &S::Dir, path: &'a Path) -> Result<(S::Dir, &'a OsStr)> {
    let mut folder = top.clone();
    for name in path.parent().unwrap_or(Path::new("")) {
        folder = system.folder(&folder, name)?;
    }
    Ok((folder, name_of(path)))
}

/// The last name of a path that has one.
pub(super) fn name_of(path: &Path) -> &OsStr {
    path.file_name().unwrap_or_default()
}

/// The folders of a file at both ends. Those that are missing where it goes are made, as open to others as
/// those that they come from. A folder there that is a link, or belongs to where the file comes from, is
/// refused by name.
pub(super) fn both_parents<S: System>(
    system: &S,
    (from, to): (&S::Dir, &S::Dir),
    path: &Path,
    made_folder: &mut dyn FnMut(),
) -> std::result::Result<(S::Dir, S::Dir), Stop> {
    let (mut source, mut target) = (from.clone(), to.clone());
    let tops = Tops { from: identity(system, from)?, to: identity(system, to)? };
    let mut so_far = PathBuf::new();
    tops.check(tops.from, tops.to, Path::new("."))?;
    for name in path.parent().unwrap_or(Path::new("")) {
        so_far.push(name);
        source = system.folder(&source, name).map_err(Stop::reading)?;
        target = match system.folder(&target, name) {
            Err(error) if error.is_missing() => match system.make_folder(&target, name) {
                Ok(made) => {
                    made_folder();
                    system.dress_folder(&source, &made).map_err(Stop::writing)?;
                    made
                }
                Err(error) if error.exists() => system.folder(&target, name).map_err(Stop::writing)?,
                Err(error) => return Err(Stop::writing(error)),
            },
            found => found.map_err(Stop::writing)?,
        };
        tops.check(identity(system, &source)?, identity(system, &target)?, &so_far)?;
        if let Some(why) = system.leads_elsewhere(&target).or_else(|| system.leads_elsewhere(&source)) {
            return Err(Stop::Failed(why));
        }
    }
    Ok((source, target))
}

/// A folder, whatever its path: file system and number.
type Identity = (u64, u64);

fn identity<S: System>(system: &S, folder: &S::Dir) -> std::result::Result<Identity, Stop> {
    Ok(system.stat_folder(folder).map_err(Stop::reading)?.identity())
}

/// The two folders themselves: whoever comes by one on the way below the other is in the wrong place, by
/// whatever mount.
struct Tops {
    from: Identity,
    to: Identity,
}

impl Tops {
    fn check(&self, source: Identity, target: Identity, path: &Path) -> std::result::Result<(), Stop> {
        let why = if source == target {
            "is the same folder at both ends"
        } else if source == self.to || target == self.from {
            "is one of the two folders --from and --to, seen inside the other"
        } else {
            return Ok(());
        };
        Err(Stop::Failed(format!("{}: {why}", files::shown(path))))
    }
}

/// Folders whose names have reached the disk in the life of this process: they need not be brought there
/// again.
pub type Durable = HashSet<(u64, u64)>;

/// The names in this folder reach the disk, and those of all folders that it is in, up to the mount: any of
/// them may have been made by us, or by a process of ours that was killed.
pub(super) fn make_durable<S: System>(system: &S, folder: &S::Dir, known: &mut Durable) -> Result<()> {
    use super::{Step, left_out};
    if !left_out(Step::SyncFolder) {
        system.sync_folder(folder)?;
    }
    let mut at = folder.clone();
    let mut new = Vec::new();
    while !left_out(Step::SyncFoldersAbove) && !known.contains(&system.stat_folder(&at)?.identity()) {
        new.push(system.stat_folder(&at)?.identity());
        let Some(above) = system.above(&at)? else { break };
        system.sync_folder(&above)?;
        at = above;
    }
    known.extend(new);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drafts_are_told_from_files_of_the_user() {
        let draft = |name: &str| is_draft(OsStr::new(name));
        assert!(draft(".ftio-stage.node-1.123.4") && draft(".ftio-stage.h.1.1"));
        for name in [
            ".ftio-stage.user",
            ".ftio-stage.h.1",
            ".ftio-stage.h.1.x",
            ".ftio-stage..1.1",
            ".ftio-stage.h..1",
            ".ftio-stage.a b.1.1",
            "ftio-stage.h.1.1",
            ".ftio-stage.h.1.1.journal",
        ] {
            assert!(!draft(name), "{name}");
        }
        assert!(is_aside(OsStr::new(&aside_name("node-1"))) && !is_draft(OsStr::new(&aside_name("1.1"))));
        assert!(!is_aside(OsStr::new(".ftio-stage..aside")) && !is_aside(OsStr::new("aside")));
    }
}
