//! Jobs of others that write periodically, in what remains of the samples when the signature is taken off.

use crate::jobs::Job;
use crate::signature::{Analysis, Periodic, Signature};
use crate::statistics::{median, quantile};
use ftio_core::detect::detection::Detection;
use ftio_core::detect::{Options, detect};
use sources::InMemory;
use sources::request::{Class, Request};

/// Two samples show the same job if their periods differ by less than this share.
const SAME_PERIOD: f64 = 0.05;

/// Seconds around the application's own bursts in which its unsteadiness looks like somebody else.
const AROUND: f64 = 10.0;

/// The period of a series at one value a second, with its confidence.
pub fn period(series: &[f64]) -> Option<(f64, f64)> {
    let found = detected(series)?;
    found.period.map(|period| (period, found.confidence))
}

/// All of its periods.
fn periods(series: &[f64]) -> Vec<(f64, f64)> {
    let found = detected(series).map(|found| found.periods).unwrap_or_default();
    found.iter().map(|one| (one.period, one.confidence)).collect()
}

fn detected(series: &[f64]) -> Option<Detection> {
    let second = 1_000_000_000;
    // Whatever the unit is: whole bytes must be fine enough.
    let highest = series.iter().copied().fold(0.0, f64::max);
    let scale = if highest > 0.0 { 1e9 / highest } else { 1.0 };
    let request = |(time, value): (i64, &f64)| {
        Request::new(time * second, (time + 1) * second, (scale * value).round() as u64, Class::WriteSync)
    };
    let requests: Vec<Request> =
        (0i64..).zip(series).filter(|(_, value)| scale * **value >= 1.0).map(request).collect();
    let job = sources::Job {
        start: Some(0),
        end: Some(series.len() as i64 * second),
        complete: true,
        ..sources::Job::default()
    };
    let options = Options { frequency: Some(1.0), ..Options::default() };
    detect("signature", InMemory { requests: &requests, job }, &options).ok().map(|found| found.detection)
}

/// The periodic jobs of others, and which jobs these may be: those that ran during every sample that shows
/// it.
pub fn others(analysis: &Analysis, jobs: &[&Job]) -> Vec<Periodic> {
    let own = periods(&analysis.signature.series);
    let mut found: Vec<(Periodic, Vec<usize>)> = Vec::new();
    let all = analysis.others.iter().flat_map(|(sample, rest)| {
        of(rest, &analysis.signature).into_iter().map(move |found| (sample, found))
    });
    for (sample, (period, confidence, height)) in all {
        let same = |other: f64| (period / other - 1.0).abs() < SAME_PERIOD;
        if own.iter().any(|(other, _)| same(*other)) {
            continue;
        }
        match found.iter_mut().find(|(one, _)| same(one.period)) {
            Some((one, samples)) => {
                one.confidence = one.confidence.max(confidence);
                samples.push(*sample);
            }
            None => {
                let one =
                    Periodic { period, confidence, height, samples: Vec::new(), candidates: Vec::new() };
                found.push((one, vec![*sample]));
            }
        }
    }
    let listed = &analysis.signature.samples;
    let complete = |(one, samples): (Periodic, Vec<usize>)| Periodic {
        candidates: candidates(
            &samples.iter().map(|&i| (listed[i].start, listed[i].duration)).collect::<Vec<_>>(),
            jobs,
        ),
        samples: samples.iter().map(|&i| listed[i].name.clone()).collect(),
        ..one
    };
    found.into_iter().map(complete).collect()
}

/// Periods, confidence and height of what remains of a sample, if that is periodic.
fn of(rest: &[f64], signature: &Signature) -> Vec<(f64, f64, f64)> {
    let mut rest = rest.to_vec();
    for burst in &signature.bursts {
        let from = (burst.start - AROUND).max(0.0) as usize;
        let to = ((burst.end + AROUND).max(0.0) as usize).min(rest.len());
        rest[from.min(to)..to].fill(0.0);
    }
    let least = quantile(&rest, 0.99) / 4.0;
    rest.iter_mut().filter(|value| **value < least).for_each(|value| *value = 0.0);
    let high: Vec<f64> = rest.iter().copied().filter(|value| *value > 0.0).collect();
    // Fewer than four bursts are a coincidence, and what is hardly higher than the background is no job.
    let height = median(&high);
    let own = signature.bursts.iter().map(|burst| burst.height).fold(0.0, f64::max);
    if height <= signature.background.level || height <= 0.02 * own {
        return Vec::new();
    }
    let often = periods(&rest).into_iter().filter(|(period, _)| 4.0 * period <= rest.len() as f64);
    often.map(|(period, confidence)| (period, confidence, height)).collect()
}

/// Jobs that ran during all of these times, from a start for some seconds.
fn candidates(times: &[(f64, f64)], jobs: &[&Job]) -> Vec<String> {
    let during = |job: &&&Job| {
        times
            .iter()
            .all(|(start, duration)| job.start <= start + 0.1 * duration && job.end >= start + 0.9 * duration)
    };
    let name =
        |job: &&Job| format!("{} {} {} ({})", job.user, job.nodes, job.name, job.id).replace("  ", " ");
    jobs.iter().filter(during).map(name).take(10).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Method, Sample, Settings, analyse};

    #[test]
    fn a_periodic_neighbour_is_named() {
        let sample = |i: usize| {
            let mut values = vec![1e7; 1500];
            for start in [300, 700, 1200] {
                values[start..start + 30].iter_mut().for_each(|value| *value += 2e9);
            }
            if i == 3 {
                for start in (40..1490).step_by(90) {
                    values[start..start + 8].iter_mut().for_each(|value| *value += 8e8);
                }
            }
            Sample { name: format!("run {i}"), start: 10_000.0 * i as f64, step: 1.0, values }
        };
        let samples: Vec<Sample> = (0..6).map(sample).collect();
        // Whether the neighbour made his sample unlike the others or not.
        for outlier_share in [0.0, 0.3] {
            named(&analyse(&samples, Method::Median, &Settings { outlier_share, ..Settings::default() }));
        }
    }

    fn named(analysis: &Analysis) {
        let job = |id: &str, start: f64| Job {
            id: id.into(),
            user: "eve".into(),
            nodes: 2,
            name: "x".into(),
            start,
            end: start + 2000.0,
        };
        let (here, elsewhere) = (job("7", 29_900.0), job("8", 9_900.0));
        let found = others(analysis, &[&here, &elsewhere]);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!((found[0].period - 90.0).abs() < 2.0);
        assert_eq!(found[0].samples, ["run 3"]);
        assert_eq!(found[0].candidates, ["eve 2 x (7)"]);
        assert!((found[0].height / 8e8 - 1.0).abs() < 0.2);
    }
}
