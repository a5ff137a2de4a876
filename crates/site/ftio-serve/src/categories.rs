//! The categories of MOSAIC that a job falls into, as `ftio categorize` finds them.

use crate::job::{READ, WRITTEN};
use crate::series::Series;
use mosaic::{Findings, Operation, Run, Thresholds, categorize};

/// Of a Darshan log, by its counters: it may not tell when it moved which bytes.
pub fn of_log(log: &darshan_log::Log) -> Vec<String> {
    let thresholds = Thresholds::default();
    let read = mosaic::log::read(log, &Default::default(), &thresholds);
    read.map_or_else(|_| Vec::new(), |read| told(&categorize(&read.run, &thresholds, false)))
}

/// Of what a job moved over time. Bins are narrower than gaps that the method closes anyway.
pub fn of_series(series: &Series, ranks: i64, run_time: f64) -> Vec<String> {
    if run_time.is_nan() || run_time <= 0.0 {
        return Vec::new();
    }
    let operations = |name: &str| -> Vec<Operation> {
        let within = |(from, to, bytes): (f64, f64, f64)| {
            Operation::new(from.min(run_time), to.min(run_time), bytes as u64)
        };
        series.moved(name).map(within).collect()
    };
    let run = Run {
        run_time,
        ranks: u64::try_from(ranks).unwrap_or(0).max(1),
        reads: operations(READ),
        writes: operations(WRITTEN),
        ..Run::default()
    };
    told(&categorize(&run, &Thresholds::default(), false))
}

/// Of metadata operations a series knows nothing, and what reads and writes have in common is in both.
fn told(found: &Findings) -> Vec<String> {
    let found = found.categories();
    let known = found.iter().filter(|one| !one.is_derived() && !one.name().starts_with("metadata_"));
    known.map(|one| one.name().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::Kind;

    #[test]
    fn checkpoints_are_periodic_and_steady() {
        let mut series = Series::default();
        for burst in 0..12 {
            for second in 0..10 {
                series.add(WRITTEN, Kind::Counter, f64::from(300 * burst + second), 2e8, 1 << 20);
            }
        }
        let found = of_series(&series, 64, 3600.0);
        assert!(found.contains(&"write_periodic_minute".to_owned()), "{found:?}");
        assert!(found.contains(&"read_insignificant".to_owned()), "{found:?}");
        assert!(found.iter().all(|name| !name.starts_with("metadata")), "{found:?}");
        assert!(of_series(&series, 64, 0.0).is_empty());
    }
}
