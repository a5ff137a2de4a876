//! Series on disk: one file a job, written whole and renamed, with a checksum.
//!
//! `FTSR`, version, level, record of the journal, number of columns; then for each its name, kind and bins;
//! at the end the CRC-32 of everything before. Bins are columns as in a trace of tmio: differences cost
//! nothing where there is nothing, and whole numbers a few bytes.

use super::{Column, Seen, Series};
use crate::store::{private_file, private_folder};
use anyhow::Context;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use tmio_trace::column::{ColumnReader, ColumnWriter};

const MAGIC: &[u8; 4] = b"FTSR";
const FILE_VERSION: u8 = 1;
/// If more are written at once, the disk is flushed once for all of them.
const FLUSHED_ONE_BY_ONE: usize = 32;
/// Above this not every whole number is a float.
const EXACT: f64 = (1u64 << 53) as f64;

/// The file of a series.
pub fn encode(series: &Series) -> Vec<u8> {
    let mut out = Vec::new();
    out.extend_from_slice(MAGIC);
    out.push(FILE_VERSION);
    out.extend_from_slice(&series.level.to_le_bytes());
    out.extend_from_slice(&series.journaled.to_le_bytes());
    put(&mut out, series.columns.len() as u64);
    for (name, column) in &series.columns {
        put(&mut out, name.len() as u64);
        out.extend_from_slice(name.as_bytes());
        put(&mut out, column.len() as u64);
        match column {
            Column::Counter(bins) => {
                out.push(0);
                numbers(&mut out, bins.iter().copied());
            }
            Column::Gauge(bins) => {
                out.push(1);
                numbers(&mut out, bins.iter().map(|seen| seen.least));
                numbers(&mut out, bins.iter().map(|seen| seen.greatest));
                numbers(&mut out, bins.iter().map(|seen| seen.sum));
                numbers(&mut out, bins.iter().map(|seen| seen.count));
            }
        }
    }
    let sum = crc32fast::hash(&out);
    out.extend_from_slice(&sum.to_le_bytes());
    out
}

fn put(out: &mut Vec<u8>, value: u64) {
    out.extend_from_slice(&(value as u32).to_le_bytes());
}

/// Whole numbers as they are, others by their bits.
fn numbers(out: &mut Vec<u8>, values: impl Iterator<Item = f64> + Clone) {
    let whole = values
        .clone()
        .all(|value| value.fract() == 0.0 && value.abs() <= EXACT && value.to_bits() != MINUS_ZERO);
    let mut writer = ColumnWriter::default();
    writer.restart(values.clone().count());
    for value in values {
        writer.push(if whole { value as i64 } else { value.to_bits() as i64 });
    }
    let bytes = writer.finish();
    out.push(u8::from(!whole));
    put(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

const MINUS_ZERO: u64 = 1 << 63;

/// What [`encode`] wrote; `None` if it is damaged.
pub fn decode(bytes: &[u8]) -> Option<Series> {
    let (content, sum) = bytes.split_last_chunk::<4>()?;
    if crc32fast::hash(content) != u32::from_le_bytes(*sum) {
        return None;
    }
    let mut rest = content.strip_prefix(MAGIC)?.strip_prefix(&[FILE_VERSION])?;
    let mut series = Series::new(0);
    series.level = i32::from_le_bytes(*take(&mut rest)?);
    if !(super::FINEST..=super::COARSEST).contains(&series.level) {
        return None;
    }
    series.journaled = u64::from_le_bytes(*take(&mut rest)?);
    let count = get(&mut rest)?;
    let mut columns = BTreeMap::new();
    // A few bytes may stand for very many bins.
    let mut left = super::MAX_SERIES as u64;
    for _ in 0..count {
        let length = get(&mut rest)? as usize;
        let (name, after) = rest.split_at_checked(length)?;
        rest = after;
        let name = std::str::from_utf8(name).ok()?.to_owned();
        let bins = get(&mut rest)?;
        let [kind] = *take(&mut rest)?;
        let size = if kind == 0 { size_of::<f64>() } else { size_of::<Seen>() };
        left = left.checked_sub(bins * size as u64)?;
        let column = match kind {
            0 => Column::Counter(read(&mut rest, bins)?),
            1 => {
                let parts: Vec<Vec<f64>> = (0..4).map(|_| read(&mut rest, bins)).collect::<Option<_>>()?;
                let seen = |i: usize| Seen {
                    least: parts[0][i],
                    greatest: parts[1][i],
                    sum: parts[2][i],
                    count: parts[3][i],
                };
                Column::Gauge((0..bins as usize).map(seen).collect())
            }
            _ => return None,
        };
        columns.insert(name, column);
    }
    series.columns = columns;
    series.count();
    rest.is_empty().then_some(series)
}

fn take<'a, const N: usize>(rest: &mut &'a [u8]) -> Option<&'a [u8; N]> {
    let (first, after) = rest.split_first_chunk::<N>()?;
    *rest = after;
    Some(first)
}

fn get(rest: &mut &[u8]) -> Option<u64> {
    take(rest).map(|bytes| u64::from(u32::from_le_bytes(*bytes)))
}

fn read(rest: &mut &[u8], count: u64) -> Option<Vec<f64>> {
    let [bits] = *take(rest)?;
    let length = get(rest)? as usize;
    let (bytes, after) = rest.split_at_checked(length)?;
    *rest = after;
    let mut reader = ColumnReader::new(bytes);
    let mut values = Vec::with_capacity(count as usize);
    for _ in 0..count {
        let value = reader.next_value()?;
        values.push(if bits == 0 { value as f64 } else { f64::from_bits(value as u64) });
    }
    Some(values)
}

/// The file of a series cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damaged {
    /// Where it is now.
    pub aside: PathBuf,
    /// It was found just now.
    pub new: bool,
}

/// The folder of series. Files are named by the number of the job, never by what a user calls it.
#[derive(Clone, Debug)]
pub struct SeriesFiles {
    folder: PathBuf,
}

impl SeriesFiles {
    /// The folder `series` below `data`.
    pub fn open(data: &Path) -> anyhow::Result<Self> {
        let folder = data.join("series");
        private_folder(&folder).with_context(|| folder.display().to_string())?;
        Ok(SeriesFiles { folder })
    }

    /// A thousand to a folder.
    fn path(&self, job: i64) -> PathBuf {
        self.folder.join((job / 1000).to_string()).join(format!("{job}.series"))
    }

    /// The series of a job; `None` if there is none. One that is damaged is put aside, under a name of its
    /// own beside the others, so that it is known later as well.
    pub fn load(&self, job: i64) -> Result<Option<Series>, Damaged> {
        let path = self.path(job);
        let aside = path.with_extension("damaged");
        let read = match std::fs::read(&path) {
            Ok(bytes) => decode(&bytes),
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return if aside.exists() { Err(Damaged { aside, new: false }) } else { Ok(None) };
            }
            // The disk cannot read it.
            Err(_) => None,
        };
        match read {
            Some(series) => Ok(Some(series)),
            None => {
                let moved = std::fs::rename(&path, &aside).is_ok();
                Err(Damaged { aside: if moved { aside } else { path }, new: true })
            }
        }
    }

    /// Write some: the old files stay until the new ones are whole and on the disk.
    pub fn save<'a>(&self, all: impl Iterator<Item = (i64, &'a Series)>) -> anyhow::Result<()> {
        let mut new = Vec::new();
        for (job, series) in all {
            let path = self.path(job);
            let draft = self.draft(&path, series).with_context(|| path.display().to_string())?;
            new.push((path, draft));
        }
        // A flush for each, or one for all if there are many.
        if new.len() > FLUSHED_ONE_BY_ONE {
            rustix::fs::syncfs(File::open(&self.folder)?)?;
        }
        let mut folders = BTreeSet::new();
        for (path, draft) in &new {
            let named = || path.display().to_string();
            if new.len() <= FLUSHED_ONE_BY_ONE {
                draft.sync_data().with_context(named)?;
            }
            std::fs::rename(path.with_extension("new"), path).with_context(named)?;
            let _ = std::fs::remove_file(path.with_extension("damaged"));
            folders.extend(path.parent().map(Path::to_owned));
        }
        for folder in folders.iter().chain([&self.folder]) {
            File::open(folder)
                .and_then(|folder| folder.sync_all())
                .with_context(|| folder.display().to_string())?;
        }
        Ok(())
    }

    /// Write one that can be made again: it is on the disk when the system has the time.
    pub fn put(&self, job: i64, series: &Series) -> anyhow::Result<()> {
        let path = self.path(job);
        let named = || path.display().to_string();
        self.draft(&path, series).with_context(named)?;
        let _ = std::fs::remove_file(path.with_extension("damaged"));
        std::fs::rename(path.with_extension("new"), &path).with_context(named)
    }

    fn draft(&self, path: &Path, series: &Series) -> std::io::Result<File> {
        private_folder(path.parent().unwrap_or(&self.folder))?;
        let new = path.with_extension("new");
        let _ = std::fs::remove_file(&new);
        let mut file = private_file(&new)?;
        file.write_all(&encode(series))?;
        Ok(file)
    }

    /// How large the file is.
    pub fn size(&self, job: i64) -> u64 {
        std::fs::metadata(self.path(job)).map_or(0, |about| about.len())
    }

    /// Remove it.
    pub fn remove(&self, job: i64) {
        for ending in ["series", "damaged"] {
            let _ = std::fs::remove_file(self.path(job).with_extension(ending));
        }
    }
}
