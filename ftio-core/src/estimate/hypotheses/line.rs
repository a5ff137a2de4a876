//! The spectrum's own hypotheses, for series of samples: what finds the period of coarse and noisy ones, and
//! of a job under foreign bursts.

use super::{Form, Hypothesis, Marked};
use crate::estimate::lines::Line;

/// A line must stand out by this many standard deviations.
const MIN_Z: f64 = 4.0;

/// The window holds this many periods, and a period this many samples.
const MIN_PERIODS: f64 = 5.0;
const MIN_SAMPLES: f64 = 2.2;

/// Of the strongest lines only so many are hypotheses.
const MOST: usize = 2;

/// A line that is a hypothesis, with how far it stands out of the others.
#[derive(Clone, Debug)]
pub struct Wave {
    /// The hypothesis; its list is the one whose number of phases is nearest.
    pub hypothesis: Hypothesis,
    /// Standard deviations above the mean power.
    pub z: f64,
    /// z of the strongest other line that is no multiple.
    pub rival: f64,
}

/// Is `other` a whole multiple of the frequency of `line`?
fn is_multiple(line: &Line, other: &Line) -> bool {
    let ratio = line.period / other.period;
    (ratio - ratio.round()).abs() < 0.06 && other.period < line.period
}

/// The lines of a series of samples, `sampled` seconds apart, that may be its period.
pub fn waves(lists: &[Marked], lines: &[Line], sampled: f64, duration: f64) -> Vec<Wave> {
    let mut found = Vec::new();
    for (i, line) in lines.iter().enumerate().take(MOST) {
        let long_enough = line.period >= MIN_SAMPLES * sampled && duration >= MIN_PERIODS * line.period;
        let of_stronger = lines[..i]
            .iter()
            .any(|other| is_multiple(other, line) && other.period > 1.5 * line.period && line.z < other.z);
        if !long_enough || line.z < MIN_Z || of_stronger {
            continue;
        }
        let off = |marked: &Marked| (marked.starts.len() as f64 * line.period / duration).ln().abs();
        let nearest = (0..lists.len()).min_by(|&a, &b| off(&lists[a]).total_cmp(&off(&lists[b])));
        let Some(list) = nearest else { continue };
        let count = lists[list].starts.len();
        let others = lines.iter().enumerate().filter(|(j, other)| *j != i && !is_multiple(line, other));
        let rival = others.map(|(_, other)| other.z).fold(1.0, f64::max);
        let hypothesis = Hypothesis {
            form: Form::Line,
            period: line.period,
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
        };
        found.push(Wave { hypothesis, z: line.z, rival });
    }
    found
}
