//! What a pattern can find of a request.

/// The fields of a request, in the order of their numbers.
pub(super) const FIELDS: [&str; 6] = ["start", "end", "duration", "bytes", "bandwidth", "rank"];
pub(super) const START: usize = 0;
pub(super) const END: usize = 1;
pub(super) const DURATION: usize = 2;
pub(super) const BYTES: usize = 3;
pub(super) const BANDWIDTH: usize = 4;
pub(super) const RANK: usize = 5;
