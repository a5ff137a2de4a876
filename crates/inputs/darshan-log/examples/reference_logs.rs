//! Writes the logs on which `scripts/reference` asks PyDarshan: `reference_logs FOLDER`.
//!
//! Every counter of every record has a value of its own, so that a counter read from the wrong place shows.
//! Left out is what PyDarshan 3.5.0 cannot read or reads wrongly: logs compressed by bzip2, Darshan 2,
//! segments with threads, and big-endian logs with POSIX records older than version 4.

#[path = "../tests/support/samples.rs"]
mod samples;

use darshan_log::write::LogWriter;
use darshan_log::{ByteOrder, Compression, Format, PosixCounter, PosixRecord};
use samples::{Versions, job, log_3};

/// Name, format, byte order, compression, streams per region, versions of the records.
type Sample = (&'static str, Format, ByteOrder, Compression, usize, Versions);

const SAMPLES: [Sample; 8] = [
    ("3.10-posix-3", Format::V3_10, ByteOrder::Little, Compression::Zlib, 1, [3, 2, 1, 1, 2]),
    ("3.10-mpiio-1", Format::V3_10, ByteOrder::Little, Compression::Zlib, 3, [3, 1, 1, 1, 1]),
    ("3.20", Format::V3_20, ByteOrder::Little, Compression::Zlib, 2, [4, 3, 2, 1, 2]),
    ("3.21", Format::V3_21, ByteOrder::Little, Compression::Zlib, 5, [4, 3, 2, 1, 2]),
    ("3.21-uncompressed", Format::V3_21, ByteOrder::Little, Compression::None, 1, [4, 3, 2, 1, 2]),
    ("3.21-big-endian", Format::V3_21, ByteOrder::Big, Compression::Zlib, 2, [4, 3, 2, 1, 2]),
    ("3.41", Format::V3_41, ByteOrder::Little, Compression::Zlib, 2, [4, 3, 2, 1, 2]),
    ("3.41-big-endian", Format::V3_41, ByteOrder::Big, Compression::Zlib, 1, [4, 3, 2, 1, 2]),
];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let Some(folder) = std::env::args_os().nth(1).map(std::path::PathBuf::from) else {
        return Err("usage: reference_logs FOLDER".into());
    };
    std::fs::create_dir_all(&folder)?;
    for (name, format, order, compression, streams, versions) in SAMPLES {
        let bytes = log_3(format, order, compression, streams, versions);
        std::fs::write(folder.join(format!("{name}.darshan")), bytes)?;
    }
    // The oldest POSIX records count streams among the files; Darshan leaves those that do out.
    let without_streams = |mut record: PosixRecord| {
        use PosixCounter::{Fopens, Freads, Fseeks, Fwrites};
        [Fopens, Freads, Fwrites, Fseeks].into_iter().for_each(|counter| record[counter] = 0);
        record
    };
    let records = [samples::posix(1, -1), samples::posix(2, 0)].map(without_streams);
    let oldest = LogWriter::new(Format::V3_00, job(Format::V3_00))
        .name(1, "/scratch/one.dat")
        .name(2, "/scratch/two.dat")
        .records(1, &records);
    std::fs::write(folder.join("3.00-posix-1.darshan"), oldest.to_bytes()?)?;
    let empty = LogWriter::new(Format::V3_41, job(Format::V3_41));
    std::fs::write(folder.join("3.41-empty.darshan"), empty.to_bytes()?)?;
    Ok(())
}
