//! Data that are damaged, removed or replaced while the service runs.

use super::Service;
use crate::damage::Kind;
use crate::lock::locked;
use crate::series::Damaged;
use crate::store::{JobRow, Store, claim, is_damaged, tables};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// How often all rows are looked at.
const SCRUB: Duration = Duration::from_secs(86_400);
/// The share of the time that this takes: one part in this many.
const SHARE: u32 = 5;

impl Service {
    /// The database was found to be damaged: a new one takes its place, with all that can still be read.
    pub fn mend(&self) -> anyhow::Result<()> {
        let _saving = self.saving();
        let mut writer = self.writer();
        let mut readers: Vec<_> = self.readers.iter().map(locked).collect();
        // Nobody may have the old files open while they are moved away.
        *writer = Store::nowhere()?;
        for reader in &mut readers {
            **reader = Store::nowhere()?;
        }
        *writer = Store::open_or_mend(&self.config.data, &self.stats.damage)?;
        for reader in &mut readers {
            **reader = writer.another(&self.config.data)?;
        }
        // Running jobs may not have been among what could be read.
        let rows: Vec<JobRow> = self.running().jobs.values().map(|job| job.row.clone()).collect();
        writer.transaction(|store| rows.iter().try_for_each(|row| store.put_job(row)))
    }

    /// Are the files of the data where they were?
    pub fn data_are_there(&self) -> bool {
        locked(&self.lock).holds() && self.writer().is_in_place() && self.running().journal.is_in_place()
    }

    /// The directory of data was removed, or something else was put there: what is known is written anew.
    pub fn write_again(&self) -> anyhow::Result<()> {
        let data = &self.config.data;
        let saving = self.saving();
        {
            let mut lock = locked(&self.lock);
            if !lock.holds() {
                *lock = claim(data)?;
            }
        }
        let mut writer = self.writer();
        if !writer.is_in_place() {
            let mut readers: Vec<_> = self.readers.iter().map(locked).collect();
            let aside = writer.write_again(data)?;
            *writer = Store::open(data)?;
            for reader in &mut readers {
                **reader = writer.another(data)?;
            }
            let aside = aside.map(|path| format!("; what was in its place is {}", path.display()));
            tracing::error!(
                data = %data.display(),
                "{}: the database was removed or replaced while the service ran, and is written anew{}",
                data.display(),
                aside.unwrap_or_default()
            );
        }
        drop((writer, saving));
        self.running().jobs.values_mut().for_each(|job| job.saved = false);
        self.checkpoint()
    }

    /// A series could not be read. That is told once; it is known later as well.
    pub fn series_is_damaged(&self, job: i64, damaged: &Damaged) {
        if damaged.new {
            let text = format!("the series of job {job}: it is kept as {}", damaged.aside.display());
            self.stats.damage.add(Kind::Series, &text);
        }
    }

    /// Traces below a directory that are to be read again, since this was last asked.
    pub fn read_again(&self, root: &Path) -> Vec<PathBuf> {
        let mut again = locked(&self.again);
        if again.is_empty() {
            return Vec::new();
        }
        let (own, others) = again.drain(..).partition(|path| path.starts_with(root));
        *again = others;
        own
    }

    /// Look at all rows, at the start, once a day, and when a damaged one was met; until told to stop.
    pub fn scrub(&self, stop: &AtomicBool) {
        let mut last: Option<Instant> = None;
        while !stop.load(Relaxed) {
            let doubt = self.writer().is_in_doubt();
            if doubt || last.is_none_or(|last| last.elapsed() >= SCRUB) {
                last = Some(Instant::now());
                let looked = self.look_at_rows(stop);
                if looked.as_ref().is_err_and(is_damaged) {
                    self.notice_damage();
                }
                self.stored(looked);
            }
            std::thread::sleep(Duration::from_millis(200));
        }
    }

    /// Look at all rows once: those that are damaged are put aside.
    pub fn look_at_rows(&self, stop: &AtomicBool) -> anyhow::Result<()> {
        for table in tables() {
            let mut after = Some(i64::MIN);
            while let Some(place) = after {
                let begun = Instant::now();
                let look = self.reader().look_at(table, place)?;
                if !look.is_clean() {
                    let again = self.writer().settle(table, &look, &self.config.data, &self.stats.damage)?;
                    locked(&self.again).extend(again);
                }
                after = look.next;
                let pause = Instant::now() + begun.elapsed() * (SHARE - 1);
                while after.is_some() && Instant::now() < pause {
                    std::thread::sleep(Duration::from_millis(5));
                }
                if stop.load(Relaxed) {
                    return Ok(());
                }
            }
        }
        self.reader().look_through_all()
    }
}
