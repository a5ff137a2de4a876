//! The service from outside: a real server on a free port, asked over HTTP.

mod access;
mod contract;
mod crash;
mod hostile;
mod notices;
mod pushes;
mod robust;
mod server;
mod traces;
