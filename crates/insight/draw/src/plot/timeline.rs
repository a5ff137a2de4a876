//! What each rank transferred when, and what nonblocking operations needed and got, as a picture shows it.

use crate::canvas::curve::Curve;
use ftio_core::signal::lanes::Lanes;
use serde::{Serialize, Serializer};

/// Columns of the map.
const COLUMNS: usize = 400;
/// Points of the curves of nonblocking operations.
const POINTS: usize = 2000;

/// What was kept for pictures; no map where the input does not tell ranks.
#[derive(Debug, Default)]
pub struct Timeline {
    pub ranks: Option<Heatmap>,
    pub overlap: Option<Overlap>,
}

/// Bytes by rank and time, over the window of the picture.
#[derive(Debug, Serialize)]
pub struct Heatmap {
    pub rows: usize,
    pub columns: usize,
    /// Ranks in each row, but perhaps the last.
    pub ranks_per_row: usize,
    pub ranks: usize,
    /// The highest bandwidth of a cell, in bytes per second.
    pub highest: f64,
    /// Bandwidth of each cell as a share of the highest, row by row.
    #[serde(serialize_with = "as_text")]
    pub cells: Vec<f64>,
}

/// Bandwidth of nonblocking operations.
#[derive(Debug, Serialize)]
pub struct Overlap {
    /// What would have hidden the I/O: each operation's bytes spread from its issue to its deadline.
    pub required: Curve,
    /// What it got: spread from its issue to its completion.
    pub actual: Curve,
}

impl Timeline {
    /// From what was kept while the input was read.
    pub fn of(lanes: Option<&Lanes>, window: [f64; 2]) -> Self {
        let Some(lanes) = lanes else { return Self::default() };
        let overlap = lanes.nonblocking(window, POINTS).map(|lanes| Overlap {
            required: curve(&lanes.required, window),
            actual: curve(&lanes.actual, window),
        });
        Timeline { ranks: heatmap(lanes, window), overlap }
    }
}

fn heatmap(lanes: &Lanes, window: [f64; 2]) -> Option<Heatmap> {
    let rows = lanes.rows(window, COLUMNS);
    let step = (window[1] - window[0]) / COLUMNS as f64;
    let bandwidths: Vec<f64> = rows.iter().flatten().map(|bytes| bytes / step).collect();
    let highest = bandwidths.iter().copied().fold(0.0, f64::max);
    (highest > 0.0).then(|| Heatmap {
        rows: rows.len(),
        columns: COLUMNS,
        ranks_per_row: lanes.ranks_per_row(),
        ranks: lanes.ranks(),
        highest,
        cells: bandwidths.iter().map(|bandwidth| bandwidth / highest).collect(),
    })
}

fn curve(bytes: &[f64], window: [f64; 2]) -> Curve {
    let step = (window[1] - window[0]) / bytes.len() as f64;
    let mut curve = Curve {
        x: (0..=bytes.len()).map(|i| window[0] + i as f64 * step).collect(),
        y: bytes.iter().map(|bytes| bytes / step).collect(),
    };
    curve.y.push(curve.y.last().copied().unwrap_or(0.0));
    curve
}

/// Two letters per cell, 12 bits: a tenth of the size of numbers.
fn as_text<S: Serializer>(cells: &[f64], serializer: S) -> Result<S::Ok, S::Error> {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let mut text = String::with_capacity(2 * cells.len());
    for cell in cells {
        // Keep small values visible.
        let level = if *cell > 0.0 { ((cell * 4095.0).round() as usize).clamp(1, 4095) } else { 0 };
        text.push(char::from(LETTERS[level >> 6]));
        text.push(char::from(LETTERS[level & 63]));
    }
    serializer.serialize_str(&text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_two_letters() {
        let map = Heatmap {
            rows: 1,
            columns: 3,
            ranks_per_row: 1,
            ranks: 1,
            highest: 1.0,
            cells: vec![0.0, 1e-9, 1.0],
        };
        assert!(serde_json::to_string(&map).unwrap().contains("\"cells\":\"AAAB__\""));
    }
}
