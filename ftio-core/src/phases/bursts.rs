//! Phases out of bursts: runs of I/O between pauses, joined where a pause is inside a phase.
//!
//! Smoothing cannot tell a pause inside a phase from one between phases if both are about equally long. Two
//! other signs can:
//!
//! - *The pauses themselves* ([`by_pauses`]): if they fall into two groups, short ones and long ones, the
//!   long ones separate phases.
//! - *The volume* ([`by_volume`]): if all phases transfer the same, then measured by the bytes transferred so
//!   far instead of by time, they are perfectly periodic, however long the application computes in between:
//!   there is a pause whenever another n-th part of all bytes has been transferred.

use crate::phases::phase::Ground;
use crate::phases::thresholds::{
    GROUP_OCTAVES, MAX_BURSTS, MAX_GROUPED, MAX_GROUPINGS, PART_TOLERANCE, TINY_BURST, VOLUME_OCTAVES,
};
use crate::signal::Signal;

/// A run of samples above quiet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Burst {
    /// First sample.
    pub from: usize,
    /// Sample after the last.
    pub to: usize,
    /// Bytes, without the background.
    pub volume: f64,
}

/// One way to make phases out of bursts.
#[derive(Clone, Debug, PartialEq)]
pub struct Grouping {
    /// The first sample of each phase.
    pub starts: Vec<usize>,
    /// How clear it is, in octaves: the logarithm of the ratio of pauses between phases to those inside.
    pub octaves: f64,
}

/// The bursts of a signal. What is tiny is left out: less than a thousandth of the largest, and never busy.
pub fn bursts(signal: &Signal, ground: &Ground) -> Vec<Burst> {
    let samples = &signal.samples;
    let mut found: Vec<Burst> = Vec::new();
    let mut start = None;
    for i in 0..=samples.len() {
        let above = samples.get(i).is_some_and(|x| *x > ground.quiet);
        match (start, above) {
            (None, true) => start = Some(i),
            (Some(from), false) => {
                let volume =
                    samples[from..i].iter().map(|x| x - ground.background).sum::<f64>() * signal.step();
                found.push(Burst { from, to: i, volume });
                start = None;
            }
            _ => {}
        }
    }
    let largest = found.iter().map(|burst| burst.volume).fold(0.0, f64::max);
    let is_busy = |burst: &Burst| samples[burst.from..burst.to].iter().any(|x| *x >= ground.busy);
    found.retain(|burst| burst.volume >= TINY_BURST * largest || is_busy(burst));
    if found.len() > MAX_BURSTS {
        let mut pauses: Vec<usize> = found.windows(2).map(|pair| pair[1].from - pair[0].to).collect();
        pauses.sort_unstable();
        let shortest = pauses[pauses.len() - MAX_BURSTS + 1];
        let mut joined: Vec<Burst> = Vec::new();
        for burst in found {
            match joined.last_mut() {
                Some(last) if burst.from - last.to < shortest => {
                    last.to = burst.to;
                    last.volume += burst.volume;
                }
                _ => joined.push(burst),
            }
        }
        found = joined;
        found.truncate(MAX_BURSTS);
    }
    found
}

/// Groupings by the length of the pauses, the clearest first.
pub fn by_pauses(bursts: &[Burst]) -> Vec<Grouping> {
    let pauses: Vec<usize> = bursts.windows(2).map(|pair| pair[1].from - pair[0].to).collect();
    let mut sorted = pauses.clone();
    sorted.sort_unstable_by(|a, b| b.cmp(a));
    let mut found: Vec<Grouping> = Vec::new();
    for separating in 2..=sorted.len().min(MAX_GROUPED) {
        let (shortest, next) = (sorted[separating - 1], sorted.get(separating).copied().unwrap_or(0));
        let octaves = (shortest as f64 / next.max(1) as f64).log2().min(4.0);
        if octaves >= GROUP_OCTAVES {
            let starts = starts_after(bursts, |i| pauses[i] >= shortest);
            found.push(Grouping { starts, octaves });
        }
    }
    found.sort_by(|a, b| b.octaves.total_cmp(&a.octaves));
    found.truncate(MAX_GROUPINGS);
    found
}

/// The clearest grouping into phases of equal volume, if there is one that chance does not explain.
pub fn by_volume(bursts: &[Burst]) -> Option<Grouping> {
    let sums = sums(bursts);
    let counts = 4..=bursts.len().saturating_sub(1).min(MAX_GROUPED);
    let cuts = counts.filter_map(|count| equal_parts(&sums, count));
    let groupings =
        cuts.map(|cuts| grouping(bursts, &cuts)).filter(|grouping| grouping.octaves >= VOLUME_OCTAVES);
    groupings.max_by(|a, b| a.octaves.total_cmp(&b.octaves))
}

/// What has been transferred when each burst ends.
pub fn sums(bursts: &[Burst]) -> Vec<f64> {
    let add = |sum: &mut f64, burst: &Burst| {
        *sum += burst.volume;
        Some(*sum)
    };
    bursts.iter().scan(0.0, add).collect()
}

/// The burst that ends each of `count` parts of equal volume but the last.
///
/// With b bursts per part, one of them ends within ±d parts of any given place with a probability of about p
/// = 2·b·d. If that were chance, Σ −ln p over all places would be about their number m, with a deviation of
/// √m; it must be far above that, because many counts are tried.
fn equal_parts(sums: &[f64], count: usize) -> Option<Vec<usize>> {
    let volume = sums.last()? / count as f64;
    let each = sums.len() as f64 / count as f64;
    let mut cuts = Vec::with_capacity(count);
    let mut surprise = 0.0;
    for k in 1..count {
        let place = k as f64 * volume;
        let after = sums.partition_point(|x| *x < place).min(sums.len() - 1);
        let before = after.saturating_sub(1);
        let nearest = if place - sums[before] < sums[after] - place { before } else { after };
        let distance = (sums[nearest] - place).abs() / volume;
        if distance > PART_TOLERANCE || nearest + 1 >= sums.len() || cuts.last() == Some(&nearest) {
            return None;
        }
        surprise -= (2.0 * each * distance.max(0.002)).min(1.0).ln();
        cuts.push(nearest);
    }
    let places = (count - 1) as f64;
    (surprise >= places + 4.0 * places.sqrt() + 6.0).then_some(cuts)
}

fn grouping(bursts: &[Burst], cuts: &[usize]) -> Grouping {
    let pause = |i: usize| (bursts[i + 1].from - bursts[i].to) as f64;
    let is_cut = |i: usize| cuts.binary_search(&i).is_ok();
    let mut between: Vec<f64> = cuts.iter().map(|&i| pause(i)).collect();
    between.sort_unstable_by(f64::total_cmp);
    let inside: Vec<f64> = (0..bursts.len() - 1).filter(|i| !is_cut(*i)).map(pause).collect();
    let mean = inside.iter().sum::<f64>() / inside.len().max(1) as f64;
    let octaves = (between[between.len() / 2] / mean.max(1.0)).log2().clamp(0.0, 4.0);
    Grouping { starts: starts_after(bursts, is_cut), octaves }
}

/// The first burst begins a phase, and each one after a pause that separates.
pub fn starts_after(bursts: &[Burst], separates: impl Fn(usize) -> bool) -> Vec<usize> {
    let first = bursts.first().map(|burst| burst.from);
    let others = (0..bursts.len().saturating_sub(1)).filter(|i| separates(*i)).map(|i| bursts[i + 1].from);
    first.into_iter().chain(others).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(samples: Vec<f64>) -> Vec<Burst> {
        let signal = Signal { start: 0, bin: 1_000_000_000, samples, abstraction_error: 0.0 };
        bursts(&signal, &Ground::of(&signal))
    }

    fn add(samples: &mut Vec<f64>, bursts: &[usize], pause: usize, after: usize) {
        for &length in bursts {
            samples.extend(std::iter::repeat_n(1.0, length));
            samples.extend(std::iter::repeat_n(0.0, pause));
        }
        samples.truncate(samples.len() - pause);
        samples.extend(std::iter::repeat_n(0.0, after));
    }

    #[test]
    fn long_pauses_separate() {
        let mut samples = Vec::new();
        for i in 0..10 {
            add(&mut samples, if i % 2 == 0 { &[3, 3] } else { &[4, 4, 4] }, 2, 3);
        }
        let found = of(samples);
        assert_eq!(found.len(), 25);
        let groupings = by_pauses(&found);
        let ten = groupings.iter().find(|grouping| grouping.starts.len() == 10).unwrap();
        assert!(ten.octaves > 0.5);
        assert_eq!(ten.starts[..3], [0, 11, 30]);
    }

    #[test]
    fn equal_volumes_separate() {
        // Twelve samples of I/O in each phase, in two, three or four bursts; some pauses between phases are
        // shorter than those inside.
        let shapes: [&[usize]; 3] = [&[6, 6], &[5, 3, 4], &[2, 5, 2, 3]];
        let mut samples = Vec::new();
        let mut expected = Vec::new();
        for i in 0..12 {
            expected.push(samples.len());
            add(&mut samples, shapes[i % 3], 3, [2, 30, 11, 7, 19][i % 5]);
        }
        let found = by_volume(&of(samples)).unwrap();
        assert_eq!(found.starts, expected, "{found:?}");
    }

    #[test]
    fn nothing_to_group() {
        assert!(by_pauses(&[]).is_empty() && by_volume(&[]).is_none());
        assert!(of(vec![0.0; 10]).is_empty());
    }
}
