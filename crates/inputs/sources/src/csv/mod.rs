//! Tables: one request a row (`rank,start,end,bytes`), or samples of one or more quantities over time
//! (`time,value`).
//!
//! Columns are separated by commas, semicolons or tabs, found out from the first row. A first row that is not
//! numbers names the columns, in any order; without one, two columns are time and value, three are start, end
//! and bytes, four are rank, start, end and bytes. A name may carry a unit: `start_us`, `size [MiB]`. Empty
//! lines and lines that begin with `#` are passed over.

mod columns;
mod plain;
mod requests;
mod split;

use super::content::Content;
use super::error::{SourceError, excerpt};
use super::format::Holds;
use super::intake::Fed;
use super::series::Series;
use columns::{Columns, Quantity, Table};
use requests::Requests;
use split::{is_open, split};
use std::io::{BufRead, BufReader, Read};

/// Bytes of the longest row: a longer line means that the file is not a table.
const MAX_LINE: u64 = 1 << 20;

/// Does a text look like a table? At least one of the first lines must be numbers throughout.
pub(super) fn looks_like(head: &[u8]) -> bool {
    let text = String::from_utf8_lossy(head.strip_prefix(BOM).unwrap_or(head));
    let mut lines = text.lines().filter(|line| is_row(line.trim()));
    let Some(first) = lines.next() else { return false };
    let Some(separator) = columns::separator(first) else { return false };
    let width = split(first, separator).len();
    let numbers = |line: &str| {
        let fields = split(line, separator);
        fields.len() == width && fields.iter().any(|field| columns::is_value(field, separator))
    };
    // The last line of the head may be cut off.
    match lines.next() {
        Some(second) => numbers(second) || (numbers(first) && !second.contains(separator)),
        None => numbers(first) || Columns::named(first, separator).is_ok(),
    }
}

const BOM: &[u8] = b"\xef\xbb\xbf";

fn is_row(line: &str) -> bool {
    !line.is_empty() && !line.starts_with('#')
}

/// Requests, or a series for each column of a table of samples.
pub(super) fn open(content: Content) -> Result<Holds, SourceError> {
    let name = content.name.clone();
    let (rows, columns) = begin(content)?;
    Ok(match columns.table() {
        Table::Requests => Holds::requests(Fed(name, Requests { rows, columns })),
        Table::Samples => Holds::Series(samples(rows, &columns)?),
    })
}

/// Where the first row ends, and whether it names the columns; `None` if there is none.
pub(crate) fn first_row(bytes: &[u8]) -> Option<(usize, bool)> {
    let mut end = 0;
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        end += line.len();
        let text = String::from_utf8_lossy(line.strip_prefix(BOM).unwrap_or(line));
        let row = text.trim_end_matches(['\n', '\r']);
        if is_row(row.trim()) {
            let separator = columns::separator(row).unwrap_or(',');
            return Some((end, is_header(row, separator)));
        }
    }
    None
}

fn is_header(row: &str, separator: char) -> bool {
    split(row, separator).iter().any(|field| !columns::is_value(field, separator))
}

/// The rows of a table and what its columns are.
fn begin(content: Content) -> Result<(Rows, Columns), SourceError> {
    let name = content.name.clone();
    let mut rows = Rows::new(name.clone(), content.into_reader());
    let wrong = |line: u64, expected: String, found: String| SourceError::Malformed {
        name: name.clone(),
        place: format!("line {line}"),
        expected,
        found,
    };
    let Some((line, first)) = rows.next()? else {
        return Err(SourceError::Absent { name, expected: "rows".into(), found: "none".into() });
    };
    let first = first.to_owned();
    let Some(separator) = columns::separator(&first) else {
        return Err(wrong(line, "columns separated by commas, semicolons or tabs".into(), shown(&first)));
    };
    rows.separator = Some(separator);
    let has_header = is_header(&first, separator);
    let columns =
        if has_header { Columns::named(&first, separator) } else { Columns::unnamed(&first, separator) };
    let mut columns = columns.map_err(|expected| wrong(line, expected, shown(&first)))?;
    if !has_header {
        rows.again = Some(line);
        columns.find_unit_of_dates(&first);
    } else if let Some((line, row)) = rows.next()? {
        columns.find_unit_of_dates(row);
        rows.again = Some(line);
    }
    Ok((rows, columns))
}

fn shown(line: &str) -> String {
    format!("\"{}\"", excerpt(line.as_bytes()))
}

/// The lines of a table.
struct Rows {
    name: String,
    input: BufReader<Box<dyn Read + Send>>,
    buffer: Vec<u8>,
    text: String,
    line: u64,
    separator: Option<char>,
    /// Hand out the line in the buffer once more.
    again: Option<u64>,
}

impl Rows {
    fn new(name: String, input: Box<dyn Read + Send>) -> Self {
        let input = BufReader::with_capacity(1 << 16, input);
        Rows { name, input, buffer: Vec::new(), text: String::new(), line: 0, separator: None, again: None }
    }

    /// The next row with its number.
    fn next(&mut self) -> Result<Option<(u64, &str)>, SourceError> {
        if self.again.take().is_some() {
            return Ok(Some((self.line, &self.text)));
        }
        loop {
            self.buffer.clear();
            let mut input = (&mut self.input).take(MAX_LINE);
            let read = input
                .read_until(b'\n', &mut self.buffer)
                .map_err(|source| SourceError::Io { name: self.name.clone(), source })?;
            if read == 0 {
                return Ok(None);
            }
            self.line += 1;
            if read as u64 == MAX_LINE && !self.buffer.ends_with(b"\n") {
                return Err(SourceError::Malformed {
                    name: self.name.clone(),
                    place: format!("line {}", self.line),
                    expected: format!("fewer than {MAX_LINE} characters"),
                    found: "more".into(),
                });
            }
            let bytes = if self.line == 1 {
                self.buffer.strip_prefix(BOM).unwrap_or(&self.buffer)
            } else {
                &self.buffer
            };
            let line = String::from_utf8_lossy(bytes);
            // A tab at the end of a line may belong to an empty last column.
            if is_row(line.trim()) {
                self.text.clear();
                self.text.push_str(line.trim_end_matches(['\n', '\r']));
                let first = self.line;
                if self.text.contains('"') {
                    self.finish_quotes()?;
                }
                return Ok(Some((first, &self.text)));
            }
        }
    }
}

impl Rows {
    /// A field in quotes may go on in the next lines. Quotes that are not closed within the longest line are
    /// part of their line.
    fn finish_quotes(&mut self) -> Result<(), SourceError> {
        let separator = match self.separator {
            Some(separator) => separator,
            None => columns::separator(&self.text).unwrap_or(','),
        };
        let mut more = Vec::new();
        while is_open(&self.text, separator) && (self.text.len() as u64) < MAX_LINE {
            more.clear();
            let mut input = (&mut self.input).take(MAX_LINE);
            let read = input.read_until(b'\n', &mut more);
            let read = read.map_err(|source| SourceError::Io { name: self.name.clone(), source })?;
            if read == 0 {
                break;
            }
            self.line += 1;
            self.text.push('\n');
            self.text.push_str(String::from_utf8_lossy(&more).trim_end_matches(['\n', '\r']));
        }
        Ok(())
    }
}

/// All columns of a table of samples.
fn samples(mut rows: Rows, columns: &Columns) -> Result<Vec<Series>, SourceError> {
    let mut series = columns.series();
    let mut unusable: Option<(u64, String)> = None;
    let mut usable = false;
    while let Some((line, row)) = rows.next()? {
        let parsed =
            columns.fields(row).and_then(|fields| Ok((columns.value(&fields, Quantity::Time)?, fields)));
        match parsed {
            Ok((time, fields)) => {
                usable = true;
                for (series, column) in series.iter_mut().zip(columns.values()) {
                    // An empty field is a sample that was not taken.
                    let value = columns.sample(&fields, column);
                    if let Some(value) = value {
                        series.samples.push((time.unwrap_or(f64::NAN), value));
                    }
                }
            }
            Err(problem) => {
                unusable.get_or_insert((line, problem));
                series.iter_mut().for_each(|series| series.samples.push((f64::NAN, f64::NAN)));
            }
        }
    }
    match unusable {
        Some((line, problem)) if !usable => {
            Err(SourceError::Unusable { name: rows.name, first: format!("line {line}: {problem}") })
        }
        _ => {
            // A separator at the end of each line makes a column without a name and without values.
            let any = series.iter().any(|series| !series.samples.is_empty());
            series.retain(|series| !any || !series.samples.is_empty() || series.name != columns::UNNAMED);
            Ok(series)
        }
    }
}

#[cfg(test)]
mod tests;
