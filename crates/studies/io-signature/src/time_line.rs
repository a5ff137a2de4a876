//! When bursts begin and how long they last if nobody disturbs: the time line of the signature.

use crate::align::Warp;
use crate::locate::{Integral, Located, places};
use crate::spans::Span;
use crate::statistics::{mean, middle_mean, quantile};

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
/// burst less the burst's own volume; that is what is seen during the burst less what others move in as
/// many seconds elsewhere, and the effect is a straight line through all bursts of all samples:
/// relative length = 1 + β·(bandwidth of others / own bandwidth).
fn lengths(members: &[Member<'_>], spans: &[Span]) -> Vec<f64> {
    let mut observed: Vec<Vec<Observed>> = Vec::with_capacity(spans.len());
    for burst in 0..spans.len() {
        let edges = |member: &Member<'_>| (member.edges[2 * burst], member.edges[2 * burst + 1]);
        let clear = |member: &Member<'_>| edges(member).0.clear >= CLEAR && edges(member).1.clear >= CLEAR;
        let all: Vec<(usize, &Member<'_>)> = members.iter().enumerate().collect();
        let mut chosen: Vec<(usize, &Member<'_>)> = all.iter().filter(|one| clear(one.1)).copied().collect();
        if 2 * chosen.len() < members.len() {
            chosen = all;
        }
        // With what is beside it, so that all of the burst is in it wherever exactly its edges were found.
        let room = |member: &Member<'_>| {
            let (start, end) = edges(member);
            let before = (2 * burst).checked_sub(1).map_or(0.0, |before| member.edges[before].time);
            let behind = member.edges.get(2 * burst + 2).map_or(member.sample.len() as f64, |edge| edge.time);
            ((start.time - before).min(behind - end.time) / 2.0).max(0.0)
        };
        let beside = chosen.iter().map(|(_, member)| room(member)).fold(NEAR_LEVELS, f64::min);
        let measured: Vec<(usize, f64, f64)> = chosen
            .into_iter()
            .map(|(sample, member)| {
                let (start, end) = edges(member);
                let total = member.total.until(end.time + beside) - member.total.until(start.time - beside);
                (sample, (end.time - start.time).max(1.0), total)
            })
            .collect();
        let usual = quantile(&measured.iter().map(|one| one.1).collect::<Vec<_>>(), 0.5);
        let totals: Vec<f64> = measured.iter().map(|one| one.2).collect();
        let total = quantile(&totals, USUAL);
        // Where others do nearly everything, their part is not known well enough to be all of it.
        let volume = (total - by_others(members, usual + 2.0 * beside)).max(0.1 * total).max(1e-9);
        // Bandwidths, not volumes: what others move grows with the length of a burst, and would seem to be
        // the cause of it.
        let own = volume / usual;
        let seen = |&(sample, length, total): &(usize, f64, f64)| {
            let others = (total - volume) / (length + 2.0 * beside);
            Observed { sample, length, others: (others / own).max(0.0) }
        };
        observed.push(measured.iter().map(seen).collect());
    }
    let slope = slope(&observed, members.len());
    let alone = |all: &Vec<Observed>| {
        let lengths: Vec<f64> = all.iter().map(|one| one.length / (1.0 + slope * one.others)).collect();
        middle_mean(&lengths)
    };
    observed.iter().map(alone).collect()
}

/// At most so many seconds beside a burst are looked at together with it.
const NEAR_LEVELS: f64 = 3.0;

/// Which of the volumes seen during a burst is compared with what others move: they only add to it, so that
/// the low ones vary less.
const USUAL: f64 = 0.35;

/// What others move in that many seconds: the same quantile of the volumes of all places between bursts.
fn by_others(members: &[Member<'_>], seconds: f64) -> f64 {
    let mut volumes = Vec::new();
    for member in members {
        places(member.edges, member.sample.len() as f64, seconds, seconds / 2.0, |start| {
            volumes.push(member.total.until(start + seconds) - member.total.until(start));
        });
    }
    if volumes.is_empty() {
        let levels: Vec<f64> = members.iter().map(|member| member.background).collect();
        return seconds * quantile(&levels, 0.5);
    }
    quantile(&volumes, USUAL)
}

/// The largest effect of others that is believed: they halve the bandwidth if they do as much as the
/// application.
const LARGEST_SLOPE: f64 = 1.0;

/// By how much bursts become longer, relative to what others do; long bursts are measured best and weigh
/// most. A slope that hangs on one sample is not believed: leaving each out in turn says how uncertain it
/// is, and by the share of its square that may be chance it is made smaller.
fn slope(observed: &[Vec<Observed>], samples: usize) -> f64 {
    let mut sums = vec![(0.0, 0.0); samples];
    for burst in observed {
        let usual = quantile(&burst.iter().map(|one| one.length).collect::<Vec<_>>(), 0.5);
        let others = quantile(&burst.iter().map(|one| one.others).collect::<Vec<_>>(), 0.5);
        for one in burst {
            let x = (one.others - others).clamp(-1.0, 1.0);
            let y = (one.length / usual - 1.0).clamp(-0.5, 0.5);
            sums[one.sample].0 += usual * usual * x * y;
            sums[one.sample].1 += usual * usual * x * x;
        }
    }
    let total = sums.iter().fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    if total.1 <= 0.0 || total.0 <= 0.0 {
        return 0.0;
    }
    let slope = total.0 / total.1;
    let without = |one: &(f64, f64)| {
        let rest = total.1 - one.1;
        if rest > 1e-9 * total.1 { (total.0 - one.0) / rest } else { 0.0 }
    };
    let changes: Vec<f64> = sums.iter().map(without).collect();
    let middle = mean(&changes);
    let squares = changes.iter().map(|one| (one - middle) * (one - middle)).sum::<f64>();
    let variance = squares * (samples - 1) as f64 / samples as f64;
    (slope * (1.0 - variance / (slope * slope))).clamp(0.0, LARGEST_SLOPE)
}

/// A burst in one of the samples.
#[derive(Clone, Copy)]
struct Observed {
    sample: usize,
    length: f64,
    /// Bandwidth of others meanwhile, as a share of the burst's own.
    others: f64,
}
