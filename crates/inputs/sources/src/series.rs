//! Samples of any quantity over time.
//!
//! A sample is a rate that holds until the next one; the last holds for as long as is usual (the median
//! distance). Requests are whole bytes, and quantities such as a load between 0 and 1 are not: they are
//! multiplied by a power of two first, which [`Job::per_unit`] tells.

use super::bandwidth_piece::BandwidthPiece;
use super::counter;
pub use super::counter::rates;
use super::error::{SourceError, excerpt};
use super::intake::{Fed, Feed, Intake};
use super::job::{Job, Source};
use super::options::Rate;
use crate::request::{Class, Span};
use crate::time::PER_SECOND;

/// Below this total (in the quantity's unit times seconds), rounding to whole numbers could be seen.
const EXACT_ENOUGH: f64 = (1u64 << 40) as f64;

/// A quantity over time.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// Its name.
    pub name: String,
    /// Times in seconds and values.
    pub samples: Vec<(f64, f64)>,
    /// Direction and kind that its requests are given.
    pub class: Class,
    /// Is it a bandwidth in bytes per second?
    pub is_bandwidth: bool,
}

/// The source of a series; `input` is what messages call its file.
pub fn source(input: &str, series: Series, rate: Rate) -> Box<dyn Source> {
    Box::new(Fed(input.to_owned(), Sampled { input: input.to_owned(), series, rate }))
}

/// Only the series whose name contains `wanted`; without it, all.
pub fn choose(input: &str, series: Vec<Series>, wanted: Option<&str>) -> Result<Vec<Series>, SourceError> {
    let Some(wanted) = wanted else { return Ok(series) };
    let names: Vec<String> = series.iter().map(|series| series.name.clone()).collect();
    let chosen: Vec<Series> = series.into_iter().filter(|series| series.name.contains(wanted)).collect();
    if chosen.is_empty() {
        let expected = format!("a metric whose name contains \"{}\"", excerpt(wanted.as_bytes()));
        return Err(SourceError::Absent { name: input.into(), expected, found: names.join(", ") });
    }
    Ok(chosen)
}

/// Is a series a counter, whose rate is to be analysed? `samples` are its usable ones, in order.
pub fn is_counter(series: &Series, samples: &[(f64, f64)], rate: Rate) -> bool {
    is_bandwidth_counter(&series.name, series.is_bandwidth, samples, rate)
}

fn is_bandwidth_counter(name: &str, is_bandwidth: bool, samples: &[(f64, f64)], rate: Rate) -> bool {
    // A bandwidth is a rate already, unless the user says otherwise.
    let rate = if is_bandwidth && rate == Rate::Auto { Rate::Off } else { rate };
    counter::is_counter(name, samples, rate)
}

#[derive(Debug)]
struct Sampled {
    input: String,
    series: Series,
    rate: Rate,
}

impl Feed for Sampled {
    fn feed(self, _: Span, intake: &mut Intake<'_>) -> Result<Job, SourceError> {
        let Series { name, mut samples, class, is_bandwidth } = self.series;
        let mut job = Job { complete: true, ..Job::default() };
        samples.retain(|&(time, value)| {
            let usable = time.is_finite() && value.is_finite();
            if !usable {
                let told =
                    |number: f64| if number.is_nan() { "no number".into() } else { number.to_string() };
                intake.leave_out(|| {
                    format!("expected a time and a value, found {} and {}", told(time), told(value))
                });
            }
            usable
        });
        if !samples.is_sorted_by(|a, b| a.0 <= b.0) {
            samples.sort_by(|a, b| a.0.total_cmp(&b.0));
            job.notes.push("the times of the samples go backwards; they were put in order".into());
        }
        let is_counter = is_bandwidth_counter(&name, is_bandwidth, &samples, self.rate);
        if is_counter {
            samples = rates(&samples);
            job.notes.push(format!("\"{name}\" is a counter: its rate was analysed"));
        }
        let least = samples.iter().map(|sample| sample.1).fold(0.0, f64::min);
        if least < 0.0 {
            samples.iter_mut().for_each(|sample| sample.1 -= least);
            job.notes.push(format!("values go down to {least}; that was taken as zero"));
        }
        let last = usual_distance(&samples);
        let ends: Vec<f64> = samples
            .iter()
            .skip(1)
            .map(|sample| sample.0)
            .chain(samples.last().map(|sample| sample.0 + last))
            .collect();
        let total: f64 = samples.iter().zip(&ends).map(|(sample, end)| sample.1 * (end - sample.0)).sum();
        if total.is_infinite() || samples.len() == 1 {
            let (expected, found) = match samples.len() {
                1 => ("at least two samples".into(), "one".into()),
                count => ("values with a finite sum".into(), format!("{count} with the sum {total}")),
            };
            return Err(SourceError::Malformed { name: self.input, place: name, expected, found });
        }
        let scale =
            if total > 0.0 && total < EXACT_ENOUGH { power_of_two(2.0 * EXACT_ENOUGH / total) } else { 1.0 };
        for (&(start, value), &end) in samples.iter().zip(&ends) {
            let bytes = Some((value * (end - start) * scale).round() as u64);
            let phase = BandwidthPiece { start, end, bandwidth: value, bytes, rank: None, class };
            intake.push(phase, || format!("the sample at {start} s"));
        }
        if !is_bandwidth {
            let how = if is_counter { "per second" } else { "as sampled" };
            job.notes.push(format!("the signal is \"{name}\" {how}; where this says bytes, read its unit"));
        }
        job.per_unit = Some(scale);
        let step = (last * PER_SECOND).round();
        job.sampled = (1.0..1e18).contains(&step).then_some(step as i64);
        Ok(job)
    }
}

/// The power of two below; it changes no digit of a number.
pub(crate) fn power_of_two(value: f64) -> f64 {
    2f64.powi(value.log2().floor().clamp(-1000.0, 1000.0) as i32)
}

/// The median distance of samples in order.
fn usual_distance(samples: &[(f64, f64)]) -> f64 {
    let mut distances: Vec<f64> =
        samples.windows(2).map(|pair| pair[1].0 - pair[0].0).filter(|distance| *distance > 0.0).collect();
    if distances.is_empty() {
        return 0.0;
    }
    let middle = distances.len() / 2;
    *distances.select_nth_unstable_by(middle, f64::total_cmp).1
}
