//! Where a trace goes: its path, its parts, and what a spool says about both.

pub(crate) mod destination;
pub(crate) mod output;
pub(crate) mod parts;
