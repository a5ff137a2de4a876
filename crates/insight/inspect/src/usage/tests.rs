use super::*;
use sources::request::{Class, Request};
use sources::{InMemory, Job};

const SECOND: i64 = 1_000_000_000;

#[test]
fn requests_tell_sizes_ranks_and_times() {
    let of = |rank, start, bytes, class| Request {
        rank: Some(rank),
        ..Request::new(start * SECOND, (start + 1) * SECOND, bytes, class)
    };
    let requests: &'static [Request] = Vec::leak(vec![
        of(0, 0, 100, Class::WriteSync),
        of(0, 1, 100, Class::WriteSync),
        of(1, 0, 2 << 20, Class::WriteSync),
        of(1, 5, 7, Class::ReadSync),
    ]);
    let job = Job { ranks: Some(2), end: Some(10 * SECOND), ..Job::default() };
    let found = requests::usage(Box::new(InMemory { requests, job })).unwrap();
    assert_eq!((found.run_time, found.ranks), (10.0, Some(2)));
    assert_eq!(found.writes.common[0], Common { size: 100, count: 2 });
    assert_eq!(found.writes.small(), Some(2));
    assert_eq!(found.by_rank[1].bytes_written, 2 << 20);
    assert_eq!((found.by_rank[1].read_time, found.by_rank[0].write_time), (1.0, 2.0));
    assert_eq!(found.layers["requests"].read.bytes, 7);
    assert!(found.writes.misaligned.is_none() && found.mpiio.is_none());
}

#[test]
fn classes_of_sizes_are_darshans() {
    for (bytes, class) in
        [(0, 0), (100, 0), (101, 1), (1024, 1), (1 << 20, 4), ((1 << 20) + 1, 5), (u64::MAX, 9)]
    {
        assert_eq!(access::class(bytes), class, "{bytes}");
    }
}

#[test]
fn order_and_alignment() {
    let mut tally = access::Tally::default();
    let mut end = None;
    for offset in [0, 4096, 8192, 12_288 + 4096, 0, 5] {
        tally.add(4096, 1, false);
        tally.place(offset, end, 4096);
        end = Some(offset + 4096);
    }
    let access = tally.finish();
    assert_eq!((access.placed, access.consecutive, access.sequential), (6, 3, 4));
    assert_eq!((access.random(), access.misaligned), (2, Some(1)));
}
