//! The `ftio` command from outside: arguments in; output, messages, exit code and files out.

mod analyses;
mod bad_input;
mod browser;
mod categorize;
mod darshan;
mod detection;
mod extra_p;
mod info;
mod inputs;
mod launch;
mod model;
mod predict;
mod run;
mod scale;
mod schedule;
mod show;
mod support;
