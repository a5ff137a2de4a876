//! The exact bandwidth of the application: a step function with a step wherever a request begins or ends.
//!
//! A request of *b* bytes over *[s, e]* has the bandwidth *b / (e − s)*; the application's bandwidth at any
//! instant is the sum over the requests of all ranks that are under way (paper, II-A: "overlapping of the
//! requests"). The analysis itself uses [bins](crate::signal::bins), which need no sorting. This exact form
//! is for pictures, and for [sampling at isolated instants](StepFunction::sample_and_hold) the way the
//! published tool does it.

use sources::BandwidthPiece;

/// A stretch of constant bandwidth of one rank, in seconds and bytes per second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stretch {
    /// When it begins.
    pub start: f64,
    /// When it ends.
    pub end: f64,
    /// Bytes per second in between.
    pub bandwidth: f64,
}

impl From<&BandwidthPiece> for Stretch {
    fn from(phase: &BandwidthPiece) -> Self {
        Stretch { start: phase.start, end: phase.end, bandwidth: phase.bandwidth }
    }
}

/// A bandwidth that is constant between instants. `values[i]` holds from `times[i]` to `times[i + 1]`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StepFunction {
    /// Ascending; the same time may occur several times.
    pub times: Vec<f64>,
    /// One value per time.
    pub values: Vec<f64>,
}

impl StepFunction {
    /// Sweep over all starts and ends in the order of time, adding and subtracting bandwidths.
    ///
    /// Two points per stretch, duplicates kept; at equal times a start comes before an end, so that requests
    /// that touch overlap in one point (TMIO and FTIO do the same).
    pub fn overlap(stretches: &[Stretch]) -> Self {
        let mut starts: Vec<usize> = (0..stretches.len()).collect();
        let mut ends = starts.clone();
        starts.sort_by(|&a, &b| stretches[a].start.total_cmp(&stretches[b].start));
        ends.sort_by(|&a, &b| stretches[a].end.total_cmp(&stretches[b].end));
        let mut out = StepFunction {
            times: Vec::with_capacity(2 * stretches.len()),
            values: Vec::with_capacity(2 * stretches.len()),
        };
        let (mut starts, mut ends) = (starts.into_iter().peekable(), ends.into_iter().peekable());
        let mut bandwidth = 0.0;
        while let Some(&end) = ends.peek() {
            let time = match starts.next_if(|&start| stretches[start].start <= stretches[end].end) {
                Some(start) => {
                    bandwidth += stretches[start].bandwidth;
                    stretches[start].start
                }
                None => {
                    bandwidth -= stretches[end].bandwidth;
                    ends.next();
                    stretches[end].end
                }
            };
            out.times.push(time);
            out.values.push(bandwidth);
        }
        out
    }

    /// Only the points in `[from, to]`; nothing is added at the edges.
    pub fn window(mut self, from: Option<f64>, to: Option<f64>) -> Self {
        let inside = |time: f64| from.is_none_or(|from| time >= from) && to.is_none_or(|to| time <= to);
        let mut keep = self.times.iter().map(|&time| inside(time)).collect::<Vec<_>>().into_iter();
        self.values.retain(|_| keep.next().unwrap_or(false));
        self.times.retain(|&time| inside(time));
        self
    }

    /// The integral of the bandwidth: bytes.
    pub fn volume(&self) -> f64 {
        self.times.windows(2).zip(&self.values).map(|(pair, value)| value * (pair[1] - pair[0])).sum()
    }

    /// The value at ⌊Δt·f⌋ instants, one every 1/f seconds from the first point on (zero-order hold), and the
    /// *abstraction error*: the relative difference in volume.
    ///
    /// The instants are summed up rather than multiplied out, as the published tool does: rounding decides on
    /// which side of a step an instant falls.
    pub fn sample_and_hold(&self, frequency: f64) -> (Vec<f64>, f64) {
        let (Some(&first), Some(&last)) = (self.times.first(), self.times.last()) else {
            return (Vec::new(), 0.0);
        };
        let count = ((last - first) * frequency).floor().max(0.0) as usize;
        let step = 1.0 / frequency;
        let mut samples = Vec::with_capacity(count);
        let mut time = first;
        let mut i = 0;
        for _ in 0..count {
            while i + 1 < self.times.len() && !(time >= self.times[i] && time < self.times[i + 1]) {
                i += 1;
            }
            samples.push(self.values[i]);
            time += step;
        }
        let exact = self.volume();
        let sampled: f64 = samples.iter().map(|x| x.abs() / frequency).sum();
        let error = if exact > 0.0 { (sampled - exact).abs() / exact } else { 0.0 };
        (samples, error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use proptest::test_runner::RngSeed;

    fn stretch(start: f64, end: f64, bandwidth: f64) -> Stretch {
        Stretch { start, end, bandwidth }
    }

    /// Obvious: the sum of all stretches under way at an instant.
    fn slowly(stretches: &[Stretch], time: f64) -> f64 {
        stretches.iter().filter(|s| s.start <= time && time < s.end).map(|s| s.bandwidth).sum()
    }

    #[test]
    fn two_overlapping_requests() {
        let steps = StepFunction::overlap(&[stretch(0.0, 4.0, 2.0), stretch(1.0, 2.0, 5.0)]);
        assert_eq!(steps.times, [0.0, 1.0, 2.0, 4.0]);
        assert_eq!(steps.values, [2.0, 7.0, 2.0, 0.0]);
        assert_eq!(steps.volume(), 13.0);
    }

    #[test]
    fn a_start_comes_before_an_end_at_the_same_time() {
        let steps = StepFunction::overlap(&[stretch(0.0, 1.0, 2.0), stretch(1.0, 2.0, 3.0)]);
        assert_eq!(steps.values, [2.0, 5.0, 3.0, 0.0]);
    }

    #[test]
    fn holding_the_last_value() {
        let steps = StepFunction::overlap(&[stretch(0.0, 1.0, 4.0), stretch(3.0, 4.0, 4.0)]);
        let (samples, error) = steps.sample_and_hold(2.0);
        assert_eq!(samples, [4.0, 4.0, 0.0, 0.0, 0.0, 0.0, 4.0, 4.0]);
        assert_eq!(error, 0.0);
        assert_eq!(StepFunction::default().sample_and_hold(1.0), (Vec::new(), 0.0));
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            rng_seed: RngSeed::Fixed(1),
            failure_persistence: None,
            ..ProptestConfig::default()
        })]

        #[test]
        fn agrees_with_the_slow_way(list in prop::collection::vec((0u32..100, 1u32..30, 1u32..50), 1..30)) {
            let stretches: Vec<_> = list
                .iter()
                .map(|&(s, d, b)| stretch(f64::from(s), f64::from(s + d), f64::from(b)))
                .collect();
            let steps = StepFunction::overlap(&stretches);
            prop_assert_eq!(steps.times.len(), 2 * stretches.len());
            for (pair, value) in steps.times.windows(2).zip(&steps.values) {
                prop_assert!(pair[0] <= pair[1]);
                if pair[0] < pair[1] {
                    prop_assert_eq!(*value, slowly(&stretches, (pair[0] + pair[1]) / 2.0));
                }
            }
            let bytes: f64 = list.iter().map(|&(_, d, b)| f64::from(d * b)).sum();
            prop_assert!((steps.volume() - bytes).abs() < 1e-9 * bytes);
        }
    }
}
