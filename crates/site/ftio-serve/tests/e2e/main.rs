//! The service from outside: a real server on a free port, asked over HTTP.

mod access;
mod archives;
mod contract;
mod crash;
mod damage;
mod hostile;
mod notices;
mod old_store;
mod pushes;
mod robust;
mod server;
mod shares;

mod times;
mod traces;
