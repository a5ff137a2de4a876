//! `OUT.parts/HOST.JOB.NODE`: where blocks go while the job runs, and where they stay if it is killed.

use crate::process::system;
use std::fs::{DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Seek, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The part that the ranks of this node share.
#[derive(Debug)]
pub(crate) struct Part {
    path: PathBuf,
    /// Directories above this one must be there; those below are made.
    stem: PathBuf,
    /// The first directory of the user's own; empty: there is none.
    private: PathBuf,
}

/// Where frames of this rank lie in the part.
pub(crate) type Extent = std::ops::Range<u64>;

/// How often a write that failed is repeated at once, and after which pauses: a file server that is
/// busy answers a moment later. What fails still stays in memory, and is tried again later.
const PAUSES: [Duration; 3] = [Duration::ZERO, Duration::from_millis(1), Duration::from_millis(10)];

impl Part {
    /// A part of this path, of which directories below `stem` are made when they are needed.
    pub(crate) fn new(path: &Path, stem: &Path, private: &Path) -> Self {
        Self { path: path.to_owned(), stem: stem.to_owned(), private: private.to_owned() }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Appends whole frames in one write, and says where they are.
    ///
    /// The file is opened for every block: the application may close any descriptor it likes.
    /// One `write` to a file opened for appending is not mixed with those of other processes of
    /// the same host. If it comes out short, all is written again; readers skip the piece.
    pub(crate) fn append(&self, frames: &[u8]) -> io::Result<Extent> {
        let mut result = self.append_once(frames);
        for pause in PAUSES {
            match &result {
                Err(error) if is_transient(error) => {}
                _ => break,
            }
            std::thread::sleep(pause);
            result = self.append_once(frames);
        }
        result
    }

    fn append_once(&self, frames: &[u8]) -> io::Result<Extent> {
        let mut file = match self.open_for_appending() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => self.open_in_new_directory()?,
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => self.open_or_give_rights()?,
            other => other?,
        };
        let written = file.write(frames)?;
        if written != frames.len() {
            return Err(io::ErrorKind::WriteZero.into());
        }
        let end = file.stream_position()?;
        system::close(file)?;
        Ok(end - frames.len() as u64..end)
    }

    fn open_for_appending(&self) -> io::Result<File> {
        OpenOptions::new()
            .append(true)
            .create(true)
            .mode(0o600)
            .custom_flags(libc::O_CLOEXEC | libc::O_NOFOLLOW)
            .open(&self.path)
    }

    /// Jobs with the same output share the directory, and each removes it when it is empty: perhaps just now.
    fn open_in_new_directory(&self) -> io::Result<File> {
        const MAX_REMOVALS: usize = 10;
        let mut opened = Err(io::ErrorKind::NotFound.into());
        for _ in 0..MAX_REMOVALS {
            self.make_directories()?;
            opened = self.open_or_give_rights();
            if !opened.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::NotFound) {
                break;
            }
        }
        opened
    }

    fn open_or_give_rights(&self) -> io::Result<File> {
        match self.open_for_appending() {
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                self.give_rights();
                self.open_for_appending()
            }
            other => other,
        }
    }

    /// The mask of the program is for its own files: with it, the directory and the part may have been made
    /// without the owner's rights. Only the owner can change that.
    fn give_rights(&self) {
        if let Some(directory) = self.path.parent() {
            let _ = give_rights(directory, 0o700);
        }
        let _ = give_rights(&self.path, 0o600);
    }

    fn make_directories(&self) -> io::Result<()> {
        let directory = self.path.parent().unwrap_or(&self.path);
        make_directories(directory, &self.stem, &self.private)
    }
}

/// Makes a directory, and those above it that lie below `stem`.
///
/// From `private` on they are the user's alone. Those above it are everybody's if one that they are made in,
/// from `stem` on, is (mode 1777, as that of `/tmp`), or else what the user's umask says.
pub(crate) fn make_directories(directory: &Path, stem: &Path, private: &Path) -> io::Result<()> {
    match make_directory(directory, stem, private) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => match directory.parent() {
            Some(above) if above != stem && above.starts_with(stem) => {
                make_directories(above, stem, private)?;
                make_directory(directory, stem, private)
            }
            _ => Err(error),
        },
        other => other,
    }
}

fn make_directory(directory: &Path, stem: &Path, private: &Path) -> io::Result<()> {
    let owned = !private.as_os_str().is_empty() && directory.starts_with(private);
    match DirBuilder::new().mode(if owned { 0o700 } else { 0o777 }).create(directory) {
        // Somebody else may have been first; that of a user must be the user's.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => check_owner(private),
        Ok(()) if owned => give_rights(directory, 0o700),
        Ok(()) if !owned && directory.extension().is_none_or(|extension| extension != "parts") => {
            // Not only the one above it: another rank may have made that just now, and give it its mode next.
            let mut above = directory.ancestors().skip(1).take_while(|above| above.starts_with(stem));
            let is_everybodys =
                |above: &Path| std::fs::metadata(above).is_ok_and(|about| about.mode() & 0o1777 == 0o1777);
            if above.any(is_everybodys) {
                std::fs::set_permissions(directory, Permissions::from_mode(0o1777))?;
            }
            Ok(())
        }
        other => other,
    }
}

/// Gives the owner of a file the rights that are missing, if the caller is the owner.
pub(crate) fn give_rights(path: &Path, rights: u32) -> io::Result<()> {
    let mode = std::fs::symlink_metadata(path)?.mode();
    if mode & rights == rights || mode & libc::S_IFMT == libc::S_IFLNK {
        return Ok(());
    }
    std::fs::set_permissions(path, Permissions::from_mode(mode & 0o7777 | rights))
}

/// A directory that has the user's name belongs to the user, or is not used.
pub(crate) fn check_owner(private: &Path) -> io::Result<()> {
    if private.as_os_str().is_empty() {
        return Ok(());
    }
    match std::fs::symlink_metadata(private) {
        // SAFETY: the call has no premises.
        Ok(meta) if !meta.is_dir() || meta.uid() != unsafe { libc::geteuid() } => Err(io::Error::new(
            io::ErrorKind::PermissionDenied,
            format!("{} is not a directory of this user", private.display()),
        )),
        _ => Ok(()),
    }
}

/// Whether a failure may be over in a moment.
fn is_transient(error: &io::Error) -> bool {
    const CODES: [i32; 7] =
        [libc::EINTR, libc::EAGAIN, libc::EIO, libc::ESTALE, libc::EMFILE, libc::ENFILE, libc::ETIMEDOUT];
    error.kind() == io::ErrorKind::WriteZero || error.raw_os_error().is_some_and(|code| CODES.contains(&code))
}

/// Whether a failure will not go away by itself: the place is wrong, or not the user's.
pub(crate) fn is_permanent(error: &io::Error) -> bool {
    const CODES: [i32; 7] = [
        libc::ENOENT,
        libc::ENOTDIR,
        libc::EISDIR,
        libc::EROFS,
        libc::EACCES,
        libc::EPERM,
        libc::ENAMETOOLONG,
    ];
    error.raw_os_error().is_some_and(|code| CODES.contains(&code))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_directories_below_the_stem_are_made() {
        let base = std::env::temp_dir().join(format!("tmio-parts-{}", std::process::id()));
        std::fs::create_dir(&base).unwrap();
        let part = Part::new(&base.join("user/2026/11/t.msgpack.parts/host.1.2"), &base, Path::new(""));
        assert_eq!(part.append(b"abc").unwrap(), 0..3);
        assert_eq!(part.append(b"defg").unwrap(), 3..7);
        let below = base.join("missing");
        let part = Part::new(&below.join("t.msgpack.parts/host.1.2"), &below, Path::new(""));
        let error = part.append(b"x").unwrap_err();
        assert!(is_permanent(&error), "{error}");
        assert!(!below.exists());
        std::fs::remove_dir_all(&base).unwrap();
    }

    #[test]
    fn directories_of_a_user_are_the_user_s_alone_and_those_above_are_everybody_s() {
        let base = std::env::temp_dir().join(format!("tmio-shared-{}", std::process::id()));
        std::fs::create_dir(&base).unwrap();
        let mode = |path: &str| std::fs::metadata(base.join(path)).unwrap().mode() & 0o7777;
        let make = |path: &str, private: &str| {
            let part = Part::new(&base.join(path).join("h.1.2"), &base, &base.join(private));
            part.append(b"x").map(drop)
        };
        make("2025/alice/t.parts", "2025/alice").unwrap();
        assert!(mode("2025") & 0o1002 == 0 && mode("2025/alice") == 0o700);
        // A directory that is everybody's, as /tmp is.
        std::fs::set_permissions(&base, Permissions::from_mode(0o1777)).unwrap();
        make("2026/11/alice/t.parts", "2026/11/alice").unwrap();
        assert_eq!([mode("2026"), mode("2026/11"), mode("2026/11/alice")], [0o1777, 0o1777, 0o700]);
        // Another rank has made the directory of the year and not given it its mode yet.
        std::fs::create_dir(base.join("2027")).unwrap();
        std::fs::set_permissions(base.join("2027"), Permissions::from_mode(0o755)).unwrap();
        make("2027/11/alice/t.parts", "2027/11/alice").unwrap();
        assert_eq!([mode("2027/11"), mode("2027/11/alice")], [0o1777, 0o700]);
        // What has the user's name must be the user's directory.
        std::os::unix::fs::symlink("/tmp", base.join("2026/11/bob")).unwrap();
        assert!(check_owner(&base.join("2026/11/bob")).is_err());
        assert!(check_owner(&base.join("2026/11/alice")).is_ok() && check_owner(&base.join("new")).is_ok());
        std::fs::remove_dir_all(&base).unwrap();
    }
}
