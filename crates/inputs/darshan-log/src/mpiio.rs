//! MPI-IO records: one per file and rank, or one per file that all ranks opened.

use crate::counter_rows::counters;
use crate::counters::{FileRecord, Layout, Run, file_record};
use crate::module::{Layer, ModuleId};

counters! {
    /// Integer counters of an [`MpiioRecord`].
    pub enum MpiioCounter: "MPIIO_" {
        mpi_calls()
        {
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
            /// Changes between reading and writing.
            RwSwitches = "RW_SWITCHES",
        }
        slowest()
        sizes("AGG_")
        accesses()
        ranks()
    }
}

counters! {
    /// Times of an [`MpiioRecord`]: seconds since the job began, or durations in seconds. Those a record
    /// version lacks are −1.
    pub enum MpiioTime: "MPIIO_F_" {
        times()
        slowest_times()
        rank_times()
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
        counts: {
            opens: [IndepOpens, CollOpens],
            reads: [IndepReads, CollReads, SplitReads, NbReads],
            writes: [IndepWrites, CollWrites, SplitWrites, NbWrites],
            seeks: [],
            stats: [],
        },
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
