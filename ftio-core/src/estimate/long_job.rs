//! Jobs with more phases than bins: what recurs a million times is seen in
//! [sections](crate::signal::bins::sections) of the job.
//!
//! The bins of the whole are too coarse if there are fewer than a few for each run of busy ones, or if hardly
//! any of them is quiet. Then the sections of the widest bins that tell phases apart are estimated one by
//! one, as signals of their own, and the period on which most of them agree is the answer. Its probability is
//! the mean of what they give it. When the last phase began is not known to a part of the period: the next
//! one begins anywhere in the period that follows.

use crate::estimate::evidence::Evidence;
use crate::estimate::forecast::Forecast;
use crate::estimate::hypotheses::Form;
use crate::estimate::kind::SignalKind;
use crate::estimate::result::{Estimate, PeriodOf};
use crate::estimate::score::{ANSWER, Candidate};
use crate::estimate::view::{Given, View, is_worth_a_look};
use crate::signal::statistics::median;
use crate::signal::{SAMPLES_PER_PHASE, Signal};
use crate::spectral::SpectralResult;

/// Fewer bins for a run of busy ones do not tell phases apart.
const BINS_PER_PHASE: usize = 8;

/// If fewer bins are quiet, phases may be narrower than bins.
const QUIET_BINS: f64 = 0.02;

/// Sections agree if their periods are within this share of one another.
const SAME: f64 = 0.04;

/// A section has at least this many runs of busy bins.
const LEAST_RUNS: usize = 8;

/// At least this many sections.
const LEAST_SECTIONS: usize = 3;

/// Do the bins of a job tell its phases apart?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resolution {
    /// Yes.
    Enough,
    /// Hardly any bin is quiet: phases may be narrower than bins, or there is traffic all the time.
    Doubtful,
    /// No: runs of busy bins are too short.
    TooLittle,
}

impl Resolution {
    /// Do so many bins tell any number of phases apart that so many requests can make? Bandwidth rises where
    /// a request begins, and by what rounding leaves over, where it ends: there are no more runs of busy bins
    /// than that.
    pub fn is_enough_for(requests: u64, bins: i64) -> bool {
        let runs = requests.saturating_mul(2);
        runs.saturating_mul(BINS_PER_PHASE as u64) <= bins.unsigned_abs()
    }

    /// Of the narrowest bins of the whole job.
    pub fn of(finest: &Signal) -> Self {
        if BINS_PER_PHASE * finest.phases_above_mean() > finest.samples.len() {
            return Resolution::TooLittle;
        }
        let quiet = finest.samples.iter().filter(|x| **x <= 0.0).count() as f64;
        let few = quiet < QUIET_BINS * finest.samples.len() as f64;
        if few { Resolution::Doubtful } else { Resolution::Enough }
    }
}

/// The period on which the sections of a job agree, those of the widest bins first; `None` if there are too
/// few of them, or none tells phases apart.
pub fn estimate_sections(
    fine: &Signal,
    sections: &[Vec<Signal>],
    spectral: Option<&SpectralResult>,
    given: &Given,
) -> Option<Estimate> {
    let enough = |signals: &&Vec<Signal>| {
        let usable: Vec<&Signal> = signals.iter().filter(|signal| is_worth_a_look(signal)).collect();
        let runs: usize = usable.iter().map(|signal| signal.phases_above_mean()).sum();
        let bins: usize = usable.iter().map(|signal| signal.samples.len()).sum();
        usable.len() >= LEAST_SECTIONS
            && runs >= LEAST_RUNS * usable.len()
            && SAMPLES_PER_PHASE * runs <= bins
    };
    let signals = sections.iter().find(enough)?;
    // A section begins anywhere.
    let given = Given { cut: true, ..*given };
    let views: Vec<View> = signals
        .iter()
        .filter(|signal| is_worth_a_look(signal))
        .map(|signal| View::of(signal, &given))
        .collect();
    let plain = |form: Form| matches!(form, Form::Mean | Form::Comb);
    let mut guesses: Vec<(f64, f64, usize)> = Vec::new();
    for (number, view) in views.iter().enumerate() {
        for candidate in
            view.posterior.candidates.iter().take(3).filter(|one| plain(one.best.hypothesis.form))
        {
            guesses.push((view.exact_period(&candidate.best).0, candidate.probability, number));
        }
    }
    let share = |period: f64| {
        let near = guesses.iter().filter(|guess| (guess.0 / period - 1.0).abs() <= SAME);
        near.map(|guess| guess.1).sum::<f64>() / views.len() as f64
    };
    let best = guesses.iter().max_by(|a, b| share(a.0).total_cmp(&share(b.0)))?;
    let near: Vec<&(f64, f64, usize)> =
        guesses.iter().filter(|guess| (guess.0 / best.0 - 1.0).abs() <= SAME && guess.1 >= 0.3).collect();
    let periods: Vec<f64> = near.iter().map(|guess| guess.0).collect();
    let confidence = share(best.0).min(1.0);
    let clearest = near.iter().max_by(|a, b| a.1.total_cmp(&b.1)).map_or(0, |guess| guess.2);
    let mut evidence = Evidence::of(&views[clearest]).with_spectrum(spectral);
    let length = sources::amount::seconds(views[clearest].signal.duration());
    let reason =
        format!("too many phases for the whole job: {} sections of {length} were analysed", views.len());
    if confidence < ANSWER || periods.is_empty() {
        return Some(Estimate { evidence, reasons: vec![reason], ..Estimate::default() });
    }
    let period = median(&periods);
    evidence.method = Some("phases");
    let off = |one: &Candidate| (one.best.hypothesis.period / period - 1.0).abs();
    let nearest = views[clearest].posterior.candidates.iter().min_by(|a, b| off(a).total_cmp(&off(b)));
    let occupancy = nearest.map(|one| one.best.hypothesis.fill);
    let length = nearest.map_or(0.0, |one| one.best.duty * period);
    let each = fine.mean() * period / occupancy.unwrap_or(1.0).max(f64::MIN_POSITIVE);
    let forecast = Forecast::anywhere(fine.duration(), period, length, each);
    let (from, to) = (fine.start_seconds(), fine.end_seconds());
    let of = PeriodOf {
        period,
        mode: None,
        phases: ((to - from) / period * occupancy.unwrap_or(1.0)).round() as usize,
        first_start: from,
        last_start: to - period,
        bytes: (fine.mean() * fine.duration()).round(),
        confidence,
        from,
        to,
    };
    let agree = format!("{} of {} sections agree", periods.len().min(views.len()), views.len());
    Some(Estimate {
        period: Some(period),
        confidence,
        evidence,
        kind: Some(SignalKind::Bursts),
        periods: vec![of],
        reasons: vec![reason, agree],
        forecasts: vec![forecast],
        occupancy,
        ..Estimate::default()
    })
}
