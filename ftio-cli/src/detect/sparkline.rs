//! A bandwidth as one line of text.

const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// `width` characters, each as high as the mean of its share of the samples; a blank where there was nothing
/// at all.
pub fn sparkline(samples: &[f64], width: usize) -> String {
    let columns = columns(samples, width);
    let highest = columns.iter().copied().fold(0.0, f64::max);
    let block = |&value: &f64| match value / highest * BLOCKS.len() as f64 {
        level if level > 0.0 => BLOCKS[(level.ceil() as usize - 1).min(BLOCKS.len() - 1)],
        _ => ' ',
    };
    columns.iter().map(block).collect()
}

/// A line to go below a sparkline of as many columns: marks where there are phases.
pub fn marks(phases: &[[f64; 2]], window: [f64; 2], columns: usize) -> String {
    let step = (window[1] - window[0]) / columns.max(1) as f64;
    let marked = |column: usize| {
        let (from, to) = (window[0] + column as f64 * step, window[0] + (column + 1) as f64 * step);
        // A column belongs to a phase if its middle does, or the whole phase lies in it.
        let middle = (from + to) / 2.0;
        phases
            .iter()
            .any(|[start, end]| (*start <= middle && middle < *end) || (*start >= from && *end <= to))
    };
    (0..columns).map(|column| if marked(column) { '‾' } else { ' ' }).collect()
}

/// The mean of the samples in each column; fewer columns if there are fewer samples.
fn columns(samples: &[f64], width: usize) -> Vec<f64> {
    let width = width.min(samples.len());
    let edge = |column: usize| column * samples.len() / width.max(1);
    (0..width)
        .map(|column| {
            let share = &samples[edge(column)..edge(column + 1)];
            share.iter().sum::<f64>() / share.len().max(1) as f64
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heights_and_blanks() {
        assert_eq!(sparkline(&[0.0, 1.0, 4.0, 8.0], 10), " ▁▄█");
        assert_eq!(sparkline(&[0.0, 0.0, 8.0, 8.0, 2.0, 2.0], 3), " █▂");
        assert_eq!(sparkline(&[0.0; 4], 4), "    ");
        assert_eq!(sparkline(&[], 4), "");
    }

    #[test]
    fn phases_are_marked() {
        assert_eq!(marks(&[[1.0, 3.0], [6.1, 6.2]], [0.0, 8.0], 8), " ‾‾   ‾ ");
        assert_eq!(marks(&[], [0.0, 1.0], 3), "   ");
    }
}
