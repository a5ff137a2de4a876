//! Is there a period, and which?
//!
//! The phases that were [counted](crate::counting) answer, if there are at least three, their number is clear, and they are more regular
//! than chance would make them. The period is then the mean distance of their starts. Where the bandwidth swells and falls without
//! ever being quiet, phases have no starts to speak of, and the frequency of the spectrum is the better answer. Where
//! phases cannot be told apart at all, a single frequency that holds much of the signal's variance still is a period.

use crate::confidence::confidence;
use crate::counting::{Counted, count};
use crate::evidence::Evidence;
use crate::judgement::Judgement;
use crate::kind::{CONSTANT_VARIATION, variation};
use crate::phases::Phase;
use crate::signal::Signal;

/// The I/O of at most this share of the window is one burst, if it consists of few parts.
const ONE_BURST: f64 = 0.5;

/// So many parts are a period of their own, wherever they are in the window.
const MANY: usize = 12;

/// Fewer phases must be twice as regular: there are several levels to choose from, and one of them may look regular by chance.
const FEW: usize = 8;

/// A frequency alone is a period if so much of the variance repeats with it.
const WAVE_SHARE: f64 = 0.4;

/// What was decided.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Decision {
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
    /// Phases come after pauses.
    pub paused: bool,
    /// Why, in words.
    pub reasons: Vec<String>,
}

/// Decide. `fine` is the signal as finely as it is known, `judgement` what its spectrum says; `cut` tells that the window may begin
/// in the middle of a phase.
pub fn decide(fine: &Signal, judgement: &Judgement, cut: bool) -> Decision {
    if fine.mean() <= 0.0 || variation(fine) < CONSTANT_VARIATION {
        return Decision::default();
    }
    let counted = count(fine).map(|counted| if cut { without_cut_phase(counted) } else { counted });
    let spectrum_period = judgement.frequency.map(|frequency| 1.0 / frequency);
    let mut evidence = Evidence::of(counted.as_ref(), fine.start_seconds());
    evidence.spectrum_period = spectrum_period;
    evidence.spectrum_confidence = judgement.confidence();
    match counted.as_ref().map_or(Err("fewer than three phases".into()), objection_free) {
        Ok(counted) => periodic(fine, counted, evidence),
        Err(objection) => wave(fine, judgement, evidence, objection),
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

fn periodic(fine: &Signal, counted: &Counted, evidence: Evidence) -> Decision {
    let regularity = &counted.regularity;
    let by_phases = regularity.period;
    // Without pauses, phases have no exact starts.
    let by_spectrum = evidence.spectrum_period.filter(|period| {
        counted.paused < 0.5 && regularity.distances < 0.1 && (period / by_phases - 1.0).abs() <= 0.03
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
    Decision {
        period: Some(period),
        confidence: confidence(&evidence, period),
        evidence,
        begun: counted.phases.last().and_then(|last| begun(fine, counted, last.start + period / 2.0)),
        paused: counted.paused >= 0.5,
        phases: counted.phases.clone(),
        reasons,
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
fn wave(fine: &Signal, judgement: &Judgement, evidence: Evidence, objection: String) -> Decision {
    let Some(period) = evidence.spectrum_period else {
        return Decision { evidence, reasons: vec![objection], ..Decision::default() };
    };
    let mut evidence = evidence.with_repetition(fine, period);
    let periods = fine.duration() / period;
    let repeats = evidence.repetition.unwrap_or(0.0) >= WAVE_SHARE;
    let matches = evidence.autocorrelation.unwrap_or(0.0) >= WAVE_SHARE;
    if periods < 5.0 || !repeats || !matches || judgement.verdict.dominant.is_none() {
        let mut reasons = vec![objection];
        reasons.push(format!(
            "the frequency that stands out most, a period of {period:.3} s, explains too little of the signal"
        ));
        return Decision { evidence, reasons, ..Decision::default() };
    }
    evidence.method = Some("spectrum");
    let reasons = vec![objection, "one frequency holds much of the signal's variance".into()];
    let confidence = 0.8 * evidence.repetition.unwrap_or(0.0);
    Decision { period: Some(period), confidence, evidence, reasons, ..Decision::default() }
}

/// Without the first phase, if the window begins in the middle of it.
fn without_cut_phase(counted: Counted) -> Counted {
    let Some(first) = counted.phases.first() else { return counted };
    let mut volumes: Vec<f64> = counted.phases.iter().map(|phase| phase.volume).collect();
    volumes.sort_unstable_by(f64::total_cmp);
    if first.start > 0.0 || first.volume >= 0.9 * volumes[volumes.len() / 2] || counted.phases.len() < 4 {
        return counted;
    }
    counted.without_first()
}
