//! Pushed values get to the disk: to the journal before they are acknowledged, and to the files of series now
//! and then.

use super::Service;
use crate::ingest::push::NotTaken;
use crate::job::Origin;
use crate::live::LiveJob;
use crate::lock::locked;
use crate::series::journal;
use std::sync::atomic::Ordering::Relaxed;

/// Jobs whose series are saved at once.
const JOBS_A_SAVE: usize = 64;

impl Service {
    /// Write what was taken to the journal, with what others have brought meanwhile. What was written
    /// survives the end of the process.
    pub fn commit_journal(&self) -> Result<(), NotTaken> {
        let written = self.write_journal();
        // Somebody else may have tried to write it for us.
        match written {
            Ok(()) if !self.running().journal.broken => Ok(()),
            _ => Err(NotTaken::NotStored("the journal cannot be written: is the disk full?".into())),
        }
    }

    fn write_journal(&self) -> anyhow::Result<()> {
        let _writing = locked(&self.journal);
        let Some((records, file)) = self.running().journal.take()? else { return Ok(()) };
        let frames = journal::framed(&records)?;
        if let Err(error) = journal::write(&frames, &file) {
            self.journal_is_broken(&error);
            return Err(error.into());
        }
        self.running().journal.wrote(frames.len());
        self.unflushed.store(true, Relaxed);
        self.stats.journal_bytes.add(frames.len() as u64);
        Ok(())
    }

    fn journal_is_broken(&self, error: &std::io::Error) {
        // Said before pushes are refused because of it.
        self.stats.problem("journal", Some(format!("the journal cannot be written: {error}")));
        self.running().journal.broken = true;
    }

    /// Once a second: what was pushed until now survives the end of the machine as well.
    pub fn flush_journal(&self) -> anyhow::Result<()> {
        self.write_journal()?;
        if !self.unflushed.swap(false, Relaxed) {
            return Ok(());
        }
        let files = self.running().journal.files();
        for file in files {
            if let Err(error) = file.sync_data() {
                self.journal_is_broken(&error);
                return Err(error.into());
            }
        }
        Ok(())
    }

    /// Once a second: what is in the log of the database gets into the database. So the log is short, and
    /// what may be lost with it is little.
    pub fn empty_log(&self) -> anyhow::Result<()> {
        let log = self.config.data.join("jobs.db-wal");
        match std::fs::metadata(log).is_ok_and(|about| about.len() > 0) {
            true => self.writer().empty_log(),
            false => Ok(()),
        }
    }

    /// Write all running series to their files, so that the journal can begin anew.
    pub fn checkpoint(&self) -> anyhow::Result<()> {
        self.flush_journal()?;
        let (before, ids) = {
            let mut running = self.running();
            let before = running.journal.rotate()?;
            let pushed = running.jobs.values().filter(|job| job.row.origin != Origin::Trace && !job.saved);
            (before, pushed.map(|job| job.row.id).collect::<Vec<i64>>())
        };
        for some in ids.chunks(JOBS_A_SAVE) {
            self.save(some)?;
        }
        // The rows of these jobs must be on the disk before the journal is gone.
        self.writer().empty_log()?;
        let mut running = self.running();
        running.journal.broken = false;
        running.journal.forget(before);
        Ok(())
    }

    /// Save some running jobs.
    fn save(&self, ids: &[i64]) -> anyhow::Result<()> {
        let _saving = self.saving();
        let jobs: Vec<LiveJob> = {
            let running = self.running();
            ids.iter().filter_map(|id| running.jobs.get(id).cloned()).collect()
        };
        self.files.save(jobs.iter().map(|job| (job.row.id, &job.series)))?;
        self.writer().transaction(|store| {
            for job in &jobs {
                store.update_job(&job.row)?;
                let detection = serde_json::to_value(&job.detection)?;
                store.set_details(job.row.id, &job.totals, &detection, &serde_json::json!([]))?;
            }
            Ok(())
        })?;
        let mut running = self.running();
        for job in &jobs {
            if let Some(live) = running.jobs.get_mut(&job.row.id) {
                live.saved = live.series.journaled == job.series.journaled;
            }
        }
        Ok(())
    }
}
