//! The protocol, tried in every order: a file system in memory, a job that does something to its files, and
//! an explorer that lets one of them, or a failure of the machine, go first before every call.
//!
//! - [`disk`]: files, and what is left of them after a failure: what was not synchronised may be lost, in any
//!   order;
//! - [`job`]: what a job does;
//! - [`machine`]: both behind the trait that the protocol is written against;
//! - [`explore`]: every order, each state once;
//! - [`rules`]: what must hold in every state, and after every failure;
//! - [`tests`]: jobs, and the mistakes that must be found.

mod disk;
mod explore;
mod job;
mod machine;
mod rules;
mod tests;
