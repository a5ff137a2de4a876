//! What an input holds: `ftio info` and the measurements of `ftio model`.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod class_tally;
pub mod darshan;
pub mod module;
pub mod overlap;
pub mod participation;
pub mod profile;
pub mod summary;
pub mod tally;
pub mod usage;
pub mod waiting;

use sources::proxy_profile::ProxyProfile;
use sources::time::nanoseconds;
use sources::{InMemory, Job};
use sources::{Kind, Opened, SourceError};
use summary::{JobInfo, Summary, clock};
use tally::{summarize_source, summarize_trace};

/// Sum up an input, whatever it is.
///
/// # Errors
///
/// It cannot be read.
pub fn summarize(opened: Opened) -> Result<Summary, SourceError> {
    match opened.kind {
        Kind::Ours(trace) => summarize_trace(&opened.name, trace),
        Kind::Darshan(log) => darshan::summarize(log),
        Kind::Profile(profile) => profile_of_counters(profile),
        _ => summarize_source(&opened.name.clone(), opened.into_source()?),
    }
}

/// What the metric proxy says about a job.
fn profile_of_counters(profile: ProxyProfile) -> Result<Summary, SourceError> {
    let end = profile.run_time.map(nanoseconds);
    let job = Job { ranks: profile.ranks, start: Some(0), end, complete: true, ..Job::default() };
    let mut summary = summarize_source(&profile.name, Box::new(InMemory { requests: &[], job }))?;
    summary.job = Some(JobInfo {
        id: profile.job,
        executable: profile.command,
        command: None,
        mpi: None,
        tmio: None,
        start: profile.start,
        start_time: clock(profile.start),
        user: None,
        recorder: Some("metric proxy".into()),
    });
    summary.counters = Some(profile.counters.into_iter().collect());
    Ok(summary)
}
