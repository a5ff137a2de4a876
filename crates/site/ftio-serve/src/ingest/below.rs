//! What lies below a watched directory. Others own it, and may put anything there at any moment: it is
//! reached by handles, no link is followed, and what is looked at is what was opened.

use files::{Dir, Error, Expect, Result, Stat, Why};
use std::fs::File;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

/// The watched directory, and where in it the path is.
fn inside<'a>(root: &Path, path: &'a Path) -> Result<(Dir, &'a Path)> {
    match path.strip_prefix(root) {
        Ok(inside) => Ok((Dir::open(root)?, inside)),
        Err(_) => Err(Error { path: path.to_owned(), why: Why::Outside }),
    }
}

/// What has this name; of a link, the link itself.
pub fn look(root: &Path, path: &Path) -> Result<Stat> {
    let (root, inside) = inside(root, path)?;
    root.look(inside)
}

/// A directory.
pub fn folder(root: &Path, path: &Path) -> Result<Dir> {
    let (root, inside) = inside(root, path)?;
    root.folder(inside)
}

/// A file that is open: what it is cannot change any more.
#[derive(Debug)]
pub struct OpenFile {
    file: File,
    /// As it was when it was opened.
    pub about: Stat,
}

impl OpenFile {
    /// A regular file, whoever owns it. Nothing is waited for.
    pub fn open(root: &Path, path: &Path) -> Result<Self> {
        let (root, inside) = inside(root, path)?;
        let file = root.read(inside, &Expect::anybodys())?;
        let about =
            Stat::of(&file).map_err(|errno| Error { path: path.to_owned(), why: Why::from(errno) })?;
        Ok(OpenFile { file, about })
    }

    /// A path to exactly this file, whatever its name leads to by now.
    pub fn door(&self) -> PathBuf {
        PathBuf::from(format!("/proc/self/fd/{}", self.file.as_raw_fd()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use files::Kind;

    #[test]
    fn no_link_on_the_way_is_followed() {
        let (watched, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        std::fs::write(elsewhere.path().join("a"), "secret").unwrap();
        std::os::unix::fs::symlink(elsewhere.path(), watched.path().join("sub")).unwrap();
        let path = watched.path().join("sub/a");
        let error = OpenFile::open(watched.path(), &path).unwrap_err();
        assert!(matches!(error.why, Why::Link), "{error}");
        assert!(
            look(watched.path(), &path).is_err() && folder(watched.path(), path.parent().unwrap()).is_err()
        );
        assert_eq!(look(watched.path(), path.parent().unwrap()).unwrap().kind, Kind::Link);
        let error = OpenFile::open(elsewhere.path(), &path).unwrap_err();
        assert!(matches!(error.why, Why::Outside), "{error}");
    }
}
