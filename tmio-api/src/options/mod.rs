//! The `TMIO_*` options: one table makes parser, dump and documentation.
//!
//! They come from three places, each of which overrides the one before, but for what the site has locked:
//! the site's file, the file that `TMIO_CONFIG` names, and the environment.

mod pattern;
mod read;
mod site;
mod table;

pub use pattern::{wants_file, wants_program, wants_rank};
pub use read::{Parsed, Sources, dump, read};
pub(crate) use site::has_agreed;
pub use table::{DEFAULT_OUTPUT, markdown, site_markdown};

use crate::process::message::Level;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;
use tmio_trace::tmio;
use turns::IoSets;

/// When blocks leave memory before they are full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flush {
    /// Only when they are full, and in `MPI_Finalize`.
    Finalize,
    /// Also this often, by a thread of tmio's own.
    Interval(Duration),
    /// Also whenever a file is closed.
    Close,
}

/// Which clock stamps operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClockChoice {
    /// The time stamp counter where the kernel itself uses it, else `CLOCK_MONOTONIC`.
    Auto,
    /// `CLOCK_MONOTONIC`.
    Monotonic,
}

/// Format of the trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// The format of `docs/trace-format.md`.
    Msgpack,
    /// One of the C++ TMIO's, into which rank 0 turns the trace at the end.
    Tmio(tmio::Format),
}

impl Format {
    /// Ending of the default output's name.
    pub fn ending(self) -> &'static str {
        match self {
            Format::Msgpack | Format::Tmio(tmio::Format::Msgpack) => "msgpack",
            Format::Tmio(tmio::Format::Jsonl) => "jsonl",
            Format::Tmio(tmio::Format::Json) => "json",
        }
    }
}

/// The layers that are recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layers {
    /// `MPI_File_…`
    pub mpiio: bool,
    /// `read`, `write`, …
    pub posix: bool,
    /// `fread`, `fprintf`, …
    pub stdio: bool,
}

impl Default for Layers {
    fn default() -> Self {
        Self { mpiio: true, posix: true, stdio: true }
    }
}

/// All options, with their defaults filled in.
#[derive(Clone, Debug)]
pub struct Options {
    /// Path pattern of the trace; `None`: the default pattern.
    pub output: Option<OsString>,
    /// Format of the trace.
    pub format: Format,
    /// When blocks leave memory.
    pub flush: Flush,
    /// Memory per rank for records, bytes.
    pub buffer: usize,
    /// Directory for the current blocks; `None`: `/dev/shm`, else `$TMPDIR`, else `/tmp`.
    pub spool: Option<PathBuf>,
    /// Ranks to record; empty: all.
    pub ranks: Vec<(u32, u32)>,
    /// Patterns of files to record; empty: all.
    pub files: Vec<String>,
    /// Patterns of files that are not recorded.
    pub exclude_files: Vec<String>,
    /// Patterns of paths that only MPI-IO's own layer looks at; `None`: the usual ones.
    pub exclude_paths: Option<Vec<String>>,
    /// Which layers are recorded.
    pub layers: Layers,
    /// Bytes below which a process without MPI leaves no trace, unless it takes long.
    pub min_bytes: u64,
    /// Patterns of programs that are not traced.
    pub exclude_programs: Vec<String>,
    /// Do nothing at all.
    pub disable: bool,
    /// The user wants to be traced where the site asks for that.
    pub enable: bool,
    /// There is a site's file.
    pub site: bool,
    /// Only users who want it are traced.
    pub opt_in: bool,
    /// Users and groups that are traced; empty: all.
    pub users: Vec<String>,
    /// Mode of the trace's file.
    pub mode: u32,
    /// Bytes of the trace from which on it gets coarser; 0: there is no such limit.
    pub max_bytes: u64,
    /// How much to say.
    pub log: Level,
    /// Show the options at start.
    pub dump_config: bool,
    /// Which clock.
    pub clock: ClockChoice,
    /// How long a record stays in memory; zero: until its block is full.
    pub max_age: Duration,
    /// How long other ranks or the file system may take in `MPI_Finalize`.
    pub finalize_timeout: Duration,
    /// The arbiter to ask before data operations; `None`: nobody is asked.
    pub iosets: Option<IoSets>,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            output: None,
            format: Format::Msgpack,
            flush: Flush::Finalize,
            buffer: 4 << 20,
            spool: None,
            ranks: Vec::new(),
            files: Vec::new(),
            exclude_files: Vec::new(),
            exclude_paths: None,
            layers: Layers::default(),
            min_bytes: 1 << 20,
            exclude_programs: Vec::new(),
            disable: false,
            enable: false,
            site: false,
            opt_in: false,
            users: Vec::new(),
            mode: 0o600,
            max_bytes: 0,
            log: Level::Warn,
            dump_config: false,
            clock: ClockChoice::Auto,
            max_age: Duration::from_secs(60),
            finalize_timeout: Duration::from_secs(30),
            iosets: None,
        }
    }
}
