//! What the analysis needs to know of one I/O request, and which requests a *mode* selects.
//!
//! Times are nanoseconds of job time: 0 is the start of the job (its first `MPI_Init`), and all ranks share
//! the scale. They are signed because a reader that lines up clocks may place an early rank a little before
//! 0.

pub mod layer;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
pub use tmio_trace::Class;

/// One request: `bytes` moved evenly between `start` and `end`.
///
/// For a nonblocking operation `start` is the entry of the call that issued it and `end` the return of the
/// call that completed it, so that `bytes / (end - start)` is its actual bandwidth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// When the request began, in nanoseconds of job time.
    pub start: i64,
    /// When it was done. Equal to `start` for a request too short to measure.
    pub end: i64,
    /// Bytes transferred (not bytes asked for).
    pub bytes: u64,
    /// Direction and kind.
    pub class: Class,
    /// Who made it, where the input knows.
    pub rank: Option<u32>,
}

impl Request {
    /// A request of an unknown rank.
    pub fn new(start: i64, end: i64, bytes: u64, class: Class) -> Self {
        Request { start, end, bytes, class, rank: None }
    }
}

/// A request with its file, its completion and the time that it took from its rank, as far as the trace knows
/// them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Detail {
    /// The request.
    pub request: Request,
    /// The file, by its number in the [`Batch`].
    pub file: Option<u32>,
    /// Of a nonblocking request, when it was complete and when it had to be.
    pub completion: Option<Completion>,
    /// How long its rank could do nothing else.
    pub held: Option<Held>,
}

impl Detail {
    /// A request of which nothing else is known. A blocking one holds its rank from start to end.
    pub fn new(request: Request) -> Self {
        let is_blocking = matches!(request.class, Class::WriteSync | Class::ReadSync);
        let held = is_blocking.then(|| Held {
            calls: request.end.saturating_sub(request.start).max(0),
            wait: None,
            thread: 0,
        });
        Detail { request, file: None, completion: None, held }
    }
}

/// How long a rank could do nothing else because of a request, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Held {
    /// In a blocking call, or in the calls that issue and test a nonblocking request.
    pub calls: i64,
    /// From when to when it was waited for. One wait may complete several requests.
    pub wait: Option<(i64, i64)>,
    /// Which thread of the rank waited.
    pub thread: u16,
}

/// The two ends of a nonblocking request, in nanoseconds of job time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// When it was complete.
    pub done: i64,
    /// When it had to be complete.
    pub deadline: i64,
}

/// Requests of one or more ranks.
#[derive(Clone, Copy, Debug)]
pub struct Batch<'a> {
    /// The requests, in any order.
    pub requests: &'a [Detail],
    /// Names of the files, by number. A number may mean another file in the next batch.
    pub files: &'a [(u32, &'a str)],
}

/// Which time of a nonblocking request is meant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Span {
    /// From issue until it was complete: gives the bandwidth that was.
    #[default]
    Actual,
    /// From issue until it had to be complete: gives the bandwidth that would have been enough.
    Required,
}

/// Which requests are analysed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Blocking writes.
    WriteSync,
    /// Blocking reads.
    ReadSync,
    /// Nonblocking writes, from issue to completion.
    WriteAsync,
    /// Nonblocking reads, from issue to completion.
    ReadAsync,
    /// Nonblocking writes, from issue to deadline: the bandwidth that would have hidden them behind
    /// computation.
    WriteAsyncRequired,
    /// Nonblocking reads, from issue to deadline.
    ReadAsyncRequired,
    /// Everything that writes.
    #[default]
    Write,
    /// Everything that reads.
    Read,
    /// All traffic, whatever its direction.
    All,
}

impl Mode {
    /// Every mode, in the order in which help texts list them.
    pub const ALL: [Mode; 9] = [
        Mode::WriteSync,
        Mode::ReadSync,
        Mode::WriteAsync,
        Mode::ReadAsync,
        Mode::WriteAsyncRequired,
        Mode::ReadAsyncRequired,
        Mode::Write,
        Mode::Read,
        Mode::All,
    ];

    /// Which time of nonblocking requests this mode is about.
    pub fn span(self) -> Span {
        if self.is_required() { Span::Required } else { Span::Actual }
    }

    /// Does this mode look at requests of that class?
    pub fn selects(self, class: Class) -> bool {
        match self {
            Mode::WriteSync => class == Class::WriteSync,
            Mode::ReadSync => class == Class::ReadSync,
            Mode::WriteAsync | Mode::WriteAsyncRequired => class == Class::WriteAsync,
            Mode::ReadAsync | Mode::ReadAsyncRequired => class == Class::ReadAsync,
            Mode::Write => is_write(class),
            Mode::Read => !is_write(class),
            Mode::All => true,
        }
    }

    /// Does this mode look at the bandwidth required, rather than the actual one?
    pub fn is_required(self) -> bool {
        matches!(self, Mode::WriteAsyncRequired | Mode::ReadAsyncRequired)
    }

    /// The name used on the command line and in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Mode::WriteSync => "write_sync",
            Mode::ReadSync => "read_sync",
            Mode::WriteAsync => "write_async",
            Mode::ReadAsync => "read_async",
            Mode::WriteAsyncRequired => "write_async_required",
            Mode::ReadAsyncRequired => "read_async_required",
            Mode::Write => "write",
            Mode::Read => "read",
            Mode::All => "all",
        }
    }
}

/// Does the class move bytes from memory to a file?
pub fn is_write(class: Class) -> bool {
    matches!(class, Class::WriteSync | Class::WriteAsync)
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Mode {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Mode::ALL.into_iter().find(|mode| mode.name() == text).ok_or_else(|| {
            let names: Vec<_> = Mode::ALL.iter().map(|mode| mode.name()).collect();
            format!("expected one of {}", names.join(", "))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mode_is_found_by_its_name() {
        for mode in Mode::ALL {
            assert_eq!(mode.name().parse(), Ok(mode));
        }
        assert!("sync_write".parse::<Mode>().is_err());
    }

    #[test]
    fn combined_modes_are_the_union_of_their_classes() {
        for class in Class::ALL {
            assert_eq!(Mode::Write.selects(class), is_write(class));
            assert_eq!(Mode::Read.selects(class), !is_write(class));
            assert!(Mode::All.selects(class));
            let single = Mode::ALL[..4].iter().filter(|mode| mode.selects(class)).count();
            assert_eq!(single, 1, "{class:?} belongs to exactly one single mode");
        }
    }
}
