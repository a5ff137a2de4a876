//! What each rank transferred when, and what nonblocking requests needed and got: kept for pictures while the
//! requests go past, in memory that does not grow with them.

use crate::signal::bins::{BinWidth, VolumeBins};
use sources::darshan::DarshanLog;
use sources::request::{Class, Detail};
use sources::time::nanoseconds;

/// Most rows; with more ranks, neighbours share one.
const ROWS: usize = 128;
/// Bins of a row: a few for each column of a picture.
const ROW_BINS: usize = 2048;
/// Bins of the curves of nonblocking requests.
const CURVE_BINS: usize = 8192;

/// Bytes over time by rank, and of nonblocking requests.
#[derive(Clone, Debug)]
pub struct Lanes {
    window: (Option<i64>, Option<i64>),
    rows: Vec<VolumeBins>,
    ranks_per_row: usize,
    ranks: usize,
    required: VolumeBins,
    actual: VolumeBins,
}

/// Bytes per column over a window, of nonblocking requests.
#[derive(Clone, Debug, PartialEq)]
pub struct Nonblocking {
    /// Spread from issue to deadline: what would have hidden the I/O.
    pub required: Vec<f64>,
    /// Spread from issue to completion: what it got.
    pub actual: Vec<f64>,
}

impl Lanes {
    /// Of a window in nanoseconds of job time.
    pub fn new(window: (Option<i64>, Option<i64>)) -> Self {
        Lanes {
            window,
            rows: Vec::new(),
            ranks_per_row: 1,
            ranks: 0,
            required: bins(window, CURVE_BINS),
            actual: bins(window, CURVE_BINS),
        }
    }

    /// What each rank did when, from the heatmap of the layer that is read: its records are of ranks. `None`
    /// if there is none.
    pub fn of_heatmap(log: &DarshanLog) -> Option<Self> {
        let mut lanes = Lanes::new((None, None));
        log.heat_of_ranks(&mut |request| lanes.add(&Detail::new(request)));
        (lanes.ranks > 0).then_some(lanes)
    }

    /// Take in a request.
    pub fn add(&mut self, detail: &Detail) {
        let request = &detail.request;
        let end = detail.completion.map_or(request.end, |completion| completion.done);
        if let Some(rank) = request.rank {
            self.row(rank).add(request.start, end, request.bytes);
        }
        if matches!(request.class, Class::WriteAsync | Class::ReadAsync) {
            self.actual.add(request.start, end, request.bytes);
            if let Some(completion) = detail.completion {
                self.required.add(request.start, completion.deadline.max(request.start), request.bytes);
            }
        }
    }

    /// Where a rank belongs. Rows are joined as ranks with higher numbers turn up.
    fn row(&mut self, rank: u32) -> &mut VolumeBins {
        let rank = rank as usize;
        self.ranks = self.ranks.max(rank + 1);
        while rank / self.ranks_per_row >= ROWS {
            self.ranks_per_row *= 2;
            self.rows = join(std::mem::take(&mut self.rows));
        }
        let row = rank / self.ranks_per_row;
        if row >= self.rows.len() {
            let window = self.window;
            self.rows.resize_with(row + 1, || bins(window, ROW_BINS));
        }
        &mut self.rows[row]
    }

    /// The number of ranks, by the highest that was seen; 0 if the input does not tell ranks.
    pub fn ranks(&self) -> usize {
        self.ranks
    }

    /// Ranks in each row, but perhaps the last.
    pub fn ranks_per_row(&self) -> usize {
        self.ranks_per_row
    }

    /// Bytes per column of a window in seconds, row by row.
    pub fn rows(&self, window: [f64; 2], columns: usize) -> Vec<Vec<f64>> {
        self.rows.iter().map(|row| columns_of(row, window, columns)).collect()
    }

    /// The same of nonblocking requests, if there were any whose deadline is known.
    pub fn nonblocking(&self, window: [f64; 2], columns: usize) -> Option<Nonblocking> {
        (self.required.total_bytes() > 0).then(|| Nonblocking {
            required: columns_of(&self.required, window, columns),
            actual: columns_of(&self.actual, window, columns),
        })
    }
}

fn bins(window: (Option<i64>, Option<i64>), most: usize) -> VolumeBins {
    VolumeBins::new(window.0.unwrap_or(0), BinWidth::Finest, most).with_window(window.0, window.1)
}

/// Neighbours become one row.
fn join(rows: Vec<VolumeBins>) -> Vec<VolumeBins> {
    let mut rows = rows.into_iter();
    let mut joined = Vec::new();
    while let Some(mut row) = rows.next() {
        if let Some(next) = rows.next()
            && let Some((from, to)) = next.extent()
        {
            let (start, volumes, _) = next.volumes(from, to);
            for (volume, i) in volumes.into_iter().zip(0i64..).filter(|(volume, _)| *volume > 0.0) {
                let at = start + i * next.width();
                row.add(at.max(from), (at + next.width()).min(to), volume.round() as u64);
            }
        }
        joined.push(row);
    }
    joined
}

/// Bytes per column: each bin is spread evenly over the columns that it covers.
fn columns_of(bins: &VolumeBins, window: [f64; 2], columns: usize) -> Vec<f64> {
    let mut out = vec![0.0; columns];
    let Some((first, last)) = bins.extent() else { return out };
    let from = nanoseconds(window[0]) as f64;
    let width = ((nanoseconds(window[1]) as f64 - from) / columns as f64).max(1.0);
    let (start, volumes, _) = bins.volumes(first, last);
    for (volume, i) in volumes.into_iter().zip(0i64..).filter(|(volume, _)| *volume > 0.0) {
        let at = start + i * bins.width();
        // The first and the last bin may begin before, and end after, everything in them.
        let (a, b) = (at.max(first), (at + bins.width()).min(last).max(at.max(first) + 1));
        let place = |time: i64| ((time as f64 - from) / width).clamp(0.0, columns as f64);
        let (a, b) = (place(a), place(b));
        if b <= a {
            continue;
        }
        let mut x = a;
        while x < b {
            let next = (x.floor() + 1.0).min(b);
            out[(x as usize).min(columns - 1)] += volume * (next - x) / (b - a);
            x = next;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use sources::request::{Completion, Request};

    fn of_rank(rank: u32, start: i64, end: i64, bytes: u64) -> Detail {
        let request = Request { rank: Some(rank), ..Request::new(start, end, bytes, Class::WriteSync) };
        Detail::new(request)
    }

    #[test]
    fn bytes_are_spread_over_the_columns() {
        let mut lanes = Lanes::new((None, None));
        lanes.add(&of_rank(0, 20, 40, 100));
        lanes.add(&of_rank(0, 80, 100, 20));
        assert_eq!(lanes.rows([0.0, 100e-9], 10), [[0.0, 0.0, 50.0, 50.0, 0.0, 0.0, 0.0, 0.0, 10.0, 10.0]]);
    }

    #[test]
    fn neighbours_share_a_row_when_there_are_many_ranks() {
        let mut lanes = Lanes::new((None, None));
        (0..200).for_each(|rank| lanes.add(&of_rank(rank, 0, 10, 10)));
        let rows = lanes.rows([0.0, 10e-9], 1);
        assert_eq!((rows.len(), lanes.ranks(), lanes.ranks_per_row()), (100, 200, 2));
        assert!(rows.iter().all(|row| (row[0] - 20.0).abs() < 1e-6), "{rows:?}");
    }

    #[test]
    fn nonblocking_requests_have_two_ends() {
        let mut lanes = Lanes::new((None, None));
        let request = Request::new(0, 40, 40, Class::WriteAsync);
        let completion = Some(Completion { done: 40, deadline: 20 });
        lanes.add(&Detail { completion, ..Detail::new(request) });
        let found = lanes.nonblocking([0.0, 40e-9], 4).unwrap();
        assert_eq!((found.required, found.actual), (vec![20.0, 20.0, 0.0, 0.0], vec![10.0; 4]));
        assert_eq!(Lanes::new((None, None)).nonblocking([0.0, 1.0], 4), None);
    }
}
