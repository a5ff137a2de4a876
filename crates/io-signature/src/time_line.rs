//! When bursts begin and how long they last if nobody disturbs: the time line of the signature.

use crate::align::Warp;
use crate::locate::{Integral, Located};
use crate::spans::Span;
use crate::statistics::{middle_mean, quantile};

/// Below this, an edge of a sample says nothing about when bursts begin or end.
const CLEAR: f64 = 0.4;

/// The time line, and the samples on it.
pub(crate) struct TimeLine {
    /// For each member where its moments are.
    pub warps: Vec<Warp>,
    /// How long the application runs.
    pub length: f64,
    /// The bursts.
    pub spans: Vec<Span>,
}

/// A sample with its edges.
#[derive(Clone, Copy)]
pub(crate) struct Member<'a> {
    pub sample: &'a [f64],
    pub edges: &'a [Located],
    /// The integral of the whole sample.
    pub total: &'a Integral,
    pub background: f64,
}

/// The time line of samples in which the edges of these bursts were found.
pub(crate) fn time_line(members: &[Member<'_>], spans: &[Span]) -> TimeLine {
    let lengths = lengths(members, spans);
    let mut times = Vec::with_capacity(2 * spans.len());
    let mut time = 0.0;
    for (burst, length) in lengths.iter().enumerate() {
        time += pause(members, 2 * burst).max(0.5);
        times.push(time);
        time += length.max(0.5);
        times.push(time);
    }
    let rest: Vec<f64> = members
        .iter()
        .map(|member| member.sample.len() as f64 - member.edges.last().map_or(0.0, |last| last.time))
        .collect();
    let length = time + middle_mean(&rest).max(1.0);
    let warp = |member: &Member<'_>| {
        let places = times.iter().copied().zip(member.edges.iter().map(|edge| edge.time));
        Warp::through(places, length, member.sample.len() as f64)
    };
    let moved = |(k, span): (usize, &Span)| Span { start: times[2 * k], end: times[2 * k + 1], ..*span };
    TimeLine {
        warps: members.iter().map(warp).collect(),
        length,
        spans: spans.iter().enumerate().map(moved).collect(),
    }
}

/// How long the application computes before a rising edge. Others do not change that.
fn pause(members: &[Member<'_>], edge: usize) -> f64 {
    let before = |member: &Member<'_>| edge.checked_sub(1).map(|before| member.edges[before]);
    let since = |member: &Member<'_>| member.edges[edge].time - before(member).map_or(0.0, |edge| edge.time);
    let clear = |member: &&Member<'_>| {
        member.edges[edge].clear >= CLEAR && before(member).is_none_or(|edge| edge.clear >= CLEAR)
    };
    let mut all: Vec<f64> = members.iter().filter(clear).map(since).collect();
    if 2 * all.len() < members.len() {
        all = members.iter().map(since).collect();
    }
    middle_mean(&all)
}

/// How long each burst lasts if nobody disturbs.
///
/// Others prolong a burst the more, the more they do during it. What they do is the throughput during the
/// burst less the burst's own volume, and the effect is a straight line through all bursts of all samples:
/// relative length = 1 + β·(bandwidth of others / own bandwidth).
fn lengths(members: &[Member<'_>], spans: &[Span]) -> Vec<f64> {
    // For each burst (length, others / own) of each sample in which both edges are clear.
    let mut observed: Vec<Vec<(f64, f64)>> = Vec::with_capacity(spans.len());
    for burst in 0..spans.len() {
        let edges = |member: &Member<'_>| (member.edges[2 * burst], member.edges[2 * burst + 1]);
        let clear = |member: &&&Member<'_>| edges(member).0.clear >= CLEAR && edges(member).1.clear >= CLEAR;
        let all: Vec<&Member<'_>> = members.iter().collect();
        let mut chosen: Vec<&Member<'_>> = all.iter().filter(|member| clear(member)).copied().collect();
        if 2 * chosen.len() < members.len() {
            chosen = all;
        }
        let measured: Vec<(f64, f64, f64)> = chosen
            .into_iter()
            .map(|member| {
                let (start, end) = edges(member);
                let length = (end.time - start.time).max(1.0);
                let total = member.total.until(end.time) - member.total.until(start.time);
                (length, total, total - member.background * length)
            })
            .collect();
        let own: Vec<f64> = measured.iter().map(|one| one.2).collect();
        let volume = quantile(&own, USUAL).max(1e-9);
        let others = |&(length, total, _): &(f64, f64, f64)| (length, ((total - volume) / volume).max(0.0));
        observed.push(measured.iter().map(others).collect());
    }
    let slope = slope(&observed);
    let alone = |all: &Vec<(f64, f64)>| {
        let lengths: Vec<f64> = all.iter().map(|(length, others)| length / (1.0 + slope * others)).collect();
        middle_mean(&lengths)
    };
    observed.iter().map(alone).collect()
}

/// Which of the volumes seen during a burst is its own: others only add to it.
const USUAL: f64 = 0.35;

/// The largest effect of others that is believed: they halve the bandwidth if they do as much as the
/// application.
const LARGEST_SLOPE: f64 = 1.0;

/// By how much bursts become longer, relative to what others do; long bursts are measured best and weigh
/// most.
fn slope(observed: &[Vec<(f64, f64)>]) -> f64 {
    let (mut xy, mut xx) = (0.0, 0.0);
    for burst in observed {
        let usual = quantile(&burst.iter().map(|one| one.0).collect::<Vec<_>>(), 0.5);
        let others = quantile(&burst.iter().map(|one| one.1).collect::<Vec<_>>(), 0.5);
        for &(length, foreign) in burst {
            let (x, y) = ((foreign - others).clamp(-1.0, 1.0), (length / usual - 1.0).clamp(-0.5, 0.5));
            xy += usual * usual * x * y;
            xx += usual * usual * x * x;
        }
    }
    if xx > 0.0 { (xy / xx).clamp(0.0, LARGEST_SLOPE) } else { 0.0 }
}
