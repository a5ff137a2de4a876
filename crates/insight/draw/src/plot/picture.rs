//! What is in a picture, whatever it is written as: curves thinned out to what can be seen, and words.

use super::timeline::{Heatmap, Overlap, Timeline};
use crate::canvas::curve::Curve;
use crate::units::{bytes, counted, number, percent, ranks, seconds, si};
use files::printable;
use ftio_core::detect::Analysis;
use ftio_core::signal::step::StepFunction;
use ftio_core::spectral::autocorrelation::acf;
use serde::Serialize;
use sources::Marked;
use sources::time::seconds as seconds_of;

/// More phases than this are not marked: they would be a wall.
const MAX_PHASES: usize = 5000;

/// A picture. Times are in seconds, bandwidths in bytes per second, frequencies in Hz.
#[derive(Debug, Serialize)]
pub struct Picture {
    pub title: String,
    /// What was looked at, in one line.
    pub subtitle: String,
    /// Names and values of what was found.
    pub facts: Vec<(&'static str, String)>,
    /// Start and end of the window.
    pub window: [f64; 2],
    /// The exact bandwidth, if the requests were kept: a step at each point.
    pub exact: Option<Curve>,
    /// The sampled bandwidth: a step at each point.
    pub sampled: Curve,
    pub wave: Option<WaveCurve>,
    /// The mean and some waves added up, if asked for: a value for the middle of each sample.
    pub rebuilt: Option<Curve>,
    /// Contribution of each frequency.
    pub spectrum: Curve,
    /// The frequencies worth looking at first.
    pub frequency_range: f64,
    pub candidates: Vec<Mark>,
    pub next_phase: Option<[f64; 2]>,
    /// Start and end of each I/O phase.
    pub phases: Vec<[f64; 2]>,
    /// The autocorrelation over the lag.
    pub acf: Option<Curve>,
    /// The period, to be marked in the autocorrelation.
    pub period: Option<f64>,
    /// What each rank transferred when.
    pub ranks: Option<Heatmap>,
    /// What nonblocking operations needed and got.
    pub overlap: Option<Overlap>,
    /// What the program has marked: time and text.
    pub marks: Vec<ProgramMark>,
    /// Of the signal: none if it is a sampled quantity.
    pub unit: &'static str,
}

/// A text that the program has put into the trace.
#[derive(Debug, Serialize)]
pub struct ProgramMark {
    pub time: f64,
    pub text: String,
}

impl ProgramMark {
    fn of(mark: &Marked) -> Self {
        ProgramMark { time: seconds_of(mark.time), text: printable(&mark.text).into_owned() }
    }
}

/// The mean plus the dominant wave.
#[derive(Debug, Serialize)]
pub struct WaveCurve {
    pub mean: f64,
    pub amplitude: f64,
    pub frequency: f64,
    /// At job time 0.
    pub phase: f64,
}

/// A frequency to point out.
#[derive(Debug, Serialize)]
pub struct Mark {
    pub frequency: f64,
    pub power: f64,
    pub kind: &'static str,
    pub label: String,
}

impl Picture {
    /// At most about `points` points per curve.
    pub fn of(analysis: &Analysis, timeline: Timeline, points: usize) -> Self {
        let found = &analysis.detection;
        let signal = &analysis.signal;
        let (start, step) = (signal.start_seconds(), signal.step());
        let times = (0..=signal.samples.len()).map(|i| start + i as f64 * step).collect();
        let mut values = signal.samples.clone();
        values.push(values.last().copied().unwrap_or(0.0));
        let frequencies: Vec<f64> =
            (1..=analysis.contributions.len()).map(|k| k as f64 / signal.duration()).collect();
        let spectrum = Curve { x: frequencies, y: analysis.contributions.clone() };
        Picture {
            title: printable(&found.source).into_owned(),
            subtitle: subtitle(analysis),
            facts: facts(analysis),
            window: [found.t_start, found.t_end.max(found.t_start + step)],
            exact: analysis.stretches.as_deref().map(|stretches| {
                let steps = StepFunction::overlap(stretches).window(Some(found.t_start), Some(found.t_end));
                Curve { x: steps.times, y: without_residue(steps.values) }.thinned(points)
            }),
            sampled: Curve { x: times, y: values }.thinned(points),
            wave: analysis.wave.map(|wave| WaveCurve {
                mean: signal.mean(),
                amplitude: wave.amplitude,
                frequency: wave.frequency,
                phase: wave.phase - std::f64::consts::TAU * (wave.frequency * start).fract(),
            }),
            rebuilt: found.reconstruction.as_ref().map(|rebuilt| {
                let x = (0..rebuilt.samples.len()).map(|i| start + (i as f64 + 0.5) * step).collect();
                Curve { x, y: rebuilt.samples.iter().map(|value| value.max(0.0)).collect() }.thinned(points)
            }),
            frequency_range: interesting(&spectrum, found.frequency),
            spectrum: spectrum.peaks(4 * points),
            candidates: marks(analysis),
            next_phase: found.next_phase.filter(|next| !next.provisional).map(|next| [next.start, next.end]),
            phases: phases(analysis),
            acf: correlation(analysis).map(|curve| curve.thinned(points)),
            period: found.period,
            ranks: timeline.ranks,
            overlap: timeline.overlap,
            marks: analysis.marks.iter().map(ProgramMark::of).collect(),
            unit: if analysis.is_quantity { "" } else { "B/s" },
        }
    }
}

/// Start and end of each phase that was counted.
fn phases(analysis: &Analysis) -> Vec<[f64; 2]> {
    let phases = Some(&analysis.phases).filter(|phases| phases.len() <= MAX_PHASES);
    phases.into_iter().flatten().map(|phase| [phase.start, phase.end]).collect()
}

/// The autocorrelation up to half the window: beyond, too little of the signal overlaps with itself.
fn correlation(analysis: &Analysis) -> Option<Curve> {
    let signal = &analysis.signal;
    let values = acf(&signal.samples);
    // All zeros: a constant signal has none.
    values.first().filter(|first| **first > 0.0)?;
    let shown = values.len().div_ceil(2);
    let x = (0..shown).map(|lag| lag as f64 * signal.step()).collect();
    Some(Curve { x, y: values[..shown].to_vec() })
}

/// Adding and subtracting bandwidths leaves a little where there is nothing.
fn without_residue(mut values: Vec<f64>) -> Vec<f64> {
    let negligible = 1e-9 * values.iter().copied().fold(0.0, f64::max);
    values.iter_mut().filter(|value| **value < negligible).for_each(|value| *value = 0.0);
    values
}

/// What was looked at.
fn subtitle(analysis: &Analysis) -> String {
    let found = &analysis.detection;
    let hertz = found.sampling_frequency.map(|hertz| format!(" at {}", si(hertz, "Hz"))).unwrap_or_default();
    let sampling = format!("{}{hertz}", counted(found.n_samples as u64, "sample"));
    let what = match analysis.is_quantity {
        true => counted(found.requests.unwrap_or(0), "value"),
        false => {
            format!("{} · {} · {}", found.mode, ranks(found.ranks), bytes(found.total_bytes as f64))
        }
    };
    let mut text = format!("{what} · {sampling}");
    if !found.complete {
        text.push_str(" · incomplete");
    }
    if found.period.is_none() {
        text = format!("no period: {} · {text}", found.reasons.join("; "));
    }
    text
}

fn facts(analysis: &Analysis) -> Vec<(&'static str, String)> {
    let found = &analysis.detection;
    let mut facts = vec![("Period", found.period.map_or("none".into(), seconds))];
    if found.period.is_some() {
        facts.push(("Confidence", percent(found.confidence)));
    }
    facts.extend(found.refined_confidence.map(|refined| ("Refined", percent(refined))));
    facts.push(("Signal", found.signal.to_string()));
    let traits = &found.characterization;
    if analysis.is_quantity {
        facts.extend(traits.r_io.map(|share| ("Time in phases", percent(share))));
        facts.extend(traits.b_io.map(|value| ("Value in phases", number(value))));
    } else {
        facts.extend(traits.r_io.map(|share| ("Time in I/O", percent(share))));
        facts.extend(traits.b_io.map(|bandwidth| ("Bandwidth in I/O", si(bandwidth, "B/s"))));
        facts.extend(traits.bytes_per_period.map(|volume| ("Per period", bytes(volume))));
    }
    let next = found.next_phase.filter(|next| !next.provisional);
    facts.extend(next.map(|next| ("Next phase", format!("at {}", seconds(next.start)))));
    facts
}

fn marks(analysis: &Analysis) -> Vec<Mark> {
    let found = &analysis.detection;
    let duration = analysis.signal.duration();
    let power = |frequency: f64| {
        let k = (frequency * duration).round() as usize;
        k.checked_sub(1).and_then(|i| analysis.contributions.get(i)).copied().unwrap_or(0.0)
    };
    let mut marks: Vec<Mark> = found
        .harmonics
        .iter()
        .take(32)
        .map(|&frequency| Mark {
            frequency,
            power: power(frequency),
            kind: "harmonic",
            label: format!("harmonic, {}", seconds(1.0 / frequency)),
        })
        .collect();
    marks.extend(found.candidates.iter().enumerate().map(|(i, candidate)| {
        let dominant = i == 0 && found.periodic;
        let shown = if dominant { found.period.unwrap_or_default() } else { 1.0 / candidate.frequency };
        Mark {
            frequency: candidate.frequency,
            power: candidate.power,
            kind: if dominant { "dominant" } else { "candidate" },
            label: format!("{}, {} of the power", seconds(shown), percent(candidate.power)),
        }
    }));
    marks
}

/// Up to which frequency most of what matters is: ten times the dominant one, or nine tenths of the power.
fn interesting(spectrum: &Curve, dominant: Option<f64>) -> f64 {
    let last = spectrum.x.last().copied().unwrap_or(1.0);
    let enough = dominant.map(|frequency| 10.0 * frequency).or_else(|| {
        let mut sum = 0.0;
        let index = spectrum.y.iter().position(|power| {
            sum += power;
            sum >= 0.9
        })?;
        Some(spectrum.x[index] * 1.1)
    });
    let least = spectrum.x.get(15).copied().unwrap_or(last);
    enough.unwrap_or(last).max(least).min(last)
}
