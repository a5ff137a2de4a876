//! What each rank transferred when, and what nonblocking operations needed and got: a second pass over the input, whose
//! window is known by then, made only for pictures.

use crate::canvas::curve::Curve;
use crate::inputs;
use ftio_core::request::{Class, Mode};
use ftio_core::source::{OpenOptions, Source, Span};
use serde::{Serialize, Serializer};
use std::path::PathBuf;

/// Most rows of the map; with more ranks, neighbours share one.
const ROWS: usize = 128;
/// Columns of the map.
const COLUMNS: usize = 400;
/// Points of the curves of nonblocking operations.
const POINTS: usize = 2000;

/// What the second pass gives; nothing where the input does not tell ranks, or cannot be read twice.
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
    /// Read the input again. Whatever goes wrong was reported the first time; there is no timeline then.
    pub fn of(name: &str, reading: &OpenOptions, mode: Mode, window: [f64; 2]) -> Self {
        Self::read(name, reading, mode, window).unwrap_or_default()
    }

    fn read(name: &str, reading: &OpenOptions, mode: Mode, window: [f64; 2]) -> Option<Self> {
        let (mut rows, mut actual) = (Rows::new(window), Lane::new(window, POINTS));
        let mut several = false;
        source(name, reading)?
            .read(Span::Actual, &mut |requests| {
                for request in requests.iter().filter(|request| mode.selects(request.class)) {
                    if let Some(rank) = request.rank {
                        several = true;
                        rows.lane(rank).add(request.start, request.end, request.bytes);
                    }
                    if is_async(request.class) {
                        actual.add(request.start, request.end, request.bytes);
                    }
                }
            })
            .ok()?;
        let overlap = if actual.total > 0.0 { required(name, reading, mode, window) } else { None };
        let overlap = overlap.map(|required| Overlap { required, actual: actual.curve(window) });
        Some(Timeline { ranks: if several { rows.heatmap() } else { None }, overlap })
    }
}

fn required(name: &str, reading: &OpenOptions, mode: Mode, window: [f64; 2]) -> Option<Curve> {
    let mut lane = Lane::new(window, POINTS);
    source(name, reading)?
        .read(Span::Required, &mut |requests| {
            for request in requests.iter().filter(|r| is_async(r.class) && mode.selects(r.class)) {
                lane.add(request.start, request.end, request.bytes);
            }
        })
        .ok()?;
    Some(lane.curve(window))
}

/// The input of that name; stdin is read only once.
fn source(name: &str, reading: &OpenOptions) -> Option<Box<dyn Source>> {
    let path = PathBuf::from(name);
    if name == "-" {
        return None;
    }
    inputs::sources(&[path], false, reading)
        .flatten()
        .find(|opened| opened.name == name)
        .map(|opened| opened.source)
}

fn is_async(class: Class) -> bool {
    matches!(class, Class::WriteAsync | Class::ReadAsync)
}

/// A lane per rank, or per group of ranks if there are many.
struct Rows {
    window: [f64; 2],
    lanes: Vec<Lane>,
    ranks_per_row: usize,
    ranks: usize,
}

impl Rows {
    fn new(window: [f64; 2]) -> Self {
        Rows { window, lanes: Vec::new(), ranks_per_row: 1, ranks: 0 }
    }

    /// Where a rank belongs. Rows are joined as ranks with higher numbers turn up.
    fn lane(&mut self, rank: u32) -> &mut Lane {
        let rank = rank as usize;
        self.ranks = self.ranks.max(rank + 1);
        while rank / self.ranks_per_row >= ROWS {
            self.ranks_per_row *= 2;
            self.lanes = join(std::mem::take(&mut self.lanes));
        }
        let row = rank / self.ranks_per_row;
        if row >= self.lanes.len() {
            let window = self.window;
            self.lanes.resize_with(row + 1, || Lane::new(window, COLUMNS));
        }
        &mut self.lanes[row]
    }

    fn heatmap(&self) -> Option<Heatmap> {
        let step = self.lanes.first()?.width * 1e-9;
        let bytes = self.lanes.iter().flat_map(|lane| &lane.bins);
        let bandwidths: Vec<f64> = bytes.map(|bytes| bytes / step).collect();
        let highest = bandwidths.iter().copied().fold(0.0, f64::max);
        (highest > 0.0).then(|| Heatmap {
            rows: self.lanes.len(),
            columns: COLUMNS,
            ranks_per_row: self.ranks_per_row,
            ranks: self.ranks,
            highest,
            cells: bandwidths.iter().map(|bandwidth| bandwidth / highest).collect(),
        })
    }
}

fn join(lanes: Vec<Lane>) -> Vec<Lane> {
    let mut lanes = lanes.into_iter();
    let mut joined = Vec::new();
    while let Some(mut lane) = lanes.next() {
        if let Some(next) = lanes.next() {
            lane.bins.iter_mut().zip(&next.bins).for_each(|(a, b)| *a += b);
        }
        joined.push(lane);
    }
    joined
}

/// Bytes per column of a window.
#[derive(Debug)]
struct Lane {
    from: f64,
    /// Nanoseconds per column.
    width: f64,
    bins: Vec<f64>,
    total: f64,
}

impl Lane {
    fn new(window: [f64; 2], columns: usize) -> Self {
        let width = ((window[1] - window[0]) * 1e9 / columns as f64).max(1.0);
        Lane { from: window[0] * 1e9, width, bins: vec![0.0; columns], total: 0.0 }
    }

    /// Spread bytes evenly; what lies outside the window is left out.
    fn add(&mut self, start: i64, end: i64, bytes: u64) {
        let place = |time: i64| (time as f64 - self.from) / self.width;
        let (a, b) = (place(start), place(end.max(start)));
        let columns = self.bins.len() as f64;
        if b < 0.0 || a >= columns || bytes == 0 {
            return;
        }
        let bytes = bytes as f64;
        self.total += bytes;
        if a.floor() == b.floor() || b <= a {
            self.put(a.max(0.0), bytes);
            return;
        }
        let per_column = bytes / (b - a);
        let (mut x, last) = (a.max(0.0), b.min(columns));
        while x < last {
            let next = (x.floor() + 1.0).min(last);
            self.put(x, per_column * (next - x));
            x = next;
        }
    }

    fn put(&mut self, column: f64, bytes: f64) {
        let last = self.bins.len() - 1;
        self.bins[(column as usize).min(last)] += bytes;
    }

    fn curve(&self, window: [f64; 2]) -> Curve {
        let step = self.width * 1e-9;
        let mut curve = Curve {
            x: (0..=self.bins.len()).map(|i| window[0] + i as f64 * step).collect(),
            y: self.bins.iter().map(|bytes| bytes / step).collect(),
        };
        curve.y.push(curve.y.last().copied().unwrap_or(0.0));
        curve
    }
}

/// Two letters per cell, 12 bits: a tenth of the size of numbers.
fn as_text<S: Serializer>(cells: &[f64], serializer: S) -> Result<S::Ok, S::Error> {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let mut text = String::with_capacity(2 * cells.len());
    for cell in cells {
        // What is not nothing must not look like nothing.
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
    fn bytes_are_spread_over_the_columns() {
        let mut lane = Lane::new([0.0, 10e-9], 10);
        lane.add(2, 4, 100);
        lane.add(7, 7, 5);
        lane.add(-5, 5, 10);
        lane.add(8, 28, 20);
        lane.add(40, 50, 7);
        let expected = [1.0, 1.0, 51.0, 51.0, 1.0, 0.0, 0.0, 5.0, 1.0, 1.0];
        assert!(lane.bins.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-9), "{:?}", lane.bins);
    }

    #[test]
    fn neighbours_share_a_row() {
        let lane = |bytes| {
            let mut lane = Lane::new([0.0, 1.0], COLUMNS);
            lane.add(0, 1, bytes);
            lane
        };
        let joined = join(vec![lane(1), lane(2), lane(4)]);
        assert_eq!(joined.iter().map(|lane| lane.bins[0]).collect::<Vec<_>>(), [3.0, 4.0]);
    }

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
