//! Our method: the median of the aligned samples.
//!
//! The common bursts of the [grid](crate::grid) say how to align the samples at first. Their median then
//! shows bursts that some samples hide, and hides what only some of them show. Its edges align the samples
//! better, and so on for a few rounds. What stays is what almost all samples show where it should be.

use crate::align::{Warp, level_outside, median_of};
use crate::bursts::waves;
use crate::grid::{Grid, common, points};
use crate::locate::{Integral, Located, locate_all};
use crate::resample::{background, shrink, subtract};
use crate::settings::Settings;
use crate::spans::{Span, Spans, spans};
use crate::statistics::{mean, median, median_deviation};
use crate::time_line::{Member, TimeLine, time_line};
use crate::votes::votes;

/// The signature of samples at one value a second.
#[derive(Clone, Debug, Default)]
pub(crate) struct Consensus {
    /// Bytes per second, one value a second; 0 outside bursts.
    pub series: Vec<f64>,
    /// What the samples have in common, bursts or not.
    pub median: Vec<f64>,
    pub spans: Vec<Span>,
    /// For each burst the samples that show it.
    pub votes: Vec<Vec<bool>>,
    /// The samples on the time line of the series.
    pub aligned: Vec<Vec<f64>>,
    /// Level of each sample outside bursts.
    pub backgrounds: Vec<f64>,
    pub grid: Grid,
    length: f64,
    /// Seconds between two values of the log.
    step: f64,
    /// The bursts as they were when their edges were located for the last time, and the edges in each sample.
    known: Vec<Span>,
    located: Vec<Vec<Located>>,
    /// The integral of each sample.
    totals: Vec<Integral>,
}

impl Consensus {
    /// Of samples, none of them empty, of a log with a value every `step` seconds.
    pub fn of(samples: &[Vec<f64>], step: f64, settings: &Settings) -> Self {
        let (warps, length, grid) = first_alignment(samples, settings);
        let totals = samples.iter().map(|sample| Integral::of(sample, 0.0, f64::INFINITY)).collect();
        let mut found = Consensus { length, step, grid, totals, ..Consensus::default() };
        found.aligned = on_time_line(samples.iter().map(Vec::as_slice), &warps, length);
        found.median = median_of(&found.aligned);
        for _ in 0..settings.rounds as usize {
            let Spans { spans, .. } = spans(&found.median, settings);
            let backgrounds = found.aligned.iter().map(|sample| level_outside(sample, &spans)).collect();
            let before = std::mem::take(&mut found.spans);
            let warps = found.take_over(samples, spans, backgrounds, settings);
            found.aligned = on_time_line(samples.iter().map(Vec::as_slice), &warps, found.length);
            found.median = median_of(&found.aligned);
            if found.spans.is_empty() || same(&before, &found.spans) {
                break;
            }
        }
        found.series = signature(&found.median, &found.spans);
        found
    }

    /// The series and the bursts without one of the samples: the time line and the median of the others.
    pub fn without(&self, left_out: usize, samples: &[Vec<f64>]) -> (Vec<f64>, Vec<Span>) {
        let others: Vec<usize> = (0..samples.len()).filter(|i| *i != left_out).collect();
        let TimeLine { warps, length, spans } = time_line(&self.members(&others, samples), &self.known);
        let aligned = on_time_line(others.iter().map(|&i| samples[i].as_slice()), &warps, length);
        (signature(&median_of(&aligned), &spans), spans)
    }

    /// How far the seconds from each edge to the next differ between samples (median deviation).
    pub fn scatter(&self) -> Vec<f64> {
        let edges = self.located.first().map_or(0, Vec::len);
        let apart = |edge: usize| -> Vec<f64> {
            let before = |edges: &Vec<Located>| edge.checked_sub(1).map_or(0.0, |before| edges[before].time);
            self.located.iter().map(|edges| edges[edge].time - before(edges)).collect()
        };
        let deviation = |edge: usize| {
            let apart = apart(edge);
            median_deviation(&apart, median(&apart))
        };
        (0..edges).map(deviation).collect()
    }

    /// Seconds of its time line.
    pub fn length(&self) -> f64 {
        self.length.max(1.0)
    }

    fn members<'a>(&'a self, which: &[usize], samples: &'a [Vec<f64>]) -> Vec<Member<'a>> {
        let member = |&i: &usize| Member {
            sample: &samples[i],
            edges: &self.located[i],
            total: &self.totals[i],
            background: self.backgrounds[i],
        };
        which.iter().map(member).collect()
    }

    /// Align with these bursts, without those that too few samples show.
    fn take_over(
        &mut self,
        samples: &[Vec<f64>],
        mut spans: Vec<Span>,
        backgrounds: Vec<f64>,
        settings: &Settings,
    ) -> Vec<Warp> {
        loop {
            let located = locate_all(samples, &spans, self.length, &backgrounds, self.step, settings);
            let votes = votes(samples, &spans, &located, &self.totals, self.length, &backgrounds, settings);
            if let Some(weak) = weakest(&spans, &votes, self.length, settings) {
                spans.remove(weak);
                continue;
            }
            (self.backgrounds, self.votes, self.located, self.known) = (backgrounds, votes, located, spans);
            let everybody: Vec<usize> = (0..samples.len()).collect();
            let TimeLine { warps, length, spans } =
                time_line(&self.members(&everybody, samples), &self.known);
            (self.length, self.spans) = (length, spans);
            return warps;
        }
    }
}

fn on_time_line<'a>(samples: impl Iterator<Item = &'a [f64]>, warps: &[Warp], length: f64) -> Vec<Vec<f64>> {
    samples.zip(warps).map(|(sample, warp)| warp.apply(sample, length as usize)).collect()
}

/// Aligned by the common bursts of the grid, on the time line of the shortest.
fn first_alignment(samples: &[Vec<f64>], settings: &Settings) -> (Vec<Warp>, f64, Grid) {
    let length = samples.iter().map(Vec::len).min().unwrap_or(0);
    let mut shrunk: Vec<Vec<f64>> = samples.iter().map(|sample| shrink(sample, length)).collect();
    let level = background(&shrunk);
    subtract(&mut shrunk, level);
    let waves: Vec<_> = shrunk.iter().map(|sample| waves(sample, settings)).collect();
    let points = points(&shrunk, &waves);
    let (bursts, grid) = common(&points, samples.len(), settings);
    let warp = |(number, sample): (usize, &Vec<f64>)| {
        let stretch = sample.len() as f64 / length as f64;
        let most = (sample.len() - length) as f64 + settings.slack;
        let places = bursts.iter().filter_map(|members| {
            let times: Vec<f64> = members.iter().map(|&point| points[point].wave.time as f64).collect();
            let own = members.iter().position(|&point| points[point].sample == number)?;
            let (own, common) = (times[own], mean(&times));
            ((own - common).abs() <= most).then_some((common, own * stretch))
        });
        Warp::through(places, length as f64, sample.len() as f64)
    };
    (samples.iter().enumerate().map(warp).collect(), length as f64, grid)
}

/// The burst that is shown by too few samples by the largest number, if there is one.
///
/// A burst needs the votes of [`Settings::kappa_low`] of the samples. One that is less than half as high as
/// the sure ones needs so many that noise does not reach them ([`Settings::chance`]), and so do all while
/// nothing is sure.
fn weakest(spans: &[Span], votes: &[Vec<bool>], length: f64, settings: &Settings) -> Option<usize> {
    let count = |votes: &Vec<bool>| votes.iter().filter(|vote| **vote).count();
    let unlikely = |span: &Span, votes: &Vec<bool>| {
        beyond_chance(votes.len(), length / (span.end - span.start).max(1.0), settings)
    };
    let sure = |(span, votes): &(&Span, &Vec<bool>)| count(votes) >= unlikely(span, votes);
    let sure: Vec<f64> = spans.iter().zip(votes).filter(sure).map(|(span, _)| span.height).collect();
    let usual = if sure.len() >= 2 { median(&sure) } else { f64::INFINITY };
    let missing = |(number, (span, votes)): (usize, (&Span, &Vec<bool>))| {
        let share = Settings::share_of(settings.kappa_low, votes.len());
        let needed = if span.height >= 0.5 * usual { share } else { share.max(unlikely(span, votes)) };
        needed.checked_sub(count(votes)).filter(|missing| *missing > 0).map(|missing| (missing, number))
    };
    spans.iter().zip(votes).enumerate().filter_map(missing).max().map(|(_, number)| number)
}

/// How many samples must show a burst so that noise does as well in at most [`Settings::chance`] of the
/// cases: a sample shows a place by chance with the probability [`Settings::rare`], and there are that many
/// places.
fn beyond_chance(samples: usize, places: f64, settings: &Settings) -> usize {
    let rare = settings.rare;
    let (mut term, mut tail, mut least) = (rare.powi(samples as i32), 0.0, samples);
    for count in (1..=samples).rev() {
        tail += term;
        if tail * places > settings.chance {
            break;
        }
        least = count;
        term *= count as f64 / (samples - count + 1) as f64 * (1.0 - rare) / rare;
    }
    least
}

/// Seconds beside a burst that belong to its slopes.
const SLOPE: f64 = 3.0;

/// A slope ends where it is lower than this share of the burst: what is beside it is noise, and would look
/// like bursts of its own.
const FOOT: f64 = 0.03;

/// What of the median belongs to bursts, above the level between them.
fn signature(median: &[f64], spans: &[Span]) -> Vec<f64> {
    let level = level_outside(median, spans);
    let mut series = vec![0.0; median.len()];
    for span in spans {
        let place = |time: f64| (time.round().max(0.0) as usize).min(median.len());
        let (from, start) = (place(span.start - SLOPE), place(span.start));
        let (end, to) = (place(span.end).max(start), place(span.end + SLOPE));
        let above = |second: &usize| median[*second] - level > FOOT * span.height;
        let before = (from..start).rev().take_while(above);
        let behind = (end..to).take_while(above);
        for second in before.chain(start..end).chain(behind) {
            series[second] = (median[second] - level).max(0.0);
        }
    }
    series
}

/// Did nothing move?
fn same(before: &[Span], now: &[Span]) -> bool {
    let close = |(a, b): (&Span, &Span)| (a.start - b.start).abs() < 0.25 && (a.end - b.end).abs() < 0.25;
    before.len() == now.len() && before.iter().zip(now).all(close)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bursts of 2 at 100 s and of 1 at 300 s, later and longer in later samples, and a foreign one in each.
    fn samples() -> Vec<Vec<f64>> {
        (0..8usize)
            .map(|i| {
                let mut values = vec![0.1; 500 + 2 * i];
                values[100 + i..130 + i].iter_mut().for_each(|value| *value += 2.0);
                values[300 + 2 * i..310 + 2 * i].iter_mut().for_each(|value| *value += 1.0);
                values[150 + 15 * i..170 + 15 * i].iter_mut().for_each(|value| *value += 1.5);
                values
            })
            .collect()
    }

    #[test]
    fn common_bursts_are_found_and_foreign_ones_are_not() {
        let found = Consensus::of(&samples(), 1.0, &Settings::default());
        assert_eq!(found.spans.len(), 2, "{:?}", found.spans);
        let volume = found.series.iter().sum::<f64>();
        assert!((volume - 70.0).abs() < 4.0, "{volume}");
        assert!(found.votes.iter().all(|votes| votes.iter().filter(|vote| **vote).count() >= 7));
        assert_eq!(found.series[200], 0.0);
    }

    #[test]
    fn noise_beside_a_burst_is_no_burst() {
        let mut median = vec![0.1; 100];
        median[40..50].fill(2.1);
        median[39] = 1.1;
        median[37] = 0.11;
        median[52] = 0.12;
        let found = signature(&median, &[Span { start: 39.5, end: 50.0, height: 2.0 }]);
        let written: Vec<usize> = (0..100).filter(|&second| found[second] > 0.0).collect();
        assert_eq!(written, (39..50).collect::<Vec<_>>());
    }

    #[test]
    fn nothing_in_common_is_nothing() {
        let foreign: Vec<Vec<f64>> = (0..8usize)
            .map(|i| {
                let mut values = vec![0.1; 500];
                values[50 * i + 20..50 * i + 50].fill(2.0);
                values
            })
            .collect();
        let found = Consensus::of(&foreign, 1.0, &Settings::default());
        assert!(found.spans.is_empty() && found.series.iter().all(|value| *value == 0.0));
    }

    #[test]
    fn fewer_samples_need_to_be_unanimous() {
        let settings = Settings::default();
        assert_eq!(beyond_chance(5, 50.0, &settings), 5);
        let ten = beyond_chance(10, 50.0, &settings);
        assert!((6..=8).contains(&ten), "{ten}");
        assert!(beyond_chance(30, 50.0, &settings) <= 15);
    }
}
