//! `ftio info TRACE`.

use crate::support::{SECOND, Script, assert_snapshot, blocking, ftio, nonblocking, stderr, stdout};
use serde::Deserialize;
use std::collections::BTreeMap;
use tmio_trace::{AsyncTimes, Direction, Flags, Metadata, OpKind};

/// What is looked at here; the schema is checked, too.
#[derive(Debug, Deserialize)]
struct Summary {
    ranks: u32,
    t_start: f64,
    t_end: f64,
    complete: bool,
    write_sync: Class,
    read_sync: Class,
    write_async: Class,
    read_async: Class,
    files: Vec<File>,
    overhead: Overhead,
    clock: Clock,
    coverage: Coverage,
    metadata: MetadataSummary,
    failed: u64,
    lost: u64,
    job: Option<Job>,
    layers: BTreeMap<String, Layer>,
    notes: Vec<String>,
}

#[derive(Debug, Deserialize, PartialEq)]
struct Class {
    ops: u64,
    bytes: u64,
    time: f64,
    ranks: u32,
    bandwidth: Option<f64>,
    aggregate_bandwidth: Option<f64>,
    required_bandwidth: Option<f64>,
    actual_bandwidth: Option<f64>,
    actual_upper: Option<f64>,
    lost_time: Option<f64>,
    hidden: Option<f64>,
    hiding_bandwidth: Option<f64>,
}

#[derive(Debug, Deserialize, PartialEq)]
struct File {
    name: String,
    ops: u64,
    bytes_read: u64,
    bytes_written: u64,
}

#[derive(Debug, Deserialize)]
struct Overhead {
    time: Option<f64>,
    rank0: Option<f64>,
    largest: Option<f64>,
    per_op: Option<f64>,
}

#[derive(Debug, Deserialize)]
struct Clock {
    nodes: usize,
    max_error: Option<f64>,
}

#[derive(Debug, Deserialize)]
struct Coverage {
    mpi_io_bytes: u64,
    process_bytes: Option<u64>,
}

#[derive(Debug, Deserialize)]
struct Layer {
    read: Flow,
    write: Flow,
    meta: MetadataSummary,
    files: u64,
}

#[derive(Debug, Deserialize)]
struct Flow {
    bytes: u64,
}

#[derive(Debug, Deserialize)]
struct MetadataSummary {
    ops: u64,
}

#[derive(Debug, Deserialize)]
struct Job {
    start_time: Option<String>,
}

fn close(found: Option<f64>, expected: f64) -> bool {
    found.is_some_and(|found| (found - expected).abs() <= 1e-9 * expected.abs())
}

fn mixed() -> Script {
    let mut failed = blocking(Direction::Write, 7 * SECOND, 8 * SECOND, 0);
    failed.flags = Flags::FAILED;
    let open = tmio_trace::Operation {
        kind: OpKind::metadata(Metadata::Open),
        ..blocking(Direction::Read, 0, SECOND, 0)
    };
    let waited =
        AsyncTimes { issued: SECOND / 2, deadline: 2 * SECOND, pending_until: SECOND / 2, test_time: 0 };
    let tested = AsyncTimes {
        issued: 5 * SECOND + SECOND / 4,
        deadline: 8 * SECOND,
        pending_until: 7 * SECOND,
        test_time: SECOND / 10,
    };
    let mut tested = nonblocking(5 * SECOND, 9 * SECOND, 4000, tested);
    tested.flags = Flags::TESTED;
    Script {
        ranks: 3,
        end: 20 * SECOND,
        blocks: vec![
            (0, vec![open, blocking(Direction::Write, SECOND, 3 * SECOND, 100), failed]),
            (
                1,
                vec![
                    blocking(Direction::Write, SECOND, 2 * SECOND, 50),
                    blocking(Direction::Read, 0, 4 * SECOND, 8),
                ],
            ),
            (1, vec![nonblocking(0, 4 * SECOND, 6000, waited), tested]),
        ],
        process_written: 100,
    }
}

fn summary(script: &Script) -> Summary {
    let dir = tempfile::tempdir().unwrap();
    script.write(&dir.path().join("t"));
    let output = ftio(dir.path(), &["info", "--json", "t"]);
    assert_eq!((output.status.code(), stderr(&output)), (Some(0), String::new()));
    assert!(stdout(&output).starts_with("{\"schema\":\"ftio.info/1\",\"source\":\"t\","));
    crate::schemas::valid(&stdout(&output), "ftio.info/1");
    serde_json::from_str(&stdout(&output)).unwrap()
}

#[test]
fn operations_and_bytes_are_summed_by_class() {
    let found = summary(&mixed());
    assert_eq!((found.ranks, found.t_start, found.t_end, found.complete), (3, 0.0, 20.0, true));
    assert_eq!((found.write_sync.ops, found.write_sync.bytes, found.write_sync.ranks), (3, 150, 2));
    assert!((found.write_sync.time - 4.0).abs() < 1e-12 && close(found.write_sync.bandwidth, 37.5));
    assert_eq!((found.read_sync.ops, found.read_sync.bytes, found.read_sync.ranks), (1, 8, 1));
    assert_eq!(
        (found.read_async.ops, found.read_async.ranks, found.read_async.required_bandwidth),
        (0, 0, None)
    );
    assert_eq!((found.failed, found.metadata.ops, found.lost), (1, 1, 0));
    assert_eq!(
        found.files,
        [File { name: "/scratch/out.dat".into(), ops: 6, bytes_read: 8, bytes_written: 10_150 }]
    );
    assert_eq!((found.clock.nodes, found.coverage.mpi_io_bytes), (1, 10_158));
    assert!(close(found.clock.max_error, 250e-9) && close(found.overhead.per_op, 150e-9));
    assert!(close(found.overhead.time, 0.006));
    assert!(close(found.overhead.rank0, 0.002) && close(found.overhead.largest, 0.002));
    assert!(found.notes.is_empty(), "{:?}", found.notes);
    // From 1 s to 3 s and from 7 s to 8 s ranks wrote; the failed one moved nothing.
    assert!(found.write_sync.aggregate_bandwidth.is_some_and(|all| (all / 75.0 - 1.0).abs() < 0.01));
    let layer = &found.layers["mpiio"];
    assert_eq!((layer.read.bytes, layer.write.bytes, layer.files, layer.meta.ops), (8, 10_150, 1, 1));
    let job = found.job.unwrap();
    assert_eq!(job.start_time.as_deref(), Some("2023-11-14T22:13:20.000Z"));
}

#[test]
fn required_and_actual_bandwidth() {
    // Issue to deadline: 2 s and 3 s; issue to done: 4 s and 4 s; seen pending only the second one, for 2 s.
    // Lost: half a second in the call and 2 s in the wait; a tenth in tests.
    let found = summary(&mixed()).write_async;
    assert_eq!((found.ops, found.bytes, found.ranks), (2, 10_000, 1));
    assert!(close(found.required_bandwidth, 2000.0), "{found:?}");
    assert!(close(found.actual_bandwidth, 1250.0) && close(found.bandwidth, 1250.0), "{found:?}");
    assert!(close(found.actual_upper, 2000.0), "{found:?}");
    assert!(close(found.lost_time, 2.6), "{found:?}");
    // 8 s with I/O under way; at most 6000 bytes in 2 s were required at a time.
    assert!(close(found.hidden, 1.0 - 2.6 / 8.0), "{found:?}");
    assert!(found.hiding_bandwidth.is_some_and(|b| (b / 3000.0 - 1.0).abs() < 1e-3), "{found:?}");
}

#[test]
fn info_says_that_a_program_wrote_past_mpi() {
    let mut script = Script::bursts(2, 1);
    script.blocks = vec![(0, vec![]), (1, vec![])];
    script.process_written = 1 << 30;
    let found = summary(&script);
    assert_eq!((found.coverage.mpi_io_bytes, found.coverage.process_bytes), (0, Some(1 << 30)));
    assert!(found.notes.iter().any(|note| note.contains("MPI-IO mode")), "{:?}", found.notes);
}

#[test]
fn the_text_summary_is_as_recorded() {
    let dir = tempfile::tempdir().unwrap();
    mixed().write(&dir.path().join("run.msgpack"));
    let output = ftio(dir.path(), &["info", "run.msgpack"]);
    assert_snapshot("info.txt", &stdout(&output));
}
