//! An input that was recognised, ready to be read.

use super::darshan::DarshanLog;
use super::error::SourceError;
use super::job::Source;
use super::options::Rate;
use super::our_trace::TmioTrace;
use super::proxy_profile::ProxyProfile;
use super::series::{self, Series};
use super::since_first::SinceFirst;
use super::tmio_file::TmioFile;

/// An input, or one quantity of several in it.
#[derive(Debug)]
pub struct Opened {
    /// What results call it.
    pub name: String,
    /// What it is.
    pub kind: Kind,
}

/// What an input is, as far as that makes a difference after opening: some formats tell more than requests.
#[non_exhaustive]
pub enum Kind {
    /// A trace of this project.
    Ours(TmioTrace),
    /// A file of the C++ TMIO, or of its shape.
    Tmio(TmioFile),
    /// A Darshan log.
    Darshan(DarshanLog),
    /// What counters came to, without times.
    Profile(ProxyProfile),
    /// A quantity over time.
    Sampled(Sampled),
    /// Anything else.
    Requests(Box<dyn Source>),
}

/// A quantity over time, as its file has it.
#[derive(Clone, Debug, PartialEq)]
pub struct Sampled {
    /// What messages call the file.
    pub input: String,
    /// The quantity.
    pub series: Series,
    /// Is it a counter, as far as the user says?
    pub rate: Rate,
    /// Job time 0, if the user says that.
    pub origin: Option<i64>,
}

impl std::fmt::Debug for Kind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Kind::Ours(_) => "Ours",
            Kind::Tmio(_) => "Tmio",
            Kind::Darshan(_) => "Darshan",
            Kind::Profile(_) => "Profile",
            Kind::Sampled(_) => "Sampled",
            Kind::Requests(_) => "Requests",
        })
    }
}

impl Opened {
    /// Its requests. A Darshan log of counters alone has none.
    pub fn into_source(self) -> Result<Box<dyn Source>, SourceError> {
        Ok(match self.kind {
            Kind::Ours(trace) => Box::new(trace),
            Kind::Tmio(file) => file.into_source(),
            Kind::Darshan(log) => log.into_source()?,
            Kind::Profile(profile) => {
                let found = format!("the totals of {} counters", profile.counters.len());
                let expected = "samples over time".into();
                return Err(SourceError::NoTimes { name: profile.name, expected, found });
            }
            Kind::Sampled(Sampled { input, series, rate, origin }) => {
                Box::new(SinceFirst { source: series::source(&input, series, rate), origin })
            }
            Kind::Requests(source) => source,
        })
    }
}
