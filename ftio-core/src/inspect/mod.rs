//! What an input holds: `ftio info` and the measurements of `ftio scale`.

pub mod darshan;
pub mod profile;
pub mod summary;
pub mod waiting;
