//! Batch systems: which jobs ran on which nodes when, and the length of the I/O queue.

mod nodes;
mod queue;

pub use nodes::sheet as nodes;
pub use queue::sheet as queue;
