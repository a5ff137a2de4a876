//! The log of the database (`jobs.db-wal`), looked through before SQLite does. After a crash SQLite takes
//! from it what is whole, up to the first part that is not, and says nothing about the rest.

use crate::damage::{Damages, Kind, copy_aside};
use std::fs::File;
use std::io::{BufReader, Read, Result};
use std::path::Path;

/// Of the file, and of each page in it.
const FILE_HEAD: usize = 32;
const PAGE_HEAD: usize = 24;

/// Pages that are in the log, up to the first that is not whole, and how many come after it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Pages {
    whole: usize,
    lost: usize,
}

/// Look through the log. What SQLite will leave out is told, and the log is kept aside.
pub fn look(data: &Path, damages: &Damages) {
    let path = data.join("jobs.db-wal");
    let Ok(file) = File::open(&path) else { return };
    match pages(BufReader::new(file)) {
        Ok(Pages { lost: 0, .. }) => {}
        Ok(Pages { whole, lost }) => {
            let aside = copy_aside(data, &path, "jobs.db-wal");
            let aside = aside.map_or_else(|error| error.to_string(), |path| path.display().to_string());
            damages.add(
                Kind::Log,
                &format!(
                    "{}: page {} is not whole: changes in it and in {} pages after it are lost, which are \
                     those of the last second before the service ended; the log is kept in {aside}",
                    path.display(),
                    whole + 1,
                    lost - 1
                ),
            );
        }
        Err(error) => damages.add(Kind::Log, &format!("{}: {error}", path.display())),
    }
}

fn word(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..at + 4).map_or(0, |four| u32::from_be_bytes([four[0], four[1], four[2], four[3]]))
}

/// SQLite's checksum of pairs of words, in either order of bytes.
fn sum(mut sums: (u32, u32), bytes: &[u8], big: bool) -> (u32, u32) {
    for pair in bytes.chunks_exact(8) {
        let read = |at: usize| {
            let four = [pair[at], pair[at + 1], pair[at + 2], pair[at + 3]];
            if big { u32::from_be_bytes(four) } else { u32::from_le_bytes(four) }
        };
        sums.0 = sums.0.wrapping_add(read(0)).wrapping_add(sums.1);
        sums.1 = sums.1.wrapping_add(read(4)).wrapping_add(sums.0);
    }
    sums
}

/// Count pages; see section 4 of SQLite's file format. Pages of an earlier use of the log have another salt.
fn pages(mut from: impl Read) -> Result<Pages> {
    let mut head = Vec::new();
    from.by_ref().take(FILE_HEAD as u64).read_to_end(&mut head)?;
    let mut pages = Pages::default();
    if head.len() < FILE_HEAD {
        return Ok(pages);
    }
    let big = word(&head, 0) & 1 == 1;
    let size = word(&head, 8) as usize;
    let mut sums = sum((0, 0), &head[..24], big);
    let known = matches!(word(&head, 0), 0x377f_0682 | 0x377f_0683) && (512..=65_536).contains(&size);
    if !known || sums != (word(&head, 24), word(&head, 28)) {
        // SQLite takes nothing of it. If there is something, it is lost.
        let mut rest = [0; PAGE_HEAD + 512];
        let some = from.read(&mut rest)? > PAGE_HEAD && rest.iter().any(|byte| *byte != 0);
        return Ok(Pages { whole: 0, lost: usize::from(some) });
    }
    let mut page = Vec::with_capacity(PAGE_HEAD + size);
    loop {
        page.clear();
        let length = from.by_ref().take((PAGE_HEAD + size) as u64).read_to_end(&mut page)?;
        if length == 0 {
            return Ok(pages);
        }
        let ours = length > 16 && page[8..16] == head[16..24];
        if !ours && pages.lost == 0 {
            // An earlier use of the log; or zeros, which the file system has put there. But if pages of this
            // use come later, this one is damaged.
            pages.lost += later(&mut from, &head[16..24], PAGE_HEAD + size)?;
            return Ok(pages);
        }
        sums = sum(sums, &page[..8], big);
        sums = sum(sums, page.get(PAGE_HEAD..).unwrap_or_default(), big);
        let whole = length == PAGE_HEAD + size && sums == (word(&page, 16), word(&page, 20));
        if !whole {
            pages.lost = 1 + later(&mut from, &head[16..24], PAGE_HEAD + size)?;
            return Ok(pages);
        }
        pages.whole += 1;
    }
}

/// How many pages with this salt come after one that is not whole, in a row of those that have it.
fn later(from: &mut impl Read, salt: &[u8], size: usize) -> Result<usize> {
    let (mut count, mut between) = (0, 0);
    let mut page = Vec::with_capacity(size);
    loop {
        page.clear();
        if from.by_ref().take(size as u64).read_to_end(&mut page)? < size {
            return Ok(count);
        }
        if page[8..16] == *salt {
            count += 1 + between;
            between = 0;
        } else {
            between += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rusqlite::Connection;

    /// A log with ten transactions, and pages of an earlier use after them.
    fn log() -> Vec<u8> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.db");
        let database = Connection::open(&path).unwrap();
        database.pragma_update(None, "journal_mode", "WAL").unwrap();
        let fill = |count: usize| {
            for i in 0..count {
                database.execute("INSERT INTO t VALUES (?1, ?2)", (i, "x".repeat(3000))).unwrap();
            }
        };
        database.execute_batch("CREATE TABLE t (a, b)").unwrap();
        fill(40);
        database.query_row("PRAGMA wal_checkpoint(RESTART)", [], |_| Ok(())).unwrap();
        fill(10);
        std::fs::read(folder.path().join("x.db-wal")).unwrap()
    }

    #[test]
    fn what_is_lost_is_found() {
        let log = log();
        let page = PAGE_HEAD + 4096;
        let whole = pages(&log[..]).unwrap();
        assert!(whole.whole >= 10 && whole.lost == 0, "{whole:?}");
        assert!(log.len() > FILE_HEAD + whole.whole * page, "there are pages of an earlier use");
        for number in 0..whole.whole {
            for at in [0, 9, 17, PAGE_HEAD + 1, PAGE_HEAD + 4095] {
                let mut spoilt = log.clone();
                spoilt[FILE_HEAD + number * page + at] ^= 0x10;
                let found = pages(&spoilt[..]).unwrap();
                let last = number + 1 == whole.whole;
                // The last one with another salt looks as one of an earlier use.
                let lost = if last && at == 9 { 0 } else { whole.whole - number - usize::from(at == 9) };
                assert_eq!(found, Pages { whole: number, lost }, "page {number}, byte {at}");
            }
        }
        for length in [0, 5, FILE_HEAD, FILE_HEAD + 5, FILE_HEAD + page] {
            assert!(pages(&log[..length]).unwrap().lost <= 1);
        }
        assert_eq!(pages(&log[..FILE_HEAD + page + 100]).unwrap(), Pages { whole: 1, lost: 1 });
        let mut spoilt = log.clone();
        spoilt[20] ^= 1;
        assert_eq!(pages(&spoilt[..]).unwrap(), Pages { whole: 0, lost: 1 });
    }
}
