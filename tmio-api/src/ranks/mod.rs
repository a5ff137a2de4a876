//! What ranks agree on: their nodes, their clocks, the plan of the trace, and its commit at the end.

mod ask;
pub mod clocks;
pub(crate) mod commit;
pub mod nodes;
pub(crate) mod plan;
#[cfg(test)]
pub(crate) mod threads;
pub(crate) mod world;
