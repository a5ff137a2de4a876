//! Is there a period, and which?
//!
//! The phases that were [counted](crate::phases) answer, if there are at least three, their number is clear, and they are more regular
//! than chance would make them. The period is then the mean distance of their starts. Where the bandwidth swells and falls without
//! ever being quiet, phases have no starts to speak of, and the frequency of the spectrum is the better answer. Where
//! phases cannot be told apart at all, a single frequency that holds much of the signal's variance still is a period.
//!
//! Phases of two periods are called so: two at once ([trains](crate::phases::trains)), or one after the other ([change](crate::phases::change_point)).

pub mod confidence;
pub mod evidence;
pub mod kind;

use crate::estimate::confidence::confidence;
use crate::estimate::evidence::Evidence;
use crate::estimate::kind::SignalKind;
use crate::phases::change_point::{Change, change};
use crate::phases::phase::Phase;
use crate::phases::regularity::Regularity;
use crate::phases::trains::{Train, two_trains};
use crate::phases::{Counted, count};
use crate::signal::{CONSTANT_VARIATION, Signal};
use crate::spectral::SpectralResult;
use serde::Serialize;

/// The I/O of at most this share of the window is one burst, if it consists of few parts.
const ONE_BURST: f64 = 0.3;

/// So many parts are a period of their own, wherever they are in the window.
const MANY: usize = 12;

/// Fewer phases must be twice as regular: there are several levels to choose from, and one of them may look regular by chance.
const FEW: usize = 8;

/// A frequency alone is a period if so much of the variance repeats with it.
const WAVE_SHARE: f64 = 0.4;

/// Distances that vary by more may be those of two trains.
const INTERLEAVED: f64 = 0.2;

/// Confidence in the first of two periods at once: nearly all phases fit into the two trains.
const SEVERAL: f64 = 0.9;

/// A period, and the phases that have it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PeriodOf {
    /// The period in seconds.
    pub period: f64,
    /// How many phases have it.
    pub phases: usize,
    /// Start of the first of them, in seconds of job time.
    pub first_start: f64,
    /// Start of the last of them.
    pub last_start: f64,
    /// Bytes of all of them.
    pub bytes: f64,
}

impl PeriodOf {
    fn of(fine: &Signal, period: f64, phases: &[&Phase]) -> Self {
        let start = |phase: Option<&&Phase>| fine.start_seconds() + phase.map_or(0.0, |phase| phase.start);
        PeriodOf {
            period,
            phases: phases.len(),
            first_start: start(phases.first()),
            last_start: start(phases.last()),
            bytes: phases.iter().map(|phase| phase.volume).sum::<f64>().round(),
        }
    }
}

/// What was decided.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Estimate {
    /// The period in seconds.
    pub period: Option<f64>,
    /// Probability that it is right; 0 without a period.
    pub confidence: f64,
    /// What led to it.
    pub evidence: Evidence,
    /// The phases, if there is a period.
    pub phases: Vec<Phase>,
    /// When a phase began after the last one that was counted, in seconds from the start of the window.
    pub begun: Option<f64>,
    /// What kind of signal it is, if the phases tell.
    pub kind: Option<SignalKind>,
    /// All periods: one, two that hold at once (the one with the larger volume first), or two that follow one another.
    pub periods: Vec<PeriodOf>,
    /// Why, in words.
    pub reasons: Vec<String>,
}

/// Decide. `fine` is the signal as finely as it is known, `spectral` what its spectrum says; `cut` tells that the window may begin
/// in the middle of a phase.
pub fn estimate(fine: &Signal, spectral: &SpectralResult, cut: bool) -> Estimate {
    if fine.mean() <= 0.0 || fine.variation() < CONSTANT_VARIATION {
        return Estimate::default();
    }
    let counted = count(fine).map(|counted| without_cut_phase(counted, cut));
    let spectrum_period = spectral.frequency.map(|frequency| 1.0 / frequency);
    let mut evidence = Evidence::of(counted.as_ref(), fine.start_seconds());
    evidence.spectrum_period = spectrum_period;
    evidence.spectrum_confidence = spectral.confidence();
    if let Some(counted) = &counted {
        if let Some(change) = change(&counted.phases) {
            return changing(fine, counted, change, evidence);
        }
        let lists = std::iter::once(&counted.phases).chain(&counted.others);
        let is_even = counted.regularity.distances <= INTERLEAVED / 2.0;
        let uneven = |list: &&Vec<Phase>| {
            !is_even && Regularity::of(list).is_some_and(|regularity| regularity.distances > INTERLEAVED)
        };
        let mut trains = lists.filter(uneven).filter_map(|list| Some((list, two_trains(list)?)));
        if let Some((list, trains)) = trains.next() {
            return interleaved(fine, list, &trains, evidence);
        }
    }
    match counted.as_ref().map_or(Err("fewer than three phases".into()), objection_free) {
        Ok(counted) => periodic(fine, counted, evidence),
        Err(objection) => wave(fine, spectral, evidence, objection),
    }
}

/// The phases, unless something speaks against their being periodic.
fn objection_free(counted: &Counted) -> Result<&Counted, String> {
    let regularity = &counted.regularity;
    if !counted.is_clear() {
        return Err("at no scale is the number of phases clear".into());
    }
    if counted.covered < ONE_BURST && regularity.count < MANY {
        return Err(format!(
            "all I/O is in one burst of {} parts, {:.0} % of the window",
            regularity.count,
            100.0 * counted.covered
        ));
    }
    let allowed = if regularity.count < FEW { 0.5 } else { 1.0 };
    if regularity.irregularity() >= allowed {
        return Err(format!(
            "{} phases, but their distances vary by {:.0} % and their volumes by {:.0} %: no more regular than by chance",
            regularity.count,
            100.0 * regularity.distances,
            100.0 * regularity.volumes
        ));
    }
    Ok(counted)
}

fn periodic(fine: &Signal, counted: &Counted, evidence: Evidence) -> Estimate {
    let regularity = &counted.regularity;
    let by_phases = regularity.period;
    // Without pauses, phases have no exact starts, least of all those at the edges of the window.
    let near = 1.5 / regularity.count as f64;
    let by_spectrum = evidence.spectrum_period.filter(|period| {
        !counted.is_sharp() && regularity.distances < 0.15 && (period / by_phases - 1.0).abs() <= near
    });
    let period = by_spectrum.unwrap_or(by_phases);
    let mut evidence = evidence.with_repetition(fine, period);
    evidence.method = Some(if by_spectrum.is_some() { "spectrum" } else { "phases" });
    let mut reasons = vec![format!(
        "{} phases, whose distances vary by {:.1} % and volumes by {:.1} %",
        regularity.count,
        100.0 * regularity.distances,
        100.0 * regularity.volumes
    )];
    if let Some(inner) = &evidence.inner {
        let each = inner.bursts as f64 / regularity.count as f64;
        reasons.push(format!("each of {each:.0} bursts, {:.3} s apart on average", inner.mean_distance));
    }
    reasons.push(match evidence.spectrum_period {
        Some(_) if evidence.spectrum_agrees(period) => "the spectrum agrees".into(),
        Some(other) => format!("the spectrum alone would say {other:.3} s"),
        None => "no single frequency stands out of the spectrum".into(),
    });
    Estimate {
        period: Some(period),
        confidence: confidence(&evidence, period),
        evidence,
        begun: counted.phases.last().and_then(|last| begun(fine, counted, last.start + period / 2.0)),
        kind: counted.is_sharp().then_some(SignalKind::Bursts),
        periods: vec![PeriodOf::of(fine, period, &counted.phases.iter().collect::<Vec<_>>())],
        phases: counted.phases.clone(),
        reasons,
    }
}

/// Two periods at once: the answer is that of the larger volume.
fn interleaved(fine: &Signal, all: &[Phase], trains: &[Train; 2], evidence: Evidence) -> Estimate {
    let members = |train: &Train| train.members.iter().map(|&i| &all[i]).collect::<Vec<_>>();
    let phases: Vec<Phase> = members(&trains[0]).into_iter().copied().collect();
    let period = trains[0].period;
    let mut evidence = evidence.with_repetition(fine, period);
    evidence.method = Some("phases");
    let reason = format!(
        "two periods at once: {} phases every {:.3} s and {} every {:.3} s",
        trains[0].members.len(),
        period,
        trains[1].members.len(),
        trains[1].period
    );
    Estimate {
        period: Some(period),
        confidence: SEVERAL,
        periods: trains.iter().map(|train| PeriodOf::of(fine, train.period, &members(train))).collect(),
        kind: Some(SignalKind::Interleaved),
        evidence,
        phases,
        begun: None,
        reasons: vec![reason],
    }
}

/// A period that changes on the way is no single period.
fn changing(fine: &Signal, counted: &Counted, change: Change, evidence: Evidence) -> Estimate {
    let [before, after] = change.periods;
    let (first, second) = counted.phases.split_at(change.at);
    let at = fine.start_seconds() + second.first().map_or(0.0, |phase| phase.start);
    let reason = format!("the period changes at {at:.3} s: {before:.3} s before, {after:.3} s after");
    let list =
        |phases: &'_ [Phase], period: f64| PeriodOf::of(fine, period, &phases.iter().collect::<Vec<_>>());
    Estimate {
        kind: Some(SignalKind::Changing),
        periods: vec![list(first, before), list(second, after)],
        evidence,
        reasons: vec![reason],
        ..Estimate::default()
    }
}

/// When the bandwidth first exceeds that of phases again after `since`, coming from quiet.
fn begun(fine: &Signal, counted: &Counted, since: f64) -> Option<f64> {
    let first = (since / fine.step()).ceil().max(0.0) as usize;
    let rest = fine.samples.get(first..)?;
    let quiet = rest.iter().position(|x| *x <= counted.ground.quiet)?;
    let rise = rest[quiet..].iter().position(|x| *x >= counted.ground.busy)?;
    let start = rest[..quiet + rise].iter().rposition(|x| *x <= counted.ground.quiet)? + 1;
    Some((first + start) as f64 * fine.step())
}

/// A period by the spectrum alone, where phases do not give one.
fn wave(fine: &Signal, spectral: &SpectralResult, evidence: Evidence, objection: String) -> Estimate {
    let Some(period) = evidence.spectrum_period else {
        return Estimate { evidence, reasons: vec![objection], ..Estimate::default() };
    };
    let mut evidence = evidence.with_repetition(fine, period);
    let periods = fine.duration() / period;
    let repeats = evidence.repetition.unwrap_or(0.0) >= WAVE_SHARE;
    let matches = evidence.autocorrelation.unwrap_or(0.0) >= WAVE_SHARE;
    if periods < 5.0 || !repeats || !matches || spectral.candidates.dominant.is_none() {
        let mut reasons = vec![objection];
        reasons.push(format!(
            "the frequency that stands out most, a period of {period:.3} s, explains too little of the signal"
        ));
        return Estimate { evidence, reasons, ..Estimate::default() };
    }
    evidence.method = Some("spectrum");
    let reasons = vec![objection, "one frequency holds much of the signal's variance".into()];
    let confidence = 0.8 * evidence.repetition.unwrap_or(0.0);
    Estimate { period: Some(period), confidence, evidence, reasons, ..Estimate::default() }
}

/// Without the first phase, if the window begins in the middle of it: it begins with the window, and with less than its share of the volume.
/// Where the window was not chosen but begins with the job, or with its first request, much must be missing.
fn without_cut_phase(counted: Counted, cut: bool) -> Counted {
    let share = if cut { 0.9 } else { 0.6 };
    let Some(first) = counted.phases.first() else { return counted };
    let mut volumes: Vec<f64> = counted.phases.iter().map(|phase| phase.volume).collect();
    volumes.sort_unstable_by(f64::total_cmp);
    let is_whole = first.start > 0.0 || first.volume >= share * volumes[volumes.len() / 2];
    if is_whole || counted.phases.len() < 4 { counted } else { counted.without_first() }
}
