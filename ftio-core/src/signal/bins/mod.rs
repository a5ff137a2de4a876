//! Bytes per time bin, accumulated from requests in any order in constant time per request.
//!
//! This is where requests of all ranks become one signal. A request spreads its bytes evenly over
//! `[start, end)`; a bin holds exactly the bytes that fall into it. No request is kept, nothing is sorted,
//! and the memory is that of the bins.
//!
//! # How
//!
//! A request that covers the bins `a ..= b` adds a part of its bytes to `a`, a part to `b`, and its rate
//! times the bin width to every bin between. The two ends are added where they belong (`direct`); the middle
//! is only noted as "+rate from `a + 1`, −rate from `b`" (`slope`). One running sum at the end turns these
//! notes into bytes.
//!
//! All of it is integer arithmetic, in units of 2⁻⁴⁰ byte: sums of integers do not depend on their order, so
//! the ranks' blocks may come in any order (or from several threads) and the bins are the same to the last
//! bit. What a rate loses when it is rounded down to that unit is added to the request's last nanosecond,
//! hence no byte is lost.
//!
//! # How wide
//!
//! A bin width is either asked for, or a power of two of nanoseconds. When the time range outgrows the
//! largest number of bins, neighbours are merged in pairs, which is exact, and the width doubles.

mod batch;
mod cells;
pub mod sections;

/// Units per byte.
const UNIT_BITS: u32 = 40;
const UNITS: f64 = (1u64 << UNIT_BITS) as f64;

/// Times beyond ±2⁶¹ ns (73 years) are no times of a job.
const TIME_LIMIT: i64 = 1 << 61;

/// Bins are at most 2 to this power times narrower than asked for.
const NARROWER: u32 = 9;

/// How wide the bins are at first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BinWidth {
    /// As narrow as the largest number of bins allows; always a power of two of nanoseconds.
    Finest,
    /// This many nanoseconds, doubled only if the range would need too many bins.
    Nanoseconds(i64),
}

/// The accumulator. See the [module](self).
#[derive(Clone, Debug)]
pub struct VolumeBins {
    /// Bins start at `origin + i * width`.
    origin: i64,
    width: i64,
    /// `Some(s)` while `width == 1 << s`: a shift is several times faster than a division.
    shift: Option<u32>,
    /// Requests are cut to this range, if any.
    window: (i64, i64),
    max_bins: usize,
    /// The most bins there may be while they are narrower than a given width: (width, number).
    narrow: Option<(i64, usize)>,
    /// Index of the bin that `direct[0]` stands for.
    base: i64,
    /// Units added to each bin. There are more cells than bins in use, see [`cells`](Self::cells).
    direct: Vec<i128>,
    /// Change of the rate (units per ns) at the start of each bin; one longer than `direct`.
    slope: Vec<i128>,
    /// First and last bin touched.
    touched: Option<(i64, i64)>,
    /// Earliest start and latest end seen, cut to the window.
    extent: Option<(i64, i64)>,
    /// Units added in all.
    total: i128,
    requests: u64,
    inverted: u64,
    rejected: u64,
    /// Parts of a long job in narrow bins.
    sections: Option<Box<sections::Sections>>,
}

impl VolumeBins {
    /// Empty bins on a grid through `origin`, never more than `max_bins` of them.
    ///
    /// A non-positive width is taken as 1 ns; fewer than two bins as two.
    pub fn new(origin: i64, width: BinWidth, max_bins: usize) -> Self {
        let (width, shift) = match width {
            BinWidth::Finest => (1, Some(0)),
            BinWidth::Nanoseconds(ns) => {
                let ns = ns.clamp(1, TIME_LIMIT);
                (ns, ns.count_ones().eq(&1).then(|| ns.trailing_zeros()))
            }
        };
        VolumeBins {
            origin: origin.clamp(-TIME_LIMIT, TIME_LIMIT),
            width,
            shift,
            window: (i64::MIN, i64::MAX),
            max_bins: max_bins.max(2),
            narrow: None,
            base: 0,
            direct: Vec::new(),
            slope: vec![0],
            touched: None,
            extent: None,
            total: 0,
            requests: 0,
            inverted: 0,
            rejected: 0,
            sections: None,
        }
    }

    /// Only count what happens in `[from, to)`; a request that crosses an edge counts in proportion.
    pub fn with_window(mut self, from: Option<i64>, to: Option<i64>) -> Self {
        self.window = (from.unwrap_or(i64::MIN), to.unwrap_or(i64::MAX));
        self
    }

    /// Start with bins that are narrower by a power of two, as far as the width can be halved, and use at
    /// most `max_bins` of them: when they are too many, they widen, but beyond the width asked for only if
    /// the largest number of bins demands it.
    pub fn with_narrow_bins(mut self, max_bins: usize) -> Self {
        let halvings = self.width.trailing_zeros().min(NARROWER);
        if self.direct.is_empty() {
            self.narrow = Some((self.width, max_bins.clamp(2, self.max_bins)));
            self.width >>= halvings;
            self.shift = self.shift.map(|shift| shift - halvings);
        }
        self
    }

    /// Widen the bins until `[from, to)` fits into the largest number of them.
    ///
    /// Where the range is known before the requests come, this saves the merging on the way; the result is
    /// the same.
    pub fn fit(&mut self, from: i64, to: i64) {
        let from = from.clamp(-TIME_LIMIT, TIME_LIMIT);
        let to = to.clamp(-TIME_LIMIT, TIME_LIMIT).max(from + 1);
        let doublings = self.doublings_for(self.index(from), self.index(to - 1));
        if doublings > 0 {
            self.widen(doublings);
        }
    }

    /// Use at most this many bins from now on, widening those there are.
    ///
    /// Bins of a width asked for are widened up to it at most.
    pub fn limit(&mut self, max_bins: usize) {
        // Many groups with few bins each have no room for sections.
        self.sections = None;
        match &mut self.narrow {
            Some((_, narrow)) => *narrow = max_bins.max(2),
            None => self.max_bins = max_bins.max(2),
        }
        let doublings = self.touched.map_or(0, |(lo, hi)| self.doublings_for(lo, hi));
        if doublings > 0 {
            self.widen(doublings);
        }
    }

    /// Make room for requests between `from` and `to` (or the part of it inside the window) in one step.
    pub fn make_ready(&mut self, from: i64, to: i64) {
        let from = from.max(self.window.0).max(-TIME_LIMIT);
        let to = to.min(self.window.1).min(TIME_LIMIT - 1);
        if from < to && (from != -TIME_LIMIT && to != TIME_LIMIT - 1) {
            let (lo, hi) =
                self.touched.map_or((from, to), |(lo, hi)| (from.min(self.edge(lo)), to.max(self.edge(hi))));
            self.fit(lo, hi);
            if self.touched.is_none() {
                let (lo, hi) = (self.index(from), self.index(to - 1));
                self.store(lo, hi);
                self.touched = Some((lo, hi));
            }
        }
    }

    /// Add one request of `bytes` over `[start, end)`.
    ///
    /// A request whose end lies before its start counts at its start, and is counted in
    /// [`inverted`](Self::inverted).
    pub fn add(&mut self, start: i64, end: i64, bytes: u64) {
        if !(-TIME_LIMIT..TIME_LIMIT).contains(&start) || !(-TIME_LIMIT..TIME_LIMIT).contains(&end) {
            self.rejected += 1;
            return;
        }
        let end = if end < start {
            self.inverted += 1;
            start
        } else {
            end
        };
        let from = start.max(self.window.0);
        let to = end.min(self.window.1);
        if from > to || from >= self.window.1 || (from == to && start != end) {
            return;
        }
        self.requests += 1;
        self.extent = Some(match self.extent {
            None => (from, to),
            Some((lo, hi)) => (lo.min(from), hi.max(to)),
        });
        let (first, last) = self.make_room(from, to.max(from + 1) - 1);
        if let Some(sections) = &mut self.sections
            && sections.touch(start, end.max(start + 1) - 1, self.origin)
        {
            sections.add(start, end, bytes, (self.origin, self.window));
        }
        let first_slot = (first - self.base) as usize;
        let whole = i128::from(bytes) << UNIT_BITS;
        if first == last && from == start && to == end {
            add(&mut self.total, whole);
            add(&mut self.direct[first_slot], whole);
            return;
        }
        let rate = units_per_ns(bytes, end - start);
        // What rounding left over belongs to the last nanosecond, if that lies inside the window.
        let rest = if to == end { whole - over(rate, end - start) } else { 0 };
        add(&mut self.total, over(rate, to - from) + rest);
        if first == last {
            add(&mut self.direct[first_slot], over(rate, to - from) + rest);
            return;
        }
        let last_slot = (last - self.base) as usize;
        let (head, tail) = (self.edge(first + 1) - from, to - self.edge(last));
        add(&mut self.direct[first_slot], over(rate, head));
        add(&mut self.direct[last_slot], over(rate, tail) + rest);
        add(&mut self.slope[first_slot + 1], rate);
        add(&mut self.slope[last_slot], -rate);
    }

    /// A bin edge that stays one however often the width doubles.
    pub fn origin(&self) -> i64 {
        self.origin
    }

    /// Nanoseconds per bin, as of now.
    pub fn width(&self) -> i64 {
        self.width
    }

    /// Requests that fell into the window, wholly or in part.
    pub fn requests(&self) -> u64 {
        self.requests
    }

    /// Requests whose end lay before their start.
    pub fn inverted(&self) -> u64 {
        self.inverted
    }

    /// Requests left out because a time was beyond ±73 years.
    pub fn rejected(&self) -> u64 {
        self.rejected
    }

    /// Earliest start and latest end, cut to the window; `None` while there was no request.
    pub fn extent(&self) -> Option<(i64, i64)> {
        self.extent
    }

    /// Bytes counted in all.
    pub fn total_bytes(&self) -> u64 {
        u64::try_from((self.total + (1 << (UNIT_BITS - 1))) >> UNIT_BITS).unwrap_or(u64::MAX)
    }

    /// Merge bins until they are at least so wide.
    pub fn widen_to(&mut self, width: i64) {
        let doublings = (0..62).find(|n| self.width << n >= width).unwrap_or(0);
        if doublings > 0 {
            self.widen(doublings);
        }
    }

    /// Merge neighbouring bins, so that each is twice as wide.
    pub fn double_width(&mut self) {
        self.widen(1);
    }

    /// Merge groups of 2^`doublings` bins.
    fn widen(&mut self, doublings: u32) {
        if let (Some(mut sections), Some(shift)) = (self.sections.take(), self.shift) {
            sections.widen(self, shift, shift + doublings);
            self.sections = Some(sections);
        }
        self.merge_cells(doublings);
        self.width <<= doublings;
        self.shift = self.shift.map(|shift| shift + doublings);
        self.touched = self.touched.map(|(lo, hi)| (lo >> doublings, hi >> doublings));
    }

    /// How often the width must double for the bins of `lo ..= hi` to be few enough.
    fn doublings_for(&self, lo: i64, hi: i64) -> u32 {
        let most = |doublings: u32| match self.narrow {
            Some((wanted, most)) if self.width << doublings.min(40) < wanted => most,
            _ => self.max_bins,
        };
        (0..62).find(|&n| (hi >> n) - (lo >> n) < most(n) as i64).unwrap_or(62)
    }

    /// Bytes per bin for the bins that cover `[from, to)`, with the start of the first one.
    ///
    /// The second value is the relative difference between what the bins hold and what was added: the
    /// *abstraction error* (paper, II-E). It is 0 whenever the range covers all requests.
    pub fn volumes(&self, from: i64, to: i64) -> (i64, Vec<f64>, f64) {
        let units = self.units(from, to);
        (units.start, units.volumes().collect(), units.error)
    }

    /// What the bins that cover `[from, to)` hold, exactly.
    pub fn units(&self, from: i64, to: i64) -> Units {
        let first = self.index(from);
        let count = (self.index(to.max(from + 1) - 1) - first + 1).max(0) as usize;
        let mut units = vec![0i128; count];
        let mut held = 0i128;
        self.for_each_filled(|bin, here| {
            if let Some(slot) = usize::try_from(bin - first).ok().and_then(|slot| units.get_mut(slot)) {
                add(&mut held, here);
                *slot = here;
            }
        });
        let error = if self.total == 0 {
            0.0
        } else {
            held.wrapping_sub(self.total).unsigned_abs() as f64 / self.total as f64
        };
        Units { start: self.edge(first), origin: self.origin, width: self.width, units, error }
    }

    fn index(&self, time: i64) -> i64 {
        match self.shift {
            Some(shift) => (time - self.origin) >> shift,
            None => (time - self.origin).div_euclid(self.width),
        }
    }

    fn edge(&self, index: i64) -> i64 {
        self.origin + index * self.width
    }

    /// The bins of two times, after making sure that they exist.
    fn make_room(&mut self, from: i64, last: i64) -> (i64, i64) {
        loop {
            let (a, b) = (self.index(from), self.index(last));
            if self.touched.is_some_and(|(lo, hi)| a >= lo && b <= hi) {
                return (a, b);
            }
            let (lo, hi) = self.touched.map_or((a, b), |(lo, hi)| (lo.min(a), hi.max(b)));
            let doublings = self.doublings_for(lo, hi);
            if doublings > 0 {
                self.widen(doublings);
                continue;
            }
            self.store(lo, hi);
            self.touched = Some((lo, hi));
            return (a, b);
        }
    }
}

/// What a range of bins holds, in integers: bins merged here hold to the last bit what wider bins would have
/// held from the beginning, so that a signal does not depend on how fine the bins were that it was taken
/// from.
#[derive(Clone, Debug)]
pub struct Units {
    /// Start of the first bin, in nanoseconds.
    pub start: i64,
    /// A bin edge at every width.
    origin: i64,
    /// Nanoseconds per bin.
    pub width: i64,
    units: Vec<i128>,
    /// Relative difference between what these bins hold and what was added to all.
    pub error: f64,
}

impl Units {
    /// How many bins.
    pub fn len(&self) -> usize {
        self.units.len()
    }

    /// No bins at all?
    pub fn is_empty(&self) -> bool {
        self.units.is_empty()
    }

    /// Bytes per bin.
    pub fn volumes(&self) -> impl Iterator<Item = f64> + '_ {
        self.units.iter().map(|&units| match u64::try_from(units) {
            // The same number, by one instruction instead of a function.
            Ok(few) => few as f64 / UNITS,
            Err(_) => units.max(0) as f64 / UNITS,
        })
    }

    /// The same in bins of twice the width.
    pub fn halved(&self) -> Units {
        let odd_start = (self.start - self.origin).div_euclid(self.width).rem_euclid(2) == 1;
        let (head, rest) = self.units.split_at(usize::from(odd_start).min(self.units.len()));
        let pairs =
            rest.chunks(2).map(|pair| pair.iter().fold(0, |sum: i128, units| sum.wrapping_add(*units)));
        Units {
            start: if odd_start { self.start - self.width } else { self.start },
            width: 2 * self.width,
            units: head.iter().copied().chain(pairs).collect(),
            ..*self
        }
    }
}

/// A sum modulo 2¹²⁸. While bins are merged, the rate of a short request is multiplied by the width of a wide
/// bin and soon subtracted again; that may leave the range of an `i128`, but what remains in the end does
/// not, for fewer than 2⁸⁷ bytes.
fn add(sum: &mut i128, units: i128) {
    *sum = sum.wrapping_add(units);
}

/// Units that a rate amounts to over some nanoseconds, modulo 2¹²⁸.
fn over(rate: i128, ns: i64) -> i128 {
    rate.wrapping_mul(i128::from(ns))
}

/// `bytes / duration` in units per nanosecond, rounded down.
fn units_per_ns(bytes: u64, duration: i64) -> i128 {
    let rate = bytes as f64 * UNITS / duration as f64;
    if rate < 9.0e15 {
        // Exact enough in one floating division, and it fits 53 bits.
        return i128::from(rate as i64);
    }
    (i128::from(bytes) << UNIT_BITS) / i128::from(duration)
}

#[cfg(test)]
mod tests;
