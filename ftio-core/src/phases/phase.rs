//! Where the I/O phases of one [level](crate::phases::scale_space) begin and end, and how much each
//! transfers.
//!
//! A level says how many phases there are and roughly where. Their starts are then read off the bandwidth
//! itself, as finely as it is sampled: from the place where the bandwidth first exceeds a quarter of what it
//! is in phases, back to where it last was *quiet*. What counts as quiet follows from the pauses: no
//! bandwidth at all, or that of the background traffic.

use crate::phases::scale_space::{Level, median_by_volume};
use crate::phases::thresholds::{
    BUSY, HALF_SILENCE, HEADER_PAUSE, HEADER_VOLUME, LONGEST_LEAD, QUIET_LEVEL, QUIET_SHARE, QUIET_SLACK,
    SILENT,
};
use crate::signal::Signal;
use crate::signal::statistics::upper_median;

/// The bandwidth of phases and pauses.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ground {
    /// The bandwidth at which half of the volume is transferred.
    pub level: f64,
    /// Bandwidth of the background.
    pub background: f64,
    /// Up to here the application is quiet.
    pub quiet: f64,
    /// From here on it is in a phase.
    pub busy: f64,
    /// The sum of all samples.
    pub total: f64,
}

/// One I/O phase. Times are seconds from the start of the window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Phase {
    /// When it begins.
    pub start: f64,
    /// When it ends.
    pub end: f64,
    /// Bytes from its start to the start of the next phase, without the background.
    pub volume: f64,
}

impl Ground {
    /// Of a signal.
    pub fn of(signal: &Signal) -> Self {
        let level = median_by_volume(&signal.samples);
        let mut below: Vec<f64> = signal.samples.iter().copied().filter(|x| *x < BUSY * level).collect();
        // Half of the pauses and more are quiet, or there is traffic all the time; the slow end of phases is
        // neither.
        let count = below.len();
        let mean = below.iter().sum::<f64>() / count.max(1) as f64;
        let mut at = |place: usize| match below.len() {
            count if place < count => *below.select_nth_unstable_by(place, f64::total_cmp).1,
            _ => 0.0,
        };
        let (median, usual) = (at(count / 2), at((count as f64 * QUIET_SHARE) as usize));
        let background = median.min(mean);
        let busy = background + BUSY * (level - background);
        let quiet = (QUIET_SLACK * usual + QUIET_LEVEL * level).min(0.9 * busy);
        Ground { level, background, quiet, busy, total: signal.samples.iter().sum() }
    }
}

impl Ground {
    /// Up to here there is no I/O to speak of.
    pub fn silent(&self) -> f64 {
        SILENT * self.level
    }

    /// The same, but only silence is quiet, if there is any: a single rank that is late writes slowly, and
    /// that is a part of the phase.
    pub fn to_silence(&self) -> Self {
        let quiet = if self.background > 0.0 { self.quiet } else { self.silent().min(self.quiet) };
        Ground { quiet, ..*self }
    }
}

/// The phases of a level.
pub fn phases(signal: &Signal, ground: &Ground, level: &Level) -> Vec<Phase> {
    let starts = starts(signal, ground, level);
    with_starts(signal, ground, &starts)
}

/// The phases that begin at these samples.
pub fn with_starts(signal: &Signal, ground: &Ground, starts: &[usize]) -> Vec<Phase> {
    let step = signal.step();
    let next = starts.iter().skip(1).copied().chain([signal.samples.len()]);
    let phase = |(&start, next): (&usize, usize)| {
        let inside = &signal.samples[start..next];
        let volume = inside.iter().map(|x| x - ground.background).sum::<f64>() * step;
        let last = inside.iter().rposition(|x| *x > ground.quiet).unwrap_or(0);
        let last = if next < signal.samples.len() { before_lead(inside, ground, last) } else { last };
        // A slow end belongs to it as well, where there is silence after it.
        let after = inside.get(last + 1..).unwrap_or(&[]);
        let slow = after.iter().take_while(|x| **x > ground.silent()).count();
        let into_next = slow == after.len() && next < signal.samples.len();
        let slow = if ground.background > 0.0 || into_next { 0 } else { slow };
        let end = (start + last + 1 + slow) as f64 * step;
        Phase { start: start as f64 * step, end, volume: volume.max(0.0) }
    };
    starts.iter().zip(next).map(phase).collect()
}

/// The last sample of a phase, where what comes before the next one may lead into that: if `last` is the end
/// of everything, and a pause before it is longer than what follows it, the phase has ended before the pause.
fn before_lead(inside: &[f64], ground: &Ground, last: usize) -> usize {
    if last + 1 < inside.len() {
        return last;
    }
    let quiet = inside.iter().rposition(|x| *x <= ground.quiet);
    let busy = quiet.and_then(|quiet| inside[..quiet].iter().rposition(|x| *x > ground.quiet));
    match (busy, quiet) {
        (Some(busy), Some(quiet)) if quiet - busy > last - quiet => busy,
        _ => last,
    }
}

/// Where it is silent (quiet, where it is never silent): the runs of such samples, in order.
#[derive(Clone, Debug)]
pub struct Silences(Vec<(usize, usize)>);

impl Silences {
    /// Of a signal.
    pub fn of(signal: &Signal, ground: &Ground) -> Self {
        let silent = if ground.background > 0.0 { ground.quiet } else { ground.silent() };
        let mut runs = Vec::new();
        let mut from = None;
        for (i, x) in signal.samples.iter().enumerate() {
            match from {
                None if *x <= silent => from = Some(i),
                Some(start) if *x > silent => {
                    runs.push((start, i));
                    from = None;
                }
                _ => {}
            }
        }
        runs.extend(from.map(|start| (start, signal.samples.len())));
        Silences(runs)
    }

    /// The runs that reach into samples from one start to the next, for each of them: from 0 to the first
    /// start, then from that to the second, and so on.
    fn between<'a>(&'a self, starts: &'a [usize]) -> impl Iterator<Item = Between<'a>> {
        let (mut from, mut first, mut last) = (0, 0, 0);
        starts.iter().map(move |&to| {
            while self.0.get(first).is_some_and(|run| run.1 <= from) {
                first += 1;
            }
            last = last.max(first);
            while self.0.get(last).is_some_and(|run| run.0 < to) {
                last += 1;
            }
            let between = Between { runs: &self.0[first..last], from, to };
            from = to;
            between
        })
    }

    /// How long it is silent before each phase, in samples: the last silence before its start of at least
    /// half the usual length. What a phase begins with may be too little to count.
    pub fn before(&self, starts: &[usize]) -> Vec<usize> {
        let longest: Vec<usize> =
            self.between(starts).map(|between| between.lengths().max().unwrap_or(0)).collect();
        let usual = upper_median(longest.iter().map(|run| *run as f64));
        let last = |(between, longest): (Between<'_>, &usize)| {
            between.lengths().rfind(|run| *run as f64 >= HALF_SILENCE * usual).unwrap_or(*longest)
        };
        self.between(starts).zip(&longest).map(last).collect()
    }
}

/// The silent runs in some samples.
struct Between<'a> {
    runs: &'a [(usize, usize)],
    from: usize,
    to: usize,
}

impl Between<'_> {
    /// Their lengths, in order; a run that the samples cut has the length of what is in them. If they do not
    /// end silently, the last is 0.
    fn lengths(&self) -> impl DoubleEndedIterator<Item = usize> {
        let &Between { runs, from, to } = self;
        let none = runs.last().is_none_or(|run| run.1 < to).then_some(0);
        runs.iter().map(move |run| run.1.min(to) - run.0.max(from)).chain(none)
    }
}

/// The first sample of each phase.
pub fn starts(signal: &Signal, ground: &Ground, level: &Level) -> Vec<usize> {
    let samples = &signal.samples;
    starts_at(signal, ground, level, |from, peak| {
        (from..=peak).find(|&k| samples[k] >= ground.busy).unwrap_or(peak)
    })
}

/// The same where short bursts of other traffic come between phases: a phase begins where most of the
/// bandwidth is busy after, and most of it is not before (the least cumulative sum: Page, Biometrika 1954).
pub fn starts_among_others(signal: &Signal, ground: &Ground, level: &Level) -> Vec<usize> {
    let samples = &signal.samples;
    starts_at(signal, ground, level, |from, peak| {
        let (mut sum, mut least, mut after) = (0.0, 0.0, from);
        for (k, sample) in samples.iter().enumerate().take(peak + 1).skip(from) {
            sum += sample.min(ground.level) - ground.busy;
            if sum < least {
                (least, after) = (sum, k + 1);
            }
        }
        after.min(peak)
    })
}

/// Starts from the places where phases rise, each found between a valley and a peak.
fn starts_at(
    signal: &Signal,
    ground: &Ground,
    level: &Level,
    rise: impl Fn(usize, usize) -> usize,
) -> Vec<usize> {
    let samples = &signal.samples;
    let mut found: Vec<(usize, usize)> = Vec::with_capacity(level.peaks.len());
    for (i, &peak) in level.peaks.iter().enumerate() {
        // Never before the peak of the previous phase.
        let (floor, from) = match i.checked_sub(1) {
            Some(previous) => (level.peaks[previous] + 1, level.valleys.get(previous).copied().unwrap_or(0)),
            None => (0, 0),
        };
        let rise = rise(from, peak);
        let start = back_to_quiet(samples, ground, rise, floor);
        if found.last().is_none_or(|(_, last)| *last < start) {
            found.push((rise, start));
        }
    }
    with_headers(signal, ground, without_long_leads(&found))
}

/// Starts from pairs (rise, start). A phase that takes much longer than the others from its start to its rise
/// has other traffic before it: it is given the usual time.
fn without_long_leads(found: &[(usize, usize)]) -> Vec<usize> {
    let mut leads: Vec<usize> = found.iter().map(|(rise, start)| rise - start).collect();
    leads.sort_unstable();
    let usual = leads.get(leads.len() / 2).copied().unwrap_or(0);
    let longest = LONGEST_LEAD * usual + 4;
    found.iter().map(|&(rise, start)| if rise - start > longest { rise - usual } else { start }).collect()
}

/// Phases that begin a little earlier, say with a header, across a pause that is much shorter than the one
/// before that.
pub fn with_headers(signal: &Signal, ground: &Ground, mut starts: Vec<usize>) -> Vec<usize> {
    let small = HEADER_VOLUME * ground.total / starts.len().max(1) as f64;
    // Before the first phase there is no other whose end could be taken for it: it begins with its first
    // request, however slow that is.
    if let Some(first) = starts.first_mut().filter(|_| ground.background == 0.0) {
        *first = (0..*first).rev().find(|&k| signal.samples[k] <= ground.silent()).map_or(0, |k| k + 1);
    }
    for i in 0..starts.len() {
        let floor = i.checked_sub(1).map_or(0, |previous| starts[previous] + 1);
        if let Some(earlier) = before_a_short_pause(&signal.samples, ground, starts[i], floor, small) {
            starts[i] = earlier;
        }
    }
    starts
}

/// The first sample of the run above quiet that `from` lies in.
fn back_to_quiet(samples: &[f64], ground: &Ground, from: usize, floor: usize) -> usize {
    (floor..from).rev().find(|&k| samples[k] <= ground.quiet).map_or(floor, |k| k + 1)
}

/// The start of a little I/O (at most `small`) before `start`, if the pause in between is at most a third of
/// the one before.
fn before_a_short_pause(
    samples: &[f64],
    ground: &Ground,
    start: usize,
    floor: usize,
    small: f64,
) -> Option<usize> {
    let pause = |end: usize| (floor..end).rev().take_while(|&k| samples[k] <= ground.quiet).count();
    let short = pause(start);
    let end = start.checked_sub(short).filter(|end| *end > floor && short > 0)?;
    let earlier = back_to_quiet(samples, ground, end, floor);
    let long = pause(earlier);
    let is_small = samples[earlier..end].iter().sum::<f64>() <= small;
    (is_small && (long >= HEADER_PAUSE * short || (earlier == long && long > short))).then_some(earlier)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phases::scale_space::levels;

    fn signal(samples: Vec<f64>) -> Signal {
        Signal { start: 0, bin: 1_000_000_000, samples, abstraction_error: 0.0 }
    }

    fn of(samples: Vec<f64>, count: usize) -> Vec<Phase> {
        let signal = signal(samples);
        let ground = Ground::of(&signal);
        let level =
            levels(&signal, ground.level).into_iter().find(|level| level.peaks.len() == count).unwrap();
        phases(&signal, &ground, &level)
    }

    #[test]
    fn what_leads_into_the_next_phase_is_not_the_end_of_this_one() {
        let ground = Ground { level: 8.0, background: 0.0, quiet: 0.5, busy: 2.0, total: 49.0 };
        let samples = vec![8.0, 8.0, 8.0, 0.0, 0.0, 0.0, 0.0, 1.0, 8.0, 8.0, 8.0, 0.0];
        let signal = Signal { start: 0, bin: 1_000_000_000, samples, ..Signal::empty() };
        let found = with_starts(&signal, &ground, &[0, 8]);
        assert_eq!(found.iter().map(|phase| phase.end).collect::<Vec<_>>(), [3.0, 11.0]);
        // Phases that touch stay as they are.
        let found = with_starts(&signal, &ground, &[0, 2]);
        assert_eq!(found[0].end, 2.0);
    }

    #[test]
    fn starts_ends_and_volumes() {
        // Phases of 6 s every 40 s, with a header of 1 s and a pause of 2 s before them, from 7 s on.
        let value = |i: usize| match (i + 33) % 40 {
            0 => 0.3,
            3..=8 => 10.0,
            _ => 0.0,
        };
        let found = of((0..400).map(value).collect(), 10);
        for (i, phase) in found.iter().enumerate() {
            assert_eq!((phase.start, phase.end), (40.0 * i as f64 + 7.0, 40.0 * i as f64 + 16.0));
            assert!((phase.volume - 60.3).abs() < 0.5, "{phase:?}");
        }
    }

    #[test]
    fn background_traffic() {
        let value = |i: usize| if i % 20 < 8 { 11.0 } else { [0.0, 1.0, 1.0][i % 3] };
        let found = of((5..205).map(value).collect(), 11);
        assert_eq!(found.len(), 11);
        assert!(
            found[1..].iter().enumerate().all(|(i, phase)| phase.start == 20.0 * i as f64 + 15.0),
            "{found:?}"
        );
        assert!(found[1..9].iter().all(|phase| (phase.volume - 83.0).abs() < 3.0), "{found:?}");
    }

    #[test]
    fn short_bursts_of_others_between_phases() {
        // Phases of 16 s every 40 s, and a short burst of somebody else some seconds before each.
        let value = |i: usize| match i % 40 {
            24.. => 10.0,
            at if at == 6 + (7 * (i / 40)) % 12 => 10.0,
            _ => 0.0,
        };
        let signal = signal((0..400).map(value).collect());
        let ground = Ground::of(&signal);
        let found = levels(&signal, ground.level);
        let level = found.iter().find(|level| level.peaks.len() == 10).unwrap();
        let expected: Vec<usize> = (0..10).map(|i| 40 * i + 24).collect();
        assert_ne!(starts(&signal, &ground, level), expected);
        assert_eq!(starts_among_others(&signal, &ground, level), expected);
    }

    #[test]
    fn silence_before_each_phase() {
        // Phases of 4 s with a late request in them, and 6 s of silence before each.
        let value = |i: usize| match i % 12 {
            6..=9 | 11 => 10.0,
            _ => 0.0,
        };
        let signal = signal((0..60).map(value).collect());
        let ground = Ground::of(&signal);
        assert_eq!(Silences::of(&signal, &ground).before(&[6, 18, 30, 42, 54]), [6; 5]);
    }
}
