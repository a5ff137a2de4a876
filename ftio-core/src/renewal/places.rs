//! Where phases begin and end.

use crate::phases::scale_space::Level;
use crate::renewal::signal::{Bandwidth, Ground};
use crate::renewal::table::{CUT, HEADER, HEADERS, LEAD, LEAD_BINS, LEAST_UNCUT, TENTH};
use crate::signal::statistics::median;

/// The place after the last quiet bin before `from`, not before `floor`.
fn back(bins: &[f64], quiet: f64, from: usize, floor: usize) -> usize {
    bins[floor..from.max(floor)].iter().rposition(|x| *x <= quiet).map_or(floor, |place| floor + place + 1)
}

/// Each phase begins where the bandwidth left quiet before it first became busy after the valley.
pub fn starts(bins: &[f64], ground: &Ground, level: &Level) -> Vec<usize> {
    let mut found: Vec<(usize, usize)> = Vec::new();
    for (i, &peak) in level.peaks.iter().enumerate() {
        let floor = if i > 0 { level.peaks[i - 1] + 1 } else { 0 };
        let valley = if i > 0 { level.valleys.get(i - 1).copied().unwrap_or(0) } else { 0 };
        let busy = (valley..peak + 1).find(|&place| bins[place] >= ground.busy).unwrap_or(peak);
        let start = back(bins, ground.quiet, busy, floor);
        if found.last().is_none_or(|last| last.1 < start) {
            found.push((busy, start));
        }
    }
    let leads: Vec<f64> = found.iter().map(|(busy, start)| *busy as f64 - *start as f64).collect();
    let usual = median(&leads) as usize;
    let longest = LEAD * usual + LEAD_BINS;
    let start = |(busy, start): (usize, usize)| if busy > start + longest { busy - usual } else { start };
    found.into_iter().map(start).collect()
}

/// A small burst shortly before a phase, after a long pause, is its beginning.
pub fn with_headers(bins: &[f64], quiet: f64, mut starts: Vec<usize>, small: f64) -> Vec<usize> {
    for i in 0..starts.len() {
        let floor = if i == 0 { 0 } else { starts[i - 1] + 1 };
        for _ in 0..HEADERS {
            let start = starts[i];
            // A pause that reaches back to the floor has no burst before it.
            let loud = |to: usize| bins.get(floor..to).and_then(|some| some.iter().rposition(|x| *x > quiet));
            let Some(last) = loud(start).map(|place| floor + place) else { break };
            let (end, short) = (last + 1, start - last - 1);
            if short == 0 {
                break;
            }
            let earlier = back(bins, quiet, end, floor);
            let before = loud(earlier).map_or(floor, |place| floor + place + 1);
            let long = earlier.saturating_sub(before);
            let volume: f64 = bins[earlier..end].iter().sum();
            let is_first = earlier == long && long > short;
            if volume > small || !(long >= HEADER * short || is_first) {
                break;
            }
            starts[i] = earlier;
        }
    }
    starts
}

/// Where each phase ends, and what is above the background in it, in bins times bandwidth.
pub fn extents(bins: &[f64], ground: &Ground, starts: &[usize]) -> Vec<(usize, f64)> {
    let next = starts.iter().skip(1).copied().chain([bins.len()]);
    let extent = |(&start, next): (&usize, usize)| {
        let held = bins.get(start..next).unwrap_or_default();
        let last = held.iter().rposition(|x| *x > ground.quiet).unwrap_or(0);
        (start + last + 1, held.iter().map(|x| x - ground.background).sum::<f64>().max(0.0))
    };
    starts.iter().zip(next).map(extent).collect()
}

/// Without a first phase that the beginning of the window cuts, so that its start was not seen: it has much
/// less than the usual volume, or nobody knows what came before the window, and it begins at once or soon
/// after: noise may be quiet for a moment.
pub fn uncut(signal: &Bandwidth, ground: &Ground, mut starts: Vec<usize>) -> Vec<usize> {
    if starts.len() < LEAST_UNCUT {
        return starts;
    }
    let sample = (signal.native.unwrap_or(signal.step) / signal.step).round();
    let distances: Vec<f64> = starts.windows(2).map(|pair| (pair[1] - pair[0]) as f64).collect();
    let soon = if signal.cut { sample.max(TENTH * median(&distances)) } else { 0.0 };
    if starts[0] as f64 <= soon {
        let extents = extents(&signal.bins, ground, &starts);
        let volumes: Vec<f64> = extents.iter().map(|extent| extent.1).collect();
        if signal.cut || volumes[0] < CUT * median(&volumes) {
            starts.remove(0);
        }
    }
    starts
}
