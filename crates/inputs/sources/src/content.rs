//! The bytes of an input: from a file or from standard input, with gzip undone.

use super::error::SourceError;
use flate2::bufread::MultiGzDecoder;
use std::fs::File;
use std::io::{self, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};

/// How much of an input is looked at to recognise its format.
const HEAD: usize = 64 << 10;

/// An input as the user names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// A file, or a folder that is one input.
    Path(PathBuf),
    /// Standard input, written `-`.
    Stdin,
}

impl Input {
    /// `-` is standard input; a file of that name is `./-`.
    pub fn new(path: &Path) -> Self {
        if path.as_os_str() == "-" { Input::Stdin } else { Input::Path(path.to_owned()) }
    }

    /// What messages call it.
    pub fn name(&self) -> String {
        match self {
            Input::Path(path) => path.display().to_string(),
            Input::Stdin => "standard input".into(),
        }
    }
}

/// An input whose beginning was looked at.
#[expect(missing_debug_implementations, reason = "holds a reader")]
pub struct Content {
    /// What messages call it.
    pub name: String,
    /// Was it compressed as a whole?
    pub compressed: bool,
    /// The file, if it is one that was not compressed: parts of it can be read without the rest.
    pub(super) path: Option<PathBuf>,
    head: Vec<u8>,
    rest: Box<dyn Read + Send>,
}

impl Content {
    /// Open an input and look at its beginning.
    pub fn open(input: &Input) -> Result<Self, SourceError> {
        let name = input.name();
        let result = match input {
            Input::Path(path) => File::open(path).and_then(|file| {
                let content = Self::from_reader(&name, Box::new(file))?;
                Ok(Content {
                    path: Some(path.clone()).filter(|path| !content.compressed && path.is_file()),
                    ..content
                })
            }),
            Input::Stdin => Self::from_reader(&name, Box::new(io::stdin())),
        };
        result.map_err(|source| SourceError::Io { name, source })
    }

    /// Bytes that are in memory already.
    pub fn from_bytes(name: &str, bytes: Vec<u8>) -> Result<Self, SourceError> {
        Self::from_reader(name, Box::new(Cursor::new(bytes)))
            .map_err(|source| SourceError::Io { name: name.into(), source })
    }

    fn from_reader(name: &str, mut rest: Box<dyn Read + Send>) -> io::Result<Self> {
        let mut head = read_head(&mut rest)?;
        // A gzip member with a deflate stream. Darshan 1 and 2 logs are such files as well; their reader
        // takes them undone.
        let compressed = head.starts_with(&[0x1f, 0x8b, 8]);
        if compressed {
            let raw = BufReader::with_capacity(HEAD, Cursor::new(head).chain(rest));
            rest = Box::new(MultiGzDecoder::new(raw));
            head = read_head(&mut rest)
                .map_err(|error| io::Error::new(error.kind(), format!("gzip data: {error}")))?;
        }
        Ok(Content { name: name.to_owned(), compressed, path: None, head, rest })
    }

    /// The beginning: all of a short input.
    pub fn head(&self) -> &[u8] {
        &self.head
    }

    /// Everything, as a stream.
    pub fn into_reader(self) -> Box<dyn Read + Send> {
        Box::new(Cursor::new(self.head).chain(self.rest))
    }

    /// Everything, in memory.
    pub fn into_bytes(self) -> Result<Vec<u8>, SourceError> {
        let mut bytes = self.head;
        let mut rest = self.rest;
        match rest.read_to_end(&mut bytes) {
            Ok(_) => Ok(bytes),
            Err(source) => Err(SourceError::Io { name: self.name, source }),
        }
    }

    /// Everything, as text; what is not UTF-8 becomes U+FFFD.
    pub fn into_text(self) -> Result<String, SourceError> {
        let bytes = self.into_bytes()?;
        Ok(String::from_utf8(bytes)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
    }
}

/// The beginning of a text, without a byte order mark and white space.
pub(super) fn beginning(head: &[u8]) -> &[u8] {
    head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).trim_ascii_start()
}

/// Does a piece of text occur in some bytes?
pub(super) fn contains(bytes: &[u8], needle: &str) -> bool {
    memchr::memmem::find(bytes, needle.as_bytes()).is_some()
}

fn read_head(input: &mut dyn Read) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    input.take(HEAD as u64).read_to_end(&mut head)?;
    Ok(head)
}
