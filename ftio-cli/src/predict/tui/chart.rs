//! A bandwidth over time in several rows of characters, with what is expected to come.

use ftio_core::signal::Signal;

const BLOCKS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// What a chart shows.
#[derive(Clone, Copy, Debug)]
pub struct Chart<'a> {
    pub signal: &'a Signal,
    /// From and to, in seconds of job time.
    pub range: [f64; 2],
    /// The phase expected next: start, end and bandwidth.
    pub expected: Option<[f64; 3]>,
    pub now: f64,
}

impl Chart<'_> {
    /// The highest mean of a column, in bytes per second.
    pub fn highest(&self, columns: usize) -> f64 {
        let expected = self.expected.map_or(0.0, |[_, _, bandwidth]| bandwidth);
        (0..columns).map(|column| self.column(column, columns).0).fold(expected, f64::max)
    }

    /// Rows from the top, each as wide as there are columns.
    pub fn rows(&self, columns: usize, rows: usize) -> Vec<String> {
        let highest = self.highest(columns);
        let heights: Vec<(f64, bool)> = (0..columns).map(|column| self.column(column, columns)).collect();
        let now = self.position(self.now, columns);
        let cell = |column: usize, row: usize| {
            let (height, is_expected) = heights[column];
            let level = if highest > 0.0 { height / highest * rows as f64 - row as f64 } else { 0.0 };
            match (level.clamp(0.0, 1.0) * 8.0).ceil() as usize {
                0 if Some(column) == now => '┊',
                0 => ' ',
                _ if is_expected => '░',
                eighths => BLOCKS[eighths],
            }
        };
        (0..rows).rev().map(|row| (0..columns).map(|column| cell(column, row)).collect()).collect()
    }

    /// The mean bandwidth of a column, and whether that is only expected.
    fn column(&self, column: usize, columns: usize) -> (f64, bool) {
        let width = (self.range[1] - self.range[0]) / columns as f64;
        let from = self.range[0] + column as f64 * width;
        let known = self.signal.end_seconds();
        if from >= known {
            let overlaps = |[start, end, _]: &[f64; 3]| from < *end && from + width > *start;
            return self
                .expected
                .filter(overlaps)
                .map_or((0.0, false), |[_, _, bandwidth]| (bandwidth, true));
        }
        let bin = |time: f64| ((time - self.signal.start_seconds()) / self.signal.step()).max(0.0);
        let (first, last) = (bin(from).floor() as usize, bin(from + width).ceil() as usize);
        let samples = self.signal.samples.get(first..last.min(self.signal.samples.len())).unwrap_or_default();
        (samples.iter().sum::<f64>() / samples.len().max(1) as f64, false)
    }

    /// The column of a time, if it is in the chart.
    fn position(&self, time: f64, columns: usize) -> Option<usize> {
        let share = (time - self.range[0]) / (self.range[1] - self.range[0]);
        (0.0..1.0).contains(&share).then_some((share * columns as f64) as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bursts_the_moment_and_what_is_expected() {
        let samples = vec![0.0, 8.0, 0.0, 0.0, 4.0, 0.0];
        let signal = Signal { start: 0, bin: 1_000_000_000, samples, abstraction_error: 0.0 };
        let chart = Chart { signal: &signal, range: [0.0, 9.0], expected: Some([7.1, 7.8, 6.0]), now: 6.5 };
        assert_eq!(chart.rows(9, 2), [" █    ┊░ ", " █  █ ┊░ "]);
        assert_eq!(chart.highest(9), 8.0);
        let nothing = Signal { samples: Vec::new(), ..signal.clone() };
        let empty = Chart { signal: &nothing, range: [0.0, 1.0], expected: None, now: 5.0 };
        assert_eq!(empty.rows(3, 1), ["   "]);
    }
}
