//! The counters of Darshan's records, as enums: one table of the rows that several modules have.
//!
//! A module lists its counters in the order of its records. Rows of its own stand in braces; what it shares
//! with other modules is one word: `ranks()` stands for the four rows about the fastest and the slowest rank.

/// Declares the counters of a module: an enum whose discriminant is the index, with the names of Darshan's
/// tools, which are the prefix and that of the row.
macro_rules! counters {
    ($(#[$meta:meta])* pub enum $name:ident: $prefix:literal { $($rows:tt)+ }) => {
        counters! { @rows [$(#[$meta])* $name] $prefix [] $($rows)+ }
    };

    // Rows of this module alone.
    (
        @rows $head:tt $prefix:literal [$($done:tt)*]
        { $($(#[doc = $doc:literal])+ $variant:ident = $text:literal,)+ } $($rest:tt)*
    ) => {
        counters! { @rows $head $prefix [
            $($done)*
            $($($doc)+ $variant ($prefix, $text);)+
        ] $($rest)* }
    };

    // Rows that several modules share.
    (@rows $head:tt $prefix:literal [$($done:tt)*] mpi_calls() $($rest:tt)*) => {
        counters! { @rows $head $prefix [
            $($done)*
            "Independent opens." IndepOpens ($prefix, "INDEP_OPENS");
            "Collective opens." CollOpens ($prefix, "COLL_OPENS");
            "Independent reads." IndepReads ($prefix, "INDEP_READS");
            "Independent writes." IndepWrites ($prefix, "INDEP_WRITES");
            "Collective reads." CollReads ($prefix, "COLL_READS");
            "Collective writes." CollWrites ($prefix, "COLL_WRITES");
            "Split collective reads." SplitReads ($prefix, "SPLIT_READS");
            "Split collective writes." SplitWrites ($prefix, "SPLIT_WRITES");
            "Nonblocking reads." NbReads ($prefix, "NB_READS");
            "Nonblocking writes." NbWrites ($prefix, "NB_WRITES");
            "`MPI_File_sync`." Syncs ($prefix, "SYNCS");
        ] $($rest)* }
    };
    (@rows $head:tt $prefix:literal [$($done:tt)*] patterns() $($rest:tt)*) => {
        counters! { @rows $head $prefix [
            $($done)*
            "Highest offset read." MaxByteRead ($prefix, "MAX_BYTE_READ");
            "Highest offset written." MaxByteWritten ($prefix, "MAX_BYTE_WRITTEN");
            "Reads that began where the one before ended." ConsecReads ($prefix, "CONSEC_READS");
            "Writes that began where the one before ended." ConsecWrites ($prefix, "CONSEC_WRITES");
            "Reads at a higher offset than the one before." SeqReads ($prefix, "SEQ_READS");
            "Writes at a higher offset than the one before." SeqWrites ($prefix, "SEQ_WRITES");
            "Changes between reading and writing." RwSwitches ($prefix, "RW_SWITCHES");
            "Accesses not aligned in memory." MemNotAligned ($prefix, "MEM_NOT_ALIGNED");
            "Alignment in memory, bytes." MemAlignment ($prefix, "MEM_ALIGNMENT");
            "Accesses not aligned in the file." FileNotAligned ($prefix, "FILE_NOT_ALIGNED");
            "Alignment in the file, bytes." FileAlignment ($prefix, "FILE_ALIGNMENT");
        ] $($rest)* }
    };
    (@rows $head:tt $prefix:literal [$($done:tt)*] slowest() $($rest:tt)*) => {
        counters! { @rows $head $prefix [
            $($done)*
            "Size of the slowest read." MaxReadTimeSize ($prefix, "MAX_READ_TIME_SIZE");
            "Size of the slowest write." MaxWriteTimeSize ($prefix, "MAX_WRITE_TIME_SIZE");
        ] $($rest)* }
    };
    (@rows $head:tt $prefix:literal [$($done:tt)*] sizes($kind:literal) $($rest:tt)*) => {
        counters! { @rows $head $prefix [
            $($done)*
            "Reads of 0 to 100 bytes." SizeRead0100 ($prefix, "SIZE_READ_", $kind, "0_100");
            "Reads of 100 to 1K bytes." SizeRead1001k ($prefix, "SIZE_READ_", $kind, "100_1K");
            "Reads of 1K to 10K bytes." SizeRead1k10k ($prefix, "SIZE_READ_", $kind, "1K_10K");
            "Reads of 10K to 100K bytes." SizeRead10k100k ($prefix, "SIZE_READ_", $kind, "10K_100K");
            "Reads of 100K to 1M bytes." SizeRead100k1m ($prefix, "SIZE_READ_", $kind, "100K_1M");
            "Reads of 1M to 4M bytes." SizeRead1m4m ($prefix, "SIZE_READ_", $kind, "1M_4M");
            "Reads of 4M to 10M bytes." SizeRead4m10m ($prefix, "SIZE_READ_", $kind, "4M_10M");
            "Reads of 10M to 100M bytes." SizeRead10m100m ($prefix, "SIZE_READ_", $kind, "10M_100M");
            "Reads of 100M to 1G bytes." SizeRead100m1g ($prefix, "SIZE_READ_", $kind, "100M_1G");
            "Reads of 1G bytes or more." SizeRead1gPlus ($prefix, "SIZE_READ_", $kind, "1G_PLUS");
            "Writes of 0 to 100 bytes." SizeWrite0100 ($prefix, "SIZE_WRITE_", $kind, "0_100");
            "Writes of 100 to 1K bytes." SizeWrite1001k ($prefix, "SIZE_WRITE_", $kind, "100_1K");
            "Writes of 1K to 10K bytes." SizeWrite1k10k ($prefix, "SIZE_WRITE_", $kind, "1K_10K");
            "Writes of 10K to 100K bytes." SizeWrite10k100k ($prefix, "SIZE_WRITE_", $kind, "10K_100K");
            "Writes of 100K to 1M bytes." SizeWrite100k1m ($prefix, "SIZE_WRITE_", $kind, "100K_1M");
            "Writes of 1M to 4M bytes." SizeWrite1m4m ($prefix, "SIZE_WRITE_", $kind, "1M_4M");
            "Writes of 4M to 10M bytes." SizeWrite4m10m ($prefix, "SIZE_WRITE_", $kind, "4M_10M");
            "Writes of 10M to 100M bytes." SizeWrite10m100m ($prefix, "SIZE_WRITE_", $kind, "10M_100M");
            "Writes of 100M to 1G bytes." SizeWrite100m1g ($prefix, "SIZE_WRITE_", $kind, "100M_1G");
            "Writes of 1G bytes or more." SizeWrite1gPlus ($prefix, "SIZE_WRITE_", $kind, "1G_PLUS");
        ] $($rest)* }
    };
    (@rows $head:tt $prefix:literal [$($done:tt)*] strides() $($rest:tt)*) => {
        counters! { @rows $head $prefix [
            $($done)*
            "Stride number 1 in frequency." Stride1Stride ($prefix, "STRIDE1_STRIDE");
            "Stride number 2 in frequency." Stride2Stride ($prefix, "STRIDE2_STRIDE");
            "Stride number 3 in frequency." Stride3Stride ($prefix, "STRIDE3_STRIDE");
            "Stride number 4 in frequency." Stride4Stride ($prefix, "STRIDE4_STRIDE");
            "How often stride 1 was seen." Stride1Count ($prefix, "STRIDE1_COUNT");
            "How often stride 2 was seen." Stride2Count ($prefix, "STRIDE2_COUNT");
            "How often stride 3 was seen." Stride3Count ($prefix, "STRIDE3_COUNT");
            "How often stride 4 was seen." Stride4Count ($prefix, "STRIDE4_COUNT");
        ] $($rest)* }
    };
    (@rows $head:tt $prefix:literal [$($done:tt)*] accesses() $($rest:tt)*) => {
        counters! { @rows $head $prefix [
            $($done)*
            "Access size number 1 in frequency." Access1Access ($prefix, "ACCESS1_ACCESS");
            "Access size number 2 in frequency." Access2Access ($prefix, "ACCESS2_ACCESS");
            "Access size number 3 in frequency." Access3Access ($prefix, "ACCESS3_ACCESS");
            "Access size number 4 in frequency." Access4Access ($prefix, "ACCESS4_ACCESS");
            "How often access size 1 was seen." Access1Count ($prefix, "ACCESS1_COUNT");
            "How often access size 2 was seen." Access2Count ($prefix, "ACCESS2_COUNT");
            "How often access size 3 was seen." Access3Count ($prefix, "ACCESS3_COUNT");
            "How often access size 4 was seen." Access4Count ($prefix, "ACCESS4_COUNT");
        ] $($rest)* }
    };
    (@rows $head:tt $prefix:literal [$($done:tt)*] ranks() $($rest:tt)*) => {
        counters! { @rows $head $prefix [
            $($done)*
            "The rank that was fastest (shared records)." FastestRank ($prefix, "FASTEST_RANK");
            "Bytes it moved." FastestRankBytes ($prefix, "FASTEST_RANK_BYTES");
            "The rank that was slowest (shared records)." SlowestRank ($prefix, "SLOWEST_RANK");
            "Bytes it moved." SlowestRankBytes ($prefix, "SLOWEST_RANK_BYTES");
        ] $($rest)* }
    };
    (@rows $head:tt $prefix:literal [$($done:tt)*] times() $($rest:tt)*) => {
        counters! { @rows $head $prefix [
            $($done)*
            "First open." OpenStartTimestamp ($prefix, "OPEN_START_TIMESTAMP");
            "Begin of the first read." ReadStartTimestamp ($prefix, "READ_START_TIMESTAMP");
            "Begin of the first write." WriteStartTimestamp ($prefix, "WRITE_START_TIMESTAMP");
            "First close." CloseStartTimestamp ($prefix, "CLOSE_START_TIMESTAMP");
            "Last open." OpenEndTimestamp ($prefix, "OPEN_END_TIMESTAMP");
            "End of the last read." ReadEndTimestamp ($prefix, "READ_END_TIMESTAMP");
            "End of the last write." WriteEndTimestamp ($prefix, "WRITE_END_TIMESTAMP");
            "Last close." CloseEndTimestamp ($prefix, "CLOSE_END_TIMESTAMP");
            "Time in reads, over all ranks." ReadTime ($prefix, "READ_TIME");
            "Time in writes, over all ranks." WriteTime ($prefix, "WRITE_TIME");
            "Time in metadata operations, over all ranks." MetaTime ($prefix, "META_TIME");
        ] $($rest)* }
    };
    (@rows $head:tt $prefix:literal [$($done:tt)*] slowest_times() $($rest:tt)*) => {
        counters! { @rows $head $prefix [
            $($done)*
            "Duration of the slowest read." MaxReadTime ($prefix, "MAX_READ_TIME");
            "Duration of the slowest write." MaxWriteTime ($prefix, "MAX_WRITE_TIME");
        ] $($rest)* }
    };
    (@rows $head:tt $prefix:literal [$($done:tt)*] rank_times() $($rest:tt)*) => {
        counters! { @rows $head $prefix [
            $($done)*
            "Time of the fastest rank (shared records)." FastestRankTime ($prefix, "FASTEST_RANK_TIME");
            "Time of the slowest rank (shared records)." SlowestRankTime ($prefix, "SLOWEST_RANK_TIME");
            "Variance of the time over ranks (shared records)." VarianceRankTime ($prefix, "VARIANCE_RANK_TIME");
            "Variance of the bytes over ranks (shared records)." VarianceRankBytes ($prefix, "VARIANCE_RANK_BYTES");
        ] $($rest)* }
    };

    // All rows are there.
    (
        @rows [$(#[$meta:meta])* $name:ident] $prefix:literal
        [$($($doc:literal)+ $variant:ident ($($text:literal),+);)+]
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum $name { $($(#[doc = $doc])+ #[doc = concat!("`", $($text,)+ "`")] $variant,)+ }

        impl $name {
            /// All of them, in the order of the record.
            pub const ALL: &'static [$name] = &[$($name::$variant,)+];
            /// How many there are.
            pub const COUNT: usize = Self::ALL.len();

            /// The name Darshan's tools print.
            pub const fn name(self) -> &'static str {
                match self { $($name::$variant => concat!($($text),+),)+ }
            }

            /// The counter of a name.
            pub fn from_name(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|counter| counter.name() == name)
            }
        }
    };
}
pub(crate) use counters;
