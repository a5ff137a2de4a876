//! Sizes, order and alignment of requests in one direction.

use schemars::JsonSchema;
use serde::Serialize;
use std::collections::HashMap;

/// The classes of Darshan's histograms: each holds requests of up to this many bytes; the last any larger.
pub const SIZES: [(&str, u64); 10] = [
    ("0–100", 100),
    ("100–1K", 1 << 10),
    ("1K–10K", 10 << 10),
    ("10K–100K", 100 << 10),
    ("100K–1M", 1 << 20),
    ("1M–4M", 4 << 20),
    ("4M–10M", 10 << 20),
    ("10M–100M", 100 << 20),
    ("100M–1G", 1 << 30),
    ("1G+", u64::MAX),
];

/// How many common sizes are told.
const COMMON: usize = 4;

/// More different sizes than this are not counted one by one.
const MAX_SIZES: usize = 4096;

/// Requests by size, in the classes of [`SIZES`].
pub type Sizes = [u64; 10];

/// A size that many requests have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, JsonSchema, Serialize)]
pub struct Common {
    /// Bytes.
    pub size: u64,
    /// Requests.
    pub count: u64,
}

/// Requests in one direction.
#[derive(Clone, Debug, Default, PartialEq, JsonSchema, Serialize)]
pub struct Access {
    /// Requests.
    pub ops: u64,
    /// Bytes.
    pub bytes: u64,
    /// By size; `None` where the input does not tell.
    pub sizes: Option<Sizes>,
    /// Requests of at most 1 MiB that a rank makes on its own: those of collective calls are put together by
    /// MPI. `None` where the input does not tell sizes.
    pub small_independent: Option<u64>,
    /// The most common sizes, the most frequent first; empty where the input does not tell them by direction.
    pub common: Vec<Common>,
    /// Requests whose place in the file is known: the following three count among these.
    pub placed: u64,
    /// Requests that begin where the rank's one before ended.
    pub consecutive: u64,
    /// Requests further on in the file, the consecutive ones included.
    pub sequential: u64,
    /// Requests that begin at no multiple of the alignment; `None` where the input does not tell.
    pub misaligned: Option<u64>,
    /// The alignment, in bytes.
    pub alignment: Option<u64>,
}

impl Access {
    /// Requests that go back in the file.
    pub fn random(&self) -> u64 {
        self.placed.saturating_sub(self.sequential)
    }

    /// Requests of at most 1 MiB, where sizes are known.
    pub fn small(&self) -> Option<u64> {
        Some(self.sizes?.iter().take(5).sum())
    }
}

/// The class of a size.
pub(super) fn class(bytes: u64) -> usize {
    SIZES.iter().position(|(_, most)| bytes <= *most).unwrap_or(SIZES.len() - 1)
}

/// Counts requests as they come.
#[derive(Debug, Default)]
pub(super) struct Tally {
    access: Access,
    sizes: Sizes,
    counts: HashMap<u64, u64>,
    misaligned: u64,
    small: u64,
}

/// Requests of at most this many bytes are small, as in Darshan's histograms and in Drishti.
pub(super) const SMALL: u64 = 1 << 20;

impl Tally {
    /// Requests of so many bytes together; of several the mean size counts.
    pub fn add(&mut self, bytes: u64, count: u64, collective: bool) {
        let size = bytes / count.max(1);
        self.access.ops += count;
        self.small += if size <= SMALL && !collective { count } else { 0 };
        self.access.bytes = self.access.bytes.saturating_add(bytes);
        self.sizes[class(size)] += count;
        if self.counts.len() < MAX_SIZES || self.counts.contains_key(&size) {
            *self.counts.entry(size).or_default() += count;
        }
    }

    /// Where the request that was added last lies, and where its rank's one before in that file ended.
    pub fn place(&mut self, offset: u64, before: Option<u64>, alignment: u64) {
        self.access.placed += 1;
        let before = before.unwrap_or(offset);
        self.access.consecutive += u64::from(offset == before);
        self.access.sequential += u64::from(offset >= before);
        self.access.alignment = Some(alignment);
        self.misaligned += u64::from(!offset.is_multiple_of(alignment));
    }

    pub fn finish(mut self) -> Access {
        let mut common: Vec<Common> =
            self.counts.into_iter().map(|(size, count)| Common { size, count }).collect();
        common.sort_by_key(|common| (std::cmp::Reverse(common.count), common.size));
        common.truncate(COMMON);
        self.access.common = common;
        self.access.sizes = Some(self.sizes);
        self.access.small_independent = Some(self.small);
        self.access.misaligned = (self.access.placed > 0).then_some(self.misaligned);
        self.access
    }
}

/// Common sizes of several records, joined.
pub(super) fn join_common(of: impl Iterator<Item = Common>) -> Vec<Common> {
    let mut counts: HashMap<u64, u64> = HashMap::new();
    of.filter(|common| common.count > 0)
        .for_each(|common| *counts.entry(common.size).or_default() += common.count);
    let mut common: Vec<Common> = counts.into_iter().map(|(size, count)| Common { size, count }).collect();
    common.sort_by_key(|common| (std::cmp::Reverse(common.count), common.size));
    common.truncate(COMMON);
    common
}
