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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detect::{Options, detect};
    use crate::source::content::Content;
    use crate::source::{OpenOptions, open_content};

    /// What is found in an input, without its name.
    fn found(opened: Opened) -> crate::Detection {
        let source = opened.into_source().unwrap();
        detect("x", source, &Options::default()).unwrap().detection
    }

    fn table(text: String) -> Opened {
        let content = Content::from_bytes("x", text.into_bytes()).unwrap();
        open_content(content, &OpenOptions::default()).unwrap().remove(0)
    }

    #[test]
    fn columns_give_what_a_table_of_them_gives() {
        let mut columns = RequestColumns { rank: Some(vec![]), class: Some(vec![]), ..Default::default() };
        let mut text = "rank,start,end,bytes,op\n".to_owned();
        for i in 0..60 {
            let start = 1.6e9 + 7.5 * f64::from(i / 4) + 0.1 * f64::from(i % 4);
            let class = if i % 10 == 9 { Class::ReadSync } else { Class::WriteSync };
            text += &format!("{},{start},{},1048576,{}\n", i % 4, start + 0.5, class.name());
            columns.start.push(start);
            columns.end.push(start + 0.5);
            columns.bytes.push(1048576.0);
            columns.rank.as_mut().unwrap().push(i64::from(i % 4));
            columns.class.as_mut().unwrap().push(class);
        }
        let of_columns = found(columns.open("x").unwrap());
        assert!((of_columns.period.unwrap() - 7.5).abs() < 0.05);
        assert_eq!(of_columns, found(table(text)));
    }

    #[test]
    fn samples_give_what_a_table_of_them_gives() {
        let times: Vec<f64> = (0..400).map(f64::from).collect();
        let values: Vec<f64> = (0..400).map(|i| if i % 20 < 3 { 1e6 } else { 0.0 }).collect();
        for (quantity, header) in [("bandwidth", "time,bandwidth"), ("load", "time,load")] {
            let rows = times.iter().zip(&values).map(|(time, value)| format!("{time},{value}\n"));
            let text = format!("{header}\n{}", rows.collect::<String>());
            let of_arrays = found(samples("x", quantity, &times, &values, Rate::Auto).unwrap());
            assert!((of_arrays.period.unwrap() - 20.0).abs() < 0.1);
            assert_eq!(of_arrays, found(table(text)));
        }
    }

    #[test]
    fn unusable_columns_are_refused_and_unusable_rows_left_out() {
        let empty = RequestColumns::default().open("x").unwrap_err().to_string();
        assert_eq!(empty, "x: is empty");
        let uneven = samples("x", "load", &[1.0], &[], Rate::Auto).unwrap_err().to_string();
        assert!(uneven.contains("1 and 0 values"), "{uneven}");
        let columns = RequestColumns {
            start: vec![0.0, f64::NAN, 2.0],
            end: vec![0.5, 1.5, 2.5],
            bytes: vec![1.0, 1.0, -1.0],
            ..Default::default()
        };
        let found = found(columns.open("x").unwrap());
        assert_eq!(found.requests, Some(1));
        assert!(found.notes.iter().any(|note| note.contains("2 entries were left out; row 1")), "{found:?}");
    }
}
