//! A fixture of every version of the format: they must stay readable for ever, by this decoder and by the one
//! in Python that knows nothing but `docs/trace-format.md`. They hold the same operations.

use std::path::{Path, PathBuf};
use std::process::Command;
use tmio_trace::block::BlockEncoder;
use tmio_trace::frame::{self, FrameKind};
use tmio_trace::{
    AsyncTimes, ClockSample, Direction, Event, FORMAT_VERSION, FilePointer, Flags, Header, Metadata, OpKind,
    Operation, RankInfo, Trace, TraceEnd,
};

const RANKS: u32 = 3;

fn fixture(version: u32) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/fixtures/version-{version}.msgpack"))
}

/// What the fixtures hold, rank by rank: every kind of operation, some regular, some at random.
fn operations(rank: u32) -> Vec<Operation> {
    let mut random = 0x9e37_79b9_7f4a_7c15u64.wrapping_add(u64::from(rank));
    let mut next = move || {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random
    };
    let mut now = 5_000_000_000 + i64::from(rank) * 1000;
    let mut all = Vec::new();
    let mut add = |kind: OpKind, flags: u8, file: u32, offset: i64, bytes: u64, time: i64| {
        let start = now;
        let end = start + time;
        let nonblocking = kind.is_nonblocking().then_some(AsyncTimes {
            issued: start + 700,
            deadline: end - 300,
            pending_until: start + 700 + time / 3,
            test_time: time / 5,
        });
        let thread = (file % 2) as u16;
        all.push(Operation {
            kind,
            flags: Flags(flags),
            thread,
            file,
            offset,
            bytes,
            start,
            end,
            nonblocking,
        });
        now = end + 1_000_000;
    };
    add(OpKind::metadata(Metadata::Open), 0, 1, -1, 0, 80_000);
    let write_at = OpKind::data(Direction::Write, FilePointer::Explicit, false, false, false);
    for i in 0..50 {
        add(write_at, 0, 1, (i * i64::from(RANKS) + i64::from(rank)) << 20, 1 << 20, 400_000 + i);
    }
    for direction in [Direction::Read, Direction::Write] {
        for pointer in [FilePointer::Explicit, FilePointer::Individual, FilePointer::Shared] {
            for bits in 0..8 {
                let kind = OpKind::data(direction, pointer, bits & 1 != 0, bits & 2 != 0, bits & 4 != 0);
                let r = next();
                let offset =
                    if pointer == FilePointer::Explicit { (r >> 8) as i64 & 0xffff_ffff_ffff } else { -1 };
                add(kind, (r & 31) as u8, 1 + (r >> 5) as u32 % 3, offset, r >> 20, (r >> 40) as i64);
            }
        }
    }
    for metadata in Metadata::ALL {
        add(OpKind::metadata(metadata), 0, 2, -1, 0, 5000);
    }
    all
}

fn block(rank: u32, seq: u64, operations: &[Operation]) -> Vec<u8> {
    let mut encoder = BlockEncoder::default();
    assert!(encoder.restart(operations.len()));
    operations.iter().for_each(|op| encoder.push(op));
    let names = [(1, "/scratch/a.dat"), (2, "/scratch/b c.dat"), (3, "/scratch/\u{e9}t\u{e9}.dat")];
    let names = names.into_iter().filter(|(number, _)| encoder.files().contains(number)).collect();
    encoder.finish(rank, seq, 9_000_000_000, names).unwrap().to_vec()
}

fn write() -> Vec<u8> {
    let header = Header {
        version: FORMAT_VERSION,
        job: "4711.0".into(),
        ranks: RANKS,
        executable: "/opt/app/bin/app".into(),
        start: 1_700_000_000_000_000_000,
        mpi: "An MPI v4.1".into(),
        tmio: "0.1.0".into(),
        ..Header::default()
    };
    let mut bytes = frame::encode(FrameKind::Header, &header).unwrap();
    let mut total = 0;
    for rank in 0..RANKS {
        let sample =
            |local, job| ClockSample { local, job, real: 1_700_000_000_000_000_000 + job, error: 150 };
        let info = RankInfo {
            rank,
            host: format!("node{:02}", rank / 2),
            boot_id: format!("boot-{}", rank / 2),
            started: None,
            namespace: None,
            user: None,
            salvaged: false,
            pid: 1000 + rank,
            spool: String::new(),
            clock: vec![
                sample(4_000_000_000, 0),
                sample(9_000_000_000, 5_000_000_000 + i64::from(rank) * 50),
            ],
            finished: true,
            operations: operations(rank).len() as u64,
            lost: 0,
            overhead: 123_456,
            overhead_per_op: 41.5,
            process_read: 1 << 30,
            process_written: 1 << 33,
            ..RankInfo::default()
        };
        bytes.extend(frame::encode(FrameKind::Rank, &info).unwrap());
        let all = operations(rank);
        let (first, second) = all.split_at(60);
        bytes.extend(block(rank, 1, second));
        bytes.extend(block(rank, 0, first));
        bytes.extend(block(rank, 2, &[]));
        total += all.len() as u64;
    }
    bytes.extend(
        frame::encode(FrameKind::End, &TraceEnd { end: 5_000_000_000, ranks: RANKS, operations: total })
            .unwrap(),
    );
    bytes
}

/// With `TMIO_WRITE_FIXTURE=1` the fixture is made anew, which only a new format may ask for.
#[test]
fn the_fixture_is_what_this_version_writes() {
    if std::env::var_os("TMIO_WRITE_FIXTURE").is_some() {
        std::fs::write(fixture(FORMAT_VERSION), write()).unwrap();
    }
    assert!(
        std::fs::read(fixture(FORMAT_VERSION)).unwrap() == write(),
        "the trace format has changed: that needs a new version"
    );
}

#[test]
fn the_fixtures_are_read_whole() {
    (1..=FORMAT_VERSION).for_each(|version| is_read_whole(&fixture(version)));
}

fn is_read_whole(fixture: &Path) {
    let mut read = Vec::new();
    let outcome = Trace::open(fixture)
        .unwrap()
        .read(|event| {
            if let Event::Block(block) = event {
                read.extend(block.operations.iter().map(|op| (block.rank, *op)));
            }
        })
        .unwrap();
    assert!(outcome.complete, "{:?}", outcome.warnings);
    let mut expected = Vec::new();
    for rank in 0..RANKS {
        let all = operations(rank);
        // The clock drifts by 50 ns times the rank over five seconds; shift as the reader should.
        let job = |op: &Operation| {
            let elapsed = op.start - 4_000_000_000;
            op.shifted(-4_000_000_000 + (i64::from(rank) * 50) * elapsed.min(5_000_000_000) / 5_000_000_000)
        };
        let (first, second) = all.split_at(60);
        expected.extend(second.iter().chain(first).map(|op| (rank, job(op))));
    }
    assert_eq!(read, expected);
}

/// A Python that has the `msgpack` package.
fn python() -> Option<&'static str> {
    ["python3", "/usr/bin/python3"].into_iter().find(|python| {
        Command::new(python)
            .args(["-c", "import msgpack"])
            .output()
            .is_ok_and(|output| output.status.success())
    })
}

#[test]
fn the_decoder_in_python_agrees() {
    let Some(python) = python() else {
        test_data::skip("the_decoder_in_python_agrees", "no python3 with the msgpack package");
        return;
    };
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/decode.py");
    assert!(std::fs::read_to_string(&script).unwrap().lines().filter(|l| !l.trim().is_empty()).count() <= 30);
    for version in 1..=FORMAT_VERSION {
        agrees(Command::new(python).arg(&script).arg(fixture(version)));
    }
}

fn agrees(decoder: &mut Command) {
    let output = decoder.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let mut lines = text.lines();
    for rank in 0..RANKS {
        let all = operations(rank);
        let (first, second) = all.split_at(60);
        for op in second.iter().chain(first) {
            let name =
                ["/scratch/a.dat", "/scratch/b c.dat", "/scratch/\\u00e9t\\u00e9.dat"][op.file as usize - 1];
            let mut expected = format!(
                "[{rank}, {}, {}, {}, \"{name}\", {}, {}, {}, {}",
                op.kind.0, op.flags.0, op.thread, op.offset, op.bytes, op.start, op.end
            );
            if let Some(times) = op.nonblocking {
                let AsyncTimes { issued, deadline, pending_until, test_time } = times;
                expected += &format!(", {issued}, {deadline}, {pending_until}, {test_time}");
            }
            assert_eq!(lines.next(), Some(expected + "]").as_deref());
        }
    }
    assert_eq!(lines.next(), None);
}
