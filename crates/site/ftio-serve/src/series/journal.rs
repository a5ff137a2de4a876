//! The journal: what was pushed since series were last written to their files.
//!
//! What a push brings is written as a frame (length, CRC-32, JSON) before the push is answered, and the file
//! is flushed to the disk once a second. After a crash all frames are read that are whole; each record has a
//! number, and a series knows up to which one it is complete, so nothing counts twice. A frame that is
//! damaged costs itself: the next one is found by how its content begins.

use crate::job::Kind;
use anyhow::Context;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// No frame is longer.
const MAX_FRAME: usize = 64 << 20;
/// A file that has grown to this size is followed by another one.
const MAX_FILE: u64 = 64 << 20;
/// How the content of every frame begins.
const BEGINNING: &[u8] = b"[{\"n\":";
/// Length and checksum.
const FRAME_HEAD: usize = 8;

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
    file: Arc<File>,
    number: u64,
    /// Bytes of this file, and since the last checkpoint.
    length: u64,
    written: u64,
    next: u64,
    waiting: Vec<Record>,
    /// Files before this one that may not be on the disk yet.
    before: Vec<Arc<File>>,
    /// It could not be written. What came since is in memory alone, until all series have been saved.
    pub broken: bool,
}

impl Journal {
    /// Begin a new file, after those that are there. [`files()`] names these; what is in them must be in the
    /// files of series before [`forget`](Self::forget).
    pub fn open(data: &Path) -> anyhow::Result<Self> {
        let folder = data.join("journal");
        crate::store::private_folder(&folder).with_context(|| folder.display().to_string())?;
        let number = numbers(&folder)?.last().map_or(1, |last| last + 1);
        let file = Arc::new(create(&folder, number)?);
        let (waiting, before) = (Vec::new(), Vec::new());
        Ok(Journal { folder, file, number, length: 0, written: 0, next: 1, waiting, before, broken: false })
    }

    /// Records are numbered from here on: higher than anything that a series knows.
    pub fn start_after(&mut self, last: u64) {
        self.next = self.next.max(last.saturating_add(1));
    }

    /// Take a record; it is in the file when [`take`](Self::take) and [`write()`] have been called.
    pub fn add(&mut self, job: i64, t: f64, values: Vec<Change>) -> u64 {
        let n = self.next;
        self.next += 1;
        self.waiting.push(Record { n, job, t, values });
        n
    }

    /// Bytes since the last checkpoint.
    pub fn written(&self) -> u64 {
        self.written
    }

    /// The number of the file that is written.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// What waits, and the file to write it to: writing needs no lock.
    pub fn take(&mut self) -> anyhow::Result<Option<(Vec<Record>, Arc<File>)>> {
        // Until all series have been saved, nothing more is promised.
        if self.waiting.is_empty() || self.broken {
            return Ok(None);
        }
        if self.length >= MAX_FILE {
            self.begin_file()?;
        }
        Ok(Some((std::mem::take(&mut self.waiting), Arc::clone(&self.file))))
    }

    /// So many bytes were written.
    pub fn wrote(&mut self, bytes: usize) {
        self.length += bytes as u64;
        self.written += bytes as u64;
    }

    /// The files to flush: the one that is written, and those before it that were not flushed yet.
    pub fn files(&mut self) -> Vec<Arc<File>> {
        let mut all = std::mem::take(&mut self.before);
        all.push(Arc::clone(&self.file));
        all
    }

    /// Is the file that is written still there?
    pub fn is_in_place(&self) -> bool {
        self.folder.join(self.number.to_string()).exists()
    }

    fn begin_file(&mut self) -> anyhow::Result<()> {
        let new = Arc::new(create(&self.folder, self.number + 1)?);
        self.before.push(std::mem::replace(&mut self.file, new));
        (self.number, self.length) = (self.number + 1, 0);
        Ok(())
    }

    /// Begin a new file; the number of the one before, for [`forget`](Self::forget).
    pub fn rotate(&mut self) -> anyhow::Result<u64> {
        let before = self.number;
        self.begin_file()?;
        self.written = 0;
        // What could not be written is in the series that are saved now.
        if self.broken {
            self.waiting.clear();
            self.before.clear();
        }
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
pub fn framed(records: &[Record]) -> serde_json::Result<Vec<u8>> {
    let content = serde_json::to_vec(records)?;
    if content.len() > MAX_FRAME / 4 && records.len() > 1 {
        let (first, second) = records.split_at(records.len() / 2);
        return Ok([framed(first)?, framed(second)?].concat());
    }
    let mut frame = Vec::with_capacity(content.len() + FRAME_HEAD);
    frame.extend_from_slice(&(content.len() as u32).to_le_bytes());
    frame.extend_from_slice(&crc32fast::hash(&content).to_le_bytes());
    frame.extend_from_slice(&content);
    Ok(frame)
}

/// Write frames. They survive the end of the process from here on, and that of the machine when the file is
/// flushed.
pub fn write(frames: &[u8], file: &File) -> std::io::Result<()> {
    (&*file).write_all(frames)
}

fn create(folder: &Path, number: u64) -> anyhow::Result<File> {
    let path = folder.join(number.to_string());
    let named = || path.display().to_string();
    crate::store::private_folder(folder).with_context(named)?;
    crate::store::private_file(&path).with_context(named)
}

/// The numbers of the files in the folder, in order.
fn numbers(folder: &Path) -> std::io::Result<Vec<u64>> {
    let entries = std::fs::read_dir(folder)?.flatten();
    let mut numbers: Vec<u64> =
        entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    numbers.sort_unstable();
    Ok(numbers)
}

/// The files of the journal that are there, in order.
pub fn files(data: &Path) -> Vec<PathBuf> {
    let folder = data.join("journal");
    numbers(&folder).unwrap_or_default().iter().map(|number| folder.join(number.to_string())).collect()
}

/// What could not be read of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lost {
    pub from: u64,
    pub to: u64,
    /// Nothing comes after it: the write was not finished, unless it is damaged.
    pub at_end: bool,
}

/// Read the records of all frames that are whole, and no more of the file at a time than a frame is long.
pub fn read(from: impl Read, visit: &mut dyn FnMut(Record)) -> std::io::Result<Vec<Lost>> {
    let mut bytes = Window { from, bytes: Vec::new(), passed: 0, place: 0, over: false };
    let mut lost: Vec<Lost> = Vec::new();
    while !bytes.is_over()? {
        match bytes.frame(0)? {
            Some((records, length)) => {
                records.into_iter().for_each(&mut *visit);
                bytes.pass(length);
            }
            None => {
                let from = bytes.place;
                let found = bytes.find_next()?;
                lost.push(Lost { from, to: bytes.place, at_end: !found });
            }
        }
    }
    Ok(lost)
}

/// A part of a file.
struct Window<R> {
    from: R,
    bytes: Vec<u8>,
    /// What was passed of them.
    passed: usize,
    /// Where the rest begins in the file.
    place: u64,
    /// There is nothing after it.
    over: bool,
}

impl<R: Read> Window<R> {
    fn rest(&self) -> &[u8] {
        &self.bytes[self.passed..]
    }

    /// Have this many bytes, if there are.
    fn fill(&mut self, length: usize) -> std::io::Result<()> {
        const PIECE: usize = 64 << 10;
        let have = self.rest().len();
        if have < length && !self.over {
            self.bytes.drain(..self.passed);
            self.passed = 0;
            let more = (length - have).max(PIECE) as u64;
            let read = self.from.by_ref().take(more).read_to_end(&mut self.bytes)?;
            self.over = (read as u64) < more;
        }
        Ok(())
    }

    fn is_over(&mut self) -> std::io::Result<bool> {
        self.fill(1)?;
        Ok(self.rest().is_empty())
    }

    fn pass(&mut self, length: usize) {
        self.passed += length;
        self.place += length as u64;
    }

    /// The records of a frame that begins here, and its length.
    fn frame(&mut self, at: usize) -> std::io::Result<Option<(Vec<Record>, usize)>> {
        self.fill(at + FRAME_HEAD)?;
        let Some(head) = self.rest().get(at..at + FRAME_HEAD) else { return Ok(None) };
        let length = u32::from_le_bytes([head[0], head[1], head[2], head[3]]) as usize;
        let sum = u32::from_le_bytes([head[4], head[5], head[6], head[7]]);
        if length > MAX_FRAME {
            return Ok(None);
        }
        self.fill(at + FRAME_HEAD + length)?;
        let content = self.rest().get(at + FRAME_HEAD..at + FRAME_HEAD + length);
        let whole = content.filter(|content| crc32fast::hash(content) == sum);
        let records = whole.and_then(|content| serde_json::from_slice(content).ok());
        Ok(records.map(|records| (records, FRAME_HEAD + length)))
    }

    /// Go to the next frame that is whole; to the end if there is none.
    fn find_next(&mut self) -> std::io::Result<bool> {
        // Where it may begin.
        let mut at = 1;
        loop {
            self.fill(at + FRAME_HEAD + BEGINNING.len())?;
            let contents = self.rest().get(at + FRAME_HEAD..).unwrap_or_default();
            let found = contents.windows(BEGINNING.len()).position(|some| some == BEGINNING);
            if let Some(found) = found {
                at += found;
                if self.frame(at)?.is_some() {
                    self.pass(at);
                    return Ok(true);
                }
                at += 1;
                continue;
            }
            let length = self.rest().len();
            if self.over {
                self.pass(length);
                return Ok(false);
            }
            // The content of the next one may begin at the edge.
            self.pass((length + 1).saturating_sub(FRAME_HEAD + BEGINNING.len()).max(at));
            at = 0;
            self.fill(length)?;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn record(n: u64) -> Record {
        let name = format!("w{n}_[{{\"n\":").repeat(1 + n as usize % 3);
        Record { n, job: 1, t: 0.5, values: vec![(name, Kind::Counter, n as f64, None)] }
    }

    fn frames(count: u64) -> Vec<Vec<u8>> {
        (1..=count).map(|n| framed(&[record(n)]).unwrap()).collect()
    }

    /// The numbers of the records that can be read, and what is lost.
    fn found(bytes: &[u8]) -> (Vec<u64>, Vec<Lost>) {
        let mut all = Vec::new();
        let lost = read(bytes, &mut |record| all.push(record)).unwrap();
        assert!(all.iter().all(|one| *one == record(one.n)), "nothing is made up");
        (all.iter().map(|record| record.n).collect(), lost)
    }

    #[test]
    fn a_torn_end_is_cut_off_and_told() {
        let bytes = frames(3).concat();
        for length in 0..bytes.len() {
            let (whole, lost) = found(&bytes[..length]);
            assert!(whole.len() < 3 && whole.iter().zip(1..).all(|(record, n)| *record == n));
            let before = frames(3)[..whole.len()].concat().len();
            let told = Lost { from: before as u64, to: length as u64, at_end: true };
            assert_eq!(lost, if before == length { vec![] } else { vec![told] });
        }
        assert_eq!(found(&bytes), (vec![1, 2, 3], vec![]));
    }

    #[test]
    fn numbers_go_on_and_files_follow_each_other() {
        let folder = tempfile::tempdir().unwrap();
        let mut journal = Journal::open(folder.path()).unwrap();
        journal.start_after(6);
        assert_eq!(journal.add(1, 0.0, Vec::new()), 7);
        let (records, file) = journal.take().unwrap().unwrap();
        write(&framed(&records).unwrap(), &file).unwrap();
        assert!(journal.take().unwrap().is_none(), "nothing waits");
        journal.wrote(MAX_FILE as usize);
        journal.add(1, 0.0, Vec::new());
        journal.take().unwrap().unwrap();
        assert_eq!(journal.number(), 2, "a file that is long is followed by another");
        let before = journal.rotate().unwrap();
        assert_eq!(files(folder.path()).len(), 3);
        journal.forget(before);
        assert_eq!(files(folder.path()).len(), 1);
    }

    /// Much that comes at once is not taken for damage when it is read again.
    #[test]
    fn what_is_too_long_for_one_frame_is_several() {
        let values = |n: u64| vec![("x".repeat(1 << 20), Kind::Counter, n as f64, None)];
        let records: Vec<Record> =
            (1..=70).map(|n| Record { n, job: 1, t: 0.0, values: values(n) }).collect();
        let frames = framed(&records).unwrap();
        assert!(frames.len() > MAX_FRAME);
        let mut again = Vec::new();
        assert_eq!(read(&frames[..], &mut |record| again.push(record)).unwrap(), []);
        assert!(again == records);
    }

    proptest! {
        #[test]
        fn any_bytes_are_no_danger(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let _ = read(&bytes[..], &mut |_| {});
        }

        /// Whatever becomes of one frame, all others are read, and what is lost is told.
        #[test]
        fn a_damaged_frame_costs_itself(
            which in 0usize..12,
            how in 0u8..4,
            at in any::<prop::sample::Index>(),
            some in prop::collection::vec(any::<u8>(), 1..40),
        ) {
            let mut frames = frames(12);
            let whole = frames[which].clone();
            let at = at.index(whole.len());
            match how {
                0 => frames[which][at] ^= 1 << (some[0] % 8),
                1 => frames[which][at..].fill(0),
                2 => frames[which].truncate(at),
                _ => _ = frames[which].splice(at..at, some.iter().copied()),
            }
            let (read, lost) = found(&frames.concat());
            let same = frames[which] == whole;
            // One that lacks its last byte may find it in the next one, which then lacks its first.
            prop_assert!(read.len() >= 11, "{read:?}");
            prop_assert_eq!(lost.is_empty(), same || frames[which].is_empty());
        }
    }
}
