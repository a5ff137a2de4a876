//! What is written is what is read: blocks, whole traces, and their second decoder in Python.

use proptest::prelude::*;
use std::path::Path;
use tmio_spool::cell;
use tmio_trace::block::{Block, BlockEncoder};
use tmio_trace::frame::{self, FrameKind, FrameReader};
use tmio_trace::raw::{RawRecords, TickScale};
use tmio_trace::reader::ReadAs;
use tmio_trace::{
    AsyncTimes, ClockSample, Direction, Event, FilePointer, Flags, Header, OpKind, Operation, RankInfo,
    ReadError, Trace, TraceEnd, Transfer,
};

fn any_operation() -> impl Strategy<Value = Operation> {
    let times = prop_oneof![0i64..1_000_000_000, any::<i64>()];
    (any::<(u8, u8, u16, u32, i64, u64)>(), times.clone(), times, any::<(i64, i64, i64, i64)>()).prop_map(
        |(
            (kind, flags, thread, file, offset, bytes),
            start,
            end,
            (issued, deadline, pending_until, test_time),
        )| {
            let kind = OpKind(kind);
            let nonblocking =
                kind.is_nonblocking().then_some(AsyncTimes { issued, deadline, pending_until, test_time });
            Operation { kind, flags: Flags(flags), thread, file, offset, bytes, start, end, nonblocking }
        },
    )
}

fn encode(operations: &[Operation]) -> Vec<u8> {
    let mut encoder = BlockEncoder::default();
    assert!(encoder.restart(operations.len()));
    operations.iter().for_each(|op| encoder.push(op));
    let names: Vec<(u32, String)> =
        encoder.files().iter().map(|&n| (n, format!("/scratch/file.{n}"))).collect();
    let names = names.iter().map(|(n, name)| (*n, name.as_str())).collect();
    encoder.finish(3, 9, 77, names).unwrap().to_vec()
}

fn decode(frame_bytes: &[u8]) -> (u32, u64, i64, Vec<Operation>) {
    let mut frames = FrameReader::new(frame_bytes);
    let frame = frames.next_frame().unwrap().unwrap();
    let block = Block::parse(frame.body).unwrap();
    let mut operations = Vec::new();
    block.decode_into(&mut operations).unwrap();
    // Read as transfers, a few at a time, they are the same.
    let (mut piece, mut transfers) = (Vec::<Transfer>::new(), Vec::new());
    block.decode_pieces(0, 3, &mut piece, |some| transfers.extend_from_slice(some)).unwrap();
    assert_eq!(transfers, operations.iter().map(Transfer::of).collect::<Vec<_>>());
    (block.rank, block.seq, block.covered_until, operations)
}

proptest! {
    #[test]
    fn a_block_keeps_every_operation(operations in prop::collection::vec(any_operation(), 0..200)) {
        let (rank, seq, covered, back) = decode(&encode(&operations));
        prop_assert_eq!((rank, seq, covered), (3, 9, 77));
        prop_assert_eq!(back, operations);
    }

    #[test]
    fn records_of_a_slot_make_the_same_block_as_their_operations(
        kinds in prop::collection::vec((0u8..4, 0u64..2, 1u64..100_000), 0..200),
    ) {
        // Long stretches of regular access, broken by another size, a nonblocking operation or a step in the
        // offset.
        let nonblocking = OpKind::data(Direction::Write, FilePointer::Explicit, true, false, false);
        let (mut words, mut offset, mut now) = (Vec::new(), 0u64, 1000u64);
        for (choice, size, pause) in kinds {
            let kind = if choice == 3 { nonblocking } else { OpKind(1) };
            offset += if choice == 2 { 1 << 30 } else { 4096 };
            now += pause;
            let identity = |kind| cell::identity(7, kind, Flags::default(), 0);
            words.extend([identity(kind), now, now + pause / 2, offset, 4096 + size]);
            if kind.is_nonblocking() {
                words.extend([identity(cell::CONTINUED), now + 1, now + 2, now + 3, 4]);
            }
        }
        let scale = TickScale { ticks: 500, ns: 123_456_789, rate: 0.4 };
        let operations: Vec<Operation> = RawRecords::new(&words, scale).collect();
        let mut encoder = BlockEncoder::default();
        prop_assert!(encoder.restart(operations.len()));
        encoder.extend(RawRecords::new(&words, scale));
        prop_assert_eq!(encoder.count() as usize, operations.len());
        let names = encoder.files().iter().map(|&n| (n, "/scratch/file.7")).collect();
        let frame = encoder.finish(3, 9, 77, names).unwrap().to_vec();
        prop_assert_eq!(&decode(&frame).3, &operations);
        prop_assert_eq!(frame, encode(&operations));
    }

    #[test]
    fn damaged_bodies_are_survived(
        operations in prop::collection::vec(any_operation(), 1..20),
        flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..10),
    ) {
        let mut body = encode(&operations).split_off(frame::HEAD);
        for (at, value) in flips { let i = at.index(body.len()); body[i] = value; }
        if let Ok(block) = Block::parse(&body) {
            let _ = block.decode_into(&mut Vec::new());
        }
    }
}

fn write_at(start: i64, offset: i64) -> Operation {
    Operation {
        kind: OpKind(1),
        flags: Flags::default(),
        thread: 0,
        file: 1,
        offset,
        bytes: 1 << 20,
        start,
        end: start + 40_000 + start % 7000,
        nonblocking: None,
    }
}

#[test]
fn regular_access_costs_less_than_ten_bytes_per_operation() {
    let operations: Vec<Operation> =
        (0..6000).map(|i| write_at(1_000_000_000 + i * 1_003_000, i * (4 << 20))).collect();
    let per_operation = encode(&operations).len() as f64 / operations.len() as f64;
    assert!(per_operation <= 10.0, "{per_operation}");
}

fn trace_of(ranks: u32, per_rank: i64) -> Vec<u8> {
    let mut bytes = frame::encode(
        FrameKind::Header,
        &Header {
            version: 1,
            job: "1234.0".into(),
            ranks,
            executable: "/opt/app".into(),
            start: 1_700_000_000_000_000_000,
            mpi: "Some MPI".into(),
            tmio: "0.1.0".into(),
            ..Header::default()
        },
    )
    .unwrap();
    for rank in 0..ranks {
        let clock = vec![ClockSample { local: 500, job: 0, real: 0, error: 0 }];
        let info = RankInfo { rank, host: "node".into(), clock, finished: true, ..Default::default() };
        bytes.extend(frame::encode(FrameKind::Rank, &info).unwrap());
        let mut encoder = BlockEncoder::default();
        assert!(encoder.restart(per_rank as usize));
        (0..per_rank).for_each(|i| encoder.push(&write_at(1000 + i * 100_000, i * 64)));
        bytes.extend(encoder.finish(rank, 0, 900, vec![(1, "a.dat")]).unwrap());
    }
    let end = TraceEnd { end: 99, ranks, operations: u64::from(ranks) * per_rank as u64 };
    bytes.extend(frame::encode(FrameKind::End, &end).unwrap());
    bytes
}

fn read(bytes: &[u8]) -> Result<(tmio_trace::Outcome, Vec<i64>), ReadError> {
    let mut starts = Vec::new();
    let trace = Trace::from_reader(Path::new("t.msgpack"), Box::new(std::io::Cursor::new(bytes.to_vec())));
    let outcome = trace.read(|event| {
        if let Event::Block(block) = event {
            starts.extend(block.operations.iter().map(|op| op.start));
        }
    })?;
    Ok((outcome, starts))
}

#[test]
fn a_whole_trace_is_complete_and_in_job_time() {
    let (outcome, starts) = read(&trace_of(2, 3)).unwrap();
    assert!(outcome.complete, "{:?}", outcome.warnings);
    assert_eq!((outcome.blocks, outcome.operations), (2, 6));
    assert_eq!(starts, [500, 100_500, 200_500, 500, 100_500, 200_500]);
}

#[test]
fn a_trace_cut_anywhere_is_used_as_far_as_its_blocks_go_or_refused() {
    let bytes = trace_of(2, 3);
    let mut counts = Vec::new();
    for length in 0..bytes.len() {
        match read(&bytes[..length]) {
            Ok((outcome, _)) => {
                assert!(!outcome.complete, "cut at {length}");
                assert!(!outcome.warnings.is_empty(), "cut at {length}");
                counts.push(outcome.operations);
            }
            Err(error) => {
                assert!(counts.is_empty(), "cut at {length}: {error}");
                assert!(error.to_string().starts_with("t.msgpack: "), "{error}");
            }
        }
    }
    counts.dedup();
    assert_eq!(counts, [3, 6]);
}

#[test]
fn what_is_no_trace_is_named() {
    let message = |bytes: &[u8]| read(bytes).unwrap_err().to_string();
    assert_eq!(message(b""), "t.msgpack: is empty");
    assert!(message(b"hello world").contains("is not a tmio trace"), "{}", message(b"hello world"));
    assert!(message(b"\x94\xa5tmio3...").contains("format 3"));
}

#[test]
fn only_a_directory_named_parts_is_a_trace() {
    let folder = std::env::temp_dir().join(format!("tmio-trace-{}", std::process::id()));
    let parts = folder.join("out.msgpack.parts");
    std::fs::create_dir_all(&parts).unwrap();
    for directory in [&folder, &parts] {
        std::fs::write(directory.join("node"), trace_of(2, 3)).unwrap();
    }
    let count =
        |path: &std::path::Path| Trace::open(path).map(|trace| trace.read(|_| {}).unwrap().operations);
    let (of_parts, of_name) = (count(&parts).unwrap(), count(&folder.join("out.msgpack")).unwrap());
    let of_folder = count(&folder);
    std::fs::remove_dir_all(&folder).unwrap();
    assert!(of_parts > 0 && of_parts == of_name);
    assert!(matches!(of_folder, Err(tmio_trace::ReadError::Directory { .. })), "{of_folder:?}");
}
