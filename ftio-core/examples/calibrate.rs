//! Fits the weights of `ftio-core/src/confidence.rs`: `calibrate [SEED [TRACES]]` prints them.
//!
//! Traces of all settings of the experiment, and ten times as many with all parameters by chance, are analysed at 1 Hz. Logistic regression
//! on whether the period is within 5 % of the truth; an answer to a signal without a period is wrong. Seeds are from 10000 on by default,
//! so that those of `scripts/bench accuracy` are others.

use ftio_core::detect::{Options, detect};
use ftio_core::estimate::confidence::signs;
use ftio_core::request::{Class, Request};
use ftio_core::source::{InMemory, Job};
use trace_generator::experiment::settings;
use trace_generator::generated::Generated;
use trace_generator::write::nanoseconds;

/// The signs of an answer, and whether it is right; `None` without an answer.
fn answer(generated: &Generated) -> Option<([f64; 4], f64)> {
    let request = |write: &trace_generator::generated::Write| {
        Request::new(nanoseconds(write.start), nanoseconds(write.end), write.bytes, Class::WriteSync)
    };
    let requests: Vec<Request> = generated.writes.iter().map(request).collect();
    let end = Some(nanoseconds(generated.duration));
    let job = Job { ranks: Some(generated.ranks), start: Some(0), end, complete: true, ..Job::default() };
    let options = Options { frequency: Some(1.0), ..Options::default() };
    let found = detect("generated", InMemory { requests: &requests, job }, &options).ok()?.detection;
    let period = found.period?;
    let right = generated.truth.period.is_some_and(|truth| (period / truth - 1.0).abs() <= 0.05);
    Some((signs(&found.evidence?, period), f64::from(u8::from(right))))
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let first: u64 = args.next().map_or(Ok(10_000), |text| text.parse())?;
    let traces: u64 = args.next().map_or(Ok(60), |text| text.parse())?;
    let mut answers = Vec::new();
    // Signals of two periods have no single right answer.
    for setting in settings().iter().filter(|setting| setting.table != "two") {
        let count = if setting.table == "any" { 25 * traces } else { traces };
        answers.extend((first..first + count).filter_map(|seed| answer(&setting.generate(seed))));
    }
    let right: f64 = answers.iter().map(|(_, right)| right).sum();
    println!("{} answers, {right} right", answers.len());
    let (mut weights, mut constant) = ([1.0; 4], -1.0);
    for _ in 0..5000 {
        let (mut slope, mut offset) = ([0.0; 4], 0.0);
        for (signs, right) in &answers {
            let sum: f64 =
                constant + signs.iter().zip(weights).map(|(sign, weight)| sign * weight).sum::<f64>();
            let error = 1.0 / (1.0 + (-sum).exp()) - right;
            offset += error;
            slope.iter_mut().zip(signs).for_each(|(slope, sign)| *slope += error * sign);
        }
        let rate = 2.0 / answers.len().max(1) as f64;
        constant -= rate * offset;
        weights
            .iter_mut()
            .zip(slope)
            .for_each(|(weight, slope)| *weight = f64::max(0.0, *weight - rate * slope));
    }
    println!("weights {weights:.2?}, constant {constant:.2}");
    Ok(())
}
