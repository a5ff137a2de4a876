//! Jobs with more phases than bins: what recurs a million times is seen in
//! [sections](crate::signal::bins::sections) of the job.
//!
//! The sections of the widest bins that tell phases apart are asked one by one, as signals of their own, and
//! the period on which most of them agree is the answer. Its probability is the mean of what they give it.
//! When the last phase began is not known to a part of the period: the next one begins anywhere in the period
//! that follows.

use crate::estimate::evidence::Evidence;
use crate::estimate::forecast::Forecast;
use crate::estimate::kind::SignalKind;
use crate::estimate::{Estimate, PeriodOf};
use crate::renewal::answer::{calibrated, exact};
use crate::renewal::rows::Place;
use crate::renewal::signal::{Bandwidth, Trace};
use crate::renewal::table::{
    AGREE, ANSWER, CONSTANT, FEWEST_BINS, LEAST, LEAST_GUESS, PER_PHASE, SECTION_RUNS,
};
use crate::renewal::{Found, estimate};
use crate::signal::Signal;
use crate::signal::statistics::median;
use crate::spectral::SpectralResult;

/// What a section says.
struct Guess {
    period: f64,
    probability: f64,
    section: usize,
    place: Place,
}

/// The period on which the sections of a job agree, those of the widest bins first; `None` if there are too
/// few of them, or none tells phases apart.
pub fn estimate_sections(
    fine: &Signal,
    sections: &[Vec<Signal>],
    spectral: Option<&SpectralResult>,
) -> Option<Estimate> {
    let is_usable = |signal: &&Signal| {
        signal.samples.len() >= FEWEST_BINS && signal.mean() > 0.0 && signal.variation() >= CONSTANT
    };
    let enough = |signals: &&Vec<Signal>| {
        let usable: Vec<&Signal> = signals.iter().filter(is_usable).collect();
        let runs: usize = usable.iter().map(|signal| signal.phases_above_mean()).sum();
        let bins: usize = usable.iter().map(|signal| signal.samples.len()).sum();
        usable.len() >= LEAST && runs >= SECTION_RUNS * usable.len() && PER_PHASE * runs <= bins
    };
    let signals: Vec<&Signal> = sections.iter().find(enough)?.iter().filter(is_usable).collect();
    let look = |signal: &&Signal| {
        let (step, bins) = (signal.step(), signal.samples.clone());
        estimate(&Trace::Binned(Bandwidth { start: 0.0, step, bins, native: None, cut: true, edges: None }))
    };
    let found: Vec<Found> = signals.iter().map(look).collect();
    let of_section = |(section, found): (usize, &Found)| -> Vec<Guess> {
        let guess = |group: &crate::renewal::answer::Group| {
            let search = found.search.as_ref()?;
            let row = &search.rows[group.top];
            let near = row
                .hypotheses
                .iter()
                .position(|place| group.period == Some(search.described(*place).hypothesis.period));
            let place = row.hypotheses[near?];
            let probability = calibrated(group.probability);
            Some(Guess { period: exact(search, place), probability, section, place })
        };
        let mut guesses: Vec<Guess> = Vec::new();
        for one in found.groups.iter().filter_map(guess) {
            let known = |other: &Guess| (other.period / one.period - 1.0).abs() <= AGREE;
            if guesses.len() < LEAST && !guesses.iter().any(known) {
                guesses.push(one);
            }
        }
        guesses
    };
    let guesses: Vec<Guess> =
        found.iter().enumerate().flat_map(|some| of_section((some.0, some.1))).collect();
    let is_near = |guess: &Guess, period: f64| (guess.period / period - 1.0).abs() <= AGREE;
    let share = |period: f64| {
        let near = guesses.iter().filter(|guess| is_near(guess, period));
        near.map(|guess| guess.probability).sum::<f64>() / found.len() as f64
    };
    let best = guesses.iter().max_by(|a, b| share(a.period).total_cmp(&share(b.period)))?;
    let near: Vec<&Guess> = guesses
        .iter()
        .filter(|guess| is_near(guess, best.period) && guess.probability >= LEAST_GUESS)
        .collect();
    let confidence = share(best.period).min(1.0);
    let length = sources::amount::seconds(signals[best.section].duration());
    let count = found.len();
    let reason = format!("too many phases for the whole job: {count} sections of {length} were analysed");
    let evidence = Evidence::default().with_spectrum(spectral);
    let clearest = near.iter().copied().max_by(|a, b| a.probability.total_cmp(&b.probability));
    let Some(clearest) = clearest.filter(|_| confidence >= ANSWER) else {
        return Some(Estimate { evidence, reasons: vec![reason], ..Estimate::default() });
    };
    let period = median(&near.iter().map(|guess| guess.period).collect::<Vec<f64>>());
    let search = found[clearest.section].search.as_ref()?;
    let one = &search.described(clearest.place).hypothesis;
    let phases = search.phases(clearest.place);
    let evidence = Evidence { method: Some("phases"), phases: phases.len(), ..evidence };
    let lengths: Vec<f64> = phases.iter().map(|phase| phase.end - phase.start).collect();
    let fill = one.fill();
    let each = fine.mean() * period / fill;
    let forecast = Forecast::anywhere(fine.duration(), period, median(&lengths), each);
    let (from, to) = (fine.start_seconds(), fine.end_seconds());
    let of = PeriodOf {
        period,
        mode: None,
        phases: ((to - from) / period * fill).round() as usize,
        first_start: from,
        last_start: to - period,
        bytes: (fine.mean() * fine.duration()).round(),
        confidence,
        from,
        to,
    };
    let agree = format!("{} of {count} sections agree", near.len().min(count));
    Some(Estimate {
        period: Some(period),
        confidence,
        evidence,
        kind: Some(SignalKind::Bursts),
        periods: vec![of],
        reasons: vec![reason, agree],
        forecasts: vec![forecast],
        occupancy: Some(fill),
        ..Estimate::default()
    })
}
