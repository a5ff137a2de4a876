//! The directory of data is for its owner alone, whatever the umask says: it holds commands, paths and file
//! names of all users.

use anyhow::{Context, bail};
use rustix::process::geteuid;
use std::fs::{DirBuilder, File, Metadata, OpenOptions, Permissions};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

const FOLDER_MODE: u32 = 0o700;
const FILE_MODE: u32 = 0o600;
/// Everybody else.
const MODE_OF_OTHERS: u32 = 0o077;
/// Everybody else may write.
const WRITABLE: u32 = 0o022;

/// A folder for its owner alone; it may be there already.
pub fn private_folder(path: &Path) -> std::io::Result<()> {
    DirBuilder::new().recursive(true).mode(FOLDER_MODE).create(path)
}

/// A file for its owner alone, to append to; it may be there already.
pub fn private_file(path: &Path) -> std::io::Result<File> {
    let file = OpenOptions::new().append(true).create(true).mode(FILE_MODE).open(path)?;
    let about = file.metadata()?;
    // What is no file, say a device, has modes of its own.
    if about.is_file() && about.mode() & MODE_OF_OTHERS != 0 {
        file.set_permissions(Permissions::from_mode(FILE_MODE))?;
    }
    Ok(file)
}

/// Make the directory of data, or take one that is there: it must be ours, and nobody else's from now on. How
/// many files and folders were open to others.
pub fn make_private(data: &Path) -> anyhow::Result<usize> {
    private_folder(data)?;
    // By its handle, so that all this is about one directory.
    let folder = File::open(data)?;
    let about = folder.metadata()?;
    let own = geteuid().as_raw();
    if about.uid() != own {
        bail!(
            "it belongs to {}, and the service runs as {}: run it as that user, or use another directory \
             (--data)",
            crate::users::name(about.uid()),
            crate::users::name(own)
        );
    }
    let mode = about.mode();
    let mut narrowed = usize::from(mode & MODE_OF_OTHERS != 0);
    if narrowed > 0 {
        folder.set_permissions(Permissions::from_mode(FOLDER_MODE))?;
    }
    // What others could put here is not taken for ours. Where they could not even look, series need no walk.
    let (suspicious, wide) = (mode & WRITABLE != 0, mode & MODE_OF_OTHERS != 0);
    narrowed += narrow(data, suspicious, if wide { usize::MAX } else { 1 })?;
    Ok(narrowed)
}

/// Narrow what is in a folder, so many levels deep. How many were wider.
fn narrow(folder: &Path, suspicious: bool, depth: usize) -> anyhow::Result<usize> {
    let mut narrowed = 0;
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let named = || path.display().to_string();
        let about = match std::fs::symlink_metadata(&path) {
            Ok(about) => about,
            // SQLite removes files of its own.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
            Err(error) => return Err(error).with_context(named),
        };
        if suspicious && !is_ours(&about) {
            bail!(
                "{}: others could write to the directory, and this is not the service's: remove it",
                named()
            );
        }
        let wanted = if about.is_dir() { FOLDER_MODE } else { FILE_MODE };
        let is_data = about.is_dir() || about.is_file();
        if is_data && about.mode() & MODE_OF_OTHERS != 0 {
            std::fs::set_permissions(&path, Permissions::from_mode(wanted)).with_context(named)?;
            narrowed += 1;
        }
        if about.is_dir() && depth > 0 {
            narrowed += narrow(&path, suspicious, depth - 1)?;
        }
    }
    Ok(narrowed)
}

/// A file with one name or a folder, and nobody else's. A socket may be ours as well.
fn is_ours(about: &Metadata) -> bool {
    let plain = about.is_dir() || (!about.file_type().is_symlink() && about.nlink() == 1);
    plain && about.uid() == geteuid().as_raw()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn mode(path: &Path) -> u32 {
        fs::symlink_metadata(path).unwrap().mode() & 0o7777
    }

    #[test]
    fn what_was_open_to_others_is_narrowed() {
        let parent = tempfile::tempdir().unwrap();
        let data = parent.path().join("new/data");
        assert_eq!(make_private(&data).unwrap(), 0, "a new one is narrow from the start");
        assert_eq!(mode(&data), 0o700);
        fs::create_dir_all(data.join("series/0")).unwrap();
        for (name, wide) in [("jobs.db", 0o644), ("series/0/1.series", 0o640), ("journal", 0o600)] {
            fs::write(data.join(name), "x").unwrap();
            fs::set_permissions(data.join(name), Permissions::from_mode(wide)).unwrap();
        }
        for folder in [&data, &data.join("series"), &data.join("series/0")] {
            fs::set_permissions(folder, Permissions::from_mode(0o755)).unwrap();
        }
        assert_eq!(make_private(&data).unwrap(), 5);
        assert_eq!(mode(&data.join("series/0")), 0o700);
        assert_eq!(mode(&data.join("series/0/1.series")), 0o600);
        assert_eq!(make_private(&data).unwrap(), 0);
    }

    #[test]
    fn what_others_may_have_put_there_is_refused() {
        let parent = tempfile::tempdir().unwrap();
        let data = parent.path().join("data");
        for (number, kind) in ["link", "hard link"].into_iter().enumerate() {
            let data = data.join(number.to_string());
            fs::create_dir_all(&data).unwrap();
            fs::set_permissions(&data, Permissions::from_mode(0o777)).unwrap();
            let target = parent.path().join(format!("target{number}"));
            fs::write(&target, "precious").unwrap();
            match kind {
                "link" => std::os::unix::fs::symlink(&target, data.join("jobs.db")).unwrap(),
                _ => fs::hard_link(&target, data.join("jobs.db")).unwrap(),
            }
            let error = make_private(&data).unwrap_err().to_string();
            assert!(error.contains("jobs.db: others could write"), "{kind}: {error}");
            assert_eq!(mode(&target) & 0o777, 0o644, "{kind}: it is left as it was");
        }
    }
}
