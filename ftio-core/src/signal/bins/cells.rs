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
        for cell in used.clone() {
            // Most are empty: a look is cheaper than a store.
            if self.direct[cell] != 0 {
                let units = take(&mut self.direct[cell]);
                add(&mut self.direct[bin_and_slot(cell).1], units);
            }
        }
        // Only a change in the very first cell goes to one that was not yet emptied.
        let mut kept = 0;
        for cell in used.start..used.end + 1 {
            if self.slope[cell] == 0 {
                continue;
            }
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
