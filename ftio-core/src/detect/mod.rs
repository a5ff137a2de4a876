//! The whole way from requests to a candidates.
//!
//! 1. [collect](crate::signal::collect) the requests of the mode into bins, in one pass;
//! 2. take the bandwidth [signal](crate::signal) of the window from the bins;
//! 3. transform it, and take the contribution of each frequency ([spectrum](crate::spectral::spectrum));
//! 4. find the frequencies that stand out ([outlier](crate::spectral::outlier)), set harmonics aside, judge
//!    ([candidates](crate::spectral::harmonics)), and locate the dominant one between the bins ([refine](crate::spectral::refine));
//! 5. count the phases in the finest bins ([counting](crate::phases)), and [estimate](crate::estimate) from them and the spectrum whether there is a
//!    period, which, and [how sure](crate::estimate::confidence) that is;
//! 6. say how the I/O [behaves](crate::detect::characterize) and when it comes [next](crate::detect::next_phase).

pub mod characterize;
pub mod compat;
pub mod detection;
pub mod next_phase;
pub mod over_time;
pub mod per_group;

use crate::detect::characterize::{Characterization, Piece, begun_after, characterize, pieces};
use crate::detect::detection::{AutocorrelationResult, Candidate, Detection, SCHEMA, TopFrequency};
use crate::detect::next_phase::{NextPhase, next_phase};
use crate::detect::over_time::over_time;
use crate::estimate::kind::kind_with;
use crate::estimate::{Estimate, estimate};
use crate::phases::phase::Phase;
use crate::request::{Detail, Mode};
use crate::signal::collect::{Collected, Collector, width};
use crate::signal::lanes::Lanes;
use crate::signal::step::Stretch;
use crate::signal::{MAX_SAMPLES, Signal};
use crate::source::{BandwidthPiece, Job, Source, SourceError, Span};
use crate::spectral::autocorrelation::Autocorrelation;
use crate::spectral::harmonics::{Candidates, Reason};
use crate::spectral::outlier::ZScore;
use crate::spectral::reconstruct::reconstruct;
use crate::spectral::spectrum::{Measure, Spectrum, Wave};
use crate::spectral::wavelet::Scalogram;
use crate::spectral::{SpectralDetector, SpectralResult};

pub use crate::spectral::Outlier;

/// More candidates than this are not listed.
const MAX_LISTED: usize = 32;

/// What to analyse, and how.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// `None`: writes, or reads if nothing was written.
    pub mode: Option<Mode>,
    /// Sampling frequency in Hz; `None`: chosen from the data (see [`signal`](crate::signal)).
    pub frequency: Option<f64>,
    /// Start of the window in seconds of job time.
    pub from: Option<f64>,
    /// End of the window in seconds of job time.
    pub to: Option<f64>,
    /// How frequencies that stand out are found.
    pub outlier: Outlier,
    /// A second method that must agree with the first.
    pub second_outlier: Option<Outlier>,
    /// How close to the strongest frequency a candidate must come, 0 … 1.
    pub tolerance: f64,
    /// Power or amplitude.
    pub measure: Measure,
    /// Ask for a second opinion.
    pub autocorrelation: bool,
    /// Leave out the first phase, which initialisation often prolongs.
    pub skip_first_phase: bool,
    /// How many of the strongest waves to list.
    pub top: usize,
    /// Keep what is needed to draw the exact bandwidth.
    pub keep_requests: bool,
    /// Add up the mean and this many of the strongest waves.
    pub reconstruct: Option<usize>,
    /// Look for when which period holds.
    pub over_time: bool,
    /// Analyse as the Python FTIO 0.0.9 does (see [`compat`]).
    pub compat: bool,
    /// With [`compat`](Self::compat): sample at the rate of the fastest change, rather than at 10 Hz.
    pub automatic_frequency: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            mode: None,
            frequency: None,
            from: None,
            to: None,
            outlier: Outlier::ZScore,
            second_outlier: None,
            tolerance: 0.8,
            measure: Measure::Power,
            autocorrelation: false,
            skip_first_phase: false,
            top: 0,
            keep_requests: false,
            reconstruct: None,
            over_time: false,
            compat: false,
            automatic_frequency: false,
        }
    }
}

impl Options {
    /// For the requests that these options select.
    pub fn collector(&self) -> Collector {
        Collector::new(self.mode, self.window(), self.frequency, self.keep_requests)
    }

    /// The window in nanoseconds of job time, as far as it was asked for.
    fn window(&self) -> (Option<i64>, Option<i64>) {
        (self.from.map(nanoseconds), self.to.map(nanoseconds))
    }

    /// How a signal is judged.
    pub fn spectral_detector(&self) -> SpectralDetector {
        SpectralDetector {
            outlier: self.outlier,
            second: self.second_outlier,
            tolerance: self.tolerance,
            measure: self.measure,
        }
    }
}

/// A result, with what it was derived from.
#[derive(Clone, Debug)]
pub struct Analysis {
    /// The result.
    pub detection: Detection,
    /// How many of the result's notes, from the first on, are warnings about the trace.
    pub warnings: usize,
    /// The sampled bandwidth; no samples if the mode is empty.
    pub signal: Signal,
    /// Contribution of the frequencies k = 1, 2, …
    pub contributions: Vec<f64>,
    /// The dominant wave, if there is one.
    pub wave: Option<Wave>,
    /// The requests, if they were to be kept and are not too many.
    pub stretches: Option<Vec<Stretch>>,
    /// How strong which period was when, if asked for.
    pub scalogram: Option<Scalogram>,
    /// What each rank did when, if requests were to be kept.
    pub lanes: Option<Lanes>,
    /// The phases that were counted, if there is a period by them; here in seconds of job time.
    pub phases: Vec<Phase>,
}

impl Analysis {
    /// A result and what it was derived from, without pictures over time.
    pub fn new(
        detection: Detection,
        warnings: usize,
        signal: Signal,
        contributions: Vec<f64>,
        wave: Option<Wave>,
        stretches: Option<Vec<Stretch>>,
    ) -> Self {
        Analysis {
            detection,
            warnings,
            signal,
            contributions,
            wave,
            stretches,
            scalogram: None,
            lanes: None,
            phases: Vec::new(),
        }
    }

    /// With the signal made of its strongest waves, if so many are asked for.
    pub fn reconstructed(mut self, spectrum: &Spectrum, count: Option<usize>) -> Self {
        self.detection.reconstruction = count.map(|count| reconstruct(spectrum, count));
        self
    }

    /// With what holds when.
    fn over_time(mut self, judge: &SpectralDetector) -> Self {
        let (over_time, scalogram) = over_time(&self.signal, judge);
        self.detection.over_time = Some(over_time);
        self.scalogram = scalogram;
        self
    }
}

/// Read a source and analyse it. `name` is what results call it.
pub fn detect(name: &str, source: impl Source, options: &Options) -> Result<Analysis, SourceError> {
    if options.compat {
        let mode = compat::mode(options.mode);
        let options = &compat::with_bins(options, source.bin());
        let mut phases = Vec::new();
        let mut lanes = options.keep_requests.then(|| Lanes::new(options.window()));
        let job = Box::new(source).read_pieces(mode.span(), &mut |some| {
            let selected = some.iter().filter(|phase| mode.selects(phase.class));
            phases.extend(selected.clone().map(Stretch::from));
            if let Some(lanes) = &mut lanes {
                selected.filter_map(BandwidthPiece::request).for_each(|request| {
                    lanes.add(&Detail { request, file: None, completion: None });
                });
            }
        })?;
        return Ok(Analysis { lanes, ..compat::analyse(name, &phases, mode, &job, options) });
    }
    // What has been in bins before is sampled at exactly their width.
    let options = &Options {
        frequency: options.frequency.or(source.bin().map(|ns| 1e9 / ns as f64)),
        ..options.clone()
    };
    let mut collector = options.collector();
    let span = options.mode.map_or(Span::Actual, Mode::span);
    let job = if options.keep_requests {
        collector.keep_lanes(options.window());
        Box::new(source).read_detailed(span, &mut |batch| collector.add_detailed(batch.requests))?
    } else {
        Box::new(source).read(span, &mut |requests| collector.add(requests))?
    };
    Ok(analyse(name, collector.finish(), &job, options))
}

/// Analyse what was collected.
pub fn analyse(name: &str, mut collected: Collected, job: &Job, options: &Options) -> Analysis {
    let mut notes = job.warnings.clone();
    notes.extend(job.notes.iter().cloned());
    let window = window(&mut collected, job, options);
    let mut finest = Signal::empty();
    let (mut signal, mut fine) = match window {
        Some((from, to)) => {
            collected.bins.fit(from, to);
            finest = Signal::from_bins(&collected.bins, from, to);
            sample(&mut collected, from, to, options, &mut notes)
        }
        None => (Signal::empty(), Signal::empty()),
    };
    complain(&collected, &mut notes);
    let per_unit = job.per_unit.unwrap_or(1.0);
    signal.samples.iter_mut().chain(&mut fine.samples).for_each(|sample| *sample /= per_unit);

    let spectral = options.spectral_detector().detect(&signal);
    let estimate = estimate(&fine, &spectral, options.from.is_some());
    let c_d = spectral.confidence();
    let SpectralResult { spectrum, contributions, outliers, candidates, .. } = spectral;
    let confidence = |k: usize| candidates.confidence(&outliers, k);
    let z = ZScore::default().scores(&contributions);

    let period = estimate.period;
    let frequency = period.map(|period| 1.0 / period);
    let wave = frequency.map(|frequency| Wave::in_samples(&signal.samples, signal.step(), frequency));
    let (t_start, t_end) = match (signal.samples.is_empty(), window) {
        (false, Some((_, to))) => (signal.start_seconds(), seconds(to).max(signal.start_seconds())),
        _ => (
            options.from.or(job.start.map(seconds)).unwrap_or(0.0),
            options.to.or(job.end.map(seconds)).unwrap_or(0.0),
        ),
    };
    let dominant = period.map(|period| (signal.duration() / period).round().max(1.0) as usize);
    let acf = if options.autocorrelation { correlate(&signal, dominant) } else { None };
    let (signal_kind, reasons) = match estimate.kind {
        Some(kind) => (kind, estimate.reasons.clone()),
        None => kind_with(&signal, &spectrum, &contributions, period, estimate.reasons.clone()),
    };
    let frequencies = |ks: &[usize]| ks.iter().map(|&k| spectrum.frequency(k)).collect();

    let detection = Detection {
        schema: SCHEMA,
        source: name.to_owned(),
        mode: collected.mode,
        ranks: job.ranks,
        total_bytes: if options.skip_first_phase || job.per_unit.is_some() {
            volume(&signal)
        } else {
            collected.bins.total_bytes()
        },
        t_start,
        t_end,
        sampling_frequency: if signal.samples.is_empty() { 0.0 } else { signal.sampling_frequency() },
        n_samples: signal.samples.len(),
        abstraction_error: signal.abstraction_error,
        periodic: period.is_some(),
        period,
        frequency,
        confidence: estimate.confidence,
        refined_confidence: period.and_then(|period| Some(acf.as_ref()?.refined_confidence(period, c_d))),
        candidates: listed(&candidates, &contributions, |k, power| Candidate {
            frequency: spectrum.frequency(k),
            confidence: if candidates.reason == Reason::TooMany { 0.0 } else { confidence(k) },
            power,
            z: z.get(k - 1).copied().unwrap_or(0.0),
        }),
        signal: signal_kind,
        characterization: behaviour(&signal, &fine, &finest.since(signal.start), frequency),
        next_phase: next(&signal, &fine, &estimate, t_end),
        complete: job.complete,
        requests: collected.bins.requests(),
        frequency_resolution: if signal.samples.is_empty() { 0.0 } else { 1.0 / signal.duration() },
        harmonics: frequencies(&candidates.harmonics),
        autocorrelation: acf.as_ref().map(|acf| AutocorrelationResult {
            period: acf.period,
            confidence: acf.confidence,
            similarity: period.map(|period| acf.similarity(period)),
        }),
        top_frequencies: strongest(&spectrum, &contributions, options.top),
        reasons,
        notes,
        periods: estimate.periods,
        evidence: Some(estimate.evidence),
        ..Detection::default()
    };
    let analysis =
        Analysis::new(detection, job.warnings.len(), signal, contributions, wave, collected.stretches)
            .reconstructed(&spectrum, options.reconstruct);
    let since = fine.start_seconds();
    let phases = estimate.phases.iter().map(|phase| Phase {
        start: since + phase.start,
        end: since + phase.end,
        ..*phase
    });
    let analysis = Analysis { phases: phases.collect(), lanes: collected.lanes, ..analysis };
    if options.over_time { analysis.over_time(&options.spectral_detector()) } else { analysis }
}

/// The window in nanoseconds: as asked for, else the whole job, else from the first request to the last.
/// `None` if there is nothing in it.
fn window(collected: &mut Collected, job: &Job, options: &Options) -> Option<(i64, i64)> {
    let (first, last) = collected.bins.extent().filter(|_| collected.bins.total_bytes() > 0)?;
    let from = options.from.map(nanoseconds).unwrap_or(job.start.map_or(first, |start| start.min(first)));
    let to = options.to.map(nanoseconds).unwrap_or(job.end.map_or(last, |end| end.max(last)));
    // A window that ends long after the last thing known of the job would only add silence.
    let to = if options.to.is_some() { to.min(job.end.unwrap_or(last).max(last)) } else { to };
    (from < to).then_some((from, to)).or(Some((from, from + 1)))
}

/// The signal at the sampling frequency, and as finely as phases are to be located.
fn sample(
    collected: &mut Collected,
    from: i64,
    to: i64,
    options: &Options,
    notes: &mut Vec<String>,
) -> (Signal, Signal) {
    let fine = Signal::fine(&collected.bins, from, to);
    let signal = match options.frequency {
        None => Signal::automatic(&collected.bins, from, to),
        Some(hz) => {
            collected.bins.widen_to(width(hz));
            let signal = Signal::from_bins(&collected.bins, from, to);
            if signal.sampling_frequency() < 0.75 * hz {
                notes.push(format!(
                    "{hz} Hz would give more than {MAX_SAMPLES} samples; {} Hz was used",
                    signal.sampling_frequency()
                ));
            }
            signal
        }
    };
    if !options.skip_first_phase {
        return (signal, fine);
    }
    match signal.without_first_phase() {
        Some(rest) => {
            let start = rest.start;
            (rest, fine.since(start))
        }
        None => {
            notes.push("there is no phase after the first one to analyse".into());
            (signal, fine)
        }
    }
}

/// How the I/O behaves. With a period, as finely as the signal is known: at a coarse sampling frequency, the share of busy time would depend on
/// where phases begin and end within a sample.
fn behaviour(signal: &Signal, fine: &Signal, finest: &Signal, frequency: Option<f64>) -> Characterization {
    let Some(frequency) = frequency else { return characterize(signal, None, &[]) };
    let wave = Wave::in_samples(&fine.samples, fine.step(), frequency);
    let exact = characterize(finest, None, &[]);
    Characterization {
        r_io: exact.r_io,
        b_io: exact.b_io,
        ..characterize(fine, Some(frequency), &pieces(fine, &wave))
    }
}

/// The phase expected next: by the phases that were found, or else by the wave.
fn next(signal: &Signal, fine: &Signal, estimate: &Estimate, known_until: f64) -> Option<NextPhase> {
    let period = estimate.period?;
    if estimate.phases.is_empty() {
        let cut = pieces(signal, &Wave::in_samples(&signal.samples, signal.step(), 1.0 / period));
        let begun = begun_after(signal, &cut, period);
        return next_phase(&cut, begun, period, signal.start_seconds(), known_until);
    }
    let piece = |phase: &Phase| Piece {
        start: phase.start,
        volume: phase.volume,
        busy: phase.end - phase.start,
        active: Some((phase.start, phase.end)),
    };
    let pieces: Vec<Piece> = estimate.phases.iter().map(piece).collect();
    next_phase(&pieces, estimate.begun, period, fine.start_seconds(), known_until)
}

/// The autocorrelation of the signal, thinned out to some samples per period if one is known: the ripples of single
/// requests in a phase would be peaks as well.
fn correlate(signal: &Signal, dominant: Option<usize>) -> Option<Autocorrelation> {
    const SAMPLES_PER_PERIOD: usize = 64;
    let factor = dominant.map_or(1, |k| signal.samples.len() / (k * SAMPLES_PER_PERIOD));
    let thin = signal.merged(factor);
    Autocorrelation::of(&thin.samples, thin.step())
}

fn complain(collected: &Collected, notes: &mut Vec<String>) {
    if collected.bins.total_bytes() == 0 {
        notes.push(format!("no bytes were transferred in mode {}", collected.mode));
    }
    if collected.bins.inverted() > 0 {
        notes.push(format!(
            "{} requests end before they start; they were counted at their start",
            collected.bins.inverted()
        ));
    }
    if collected.bins.rejected() > 0 {
        notes.push(format!("{} requests with impossible times were left out", collected.bins.rejected()));
    }
}

/// The candidates kept, strongest first.
pub(crate) fn listed<T>(
    candidates: &Candidates,
    contributions: &[f64],
    describe: impl Fn(usize, f64) -> T,
) -> Vec<T> {
    let power = |k: usize| contributions.get(k - 1).copied().unwrap_or(0.0);
    let mut kept = candidates.kept.clone();
    kept.sort_by(|&a, &b| power(b).total_cmp(&power(a)));
    kept.into_iter().take(MAX_LISTED).map(|k| describe(k, power(k))).collect()
}

fn strongest(spectrum: &Spectrum, contributions: &[f64], count: usize) -> Vec<TopFrequency> {
    let mut order: Vec<usize> = (1..=contributions.len()).collect();
    order.sort_by(|&a, &b| contributions[b - 1].total_cmp(&contributions[a - 1]));
    let describe = |k: usize| {
        let wave = spectrum.wave(k);
        TopFrequency {
            frequency: wave.frequency,
            amplitude: wave.amplitude,
            phase: wave.phase,
            power: contributions[k - 1],
        }
    };
    order.into_iter().take(count).map(describe).collect()
}

fn volume(signal: &Signal) -> u64 {
    (signal.samples.iter().sum::<f64>() * signal.step()).round() as u64
}

fn nanoseconds(seconds: f64) -> i64 {
    (seconds * 1e9).round() as i64
}

fn seconds(nanoseconds: i64) -> f64 {
    nanoseconds as f64 / 1e9
}
