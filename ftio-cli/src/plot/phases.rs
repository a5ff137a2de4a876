//! Where the I/O phases are, to be marked in a picture or a line of text.

use ftio_core::detect::Analysis;
use ftio_core::signal::Signal;

/// Pauses shorter than this share of a period are inside a phase.
const SHORT_PAUSE: f64 = 0.125;

/// More phases than this are not marked: they would be a wall.
pub(super) const MAX_PHASES: usize = 5000;

/// Start and end of each phase in seconds: those that were counted, or else what looks like one.
pub fn phases(analysis: &Analysis) -> Vec<[f64; 2]> {
    match &analysis.phases[..] {
        [] => apparent(&analysis.signal, analysis.detection.period),
        counted => counted.iter().map(|phase| [phase.start, phase.end]).collect(),
    }
}

/// Runs of samples above the mean bandwidth, joined across short pauses. Without a period, a pause is short if it is less than a
/// quarter of the longest.
fn apparent(signal: &Signal, period: Option<f64>) -> Vec<[f64; 2]> {
    let runs = runs(&signal.samples, signal.threshold());
    let longest = runs.windows(2).map(|pair| pair[1].0 - pair[0].1).max().unwrap_or(0);
    let short = match period {
        Some(period) => period / signal.step() * SHORT_PAUSE,
        None => longest as f64 / 4.0,
    };
    let mut joined: Vec<(usize, usize)> = Vec::new();
    for (start, end) in runs {
        match joined.last_mut() {
            Some(last) if ((start - last.1) as f64) < short => last.1 = end,
            _ => joined.push((start, end)),
        }
    }
    if joined.len() > MAX_PHASES {
        return Vec::new();
    }
    let time = |index: usize| signal.start_seconds() + index as f64 * signal.step();
    joined.into_iter().map(|(start, end)| [time(start), time(end)]).collect()
}

/// First index and index after the last of each run above the threshold.
fn runs(samples: &[f64], threshold: f64) -> Vec<(usize, usize)> {
    let mut runs = Vec::new();
    let mut start = None;
    for (i, &x) in samples.iter().chain([&f64::NEG_INFINITY]).enumerate() {
        match (start, x > threshold) {
            (None, true) => start = Some(i),
            (Some(first), false) => {
                runs.push((first, i));
                start = None;
            }
            _ => {}
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signal(samples: &[f64]) -> Signal {
        Signal { start: 0, bin: 1_000_000_000, samples: samples.to_vec(), abstraction_error: 0.0 }
    }

    #[test]
    fn short_pauses_are_inside_a_phase() {
        let mut samples = vec![0.0; 40];
        for i in [5, 6, 8, 9, 25, 26, 28, 29] {
            samples[i] = 1.0;
        }
        let signal = signal(&samples);
        assert_eq!(apparent(&signal, Some(20.0)), [[5.0, 10.0], [25.0, 30.0]]);
        assert_eq!(apparent(&signal, None), [[5.0, 10.0], [25.0, 30.0]]);
        assert_eq!(apparent(&signal, Some(4.0)).len(), 4, "against a short period they are pauses");
    }

    #[test]
    fn nothing_and_everything() {
        assert!(apparent(&signal(&[]), None).is_empty());
        assert!(apparent(&signal(&[3.0; 10]), None).is_empty(), "constant: nothing is above the mean");
    }
}
