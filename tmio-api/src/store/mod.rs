//! From a call to a record in the spool: files by their handles, operations under way, records.

pub(crate) mod files;
pub mod in_flight;
pub(crate) mod record;
