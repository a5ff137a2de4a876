//! Starts of several jobs that keep their sum below a capacity (paper, 6.4).

use schemars::JsonSchema;
use serde::Serialize;

/// Starts, and what they are good for.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct Staggered {
    /// Seconds after which each job starts, in the order they were given.
    pub starts: Vec<f64>,
    /// Bytes above the capacity if all start at once.
    pub excess_at_once: f64,
    /// Bytes above the capacity with these starts.
    pub excess: f64,
    /// The largest sum if all start at once, in bytes per second.
    pub peak_at_once: f64,
    /// The largest sum with these starts.
    pub peak: f64,
    /// Seconds by which bytes are late if all start at once, less those with these starts.
    pub gain: f64,
}

/// How often all jobs are tried at other starts once each has one.
const ROUNDS: usize = 3;

/// Starts within `wait` seconds that leave least bytes above the capacity: the largest job starts at once,
/// each next one where it adds least; then each is tried again while the others stay.
pub fn stagger(signatures: &[Vec<f64>], capacity: f64, wait: f64) -> Staggered {
    let longest = signatures.iter().map(Vec::len).max().unwrap_or(0);
    let wait = wait.max(0.0) as usize;
    let mut sum = vec![0.0; longest + wait];
    let at_once = signatures.iter().fold(vec![0.0; longest + wait], |mut sum, signature| {
        add(&mut sum, signature, 0, 1.0);
        sum
    });
    let bytes = |signature: &Vec<f64>| signature.iter().sum::<f64>();
    let mut order: Vec<usize> = (0..signatures.len()).collect();
    order.sort_by(|&a, &b| bytes(&signatures[b]).total_cmp(&bytes(&signatures[a])));
    let mut starts = vec![0; signatures.len()];
    for (place, &job) in order.iter().enumerate() {
        starts[job] = if place == 0 { 0 } else { best(&sum, &signatures[job], capacity, wait) };
        add(&mut sum, &signatures[job], starts[job], 1.0);
    }
    for _ in 0..ROUNDS {
        let before = starts.clone();
        for &job in order.iter().skip(1) {
            add(&mut sum, &signatures[job], starts[job], -1.0);
            starts[job] = best(&sum, &signatures[job], capacity, wait);
            add(&mut sum, &signatures[job], starts[job], 1.0);
        }
        if starts == before {
            break;
        }
    }
    let excess = |sum: &[f64]| sum.iter().map(|value| (value - capacity).max(0.0)).sum::<f64>();
    let peak = |sum: &[f64]| sum.iter().copied().fold(0.0, f64::max);
    let (now, then) = (excess(&at_once), excess(&sum));
    Staggered {
        starts: starts.into_iter().map(|start| start as f64).collect(),
        excess_at_once: now,
        excess: then,
        peak_at_once: peak(&at_once),
        peak: peak(&sum),
        gain: if capacity > 0.0 { (now - then) / capacity } else { 0.0 },
    }
}

fn add(sum: &mut [f64], signature: &[f64], start: usize, sign: f64) {
    sum[start..].iter_mut().zip(signature).for_each(|(sum, value)| *sum += sign * value);
}

/// The earliest of the starts that add least above the capacity.
fn best(sum: &[f64], signature: &[f64], capacity: f64, wait: usize) -> usize {
    let step = (wait / 1200).max(1);
    let added = |start: usize| {
        let excess = |(sum, own): (&f64, &f64)| (sum + own - capacity).max(0.0) - (sum - capacity).max(0.0);
        sum[start..].iter().zip(signature).map(excess).sum::<f64>()
    };
    let mut best = (0, added(0));
    for start in (step..=wait).step_by(step) {
        let one = added(start);
        if one < best.1 - 1e-9 * best.1.abs().max(1.0) {
            best = (start, one);
        }
    }
    best.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bursts() -> Vec<f64> {
        (0..600).map(|second| if second % 60 < 10 { 1.0 } else { 0.0 }).collect()
    }

    #[test]
    fn bursts_are_put_between_bursts() {
        let jobs = vec![bursts(); 5];
        let found = stagger(&jobs, 1.0, 60.0);
        assert_eq!(found.peak_at_once, 5.0);
        assert!(found.excess < 1e-9 && found.peak < 1.0 + 1e-9, "{found:?}");
        assert!((found.gain - 400.0).abs() < 1e-6);
        assert!(found.starts.contains(&0.0) && found.starts.iter().all(|start| *start <= 60.0));
    }

    #[test]
    fn room_enough_means_at_once() {
        let found = stagger(&[bursts(), bursts()], 2.0, 60.0);
        assert_eq!(found.starts, [0.0, 0.0]);
        assert_eq!(found.gain, 0.0);
        assert!(stagger(&[], 1.0, 10.0).starts.is_empty());
    }
}
