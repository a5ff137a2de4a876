//! Times since 1970 become times since the first request: a job that begins in 2026 has not been idle for
//! half a century.

use super::bandwidth_piece::BandwidthPiece;
use super::date::iso_8601;
use super::error::SourceError;
use super::job::{Job, Source};
use crate::request::{Batch, Completion, Detail, Held, Request, Span};
use crate::time::{SECOND, nanoseconds, seconds};

/// Times beyond this (March 1973) count from 1970, not from the begin of a job.
pub(crate) const ABSOLUTE: i64 = 100_000_000 * SECOND;

/// A source whose times may count from 1970.
pub(crate) struct SinceFirst {
    pub source: Box<dyn Source>,
    /// What job time 0 is, if that is known already.
    pub origin: Option<i64>,
}

/// The origin, for times of which the first batch begins here.
fn origin(known: &mut Option<i64>, first: Option<i64>) -> i64 {
    let Some(first) = first else { return known.unwrap_or(0) };
    *known.get_or_insert(if first > ABSOLUTE { first } else { 0 })
}

impl SinceFirst {
    fn told(mut job: Job, origin: Option<i64>) -> Job {
        if let Some(origin) = origin.filter(|origin| *origin != 0) {
            job.start = job.start.map(|start| start.saturating_sub(origin));
            job.end = job.end.map(|end| end.saturating_sub(origin));
            job.origin = Some(origin);
            job.notes.push(format!("times count from {}", iso_8601(origin.div_euclid(SECOND))));
        }
        job
    }
}

impl Source for SinceFirst {
    fn bin(&self) -> Option<i64> {
        self.source.bin()
    }

    fn read(self: Box<Self>, span: Span, visit: &mut dyn FnMut(&[Request])) -> Result<Job, SourceError> {
        let mut known = self.origin;
        let mut moved = Vec::new();
        let job = self.source.read(span, &mut |requests| {
            let origin = origin(&mut known, requests.iter().map(|request| request.start).min());
            if origin == 0 {
                return visit(requests);
            }
            moved.clear();
            moved.extend(requests.iter().map(|request| shifted(request, origin)));
            visit(&moved);
        })?;
        Ok(Self::told(job, known))
    }

    fn read_detailed(
        self: Box<Self>,
        span: Span,
        visit: &mut dyn FnMut(Batch<'_>),
    ) -> Result<Job, SourceError> {
        let mut known = self.origin;
        let mut moved = Vec::new();
        let job = self.source.read_detailed(span, &mut |batch| {
            let origin = origin(&mut known, batch.requests.iter().map(|detail| detail.request.start).min());
            moved.clear();
            moved.extend(batch.requests.iter().map(|detail| Detail {
                request: shifted(&detail.request, origin),
                completion: detail.completion.map(|of| Completion {
                    done: of.done.saturating_sub(origin),
                    deadline: of.deadline.saturating_sub(origin),
                }),
                held: detail.held.map(|held| Held {
                    wait:
                        held.wait.map(|(from, to)| (from.saturating_sub(origin), to.saturating_sub(origin))),
                    ..held
                }),
                ..*detail
            }));
            visit(Batch { requests: &moved, files: batch.files });
        })?;
        Ok(Self::told(job, known))
    }

    fn read_pieces(
        self: Box<Self>,
        span: Span,
        visit: &mut dyn FnMut(&[BandwidthPiece]),
    ) -> Result<Job, SourceError> {
        let mut known = self.origin;
        let mut moved = Vec::new();
        let job = self.source.read_pieces(span, &mut |pieces| {
            let first = pieces.iter().map(|piece| piece.start).min_by(f64::total_cmp).map(nanoseconds);
            let origin = origin(&mut known, first);
            if origin == 0 {
                return visit(pieces);
            }
            let since = seconds(origin);
            moved.clear();
            moved.extend(pieces.iter().map(|piece| BandwidthPiece {
                start: piece.start - since,
                end: piece.end - since,
                ..*piece
            }));
            visit(&moved);
        })?;
        Ok(Self::told(job, known))
    }
}

fn shifted(request: &Request, origin: i64) -> Request {
    Request {
        start: request.start.saturating_sub(origin),
        end: request.end.saturating_sub(origin),
        ..*request
    }
}
