//! POSIX records: one per file and rank, or one per file that all ranks opened.

use crate::counters::{Activity, FileRecord, Layout, Run, counters, file_record, interval, known};
use crate::module::{Layer, ModuleId};

counters! {
    /// Integer counters of a [`PosixRecord`]. Those a record version lacks are −1 (`RenamedFrom`: 0).
    pub enum PosixCounter {
        /// Opens (with `fileno` and `dup` from record version 4 on).
        Opens = "POSIX_OPENS",
        /// Calls of `fileno`.
        Filenos = "POSIX_FILENOS",
        /// Duplications of a descriptor.
        Dups = "POSIX_DUPS",
        /// Reads.
        Reads = "POSIX_READS",
        /// Writes.
        Writes = "POSIX_WRITES",
        /// Seeks.
        Seeks = "POSIX_SEEKS",
        /// `stat`, `lstat`, `fstat`.
        Stats = "POSIX_STATS",
        /// `mmap`.
        Mmaps = "POSIX_MMAPS",
        /// `fsync`.
        Fsyncs = "POSIX_FSYNCS",
        /// `fdatasync`.
        Fdsyncs = "POSIX_FDSYNCS",
        /// Renames away from this name.
        RenameSources = "POSIX_RENAME_SOURCES",
        /// Renames to this name.
        RenameTargets = "POSIX_RENAME_TARGETS",
        /// Id of the first file renamed to this one (an unsigned number).
        RenamedFrom = "POSIX_RENAMED_FROM",
        /// Mode the file was opened with.
        Mode = "POSIX_MODE",
        /// Bytes read.
        BytesRead = "POSIX_BYTES_READ",
        /// Bytes written.
        BytesWritten = "POSIX_BYTES_WRITTEN",
        /// Highest offset read.
        MaxByteRead = "POSIX_MAX_BYTE_READ",
        /// Highest offset written.
        MaxByteWritten = "POSIX_MAX_BYTE_WRITTEN",
        /// Reads that began where the one before ended.
        ConsecReads = "POSIX_CONSEC_READS",
        /// Writes that began where the one before ended.
        ConsecWrites = "POSIX_CONSEC_WRITES",
        /// Reads at a higher offset than the one before.
        SeqReads = "POSIX_SEQ_READS",
        /// Writes at a higher offset than the one before.
        SeqWrites = "POSIX_SEQ_WRITES",
        /// Changes between reading and writing.
        RwSwitches = "POSIX_RW_SWITCHES",
        /// Accesses not aligned in memory.
        MemNotAligned = "POSIX_MEM_NOT_ALIGNED",
        /// Alignment in memory, bytes.
        MemAlignment = "POSIX_MEM_ALIGNMENT",
        /// Accesses not aligned in the file.
        FileNotAligned = "POSIX_FILE_NOT_ALIGNED",
        /// Alignment in the file, bytes.
        FileAlignment = "POSIX_FILE_ALIGNMENT",
        /// Size of the slowest read.
        MaxReadTimeSize = "POSIX_MAX_READ_TIME_SIZE",
        /// Size of the slowest write.
        MaxWriteTimeSize = "POSIX_MAX_WRITE_TIME_SIZE",
        /// Reads of 0 to 100 bytes.
        SizeRead0100 = "POSIX_SIZE_READ_0_100",
        /// Reads of 100 to 1K bytes.
        SizeRead1001k = "POSIX_SIZE_READ_100_1K",
        /// Reads of 1K to 10K bytes.
        SizeRead1k10k = "POSIX_SIZE_READ_1K_10K",
        /// Reads of 10K to 100K bytes.
        SizeRead10k100k = "POSIX_SIZE_READ_10K_100K",
        /// Reads of 100K to 1M bytes.
        SizeRead100k1m = "POSIX_SIZE_READ_100K_1M",
        /// Reads of 1M to 4M bytes.
        SizeRead1m4m = "POSIX_SIZE_READ_1M_4M",
        /// Reads of 4M to 10M bytes.
        SizeRead4m10m = "POSIX_SIZE_READ_4M_10M",
        /// Reads of 10M to 100M bytes.
        SizeRead10m100m = "POSIX_SIZE_READ_10M_100M",
        /// Reads of 100M to 1G bytes.
        SizeRead100m1g = "POSIX_SIZE_READ_100M_1G",
        /// Reads of 1G bytes or more.
        SizeRead1gPlus = "POSIX_SIZE_READ_1G_PLUS",
        /// Writes of 0 to 100 bytes.
        SizeWrite0100 = "POSIX_SIZE_WRITE_0_100",
        /// Writes of 100 to 1K bytes.
        SizeWrite1001k = "POSIX_SIZE_WRITE_100_1K",
        /// Writes of 1K to 10K bytes.
        SizeWrite1k10k = "POSIX_SIZE_WRITE_1K_10K",
        /// Writes of 10K to 100K bytes.
        SizeWrite10k100k = "POSIX_SIZE_WRITE_10K_100K",
        /// Writes of 100K to 1M bytes.
        SizeWrite100k1m = "POSIX_SIZE_WRITE_100K_1M",
        /// Writes of 1M to 4M bytes.
        SizeWrite1m4m = "POSIX_SIZE_WRITE_1M_4M",
        /// Writes of 4M to 10M bytes.
        SizeWrite4m10m = "POSIX_SIZE_WRITE_4M_10M",
        /// Writes of 10M to 100M bytes.
        SizeWrite10m100m = "POSIX_SIZE_WRITE_10M_100M",
        /// Writes of 100M to 1G bytes.
        SizeWrite100m1g = "POSIX_SIZE_WRITE_100M_1G",
        /// Writes of 1G bytes or more.
        SizeWrite1gPlus = "POSIX_SIZE_WRITE_1G_PLUS",
        /// Stride number 1 in frequency.
        Stride1Stride = "POSIX_STRIDE1_STRIDE",
        /// Stride number 2 in frequency.
        Stride2Stride = "POSIX_STRIDE2_STRIDE",
        /// Stride number 3 in frequency.
        Stride3Stride = "POSIX_STRIDE3_STRIDE",
        /// Stride number 4 in frequency.
        Stride4Stride = "POSIX_STRIDE4_STRIDE",
        /// How often stride 1 was seen.
        Stride1Count = "POSIX_STRIDE1_COUNT",
        /// How often stride 2 was seen.
        Stride2Count = "POSIX_STRIDE2_COUNT",
        /// How often stride 3 was seen.
        Stride3Count = "POSIX_STRIDE3_COUNT",
        /// How often stride 4 was seen.
        Stride4Count = "POSIX_STRIDE4_COUNT",
        /// Access size number 1 in frequency.
        Access1Access = "POSIX_ACCESS1_ACCESS",
        /// Access size number 2 in frequency.
        Access2Access = "POSIX_ACCESS2_ACCESS",
        /// Access size number 3 in frequency.
        Access3Access = "POSIX_ACCESS3_ACCESS",
        /// Access size number 4 in frequency.
        Access4Access = "POSIX_ACCESS4_ACCESS",
        /// How often access size 1 was seen.
        Access1Count = "POSIX_ACCESS1_COUNT",
        /// How often access size 2 was seen.
        Access2Count = "POSIX_ACCESS2_COUNT",
        /// How often access size 3 was seen.
        Access3Count = "POSIX_ACCESS3_COUNT",
        /// How often access size 4 was seen.
        Access4Count = "POSIX_ACCESS4_COUNT",
        /// The rank that was fastest (shared records).
        FastestRank = "POSIX_FASTEST_RANK",
        /// Bytes it moved.
        FastestRankBytes = "POSIX_FASTEST_RANK_BYTES",
        /// The rank that was slowest (shared records).
        SlowestRank = "POSIX_SLOWEST_RANK",
        /// Bytes it moved.
        SlowestRankBytes = "POSIX_SLOWEST_RANK_BYTES",
        /// `fopen` (record version 1 only, which mixed streams into POSIX).
        Fopens = "POSIX_FOPENS",
        /// `fread` and relatives (record version 1 only).
        Freads = "POSIX_FREADS",
        /// `fwrite` and relatives (record version 1 only).
        Fwrites = "POSIX_FWRITES",
        /// `fseek` (record version 1 only).
        Fseeks = "POSIX_FSEEKS",
    }
}

counters! {
    /// Times of a [`PosixRecord`]: seconds since the job began, or durations in seconds.
    pub enum PosixTime {
        /// First open.
        OpenStartTimestamp = "POSIX_F_OPEN_START_TIMESTAMP",
        /// Begin of the first read.
        ReadStartTimestamp = "POSIX_F_READ_START_TIMESTAMP",
        /// Begin of the first write.
        WriteStartTimestamp = "POSIX_F_WRITE_START_TIMESTAMP",
        /// First close.
        CloseStartTimestamp = "POSIX_F_CLOSE_START_TIMESTAMP",
        /// Last open.
        OpenEndTimestamp = "POSIX_F_OPEN_END_TIMESTAMP",
        /// End of the last read.
        ReadEndTimestamp = "POSIX_F_READ_END_TIMESTAMP",
        /// End of the last write.
        WriteEndTimestamp = "POSIX_F_WRITE_END_TIMESTAMP",
        /// Last close.
        CloseEndTimestamp = "POSIX_F_CLOSE_END_TIMESTAMP",
        /// Time in reads, over all ranks.
        ReadTime = "POSIX_F_READ_TIME",
        /// Time in writes, over all ranks.
        WriteTime = "POSIX_F_WRITE_TIME",
        /// Time in metadata operations, over all ranks.
        MetaTime = "POSIX_F_META_TIME",
        /// Duration of the slowest read.
        MaxReadTime = "POSIX_F_MAX_READ_TIME",
        /// Duration of the slowest write.
        MaxWriteTime = "POSIX_F_MAX_WRITE_TIME",
        /// Time of the fastest rank (shared records).
        FastestRankTime = "POSIX_F_FASTEST_RANK_TIME",
        /// Time of the slowest rank (shared records).
        SlowestRankTime = "POSIX_F_SLOWEST_RANK_TIME",
        /// Variance of the time over ranks (shared records).
        VarianceRankTime = "POSIX_F_VARIANCE_RANK_TIME",
        /// Variance of the bytes over ranks (shared records).
        VarianceRankBytes = "POSIX_F_VARIANCE_RANK_BYTES",
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
    }
}

impl PosixRecord {
    /// Whether this record also counts `fopen` streams, as records of version 1 (Darshan 3.0) may. Its bytes
    /// are then those of both interfaces. `darshan-parser` and PyDarshan leave such records out without a
    /// word; here they are kept, because the I/O took place, and can be told apart.
    pub fn mixes_streams(&self) -> bool {
        self[PosixCounter::Fopens] > 0
    }

    fn activity_of(&self) -> Activity {
        use PosixCounter as C;
        use PosixTime as T;
        Activity {
            id: self.id,
            rank: self.rank,
            opens: self.sum([C::Opens, C::Fopens]),
            reads: self.sum([C::Reads, C::Freads]),
            writes: self.sum([C::Writes, C::Fwrites]),
            seeks: self.sum([C::Seeks, C::Fseeks]),
            stats: self.sum([C::Stats]),
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
