//! How one run looked, phase by phase and function by function: what scaling models are made from.
//!
//! The figures of a [`ModeProfile`] are those that TMIO writes and FTIO's `ioparse` hands to Extra-P, under
//! the same names and in bytes, seconds and bytes per second. See [`phase`] for what a phase is, and
//! [`bandwidth`] for how phases become the bandwidth of an application.
//!
//! | input | where the figures come from |
//! |---|---|
//! | our trace | every operation |
//! | a TMIO file | as the file has them, the bandwidth of the application from its phases |
//! | a Darshan log | its counters; phases and bandwidths from DXT where there is some |
//! | anything else | its requests |

pub mod bandwidth;
mod darshan;
pub mod figures;
pub mod measurements;
mod ours;
pub mod phase;
mod requests;
mod tally;
mod tmio;

pub use figures::{FunctionProfile, Look, ModeProfile, Profile, Series};
use sources::{Kind, Opened, Source, SourceError, tmio_file};
pub use tally::Profiler;

/// Profile an input.
///
/// # Errors
///
/// It cannot be read.
pub fn profile(opened: Opened) -> Result<Profile, SourceError> {
    let read = |_: &str, source: Box<dyn Source + '_>| source.read(Default::default(), &mut |_| {});
    profile_and(opened, Box::new(read)).map(|(profile, _)| profile)
}

/// Profile an input, and hand its requests to `look` in the same pass: some inputs can be read only once.
/// What `look` makes of them may fail (a log of counters alone has no requests) and there is a profile all
/// the same.
///
/// # Errors
///
/// The input cannot be read.
pub fn profile_and<R>(
    opened: Opened,
    look: Box<Look<'_, R>>,
) -> Result<(Profile, Result<R, SourceError>), SourceError> {
    let name = opened.name;
    match opened.kind {
        Kind::Ours(trace) => ours::profile(&name, trace, look),
        Kind::Tmio(file) => {
            let digest = file.into_digest()?;
            Ok((tmio::profile(&digest), look(&name, tmio_file::source(&name, digest))))
        }
        Kind::Darshan(log) => {
            let profile = darshan::profile(&log)?;
            Ok((profile, log.into_source().and_then(|source| look(&name, source))))
        }
        Kind::Profile(counted) => {
            let total = counted.ranks.zip(counted.run_time).map(|(ranks, time)| f64::from(ranks) * time);
            let profile = Profile {
                ranks: counted.ranks,
                total_time: total,
                counters: counted.counters.iter().cloned().collect(),
                ..Profile::default()
            };
            let opened = Opened { name: name.clone(), kind: Kind::Profile(counted) };
            Ok((profile, opened.into_source().and_then(|source| look(&name, source))))
        }
        kind => {
            let source = Opened { name: name.clone(), kind }.into_source()?;
            let mut profile = None;
            let seen = look(&name, Box::new(requests::Watched { source, profile: &mut profile }));
            match profile {
                Some(profile) => Ok((profile, seen)),
                None => Err(seen.err().unwrap_or(SourceError::Empty { name })),
            }
        }
    }
}

#[cfg(test)]
mod tests;
