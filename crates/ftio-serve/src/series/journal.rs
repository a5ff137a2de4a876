//! The journal: what was pushed since series were last written to their files.
//!
//! Once a second everything that came is appended as one frame (length, CRC-32, JSON) and flushed to the
//! disk. After a crash it is read up to the first frame that is not whole; each record has a number, and a
//! series knows up to which one it is complete, so nothing counts twice.

use crate::job::Kind;
use anyhow::Context;
use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

/// No frame is longer.
const LONGEST: usize = 64 << 20;

/// Values of one job at one time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Its number.
    pub n: u64,
    /// The job, by its number in the database.
    pub job: i64,
    /// Seconds of job time.
    pub t: f64,
    /// What came.
    pub values: Vec<Change>,
}

/// One value: name, kind, increment or value, and of a counter that comes as a running sum, that sum.
pub type Change = (String, Kind, f64, Option<f64>);

/// The journal that is being written.
#[derive(Debug)]
pub struct Journal {
    folder: PathBuf,
    file: File,
    number: u64,
    length: u64,
    next: u64,
    waiting: Vec<Record>,
    /// It could not be written. What came since is in memory alone, until all series have been saved.
    pub broken: bool,
}

impl Journal {
    /// Read what is there, then begin a new one. What was read must be in the files of series before
    /// [`forget`](Self::forget).
    pub fn open(data: &Path) -> anyhow::Result<(Self, Vec<Record>)> {
        let folder = data.join("journal");
        std::fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
        let mut numbers = numbers(&folder)?;
        numbers.sort_unstable();
        let mut records = Vec::new();
        for number in &numbers {
            let mut bytes = Vec::new();
            let path = folder.join(number.to_string());
            let read = File::open(&path).and_then(|mut file| file.read_to_end(&mut bytes));
            if let Err(error) = read {
                eprintln!("ftio serve: {}: {error}; what it holds is lost", path.display());
            }
            records.extend(whole_frames(&bytes));
        }
        let number = numbers.last().map_or(1, |last| last + 1);
        let next = records.iter().map(|record| record.n + 1).max().unwrap_or(1);
        let file = create(&folder, number)?;
        Ok((Journal { folder, file, number, length: 0, next, waiting: Vec::new(), broken: false }, records))
    }

    /// Records are numbered from here on: higher than anything that a series knows.
    pub fn start_after(&mut self, last: u64) {
        self.next = self.next.max(last + 1);
    }

    /// Take a record; it is on disk when the next [`frame`](Self::frame) has been written.
    pub fn add(&mut self, job: i64, t: f64, values: Vec<Change>) -> u64 {
        let n = self.next;
        self.next += 1;
        self.waiting.push(Record { n, job, t, values });
        n
    }

    /// Is there something to flush?
    pub fn is_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Bytes since the last checkpoint.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Take what waits, as a frame, and the file to write it to: writing needs no lock.
    pub fn frame(&mut self) -> anyhow::Result<Option<(Vec<u8>, File)>> {
        // After a frame that is not whole, none would be read.
        if self.waiting.is_empty() || self.broken {
            return Ok(None);
        }
        let frame = framed(&std::mem::take(&mut self.waiting))?;
        self.length += frame.len() as u64;
        Ok(Some((frame, self.file.try_clone()?)))
    }

    /// Is the file that is written still there?
    pub fn is_in_place(&self) -> bool {
        self.folder.join(self.number.to_string()).exists()
    }

    /// Begin a new file; the number of the one before, for [`forget`](Self::forget).
    pub fn rotate(&mut self) -> anyhow::Result<u64> {
        let before = self.number;
        self.file = create(&self.folder, before + 1)?;
        (self.number, self.length) = (before + 1, 0);
        Ok(before)
    }

    /// What was in files up to this number is in the files of series now.
    pub fn forget(&self, upto: u64) {
        for number in numbers(&self.folder).unwrap_or_default() {
            if number <= upto {
                let _ = std::fs::remove_file(self.folder.join(number.to_string()));
            }
        }
    }
}

/// Records as a frame; as several if one would be too long.
fn framed(records: &[Record]) -> serde_json::Result<Vec<u8>> {
    let content = serde_json::to_vec(records)?;
    if content.len() > LONGEST / 4 && records.len() > 1 {
        let (first, second) = records.split_at(records.len() / 2);
        return Ok([framed(first)?, framed(second)?].concat());
    }
    let mut frame = Vec::with_capacity(content.len() + 8);
    frame.extend_from_slice(&(content.len() as u32).to_le_bytes());
    frame.extend_from_slice(&crc32fast::hash(&content).to_le_bytes());
    frame.extend_from_slice(&content);
    Ok(frame)
}

/// Write a frame and make sure that it is on disk.
pub fn write(frame: &[u8], file: &mut File) -> std::io::Result<()> {
    file.write_all(frame)?;
    file.sync_data()
}

fn create(folder: &Path, number: u64) -> anyhow::Result<File> {
    let path = folder.join(number.to_string());
    std::fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    OpenOptions::new().append(true).create(true).open(&path).with_context(|| path.display().to_string())
}

fn numbers(folder: &Path) -> std::io::Result<Vec<u64>> {
    let entries = std::fs::read_dir(folder)?.flatten();
    Ok(entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect())
}

/// The records of all frames up to the first that is not whole.
pub fn whole_frames(mut bytes: &[u8]) -> Vec<Record> {
    let mut records = Vec::new();
    while let Some((head, rest)) = bytes.split_first_chunk::<8>() {
        let length = u32::from_le_bytes([head[0], head[1], head[2], head[3]]) as usize;
        let sum = u32::from_le_bytes([head[4], head[5], head[6], head[7]]);
        let Some((content, after)) = rest.split_at_checked(length).filter(|_| length <= LONGEST) else {
            break;
        };
        if crc32fast::hash(content) != sum {
            break;
        }
        let Ok(some) = serde_json::from_slice::<Vec<Record>>(content) else { break };
        records.extend(some);
        bytes = after;
    }
    records
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn filled(data: &Path) -> Vec<u8> {
        let (mut journal, before) = Journal::open(data).unwrap();
        assert!(before.is_empty());
        for i in 0..3 {
            journal.add(i, 1.5, vec![("w".into(), Kind::Counter, 7.0, None)]);
            let (frame, mut file) = journal.frame().unwrap().unwrap();
            write(&frame, &mut file).unwrap();
        }
        std::fs::read(data.join("journal/1")).unwrap()
    }

    #[test]
    fn a_torn_end_is_cut_off() {
        let folder = tempfile::tempdir().unwrap();
        let bytes = filled(folder.path());
        for length in 0..bytes.len() {
            let whole = whole_frames(&bytes[..length]);
            assert!(whole.len() < 3 && whole.iter().zip(1..).all(|(record, n)| record.n == n));
        }
        let (mut journal, records) = Journal::open(folder.path()).unwrap();
        assert_eq!(records.len(), 3);
        assert_eq!(journal.add(1, 0.0, Vec::new()), 4, "numbers go on");
        let before = journal.rotate().unwrap();
        journal.forget(before);
        assert_eq!(Journal::open(folder.path()).unwrap().1.len(), 0);
    }

    /// Much that comes within a second is not taken for damage when it is read again.
    #[test]
    fn what_is_too_long_for_one_frame_is_several() {
        let values = |n: u64| vec![("x".repeat(1 << 20), Kind::Counter, n as f64, None)];
        let records: Vec<Record> =
            (1..=70).map(|n| Record { n, job: 1, t: 0.0, values: values(n) }).collect();
        let frames = framed(&records).unwrap();
        assert!(frames.len() > LONGEST);
        assert!(whole_frames(&frames) == records);
    }

    proptest! {
        #[test]
        fn any_bytes_are_no_danger(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let _ = whole_frames(&bytes);
        }
    }
}
