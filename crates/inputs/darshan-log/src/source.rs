//! Where the bytes of a log come from: memory, or a file read at the places that are asked for.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use crate::error::{Error, Result};

/// Files up to this size are read in one go: for the small logs that archives are made of, one `read` is
/// cheaper than three, and 256 KiB is less than one inflate buffer and window of a large one.
const READ_WHOLE: u64 = 256 << 10;

/// The bytes of a log.
#[derive(Debug)]
pub(crate) enum Source {
    Memory(Vec<u8>),
    #[cfg(unix)]
    File {
        file: File,
        len: u64,
    },
}

impl Source {
    pub(crate) fn open(path: &Path, name: &str) -> Result<Source> {
        let failed = |action, source| Error::Io { file: name.into(), action, source };
        let mut file = File::open(path).map_err(|e| failed("open", e))?;
        let metadata = file.metadata().map_err(|e| failed("open", e))?;
        if !metadata.is_file() {
            let source = io::Error::new(io::ErrorKind::InvalidInput, "not a regular file");
            return Err(failed("open", source));
        }
        let len = metadata.len();
        #[cfg(unix)]
        if len > READ_WHOLE {
            return Ok(Source::File { file, len });
        }
        let mut bytes = Vec::with_capacity(len.min(READ_WHOLE) as usize);
        file.read_to_end(&mut bytes).map_err(|e| failed("read", e))?;
        Ok(Source::Memory(bytes))
    }

    pub(crate) fn len(&self) -> u64 {
        match self {
            Source::Memory(bytes) => bytes.len() as u64,
            #[cfg(unix)]
            Source::File { len, .. } => *len,
        }
    }

    /// The bytes from `start` to `end` if they are in memory already (fewer at the end of the log).
    pub(crate) fn in_memory(&self, start: u64, end: u64) -> Option<&[u8]> {
        match self {
            Source::Memory(bytes) => {
                let len = bytes.len() as u64;
                Some(&bytes[start.min(len) as usize..end.clamp(start.min(len), len) as usize])
            }
            #[cfg(unix)]
            Source::File { .. } => None,
        }
    }

    /// Reads up to `buffer.len()` bytes from `start` on; fewer only at the end of the log.
    pub(crate) fn read_at(&self, start: u64, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Source::Memory(_) => {
                let bytes =
                    self.in_memory(start, start.saturating_add(buffer.len() as u64)).unwrap_or_default();
                buffer[..bytes.len()].copy_from_slice(bytes);
                Ok(bytes.len())
            }
            #[cfg(unix)]
            Source::File { file, .. } => {
                use std::os::unix::fs::FileExt;
                let mut filled = 0;
                while filled < buffer.len() {
                    match file.read_at(&mut buffer[filled..], start.saturating_add(filled as u64)) {
                        Ok(0) => break,
                        Ok(n) => filled += n,
                        Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                        Err(e) => return Err(e),
                    }
                }
                Ok(filled)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_never_reads_past_its_end() {
        let source = Source::Memory(vec![1, 2, 3]);
        assert_eq!(source.in_memory(1, 9), Some(&[2u8, 3][..]));
        assert_eq!(source.in_memory(7, 9), Some(&[][..]));
        assert_eq!(source.in_memory(2, 1), Some(&[][..]));
        let mut buffer = [0; 4];
        assert_eq!(source.read_at(2, &mut buffer).unwrap(), 1);
        assert_eq!(source.read_at(u64::MAX, &mut buffer).unwrap(), 0);
    }

    #[cfg(unix)]
    #[test]
    fn a_large_file_is_read_where_it_is_asked_for() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("large");
        let bytes: Vec<u8> = (0..(READ_WHOLE as usize + 10)).map(|i| (i % 251) as u8).collect();
        std::fs::write(&path, &bytes).unwrap();
        let source = Source::open(&path, "large").unwrap();
        assert!(source.in_memory(0, 1).is_none());
        let mut buffer = [0; 16];
        assert_eq!(source.read_at(READ_WHOLE, &mut buffer).unwrap(), 10);
        assert_eq!(buffer[..10], bytes[READ_WHOLE as usize..]);
    }

    #[test]
    fn a_directory_is_refused() {
        assert!(matches!(Source::open(Path::new("."), "."), Err(Error::Io { .. })));
    }
}
