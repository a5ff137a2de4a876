//! MPI-IO records: one per file and rank, or one per file that all ranks opened.

use crate::counters::{Activity, FileRecord, Layout, Run, counters, file_record, interval, known};
use crate::module::{Layer, ModuleId};

counters! {
    /// Integer counters of an [`MpiioRecord`].
    pub enum MpiioCounter {
        /// Independent opens.
        IndepOpens = "MPIIO_INDEP_OPENS",
        /// Collective opens.
        CollOpens = "MPIIO_COLL_OPENS",
        /// Independent reads.
        IndepReads = "MPIIO_INDEP_READS",
        /// Independent writes.
        IndepWrites = "MPIIO_INDEP_WRITES",
        /// Collective reads.
        CollReads = "MPIIO_COLL_READS",
        /// Collective writes.
        CollWrites = "MPIIO_COLL_WRITES",
        /// Split collective reads.
        SplitReads = "MPIIO_SPLIT_READS",
        /// Split collective writes.
        SplitWrites = "MPIIO_SPLIT_WRITES",
        /// Nonblocking reads.
        NbReads = "MPIIO_NB_READS",
        /// Nonblocking writes.
        NbWrites = "MPIIO_NB_WRITES",
        /// `MPI_File_sync`.
        Syncs = "MPIIO_SYNCS",
        /// Hints given.
        Hints = "MPIIO_HINTS",
        /// `MPI_File_set_view`.
        Views = "MPIIO_VIEWS",
        /// Mode the file was opened with.
        Mode = "MPIIO_MODE",
        /// Bytes read.
        BytesRead = "MPIIO_BYTES_READ",
        /// Bytes written.
        BytesWritten = "MPIIO_BYTES_WRITTEN",
        /// Changes between reading and writing.
        RwSwitches = "MPIIO_RW_SWITCHES",
        /// Size of the slowest read.
        MaxReadTimeSize = "MPIIO_MAX_READ_TIME_SIZE",
        /// Size of the slowest write.
        MaxWriteTimeSize = "MPIIO_MAX_WRITE_TIME_SIZE",
        /// Reads of 0 to 100 bytes.
        SizeReadAgg0100 = "MPIIO_SIZE_READ_AGG_0_100",
        /// Reads of 100 to 1K bytes.
        SizeReadAgg1001k = "MPIIO_SIZE_READ_AGG_100_1K",
        /// Reads of 1K to 10K bytes.
        SizeReadAgg1k10k = "MPIIO_SIZE_READ_AGG_1K_10K",
        /// Reads of 10K to 100K bytes.
        SizeReadAgg10k100k = "MPIIO_SIZE_READ_AGG_10K_100K",
        /// Reads of 100K to 1M bytes.
        SizeReadAgg100k1m = "MPIIO_SIZE_READ_AGG_100K_1M",
        /// Reads of 1M to 4M bytes.
        SizeReadAgg1m4m = "MPIIO_SIZE_READ_AGG_1M_4M",
        /// Reads of 4M to 10M bytes.
        SizeReadAgg4m10m = "MPIIO_SIZE_READ_AGG_4M_10M",
        /// Reads of 10M to 100M bytes.
        SizeReadAgg10m100m = "MPIIO_SIZE_READ_AGG_10M_100M",
        /// Reads of 100M to 1G bytes.
        SizeReadAgg100m1g = "MPIIO_SIZE_READ_AGG_100M_1G",
        /// Reads of 1G bytes or more.
        SizeReadAgg1gPlus = "MPIIO_SIZE_READ_AGG_1G_PLUS",
        /// Writes of 0 to 100 bytes.
        SizeWriteAgg0100 = "MPIIO_SIZE_WRITE_AGG_0_100",
        /// Writes of 100 to 1K bytes.
        SizeWriteAgg1001k = "MPIIO_SIZE_WRITE_AGG_100_1K",
        /// Writes of 1K to 10K bytes.
        SizeWriteAgg1k10k = "MPIIO_SIZE_WRITE_AGG_1K_10K",
        /// Writes of 10K to 100K bytes.
        SizeWriteAgg10k100k = "MPIIO_SIZE_WRITE_AGG_10K_100K",
        /// Writes of 100K to 1M bytes.
        SizeWriteAgg100k1m = "MPIIO_SIZE_WRITE_AGG_100K_1M",
        /// Writes of 1M to 4M bytes.
        SizeWriteAgg1m4m = "MPIIO_SIZE_WRITE_AGG_1M_4M",
        /// Writes of 4M to 10M bytes.
        SizeWriteAgg4m10m = "MPIIO_SIZE_WRITE_AGG_4M_10M",
        /// Writes of 10M to 100M bytes.
        SizeWriteAgg10m100m = "MPIIO_SIZE_WRITE_AGG_10M_100M",
        /// Writes of 100M to 1G bytes.
        SizeWriteAgg100m1g = "MPIIO_SIZE_WRITE_AGG_100M_1G",
        /// Writes of 1G bytes or more.
        SizeWriteAgg1gPlus = "MPIIO_SIZE_WRITE_AGG_1G_PLUS",
        /// Access size number 1 in frequency.
        Access1Access = "MPIIO_ACCESS1_ACCESS",
        /// Access size number 2 in frequency.
        Access2Access = "MPIIO_ACCESS2_ACCESS",
        /// Access size number 3 in frequency.
        Access3Access = "MPIIO_ACCESS3_ACCESS",
        /// Access size number 4 in frequency.
        Access4Access = "MPIIO_ACCESS4_ACCESS",
        /// How often access size 1 was seen.
        Access1Count = "MPIIO_ACCESS1_COUNT",
        /// How often access size 2 was seen.
        Access2Count = "MPIIO_ACCESS2_COUNT",
        /// How often access size 3 was seen.
        Access3Count = "MPIIO_ACCESS3_COUNT",
        /// How often access size 4 was seen.
        Access4Count = "MPIIO_ACCESS4_COUNT",
        /// The rank that was fastest (shared records).
        FastestRank = "MPIIO_FASTEST_RANK",
        /// Bytes it moved.
        FastestRankBytes = "MPIIO_FASTEST_RANK_BYTES",
        /// The rank that was slowest (shared records).
        SlowestRank = "MPIIO_SLOWEST_RANK",
        /// Bytes it moved.
        SlowestRankBytes = "MPIIO_SLOWEST_RANK_BYTES",
    }
}

counters! {
    /// Times of an [`MpiioRecord`]: seconds since the job began, or durations in seconds. Those a record
    /// version lacks are −1.
    pub enum MpiioTime {
        /// First open.
        OpenStartTimestamp = "MPIIO_F_OPEN_START_TIMESTAMP",
        /// Begin of the first read.
        ReadStartTimestamp = "MPIIO_F_READ_START_TIMESTAMP",
        /// Begin of the first write.
        WriteStartTimestamp = "MPIIO_F_WRITE_START_TIMESTAMP",
        /// First close.
        CloseStartTimestamp = "MPIIO_F_CLOSE_START_TIMESTAMP",
        /// Last open.
        OpenEndTimestamp = "MPIIO_F_OPEN_END_TIMESTAMP",
        /// End of the last read.
        ReadEndTimestamp = "MPIIO_F_READ_END_TIMESTAMP",
        /// End of the last write.
        WriteEndTimestamp = "MPIIO_F_WRITE_END_TIMESTAMP",
        /// Last close.
        CloseEndTimestamp = "MPIIO_F_CLOSE_END_TIMESTAMP",
        /// Time in reads, over all ranks.
        ReadTime = "MPIIO_F_READ_TIME",
        /// Time in writes, over all ranks.
        WriteTime = "MPIIO_F_WRITE_TIME",
        /// Time in metadata operations, over all ranks.
        MetaTime = "MPIIO_F_META_TIME",
        /// Duration of the slowest read.
        MaxReadTime = "MPIIO_F_MAX_READ_TIME",
        /// Duration of the slowest write.
        MaxWriteTime = "MPIIO_F_MAX_WRITE_TIME",
        /// Time of the fastest rank (shared records).
        FastestRankTime = "MPIIO_F_FASTEST_RANK_TIME",
        /// Time of the slowest rank (shared records).
        SlowestRankTime = "MPIIO_F_SLOWEST_RANK_TIME",
        /// Variance of the time over ranks (shared records).
        VarianceRankTime = "MPIIO_F_VARIANCE_RANK_TIME",
        /// Variance of the bytes over ranks (shared records).
        VarianceRankBytes = "MPIIO_F_VARIANCE_RANK_BYTES",
    }
}

file_record! {
    /// What a rank, or all ranks together (`rank` −1), did to a file through MPI-IO.
    pub struct MpiioRecord {
        counters: MpiioCounter,
        fcounters: MpiioTime,
        module: ModuleId::MPIIO,
        layer: Layer::MpiIo,
        layouts: &LAYOUTS,
    }
}

impl MpiioRecord {
    fn activity_of(&self) -> Activity {
        use MpiioCounter as C;
        use MpiioTime as T;
        Activity {
            id: self.id,
            rank: self.rank,
            opens: self.sum([C::IndepOpens, C::CollOpens]),
            reads: self.sum([C::IndepReads, C::CollReads, C::SplitReads, C::NbReads]),
            writes: self.sum([C::IndepWrites, C::CollWrites, C::SplitWrites, C::NbWrites]),
            seeks: 0,
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

/// Records of all versions: 1 and 2 alike (Darshan 3.0, 3.1), 3 (3.1.7 and later).
const LAYOUTS: [Layout; 3] = [
    OLD,
    Layout { version: 2, ..OLD },
    Layout {
        version: 3,
        ints: 51,
        floats: 17,
        int_runs: &[Run { disk: 0, record: 0, len: 51 }],
        float_runs: &[Run { disk: 0, record: 0, len: 17 }],
        absent_as_zero: &[],
    },
];

const OLD: Layout = Layout {
    version: 1,
    ints: 51,
    floats: 15,
    int_runs: &[Run { disk: 0, record: 0, len: 51 }],
    float_runs: &[Run { disk: 0, record: 0, len: 3 }, Run { disk: 3, record: 5, len: 12 }],
    absent_as_zero: &[],
};
