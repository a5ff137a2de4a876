//! Makes an archive of small Darshan logs, each different, for measurements.
//!
//! ```text
//! cargo run --release -p ftio-mosaic --example make_archive FOLDER LOGS
//! ```
//!
//! Logs are about 2 KB: a job, a table of mounts, and the POSIX, MPI-IO, STDIO and HEATMAP records of a few
//! files, as the sample logs of Darshan's releases. Behaviours, run times and formats (3.21, 3.41, Darshan 2;
//! zlib and bzip2; both byte orders) vary; of twenty logs one is cut short, as archives have them.

use darshan_log::write::{Darshan2Writer, LogWriter};
use darshan_log::{
    ByteOrder, Compression, Darshan2Counter, Darshan2Record, Darshan2Time, Format, HeatmapRecord, Job, Layer,
    Mount, MpiioRecord, PosixCounter, PosixRecord, PosixTime, StdioRecord, Timestamp,
};
use rayon::prelude::*;
use seeded_random::Random;
use std::path::{Path, PathBuf};

/// Logs in a folder.
const PER_FOLDER: u64 = 1000;

fn main() -> std::io::Result<()> {
    let mut arguments = std::env::args_os().skip(1);
    let (Some(folder), Some(logs)) = (arguments.next().map(PathBuf::from), arguments.next()) else {
        eprintln!("usage: make_archive FOLDER LOGS");
        std::process::exit(2);
    };
    let logs: u64 = logs.to_str().and_then(|logs| logs.parse().ok()).unwrap_or(0);
    for number in 0..logs.div_ceil(PER_FOLDER) {
        std::fs::create_dir_all(folder.join(format!("{number:04}")))?;
    }
    let bytes: std::io::Result<Vec<u64>> =
        (0..logs).into_par_iter().map(|number| write(&folder, number)).collect();
    let bytes: u64 = bytes?.iter().sum();
    println!("{logs} logs of {} bytes on average", bytes / logs.max(1));
    Ok(())
}

fn write(folder: &Path, number: u64) -> std::io::Result<u64> {
    let mut random = Random::new(number);
    let mut bytes = log(number, &mut random);
    if number % 20 == 7 {
        let left = bytes.len() * (1 + random.below(9)) / 10;
        bytes.truncate(left);
    }
    let name = format!("{:04}/user_app_id{number}.darshan", number / PER_FOLDER);
    std::fs::write(folder.join(name), &bytes)?;
    Ok(bytes.len() as u64)
}

fn log(number: u64, random: &mut Random) -> Vec<u8> {
    let run_time = (60.0 * (300.0f64).powf(random.unit())).round();
    let mount = |at: usize| Mount {
        fs_type: if at.is_multiple_of(3) { "lustre" } else { "tmpfs" }.into(),
        path: format!("/mnt/{at}/{:x}", number.wrapping_mul(0x9e37_79b9)),
        device: None,
    };
    let job = Job {
        uid: 1000 + random.below(400) as i64,
        job_id: number as i64,
        nprocs: 1 << random.below(13),
        start: Timestamp { seconds: 1_600_000_000 + 60 * number as i64, nanoseconds: 0 },
        end: Timestamp { seconds: 1_600_000_000 + 60 * number as i64 + run_time as i64, nanoseconds: 0 },
        metadata: vec![("lib_ver".into(), "3.4.6".into()), ("h".into(), "romio_no_indep_rw=true".into())],
        command: format!("/home/u/bin/app{} -in /scratch/{number}/in", random.below(50)),
        mounts: (0..24).map(mount).collect(),
        ..Job::default()
    };
    if number % 25 == 3 {
        return darshan_2(job, run_time, random);
    }
    let accesses = accesses(run_time, random);
    let heatmap = heatmap(run_time, &accesses);
    let mut writer = LogWriter::new(if number % 10 == 1 { Format::V3_21 } else { Format::V3_41 }, job);
    if number % 50 == 9 {
        writer = writer.compression(Compression::Bzip2);
    }
    if number % 40 == 5 {
        writer = writer.byte_order(ByteOrder::Big);
    }
    let mut posix = Vec::new();
    for (at, access) in accesses.iter().enumerate() {
        let id = number.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(at as u64);
        writer = writer.name(id, &format!("/scratch/{number}/file.{at}"));
        posix.push(access.record(id));
    }
    let bytes = writer
        .records(4, &posix)
        .records(3, &[MpiioRecord::new(1, -1)])
        .records(2, &[StdioRecord::new(2, 0)])
        .heatmaps(&[heatmap])
        .to_bytes();
    bytes.expect("a log of a known format")
}

/// A file as Darshan counts it.
struct Access {
    write: bool,
    start: f64,
    end: f64,
    bytes: i64,
    opens: i64,
}

impl Access {
    fn record(&self, id: u64) -> PosixRecord {
        use PosixCounter as C;
        use PosixTime as T;
        let mut record = PosixRecord::new(id, -1);
        record[C::Opens] = self.opens;
        record[C::Seeks] = self.opens / 2;
        record[T::OpenStartTimestamp] = self.start;
        record[T::OpenEndTimestamp] = self.start + 0.01;
        record[T::CloseStartTimestamp] = self.end;
        record[T::CloseEndTimestamp] = self.end + 0.01;
        let (count, bytes, from, to) = if self.write {
            (C::Writes, C::BytesWritten, T::WriteStartTimestamp, T::WriteEndTimestamp)
        } else {
            (C::Reads, C::BytesRead, T::ReadStartTimestamp, T::ReadEndTimestamp)
        };
        record[count] = 1 + self.bytes / 1_000_000;
        record[bytes] = self.bytes;
        record[from] = self.start;
        record[to] = self.end;
        record
    }
}

/// One of several behaviours.
fn accesses(run_time: f64, random: &mut Random) -> Vec<Access> {
    let opens = 1 << random.below(10);
    let mut size = |least: f64, times: f64| (least * times.powf(random.unit())) as i64;
    let (large, small) = (size(2e8, 1e4), size(1e3, 1e4));
    let access = |write, from: f64, to: f64, bytes| Access {
        write,
        start: from * run_time,
        end: (to * run_time).max(from * run_time + 0.001),
        bytes,
        opens,
    };
    match random.below(5) {
        0 => vec![access(false, 0.0, 0.01, small), access(true, 0.9, 0.91, small)],
        1 => vec![access(false, 0.01, 0.1, large), access(true, 0.9, 0.98, large)],
        2 => vec![access(true, 0.0, 0.99, large)],
        3 => {
            let count = 5 + random.below(8);
            let every = 1.0 / count as f64;
            let late = |random: &mut Random| 0.03 * every * random.unit();
            (0..count)
                .map(|at| {
                    let from = at as f64 * every + late(random);
                    access(true, from, from + 0.1 * every, large)
                })
                .collect()
        }
        _ => (0..1 + random.below(6))
            .map(|_| {
                let from = 0.9 * random.unit();
                access(
                    random.below(2) == 0,
                    from,
                    from + 0.05,
                    if random.below(3) == 0 { small } else { large },
                )
            })
            .collect(),
    }
}

fn heatmap(run_time: f64, accesses: &[Access]) -> HeatmapRecord {
    // Darshan doubles the width until 200 bins suffice.
    let mut width = 0.1;
    while width * 200.0 < run_time {
        width *= 2.0;
    }
    let bins = (run_time / width).ceil() as usize;
    let mut record = HeatmapRecord {
        id: HeatmapRecord::id_of(Layer::Posix),
        rank: 0,
        bin_width: width,
        write_bins: vec![0; bins],
        read_bins: vec![0; bins],
    };
    for access in accesses {
        let side = if access.write { &mut record.write_bins } else { &mut record.read_bins };
        let (from, to) = ((access.start / width) as usize, ((access.end / width) as usize).min(bins - 1));
        let count = to.saturating_sub(from) as i64 + 1;
        side[from.min(bins - 1)..=to].iter_mut().for_each(|bin| *bin += access.bytes / count);
    }
    record
}

fn darshan_2(job: Job, run_time: f64, random: &mut Random) -> Vec<u8> {
    use Darshan2Counter as C;
    use Darshan2Time as T;
    let records: Vec<Darshan2Record> = accesses(run_time, random)
        .iter()
        .enumerate()
        .map(|(at, access)| {
            let mut record = Darshan2Record::new(1 + at as u64, -1, "output");
            record[C::PosixOpens] = access.opens;
            record[T::OpenTimestamp] = access.start;
            record[T::CloseTimestamp] = access.end;
            let (bytes, from, to) = if access.write {
                (C::BytesWritten, T::WriteStartTimestamp, T::WriteEndTimestamp)
            } else {
                (C::BytesRead, T::ReadStartTimestamp, T::ReadEndTimestamp)
            };
            record[bytes] = access.bytes;
            record[from] = access.start;
            record[to] = access.end;
            record
        })
        .collect();
    let writer = Darshan2Writer::new(Format { major: 2, minor: 6 }, job).records(&records);
    writer.to_bytes().expect("a log of a known format")
}
