//! A chain, run many times.

use super::Chain;
use schemars::JsonSchema;
use seeded_random::Random;
use serde::Serialize;

/// The length of the queue over time, over many runs.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct Course {
    /// Seconds.
    pub time: Vec<f64>,
    /// The mean length at each.
    pub mean: Vec<f64>,
    /// What 2.5 % of the runs are below.
    pub low: Vec<f64>,
    /// What 2.5 % of the runs are above.
    pub high: Vec<f64>,
    /// The mean length over all runs and their whole time.
    pub overall: f64,
}

/// Run a chain from length `start` for so many seconds, and look at it at `points` moments.
pub fn simulate(chain: &Chain, start: usize, seconds: f64, points: usize, runs: usize, seed: u64) -> Course {
    let points = points.max(2);
    let time: Vec<f64> = (0..points).map(|i| seconds * i as f64 / (points - 1) as f64).collect();
    let mut seen = vec![Vec::with_capacity(runs); points];
    let mut random = Random::new(seed);
    let mut sum = 0.0;
    for _ in 0..runs {
        let (mut now, mut length, mut next) = (0.0, start.min(chain.most()), 0);
        while next < points {
            let up = chain.up.get(length).copied().unwrap_or(0.0);
            let down = if length > 0 { chain.down[length - 1] } else { 0.0 };
            // The time to the next event is exponential with the sum of the rates.
            let wait = -(1.0 - random.unit()).ln() / (up + down);
            let then = if wait.is_finite() { now + wait } else { f64::INFINITY };
            sum += length as f64 * (then.min(seconds) - now).max(0.0);
            while next < points && time[next] <= then {
                seen[next].push(length as f64);
                next += 1;
            }
            now = then;
            length = if random.unit() * (up + down) < up { length + 1 } else { length.saturating_sub(1) };
        }
    }
    seen.iter_mut().for_each(|values| values.sort_by(f64::total_cmp));
    let part = |values: &[f64], share: f64| values[((values.len() - 1) as f64 * share).round() as usize];
    let mean = seen.iter().map(|values| values.iter().sum::<f64>() / runs.max(1) as f64).collect();
    let low = seen.iter().map(|values| part(values, 0.025)).collect();
    let high = seen.iter().map(|values| part(values, 0.975)).collect();
    Course { time, mean, low, high, overall: sum / (seconds * runs.max(1) as f64) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The simulated queue is that of the closed form to 1 %.
    #[test]
    fn a_queue_with_room_for_k_to_a_percent() {
        for (arrival, service, room) in [(0.5, 1.0, 5), (0.8, 1.0, 10), (1.5, 1.0, 6)] {
            let chain = Chain::with_room_for(room, arrival, service);
            let course = simulate(&chain, 0, 20_000.0, 3, 40, 7);
            let truth = chain.mean();
            assert!((course.overall / truth - 1.0).abs() < 0.01, "{} {truth}", course.overall);
        }
    }

    #[test]
    fn a_band_holds_the_runs() {
        let chain = Chain::with_room_for(10, 0.8, 1.0);
        let course = simulate(&chain, 10, 50.0, 11, 400, 1);
        assert_eq!((course.mean[0], course.low[0], course.high[0]), (10.0, 10.0, 10.0));
        let inside = (0..11).all(|i| course.low[i] <= course.mean[i] && course.mean[i] <= course.high[i]);
        assert!(inside && course.mean[10] < 8.0);
        assert_eq!(course, simulate(&chain, 10, 50.0, 11, 400, 1));
    }
}
