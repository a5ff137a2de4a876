//! Logs made by the crate's own writer, with something in every module.

#![allow(dead_code, reason = "not every test uses every sample")]

use darshan_log::write::{Darshan2Writer, LogWriter};
use darshan_log::{
    ByteOrder, Compression, Darshan2Counter, Darshan2Record, Darshan2Time, DxtRecord, Format, HeatmapRecord,
    Job, Layer, ModuleId, Mount, MpiioRecord, PosixCounter, PosixRecord, Segment, StdioRecord, Timestamp,
};

pub const ORDERS: [ByteOrder; 2] = [ByteOrder::Little, ByteOrder::Big];
pub const FORMATS_3: [Format; 5] =
    [Format::V3_00, Format::V3_10, Format::V3_20, Format::V3_21, Format::V3_41];
pub const COMPRESSIONS_3: [Compression; 3] = [Compression::Zlib, Compression::Bzip2, Compression::None];
pub const COMPRESSIONS_2: [Compression; 3] = [Compression::Gzip, Compression::Bzip2, Compression::None];

/// Versions of the records of POSIX, MPI-IO, STDIO, DXT_POSIX and DXT_MPIIO.
pub type Versions = [u32; 5];
pub const OLDEST: Versions = [1, 1, 1, 1, 1];
pub const NEWEST: Versions = [4, 3, 2, 2, 3];

pub fn job(format: Format) -> Job {
    let subsecond = format >= Format::V3_41;
    let nanoseconds = if subsecond { 250_000_000 } else { 0 };
    let device = if format.major == 2 { Some(-3) } else { None };
    Job {
        uid: 1000,
        job_id: 4711,
        nprocs: 4,
        start: Timestamp { seconds: 1_700_000_000, nanoseconds },
        end: Timestamp { seconds: 1_700_000_010, nanoseconds },
        metadata: if format.minor == 0 && format.major == 2 {
            Vec::new()
        } else {
            vec![("lib_ver".into(), "3.4.6".into()), ("h".into(), "a=b".into())]
        },
        command: "./app --size 4".into(),
        mounts: vec![
            Mount { fs_type: "lustre".into(), path: "/scratch".into(), device },
            Mount { fs_type: "ext4".into(), path: "/".into(), device },
        ],
        subsecond,
    }
}

/// A record with a different value in every counter.
pub fn posix(id: u64, rank: i64) -> PosixRecord {
    let mut record = PosixRecord::new(id, rank);
    record.counters.iter_mut().zip(100..).for_each(|(counter, value)| *counter = value * id as i64);
    record.fcounters.iter_mut().zip(1..).for_each(|(counter, value)| *counter = f64::from(value) * 0.25);
    record
}

pub fn mpiio(id: u64, rank: i64) -> MpiioRecord {
    let mut record = MpiioRecord::new(id, rank);
    record.counters.iter_mut().zip(200..).for_each(|(counter, value)| *counter = value * id as i64);
    record.fcounters.iter_mut().zip(1..).for_each(|(counter, value)| *counter = f64::from(value) * 0.5);
    record
}

pub fn stdio(id: u64, rank: i64) -> StdioRecord {
    let mut record = StdioRecord::new(id, rank);
    record.counters.iter_mut().zip(300..).for_each(|(counter, value)| *counter = value * id as i64);
    record.fcounters.iter_mut().zip(1..).for_each(|(counter, value)| *counter = f64::from(value) * 0.75);
    record
}

pub fn heatmap(layer: Layer, rank: i64) -> HeatmapRecord {
    HeatmapRecord {
        id: HeatmapRecord::id_of(layer),
        rank,
        bin_width: 0.1,
        write_bins: (0..20).map(|bin| bin * (rank + 1)).collect(),
        read_bins: (0..20).map(|bin| (bin % 3) * 1000).collect(),
    }
}

pub fn dxt(rank: i64, threads: bool) -> DxtRecord {
    let segment = |at: i64| Segment {
        offset: at * 4096,
        length: 4096,
        start: at as f64 * 0.5,
        end: at as f64 * 0.5 + 0.125,
        thread: threads.then_some(0x7f00_0000_0000 + at as u64),
    };
    DxtRecord {
        id: 1,
        rank,
        hostname: format!("node{rank}"),
        shared: true,
        writes: (0..7).map(segment).collect(),
        reads: (7..10).map(segment).collect(),
    }
}

pub fn darshan2(id: u64, rank: i64) -> Darshan2Record {
    let mut record = Darshan2Record::new(id, rank, "run/output.dat");
    record.counters.iter_mut().zip(1..).for_each(|(counter, value)| *counter = value * id as i64);
    record.fcounters.iter_mut().zip(1..).for_each(|(counter, value)| *counter = f64::from(value) * 0.125);
    record[Darshan2Counter::PosixFopens] = 0;
    record[Darshan2Time::CloseTimestamp] = 100.0;
    record
}

/// A log with records in every module this crate reads, and in one that it does not.
pub fn log_3(
    format: Format,
    order: ByteOrder,
    compression: Compression,
    streams: usize,
    versions: Versions,
) -> Vec<u8> {
    let [posix_version, mpiio_version, stdio_version, dxt_posix, dxt_mpiio] = versions;
    LogWriter::new(format, job(format))
        .byte_order(order)
        .compression(compression)
        .streams(streams)
        .name(1, "/scratch/one.dat")
        .name(2, "")
        .name(2, "/scratch/two.dat")
        .name(1, "/ignored")
        .records(posix_version, &[posix(1, -1), posix(2, 0), posix(2, 1)])
        .records(mpiio_version, &[mpiio(1, -1), mpiio(2, 3)])
        .records(stdio_version, &[stdio(1, 0)])
        .heatmaps(&[heatmap(Layer::Posix, 0), heatmap(Layer::Posix, 1), heatmap(Layer::Stdio, 0)])
        .dxt(ModuleId::DXT_POSIX, dxt_posix, &[dxt(0, dxt_posix == 2), dxt(1, dxt_posix == 2)])
        .dxt(ModuleId::DXT_MPIIO, dxt_mpiio, &[dxt(0, dxt_mpiio == 3)])
        .module(ModuleId(8), 1, &[0; 56])
        .partial(ModuleId::STDIO)
        .to_bytes()
        .unwrap()
}

/// A log of Darshan 2 with three records.
pub fn log_2(format: Format, order: ByteOrder, compression: Compression, streams: usize) -> Vec<u8> {
    Darshan2Writer::new(format, job(format))
        .byte_order(order)
        .compression(compression)
        .streams(streams)
        .records(&[darshan2(1, -1), darshan2(2, 0), darshan2(3, 1)])
        .to_bytes()
        .unwrap()
}

/// Logs of every format, byte order and compression.
pub fn all_logs() -> Vec<(String, Vec<u8>)> {
    let mut logs = Vec::new();
    for order in ORDERS {
        for format in FORMATS_3 {
            for compression in COMPRESSIONS_3 {
                let versions = if format < Format::V3_20 { OLDEST } else { NEWEST };
                let name = format!("{format} {order:?} {compression:?}");
                logs.push((name, log_3(format, order, compression, 2, versions)));
            }
        }
        for format in Format::ALL.into_iter().filter(|f| f.major == 2) {
            for compression in COMPRESSIONS_2 {
                let name = format!("{format} {order:?} {compression:?}");
                logs.push((name, log_2(format, order, compression, 2)));
            }
        }
    }
    logs
}

/// The same record as a reader of an old version sees it: without what that version lacks.
pub fn as_read_posix(mut record: PosixRecord, version: u32) -> PosixRecord {
    use PosixCounter as C;
    let stream_counters = [C::Fopens, C::Freads, C::Fwrites, C::Fseeks];
    if version > 1 {
        stream_counters.iter().for_each(|c| record[*c] = -1);
    }
    if version < 4 {
        [C::Filenos, C::Dups, C::RenameSources, C::RenameTargets].iter().for_each(|c| record[*c] = -1);
        record[C::RenamedFrom] = 0;
    }
    if version < 3 {
        record[darshan_log::PosixTime::CloseStartTimestamp] = -1.0;
        record[darshan_log::PosixTime::OpenEndTimestamp] = -1.0;
    }
    record
}
