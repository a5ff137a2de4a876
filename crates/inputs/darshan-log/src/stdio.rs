//! STDIO records: one per stream and rank, or one per file that all ranks opened.

use crate::counter_rows::counters;
use crate::counters::{FileRecord, Layout, Run, file_record};
use crate::module::{Layer, ModuleId};

counters! {
    /// Integer counters of a [`StdioRecord`]. Those a record version lacks are −1.
    pub enum StdioCounter: "STDIO_" {
        {
            /// Opens (with `fileno` and `dup` from record version 4 on).
            Opens = "OPENS",
            /// `fdopen` (record version 2).
            Fdopens = "FDOPENS",
            /// Reads.
            Reads = "READS",
            /// Writes.
            Writes = "WRITES",
            /// Seeks.
            Seeks = "SEEKS",
            /// `fflush`.
            Flushes = "FLUSHES",
            /// Bytes written.
            BytesWritten = "BYTES_WRITTEN",
            /// Bytes read.
            BytesRead = "BYTES_READ",
            /// Highest offset read.
            MaxByteRead = "MAX_BYTE_READ",
            /// Highest offset written.
            MaxByteWritten = "MAX_BYTE_WRITTEN",
        }
        ranks()
    }
}

counters! {
    /// Times of a [`StdioRecord`]: seconds since the job began, or durations in seconds.
    pub enum StdioTime: "STDIO_F_" {
        {
            /// Time in metadata operations, over all ranks.
            MetaTime = "META_TIME",
            /// Time in writes, over all ranks.
            WriteTime = "WRITE_TIME",
            /// Time in reads, over all ranks.
            ReadTime = "READ_TIME",
            /// First open.
            OpenStartTimestamp = "OPEN_START_TIMESTAMP",
            /// First close.
            CloseStartTimestamp = "CLOSE_START_TIMESTAMP",
            /// Begin of the first write.
            WriteStartTimestamp = "WRITE_START_TIMESTAMP",
            /// Begin of the first read.
            ReadStartTimestamp = "READ_START_TIMESTAMP",
            /// Last open.
            OpenEndTimestamp = "OPEN_END_TIMESTAMP",
            /// Last close.
            CloseEndTimestamp = "CLOSE_END_TIMESTAMP",
            /// End of the last write.
            WriteEndTimestamp = "WRITE_END_TIMESTAMP",
            /// End of the last read.
            ReadEndTimestamp = "READ_END_TIMESTAMP",
        }
        rank_times()
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
        counts: {
            opens: [Opens],
            reads: [Reads],
            writes: [Writes],
            seeks: [Seeks],
            stats: [],
        },
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
