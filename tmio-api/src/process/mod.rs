//! The process that is traced, or that helps: its clock, its threads, its surroundings, its one line on
//! standard error.

pub mod clock;
pub(crate) mod launch;
pub mod message;
pub mod preloaded;
pub(crate) mod shield;
pub mod state;
pub mod surroundings;
pub(crate) mod system;
pub mod thread;
