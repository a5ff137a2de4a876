//! Who tells the scheduler the period of an application.

use crate::queue::{JobId, Nanoseconds};
use crate::rules::{DEFAULT, Set};
use crate::simulate::seconds;
use seeded_random::Random;

/// Bytes that moved evenly from `start` to `end`: a request, or a stretch of constant rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Transfer {
    /// When it began.
    pub start: Nanoseconds,
    /// When it ended.
    pub end: Nanoseconds,
    /// How much.
    pub bytes: f64,
}

/// Looks at one application while it runs.
pub trait Predictor: std::fmt::Debug {
    /// The application has written out what it transferred since the last time, which it does at the end of
    /// each I/O phase. The period, if it can be told.
    fn flush(&mut self, transfers: &[Transfer], now: Nanoseconds) -> Option<f64>;
}

/// Makes a predictor for a job that starts at the given time.
pub type NewPredictor<'a> = dyn Fn(JobId, Nanoseconds) -> Box<dyn Predictor> + Sync + 'a;

/// Where priorities come from.
#[derive(Clone, Copy)]
pub enum Known<'a> {
    /// Each application's period when it is alone, from the start: clairvoyance.
    All,
    /// What is found while it runs.
    Predicted(&'a NewPredictor<'a>),
}

impl std::fmt::Debug for Known<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Known::All => "All",
            Known::Predicted(_) => "Predicted",
        })
    }
}

/// Guesses until another predictor has found a period: by the mean time between I/O phases so far, the first
/// of which ends the time since the start of the job.
///
/// One phase tells no period, but a job that has not done I/O for six minutes does not do it every few
/// seconds. A guess may therefore only lower the priority that a job of unknown period has, never raise it.
#[derive(Debug)]
pub struct Early {
    inner: Box<dyn Predictor>,
    start: Nanoseconds,
    /// How many phases there were; `None` once a period was found.
    phases: Option<u64>,
}

impl Early {
    /// For a job that starts at this time.
    pub fn new(inner: Box<dyn Predictor>, start: Nanoseconds) -> Self {
        Early { inner, start, phases: Some(0) }
    }
}

impl Predictor for Early {
    fn flush(&mut self, transfers: &[Transfer], now: Nanoseconds) -> Option<f64> {
        let found = self.inner.flush(transfers, now);
        let Some(phases) = self.phases.map(|phases| phases + 1) else { return found };
        self.phases = found.is_none().then_some(phases);
        found.or_else(|| early_guess(seconds(now.saturating_sub(self.start)), phases))
    }
}

/// A first guess at the period, `seconds / phases`, but only if it lowers the job's priority.
pub fn early_guess(seconds: f64, phases: u64) -> Option<f64> {
    let guess = seconds / phases as f64;
    (Set::of_period(guess)?.priority().stored() < DEFAULT).then_some(guess)
}

/// Makes each period that another predictor finds wrong: larger or smaller by a part, at random.
#[derive(Debug)]
pub struct Erroneous {
    inner: Box<dyn Predictor>,
    part: f64,
    random: Random,
}

impl Erroneous {
    /// `part` is 0.5 for ±50 %.
    pub fn new(inner: Box<dyn Predictor>, part: f64, seed: u64) -> Self {
        Erroneous { inner, part, random: Random::new(seed) }
    }
}

impl Predictor for Erroneous {
    fn flush(&mut self, transfers: &[Transfer], now: Nanoseconds) -> Option<f64> {
        let period = self.inner.flush(transfers, now)?;
        let larger = self.random.bits() >> 63 == 1;
        Some(period * if larger { 1.0 + self.part } else { 1.0 - self.part })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct Ten;

    impl Predictor for Ten {
        fn flush(&mut self, transfers: &[Transfer], _: Nanoseconds) -> Option<f64> {
            (!transfers.is_empty()).then_some(10.0)
        }
    }

    #[test]
    fn a_guess_only_lowers_priorities_and_gives_way_to_a_prediction() {
        let second = 1_000_000_000;
        let mut seldom = Early::new(Box::new(Ten), 100 * second);
        assert_eq!(seldom.flush(&[], 500 * second), Some(400.0));
        assert_eq!(seldom.flush(&[], 900 * second), Some(400.0));
        let transfer = [Transfer { start: 0, end: 1, bytes: 1.0 }];
        assert_eq!(seldom.flush(&transfer, 910 * second), Some(10.0));
        assert_eq!(seldom.flush(&[], 920 * second), None, "kept");
        let mut often = Early::new(Box::new(Ten), 0);
        assert_eq!(often.flush(&[], 20 * second), None);
        assert_eq!(early_guess(31.0, 1), None);
        assert_eq!(early_guess(33.0, 1), Some(33.0));
    }

    #[test]
    fn errors_go_both_ways() {
        let mut predictor = Erroneous::new(Box::new(Ten), 0.5, 3);
        assert_eq!(predictor.flush(&[], 0), None);
        let transfer = [Transfer { start: 0, end: 1, bytes: 1.0 }];
        let periods: Vec<f64> = (0..100).filter_map(|_| predictor.flush(&transfer, 0)).collect();
        assert!(periods.iter().all(|&period| period == 5.0 || period == 15.0));
        let larger = periods.iter().filter(|&&period| period == 15.0).count();
        assert!((30..70).contains(&larger), "{larger}");
    }
}
