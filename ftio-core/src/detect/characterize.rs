//! How the I/O behaves once a period is known (paper, II-C a to c).
//!
//! | | |
//! |---|---|
//! | R_IO | share of the time spent on *substantial* I/O, that is, above the mean bandwidth V(T)/L(T) |
//! | B_IO | bandwidth of the substantial I/O, V(S)/L(S) |
//! | σ_vol | how much the volume differs from period to period: the standard deviation of V(T_i)/max V(T_i) |
//! | σ_time | how much the share of I/O time differs: the deviation of L(S_i)/L(T_i) from its mean over all periods (Eq. 4) |
//! | periodicity score | 1 − σ_vol − σ_time |
//! | bytes per period | the bytes of all periods over their number |
//!
//! # Which time counts
//!
//! T goes from the start of the first phase to the end of the last, as in the paper; without phases, from the
//! first byte to the last. How long the job idles before and after changes no number but `r_io_of_job`, the
//! share of the whole window.
//!
//! # Where the periods are cut
//!
//! The paper divides the trace into pieces of one period from its beginning. If bursts happen to lie on the
//! cuts, a little jitter moves them from one piece to the next, and a regular signal looks irregular. We take
//! one piece for each phase instead, from half-way between its middle and that of the phase before to
//! half-way to the next; the first begins half a period before its middle, and the last ends half a period
//! after. Where phases are missing there are pieces without them, as many as periods fit; a pause longer than
//! [`LONGEST_GAP`] periods is no part of any. A period that comes from the spectrum has no phases: its pieces
//! lie around the crests of the wave.

use crate::phases::phase::Phase;
use crate::signal::Signal;
use crate::spectral::spectrum::Wave;
use schemars::JsonSchema;
use serde::Serialize;
use std::f64::consts::TAU;

/// The numbers of the table above. What needs a period is `None` without one.
#[derive(Clone, Copy, Debug, Default, PartialEq, JsonSchema, Serialize)]
pub struct Characterization {
    /// How much the volume differs from period to period, 0 to ½.
    pub sigma_vol: Option<f64>,
    /// How much the share of I/O time differs from period to period, 0 to ½.
    pub sigma_time: Option<f64>,
    /// 1 if all periods are alike.
    pub periodicity_score: Option<f64>,
    /// Share of the time with substantial I/O, from the first phase to the last.
    pub r_io: Option<f64>,
    /// The same of the whole window, idle time before and after included.
    pub r_io_of_job: Option<f64>,
    /// Bandwidth of the substantial I/O.
    pub b_io: Option<f64>,
    /// Bytes in a period.
    pub bytes_per_period: Option<f64>,
}

/// A gap of more periods than this is a pause of the job; in a shorter one phases are missing.
pub const LONGEST_GAP: f64 = 4.5;

/// One period of the signal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Piece {
    /// Where the piece begins, in seconds from the start of the window; negative if it reaches over the edge.
    pub start: f64,
    /// Bytes in the piece.
    pub volume: f64,
    /// Seconds of substantial I/O in the piece.
    pub busy: f64,
    /// First and last instant of substantial I/O in the piece, if any.
    pub active: Option<(f64, f64)>,
}

/// How a signal behaves from its first phase to its last, the phases being `period` apart; times are seconds
/// from the start of the window.
///
/// Without phases the period, if there is one, is that of the strongest wave near it. Without a period
/// nothing is cut.
pub fn behaviour(signal: &Signal, period: Option<f64>, phases: &[Phase]) -> Characterization {
    let Some((from, to)) = active_part(signal, phases) else { return Characterization::default() };
    let part = Signal {
        start: signal.start + from as i64 * signal.bin,
        samples: signal.samples[from..to].to_vec(),
        ..*signal
    };
    let whole = characterize(&part, None, &[]);
    let of_job = whole.r_io.map(|share| share * part.duration() / signal.duration());
    let out = Characterization { r_io_of_job: of_job, ..whole };
    let Some(period) = period else { return out };
    let cut = if phases.is_empty() {
        pieces(&part, &Wave::in_samples(&part.samples, part.step(), 1.0 / period))
    } else {
        // What trickles in after the last phase belongs to it.
        pieces_around(&Totals::above(signal, part.threshold()), phases, period)
    };
    with_pieces(out, &cut, period)
}

/// First and last bin (exclusive) of what counts: from the first phase to the last, else from the first byte
/// to the last.
fn active_part(signal: &Signal, phases: &[Phase]) -> Option<(usize, usize)> {
    let any = |x: &f64| *x > 0.0;
    let (first, last) = (signal.samples.iter().position(any)?, signal.samples.iter().rposition(any)?);
    let bin = |time: f64| (time / signal.step()).max(0.0);
    match (phases.first(), phases.last()) {
        (Some(one), Some(other)) => {
            let from = (bin(one.start).round() as usize).clamp(first, last);
            let to = (bin(other.end).round() as usize).clamp(from + 1, last + 1);
            Some((from, to))
        }
        _ => Some((first, last + 1)),
    }
}

/// One piece around each phase, and one for each that is missing.
fn pieces_around(totals: &Totals<'_>, phases: &[Phase], period: f64) -> Vec<Piece> {
    let mut out = Vec::with_capacity(phases.len());
    let middle = |phase: &Phase| 0.5 * (phase.start + phase.end);
    let mut from = phases.first().map_or(0.0, |phase| middle(phase) - period / 2.0);
    for (i, phase) in phases.iter().enumerate() {
        let centre = middle(phase);
        let gap = phases.get(i + 1).map(|next| middle(next) - centre);
        let slots = gap.map_or(1.0, |gap| (gap / period).round().max(1.0));
        match gap {
            Some(gap) if slots <= LONGEST_GAP => {
                let each = gap / slots;
                let mut to = centre + each / 2.0;
                out.push(totals.piece(from, to));
                for _ in 1..slots as usize {
                    out.push(totals.piece(to, to + each));
                    to += each;
                }
                from = to;
            }
            _ => {
                out.push(totals.piece(from, centre + period / 2.0));
                from = gap.map_or(from, |gap| centre + gap - period / 2.0);
            }
        }
    }
    out
}

/// What the pieces tell: Eq. 4 and the score, in shares of the period.
fn with_pieces(out: Characterization, pieces: &[Piece], period: f64) -> Characterization {
    let largest = pieces.iter().map(|piece| piece.volume).fold(0.0, f64::max);
    if largest <= 0.0 {
        return out;
    }
    let count = pieces.len() as f64;
    let mean = |value: &dyn Fn(&Piece) -> f64| pieces.iter().map(value).sum::<f64>() / count;
    let spread = |value: &dyn Fn(&Piece) -> f64| deviation(pieces.iter().map(value), mean(value));
    let sigma_vol = spread(&|piece| piece.volume / largest);
    let sigma_time = spread(&|piece| piece.busy / period);
    Characterization {
        sigma_vol: Some(sigma_vol),
        sigma_time: Some(sigma_time),
        periodicity_score: Some((1.0 - sigma_vol - sigma_time).clamp(0.0, 1.0)),
        bytes_per_period: Some(mean(&|piece| piece.volume)),
        ..out
    }
}

/// Cut the signal into periods of the wave, one piece around each crest in the window.
pub fn pieces(signal: &Signal, wave: &Wave) -> Vec<Piece> {
    let period = 1.0 / wave.frequency;
    let duration = signal.duration();
    if !period.is_finite() || period <= 0.0 || duration / period > signal.samples.len() as f64 {
        return Vec::new();
    }
    let totals = Totals::of(signal);
    let busy = totals.busy.last().copied().unwrap_or(0.0) / duration;
    let quarter_phase = busy * period / 4.0;
    // Crests are where the phase 2πft + φ is a multiple of 2π.
    let first_crest = (-wave.phase / TAU).rem_euclid(1.0) * period;
    let crests = (0..).map(|i| first_crest + f64::from(i) * period);
    crests
        .take_while(|crest| crest + quarter_phase <= duration)
        .filter(|crest| crest - quarter_phase >= 0.0)
        .map(|crest| totals.piece(crest - period / 2.0, crest + period / 2.0))
        .collect()
}

/// When substantial I/O begins in what is left of the window after the last piece, in seconds from its start:
/// a phase that had only just begun when the window ended is no piece of its own.
pub fn begun_after(signal: &Signal, pieces: &[Piece], period: f64) -> Option<f64> {
    let after = pieces.last()?.start + period;
    let first = (after / signal.step()).ceil().max(0.0) as usize;
    let threshold = signal.threshold();
    let found = signal.samples.iter().enumerate().skip(first).find(|(_, sample)| **sample > threshold);
    found.map(|(bin, _)| bin as f64 * signal.step())
}

/// Running totals of volume and busy time, to cut anywhere in constant time.
struct Totals<'a> {
    signal: &'a Signal,
    /// Bytes, and seconds above the threshold, before each bin.
    volume: Vec<f64>,
    busy: Vec<f64>,
    threshold: f64,
}

/// The integral of a value of the samples up to the start of each, and up to the end.
fn running(signal: &Signal, value: impl Fn(f64) -> f64) -> Vec<f64> {
    let step = signal.step();
    let mut sum = 0.0;
    let mut out = Vec::with_capacity(signal.samples.len() + 1);
    out.push(0.0);
    out.extend(signal.samples.iter().map(|&x| {
        sum += value(x) * step;
        sum
    }));
    out
}

impl<'a> Totals<'a> {
    fn of(signal: &'a Signal) -> Self {
        Self::above(signal, signal.threshold())
    }

    /// Those above another threshold than the signal's own.
    fn above(signal: &'a Signal, threshold: f64) -> Self {
        Totals {
            signal,
            volume: running(signal, |x| x),
            busy: running(signal, |x| if x > threshold { 1.0 } else { 0.0 }),
            threshold,
        }
    }

    /// The running total at `t` seconds, a bin being used up evenly.
    fn at(&self, totals: &[f64], t: f64) -> f64 {
        let position = (t / self.signal.step()).clamp(0.0, self.signal.samples.len() as f64);
        let i = (position as usize).min(self.signal.samples.len().saturating_sub(1));
        let next = totals.get(i + 1).copied().unwrap_or(totals[i]);
        totals[i] + (next - totals[i]) * (position - i as f64)
    }

    fn piece(&self, from: f64, to: f64) -> Piece {
        let step = self.signal.step();
        let n = self.signal.samples.len();
        let (a, b) =
            ((from / step).round().max(0.0) as usize, ((to / step).round().max(0.0) as usize).min(n));
        let above = |&i: &usize| self.signal.samples[i] > self.threshold;
        let first = (a..b).find(above);
        let last = (a..b).rev().find(above);
        Piece {
            start: from,
            volume: self.at(&self.volume, to) - self.at(&self.volume, from),
            busy: self.at(&self.busy, to) - self.at(&self.busy, from),
            active: first.zip(last).map(|(first, last)| (first as f64 * step, (last + 1) as f64 * step)),
        }
    }
}

/// Characterise a signal, given its pieces if it has a period.
pub fn characterize(signal: &Signal, frequency: Option<f64>, pieces: &[Piece]) -> Characterization {
    let volume: f64 = signal.samples.iter().sum();
    if volume <= 0.0 {
        return Characterization::default();
    }
    let threshold = signal.threshold();
    let substantial = || signal.samples.iter().filter(|x| **x > threshold);
    // At constant bandwidth nothing is above the mean; then all of it is the application's I/O.
    let (count, sum) = match substantial().count() {
        0 => (signal.samples.len(), volume),
        count => (count, substantial().sum::<f64>()),
    };
    let r_io = count as f64 / signal.samples.len() as f64;
    let mut out =
        Characterization { r_io: Some(r_io), b_io: Some(sum / count as f64), ..Characterization::default() };
    let Some(frequency) = frequency else { return out };
    out.bytes_per_period = Some(sum * signal.step() / (signal.duration() * frequency));
    let largest = pieces.iter().map(|piece| piece.volume).fold(0.0, f64::max);
    if largest > 0.0 {
        let shares = pieces.iter().map(|piece| piece.volume / largest);
        let mean = shares.clone().sum::<f64>() / pieces.len() as f64;
        let sigma_vol = deviation(shares, mean);
        let sigma_time = deviation(pieces.iter().map(|piece| piece.busy * frequency), r_io);
        out.sigma_vol = Some(sigma_vol);
        out.sigma_time = Some(sigma_time);
        out.periodicity_score = Some((1.0 - sigma_vol - sigma_time).clamp(0.0, 1.0));
    }
    out
}

/// Root mean square distance from `centre`.
fn deviation(values: impl Iterator<Item = f64> + Clone, centre: f64) -> f64 {
    let count = values.clone().count();
    (values.map(|value| (value - centre).powi(2)).sum::<f64>() / count.max(1) as f64).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Four periods of ten 1-second samples, each with a burst of the given samples in the middle.
    fn signal(bursts: [&[f64]; 4]) -> Signal {
        let mut samples = vec![0.0; 40];
        for (i, burst) in bursts.iter().enumerate() {
            let first = 10 * i + 5 - burst.len() / 2;
            samples[first..first + burst.len()].copy_from_slice(burst);
        }
        Signal { start: 0, bin: 1_000_000_000, samples, abstraction_error: 0.0 }
    }

    /// Crests at 5, 15, 25, 35 s: cos(2π·t/10 − π).
    const WAVE: Wave = Wave { frequency: 0.1, amplitude: 1.0, phase: -std::f64::consts::PI };

    fn check(signal: &Signal) -> Characterization {
        characterize(signal, Some(0.1), &pieces(signal, &WAVE))
    }

    fn assert_close(found: Option<f64>, expected: f64) {
        assert!((found.unwrap() - expected).abs() < 1e-9, "{found:?} instead of {expected}");
    }

    #[test]
    fn a_regular_job_scores_one_whatever_its_edges() {
        let mut reference = None;
        for idle in [0, 3, 40, 400] {
            let mut samples = vec![0.0; idle];
            samples.extend((0..60).map(|i| if i % 10 < 2 { 100.0 } else { 0.0 }));
            samples.extend(vec![0.0; 2 * idle]);
            let signal = Signal { samples, ..signal([&[]; 4]) };
            let phase = |i: usize| {
                let start = (idle + 10 * i) as f64;
                Phase { start, end: start + 2.0, volume: 200.0 }
            };
            let phases: Vec<Phase> = (0..6).map(phase).collect();
            let found = behaviour(&signal, Some(10.0), &phases);
            assert_close(found.periodicity_score, 1.0);
            assert_close(found.bytes_per_period, 200.0);
            assert_close(found.r_io, 12.0 / 52.0);
            assert_close(found.r_io_of_job, 12.0 / signal.samples.len() as f64);
            let rest = Characterization { r_io_of_job: None, ..found };
            assert_eq!(*reference.get_or_insert(rest), rest, "{idle}");
        }
    }

    #[test]
    fn missing_phases_are_periods_without_volume() {
        let samples = (0..80).map(|i| if i % 10 < 2 && i / 10 != 3 { 100.0 } else { 0.0 }).collect();
        let signal = Signal { samples, ..signal([&[]; 4]) };
        let there = (0..8).filter(|i| *i != 3);
        let phases: Vec<Phase> = there
            .map(|i| Phase { start: 10.0 * f64::from(i), end: 10.0 * f64::from(i) + 2.0, volume: 200.0 })
            .collect();
        let found = behaviour(&signal, Some(10.0), &phases);
        // One share of 0 among seven of 1, and one busy share of 0 among seven of 0.2.
        assert_close(found.sigma_vol, 7f64.sqrt() / 8.0);
        assert_close(found.sigma_time, 0.2 * 7f64.sqrt() / 8.0);
        assert_close(found.bytes_per_period, 175.0);
        // A long silence is no part of any period.
        let late: Vec<Phase> = phases
            .iter()
            .enumerate()
            .map(|(i, phase)| {
                let later = if i >= 3 { 70.0 } else { 0.0 };
                Phase { start: phase.start + later, end: phase.end + later, ..*phase }
            })
            .collect();
        let mut samples = signal.samples[..30].to_vec();
        samples.extend(vec![0.0; 70]);
        samples.extend(&signal.samples[30..]);
        let found = behaviour(&Signal { samples, ..signal }, Some(10.0), &late);
        assert_close(found.periodicity_score, 1.0);
    }

    #[test]
    fn perfectly_periodic() {
        let found = check(&signal([&[100.0, 100.0]; 4]));
        assert_close(found.r_io, 0.2);
        assert_close(found.b_io, 100.0);
        assert_close(found.sigma_vol, 0.0);
        assert_close(found.sigma_time, 0.0);
        assert_close(found.periodicity_score, 1.0);
        assert_close(found.bytes_per_period, 200.0);
    }

    #[test]
    fn volumes_that_differ() {
        // Volumes 200, 200, 100, 100: shares 1, 1, ½, ½ have σ = ¼. All samples exceed the mean of 15.
        let found = check(&signal([&[100., 100.], &[100., 100.], &[50., 50.], &[50., 50.]]));
        assert_close(found.sigma_vol, 0.25);
        assert_close(found.sigma_time, 0.0);
        assert_close(found.b_io, 75.0);
        assert_close(found.periodicity_score, 0.75);
    }

    #[test]
    fn durations_that_differ() {
        // Busy 0.4, 0.2, 0.4, 0.2 of a period at equal volume; R_IO = 0.3, deviations 0.1.
        let (long, short) = ([50.0; 4], [100.0; 2]);
        let found = check(&signal([&long, &short, &long, &short]));
        assert_close(found.r_io, 0.3);
        assert_close(found.sigma_time, 0.1);
        assert_close(found.sigma_vol, 0.0);
    }

    #[test]
    fn a_log_file_is_noise() {
        // 1 B/s all the time under the bursts: the mean is 20.8, the log is below it.
        let mut signal = signal([&[100.0, 100.0]; 4]);
        signal.samples.iter_mut().filter(|x| **x == 0.0).for_each(|x| *x = 1.0);
        let found = check(&signal);
        assert_close(found.r_io, 0.2);
        assert_close(found.b_io, 100.0);
        assert_close(found.bytes_per_period, 200.0);
    }

    #[test]
    fn constant_and_empty() {
        let flat = Signal { samples: vec![7.0; 40], ..signal([&[]; 4]) };
        let found = characterize(&flat, None, &[]);
        assert_close(found.r_io, 1.0);
        assert_close(found.b_io, 7.0);
        assert_eq!(found.sigma_vol, None);
        assert_eq!(check(&signal([&[]; 4])), Characterization::default());
        assert!(pieces(&flat, &Wave { frequency: 0.0, ..WAVE }).is_empty());
        assert!(pieces(&flat, &Wave { frequency: 1e9, ..WAVE }).is_empty());
    }

    #[test]
    fn pieces_at_the_edges() {
        // Crests at 1, 11, 21, 31: the first piece reaches over the edge, but three quarters of its phase
        // would be inside.
        let shifted = Wave { phase: -TAU / 10.0, ..WAVE };
        let cut = pieces(&signal([&[100.0, 100.0]; 4]), &shifted);
        assert_eq!(cut.len(), 4);
        assert!((cut[0].start + 4.0).abs() < 1e-9 && (cut[0].volume - 200.0).abs() < 1e-9, "{cut:?}");
        // Crests at 0, 10, 20, 30: of the first phase only half would be.
        let cut = pieces(&signal([&[100.0, 100.0]; 4]), &Wave { phase: 0.0, ..WAVE });
        assert_eq!(cut.len(), 3);
    }
}
