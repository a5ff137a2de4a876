//! Running jobs of eight kinds, cut in the quiet after k phases: how often is the next start foretold within
//! 10 % of the period, and how often does the 80 % interval hold it?

use ftio_core::detect::{Options, detect};
use ftio_core::request::{Class, Request};
use ftio_core::source::{InMemory, Job};
use seeded_random::Random;

const KINDS: [&str; 8] =
    ["even", "loose", "missing", "long first", "sub-bursts", "growing", "volumes", "skewed distances"];

/// A normal number, by twelve uniform ones.
fn normal(random: &mut Random) -> f64 {
    (0..12).map(|_| random.unit()).sum::<f64>() - 6.0
}

/// Bursts of a phase: offset, length, bytes.
type Bursts = Vec<(f64, f64, u64)>;

/// Starts of 20 phases, the bursts of each, and the period.
fn job(kind: &str, random: &mut Random) -> (Vec<f64>, Vec<Bursts>, f64) {
    let period = 5.0 * (4.0 * random.unit()).exp2();
    let duty = 0.08 + 0.25 * random.unit();
    let mut at = period * random.unit();
    let (mut starts, mut phases) = (Vec::new(), Vec::new());
    let bursts = 3 + (4.0 * random.unit()) as usize;
    let mut slot = 0;
    while starts.len() < 20 {
        let mut length = duty * period;
        let mut factor = 1.0;
        let mut distance = period * (1.0 + 0.02 * normal(random));
        match kind {
            "loose" => distance = period * (1.0 + 0.15 * normal(random)).max(duty + 0.1),
            "long first" if slot == 0 => {
                factor = 2.5 + 1.5 * random.unit();
                length *= factor;
                distance += (factor - 1.0) * duty * period;
            }
            "growing" => distance = period * 1.02f64.powi(slot) * (1.0 + 0.01 * normal(random)),
            "volumes" => factor = (0.5 * normal(random)).exp(),
            "skewed distances" => distance = period * (0.85 - 0.15 * (1.0 - random.unit()).ln()),
            _ => {}
        }
        if !(kind == "missing" && slot > 0 && random.unit() < 0.12) {
            let bytes = 1e9 * factor;
            let phase = if kind == "sub-bursts" {
                let each = length / bursts as f64;
                (0..bursts).map(|i| (i as f64 * each, 0.5 * each, (bytes / bursts as f64) as u64)).collect()
            } else {
                vec![(0.0, length, bytes as u64)]
            };
            starts.push(at);
            phases.push(phase);
        }
        at += distance;
        slot += 1;
    }
    (starts, phases, period)
}

/// Was it within reach, was it in the interval, and how wide is that in periods?
fn foretold(kind: &str, k: usize, random: &mut Random) -> (bool, bool, f64) {
    let (starts, phases, period) = job(kind, random);
    let end = phases[k - 1].iter().map(|burst| starts[k - 1] + burst.0 + burst.1).fold(0.0, f64::max);
    let now = end + (starts[k] - end) * (0.1 + 0.5 * random.unit());
    let second = |time: f64| (time * 1e9).round() as i64;
    let mut requests = Vec::new();
    for (start, phase) in starts.iter().zip(&phases).take(k) {
        requests.extend(phase.iter().map(|&(offset, length, bytes)| {
            Request::new(second(start + offset), second(start + offset + length), bytes, Class::WriteSync)
        }));
    }
    let job =
        Job { ranks: Some(1), start: Some(0), end: Some(second(now)), complete: false, ..Job::default() };
    let found = detect(kind, InMemory { requests: &requests, job }, &Options::default()).unwrap().detection;
    let Some(next) = found.next_phase else { return (false, false, f64::INFINITY) };
    assert!(
        next.start >= now - 1e-3 && next.start_low <= next.start_high && next.end >= next.start,
        "{next:?}"
    );
    let held = (next.start_low..=next.start_high).contains(&starts[k]);
    ((next.start - starts[k]).abs() <= 0.1 * period, held, (next.start_high - next.start_low) / period)
}

#[test]
fn the_next_start_from_the_second_phase_on() {
    const EACH: usize = 24;
    let must_be = [(2, 0.55), (3, 0.65), (4, 0.77), (5, 0.78), (8, 0.78), (16, 0.81)];
    for (k, least) in must_be {
        let mut random = Random::new(100 + k as u64);
        let (mut near, mut held) = (0, 0);
        let mut even = Vec::new();
        let mut table = String::new();
        for kind in KINDS {
            let mut of_kind = 0;
            for _ in 0..EACH {
                let (is_near, is_held, width) = foretold(kind, k, &mut random);
                of_kind += usize::from(is_near);
                held += usize::from(is_held);
                if kind == "even" {
                    even.push(width);
                }
            }
            near += of_kind;
            table.push_str(&format!(" {kind} {of_kind}/{EACH}"));
        }
        even.sort_by(f64::total_cmp);
        let all = (KINDS.len() * EACH) as f64;
        let (near, held, width) = (near as f64 / all, held as f64 / all, even[even.len() / 2]);
        println!("after {k}: {near:.2} within reach, {held:.2} held, even ones {width:.2} T wide;{table}");
        assert!(near >= least, "after {k}: {near} of the next starts;{table}");
        assert!((0.72..=0.92).contains(&held), "after {k}: {held} held");
        assert!(k < 4 || width <= 0.5, "after {k}: {width} T wide");
    }
}

/// A job of more phases than bins: its period is known to a part of a thousandth, its last phase is one of
/// very many.
#[test]
fn the_next_start_of_a_job_of_many_phases() {
    let mut random = Random::new(5);
    for (count, period) in [(20_000, 9.7), (70_000, 3.1)] {
        let mut held = 0;
        for part in [0.35, 0.55, 0.8] {
            let mut at = 2.0;
            let mut requests = Vec::with_capacity(count);
            for _ in 0..count {
                let second = |time: f64| (time * 1e9).round() as i64;
                requests.push(Request::new(second(at), second(at + 0.2 * period), 1 << 30, Class::WriteSync));
                at += period * (1.0 + 0.02 * normal(&mut random));
            }
            // The job is between two phases.
            let last = requests[count - 1].start as f64 / 1e9;
            let now = last + (at - last) * part;
            let end = Some((now * 1e9) as i64);
            let job = Job { ranks: Some(1), start: Some(0), end, complete: false, ..Job::default() };
            let source = InMemory { requests: &requests, job };
            let found = detect("long", source, &Options::default()).unwrap().detection;
            let answer = found.period.unwrap_or_else(|| panic!("{count} phases: {:?}", found.reasons));
            assert!((answer / period - 1.0).abs() < 0.01, "{count} phases: {answer}");
            let next = found.next_phase.unwrap_or_else(|| panic!("{count} phases: {found:?}"));
            assert!(next.start >= now - 1e-3 && next.start <= now + 1.1 * period, "{next:?} at {now}");
            assert!(next.start_high - next.start_low <= 1.1 * period, "{next:?}");
            held += usize::from((next.start_low..=next.start_high).contains(&at));
        }
        // With more phases, the bins in which the end of the job is known are as wide as the period.
        let known = count <= 20_000;
        assert!(held >= 2 || !known, "{count} phases: {held} of 3 next starts within their intervals");
    }
}
