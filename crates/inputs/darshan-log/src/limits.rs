//! How much of a machine a log may take.

/// Bounds on what reading a log may cost, whatever its bytes claim.
///
/// Nothing is ever allocated from a length field alone: buffers grow with data that were really decompressed.
/// What remains to be bounded is how far a small file may inflate (bzip2 packs a megabyte of zeros into 45
/// bytes), and how much of it may be collected in memory at once. Both are a floor plus a multiple of the
/// compressed length, so that a log of gigabytes is read and a log of 1 KB cannot take more than a few
/// megabytes.
///
/// zlib cannot exceed a ratio of 1032, so that logs compressed by zlib, all that Darshan writes by itself,
/// never meet the limits on bytes at their defaults.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// A region may inflate to this many bytes in any case.
    pub inflated_bytes: u64,
    /// … and to this many times its compressed length.
    pub inflated_ratio: u64,
    /// What is collected in memory at once (the table of names, one DXT record with its segments) may take
    /// this many bytes in any case.
    pub collected_bytes: u64,
    /// … and this many times the compressed length of its region.
    pub collected_ratio: u64,
    /// Bins of one heatmap record. Darshan itself stops at 200.
    pub heatmap_bins: u64,
    /// Bytes of one file name. Darshan itself stops at 4096.
    pub name_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            inflated_bytes: 64 << 20,
            inflated_ratio: 4096,
            collected_bytes: 4 << 20,
            collected_ratio: 1040,
            heatmap_bins: 1 << 16,
            name_bytes: 1 << 16,
        }
    }
}

impl Limits {
    pub(crate) fn inflated(&self, compressed: u64) -> u64 {
        self.inflated_bytes.max(compressed.saturating_mul(self.inflated_ratio))
    }

    pub(crate) fn collected(&self, compressed: u64) -> u64 {
        self.collected_bytes.max(compressed.saturating_mul(self.collected_ratio))
    }
}
