//! Is there a period, and which? The one function that decides: [`estimate`].
//!
//! 1. [`view`]: the signal without what flows all the time, its [lists of phases](crate::phases) at every
//!    scale, its [autocorrelation](correlation) and the [lines] of its spectrum;
//! 2. [`hypotheses`]: what the period could be, list by list;
//! 3. [`features`]: what speaks for each;
//! 4. [`score`]: a probability for each, with the [weights] of the features; *no period* is one of the
//!    alternatives;
//! 5. [`second`]: a second rhythm beside the first.
//!
//! The most probable period is the answer if its probability, which is the confidence, is at least one half.
//! *Period* means the distance at which phases recur, so that the next start is foretold best: with phases
//! missing, the base distance; with one odd first phase, that of the others.

pub mod background;
pub mod beats;
pub mod correlation;
pub mod evidence;
pub mod features;
pub mod forecast;
pub mod gaps;
pub mod hypotheses;
pub mod kind;
pub mod levels;
pub mod lines;
pub mod long_job;
pub mod result;
pub mod score;
pub mod second;
pub mod turns;
pub mod view;
pub mod weights;

use crate::estimate::evidence::Evidence;
use crate::estimate::forecast::{Forecast, provisional};
use crate::estimate::hypotheses::{Form, Hypothesis};
use crate::estimate::kind::SignalKind;
use crate::estimate::levels::with_levels_joined;
use crate::estimate::score::{ANSWER, Candidate, posterior_with_clear};
use crate::estimate::second::{Rhythm, Two, two_rhythms};
use crate::estimate::view::{View, is_worth_a_look};
use crate::phases::phase::Phase;
use crate::signal::Signal;
use crate::signal::statistics::median;
use crate::spectral::SpectralResult;
use sources::amount::seconds;

pub use crate::estimate::result::{Estimate, FirstPhase, PeriodOf};
pub use crate::estimate::view::Given;

/// At most this many huge transfers are left out. A rhythm beside one of them has at least so many phases,
/// and beside several, so many: every further look at what is left may find something by chance.
const MOST_HUGE: usize = 4;
const LEAST_BESIDE_ONE: usize = 4;
const LEAST_BESIDE: usize = 6;

/// Its phases begin in this share of the window, too: what a smaller transfer is made of is no rhythm.
const BESIDE_SPAN: f64 = 0.12;

/// Phases above traffic must be this probable, at distances that vary by no more, go on through this share of
/// the window, and no more of them must be others: among many bursts, some are at even distances by chance.
/// Where there is an answer already, they must be sure, and vary by no more than this share of its distances.
const ABOVE: f64 = 0.8;
const ABOVE_EVEN: f64 = 0.12;
const ABOVE_EXTRA: f64 = 0.3;
const ABOVE_COVER: f64 = 0.5;
const SURE_ABOVE: f64 = 0.95;
const EVENER: f64 = 0.5;

/// A first phase this many times as long, or as large, as the others is told apart.
const ODD_FIRST: f64 = 1.5;

/// Decide. `fine` is the signal as finely as it is known, `spectral` what its spectrum says, if anybody wants
/// to know: the answer does not depend on it.
pub fn estimate(fine: &Signal, spectral: Option<&SpectralResult>, given: &Given) -> Estimate {
    if !is_worth_a_look(fine) {
        return Estimate::default();
    }
    let view = best_look(fine, given);
    let mut found = decided(&view, spectral);
    if found.period.is_some() || !found.periods.is_empty() {
        found.reasons.extend(view.left_out.map(String::from));
    }
    found
}

/// The signal as it tells most: as it is, or without what hides the phases.
fn best_look(fine: &Signal, given: &Given) -> View {
    let mut view = View::of(fine, given);
    let answers =
        |view: &View| view.posterior.candidates.first().is_some_and(|best| best.probability >= ANSWER);
    if !answers(&view) {
        let clear = posterior_with_clear(&view.pool);
        if clear.candidates.first().is_some_and(|best| best.probability >= ANSWER) {
            view.posterior = clear;
        }
    }
    if !answers(&view)
        && let Some(joined) = with_levels_joined(&view.posterior, &view.lists)
    {
        view.posterior = joined;
    }
    if answers(&view) {
        return clearer_above_background(&view).unwrap_or(view);
    }
    let other = beside_huge_transfers(&view).or_else(|| beside_glitches(&view));
    other.or_else(|| above_background(&view)).unwrap_or(view)
}

/// What the hypotheses about a signal come to.
fn decided(view: &View, spectral: Option<&SpectralResult>) -> Estimate {
    let evidence = Evidence::of(view).with_spectrum(spectral);
    let Some(best) = view.posterior.candidates.first() else {
        let reasons = vec!["fewer than three phases at every scale".into()];
        return foretold(view, Estimate { evidence, reasons, ..Estimate::default() });
    };
    if best.best.hypothesis.form == Form::Change {
        let found =
            if best.probability >= ANSWER { changing(view, best, evidence) } else { refused(best, evidence) };
        return foretold(view, found);
    }
    match two_rhythms(view) {
        Some(Two::AtOnce(two)) => return interleaved(view, &two, evidence),
        Some(Two::InTurn(two)) => return foretold(view, in_turn(view, &two, evidence)),
        None => {}
    }
    let found = if best.probability >= ANSWER {
        periodic(view, best, evidence, spectral.is_some())
    } else {
        refused(best, evidence)
    };
    foretold(view, found)
}

/// Huge transfers may hide what comes before or after them: a job reads its input, then a restart file. The
/// signal without the largest, the two largest and so on, if there is a rhythm in it: one of a good number of
/// phases where several were left out. A line of the spectrum alone is no such rhythm: what was cut out
/// leaves lines of its own, and the largest swell of a load that wanders is no transfer.
fn beside_huge_transfers(view: &View) -> Option<View> {
    let mut rest = view.without_huge_transfer()?;
    for left_out in 1..=MOST_HUGE {
        let best = rest.posterior.candidates.first().filter(|best| best.probability >= ANSWER);
        let enough = |best: &Candidate| {
            let one = &best.best.hypothesis;
            let least = if left_out == 1 { LEAST_BESIDE_ONE } else { LEAST_BESIDE };
            one.form != Form::Line && one.members.len() >= least && span(&rest, one) >= BESIDE_SPAN
        };
        if best.is_some_and(enough) {
            return Some(rest);
        }
        rest = rest.without_huge_transfer()?;
    }
    None
}

/// The share of the window from the first to the last start of the members of a hypothesis.
fn span(view: &View, one: &Hypothesis) -> f64 {
    let starts = view.starts(one);
    let (first, last) = (starts.first().copied().unwrap_or(0), starts.last().copied().unwrap_or(0));
    (last - first) as f64 / view.signal.samples.len().max(1) as f64
}

/// A monitor may give a few samples that are higher than all others by far. The series without them, if there
/// is a rhythm of a good number of phases in it.
fn beside_glitches(view: &View) -> Option<View> {
    let rest = view.without_glitches()?;
    let best = rest.posterior.candidates.first().filter(|best| best.probability >= ANSWER)?;
    (best.best.hypothesis.members.len() >= LEAST_BESIDE).then_some(rest)
}

/// Traffic that goes on all the time may have most of the bytes, so that phases are hidden in it. What
/// exceeds it, if there is an even rhythm of a good number of phases in that.
fn above_background(view: &View) -> Option<View> {
    let rest = view.above_background()?;
    let best = rest.posterior.candidates.first().filter(|best| best.probability >= ABOVE)?;
    let one = &best.best.hypothesis;
    let even = one.form != Form::Line && one.sigma <= ABOVE_EVEN && one.extra <= ABOVE_EXTRA;
    (even && one.members.len() >= LEAST_BESIDE && best.best.cover >= ABOVE_COVER).then_some(rest)
}

/// The same, where there is an answer that is not sure: what exceeds the traffic, if that is sure and far
/// more even, and the traffic is no rhythm of its own.
fn clearer_above_background(view: &View) -> Option<View> {
    let unsure = view.posterior.candidates.first().filter(|best| best.probability < SURE_ABOVE)?;
    let rest = above_background(view)?;
    let best = rest.posterior.candidates.first().filter(|best| best.probability >= SURE_ABOVE)?;
    let evener = best.best.hypothesis.sigma <= EVENER * unsure.best.hypothesis.sigma;
    (evener && two_rhythms(view).is_none()).then_some(rest)
}

/// With the next phase by all hypotheses, and a provisional answer if there is no period.
fn foretold(view: &View, found: Estimate) -> Estimate {
    let unknown = found.period.is_none() && found.periods.is_empty();
    let provisional = if unknown { provisional(view, view.signal.duration()) } else { None };
    let forecast = Forecast::of(view);
    Estimate { forecasts: vec![forecast], provisional, ..found }
}

/// No hypothesis is probable enough.
fn refused(best: &Candidate, evidence: Evidence) -> Estimate {
    let one = &best.best.hypothesis;
    let guess = match one.form {
        Form::Line => format!("{}, by one frequency of the spectrum,", seconds(one.period)),
        _ => format!("{} from {},", seconds(one.period), varies(one)),
    };
    let reasons = vec![format!(
        "the best guess, {guess} has a probability of {:.0} %, and no period one of {:.0} %",
        100.0 * best.probability,
        100.0 * evidence.no_period.unwrap_or(0.0)
    )];
    let volumes_after = (one.form != Form::Line).then_some(reasons.len());
    Estimate { evidence, reasons, volumes_after, ..Estimate::default() }
}

/// How phases recur. How much their volumes vary is said of the phases as they are listed.
fn varies(one: &Hypothesis) -> String {
    let distances = 100.0 * one.sigma;
    match one.form {
        Form::Line => "one frequency holds much of the signal's variance".into(),
        Form::Drift => {
            let [first, last] = one.ends.unwrap_or([one.period; 2]);
            let (count, first, last) = (one.members.len(), seconds(first), seconds(last));
            format!("{count} phases, whose distances go from {first} to {last}")
        }
        _ => format!("{} phases, whose distances vary by {distances:.1} %", one.members.len()),
    }
}

/// A period. What the spectrum says is told if it was asked.
fn periodic(view: &View, best: &Candidate, evidence: Evidence, asked_spectrum: bool) -> Estimate {
    let one = &best.best.hypothesis;
    let (period, method) = view.exact_period(&best.best);
    let phases = if one.form == Form::Line { Vec::new() } else { view.members(one) };
    let mut evidence = evidence.with_repetition(&view.signal, best.best.correlation, period);
    evidence.method = Some(method);
    let mut reasons = vec![varies(one)];
    let volumes_after = (one.form != Form::Line).then_some(reasons.len());
    if one.form == Form::Comb {
        reasons.extend(gaps(view, one));
    }
    if one.cut_first {
        reasons.push("one phase more at the beginning of the window, whose start was not seen".into());
    }
    if let Some(inner) = &evidence.inner {
        let each = inner.bursts as f64 / evidence.phases.max(1) as f64;
        let apart = seconds(inner.mean_distance);
        reasons.push(format!("each of {each:.0} bursts, {apart} apart on average"));
    }
    match evidence.spectrum_period {
        Some(_) if evidence.spectrum_agrees(period) => reasons.push("the spectrum agrees".into()),
        Some(other) => reasons.push(format!("the spectrum alone would say {}", seconds(other))),
        None if asked_spectrum => reasons.push("no single frequency stands out of the spectrum".into()),
        None => {}
    }
    reasons.extend(runner_up(&evidence));
    let pauses = view.pedestal <= 0.1 * view.ground.level;
    let is_sharp = !phases.is_empty() && pauses && view.is_sharp(one);
    Estimate {
        period: Some(period),
        confidence: best.probability.min(1.0),
        begun: phases.last().and_then(|last| view.begun(last.start + period / 2.0)),
        kind: is_sharp.then_some(SignalKind::Bursts),
        periods: vec![if phases.is_empty() {
            PeriodOf::of_wave(&view.signal, period, best.probability.min(1.0))
        } else {
            PeriodOf::of(&view.signal, period, best.probability.min(1.0), &phases)
        }],
        occupancy: (!phases.is_empty()).then_some(one.fill),
        first_phase: if phases.is_empty() { None } else { first_phase(view, one) },
        mean_distance: mean_distance(&phases),
        phases,
        reasons,
        volumes_after,
        evidence,
        ..Estimate::default()
    }
}

fn mean_distance(phases: &[Phase]) -> Option<f64> {
    let (first, last) = (phases.first()?, phases.last()?);
    (phases.len() > 1).then(|| (last.start - first.start) / (phases.len() - 1) as f64)
}

/// Empty slots, pauses and phases that do not belong, in words.
fn gaps(view: &View, one: &Hypothesis) -> Vec<String> {
    let mut words = Vec::new();
    let empty = one.slots + one.links.iter().filter(|link| **link == 0).count() - one.links.len();
    if empty > 0 {
        words.push(format!("{empty} of {} slots are empty", one.slots + 1));
    }
    let pauses = one.links.iter().filter(|link| **link == 0).count();
    if pauses > 0 {
        words.push(match pauses {
            1 => "1 pause of another length".into(),
            _ => format!("{pauses} pauses of another length"),
        });
    }
    let extra = view.lists[one.list].starts.len() - one.belonging();
    if extra > 0 {
        words.push(match extra {
            1 => "1 other phase does not belong to the rhythm".into(),
            _ => format!("{extra} other phases do not belong to the rhythm"),
        });
    }
    words
}

/// The next best period, if it comes close.
fn runner_up(evidence: &Evidence) -> Option<String> {
    let next = evidence.hypotheses.get(1).filter(|next| next.probability >= 0.05)?;
    Some(format!("the next best guess, {}, has {:.0} %", seconds(next.period), 100.0 * next.probability))
}

/// The first phase, if it is longer or larger than the others: a member, or the phase before the first
/// member.
fn first_phase(view: &View, one: &Hypothesis) -> Option<FirstPhase> {
    let all = &view.lists[one.list].list.phases;
    let members = view.members(one);
    let first = if one.members[0] == 1 { all[0] } else { members[0] };
    let others = &members[usize::from(one.members[0] == 0)..];
    let usual = |value: fn(&Phase) -> f64| median(&others.iter().map(value).collect::<Vec<f64>>());
    let (length, volume) = (usual(|phase| phase.end - phase.start), usual(|phase| phase.volume));
    let (long, large) = ((first.end - first.start) / length, first.volume / volume);
    let since = view.signal.start_seconds();
    let is_odd = others.len() >= 3 && long.is_finite() && large.is_finite() && long.max(large) >= ODD_FIRST;
    is_odd.then(|| FirstPhase {
        start: since + first.start,
        end: since + first.end,
        bytes: first.volume.round(),
        times_as_long: long,
        times_as_large: large,
    })
}

/// Two periods at once: the answer is that of the larger volume.
fn interleaved(view: &View, two: &[Rhythm; 2], evidence: Evidence) -> Estimate {
    let main = &two[0];
    let one = &main.described.hypothesis;
    let period = main.period;
    let mut evidence = evidence.with_repetition(&view.signal, main.described.correlation, period);
    evidence.method = Some("phases");
    let reason = format!(
        "two periods at once: {} phases every {} and {} every {}",
        main.phases.len(),
        seconds(period),
        two[1].phases.len(),
        seconds(two[1].period)
    );
    let of = |rhythm: &Rhythm| PeriodOf {
        bytes: rhythm.volume.round(),
        ..PeriodOf::of(&view.signal, rhythm.period, rhythm.probability, &rhythm.phases)
    };
    let forecast = |rhythm: &Rhythm| {
        let starts: Vec<f64> = rhythm.phases.iter().map(|phase| phase.start).collect();
        let one = &rhythm.described.hypothesis;
        Forecast::of_rhythm(
            view,
            &starts,
            one.sigma.min(0.5),
            (1.0 - one.fill).min(0.4),
            rhythm.period,
            &rhythm.phases,
        )
    };
    Estimate {
        period: Some(period),
        confidence: main.probability,
        forecasts: two.iter().map(forecast).collect(),
        periods: two.iter().map(of).collect(),
        kind: Some(SignalKind::Interleaved),
        evidence,
        occupancy: Some(one.fill),
        mean_distance: mean_distance(&main.phases),
        phases: main.phases.clone(),
        reasons: vec![reason],
        ..Estimate::default()
    }
}

/// A period that changes on the way is no single period.
fn changing(view: &View, best: &Candidate, evidence: Evidence) -> Estimate {
    let one = &best.best.hypothesis;
    let [before, after] = one.ends.unwrap_or([one.period; 2]);
    let phases = view.members(one);
    let (first, second) = phases.split_at(one.at.min(phases.len()));
    let periods = [within(first, before), within(second, after)];
    change(view, [first, second], periods, [best.probability; 2], evidence)
}

/// One rhythm takes over from the other.
fn in_turn(view: &View, [before, after]: &[Rhythm; 2], evidence: Evidence) -> Estimate {
    let phases = [before.phases.as_slice(), after.phases.as_slice()];
    let probabilities = [before.probability, after.probability];
    change(view, phases, [before.period, after.period], probabilities, evidence)
}

fn change(
    view: &View,
    [first, second]: [&[Phase]; 2],
    [before, after]: [f64; 2],
    probabilities: [f64; 2],
    evidence: Evidence,
) -> Estimate {
    let at = view.signal.start_seconds() + second.first().map_or(0.0, |phase| phase.start);
    let [at, was, is] = [at, before, after].map(seconds);
    let reason = format!("the period changes at {at}: {was} before, {is} after");
    let of = |phases: &[Phase], period: f64, probability: f64| {
        PeriodOf::of(&view.signal, period, probability, phases)
    };
    let [one, other] = probabilities;
    Estimate {
        kind: Some(SignalKind::Changing),
        periods: vec![of(first, before, one), of(second, after, other)],
        evidence,
        reasons: vec![reason],
        ..Estimate::default()
    }
}

/// The mean distance of phases that follow each other about every `period`. What comes before them and after
/// them belongs to another rhythm, and is not counted.
fn within(phases: &[Phase], period: f64) -> f64 {
    let (Some(first), Some(last)) = (phases.first(), phases.last()) else { return period };
    let span = last.start - first.start;
    let distances = (span / period).round();
    if distances >= 1.0 { span / distances } else { period }
}
