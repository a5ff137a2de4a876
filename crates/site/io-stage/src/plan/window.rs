//! May anything be copied now, and for how long?

use super::phases::Phases;
use super::settings::{Settings, When};
use schemars::JsonSchema;
use serde::Serialize;

/// What is expected of the job, as of the last flush. Times are seconds of job time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Forecast {
    /// The period; `None` if there is none.
    pub period: Option<f64>,
    /// Probability that it is right.
    pub confidence: f64,
    /// When the next phase begins …
    pub start: Option<f64>,
    /// … and before when it does with a probability of 10 %.
    pub start_low: Option<f64>,
    /// After this it begins with the same probability.
    pub start_high: Option<f64>,
    /// Bytes of the next phase.
    pub bytes: Option<u64>,
}

impl Forecast {
    /// The period, if it is to be acted upon.
    pub fn trusted(&self, settings: &Settings) -> Option<f64> {
        self.period.filter(|_| self.confidence >= settings.confidence)
    }
}

/// Why something may or may not be copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, JsonSchema, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// It is quiet until shortly before the next phase.
    Quiet,
    /// The job has ended.
    JobEnded,
    /// The job has not begun with its I/O.
    BeforeFirstPhase,
    /// The buffer is above its high mark, and it is quiet.
    AboveMark,
    /// A phase goes on.
    Phase,
    /// The next phase is near.
    NextPhaseNear,
    /// Files are copied as soon as they are closed.
    AtOnce,
    /// The job has not ended, and files are to leave only then.
    NotEnded,
    /// There is no period to rely on.
    NoPeriod,
    /// No I/O was seen yet.
    NoPhase,
    /// The file is needed by the next phase.
    Needed,
    /// The user, or the system, wants an end.
    Interrupted,
}

/// Whether copying is allowed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Permission {
    /// Until then, which may be infinity.
    Until(f64, Reason),
    /// No.
    Denied(Reason),
}

impl Permission {
    /// Until when.
    pub fn end(self) -> Option<f64> {
        match self {
            Permission::Until(end, _) => Some(end),
            Permission::Denied(_) => None,
        }
    }

    /// Why.
    pub fn reason(self) -> Reason {
        match self {
            Permission::Until(_, reason) | Permission::Denied(reason) => reason,
        }
    }
}

/// What decides, besides the time.
#[derive(Clone, Copy, Debug)]
pub struct Situation<'a> {
    /// The constants.
    pub settings: &'a Settings,
    /// The phases so far.
    pub phases: &'a Phases,
    /// What is expected.
    pub forecast: &'a Forecast,
    /// The job is over.
    pub ended: bool,
    /// The buffer is above its high mark.
    pub above_mark: bool,
    /// An expected phase has not come: it is waited for until then.
    pub late_until: Option<f64>,
}

/// May files leave the buffer now?
pub fn outwards(now: f64, situation: Situation<'_>) -> Permission {
    let Situation { settings, phases, forecast, ended, above_mark, late_until } = situation;
    if ended {
        return Permission::Until(f64::INFINITY, Reason::JobEnded);
    }
    match settings.when {
        When::AtOnce => return Permission::Until(f64::INFINITY, Reason::AtOnce),
        When::AtEnd => return Permission::Denied(Reason::NotEnded),
        When::Quiet => {}
    }
    if phases.count() == 0 {
        return Permission::Denied(Reason::NoPhase);
    }
    let period = forecast.trusted(settings);
    let guard = settings.guard(period);
    if phases.quiet_since(now, guard, period).is_none() {
        return Permission::Denied(Reason::Phase);
    }
    match (period, forecast.start) {
        (Some(_), Some(_)) if late_until.is_some_and(|until| now < until) => {
            Permission::Denied(Reason::NextPhaseNear)
        }
        (Some(_), Some(start)) => {
            let end = (start - guard).min(forecast.start_low.unwrap_or(start));
            if now < end {
                Permission::Until(end, Reason::Quiet)
            } else {
                Permission::Denied(Reason::NextPhaseNear)
            }
        }
        _ if above_mark => Permission::Until(f64::INFINITY, Reason::AboveMark),
        _ => Permission::Denied(Reason::NoPeriod),
    }
}

/// May files that the next phase needs come in now? Without a period, in any quiet.
pub fn inwards(now: f64, situation: Situation<'_>) -> Permission {
    if situation.ended {
        return Permission::Denied(Reason::JobEnded);
    }
    match outwards(now, situation) {
        Permission::Denied(Reason::NoPhase) => Permission::Until(f64::INFINITY, Reason::BeforeFirstPhase),
        Permission::Denied(Reason::NoPeriod) | Permission::Until(_, Reason::AboveMark) => {
            Permission::Until(f64::INFINITY, Reason::Needed)
        }
        other => other,
    }
}

/// How long the quiet between two phases usually is, guards taken off; `None` without a period.
pub fn usual_length(settings: &Settings, phases: &Phases, forecast: &Forecast) -> Option<f64> {
    let period = forecast.trusted(settings)?;
    Some((period - phases.usual_length() - 2.0 * settings.guard(Some(period))).max(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn phases() -> Phases {
        let mut phases = Phases::default();
        for i in 0..3 {
            let start = 10.0 * f64::from(i);
            phases.request(start, start + 2.0, 1 << 20, 1.0, 0.0);
        }
        phases.flush(24.0, 24.0);
        phases
    }

    fn forecast(confidence: f64) -> Forecast {
        let (period, start, start_low) = (Some(10.0), Some(30.0), Some(29.8));
        Forecast { period, confidence, start, start_low, bytes: Some(1 << 20), start_high: None }
    }

    fn at(now: f64, forecast: &Forecast, ended: bool, above_mark: bool) -> (Permission, Permission) {
        let (settings, phases) = (Settings::default(), phases());
        let situation =
            Situation { settings: &settings, phases: &phases, forecast, ended, above_mark, late_until: None };
        (outwards(now, situation), inwards(now, situation))
    }

    #[test]
    fn the_quiet_between_two_phases() {
        let sure = forecast(0.9);
        let quiet = Permission::Until(29.0, Reason::Quiet);
        assert_eq!(
            at(22.5, &sure, false, false),
            (Permission::Denied(Reason::Phase), Permission::Denied(Reason::Phase))
        );
        assert_eq!(at(24.0, &sure, false, false), (quiet, quiet));
        assert_eq!(at(29.0, &sure, false, true).0, Permission::Denied(Reason::NextPhaseNear));
        let early = Forecast { start_low: Some(27.0), ..sure };
        assert_eq!(at(24.0, &early, false, false).0, Permission::Until(27.0, Reason::Quiet));
        assert_eq!(at(24.0, &sure, true, false).0, Permission::Until(f64::INFINITY, Reason::JobEnded));
        assert_eq!(at(24.0, &sure, true, false).1, Permission::Denied(Reason::JobEnded));
    }

    #[test]
    fn without_a_period_only_above_the_mark() {
        for unsure in [forecast(0.4), Forecast::default()] {
            assert_eq!(at(24.0, &unsure, false, false).0, Permission::Denied(Reason::NoPeriod));
            let above = at(24.0, &unsure, false, true).0;
            assert_eq!(above, Permission::Until(f64::INFINITY, Reason::AboveMark));
            assert_eq!(at(22.5, &unsure, false, true).0, Permission::Denied(Reason::Phase));
            assert_eq!(at(24.0, &unsure, false, false).1, Permission::Until(f64::INFINITY, Reason::Needed));
        }
    }

    #[test]
    fn before_the_first_phase_files_may_only_come_in() {
        let (settings, phases) = (Settings::default(), Phases::default());
        let forecast = Forecast::default();
        let situation = Situation {
            settings: &settings,
            phases: &phases,
            forecast: &forecast,
            ended: false,
            above_mark: true,
            late_until: None,
        };
        assert_eq!(outwards(5.0, situation), Permission::Denied(Reason::NoPhase));
        assert_eq!(inwards(5.0, situation), Permission::Until(f64::INFINITY, Reason::BeforeFirstPhase));
    }

    #[test]
    fn the_usual_quiet() {
        assert_eq!(usual_length(&Settings::default(), &phases(), &forecast(0.9)), Some(6.0));
        assert_eq!(usual_length(&Settings::default(), &phases(), &forecast(0.1)), None);
    }
}
