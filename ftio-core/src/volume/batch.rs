//! Many requests at once: what they have in common is worked out once.

use super::{TIME_LIMIT, UNIT_BITS, VolumeBins, add};

impl VolumeBins {
    /// Add requests of (start, end, bytes); the same as [`add`](VolumeBins::add) for each.
    ///
    /// Neighbours in a batch mostly lie in the same bin, and wholly inside it: their bytes are summed up before the bin is
    /// touched.
    pub fn add_all(&mut self, requests: impl Iterator<Item = (i64, i64, u64)> + Clone) {
        let range = requests
            .clone()
            .fold((i64::MAX, i64::MIN), |(lo, hi), (start, end, _)| (lo.min(start), hi.max(end)));
        let (lo, hi) = range;
        if lo > hi {
            // None at all, or all inverted.
            requests.for_each(|(start, end, bytes)| self.add(start, end, bytes));
            return;
        }
        // Widening once for the whole batch is cheaper than on the way.
        self.make_ready(lo, hi);
        let inside = lo >= self.window.0.max(-TIME_LIMIT) && hi < self.window.1.min(TIME_LIMIT);
        if self.shift.is_none() || !inside {
            requests.for_each(|(start, end, bytes)| self.add(start, end, bytes));
            return;
        }
        let (first, _) = self.make_room(lo, hi.max(lo + 1) - 1);
        // Widening changes the shift.
        let Some(shift) = self.shift else { return };
        let (origin, base) = (self.origin, self.base);
        let mut run = Run { bin: first, bytes: 0, requests: 0 };
        let mut extent = self.extent.unwrap_or((i64::MAX, i64::MIN));
        let mut others = Vec::new();
        for (start, end, bytes) in requests {
            // Between lo and hi if in order, and therefore far from overflow.
            let bin = start.wrapping_sub(origin) >> shift;
            if end < start || bin != ((end - 1).max(start) - origin) >> shift {
                others.push((start, end, bytes));
                continue;
            }
            if bin != run.bin {
                self.put(&run, base);
                run = Run { bin, bytes: 0, requests: 0 };
            }
            run.bytes += u128::from(bytes);
            run.requests += 1;
            extent = (extent.0.min(start), extent.1.max(end));
        }
        self.put(&run, base);
        if extent.0 <= extent.1 {
            self.extent = Some(extent);
        }
        others.into_iter().for_each(|(start, end, bytes)| self.add(start, end, bytes));
    }

    fn put(&mut self, run: &Run, base: i64) {
        let units = (run.bytes as i128) << UNIT_BITS;
        add(&mut self.total, units);
        if let Some(bin) = usize::try_from(run.bin - base).ok().and_then(|slot| self.direct.get_mut(slot)) {
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
