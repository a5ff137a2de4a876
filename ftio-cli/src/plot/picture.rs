//! What is in a picture, whatever it is written as: curves thinned out to what can be seen, and words.

use crate::text::printable;
use crate::units::{bytes, counted, percent, seconds, si};
use ftio_core::detect::Analysis;
use ftio_core::step::StepFunction;
use serde::Serialize;

/// A picture. Times are in seconds, bandwidths in bytes per second, frequencies in Hz.
#[derive(Debug, Serialize)]
pub struct Picture {
    pub title: String,
    /// The verdict in one line.
    pub subtitle: String,
    /// Start and end of the window.
    pub window: [f64; 2],
    /// The exact bandwidth, if the requests were kept: a step at each point.
    pub exact: Option<Curve>,
    /// The sampled bandwidth: a step at each point.
    pub sampled: Curve,
    pub wave: Option<WaveCurve>,
    /// Contribution of each frequency.
    pub spectrum: Curve,
    /// The frequencies worth looking at first.
    pub frequency_range: f64,
    pub candidates: Vec<Mark>,
    pub next_phase: Option<[f64; 2]>,
}

/// Points, x ascending.
#[derive(Debug, Default, Serialize)]
pub struct Curve {
    pub x: Vec<f64>,
    pub y: Vec<f64>,
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
    pub fn of(analysis: &Analysis, points: usize) -> Self {
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
            frequency_range: interesting(&spectrum, found.frequency),
            spectrum: spectrum.peaks(4 * points),
            candidates: marks(analysis),
            next_phase: found.next_phase.map(|next| [next.start, next.end]),
        }
    }
}

/// Adding and subtracting bandwidths leaves a little where there is nothing.
fn without_residue(mut values: Vec<f64>) -> Vec<f64> {
    let negligible = 1e-9 * values.iter().copied().fold(0.0, f64::max);
    values.iter_mut().filter(|value| **value < negligible).for_each(|value| *value = 0.0);
    values
}

fn subtitle(analysis: &Analysis) -> String {
    let found = &analysis.detection;
    let verdict = match found.period {
        Some(period) => {
            let refined =
                found.refined_confidence.map(|c| format!(", refined {}", percent(c))).unwrap_or_default();
            format!("period {}, confidence {}{refined}", seconds(period), percent(found.confidence))
        }
        None => format!("no period: {}", found.reasons.join("; ")),
    };
    format!(
        "{verdict} · {} · {} · {} · {} at {}",
        found.mode,
        counted(found.ranks.into(), "rank"),
        bytes(found.total_bytes as f64),
        counted(found.n_samples as u64, "sample"),
        si(found.sampling_frequency, "Hz")
    )
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

impl Curve {
    /// First, lowest, highest and last point of each of `points / 4` stretches: it looks the same and has no gaps.
    fn thinned(self, points: usize) -> Curve {
        let columns = points / 4;
        if self.x.len() <= points || columns == 0 {
            return self;
        }
        let (first, last) = (self.x[0], self.x[self.x.len() - 1]);
        let column = |x: f64| (((x - first) / (last - first) * columns as f64) as usize).min(columns - 1);
        let mut out = Curve::default();
        let mut from = 0;
        while from < self.x.len() {
            let this = column(self.x[from]);
            let to = from + self.x[from..].partition_point(|&x| column(x) <= this);
            let range = from..to.max(from + 1);
            let by_value = |a: &usize, b: &usize| self.y[*a].total_cmp(&self.y[*b]);
            let mut keep = vec![range.start, range.end - 1];
            keep.extend(range.clone().min_by(by_value));
            keep.extend(range.clone().max_by(by_value));
            keep.sort_unstable();
            keep.dedup();
            for i in keep {
                out.x.push(self.x[i]);
                out.y.push(self.y[i]);
            }
            from = range.end;
        }
        out
    }

    /// Only the highest point of each stretch, if there are more than `points`.
    fn peaks(self, points: usize) -> Curve {
        if self.x.len() <= points {
            return self;
        }
        let size = self.x.len().div_ceil(points.max(1));
        let mut out = Curve::default();
        for start in (0..self.x.len()).step_by(size) {
            let range = start..(start + size).min(self.x.len());
            if let Some(i) = range.max_by(|a, b| self.y[*a].total_cmp(&self.y[*b])) {
                out.x.push(self.x[i]);
                out.y.push(self.y[i]);
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thinning_keeps_extremes_and_order() {
        let x: Vec<f64> = (0..10_000).map(f64::from).collect();
        let y: Vec<f64> = x.iter().map(|x| if *x == 4321.0 { 99.0 } else { (x / 7.0).sin() }).collect();
        let thin = Curve { x, y }.thinned(400);
        assert!(thin.x.len() <= 400, "{}", thin.x.len());
        assert!(thin.x.is_sorted() && thin.y.contains(&99.0));
        assert_eq!((thin.x[0], thin.x[thin.x.len() - 1]), (0.0, 9999.0));
    }

    #[test]
    fn peaks_survive() {
        let y: Vec<f64> = (0..1000).map(|i| if i == 501 { 1.0 } else { 0.0 }).collect();
        let thin = Curve { x: (0..1000).map(f64::from).collect(), y }.peaks(100);
        assert_eq!(thin.x.len(), 100);
        assert!(thin.x.contains(&501.0));
    }
}
