use super::*;
use proptest::prelude::*;

const BUDGET: usize = 100_000;

/// Figure 2.4 of the paper: 3600 snapshots in 100 KB; the period goes from 1 to 2 s.
#[test]
fn an_hour_of_snapshots_fits_the_budget_of_the_paper() {
    let mut series = Series::default();
    let names = ["written_bytes", "read_bytes", "write_operations", "read_operations"];
    let value = |name: usize, second: u64| ((second * 7919 + name as u64 * 104_729) % 1_000_003) as f64;
    for second in 0..3600 {
        for (number, name) in names.iter().enumerate() {
            assert!(series.add(name, Kind::Counter, second as f64, value(number, second), BUDGET));
        }
    }
    assert_eq!(series.period(), 2.0);
    assert!(series.bytes() <= BUDGET && encode(&series).len() <= BUDGET);
    for (number, name) in names.iter().enumerate() {
        let exact: f64 = (0..3600).map(|second| value(number, second)).sum();
        assert_eq!(series.total(name), exact, "{name}");
    }
    let points = series.points("written_bytes", false);
    assert!(points.windows(2).all(|pair| pair[0][0] < pair[1][0] && pair[0][1] <= pair[1][1]));
}

#[test]
fn requests_are_spread_exactly() {
    let mut series = Series::new(-4);
    series.spread("w", 0.1, 3.33, 1_000_003, 1 << 20);
    series.spread("w", 5.0, 5.0, 17, 1 << 20);
    series.spread("w", 2.0, 4.0, 3, 1 << 20);
    assert_eq!(series.total("w"), 1_000_023.0);
    let inside = series.window("w", 0.0, 1.0, 4);
    assert_eq!(inside.len(), 4);
    let rate = 1_000_003.0 / 3.23;
    assert!((inside[2][2] / rate - 1.0).abs() < 0.01, "{inside:?}");
}

#[test]
fn gauges_keep_least_and_greatest() {
    let mut series = Series::default();
    for (second, value) in [5.0, -1.0, 3.0, 9.0].into_iter().enumerate() {
        series.add("load", Kind::Gauge, second as f64, value, 1 << 20);
    }
    series.fold();
    series.fold();
    let Some(Column::Gauge(bins)) = series.column("load") else { panic!("no gauge") };
    assert_eq!(bins, &[Seen { least: -1.0, greatest: 9.0, sum: 16.0, count: 4.0 }]);
    assert_eq!(series.points("load", false), [[2.0, 4.0]]);
    assert!(!series.add("load", Kind::Counter, 0.0, 1.0, 1 << 20), "a name has one kind");
}

#[test]
fn rates_are_those_of_the_bins() {
    let mut series = Series::default();
    series.add("w", Kind::Counter, 10.0, 8.0, 1 << 20);
    assert_eq!(series.rates("w", 9.0, 1.0, 4), [0.0, 8.0, 0.0, 0.0]);
    assert_eq!(series.rates("w", 10.0, 0.5, 3), [8.0, 8.0, 0.0]);
    assert_eq!(series.rates("w", 8.0, 4.0, 1), [2.0]);
    assert_eq!(series.rates("none", 8.0, 4.0, 1), [0.0]);
}

#[test]
fn odd_times_and_values_do_no_harm() {
    let mut series = Series::default();
    for time in [-5.0, f64::NAN, f64::INFINITY, 1e300, 1e8] {
        series.add("w", Kind::Counter, time, 1.0, 4096);
        series.spread("w", time, time, 1, 4096);
    }
    series.add("w", Kind::Counter, 0.0, f64::NAN, 4096);
    assert_eq!(series.total("w"), 4.0);
    assert!(series.bytes() <= 4096);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever comes in whatever order: totals are exact, the budget holds, the period is a power of two.
    #[test]
    fn totals_survive_folding(
        values in prop::collection::vec((0u8..4, 0.0..20_000.0f64, 0u32..1_000_000), 1..400),
        budget in 256usize..8192,
    ) {
        let mut series = Series::default();
        let mut sums = [0.0; 4];
        for (name, time, value) in &values {
            let value = f64::from(*value);
            series.add(&format!("m{name}"), Kind::Counter, *time, value, budget);
            sums[*name as usize] += value;
        }
        for (name, sum) in sums.iter().enumerate() {
            prop_assert_eq!(series.total(&format!("m{name}")), *sum);
        }
        prop_assert!(series.bytes() <= budget);
        let counted = (series.bytes(), series.memory());
        series.count();
        prop_assert_eq!(counted, (series.bytes(), series.memory()), "counted on the way as at the end");
        prop_assert_eq!(series.period().log2().fract(), 0.0);
        let read = decode(&encode(&series)).unwrap();
        prop_assert_eq!(read, series);
    }

    /// One fold more changes no total.
    #[test]
    fn a_fold_adds_neighbours(values in prop::collection::vec(0u32..1000, 1..100)) {
        let mut series = Series::default();
        for (second, value) in values.iter().enumerate() {
            series.add("m", Kind::Counter, second as f64, f64::from(*value), 1 << 20);
        }
        series.fold();
        let pairs: Vec<f64> =
            values.chunks(2).map(|pair| pair.iter().map(|v| f64::from(*v)).sum()).collect();
        prop_assert_eq!(series.column("m"), Some(&Column::Counter(pairs)));
    }

    /// Any bytes are read or refused, and nothing else.
    #[test]
    fn any_bytes_are_no_danger(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = decode(&bytes);
    }

    /// A file with one wrong bit is refused.
    #[test]
    fn a_flipped_bit_is_noticed(at in 0usize..1000, bit in 0u8..8) {
        let mut series = Series::default();
        (0..50).for_each(|i| { series.add("m", Kind::Counter, f64::from(i), f64::from(i), 1 << 20); });
        let mut bytes = encode(&series);
        let at = at % bytes.len();
        bytes[at] ^= 1 << bit;
        prop_assert!(decode(&bytes).is_none());
    }
}

/// A short file that stands for gigabytes is damaged, though its checksum is right.
#[test]
fn a_bomb_is_no_series() {
    let of = |bins: u32| {
        // One column `a`, a counter, whose bins are a long run of zeros.
        let head = [&b"FTSR\x01"[..], &[0; 12], &1u32.to_le_bytes(), &1u32.to_le_bytes(), b"a"].concat();
        let column =
            [&bins.to_le_bytes()[..], &[0, 0], &6u32.to_le_bytes(), &[0, 0xff, 0xff, 0xff, 0xff, 0x0f]];
        let bytes = [head, column.concat()].concat();
        let sum = crc32fast::hash(&bytes).to_le_bytes();
        [&bytes[..], &sum].concat()
    };
    assert_eq!(decode(&of(1000)).map(|series| series.bins()), Some(1000));
    assert!(decode(&of(u32::MAX)).is_none());
    assert!(decode(&of(1 << 26)).is_none());
}
