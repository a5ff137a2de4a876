//! Signals whose answer is known, through the whole analysis.

mod asked;

use asked::options;
use ftio_core::detect::detection::Detection;
use ftio_core::detect::{Analysis, Options, detect};
use ftio_core::estimate::kind::SignalKind;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use sources::request::{Class, Mode, Request};
use sources::{InMemory, Job};
use std::f64::consts::TAU;

const SECOND: i64 = 1_000_000_000;

fn request(start: f64, length: f64, bytes: u64) -> Request {
    let start = (start * 1e9) as i64;
    Request::new(start, start + (length * 1e9) as i64, bytes, Class::WriteSync)
}

fn analyse(requests: &[Request], seconds: i64, options: &Options) -> Analysis {
    let job =
        Job { ranks: Some(4), start: Some(0), end: Some(seconds * SECOND), complete: true, ..Job::default() };
    detect("test", InMemory { requests, job }, options).unwrap()
}

fn run(requests: &[Request], seconds: i64) -> Detection {
    analyse(requests, seconds, &options()).detection
}

/// Numbers between 0 and 1 that are the same in every run.
fn random(seed: u64) -> impl FnMut() -> f64 {
    let mut state = seed;
    move || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// One short request every 10 ms, with the volume of a bandwidth that varies in time.
fn shaped(seconds: i64, bandwidth: impl Fn(f64) -> f64) -> Vec<Request> {
    let slice = |i: i64| {
        let t = i as f64 / 100.0;
        request(t, 0.01, (bandwidth(t + 0.005) / 100.0) as u64)
    };
    (0..seconds * 100).map(slice).collect()
}

fn assert_period(found: &Detection, period: f64, tolerance: f64) {
    let error = (found.period.unwrap_or(f64::NAN) - period).abs() / period;
    assert!(error <= tolerance, "period {:?} instead of {period}: {found:#?}", found.period);
    assert!((found.frequency.unwrap() * found.period.unwrap() - 1.0).abs() < 1e-12);
    assert!(found.periodic && found.confidence > 0.0 && found.confidence <= 1.0);
    assert_eq!(found.abstraction_error, 0.0);
}

#[test]
fn a_cosine() {
    let found = run(&shaped(100, |t| 1e9 * (1.5 + (TAU * t / 8.0).cos())), 100);
    assert_period(&found, 8.0, 1e-3);
    assert_eq!(found.signal, SignalKind::Wave);
    assert!(found.confidence > 0.5);
}

#[test]
fn bursts_of_all_ranks() {
    // Four ranks, each writing 2 s out of every 9.7 s: a period that fits no window.
    let requests: Vec<Request> =
        (0..80).map(|i| request(f64::from(i / 4) * 9.7 + 5.0, 2.0, 1 << 30)).collect();
    let found = run(&requests, 200);
    assert_period(&found, 9.7, 2e-3);
    assert_eq!(found.signal, SignalKind::Bursts);
    assert_eq!(found.total_bytes, 80 << 30);
    let c = found.characterization;
    assert!((c.b_io.unwrap() / (2u64 << 30) as f64 - 1.0).abs() < 0.1, "{c:?}");
    assert!((c.r_io.unwrap() - 0.2).abs() < 0.02 && c.sigma_vol.unwrap() < 0.02, "{c:?}");
    assert!(c.periodicity_score.unwrap() > 0.9, "{c:?}");
    assert!((c.bytes_per_period.unwrap() / (4u64 << 30) as f64 - 1.0).abs() < 0.05, "{c:?}");
    let next = found.next_phase.unwrap();
    // The last burst starts at 19 · 9.7 + 5 = 189.3, the next at 199 (which is before the end of the job),
    // then 208.7.
    assert!((next.start - 208.7).abs() < 0.3 && (next.end - next.start - 2.0).abs() < 0.5, "{next:?}");
    assert!((next.bytes as f64 / (4u64 << 30) as f64 - 1.0).abs() < 0.05, "{next:?}");
}

#[test]
fn very_short_bursts_have_many_equal_harmonics() {
    let requests: Vec<Request> = (0..30).map(|i| request(f64::from(i) * 10.0 + 4.0, 0.05, 1 << 20)).collect();
    let found = run(&requests, 300);
    assert_period(&found, 10.0, 1e-3);
    assert_eq!(found.signal, SignalKind::Bursts);
    assert_eq!(found.candidates.len(), 1);
    assert!(!found.harmonics.is_empty());
}

#[test]
fn bursts_that_come_early_and_late() {
    for seed in 1..20 {
        let mut random = random(seed);
        let mut start = 3.0;
        let mut starts = Vec::new();
        for _ in 0..15 {
            starts.push(start);
            start += 20.0 * (0.95 + 0.1 * random());
        }
        let requests: Vec<Request> = starts.iter().map(|&start| request(start, 4.0, 1 << 30)).collect();
        let mean = (starts[14] - starts[0]) / 14.0;
        let found = run(&requests, start as i64);
        assert_period(&found, mean, 0.02);
    }
}

#[test]
fn the_sampling_frequency_does_not_matter() {
    let requests: Vec<Request> = (0..12).map(|i| request(f64::from(i) * 7.3, 1.1, 1 << 28)).collect();
    for frequency in [2.0, 10.0, 33.3, 100.0, 1000.0] {
        let options = Options { frequency: Some(frequency), ..options() };
        let found = analyse(&requests, 88, &options).detection;
        assert_period(&found, 7.3, 0.01);
        assert!((found.sampling_frequency.unwrap() / frequency - 1.0).abs() < 1e-6);
    }
}

#[test]
fn constant_bandwidth_is_not_periodic() {
    for requests in [shaped(60, |_| 1e9), vec![request(0.0, 60.0, 1 << 40)]] {
        let found = run(&requests, 60);
        assert_eq!((found.signal, found.periodic, found.period), (SignalKind::Constant, false, None));
        assert_eq!(found.confidence, 0.0);
    }
}

#[test]
fn noise_is_never_trusted() {
    // The published confidence of a single candidate is at least one half; noise must stay close to that.
    for seed in 0..8 {
        let mut random = random(seed);
        let noise: Vec<f64> = (0..6000).map(|_| random()).collect();
        let white = shaped(60, |t| 1e9 * noise[(t * 100.0) as usize]);
        let shots: Vec<Request> =
            (0..2000).map(|_| request(600.0 * random(), 0.5 * random(), (1e7 * random()) as u64)).collect();
        for found in [run(&white, 60), run(&shots, 600)] {
            assert!(found.confidence < 0.6, "{found:#?}");
            assert!(found.signal != SignalKind::Constant && found.signal != SignalKind::Empty);
        }
    }
}

#[test]
fn any_number_of_periods_in_the_window() {
    // Also half-integer ones, where the fundamental falls between two bins and its second harmonic on one.
    for duty in [0.02, 0.05, 0.2, 0.5] {
        for tenths in (40..160).step_by(15) {
            let seconds = tenths;
            let requests: Vec<Request> =
                (0..=tenths / 10).map(|i| request(10.0 * i as f64 + 0.3, 10.0 * duty, 1 << 30)).collect();
            let inside: Vec<Request> =
                requests.into_iter().filter(|request| request.end <= seconds * SECOND).collect();
            let found = run(&inside, seconds);
            assert_period(&found, 10.0, 0.02);
        }
    }
}

#[test]
fn one_or_two_bursts_are_not_a_period() {
    for count in 1..=2 {
        let requests: Vec<Request> =
            (0..count).map(|i| request(f64::from(i) * 50.0 + 20.0, 3.0, 1 << 30)).collect();
        let found = run(&requests, 100);
        assert!(!found.periodic, "{count}: {found:#?}");
        assert_eq!(found.signal, SignalKind::Irregular);
        // From the second phase on there is a guess, and it is called one.
        assert_eq!(found.next_phase.map(|next| next.provisional), (count == 2).then_some(true), "{found:#?}");
    }
}

#[test]
fn an_empty_mode_says_so() {
    let requests = [request(1.0, 1.0, 100)];
    let options = Options { mode: Some(Mode::ReadAsync), autocorrelation: true, top: 3, ..options() };
    for list in [&requests[..], &[]] {
        let found = analyse(list, 10, &options).detection;
        assert_eq!((found.signal, found.period, found.n_samples), (SignalKind::Empty, None, 0));
        assert_eq!(found.mode, Mode::ReadAsync);
        assert!(found.notes.iter().any(|note| note.contains("read_async")), "{:?}", found.notes);
    }
}

#[test]
fn a_window_is_cut_out() {
    // Period 5 s in the first 100 s, 8 s in the next.
    let mut requests: Vec<Request> = (0..20).map(|i| request(f64::from(i) * 5.0, 1.0, 1 << 30)).collect();
    requests.extend((0..12).map(|i| request(100.0 + f64::from(i) * 8.0, 1.0, 1 << 30)));
    let at = |from, to| analyse(&requests, 200, &Options { from, to, ..options() }).detection;
    let (first, second) = (at(None, Some(100.0)), at(Some(100.0), Some(196.0)));
    assert_period(&first, 5.0, 0.01);
    assert_period(&second, 8.0, 0.01);
    assert_eq!((second.t_start, second.t_end), (100.0, 196.0));
    assert_eq!((first.total_bytes, second.total_bytes), (20 << 30, 12 << 30));
    let nothing = at(Some(500.0), None);
    assert_eq!((nothing.signal, nothing.period), (SignalKind::Empty, None));
}

#[test]
fn a_long_first_phase_can_be_skipped() {
    let mut requests = vec![request(0.0, 30.0, 30 << 30)];
    requests.extend((0..10).map(|i| request(40.0 + f64::from(i) * 10.0, 2.0, 2 << 30)));
    let options = Options { skip_first_phase: true, ..options() };
    let found = analyse(&requests, 140, &options).detection;
    assert_period(&found, 10.0, 0.01);
    assert!((found.t_start - 30.0).abs() < 0.5);
    assert!((found.total_bytes as f64 / (20u64 << 30) as f64 - 1.0).abs() < 1e-6);
}

#[test]
fn autocorrelation_agrees_on_regular_bursts() {
    let requests: Vec<Request> = (0..20).map(|i| request(f64::from(i) * 6.0, 1.5, 1 << 30)).collect();
    let options = Options { autocorrelation: true, top: 5, ..options() };
    let found = analyse(&requests, 120, &options).detection;
    let acf = found.autocorrelation.unwrap();
    assert!((acf.period - 6.0).abs() < 0.1, "{acf:?}");
    let expected = (found.confidence + acf.confidence + acf.similarity.unwrap()) / 3.0;
    assert!((found.refined_confidence.unwrap() - expected).abs() < 1e-12);
    assert!(found.refined_confidence.unwrap() > found.evidence.unwrap().spectrum_confidence);
    assert_eq!(found.top_frequencies.len(), 5);
    assert!((1.0 / found.top_frequencies[0].frequency - 6.0).abs() < 0.1);
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 16,
        rng_seed: RngSeed::Fixed(1),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn any_requests_give_a_sound_answer(
        list in prop::collection::vec((any::<i64>(), any::<i64>(), any::<u64>()), 0..20),
        small in prop::collection::vec((-5_000i64..50_000, -10i64..500, 0u64..1000), 0..50),
        end in any::<Option<i64>>(),
    ) {
        for divisor in [1, 1 << 20, 1 << 40] {
            let wild = list.iter().map(|&(s, e, b)| (s / divisor, e / divisor, b));
            let tame = small.iter().map(|&(s, d, b)| (s, s + d, b));
            let requests: Vec<Request> = wild
                .chain(tame)
                .map(|(start, end, bytes)| Request::new(start, end, bytes, Class::ReadSync))
                .collect();
            let job = Job { ranks: Some(1), start: Some(0), end, complete: false, ..Job::default() };
            let options = Options { autocorrelation: true, top: 3, ..options() };
            let found = detect("wild", InMemory { requests: &requests, job }, &options).unwrap().detection;
            prop_assert!((0.0..=1.0).contains(&found.confidence));
            prop_assert!(found.period.is_none_or(|period| period > 0.0 && period.is_finite()));
            prop_assert!(found.n_samples <= 1 << 17, "{}", found.n_samples);
        }
    }

    #[test]
    fn the_order_of_requests_does_not_matter(
        mut list in prop::collection::vec((0i64..60_000, 1i64..500, 1u64..1000), 20..80),
    ) {
        let run = |list: &[(i64, i64, u64)]| {
            let requests: Vec<Request> = list
                .iter()
                .map(|&(s, d, b)| Request::new(s * 1000, (s + d) * 1000, b, Class::WriteSync))
                .collect();
            let job = Job { ranks: Some(1), ..Job::default() };
            detect("order", InMemory { requests: &requests, job }, &options()).unwrap().detection
        };
        let one = run(&list);
        list.reverse();
        prop_assert_eq!(one, run(&list));
    }
}
