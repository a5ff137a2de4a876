//! Two or more phases so close that they look like one: they have a multiple of the volume of the others in a
//! multiple of their time.
//!
//! Such a phase is divided at its quietest places, if almost all others transfer the same. The first phase is
//! divided only if a later one is: a long first phase is usual (initialisation).

use crate::phases::phase::{Ground, Phase, with_starts};
use crate::phases::thresholds::{ALIKE, MAX_PARTS};
use crate::signal::Signal;
use crate::signal::statistics::upper_median;

/// Phases, and the first sample of each.
#[derive(Clone, Debug, PartialEq)]
pub struct Placed {
    /// The first samples.
    pub starts: Vec<usize>,
    /// The phases.
    pub phases: Vec<Phase>,
    /// How many of them were found by dividing others.
    pub divided: usize,
}

/// The phases that begin at these samples, with those of divided phases.
pub fn divide(signal: &Signal, ground: &Ground, starts: Vec<usize>) -> Placed {
    let phases = with_starts(signal, ground, &starts);
    match divided_starts(signal, ground, &starts, &phases) {
        Some((starts, divided)) => Placed { phases: with_starts(signal, ground, &starts), starts, divided },
        None => Placed { starts, phases, divided: 0 },
    }
}

/// The starts with those of divided phases, and how many were added; `None` if there are none.
fn divided_starts(
    signal: &Signal,
    ground: &Ground,
    starts: &[usize],
    phases: &[Phase],
) -> Option<(Vec<usize>, usize)> {
    if phases.len() < 5 {
        return None;
    }
    let volume = upper_median(phases.iter().map(|phase| phase.volume));
    let length = upper_median(phases.iter().map(|phase| phase.end - phase.start));
    let alike = |phase: &&Phase| (phase.volume / volume - 1.0).abs() <= ALIKE;
    if volume <= 0.0 || phases.iter().filter(alike).count() * 4 < phases.len() * 3 {
        return None;
    }
    let parts = |phase: &Phase| {
        let times = (phase.volume / volume).round();
        let fits = (phase.volume / volume - times).abs() <= ALIKE * times
            && (phase.end - phase.start) / length >= 0.8 * times;
        if fits && (2.0..=MAX_PARTS as f64).contains(&times) { times as usize } else { 1 }
    };
    let mut counts: Vec<usize> = phases.iter().map(parts).collect();
    if counts[1..].iter().all(|parts| *parts == 1) {
        counts[0] = 1;
    }
    if counts.iter().all(|parts| *parts == 1) {
        return None;
    }
    let (mut out, mut divided) = (Vec::with_capacity(starts.len()), 0);
    for ((phase, &start), &parts) in phases.iter().zip(starts).zip(&counts) {
        out.push(start);
        let end = start + ((phase.end - phase.start) / signal.step()).round() as usize;
        for part in 1..parts {
            out.push(quietest_after(signal, ground, start, end, part as f64 * volume));
            divided += 1;
        }
    }
    out.sort_unstable();
    out.dedup();
    Some((out, divided))
}

/// Where bandwidth rises again after the quietest place near the one where `volume` has been transferred
/// since `start`.
fn quietest_after(signal: &Signal, ground: &Ground, start: usize, end: usize, volume: f64) -> usize {
    let end = end.min(signal.samples.len());
    let mut sum = 0.0;
    let at = (start..end)
        .find(|&i| {
            sum += (signal.samples[i] - ground.background) * signal.step();
            sum >= volume
        })
        .unwrap_or(start);
    let near = (end - start) / 16 + 1;
    let (from, to) = (at.saturating_sub(near).max(start + 1), (at + near).min(end));
    let lowest = signal.samples[from.min(to)..to].iter().copied().fold(f64::INFINITY, f64::min);
    // The end of the lowest stretch.
    (from..to).rev().find(|&i| signal.samples[i] <= lowest).map_or(at, |i| i + 1)
}
