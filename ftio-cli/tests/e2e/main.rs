//! The `ftio` command from outside: arguments in; output, messages, exit code and files out.

mod advise;
mod analysis_options;
mod bad_input;
mod batch;
mod browser;
mod categorize;
mod clean;
mod command_line;
mod convert;
mod darshan;
mod detection;
mod diff;
mod every_way;
mod extra_p;
mod first_use;
mod info;
mod inputs;
mod model;
mod one_period;
mod output_files;
mod plot;
mod predict;
mod published;
mod recover;
mod report;
mod run;
mod scale;
mod schedule;
mod schemas;
#[cfg(feature = "serve")]
mod serve;
mod signature;
mod stage;
mod support;
mod trace;
mod turns;
