//! The file system as flows: each server divides its bandwidth anew whenever somebody begins or ends.

use super::{Demand, FileSystem, Flow, Placement, Platform, Sharing, Transfer, rates, seconds};
use crate::queue::Nanoseconds;
use crate::rules::Priority;

/// Less than this is rounding.
const NOTHING: f64 = 0.5;

/// Stretches are one if their rates differ by no more than this part.
const SAME_RATE: f64 = 0.05;

pub struct Fluid {
    servers: Vec<Server>,
    applications: Vec<Client>,
    sharing: Sharing,
    /// Are transfers of interest?
    keep: bool,
}

struct Server {
    capacity: f64,
    flows: Vec<Flow>,
    /// Flows are as they were at this time.
    at: Nanoseconds,
    /// When the first of them ends.
    next: Option<Nanoseconds>,
}

struct Client {
    priority: Priority,
    /// Servers that have not finished its phase.
    open: usize,
    transfers: Vec<Transfer>,
}

impl Fluid {
    pub fn new(platform: &Platform, sharing: Sharing, priorities: &[Priority], keep: bool) -> Self {
        let count = platform.servers.max(1);
        let capacity = platform.capacity / count as f64;
        let server = |_| Server { capacity, flows: Vec::new(), at: 0, next: None };
        let client = |&priority| Client { priority, open: 0, transfers: Vec::new() };
        Fluid {
            servers: (0..count).map(server).collect(),
            applications: priorities.iter().map(client).collect(),
            sharing,
            keep,
        }
    }
}

impl FileSystem for Fluid {
    fn begin(&mut self, demand: &Demand, placement: &Placement, now: Nanoseconds) {
        let application = demand.application;
        for (server, part) in self.servers.iter_mut().zip(placement.parts()).filter(|(_, part)| *part > 0.0) {
            server.flow_until(now, self.keep, &mut self.applications);
            let client = &mut self.applications[application];
            client.open += 1;
            server.flows.push(Flow {
                application,
                job: demand.job,
                priority: client.priority,
                since: now,
                left: demand.bytes as f64 * part,
                most: demand.most * part,
                // Requests come in proportion to the files that are there.
                weight: demand.weight * part,
                rate: 0.0,
            });
            server.divide(self.sharing);
        }
    }

    fn prioritise(&mut self, application: usize, priority: Priority) {
        self.applications[application].priority = priority;
    }

    fn next(&self) -> Option<Nanoseconds> {
        self.servers.iter().filter_map(|server| server.next).min()
    }

    fn advance(&mut self, to: Nanoseconds, ended: &mut Vec<usize>) {
        for server in self.servers.iter_mut().filter(|server| server.next.is_some_and(|next| next <= to)) {
            let applications = &mut self.applications;
            server.flow_until(to, self.keep, applications);
            server.flows.retain(|flow| {
                let done = flow.left <= NOTHING;
                if done {
                    let client = &mut applications[flow.application];
                    client.open -= 1;
                    if client.open == 0 {
                        ended.push(flow.application);
                    }
                }
                !done
            });
            server.divide(self.sharing);
        }
    }

    fn transfers(&mut self, application: usize) -> Vec<Transfer> {
        std::mem::take(&mut self.applications[application].transfers)
    }
}

impl Server {
    /// Let the bytes flow until then.
    fn flow_until(&mut self, to: Nanoseconds, keep: bool, applications: &mut [Client]) {
        let time = seconds(to - self.at);
        if time > 0.0 {
            for flow in self.flows.iter_mut().filter(|flow| flow.rate > 0.0) {
                let bytes = (flow.rate * time).min(flow.left);
                flow.left -= bytes;
                if keep {
                    let transfer = Transfer { start: self.at, end: to, bytes };
                    append(&mut applications[flow.application].transfers, transfer);
                }
            }
        }
        self.at = to;
    }

    /// Divide the bandwidth anew.
    fn divide(&mut self, sharing: Sharing) {
        rates(&mut self.flows, self.capacity, sharing);
        let end = |flow: &Flow| {
            let time = (flow.left / flow.rate * 1e9).ceil();
            (flow.rate > 0.0 && time < 1e18).then(|| self.at + time as Nanoseconds)
        };
        self.next = self.flows.iter().filter_map(end).min();
    }
}

/// Add a stretch, to the last one if it goes on at the same rate.
fn append(transfers: &mut Vec<Transfer>, next: Transfer) {
    if let Some(last) = transfers.last_mut().filter(|last| last.end == next.start) {
        let rate = |transfer: &Transfer| transfer.bytes / seconds(transfer.end - transfer.start);
        if (rate(last) - rate(&next)).abs() <= SAME_RATE * rate(last) {
            last.end = next.end;
            last.bytes += next.bytes;
            return;
        }
    }
    transfers.push(next);
}
