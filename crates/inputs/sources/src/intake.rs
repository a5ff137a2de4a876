//! From the numbers of a file to requests: leaves out what cannot be one, and counts it.

use super::bandwidth_piece::BandwidthPiece;
use super::error::SourceError;
use super::job::{Job, Source};
use crate::request::{Batch, Detail, Request, Span};
use std::collections::BTreeSet;

/// How many are handed on at a time. Each batch that ends later than all before may make bins wider, which
/// costs as much as a thousand requests.
const BATCH: usize = 1 << 15;

/// A format whose data are phases.
pub(super) trait Feed {
    /// Push everything, and tell about the job.
    fn feed(self, span: Span, intake: &mut Intake<'_>) -> Result<Job, SourceError>;

    /// See [`Source::bin`].
    fn bin(&self) -> Option<i64> {
        None
    }
}

/// The source of such a format.
#[derive(Debug)]
pub(super) struct Fed<F>(pub String, pub F);

impl<F: Feed> Source for Fed<F> {
    fn bin(&self) -> Option<i64> {
        self.1.bin()
    }

    fn read(self: Box<Self>, span: Span, visit: &mut dyn FnMut(&[Request])) -> Result<Job, SourceError> {
        self.run(span, Sink::Requests(visit))
    }

    fn read_detailed(
        self: Box<Self>,
        span: Span,
        visit: &mut dyn FnMut(Batch<'_>),
    ) -> Result<Job, SourceError> {
        self.run(span, Sink::Details(visit))
    }

    fn read_pieces(
        self: Box<Self>,
        span: Span,
        visit: &mut dyn FnMut(&[BandwidthPiece]),
    ) -> Result<Job, SourceError> {
        self.run(span, Sink::Phases(visit))
    }
}

impl<F: Feed> Fed<F> {
    fn run(self, span: Span, sink: Sink<'_>) -> Result<Job, SourceError> {
        let mut intake = Intake {
            sink,
            requests: Vec::new(),
            details: Vec::new(),
            phases: Vec::new(),
            files: Vec::new(),
            file: None,
            taken: 0,
            ranks: Ranks::default(),
            last_rank: None,
            left_out: 0,
            first_left_out: None,
        };
        let job = self.1.feed(span, &mut intake)?;
        intake.finish(self.0, job)
    }
}

enum Sink<'a> {
    Requests(&'a mut dyn FnMut(&[Request])),
    Details(&'a mut dyn FnMut(Batch<'_>)),
    Phases(&'a mut dyn FnMut(&[BandwidthPiece])),
}

/// Takes phases.
pub(super) struct Intake<'a> {
    sink: Sink<'a>,
    requests: Vec<Request>,
    details: Vec<Detail>,
    phases: Vec<BandwidthPiece>,
    /// Names of the files so far, and the number of that to which what follows belongs.
    files: Vec<String>,
    file: Option<u32>,
    taken: u64,
    ranks: Ranks,
    last_rank: Option<u32>,
    left_out: u64,
    first_left_out: Option<String>,
}

impl Intake<'_> {
    /// One phase; `place` says where it was found, should it be unusable.
    pub fn push(&mut self, phase: BandwidthPiece, place: impl FnOnce() -> String) {
        let Some(request) = phase.request() else {
            return self.leave_out(|| format!("{}: {}", place(), describe(&phase)));
        };
        self.taken += 1;
        if phase.rank != self.last_rank {
            self.last_rank = phase.rank;
            phase.rank.into_iter().for_each(|rank| self.ranks.insert(rank));
        }
        match &mut self.sink {
            Sink::Requests(visit) => {
                self.requests.push(request);
                if self.requests.len() == BATCH {
                    visit(&self.requests);
                    self.requests.clear();
                }
            }
            Sink::Details(_) => {
                self.details.push(Detail { file: self.file, ..Detail::new(request) });
                if self.details.len() == BATCH {
                    self.hand_on_details();
                }
            }
            Sink::Phases(visit) => {
                self.phases.push(phase);
                if self.phases.len() == BATCH {
                    visit(&self.phases);
                    self.phases.clear();
                }
            }
        }
    }

    /// Does anybody ask for files?
    pub fn wants_files(&self) -> bool {
        matches!(self.sink, Sink::Details(_))
    }

    /// A file that was not named before; its number.
    pub fn add_file(&mut self, name: &str) -> u32 {
        self.files.push(name.to_owned());
        self.files.len() as u32 - 1
    }

    /// What follows belongs to this file.
    pub fn enter(&mut self, file: Option<u32>) {
        self.file = file;
    }

    fn hand_on_details(&mut self) {
        let files: Vec<(u32, &str)> = (0..).zip(self.files.iter().map(String::as_str)).collect();
        if let Sink::Details(visit) = &mut self.sink {
            visit(Batch { requests: &self.details, files: &files });
        }
        self.details.clear();
    }

    /// Something that cannot be a request.
    pub fn leave_out(&mut self, what: impl FnOnce() -> String) {
        self.left_out += 1;
        self.first_left_out.get_or_insert_with(what);
    }

    fn finish(mut self, name: String, mut job: Job) -> Result<Job, SourceError> {
        match &mut self.sink {
            Sink::Requests(visit) => visit(&self.requests),
            Sink::Details(_) => self.hand_on_details(),
            Sink::Phases(visit) => visit(&self.phases),
        }
        if let Some(first) = self.first_left_out {
            if self.taken == 0 {
                return Err(SourceError::Unusable { name, first });
            }
            let entries =
                if self.left_out == 1 { "1 entry was" } else { &format!("{} entries were", self.left_out) };
            job.warnings.insert(0, format!("{name}: {entries} left out; {first}"));
            job.complete = false;
        }
        job.ranks = job.ranks.or_else(|| self.ranks.number(&mut job.notes));
        Ok(job)
    }
}

/// Ranks that were seen: small numbers as bits, since every request asks.
#[derive(Debug, Default)]
struct Ranks {
    small: Vec<u64>,
    others: BTreeSet<u32>,
}

impl Ranks {
    const SMALL: u32 = 1 << 16;

    #[inline]
    fn insert(&mut self, rank: u32) {
        if rank >= Self::SMALL {
            self.others.insert(rank);
            return;
        }
        let word = rank as usize / 64;
        if word >= self.small.len() {
            self.small.resize(word + 1, 0);
        }
        self.small[word] |= 1 << (rank % 64);
    }

    /// How many ranks a job of these has. They count from 0. Numbers that do not, and leave out more than
    /// they name, are those of processes.
    fn number(&self, notes: &mut Vec<String>) -> Option<u32> {
        let mut bits = self.small.iter().enumerate().filter(|(_, word)| **word != 0);
        let lowest = bits.clone().next().map(|(i, word)| 64 * i as u32 + word.trailing_zeros());
        let highest = bits.next_back().map(|(i, word)| 64 * i as u32 + 63 - word.leading_zeros());
        let first = lowest.or(self.others.first().copied())?;
        let last = self.others.last().copied().or(highest)?;
        let named = self.small.iter().map(|word| word.count_ones()).sum::<u32>() + self.others.len() as u32;
        if first > 0 && last / 2 > named {
            notes.push(format!(
                "the numbers of its {named} processes, {first} to {last}, are taken as process ids, not as ranks"
            ));
            return Some(named);
        }
        Some(last.saturating_add(1))
    }
}

fn describe(phase: &BandwidthPiece) -> String {
    let bytes = phase.bytes.map_or(String::new(), |bytes| format!(" ({bytes} bytes)"));
    format!(
        "expected finite times in order and a bandwidth of 0 or more, found {} B/s{bytes} from {} s to {} s",
        phase.bandwidth, phase.start, phase.end
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_counted_from_zero_or_named() {
        for (seen, number, notes) in [
            (&[][..], None, 0),
            (&[0], Some(1), 0),
            (&[3, 0, 3, 63, 64], Some(65), 0),
            (&[1, 2], Some(3), 0),
            (&[4711, 4712, 90_000], Some(3), 1),
            (&[70_000, 80_000], Some(2), 1),
            (&[0, 70_000], Some(70_001), 0),
        ] {
            let mut ranks = Ranks::default();
            seen.iter().for_each(|rank| ranks.insert(*rank));
            let mut said = Vec::new();
            assert_eq!((ranks.number(&mut said), said.len()), (number, notes), "{seen:?}");
        }
    }
}
