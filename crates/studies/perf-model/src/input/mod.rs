//! Readers: files of measurements become an [`Experiment`].
//!
//! | format | file | what a line or entry is |
//! |---|---|---|
//! | [`Format::JsonLines`] | `.jsonl` | one object per measurement, the format to append to |
//! | [`Format::Json`] | `.json` | one document, with points spelled out or with ids |
//! | [`Format::Text`] | `.txt` | `PARAMETER`, `POINTS`, `REGION`, `METRIC`, `DATA` |
//! | [`Format::Talpas`] | `.txt` | JSON lines with `;` between the fields |
//! | [`Format::ExtraP`] | `.extra-p` | an experiment that Extra-P has saved: a zip archive |
//! | [`read_runs`] | a folder | profiles of Score-P, `app.p4.r1/profile.cubex` for each run |
//!
//! # JSON lines
//!
//! ```text
//! {"params":{"Processes":36},"callpath":"write->total","metric":"Size (B)","value":1868271840}
//! {"params":{"Processes":72},"callpath":"write->total","metric":"Size (B)","value":[1868340384,1868340390]}
//! ```
//!
//! One object a line, blank lines apart. The keys of the first line's `params` are the parameters, in that
//! order; later lines must have them all and may have more. `callpath` and `metric` may be left out; levels
//! of a callpath are separated by `->`. `value` is a number or a list of repetitions; the same parameters,
//! callpath and metric on another line are repetitions too. `null` and Python's `NaN` are values that are
//! missing. New runs are appended.
//!
//! # Text
//!
//! ```text
//! # comment
//! PARAMETER p
//! POINTS 4 8 16            several parameters: POINTS ( 4 10 ) ( 8 10 )
//! REGION write->total
//! METRIC time
//! DATA 1.1 1.0 1.2         repetitions at the first point
//! DATA 2.1 2.0 1.9         at the second, and so on
//! DATA 4.0 4.2 4.1
//! ```
//!
//! # Errors
//!
//! A message says where, what was expected there and what was found:
//!
//! ```
//! let error = perf_model::input::parse("PARAMETER p\nPOINTS 1 2 x\n", "runs.txt", None).unwrap_err();
//! assert_eq!(error.to_string(), "runs.txt:2: expected numbers, found `x`");
//! ```

mod bytes;
mod cube;
mod extra_p;
mod json;
mod json_lines;
mod text;
mod zip;

pub use cube::{Scaling, read_runs};

use std::path::Path;

use crate::error::{Error, Place, Result};
use crate::experiment::{Experiment, ExperimentBuilder};

/// The name Extra-P gives a callpath that a line does not have.
pub const DEFAULT_CALLPATH: &str = "<root>";
/// The name Extra-P gives a metric that a line does not have.
pub const DEFAULT_METRIC: &str = "<default>";

/// How a file is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// `{"params":{"p":4},"callpath":"main","metric":"time","value":1.5}`, one per line.
    JsonLines,
    /// `{"parameters":["p"],"measurements":{"main":{"time":[{"point":[4],"values":[1.5]}]}}}`, or the older
    /// form in which measurements refer to callpaths, metrics and coordinates by id.
    Json,
    /// Extra-P's text format.
    Text,
    /// Talpas: as JSON lines, with `;` for `,` and `parameters` for `params`.
    Talpas,
    /// An experiment as Extra-P saves it. Bytes, not text.
    ExtraP,
}

impl Format {
    /// Guesses the format from the text itself; extensions are not to be trusted, `.json` holding lines as
    /// often as not.
    pub fn guess(text: &str) -> Format {
        let Some(first) = text.lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with('#'))
        else {
            return Format::JsonLines;
        };
        if !first.starts_with(['{', '[']) {
            return Format::Text;
        }
        let complete = first.starts_with('{') && first.ends_with('}');
        if !complete {
            return Format::Json;
        }
        let lines_key = ["\"params\"", "\"value\""].iter().any(|key| first.contains(key));
        match (first.contains("};"), lines_key) {
            (true, _) => Format::Talpas,
            (false, true) if !first.contains("\"measurements\"") => Format::JsonLines,
            (false, _) if first.contains("\"measurements\"") => Format::Json,
            _ => Format::JsonLines,
        }
    }
}

/// Reads a file; without a format, guesses it. A folder is read as [`read_runs`] does.
///
/// # Errors
/// The file cannot be read, is not text, or does not have the form of its format.
pub fn read(path: &Path, format: Option<Format>) -> Result<Experiment> {
    if path.is_dir() {
        return read_runs(path, Scaling::default());
    }
    let bytes = std::fs::read(path).map_err(|source| Error::Read { path: path.to_owned(), source })?;
    parse_bytes(bytes, &path.display().to_string(), format)
}

/// Reads bytes, for example those of standard input; `source` is the name messages give them.
///
/// # Errors
/// As [`read`].
pub fn parse_bytes(bytes: Vec<u8>, source: &str, format: Option<Format>) -> Result<Experiment> {
    if format == Some(Format::ExtraP) || (format.is_none() && bytes.starts_with(zip::START)) {
        return not_empty(extra_p::parse(&bytes, source)?, source);
    }
    match String::from_utf8(bytes) {
        Ok(text) => parse(text.strip_prefix('\u{feff}').unwrap_or(&text), source, format),
        Err(error) => {
            let valid = error.utf8_error().valid_up_to();
            let bytes = error.as_bytes();
            let line = 1 + bytes[..valid].iter().filter(|&&byte| byte == b'\n').count();
            Err(Error::format(source, Some(line), "UTF-8 text", format!("byte 0x{:02x}", bytes[valid])))
        }
    }
}

/// Reads text; `source` is the name messages give it.
///
/// ```
/// let text = r#"
/// {"params":{"p":4},"metric":"time","value":[1.1, 0.9]}
/// {"params":{"p":8},"metric":"time","value":2}
/// "#;
/// let experiment = perf_model::input::parse(text, "example", None)?;
/// assert_eq!(experiment.sets[0].measurements[0].values, [1.1, 0.9]);
/// # Ok::<(), perf_model::Error>(())
/// ```
///
/// # Errors
/// As [`read`].
pub fn parse(text: &str, source: &str, format: Option<Format>) -> Result<Experiment> {
    let builder = match format.unwrap_or_else(|| Format::guess(text)) {
        Format::JsonLines => json_lines::parse(text, source, json_lines::Dialect::Extrap),
        Format::Talpas => json_lines::parse(text, source, json_lines::Dialect::Talpas),
        Format::Json => json::parse(text, source),
        Format::Text => text::parse(text, source),
        Format::ExtraP => extra_p::parse(text.as_bytes(), source),
    }?;
    not_empty(builder, source)
}

fn not_empty(builder: ExperimentBuilder, source: &str) -> Result<Experiment> {
    let experiment = builder.build();
    if experiment.sets.is_empty() {
        return Err(Error::Empty { place: Place { source: source.to_owned(), line: None } });
    }
    Ok(experiment)
}

/// A builder for these parameters, or the reason why they cannot be: none, or one twice.
fn builder(parameters: Vec<String>, source: &str, line: Option<usize>) -> Result<ExperimentBuilder> {
    if parameters.is_empty() {
        return Err(Error::format(source, line, "at least one parameter", "none"));
    }
    for (index, parameter) in parameters.iter().enumerate() {
        if parameters[..index].contains(parameter) {
            return Err(Error::format(
                source,
                line,
                "parameters with different names",
                format!("`{parameter}` twice"),
            ));
        }
    }
    Ok(ExperimentBuilder::new(parameters))
}

/// Whether every value of a point is a number; the error names the place otherwise.
fn check_point(point: &[f64], source: &str, line: Option<usize>) -> Result<()> {
    match point.iter().find(|value| !value.is_finite()) {
        Some(value) => Err(Error::format(source, line, "finite parameter values", value.to_string())),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guesses() {
        for (text, format) in [
            ("{\"params\":{\"p\":1},\"value\":1}\n", Format::JsonLines),
            ("\n\n{\"value\":1, \"params\":{\"p\":1}}\n", Format::JsonLines),
            (
                "{\"parameters\":{\"x\":20};\"metric\":\"time\";\"callpath\":\"c\";\"value\":8}",
                Format::Talpas,
            ),
            ("{\n\"parameters\":[\"p\"]", Format::Json),
            ("{\"parameters\":[\"p\"],\"measurements\":{}}", Format::Json),
            ("# a comment\nPARAMETER p\n", Format::Text),
            ("", Format::JsonLines),
        ] {
            assert_eq!(Format::guess(text), format, "{text}");
        }
    }

    #[test]
    fn bad_bytes_name_their_line() {
        let error = parse_bytes(b"{}\n{\xff".to_vec(), "x.jsonl", None).unwrap_err().to_string();
        assert_eq!(error, "x.jsonl:2: expected UTF-8 text, found byte 0xff");
    }

    #[test]
    fn an_empty_file_is_an_error() {
        let error = parse("", "x.jsonl", None).unwrap_err().to_string();
        assert_eq!(error, "x.jsonl: expected at least one measurement, found none");
    }
}
