//! Logs made to order.

#![allow(dead_code)] // each test uses some of it

use darshan_log::write::LogWriter;
use darshan_log::{Format, Job, Log, PosixCounter, PosixRecord, PosixTime, Timestamp};

pub const MB: f64 = 1e6;

/// What a log is made of.
#[derive(Clone, Debug, Default)]
pub struct Made {
    pub run_time: f64,
    pub ranks: i64,
    pub user: i64,
    pub command: String,
    pub records: Vec<PosixRecord>,
    /// The label says something about metadata.
    pub judge_metadata: bool,
    /// The label does not say when writes happened.
    pub any_time: bool,
}

impl Made {
    fn record(&mut self, rank: i64) -> &mut PosixRecord {
        let id = 1 + self.records.len() as u64;
        self.records.push(PosixRecord::new(id, rank));
        self.records.last_mut().expect("just added")
    }

    /// One file, read or written from `start` to `end`.
    pub fn access(&mut self, write: bool, rank: i64, start: f64, end: f64, bytes: u64) {
        let record = self.record(rank);
        record[PosixCounter::Opens] = 1;
        record[PosixTime::OpenStartTimestamp] = start;
        record[PosixTime::OpenEndTimestamp] = start + 1e-6;
        record[PosixTime::CloseStartTimestamp] = end;
        record[PosixTime::CloseEndTimestamp] = end + 1e-6;
        if write {
            record[PosixCounter::Writes] = 1;
            record[PosixCounter::BytesWritten] = bytes as i64;
            record[PosixTime::WriteStartTimestamp] = start;
            record[PosixTime::WriteEndTimestamp] = end;
        } else {
            record[PosixCounter::Reads] = 1;
            record[PosixCounter::BytesRead] = bytes as i64;
            record[PosixTime::ReadStartTimestamp] = start;
            record[PosixTime::ReadEndTimestamp] = end;
        }
    }

    /// A file that is opened and closed so often, and nothing else.
    pub fn opens(&mut self, start: f64, end: f64, count: u64) {
        let record = self.record(-1);
        record[PosixCounter::Opens] = count as i64;
        record[PosixTime::OpenStartTimestamp] = start;
        record[PosixTime::OpenEndTimestamp] = end;
        record[PosixTime::CloseStartTimestamp] = start;
        record[PosixTime::CloseEndTimestamp] = end;
    }

    /// The log's bytes.
    pub fn bytes(&self, number: u64) -> Vec<u8> {
        let job = Job {
            uid: self.user,
            job_id: number as i64,
            nprocs: self.ranks,
            start: Timestamp { seconds: 1_700_000_000, nanoseconds: 0 },
            end: Timestamp { seconds: 1_700_000_000 + self.run_time as i64, nanoseconds: 0 },
            command: self.command.clone(),
            ..Job::default()
        };
        let writer = LogWriter::new(Format::V3_41, job).records(4, &self.records);
        writer.to_bytes().expect("a log of a known format")
    }

    /// The log, read back.
    pub fn log(&self, number: u64) -> Log {
        Log::from_bytes(self.bytes(number)).expect("a log")
    }
}
