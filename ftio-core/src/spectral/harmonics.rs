//! Which candidates are harmonics of others, and is there one dominant frequency?
//!
//! Short bursts do not look like a cosine, so their spectrum has peaks at the frequency of the bursts and at
//! multiples of it: *harmonics*. Those describe the shape of a burst, not another period, and are set aside
//! before candidates are counted (paper, II-B 2): one or two left, the signal is periodic with the stronger
//! of them; none or more than two, it is not.

use crate::spectral::outlier::Outliers;
use crate::spectral::spectrum::Spectrum;

/// Fewer periods than this, or just as many, are no evidence of a period: the window of two bursts always has
/// one.
pub const MIN_PERIODS: f64 = 2.0;

/// How high a multiple of the fundamental the strongest peak may be, for the fundamental to be looked for.
const MAX_TEETH: usize = 12;

/// When a higher candidate is a harmonic of a lower one.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum HarmonicRule {
    /// By bin index. The multiples two, four, eight … of a lower candidate, as the paper has it. Other
    /// multiples only at the end of an unbroken series: 3 if 2 is there, 5 if 2, 3 and 4 are. Very short
    /// bursts have such a series of nearly equal peaks, and without this they would count as three and more
    /// frequencies, that is, as not periodic.
    ///
    /// A true frequency rarely falls on a bin. So the lower candidate's position is first
    /// [located between the bins](Spectrum::peak_position), and a multiple of it may be one bin off.
    #[default]
    ByIndex,
    /// Any integer multiple, as far as floating-point remainders of frequencies notice: the published tool's
    /// rule. Its frequencies are f_s·k/N with the sampling frequency f_s as it was given.
    AsPublished {
        /// f_s in Hz.
        sampling_frequency: f64,
    },
    /// Any integer multiple, by bin index: the method as it was printed.
    AnyMultiple,
}

/// Candidates without harmonics, and what follows from them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Candidates {
    /// Candidates that are no harmonics, ascending.
    pub kept: Vec<usize>,
    /// Candidates set aside as harmonics, ascending.
    pub harmonics: Vec<usize>,
    /// Candidates that are one with the kept candidate beside them, ascending.
    pub merged: Vec<usize>,
    /// The candidate that contributes most, dominant or not.
    pub strongest: Option<usize>,
    /// The dominant frequency, if there is one.
    pub dominant: Option<usize>,
    /// Why there is, or is not, a dominant frequency.
    pub reason: Reason,
}

/// The reason of a [`Candidates`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reason {
    /// One candidate.
    Single,
    /// Two candidates; the stronger one was taken.
    StrongerOfTwo,
    /// No frequency stands out.
    #[default]
    NoCandidate,
    /// All candidates are multiples of one frequency, which stands out as well.
    Comb,
    /// More than two frequencies stand out.
    TooMany,
    /// The frequency that stands out does not repeat often enough in the window.
    TooFewPeriods,
}

impl HarmonicRule {
    /// Split candidates into those kept and those that are harmonics of a kept lower one.
    pub fn split(self, candidates: &[usize], spectrum: &Spectrum) -> (Vec<usize>, Vec<usize>) {
        match self {
            HarmonicRule::ByIndex => split_by_index(candidates, spectrum),
            HarmonicRule::AsPublished { sampling_frequency } => {
                split_as_published(candidates, |k| sampling_frequency * k as f64 / spectrum.samples as f64)
            }
            HarmonicRule::AnyMultiple => split_multiples(candidates),
        }
    }
}

fn split_by_index(candidates: &[usize], spectrum: &Spectrum) -> (Vec<usize>, Vec<usize>) {
    let (mut kept, mut harmonics) = (Vec::new(), Vec::new());
    for &k in candidates {
        if kept.iter().any(|&low| is_multiple(k, low, candidates, spectrum)) {
            harmonics.push(k);
        } else {
            kept.push(k);
        }
    }
    (kept, harmonics)
}

/// Is k a multiple of the candidate `low` that the rule [by index](HarmonicRule::ByIndex) accepts?
fn is_multiple(k: usize, low: usize, candidates: &[usize], spectrum: &Spectrum) -> bool {
    let position = spectrum.peak_position(low);
    let near = |k: usize, multiple: usize| (k as f64 - multiple as f64 * position).abs() <= 1.0;
    let multiple = (k as f64 / position).round() as usize;
    if multiple < 2 || !near(k, multiple) {
        return false;
    }
    let present = |m: usize| candidates.iter().any(|&other| near(other, m));
    multiple.is_power_of_two() || (2..multiple).all(present)
}

fn split_multiples(candidates: &[usize]) -> (Vec<usize>, Vec<usize>) {
    let (mut kept, mut harmonics): (Vec<usize>, Vec<usize>) = (Vec::new(), Vec::new());
    for &k in candidates {
        if kept.iter().any(|&low| k.is_multiple_of(low)) { harmonics.push(k) } else { kept.push(k) }
    }
    (kept, harmonics)
}

fn split_as_published(candidates: &[usize], frequency: impl Fn(usize) -> f64) -> (Vec<usize>, Vec<usize>) {
    let (mut kept, mut harmonics): (Vec<usize>, Vec<usize>) = (Vec::new(), Vec::new());
    for &k in candidates {
        if kept.iter().any(|&low| frequency(k) % frequency(low) < 1e-5) {
            harmonics.push(k);
        } else {
            kept.push(k);
        }
    }
    (kept, harmonics)
}

impl Candidates {
    /// SpectralDetector the outliers of a spectrum.
    pub fn of(outliers: &Outliers, contributions: &[f64], spectrum: &Spectrum, rule: HarmonicRule) -> Self {
        let (kept, harmonics) = rule.split(&outliers.candidates, spectrum);
        Candidates { kept, harmonics, ..Candidates::default() }.counted(contributions)
    }

    /// The candidates that follows from the number of candidates kept.
    fn counted(mut self, contributions: &[f64]) -> Self {
        self.strongest = strongest(&self.kept, contributions);
        (self.dominant, self.reason) = match self.kept.len() {
            0 => (None, Reason::NoCandidate),
            1 => (self.strongest, Reason::Single),
            2 => (self.strongest, Reason::StrongerOfTwo),
            _ => (None, Reason::TooMany),
        };
        self
    }

    /// Take candidates next to each other for one frequency.
    ///
    /// A wave between two bins leaks into both, and one whose period varies a little spreads over some; both
    /// are one wave. So two or three kept candidates in adjacent bins become one, the strongest. Not in the
    /// paper.
    pub fn with_neighbours_merged(mut self, contributions: &[f64]) -> Self {
        let mut kept = Vec::new();
        for group in self.kept.chunk_by(|a, b| b - a == 1) {
            if !(2..=3).contains(&group.len()) {
                kept.extend_from_slice(group);
                continue;
            }
            let best = strongest(group, contributions);
            kept.extend(best);
            self.merged.extend(group.iter().filter(|k| Some(**k) != best));
        }
        if self.merged.is_empty() {
            return self;
        }
        self.kept = kept;
        self.counted(contributions)
    }

    /// Confidence in the candidate k, together with what was merged into it.
    pub fn confidence(&self, outliers: &Outliers, k: usize) -> f64 {
        let own = outliers.confidence(k, &self.harmonics);
        let merged = self.merged.iter().filter(|other| other.abs_diff(k) <= 2);
        merged.fold(own, |sum, &other| sum + outliers.confidence(other, &self.harmonics)).min(1.0)
    }

    /// Look for a fundamental below the candidates, if they are the teeth of a comb.
    ///
    /// The spectrum of short bursts is a comb: nearly equal peaks at all multiples of their frequency. Which
    /// of them is the strongest is then a matter of chance, and the first may not even be a candidate. If the
    /// strongest candidate is the m-th multiple of some frequency, all multiples of which up to the (m+1)-th
    /// are outliers, and all candidates are multiples of it, then that frequency is the dominant one. It
    /// cannot be a subharmonic of the true one, whose odd multiples would not stand out. Not in the paper.
    pub fn with_fundamental(mut self, outliers: &Outliers, spectrum: &Spectrum) -> Self {
        let Some(strongest) = self.strongest else { return self };
        let position = spectrum.peak_position(strongest);
        let stands_out = |place: f64| {
            let nearest = place.round() as usize;
            let near = nearest.saturating_sub(1)..=nearest + 1;
            let mut bins = near.filter(|&k| (k as f64 - place).abs() <= 1.0);
            bins.any(|k| outliers.stands_out(k))
        };
        let is_comb = |teeth: usize| {
            let base = position / teeth as f64;
            let fits = |&k: &usize| {
                let multiple = (spectrum.peak_position(k) / base).round();
                multiple >= 1.0 && (spectrum.peak_position(k) - multiple * base).abs() <= 0.6
            };
            base > MIN_PERIODS
                && (1..=teeth + 1).all(|tooth| stands_out(tooth as f64 * base))
                && outliers.candidates.iter().all(fits)
        };
        let first = if self.dominant.is_some() { 2 } else { 1 };
        if let Some(teeth) = (first..=MAX_TEETH).rev().find(|&teeth| is_comb(teeth)) {
            let base = (position / teeth as f64).round() as usize;
            // The bin next to it may hold the peak.
            let best = (base.saturating_sub(1).max(1)..=base + 1)
                .filter(|&k| (k as f64 - position / teeth as f64).abs() <= 1.0)
                .max_by(|&a, &b| outliers.score(a).total_cmp(&outliers.score(b)));
            self.dominant = best;
            self.kept = best.into_iter().collect();
            self.merged.clear();
            self.harmonics = outliers.candidates.iter().copied().filter(|&k| Some(k) != best).collect();
            self.reason = Reason::Comb;
        }
        self
    }

    /// Withdraw a dominant frequency that has not more than [`MIN_PERIODS`] periods in the window.
    ///
    /// The published tool has no such rule: it can call one burst in a window periodic, with full confidence.
    pub fn with_enough_periods(mut self) -> Self {
        if self.dominant.is_some_and(|k| k as f64 <= MIN_PERIODS) {
            self.dominant = None;
            self.reason = Reason::TooFewPeriods;
        }
        self
    }
}

/// The one that contributes most; of equals, the first: the longer period.
fn strongest(of: &[usize], contributions: &[f64]) -> Option<usize> {
    let contribution = |k: usize| contributions.get(k - 1).copied().unwrap_or(0.0);
    of.iter().copied().rev().max_by(|&a, &b| contribution(a).total_cmp(&contribution(b)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::TAU;

    /// A sum of cosines at the given (possibly fractional) k, N = 512.
    fn spectrum(waves: &[(f64, f64)]) -> Spectrum {
        let wave = |n: f64| waves.iter().map(|(k, a)| a * (TAU * k * n / 512.0).cos()).sum();
        let samples: Vec<f64> = (0..512).map(|n| wave(f64::from(n))).collect();
        Spectrum::of(&samples, 512.0)
    }

    fn candidates_of(candidates: &[usize], spectrum: &Spectrum) -> Candidates {
        let outliers = Outliers { candidates: candidates.to_vec(), ..Outliers::default() };
        let contributions = spectrum.contributions(Default::default());
        Candidates::of(&outliers, &contributions, spectrum, HarmonicRule::ByIndex).with_enough_periods()
    }

    #[test]
    fn one_two_none_many() {
        let s = spectrum(&[(10.0, 2.0), (17.0, 3.0), (23.0, 1.0)]);
        assert_eq!(candidates_of(&[], &s).reason, Reason::NoCandidate);
        assert_eq!(candidates_of(&[10], &s).dominant, Some(10));
        let two = candidates_of(&[10, 17], &s);
        assert_eq!((two.dominant, two.reason), (Some(17), Reason::StrongerOfTwo));
        let three = candidates_of(&[10, 17, 23], &s);
        assert_eq!((three.dominant, three.reason), (None, Reason::TooMany));
    }

    #[test]
    fn powers_of_two_are_harmonics_and_three_alone_is_not() {
        let s = spectrum(&[(10.0, 1.0), (20.0, 1.0), (30.0, 1.0), (40.0, 1.0)]);
        assert_eq!(candidates_of(&[10, 20, 40], &s).kept, [10]);
        assert_eq!(candidates_of(&[10, 30], &s).kept, [10, 30]);
        // A whole series is one short burst.
        assert_eq!(candidates_of(&[10, 20, 30, 40], &s).kept, [10]);
        assert_eq!(candidates_of(&[10, 20, 30, 40, 50], &s).harmonics, [20, 30, 40, 50]);
        assert_eq!(candidates_of(&[10, 20, 50], &s).kept, [10, 50]);
    }

    #[test]
    fn harmonics_of_a_frequency_between_bins() {
        // 10.4 peaks at 10, its second harmonic 20.8 at 21, its fourth 41.6 at 42.
        let s = spectrum(&[(10.4, 1.0), (20.8, 1.0), (41.6, 1.0)]);
        assert_eq!(candidates_of(&[10, 21, 42], &s).kept, [10]);
    }

    #[test]
    fn the_fundamental_of_a_comb_is_found() {
        let s = spectrum(&[(7.0, 0.9), (14.0, 1.0), (21.0, 1.1), (28.0, 1.0)]);
        let contributions = s.contributions(Default::default());
        let among = |candidates: Vec<usize>, those: &[usize]| {
            let mut scores = vec![0.0; 256];
            those.iter().for_each(|k| scores[k - 1] = 10.0);
            let outliers = Outliers { scores, outliers: those.to_vec(), candidates, ..Outliers::default() };
            Candidates::of(&outliers, &contributions, &s, HarmonicRule::ByIndex)
                .with_fundamental(&outliers, &s)
        };
        // 7 is no candidate itself, but an outlier, and so are all its multiples.
        let found = among(vec![14, 21], &[7, 14, 21, 28]);
        assert_eq!((found.dominant, found.reason), (Some(7), Reason::Comb));
        assert_eq!((found.kept, found.harmonics), (vec![7], vec![14, 21]));
        // Without an outlier at 7, 21 is a frequency of its own.
        assert_eq!(among(vec![14, 21], &[14, 21, 28]).dominant, Some(21));
        // A candidate beside the comb breaks it.
        assert_eq!(among(vec![14, 17, 21], &[7, 14, 21, 28]).dominant, None);
    }

    #[test]
    fn two_periods_are_not_enough() {
        let s = spectrum(&[(2.0, 1.0)]);
        let candidates = candidates_of(&[2], &s);
        assert_eq!((candidates.dominant, candidates.reason), (None, Reason::TooFewPeriods));
        assert_eq!(candidates_of(&[3], &spectrum(&[(3.0, 1.0)])).dominant, Some(3));
    }

    #[test]
    fn the_published_rule_takes_any_multiple() {
        let s = spectrum(&[(8.0, 1.0)]);
        let (kept, harmonics) = HarmonicRule::AsPublished { sampling_frequency: 1.0 }.split(&[8, 24, 25], &s);
        assert_eq!((kept, harmonics), (vec![8, 25], vec![24]));
    }

    #[test]
    fn neighbours_are_one_frequency() {
        let s = spectrum(&[(10.0, 2.0), (11.0, 3.0), (37.0, 1.0)]);
        let contributions = s.contributions(Default::default());
        let merge =
            |candidates: &[usize]| candidates_of(candidates, &s).with_neighbours_merged(&contributions);
        let found = merge(&[10, 11, 37]);
        assert_eq!((found.kept, found.merged, found.dominant), (vec![11, 37], vec![10], Some(11)));
        assert_eq!(merge(&[10, 11]).reason, Reason::Single);
        // Two apart are two, and a long row is no single wave.
        assert_eq!(merge(&[10, 12]).kept, [10, 12]);
        assert_eq!(merge(&[9, 10, 11, 12]).reason, Reason::TooMany);
        let scores = (1..=30).map(|k| if k == 10 || k == 11 { 5.0 } else { 0.0 }).collect();
        let outliers = Outliers::new(scores, vec![10, 11], vec![10, 11]);
        assert!((merge(&[10, 11]).confidence(&outliers, 11) - 1.0).abs() < 1e-12);
    }
}
