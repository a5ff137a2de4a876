//! `OUT.parts/HOST.JOB.NODE`: where blocks go while the job runs, and where they stay if it is killed.

use crate::system;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Seek, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The part that the ranks of this node share.
#[derive(Debug)]
pub(crate) struct Part {
    path: PathBuf,
    /// Directories above this one must be there; those below are made.
    stem: PathBuf,
}

/// Where frames of this rank lie in the part.
pub(crate) type Extent = std::ops::Range<u64>;

/// How often a write that failed is repeated at once, and after which pauses: a file server that is
/// busy answers a moment later. What fails still stays in memory, and is tried again later.
const PAUSES: [Duration; 3] = [Duration::ZERO, Duration::from_millis(1), Duration::from_millis(10)];

impl Part {
    /// A part in `directory`, whose ancestors below `stem` are made when they are needed.
    pub(crate) fn new(directory: &Path, name: &str, stem: &Path) -> Self {
        Self { path: directory.join(name), stem: stem.to_owned() }
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
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                self.make_directories()?;
                self.open_for_appending()?
            }
            other => other?,
        };
        let written = system::without_size_signal(|| file.write(frames))?;
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

    fn make_directories(&self) -> io::Result<()> {
        let directory = self.path.parent().unwrap_or(&self.path);
        make_directories(directory, &self.stem)
    }

    pub(crate) fn open(&self) -> io::Result<File> {
        OpenOptions::new().read(true).custom_flags(libc::O_NOFOLLOW).open(&self.path)
    }

    /// Takes the part away.
    pub(crate) fn remove(&self) -> io::Result<()> {
        std::fs::remove_file(&self.path)
    }
}

/// Makes a directory, and those above it that lie below `stem`.
pub(crate) fn make_directories(directory: &Path, stem: &Path) -> io::Result<()> {
    // Who may look is up to the user's umask; the files are the owner's alone.
    match DirBuilder::new().mode(0o777).create(directory) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => match directory.parent() {
            Some(above) if above != stem && above.starts_with(stem) => {
                make_directories(above, stem)?;
                DirBuilder::new().mode(0o777).create(directory).or_else(|error| match error.kind() {
                    io::ErrorKind::AlreadyExists => Ok(()),
                    _ => Err(error),
                })
            }
            _ => Err(error),
        },
        other => other,
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
        let part = Part::new(&base.join("user/2026/11/t.msgpack.parts"), "host.1.2", &base);
        assert_eq!(part.append(b"abc").unwrap(), 0..3);
        assert_eq!(part.append(b"defg").unwrap(), 3..7);
        let below = base.join("missing");
        let error = Part::new(&below.join("t.msgpack.parts"), "host.1.2", &below).append(b"x").unwrap_err();
        assert!(is_permanent(&error), "{error}");
        assert!(!below.exists());
        std::fs::remove_dir_all(&base).unwrap();
    }
}
