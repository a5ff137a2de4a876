//! TMIO's phases of small lists of operations, worked out by hand.

use std::collections::BTreeMap;
use tmio_trace::tmio::{IoTime, Phase, PhaseBuilder, Phases, Statistics, Totals};
use tmio_trace::{AsyncTimes, Class, ClockSample, Flags, Metadata, OpKind, Operation, RankInfo};

const SECOND: i64 = 1_000_000_000;
const WRITE_AT: OpKind = OpKind(1);
const READ_AT: OpKind = OpKind(0);
const IWRITE_AT: OpKind = OpKind(3);
const IREAD_AT: OpKind = OpKind(2);

fn call(kind: OpKind, start: i64, end: i64, bytes: u64) -> Operation {
    Operation {
        kind,
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

/// Issued at `issue`, waited for from `deadline` on, complete at `end`.
fn request(kind: OpKind, issue: i64, deadline: i64, end: i64, bytes: u64) -> Operation {
    let issued = issue * SECOND;
    let times = AsyncTimes { issued, deadline: deadline * SECOND, pending_until: issued, test_time: 0 };
    Operation { nonblocking: Some(times), ..call(kind, issue, end, bytes) }
}

fn derive(operations: &[Operation]) -> Phases {
    let mut builder = PhaseBuilder::new().keep_requests();
    builder.push(0, operations).unwrap();
    builder.finish()
}

fn phases(operations: &[Operation], class: Class) -> Vec<Phase> {
    derive(operations).of_rank(0, class).collect()
}

/// Start, actual end, required end in seconds; bytes; operations.
fn outline(phase: &Phase) -> (i64, i64, i64, u64, u64) {
    let required = phase.required_end.unwrap_or(0) / SECOND;
    (phase.start / SECOND, phase.end / SECOND, required, phase.bytes, phase.operations)
}

fn outlines(operations: &[Operation], class: Class) -> Vec<(i64, i64, i64, u64, u64)> {
    phases(operations, class).iter().map(outline).collect()
}

#[test]
fn every_blocking_call_is_a_phase() {
    let operations = [
        call(WRITE_AT, 4, 6, 100),
        call(OpKind::metadata(Metadata::Sync), 6, 7, 0),
        call(WRITE_AT, 1, 2, 50),
        call(READ_AT, 2, 3, 7),
    ];
    let [first, second] = phases(&operations, Class::WriteSync)[..] else { panic!("two phases") };
    assert_eq!(outline(&first), (1, 2, 0, 50, 1));
    assert_eq!(outline(&second), (4, 6, 0, 100, 1));
    assert_eq!((second.throughput(), second.throughput_sum), (50.0, 50.0));
    assert_eq!((second.required(), second.required_sum, second.required_end), (0.0, 0.0, None));
    assert_eq!(second.lost_time, 2 * SECOND);
    assert_eq!(outlines(&operations, Class::ReadSync), [(2, 3, 0, 7, 1)]);
    assert!(phases(&operations, Class::WriteAsync).is_empty());
}

#[test]
fn requests_that_are_waited_for_together_are_one_phase() {
    // Issued at 0, 1 and 2; one Waitall from 10 to 12.
    let operations = [
        request(IWRITE_AT, 0, 10, 12, 100),
        request(IWRITE_AT, 1, 10, 12, 90),
        request(IWRITE_AT, 2, 10, 12, 80),
    ];
    let [phase] = phases(&operations, Class::WriteAsync)[..] else { panic!("one phase") };
    assert_eq!(outline(&phase), (0, 12, 10, 270, 3));
    assert_eq!(phase.required(), 27.0);
    assert_eq!(phase.required_sum, 10.0 + 10.0 + 10.0);
    assert_eq!(phase.throughput(), 22.5);
    assert_eq!(phase.throughput_sum, 100.0 / 12.0 + 90.0 / 11.0 + 80.0 / 10.0);
    assert_eq!(phase.lost_time, 3 * 2 * SECOND);
}

#[test]
fn a_request_issued_when_all_are_complete_opens_a_phase() {
    let operations = [request(IWRITE_AT, 0, 4, 5, 10), request(IWRITE_AT, 5, 8, 9, 20)];
    assert_eq!(outlines(&operations, Class::WriteAsync), [(0, 5, 4, 10, 1), (5, 9, 8, 20, 1)]);
}

#[test]
fn waits_in_another_order_than_issues_end_the_phase_at_the_first() {
    // The second is waited for first.
    let operations = [request(IWRITE_AT, 0, 8, 9, 100), request(IWRITE_AT, 1, 5, 6, 40)];
    let [phase] = phases(&operations, Class::WriteAsync)[..] else { panic!("one phase") };
    assert_eq!(outline(&phase), (0, 9, 5, 140, 2));
    assert_eq!(phase.required(), 28.0);
    assert_eq!(phase.required_sum, 100.0 / 5.0 + 40.0 / 4.0);
}

#[test]
fn directions_have_phases_of_their_own() {
    let operations = [
        request(IWRITE_AT, 0, 9, 10, 1),
        request(IREAD_AT, 1, 2, 3, 2),
        request(IREAD_AT, 4, 5, 6, 3),
        request(IWRITE_AT, 5, 9, 10, 4),
    ];
    assert_eq!(outlines(&operations, Class::WriteAsync), [(0, 10, 9, 5, 2)]);
    assert_eq!(outlines(&operations, Class::ReadAsync), [(1, 3, 2, 2, 1), (4, 6, 5, 3, 1)]);
}

#[test]
fn requests_issued_after_the_first_wait_are_not_required_before_they_exist() {
    // Double buffering: at 4, the third is issued while the second is still under way.
    let operations =
        [request(IWRITE_AT, 0, 2, 3, 10), request(IWRITE_AT, 1, 5, 6, 20), request(IWRITE_AT, 4, 7, 8, 30)];
    let [phase] = phases(&operations, Class::WriteAsync)[..] else { panic!("one phase") };
    // The first deadline after the last issue is that of the second request.
    assert_eq!(outline(&phase), (0, 8, 5, 60, 3));
    assert_eq!(phase.required(), 12.0);
    assert_eq!(phase.required_sum, 10.0 / 2.0 + 20.0 / 4.0 + 30.0 / 1.0);
    let ends: Vec<i64> =
        derive(&operations).requests(Class::WriteAsync).map(|(_, r)| r.required_end / SECOND).collect();
    assert_eq!(ends, [2, 5, 5]);
}

#[test]
fn a_successful_test_is_a_deadline() {
    // Tested in vain until 3, successfully from 4 on; nobody waited.
    let mut tested = request(IWRITE_AT, 0, 4, 5, 100);
    tested.flags = Flags::TESTED;
    tested.nonblocking.as_mut().unwrap().pending_until = 3 * SECOND;
    tested.nonblocking.as_mut().unwrap().test_time = 7;
    let [phase] = phases(&[tested], Class::WriteAsync)[..] else { panic!("one phase") };
    assert_eq!(outline(&phase), (0, 5, 4, 100, 1));
    assert_eq!((phase.required(), phase.throughput(), phase.lost_time), (25.0, 20.0, 7));
}

#[test]
fn operations_may_come_in_any_order_and_in_parts() {
    let operations = [
        request(IWRITE_AT, 0, 10, 12, 100),
        request(IWRITE_AT, 1, 10, 12, 90),
        request(IWRITE_AT, 20, 30, 31, 80),
        call(WRITE_AT, 13, 14, 5),
        call(WRITE_AT, 15, 16, 6),
    ];
    let expected = derive(&operations);
    let mut builder = PhaseBuilder::new();
    for op in operations.iter().rev() {
        builder.push(0, std::slice::from_ref(op)).unwrap();
    }
    let other = builder.finish();
    for class in Class::ALL {
        assert!(expected.of_class(class).eq(other.of_class(class)), "{class:?}");
    }
}

#[test]
fn no_duration_is_shorter_than_the_clock_can_tell() {
    let mut backwards = call(WRITE_AT, 5, 5, 3);
    backwards.end -= 10;
    let [phase] = phases(&[backwards], Class::WriteSync)[..] else { panic!("one phase") };
    assert_eq!((phase.start, phase.end), (5 * SECOND, 5 * SECOND));
    assert_eq!(phase.throughput(), 3e9);
    let mut absurd = request(IWRITE_AT, 1, 1, 1, u64::MAX);
    (absurd.start, absurd.end) = (i64::MAX, i64::MIN);
    absurd.nonblocking.as_mut().unwrap().deadline = i64::MIN;
    let [phase] = phases(&[absurd], Class::WriteAsync)[..] else { panic!("one phase") };
    assert!(phase.required().is_finite() && phase.throughput().is_finite());
}

/// Two ranks: rank 0 writes 100 B in 2 s and 300 B in 2 s, rank 1 writes 50 B in 1 s.
fn two_ranks() -> Phases {
    let mut builder = PhaseBuilder::new();
    builder.push(1, &[call(WRITE_AT, 0, 1, 50)]).unwrap();
    builder.push(0, &[call(WRITE_AT, 0, 2, 100), call(WRITE_AT, 3, 5, 300)]).unwrap();
    builder.finish()
}

#[test]
fn totals_are_sums_and_maxima_over_ranks() {
    let expected = Totals {
        total_bytes: 450,
        max_bytes_per_rank: 400,
        max_bytes_per_phase: 300,
        max_io_phases_per_rank: 2,
        total_io_phases: 3,
        max_io_ops_in_phase: 1,
        max_io_ops_per_rank: 2,
        total_io_ops: 3,
        number_of_ranks: 2,
    };
    assert_eq!(Totals::of(&two_ranks(), Class::WriteSync), expected);
    assert_eq!(Totals::of(&two_ranks(), Class::ReadSync), Totals::default());
}

#[test]
fn means_are_over_phases() {
    // Bandwidths 50, 150 and 50 B/s.
    let means = Statistics::of(&two_ranks(), Class::WriteSync, Phase::throughput);
    assert_eq!(means.weighted_harmonic_mean, 450.0 / 5.0);
    assert!((means.harmonic_mean - 3.0 / (1.0 / 50.0 + 1.0 / 150.0 + 1.0 / 50.0)).abs() < 1e-12);
    assert_eq!((means.arithmetic_mean, means.median), (250.0 / 3.0, 50.0));
    assert_eq!((means.max, means.min), (150.0, 50.0));
    assert_eq!(Statistics::of(&two_ranks(), Class::ReadSync, Phase::throughput), Statistics::default());
}

#[test]
fn io_time_adds_up() {
    let mut builder = PhaseBuilder::new();
    builder.push(0, &[call(WRITE_AT, 0, 2, 1), request(IREAD_AT, 3, 5, 6, 1)]).unwrap();
    builder.push(1, &[call(READ_AT, 1, 2, 1), request(IWRITE_AT, 3, 7, 7, 1)]).unwrap();
    let sample = |job| ClockSample { local: job, job, real: 0, error: 0 };
    let rank = |rank| RankInfo {
        rank,
        clock: vec![sample(0), sample(10 * SECOND)],
        finished: true,
        operations: 2,
        overhead: SECOND,
        overhead_per_op: 0.125 * SECOND as f64,
        ..RankInfo::default()
    };
    let ranks = BTreeMap::from([(0, rank(0)), (1, rank(1))]);
    let time = IoTime::of(&builder.finish(), &ranks);
    assert_eq!((time.write_sync, time.read_sync), (2.0, 1.0));
    assert_eq!((time.read_async_actual, time.read_async_required, time.read_async_lost), (3.0, 2.0, 1.0));
    assert_eq!((time.write_async_actual, time.write_async_required, time.write_async_lost), (4.0, 4.0, 0.0));
    assert_eq!(time.io, 4.0);
    assert_eq!((time.overhead, time.overhead_during_run, time.overhead_after_run), (2.0, 0.5, 1.5));
    assert_eq!(time.application, 19.5);
    assert_eq!((time.rank0, time.rank0_application), (10.75, 9.75));
    assert_eq!(time.get("delta_t_agg_io"), Some(4.0));
}
