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

/// A line to go below a sparkline of as many columns: a mark for each phase, as many as there are phases if
/// there is room for a blank between them.
pub fn marks(phases: &[[f64; 2]], window: [f64; 2], samples: &[f64], width: usize) -> String {
    let heights = self::columns(samples, width);
    let columns = heights.len();
    let mut marked = vec![false; columns];
    let step = (window[1] - window[0]) / columns.max(1) as f64;
    let column = |time: f64| ((time - window[0]) / step).clamp(0.0, columns as f64 - 1.0);
    let mut runs: Vec<(usize, usize)> = Vec::with_capacity(phases.len());
    for [start, end] in phases.iter().filter(|_| columns > 0) {
        // The columns of which it covers at least half; of a short phase the highest that it touches.
        let (from, to) = (column(*start), column(*end));
        let (mut first, last) = ((from + 0.5).floor() as usize, (to + 0.5).floor() as usize);
        let touched = from as usize..=to as usize;
        let middle = touched.rev().max_by(|a, b| heights[*a].total_cmp(&heights[*b])).unwrap_or(0);
        let mut last = last.checked_sub(1).filter(|last| *last >= first).unwrap_or_else(|| {
            first = middle;
            middle
        });
        // A blank between two phases, taken from whichever is longer.
        if let Some(before) = runs.last_mut() {
            if first <= before.1 + 1 && last > before.1 + 1 {
                first = before.1 + 2;
            } else if first <= before.1 + 1 && before.1 > before.0 {
                before.1 = first.saturating_sub(2).max(before.0);
            }
            first = first.max(before.1 + 1).min(columns - 1);
            last = last.max(first);
        }
        runs.push((first, last));
    }
    for (first, last) in runs {
        marked[first..=last].fill(true);
    }
    marked.into_iter().map(|marked| if marked { '‾' } else { ' ' }).collect()
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
        assert_eq!(marks(&[[1.0, 3.0], [6.1, 6.2]], [0.0, 8.0], &[1.0; 8], 8), " ‾‾   ‾ ");
        assert_eq!(marks(&[], [0.0, 1.0], &[1.0; 3], 3), "   ");
        assert_eq!(marks(&[[0.0, 1.0]], [0.0, 1.0], &[], 0), "");
    }

    #[test]
    fn a_short_phase_is_marked_where_it_is_seen() {
        // Its middle is in the third column, nearly all of its volume in the fourth.
        let samples = [0.0, 0.0, 0.1, 9.0, 0.0];
        assert_eq!(marks(&[[2.7, 3.2]], [0.0, 5.0], &samples, 5), "   ‾ ");
    }

    #[test]
    fn every_phase_has_its_mark() {
        // Short phases that lie on the borders of columns, and long ones that nearly touch.
        for (length, distance) in [(0.9, 5.3), (0.4, 2.0), (4.9, 5.0), (2.5, 2.6), (0.01, 3.7)] {
            for shift in 0..20 {
                let count = (60.0 / f64::max(distance, 2.0)) as usize;
                let phases: Vec<[f64; 2]> = (0..count)
                    .map(|i| f64::from(shift) * 0.13 + i as f64 * distance)
                    .map(|start| [start, start + length])
                    .collect();
                let line = marks(&phases, [0.0, 64.0], &[1.0; 64], 64);
                let runs = line.split(' ').filter(|run| !run.is_empty()).count();
                assert_eq!(runs, phases.len(), "{length} every {distance}, from {shift}: {line}");
                assert_eq!(line.chars().count(), 64);
            }
        }
    }
}
