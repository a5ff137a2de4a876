//! POSIX records: one per file and rank, or one per file that all ranks opened.

use crate::counter_rows::counters;
use crate::counters::{FileRecord, Layout, Run, file_record};
use crate::module::{Layer, ModuleId};

counters! {
    /// Integer counters of a [`PosixRecord`]. Those a record version lacks are −1 (`RenamedFrom`: 0).
    pub enum PosixCounter: "POSIX_" {
        {
            /// Opens (with `fileno` and `dup` from record version 4 on).
            Opens = "OPENS",
            /// Calls of `fileno`.
            Filenos = "FILENOS",
            /// Duplications of a descriptor.
            Dups = "DUPS",
            /// Reads.
            Reads = "READS",
            /// Writes.
            Writes = "WRITES",
            /// Seeks.
            Seeks = "SEEKS",
            /// `stat`, `lstat`, `fstat`.
            Stats = "STATS",
            /// `mmap`.
            Mmaps = "MMAPS",
            /// `fsync`.
            Fsyncs = "FSYNCS",
            /// `fdatasync`.
            Fdsyncs = "FDSYNCS",
            /// Renames away from this name.
            RenameSources = "RENAME_SOURCES",
            /// Renames to this name.
            RenameTargets = "RENAME_TARGETS",
            /// Id of the first file renamed to this one (an unsigned number).
            RenamedFrom = "RENAMED_FROM",
            /// Mode the file was opened with.
            Mode = "MODE",
            /// Bytes read.
            BytesRead = "BYTES_READ",
            /// Bytes written.
            BytesWritten = "BYTES_WRITTEN",
        }
        patterns()
        slowest()
        sizes("")
        strides()
        accesses()
        ranks()
        {
            /// `fopen` (record version 1 only, which mixed streams into POSIX).
            Fopens = "FOPENS",
            /// `fread` and relatives (record version 1 only).
            Freads = "FREADS",
            /// `fwrite` and relatives (record version 1 only).
            Fwrites = "FWRITES",
            /// `fseek` (record version 1 only).
            Fseeks = "FSEEKS",
        }
    }
}

counters! {
    /// Times of a [`PosixRecord`]: seconds since the job began, or durations in seconds.
    pub enum PosixTime: "POSIX_F_" {
        times()
        slowest_times()
        rank_times()
    }
}

file_record! {
    /// What a rank, or all ranks together (`rank` −1), did to a file through POSIX.
    pub struct PosixRecord {
        counters: PosixCounter,
        fcounters: PosixTime,
        module: ModuleId::POSIX,
        layer: Layer::Posix,
        layouts: &LAYOUTS,
        counts: {
            opens: [Opens, Fopens],
            reads: [Reads, Freads],
            writes: [Writes, Fwrites],
            seeks: [Seeks, Fseeks],
            stats: [Stats],
        },
    }
}

impl PosixRecord {
    /// Whether this record also counts `fopen` streams, as records of version 1 (Darshan 3.0) may. Its bytes
    /// are then those of both interfaces. `darshan-parser` and PyDarshan leave such records out without a
    /// word; here they are kept, because the I/O took place, and can be told apart.
    pub fn mixes_streams(&self) -> bool {
        self[PosixCounter::Fopens] > 0
    }
}

/// Records of all versions: 1 (Darshan 3.0), 2, 3 (3.1.0 – 3.1.6), 4 (3.1.7 and later).
const LAYOUTS: [Layout; 4] = [
    Layout {
        version: 1,
        ints: 68,
        floats: 15,
        // Four counters of streams sit between MMAPS and FSYNCS.
        int_runs: &[
            Run { disk: 0, record: 0, len: 1 },
            Run { disk: 1, record: 3, len: 5 },
            Run { disk: 6, record: 69, len: 4 },
            Run { disk: 10, record: 8, len: 2 },
            Run { disk: 12, record: 13, len: 56 },
        ],
        float_runs: &WITHOUT_CLOSE_START,
        absent_as_zero: &[PosixCounter::RenamedFrom as usize],
    },
    Layout {
        version: 2,
        ints: 64,
        floats: 15,
        int_runs: &WITHOUT_DUPS_AND_RENAMES,
        float_runs: &WITHOUT_CLOSE_START,
        absent_as_zero: &[PosixCounter::RenamedFrom as usize],
    },
    Layout {
        version: 3,
        ints: 64,
        floats: 17,
        int_runs: &WITHOUT_DUPS_AND_RENAMES,
        float_runs: &[Run { disk: 0, record: 0, len: 17 }],
        absent_as_zero: &[PosixCounter::RenamedFrom as usize],
    },
    Layout {
        version: 4,
        ints: 69,
        floats: 17,
        int_runs: &[Run { disk: 0, record: 0, len: 69 }],
        float_runs: &[Run { disk: 0, record: 0, len: 17 }],
        absent_as_zero: &[],
    },
];

const WITHOUT_DUPS_AND_RENAMES: [Run; 3] = [
    Run { disk: 0, record: 0, len: 1 },
    Run { disk: 1, record: 3, len: 7 },
    Run { disk: 8, record: 13, len: 56 },
];

const WITHOUT_CLOSE_START: [Run; 2] =
    [Run { disk: 0, record: 0, len: 3 }, Run { disk: 3, record: 5, len: 12 }];
