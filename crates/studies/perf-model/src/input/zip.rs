//! The files of a zip archive, as far as experiments need it: stored or deflated, below 4 GiB.
//!
//! A reader of its own, because the format is small as long as nothing is written and nothing is encrypted.

use super::bytes::{u16_at, u32_at};
use crate::error::{Error, Result};
use flate2::Crc;
use flate2::read::DeflateDecoder;
use std::io::Read;

/// How an archive begins that has files.
pub(super) const START: &[u8] = b"PK\x03\x04";
const END: &[u8] = b"PK\x05\x06";
const ENTRY: &[u8] = b"PK\x01\x02";
/// The record at the end, without its comment, and the longest comment.
const END_LENGTH: usize = 22;
const LONGEST_COMMENT: usize = 0xffff;

/// An archive in memory.
pub(super) struct Zip<'a> {
    bytes: &'a [u8],
    source: &'a str,
    entries: Vec<Entry>,
}

struct Entry {
    name: Vec<u8>,
    method: u16,
    crc: u32,
    stored: usize,
    size: usize,
    offset: usize,
}

impl<'a> Zip<'a> {
    /// Read the directory of an archive.
    pub fn open(bytes: &'a [u8], source: &'a str) -> Result<Self> {
        let entries = directory(bytes).ok_or_else(|| {
            Error::format(source, None, "a zip archive with its directory at the end", "a damaged one")
        })?;
        Ok(Zip { bytes, source, entries })
    }

    /// The content of a file; `None` if there is no such file.
    pub fn file(&self, name: &str) -> Result<Option<Vec<u8>>> {
        let Some(entry) = self.entries.iter().find(|entry| entry.name == name.as_bytes()) else {
            return Ok(None);
        };
        let damaged = |found: &str| Error::format(self.source, None, format!("{name} in the archive"), found);
        let stored = self.stored(entry).ok_or_else(|| damaged("the end of the archive"))?;
        let mut content = Vec::new();
        // One byte more than there should be is enough to see that something is wrong.
        let limit = (entry.size as u64).saturating_add(1);
        let read = match entry.method {
            0 => stored.take(limit).read_to_end(&mut content),
            8 => DeflateDecoder::new(stored).take(limit).read_to_end(&mut content),
            _ => return Err(damaged(&format!("compression method {}", entry.method))),
        };
        read.map_err(|error| damaged(&error.to_string()))?;
        let mut crc = Crc::new();
        crc.update(&content);
        if content.len() != entry.size || crc.sum() != entry.crc {
            return Err(damaged("content that does not match its checksum"));
        }
        Ok(Some(content))
    }

    fn stored(&self, entry: &Entry) -> Option<&'a [u8]> {
        let head = self.bytes.get(entry.offset..)?;
        if !head.starts_with(START) {
            return None;
        }
        let start = 30 + usize::from(u16_at(head, 26)?) + usize::from(u16_at(head, 28)?);
        head.get(start..start.checked_add(entry.stored)?)
    }
}

fn directory(bytes: &[u8]) -> Option<Vec<Entry>> {
    let last = bytes.len().checked_sub(END_LENGTH)?;
    let first = last.saturating_sub(LONGEST_COMMENT);
    let end = (first..=last).rev().find(|&at| bytes[at..].starts_with(END))?;
    let end = &bytes[end..];
    let count = u16_at(end, 10)?;
    let mut at = u32_at(end, 16)? as usize;
    let mut entries = Vec::new();
    for _ in 0..count {
        let entry = bytes.get(at..)?;
        if !entry.starts_with(ENTRY) {
            return None;
        }
        let lengths = [28, 30, 32].map(|at| u16_at(entry, at).map(usize::from));
        let [Some(name), Some(extra), Some(comment)] = lengths else { return None };
        entries.push(Entry {
            name: entry.get(46..46 + name)?.to_vec(),
            method: u16_at(entry, 10)?,
            crc: u32_at(entry, 16)?,
            stored: u32_at(entry, 20)? as usize,
            size: u32_at(entry, 24)? as usize,
            offset: u32_at(entry, 42)? as usize,
        });
        at += 46 + name + extra + comment;
    }
    Some(entries)
}
