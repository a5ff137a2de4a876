//! Jobs with more than one rhythm, and rhythms beside something larger.

mod asked;

use asked::options;
use ftio_core::detect::detect;
use ftio_core::detect::detection::Detection;
use seeded_random::Random;
use sources::request::{Class, Mode, Request};
use sources::{InMemory, Job};

/// One burst: start, length, bytes.
type Burst = (f64, f64, f64);

fn nanoseconds(seconds: f64) -> i64 {
    (seconds * 1e9).round() as i64
}

fn detected(bursts: &[Burst]) -> Detection {
    let request = |&(start, length, bytes): &Burst| {
        Request::new(nanoseconds(start), nanoseconds(start + length), bytes as u64, Class::WriteSync)
    };
    let requests: Vec<Request> = bursts.iter().map(request).collect();
    let job = Job { ranks: Some(1), start: Some(0), complete: true, ..Job::default() };
    detect("job", InMemory { requests: &requests, job }, &options()).unwrap().detection
}

/// Two rhythms are right within 4 %.
fn holds(found: &Detection, period: f64) -> bool {
    found.periods.iter().any(|one| (one.period / period - 1.0).abs() < 0.04)
}

/// A little early or late: a share of ± `spread`.
fn about(random: &mut Random, spread: f64) -> f64 {
    1.0 + spread * (2.0 * random.unit() - 1.0)
}

#[test]
fn large_transfers_at_the_start_and_at_the_end_hide_nothing() {
    // Reads of the input, small outputs every 9.3 s, and one long output at the end.
    for outputs in [8, 12, 25] {
        for reads in 1..=3 {
            let mut bursts: Vec<Burst> =
                (0..reads).map(|i| [(0.1, 0.9, 1.3e10), (1.2, 0.6, 4.5e9), (3.1, 0.6, 7.8e9)][i]).collect();
            let mut random = Random::new(7);
            bursts.extend((0..outputs).map(|i| {
                let start = 10.6 + 9.34 * (f64::from(i) + 0.005 * about(&mut random, 1.0));
                (start, 0.78, 6.9e8)
            }));
            bursts.push((10.6 + 9.34 * f64::from(outputs) - 1.6, 5.8, 5.2e9));
            let found = detected(&bursts);
            let right = found.period.is_some_and(|period| (period / 9.34 - 1.0).abs() < 0.03);
            // Too little of the job may be left to say so; but never something else for sure.
            assert!(
                right || found.confidence < 0.9,
                "{outputs} outputs after {reads} reads: {:?} at {}",
                found.period,
                found.confidence
            );
            let shows = outputs >= 12 && reads <= 2;
            assert!(right || !shows, "{outputs} outputs after {reads} reads: {:?}", found.reasons);
        }
    }
}

#[test]
fn a_restart_with_another_period_has_both() {
    for (before, after, silence) in
        [(20.0, 11.0, 95.0), (9.0, 16.0, 40.0), (30.0, 14.0, 33.0), (24.5, 11.8, 70.0)]
    {
        let mut random = Random::new(3);
        let (mut bursts, mut at) = (Vec::new(), 4.0);
        for (period, count) in [(before, 10), (after, 12)] {
            for _ in 0..count {
                bursts.push((at, 2.0, 2e9));
                at += period * about(&mut random, 0.02);
            }
            at += silence;
        }
        let found = detected(&bursts);
        assert!(
            holds(&found, before) && holds(&found, after),
            "{before} s, {silence} s of silence, {after} s: {:?} {:?}",
            found.period,
            found.periods
        );
        assert_eq!(found.period, None, "one period for two");
    }
}

#[test]
fn a_fast_rhythm_that_waits_for_the_slow_one() {
    // After every checkpoint of 5 s, short outputs every 7.1 s until the next.
    let mut random = Random::new(5);
    let mut bursts = Vec::new();
    for i in 0..12 {
        let start = 10.0 + 44.0 * f64::from(i);
        bursts.push((start, 5.0, 2e10));
        let mut at = start + 5.0 + 6.5;
        while at + 0.7 < start + 44.0 {
            bursts.push((at, 0.6, 4e8));
            at += 7.1 * about(&mut random, 0.02);
        }
    }
    let found = detected(&bursts);
    assert!(holds(&found, 44.0) && holds(&found, 7.1), "{:?} {:?}", found.period, found.periods);
}

#[test]
fn bursts_within_phases_are_no_second_rhythm() {
    // Phases of six equal bursts, 5 s apart, which fill 60 % of the period.
    let burst = |i: usize| (50.0 * (i / 6) as f64 + 5.0 * (i % 6) as f64, 2.0, 2e9);
    let found = detected(&(0..72).map(burst).collect::<Vec<_>>());
    assert!(found.period.is_some_and(|period| (period / 50.0 - 1.0).abs() < 0.01), "{:?}", found.period);
    assert_eq!(found.periods.len(), 1, "{:?}", found.periods);
}

/// A checkpoint every `slow` seconds for a tenth of that, and outputs every `fast` seconds that begin anew
/// after each.
fn checkpoints_and_outputs(slow: f64, fast: f64, first: f64, count: usize, seed: u64) -> Vec<Burst> {
    let mut random = Random::new(seed);
    let (mut bursts, mut at) = (Vec::new(), 0.3 * fast);
    for i in 0..count {
        let start = first + slow * (i as f64 + 0.01 * (about(&mut random, 1.0) - 1.0));
        while at + 0.1 * fast < start {
            bursts.push((at, 0.1 * fast, 2e7));
            at += fast * about(&mut random, 0.02);
        }
        bursts.push((start, 0.1 * slow, 6e9));
        at = start + 0.1 * slow + 0.9 * fast;
    }
    bursts
}

#[test]
fn outputs_that_begin_anew_after_every_checkpoint_are_a_rhythm_of_their_own() {
    for (slow, fast, first) in [(104.0, 8.4, 71.0), (77.0, 7.5, 55.0), (49.0, 4.8, 29.0), (85.6, 8.45, 66.0)]
    {
        let wrong = (0..10).filter(|&seed| {
            let found = detected(&checkpoints_and_outputs(slow, fast, first, 14, seed));
            !(holds(&found, slow) && holds(&found, fast))
        });
        let wrong: Vec<u64> = wrong.collect();
        assert!(wrong.len() <= 1, "{slow} s and {fast} s: seeds {wrong:?}");
    }
}

#[test]
fn a_slower_first_epoch_is_no_second_rhythm_at_once() {
    // 20 batches, 1.9 s apart, then epochs of 20 batches, 0.27 s apart.
    let mut random = Random::new(5);
    let (mut bursts, mut at) = (Vec::new(), 31.0);
    for (batches, apart) in std::iter::once((20, 1.9)).chain((0..8).map(|_| (20, 0.27))) {
        for _ in 0..batches {
            bursts.push((at, 0.4 * apart, 3e8 * apart));
            at += apart * about(&mut random, 0.05);
        }
        at += 8.0;
    }
    let found = detected(&bursts);
    assert!(found.period.is_none_or(|period| (period / 1.9 - 1.0).abs() > 0.05), "{:?}", found.reasons);
}

/// Reads of so many bytes every `read` seconds, and writes every `write` seconds.
fn both_directions(read: (f64, u64), write: (f64, u64)) -> Detection {
    let mut requests = Vec::new();
    for ((period, bytes), class) in [(read, Class::ReadSync), (write, Class::WriteSync)] {
        let mut start = 1.0;
        while start < 120.0 {
            let end = start + 0.1 * period;
            requests.push(Request::new(nanoseconds(start), nanoseconds(end), bytes, class));
            start += period;
        }
    }
    let job = Job { ranks: Some(1), start: Some(0), complete: true, ..Job::default() };
    detect("both", InMemory { requests: &requests, job }, &options()).unwrap().detection
}

#[test]
fn reads_and_writes_have_rhythms_of_their_own() {
    let found = both_directions((0.5, 1 << 20), (6.0, 1 << 30));
    assert_eq!(found.mode, Mode::Write);
    let told: Vec<Option<Mode>> = found.periods.iter().map(|one| one.mode).collect();
    assert_eq!(told, [Some(Mode::Write), Some(Mode::Read)], "{:?}", found.periods);
    assert!(holds(&found, 0.5) && found.period.is_some_and(|period| (period - 6.0).abs() < 0.05));
    assert!(found.reasons.iter().any(|reason| reason.starts_with("reads have a rhythm of their own")));
    // The direction that moves more comes first.
    let found = both_directions((0.5, 1 << 30), (6.0, 1 << 30));
    assert_eq!((found.mode, found.periods[0].mode), (Mode::Read, Some(Mode::Read)));
    assert!(found.period.is_some_and(|period| (period - 0.5).abs() < 0.01), "{:?}", found.periods);
}

#[test]
fn one_rhythm_of_reads_and_writes_is_told_once() {
    let found = both_directions((6.0, 1 << 28), (6.0, 1 << 30));
    assert_eq!((found.periods.len(), found.periods[0].mode), (1, None), "{:?}", found.periods);
    assert!(found.reasons.contains(&"reads have the same rhythm".to_owned()), "{:?}", found.reasons);
    assert!(found.notes.is_empty(), "{:?}", found.notes);
    // Too little is not looked at.
    let found = both_directions((0.5, 1 << 10), (6.0, 1 << 30));
    assert_eq!(found.periods.len(), 1, "{:?}", found.periods);
}
