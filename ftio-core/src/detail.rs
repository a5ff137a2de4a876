//! What else may be known of a request: on which file it was made.

use crate::request::Request;

/// A request with its file, as far as the trace knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Detail {
    /// The request.
    pub request: Request,
    /// The file, by its number in the [`Batch`].
    pub file: Option<u32>,
}

/// Requests of one or more ranks.
#[derive(Clone, Copy, Debug)]
pub struct Batch<'a> {
    /// The requests, in any order.
    pub requests: &'a [Detail],
    /// Names of the files, by number. A number may mean another file in the next batch.
    pub files: &'a [(u32, &'a str)],
}
