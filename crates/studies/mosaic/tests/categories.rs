//! Every category of Table I, by a run made by hand that has it; and thresholds that are only seen in whole
//! runs.

use mosaic::{Category, Direction, Operation, Requests, Run, Thresholds, categorize};
use std::collections::BTreeSet;

const GB: u64 = 1_000_000_000;

fn names(run: &Run) -> Vec<&'static str> {
    categorize(run, &Thresholds::default(), false).categories().names()
}

/// A run of 1000 s in which one direction does this.
fn of(direction: Direction, operations: &[(f64, f64, u64)]) -> Run {
    let operations =
        operations.iter().map(|&(start, end, bytes)| Operation::new(start, end, bytes)).collect();
    let run = Run { run_time: 1000.0, ranks: 1, ..Run::default() };
    match direction {
        Direction::Read => Run { reads: operations, ..run },
        Direction::Write => Run { writes: operations, ..run },
    }
}

/// Ten operations every `period` seconds, each taking this share of it.
fn every(direction: Direction, period: f64, busy: f64) -> Run {
    let operations: Vec<(f64, f64, u64)> =
        (0..10).map(|i| f64::from(i) * period).map(|at| (at, at + busy * period, GB)).collect();
    Run { run_time: 10.0 * period, ..of(direction, &operations) }
}

fn requests(seconds: &[(u32, u64)]) -> Run {
    let metadata = seconds
        .iter()
        .map(|&(at, count)| Requests { start: f64::from(at), end: f64::from(at), count })
        .collect();
    Run { run_time: 10.0, ranks: 4, metadata, ..Run::default() }
}

#[test]
fn every_category_has_a_run() {
    let mut cases: Vec<(String, Run)> = Vec::new();
    for direction in Direction::ALL {
        let name = direction.name();
        for (category, operations) in [
            ("on_start", &[(0.0, 10.0, GB)][..]),
            ("on_end", &[(980.0, 990.0, GB)]),
            ("after_start", &[(300.0, 990.0, GB)]),
            ("before_end", &[(10.0, 700.0, GB)]),
            ("after_start_before_end", &[(400.0, 600.0, GB)]),
            ("steady", &[(0.0, 1000.0, GB)]),
            ("insignificant", &[(0.0, 1000.0, 1000)]),
        ] {
            cases.push((format!("{name}_{category}"), of(direction, operations)));
        }
        for (period, category) in
            [(10.0, "second"), (600.0, "minute"), (7200.0, "hour"), (100_000.0, "day_or_more")]
        {
            cases.push((format!("{name}_periodic_{category}"), every(direction, period, 0.1)));
            cases.push((format!("periodic_{category}"), every(direction, period, 0.1)));
        }
        for (busy, category) in [(0.1, "low_busy_time"), (0.9, "high_busy_time")] {
            cases.push((format!("{name}_periodic_{category}"), every(direction, 100.0, busy)));
            cases.push((format!("periodic_{category}"), every(direction, 100.0, busy)));
        }
        cases.push((format!("{name}_periodic"), every(direction, 100.0, 0.5)));
        cases.push(("periodic".to_owned(), every(direction, 100.0, 0.5)));
    }
    let dense: Vec<(u32, u64)> = (0..10).map(|at| (at, 60)).collect();
    cases.push(("metadata_high_spike".into(), requests(&[(3, 251)])));
    cases.push(("metadata_multiple_spikes".into(), requests(&dense[..5])));
    cases.push(("metadata_high_density".into(), requests(&dense)));
    cases.push(("metadata_insignificant_load".into(), requests(&[(3, 3)])));
    for (category, run) in &cases {
        assert!(names(run).contains(&category.as_str()), "{category}: {:?}", names(run));
    }
    let covered: BTreeSet<&str> = cases.iter().map(|(category, _)| category.as_str()).collect();
    assert_eq!(covered, Category::all().map(Category::name).collect());
}

#[test]
fn a_direction_has_one_temporality_at_most() {
    let all: Vec<String> = Direction::ALL
        .into_iter()
        .flat_map(|direction| {
            [
                "on_start",
                "on_end",
                "after_start",
                "before_end",
                "after_start_before_end",
                "steady",
                "insignificant",
            ]
            .map(|name| format!("{}_{name}", direction.name()))
        })
        .collect();
    for quarters in 0..256u32 {
        // Each quarter holds 0, 1, 3 or 9 GB.
        let held = |at: u32| [0, 1, 3, 9][(quarters >> (2 * at) & 3) as usize] * GB;
        let operations: Vec<(f64, f64, u64)> = (0..4)
            .filter(|at| held(*at) > 0)
            .map(|at| (f64::from(at) * 250.0 + 100.0, f64::from(at) * 250.0 + 110.0, held(at)))
            .collect();
        let names = names(&of(Direction::Write, &operations));
        let write = names.iter().filter(|name| name.starts_with("write") && all.iter().any(|a| a == *name));
        assert!(write.count() <= 1, "{quarters:08b}: {names:?}");
    }
}

/// Starts of operations of 1 s and 1 GB.
fn at(starts: &[f64]) -> Run {
    let operations: Vec<(f64, f64, u64)> = starts.iter().map(|at| (*at, at + 1.0, GB)).collect();
    Run { run_time: 10_000.0, ..of(Direction::Write, &operations) }
}

fn periods(run: &Run, thresholds: &Thresholds) -> usize {
    categorize(run, thresholds, false).write.periodic.len()
}

#[test]
fn distances_are_even_up_to_a_quarter() {
    // A third operation of another size comes between: its segments form a group of their own, and the
    // distances of the first group are 100 s and 100 s times the factor.
    let interleaved = |factor: f64| {
        let starts = [0.0, 100.0, 100.0 + 100.0 * factor];
        let mut run = at(&[]);
        for start in starts {
            run.writes.push(Operation::new(start, start + 1.0, GB));
            run.writes.push(Operation::new(start + 30.0, start + 31.0, 50 * GB));
        }
        run
    };
    let even_within = |within: f64| Thresholds { even_within: within, ..Thresholds::default() };
    // Of the three segments of 30 s the distances are 100 s and 100 s times the factor, whose lower is the
    // median.
    let first_group = |factor: f64, thresholds: &Thresholds| {
        let found = categorize(&interleaved(factor), thresholds, false).write.periodic;
        found.iter().any(|operation| operation.period == 30.0)
    };
    assert!(first_group(1.25, &Thresholds::default()));
    assert!(!first_group(1.26, &Thresholds::default()));
    assert!(first_group(1.26, &even_within(0.26)));
    assert!(!first_group(1.25, &even_within(0.24)));
}

#[test]
fn more_than_half_of_the_distances_must_be_even() {
    // Segments of 30 s, begun at these distances: two of 100 s and two or one of others.
    let with = |distances: &[f64]| {
        let mut run = Run { run_time: 20_000.0, ..at(&[]) };
        let mut start = 0.0;
        for distance in distances.iter().chain([&5000.0]) {
            run.writes.push(Operation::new(start, start + 1.0, GB));
            run.writes.push(Operation::new(start + 30.0, start + 31.0, 50 * GB));
            start += distance;
        }
        categorize(&run, &Thresholds::default(), false)
            .write
            .periodic
            .iter()
            .any(|found| found.period == 30.0)
    };
    assert!(with(&[100.0, 400.0, 100.0]), "two of three");
    assert!(!with(&[100.0, 400.0, 100.0, 900.0]), "two of four");
    let all = Thresholds { evenness: 0.0, ..Thresholds::default() };
    assert!(periods(&at(&[0.0, 100.0, 700.0, 805.0, 4000.0]), &all) > 0);
}

#[test]
fn chunks_may_be_more_than_four() {
    let run = of(Direction::Write, &[(120.0, 130.0, GB)]);
    assert!(names(&run).contains(&"write_on_start"));
    let ten = Thresholds { chunks: 10.0, ..Thresholds::default() };
    let found = categorize(&run, &ten, false);
    assert_eq!(found.write.chunks.len(), 10);
    assert!(found.categories().names().contains(&"write_after_start_before_end"));
}
