//! A copy of one file: draft, attributes, verification, name.

use super::data::{self, Ends};
use super::flow::{Flow, Pace};
use super::stop::Stop;
use crate::stamp::Stamp;
use rustix::fs::{Advice, Gid, OFlags, Timespec, Timestamps, Uid, fadvise, fchown, futimens, statvfs};
use std::fs::{self, File, Metadata, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;

/// How a draft is made.
pub(super) struct Making<'a> {
    pub flow: &'a Flow,
    pub pace: &'a mut Pace,
    pub progress: &'a AtomicU64,
    pub checksum: bool,
}

impl Making<'_> {
    /// Copy a regular file to a new draft. Returns the version that was copied, and the checksum if compared.
    pub fn make(
        &mut self,
        source: &Path,
        draft: &Path,
        expected: Option<Stamp>,
    ) -> Result<(Stamp, Option<u64>), Stop> {
        let (opened, meta) = open(source, expected)?;
        let writing = |error: &io::Error| Stop::writing(draft, error);
        has_room(draft, &meta)?;
        let target = OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(draft);
        let target = target.map_err(|error| writing(&error))?;
        let ends = Ends { source: (&opened, source), target: (&target, draft) };
        let checksum = data::copy(ends, meta.size(), self.checksum, self.flow, self.pace, self.progress)?;
        self.finish(&opened, &target, (source, draft), &meta, checksum)
    }

    /// The data is there: attributes, everything on the storage, and verification.
    pub fn finish(
        &mut self,
        opened: &File,
        target: &File,
        (source, draft): (&Path, &Path),
        meta: &Metadata,
        checksum: Option<u64>,
    ) -> Result<(Stamp, Option<u64>), Stop> {
        let writing = |error: &io::Error| Stop::writing(draft, error);
        // Only the administrator may give files away.
        let owner = (Some(Uid::from_raw(meta.uid())), Some(Gid::from_raw(meta.gid())));
        let _ = fchown(target, owner.0, owner.1);
        target
            .set_permissions(Permissions::from_mode(meta.mode() & 0o7777))
            .map_err(|error| writing(&error))?;
        let times = Timestamps {
            last_access: time(meta.atime(), meta.atime_nsec()),
            last_modification: time(meta.mtime(), meta.mtime_nsec()),
        };
        futimens(target, &times).map_err(|error| writing(&error.into()))?;
        target.sync_all().map_err(|error| writing(&error))?;
        let _ = fadvise(target, 0, None, Advice::DontNeed);
        if let Some(expected) = checksum {
            let found = data::checksum((target, draft), opened, meta.size(), self.flow, self.pace)?;
            if found != expected {
                let why = format!("{}: the copy reads differently than it was written", draft.display());
                return Err(Stop::Failed(why));
            }
        }
        // The same version as before, still under its name; and the copy is like it.
        let stamp = Stamp::of(meta);
        let now = opened.metadata().map_err(|error| Stop::reading(source, &error))?;
        let named = fs::symlink_metadata(source).map_err(|error| Stop::reading(source, &error))?;
        if Stamp::of(&now) != stamp || Stamp::of(&named) != stamp {
            return Err(Stop::Changed);
        }
        let made = target.metadata().map_err(|error| writing(&error))?;
        if made.size() != stamp.size || made.mtime() != meta.mtime() {
            let why = format!(
                "{}: expected {} bytes of time {}, found {} of {}",
                draft.display(),
                stamp.size,
                meta.mtime(),
                made.size(),
                made.mtime()
            );
            return Err(Stop::Failed(why));
        }
        Ok((stamp, checksum))
    }
}

/// Open a regular file that is the version which is meant.
pub(super) fn open(path: &Path, expected: Option<Stamp>) -> Result<(File, Metadata), Stop> {
    let reading = |error: &io::Error| Stop::reading(path, error);
    // A pipe that took the place of the file is not waited for.
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let opened = OpenOptions::new().read(true).custom_flags(flags.bits() as i32).open(path);
    let file = opened.map_err(|error| reading(&error))?;
    let meta = file.metadata().map_err(|error| reading(&error))?;
    if !meta.is_file() {
        return Err(Stop::Failed(format!("{}: is not a regular file", path.display())));
    }
    if expected.is_some_and(|expected| expected != Stamp::of(&meta)) {
        return Err(Stop::Changed);
    }
    Ok((file, meta))
}

/// Is there room for the data of a file?
pub(super) fn has_room(draft: &Path, meta: &Metadata) -> Result<(), Stop> {
    let needed = meta.size().min(meta.blocks().saturating_mul(512));
    let free = statvfs(folder(draft)).map(|found| found.f_bavail.saturating_mul(found.f_frsize));
    if free.is_ok_and(|free| free < needed) { Err(Stop::Full) } else { Ok(()) }
}

/// A symbolic link as it is.
pub(super) fn link(source: &Path, draft: &Path, expected: Option<Stamp>) -> Result<Stamp, Stop> {
    let reading = |error: &io::Error| Stop::reading(source, error);
    let meta = fs::symlink_metadata(source).map_err(|error| reading(&error))?;
    let stamp = Stamp::of(&meta);
    if !meta.is_symlink() || expected.is_some_and(|expected| expected != stamp) {
        return Err(Stop::Changed);
    }
    let leads_to = fs::read_link(source).map_err(|error| reading(&error))?;
    symlink(leads_to, draft).map_err(|error| Stop::writing(draft, &error))?;
    Ok(stamp)
}

/// Another name of a file whose copy is `same`.
pub(super) fn second_name(
    source: &Path,
    same: &Path,
    draft: &Path,
    expected: Option<Stamp>,
) -> Result<Stamp, Stop> {
    let (_, meta) = open(source, expected)?;
    let copy = fs::symlink_metadata(same).map_err(|error| Stop::reading(same, &error))?;
    if !copy.is_file() || (copy.size(), copy.mtime()) != (meta.size(), meta.mtime()) {
        return Err(Stop::Changed);
    }
    fs::hard_link(same, draft).map_err(|error| Stop::writing(draft, &error))?;
    Ok(Stamp::of(&meta))
}

/// The draft becomes the copy. Returns which version that is. The name need not be on the storage before the
/// file is removed from the buffer: see [`keep_name`].
pub(super) fn give_name(draft: &Path, target: &Path) -> Result<Stamp, Stop> {
    let writing = |error: &io::Error| Stop::writing(target, error);
    fs::rename(draft, target).map_err(|error| writing(&error))?;
    // Two names of one file: renaming one to the other does nothing.
    let _ = fs::remove_file(draft);
    fs::symlink_metadata(target).map(|meta| Stamp::of(&meta)).map_err(|error| writing(&error))
}

/// Brings the name of a copy to the storage, whatever happens to the machine. To be done before the original
/// is removed; not for every copy, because it takes as long as copying some megabytes.
///
/// # Errors
///
/// The folder cannot be opened or synchronised.
pub fn keep_name(copy: &Path) -> io::Result<()> {
    File::open(folder(copy))?.sync_all()
}

/// The folders of a file, as open to others as those that they come from.
pub(super) fn make_folders(from: &Path, to: &Path, path: &Path) -> Result<(), Stop> {
    let mut folder = PathBuf::new();
    for part in path.parent().unwrap_or(Path::new("")).components() {
        folder.push(part);
        let made = to.join(&folder);
        if made.is_dir() {
            continue;
        }
        let meta =
            fs::metadata(from.join(&folder)).map_err(|error| Stop::reading(&from.join(&folder), &error))?;
        match fs::create_dir(&made) {
            Ok(()) => {
                let owner = (Some(Uid::from_raw(meta.uid())), Some(Gid::from_raw(meta.gid())));
                let _ = rustix::fs::chown(&made, owner.0, owner.1);
                let _ = fs::set_permissions(&made, Permissions::from_mode(meta.mode() & 0o7777));
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && made.is_dir() => {}
            Err(error) => return Err(Stop::writing(&made, &error)),
        }
    }
    Ok(())
}

fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn time(seconds: i64, nanoseconds: i64) -> Timespec {
    Timespec { tv_sec: seconds, tv_nsec: nanoseconds as _ }
}
