//! A window may begin and end anywhere in the cycle, and its period is the same.
//!
//! A series of samples, and a part of a trace (`--ts`, `--te`), begin in the middle of a phase more often
//! than not. The start of that phase was not seen, and must not be counted as if it had been. A trace of
//! requests from the job's first one on is different: its first phase begins with it.

mod asked;

use asked::options;
use ftio_core::detect::detection::Detection;
use ftio_core::detect::{Options, detect};
use sources::content::Content;
use sources::request::{Class, Request};
use sources::{InMemory, Job, OpenOptions, open_content};
use std::f64::consts::{PI, TAU};
use std::fmt::Write;
use trace_generator::random::Random;

/// The bandwidth at a part of the cycle, 0 … 1.
type Shape = fn(f64) -> f64;

const SHAPES: [(&str, Shape); 6] = [
    ("sine", |at| 50.0 + 40.0 * (TAU * at).sin()),
    ("rising saw", |at| 100.0 * at),
    ("falling saw", |at| 100.0 * (1.0 - at)),
    ("square", |at| if at < 0.4 { 100.0 } else { 0.0 }),
    ("half-rectified", |at| (100.0 * (TAU * at).sin()).max(0.0)),
    ("hump", |at| 100.0 * (PI * at).sin().powi(4)),
];

const PERIOD: f64 = 96.0;
const PERIODS: [f64; 4] = [3.6, 4.3, 5.0, 12.0];

/// Parts of the cycle that a window begins at.
const BEGINNINGS: [f64; 6] = [0.0, 0.1, 0.2, 0.35, 0.5, 0.8];

fn of_series(shape: Shape, begin: f64, periods: f64, noise: f64, random: &mut Random) -> Detection {
    let mut table = String::from("time,bandwidth\n");
    for second in 0..(periods * PERIOD) as usize {
        let clean = shape((begin + second as f64 / PERIOD).fract());
        let value = (clean + noise * random.normal()).max(0.0);
        writeln!(table, "{second},{value:.4}").unwrap();
    }
    let content = Content::from_bytes("series.csv", table.into_bytes()).unwrap();
    let source = open_content(content, &OpenOptions::default()).unwrap().swap_remove(0);
    detect("series", source.into_source().unwrap(), &options()).unwrap().detection
}

/// One request of a second after the other, as large as the shape says; of a job that has gone on for ten
/// cycles before.
fn of_part(shape: Shape, begin: f64, periods: f64) -> Detection {
    let from = (10.0 + begin) * PERIOD;
    let all = (25.0 * PERIOD) as usize;
    let request = |second: usize| {
        let bytes = (1e6 * shape((second as f64 / PERIOD).fract())) as u64;
        let start = second as i64 * 1_000_000_000;
        Request::new(start, start + 1_000_000_000, bytes, Class::WriteSync)
    };
    let requests: Vec<Request> = (0..all).map(request).filter(|request| request.bytes > 0).collect();
    let options = Options { from: Some(from), to: Some(from + periods * PERIOD), ..options() };
    detect("part", InMemory { requests: &requests, job: Job::default() }, &options).unwrap().detection
}

/// What is wrong with an answer, if anything: no period where there must be one, or another one.
fn fault(found: &Detection, periods: f64, tolerance: f64) -> Option<String> {
    let Some(period) = found.period else {
        return (periods >= 5.0).then(|| "no period".to_owned());
    };
    let off = period / PERIOD - 1.0;
    (off.abs() > tolerance)
        .then(|| format!("{:+.1} % at a confidence of {:.2}", 100.0 * off, found.confidence))
}

fn everywhere(mut look: impl FnMut(Shape, f64, f64) -> Option<String>) -> Vec<String> {
    let mut faults = Vec::new();
    for (name, shape) in SHAPES {
        for periods in PERIODS {
            for begin in BEGINNINGS {
                let found = look(shape, begin, periods);
                faults.extend(found.map(|fault| format!("{name}, {periods} from {begin}: {fault}")));
            }
        }
    }
    faults
}

#[test]
fn a_series_may_begin_anywhere() {
    let mut random = Random::new(1);
    let faults = everywhere(|shape, begin, periods| {
        fault(&of_series(shape, begin, periods, 0.0, &mut random), periods, 0.02)
    });
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn a_noisy_series_may_begin_anywhere() {
    let mut random = Random::new(2);
    let mut wrong_and_sure = Vec::new();
    let faults = everywhere(|shape, begin, periods| {
        let found = of_series(shape, begin, periods, 10.0, &mut random);
        let fault = fault(&found, periods, 0.04);
        if found.confidence >= 0.9 {
            wrong_and_sure.extend(fault.clone());
        }
        fault
    });
    let all = SHAPES.len() * PERIODS.len() * BEGINNINGS.len();
    assert!(wrong_and_sure.is_empty(), "{wrong_and_sure:#?}");
    assert!(50 * faults.len() <= all, "{faults:#?}");
}

#[test]
fn a_part_of_a_trace_may_begin_anywhere() {
    let faults = everywhere(|shape, begin, periods| fault(&of_part(shape, begin, periods), periods, 0.02));
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn the_first_phase_of_a_job_was_seen() {
    // Four phases, the first with the job's first request; the second comes a little late.
    let starts = [0.0, 10.4, 20.0, 30.0];
    let nanoseconds = |seconds: f64| (seconds * 1e9) as i64;
    let request = |start: f64| {
        Request::new(nanoseconds(start), nanoseconds(start + 2.0), 2_000_000_000, Class::WriteSync)
    };
    let requests: Vec<Request> = starts.into_iter().map(request).collect();
    let source = InMemory { requests: &requests, job: Job::default() };
    let found = detect("job", source, &options()).unwrap().detection;
    assert_eq!(found.phases.len(), 4, "{found:?}");
    assert!((found.period.unwrap() - 10.0).abs() < 0.01, "{found:?}");
}
