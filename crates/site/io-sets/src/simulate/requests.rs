//! The file system request by request: processes that wait for each of theirs, and servers with a queue.
//!
//! A process issues a request, which takes some time to reach the server, waits in its queue, is handled, and
//! is done; then the process issues the next. A server handles one request at a time at its full bandwidth,
//! which is what a pool of threads does that share one device. The time on the way is what keeps a single
//! application at the bandwidth that it reaches alone.

mod order;

use super::{Demand, FileSystem, Placement, Platform, Sharing, Transfer, nanoseconds};
use crate::queue::{JobId, Nanoseconds};
use crate::rules::Priority;
use order::Order;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

pub struct Requests {
    servers: Vec<Server>,
    applications: Vec<Client>,
    events: BinaryHeap<Reverse<(Nanoseconds, Event)>>,
    request: u64,
    keep: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// The next request of a process reaches its server.
    Arrives { application: usize, process: usize },
    /// A server is done with what it handles.
    Done { server: usize },
}

struct Server {
    capacity: f64,
    order: Order,
    handles: Option<Request>,
}

/// A request in a queue.
#[derive(Clone, Copy, Debug)]
pub(super) struct Request {
    pub application: usize,
    pub job: JobId,
    pub process: usize,
    pub priority: Priority,
    pub since: Nanoseconds,
    pub bytes: u64,
}

struct Client {
    job: JobId,
    priority: Priority,
    since: Nanoseconds,
    /// Time on the way.
    way: Nanoseconds,
    placement: Option<Placement>,
    processes: Vec<Process>,
    /// Processes that have not finished the phase.
    open: usize,
    transfers: Vec<Transfer>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Process {
    left: u64,
    count: u64,
    issued: Nanoseconds,
}

impl Requests {
    pub fn new(platform: &Platform, sharing: Sharing, priorities: &[Priority], keep: bool) -> Self {
        let count = platform.servers.max(1);
        let server = |_| Server {
            capacity: platform.capacity / count as f64,
            order: Order::new(sharing),
            handles: None,
        };
        let client = |&priority| Client {
            job: 0,
            priority,
            since: 0,
            way: 0,
            placement: None,
            processes: Vec::new(),
            open: 0,
            transfers: Vec::new(),
        };
        Requests {
            servers: (0..count).map(server).collect(),
            applications: priorities.iter().map(client).collect(),
            events: BinaryHeap::new(),
            request: platform.request.max(1),
            keep,
        }
    }

    fn happen(&mut self, event: Event, now: Nanoseconds, ended: &mut Vec<usize>) {
        match event {
            Event::Arrives { application, process } => {
                let client = &self.applications[application];
                let Some(placement) = &client.placement else { return };
                let own = client.processes[process];
                let request = Request {
                    application,
                    job: client.job,
                    process,
                    priority: client.priority,
                    since: client.since,
                    bytes: own.left.min(self.request),
                };
                self.servers[placement.server(process, own.count)].order.push(request, now);
            }
            Event::Done { server } => {
                let server = &mut self.servers[server];
                let Some(request) = server.handles.take() else { return };
                self.done(request, now, ended);
            }
        }
    }

    /// A process has its answer.
    fn done(&mut self, request: Request, now: Nanoseconds, ended: &mut Vec<usize>) {
        let Request { application, process, bytes, .. } = request;
        let client = &mut self.applications[application];
        let own = &mut client.processes[process];
        if self.keep {
            client.transfers.push(Transfer { start: own.issued, end: now, bytes: bytes as f64 });
        }
        *own = Process { left: own.left - bytes, count: own.count + 1, issued: now };
        if own.left > 0 {
            self.events.push(Reverse((now + client.way, Event::Arrives { application, process })));
        } else {
            client.open -= 1;
            if client.open == 0 {
                ended.push(application);
            }
        }
    }
}

impl FileSystem for Requests {
    fn begin(&mut self, demand: &Demand, placement: &Placement, now: Nanoseconds) {
        let application = demand.application;
        let processes = demand.processes.max(1);
        let whole = self.servers.first().map_or(1.0, |server| server.capacity);
        // Alone, a process has a request done every `cycle`: the way, and the time to handle it.
        let cycle = f64::from(processes) * self.request as f64 / demand.most;
        let client = &mut self.applications[application];
        client.job = demand.job;
        client.since = now;
        client.way = nanoseconds((cycle - self.request as f64 / whole).max(0.0));
        client.placement = Some(placement.clone());
        client.open = processes as usize;
        client.processes.clear();
        let (each, more) = (demand.bytes / u64::from(processes), demand.bytes % u64::from(processes));
        for process in 0..processes as usize {
            let left = each + u64::from((process as u64) < more);
            client.processes.push(Process { left, count: 0, issued: now });
            // Processes do not act at the same instant.
            let apart = client.way * process as u64 / u64::from(processes);
            self.events.push(Reverse((now + apart, Event::Arrives { application, process })));
        }
    }

    fn prioritise(&mut self, application: usize, priority: Priority) {
        self.applications[application].priority = priority;
    }

    fn next(&self) -> Option<Nanoseconds> {
        self.events.peek().map(|Reverse((time, _))| *time)
    }

    fn advance(&mut self, to: Nanoseconds, ended: &mut Vec<usize>) {
        // All that happens at the same time happens before a server decides.
        while let Some(Reverse((time, event))) = self.events.peek().copied()
            && time <= to
        {
            self.events.pop();
            self.happen(event, time, ended);
            if self.next() != Some(time) {
                self.decide(time);
            }
        }
    }

    fn transfers(&mut self, application: usize) -> Vec<Transfer> {
        std::mem::take(&mut self.applications[application].transfers)
    }
}

impl Requests {
    /// Idle servers take up what is waiting.
    fn decide(&mut self, now: Nanoseconds) {
        for (server, at) in self.servers.iter_mut().zip(0..) {
            if server.handles.is_none()
                && let Some(request) = server.order.pop(now)
            {
                let time = (request.bytes as f64 / server.capacity * 1e9).ceil().max(1.0) as Nanoseconds;
                server.handles = Some(request);
                self.events.push(Reverse((now + time, Event::Done { server: at })));
            }
        }
    }
}
