//! The bins against the obvious way of filling them.

use super::*;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

/// The obvious way: every request against every bin, in floating point.
fn slowly(requests: &[(i64, i64, u64)], from: i64, width: i64, bins: usize) -> Vec<f64> {
    let mut out = vec![0.0; bins];
    for &(start, end, bytes) in requests {
        for (i, volume) in out.iter_mut().enumerate() {
            let lo = from + i as i64 * width;
            let hi = lo + width;
            if start == end {
                if (lo..hi).contains(&start) {
                    *volume += bytes as f64;
                }
            } else {
                let overlap = end.min(hi) - start.max(lo);
                *volume += bytes as f64 * overlap.max(0) as f64 / (end - start) as f64;
            }
        }
    }
    out
}

fn close(a: &[f64], b: &[f64]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(x, y)| (x - y).abs() <= 1e-6 * (1.0 + y.abs()))
}

#[test]
fn the_slow_way_is_right_on_an_example() {
    // 30 bytes over [5, 35): 5 in [0,10), 10, 10, 5; and 7 bytes at an instant.
    assert_eq!(slowly(&[(5, 35, 30), (20, 20, 7)], 0, 10, 4), [5.0, 10.0, 17.0, 5.0]);
}

#[test]
fn one_request_over_several_bins() {
    let mut bins = VolumeBins::new(0, BinWidth::Nanoseconds(10), 100);
    bins.add(5, 35, 30);
    bins.add(20, 20, 7);
    let (start, volumes, error) = bins.volumes(0, 40);
    assert_eq!((start, error), (0, 0.0));
    assert!(close(&volumes, &[5.0, 10.0, 17.0, 5.0]), "{volumes:?}");
    assert_eq!(bins.total_bytes(), 37);
    assert_eq!(bins.extent(), Some((5, 35)));
}

#[test]
fn a_request_that_ends_on_an_edge_stays_out_of_the_next_bin() {
    let mut bins = VolumeBins::new(0, BinWidth::Nanoseconds(10), 100);
    bins.add(10, 20, 4);
    assert_eq!(bins.volumes(0, 30).1, [0.0, 4.0, 0.0]);
}

#[test]
fn a_window_cuts_requests_in_proportion() {
    let mut bins = VolumeBins::new(10, BinWidth::Nanoseconds(10), 100).with_window(Some(10), Some(30));
    bins.add(0, 20, 20);
    bins.add(25, 35, 10);
    bins.add(30, 30, 99);
    bins.add(0, 10, 99);
    assert!(close(&bins.volumes(10, 30).1, &[10.0, 5.0]));
    assert_eq!((bins.total_bytes(), bins.requests()), (15, 2));
}

#[test]
fn strange_times_are_counted_and_do_no_harm() {
    let mut bins = VolumeBins::new(0, BinWidth::Finest, 16);
    bins.add(50, 40, 8);
    bins.add(i64::MIN, i64::MAX, 8);
    bins.add(0, i64::MAX, 8);
    bins.add(-(1 << 60), 1 << 60, u64::MAX);
    assert_eq!((bins.inverted(), bins.rejected()), (1, 2));
    let (lo, hi) = bins.extent().unwrap();
    assert_eq!(bins.volumes(lo, hi).2, 0.0);
}

#[test]
fn an_empty_one_is_empty() {
    let mut bins = VolumeBins::new(0, BinWidth::Finest, 16);
    bins.double_width();
    assert_eq!((bins.total_bytes(), bins.extent()), (0, None));
    assert_eq!(bins.volumes(0, 4).1, [0.0, 0.0]);
}

fn requests() -> impl Strategy<Value = Vec<(i64, i64, u64)>> {
    let request = (-500i64..2000, 0i64..700, 0u64..100_000);
    prop::collection::vec(request.prop_map(|(start, length, bytes)| (start, start + length, bytes)), 1..40)
}

proptest! {
    #![proptest_config(ProptestConfig {
        rng_seed: RngSeed::Fixed(1),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn agrees_with_the_slow_way(requests in requests(), width in 1i64..90) {
        let mut bins = VolumeBins::new(0, BinWidth::Nanoseconds(width), 1 << 20);
        for &(start, end, bytes) in &requests {
            bins.add(start, end, bytes);
        }
        let (from, volumes, error) = bins.volumes(-600, 3000);
        prop_assert_eq!(error, 0.0);
        prop_assert!(close(&volumes, &slowly(&requests, from, width, volumes.len())));
    }

    #[test]
    fn order_and_growth_do_not_matter(requests in requests(), max_bins in 2usize..200) {
        let fill = |bins: &mut VolumeBins, backwards: bool| {
            let forward = requests.iter();
            let list: Vec<_> = if backwards { forward.rev().collect() } else { forward.collect() };
            for &&(start, end, bytes) in &list {
                bins.add(start, end, bytes);
            }
        };
        let mut one = VolumeBins::new(0, BinWidth::Finest, max_bins);
        let mut two = one.clone();
        let mut known = one.clone();
        known.fit(-500, 2700);
        fill(&mut one, false);
        fill(&mut two, true);
        fill(&mut known, false);
        prop_assert_eq!(one.width(), two.width());
        prop_assert_eq!(one.volumes(-500, 2700), two.volumes(-500, 2700));
        while one.width() < known.width() {
            one.double_width();
        }
        prop_assert_eq!(one.volumes(-500, 2700), known.volumes(-500, 2700));
    }

    #[test]
    fn no_byte_is_lost(requests in requests(), max_bins in 2usize..50) {
        let mut bins = VolumeBins::new(7, BinWidth::Finest, max_bins);
        for &(start, end, bytes) in &requests {
            bins.add(start, end, bytes);
        }
        prop_assert_eq!(bins.total_bytes(), requests.iter().map(|r| r.2).sum::<u64>());
        prop_assert_eq!(bins.volumes(-500, 2700).2, 0.0);
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        rng_seed: RngSeed::Fixed(2),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn a_batch_is_the_same_as_its_requests(
        requests in prop::collection::vec((-50i64..5000, -3i64..400, 0u64..1 << 40), 0..60),
        far in prop::option::of((any::<i64>(), any::<i64>())),
        window in (prop::option::of(0i64..1000), prop::option::of(1000i64..6000)),
        width in prop::sample::select(
            vec![BinWidth::Finest, BinWidth::Nanoseconds(7), BinWidth::Nanoseconds(16)]
        ),
        cut in 0usize..60,
    ) {
        let mut requests: Vec<(i64, i64, u64)> =
            requests.into_iter().map(|(start, length, bytes)| (start, start + length, bytes)).collect();
        requests.extend(far.map(|(start, end)| (start, end, 5)));
        let empty = VolumeBins::new(3, width, 64).with_window(window.0, window.1);
        let (mut each, mut batch) = (empty.clone(), empty);
        requests.iter().for_each(|&(start, end, bytes)| each.add(start, end, bytes));
        let (head, tail) = requests.split_at(cut.min(requests.len()));
        batch.add_all(head.iter().copied());
        batch.add_all(tail.iter().copied());
        prop_assert_eq!(each.extent(), batch.extent());
        prop_assert_eq!(each.requests(), batch.requests());
        prop_assert_eq!((each.inverted(), each.rejected()), (batch.inverted(), batch.rejected()));
        prop_assert_eq!(each.total_bytes(), batch.total_bytes());
        if far.is_none() {
            each.fit(-100, 6000);
            batch.fit(-100, 6000);
            prop_assert_eq!(each.width(), batch.width());
            prop_assert_eq!(each.volumes(-100, 6000), batch.volumes(-100, 6000));
        }
    }
}
