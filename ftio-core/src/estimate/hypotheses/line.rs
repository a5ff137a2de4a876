//! The spectrum's own hypotheses, for series of samples: what finds the period of coarse and noisy ones, and
//! of a job under foreign bursts.

use super::hypothesis::{Form, Hypothesis, Marked};
use crate::estimate::lines::Line;

/// A line must stand out by this many standard deviations.
const MIN_Z: f64 = 4.0;

/// The window holds this many periods, and a period this many samples.
const MIN_PERIODS: f64 = 5.0;
const MIN_SAMPLES: f64 = 2.2;

/// A rival has at least this many periods in the window.
const RIVAL_PERIODS: f64 = 3.0;

/// Of the strongest lines only so many are hypotheses.
const MOST: usize = 2;

/// The line of which a stronger one is a multiple is the fundamental, if it has this share of its z, and at
/// least so many lines are multiples of it, itself included.
const FUNDAMENTAL_Z: f64 = 0.25;
const FUNDAMENTAL_LINES: usize = 3;

/// So near to a whole multiple of a frequency another one is that multiple.
const NEAR_MULTIPLE: f64 = 0.1;

/// So many lines that are all multiples of one say something, if the window holds so many periods.
const MULTIPLES: usize = 4;
const MULTIPLES_PERIODS: f64 = 7.0;

/// … and if what happens is spread at least this evenly over the periods. Less than the second is a few
/// bursts, and no line says anything.
const GOES_ON: f64 = 0.5;
const A_FEW_BURSTS: f64 = 0.15;

/// A line that is a hypothesis, with how far it stands out of the others.
#[derive(Clone, Debug)]
pub struct Wave {
    /// The hypothesis; its list is the one whose number of phases is nearest.
    pub hypothesis: Hypothesis,
    /// Standard deviations above the mean power.
    pub z: f64,
    /// z of the strongest other line that is no multiple.
    pub rival: f64,
    /// Are all other strong lines multiples of it?
    pub multiples: bool,
}

/// Is `other` a whole multiple of the frequency of `line`?
fn is_multiple(line: &Line, other: &Line) -> bool {
    let ratio = line.period / other.period;
    (ratio - ratio.round()).abs() < 0.06 && other.period < line.period
}

/// The fundamental of a line: short phases have multiples of their frequency that are stronger than itself.
fn fundamental<'a>(line: &'a Line, lines: &'a [Line]) -> &'a Line {
    let of = |low: &Line, other: &Line| low.period == other.period || is_multiple(low, other);
    let is_low = |low: &&Line| {
        is_multiple(low, line)
            && low.z >= FUNDAMENTAL_Z * line.z
            && lines.iter().filter(|other| of(low, other)).count() >= FUNDAMENTAL_LINES
    };
    lines.iter().filter(is_low).max_by(|a, b| a.period.total_cmp(&b.period)).unwrap_or(line)
}

/// The period of a line of which all other strong lines are multiples. Short phases at even distances have
/// them, however much else there is between; lines of other things are anywhere.
fn by_multiples(line: &Line, lines: &[Line], duration: f64) -> Option<f64> {
    let rivals = lines.iter().filter(|other| duration >= RIVAL_PERIODS * other.period);
    let mut others: Vec<&Line> = rivals.filter(|other| other.period != line.period).collect();
    others.sort_by(|a, b| b.period.total_cmp(&a.period));
    // The higher a multiple, the more exactly it says the period.
    let mut period = line.period;
    let is_multiple = |other: &&Line| {
        let multiple = (period / other.period).round();
        let is = multiple >= 2.0 && (period / other.period - multiple).abs() < NEAR_MULTIPLE;
        period = if is { multiple * other.period } else { period };
        is
    };
    let enough = others.len() >= MULTIPLES && duration >= MULTIPLES_PERIODS * line.period;
    (enough && others.iter().all(is_multiple)).then_some(period)
}

/// The lines of a series of samples, `sampled` seconds apart, that may be its period.
///
/// `evenness` tells how evenly what happens is spread over the periods of a length: a few bursts have a line
/// at their distance, and all multiples of it, as well.
pub fn waves(
    lists: &[Marked],
    lines: &[Line],
    (sampled, duration): (f64, f64),
    evenness: impl Fn(f64) -> f64,
) -> Vec<Wave> {
    let (mut found, mut seen) = (Vec::new(), Vec::new());
    for (i, strong) in lines.iter().enumerate().take(MOST) {
        let line = fundamental(strong, lines);
        let long_enough = line.period >= MIN_SAMPLES * sampled && duration >= MIN_PERIODS * line.period;
        let of_stronger = lines[..i]
            .iter()
            .any(|other| is_multiple(other, line) && other.period > 1.5 * line.period && line.z < other.z);
        if !long_enough
            || strong.z < MIN_Z
            || of_stronger
            || seen.contains(&line.period)
            || evenness(line.period) < A_FEW_BURSTS
        {
            continue;
        }
        let off = |marked: &Marked| (marked.starts.len() as f64 * line.period / duration).ln().abs();
        let nearest = (0..lists.len()).min_by(|&a, &b| off(&lists[a]).total_cmp(&off(&lists[b])));
        let Some(list) = nearest else { continue };
        let count = lists[list].starts.len();
        // What swells once or twice in the window is no rival.
        let rivals = lines.iter().filter(|other| duration >= RIVAL_PERIODS * other.period);
        let others = rivals.filter(|other| other.period != line.period && !is_multiple(line, other));
        let multiples = by_multiples(line, lines, duration).filter(|period| evenness(*period) >= GOES_ON);
        let rival = match multiples {
            Some(_) => 1.0,
            None => others.map(|other| other.z).fold(1.0, f64::max),
        };
        let hypothesis = Hypothesis {
            form: Form::Line,
            period: multiples.unwrap_or(line.period),
            list,
            members: (0..count).collect(),
            links: vec![1; count.saturating_sub(1)],
            slots: count.saturating_sub(1),
            sigma: lists[list].list.regularity.distances,
            fill: 1.0,
            pause: 0.0,
            extra: 0.0,
            likelihood: 0.0,
            within: 0.0,
            ends: None,
            at: 0,
            cut_first: false,
        };
        seen.push(line.period);
        found.push(Wave { hypothesis, z: strong.z, rival, multiples: multiples.is_some() });
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(of: &[(f64, f64)]) -> Vec<Line> {
        of.iter().map(|&(period, z)| Line { period, z }).collect()
    }

    #[test]
    fn all_strong_lines_may_be_multiples_of_one() {
        // A backup every night among the traffic of users: the highest multiple is the seventh.
        let day = [(43_230.0, 34.7), (87_278.0, 34.7), (21_608.0, 21.0), (12_340.0, 20.3), (17_266.0, 17.2)];
        let other =
            [(43_230.0, 34.7), (87_278.0, 34.7), (21_608.0, 21.0), (13_200.0, 20.3), (17_266.0, 17.2)];
        let duration = 13.0 * 86_400.0;
        let period = by_multiples(&lines(&day)[1], &lines(&day), duration).unwrap();
        assert!((period / 86_400.0 - 1.0).abs() < 0.001, "{period}");
        assert_eq!(by_multiples(&lines(&other)[1], &lines(&other), duration), None);
        // Four nights are too few, and so are three lines.
        assert_eq!(by_multiples(&lines(&day)[1], &lines(&day), 4.0 * 86_400.0), None);
        assert_eq!(by_multiples(&lines(&day)[1], &lines(&day[..3]), duration), None);
    }

    #[test]
    fn the_fundamental_may_be_weaker_than_its_multiples() {
        // A backup of two hours every day.
        let day = [(43_217.0, 34.8), (21_623.0, 29.6), (86_163.0, 29.6), (28_820.0, 23.0), (17_295.0, 14.5)];
        let day = lines(&day);
        assert_eq!(fundamental(&day[0], &day).period, 86_163.0);
        // Two lines that have nothing to do with each other.
        let apart = [Line { period: 10.0, z: 40.0 }, Line { period: 23.7, z: 20.0 }];
        assert_eq!(fundamental(&apart[0], &apart).period, 10.0);
    }
}
