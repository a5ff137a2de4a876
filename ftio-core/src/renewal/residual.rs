//! What is left of a reading without the phases of a hypothesis.

use crate::renewal::hypotheses::Hypothesis;
use crate::renewal::readings::{Name, Reading};
use crate::renewal::table::{MOSTLY, OVERHANG, PROFILE, PROFILE_END, TYPICAL};
use crate::renewal::view::View;
use crate::signal::statistics::median;
use std::ops::Range;

/// How many bins of phases are usual: up to where most are busy at the same place of the period; and if it is
/// less and holds most of their bytes, up to where most fall silent first. What comes later may be a rhythm
/// that waits for them.
fn usual(view: &View, one: &Hypothesis) -> (usize, Option<usize>) {
    let bins = &view.reading.signal.bins;
    let first = &view.lists[one.list].first;
    let width = one.period / view.reading.signal.step / PROFILE as f64;
    let profile = profile(bins, view.ground.silence(), list_starts(first, &one.members), width);
    let is_busy = |share: &f64| *share >= MOSTLY;
    let in_bins = |parts: usize| (parts as f64 * width) as usize;
    let last = profile.iter().take(PROFILE - PROFILE_END).rposition(is_busy);
    let usual = last.map_or(width.ceil() as usize, |last| in_bins(last + 1)).max(1);
    let silent = profile.iter().position(|share| !is_busy(share)).map_or(usual, in_bins);
    let held = |length: usize| -> f64 {
        let held = |&member: &usize| {
            let next = first.get(member + 1).copied().unwrap_or(bins.len());
            bins[first[member]..(first[member] + length).min(next)].iter().sum::<f64>()
        };
        one.members.iter().map(held).sum()
    };
    let holds_most = silent > 0 && silent < usual && held(silent) >= MOSTLY * held(usual);
    (usual, holds_most.then_some(silent))
}

/// The bins of every phase: so many, and to the end of that run.
fn extents(view: &View, one: &Hypothesis, usual: usize) -> Vec<Range<usize>> {
    let bins = &view.reading.signal.bins;
    let list = &view.lists[one.list];
    let quiet = view.ground.silence();
    let extent = |&member: &usize| {
        let start = list.first[member];
        let next = list.first.get(member + 1).copied().unwrap_or(bins.len());
        let mut end = (start + usual).min(next).min(bins.len());
        let most = bins.len().min(end + (OVERHANG * usual as f64) as usize + 2);
        let is_loud = |bin: usize| bins[bin.min(bins.len() - 1)] > quiet;
        while end < most && is_loud(end - 1) && is_loud(end) {
            end += 1;
        }
        while end > start + 1 && !is_loud(end - 1) {
            end -= 1;
        }
        start..end
    };
    one.members.iter().map(extent).collect()
}

fn list_starts(first: &[usize], members: &[usize]) -> Vec<usize> {
    members.iter().map(|&member| first[member]).collect()
}

/// The share of the members that are busy in each part of the period after their start.
fn profile(bins: &[f64], quiet: f64, starts: Vec<usize>, width: f64) -> Vec<f64> {
    // How many bins are not quiet before each.
    let loud = |count: &mut usize, x: &f64| {
        *count += usize::from(*x > quiet);
        Some(*count)
    };
    let before: Vec<usize> = [0].into_iter().chain(bins.iter().scan(0, loud)).collect();
    let share = |part: usize| {
        let (from, to) = ((part as f64 * width) as usize, ((part + 1) as f64 * width) as usize);
        let is_busy = |start: &&usize| {
            let (low, high) = (**start + from, **start + to.max(from + 1));
            before[high.min(bins.len())] > before[low.min(bins.len())]
        };
        starts.iter().filter(is_busy).count() as f64 / starts.len() as f64
    };
    (0..PROFILE).map(share).collect()
}

/// The bytes of each phase.
pub fn bytes(view: &View, one: &Hypothesis) -> Vec<f64> {
    let signal = &view.reading.signal;
    let above =
        |bins: Range<usize>| signal.bins[bins].iter().map(|x| x - view.ground.background).sum::<f64>();
    let usual = usual(view, one).0;
    extents(view, one, usual).into_iter().map(|bins| above(bins) * signal.step).collect()
}

/// The signal without the phases of a hypothesis, as long as they may be. With the share of the bytes that is
/// left.
pub fn residuals(view: &View, one: &Hypothesis) -> Vec<(Reading, f64)> {
    let (usual, shorter) = usual(view, one);
    [usual].into_iter().chain(shorter).map(|usual| residual(view, one, usual)).collect()
}

/// One phase much longer than the others may belong to another rhythm, and is left.
fn residual(view: &View, one: &Hypothesis, usual: usize) -> (Reading, f64) {
    let bins = &view.reading.signal.bins;
    let background = view.ground.background;
    let extents = extents(view, one, usual);
    let quiet = view.ground.silence();
    let lengths: Vec<f64> = extents.iter().map(|bins| bins.len() as f64).collect();
    let typical = median(&lengths);
    let mut rest = bins.clone();
    for extent in extents {
        let most = (TYPICAL * typical) as usize + 2;
        let run = bins[extent.start..].iter().take(most + 1).take_while(|x| **x > quiet).count();
        if run <= most {
            rest[extent].iter_mut().for_each(|x| *x = x.min(background));
        }
    }
    let above = |bins: &[f64]| bins.iter().map(|x| (x - background).max(0.0)).sum::<f64>();
    let left = above(&rest) / above(bins).max(f64::MIN_POSITIVE);
    let reading = Reading { name: Name::Rest, signal: view.reading.signal.with(rest), ..view.reading };
    (reading, left)
}
