//! Columns of numbers that a caller has in memory: requests, or samples of a quantity. They are treated
//! exactly as a table (CSV) of them.

use super::bandwidth_piece::BandwidthPiece;
use super::error::SourceError;
use super::intake::{Fed, Feed, Intake};
use super::job::Job;
use super::open::since_first;
use super::opened::{Kind, Opened, Sampled};
use super::options::Rate;
use super::series::Series;
use crate::request::{Class, Span};

/// Requests by column. All columns have the same length.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RequestColumns {
    /// In seconds.
    pub start: Vec<f64>,
    /// In seconds.
    pub end: Vec<f64>,
    /// Bytes.
    pub bytes: Vec<f64>,
    /// Who made them; a negative number: not known.
    pub rank: Option<Vec<i64>>,
    /// Direction and kind; without it they are blocking writes.
    pub class: Option<Vec<Class>>,
}

impl RequestColumns {
    /// As an input that results call `name`.
    ///
    /// # Errors
    ///
    /// The columns have different lengths, or there is nothing in them.
    pub fn open(self, name: &str) -> Result<Opened, SourceError> {
        let lengths = [Some(self.start.len()), Some(self.end.len()), Some(self.bytes.len())];
        let others = [self.rank.as_ref().map(Vec::len), self.class.as_ref().map(Vec::len)];
        same_length(name, lengths.into_iter().chain(others).flatten())?;
        let source = Box::new(Fed(name.to_owned(), self));
        Ok(Opened { name: name.to_owned(), kind: since_first(Kind::Requests(source), None) })
    }

    fn piece(&self, row: usize) -> Result<BandwidthPiece, String> {
        let (start, end, bytes) = (self.start[row], self.end[row], self.bytes[row]);
        if !(0.0..9e18).contains(&bytes) {
            return Err(format!("expected a number of bytes, found {bytes}"));
        }
        let rank = match self.rank.as_ref().map(|ranks| ranks[row]) {
            Some(rank) if rank >= i64::from(u32::MAX) => {
                return Err(format!("expected a rank, found {rank}"));
            }
            rank => rank.and_then(|rank| u32::try_from(rank).ok()),
        };
        let class = self.class.as_ref().map_or(Class::WriteSync, |classes| classes[row]);
        let bytes = bytes.round() as u64;
        Ok(BandwidthPiece {
            start,
            end,
            bandwidth: bytes as f64 / (end - start),
            bytes: Some(bytes),
            rank,
            class,
        })
    }
}

impl Feed for RequestColumns {
    fn feed(self, _: Span, intake: &mut Intake<'_>) -> Result<Job, SourceError> {
        for row in 0..self.start.len() {
            match self.piece(row) {
                Ok(piece) => intake.push(piece, || format!("row {row}")),
                Err(problem) => intake.leave_out(|| format!("row {row}: {problem}")),
            }
        }
        Ok(Job { complete: true, ..Job::default() })
    }
}

/// Samples of a quantity as an input that results call `name`. `quantity` is "bandwidth" for bytes per
/// second.
///
/// # Errors
///
/// There are not as many values as times, or none.
pub fn samples(
    name: &str,
    quantity: &str,
    times: &[f64],
    values: &[f64],
    rate: Rate,
) -> Result<Opened, SourceError> {
    same_length(name, [times.len(), values.len()].into_iter())?;
    let samples = times.iter().copied().zip(values.iter().copied()).collect();
    let is_bandwidth = quantity == "bandwidth";
    let series = Series { name: quantity.to_owned(), samples, class: Class::WriteSync, is_bandwidth };
    let kind = Kind::Sampled(Sampled { input: name.to_owned(), series, rate, origin: None });
    Ok(Opened { name: name.to_owned(), kind })
}

fn same_length(name: &str, mut lengths: impl Iterator<Item = usize>) -> Result<(), SourceError> {
    let first = lengths.next().unwrap_or(0);
    if let Some(other) = lengths.find(|length| *length != first) {
        let (expected, found) = ("columns of one length".into(), format!("{first} and {other} values"));
        return Err(SourceError::Absent { name: name.into(), expected, found });
    }
    match first {
        0 => Err(SourceError::Empty { name: name.into() }),
        _ => Ok(()),
    }
}
