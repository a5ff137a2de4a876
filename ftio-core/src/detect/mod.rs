//! The whole way from requests to a result.
//!
//! 1. [collect](crate::signal::collect) the requests of the mode into bins, in one pass;
//! 2. take the bandwidth [signal](crate::signal) of the [window] from the bins;
//! 3. ask its [spectrum](crate::spectral) which frequency stands out;
//! 4. count its [phases](crate::phases), and [estimate](mod@crate::estimate) from both whether there is a
//!    period, which, and how sure that is;
//! 5. say how the I/O [behaves](mod@characterize) and when it comes [next](mod@next_phase).

pub mod analysis;
pub mod characterize;
pub mod compat;
pub mod detection;
pub mod listed_phases;
pub mod next_phase;
pub mod options;
pub mod over_time;
pub mod per_group;
pub mod window;

pub use analysis::Analysis;
pub use options::{Method, Options};

use crate::estimate::Estimate;
use crate::estimate::kind::{SignalKind, kind_with};
use crate::estimate::view::View;
use crate::phases::phase::Phase;
use crate::phases::regularity::volume_variation;
use crate::renewal::signal::Trace;
use crate::signal::collect::Collected;
use crate::signal::lanes::Lanes;
use crate::signal::step::Stretch;
use crate::signal::{MAX_SAMPLES, Signal};
use crate::spectral::SpectralResult;
use crate::spectral::autocorrelation::{Autocorrelation, smoothed};
use crate::spectral::harmonics::Reason;
use crate::spectral::outlier::ZScore;
use crate::spectral::reconstruct::reconstruct;
use crate::spectral::spectrum::Wave;
use analysis::{LEFT_OUT, listed};
use characterize::{begun_after, behaviour, pieces};
use detection::{AutocorrelationResult, Candidate, Detection, SCHEMA};
use listed_phases::listed_phases;
use next_phase::{NextPhase, foretold, next_phase};
use over_time::over_time;
use sources::request::{Detail, Mode};
use sources::time::{ClockTime, PER_SECOND, nanoseconds, seconds};
use sources::{BandwidthPiece, Job, Source, SourceError, Span};
use window::{Found, Sampled, Windows};

pub use crate::spectral::Outlier;

/// Read a source and analyse it. `name` is what results call it.
pub fn detect(name: &str, source: impl Source, options: &Options) -> Result<Analysis, SourceError> {
    if options.is_published() {
        let mode = compat::mode(options.mode);
        let options = &compat::with_bins(options, source.bin());
        let mut phases = Vec::new();
        let mut lanes = options.keep_requests.then(|| Lanes::new(options.window()));
        let job = Box::new(source).read_pieces(mode.span(), &mut |some| {
            let selected = some.iter().filter(|phase| mode.selects(phase.class));
            phases.extend(selected.clone().map(Stretch::from));
            if let Some(lanes) = &mut lanes {
                selected.filter_map(BandwidthPiece::request).for_each(|request| {
                    lanes.add(&Detail::new(request));
                });
            }
        })?;
        let marks = job.marks.clone();
        return Ok(Analysis { lanes, marks, ..compat::analyse(name, &phases, mode, &job, options) });
    }
    let bin = source.bin().filter(|_| options.frequency.is_none());
    let options = &with_bins(bin, options);
    let mut collector = options.collector().of_samples(bin);
    let span = options.mode.map_or(Span::Actual, Mode::span);
    let job = if options.keep_requests {
        collector.keep_lanes(options.window());
        Box::new(source).read_detailed(span, &mut |batch| collector.add_detailed(batch.requests))?
    } else {
        Box::new(source).read(span, &mut |requests| collector.add(requests))?
    };
    Ok(analyse(name, collector.finish(), &job, options))
}

/// Read a source and return only its period and the confidence: what [`detect`] would say, without the rest
/// of it, nor what the spectrum says. `None` if there is no I/O.
pub fn detect_period(source: impl Source, options: &Options) -> Result<Option<Estimate>, SourceError> {
    in_window(source, options, |windows, sampled| windows.estimate(&sampled, None))
}

/// Read a source and return what the estimator saw in it, for fitting its weights; `None` if there is nothing
/// to see.
pub fn detect_hypotheses(source: impl Source, options: &Options) -> Result<Option<View>, SourceError> {
    in_window(source, options, |windows, sampled| windows.view(&sampled)).map(Option::flatten)
}

/// Read a source and return what the [renewal estimator](mod@crate::renewal) takes; `None` without any I/O.
pub fn detect_trace(source: impl Source, options: &Options) -> Result<Option<Trace>, SourceError> {
    in_window(source, options, |windows, sampled| windows.trace(&sampled))
}

/// Look at the window of a source; `None` if there is nothing in it.
fn in_window<T>(
    source: impl Source,
    options: &Options,
    look: impl FnOnce(&Windows<'_>, Sampled) -> T,
) -> Result<Option<T>, SourceError> {
    let bin = source.bin().filter(|_| options.frequency.is_none());
    let options = &with_bins(bin, options);
    let mut collector = options.collector().of_samples(bin);
    let span = options.mode.map_or(Span::Actual, Mode::span);
    let job = Box::new(source).read(span, &mut |requests| collector.add(requests))?;
    let mut collected = collector.finish();
    let Some((from, to)) = window(&collected, &job, options) else { return Ok(None) };
    collected.bins.fit(from, to);
    let windows = Windows::new(&collected.bins, begins(&collected, &job, options), &job, options);
    let sampled = sample(&windows, Some((from, to)), options, &mut Vec::new());
    Ok(Some(look(&windows, Sampled { narrowest: None, ..sampled })))
}

/// What has been in bins before is sampled at exactly their width.
fn with_bins(bin: Option<i64>, options: &Options) -> Options {
    let frequency = options.frequency.or(bin.map(|ns| PER_SECOND / ns as f64));
    Options { frequency, ..options.clone() }
}

/// When the job began, in nanoseconds of job time. Requests before a window that was asked for are not known:
/// unless the input tells, the job may have begun long before it.
fn begins(collected: &Collected, job: &Job, options: &Options) -> i64 {
    let first = || match options.from {
        Some(_) => Some(i64::MIN),
        None => collected.bins.extent().map(|(first, _)| first),
    };
    job.start.or_else(first).unwrap_or(0)
}

/// Analyse what was collected: without a mode that was asked for, both directions. The answer is that of the
/// usual one; if both have a rhythm, of the one that moves more.
pub fn analyse(name: &str, mut collected: Collected, job: &Job, options: &Options) -> Analysis {
    let Some(other) = collected.other.take() else { return analyse_mode(name, collected, job, options) };
    let bytes = [&collected, &other].map(|one| one.bins.total_bytes() as f64);
    let share = bytes[1] / (bytes[0] + bytes[1]);
    let mut found = [collected, *other].map(|one| analyse_mode(name, one, job, options));
    let is_main = match found.each_ref().map(|one| !one.detection.periods.is_empty()) {
        [true, true] => bytes[1] > bytes[0],
        [false, true] => share > LEFT_OUT,
        _ => false,
    };
    if is_main {
        found.reverse();
    }
    let [main, other] = found;
    main.beside(&other, if is_main { 1.0 - share } else { share })
}

/// Analyse what was collected of one mode.
fn analyse_mode(name: &str, mut collected: Collected, job: &Job, options: &Options) -> Analysis {
    let mut notes = job.notes.clone();
    let window = window(&collected, job, options);
    if let Some((from, to)) = window {
        collected.bins.fit(from, to);
    }
    complain(&collected, options, &mut notes);
    if let (Some(from), Some(end)) = (options.from, job.end.map(seconds))
        && from >= end
    {
        let [from, end] = [from, end].map(sources::amount::seconds);
        notes.push(format!("the window begins at {from}, but the job ended at {end}"));
    }
    let windows = Windows::new(&collected.bins, begins(&collected, job, options), job, options);
    let mut sampled = sample(&windows, window, options, &mut notes);
    // Its memory is used again in what follows.
    let finest = sampled.narrowest.take().map_or_else(Signal::empty, |units| Signal::from_units(&units));
    let found = windows.find(sampled);
    let (from, to) = window.unwrap_or((0, 0));
    let mut finest = finest.since(found.sampled.fine.start);
    if let Some(per_unit) = job.per_unit {
        finest.samples.iter_mut().for_each(|sample| *sample /= per_unit);
    }
    let mut detection = describe(&found, window, &finest, job, options);
    detection.source = name.to_owned();
    detection.layer = job.layer;
    detection.mode = collected.mode;
    // What was put into bins before has no requests to count.
    let is_heat_map = job.sampled.is_some() && job.per_unit.is_none();
    detection.requests = (!is_heat_map).then(|| collected.bins.requests());
    if let (None, Some((first, last))) = (window, collected.bins.extent()) {
        // Nothing but empty requests: it is known all the same when they were.
        detection.t_start = options.from.or(job.start.map(seconds)).unwrap_or(seconds(first));
        detection.t_end = options.to.or(job.end.map(seconds)).unwrap_or(seconds(last));
    }
    detection.notes = job.warnings.iter().chain(&notes).cloned().collect();
    if !options.skip_first_phase && job.per_unit.is_none() {
        detection.total_bytes = collected.bins.total_bytes();
    }
    detection.next_phase = detection.next_phase.map(|next| next.on_clock(job.origin));
    // What never changes has no phases.
    if detection.signal != SignalKind::Constant {
        detection.phases =
            listed_phases(&found.sampled.fine, &finest, found.sampled.cut, &found.estimate, job.origin);
        tell_volumes(&mut detection, &found.estimate);
    }
    detection.start_time = job.origin.map(ClockTime);
    let mut scalogram = None;
    if options.over_time {
        let signal = &found.sampled.signal;
        let first = if options.skip_first_phase { signal.start } else { from };
        let period = |from: i64, to: i64| {
            let estimate = windows.period(from, to);
            (estimate.period, estimate.confidence)
        };
        let (over, picture) = over_time(signal, (first, to), &period);
        (detection.over_time, scalogram) = (Some(over), picture);
    }
    let Found { sampled, spectral, estimate } = found;
    let since = sampled.fine.start_seconds();
    let in_job_time = |phase: &Phase| Phase { start: since + phase.start, end: since + phase.end, ..*phase };
    let signal = sampled.signal;
    Analysis {
        wave: detection.frequency.map(|hz| Wave::in_samples(&signal.samples, signal.step(), hz)),
        detection,
        warnings: job.warnings.clone(),
        notes,
        contributions: spectral.contributions,
        // What was in bins is shown as it was sampled: bins that touch would overlap by a rounding step.
        stretches: collected.stretches.filter(|_| job.sampled.is_none()),
        lanes: collected.lanes,
        scalogram,
        is_quantity: job.per_unit.is_some(),
        marks: job.marks.clone(),
        phases: estimate.phases.iter().map(in_job_time).collect(),
        signal,
    }
}

/// How much the volumes of the listed phases vary. The estimator has judged by volumes that are less exact.
fn tell_volumes(detection: &mut Detection, estimate: &Estimate) {
    let volumes: Vec<f64> = detection.phases.iter().map(|phase| phase.bytes as f64).collect();
    let Some(evidence) = detection.evidence.as_mut().filter(|evidence| evidence.phases == volumes.len())
    else {
        return;
    };
    if volumes.len() < 2 {
        return;
    }
    let variation = volume_variation(volumes);
    evidence.volume_variation = Some(variation);
    let text = format!("their volumes vary by {:.1} %", 100.0 * variation);
    // Behind what is said of the distances of these phases.
    if let Some(place) = estimate.volumes_after {
        detection.reasons.insert(place.min(detection.reasons.len()), text);
    }
}

/// What was found, as it is written.
fn describe(
    found: &Found,
    window: Option<(i64, i64)>,
    finest: &Signal,
    job: &Job,
    options: &Options,
) -> Detection {
    let Found { sampled: Sampled { signal, fine, .. }, spectral, estimate } = found;
    let SpectralResult { spectrum, contributions, outliers, candidates, .. } = spectral;
    let confidence = |k: usize| candidates.confidence(outliers, k);
    let z = ZScore::default().scores(contributions);
    let period = estimate.period;
    let frequency = period.map(|period| 1.0 / period);
    let (t_start, t_end) = match (signal.samples.is_empty(), window) {
        (false, Some((from, to))) => {
            let start = seconds(from.max(signal.start));
            (start, seconds(to).max(start))
        }
        _ => (
            options.from.or(job.start.map(seconds)).unwrap_or(0.0),
            options.to.or(job.end.map(seconds)).unwrap_or(0.0),
        ),
    };
    let acf = if options.autocorrelation { correlate(fine, period) } else { None };
    let (signal_kind, reasons) = match estimate.kind {
        Some(kind) => (kind, estimate.reasons.clone()),
        None => kind_with(signal, spectrum, contributions, period, estimate.reasons.clone()),
    };
    Detection {
        schema: SCHEMA,
        ranks: job.ranks,
        total_bytes: volume(signal),
        t_start,
        t_end,
        sampling_frequency: (!signal.samples.is_empty()).then(|| signal.sampling_frequency()),
        n_samples: signal.samples.len(),
        abstraction_error: signal.abstraction_error,
        periodic: period.is_some(),
        period,
        frequency,
        confidence: estimate.confidence,
        // By the confidence that is given: c_d belongs to another period where the spectrum does not agree.
        refined_confidence: period
            .and_then(|period| Some(acf.as_ref()?.refined_confidence(period, estimate.confidence))),
        candidates: listed(candidates, contributions, |k, power| Candidate {
            frequency: spectrum.frequency(k),
            confidence: if candidates.reason == Reason::TooMany { 0.0 } else { confidence(k) },
            power,
            z: z.get(k - 1).copied().unwrap_or(0.0),
        }),
        signal: signal_kind,
        characterization: behaviour(finest, period, &estimate.phases),
        next_phase: next(signal, fine, estimate, t_end),
        complete: job.complete,
        frequency_resolution: (!signal.samples.is_empty()).then(|| 1.0 / signal.duration()),
        harmonics: candidates.harmonics.iter().map(|&k| spectrum.frequency(k)).collect(),
        autocorrelation: acf.as_ref().map(|acf| AutocorrelationResult {
            period: acf.period,
            confidence: acf.confidence,
            similarity: period.map(|period| acf.similarity(period)),
        }),
        top_frequencies: spectrum
            .strongest(contributions, options.top)
            .into_iter()
            .map(|(_, wave)| wave)
            .collect(),
        reconstruction: options.reconstruct.map(|count| reconstruct(spectrum, count)),
        reasons,
        periods: estimate.periods.clone(),
        evidence: Some(estimate.evidence.clone()),
        occupancy: estimate.occupancy,
        first_phase: estimate.first_phase,
        period_mean_distance: estimate.mean_distance,
        provisional: estimate.provisional,
        ..Detection::default()
    }
}

/// The window in nanoseconds: as asked for, else the whole job, else from the first request to the last.
/// `None` if there is nothing in it.
fn window(collected: &Collected, job: &Job, options: &Options) -> Option<(i64, i64)> {
    let (first, last) = collected.bins.extent().filter(|_| collected.bins.total_bytes() > 0)?;
    let from = options.from.map(nanoseconds).unwrap_or(job.start.map_or(first, |start| start.min(first)));
    let to = options.to.map(nanoseconds).unwrap_or(job.end.map_or(last, |end| end.max(last)));
    // A window that ends long after the last thing known of the job would only add silence.
    let to = if options.to.is_some() { to.min(job.end.unwrap_or(last).max(last)) } else { to };
    (from < to).then_some((from, to)).or(Some((from, from + 1)))
}

/// The window, sampled as the options say.
fn sample(
    windows: &Windows<'_>,
    window: Option<(i64, i64)>,
    options: &Options,
    notes: &mut Vec<String>,
) -> Sampled {
    let Some((from, to)) = window else {
        return Sampled { signal: Signal::empty(), fine: Signal::empty(), cut: false, narrowest: None };
    };
    let sampled = windows.sample(from, to);
    if let Some(hz) = options.frequency
        && sampled.signal.sampling_frequency() < 0.75 * hz
    {
        notes.push(format!(
            "{hz} Hz would give more than {MAX_SAMPLES} samples; {} Hz was used",
            sampled.signal.sampling_frequency()
        ));
    }
    if !options.skip_first_phase {
        return sampled;
    }
    match sampled.signal.without_first_phase() {
        Some(signal) => {
            let start = signal.start;
            Sampled { signal, fine: sampled.fine.since(start), ..sampled }
        }
        None => {
            notes.push("there is no phase after the first one to analyse".into());
            sampled
        }
    }
}

/// The phase expected next: by the phases that were found, or else by the wave.
fn next(signal: &Signal, fine: &Signal, estimate: &Estimate, known_until: f64) -> Option<NextPhase> {
    if let (Some(period), true) = (estimate.period, estimate.phases.is_empty()) {
        let cut = pieces(signal, &Wave::in_samples(&signal.samples, signal.step(), 1.0 / period));
        let begun = begun_after(signal, &cut, period);
        return next_phase(&cut, begun, period, signal.start_seconds(), known_until);
    }
    foretold(estimate, fine.start_seconds(), known_until)
}

/// The autocorrelation of the signal as finely as it is known, thinned out to some samples a period if one is
/// known, and smoothed over a few of them: the ripples of single requests in a phase would be peaks as well.
/// It does not depend on the sampling frequency.
fn correlate(fine: &Signal, period: Option<f64>) -> Option<Autocorrelation> {
    const SAMPLES_PER_PERIOD: f64 = 64.0;
    const WIDTH: f64 = 4.0;
    let factor = period.map_or(1.0, |period| period / fine.step() / SAMPLES_PER_PERIOD).max(1.0);
    let thin = fine.merged(factor as usize);
    let width = period.map_or(0.0, |period| WIDTH * period / SAMPLES_PER_PERIOD / thin.step());
    Autocorrelation::of(&smoothed(&thin.samples, width), thin.step())
}

fn complain(collected: &Collected, options: &Options, notes: &mut Vec<String>) {
    if collected.bins.total_bytes() == 0 {
        let within = if options.from.is_some() || options.to.is_some() { " in this window" } else { "" };
        notes.push(format!("no bytes were transferred in mode {}{within}", collected.mode));
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

fn volume(signal: &Signal) -> u64 {
    (signal.samples.iter().sum::<f64>() * signal.step()).round() as u64
}
