//! The service from outside: a real server on a free port, asked over HTTP.

mod access;
mod contract;
mod crash;
mod pushes;
mod server;
mod traces;
