use super::phase::Access;
use super::*;
use tmio_trace::{AsyncTimes, Class, Direction, FilePointer, Flags, Metadata, OpKind, Operation};

const SECOND: i64 = 1_000_000_000;

fn blocking(start: i64, end: i64, bytes: u64) -> Operation {
    Operation {
        kind: OpKind::data(Direction::Write, FilePointer::Explicit, false, false, false),
        flags: Flags::default(),
        thread: 0,
        file: 1,
        offset: 0,
        bytes,
        start: start * SECOND,
        end: end * SECOND,
        nonblocking: None,
    }
}

fn nonblocking(start: i64, deadline: i64, end: i64, bytes: u64) -> Operation {
    let times = AsyncTimes {
        issued: start * SECOND,
        deadline: deadline * SECOND,
        pending_until: start * SECOND,
        test_time: 0,
    };
    let kind = OpKind::data(Direction::Read, FilePointer::Individual, true, false, false);
    Operation { kind, nonblocking: Some(times), ..blocking(start, end, bytes) }
}

fn profile_of(operations: &[(u32, Operation)]) -> Profile {
    let mut profiler = Profiler::default();
    operations
        .iter()
        .for_each(|(rank, op)| profiler.add(*rank, op, tmio_trace::block::merge::Merged::one(op)));
    profiler.finish()
}

#[test]
fn every_blocking_operation_is_a_phase() {
    let operations = [
        (0, blocking(0, 2, 100)),
        (0, blocking(4, 5, 100)),
        (1, blocking(1, 2, 300)),
        (1, blocking(2, 2, 0)),
    ];
    let profile = profile_of(&operations);
    let write = profile.mode(Series::WriteSync);
    assert_eq!(
        (write.total_bytes, write.max_bytes_per_rank, write.max_bytes_per_phase),
        (Some(500.0), Some(300.0), Some(300.0))
    );
    assert_eq!((write.total_io_phases, write.max_io_phases_per_rank), (Some(4.0), Some(2.0)));
    assert_eq!(
        (write.total_io_ops, write.max_io_ops_per_rank, write.number_of_ranks),
        (Some(4.0), Some(2.0), Some(2.0))
    );
    assert_eq!((write.time, write.lost_time), (Some(4.0), Some(0.0)));
    let bandwidth = write.bandwidth.unwrap();
    // From second 1 to 2: 50 of rank 0 and 300 of rank 1. Requests that touch do not overlap.
    assert_eq!((bandwidth.exact, bandwidth.average, bandwidth.sum), (350.0, 350.0, 350.0));
    let ranks = bandwidth.per_rank;
    assert_eq!((ranks.min, ranks.median, ranks.max, ranks.arithmetic_mean), (50.0, 100.0, 300.0, 150.0));
    assert_eq!((ranks.weighted_harmonic_mean, ranks.harmonic_mean), (125.0, 90.0));
    assert_eq!(profile.mode(Series::ReadSync), &nothing());
}

fn nothing() -> ModeProfile {
    let none = Some(0.0);
    ModeProfile {
        total_bytes: none,
        max_bytes_per_rank: none,
        max_bytes_per_phase: none,
        max_io_phases_per_rank: none,
        total_io_phases: none,
        max_io_ops_in_phase: none,
        max_io_ops_per_rank: none,
        total_io_ops: none,
        number_of_ranks: none,
        time: none,
        lost_time: none,
        bandwidth: None,
    }
}

#[test]
fn nonblocking_requests_join_a_phase_until_none_is_under_way() {
    // Two requests waited for together, then one alone that nobody had to wait for.
    let operations =
        [(3, nonblocking(0, 4, 6, 400)), (3, nonblocking(2, 4, 8, 200)), (3, nonblocking(10, 14, 14, 100))];
    let profile = profile_of(&operations);
    let (actual, required) = (profile.mode(Series::ReadAsyncActual), profile.mode(Series::ReadAsyncRequired));
    assert_eq!(
        (actual.total_io_phases, actual.max_io_ops_in_phase, actual.total_io_ops),
        (Some(2.0), Some(2.0), Some(3.0))
    );
    assert_eq!((actual.max_bytes_per_phase, required.max_bytes_per_phase), (Some(600.0), Some(600.0)));
    assert_eq!((actual.time, required.time, actual.lost_time), (Some(12.0), Some(8.0), Some(4.0)));
    let actual = actual.bandwidth.unwrap();
    assert_eq!((actual.average, actual.sum), (75.0, 400.0 / 6.0 + 200.0 / 6.0));
    let required = required.bandwidth.unwrap();
    assert_eq!((required.average, required.sum, required.exact), (150.0, 200.0, 200.0));
    assert_eq!((required.per_rank.max, required.per_rank.min), (200.0, 25.0));
}

#[test]
fn double_buffering_never_makes_a_negative_duration() {
    let operations =
        [(0, nonblocking(0, 5, 6, 10)), (0, nonblocking(4, 10, 11, 10)), (0, nonblocking(9, 15, 16, 10))];
    let profile = profile_of(&operations);
    let required = profile.mode(Series::ReadAsyncRequired);
    assert_eq!((required.total_io_phases, required.time), (Some(1.0), Some(10.0)));
    assert!(required.bandwidth.unwrap().per_rank.min > 0.0);
}

#[test]
fn functions_are_counted_with_those_that_move_no_data() {
    let open = Operation { kind: OpKind::metadata(Metadata::Open), ..blocking(0, 3, 0) };
    let profile = profile_of(&[(0, open), (0, blocking(3, 4, 7)), (1, nonblocking(3, 4, 5, 2))]);
    let names: Vec<&str> = profile.functions.keys().map(String::as_str).collect();
    assert_eq!(names, ["iread", "open", "write_at"]);
    assert_eq!(profile.functions["open"], FunctionProfile { calls: 1, bytes: 0, time: 3.0 });
    assert_eq!(profile.functions["iread"], FunctionProfile { calls: 1, bytes: 2, time: 2.0 });
}

#[test]
fn the_order_of_operations_does_not_matter() {
    let mut operations: Vec<(u32, Operation)> = (0..50)
        .map(|i| {
            (i as u32 % 4, nonblocking(i * 7 % 40, i * 7 % 40 + i % 5, i * 7 % 40 + i % 9 + 1, i as u64))
        })
        .collect();
    let forwards = profile_of(&operations);
    operations.reverse();
    assert_eq!(forwards, profile_of(&operations));
}

#[test]
fn requests_of_nobody_in_particular() {
    let mut profiler = Profiler::default();
    for start in [0, 10] {
        let access = Access { rank: None, start, end: start + 20, deadline: start + 20, bytes: 5 };
        profiler.access(Class::WriteAsync, access);
    }
    let profile = profiler.finish();
    let mode = profile.mode(Series::WriteAsyncActual);
    assert_eq!((mode.total_bytes, mode.total_io_phases), (Some(10.0), Some(2.0)));
    assert_eq!(
        (mode.max_bytes_per_rank, mode.number_of_ranks, mode.max_io_phases_per_rank),
        (None, None, None)
    );
}
