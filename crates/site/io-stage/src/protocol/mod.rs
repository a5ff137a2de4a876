//! How a file is copied, and how it leaves the buffer: nothing is ever lost.
//!
//! The rule: **a file leaves the buffer only if the very bytes that are in it are durable at the
//! destination.** `docs/stage.md` has the states of a file and what is known in each; the functions here are
//! its arrows, in this order:
//!
//! - [`copy`]: a draft beside the place of the copy, with everything on the disk, gets its name if the source
//!   is still the version that was read;
//! - [`set_aside`](evict::set_aside): names of the copy reach the disk, and the source gets a private name,
//!   so that nobody finds it any more;
//! - [`finish`](evict::finish), a while later: if the very file that was copied is there, nobody can write to
//!   it, and it was not written to, it is removed; otherwise it gets its name back;
//! - [`restart`]: what a process that was killed has left.
//!
//! All of them are written against [`System`](crate::system::System), and tried in every order with
//! everything that a job may do, and with a failure of the machine after every call (`model`, in the tests).

pub mod copy;
pub mod evict;
mod folders;
pub mod restart;
mod steps;

pub use folders::{Durable, Places, aside_name, is_aside, is_draft};
#[cfg(test)]
pub use steps::leave_out;
pub use steps::{Step, left_out};
