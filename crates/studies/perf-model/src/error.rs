//! What can go wrong between a file of measurements and a model.

use std::fmt;
use std::path::PathBuf;

/// The result of everything in this crate that reads outside data.
pub type Result<T> = std::result::Result<T, Error>;

/// Where in an input something was found: the name of the input, and the line if the format has lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Path of the file, or `-` for standard input, or whatever the caller named the text.
    pub source: String,
    /// Line, counted from one.
    pub line: Option<usize>,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}", self.source),
            None => f.write_str(&self.source),
        }
    }
}

/// An input that cannot be modelled, and why. Every message names the place, what was expected and what was
/// found there.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file could not be read at all.
    #[error("{}: cannot read: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A line or a file does not have the form of its format.
    #[error("{place}: expected {expected}, found {found}")]
    Format {
        /// Where.
        place: Place,
        /// What should have been there.
        expected: String,
        /// What was there.
        found: String,
    },
    /// The input is well formed and holds no measurement.
    #[error("{place}: expected at least one measurement, found none")]
    Empty {
        /// The input.
        place: Place,
    },
    /// [`Mode::Compat`](crate::Mode::Compat) only: Extra-P refuses a file in which one callpath and metric
    /// lacks a coordinate that another one has.
    #[error(
        "{callpath}, {metric}: expected a measurement at each of the {expected} coordinates of the file, \
         found {found}"
    )]
    Ragged {
        /// Callpath of the incomplete set.
        callpath: String,
        /// Metric of the incomplete set.
        metric: String,
        /// Coordinates in the file.
        expected: usize,
        /// Measurements in the set.
        found: usize,
    },
    /// Models exist for one to four parameters.
    #[error("expected one to four parameters, found {found}")]
    Parameters {
        /// How many there are.
        found: usize,
    },
    /// The refining and segmented modelers know one parameter only.
    #[error("the {modeler} modeler: expected one parameter, found {found}")]
    SingleParameterOnly {
        /// Name of the modeler.
        modeler: &'static str,
        /// How many parameters there are.
        found: usize,
    },
    /// A point at which a model is to be evaluated does not fit the parameters of the model.
    #[error("point to evaluate: expected {expected}, found {found}")]
    Point {
        /// The parameters of the model.
        expected: String,
        /// What was given.
        found: String,
    },
    /// A format string for printing models is malformed.
    #[error("format string, character {position}: expected {expected}, found {found}")]
    Template {
        /// Character, counted from one.
        position: usize,
        /// What should have been there.
        expected: String,
        /// What was there.
        found: String,
    },
}

impl Error {
    pub(crate) fn format(
        source: &str,
        line: Option<usize>,
        expected: impl Into<String>,
        found: impl Into<String>,
    ) -> Self {
        Error::Format {
            place: Place { source: source.to_owned(), line },
            expected: expected.into(),
            found: found.into(),
        }
    }
}

/// Shortens text quoted in a message, so that a megabyte without a line break stays readable.
pub(crate) fn excerpt(text: &str) -> String {
    const MAX_SHOWN: usize = 60;
    let text = text.trim();
    if text.is_empty() {
        return "nothing".to_owned();
    }
    match text.char_indices().nth(MAX_SHOWN) {
        Some((end, _)) => format!("`{}…`", &text[..end]),
        None => format!("`{text}`"),
    }
}
