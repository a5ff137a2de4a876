//! What is in a trace: frames, blocks of columns, operations; and the cells of memory that become blocks.

pub mod block;
pub mod checksum;
pub mod column;
pub mod filter;
pub mod frame;
pub(crate) mod meta;
pub(crate) mod operation;
pub mod raw;
pub mod times;
