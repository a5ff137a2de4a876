//! TMIO's phases, derived from operations.
//!
//! A phase is what the C++ TMIO measures bandwidth over, per rank and [`Class`]:
//!
//! - **Blocking** operations: every call is a phase of its own.
//! - **Nonblocking** operations: a phase opens with the first request that is issued while the rank
//!   has no other request of that direction outstanding, and takes in every further request issued
//!   before all of them are complete. It ends, *actually*, when the last of its requests is seen
//!   complete; and *as required*, at the first deadline (entry of a call that completed one of
//!   them) after its last request was issued. The bandwidth required of a request is counted up to its
//!   own deadline or the required end of its phase, whichever comes first.
//!
//! Where requests are all issued before the first is waited for, that is TMIO's definition. Where an
//! application issues more while it waits (double buffering), TMIO takes the first wait of the phase
//! for its required end, and later requests get a negative bandwidth; here they do not.
//!
//! Durations count as at least one nanosecond, the resolution of the trace: no bandwidth is infinite.

use crate::{Class, Operation};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, TryReserveError};

/// One phase of one rank. Times are nanoseconds, bandwidths bytes per second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Phase {
    /// Entry of the first call.
    pub start: i64,
    /// When its last operation was seen complete; TMIO's `t_end_act`.
    pub end: i64,
    /// When it had to be complete so that no rank waits; TMIO's `t_end_req`. `None`: blocking.
    pub required_end: Option<i64>,
    /// Bytes of all its operations.
    pub bytes: u64,
    /// Number of its operations.
    pub operations: u64,
    /// Bandwidths of its operations, added up; TMIO's `T_sum`.
    pub throughput_sum: f64,
    /// Required bandwidths of its operations, added up; TMIO's `B_sum`. 0 for a blocking one.
    pub required_sum: f64,
    /// Time that the application lost to its operations, see [`Operation::lost_time`].
    pub lost_time: i64,
}

/// One nonblocking operation as a part of its phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Entry of the `i…` call.
    pub start: i64,
    /// Return of the call that completed it.
    pub end: i64,
    /// Its deadline or the required end of its phase, whichever is earlier.
    pub required_end: i64,
    /// Bytes transferred.
    pub bytes: u64,
}

/// Bandwidth in bytes per second of `bytes` between two times in nanoseconds.
pub fn rate(bytes: u64, from: i64, to: i64) -> f64 {
    bytes as f64 * 1e9 / to.saturating_sub(from).max(1) as f64
}

impl Phase {
    /// Bytes over actual duration; TMIO's `T_avr`.
    pub fn throughput(&self) -> f64 {
        rate(self.bytes, self.start, self.end)
    }

    /// Bytes over required duration; TMIO's `B_avr`. 0 for a blocking phase.
    pub fn required(&self) -> f64 {
        self.required_end.map_or(0.0, |end| rate(self.bytes, self.start, end))
    }
}

/// The phases of a job: see [`PhaseBuilder`].
#[derive(Debug, Default)]
pub struct Phases {
    ranks: BTreeMap<u32, RankPhases>,
}

#[derive(Debug, Default)]
struct RankPhases {
    /// Blocking writes and reads.
    calls: [Vec<Call>; 2],
    /// Nonblocking ones that have not been grouped yet.
    pending: [Vec<Pending>; 2],
    phases: [Vec<Phase>; 2],
    requests: [Vec<Request>; 2],
}

/// A blocking phase in the least memory.
#[derive(Clone, Copy, Debug)]
struct Call {
    start: i64,
    end: i64,
    bytes: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Pending {
    start: i64,
    end: i64,
    deadline: i64,
    bytes: u64,
    lost_time: i64,
}

impl From<Call> for Phase {
    fn from(call: Call) -> Self {
        Phase {
            start: call.start,
            end: call.end,
            required_end: None,
            bytes: call.bytes,
            operations: 1,
            throughput_sum: rate(call.bytes, call.start, call.end),
            required_sum: 0.0,
            lost_time: call.end.saturating_sub(call.start),
        }
    }
}

/// Where a class is kept: blocking or not, and which of the two.
fn place(class: Class) -> (bool, usize) {
    match class {
        Class::WriteSync => (false, 0),
        Class::ReadSync => (false, 1),
        Class::WriteAsync => (true, 0),
        Class::ReadAsync => (true, 1),
    }
}

/// Appends without ending the process where there is no memory.
fn try_push<T>(list: &mut Vec<T>, item: T) -> Result<(), TryReserveError> {
    list.try_reserve(1)?;
    list.push(item);
    Ok(())
}

impl Phases {
    /// The ranks that are known, ascending.
    pub fn ranks(&self) -> impl Iterator<Item = u32> {
        self.ranks.keys().copied()
    }

    /// The phases of one rank, by start.
    pub fn of_rank(&self, rank: u32, class: Class) -> impl Iterator<Item = Phase> {
        self.ranks.get(&rank).into_iter().flat_map(move |phases| phases.of(class))
    }

    /// All phases with their ranks: rank after rank, each by start.
    pub fn of_class(&self, class: Class) -> impl Iterator<Item = (u32, Phase)> {
        self.ranks.iter().flat_map(move |(&rank, phases)| phases.of(class).map(move |phase| (rank, phase)))
    }

    /// All requests of a nonblocking class in the order of their phases, if they were
    /// [kept](PhaseBuilder::keep_requests).
    pub fn requests(&self, class: Class) -> impl Iterator<Item = (u32, Request)> {
        let (nonblocking, index) = place(class);
        self.ranks.iter().flat_map(move |(&rank, phases)| {
            let requests = phases.requests.get(index).filter(|_| nonblocking);
            requests.into_iter().flatten().map(move |request| (rank, *request))
        })
    }
}

impl RankPhases {
    fn of(&self, class: Class) -> impl Iterator<Item = Phase> {
        let (nonblocking, index) = place(class);
        let calls = self.calls.get(index).filter(|_| !nonblocking);
        let phases = self.phases.get(index).filter(|_| nonblocking);
        let calls = calls.into_iter().flatten().map(|call| Phase::from(*call));
        calls.chain(phases.into_iter().flatten().copied())
    }

    fn push(&mut self, op: &Operation) -> Result<(), TryReserveError> {
        let Some((nonblocking, index)) = op.kind.class().map(place) else { return Ok(()) };
        let end = op.end.max(op.start);
        if nonblocking {
            let deadline = op.nonblocking.map_or(end, |times| times.deadline.clamp(op.start, end));
            let request =
                Pending { start: op.start, end, deadline, bytes: op.bytes, lost_time: op.lost_time() };
            self.pending.get_mut(index).map_or(Ok(()), |pending| try_push(pending, request))
        } else {
            let call = Call { start: op.start, end, bytes: op.bytes };
            self.calls.get_mut(index).map_or(Ok(()), |calls| try_push(calls, call))
        }
    }

    /// Puts everything in order and groups what is pending.
    fn finish(&mut self, keep_requests: bool) {
        for calls in &mut self.calls {
            calls.sort_by_key(|call| call.start);
            calls.shrink_to_fit();
        }
        let lists = self.pending.iter_mut().zip(&mut self.phases).zip(&mut self.requests);
        for ((pending, phases), requests) in lists {
            let mut pending = std::mem::take(pending);
            pending.sort();
            let mut grouping = Grouping { phases, requests: keep_requests.then_some(requests), open: None };
            pending.into_iter().for_each(|request| grouping.push(request));
            grouping.close();
            phases.sort_by_key(|phase| phase.start);
        }
    }

    fn memory(&self) -> usize {
        let bytes = |count: usize, each: usize| count.saturating_mul(each);
        let calls: usize = self.calls.iter().map(|v| bytes(v.capacity(), size_of::<Call>())).sum();
        let pending: usize = self.pending.iter().map(|v| bytes(v.capacity(), size_of::<Pending>())).sum();
        let phases: usize = self.phases.iter().map(|v| bytes(v.capacity(), size_of::<Phase>())).sum();
        let requests: usize = self.requests.iter().map(|v| bytes(v.capacity(), size_of::<Request>())).sum();
        calls + pending + phases + requests
    }
}

/// Makes phases of the requests of one rank and direction, given by ascending start.
struct Grouping<'a> {
    phases: &'a mut Vec<Phase>,
    requests: Option<&'a mut Vec<Request>>,
    open: Option<OpenPhase>,
}

struct OpenPhase {
    /// Its required end is open.
    phase: Phase,
    /// Requests whose deadline is not before the last issue, the earliest deadline on top.
    waiting: BinaryHeap<Reverse<(i64, Pending)>>,
    /// Those whose deadline has passed.
    settled: Vec<Request>,
}

impl Grouping<'_> {
    fn push(&mut self, request: Pending) {
        if self.open.as_ref().is_some_and(|open| open.phase.end <= request.start) {
            self.close();
        }
        let keep = self.requests.is_some();
        let open = self.open.get_or_insert_with(|| OpenPhase::at(request.start));
        // A deadline before this issue does not hold for the whole phase.
        while let Some(Reverse((deadline, earlier))) = open.waiting.peek().copied() {
            if deadline >= request.start {
                break;
            }
            open.waiting.pop();
            open.settle(earlier, deadline, keep);
        }
        let phase = &mut open.phase;
        phase.end = phase.end.max(request.end);
        phase.bytes = phase.bytes.saturating_add(request.bytes);
        phase.operations += 1;
        phase.throughput_sum += rate(request.bytes, request.start, request.end);
        phase.lost_time = phase.lost_time.saturating_add(request.lost_time);
        open.waiting.push(Reverse((request.deadline, request)));
    }

    fn close(&mut self) {
        let Some(mut open) = self.open.take() else { return };
        let required_end = open.waiting.peek().map_or(open.phase.end, |Reverse((deadline, _))| *deadline);
        let mut waiting: Vec<Pending> =
            std::mem::take(&mut open.waiting).into_iter().map(|Reverse((_, request))| request).collect();
        waiting.sort();
        for request in waiting {
            open.settle(request, required_end, self.requests.is_some());
        }
        open.phase.required_end = Some(required_end);
        self.phases.push(open.phase);
        if let Some(requests) = &mut self.requests {
            open.settled.sort_by_key(|request| request.start);
            requests.append(&mut open.settled);
        }
    }
}

impl OpenPhase {
    fn at(start: i64) -> Self {
        let phase = Phase {
            start,
            end: start,
            required_end: None,
            bytes: 0,
            operations: 0,
            throughput_sum: 0.0,
            required_sum: 0.0,
            lost_time: 0,
        };
        Self { phase, waiting: BinaryHeap::new(), settled: Vec::new() }
    }

    fn settle(&mut self, request: Pending, required_end: i64, keep: bool) {
        let Pending { start, end, bytes, .. } = request;
        self.phase.required_sum += rate(bytes, start, required_end);
        if keep {
            self.settled.push(Request { start, end, required_end, bytes });
        }
    }
}

/// Collects operations, rank by rank or in any order, and derives the phases.
///
/// Takes 24 bytes per blocking operation, and 40 per nonblocking one until its rank is finished,
/// then 72 per phase (and 32 per request, if they are kept).
#[derive(Debug, Default)]
pub struct PhaseBuilder {
    keep_requests: bool,
    phases: Phases,
    memory: usize,
}

impl PhaseBuilder {
    /// Nothing collected yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Keeps the single requests of nonblocking phases as well.
    pub fn keep_requests(mut self) -> Self {
        self.keep_requests = true;
        self
    }

    /// Adds operations of a rank, in any order; metadata operations are left out.
    pub fn push(&mut self, rank: u32, operations: &[Operation]) -> Result<(), TryReserveError> {
        let phases = self.phases.ranks.entry(rank).or_default();
        let before = phases.memory();
        let pushed = operations.iter().try_for_each(|op| phases.push(op));
        self.memory = self.memory.saturating_sub(before).saturating_add(phases.memory());
        pushed
    }

    /// Says that all operations of a rank are there; what is added later is grouped apart.
    pub fn finish_rank(&mut self, rank: u32) {
        if let Some(phases) = self.phases.ranks.get_mut(&rank) {
            let before = phases.memory();
            phases.finish(self.keep_requests);
            self.memory = self.memory.saturating_sub(before).saturating_add(phases.memory());
        }
    }

    /// Bytes of memory in use.
    pub fn memory(&self) -> usize {
        self.memory
    }

    /// The phases of everything that was added.
    pub fn finish(mut self) -> Phases {
        self.phases.ranks.values_mut().for_each(|phases| phases.finish(self.keep_requests));
        self.phases
    }
}
