//! The native half of the Python module `ftio_rs`: each function calls what the `ftio` command calls, and
//! hands over its JSON as text and its columns as bytes. What Python programmers see (classes, defaults,
//! conversions) is in `python/ftio_rs`.

#![forbid(unsafe_code)]

mod archive;
mod call;
mod detect;
mod input;
mod model;
mod options;
mod predict;
mod requests;

use pyo3::prelude::*;

#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_function(wrap_pyfunction!(detect::detect, module)?)?;
    module.add_function(wrap_pyfunction!(requests::requests, module)?)?;
    module.add_function(wrap_pyfunction!(model::model, module)?)?;
    module.add_function(wrap_pyfunction!(model::model_series, module)?)?;
    module.add_function(wrap_pyfunction!(archive::categorize, module)?)?;
    module.add_function(wrap_pyfunction!(archive::merge, module)?)?;
    module.add_function(wrap_pyfunction!(call::panics, module)?)?;
    module.add_function(wrap_pyfunction!(call::sleeps, module)?)?;
    module.add_class::<predict::Predictions>()
}
