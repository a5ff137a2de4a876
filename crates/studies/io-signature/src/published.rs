//! The method as published (paper, 5.1 to 5.4), with [settings](crate::settings) in the places of its
//! constants.

use crate::bursts::waves;
use crate::grid::{Grid, Point, common, points};
use crate::resample::{background, shrink, subtract};
use crate::settings::Settings;
use crate::statistics::mean;

/// A common burst of the samples, in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Common {
    /// The mean of its starts.
    pub start: f64,
    /// The mean of its times.
    pub time: f64,
    /// The mean of its ends.
    pub end: f64,
    /// How many samples have it.
    pub votes: usize,
}

/// A signature as published.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Published {
    /// Bytes per second, one value a second.
    pub series: Vec<f64>,
    /// The common bursts in the order of time.
    pub bursts: Vec<Common>,
    /// The grid that was chosen.
    pub grid: Grid,
    /// The level that was taken off all samples.
    pub background: f64,
}

/// The signature of samples at one value a second. Without preprocessing, as in the paper's comparison,
/// they are neither shrunk nor is a background taken off.
pub fn published(samples: &[Vec<f64>], preprocessing: bool, settings: &Settings) -> Published {
    let length = samples.iter().map(Vec::len).min().unwrap_or(0);
    let cut =
        |sample: &Vec<f64>| if preprocessing { shrink(sample, length) } else { sample[..length].to_vec() };
    let mut samples: Vec<Vec<f64>> = samples.iter().map(cut).collect();
    let level = if preprocessing { background(&samples) } else { 0.0 };
    subtract(&mut samples, level);
    let waves: Vec<_> = samples.iter().map(|sample| waves(sample, settings)).collect();
    let points = points(&samples, &waves);
    let (bursts, grid) = common(&points, samples.len(), settings);
    let mut series = vec![0.0; length];
    let found = bursts
        .iter()
        .map(|members| {
            let members: Vec<&Point> = members.iter().map(|&point| &points[point]).collect();
            let average = |of: &dyn Fn(&Point) -> usize| {
                mean(&members.iter().map(|point| of(point) as f64).collect::<Vec<_>>())
            };
            let time = average(&|point| point.wave.time);
            draw(&mut series, &members, time.round() as usize);
            let (start, end) = (average(&|point| point.wave.start), average(&|point| point.wave.end));
            Common { start, time, end, votes: members.len() }
        })
        .collect();
    Published { series, bursts: found, grid, background: level }
}

/// The mean of the windows of a burst at its time; where bursts overlap, the larger value.
fn draw(series: &mut [f64], members: &[&Point], time: usize) {
    let half = members.first().map_or(0, |point| point.window.len() / 2);
    for offset in 0..=2 * half {
        let Some(value) = (time + offset).checked_sub(half).and_then(|second| series.get_mut(second)) else {
            continue;
        };
        let average = members.iter().map(|point| point.window[offset]).sum::<f64>() / members.len() as f64;
        *value = value.max(average);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_bursts_become_the_signature() {
        let samples: Vec<Vec<f64>> = (0..6usize)
            .map(|i| {
                let mut values = vec![0.1; 400 + i];
                values[100 + i..112 + i].fill(2.1);
                values[300..312].fill(2.1);
                values[150 + 20 * i..160 + 20 * i].iter_mut().for_each(|value| *value += 0.8);
                values
            })
            .collect();
        let found = published(&samples, true, &Settings::published());
        assert_eq!(found.bursts.len(), 2, "{:?}", found.bursts);
        assert_eq!(found.series.len(), 400);
        let highest = |from: usize, to: usize| found.series[from..to].iter().copied().fold(0.0, f64::max);
        assert!(highest(95, 125) > 0.8 && highest(295, 320) > 0.8 && highest(180, 220) < 0.3);
        assert!(found.bursts.iter().all(|burst| burst.votes == 6));
        assert!(published(&[], true, &Settings::published()).series.is_empty());
    }
}
