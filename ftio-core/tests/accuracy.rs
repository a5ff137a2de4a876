//! A few traces of each setting of the experiment in `docs/accuracy.md`, whose truth is known.
//! `scripts/bench accuracy` runs all of it.

mod asked;

use asked::options;
use ftio_core::detect::detection::Detection;
use ftio_core::detect::{Options, detect};
use ftio_core::estimate::kind::SignalKind;
use sources::content::Content;
use sources::request::{Class, Request};
use sources::{InMemory, Input, Job, OpenOptions, open, open_content};
use trace_generator::application::Application;
use trace_generator::experiment::settings;
use trace_generator::generated::{Generated, Truth};
use trace_generator::irregular::Irregular;
use trace_generator::random::Random;
use trace_generator::shape::Shape;
use trace_generator::verdict::{Verdict, verdict};
use trace_generator::write::{nanoseconds, recording};

fn run(generated: &Generated, frequency: Option<f64>) -> Detection {
    let requests: Vec<Request> = generated
        .writes
        .iter()
        .map(|write| {
            Request::new(nanoseconds(write.start), nanoseconds(write.end), write.bytes, Class::WriteSync)
        })
        .collect();
    let job = Job {
        ranks: Some(generated.ranks),
        start: Some(0),
        end: Some(nanoseconds(generated.duration)),
        complete: true,
        ..Job::default()
    };
    let options = Options { frequency, ..options() };
    detect("generated", InMemory { requests: &requests, job }, &options).unwrap().detection
}

/// Mean error of the settings of a table whose names contain `name`, 1 where no period was found; R_IO is
/// checked on the way.
fn mean_error(table: &str, name: &str, seeds: std::ops::Range<u64>) -> f64 {
    let mut errors = Vec::new();
    for setting in settings().iter().filter(|s| s.table == table && s.name.contains(name)) {
        for seed in seeds.clone() {
            let generated = setting.generate(seed);
            let truth = generated.truth.period.unwrap();
            let found = run(&generated, Some(1.0));
            errors.push(found.period.map_or(1.0, |period| (period / truth - 1.0).abs()));
            let share = found.characterization.r_io.unwrap() / generated.truth.r_io.unwrap();
            assert!((share - 1.0).abs() < 0.1, "{} {seed}: R_IO {share} of the truth", setting.name);
        }
    }
    assert!(!errors.is_empty(), "{table} {name}");
    errors.iter().sum::<f64>() / errors.len() as f64
}

#[test]
fn undisturbed_applications() {
    for compute in ["t_cpu 2 s", "t_cpu 11 s", "t_cpu 88 s"] {
        let error = mean_error("8a", compute, 0..4);
        assert!(error < 0.002, "{compute}: {error}");
    }
}

#[test]
fn desynchronised_ranks() {
    for (setting, allowed) in [("desynchronisation 5 s", 0.005), ("desynchronisation 22 s", 0.01)] {
        let error = mean_error("8b", setting, 20..28);
        assert!(error < allowed, "{setting}: {error}");
    }
}

#[test]
fn computing_times_that_vary() {
    for (setting, allowed) in [("jitter 0.5", 0.01), ("jitter 2", 0.01)] {
        let error = mean_error("8c", setting, 40..48);
        assert!(error < allowed, "{setting}: {error}");
    }
}

#[test]
fn signals_without_a_period() {
    for kind in Irregular::NOT_PERIODIC {
        let called = (60..72).filter(|&seed| !run(&kind.generate(seed), Some(1.0)).periodic).count();
        assert!(called >= 11, "{kind:?}: {called} of 12 called not periodic");
    }
}

/// A signal of a kind: the truth, and what is found.
fn judged(name: &str, seed: u64) -> (Truth, Detection) {
    let made = trace_generator::kinds::named(name).unwrap().generate(seed);
    let mut bytes = Vec::new();
    recording(&made.recording, &mut bytes).unwrap();
    let content = Content::from_bytes(name, bytes).unwrap();
    let mut opened = open_content(content, &OpenOptions::default()).unwrap();
    let source = opened.swap_remove(0).into_source().unwrap();
    (made.truth, detect(name, source, &options()).unwrap().detection)
}

/// A signal of a kind: its period, and what is found.
fn of_kind(name: &str, seed: u64) -> (Option<f64>, Detection) {
    let (truth, found) = judged(name, seed);
    (truth.period, found)
}

fn are_right(name: &str, seeds: &[u64]) {
    for &seed in seeds {
        let (truth, found) = judged(name, seed);
        let periods: Vec<f64> = found.periods.iter().map(|one| one.period).collect();
        let right = verdict(&truth, 0.03, found.period, &periods) == Verdict::Right;
        assert!(right, "{name} {seed}: {:?}, {periods:?} for {:?}", found.period, truth.period);
    }
}

/// Seeds for which a change of the period was once told: to the batches of a first epoch that is slow, or to
/// phases that take longer while others write.
#[test]
fn what_is_slow_for_a_while_does_not_change_the_period() {
    are_right("cold_first_epoch", &[65, 77, 129, 136, 176]);
    are_right("saturated", &[20, 62]);
}

/// Seeds for which neither epochs nor their batches once had half of the probability.
#[test]
fn epochs_and_their_batches_do_not_contradict_one_another() {
    are_right("cold_first_epoch", &[23, 69, 75, 175]);
}

/// Seeds for which the mean of some of the distances was once told, the longest being left out.
#[test]
fn a_few_late_phases_do_not_lengthen_the_period() {
    are_right("saturated", &[72, 101, 152]);
    are_right("late_ranks", &[5, 21]);
}

#[test]
fn a_few_samples_that_are_far_too_high_do_not_hide_the_period() {
    for seed in 0..5 {
        let (truth, found) = of_kind("u_glitches", seed);
        let (truth, period) = (truth.unwrap(), found.period.unwrap_or(0.0));
        assert!((period / truth - 1.0).abs() < 0.03, "{seed}: {period} for {truth}");
    }
}

/// Ranks that are late by more than a phase takes tear it apart, but all phases transfer the same.
#[test]
fn ranks_that_are_late_hide_no_period() {
    let is_right = |seed: &u64| {
        let (truth, found) = of_kind("late_ranks", *seed);
        found.period.is_some_and(|period| (period / truth.unwrap() - 1.0).abs() < 0.03)
    };
    let right = (0..80).filter(is_right).count();
    assert!(right >= 76, "{right} of 80");
}

/// The same phases, torn apart and equal, but at random instants: they have no period.
#[test]
fn late_ranks_of_phases_at_random_have_no_period() {
    let mut called = 0;
    for seed in 0..40 {
        let mut random = Random::new(seed);
        let (mut time, mut requests) = (5.0, Vec::new());
        for _ in 0..random.whole(10, 25) {
            let delays: Vec<f64> = (0..8).map(|_| random.exponential(3.0)).collect();
            for start in delays.iter().map(|delay| time + delay) {
                let (from, to) = (nanoseconds(start), nanoseconds(start + 1.5));
                requests.push(Request::new(from, to, 1 << 20, Class::WriteSync));
            }
            time += delays.iter().copied().fold(0.0, f64::max) + 1.5 + random.exponential(60.0);
        }
        let job = Job { ranks: Some(8), start: Some(0), complete: true, ..Job::default() };
        let found = detect("random", InMemory { requests: &requests, job }, &options()).unwrap();
        called += usize::from(found.detection.periodic);
    }
    assert!(called <= 2, "{called} of 40 have a period");
}

/// Kinds without a period, with seeds for which one was once given: the largest swell of a load that wanders
/// was taken for a transfer that hides a rhythm; distances that halve each time, for a drift.
#[test]
fn what_wanders_or_runs_away_has_no_period() {
    for (name, seeds) in [("random_walk_series", &[1, 10, 15][..]), ("u_last_minute", &[3, 6, 7, 11, 14])] {
        for &seed in seeds {
            let (_, found) = of_kind(name, seed);
            assert_eq!(found.period, None, "{name} {seed}: at {}", found.confidence);
        }
    }
}

#[test]
fn two_periods_are_both_reported() {
    for (kind, signal) in
        [(Irregular::Interleaved, SignalKind::Interleaved), (Irregular::Changing, SignalKind::Changing)]
    {
        let mut called = 0;
        for seed in 0..8 {
            let generated = kind.generate(seed);
            let found = run(&generated, None);
            let near =
                |period: &f64| found.periods.iter().any(|one| (one.period / period - 1.0).abs() < 0.05);
            called += usize::from(found.signal == signal && generated.truth.periods.iter().all(near));
            assert_eq!(found.periodic, found.period.is_some());
        }
        assert!(called >= 6, "{kind:?}: {called} of 8");
    }
}

#[test]
fn what_is_sure_is_right() {
    let (mut sure, mut wrong) = (0, 0);
    for seed in 200..240 {
        let application =
            Application { shape: Some(Shape::ALL[seed as usize % 10]), ..Application::default() };
        let application = match seed % 4 {
            0 => Application { jitter: 1.0, ..application },
            1 => Application { desync: 8.0, volume_spread: 0.2, ..application },
            2 => Application { iterations: 7, first_phase: 3.0, ..application },
            _ => Application { ranks: 4, phase: 2.0, compute: 40.0, ..application },
        };
        let generated = application.generate(seed);
        let found = run(&generated, None);
        if found.confidence >= 0.9 {
            sure += 1;
            // The period is that of the phases after a long first one.
            let starts = &generated.truth.starts[usize::from(seed % 4 == 2)..];
            let truth = (starts[starts.len() - 1] - starts[0]) / (starts.len() - 1) as f64;
            wrong += usize::from((found.period.unwrap() / truth - 1.0).abs() > 0.05);
        }
    }
    assert!(sure >= 20 && 20 * wrong <= sure, "{sure} of 40 sure, {wrong} of them wrong");
}

#[test]
fn nested_bursts_at_any_sampling_frequency() {
    // The trace `nested_4.jsonl` of `reference/`.
    let nested = Application {
        ranks: 4,
        iterations: 12,
        compute: 7.0,
        phase: 3.0,
        jitter: 0.05,
        shape: Some(Shape::SubBursts),
        ..Application::default()
    }
    .generate(2);
    let truth = nested.truth.period.unwrap();
    for frequency in [Some(1.0), Some(10.0), Some(100.0), None] {
        let found = run(&nested, frequency);
        assert!((found.period.unwrap() / truth - 1.0).abs() < 0.015, "{frequency:?}: {:?}", found.period);
        let evidence = found.evidence.unwrap();
        assert_eq!(evidence.phases, 12, "{frequency:?}");
        // Bursts are told of as in their phases, which take 3 s.
        assert!(evidence.inner.is_none_or(|inner| inner.mean_distance < 3.0), "{frequency:?}");
    }
}

#[test]
fn nested_bursts_of_a_real_run_at_any_sampling_frequency() {
    let test = "nested_bursts_of_a_real_run_at_any_sampling_frequency";
    let Some(path) = test_data::shared_or_skip(test, "traces/ftio/384.msgpack") else { return };
    let input = Input::Path(path);
    for frequency in [Some(1.0), Some(10.0), Some(100.0), None] {
        let opened = open(&input, &OpenOptions::default()).unwrap().pop().unwrap();
        let options = Options { frequency, ..options() };
        let found = detect("384", opened.into_source().unwrap(), &options).unwrap().detection;
        assert!((found.period.unwrap() / 10.14 - 1.0).abs() < 0.015, "{frequency:?}: {:?}", found.period);
        let evidence = found.evidence.unwrap();
        assert_eq!(evidence.phases, 8, "{frequency:?}");
        assert_eq!(evidence.inner.map(|inner| inner.bursts), Some(16), "{frequency:?}");
    }
}
