//! How much of a job a trace tells of: which ranks are missing, and until when the others are known.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

/// Up to when the blocks of an unfinished job tell of it.
#[derive(Debug, Default)]
pub(crate) struct KnownUntil {
    covered: BTreeMap<u32, i64>,
    last_end: Option<i64>,
}

impl KnownUntil {
    pub(crate) fn note(&mut self, rank: u32, covered_until: i64, last_end: Option<i64>) {
        let covered = self.covered.entry(rank).or_insert(i64::MIN);
        *covered = (*covered).max(covered_until);
        self.last_end = self.last_end.max(last_end);
    }

    pub(crate) fn time(&self) -> Option<i64> {
        self.covered.values().copied().min().max(self.last_end)
    }
}

/// The ranks below `expected` that are not there.
pub(crate) fn missing(ranks: impl Iterator<Item = u32>, expected: u32) -> Vec<RangeInclusive<u32>> {
    let mut gaps = Vec::new();
    let mut next = 0;
    for rank in ranks.take_while(|&rank| rank < expected) {
        if rank > next {
            gaps.push(next..=rank - 1);
        }
        next = rank + 1;
    }
    if next < expected {
        gaps.push(next..=expected - 1);
    }
    gaps
}

/// `0, 3-5 and 12 more groups`
pub(crate) fn list(ranges: &[RangeInclusive<u32>]) -> String {
    const SHOWN: usize = 8;
    let one = |range: &RangeInclusive<u32>| match range.end() - range.start() {
        0 => range.start().to_string(),
        _ => format!("{}-{}", range.start(), range.end()),
    };
    let mut text = ranges.iter().take(SHOWN).map(one).collect::<Vec<_>>().join(", ");
    if let Some(more) = ranges.len().checked_sub(SHOWN).filter(|&more| more > 0) {
        text.push_str(&format!(" and {more} more groups"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_between_ranks_and_behind_them() {
        let gaps = missing([1, 2, 5].into_iter(), 8);
        assert_eq!(gaps, [0..=0, 3..=4, 6..=7]);
        assert_eq!(list(&gaps), "0, 3-4, 6-7");
        assert_eq!(missing(0..8, 8), []);
    }

    #[test]
    fn a_job_is_known_until_the_first_rank_falls_silent_or_the_last_operation_ends() {
        let mut known = KnownUntil::default();
        assert_eq!(known.time(), None);
        known.note(0, 50, Some(10));
        known.note(1, 40, Some(20));
        assert_eq!(known.time(), Some(40), "both told of the silence until then");
        known.note(0, 45, Some(60));
        assert_eq!(known.time(), Some(60));
    }
}
