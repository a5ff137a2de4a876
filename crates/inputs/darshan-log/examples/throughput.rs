//! Counts how many small logs can be opened and summed per second on one core.
//!
//! ```text
//! cargo run --release -p darshan-log --example throughput [LOGS] [LOG…]
//! ```
//!
//! Without files, LOGS (default 2000) logs of about 2 KB are written to a temporary folder, each different.
//! Per log: open, read the job, sum the bytes of all POSIX records; then the same from memory, and with
//! everything read.

use std::path::PathBuf;
use std::time::Instant;

use darshan_log::write::LogWriter;
use darshan_log::{
    Format, HeatmapRecord, Job, Layer, Log, ModuleId, Mount, MpiioRecord, PosixCounter, PosixRecord,
    PosixTime, StdioRecord, Timestamp,
};

/// A log like those of the release samples: a few files, a table of mounts, all modules of today.
fn small_log(seed: i64) -> Vec<u8> {
    let mount = |at: i64| Mount { fs_type: "lustre".into(), path: format!("/lus/{at}/{seed}"), device: None };
    let job = Job {
        uid: 1000 + seed % 50,
        job_id: seed,
        nprocs: 1 << (seed % 10),
        start: Timestamp { seconds: 1_700_000_000 + seed, nanoseconds: 1 },
        end: Timestamp { seconds: 1_700_000_600 + seed, nanoseconds: 2 },
        metadata: vec![("lib_ver".into(), "3.4.6".into()), ("h".into(), "romio_no_indep_rw=true".into())],
        command: format!("/home/user/app{} --in /lus/0/{seed}/input", seed % 7),
        mounts: (0..30).map(mount).collect(),
        ..Job::default()
    };
    let mut writer = LogWriter::new(Format::V3_41, job);
    let mut posix = Vec::new();
    for file in 0..4 {
        let id = (seed as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) + file;
        writer = writer.name(id, &format!("/lus/{file}/{seed}/output.{file}"));
        let mut record = PosixRecord::new(id, -1);
        record[PosixCounter::Opens] = 16;
        record[PosixCounter::Writes] = 4 + seed;
        record[PosixCounter::BytesWritten] = (seed + 1) * 1_234_567;
        record[PosixTime::WriteStartTimestamp] = 0.5 + file as f64 * 1.7;
        record[PosixTime::WriteEndTimestamp] = 1.5 + file as f64 * 1.9;
        posix.push(record);
    }
    let heatmap = HeatmapRecord {
        id: HeatmapRecord::id_of(Layer::Posix),
        rank: 0,
        bin_width: 6.4,
        write_bins: (0..100).map(|bin| if bin % 10 == 0 { bin * 1000 + seed } else { 0 }).collect(),
        read_bins: vec![0; 100],
    };
    let bytes = writer
        .records(4, &posix)
        .records(3, &[MpiioRecord::new(1, -1)])
        .records(2, &[StdioRecord::new(2, 0)])
        .heatmaps(&[heatmap])
        .module(ModuleId(8), 1, &[1; 56])
        .to_bytes();
    bytes.expect("a log of a known format")
}

fn posix_bytes(log: &Log) -> darshan_log::Result<u64> {
    let mut bytes = 0;
    for record in log.posix() {
        let record = record?;
        bytes += (record[PosixCounter::BytesRead] + record[PosixCounter::BytesWritten]) as u64;
    }
    Ok(bytes)
}

fn measure(what: &str, logs: usize, mut pass: impl FnMut() -> darshan_log::Result<u64>) {
    let mut best = f64::INFINITY;
    let mut sum = 0;
    for _ in 0..5 {
        let start = Instant::now();
        sum = pass().expect("readable logs");
        best = best.min(start.elapsed().as_secs_f64());
    }
    println!(
        "{what:<44} {:>9.0} logs/s {:>7.1} us/log (sum {sum})",
        logs as f64 / best,
        best / logs as f64 * 1e6
    );
}

fn main() -> std::io::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let count = arguments.first().and_then(|n| n.parse().ok()).unwrap_or(2000);
    let mut paths: Vec<PathBuf> = arguments.iter().skip(1).map(PathBuf::from).collect();
    let folder = tempfile::tempdir()?;
    if paths.is_empty() {
        for seed in 0..count {
            let path = folder.path().join(format!("{seed}.darshan"));
            std::fs::write(&path, small_log(seed))?;
            paths.push(path);
        }
    }
    let memory = paths.iter().map(std::fs::read).collect::<std::io::Result<Vec<Vec<u8>>>>()?;
    let total: usize = memory.iter().map(Vec::len).sum();
    println!(
        "{} logs of {} bytes on average, best of 5 passes, one thread",
        paths.len(),
        total / paths.len()
    );

    measure("open, job and POSIX counters", paths.len(), || {
        paths.iter().map(|path| posix_bytes(&Log::open(path)?)).sum()
    });
    measure("the same from memory", paths.len(), || {
        memory.iter().map(|bytes| posix_bytes(&Log::from_bytes(bytes.as_slice())?)).sum()
    });
    measure("open, names and totals of all modules", paths.len(), || {
        paths
            .iter()
            .map(|path| {
                Log::open(path).and_then(|log| Ok(log.names()?.len() as u64 + log.totals().len() as u64))
            })
            .sum()
    });
    Ok(())
}
