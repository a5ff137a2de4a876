//! Traces made by hand, and the command run on them.

use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tmio_trace::block::BlockEncoder;
use tmio_trace::frame::{self, FrameKind};
use tmio_trace::{
    AsyncTimes, ClockSample, Direction, FilePointer, Flags, Header, OpKind, Operation, RankInfo, TraceEnd,
};

pub const SECOND: i64 = 1_000_000_000;

/// A blocking operation on file 1; times in nanoseconds.
pub fn blocking(direction: Direction, start: i64, end: i64, bytes: u64) -> Operation {
    Operation {
        kind: OpKind::data(direction, FilePointer::Explicit, false, false, false),
        flags: Flags::default(),
        thread: 0,
        file: 1,
        offset: 0,
        bytes,
        start,
        end,
        nonblocking: None,
    }
}

/// A nonblocking write on file 1.
pub fn nonblocking(start: i64, end: i64, bytes: u64, times: AsyncTimes) -> Operation {
    Operation {
        kind: OpKind::data(Direction::Write, FilePointer::Explicit, true, false, false),
        nonblocking: Some(times),
        ..blocking(Direction::Write, start, end, bytes)
    }
}

/// What a trace is made of.
pub struct Script {
    pub ranks: u32,
    pub end: i64,
    pub blocks: Vec<(u32, Vec<Operation>)>,
    pub process_written: u64,
}

impl Script {
    /// `count` bursts of two seconds every ten; each rank writes 1 MiB in each.
    pub fn bursts(ranks: u32, count: i64) -> Self {
        let burst =
            |i: i64| blocking(Direction::Write, (10 * i + 4) * SECOND, (10 * i + 6) * SECOND, 1 << 20);
        let blocks = (0..ranks).map(|rank| (rank, (0..count).map(burst).collect())).collect();
        let process_written = u64::from(ranks) * count as u64 * (1 << 20);
        Script { ranks, end: 10 * count * SECOND, blocks, process_written }
    }

    /// The bytes of the trace, and where each frame ends.
    pub fn frames(&self) -> (Vec<u8>, Vec<usize>) {
        self.frames_with(None)
    }

    /// The same, of a trace that was told to leave something out.
    fn frames_with(&self, filters: Option<&str>) -> (Vec<u8>, Vec<usize>) {
        let mut bytes = Vec::new();
        let mut ends = Vec::new();
        let mut push = |frame: &[u8]| {
            bytes.extend_from_slice(frame);
            ends.push(bytes.len());
        };
        let header = Header {
            version: 1,
            job: "4711".into(),
            ranks: self.ranks,
            executable: "/bin/app".into(),
            command: Some("./app --steps 20".into()),
            start: 1_700_000_000 * SECOND,
            mpi: "An MPI".into(),
            tmio: "0.1.0".into(),
            filters: filters.map(str::to_owned),
            ..Header::default()
        };
        push(&frame::encode(FrameKind::Header, &header).unwrap());
        let count =
            |rank: u32| self.blocks.iter().filter(|(r, _)| *r == rank).map(|(_, ops)| ops.len() as u64).sum();
        for rank in 0..self.ranks {
            let info = RankInfo {
                rank,
                host: "node".into(),
                boot_id: "boot".into(),
                pid: 1,
                clock: vec![ClockSample { local: 0, job: 0, real: 0, error: 250 }],
                finished: true,
                operations: count(rank),
                overhead: 2_000_000,
                overhead_per_op: 150.0,
                process_written: self.process_written / u64::from(self.ranks.max(1)),
                ..RankInfo::default()
            };
            push(&frame::encode(FrameKind::Rank, &info).unwrap());
        }
        let mut encoder = BlockEncoder::default();
        for (sequence, (rank, operations)) in (0..).zip(&self.blocks) {
            assert!(encoder.restart(operations.len().max(1)));
            operations.iter().for_each(|op| encoder.push(op));
            let numbers = encoder.files().to_vec();
            let names: Vec<String> = numbers.iter().map(|number| file_name(*number)).collect();
            let names = numbers.into_iter().zip(names.iter().map(String::as_str)).collect();
            push(encoder.finish(*rank, sequence, self.end, names).unwrap());
        }
        let operations = self.blocks.iter().map(|(_, ops)| ops.len() as u64).sum();
        let end = TraceEnd { end: self.end, ranks: self.ranks, operations };
        push(&frame::encode(FrameKind::End, &end).unwrap());
        (bytes, ends)
    }

    pub fn write(&self, path: &Path) -> PathBuf {
        std::fs::write(path, self.frames().0).unwrap();
        path.to_owned()
    }

    /// As a trace that was told to leave something out.
    pub fn write_filtered(&self, path: &Path, filters: &str) {
        std::fs::write(path, self.frames_with(Some(filters)).0).unwrap();
    }
}

/// Of a file: most traces have one, with the number 1.
fn file_name(number: u32) -> String {
    if number == 1 { "/scratch/out.dat".into() } else { format!("/scratch/out.{number}.dat") }
}

/// Run `ftio` in a directory.
pub fn ftio(directory: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_ftio"))
        .args(args)
        .current_dir(directory)
        .env_remove("LD_PRELOAD")
        .env_remove("TMIO_LIBRARY")
        .env_remove("COLUMNS")
        .env("TZ", "UTC")
        .output()
        .unwrap()
}

/// Compresses a file beside itself: NAME.gz.
pub fn gzip(directory: &Path, name: &str) {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(&std::fs::read(directory.join(name)).unwrap()).unwrap();
    std::fs::write(directory.join(format!("{name}.gz")), encoder.finish().unwrap()).unwrap();
}

/// How `ftio` ends in a directory.
pub fn exit_code(directory: &Path, args: &[&str]) -> Option<i32> {
    ftio(directory, args).status.code()
}

/// This test, or a part of it, needs something that is not here. Visible even where output is captured; with
/// `STRICT=1` it is a failure.
pub fn skipped(reason: &str) {
    let thread = std::thread::current();
    test_data::skip(thread.name().unwrap_or("a test"), reason);
}

pub fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

pub fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// Compare with `tests/snapshots/NAME`; with `UPDATE_SNAPSHOTS` set, replace it instead.
pub fn assert_snapshot(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/snapshots").join(name);
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        std::fs::write(&path, text).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(text, expected, "differs from {name}; if it should, run the tests with UPDATE_SNAPSHOTS=1");
}
