//! An application's signature from its samples.

use crate::align::level_outside;
use crate::consensus::Consensus;
use crate::grid::Grid;
use crate::published::published;
use crate::quality::{DOUBTFUL, Quality};
use crate::resample::{at, to_seconds, with_means_inserted};
use crate::sample::{Listed, Sample, is_whole, unusable};
use crate::settings::Settings;
use crate::statistics::{correlation, mean, median};
use schemars::JsonSchema;
use serde::Serialize;

/// Which method to use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, JsonSchema, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// The median of aligned samples.
    #[default]
    Median,
    /// As in the paper.
    Published,
}

/// What an application does when it is alone.
#[derive(Clone, Debug, Default, PartialEq, JsonSchema, Serialize)]
pub struct Signature {
    /// How it was found.
    pub method: Method,
    /// How long the application runs, in seconds.
    pub duration: f64,
    /// What it moves.
    pub bytes: f64,
    /// Its bursts in the order of time.
    pub bursts: Vec<Burst>,
    /// How far to trust it.
    pub quality: Quality,
    /// What others do all the time.
    pub background: Background,
    /// The grid that common bursts were found on.
    pub grid: Grid,
    /// All samples, used or not.
    pub samples: Vec<Listed>,
    /// What a reader should know.
    pub warnings: Vec<String>,
    /// Bytes per second, one value a second.
    pub series: Vec<f64>,
}

/// A burst of a signature. Times are in seconds from the start of the job.
#[derive(Clone, Copy, Debug, PartialEq, JsonSchema, Serialize)]
pub struct Burst {
    /// When it reaches half its height.
    pub start: f64,
    /// When it is highest.
    pub crest: f64,
    /// When it falls below half its height.
    pub end: f64,
    /// What it moves.
    pub bytes: f64,
    /// Its bandwidth above the background, in bytes per second.
    pub height: f64,
    /// Samples that show it.
    pub votes: usize,
    /// Samples that were asked.
    pub samples: usize,
}

/// What others do.
#[derive(Clone, Debug, Default, PartialEq, JsonSchema, Serialize)]
pub struct Background {
    /// The bandwidth that is always there, in bytes per second.
    pub level: f64,
    /// Jobs of others that write periodically, as far as somebody looked for them.
    pub periodic: Vec<Periodic>,
}

/// A job of somebody else that writes again and again.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct Periodic {
    /// Seconds from one of its bursts to the next.
    pub period: f64,
    /// How far to trust the period.
    pub confidence: f64,
    /// Its bandwidth in bursts, in bytes per second.
    pub height: f64,
    /// Samples that show it.
    pub samples: Vec<String>,
    /// Jobs that ran during all of these samples, if a job log tells.
    pub candidates: Vec<String>,
}

/// A signature, and what remains of the samples when it is taken off.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Analysis {
    /// The signature.
    pub signature: Signature,
    /// For each sample that shows it its place in the list, and the bandwidth of others, one value a second.
    pub others: Vec<(usize, Vec<f64>)>,
}

/// Find the signature of the application that these samples have in common.
pub fn signature(samples: &[Sample], method: Method, settings: &Settings) -> Signature {
    analyse(samples, method, settings).signature
}

/// The same, with what others did.
pub fn analyse(samples: &[Sample], method: Method, settings: &Settings) -> Analysis {
    let reasons = unusable(samples, settings);
    let used: Vec<usize> = (0..samples.len()).filter(|&i| reasons[i].is_none()).collect();
    let listed = samples
        .iter()
        .zip(reasons)
        .map(|(sample, reason)| Listed {
            name: sample.name.clone(),
            start: sample.start,
            duration: sample.duration(),
            bytes: sample.bytes(),
            used: reason.is_none(),
            reason,
            agreement: None,
        })
        .collect();
    let mut out = Signature { method, samples: listed, ..Signature::default() };
    out.warnings = warnings(samples, &used, settings);
    if used.len() < 2 {
        let count = used.len();
        out.warnings.push(format!("no signature: at least 2 usable samples are needed, there is {count}"));
        return Analysis { signature: out, others: Vec::new() };
    }
    let seconds = |&i: &usize| match method {
        Method::Published if (samples[i].step - 2.0).abs() < 1e-9 => with_means_inserted(&samples[i].values),
        _ => to_seconds(&samples[i].values, samples[i].step),
    };
    let data: Vec<Vec<f64>> = used.iter().map(seconds).collect();
    let others = match method {
        Method::Median => by_median(&mut out, samples, &data, &used, settings),
        Method::Published => as_published(&mut out, &data, &used, settings),
    };
    out.duration = out.series.len() as f64;
    out.bytes = out.series.iter().sum();
    if out.bursts.is_empty() {
        out.warnings.push("no signature: the samples have no burst in common".into());
    } else if out.quality.mean < DOUBTFUL {
        out.warnings.push(format!(
            "quality {:.2}: do not rely on this signature; others disturb too much for {} runs",
            out.quality.mean,
            used.len()
        ));
    }
    Analysis { signature: out, others }
}

fn by_median(
    out: &mut Signature,
    samples: &[Sample],
    data: &[Vec<f64>],
    used: &[usize],
    settings: &Settings,
) -> Vec<(usize, Vec<f64>)> {
    let steps: Vec<f64> = used.iter().map(|&i| samples[i].step).collect();
    let step = median(&steps);
    let found = Consensus::of(data, step, settings);
    let (quality, agreements) = Quality::of(&found, data, step);
    for (&i, agreement) in used.iter().zip(agreements) {
        out.samples[i].agreement = Some(agreement);
    }
    let burst = |(span, votes): (&crate::spans::Span, &Vec<bool>)| Burst {
        votes: votes.iter().filter(|vote| **vote).count(),
        samples: data.len(),
        ..measured(&found.series, span.start, span.end)
    };
    out.bursts = found.spans.iter().zip(&found.votes).map(burst).collect();
    share_out(&mut out.bursts, &found.series);
    out.quality = quality;
    out.background.level = median(&found.backgrounds);
    out.grid = found.grid;
    let rest = |(&i, (sample, level)): (&usize, (&Vec<f64>, &f64))| {
        let others = sample.iter().zip(&found.series).map(|(all, own)| (all - own - level).max(0.0));
        (i, others.collect())
    };
    let mut others: Vec<(usize, Vec<f64>)> =
        used.iter().zip(found.aligned.iter().zip(&found.backgrounds)).map(rest).collect();
    // A neighbour may be why a sample is unlike the others. One that ran as long shows him nevertheless.
    for (i, sample) in samples.iter().enumerate().filter(|(i, _)| !used.contains(i)) {
        let seconds = to_seconds(&sample.values, sample.step);
        let as_long = (seconds.len() as f64 / found.length() - 1.0).abs() < AS_LONG;
        if as_long && is_whole(sample, settings) {
            let aligned = even(&seconds, found.series.len());
            let level = level_outside(&aligned, &found.spans);
            let own = found.series.iter();
            others
                .push((i, aligned.iter().zip(own).map(|(all, own)| (all - own - level).max(0.0)).collect()));
        }
    }
    out.series = found.series;
    others
}

/// A sample whose run time differs by less than this share from the signature's needs no alignment.
const AS_LONG: f64 = 0.02;

/// A sample stretched evenly to that many seconds.
fn even(seconds: &[f64], length: usize) -> Vec<f64> {
    let stretch = seconds.len() as f64 / length.max(1) as f64;
    (0..length).map(|second| at(seconds, (second as f64 + 0.5) * stretch - 0.5)).collect()
}

fn as_published(
    out: &mut Signature,
    data: &[Vec<f64>],
    used: &[usize],
    settings: &Settings,
) -> Vec<(usize, Vec<f64>)> {
    let found = published(data, true, settings);
    out.bursts = found
        .bursts
        .iter()
        .map(|burst| Burst {
            crest: burst.time,
            votes: burst.votes,
            samples: data.len(),
            ..measured(&found.series, burst.start, burst.end)
        })
        .collect();
    share_out(&mut out.bursts, &found.series);
    let mut agreements = Vec::with_capacity(data.len());
    for left_out in 0..data.len() {
        let rest: Vec<Vec<f64>> = data
            .iter()
            .enumerate()
            .filter(|(i, _)| *i != left_out)
            .map(|(_, sample)| sample.clone())
            .collect();
        let other = published(&rest, true, settings);
        let shrunk = crate::resample::shrink(&data[left_out], other.series.len());
        agreements.push(correlation(&other.series, &shrunk));
        out.samples[used[left_out]].agreement = agreements.last().copied();
    }
    let least = agreements.iter().copied().fold(f64::INFINITY, f64::min);
    let average = mean(&agreements);
    out.quality = Quality {
        mean: average.clamp(0.0, 1.0),
        minimum: least.clamp(0.0, 1.0),
        agreement: average,
        agreement_minimum: least,
    };
    out.background.level = found.background;
    out.grid = found.grid;
    out.series = found.series;
    Vec::new()
}

/// A burst between two moments of a series.
fn measured(series: &[f64], start: f64, end: f64) -> Burst {
    let from = (start.round().max(0.0) as usize).min(series.len());
    let to = (end.round().max(0.0) as usize).clamp(from, series.len());
    let inside = &series[from..to];
    let highest = (0..inside.len()).fold(0, |best, i| if inside[i] > inside[best] { i } else { best });
    let height = crate::statistics::quantile(inside, 0.7);
    Burst { start, crest: (from + highest) as f64, end, bytes: 0.0, height, votes: 0, samples: 0 }
}

/// All bytes of the series go to the burst they are nearest to.
fn share_out(bursts: &mut [Burst], series: &[f64]) {
    let mut current = 0;
    for (second, value) in series.iter().enumerate() {
        let time = second as f64 + 0.5;
        while current + 1 < bursts.len() && time - bursts[current].end > bursts[current + 1].start - time {
            current += 1;
        }
        if let Some(burst) = bursts.get_mut(current) {
            burst.bytes += value;
        }
    }
}

fn warnings(samples: &[Sample], used: &[usize], settings: &Settings) -> Vec<String> {
    let mut out = Vec::new();
    if (used.len() as f64) < settings.least_runs && used.len() >= 2 {
        out.push(format!(
            "only {} usable samples, {} are needed for a signature to rely on; no outlier was dropped",
            used.len(),
            settings.least_runs
        ));
    }
    let durations: Vec<f64> = used.iter().map(|&i| samples[i].duration()).collect();
    let usual = median(&durations);
    let far =
        durations.iter().filter(|duration| **duration > 1.5 * usual || **duration < usual / 1.5).count();
    if far > 0 {
        out.push(format!(
            "{far} of {} samples run more than 1.5 times as long or short as the median",
            used.len()
        ));
    }
    let steps: Vec<f64> = used.iter().map(|&i| samples[i].step).collect();
    if steps.iter().any(|step| (step - steps[0]).abs() > 1e-6 * steps[0]) {
        out.push("the samples have different steps of time; all were brought to 1 s".into());
    }
    out
}
