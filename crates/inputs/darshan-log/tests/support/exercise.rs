//! Reads everything there is in a log, by every way there is. Used by the tests on hostile input and by the
//! fuzz target.

use darshan_log::{FileRecord, Layer, Log, MpiioRecord, PosixRecord, Result, StdioRecord};

/// How much was read, and how often reading failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    pub opened: bool,
    pub items: u64,
    pub errors: u64,
}

impl Outcome {
    /// Counts what an iterator yields; it must end, fail at most once, and stay at its end.
    fn drain<T>(&mut self, mut items: impl Iterator<Item = Result<T>>) {
        while let Some(item) = items.next() {
            match item {
                Ok(_) => self.items += 1,
                Err(error) => {
                    self.errors += 1;
                    assert!(!error.to_string().is_empty());
                    assert!(items.next().is_none(), "an iterator went on after {error}");
                }
            }
        }
        assert!(items.next().is_none(), "an iterator went on after its end");
    }

    fn count<T>(&mut self, result: Result<T>) {
        match result {
            Ok(_) => self.items += 1,
            Err(_) => self.errors += 1,
        }
    }

    fn records<R: FileRecord>(&mut self, log: &Log) {
        self.drain(log.records::<R>());
        self.drain(log.activities(R::LAYER));
    }
}

/// Reads all of a log in memory.
pub fn read_everything(bytes: &[u8]) -> Outcome {
    let mut outcome = Outcome::default();
    let log = match Log::from_bytes(bytes) {
        Ok(log) => log,
        Err(error) => {
            assert!(error.to_string().starts_with("<memory>: "), "{error}");
            outcome.errors += 1;
            return outcome;
        }
    };
    outcome.opened = true;
    assert!(log.job().run_time().is_finite());
    outcome.count(log.names());
    outcome.records::<PosixRecord>(&log);
    outcome.records::<MpiioRecord>(&log);
    outcome.records::<StdioRecord>(&log);
    outcome.drain(log.heatmaps());
    outcome.count(log.heatmap(Layer::Posix));
    outcome.drain(log.dxt_posix());
    outcome.drain(log.dxt_mpiio());
    let mut heads_only = log.dxt_posix();
    while let Ok(Some(_)) = heads_only.next_head() {
        outcome.items += 1;
    }
    outcome.drain(log.darshan2());
    let totals = log.totals();
    if log.format().major == 3 {
        assert_eq!(totals.len(), log.modules().len());
    }
    outcome.errors += totals.iter().filter(|t| t.damage.is_some()).count() as u64;
    outcome
}
