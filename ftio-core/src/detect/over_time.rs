//! When which period holds, and where the behaviour changes.
//!
//! The period of the whole window is of little use for an application that writes every minute at first and
//! every ten minutes later. Here the window is divided where the behaviour changes, and each part is asked
//! for its period like a whole window:
//!
//! 1. The [wavelet transform](crate::spectral::wavelet) tells for each instant which period is the strongest.
//!    Where that changes by more than a quarter of an octave (19 %), and stays so for one and a half periods,
//!    the signal is cut.
//! 2. Each part is asked for its period like a whole window (see [`window`](crate::detect::window)).
//! 3. Neighbouring parts that turn out to be alike (the same period within 10 %, or none in either) become
//!    one.
//!
//! Beside these segments there are the same questions in windows of equal length, each overlapping the next
//! by half, long enough for four periods.

use crate::signal::Signal;
use crate::spectral::wavelet::{PER_OCTAVE, Scalogram};
use schemars::JsonSchema;
use serde::Serialize;
use sources::time::seconds;

/// The wavelet transform looks at no more samples than this; finer ones are merged.
const MAX_COLUMNS: usize = 1 << 13;

/// Columns of the scalogram that is kept for pictures.
const KEPT_COLUMNS: usize = 512;

/// A signal of fewer samples is not divided.
const MIN_SAMPLES: usize = 64;

/// Never more segments than this before alike ones are merged.
const MAX_SEGMENTS: usize = 64;

/// Periods closer than this are the same.
const SAME_PERIOD: f64 = 0.1;

/// Periods in a window of the short-time Fourier transform.
const PERIODS_PER_WINDOW: f64 = 4.0;

/// When which period holds.
#[derive(Clone, Debug, Default, PartialEq, JsonSchema, Serialize)]
#[non_exhaustive]
pub struct OverTime {
    /// Parts of the window, each with one behaviour, in the order of time and without gaps.
    pub segments: Vec<Segment>,
    /// Length in seconds of the windows of the short-time Fourier transform; `None` if the signal is too
    /// short.
    pub window: Option<f64>,
    /// What holds in each of these windows.
    pub windows: Vec<Segment>,
}

/// A part of the window.
#[derive(Clone, Copy, Debug, Default, PartialEq, JsonSchema, Serialize)]
#[non_exhaustive]
pub struct Segment {
    /// Start in seconds of job time.
    pub start: f64,
    /// End in seconds of job time.
    pub end: f64,
    /// The period in seconds; `None` if not periodic.
    pub period: Option<f64>,
    /// How sure that is; 0 if not periodic.
    pub confidence: f64,
}

/// A part of the signal by its samples, and what was found in it.
#[derive(Clone, Copy, Debug)]
struct Part {
    from: usize,
    to: usize,
    /// The same in nanoseconds of job time.
    window: (i64, i64),
    /// The period in seconds.
    seconds: Option<f64>,
    /// The period in samples.
    period: Option<f64>,
    confidence: f64,
}

/// The period of `[from, to)` in nanoseconds of job time, in seconds, and the confidence in it.
pub type PeriodOfWindow<'a> = &'a dyn Fn(i64, i64) -> (Option<f64>, f64);

/// Divide a signal by its behaviour. `window` is what it was sampled from, in nanoseconds: the first and the
/// last bin may reach beyond it. The scalogram, thinned out, is for pictures.
pub fn over_time(
    signal: &Signal,
    window: (i64, i64),
    period: PeriodOfWindow<'_>,
) -> (OverTime, Option<Scalogram>) {
    let n = signal.samples.len();
    if n == 0 {
        return (OverTime::default(), None);
    }
    let asked = |from: usize, to: usize| Part::asked(signal, window, period, from, to);
    if n < MIN_SAMPLES {
        let segments = vec![asked(0, n).segment()];
        return (OverTime { segments, ..OverTime::default() }, None);
    }
    let factor = n.div_ceil(MAX_COLUMNS);
    let thin = signal.merged(factor);
    let scalogram = Scalogram::of(&thin.samples, thin.step());
    let mut cuts = changes(&scalogram.ridge(), &scalogram.periods, thin.step());
    cuts.iter_mut().for_each(|cut| *cut = (*cut * factor).min(n));
    cuts.insert(0, 0);
    cuts.push(n);
    let parts = cuts.windows(2).filter(|pair| pair[0] < pair[1]).map(|pair| asked(pair[0], pair[1]));
    let parts = merged(parts.collect(), &asked);
    let longest = parts.iter().filter_map(|part| part.period).fold(0.0, f64::max);
    let (window, windows) = short_time(signal, longest, &asked);
    let segments = parts.iter().map(|part| part.segment()).collect();
    let windows = windows.iter().map(|part| part.segment()).collect();
    (OverTime { segments, window, windows }, Some(scalogram.thinned(KEPT_COLUMNS)))
}

/// Where the strongest period changes and stays changed.
fn changes(ridge: &[usize], periods: &[f64], step: f64) -> Vec<usize> {
    let Some(&first) = ridge.first() else { return Vec::new() };
    let enough = |a: usize, b: usize| (1.5 * periods[a].max(periods[b]) / step).ceil() as usize;
    let differs = |a: usize, b: usize| a.abs_diff(b) > PER_OCTAVE / 4;
    let mut cuts = Vec::new();
    let mut level = first;
    // Since when, and to which level, the ridge has been elsewhere.
    let mut elsewhere: Option<(usize, usize)> = None;
    for (i, &here) in ridge.iter().enumerate() {
        elsewhere = match elsewhere {
            _ if !differs(here, level) => None,
            Some((since, other)) if !differs(here, other) => Some((since, other)),
            _ => Some((i, here)),
        };
        if let Some((since, other)) = elsewhere
            && i + 1 - since >= enough(level, other)
        {
            // What begins with the signal has no cut before it.
            if since > 0 {
                cuts.push(since);
            }
            level = other;
            elsewhere = None;
        }
    }
    cuts.truncate(MAX_SEGMENTS - 1);
    cuts
}

/// Join neighbours that are alike, until none are.
fn merged(mut parts: Vec<Part>, asked: &dyn Fn(usize, usize) -> Part) -> Vec<Part> {
    let mut i = 0;
    while i + 1 < parts.len() {
        match joined(&parts[i], &parts[i + 1], asked) {
            Some(whole) => {
                parts.splice(i..i + 2, [whole]);
                // The whole may now be like the one before it.
                i = i.saturating_sub(1);
            }
            None => i += 1,
        }
    }
    parts
}

/// Two neighbours as one, if they are alike.
fn joined(a: &Part, b: &Part, asked: &dyn Fn(usize, usize) -> Part) -> Option<Part> {
    let whole = asked(a.from, b.to);
    let alike = |part: &Part| match (part.period, whole.period) {
        (Some(one), Some(other)) => (one - other).abs() <= SAME_PERIOD * one,
        _ => false,
    };
    let same = match (a.period, b.period) {
        (None, None) => true,
        (Some(_), Some(_)) => alike(a) && alike(b),
        // A part without a period may be too short to show that of its neighbour.
        (Some(_), None) => alike(a) && b.is_shorter_than_three(a.period),
        (None, Some(_)) => alike(b) && a.is_shorter_than_three(b.period),
    };
    same.then_some(whole)
}

impl Part {
    fn asked(
        signal: &Signal,
        window: (i64, i64),
        period: PeriodOfWindow<'_>,
        from: usize,
        to: usize,
    ) -> Self {
        let time = |i: usize| signal.start + i as i64 * signal.bin;
        let first = if from == 0 { window.0 } else { time(from) };
        let last = if to == signal.samples.len() { window.1 } else { time(to) };
        let (period, confidence) = period(first, last);
        // In samples of the signal, so that parts can be compared without it.
        let samples = period.map(|period| period / signal.step());
        Part { from, to, window: (first, last), seconds: period, period: samples, confidence }
    }

    fn is_shorter_than_three(&self, period: Option<f64>) -> bool {
        period.is_some_and(|period| ((self.to - self.from) as f64) < 3.0 * period)
    }

    fn segment(&self) -> Segment {
        Segment {
            start: seconds(self.window.0),
            end: seconds(self.window.1),
            period: self.seconds,
            confidence: self.confidence,
        }
    }
}

/// SpectralDetector windows of equal length: four times the longest period (in samples), or an eighth of the
/// signal without one.
fn short_time(
    signal: &Signal,
    longest: f64,
    asked: &dyn Fn(usize, usize) -> Part,
) -> (Option<f64>, Vec<Part>) {
    let n = signal.samples.len();
    let wanted = if longest > 0.0 { (PERIODS_PER_WINDOW * longest).ceil() as usize } else { n / 8 };
    let length = wanted.clamp((n / 64).max(MIN_SAMPLES / 2).min(n), n);
    let step = (length / 2).max(1);
    let starts = (0..).map(|i| i * step).take_while(|start| start + length <= n);
    (Some(length as f64 * signal.step()), starts.map(|start| asked(start, start + length)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bursts of a fifth of a period, 0.1 s per sample; (seconds, period) one after the other.
    fn signal(parts: &[(f64, f64)]) -> Signal {
        let mut samples = Vec::new();
        for &(seconds, period) in parts {
            let count = (seconds * 10.0) as usize;
            let burst = |i: usize| (i as f64 / 10.0 / period).fract() < 0.2;
            samples.extend((0..count).map(|i| if period > 0.0 && burst(i) { 1e9 } else { 0.0 }));
        }
        Signal { start: 5_000_000_000, bin: 100_000_000, samples, abstraction_error: 0.0 }
    }

    fn divided(signal: &Signal) -> (OverTime, Option<Scalogram>) {
        let window = (signal.start, signal.start + signal.samples.len() as i64 * signal.bin);
        let period = |from: i64, to: i64| {
            let index = |time: i64| ((time - signal.start) / signal.bin) as usize;
            let part =
                Signal { start: from, samples: signal.samples[index(from)..index(to)].to_vec(), ..*signal };
            let estimate = crate::estimate::estimate(
                &part,
                None,
                &crate::estimate::Given { cut: from > signal.start, ..Default::default() },
            );
            (estimate.period, estimate.confidence)
        };
        over_time(signal, window, &period)
    }

    fn segments(parts: &[(f64, f64)]) -> Vec<Segment> {
        divided(&signal(parts)).0.segments
    }

    #[test]
    fn one_period_is_one_segment() {
        let found = segments(&[(200.0, 8.0)]);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!((found[0].period.unwrap() - 8.0).abs() < 0.1 && found[0].confidence > 0.4);
        assert!((found[0].start - 5.0).abs() < 1e-9 && (found[0].end - 205.0).abs() < 1e-9);
    }

    #[test]
    fn the_period_changes_half_way() {
        for (before, after) in [(5.0, 8.0), (8.0, 5.0), (4.0, 20.0), (20.0, 4.0), (6.0, 9.0)] {
            let found = segments(&[(200.0, before), (200.0, after)]);
            assert_eq!(found.len(), 2, "{before} {after}: {found:?}");
            assert!((found[0].period.unwrap() / before - 1.0).abs() < 0.05, "{found:?}");
            assert!((found[1].period.unwrap() / after - 1.0).abs() < 0.05, "{found:?}");
            assert!((found[0].end - 205.0).abs() < 1.5 * f64::max(before, after), "{found:?}");
            assert_eq!(found[0].end, found[1].start);
        }
    }

    #[test]
    fn three_parts_and_the_windows() {
        let signal = signal(&[(300.0, 6.0), (300.0, 15.0), (300.0, 6.0)]);
        let (found, scalogram) = divided(&signal);
        let periods: Vec<f64> = found.segments.iter().map(|s| s.period.unwrap().round()).collect();
        assert_eq!(periods, [6.0, 15.0, 6.0], "{:?}", found.segments);
        assert!((found.window.unwrap() - 60.0).abs() < 2.0);
        let in_window = |from: f64, to: f64, period: f64| {
            let inside = found.windows.iter().filter(|w| w.start >= from && w.end <= to);
            inside.clone().count() > 3
                && inside.clone().all(|w| w.period.is_some_and(|p| (p / period - 1.0).abs() < 0.1))
        };
        assert!(in_window(5.0, 300.0, 6.0) && in_window(310.0, 600.0, 15.0), "{:?}", found.windows);
        let scalogram = scalogram.unwrap();
        assert!(scalogram.power[0].len() <= KEPT_COLUMNS && scalogram.periods.len() == scalogram.power.len());
    }

    #[test]
    fn strange_signals() {
        assert_eq!(segments(&[]).len(), 0);
        assert_eq!(segments(&[(1.0, 1.0)]).len(), 1);
        let silent = segments(&[(100.0, 0.0)]);
        assert_eq!((silent.len(), silent[0].period), (1, None));
        let mut broken = signal(&[(100.0, 5.0)]);
        broken.samples[3] = f64::NAN;
        assert!(!divided(&broken).0.segments.is_empty());
    }
}
