//! `OUT.parts/HOST`: where blocks go while the job runs, and where they stay if it is killed.

use crate::system;
use std::fs::{File, OpenOptions};
use std::io::{self, Seek, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// The part that the ranks of this host share.
#[derive(Debug)]
pub(crate) struct Part {
    path: PathBuf,
}

/// Where frames of this rank lie in the part.
pub(crate) type Extent = std::ops::Range<u64>;

impl Part {
    pub(crate) fn new(directory: &Path, host: &str) -> Self {
        Self { path: directory.join(host) }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Appends whole frames in one write, and says where they are.
    ///
    /// The file is opened for every block: the application may close any descriptor it likes.
    /// One `write` to a file opened for appending is not mixed with those of other processes of
    /// the same host; if it comes out short (full disk), the rest is given up, and readers skip
    /// the piece.
    pub(crate) fn append(&self, frames: &[u8]) -> io::Result<Extent> {
        let mut file = OpenOptions::new()
            .append(true)
            .create(true)
            .mode(0o644)
            .custom_flags(libc::O_CLOEXEC | libc::O_NOFOLLOW)
            .open(&self.path)?;
        let written = system::without_size_signal(|| file.write(frames))?;
        if written != frames.len() {
            return Err(io::Error::from_raw_os_error(libc::ENOSPC));
        }
        let end = file.stream_position()?;
        Ok(end - frames.len() as u64..end)
    }

    pub(crate) fn open(&self) -> io::Result<File> {
        File::open(&self.path)
    }
}
