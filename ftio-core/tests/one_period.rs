//! Whoever asks for the period of a window gets the same one, to the last digit: a detection, a detection of
//! that window alone, its segments over time, a prediction at the end of it, and a scheduler, which asks for
//! periods of a second or more.

mod asked;

use asked::options;
use ftio_core::detect::{Analysis, Options, detect};
use ftio_core::predict::{PredictOptions, Predictor, WindowRule};
use seeded_random::Random;
use sources::request::{Class, Request};
use sources::{InMemory, Job};

const SECOND: f64 = 1e9;

/// A request of a second or so.
fn burst(start: f64, length: f64) -> Request {
    let (from, to) = ((start * SECOND).round(), ((start + length) * SECOND).round());
    Request::new(from as i64, to as i64, 123_456_789, Class::WriteSync)
}

/// Starts of phases, and the end of the job.
struct Trace {
    name: &'static str,
    requests: Vec<Request>,
    end: f64,
    /// Sampling frequency.
    frequency: Option<f64>,
}

fn traces() -> Vec<Trace> {
    let mut random = Random::new(7);
    let mut trace = |name, starts: Vec<f64>, end, frequency| {
        let requests = starts.iter().map(|&start| burst(start, 0.7 + 0.2 * random.unit())).collect();
        Trace { name, requests, end, frequency }
    };
    let mut jitter = Random::new(11);
    let mut at = 0.0;
    let mut random_starts = Vec::new();
    for _ in 0..30 {
        at += 1.0 - 8.0 * (1.0 - jitter.unit()).ln();
        random_starts.push(at);
    }
    let end_of_random = at + 3.0;
    vec![
        trace("regular", (0..24).map(|i| 2.37 + 10.013 * f64::from(i)).collect(), 247.3, None),
        trace("irregular", random_starts, end_of_random, None),
        trace(
            "changing",
            (0..20)
                .map(|i| 1.0 + 6.1 * f64::from(i))
                .chain((0..20).map(|i| 130.0 + 15.3 * f64::from(i)))
                .collect(),
            440.0,
            None,
        ),
        trace("coarse", (0..40).map(|i| 3.0 + 12.5 * f64::from(i)).collect(), 512.0, Some(0.5)),
    ]
}

fn detected(trace: &Trace, window: (Option<f64>, Option<f64>), over_time: bool) -> Analysis {
    let end = Some((trace.end * SECOND) as i64);
    let job = Job { ranks: Some(1), start: Some(0), end, complete: true, ..Job::default() };
    let options =
        Options { from: window.0, to: window.1, frequency: trace.frequency, over_time, ..options() };
    detect(trace.name, InMemory { requests: &trace.requests, job }, &options).unwrap()
}

/// Period and confidence, to the last bit.
fn answer(period: Option<f64>, confidence: f64) -> (Option<u64>, u64) {
    (period.map(f64::to_bits), confidence.to_bits())
}

fn of_detection(analysis: &Analysis) -> (Option<u64>, u64) {
    answer(analysis.detection.period, analysis.detection.confidence)
}

#[test]
fn a_window_that_is_the_whole_job_changes_nothing() {
    for trace in traces() {
        let whole = of_detection(&detected(&trace, (None, None), false));
        let asked = of_detection(&detected(&trace, (Some(0.0), Some(trace.end)), false));
        assert_eq!(whole, asked, "{}", trace.name);
    }
}

#[test]
fn every_segment_has_the_period_of_a_detection_of_it_alone() {
    for trace in traces() {
        let whole = detected(&trace, (None, None), true);
        let over_time = whole.detection.over_time.as_ref().unwrap();
        assert!(trace.name != "changing" || over_time.segments.len() > 1, "{over_time:?}");
        for segment in over_time.segments.iter().chain(&over_time.windows) {
            let alone = of_detection(&detected(&trace, (Some(segment.start), Some(segment.end)), false));
            let here = answer(segment.period, segment.confidence);
            assert_eq!(here, alone, "{} {segment:?}", trace.name);
        }
        if let [one] = over_time.segments[..] {
            assert_eq!(answer(one.period, one.confidence), of_detection(&whole), "{}", trace.name);
        }
    }
}

#[test]
fn every_prediction_has_the_period_of_a_detection_of_its_window() {
    for trace in traces() {
        for window in [WindowRule::All, WindowRule::default()] {
            let detect = Options { frequency: trace.frequency, ..options() };
            let asked = Options { min_period: Some(1.0), ..detect.clone() };
            let mut predictor = Predictor::new(trace.name, PredictOptions { detect, window });
            let mut scheduler = Predictor::new(trace.name, PredictOptions { detect: asked, window });
            let mut with_period = 0;
            for (i, request) in trace.requests.iter().enumerate() {
                predictor.add(std::slice::from_ref(request));
                let prediction = predictor.predict(request.end);
                let [from, to] = prediction.window;
                let until = Trace {
                    requests: trace.requests[..=i].to_vec(),
                    end: to,
                    name: trace.name,
                    frequency: trace.frequency,
                };
                let alone = of_detection(&detected(&until, (Some(from), Some(to)), false));
                let here = answer(prediction.period, prediction.confidence);
                scheduler.add(std::slice::from_ref(request));
                let scheduled = scheduler.predict(request.end);
                let scheduled = answer(scheduled.period, scheduled.confidence);
                assert_eq!(scheduled, here, "{} {window:?} at {to}: {prediction:?}", trace.name);
                assert_eq!(here, alone, "{} {window:?} at {to}: {prediction:?}", trace.name);
                with_period += usize::from(prediction.period.is_some());
            }
            assert!(
                trace.name == "irregular" || with_period > 10,
                "{} {window:?}: {with_period}",
                trace.name
            );
        }
    }
}

/// A quantity that a monitor samples every `step` seconds: phases of 4 s every 10 s, and a little of
/// everything in between.
fn samples(step: f64, count: usize) -> Vec<Request> {
    let mut random = Random::new(3);
    let mut busy = |from: f64| {
        let parts = 40;
        let inside =
            (0..parts).filter(|i| (from + step * f64::from(*i) / f64::from(parts) + 7.0) % 10.0 < 4.0);
        inside.count() as f64 / f64::from(parts) + 0.05 * random.unit()
    };
    let at = |i: usize| i as i64 * (step * SECOND).round() as i64;
    let sample = |i: usize| {
        let bytes = 1e6 * step * busy(step * i as f64);
        Request::new(at(i), at(i + 1), bytes as u64, Class::WriteSync)
    };
    (0..count).map(sample).collect()
}

#[test]
fn a_sampled_quantity_is_predicted_as_it_is_detected() {
    for step in [1.0, 2.9, 4.1] {
        let all = samples(step, (400.0 / step) as usize);
        let detected_by = options();
        let options = PredictOptions { detect: options(), window: WindowRule::All };
        let mut predictor = Predictor::new("samples", options);
        predictor.set_per_unit(Some(1e3));
        let mut known = 0;
        for until in [(120.0 / step) as usize, (240.0 / step) as usize, all.len()] {
            predictor.add(&all[known..until]);
            known = until;
            let end = all[until - 1].end;
            let job = Job {
                start: Some(0),
                end: Some(end),
                complete: false,
                per_unit: Some(1e3),
                sampled: Some((step * SECOND).round() as i64),
                ..Job::default()
            };
            let requests = &all[..until];
            let found = detect("samples", InMemory { requests, job }, &detected_by).unwrap().detection;
            let predicted = predictor.predict(end);
            assert_eq!(
                answer(predicted.period, predicted.confidence),
                answer(found.period, found.confidence),
                "samples of {step} s, {until} of them: {predicted:?}"
            );
            let right = found.period.is_some_and(|period| (period / 10.0 - 1.0).abs() < 0.03);
            assert!(right, "samples of {step} s, {until} of them: {:?}", found.period);
        }
    }
}

#[test]
fn sampling_coarser_than_the_signal_still_counts_phases() {
    let trace = &traces()[0];
    let whole = detected(trace, (None, None), false).detection;
    assert_eq!(whole.evidence.as_ref().map(|evidence| evidence.phases), Some(24));
    for frequency in [0.3, 0.05, 0.011] {
        let coarse = Trace { frequency: Some(frequency), requests: trace.requests.clone(), ..*trace };
        let found = detected(&coarse, (None, None), false).detection;
        assert_eq!(found.evidence.as_ref().map(|evidence| evidence.phases), Some(24), "at {frequency} Hz");
        let (coarse, fine) = (found.period.unwrap(), whole.period.unwrap());
        assert!((coarse / fine - 1.0).abs() < 1e-3, "{coarse} at {frequency} Hz");
    }
}
