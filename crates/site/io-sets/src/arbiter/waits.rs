//! Who has to hear when that the arbiter is there.
//!
//! All those who wait hear it equally often, so that a queue is enough: who was told last is at its end.

use crate::arbiter::job::NodeId;
use crate::arbiter::settings::SIGN;
use std::collections::VecDeque;

#[derive(Debug, Default)]
pub(crate) struct Waits {
    due: VecDeque<(f64, NodeId)>,
}

impl Waits {
    /// This node was told "not yet" now.
    pub(crate) fn told(&mut self, now: f64, node: NodeId) {
        self.due.push_back((now + SIGN, node));
    }

    /// Whoever has to hear it now: at most `most`, so that a hundred thousand do not keep others waiting.
    pub(crate) fn take(&mut self, now: f64, most: usize) -> Vec<NodeId> {
        let due = self.due.iter().take(most).take_while(|(due, _)| *due <= now).count();
        self.due.drain(..due).map(|(_, node)| node).collect()
    }

    /// When the next one has to hear it.
    pub(crate) fn next(&self) -> Option<f64> {
        self.due.front().map(|(due, _)| *due)
    }
}
