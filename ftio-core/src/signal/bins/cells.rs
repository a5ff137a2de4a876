//! The memory of the bins: cells, which are merged where they are.

use super::{VolumeBins, add, over};
use std::mem::take;
use std::ops::Range;

impl VolumeBins {
    /// The cells of the bins in use. All others are 0.
    pub(super) fn cells(&self) -> Range<usize> {
        let cell = |bin: i64| (bin - self.base) as usize;
        self.touched.map_or(0..0, |(lo, hi)| cell(lo)..cell(hi) + 1)
    }

    /// Calls `each` with every bin in use that holds something, in order, and with what it holds.
    pub(super) fn for_each_filled(&self, mut each: impl FnMut(i64, i128)) {
        let used = self.cells();
        let next = |cells: &[i128], from: usize| first_filled(cells, from..used.end).unwrap_or(used.end);
        let (mut cell, mut direct, mut slope) = (used.start, 0, 0);
        let mut rate = 0i128;
        loop {
            if rate == 0 {
                // Nothing until the next cell that is not empty.
                direct = if direct < cell || cell == used.start { next(&self.direct, cell) } else { direct };
                slope = if slope < cell || cell == used.start { next(&self.slope, cell) } else { slope };
                cell = direct.min(slope);
            }
            if cell >= used.end {
                return;
            }
            add(&mut rate, self.slope[cell]);
            let here = self.direct[cell].wrapping_add(over(rate, self.width));
            if here != 0 {
                each(self.base + cell as i64, here);
            }
            cell += 1;
        }
    }

    /// Make sure of cells for the bins `lo ..= hi`, which include those in use.
    pub(super) fn store(&mut self, lo: i64, hi: i64) {
        let len = (hi - lo + 1) as usize;
        if self.direct.is_empty() {
            (self.base, self.direct, self.slope) = (lo, vec![0; len], vec![0; len + 1]);
            return;
        }
        if lo < self.base {
            // Where bins come on the left once, more will come.
            let spare = (len / 2).min(self.max_bins.saturating_sub(len));
            self.move_right((self.base - lo) as usize + spare);
        }
        let end = (hi - self.base + 1) as usize;
        if end > self.direct.len() {
            let room = end.max((2 * self.direct.len()).min(self.max_bins));
            self.direct.resize(room, 0);
            self.slope.resize(room + 1, 0);
        }
    }

    /// Move what there is to cells further right.
    fn move_right(&mut self, by: usize) {
        let used = self.cells();
        let room = self.direct.len().max(used.end + by);
        for (cells, used, room) in
            [(&mut self.direct, used.clone(), room), (&mut self.slope, used.start..used.end + 1, room + 1)]
        {
            cells.resize(room, 0);
            cells.copy_within(used.clone(), used.start + by);
            cells[used.start..used.end.min(used.start + by)].fill(0);
        }
        self.base -= by as i64;
    }

    /// Merge the cells of 2^`doublings` neighbouring bins: from left to right, into cells that were already
    /// emptied.
    pub(super) fn merge_cells(&mut self, doublings: u32) {
        let used = self.cells();
        let old_base = self.base;
        self.base = old_base >> doublings;
        let group = 1i64 << doublings;
        let bin_and_slot = |cell: usize| {
            let bin = old_base + cell as i64;
            (bin, ((bin >> doublings) - (old_base >> doublings)) as usize)
        };
        let mut next = used.start;
        while let Some(cell) = first_filled(&self.direct, next..used.end) {
            let units = take(&mut self.direct[cell]);
            add(&mut self.direct[bin_and_slot(cell).1], units);
            next = cell + 1;
        }
        // Only a change in the very first cell goes to one that was not yet emptied.
        let mut kept = 0;
        next = used.start;
        while let Some(cell) = first_filled(&self.slope, next..used.end + 1) {
            next = cell + 1;
            let change = take(&mut self.slope[cell]);
            let (bin, slot) = bin_and_slot(cell);
            let into = bin & (group - 1);
            if into == 0 {
                add(&mut self.slope[slot], change);
                continue;
            }
            // The rate changes inside the wider bin: for the rest of it now, for all of it from the next on.
            add(&mut self.direct[slot], over(change, self.width * (group - into)));
            add(if cell == 0 { &mut kept } else { &mut self.slope[slot + 1] }, change);
        }
        if kept != 0 {
            add(&mut self.slope[1], kept);
        }
    }
}

/// The first of these cells that is not empty. Most are: they are looked at eight at a time.
pub(super) fn first_filled(cells: &[i128], range: Range<usize>) -> Option<usize> {
    let cells = &cells[range.clone()];
    let empty = cells.chunks_exact(8).take_while(|eight| eight.iter().fold(0, |any, cell| any | cell) == 0);
    let skipped = 8 * empty.count();
    cells[skipped..].iter().position(|cell| *cell != 0).map(|place| range.start + skipped + place)
}
