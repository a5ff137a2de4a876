//! The predictor on jobs whose truth is known.

use super::*;
use sources::request::Class;

/// A job: when its phases begin and how long they take. It flushes at the end of each phase.
fn run(rule: WindowRule, phases: &[(f64, f64)]) -> Vec<Prediction> {
    run_flushing(rule, phases, phases.iter().map(|(start, length)| start + length))
}

/// The same with flushes at any times. A flush tells of all requests that have ended.
fn run_flushing(
    rule: WindowRule,
    phases: &[(f64, f64)],
    flushes: impl IntoIterator<Item = f64>,
) -> Vec<Prediction> {
    let options = PredictOptions { window: rule, ..PredictOptions::default() };
    let mut predictor = Predictor::new("test", options);
    // Ten requests a phase.
    let requests: Vec<Request> = phases
        .iter()
        .flat_map(|&(start, length)| {
            (0..10).map(move |i| {
                let at = |part: i32| nanoseconds(start + length * f64::from(part) / 10.0);
                Request::new(at(i), at(i + 1), 1 << 24, Class::WriteSync)
            })
        })
        .collect();
    let mut given = 0;
    let mut predictions = Vec::new();
    for flush in flushes {
        let until = nanoseconds(flush);
        let known = requests.iter().filter(|request| request.end <= until).count();
        predictor.add(&requests[given..known]);
        given = known;
        predictions.push(predictor.predict(until));
    }
    predictions
}

fn every(period: f64, count: usize, from: f64) -> Vec<(f64, f64)> {
    (0..count).map(|i| (from + period * i as f64, 0.25 * period)).collect()
}

fn error(prediction: &Prediction, truth: f64) -> f64 {
    prediction.period.map_or(f64::INFINITY, |period| (period / truth - 1.0).abs())
}

#[test]
fn the_window_adapts_and_the_period_is_right() {
    let predictions = run(WindowRule::default(), &every(10.0, 20, 5.0));
    let shortened = predictions.iter().position(|prediction| prediction.window[0] > 0.0).unwrap();
    assert!(shortened <= 7, "{shortened}");
    for prediction in &predictions[4..] {
        assert!(error(prediction, 10.0) < 0.005, "{prediction:?}");
        let next = prediction.next_phase.unwrap();
        assert!((next.start - (prediction.t + 7.5)).abs() < 0.5, "{prediction:?}");
        assert!((next.end - next.start - 2.5).abs() < 0.5, "{prediction:?}");
        assert!((next.bytes as f64 / (10 << 24) as f64 - 1.0).abs() < 0.25, "{prediction:?}");
        assert!(!prediction.changed);
        let length = prediction.window[1] - prediction.window[0];
        assert!(length < 85.0, "{prediction:?}");
    }
}

/// The run of III-B c: ten phases 7.7 s apart, the first of which takes so long that the second begins 16.7 s
/// after it.
#[test]
fn a_delayed_first_phase_is_forgotten() {
    let mut phases = vec![(4.1, 11.2)];
    phases.extend((0..9).map(|i| (20.8 + 7.7 * f64::from(i), 2.5)));
    let predictions = run(WindowRule::default(), &phases);
    let last = predictions.last().unwrap();
    assert!(error(last, 7.7) < 0.005, "{last:?}");
    let found: Vec<f64> = predictions.iter().filter_map(|prediction| prediction.period).collect();
    let mean = found.iter().sum::<f64>() / found.len() as f64;
    assert!(found.len() >= 7 && (mean / 7.7 - 1.0).abs() < 0.01, "{mean}: {found:?}");
    assert!(last.window[0] > 15.3, "the first phase is out of sight: {last:?}");
}

#[test]
fn a_change_of_the_period_resets_the_window() {
    let cases = [
        (WindowRule::default(), 10.0, 4.0),
        (WindowRule::default(), 0.02, 0.05),
        (WindowRule::Change, 10.0, 25.0),
        (WindowRule::Change, 1000.0, 650.0),
        (WindowRule::Periods(5.0), 10.0, 16.0),
    ];
    for (rule, before, after) in cases {
        let mut phases = every(before, 15, 0.0);
        phases.extend(every(after, 12, 15.0 * before));
        let predictions = run(rule, &phases);
        let case = format!("{rule:?}, from {before} s to {after} s");
        let first = predictions.iter().find(|prediction| prediction.changed);
        let first = first.unwrap_or_else(|| panic!("{case}: not noticed"));
        let late = 15.0 * before + 10.0 * f64::max(before, after);
        assert!(first.t > 15.0 * before && first.t < late, "{case}: {first:?}");
        assert!((first.change.unwrap().before / before - 1.0).abs() < 0.05, "{case}: {first:?}");
        let last = predictions.last().unwrap();
        assert!(error(last, after) < 0.03, "{case}: {last:?}");
        assert!(last.window[0] >= 14.0 * before, "{case}: {last:?}");
    }
}

#[test]
fn flushes_at_any_time() {
    let phases = every(10.0, 30, 3.0);
    let predictions = run_flushing(WindowRule::default(), &phases, (1..75).map(|i| 4.0 * f64::from(i)));
    let late = &predictions[25..];
    let right = late.iter().filter(|prediction| error(prediction, 10.0) < 0.05).count();
    assert!(right as f64 > 0.95 * late.len() as f64, "{right} of {}", late.len());
    let changes = predictions.iter().filter(|prediction| prediction.changed).count();
    assert_eq!(changes, 0);
    let last = predictions.last().unwrap();
    assert!(last.probability_periodic > 0.8, "{last:?}");
    assert!(last.intervals[0].probability > 0.8, "{:?}", last.intervals);
    assert!(last.intervals[0].low <= 10.0 && last.intervals[0].high >= 9.99, "{:?}", last.intervals);
}

#[test]
fn a_late_first_phase_delays_nothing() {
    let predictions = run(WindowRule::default(), &every(10.0, 8, 35.0));
    assert!(predictions[4..].iter().all(|prediction| error(prediction, 10.0) < 0.01), "{predictions:?}");
}

#[test]
fn no_data_and_one_burst() {
    let mut predictor = Predictor::new("x", PredictOptions::default());
    let nothing = predictor.predict(5_000_000_000);
    assert_eq!((nothing.period, nothing.confidence, nothing.t), (None, 0.0, 5.0));
    predictor.add(&[Request::new(0, 1_000_000_000, 100, Class::ReadSync)]);
    let one = predictor.predict(6_000_000_000);
    assert_eq!((one.period, one.mode, one.n, one.total_bytes), (None, sources::request::Mode::Read, 2, 100));
    // Times that go backwards, or nowhere.
    assert_eq!(predictor.predict(0).period, None);
    assert_eq!(predictor.predict(-1).period, None);
}

#[test]
fn the_same_calls_give_the_same_answers() {
    let phases = every(3.0, 12, 1.0);
    assert_eq!(run(WindowRule::Change, &phases), run(WindowRule::Change, &phases));
}

#[test]
fn a_shortened_window_begins_between_phases() {
    let phases = every(0.8, 14, 0.3);
    for part in [0.1, 0.35, 0.55, 0.75, 0.95] {
        let flushes = phases.iter().map(|(start, length)| start + part * length);
        let predictions = run_flushing(WindowRule::default(), &phases, flushes);
        let shortened = predictions.iter().filter(|prediction| prediction.window[0] > 0.0);
        assert!(shortened.clone().count() >= 5);
        for prediction in shortened {
            let from = prediction.window[0];
            let cut =
                phases.iter().any(|(start, length)| from > start + 1e-3 && from < start + length - 1e-3);
            assert!(!cut, "{part}: a window from {from}");
            assert!(error(prediction, 0.8) < 0.002, "{part}: {prediction:?}");
        }
    }
}
