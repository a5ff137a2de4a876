//! What led to the answer, as it is written to JSON and told in words: which hypotheses were weighed, and
//! what spoke for and against the best and the next.

use crate::estimate::features::Described;
use crate::estimate::hypotheses::Form;
use crate::estimate::score::Posterior;
use crate::estimate::view::View;
use crate::estimate::weights::WEIGHTS;
use crate::phases::phase::Phase;
use crate::phases::regularity::Regularity;
use crate::phases::{mean_distance_within, usually_made_of};
use crate::signal::Signal;
use crate::spectral::SpectralResult;
use schemars::JsonSchema;
use serde::Serialize;

/// At most this many hypotheses are listed, and this many signs for and against each.
const LISTED: usize = 5;
const SIGNS: usize = 3;

/// A less probable hypothesis is not listed.
const LEAST: f64 = 0.005;

/// What led to the answer.
#[derive(Clone, Debug, Default, PartialEq, JsonSchema, Serialize)]
#[non_exhaustive]
pub struct Evidence {
    /// Where the period comes from: `phases` (the distances of their starts) or `spectrum`; `None` without
    /// one.
    pub method: Option<&'static str>,
    /// Phases counted.
    pub phases: usize,
    /// Start of the first one, in seconds of job time.
    pub first_start: Option<f64>,
    /// Start of the last one.
    pub last_start: Option<f64>,
    /// Mean distance of their starts, whether or not it is called a period.
    pub mean_distance: Option<f64>,
    /// Coefficient of variation of the distances.
    pub distance_variation: Option<f64>,
    /// Coefficient of variation of the volumes.
    pub volume_variation: Option<f64>,
    /// How uneven the phases are, relative to phases at random instants: 1 and more is no period.
    pub irregularity: Option<f64>,
    /// Octaves of time scales over which this number of phases is seen.
    pub octaves: f64,
    /// The probability of the next best period, relative to that of the best.
    pub rival: f64,
    /// The finer level: regular bursts inside each phase.
    pub inner: Option<Inner>,
    /// The period that the spectrum alone gives, if one frequency stands out.
    pub spectrum_period: Option<f64>,
    /// How far that frequency stands out: c_d of the paper.
    pub spectrum_confidence: f64,
    /// The autocorrelation one period later.
    pub autocorrelation: Option<f64>,
    /// The share of the signal's variance that repeats every period, beyond what it would by chance.
    pub repetition: Option<f64>,
    /// The hypotheses that were weighed, most probable first.
    pub hypotheses: Vec<Weighed>,
    /// The probability that there is no period; `None` where nothing was weighed.
    pub no_period: Option<f64>,
}

/// Regular bursts inside each phase.
#[derive(Clone, Copy, Debug, PartialEq, JsonSchema, Serialize)]
pub struct Inner {
    /// How many there are in all: the usual number in a phase, for each phase.
    pub bursts: usize,
    /// Mean distance of the starts of those of one phase, in seconds.
    pub mean_distance: f64,
}

/// A hypothesis that was weighed.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct Weighed {
    /// Its form.
    pub form: Form,
    /// The period in seconds.
    pub period: f64,
    /// Its probability, with that of all others of this period.
    pub probability: f64,
    /// Phases that are members of the rhythm.
    pub phases: usize,
    /// What speaks for it, compared to the next (the best to the second, each other to the best), strongest
    /// first.
    #[serde(rename = "for")]
    pub speaks_for: Vec<String>,
    /// What speaks against it.
    pub against: Vec<String>,
}

impl Evidence {
    /// Of what was seen in a signal.
    pub fn of(view: &View) -> Self {
        let posterior = &view.posterior;
        let rival = match posterior.candidates.as_slice() {
            [best, next, ..] if best.probability > 0.0 => next.probability / best.probability,
            _ => 0.0,
        };
        let hypotheses = weighed(posterior);
        let evidence = Evidence { rival, hypotheses, no_period: Some(posterior.none), ..Evidence::default() };
        // The phases of the most probable hypothesis, or else of the best list.
        match (posterior.candidates.first(), view.best) {
            (Some(best), _) => {
                let one = &best.best.hypothesis;
                evidence.with_phases(view, one.list, &view.members(one))
            }
            (None, Some(list)) => {
                let phases = view.lists[list].list.phases.clone();
                evidence.with_phases(view, list, &phases)
            }
            (None, None) => evidence,
        }
    }

    /// With the phases of a list that count.
    pub fn with_phases(mut self, view: &View, list: usize, phases: &[Phase]) -> Self {
        let since = view.signal.start_seconds();
        self.phases = phases.len();
        self.first_start = phases.first().map(|phase| since + phase.start);
        self.last_start = phases.last().map(|phase| since + phase.start);
        self.octaves = view.lists[list].list.octaves;
        if let Some(regularity) = Regularity::of(phases) {
            self.mean_distance = Some(regularity.period);
            self.distance_variation = Some(regularity.distances);
            self.volume_variation = Some(regularity.volumes);
            self.irregularity = (phases.len() > 2).then(|| regularity.irregularity());
        }
        self.inner = inner(view, phases);
        self
    }

    /// With what the signal itself says about a period.
    pub fn with_repetition(mut self, signal: &Signal, correlation: f64, period: f64) -> Self {
        self.autocorrelation = Some(correlation);
        self.repetition = repetition(signal, period);
        self
    }

    /// With what the spectrum says, if it was asked.
    pub fn with_spectrum(mut self, spectral: Option<&SpectralResult>) -> Self {
        if let Some(spectral) = spectral {
            self.spectrum_period = spectral.frequency.map(|frequency| 1.0 / frequency);
            self.spectrum_confidence = spectral.confidence();
        }
        self
    }

    /// The hypotheses in words, a line each.
    pub fn told(&self) -> Vec<String> {
        let mut lines: Vec<String> = self.hypotheses.iter().map(Weighed::told).collect();
        if let (false, Some(no_period)) = (lines.is_empty(), self.no_period) {
            lines.push(format!("no period: {:.1} %", 100.0 * no_period));
        }
        lines
    }

    /// Does the spectrum give about this period?
    pub fn spectrum_agrees(&self, period: f64) -> bool {
        self.spectrum_period.is_some_and(|other| (other / period - 1.0).abs() <= 0.05)
    }
}

impl Weighed {
    /// In words.
    fn told(&self) -> String {
        let form = match self.form {
            Form::Mean => "the mean distance of",
            Form::Drift => "steadily changing distances of",
            Form::Change => "two periods, one after the other, of",
            Form::Comb => "a comb through",
            Form::Line => "a line of the spectrum, beside",
        };
        let mut text = format!(
            "{:.4} s at {:.1} %, {form} {} phases",
            self.period,
            100.0 * self.probability,
            self.phases
        );
        for (what, signs) in [("for it", &self.speaks_for), ("against it", &self.against)] {
            if !signs.is_empty() {
                text.push_str(&format!("; {what}: {}", signs.join(", ")));
            }
        }
        text
    }
}

/// Regular bursts inside each of some phases: the best rated of the lists that they are usually made of.
fn inner(view: &View, phases: &[Phase]) -> Option<Inner> {
    let lists = view.lists.iter().map(|marked| &marked.list);
    let finer = lists.filter_map(|finer| Some((finer, usually_made_of(phases, finer)?)));
    let (best, each) = finer
        .max_by(|(a, _), (b, _)| a.rating.total_cmp(&b.rating).then(b.phases.len().cmp(&a.phases.len())))?;
    Some(Inner { bursts: each * phases.len(), mean_distance: mean_distance_within(phases, best)? })
}

/// The most probable hypotheses, in words.
fn weighed(posterior: &Posterior) -> Vec<Weighed> {
    let candidates = &posterior.candidates;
    let listed = candidates.iter().take(LISTED).enumerate();
    let listed = listed.filter(|(number, one)| *number < 2 || one.probability >= LEAST);
    let told = |(number, one): (usize, &crate::estimate::score::Candidate)| {
        let other = if number == 0 { candidates.get(1) } else { candidates.first() };
        let (speaks_for, against) = compared(&one.best, other.map(|other| &other.best));
        Weighed {
            form: one.best.hypothesis.form,
            period: one.best.hypothesis.period,
            probability: one.probability,
            phases: one.best.hypothesis.members.len(),
            speaks_for,
            against,
        }
    };
    listed.map(told).collect()
}

/// What makes the score of a hypothesis higher, and lower, than that of another (or than nothing at all).
fn compared(one: &Described, other: Option<&Described>) -> (Vec<String>, Vec<String>) {
    let mut differences: Vec<(f64, String)> = Vec::new();
    for (i, weight) in WEIGHTS.iter().enumerate() {
        let value = one.features[i];
        let against = other.map(|other| other.features[i]);
        let difference = weight.value * (value - against.unwrap_or(0.0));
        let words = match against {
            Some(against) => format!("{}: {value:.2} against {against:.2}", weight.meaning),
            None => format!("{}: {value:.2}", weight.meaning),
        };
        differences.push((difference, words));
    }
    differences.sort_by(|a, b| b.0.total_cmp(&a.0));
    let clear = |(difference, _): &&(f64, String)| difference.abs() >= 0.1;
    let up = differences.iter().filter(clear).filter(|(difference, _)| *difference > 0.0);
    let down = differences.iter().rev().filter(clear).filter(|(difference, _)| *difference < 0.0);
    let words = |list: Vec<&(f64, String)>| list.into_iter().map(|(_, words)| words.clone()).collect();
    (words(up.take(SIGNS).collect()), words(down.take(SIGNS).collect()))
}

/// The share of the variance that is in the mean period, corrected for chance: 0 for noise, 1 if all periods
/// are the same.
fn repetition(signal: &Signal, period: f64) -> Option<f64> {
    const BINS: usize = 32;
    let periods = signal.duration() / period;
    let mean = signal.mean();
    let total: f64 = signal.samples.iter().map(|x| (x - mean).powi(2)).sum();
    if periods < 2.0 || total <= 0.0 {
        return None;
    }
    let bins = BINS.min((period / signal.step()) as usize).max(2);
    let (mut sums, mut counts) = (vec![0.0; bins], vec![0.0; bins]);
    for (i, x) in signal.samples.iter().enumerate() {
        let turn = (i as f64 + 0.5) * signal.step() / period;
        let bin = ((turn.fract() * bins as f64) as usize).min(bins - 1);
        sums[bin] += x - mean;
        counts[bin] += 1.0;
    }
    let folded: f64 =
        sums.iter().zip(&counts).map(|(sum, count): (&f64, &f64)| sum * sum / count.max(1.0)).sum();
    let chance = 1.0 / periods;
    Some(((folded / total - chance) / (1.0 - chance)).clamp(0.0, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bursts_repeat_with_their_period_only() {
        let samples = (0..1000).map(|i| if i % 50 < 10 { 1.0 } else { 0.0 }).collect();
        let signal = Signal { start: 0, bin: 1_000_000_000, samples, abstraction_error: 0.0 };
        assert!(repetition(&signal, 50.0).unwrap() > 0.9 && repetition(&signal, 63.0).unwrap() < 0.2);
        assert_eq!(repetition(&signal, 900.0), None);
    }
}
