//! What else may be known of a request: who made it, on which file, and when it had to be done.

use crate::collect::stretch;
use crate::request::{Mode, Request};
use crate::step::Stretch;
use tmio_trace::Operation;

/// A request with its rank, file and deadline, as far as the trace knows them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Detail {
    /// The request.
    pub request: Request,
    /// The rank that made it.
    pub rank: Option<u32>,
    /// The file, by its number in the [`Batch`].
    pub file: Option<u32>,
    /// For a nonblocking request: when it had to be done so as not to be waited for, in nanoseconds of job time.
    pub deadline: Option<i64>,
}

/// Requests of one or more ranks.
#[derive(Clone, Copy, Debug)]
pub struct Batch<'a> {
    /// The requests, in any order.
    pub requests: &'a [Detail],
    /// Names of the files, by number. A number may mean another file in the next batch.
    pub files: &'a [(u32, &'a str)],
}

impl Detail {
    /// From an operation of our trace; `None` if it moves no data.
    pub fn of(rank: u32, op: &Operation) -> Option<Self> {
        let request = Request { start: op.start, end: op.end, bytes: op.bytes, class: op.kind.class()? };
        let deadline = op.nonblocking.map(|times| times.deadline);
        Some(Detail { request, rank: Some(rank), file: Some(op.file), deadline })
    }

    /// The request as the bandwidth it required: from issue to deadline. `None` if there is no deadline.
    pub fn required(&self) -> Option<Request> {
        Some(Request { end: self.deadline?, ..self.request })
    }
}

/// Requests of which nothing else is known.
pub(crate) fn visit_plain(requests: &[Request], visit: &mut dyn FnMut(Batch<'_>)) {
    let plain = |&request: &Request| Detail { request, rank: None, file: None, deadline: None };
    let details: Vec<Detail> = requests.iter().map(plain).collect();
    visit(Batch { requests: &details, files: &[] });
}

/// Each request of the mode as a phase of its own, b = bytes/duration. One without a duration has no bandwidth, and is left out.
pub(crate) fn visit_as_phases(requests: &[Request], mode: Mode, visit: &mut dyn FnMut(&[Stretch])) {
    let selected = requests.iter().filter(|request| mode.selects(request.class));
    let phases: Vec<Stretch> = selected.filter(|request| request.end > request.start).map(stretch).collect();
    visit(&phases);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::Class;

    #[test]
    fn phases_of_requests() {
        let request = |class, start, end| Request { start, end, bytes: 500, class };
        let requests = [
            request(Class::WriteSync, 1_000_000_000, 1_500_000_000),
            request(Class::ReadSync, 0, 10),
            request(Class::WriteSync, 7, 7),
            request(Class::WriteSync, 9, 8),
        ];
        let mut phases = Vec::new();
        visit_as_phases(&requests, Mode::WriteSync, &mut |some| phases.extend_from_slice(some));
        assert_eq!(phases, [Stretch { start: 1.0, end: 1.5, bandwidth: 1000.0 }]);
    }
}
