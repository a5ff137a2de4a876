//! Running jobs of eight kinds, cut in the quiet after k phases: how often is the next start foretold within
//! 10 % of the period, and how often does the 80 % interval hold it?

mod asked;

use asked::options;
use ftio_core::detect::detect;
use seeded_random::Random;
use sources::request::{Class, Request};
use sources::{InMemory, Job};
use trace_generator::generated::Write;
use trace_generator::running::{KINDS, Running, running};

/// A normal number, by twelve uniform ones.
fn normal(random: &mut Random) -> f64 {
    (0..12).map(|_| random.unit()).sum::<f64>() - 6.0
}

/// Was it within reach, was it in the interval, and how wide is that in periods?
fn foretold(kind: &str, k: usize, random: &mut Random) -> (bool, bool, f64) {
    let Running { writes, now, next: truth, period, .. } = running(kind, k, random);
    let second = |time: f64| (time * 1e9).round() as i64;
    let request =
        |write: &Write| Request::new(second(write.start), second(write.end), write.bytes, Class::WriteSync);
    let requests: Vec<Request> = writes.iter().map(request).collect();
    let job =
        Job { ranks: Some(1), start: Some(0), end: Some(second(now)), complete: false, ..Job::default() };
    let found = detect(kind, InMemory { requests: &requests, job }, &options()).unwrap().detection;
    let Some(next) = found.next_phase else { return (false, false, f64::INFINITY) };
    assert!(
        next.start >= now - 1e-3 && next.start_low <= next.start_high && next.end >= next.start,
        "{next:?}"
    );
    let held = (next.start_low..=next.start_high).contains(&truth);
    ((next.start - truth).abs() <= 0.1 * period, held, (next.start_high - next.start_low) / period)
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
            let found = detect("long", source, &options()).unwrap().detection;
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
