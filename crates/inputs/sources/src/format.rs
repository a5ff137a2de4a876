//! What a format is: a row of the [table](super::formats).

use super::content::Content;
use super::error::SourceError;
use super::opened::Kind;
use super::options::OpenOptions;
use super::series::Series;
use super::split::Splitter;
use std::path::Path;

/// A format.
#[derive(Debug)]
pub struct Format {
    /// Its name.
    pub name: &'static str,
    /// What messages call it; empty if another row says it.
    pub about: &'static str,
    /// Does an input that begins with these bytes hold it?
    pub recognise: fn(&[u8]) -> bool,
    /// What an input holds.
    pub read: fn(Content, &OpenOptions) -> Result<Holds, SourceError>,
    /// How it grows; `None` if it is written when the job has ended, or can only be read when it is whole.
    pub grows: Option<Growth>,
}

/// A format that is a folder of files.
#[derive(Debug)]
pub struct FolderFormat {
    /// Its name.
    pub name: &'static str,
    /// Is the folder one?
    pub recognise: fn(&Path) -> bool,
    /// What it holds.
    pub read: fn(&Path, &OpenOptions) -> Result<Holds, SourceError>,
}

/// What an input holds.
#[derive(Debug)]
pub enum Holds {
    /// One input.
    One(Kind),
    /// Quantities over time.
    Series(Vec<Series>),
}

/// How entries are appended to an input while its job runs.
#[derive(Clone, Copy, Debug)]
pub struct Growth {
    /// Where an entry ends.
    pub splitter: fn() -> Splitter,
    /// The first line may name columns, and belongs to every later row.
    pub header: bool,
    /// Where flushes can be told apart.
    pub flushes: Option<Flushes>,
}

/// Flushes that can be told apart.
#[derive(Clone, Copy, Debug)]
pub struct Flushes {
    /// Do they end with a section, judging from the beginning of the file?
    pub expected: fn(&[u8]) -> bool,
    /// Does an entry end a flush?
    pub ended_by: fn(&[u8]) -> bool,
}

impl Growth {
    /// JSON values after each other.
    pub const JSON: Growth = Growth { splitter: Splitter::json, header: false, flushes: None };
    /// MessagePack values after each other.
    pub const MESSAGE_PACK: Growth =
        Growth { splitter: Splitter::message_pack, header: false, flushes: None };
    /// Lines.
    pub const LINES: Growth = Growth { splitter: Splitter::lines, header: false, flushes: None };
    /// Rows of a table.
    pub const ROWS: Growth = Growth { splitter: Splitter::lines, header: true, flushes: None };
}

impl Holds {
    /// Something that gives requests.
    pub(super) fn requests(source: impl super::job::Source + 'static) -> Self {
        Holds::One(Kind::Requests(Box::new(source)))
    }
}
