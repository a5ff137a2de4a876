//! Where requests come from: inputs of every format, finished or growing.
//!
//! [`open()`] looks at the content of an input, whatever its name, and says what it is: [`Opened`]. A
//! [`Source`] hands out its data in batches and says at the end what it learned about the job. The analysis
//! knows nothing else about formats: a new one is a new file here, and a row in the table of [formats].
//!
//! | module | reads |
//! |---|---|
//! | [`our_trace`] | the trace of this project, finished or not |
//! | [`tmio_file`] | JSON, JSONL and MessagePack of the C++ TMIO, and FTIO's custom JSON |
//! | `gekkofs` | client metrics of GekkoFS, JSON or MessagePack |
//! | `proxy` | exports of the metric proxy |
//! | `prometheus` | answers of Prometheus, a list of times and values, its text format with time stamps |
//! | `signature` | signatures that `ftio signature` found |
//! | `esnet` | traffic of an interface as ESnet shows it |
//! | `csv` | tables of requests, or of samples over time |
//! | `text` | any text, by the expressions of a [pattern] file |
//! | [`darshan`] | Darshan logs: DXT, else the heatmap |
//! | `recorder` | Recorder's traces as text |
//! | `recorder_folder` | Recorder's own folder |
//! | `trace_events` | Chrome's trace events, and dftracer's |
//!
//! Inputs are everyday inputs: what cannot be used is left out, counted and named in [`Job::warnings`]; what
//! leaves nothing to use is a [`SourceError`] with the file, the place in it, what was expected and what was
//! there.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod amount;
pub mod arrays;
mod as_trace;
mod bandwidth_piece;
mod calls;
pub mod content;
mod counter;
pub mod coverage;
pub(crate) mod csv;
pub mod darshan;
pub mod date;
mod error;
mod esnet;
pub mod follow;
pub mod format;
pub mod formats;
mod functions;
mod gekkofs;
mod in_memory;
mod intake;
mod job;
pub(crate) mod layers;
mod open;
mod opened;
mod options;
pub mod our_trace;
pub mod pattern;
mod pattern_fields;
mod prometheus;
mod proxy;
pub mod proxy_profile;
mod python_pattern;
mod recorder;
mod recorder_folder;
pub mod request;
pub mod series;
mod signature;
mod since_first;
pub mod split;
mod text;
pub mod time;
pub mod tmio_file;
mod trace_events;
pub mod units;
pub mod value;

pub use as_trace::{Told, as_trace};
pub use bandwidth_piece::BandwidthPiece;
pub use content::Input;
pub use error::SourceError;
pub use in_memory::{InMemory, Merged};
pub use job::{Job, Marked, Source};
pub(crate) use open::since_first;
pub use open::{Folder, folder, open, open_as, open_content, open_parts, recognise};
pub use opened::{Kind, Opened, Sampled};
pub use options::{OpenOptions, Rate};
pub use our_trace::TmioTrace;
pub use pattern::Pattern;
pub use request::layer::Layer;
pub use request::{Class, Mode, Request, Span};
pub(crate) use since_first::ABSOLUTE;
