//! The counters of a Darshan 2 file record, all interfaces in one.

use crate::counters::counters;

counters! {
    /// Integer counters of a [`Darshan2Record`](crate::Darshan2Record); −1 means not monitored.
    pub enum Darshan2Counter {
        /// Independent opens.
        IndepOpens = "CP_INDEP_OPENS",
        /// Collective opens.
        CollOpens = "CP_COLL_OPENS",
        /// Independent reads.
        IndepReads = "CP_INDEP_READS",
        /// Independent writes.
        IndepWrites = "CP_INDEP_WRITES",
        /// Collective reads.
        CollReads = "CP_COLL_READS",
        /// Collective writes.
        CollWrites = "CP_COLL_WRITES",
        /// Split collective reads.
        SplitReads = "CP_SPLIT_READS",
        /// Split collective writes.
        SplitWrites = "CP_SPLIT_WRITES",
        /// Nonblocking reads.
        NbReads = "CP_NB_READS",
        /// Nonblocking writes.
        NbWrites = "CP_NB_WRITES",
        /// `MPI_File_sync`.
        Syncs = "CP_SYNCS",
        /// POSIX reads.
        PosixReads = "CP_POSIX_READS",
        /// POSIX writes.
        PosixWrites = "CP_POSIX_WRITES",
        /// POSIX opens.
        PosixOpens = "CP_POSIX_OPENS",
        /// POSIX seeks.
        PosixSeeks = "CP_POSIX_SEEKS",
        /// `stat`, `lstat`, `fstat`.
        PosixStats = "CP_POSIX_STATS",
        /// `mmap`.
        PosixMmaps = "CP_POSIX_MMAPS",
        /// Stream reads.
        PosixFreads = "CP_POSIX_FREADS",
        /// Stream writes.
        PosixFwrites = "CP_POSIX_FWRITES",
        /// Stream opens.
        PosixFopens = "CP_POSIX_FOPENS",
        /// Stream seeks.
        PosixFseeks = "CP_POSIX_FSEEKS",
        /// `fsync`.
        PosixFsyncs = "CP_POSIX_FSYNCS",
        /// `fdatasync`.
        PosixFdsyncs = "CP_POSIX_FDSYNCS",
        /// Independent PnetCDF opens.
        IndepNcOpens = "CP_INDEP_NC_OPENS",
        /// Collective PnetCDF opens.
        CollNcOpens = "CP_COLL_NC_OPENS",
        /// HDF5 opens.
        Hdf5Opens = "CP_HDF5_OPENS",
        /// Datatypes made by `MPI_COMBINER_NAMED`.
        CombinerNamed = "CP_COMBINER_NAMED",
        /// Datatypes made by `MPI_COMBINER_DUP`.
        CombinerDup = "CP_COMBINER_DUP",
        /// Datatypes made by `MPI_COMBINER_CONTIGUOUS`.
        CombinerContiguous = "CP_COMBINER_CONTIGUOUS",
        /// Datatypes made by `MPI_COMBINER_VECTOR`.
        CombinerVector = "CP_COMBINER_VECTOR",
        /// Datatypes made by `MPI_COMBINER_HVECTOR_INTEGER`.
        CombinerHvectorInteger = "CP_COMBINER_HVECTOR_INTEGER",
        /// Datatypes made by `MPI_COMBINER_HVECTOR`.
        CombinerHvector = "CP_COMBINER_HVECTOR",
        /// Datatypes made by `MPI_COMBINER_INDEXED`.
        CombinerIndexed = "CP_COMBINER_INDEXED",
        /// Datatypes made by `MPI_COMBINER_HINDEXED_INTEGER`.
        CombinerHindexedInteger = "CP_COMBINER_HINDEXED_INTEGER",
        /// Datatypes made by `MPI_COMBINER_HINDEXED`.
        CombinerHindexed = "CP_COMBINER_HINDEXED",
        /// Datatypes made by `MPI_COMBINER_INDEXED_BLOCK`.
        CombinerIndexedBlock = "CP_COMBINER_INDEXED_BLOCK",
        /// Datatypes made by `MPI_COMBINER_STRUCT_INTEGER`.
        CombinerStructInteger = "CP_COMBINER_STRUCT_INTEGER",
        /// Datatypes made by `MPI_COMBINER_STRUCT`.
        CombinerStruct = "CP_COMBINER_STRUCT",
        /// Datatypes made by `MPI_COMBINER_SUBARRAY`.
        CombinerSubarray = "CP_COMBINER_SUBARRAY",
        /// Datatypes made by `MPI_COMBINER_DARRAY`.
        CombinerDarray = "CP_COMBINER_DARRAY",
        /// Datatypes made by `MPI_COMBINER_F90_REAL`.
        CombinerF90Real = "CP_COMBINER_F90_REAL",
        /// Datatypes made by `MPI_COMBINER_F90_COMPLEX`.
        CombinerF90Complex = "CP_COMBINER_F90_COMPLEX",
        /// Datatypes made by `MPI_COMBINER_F90_INTEGER`.
        CombinerF90Integer = "CP_COMBINER_F90_INTEGER",
        /// Datatypes made by `MPI_COMBINER_RESIZED`.
        CombinerResized = "CP_COMBINER_RESIZED",
        /// Hints given.
        Hints = "CP_HINTS",
        /// `MPI_File_set_view`.
        Views = "CP_VIEWS",
        /// Mode the file was opened with.
        Mode = "CP_MODE",
        /// Bytes read.
        BytesRead = "CP_BYTES_READ",
        /// Bytes written.
        BytesWritten = "CP_BYTES_WRITTEN",
        /// Highest offset read.
        MaxByteRead = "CP_MAX_BYTE_READ",
        /// Highest offset written.
        MaxByteWritten = "CP_MAX_BYTE_WRITTEN",
        /// Reads that began where the one before ended.
        ConsecReads = "CP_CONSEC_READS",
        /// Writes that began where the one before ended.
        ConsecWrites = "CP_CONSEC_WRITES",
        /// Reads at a higher offset than the one before.
        SeqReads = "CP_SEQ_READS",
        /// Writes at a higher offset than the one before.
        SeqWrites = "CP_SEQ_WRITES",
        /// Changes between reading and writing.
        RwSwitches = "CP_RW_SWITCHES",
        /// Accesses not aligned in memory.
        MemNotAligned = "CP_MEM_NOT_ALIGNED",
        /// Alignment in memory, bytes.
        MemAlignment = "CP_MEM_ALIGNMENT",
        /// Accesses not aligned in the file.
        FileNotAligned = "CP_FILE_NOT_ALIGNED",
        /// Alignment in the file, bytes.
        FileAlignment = "CP_FILE_ALIGNMENT",
        /// Size of the slowest read.
        MaxReadTimeSize = "CP_MAX_READ_TIME_SIZE",
        /// Size of the slowest write.
        MaxWriteTimeSize = "CP_MAX_WRITE_TIME_SIZE",
        /// Reads of 0 to 100 bytes.
        SizeRead0100 = "CP_SIZE_READ_0_100",
        /// Reads of 100 to 1K bytes.
        SizeRead1001k = "CP_SIZE_READ_100_1K",
        /// Reads of 1K to 10K bytes.
        SizeRead1k10k = "CP_SIZE_READ_1K_10K",
        /// Reads of 10K to 100K bytes.
        SizeRead10k100k = "CP_SIZE_READ_10K_100K",
        /// Reads of 100K to 1M bytes.
        SizeRead100k1m = "CP_SIZE_READ_100K_1M",
        /// Reads of 1M to 4M bytes.
        SizeRead1m4m = "CP_SIZE_READ_1M_4M",
        /// Reads of 4M to 10M bytes.
        SizeRead4m10m = "CP_SIZE_READ_4M_10M",
        /// Reads of 10M to 100M bytes.
        SizeRead10m100m = "CP_SIZE_READ_10M_100M",
        /// Reads of 100M to 1G bytes.
        SizeRead100m1g = "CP_SIZE_READ_100M_1G",
        /// Reads of 1G bytes or more.
        SizeRead1gPlus = "CP_SIZE_READ_1G_PLUS",
        /// Writes of 0 to 100 bytes.
        SizeWrite0100 = "CP_SIZE_WRITE_0_100",
        /// Writes of 100 to 1K bytes.
        SizeWrite1001k = "CP_SIZE_WRITE_100_1K",
        /// Writes of 1K to 10K bytes.
        SizeWrite1k10k = "CP_SIZE_WRITE_1K_10K",
        /// Writes of 10K to 100K bytes.
        SizeWrite10k100k = "CP_SIZE_WRITE_10K_100K",
        /// Writes of 100K to 1M bytes.
        SizeWrite100k1m = "CP_SIZE_WRITE_100K_1M",
        /// Writes of 1M to 4M bytes.
        SizeWrite1m4m = "CP_SIZE_WRITE_1M_4M",
        /// Writes of 4M to 10M bytes.
        SizeWrite4m10m = "CP_SIZE_WRITE_4M_10M",
        /// Writes of 10M to 100M bytes.
        SizeWrite10m100m = "CP_SIZE_WRITE_10M_100M",
        /// Writes of 100M to 1G bytes.
        SizeWrite100m1g = "CP_SIZE_WRITE_100M_1G",
        /// Writes of 1G bytes or more.
        SizeWrite1gPlus = "CP_SIZE_WRITE_1G_PLUS",
        /// Reads of 0 to 100 bytes.
        SizeReadAgg0100 = "CP_SIZE_READ_AGG_0_100",
        /// Reads of 100 to 1K bytes.
        SizeReadAgg1001k = "CP_SIZE_READ_AGG_100_1K",
        /// Reads of 1K to 10K bytes.
        SizeReadAgg1k10k = "CP_SIZE_READ_AGG_1K_10K",
        /// Reads of 10K to 100K bytes.
        SizeReadAgg10k100k = "CP_SIZE_READ_AGG_10K_100K",
        /// Reads of 100K to 1M bytes.
        SizeReadAgg100k1m = "CP_SIZE_READ_AGG_100K_1M",
        /// Reads of 1M to 4M bytes.
        SizeReadAgg1m4m = "CP_SIZE_READ_AGG_1M_4M",
        /// Reads of 4M to 10M bytes.
        SizeReadAgg4m10m = "CP_SIZE_READ_AGG_4M_10M",
        /// Reads of 10M to 100M bytes.
        SizeReadAgg10m100m = "CP_SIZE_READ_AGG_10M_100M",
        /// Reads of 100M to 1G bytes.
        SizeReadAgg100m1g = "CP_SIZE_READ_AGG_100M_1G",
        /// Reads of 1G bytes or more.
        SizeReadAgg1gPlus = "CP_SIZE_READ_AGG_1G_PLUS",
        /// Writes of 0 to 100 bytes.
        SizeWriteAgg0100 = "CP_SIZE_WRITE_AGG_0_100",
        /// Writes of 100 to 1K bytes.
        SizeWriteAgg1001k = "CP_SIZE_WRITE_AGG_100_1K",
        /// Writes of 1K to 10K bytes.
        SizeWriteAgg1k10k = "CP_SIZE_WRITE_AGG_1K_10K",
        /// Writes of 10K to 100K bytes.
        SizeWriteAgg10k100k = "CP_SIZE_WRITE_AGG_10K_100K",
        /// Writes of 100K to 1M bytes.
        SizeWriteAgg100k1m = "CP_SIZE_WRITE_AGG_100K_1M",
        /// Writes of 1M to 4M bytes.
        SizeWriteAgg1m4m = "CP_SIZE_WRITE_AGG_1M_4M",
        /// Writes of 4M to 10M bytes.
        SizeWriteAgg4m10m = "CP_SIZE_WRITE_AGG_4M_10M",
        /// Writes of 10M to 100M bytes.
        SizeWriteAgg10m100m = "CP_SIZE_WRITE_AGG_10M_100M",
        /// Writes of 100M to 1G bytes.
        SizeWriteAgg100m1g = "CP_SIZE_WRITE_AGG_100M_1G",
        /// Writes of 1G bytes or more.
        SizeWriteAgg1gPlus = "CP_SIZE_WRITE_AGG_1G_PLUS",
        /// Read extents of 0 to 100 bytes.
        ExtentRead0100 = "CP_EXTENT_READ_0_100",
        /// Read extents of 100 to 1K bytes.
        ExtentRead1001k = "CP_EXTENT_READ_100_1K",
        /// Read extents of 1K to 10K bytes.
        ExtentRead1k10k = "CP_EXTENT_READ_1K_10K",
        /// Read extents of 10K to 100K bytes.
        ExtentRead10k100k = "CP_EXTENT_READ_10K_100K",
        /// Read extents of 100K to 1M bytes.
        ExtentRead100k1m = "CP_EXTENT_READ_100K_1M",
        /// Read extents of 1M to 4M bytes.
        ExtentRead1m4m = "CP_EXTENT_READ_1M_4M",
        /// Read extents of 4M to 10M bytes.
        ExtentRead4m10m = "CP_EXTENT_READ_4M_10M",
        /// Read extents of 10M to 100M bytes.
        ExtentRead10m100m = "CP_EXTENT_READ_10M_100M",
        /// Read extents of 100M to 1G bytes.
        ExtentRead100m1g = "CP_EXTENT_READ_100M_1G",
        /// Read extents of 1G bytes or more.
        ExtentRead1gPlus = "CP_EXTENT_READ_1G_PLUS",
        /// Write extents of 0 to 100 bytes.
        ExtentWrite0100 = "CP_EXTENT_WRITE_0_100",
        /// Write extents of 100 to 1K bytes.
        ExtentWrite1001k = "CP_EXTENT_WRITE_100_1K",
        /// Write extents of 1K to 10K bytes.
        ExtentWrite1k10k = "CP_EXTENT_WRITE_1K_10K",
        /// Write extents of 10K to 100K bytes.
        ExtentWrite10k100k = "CP_EXTENT_WRITE_10K_100K",
        /// Write extents of 100K to 1M bytes.
        ExtentWrite100k1m = "CP_EXTENT_WRITE_100K_1M",
        /// Write extents of 1M to 4M bytes.
        ExtentWrite1m4m = "CP_EXTENT_WRITE_1M_4M",
        /// Write extents of 4M to 10M bytes.
        ExtentWrite4m10m = "CP_EXTENT_WRITE_4M_10M",
        /// Write extents of 10M to 100M bytes.
        ExtentWrite10m100m = "CP_EXTENT_WRITE_10M_100M",
        /// Write extents of 100M to 1G bytes.
        ExtentWrite100m1g = "CP_EXTENT_WRITE_100M_1G",
        /// Write extents of 1G bytes or more.
        ExtentWrite1gPlus = "CP_EXTENT_WRITE_1G_PLUS",
        /// Stride number 1 in frequency.
        Stride1Stride = "CP_STRIDE1_STRIDE",
        /// Stride number 2 in frequency.
        Stride2Stride = "CP_STRIDE2_STRIDE",
        /// Stride number 3 in frequency.
        Stride3Stride = "CP_STRIDE3_STRIDE",
        /// Stride number 4 in frequency.
        Stride4Stride = "CP_STRIDE4_STRIDE",
        /// How often stride 1 was seen.
        Stride1Count = "CP_STRIDE1_COUNT",
        /// How often stride 2 was seen.
        Stride2Count = "CP_STRIDE2_COUNT",
        /// How often stride 3 was seen.
        Stride3Count = "CP_STRIDE3_COUNT",
        /// How often stride 4 was seen.
        Stride4Count = "CP_STRIDE4_COUNT",
        /// Access size number 1 in frequency.
        Access1Access = "CP_ACCESS1_ACCESS",
        /// Access size number 2 in frequency.
        Access2Access = "CP_ACCESS2_ACCESS",
        /// Access size number 3 in frequency.
        Access3Access = "CP_ACCESS3_ACCESS",
        /// Access size number 4 in frequency.
        Access4Access = "CP_ACCESS4_ACCESS",
        /// How often access size 1 was seen.
        Access1Count = "CP_ACCESS1_COUNT",
        /// How often access size 2 was seen.
        Access2Count = "CP_ACCESS2_COUNT",
        /// How often access size 3 was seen.
        Access3Count = "CP_ACCESS3_COUNT",
        /// How often access size 4 was seen.
        Access4Count = "CP_ACCESS4_COUNT",
        /// Device number of the file system.
        Device = "CP_DEVICE",
        /// Size of the file when it was opened.
        SizeAtOpen = "CP_SIZE_AT_OPEN",
        /// The rank that was fastest (shared records).
        FastestRank = "CP_FASTEST_RANK",
        /// Bytes it moved.
        FastestRankBytes = "CP_FASTEST_RANK_BYTES",
        /// The rank that was slowest (shared records).
        SlowestRank = "CP_SLOWEST_RANK",
        /// Bytes it moved.
        SlowestRankBytes = "CP_SLOWEST_RANK_BYTES",
    }
}

counters! {
    /// Times of a [`Darshan2Record`](crate::Darshan2Record): timestamps, or durations, in seconds.
    pub enum Darshan2Time {
        /// First open.
        OpenTimestamp = "CP_F_OPEN_TIMESTAMP",
        /// Begin of the first read.
        ReadStartTimestamp = "CP_F_READ_START_TIMESTAMP",
        /// Begin of the first write.
        WriteStartTimestamp = "CP_F_WRITE_START_TIMESTAMP",
        /// Last close.
        CloseTimestamp = "CP_F_CLOSE_TIMESTAMP",
        /// End of the last read.
        ReadEndTimestamp = "CP_F_READ_END_TIMESTAMP",
        /// End of the last write.
        WriteEndTimestamp = "CP_F_WRITE_END_TIMESTAMP",
        /// Time in POSIX reads.
        PosixReadTime = "CP_F_POSIX_READ_TIME",
        /// Time in POSIX writes.
        PosixWriteTime = "CP_F_POSIX_WRITE_TIME",
        /// Time in POSIX metadata operations.
        PosixMetaTime = "CP_F_POSIX_META_TIME",
        /// Time in MPI-IO metadata operations.
        MpiMetaTime = "CP_F_MPI_META_TIME",
        /// Time in MPI-IO reads.
        MpiReadTime = "CP_F_MPI_READ_TIME",
        /// Time in MPI-IO writes.
        MpiWriteTime = "CP_F_MPI_WRITE_TIME",
        /// Duration of the slowest read.
        MaxReadTime = "CP_F_MAX_READ_TIME",
        /// Duration of the slowest write.
        MaxWriteTime = "CP_F_MAX_WRITE_TIME",
        /// Time of the fastest rank (shared records).
        FastestRankTime = "CP_F_FASTEST_RANK_TIME",
        /// Time of the slowest rank (shared records).
        SlowestRankTime = "CP_F_SLOWEST_RANK_TIME",
        /// Variance of the time over ranks (shared records).
        VarianceRankTime = "CP_F_VARIANCE_RANK_TIME",
        /// Variance of the bytes over ranks (shared records).
        VarianceRankBytes = "CP_F_VARIANCE_RANK_BYTES",
    }
}
