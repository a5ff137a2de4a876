//! A labelled set: runs made by rules that say what they are, with jitter, desynchronised ranks and several
//! behaviours at once, written as Darshan logs by our writer and read back. The categories must be those of
//! the label.

mod support;

use mosaic::archive::Settings;
use mosaic::archive::record::{Valid, examine};
use seeded_random::Random;
use std::collections::BTreeMap;
use support::{MB, Made};

/// Logs in the set.
const LOGS: u64 = 600;

/// What a made run must be called: exactly these, of the directions that it looks at.
type Label = Vec<String>;

/// Makes one run of a family and says what it is.
type Family = fn(&mut Random, &mut Made) -> Label;

const FAMILIES: [(&str, Family); 15] = [
    ("nothing", nothing),
    ("read, compute, write", read_compute_write),
    ("checkpoints", checkpoints),
    ("checkpoints between input and result", checkpoints_between),
    ("periodic reads", periodic_reads),
    ("reads and checkpoints with periods of their own", reads_and_checkpoints),
    ("two kinds of output in turn", two_in_turn),
    ("checkpoints and a few others", checkpoints_and_others),
    ("busy most of the period", busy),
    ("files kept open", kept_open),
    ("only in the middle", middle),
    ("not at the start", not_at_the_start),
    ("not at the end", not_at_the_end),
    ("irregular", irregular),
    ("metadata", metadata),
];

fn between(random: &mut Random, low: f64, high: f64) -> f64 {
    low + (high - low) * random.unit()
}

/// Log-uniform.
fn scaled(random: &mut Random, low: f64, high: f64) -> f64 {
    between(random, low.ln(), high.ln()).exp()
}

fn normal(random: &mut Random) -> f64 {
    (0..12).map(|_| random.unit()).sum::<f64>() - 6.0
}

fn label(names: &[&str]) -> Label {
    names.iter().map(ToString::to_string).collect()
}

fn run(random: &mut Random, made: &mut Made, low: f64, high: f64) {
    made.run_time = scaled(random, low, high).round();
    made.ranks = 1 << (1 + random.below(10));
}

/// A burst of `bytes` in all from `start` on: one shared record, or one of each of some ranks, each a little
/// late.
fn burst(random: &mut Random, made: &mut Made, write: bool, start: f64, length: f64, bytes: u64) {
    if random.below(2) == 0 {
        made.access(write, -1, start, start + length, bytes);
        return;
    }
    let ranks = made.ranks.min(8);
    for rank in 0..ranks {
        let late = 0.3 * length * random.unit();
        made.access(write, rank, start + late, start + late + 0.9 * length, bytes / ranks as u64);
    }
}

/// Bursts every `period` seconds of which each may be late by up to 15 % of it, and with 8 % of variation in
/// volume, from `from` to `to`.
fn bursts(
    random: &mut Random,
    made: &mut Made,
    write: bool,
    period: f64,
    share: f64,
    (from, to): (f64, f64),
) {
    let bytes = scaled(random, 200.0, 20_000.0) * MB;
    let mut at = from;
    // With the latest start of a burst, and the latest rank in it.
    while at + (0.15 + 1.3 * share) * period < to {
        let late = 0.15 * period * random.unit();
        let size = bytes * (1.0 + 0.08 * normal(random)).max(0.5);
        burst(random, made, write, at + late, share * period, size as u64);
        at += period;
    }
}

fn magnitude(period: f64) -> &'static str {
    match period {
        p if p <= 30.0 => "second",
        p if p <= 1800.0 => "minute",
        p if p <= 43200.0 => "hour",
        _ => "day_or_more",
    }
}

/// A period that is not on a border of the orders of magnitude.
fn period(random: &mut Random, low: f64, high: f64) -> f64 {
    loop {
        let period = scaled(random, low, high);
        if [30.0, 1800.0, 43200.0].iter().all(|border| (period / border).ln().abs() > 0.15) {
            return period;
        }
    }
}

fn periodic(direction: &str, period: f64, busy: &str) -> Label {
    let mut names =
        vec![format!("{direction}_periodic"), format!("{direction}_periodic_{}", magnitude(period))];
    if !busy.is_empty() {
        names.push(format!("{direction}_periodic_{busy}_busy_time"));
    }
    names
}

fn nothing(random: &mut Random, made: &mut Made) -> Label {
    run(random, made, 60.0, 1e5);
    for _ in 0..random.below(6) {
        let at = between(random, 0.0, 0.9) * made.run_time;
        let bytes = scaled(random, 0.001, 15.0) * MB;
        let is_write = random.unit() < 0.5;
        let length = 0.01 * made.run_time;
        burst(random, made, is_write, at, length, bytes as u64);
    }
    label(&["read_insignificant", "write_insignificant"])
}

fn read_compute_write(random: &mut Random, made: &mut Made) -> Label {
    run(random, made, 120.0, 1e5);
    let (t, size) = (made.run_time, |random: &mut Random| (scaled(random, 150.0, 1e5) * MB) as u64);
    let bytes = size(random);
    let start = between(random, 0.0, 0.05) * t;
    burst(random, made, false, start, 0.1 * t, bytes);
    let bytes = size(random);
    let start = between(random, 0.8, 0.87) * t;
    burst(random, made, true, start, 0.08 * t, bytes);
    label(&["read_on_start", "write_on_end"])
}

fn checkpoints(random: &mut Random, made: &mut Made) -> Label {
    let period = period(random, 5.0, 20_000.0);
    made.ranks = 64;
    made.run_time = (period * between(random, 16.0, 60.0)).ceil();
    let end = made.run_time;
    let share = between(random, 0.02, 0.18);
    bursts(random, made, true, period, share, (0.0, end));
    [label(&["read_insignificant", "write_steady"]), periodic("write", period, "low")].concat()
}

fn checkpoints_between(random: &mut Random, made: &mut Made) -> Label {
    let names = checkpoints(random, made);
    let t = made.run_time;
    let bytes = (scaled(random, 200.0, 1e5) * MB) as u64;
    burst(random, made, false, 0.0, 0.03 * t, bytes);
    names.into_iter().map(|name| name.replace("read_insignificant", "read_on_start")).collect()
}

fn periodic_reads(random: &mut Random, made: &mut Made) -> Label {
    let period = period(random, 5.0, 5000.0);
    made.ranks = 16;
    made.run_time = (period * between(random, 16.0, 60.0)).ceil();
    let end = made.run_time;
    bursts(random, made, false, period, 0.1, (0.0, end));
    [label(&["read_steady", "write_insignificant"]), periodic("read", period, "low")].concat()
}

fn reads_and_checkpoints(random: &mut Random, made: &mut Made) -> Label {
    let [reads, writes] = [(), ()].map(|()| period(random, 40.0, 400.0));
    made.ranks = 32;
    made.run_time = (reads.max(writes) * between(random, 16.0, 40.0)).ceil();
    let end = made.run_time;
    bursts(random, made, false, reads, 0.1, (0.0, end));
    bursts(random, made, true, writes, 0.1, (0.0, end));
    let names = [label(&["read_steady", "write_steady"]), periodic("read", reads, "low")];
    [names.concat(), periodic("write", writes, "low")].concat()
}

/// A checkpoint of 10 GB, and half a period later a small output: two periodic operations.
fn two_in_turn(random: &mut Random, made: &mut Made) -> Label {
    let period = period(random, 100.0, 1000.0);
    made.ranks = 64;
    made.run_time = (period * between(random, 16.0, 40.0)).ceil();
    let mut at = 0.0;
    while at + 0.7 * period < made.run_time {
        let late = 0.02 * period * random.unit();
        burst(random, made, true, at + late, 0.05 * period, (10_000.0 * MB) as u64);
        burst(random, made, true, at + late + 0.5 * period, 0.02 * period, (300.0 * MB) as u64);
        at += period;
    }
    [label(&["read_insignificant", "write_steady"]), periodic("write", 0.5 * period, "low")].concat()
}

fn checkpoints_and_others(random: &mut Random, made: &mut Made) -> Label {
    let names = checkpoints(random, made);
    for _ in 0..1 + random.below(3) {
        let at = between(random, 0.0, 0.95) * made.run_time;
        let bytes = scaled(random, 50.0, 400.0) * MB;
        let length = 0.002 * made.run_time;
        burst(random, made, true, at, length, bytes as u64);
    }
    names
}

fn busy(random: &mut Random, made: &mut Made) -> Label {
    let period = period(random, 5.0, 5000.0);
    made.ranks = 8;
    made.run_time = (period * between(random, 16.0, 40.0)).ceil();
    let end = made.run_time;
    let bytes = scaled(random, 500.0, 5000.0) * MB;
    let mut at = 0.0;
    while at + period < end {
        made.access(true, -1, at, at + between(random, 0.82, 0.9) * period, bytes as u64);
        at += period;
    }
    [label(&["read_insignificant", "write_steady"]), periodic("write", period, "high")].concat()
}

/// What Darshan's counters make of a file that is open all the time.
fn kept_open(random: &mut Random, made: &mut Made) -> Label {
    run(random, made, 100.0, 1e5);
    let t = made.run_time;
    for rank in 0..1 + random.below(8) as i64 {
        let (start, end) = (between(random, 0.0, 0.05) * t, between(random, 0.95, 1.0) * t);
        made.access(true, rank, start, end, (scaled(random, 200.0, 2000.0) * MB) as u64);
    }
    label(&["read_insignificant", "write_steady"])
}

fn middle(random: &mut Random, made: &mut Made) -> Label {
    run(random, made, 100.0, 1e5);
    let t = made.run_time;
    let start = between(random, 0.3, 0.5) * t;
    let bytes = (scaled(random, 200.0, 1e5) * MB) as u64;
    burst(random, made, true, start, 0.15 * t, bytes);
    label(&["read_insignificant", "write_after_start_before_end"])
}

fn not_at_the_start(random: &mut Random, made: &mut Made) -> Label {
    run(random, made, 100.0, 1e5);
    let t = made.run_time;
    let bytes = (scaled(random, 500.0, 1e5) * MB) as u64;
    made.access(true, -1, between(random, 0.3, 0.45) * t, 0.99 * t, bytes);
    label(&["read_insignificant", "write_after_start"])
}

fn not_at_the_end(random: &mut Random, made: &mut Made) -> Label {
    run(random, made, 100.0, 1e5);
    let t = made.run_time;
    let bytes = (scaled(random, 500.0, 1e5) * MB) as u64;
    made.access(false, -1, 0.01 * t, between(random, 0.55, 0.7) * t, bytes);
    label(&["read_before_end", "write_insignificant"])
}

/// Many writes at any time, of any size or all of one: no period. When they happen is left to chance, and not
/// in the label.
fn irregular(random: &mut Random, made: &mut Made) -> Label {
    run(random, made, 1000.0, 1e5);
    let mut at = 0.0;
    let mean = made.run_time / between(random, 5.0, 40.0);
    let one_size = (random.below(2) == 0).then(|| scaled(random, 150.0, 50_000.0) * MB);
    loop {
        at += -mean * (1.0 - random.unit()).ln();
        if at >= 0.98 * made.run_time {
            break;
        }
        let bytes = one_size.unwrap_or(scaled(random, 150.0, 50_000.0) * MB);
        let length = 0.004 * made.run_time;
        burst(random, made, true, at, length, bytes as u64);
    }
    made.access(true, -1, 0.0, 1.0, (150.0 * MB) as u64);
    made.any_time = true;
    label(&["read_insignificant"])
}

fn metadata(random: &mut Random, made: &mut Made) -> Label {
    run(random, made, 200.0, 2000.0);
    made.ranks = 64;
    let mut names = label(&["read_insignificant", "write_insignificant"]);
    match random.below(4) {
        0 => {
            // All ranks open thousands of files at the start.
            let start = between(random, 0.0, 10.0);
            made.opens(start, start + 0.4, 400 + random.below(10_000) as u64);
            names.push("metadata_high_spike".into());
        }
        1 => {
            for _ in 0..6 + random.below(10) {
                let at = between(random, 0.0, 0.9) * made.run_time;
                made.opens(at.floor(), at.floor() + 0.5, 60 + random.below(60) as u64);
            }
            names.push("metadata_multiple_spikes".into());
        }
        2 => {
            let every_second = 70 + random.below(50) as u64;
            made.opens(0.0, made.run_time, every_second * made.run_time as u64);
            names.extend(label(&["metadata_high_density", "metadata_multiple_spikes"]));
        }
        _ => {
            made.opens(1.0, 2.0, random.below(31) as u64);
            names.push("metadata_insignificant_load".into());
        }
    }
    made.judge_metadata = true;
    names
}

/// Of what was found, what the label speaks about.
fn found(run: &Valid, made: &Made) -> Vec<String> {
    let names =
        run.categories.iter().filter(|category| !category.is_derived()).map(|category| category.name());
    names
        .filter(|name| made.judge_metadata || !name.starts_with("metadata"))
        .filter(|name| !made.any_time || name.contains("periodic") || name.starts_with("read"))
        .map(str::to_owned)
        .collect()
}

#[test]
fn at_least_95_percent_of_600_logs_are_what_they_were_made_to_be() {
    let settings = Settings {
        reading: mosaic::log::Reading { witness: false, ..Default::default() },
        ..Settings::default()
    };
    let mut right = 0;
    let mut wrong: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for seed in 0..LOGS {
        let (family, make) = FAMILIES[seed as usize % FAMILIES.len()];
        let mut random = Random::new(1000 + seed);
        let mut made = Made::default();
        let mut expected = make(&mut random, &mut made);
        let run = examine(&made.log(seed), &settings).expect("a valid log");
        let mut found = found(&run, &made);
        expected.sort();
        found.sort();
        if found == expected {
            right += 1;
        } else {
            wrong
                .entry(family)
                .or_default()
                .push(format!("  {seed}: expected {expected:?}\n      found {found:?}"));
        }
    }
    let accuracy = right as f64 / LOGS as f64;
    let mut report = String::new();
    for (family, cases) in &wrong {
        report += &format!("{family}: {} wrong\n{}\n", cases.len(), cases.join("\n"));
    }
    println!("accuracy {:.1} %\n{report}", 100.0 * accuracy);
    assert!(accuracy >= 0.95, "accuracy {:.1} %\n{report}", 100.0 * accuracy);
}
