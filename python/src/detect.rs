//! `detect`: the JSON of `ftio --json`, and the signal that it was found in.

use crate::call::{Problem, call};
use crate::input::Inputs;
use crate::options::Asked;
use ftio_core::detect::per_group::detect_each;
use ftio_core::detect::{Analysis, detect as analyse};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyTuple};

/// For each result a tuple: its JSON, and of its signal the start and the step in seconds and the samples.
#[pyfunction]
pub fn detect<'py>(py: Python<'py>, inputs: Inputs, asked: &str) -> PyResult<Bound<'py, PyList>> {
    let asked = Asked::parse(asked).map_err(|problem| problem.raise(py))?;
    let found = call(py, move || each(inputs, &asked))?;
    let result = |(json, analysis): (String, Analysis)| {
        let signal = analysis.signal;
        let samples = bytes_of(py, &signal.samples, f64::to_le_bytes)?;
        let spectrum = bytes_of(py, &analysis.contributions, f64::to_le_bytes)?;
        let (start, step) = (signal.start_seconds(), signal.step());
        (json, start, step, samples, spectrum, analysis.is_quantity).into_pyobject(py)
    };
    let results: Vec<Bound<'py, PyTuple>> = found.into_iter().map(result).collect::<PyResult<_>>()?;
    PyList::new(py, results)
}

fn each(inputs: Inputs, asked: &Asked) -> Result<Vec<(String, Analysis)>, Problem> {
    let (reading, options, group) = (asked.reading()?, asked.options()?, asked.group()?);
    let mut results = Vec::new();
    for opened in inputs.open(asked.merge, &reading)? {
        let name = opened.name.clone();
        let source = opened.into_source()?;
        let analyses = match group {
            Some(group) => detect_each(&name, source, group, &options)?,
            None => vec![analyse(&name, source, &options)?],
        };
        for analysis in analyses {
            results.push((serde_json::to_string(&analysis.detection)?, analysis));
        }
    }
    Ok(results)
}

/// Numbers as their bytes.
pub fn bytes_of<'py, T: Copy, const N: usize>(
    py: Python<'py>,
    numbers: &[T],
    bytes: impl Fn(T) -> [u8; N],
) -> PyResult<Bound<'py, PyBytes>> {
    PyBytes::new_with(py, N * numbers.len(), |out| {
        for (place, number) in out.as_chunks_mut::<N>().0.iter_mut().zip(numbers) {
            *place = bytes(*number);
        }
        Ok(())
    })
}
