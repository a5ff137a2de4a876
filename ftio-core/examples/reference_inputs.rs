//! Writes the inputs on which `scripts/reference` asks the Python FTIO: `reference_inputs FOLDER`.
//!
//! They are made up by trace-generator and by the Darshan writer, so they may be part of this repository, and
//! the same bytes come out every time. The last number in a name is the number of ranks, because the Python
//! FTIO takes it from there.

use darshan_log::write::LogWriter;
use darshan_log::{
    DxtRecord, Format as LogFormat, HeatmapRecord, Job, Layer, ModuleId, PosixCounter, PosixRecord,
    PosixTime, Segment, Timestamp,
};
use std::error::Error;
use std::fs;
use std::path::Path;
use tmio_trace::Trace;
use tmio_trace::tmio::{self, Format};
use trace_generator::application::{Application, Noise};
use trace_generator::generated::Generated;
use trace_generator::irregular::Irregular;
use trace_generator::shape::Shape;

type Failure = Box<dyn Error>;

fn main() -> Result<(), Failure> {
    let Some(folder) = std::env::args_os().nth(1) else {
        return Err("usage: reference_inputs FOLDER".into());
    };
    let folder = Path::new(&folder);
    fs::create_dir_all(folder)?;
    let small = Application { ranks: 4, iterations: 12, compute: 7.0, phase: 3.0, ..Application::default() };

    let regular = Application { shape: Some(Shape::Rectangle), jitter: 0.03, ..small.clone() }.generate(1);
    fs::write(folder.join("regular_4.json"), converted(&regular, Format::Json)?)?;
    fs::write(folder.join("made_for_ftio_4.json"), made_for_ftio(&regular)?)?;
    let nested = Application { shape: Some(Shape::SubBursts), jitter: 0.05, ..small.clone() }.generate(2);
    fs::write(folder.join("nested_4.jsonl"), in_flushes(&nested, Format::Jsonl, 30.0)?)?;
    let late =
        Application { ranks: 8, shape: Some(Shape::LongTail), desync: 0.4, ..small.clone() }.generate(3);
    fs::write(folder.join("late_8.msgpack"), in_flushes(&late, Format::Msgpack, 25.0)?)?;
    let noisy = Application { shape: Some(Shape::Header), noise: Noise::High, ..small.clone() }.generate(4);
    fs::write(folder.join("noisy_4.msgpack"), converted(&noisy, Format::Msgpack)?)?;
    let spread =
        Application { shape: Some(Shape::RampUp), volume_spread: 0.3, iterations: 7, ..small }.generate(5);
    fs::write(folder.join("spread_4.msgpack"), converted(&spread, Format::Msgpack)?)?;
    let mut poisson = Irregular::Poisson.generate(7);
    // The bandwidth of a write that takes no time is infinite, and FTIO's formats have nothing but
    // bandwidths.
    poisson.writes.retain(|write| write.end > write.start + 1e-6);
    let name = format!("poisson_{}.msgpack", poisson.ranks);
    fs::write(folder.join(name), converted(&poisson, Format::Msgpack)?)?;

    fs::write(folder.join("heatmap_4.darshan"), heatmap()?)?;
    fs::write(folder.join("segments_4.darshan"), segments(&regular)?)?;
    Ok(())
}

/// As TMIO writes it when the job has ended.
fn converted(generated: &Generated, format: Format) -> Result<Vec<u8>, Failure> {
    let trace = tempfile::NamedTempFile::new()?;
    trace_generator::write::trace(generated, &mut trace.as_file())?;
    let mut out = Vec::new();
    tmio::convert(Trace::open(trace.path())?, format, None, &mut out)?;
    Ok(out)
}

/// As TMIO writes it while the job runs: what has begun in each `interval` seconds, one after the other.
fn in_flushes(generated: &Generated, format: Format, interval: f64) -> Result<Vec<u8>, Failure> {
    let mut out = Vec::new();
    let mut from = 0.0;
    while from < generated.duration {
        let to = from + interval;
        let begun = generated.writes.iter().filter(|write| from <= write.start && write.start < to);
        let flush = Generated { writes: begun.copied().collect(), ..generated.clone() };
        if !flush.writes.is_empty() {
            out.extend(converted(&flush, format)?);
        }
        from = to;
    }
    Ok(out)
}

/// The JSON that FTIO reads besides TMIO's: the bandwidth of each request and when it was in force.
fn made_for_ftio(generated: &Generated) -> Result<Vec<u8>, Failure> {
    let list = |value: &dyn Fn(&trace_generator::generated::Write) -> f64| -> Vec<f64> {
        generated.writes.iter().map(value).collect()
    };
    let document = serde_json::json!({ "write_sync": {
        "total_bytes": generated.writes.iter().map(|write| write.bytes).sum::<u64>(),
        "number_of_ranks": generated.ranks,
        "bandwidth": {
            "b_rank_avr": list(&|write| write.bytes as f64 / (write.end - write.start)),
            "t_rank_s": list(&|write| write.start),
            "t_rank_e": list(&|write| write.end),
        },
    }});
    Ok(serde_json::to_vec(&document)?)
}

fn job(seconds: i64) -> Job {
    let start = 1_700_000_000;
    Job {
        uid: 1000,
        job_id: 1,
        nprocs: 4,
        start: Timestamp { seconds: start, nanoseconds: 0 },
        end: Timestamp { seconds: start + seconds, nanoseconds: 0 },
        metadata: vec![("lib_ver".into(), "3.4.6".into())],
        command: "./app".into(),
        subsecond: true,
        ..Job::default()
    }
}

fn posix(from: f64, to: f64, bytes: u64) -> PosixRecord {
    let mut record = PosixRecord::new(1, -1);
    record[PosixCounter::Opens] = 4;
    record[PosixCounter::Writes] = 100;
    record[PosixCounter::BytesWritten] = bytes as i64;
    record[PosixTime::OpenStartTimestamp] = from;
    record[PosixTime::WriteStartTimestamp] = from;
    record[PosixTime::WriteEndTimestamp] = to;
    record[PosixTime::CloseEndTimestamp] = to;
    record
}

/// Four ranks write 64 MiB in the first two of every ten bins of 0.8 s.
fn heatmap() -> Result<Vec<u8>, Failure> {
    let bins = 150_i64;
    let record = |rank: i64| HeatmapRecord {
        id: HeatmapRecord::id_of(Layer::Posix),
        rank,
        bin_width: 0.8,
        write_bins: (0..bins).map(|bin| if (bin + 7) % 10 < 2 { (rank + 15) << 22 } else { 0 }).collect(),
        read_bins: vec![0; bins as usize],
    };
    let records: Vec<HeatmapRecord> = (0..4).map(record).collect();
    let bytes = records.iter().flat_map(|record| &record.write_bins).sum::<i64>();
    let log = LogWriter::new(LogFormat::V3_41, job(120))
        .name(1, "/scratch/output")
        .records(4, &[posix(2.0, 118.0, bytes as u64)])
        .heatmaps(&records);
    Ok(log.to_bytes()?)
}

/// The writes of a trace as segments of DXT.
fn segments(generated: &Generated) -> Result<Vec<u8>, Failure> {
    let of_rank = |rank: u32| DxtRecord {
        id: 1,
        rank: i64::from(rank),
        hostname: "node0".into(),
        shared: true,
        writes: generated
            .writes
            .iter()
            .filter(|write| write.rank == rank)
            .map(|write| Segment {
                offset: 0,
                length: write.bytes as i64,
                start: write.start,
                end: write.end,
                thread: None,
            })
            .collect(),
        reads: Vec::new(),
    };
    let records: Vec<DxtRecord> = (0..generated.ranks).map(of_rank).collect();
    let bytes = generated.writes.iter().map(|write| write.bytes).sum();
    let log = LogWriter::new(LogFormat::V3_41, job(generated.duration.ceil() as i64))
        .name(1, "/scratch/output")
        .records(4, &[posix(0.0, generated.duration, bytes)])
        .dxt(ModuleId::DXT_POSIX, 1, &records);
    Ok(log.to_bytes()?)
}
