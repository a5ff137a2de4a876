//! Many requests at once: what they have in common is worked out once.

use super::{UNIT_BITS, VolumeBins, add};

impl VolumeBins {
    /// Add requests of (start, end, bytes); the same as [`add`](VolumeBins::add) for each.
    ///
    /// Neighbours in a batch mostly lie in the same bin, and wholly inside it: their bytes are summed up
    /// before the bin is touched.
    pub fn add_all(&mut self, requests: impl Iterator<Item = (i64, i64, u64)>) {
        // Where bins exist already, inside the window: only there is the short way open.
        let ready = match (self.shift, self.touched) {
            (Some(shift), Some((first, last))) => {
                let from = self.edge(first).max(self.window.0);
                // An instant at the very edge of the window is outside it.
                let to = self.edge(last + 1).min(self.window.1.saturating_sub(1));
                Some((shift, from, to))
            }
            _ => None,
        };
        let (shift, from, to) = ready.unwrap_or((0, i64::MAX, i64::MIN));
        let origin = self.origin;
        let mut run = Run { bin: self.base, bytes: 0, requests: 0 };
        let mut extent = self.extent.unwrap_or((i64::MAX, i64::MIN));
        let mut others = Vec::new();
        // Sections are widened with the bins, and the short way widens none. A bin lies wholly in each
        // section or not at all: sections are longer than bins are wide.
        let mut sections = self.sections.take();
        let mut in_section = false;
        // The part of the last bin where the short way is open: what lies in it belongs to the run.
        let mut same = (i64::MAX, i64::MIN);
        for (start, end, bytes) in requests {
            if start < same.0 || end > same.1 || start >= end {
                let bin = start.wrapping_sub(origin) >> shift;
                // The last nanosecond of a request, or the only one of an instant.
                let last = end.wrapping_sub(1).max(start);
                if start < from || end > to || end < start || bin != last.wrapping_sub(origin) >> shift {
                    others.push((start, end, bytes));
                    continue;
                }
                if bin != run.bin {
                    self.put(&run);
                    run = Run { bin, bytes: 0, requests: 0 };
                }
                same = (self.edge(bin).max(from), self.edge(bin + 1).min(to));
                in_section = sections.as_mut().is_some_and(|sections| sections.touch(start, last, origin));
            }
            if in_section && let Some(sections) = &mut sections {
                sections.add(start, end, bytes, (origin, self.window));
            }
            run.bytes += u128::from(bytes);
            run.requests += 1;
            extent = (extent.0.min(start), extent.1.max(end));
        }
        self.put(&run);
        self.sections = sections;
        if extent.0 <= extent.1 {
            self.extent = Some(extent);
        }
        self.add_each(&others);
    }

    /// The long way, after making room for all of them in one step, which is cheaper than on the way.
    fn add_each(&mut self, requests: &[(i64, i64, u64)]) {
        let lo = requests.iter().map(|request| request.0).min();
        let hi = requests.iter().map(|request| request.1).max();
        if let (Some(lo), Some(hi)) = (lo, hi) {
            self.make_ready(lo, hi);
        }
        requests.iter().for_each(|&(start, end, bytes)| self.add(start, end, bytes));
    }

    fn put(&mut self, run: &Run) {
        let units = (run.bytes as i128) << UNIT_BITS;
        add(&mut self.total, units);
        if let Some(bin) =
            usize::try_from(run.bin - self.base).ok().and_then(|slot| self.direct.get_mut(slot))
        {
            add(bin, units);
        }
        self.requests += run.requests;
    }
}

/// Requests that lie in one bin, one after the other.
struct Run {
    bin: i64,
    bytes: u128,
    requests: u64,
}
