//! `categorize` and `merge`: archives of Darshan logs, also in shards on several machines.

use crate::call::{Problem, call};
use mosaic::archive::{Listing, Part, Settings, Shard, process, reduce};
use pyo3::prelude::*;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;

/// Read the logs of a shard into a part; one that is there is continued. Returns how many logs were read now,
/// and what could not be listed.
#[pyfunction]
pub fn categorize(
    py: Python<'_>,
    paths: Vec<PathBuf>,
    part: PathBuf,
    shard: Option<String>,
    threads: usize,
) -> PyResult<(u64, Vec<String>)> {
    call(py, move || {
        for path in &paths {
            std::fs::metadata(path).map_err(|error| Problem::system(&path.display().to_string(), &error))?;
        }
        let shard = match shard {
            Some(text) => text.parse().map_err(|expected| Problem::usage(format!("shard: {expected}")))?,
            None => Shard::WHOLE,
        };
        let listing = Listing::of(&paths);
        if listing.is_empty() {
            let text = "expected Darshan logs, found no file with \".darshan\" in its name";
            return Err(Problem::new(text));
        }
        let failed = |error: &dyn std::fmt::Display| Problem::new(error.to_string());
        let mut part = Part::open(&part, &Settings::default(), shard).map_err(|error| failed(&error))?;
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let pool = pool.map_err(|error| failed(&error))?;
        let mut read = 0;
        pool.install(|| process(&listing, shard, &mut part, |more| read += more))
            .map_err(|error| failed(&error))?;
        Ok((read, listing.problems().iter().map(ToString::to_string).collect()))
    })
}

/// Join parts: the summary as JSON. A line for each log goes to a file, if one is named.
#[pyfunction]
pub fn merge(py: Python<'_>, parts: Vec<PathBuf>, partial: bool, lines: Option<PathBuf>) -> PyResult<String> {
    call(py, move || {
        let create = |path: &PathBuf| {
            let file = File::create(path);
            file.map(BufWriter::new).map_err(|error| Problem::system(&path.display().to_string(), &error))
        };
        let mut out = lines.as_ref().map(create).transpose()?;
        let to = out.as_mut().map(|file| file as &mut dyn Write);
        let summary = reduce(&parts, partial, to, None).map_err(|error| Problem::new(error.to_string()))?;
        if let (Some(mut file), Some(path)) = (out, &lines) {
            file.flush().map_err(|error| Problem::system(&path.display().to_string(), &error))?;
        }
        Ok(serde_json::to_string(&summary)?)
    })
}
