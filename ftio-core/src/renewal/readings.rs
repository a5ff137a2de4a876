//! Readings of a signal: what may hide a rhythm is a transformation, and all of them are tried.
//!
//! | reading | what it is | what it helps against |
//! |---|---|---|
//! | whole | the signal without what flows all the time | |
//! | small | without the largest bursts, as many as stand out most | a restart file, the input |
//! | calm | cut at the usual high | huge rates, phases upon traffic |
//! | root | the fourth root of it | glitches, volumes of every size |
//! | above | what exceeds the lower of two levels | traffic that goes on all the time |
//! | part | the busier side of a long silence, in bins of its own | restarts, strays far away |
//! | rest | without the phases of a hypothesis | another rhythm at the same time |

use crate::renewal::signal::{Bandwidth, Burst, Ground, Request, Trace, bursts};
use crate::renewal::table::{
    BIGGEST, CHANGED, HIGH, LEAST, PART_EDGE, PART_OF_WHOLE, PEDESTAL, ROOT, SILENCE,
};
use crate::signal::statistics::quantile;

/// Which reading it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Name {
    /// The signal.
    Whole,
    /// Without the largest bursts.
    Small,
    /// Cut at the usual high.
    Calm,
    /// Its fourth root.
    Root,
    /// What exceeds the lower of two levels.
    Above,
    /// The busier side of a long silence.
    Part,
    /// What a hypothesis leaves.
    Rest,
}

/// A transformation of the signal.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    /// Which.
    pub name: Name,
    /// What is left of the signal.
    pub signal: Bandwidth,
    /// The share of the bytes that it leaves out.
    pub left: f64,
}

/// All readings of a signal that differ from the whole.
pub fn readings(signal: &Bandwidth, trace: &Trace) -> Vec<Reading> {
    let whole = without_pedestal(signal);
    let ground = Ground::of(&whole.bins);
    let changed = [
        (Name::Small, without_largest(&whole.bins, &ground)),
        (Name::Calm, cut_at_usual_high(&whole.bins, &ground)),
    ];
    let total: f64 = whole.bins.iter().sum();
    let kept = |name: Name, bins: Vec<f64>| {
        let left = 1.0 - bins.iter().sum::<f64>() / total;
        let reading = || Reading { name, signal: whole.with(bins.clone()), left };
        (left >= CHANGED && bins.iter().any(|x| *x > 0.0)).then(reading)
    };
    let mut found = vec![Reading { name: Name::Whole, signal: whole.clone(), left: 0.0 }];
    found.extend(changed.into_iter().filter_map(|(name, bins)| kept(name, bins?)));
    found.push(Reading { name: Name::Root, signal: root(&whole, &ground), left: 0.0 });
    found.extend(above(&whole.bins, &ground).and_then(|bins| kept(Name::Above, bins)));
    found.extend(part(&whole, &ground, trace));
    found
}

/// Without the bandwidth that flows nearly all the time.
fn without_pedestal(signal: &Bandwidth) -> Bandwidth {
    let pedestal = quantile(&signal.bins, PEDESTAL).max(0.0);
    signal.with(signal.bins.iter().map(|x| (x - pedestal).max(0.0)).collect())
}

fn without_largest(bins: &[f64], ground: &Ground) -> Option<Vec<f64>> {
    let mut all = bursts(bins, ground);
    if all.len() <= LEAST {
        return None;
    }
    all.sort_by(|a, b| b.volume.total_cmp(&a.volume));
    let times = |i: usize| all[i].volume / all[i + 1].volume.max(f64::MIN_POSITIVE);
    let most = first_largest((0..BIGGEST.min(all.len() - 1)).map(times));
    let mut rest = bins.to_vec();
    for burst in &all[..=most] {
        rest[burst.from..burst.to].iter_mut().for_each(|x| *x = x.min(ground.background));
    }
    Some(rest)
}

fn cut_at_usual_high(bins: &[f64], ground: &Ground) -> Option<Vec<f64>> {
    let busy: Vec<f64> = bins.iter().copied().filter(|x| *x > ground.quiet).collect();
    let high = quantile(&busy, HIGH);
    (!busy.is_empty()).then(|| bins.iter().map(|x| x.min(high)).collect())
}

fn root(signal: &Bandwidth, ground: &Ground) -> Bandwidth {
    let scale = ground.level.powf(1.0 - ROOT);
    signal.with(signal.bins.iter().map(|x| x.powf(ROOT) * scale).collect())
}

/// What exceeds the middle between two levels: those that the bins, cut at their level, are told apart into
/// best (Otsu, IEEE Trans. SMC 9, 1979).
fn above(bins: &[f64], ground: &Ground) -> Option<Vec<f64>> {
    let mut sorted: Vec<f64> = bins.iter().map(|x| x.min(ground.level)).collect();
    sorted.sort_unstable_by(f64::total_cmp);
    let all: f64 = sorted.iter().sum();
    let (n, mut below) = (sorted.len() as f64, 0.0);
    let mut best = (-1.0, 0.0);
    for (i, x) in sorted[..sorted.len().checked_sub(1)?].iter().enumerate() {
        below += x;
        let k = (i + 1) as f64;
        let (low, high) = (below / k, (all - below) / (n - k));
        let apart = k * (n - k) * (high - low).powi(2);
        if apart > best.0 {
            best = (apart, (low + high) / 2.0);
        }
    }
    (all > 0.0).then(|| bins.iter().map(|x| (x - best.1).max(0.0)).collect())
}

/// Time in which something goes on, and its volume.
struct Active {
    from: f64,
    to: f64,
    volume: f64,
}

/// The part with more bursts beside the longest silence, as long as that takes a third of what is left, in
/// bins of its own.
fn part(whole: &Bandwidth, ground: &Ground, trace: &Trace) -> Option<Reading> {
    let all = match trace {
        Trace::Requests { requests, .. } => joined(requests),
        Trace::Samples { .. } | Trace::Binned(_) => {
            let time = |bin: usize| whole.start + bin as f64 * whole.step;
            let active =
                |burst: &Burst| Active { from: time(burst.from), to: time(burst.to), volume: burst.volume };
            bursts(&whole.bins, ground).iter().map(active).collect()
        }
    };
    let (mut first, mut end) = (0, all.len());
    while end - first > 2 {
        let silences = (first..end - 1).map(|i| all[i + 1].from - all[i].to);
        let longest = first + first_largest(silences);
        if all[longest + 1].from - all[longest].to < SILENCE * (all[end - 1].to - all[first].from) {
            break;
        }
        if end - longest - 1 > longest + 1 - first {
            first = longest + 1;
        } else {
            end = longest + 1;
        }
    }
    let (from, to) = (all.get(first)?.from, all.get(end.checked_sub(1)?)?.to);
    if end - first < LEAST || to - from > PART_OF_WHOLE * (all[all.len() - 1].to - all[0].from) {
        return None;
    }
    let signal = match trace {
        Trace::Requests { requests, .. } => {
            let edge = PART_EDGE * (to - from);
            Bandwidth::of_requests(requests, (from - edge).max(whole.start), to + edge)
        }
        Trace::Samples { .. } | Trace::Binned(_) => {
            let bin = |time: f64| ((time - whole.start) / whole.step).round() as usize;
            let (low, high) = (bin(from).saturating_sub(1), (bin(to) + 1).min(whole.bins.len()));
            let start = whole.start + low as f64 * whole.step;
            Bandwidth { start, bins: whole.bins[low..high].to_vec(), edges: None, ..*whole }
        }
    };
    let volume = |some: &[Active]| some.iter().map(|active| active.volume).sum::<f64>();
    Some(Reading { name: Name::Part, signal, left: 1.0 - volume(&all[first..end]) / volume(&all) })
}

/// Requests that overlap are one.
fn joined(requests: &[Request]) -> Vec<Active> {
    let mut sorted: Vec<&Request> = requests.iter().collect();
    sorted.sort_by(|a, b| a.start.total_cmp(&b.start));
    let mut all: Vec<Active> = Vec::new();
    for request in sorted {
        match all.last_mut().filter(|last| request.start <= last.to) {
            Some(last) => {
                last.to = last.to.max(request.end);
                last.volume += request.bytes;
            }
            None => all.push(Active { from: request.start, to: request.end, volume: request.bytes }),
        }
    }
    all
}

/// Where the largest is; the first one of several.
fn first_largest(values: impl Iterator<Item = f64>) -> usize {
    let larger = |a: (usize, f64), b: (usize, f64)| if b.1 > a.1 { b } else { a };
    values.enumerate().reduce(larger).map_or(0, |(i, _)| i)
}
