//! A part: the records of a shard in a file, one JSON object a line.
//!
//! The first line says what the records depend on, the last that the shard is done. Records come in the order
//! of their logs' paths; when a part is continued after logs were added, another such run of records follows.
//! Whatever is cut off at the end, by a full disk or a time limit, is one line, which is dropped and made
//! again.

use super::shard::hash;
use super::{Settings, Shard};
use crate::log::Reading;
use crate::thresholds::{TABLE, Threshold};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// The schema of a part's first line.
const SCHEMA: &str = "ftio.categorize.part/1";

/// Why a part cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PartError {
    /// The system says no.
    #[error("{}: {source}", path.display())]
    Io {
        /// The part.
        path: PathBuf,
        /// What it says.
        source: io::Error,
    },
    /// It is no part, or a damaged one.
    #[error("{}: line {line}: expected {expected}, found {found}", path.display())]
    Malformed {
        /// The part.
        path: PathBuf,
        /// The line, counted from 1.
        line: u64,
        /// What should have been there.
        expected: &'static str,
        /// What was there.
        found: String,
    },
    /// It was made with other settings, or for another shard.
    #[error("{}: expected a part made with {expected}, found one with {found}", path.display())]
    Different {
        /// The part.
        path: PathBuf,
        /// What was asked for.
        expected: String,
        /// What the part says.
        found: String,
    },
    /// Parts do not make up an archive.
    #[error("expected every shard of the archive once, and finished; {0}")]
    Incomplete(String),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Header {
    pub schema: String,
    pub shard: Shard,
    pub settings: Settings,
}

/// What a line is, without looking at all of it.
#[derive(Debug, Deserialize)]
struct Glance<'a> {
    #[serde(borrow, default)]
    source: Option<Cow<'a, str>>,
    #[serde(default)]
    end: bool,
}

/// A part that is being written.
#[derive(Debug)]
pub struct Part {
    path: PathBuf,
    file: File,
    header: Header,
    /// Hashes of the paths it holds, sorted.
    held: Vec<u64>,
}

impl Part {
    /// Begin a part, or continue one that is there.
    pub fn open(path: &Path, settings: &Settings, shard: Shard) -> Result<Part, PartError> {
        let io_error = |source| PartError::Io { path: path.to_owned(), source };
        let header = Header { schema: SCHEMA.into(), shard, settings: settings.clone() };
        let mut options = OpenOptions::new();
        let mut file =
            options.read(true).write(true).create(true).truncate(false).open(path).map_err(io_error)?;
        let mut held = Vec::new();
        if file.metadata().map_err(io_error)?.len() > 0 {
            let written = Written::scan(path, Some(&mut held))?;
            if let Some(difference) = difference(&header, &written.header) {
                let (expected, found) = difference;
                return Err(PartError::Different { path: path.to_owned(), expected, found });
            }
            file.set_len(written.len).map_err(io_error)?;
            file.seek(SeekFrom::End(0)).map_err(io_error)?;
            held.sort_unstable();
        } else {
            let mut line = serde_json::to_vec(&header).map_err(io::Error::from).map_err(io_error)?;
            line.push(b'\n');
            file.write_all(&line).map_err(io_error)?;
        }
        Ok(Part { path: path.to_owned(), file, header, held })
    }

    /// What its records depend on.
    pub fn settings(&self) -> &Settings {
        &self.header.settings
    }

    /// Does it hold a log already?
    pub fn holds(&self, path: &str) -> bool {
        self.held.binary_search(&hash(path)).is_ok()
    }

    /// How many logs it held when it was opened.
    pub fn held(&self) -> u64 {
        self.held.len() as u64
    }

    /// Add lines, each with its end.
    pub(super) fn append(&mut self, lines: &[Vec<u8>]) -> Result<(), PartError> {
        let text = lines.concat();
        self.file.write_all(&text).map_err(|source| self.failed(source))
    }

    /// The error that writing to it failed.
    pub(super) fn failed(&self, source: io::Error) -> PartError {
        PartError::Io { path: self.path.clone(), source }
    }

    /// Say that the shard is done.
    pub(super) fn finish(&mut self) -> Result<(), PartError> {
        self.append(&[b"{\"end\":true}\n".to_vec()])
    }
}

/// What is different between what was asked for and what there is, in words.
pub(super) fn difference(asked: &Header, there: &Header) -> Option<(String, String)> {
    if asked.shard != there.shard {
        return Some((format!("shard {}", asked.shard), format!("shard {}", there.shard)));
    }
    let mut differences = Vec::new();
    let mut compare = |name: &str, asked: String, there: String| {
        if asked != there {
            differences.push((format!("{name} {asked}"), format!("{name} {there}")));
        }
    };
    let (a, b) = (&asked.settings, &there.settings);
    let layer = |reading: &Reading| reading.layer.map_or("any", sources::Layer::name).to_owned();
    compare("layer", layer(&a.reading), layer(&b.reading));
    compare("dxt", a.reading.dxt.to_string(), b.reading.dxt.to_string());
    compare("witness", a.reading.witness.to_string(), b.reading.witness.to_string());
    compare("identity", a.identity.name().to_owned(), b.identity.name().to_owned());
    for Threshold { name, .. } in TABLE {
        let value = |settings: &Settings| settings.thresholds.get(name).unwrap_or_default();
        compare(name, value(a).to_string(), value(b).to_string());
    }
    let (asked, there): (Vec<String>, Vec<String>) = differences.into_iter().unzip();
    (!asked.is_empty()).then(|| (asked.join(", "), there.join(", ")))
}

/// A part that was written, with its runs of ordered records.
#[derive(Debug)]
pub(super) struct Written {
    pub path: PathBuf,
    pub header: Header,
    /// Where each run begins and ends in the file.
    runs: Vec<(u64, u64)>,
    /// Bytes up to the last whole line.
    len: u64,
    pub finished: bool,
}

impl Written {
    /// Look through a part. A line that is cut off at the end does not count.
    pub fn scan(path: &Path, mut held: Option<&mut Vec<u64>>) -> Result<Written, PartError> {
        let io_error = |source| PartError::Io { path: path.to_owned(), source };
        let mut lines = Lines::open(path, 0, u64::MAX).map_err(io_error)?;
        let malformed = |line, expected, found: String| PartError::Malformed {
            path: path.to_owned(),
            line,
            expected,
            found,
        };
        let Some(first) = lines.next_line().map_err(io_error)? else {
            return Err(malformed(1, "the first line of a part", "nothing".into()));
        };
        let header: Header = serde_json::from_slice(first)
            .ok()
            .filter(|header: &Header| header.schema == SCHEMA)
            .ok_or_else(|| malformed(1, "the first line of a part of this version", excerpt(first)))?;
        let mut number = 1;
        let mut written =
            Written { path: path.to_owned(), header, runs: Vec::new(), len: lines.at, finished: false };
        let mut last = String::new();
        let mut run_start = lines.at;
        let mut start = lines.at;
        while let Some(line) = lines.next_line().map_err(io_error)? {
            number += 1;
            let glance: Glance<'_> = serde_json::from_slice(line)
                .map_err(|_| malformed(number, "the record of a log", excerpt(line)))?;
            written.finished = glance.end;
            if let Some(source) = glance.source {
                if *source < *last {
                    written.runs.push((run_start, start));
                    run_start = start;
                }
                last.clear();
                last.push_str(&source);
                if let Some(held) = held.as_deref_mut() {
                    held.push(hash(&source));
                }
            }
            start = lines.at;
        }
        written.len = lines.at;
        written.runs.push((run_start, start));
        Ok(written)
    }

    /// The records, run by run.
    pub fn runs(&self) -> impl Iterator<Item = Result<Records, PartError>> {
        self.runs.iter().map(|&(start, end)| {
            let lines = Lines::open(&self.path, start, end - start);
            let path = self.path.clone();
            match lines {
                Ok(lines) => Ok(Records { path, lines }),
                Err(source) => Err(PartError::Io { path, source }),
            }
        })
    }
}

fn excerpt(line: &[u8]) -> String {
    let text: String = String::from_utf8_lossy(line).chars().take(60).collect();
    format!("{text:?}")
}

/// Records of a run, in order.
#[derive(Debug)]
pub(super) struct Records {
    path: PathBuf,
    lines: Lines,
}

impl Records {
    /// The next line that is a record, as text and its log's path.
    pub fn next_record(&mut self) -> Result<Option<(String, Vec<u8>)>, PartError> {
        loop {
            let line = match self.lines.next_line() {
                Ok(line) => line,
                Err(source) => return Err(PartError::Io { path: self.path.clone(), source }),
            };
            let Some(line) = line else { return Ok(None) };
            let glance: Option<Glance<'_>> = serde_json::from_slice(line).ok();
            if let Some(source) = glance.and_then(|glance| glance.source) {
                return Ok(Some((source.into_owned(), line.to_vec())));
            }
        }
    }

    /// A record in full.
    pub fn parse<'a, T: Deserialize<'a>>(&self, line: &'a [u8]) -> Result<T, PartError> {
        serde_json::from_slice(line).map_err(|problem| PartError::Malformed {
            path: self.path.clone(),
            line: 0,
            expected: "the record of a log",
            found: format!("{} ({problem})", excerpt(line)),
        })
    }
}

/// Whole lines of a piece of a file.
#[derive(Debug)]
struct Lines {
    input: BufReader<io::Take<File>>,
    line: Vec<u8>,
    /// Where in the file the next line begins.
    at: u64,
}

impl Lines {
    fn open(path: &Path, start: u64, len: u64) -> io::Result<Lines> {
        let mut file = File::open(path)?;
        file.seek(SeekFrom::Start(start))?;
        Ok(Lines { input: BufReader::with_capacity(32 << 10, file.take(len)), line: Vec::new(), at: start })
    }

    fn next_line(&mut self) -> io::Result<Option<&[u8]>> {
        self.line.clear();
        self.input.read_until(b'\n', &mut self.line)?;
        match self.line.strip_suffix(b"\n") {
            Some(line) => {
                self.at += line.len() as u64 + 1;
                Ok(Some(line))
            }
            None => Ok(None),
        }
    }
}
