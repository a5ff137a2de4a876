//! What Python names as an input becomes an opened one.

use crate::call::Problem;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use sources::arrays::{RequestColumns, samples};
use sources::content::Content;
use sources::request::Class;
use sources::{
    Folder, Input, Kind, Merged, OpenOptions, Opened, Source, SourceError, folder, open, open_content,
};
use std::path::PathBuf;

/// An input, as `ftio_rs.inputs` has prepared it.
#[derive(Debug)]
pub enum Given {
    Path(PathBuf),
    Bytes { name: String, content: Vec<u8> },
    Samples { name: String, quantity: String, times: Vec<f64>, values: Vec<f64> },
    Requests { name: String, columns: RequestColumns },
}

/// One input, or several.
#[derive(Debug)]
pub struct Inputs(pub Vec<Given>);

impl<'a, 'py> FromPyObject<'a, 'py> for Inputs {
    type Error = PyErr;

    fn extract(inputs: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        let each = inputs.try_iter()?.map(|input| given(&input?.cast_into::<PyDict>()?));
        Ok(Inputs(each.collect::<PyResult<_>>()?))
    }
}

fn given(input: &Bound<'_, PyDict>) -> PyResult<Given> {
    let name = || text(input, "name");
    if let Some(path) = input.get_item("path")? {
        return Ok(Given::Path(path.extract()?));
    }
    if let Some(content) = input.get_item("content")? {
        return Ok(Given::Bytes { name: name()?, content: content.extract()? });
    }
    if input.contains("times")? {
        let (times, values) = (doubles(input, "times")?, doubles(input, "values")?);
        return Ok(Given::Samples { name: name()?, quantity: text(input, "quantity")?, times, values });
    }
    let ranks = |bytes: &[u8]| bytes.as_chunks::<8>().0.iter().map(|one| i64::from_le_bytes(*one)).collect();
    let class = |code: &u8| Class::ALL.get(usize::from(*code)).copied();
    let columns = RequestColumns {
        start: doubles(input, "start")?,
        end: doubles(input, "end")?,
        bytes: doubles(input, "bytes")?,
        rank: bytes(input, "rank")?.map(|rank| ranks(rank.as_bytes())),
        class: match bytes(input, "class")? {
            Some(codes) => {
                let classes: Option<Vec<Class>> = codes.as_bytes().iter().map(class).collect();
                Some(classes.ok_or_else(|| PyTypeError::new_err("codes of classes are 0 to 3"))?)
            }
            None => None,
        },
    };
    Ok(Given::Requests { name: name()?, columns })
}

fn text(input: &Bound<'_, PyDict>, key: &str) -> PyResult<String> {
    input.as_any().get_item(key)?.extract()
}

fn bytes<'py>(input: &Bound<'py, PyDict>, key: &str) -> PyResult<Option<Bound<'py, PyBytes>>> {
    Ok(input.get_item(key)?.filter(|value| !value.is_none()).map(|value| value.cast_into()).transpose()?)
}

/// Numbers come as their bytes.
fn doubles(input: &Bound<'_, PyDict>, key: &str) -> PyResult<Vec<f64>> {
    let numbers = bytes(input, key)?.ok_or_else(|| PyTypeError::new_err(format!("no {key}")))?;
    Ok(numbers.as_bytes().as_chunks::<8>().0.iter().map(|one| f64::from_le_bytes(*one)).collect())
}

impl Given {
    /// The inputs in it: a folder holds several.
    fn open(self, options: &OpenOptions) -> Result<Vec<Opened>, SourceError> {
        match self {
            Given::Path(path) => match folder(&path)? {
                Folder::Input => open(&Input::Path(path), options),
                Folder::Of(files) => {
                    let opened = files.into_iter().map(|file| open(&Input::Path(file), options));
                    Ok(opened.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
                }
            },
            Given::Bytes { name, content } => open_content(Content::from_bytes(&name, content)?, options),
            Given::Samples { name, quantity, times, values } => {
                Ok(vec![samples(&name, &quantity, &times, &values, options.rate)?])
            }
            Given::Requests { name, columns } => Ok(vec![columns.open(&name)?]),
        }
    }
}

impl Inputs {
    /// All that there are; with `merge`, one that is made of them.
    pub fn open(self, merge: bool, options: &OpenOptions) -> Result<Vec<Opened>, Problem> {
        let mut opened = Vec::new();
        for given in self.0 {
            opened.extend(given.open(options)?);
        }
        if !merge || opened.len() < 2 {
            return Ok(opened);
        }
        let name = format!("{} and {} more", opened[0].name, opened.len() - 1);
        let named = |part: Opened| Ok((part.name.clone(), part.into_source()?));
        let parts: Vec<(String, Box<dyn Source>)> =
            opened.into_iter().map(named).collect::<Result<_, SourceError>>()?;
        Ok(vec![Opened { name, kind: Kind::Requests(Box::new(Merged(parts))) }])
    }
}
