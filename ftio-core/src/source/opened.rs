//! An input that was recognised, ready to be read.

use super::darshan::DarshanLog;
use super::error::SourceError;
use super::job::Source;
use super::our_trace::TmioTrace;
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
    /// Anything else.
    Requests(Box<dyn Source>),
}

impl std::fmt::Debug for Kind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Kind::Ours(_) => "Ours",
            Kind::Tmio(_) => "Tmio",
            Kind::Darshan(_) => "Darshan",
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
            Kind::Requests(source) => source,
        })
    }
}
