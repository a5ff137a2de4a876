//! STDIO records: one per stream and rank, or one per file that all ranks opened.

use crate::counters::{Activity, FileRecord, Layout, Run, counters, file_record, interval, known};
use crate::module::{Layer, ModuleId};

counters! {
    /// Integer counters of a [`StdioRecord`]. Those a record version lacks are −1.
    pub enum StdioCounter {
        /// Opens (with `fileno` and `dup` from record version 4 on).
        Opens = "STDIO_OPENS",
        /// `fdopen` (record version 2).
        Fdopens = "STDIO_FDOPENS",
        /// Reads.
        Reads = "STDIO_READS",
        /// Writes.
        Writes = "STDIO_WRITES",
        /// Seeks.
        Seeks = "STDIO_SEEKS",
        /// `fflush`.
        Flushes = "STDIO_FLUSHES",
        /// Bytes written.
        BytesWritten = "STDIO_BYTES_WRITTEN",
        /// Bytes read.
        BytesRead = "STDIO_BYTES_READ",
        /// Highest offset read.
        MaxByteRead = "STDIO_MAX_BYTE_READ",
        /// Highest offset written.
        MaxByteWritten = "STDIO_MAX_BYTE_WRITTEN",
        /// The rank that was fastest (shared records).
        FastestRank = "STDIO_FASTEST_RANK",
        /// Bytes it moved.
        FastestRankBytes = "STDIO_FASTEST_RANK_BYTES",
        /// The rank that was slowest (shared records).
        SlowestRank = "STDIO_SLOWEST_RANK",
        /// Bytes it moved.
        SlowestRankBytes = "STDIO_SLOWEST_RANK_BYTES",
    }
}

counters! {
    /// Times of a [`StdioRecord`]: seconds since the job began, or durations in seconds.
    pub enum StdioTime {
        /// Time in metadata operations, over all ranks.
        MetaTime = "STDIO_F_META_TIME",
        /// Time in writes, over all ranks.
        WriteTime = "STDIO_F_WRITE_TIME",
        /// Time in reads, over all ranks.
        ReadTime = "STDIO_F_READ_TIME",
        /// First open.
        OpenStartTimestamp = "STDIO_F_OPEN_START_TIMESTAMP",
        /// First close.
        CloseStartTimestamp = "STDIO_F_CLOSE_START_TIMESTAMP",
        /// Begin of the first write.
        WriteStartTimestamp = "STDIO_F_WRITE_START_TIMESTAMP",
        /// Begin of the first read.
        ReadStartTimestamp = "STDIO_F_READ_START_TIMESTAMP",
        /// Last open.
        OpenEndTimestamp = "STDIO_F_OPEN_END_TIMESTAMP",
        /// Last close.
        CloseEndTimestamp = "STDIO_F_CLOSE_END_TIMESTAMP",
        /// End of the last write.
        WriteEndTimestamp = "STDIO_F_WRITE_END_TIMESTAMP",
        /// End of the last read.
        ReadEndTimestamp = "STDIO_F_READ_END_TIMESTAMP",
        /// Time of the fastest rank (shared records).
        FastestRankTime = "STDIO_F_FASTEST_RANK_TIME",
        /// Time of the slowest rank (shared records).
        SlowestRankTime = "STDIO_F_SLOWEST_RANK_TIME",
        /// Variance of the time over ranks (shared records).
        VarianceRankTime = "STDIO_F_VARIANCE_RANK_TIME",
        /// Variance of the bytes over ranks (shared records).
        VarianceRankBytes = "STDIO_F_VARIANCE_RANK_BYTES",
    }
}

file_record! {
    /// What a rank, or all ranks together (`rank` −1), did to a file through C streams.
    pub struct StdioRecord {
        counters: StdioCounter,
        fcounters: StdioTime,
        module: ModuleId::STDIO,
        layer: Layer::Stdio,
        layouts: &LAYOUTS,
    }
}

impl StdioRecord {
    fn activity_of(&self) -> Activity {
        use StdioCounter as C;
        use StdioTime as T;
        Activity {
            id: self.id,
            rank: self.rank,
            opens: self.sum([C::Opens]),
            reads: self.sum([C::Reads]),
            writes: self.sum([C::Writes]),
            seeks: self.sum([C::Seeks]),
            stats: 0,
            bytes_read: self.sum([C::BytesRead]),
            bytes_written: self.sum([C::BytesWritten]),
            read: interval(self[T::ReadStartTimestamp], self[T::ReadEndTimestamp]),
            write: interval(self[T::WriteStartTimestamp], self[T::WriteEndTimestamp]),
            open: interval(self[T::OpenStartTimestamp], self[T::CloseEndTimestamp]),
            opening: known(self[T::OpenStartTimestamp], self[T::OpenEndTimestamp]),
            closing: known(self[T::CloseStartTimestamp], self[T::CloseEndTimestamp]),
            read_time: self[T::ReadTime],
            write_time: self[T::WriteTime],
            meta_time: self[T::MetaTime],
        }
    }
}

/// Records of both versions: 1 (Darshan 3.1), 2 (3.1.7 and later).
const LAYOUTS: [Layout; 2] = [
    Layout {
        version: 1,
        ints: 13,
        floats: 15,
        int_runs: &[Run { disk: 0, record: 0, len: 1 }, Run { disk: 1, record: 2, len: 12 }],
        float_runs: &[Run { disk: 0, record: 0, len: 15 }],
        absent_as_zero: &[],
    },
    Layout {
        version: 2,
        ints: 14,
        floats: 15,
        int_runs: &[Run { disk: 0, record: 0, len: 14 }],
        float_runs: &[Run { disk: 0, record: 0, len: 15 }],
        absent_as_zero: &[],
    },
];
