//! What a follower hands out.

use crate::request::Request;

/// A signal in the input: all requests of a trace, or one of several sampled quantities.
#[derive(Clone, Debug, PartialEq)]
pub struct Stream {
    /// What results call it.
    pub name: String,
    /// When it begins, in nanoseconds of job time; `None`: with its first request.
    pub begins: Option<i64>,
    /// See [`Job::per_unit`](crate::Job::per_unit).
    pub per_unit: Option<f64>,
}

/// Something that was added.
#[derive(Debug)]
pub enum Event<'a> {
    /// The input is that of another run: nothing said before counts any more.
    Restarted,
    /// A signal. They are numbered from 0, in the order in which they are announced.
    Stream(&'a Stream),
    /// Requests of a signal.
    Requests {
        /// Its number.
        stream: usize,
        /// In any order.
        requests: &'a [Request],
    },
    /// Every request of a signal up to this job time has been passed on.
    Flush {
        /// Its number.
        stream: usize,
        /// In nanoseconds.
        until: i64,
    },
    /// On the clock, job time 0 is this.
    Clock {
        /// The number of the signal.
        stream: usize,
        /// In nanoseconds since 1970.
        origin: i64,
    },
    /// Something that could not be used.
    Warning(&'a str),
}

/// How things stand after a look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Status {
    /// There is something to follow.
    pub found: bool,
    /// Something was added since the last look.
    pub grew: bool,
    /// Requests were passed on that no flush has covered yet: look again soon, or
    /// [`settle`](crate::follow::Follower::settle).
    pub unsettled: bool,
    /// The job has reached its end, or is dead; nothing more will come of this run.
    pub ended: bool,
}
