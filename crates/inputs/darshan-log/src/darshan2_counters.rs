//! The counters of a Darshan 2 file record, all interfaces in one.

use crate::counter_rows::counters;

counters! {
    /// Integer counters of a [`Darshan2Record`](crate::Darshan2Record); −1 means not monitored.
    pub enum Darshan2Counter: "CP_" {
        mpi_calls()
        {
            /// POSIX reads.
            PosixReads = "POSIX_READS",
            /// POSIX writes.
            PosixWrites = "POSIX_WRITES",
            /// POSIX opens.
            PosixOpens = "POSIX_OPENS",
            /// POSIX seeks.
            PosixSeeks = "POSIX_SEEKS",
            /// `stat`, `lstat`, `fstat`.
            PosixStats = "POSIX_STATS",
            /// `mmap`.
            PosixMmaps = "POSIX_MMAPS",
            /// Stream reads.
            PosixFreads = "POSIX_FREADS",
            /// Stream writes.
            PosixFwrites = "POSIX_FWRITES",
            /// Stream opens.
            PosixFopens = "POSIX_FOPENS",
            /// Stream seeks.
            PosixFseeks = "POSIX_FSEEKS",
            /// `fsync`.
            PosixFsyncs = "POSIX_FSYNCS",
            /// `fdatasync`.
            PosixFdsyncs = "POSIX_FDSYNCS",
            /// Independent PnetCDF opens.
            IndepNcOpens = "INDEP_NC_OPENS",
            /// Collective PnetCDF opens.
            CollNcOpens = "COLL_NC_OPENS",
            /// HDF5 opens.
            Hdf5Opens = "HDF5_OPENS",
            /// Datatypes made by `MPI_COMBINER_NAMED`.
            CombinerNamed = "COMBINER_NAMED",
            /// Datatypes made by `MPI_COMBINER_DUP`.
            CombinerDup = "COMBINER_DUP",
            /// Datatypes made by `MPI_COMBINER_CONTIGUOUS`.
            CombinerContiguous = "COMBINER_CONTIGUOUS",
            /// Datatypes made by `MPI_COMBINER_VECTOR`.
            CombinerVector = "COMBINER_VECTOR",
            /// Datatypes made by `MPI_COMBINER_HVECTOR_INTEGER`.
            CombinerHvectorInteger = "COMBINER_HVECTOR_INTEGER",
            /// Datatypes made by `MPI_COMBINER_HVECTOR`.
            CombinerHvector = "COMBINER_HVECTOR",
            /// Datatypes made by `MPI_COMBINER_INDEXED`.
            CombinerIndexed = "COMBINER_INDEXED",
            /// Datatypes made by `MPI_COMBINER_HINDEXED_INTEGER`.
            CombinerHindexedInteger = "COMBINER_HINDEXED_INTEGER",
            /// Datatypes made by `MPI_COMBINER_HINDEXED`.
            CombinerHindexed = "COMBINER_HINDEXED",
            /// Datatypes made by `MPI_COMBINER_INDEXED_BLOCK`.
            CombinerIndexedBlock = "COMBINER_INDEXED_BLOCK",
            /// Datatypes made by `MPI_COMBINER_STRUCT_INTEGER`.
            CombinerStructInteger = "COMBINER_STRUCT_INTEGER",
            /// Datatypes made by `MPI_COMBINER_STRUCT`.
            CombinerStruct = "COMBINER_STRUCT",
            /// Datatypes made by `MPI_COMBINER_SUBARRAY`.
            CombinerSubarray = "COMBINER_SUBARRAY",
            /// Datatypes made by `MPI_COMBINER_DARRAY`.
            CombinerDarray = "COMBINER_DARRAY",
            /// Datatypes made by `MPI_COMBINER_F90_REAL`.
            CombinerF90Real = "COMBINER_F90_REAL",
            /// Datatypes made by `MPI_COMBINER_F90_COMPLEX`.
            CombinerF90Complex = "COMBINER_F90_COMPLEX",
            /// Datatypes made by `MPI_COMBINER_F90_INTEGER`.
            CombinerF90Integer = "COMBINER_F90_INTEGER",
            /// Datatypes made by `MPI_COMBINER_RESIZED`.
            CombinerResized = "COMBINER_RESIZED",
            /// Hints given.
            Hints = "HINTS",
            /// `MPI_File_set_view`.
            Views = "VIEWS",
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
        {
            /// Reads of 0 to 100 bytes.
            SizeReadAgg0100 = "SIZE_READ_AGG_0_100",
            /// Reads of 100 to 1K bytes.
            SizeReadAgg1001k = "SIZE_READ_AGG_100_1K",
            /// Reads of 1K to 10K bytes.
            SizeReadAgg1k10k = "SIZE_READ_AGG_1K_10K",
            /// Reads of 10K to 100K bytes.
            SizeReadAgg10k100k = "SIZE_READ_AGG_10K_100K",
            /// Reads of 100K to 1M bytes.
            SizeReadAgg100k1m = "SIZE_READ_AGG_100K_1M",
            /// Reads of 1M to 4M bytes.
            SizeReadAgg1m4m = "SIZE_READ_AGG_1M_4M",
            /// Reads of 4M to 10M bytes.
            SizeReadAgg4m10m = "SIZE_READ_AGG_4M_10M",
            /// Reads of 10M to 100M bytes.
            SizeReadAgg10m100m = "SIZE_READ_AGG_10M_100M",
            /// Reads of 100M to 1G bytes.
            SizeReadAgg100m1g = "SIZE_READ_AGG_100M_1G",
            /// Reads of 1G bytes or more.
            SizeReadAgg1gPlus = "SIZE_READ_AGG_1G_PLUS",
            /// Writes of 0 to 100 bytes.
            SizeWriteAgg0100 = "SIZE_WRITE_AGG_0_100",
            /// Writes of 100 to 1K bytes.
            SizeWriteAgg1001k = "SIZE_WRITE_AGG_100_1K",
            /// Writes of 1K to 10K bytes.
            SizeWriteAgg1k10k = "SIZE_WRITE_AGG_1K_10K",
            /// Writes of 10K to 100K bytes.
            SizeWriteAgg10k100k = "SIZE_WRITE_AGG_10K_100K",
            /// Writes of 100K to 1M bytes.
            SizeWriteAgg100k1m = "SIZE_WRITE_AGG_100K_1M",
            /// Writes of 1M to 4M bytes.
            SizeWriteAgg1m4m = "SIZE_WRITE_AGG_1M_4M",
            /// Writes of 4M to 10M bytes.
            SizeWriteAgg4m10m = "SIZE_WRITE_AGG_4M_10M",
            /// Writes of 10M to 100M bytes.
            SizeWriteAgg10m100m = "SIZE_WRITE_AGG_10M_100M",
            /// Writes of 100M to 1G bytes.
            SizeWriteAgg100m1g = "SIZE_WRITE_AGG_100M_1G",
            /// Writes of 1G bytes or more.
            SizeWriteAgg1gPlus = "SIZE_WRITE_AGG_1G_PLUS",
            /// Read extents of 0 to 100 bytes.
            ExtentRead0100 = "EXTENT_READ_0_100",
            /// Read extents of 100 to 1K bytes.
            ExtentRead1001k = "EXTENT_READ_100_1K",
            /// Read extents of 1K to 10K bytes.
            ExtentRead1k10k = "EXTENT_READ_1K_10K",
            /// Read extents of 10K to 100K bytes.
            ExtentRead10k100k = "EXTENT_READ_10K_100K",
            /// Read extents of 100K to 1M bytes.
            ExtentRead100k1m = "EXTENT_READ_100K_1M",
            /// Read extents of 1M to 4M bytes.
            ExtentRead1m4m = "EXTENT_READ_1M_4M",
            /// Read extents of 4M to 10M bytes.
            ExtentRead4m10m = "EXTENT_READ_4M_10M",
            /// Read extents of 10M to 100M bytes.
            ExtentRead10m100m = "EXTENT_READ_10M_100M",
            /// Read extents of 100M to 1G bytes.
            ExtentRead100m1g = "EXTENT_READ_100M_1G",
            /// Read extents of 1G bytes or more.
            ExtentRead1gPlus = "EXTENT_READ_1G_PLUS",
            /// Write extents of 0 to 100 bytes.
            ExtentWrite0100 = "EXTENT_WRITE_0_100",
            /// Write extents of 100 to 1K bytes.
            ExtentWrite1001k = "EXTENT_WRITE_100_1K",
            /// Write extents of 1K to 10K bytes.
            ExtentWrite1k10k = "EXTENT_WRITE_1K_10K",
            /// Write extents of 10K to 100K bytes.
            ExtentWrite10k100k = "EXTENT_WRITE_10K_100K",
            /// Write extents of 100K to 1M bytes.
            ExtentWrite100k1m = "EXTENT_WRITE_100K_1M",
            /// Write extents of 1M to 4M bytes.
            ExtentWrite1m4m = "EXTENT_WRITE_1M_4M",
            /// Write extents of 4M to 10M bytes.
            ExtentWrite4m10m = "EXTENT_WRITE_4M_10M",
            /// Write extents of 10M to 100M bytes.
            ExtentWrite10m100m = "EXTENT_WRITE_10M_100M",
            /// Write extents of 100M to 1G bytes.
            ExtentWrite100m1g = "EXTENT_WRITE_100M_1G",
            /// Write extents of 1G bytes or more.
            ExtentWrite1gPlus = "EXTENT_WRITE_1G_PLUS",
        }
        strides()
        accesses()
        {
            /// Device number of the file system.
            Device = "DEVICE",
            /// Size of the file when it was opened.
            SizeAtOpen = "SIZE_AT_OPEN",
        }
        ranks()
    }
}

counters! {
    /// Times of a [`Darshan2Record`](crate::Darshan2Record): timestamps, or durations, in seconds.
    pub enum Darshan2Time: "CP_F_" {
        {
            /// First open.
            OpenTimestamp = "OPEN_TIMESTAMP",
            /// Begin of the first read.
            ReadStartTimestamp = "READ_START_TIMESTAMP",
            /// Begin of the first write.
            WriteStartTimestamp = "WRITE_START_TIMESTAMP",
            /// Last close.
            CloseTimestamp = "CLOSE_TIMESTAMP",
            /// End of the last read.
            ReadEndTimestamp = "READ_END_TIMESTAMP",
            /// End of the last write.
            WriteEndTimestamp = "WRITE_END_TIMESTAMP",
            /// Time in POSIX reads.
            PosixReadTime = "POSIX_READ_TIME",
            /// Time in POSIX writes.
            PosixWriteTime = "POSIX_WRITE_TIME",
            /// Time in POSIX metadata operations.
            PosixMetaTime = "POSIX_META_TIME",
            /// Time in MPI-IO metadata operations.
            MpiMetaTime = "MPI_META_TIME",
            /// Time in MPI-IO reads.
            MpiReadTime = "MPI_READ_TIME",
            /// Time in MPI-IO writes.
            MpiWriteTime = "MPI_WRITE_TIME",
        }
        slowest_times()
        rank_times()
    }
}
