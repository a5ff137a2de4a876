//! Why a file was not touched.

use crate::name::shown;
use rustix::io::Errno;
use std::io;
use std::path::{Path, PathBuf};

/// What came of it.
pub type Result<T> = std::result::Result<T, Error>;

/// A file, and why it was not touched.
#[derive(Debug, thiserror::Error)]
#[error("{}: {why}", shown(path))]
pub struct Error {
    /// The file, for messages.
    pub path: PathBuf,
    /// The reason.
    pub why: Why,
}

/// The reason.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)] // the messages say it
pub enum Why {
    #[error("{0}")]
    Io(io::Error),
    #[error("is a link, and links are not followed here")]
    Link,
    #[error("is not a regular file")]
    NotRegular,
    #[error("is not a folder")]
    NotFolder,
    #[error("is not a name below the folder")]
    Outside,
    #[error("belongs to user {found}, expected user {expected}")]
    Owner { expected: u32, found: u32 },
    #[error("others may write to it (its mode is {mode:o})")]
    Exposed { mode: u32 },
    #[error("others may look into it (its mode is {mode:o})")]
    Public { mode: u32 },
    #[error("has other names too ({0} in all)")]
    Names(u64),
    #[error("its file system cannot rename without replacing what is there")]
    NoReplace,
}

impl Error {
    /// About this file.
    pub fn new(path: &Path, why: impl Into<Why>) -> Self {
        Error { path: path.to_owned(), why: why.into() }
    }

    /// What the system said, if it was the system that refused.
    pub fn errno(&self) -> Option<Errno> {
        match &self.why {
            Why::Io(error) => Errno::from_io_error(error),
            _ => None,
        }
    }

    /// There is nothing of that name.
    pub fn is_missing(&self) -> bool {
        matches!(self.errno(), Some(Errno::NOENT))
    }

    /// There is something of that name already.
    pub fn exists(&self) -> bool {
        matches!(self.errno(), Some(Errno::EXIST | Errno::NOTEMPTY))
    }
}

impl From<Errno> for Why {
    fn from(errno: Errno) -> Self {
        Why::Io(errno.into())
    }
}

impl From<io::Error> for Why {
    fn from(error: io::Error) -> Self {
        Why::Io(error)
    }
}

impl From<Error> for io::Error {
    fn from(error: Error) -> Self {
        let kind = match &error.why {
            Why::Io(error) => error.kind(),
            Why::Link | Why::NotRegular | Why::NotFolder | Why::Outside => io::ErrorKind::InvalidInput,
            Why::Owner { .. } | Why::Exposed { .. } | Why::Public { .. } | Why::Names(_) => {
                io::ErrorKind::PermissionDenied
            }
            Why::NoReplace => io::ErrorKind::Unsupported,
        };
        io::Error::new(kind, error)
    }
}
