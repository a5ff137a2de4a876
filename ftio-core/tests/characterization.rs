//! What is said about a job's behaviour depends on its phases, not on how long it idles before and after
//! them.

mod asked;

use asked::options;
use ftio_core::detect::characterize::Characterization;
use ftio_core::detect::detect;
use ftio_core::detect::detection::Detection;
use sources::request::{Class, Request};
use sources::{InMemory, Job};
use trace_generator::application::Application;
use trace_generator::generated::Write;
use trace_generator::kinds::{Recording, named};
use trace_generator::shape::Shape;
use trace_generator::write::nanoseconds;

/// The writes of a job that begins `before` seconds earlier and ends `after` seconds later.
fn found(writes: &[Write], before: f64, after: f64) -> Detection {
    let request = |write: &Write| {
        Request::new(nanoseconds(write.start), nanoseconds(write.end), write.bytes, Class::WriteSync)
    };
    let requests: Vec<Request> = writes.iter().map(request).collect();
    let (first, last) = writes
        .iter()
        .fold((f64::INFINITY, 0f64), |(first, last), write| (first.min(write.start), last.max(write.end)));
    let job = Job {
        ranks: Some(1),
        start: Some(nanoseconds(first - before)),
        end: Some(nanoseconds(last + after)),
        complete: true,
        ..Job::default()
    };
    detect("job", InMemory { requests: &requests, job }, &options()).unwrap().detection
}

fn numbers(found: &Characterization) -> [f64; 6] {
    [
        found.sigma_vol,
        found.sigma_time,
        found.periodicity_score,
        found.r_io,
        found.b_io,
        found.bytes_per_period,
    ]
    .map(|number| number.unwrap_or(f64::NAN))
}

#[test]
fn idle_time_before_and_after_changes_no_number() {
    let mut compared = 0;
    for name in ["clean", "jitter", "missing", "sub_bursts"] {
        for seed in 300..303 {
            let Recording::Requests { writes, .. } = named(name).unwrap().generate(seed).recording else {
                panic!("{name} has requests");
            };
            let plain = found(&writes, 0.0, 0.0);
            let Some(period) = plain.period else { continue };
            let phases = plain.evidence.as_ref().map(|evidence| evidence.phases);
            for (before, after) in [(3.0, 0.0), (1.5, 6.5)] {
                let idle = found(&writes, before * period, after * period);
                // The bins are others, and now and then a phase more or less is found in them.
                if idle.evidence.as_ref().map(|evidence| evidence.phases) != phases {
                    continue;
                }
                compared += 1;
                let (one, other) = (numbers(&plain.characterization), numbers(&idle.characterization));
                for (a, b) in one.iter().zip(other) {
                    let close = (a - b).abs() <= 0.02 * a.abs().max(b.abs()).max(0.5);
                    assert!(close, "{name} {seed} +{before} +{after}: {one:?} and {other:?}");
                }
            }
        }
    }
    assert!(compared >= 20, "{compared} pairs were compared");
}

#[test]
fn a_regular_job_is_called_regular() {
    for (seed, shape) in (0u64..).zip([Shape::Rectangle, Shape::Ior, Shape::Cached, Shape::RampDown]) {
        for iterations in [8, 20] {
            let job = Application { shape: Some(shape), iterations, idle: 200.0, ..Application::default() };
            let generated = job.generate(seed);
            let found = found(&generated.writes, 40.0, 90.0).characterization;
            let score = found.periodicity_score.unwrap();
            assert!(score >= 0.97, "{shape:?}, {iterations} phases: {found:?}");
            let each =
                generated.writes.iter().map(|write| write.bytes as f64).sum::<f64>() / iterations as f64;
            let share = found.bytes_per_period.unwrap() / each;
            assert!((0.98..1.02).contains(&share), "{shape:?}, {iterations} phases: {share} of the bytes");
        }
    }
}
