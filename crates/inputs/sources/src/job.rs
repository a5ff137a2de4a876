//! What every input becomes: requests, read once, and what is known about their job.

use super::bandwidth_piece::BandwidthPiece;
use super::error::SourceError;
use crate::request::layer::Layer;
use crate::request::{Batch, Detail, Request, Span};

/// What is known about the job after reading.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Job {
    /// Number of ranks of the job, where the input tells.
    pub ranks: Option<u32>,
    /// When the job began, in nanoseconds of job time, where the trace knows: idle time then counts.
    pub start: Option<i64>,
    /// When the job ended, likewise.
    pub end: Option<i64>,
    /// Did the job reach its end, and could everything be read?
    pub complete: bool,
    /// The layer whose requests these are, where the input has several.
    pub layer: Option<Layer>,
    /// What could not be used, in words.
    pub warnings: Vec<String>,
    /// What else somebody should know who reads the result.
    pub notes: Vec<String>,
    /// The data is a sampled quantity other than bytes, multiplied so that whole numbers hold it exactly
    /// enough: this many of a request's bytes are one of it. `None`: bytes are bytes.
    pub per_unit: Option<f64>,
    /// Wall-clock time at job time 0, in nanoseconds since 1970, where the times of the input count from
    /// 1970.
    pub origin: Option<i64>,
    /// The data was sampled, or put into bins, with this many nanoseconds between samples. `None`: requests
    /// as they happened.
    pub sampled: Option<i64>,
    /// What the program has marked, in the order of time.
    pub marks: Vec<Marked>,
}

/// A text that the program has put into the trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Marked {
    /// When, in nanoseconds of job time.
    pub time: i64,
    /// What.
    pub text: String,
}

/// The first of marks that several ranks have set at nearly the same time, up to a limit.
pub(crate) fn distinct(mut marks: Vec<Marked>, span: i64) -> Vec<Marked> {
    const MAX_MARKS: usize = 200;
    const MIN_SHARE_APART: i64 = 200;
    marks.sort_by(|a, b| a.time.cmp(&b.time).then_with(|| a.text.cmp(&b.text)));
    let mut last: std::collections::BTreeMap<String, i64> = std::collections::BTreeMap::new();
    marks.retain(|mark| {
        let before = last.insert(mark.text.clone(), mark.time);
        before.is_none_or(|before| mark.time.saturating_sub(before) > span / MIN_SHARE_APART)
    });
    marks.truncate(MAX_MARKS);
    marks
}

/// Something that can be read once.
pub trait Source {
    /// The data has been in bins of this many nanoseconds before: sampling it finer would invent detail.
    fn bin(&self) -> Option<i64> {
        None
    }

    /// Hand all requests to `visit`, in any order.
    fn read(self: Box<Self>, span: Span, visit: &mut dyn FnMut(&[Request])) -> Result<Job, SourceError>;

    /// Hand all requests to `visit`, with their files and deadlines where the input knows them.
    fn read_detailed(
        self: Box<Self>,
        span: Span,
        visit: &mut dyn FnMut(Batch<'_>),
    ) -> Result<Job, SourceError> {
        let mut details = Vec::new();
        self.read(span, &mut |requests| {
            details.clear();
            details.extend(requests.iter().copied().map(Detail::new));
            visit(Batch { requests: &details, files: &[] });
        })
    }

    /// Hand all data to `visit` as bandwidths with start and end, exactly as the input has them and in its
    /// order.
    ///
    /// This is what the Python FTIO works on. For an input of requests, a bandwidth is bytes over duration,
    /// and requests without a duration are left out.
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
