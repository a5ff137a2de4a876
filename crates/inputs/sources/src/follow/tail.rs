//! The end of a file that grows.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

/// How much is read at once.
const PIECE: usize = 1 << 20;

/// How many bytes before the end are remembered, to notice that they are others.
const MAX_REMEMBERED: usize = 256;

#[derive(Debug)]
pub(super) struct Tail {
    path: PathBuf,
    file: File,
    /// Device and inode; the open file keeps the latter from being used again.
    identity: (u64, u64),
    offset: u64,
    last: Vec<u8>,
}

impl Tail {
    pub fn open(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        let meta = file.metadata()?;
        let identity = (meta.dev(), meta.ino());
        Ok(Tail { path: path.to_owned(), file, identity, offset: 0, last: Vec::new() })
    }

    /// Was the file truncated, replaced or rewritten since it was last read?
    pub fn is_other(&self) -> io::Result<bool> {
        // A file that is gone may come back; until then there is nothing else to read.
        if fs::metadata(&self.path).is_ok_and(|meta| (meta.dev(), meta.ino()) != self.identity) {
            return Ok(true);
        }
        if self.file.metadata()?.len() < self.offset {
            return Ok(true);
        }
        let mut now = vec![0; self.last.len()];
        let start = self.offset - now.len() as u64;
        Ok(self.file.read_exact_at(&mut now, start).is_err() || now != self.last)
    }

    /// Append what comes next to `buffer`; 0 at the end.
    pub fn read(&mut self, buffer: &mut Vec<u8>) -> io::Result<usize> {
        let before = buffer.len();
        buffer.resize(before + PIECE, 0);
        let result = self.file.read_at(&mut buffer[before..], self.offset);
        let read = *result.as_ref().unwrap_or(&0);
        buffer.truncate(before + read);
        self.offset += read as u64;
        self.last.extend_from_slice(&buffer[before..]);
        let gone = self.last.len().saturating_sub(MAX_REMEMBERED);
        self.last.drain(..gone);
        result
    }
}
