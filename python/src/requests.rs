//! `requests`: every request of an input, by column.

use crate::call::{Problem, call};
use crate::input::Inputs;
use crate::options::Asked;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyDict};
use sources::request::{Batch, Class, Span};
use sources::time::seconds;
use std::collections::BTreeMap;

/// The columns so far.
#[derive(Debug, Default)]
struct Columns {
    rank: Vec<i32>,
    start: Vec<f64>,
    end: Vec<f64>,
    bytes: Vec<u64>,
    class: Vec<u8>,
    file: Vec<i32>,
    /// Names of files and their numbers.
    files: BTreeMap<String, i32>,
    warnings: Vec<String>,
    ranks: Option<u32>,
}

/// A dictionary of byte arrays, of the names of files and classes, and of what is known about the job.
#[pyfunction]
pub fn requests<'py>(py: Python<'py>, inputs: Inputs, asked: &str) -> PyResult<Bound<'py, PyDict>> {
    let asked = Asked::parse(asked).map_err(|problem| problem.raise(py))?;
    let mut columns = call(py, move || read(inputs, &asked))?;
    let table = PyDict::new(py);
    // Each column is dropped before the next one is copied.
    let start = std::mem::take(&mut columns.start);
    table.set_item("start", array_of(py, start, f64::to_le_bytes)?)?;
    let end = std::mem::take(&mut columns.end);
    table.set_item("end", array_of(py, end, f64::to_le_bytes)?)?;
    table.set_item("bytes", array_of(py, std::mem::take(&mut columns.bytes), u64::to_le_bytes)?)?;
    table.set_item("rank", array_of(py, std::mem::take(&mut columns.rank), i32::to_le_bytes)?)?;
    table.set_item("class", array_of(py, std::mem::take(&mut columns.class), u8::to_le_bytes)?)?;
    table.set_item("file", array_of(py, std::mem::take(&mut columns.file), i32::to_le_bytes)?)?;
    let mut files = vec![String::new(); columns.files.len()];
    for (name, number) in columns.files {
        files[number as usize] = name;
    }
    table.set_item("files", files)?;
    table.set_item("classes", Class::ALL.map(Class::name))?;
    table.set_item("ranks", columns.ranks)?;
    table.set_item("warnings", columns.warnings)?;
    Ok(table)
}

/// Numbers as bytes that Python may change.
fn array_of<T: Copy, const N: usize>(
    py: Python<'_>,
    numbers: Vec<T>,
    bytes: impl Fn(T) -> [u8; N],
) -> PyResult<Bound<'_, PyByteArray>> {
    PyByteArray::new_with(py, N * numbers.len(), |out| {
        for (place, number) in out.as_chunks_mut::<N>().0.iter_mut().zip(numbers) {
            *place = bytes(number);
        }
        Ok(())
    })
}

fn read(inputs: Inputs, asked: &Asked) -> Result<Columns, Problem> {
    let span = if asked.required { Span::Required } else { Span::Actual };
    let mut columns = Columns::default();
    let mut opened = inputs.open(asked.merge, &asked.reading()?)?;
    let (Some(one), true) = (opened.pop(), opened.is_empty()) else {
        return Err(Problem::new("holds several inputs: expected one (metric= chooses, merge=True joins)"));
    };
    let name = one.name.clone();
    let job = one.into_source()?.read_detailed(span, &mut |batch| columns.take(batch))?;
    if job.per_unit.is_some() {
        return Err(Problem::new(format!(
            "{name}: holds samples and no requests: detect(…).bandwidth has them"
        )));
    }
    columns.ranks = job.ranks;
    columns.warnings = job.warnings;
    Ok(columns)
}

impl Columns {
    fn take(&mut self, batch: Batch<'_>) {
        let numbers: Vec<(u32, i32)> =
            batch.files.iter().map(|(number, name)| (*number, self.file_number(name))).collect();
        for detail in batch.requests {
            let request = &detail.request;
            let known = |number| numbers.iter().find(|(other, _)| *other == number).map(|(_, ours)| *ours);
            self.rank.push(request.rank.map_or(-1, |rank| rank as i32));
            self.start.push(seconds(request.start));
            self.end.push(seconds(request.end));
            self.bytes.push(request.bytes);
            self.class.push(Class::ALL.iter().position(|class| *class == request.class).unwrap_or(0) as u8);
            self.file.push(detail.file.and_then(known).unwrap_or(-1));
        }
    }

    fn file_number(&mut self, name: &str) -> i32 {
        if name.is_empty() {
            return -1;
        }
        if let Some(number) = self.files.get(name) {
            return *number;
        }
        let number = self.files.len() as i32;
        self.files.insert(name.to_owned(), number);
        number
    }
}
