//! The `ftio` command from outside: arguments in; output, messages, exit code and files out.

mod analysis_options;
mod bad_input;
mod browser;
mod categorize;
mod command_line;
mod convert;
mod darshan;
mod detection;
mod every_way;
mod extra_p;
mod info;
mod inputs;
mod model;
mod one_period;
mod plot;
mod predict;
mod recover;
mod run;
mod scale;
mod schedule;
mod signature;
mod support;
mod trace;
