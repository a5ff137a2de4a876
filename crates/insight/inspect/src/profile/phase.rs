//! Phases: what TMIO measures bandwidths over.
//!
//! A blocking operation is a phase of its own. A nonblocking one opens a phase if the rank has no other
//! request of its direction under way, and joins the phase otherwise. A phase ends when its last request is
//! complete. It *had to* be complete at the first deadline (entry of a call that completed one of its
//! requests) after the last request was issued. Where all requests are issued before the first is waited for,
//! this is TMIO's definition; where more are issued in between, TMIO takes the first wait of all, which gives
//! later requests negative durations.

use super::bandwidth::{Stretch, rate};
use tmio_trace::Class;

/// One operation, as far as phases are concerned. Times are nanoseconds of job time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// Who, where that is known.
    pub rank: Option<u32>,
    /// Entry of the call.
    pub start: i64,
    /// Return of the call that completed it.
    pub end: i64,
    /// Entry of the call that completed it; `end` for a blocking one.
    pub deadline: i64,
    /// Bytes transferred.
    pub bytes: u64,
}

/// A phase of one rank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Phase {
    /// Who, where that is known.
    pub rank: Option<u32>,
    /// Entry of the first call.
    pub start: i64,
    /// When the last request was complete.
    pub end: i64,
    /// When it had to be.
    pub required_end: i64,
    /// Bytes of all requests.
    pub bytes: u64,
    requests: Requests,
}

/// Nearly all phases have one request.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Requests {
    One(Access),
    Several(Vec<Access>),
}

impl Phase {
    fn new(accesses: &[Access]) -> Option<Self> {
        let first = accesses.first()?;
        let last_issue = accesses.iter().map(|access| access.start).max()?;
        let end = accesses.iter().map(|access| access.end).max()?;
        let deadlines = accesses.iter().map(|access| access.deadline);
        Some(Phase {
            rank: first.rank,
            start: first.start,
            end,
            required_end: deadlines.filter(|deadline| *deadline >= last_issue).min().unwrap_or(end),
            bytes: accesses.iter().fold(0, |sum, access| sum.saturating_add(access.bytes)),
            requests: match accesses {
                [one] => Requests::One(*one),
                several => Requests::Several(several.to_vec()),
            },
        })
    }

    fn accesses(&self) -> &[Access] {
        match &self.requests {
            Requests::One(access) => std::slice::from_ref(access),
            Requests::Several(accesses) => accesses,
        }
    }

    /// Number of operations.
    pub fn operations(&self) -> u64 {
        self.accesses().len() as u64
    }

    /// Its requests with the bandwidth of each, to their end or to when they had to be complete: their own
    /// deadline or that of the phase, whichever comes first.
    pub fn requests(&self, required: bool) -> impl Iterator<Item = Stretch> {
        self.accesses().iter().map(move |access| {
            let end = if required { access.deadline.min(self.required_end) } else { access.end };
            Stretch { start: access.start, end, bandwidth: rate(access.bytes, access.start, end) }
        })
    }

    /// Bytes over duration.
    pub fn average(&self, required: bool) -> f64 {
        rate(self.bytes, self.start, if required { self.required_end } else { self.end })
    }

    /// The bandwidths of its requests, added up.
    pub fn sum(&self, required: bool) -> f64 {
        self.requests(required).map(|request| request.bandwidth).sum()
    }

    /// Nanoseconds from its start to its end.
    pub fn time(&self) -> i64 {
        self.end.saturating_sub(self.start).max(0)
    }

    /// Nanoseconds from its start to when it had to be complete.
    pub fn required_time(&self) -> i64 {
        self.required_end.saturating_sub(self.start).max(0)
    }

    /// Nanoseconds beyond the moment it had to be complete.
    pub fn lost_time(&self) -> i64 {
        self.end.saturating_sub(self.required_end).max(0)
    }
}

/// The phases of a class, rank by rank and in the order of time.
pub fn phases(class: Class, mut accesses: Vec<Access>) -> Vec<Phase> {
    accesses.sort_unstable_by_key(|access| {
        (access.rank, access.start, access.end, access.deadline, access.bytes)
    });
    if matches!(class, Class::WriteSync | Class::ReadSync) {
        return accesses.chunks(1).filter_map(Phase::new).collect();
    }
    let mut found = Vec::new();
    let mut from = 0;
    let mut until = i64::MIN;
    for (i, access) in accesses.iter().enumerate() {
        let same_rank = access.rank.is_some() && accesses[from].rank == access.rank;
        let joins = i > from && same_rank && access.start < until;
        if !joins {
            found.extend(Phase::new(&accesses[from..i]));
            (from, until) = (i, access.end);
        }
        until = until.max(access.end);
    }
    found.extend(Phase::new(&accesses[from..]));
    found
}
