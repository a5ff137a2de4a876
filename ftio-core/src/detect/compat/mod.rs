//! The published method: as the Python FTIO 0.0.9 does it, step by step (`--compat`), and as it is printed
//! (`--paper`).
//!
//! `--compat` gives the same answers as that tool, its weaknesses included, for whoever needs to compare.
//! Where it differs from the default:
//!
//! | step | here | default |
//! |---|---|---|
//! | bandwidth of a phase | as the trace has it, else bytes / duration | bytes |
//! | window | from the first to the last event inside `--ts`, `--te`; `--ts 0` counts as not given | as asked for, idle time included |
//! | samples | the bandwidth at ⌊Δt·f_s⌋ instants, f_s = 10 Hz or 2 / (shortest distance of two events) | volumes of bins |
//! | heatmaps | five samples of each bin | one |
//! | Z-score | of the absolute deviation, compared by `>` | signed, `≥` |
//! | harmonics | any multiple, by the floating-point remainder of frequencies | multiples of two, by bin |
//! | dominant | the stronger of up to two, even if it fits only once into the window | more than two periods |
//! | period | on the grid of the DFT | between the frequencies of the DFT |
//! | refined confidence | (1 + c_d + c_a)/3 | (c_d + c_a + c_s)/3 |
//!
//! `--paper` shares window, samples and grid with `--compat`, but keeps to what is printed in *Capturing
//! Periodic I/O Using Frequency Techniques*: the Z-score is signed and compared by `≥`; harmonics are integer
//! multiples of a lower candidate's bin; the [autocorrelation](crate::spectral::autocorrelation) and c_s are
//! those of the text; `confidence` stays c_d, and `refined_confidence` is (c_d + c_a + c_s)/3.
//!
//! With the autocorrelation, `--compat`'s `confidence` is the refined one, as that tool knows only one. Its
//! isolation forest draws different numbers in every run and cannot be reproduced; ours is used, with its
//! limits. What it prints beside the result (fits, filters, other transforms) is not part of this.

mod autocorrelation;
mod outliers;

pub use autocorrelation::autocorrelation;

use crate::detect::characterize::{characterize, pieces};
use crate::detect::detection::{AutocorrelationResult, Candidate, Detection, SCHEMA};
use crate::detect::next_phase::next_phase;
use crate::detect::{Analysis, Method, Options, listed};
use crate::estimate::kind::kind;
use crate::signal::Signal;
use crate::signal::step::{StepFunction, Stretch};
use crate::spectral::autocorrelation::Autocorrelation;
use crate::spectral::harmonics::{Candidates, HarmonicRule};
use crate::spectral::outlier::ZScore;
use crate::spectral::spectrum::{Spectrum, TopFrequency, Wave};
use sources::Job;
use sources::request::Mode;
use sources::time::{PER_SECOND, nanoseconds, seconds};

/// Sampling frequency if none is asked for.
const SAMPLING_FREQUENCY: f64 = 10.0;

/// Samples of each bin of a heatmap.
const OVERSAMPLING: f64 = 5.0;

/// Most samples at the automatic sampling frequency: half a gigabyte, as numbers of eight bytes.
const MAX_AUTOMATIC_SAMPLES: f64 = 62.5e6;

/// Most samples otherwise, which is our own limit: 19 days at 10 Hz. More are the sign of a broken time.
const MAX_SAMPLES: f64 = (1u32 << 24) as f64;

/// A merged confidence below this is no result.
const MIN_CONFIDENCE: f64 = 0.2;

/// The mode that the Python FTIO looks at when asked for this one: nothing but single classes, blocking
/// unless said otherwise.
pub fn mode(asked: Option<Mode>) -> Mode {
    match asked {
        None | Some(Mode::Write | Mode::WriteSync) => Mode::WriteSync,
        Some(Mode::Read | Mode::All | Mode::ReadSync) => Mode::ReadSync,
        Some(Mode::WriteAsync | Mode::WriteAsyncRequired) => Mode::WriteAsync,
        Some(Mode::ReadAsync | Mode::ReadAsyncRequired) => Mode::ReadAsync,
    }
}

/// Options for data that arrive already binned (`bin` nanoseconds wide): the Python FTIO takes five samples
/// per bin.
pub fn with_bins(options: &Options, bin: Option<i64>) -> Options {
    let frequency =
        bin.filter(|_| !options.automatic_frequency).map(|ns| OVERSAMPLING * PER_SECOND / ns as f64);
    Options { frequency: options.frequency.or(frequency), ..options.clone() }
}

/// The samples, and how they came about.
struct Sampled {
    values: Vec<f64>,
    frequency: f64,
    abstraction_error: f64,
    start: f64,
    end: f64,
    bytes: f64,
}

/// From this abstraction error on, the Python FTIO's samples say little about the signal.
const MOSTLY_MISSED: f64 = 0.5;

/// What was found.
struct Found {
    spectrum: Spectrum,
    contributions: Vec<f64>,
    candidates: Candidates,
    outliers: outliers::Published,
}

/// Analyse phases: bandwidth, start and end of each, in bytes per second and seconds.
pub fn analyse(name: &str, phases: &[Stretch], mode: Mode, job: &Job, options: &Options) -> Analysis {
    let mut notes = job.notes.clone();
    let phases = usable(phases, &mut notes);
    let sampled = sample(&phases, options, &mut notes);
    if phases.is_empty() {
        notes.push(format!("no bytes were transferred in mode {mode}"));
    } else if sampled.values.is_empty() {
        notes.push(format!(
            "the window of {} s is too short for one sample at {} Hz",
            sampled.end - sampled.start,
            sampled.frequency
        ));
    } else if sampled.abstraction_error > MOSTLY_MISSED {
        notes.push("the samples miss much of the signal: do not trust this (-f takes more samples)".into());
    }
    let signal = Signal {
        start: nanoseconds(sampled.start),
        bin: ((PER_SECOND / sampled.frequency).round() as i64).max(1),
        samples: sampled.values,
        abstraction_error: sampled.abstraction_error,
    };
    let n = signal.samples.len();
    let on_grid = |k: usize| sampled.frequency * k as f64 / n as f64;
    let Found { spectrum, contributions, candidates, outliers } =
        find(&signal.samples, sampled.frequency, options);
    let confidence_of = |k: usize| outliers.confidence(k, &candidates.harmonics);
    let printed = acf_as_printed(&signal.samples, sampled.frequency, options);
    let acf = match &printed {
        Some(found) => Some((found.period, found.confidence)),
        None if options.method == Method::Paper || !options.autocorrelation => None,
        None => autocorrelation(&signal.samples, sampled.frequency),
    };

    let mut frequency = candidates.dominant.map(on_grid);
    let mut c_d = candidates.dominant.map_or(0.0, confidence_of);
    let mut refined = None;
    let similarity = match (&printed, frequency) {
        (Some(found), Some(frequency)) => Some(found.similarity(1.0 / frequency)),
        (None, Some(_)) => Some(1.0),
        _ => None,
    };
    if options.method == Method::Paper {
        let refine = |found: &Autocorrelation| Some(found.refined_confidence(1.0 / frequency?, c_d));
        refined = printed.as_ref().and_then(refine);
    } else if let Some((acf_period, c_a)) = acf {
        // All DFT candidates are equally similar to an empty list, so the first one, of the lowest frequency,
        // is taken.
        let first = candidates.dominant.and(candidates.kept.first()).copied();
        let (chosen, merged) = match first {
            Some(k) => (Some(on_grid(k)), (1.0 + confidence_of(k) + c_a) / 3.0),
            None => (Some(1.0 / acf_period), c_a / 3.0),
        };
        let kept = first.is_none() || merged >= MIN_CONFIDENCE;
        frequency = chosen.filter(|_| kept);
        c_d = if kept { merged } else { 0.0 };
        refined = kept.then_some(merged);
    }
    let wave = frequency.map(|f| Wave::in_samples(&signal.samples, signal.step(), f));
    let cut = wave.as_ref().map(|wave| pieces(&signal, wave)).unwrap_or_default();
    let period = frequency.map(|f| 1.0 / f);
    let (signal_kind, reasons) = kind(&signal, &spectrum, &contributions, &candidates);
    let z =
        ZScore { as_published: options.method != Method::Paper, ..ZScore::default() }.scores(&contributions);
    // Without samples it is still known when the job was.
    let (t_start, t_end) = if n > 0 {
        (sampled.start, sampled.end)
    } else {
        let start = options.from.or(job.start.map(seconds)).unwrap_or(0.0);
        (start, options.to.or(job.end.map(seconds)).unwrap_or(start))
    };
    let detection = Detection {
        schema: SCHEMA,
        source: name.to_owned(),
        mode,
        ranks: job.ranks,
        total_bytes: sampled.bytes.max(0.0) as u64,
        t_start,
        t_end,
        sampling_frequency: (n > 0).then_some(sampled.frequency),
        n_samples: n,
        abstraction_error: sampled.abstraction_error,
        periodic: period.is_some(),
        period,
        frequency,
        confidence: c_d,
        refined_confidence: refined,
        candidates: listed(&candidates, &contributions, |k, power| Candidate {
            frequency: on_grid(k),
            confidence: confidence_of(k),
            power,
            z: z.get(k - 1).copied().unwrap_or(0.0),
        }),
        signal: signal_kind,
        characterization: characterize(&signal, frequency, &cut),
        next_phase: period.and_then(|period| next_phase(&cut, None, period, sampled.start, sampled.end)),
        complete: job.complete,
        requests: Some(phases.len() as u64),
        frequency_resolution: (n > 0).then(|| sampled.frequency / n as f64),
        harmonics: candidates.harmonics.iter().map(|&k| on_grid(k)).collect(),
        autocorrelation: acf.map(|(period, confidence)| AutocorrelationResult {
            period,
            confidence,
            similarity,
        }),
        // FTIO lists the frequencies below half the sampling frequency.
        top_frequencies: spectrum
            .strongest(&contributions[..n.saturating_sub(1) / 2], options.top)
            .into_iter()
            .map(|(k, wave)| TopFrequency { frequency: on_grid(k), ..wave })
            .collect(),
        reasons,
        notes: job.warnings.iter().chain(&notes).cloned().collect(),
        ..Detection::default()
    };
    Analysis::new(detection, job.warnings.clone(), notes, signal, contributions, wave, Some(phases))
        .reconstructed(&spectrum, options.reconstruct)
}

/// Without phases that have no finite numbers.
fn usable(phases: &[Stretch], notes: &mut Vec<String>) -> Vec<Stretch> {
    let finite = |s: &&Stretch| s.start.is_finite() && s.end.is_finite() && s.bandwidth.is_finite();
    let kept: Vec<Stretch> = phases.iter().filter(finite).copied().collect();
    if kept.len() < phases.len() {
        notes.push(format!(
            "{} phases whose times or bandwidth are not numbers were left out",
            phases.len() - kept.len()
        ));
    }
    kept
}

fn sample(phases: &[Stretch], options: &Options, notes: &mut Vec<String>) -> Sampled {
    let given = |edge: Option<f64>| edge.filter(|edge| *edge != 0.0);
    let steps = StepFunction::overlap(phases).window(given(options.from), given(options.to));
    let (start, end) =
        steps.times.first().zip(steps.times.last()).map_or((0.0, 0.0), |(first, last)| (*first, *last));
    let automatic = options.automatic_frequency;
    let mut frequency = match options.frequency {
        Some(hz) => hz,
        None if automatic => shortest_distance(&steps.times).map_or(SAMPLING_FREQUENCY, |d| 2.0 / d),
        None => SAMPLING_FREQUENCY,
    };
    let most = if automatic { MAX_AUTOMATIC_SAMPLES } else { MAX_SAMPLES };
    if ((end - start) * frequency).floor() > most {
        let lower = most / (end - start);
        if !automatic {
            notes.push(format!("{frequency} Hz would give more than {most} samples; {lower} Hz was used"));
        }
        frequency = lower;
    }
    let (values, abstraction_error) = steps.sample_and_hold(frequency);
    Sampled { values, frequency, abstraction_error, start, end, bytes: steps.volume() }
}

fn shortest_distance(times: &[f64]) -> Option<f64> {
    times.windows(2).map(|pair| pair[1] - pair[0]).filter(|d| *d > 0.0).min_by(f64::total_cmp)
}

/// The autocorrelation as the paper has it, if it is asked for.
fn acf_as_printed(samples: &[f64], frequency: f64, options: &Options) -> Option<Autocorrelation> {
    (options.method == Method::Paper && options.autocorrelation)
        .then(|| Autocorrelation::of(samples, 1.0 / frequency))
        .flatten()
}

fn find(samples: &[f64], frequency: f64, options: &Options) -> Found {
    let spectrum = Spectrum::of(samples, samples.len() as f64 / frequency);
    let contributions = spectrum.contributions_as_published(options.measure);
    let (outliers, rule) = if options.method == Method::Paper {
        (outliers::as_printed(options.outlier, &contributions, options.tolerance), HarmonicRule::AnyMultiple)
    } else {
        let rule = HarmonicRule::AsPublished { sampling_frequency: frequency };
        (outliers::find(options.outlier, &contributions, options.tolerance), rule)
    };
    let candidates = Candidates::of(&outliers.found, &contributions, &spectrum, rule);
    Found { spectrum, contributions, candidates, outliers }
}
