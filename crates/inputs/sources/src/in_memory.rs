//! Sources made of other things in memory: requests, and other sources.

use super::bandwidth_piece::BandwidthPiece;
use super::error::SourceError;
use super::job::{Job, Source};
use crate::request::{Batch, Detail, Request, Span};

/// Requests that are in memory already.
#[derive(Clone, Debug)]
pub struct InMemory<'a> {
    /// The requests, in any order.
    pub requests: &'a [Request],
    /// What is known about the job.
    pub job: Job,
}

impl Source for InMemory<'_> {
    fn read(self: Box<Self>, _: Span, visit: &mut dyn FnMut(&[Request])) -> Result<Job, SourceError> {
        visit(self.requests);
        Ok(self.job)
    }
}

/// Several inputs that are parts of one job, such as one file per process.
#[expect(missing_debug_implementations, reason = "a source need not have one")]
pub struct Merged(pub Vec<(String, Box<dyn Source>)>);

impl Merged {
    fn all(
        self,
        mut read: impl FnMut(Box<dyn Source>, u32) -> Result<Job, SourceError>,
    ) -> Result<Job, SourceError> {
        let mut whole = Job { complete: true, ..Job::default() };
        let mut ranks = 0u32;
        for (name, source) in self.0 {
            let part = read(source, ranks)?;
            // A part that does not tell is one process.
            ranks = ranks.saturating_add(part.ranks.unwrap_or(0).max(1));
            whole.start = earlier(whole.start, part.start);
            whole.end = whole.end.max(part.end);
            whole.complete &= part.complete;
            whole.sampled = whole.sampled.max(part.sampled);
            whole.warnings.extend(part.warnings);
            whole.notes.extend(
                part.notes.into_iter().filter(|note| !whole.notes.contains(note)).collect::<Vec<_>>(),
            );
            if part.per_unit.is_some() {
                return Err(SourceError::SampledPart { name });
            }
        }
        whole.ranks = Some(ranks).filter(|ranks| *ranks > 0);
        Ok(whole)
    }
}

fn earlier(a: Option<i64>, b: Option<i64>) -> Option<i64> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}

impl Source for Merged {
    fn bin(&self) -> Option<i64> {
        self.0.iter().filter_map(|(_, source)| source.bin()).max()
    }

    fn read(self: Box<Self>, span: Span, visit: &mut dyn FnMut(&[Request])) -> Result<Job, SourceError> {
        let mut moved = Vec::new();
        self.all(|source, first_rank| {
            source.read(span, &mut |requests| {
                let rank = |rank: Option<u32>| Some(rank.unwrap_or(0).saturating_add(first_rank));
                moved.clear();
                moved.extend(requests.iter().map(|request| Request { rank: rank(request.rank), ..*request }));
                visit(&moved);
            })
        })
    }

    fn read_detailed(
        self: Box<Self>,
        span: Span,
        visit: &mut dyn FnMut(Batch<'_>),
    ) -> Result<Job, SourceError> {
        let mut moved = Vec::new();
        self.all(|source, first_rank| {
            source.read_detailed(span, &mut |batch| {
                let rank = |rank: Option<u32>| Some(rank.unwrap_or(0).saturating_add(first_rank));
                moved.clear();
                moved.extend(batch.requests.iter().map(|detail| {
                    let request = Request { rank: rank(detail.request.rank), ..detail.request };
                    Detail { request, ..*detail }
                }));
                visit(Batch { requests: &moved, files: batch.files });
            })
        })
    }

    fn read_pieces(
        self: Box<Self>,
        span: Span,
        visit: &mut dyn FnMut(&[BandwidthPiece]),
    ) -> Result<Job, SourceError> {
        self.all(|source, _| source.read_pieces(span, visit))
    }
}
