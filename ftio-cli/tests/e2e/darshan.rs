//! Darshan logs as users meet them: `ftio info` and the heatmap.

use crate::support::{ftio, stderr, stdout};
use darshan_log::write::LogWriter;
use darshan_log::{
    DxtRecord, Format, HeatmapRecord, Job, Layer, ModuleId, MpiioCounter, MpiioRecord, MpiioTime,
    PosixCounter, PosixRecord, PosixTime, Segment, Timestamp,
};
use serde_json::Value;
use std::path::Path;

fn writer() -> LogWriter {
    let job = Job {
        nprocs: 4,
        start: Timestamp { seconds: 1000, nanoseconds: 0 },
        end: Timestamp { seconds: 1100, nanoseconds: 0 },
        command: "/bin/app -x".into(),
        metadata: vec![("lib_ver".into(), "3.4.6".into())],
        ..Job::default()
    };
    let mut posix = PosixRecord::new(7, -1);
    posix[PosixCounter::Opens] = 4;
    posix[PosixCounter::Writes] = 10;
    posix[PosixCounter::BytesWritten] = 5000;
    posix[PosixTime::WriteTime] = 2.0;
    posix[PosixTime::WriteStartTimestamp] = 1.0;
    posix[PosixTime::WriteEndTimestamp] = 90.0;
    let mut mpiio = MpiioRecord::new(7, -1);
    mpiio[MpiioCounter::CollWrites] = 8;
    mpiio[MpiioCounter::BytesWritten] = 4000;
    mpiio[MpiioTime::WriteTime] = 4.0;
    LogWriter::new(Format::V3_41, job).name(7, "/scratch/out").records(4, &[posix]).records(3, &[mpiio])
}

/// One bin in ten is written.
fn heatmap(layer: Layer, rank: i64, bytes: i64) -> HeatmapRecord {
    HeatmapRecord {
        id: HeatmapRecord::id_of(layer),
        rank,
        bin_width: 0.8,
        write_bins: (0..125).map(|bin| if bin % 10 == 3 { bytes } else { 0 }).collect(),
        read_bins: vec![0; 125],
    }
}

fn save(folder: &Path, writer: &LogWriter) {
    std::fs::write(folder.join("log.darshan"), writer.to_bytes().unwrap()).unwrap();
}

fn json(folder: &Path, args: &[&str]) -> Value {
    let output = ftio(folder, args);
    assert_eq!(output.status.code(), Some(0), "{args:?}: {}", stderr(&output));
    serde_json::from_str(stdout(&output).trim()).unwrap()
}

#[test]
fn info_shows_what_every_module_holds() {
    let folder = tempfile::tempdir().unwrap();
    let segment = |start: f64| Segment { offset: 0, length: 500, start, end: start + 0.1, thread: None };
    let dxt = DxtRecord {
        id: 7,
        rank: 1,
        hostname: "n".into(),
        shared: true,
        writes: (0..10).map(|i| segment(f64::from(i))).collect(),
        reads: vec![segment(50.0)],
    };
    let log = writer()
        .heatmaps(&[heatmap(Layer::Posix, 0, 10), heatmap(Layer::Posix, 1, 10), heatmap(Layer::MpiIo, 0, 5)])
        .dxt(ModuleId::DXT_POSIX, 1, &[dxt])
        .partial(ModuleId::DXT_POSIX);
    save(folder.path(), &log);
    let info = json(folder.path(), &["info", "--json", "log.darshan"]);
    let modules = info["modules"].as_object().unwrap();
    let names: Vec<&str> = modules.keys().map(String::as_str).collect();
    assert_eq!(names, ["DXT_POSIX", "HEATMAP", "MPI-IO", "POSIX"]);
    let posix = &modules["POSIX"];
    assert_eq!((posix["records"].as_u64(), posix["bytes_written"].as_u64()), (Some(1), Some(5000)));
    assert_eq!((posix["partial"].as_bool(), posix["writes"].as_u64()), (Some(false), Some(10)));
    assert_eq!(modules["MPI-IO"]["bytes_written"], 4000);
    let dxt = &modules["DXT_POSIX"];
    assert_eq!((dxt["segments"].as_u64(), dxt["bytes_read"].as_u64()), (Some(11), Some(500)));
    assert_eq!((dxt["partial"].as_bool(), info["complete"].as_bool()), (Some(true), Some(false)));
    let heat = &modules["HEATMAP"];
    assert_eq!((heat["records"].as_u64(), heat["bins"].as_u64()), (Some(3), Some(125)));
    assert_eq!(heat["bin_width"], 0.8);
    // 13 bins of 10 bytes of two ranks; layers are not added up.
    assert_eq!(heat["layers"]["POSIX"]["bytes_written"], 2 * 13 * 10);
    assert_eq!(heat["bytes_written"], heat["layers"]["MPIIO"]["bytes_written"]);
    assert_eq!(info["write_sync"]["ops"], 10);
    assert_eq!(info["files"][0]["name"], "/scratch/out");
    let text = stdout(&ftio(folder.path(), &["info", "log.darshan"]));
    assert!(text.contains("DXT_POSIX") && text.contains("11 segments") && text.contains("partial"), "{text}");
}

#[test]
fn info_reads_a_log_that_has_only_counters() {
    let folder = tempfile::tempdir().unwrap();
    save(folder.path(), &writer());
    let info = json(folder.path(), &["info", "--json", "log.darshan"]);
    let moved = |info: &Value| {
        (info["write_sync"]["ops"].as_u64().unwrap(), info["write_sync"]["bytes"].as_u64().unwrap())
    };
    // MPI-IO moved less than nine tenths of what POSIX moved.
    assert_eq!(moved(&info), (10, 5000));
    assert_eq!(info["t_end"], 100.0);
    let posix = json(folder.path(), &["info", "--json", "--layer", "posix", "log.darshan"]);
    assert_eq!(moved(&posix), (10, 5000));
    let info = json(folder.path(), &["info", "--json", "--layer", "mpiio", "log.darshan"]);
    assert_eq!(moved(&info), (8, 4000));
    assert_eq!((info["write_sync"]["ranks"].as_u64(), info["ranks"].as_u64()), (Some(4), Some(4)));
    assert_eq!(info["write_sync"]["bandwidth"], 1000.0);
    assert_eq!(ftio(folder.path(), &["log.darshan"]).status.code(), Some(1), "it does not tell when");
}

#[test]
fn a_heatmap_is_sampled_at_its_bins_and_five_times_as_often_for_compat() {
    let folder = tempfile::tempdir().unwrap();
    save(folder.path(), &writer().heatmaps(&[heatmap(Layer::Posix, 0, 1000), heatmap(Layer::MpiIo, 0, 7)]));
    let found = json(folder.path(), &["--json", "--layer", "posix", "log.darshan"]);
    assert_eq!(found["sampling_frequency"], 1.25);
    assert!((found["period"].as_f64().unwrap() - 8.0).abs() < 0.1, "{}", found["period"]);
    assert_eq!(found["total_bytes"], 13 * 1000);
    let compat = json(folder.path(), &["--json", "--compat", "--layer", "posix", "log.darshan"]);
    assert_eq!(compat["sampling_frequency"], 6.25);
    // From the first bin with data to the end of the last.
    assert_eq!((compat["t_start"].as_f64(), compat["n_samples"].as_u64()), (Some(3.0 * 0.8), Some(605)));
    let layer = json(folder.path(), &["--json", "log.darshan"]);
    assert_eq!(layer["total_bytes"], 13 * 1000, "the layer that moved most, alone");
    let text = stdout(&ftio(folder.path(), &["-v", "--layer", "posix", "log.darshan"]));
    assert!(text.contains("bins of 0.8 s: periods below 1.6 s cannot be seen"), "{text}");
}

#[test]
fn dxt_tells_files_apart() {
    let folder = tempfile::tempdir().unwrap();
    // A checkpoint every 10 s by two ranks, and a log every 3 s.
    let record = |id: u64, rank: i64, period: f64, length: i64| DxtRecord {
        id,
        rank,
        hostname: "n".into(),
        shared: false,
        writes: (0..(100.0 / period) as usize)
            .map(|i| {
                let start = 1.0 + period * i as f64;
                Segment { offset: 0, length, start, end: start + 0.1 * period, thread: None }
            })
            .collect(),
        reads: Vec::new(),
    };
    let records = [
        record(7, 0, 10.0, 1 << 20),
        record(8, 0, 3.0, 1 << 16),
        record(7, 1, 10.0, 1 << 20),
        record(9, 1, 3.0, 9),
    ];
    let log = writer().name(8, "/scratch/log").dxt(ModuleId::DXT_POSIX, 1, &records);
    save(folder.path(), &log);
    let output = ftio(folder.path(), &["--json", "--per-file", "log.darshan"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let found: Vec<Value> = stdout(&output).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let told: Vec<(&str, u64, f64)> = found
        .iter()
        .map(|one| {
            let period = one["period"].as_f64().unwrap();
            (one["file"].as_str().unwrap(), one["total_bytes"].as_u64().unwrap(), period.round())
        })
        .collect();
    // The third file has no name in the log.
    assert_eq!(
        told,
        [("/scratch/log", 33 << 16, 3.0), ("/scratch/out", 20 << 20, 10.0)],
        "{}",
        stdout(&output)
    );
}
