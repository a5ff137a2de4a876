//! In which order a server handles what is waiting.

use super::{Request, Sharing};
use crate::queue::{JobId, Nanoseconds, Queue};
use std::collections::{BTreeMap, VecDeque};

/// A queue for each policy.
pub enum Order {
    /// As they come.
    Arrival(VecDeque<Request>),
    /// Those of the application whose phase began first.
    FirstCome(BTreeMap<(Nanoseconds, JobId), VecDeque<Request>>),
    /// By sets.
    Sets(Queue<Request>),
}

impl Order {
    pub fn new(sharing: Sharing) -> Self {
        match sharing {
            Sharing::Fair => Order::Arrival(VecDeque::new()),
            Sharing::FirstCome => Order::FirstCome(BTreeMap::new()),
            Sharing::Sets(patience) => Order::Sets(Queue::new(patience)),
        }
    }

    pub fn push(&mut self, request: Request, now: Nanoseconds) {
        match self {
            Order::Arrival(queue) => queue.push_back(request),
            Order::FirstCome(queue) => {
                queue.entry((request.since, request.job)).or_default().push_back(request);
            }
            Order::Sets(queue) => queue.push(request.job, request.priority, request, now),
        }
    }

    pub fn pop(&mut self, now: Nanoseconds) -> Option<Request> {
        match self {
            Order::Arrival(queue) => queue.pop_front(),
            Order::FirstCome(queue) => {
                let mut first = queue.first_entry()?;
                let request = first.get_mut().pop_front();
                if first.get().is_empty() {
                    first.remove();
                }
                request
            }
            Order::Sets(queue) => queue.pop(now).map(|next| next.request),
        }
    }
}
