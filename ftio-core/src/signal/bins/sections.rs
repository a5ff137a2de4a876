//! Sections of a long job in narrow bins, kept beside the wide bins of the whole.
//!
//! A job of a million phases has more of them than bins. But what recurs a million times can be seen in any
//! part of it. So, for some widths narrower than the bins of the whole, sections of equal length are kept,
//! evenly spread over the job: at most [`SECTIONS`] of [`SECTION_BINS`] bins for each width. As the job grows
//! and the bins of the whole widen, every other section is given up, and a new width begins with what the
//! bins of the whole hold at that moment; so no request is kept here either, and the order of requests does
//! not matter. Only the first [`FEWEST`] requests wait until there are more: so few have no more phases than
//! the bins of the whole can tell apart, and most jobs of an archive have no more.

use super::{VolumeBins, add};
use std::collections::BTreeMap;

/// Bins of a section.
pub const SECTION_BINS: usize = 1 << 11;
const BLOCK_BITS: u32 = SECTION_BINS.trailing_zeros();

/// Sections of one width.
pub const SECTIONS: usize = 16;

/// Widths are a power of two to a multiple of this.
const STEP: u32 = 3;

/// And at most 2 to this power narrower than those of the whole.
const NARROWEST: u32 = 10;

/// Jobs of fewer requests have no sections.
pub const FEWEST: usize = 1 << 11;

/// The sections of all widths.
#[derive(Clone, Debug)]
pub struct Sections {
    levels: Vec<Sectioned>,
    /// The first requests, as long as they are too few; `None` from then on.
    waiting: Option<Vec<(i64, i64, u64)>>,
    /// The bins of the whole are 2 to this power wide.
    exponent: u32,
    /// From the first of these times to before the second there is no section. Most requests lie between
    /// sections, near the one before.
    clear: (i64, i64),
}

/// The sections of one width.
#[derive(Clone, Debug)]
struct Sectioned {
    /// The width is 2 to this power.
    exponent: u32,
    /// One section in this many is kept: a power of two.
    stride: i64,
    sections: BTreeMap<i64, VolumeBins>,
}

impl Sectioned {
    /// Empty sections of the width 2^`exponent`, beside bins of the whole that are 2^`whole` wide.
    fn new(exponent: u32, whole: u32) -> Self {
        Sectioned { exponent, stride: stride(exponent, whole), sections: BTreeMap::new() }
    }

    fn section(&mut self, index: i64, whole: (i64, (i64, i64))) -> &mut VolumeBins {
        let (origin, window) = whole;
        let length = 1i64 << (self.exponent + BLOCK_BITS);
        let exponent = self.exponent;
        self.sections.entry(index).or_insert_with(|| {
            let from = origin + index * length;
            let mut bins = VolumeBins::new(from, super::BinWidth::Nanoseconds(1 << exponent), SECTION_BINS)
                .with_window(Some(from.max(window.0)), Some((from + length).min(window.1)));
            bins.store(0, SECTION_BINS as i64 - 1);
            bins.touched = Some((0, SECTION_BINS as i64 - 1));
            bins
        })
    }

    #[inline]
    fn add(&mut self, start: i64, end: i64, bytes: u64, whole: (i64, (i64, i64))) {
        let shift = self.exponent + BLOCK_BITS;
        let (first, last) = ((start - whole.0) >> shift, (end.max(start + 1) - 1 - whole.0) >> shift);
        // The first section that is kept, from there on.
        let mut index = (first + self.stride - 1) & -self.stride;
        while index <= last {
            self.section(index, whole).add(start, end, bytes);
            index += self.stride;
        }
    }
}

/// One section in how many is kept, of the width 2^`exponent` beside a whole of the width 2^`whole`.
fn stride(exponent: u32, whole: u32) -> i64 {
    1 << (whole - exponent + 17 - BLOCK_BITS - SECTIONS.trailing_zeros())
}

/// The widths that there are beside bins of the whole that are 2^`whole` wide.
fn exponents(whole: u32) -> impl Iterator<Item = u32> + Clone {
    (whole.saturating_sub(NARROWEST)..whole).filter(|exponent| exponent % STEP == 0)
}

impl Default for Sections {
    fn default() -> Self {
        Sections { levels: Vec::new(), waiting: Some(Vec::new()), exponent: 0, clear: (0, 0) }
    }
}

impl Sections {
    /// Add a request, in the window or not, to the sections it touches.
    pub(super) fn add(&mut self, start: i64, end: i64, bytes: u64, whole: (i64, (i64, i64))) {
        if let Some(waiting) = &mut self.waiting {
            waiting.push((start, end, bytes));
            if waiting.len() >= FEWEST {
                self.begin(whole);
            }
            return;
        }
        for level in &mut self.levels {
            level.add(start, end, bytes, whole);
        }
    }

    /// There are enough requests: with all of them, the sections are what they would be had none waited.
    fn begin(&mut self, whole: (i64, (i64, i64))) {
        let waiting = self.waiting.take().unwrap_or_default();
        self.levels =
            exponents(self.exponent).map(|exponent| Sectioned::new(exponent, self.exponent)).collect();
        self.levels.reverse();
        waiting.into_iter().for_each(|(start, end, bytes)| self.add(start, end, bytes, whole));
    }

    /// Does what happens from `start` to `last`, both included, touch a section?
    #[inline]
    pub(super) fn touch(&mut self, start: i64, last: i64, origin: i64) -> bool {
        if start >= self.clear.0 && last < self.clear.1 {
            return false;
        }
        if self.waiting.is_some() {
            return true;
        }
        let (mut after, mut before) = (i64::MIN, i64::MAX);
        for level in &self.levels {
            let length = 1i64 << (level.exponent + BLOCK_BITS);
            let index = (start - origin) >> (level.exponent + BLOCK_BITS);
            // The last section that is kept, up to there.
            let kept = index & -level.stride;
            if kept == index {
                return true;
            }
            after = after.max(origin.saturating_add((kept + 1).saturating_mul(length)));
            before = before.min(origin.saturating_add((kept + level.stride).saturating_mul(length)));
        }
        self.clear = (after, before);
        last >= before
    }

    /// The bins of the whole, of the width 2^`from`, are about to become 2^`to` wide.
    pub(super) fn widen(&mut self, bins: &VolumeBins, from: u32, to: u32) {
        self.clear = (0, 0);
        self.exponent = to;
        if self.waiting.is_some() {
            return;
        }
        let narrowest = to.saturating_sub(NARROWEST);
        self.levels.retain(|level| level.exponent >= narrowest);
        for level in &mut self.levels {
            level.stride = stride(level.exponent, to);
            let stride = level.stride;
            level.sections.retain(|index, _| index.rem_euclid(stride) == 0);
        }
        let new = exponents(to).filter(|exponent| *exponent >= from);
        let mut held = Vec::new();
        if new.clone().next().is_some() {
            bins.for_each_filled(|bin, here| held.push((bin, here)));
        }
        for exponent in new {
            let mut level = Sectioned::new(exponent, to);
            for &(bin, here) in &held {
                let bin = bin >> (exponent - from);
                let index = bin >> BLOCK_BITS;
                if index.rem_euclid(level.stride) == 0 {
                    let section = level.section(index, (bins.origin, bins.window));
                    add(&mut section.direct[(bin - (index << BLOCK_BITS)) as usize], here);
                    add(&mut section.total, here);
                }
            }
            self.levels.push(level);
        }
        self.levels.sort_by_key(|level| std::cmp::Reverse(level.exponent));
    }
}

impl VolumeBins {
    /// Also keep [sections](self) in narrow bins. Only bins of a width that is not asked for have them.
    pub fn with_sections(mut self) -> Self {
        if self.shift == Some(0) && self.direct.is_empty() {
            self.sections = Some(Box::default());
        }
        self
    }

    /// The sections that lie in `[from, to)`, those of the widest bins first.
    pub fn sections(&self, from: i64, to: i64) -> Vec<Vec<&VolumeBins>> {
        let inside =
            |bins: &&VolumeBins| bins.origin >= from && bins.origin + bins.width * SECTION_BINS as i64 <= to;
        let levels = self.sections.iter().flat_map(|sections| &sections.levels);
        levels.map(|level| level.sections.values().filter(inside).collect()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::BinWidth;
    use super::*;

    fn collected(requests: &[(i64, i64, u64)]) -> VolumeBins {
        let mut bins = VolumeBins::new(0, BinWidth::Finest, 1 << 17).with_sections();
        requests.chunks(1000).for_each(|part| bins.add_all(part.iter().copied()));
        bins
    }

    #[test]
    fn few_requests_have_no_sections_and_do_not_differ_when_there_are_more() {
        let requests: Vec<(i64, i64, u64)> = (0..3 * FEWEST as i64)
            .map(|i| (i * 1_700_000_000, i * 1_700_000_000 + 90_000_000, 999))
            .collect();
        let end = 3 * FEWEST as i64 * 1_700_000_000;
        assert!(collected(&requests[..FEWEST - 1]).sections(0, end).is_empty());
        let mut at_once = VolumeBins::new(0, BinWidth::Finest, 1 << 17).with_sections();
        if let Some(sections) = &mut at_once.sections {
            sections.begin((0, (i64::MIN, i64::MAX)));
        }
        requests.chunks(1000).for_each(|part| at_once.add_all(part.iter().copied()));
        let later = collected(&requests);
        let held = |bins: &VolumeBins| -> Vec<(i64, i64, Vec<f64>)> {
            let all = bins.sections(0, end).into_iter().flatten();
            let one = |bins: &VolumeBins| {
                let to = bins.origin + bins.width * SECTION_BINS as i64;
                (bins.origin, bins.width, bins.units(bins.origin, to).volumes().collect())
            };
            all.map(one)
                .filter(|(_, _, volumes): &(i64, i64, Vec<f64>)| volumes.iter().sum::<f64>() > 0.0)
                .collect()
        };
        assert!(held(&later).len() > 10);
        assert_eq!(held(&later), held(&at_once));
    }

    #[test]
    fn sections_hold_what_happened_in_them_whatever_the_order() {
        // A million bursts of 3 ms every 10 ms.
        let requests: Vec<(i64, i64, u64)> =
            (0..400_000i64).map(|i| (i * 10_000_000, i * 10_000_000 + 3_000_000, 3_000)).collect();
        let forward = collected(&requests);
        let end = 400_000i64 * 10_000_000;
        let mut other = requests.clone();
        other.rotate_left(123_457);
        let rotated = collected(&other);
        let (a, b) = (forward.sections(0, end), rotated.sections(0, end));
        assert!(a.len() >= 3 && a.len() == b.len());
        for (level, same) in a.iter().zip(&b) {
            assert!((8..=SECTIONS + 1).contains(&level.len()), "{}", level.len());
            assert_eq!(level.len(), same.len());
            for (one, other) in level.iter().zip(same) {
                assert_eq!((one.origin, one.width), (other.origin, other.width));
                let length = one.width * SECTION_BINS as i64;
                let volumes = |bins: &VolumeBins| {
                    bins.units(bins.origin, bins.origin + length).volumes().collect::<Vec<_>>()
                };
                assert_eq!(volumes(one), volumes(other));
                let expected = 3_000.0 * length as f64 / 1e7;
                let held: f64 = volumes(one).iter().sum();
                assert!((held / expected - 1.0).abs() < 0.05 || expected < 3e5, "{held} {expected}");
            }
        }
    }
}
