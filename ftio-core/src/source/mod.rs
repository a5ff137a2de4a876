//! Where requests come from.
//!
//! [`open`] looks at the content of an input, whatever its name, and gives the [`Source`] that reads it. A source hands out
//! its data in batches and says at the end what it learned about the job. The analysis knows nothing else about
//! formats: a new one is a new file here, with a line in [`recognise`].
//!
//! | module | reads |
//! |---|---|
//! | [`our_trace`] | the trace of this project, finished or not |
//! | [`cpp_tmio`] | JSON, JSONL and MessagePack of the C++ TMIO, and FTIO's custom JSON |
//! | [`gekkofs`] | client metrics of GekkoFS, JSON or MessagePack |
//! | [`metrics`] | exports of the metric proxy; any sampled quantity |
//! | [`csv`] | tables of requests, or of samples over time |
//! | [`text`] | any text, by the expressions of a [pattern](text::Pattern) file |
//! | [`darshan`] | Darshan logs: DXT, else the heatmap |
//! | [`recorder`] | Recorder's traces as text |
//! | [`trace_events`] | Chrome's trace events, and dftracer's |
//!
//! Inputs are everyday inputs: what cannot be used is left out, counted and named in [`Job::warnings`]; what leaves nothing to
//! use is a [`SourceError`] with the file, the place in it, what was expected and what was there.

mod bandwidth_piece;
mod calls;
pub mod content;
pub mod coverage;
pub mod cpp_tmio;
pub mod csv;
pub mod darshan;
mod error;
mod functions;
pub mod gekkofs;
mod in_memory;
mod intake;
pub mod metrics;
mod open;
pub mod our_trace;
pub mod recognise;
pub mod recorder;
pub mod text;
pub mod trace_events;
pub mod units;
pub mod value;

pub use bandwidth_piece::BandwidthPiece;
pub use content::Input;
pub use error::SourceError;
pub use in_memory::{InMemory, Merged};
pub use open::{Folder, OpenOptions, Opened, folder, open, open_content};
pub use our_trace::TmioTrace;

pub use crate::request::Span;
use crate::request::{Batch, Detail, Request};

/// What is known about the job after reading.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Job {
    /// Number of ranks of the job; 0 where the format does not tell.
    pub ranks: u32,
    /// When the job began, in nanoseconds of job time, where the trace knows: idle time then counts.
    pub start: Option<i64>,
    /// When the job ended, likewise.
    pub end: Option<i64>,
    /// Did the job reach its end, and could everything be read?
    pub complete: bool,
    /// What could not be used, in words.
    pub warnings: Vec<String>,
    /// What else somebody should know who reads the result.
    pub notes: Vec<String>,
    /// The data is a sampled quantity other than bytes, multiplied so that whole numbers hold it exactly enough: this
    /// many of a request's bytes are one of it. `None`: bytes are bytes.
    pub per_unit: Option<f64>,
    /// The data was sampled, or put into bins, with this many nanoseconds between samples. `None`: requests as they happened.
    pub sampled: Option<i64>,
}

/// Something that can be read once.
pub trait Source {
    /// The data has been in bins of this many nanoseconds before: sampling it finer would invent detail.
    fn bin(&self) -> Option<i64> {
        None
    }

    /// Hand all requests to `visit`, in any order.
    fn read(self: Box<Self>, span: Span, visit: &mut dyn FnMut(&[Request])) -> Result<Job, SourceError>;

    /// Hand all requests to `visit`, together with their files where the input knows them.
    fn read_detailed(
        self: Box<Self>,
        span: Span,
        visit: &mut dyn FnMut(Batch<'_>),
    ) -> Result<Job, SourceError> {
        let mut details = Vec::new();
        self.read(span, &mut |requests| {
            details.clear();
            details.extend(requests.iter().map(|&request| Detail { request, file: None }));
            visit(Batch { requests: &details, files: &[] });
        })
    }

    /// Hand all data to `visit` as bandwidths with start and end, exactly as the input has them and in its order.
    ///
    /// This is what the Python FTIO works on. For an input of requests, a bandwidth is bytes over duration, and requests
    /// without a duration are left out.
    fn read_pieces(
        self: Box<Self>,
        span: Span,
        visit: &mut dyn FnMut(&[BandwidthPiece]),
    ) -> Result<Job, SourceError> {
        let mut phases = Vec::new();
        self.read(span, &mut |requests| {
            phases.clear();
            phases.extend(requests.iter().filter_map(BandwidthPiece::of));
            visit(&phases);
        })
    }
}

impl<S: Source + ?Sized> Source for Box<S> {
    fn bin(&self) -> Option<i64> {
        (**self).bin()
    }

    fn read(self: Box<Self>, span: Span, visit: &mut dyn FnMut(&[Request])) -> Result<Job, SourceError> {
        (*self).read(span, visit)
    }

    fn read_detailed(
        self: Box<Self>,
        span: Span,
        visit: &mut dyn FnMut(Batch<'_>),
    ) -> Result<Job, SourceError> {
        (*self).read_detailed(span, visit)
    }

    fn read_pieces(
        self: Box<Self>,
        span: Span,
        visit: &mut dyn FnMut(&[BandwidthPiece]),
    ) -> Result<Job, SourceError> {
        (*self).read_pieces(span, visit)
    }
}
