//! Scaling models: how a quantity grows with the number of processes, or with up to four parameters.
//!
//! An application is run at several scales; each run says how many bytes it wrote, how long that took, how
//! fast it was. This crate finds the formula behind those numbers in the *performance model normal form*
//!
//! ```text
//! f(p) = c₀ + c₁ · p^i · log2(p)^j            one parameter, i and j small fractions
//! f(p, n) = c₀ + Σ c_k · Π p_l^i_kl · log2(p_l)^j_kl      two to four
//! ```
//!
//! which is what Extra-P does (Calotoiu et al., SC 2013), says how far to trust it, and evaluates it
//! elsewhere.
//!
//! ```
//! use perf_model::{Options, input, model};
//!
//! let runs = r#"
//! {"params":{"Processes":1},"callpath":"write","metric":"Size (B)","value":1048576}
//! {"params":{"Processes":2},"callpath":"write","metric":"Size (B)","value":2097152}
//! {"params":{"Processes":4},"callpath":"write","metric":"Size (B)","value":4194304}
//! {"params":{"Processes":8},"callpath":"write","metric":"Size (B)","value":8388608}
//! "#;
//! let experiment = input::parse(runs, "runs.jsonl", None)?;
//! let models = model(&experiment, &Options::default())?;
//! let write = &models.models[0];
//! assert!((write.evaluate(&[1024.0]) / 1073741824.0 - 1.0).abs() < 1e-9);
//! # Ok::<(), perf_model::Error>(())
//! ```
//!
//! # Two modes
//!
//! [`Mode::Default`] weights points by their noise, tests constants against terms with one standard, offers
//! negative exponents to falling series, names the [runner-up](RunnerUp) and whether the data can tell it
//! from the winner, and gives [intervals](Predictor) that are as wide as the alternatives demand. Beyond the
//! largest scale it expects what many curves foretell together, which is never impossible.
//! [`Mode::Compat`] reproduces Extra-P 4.2.5: same terms, coefficients and costs.
//!
//! # Where to find what
//!
//! | to… | see |
//! |---|---|
//! | read JSON lines, JSON, text, Talpas | [`input`] |
//! | build measurements in memory | [`ExperimentBuilder`] |
//! | add runs to a file of measurements | [`extend()`] |
//! | model all sets, or one series | [`model()`], [`model_series`], [`Options`] |
//! | evaluate, with intervals | [`Model::evaluate`], [`Model::predict`], [`predict_all`], [`parse_point`] |
//! | say how far off that may be | [`Reach`] |
//! | compare callpaths at a scale | [`rank()`] |
//! | write JSON, listings, format strings, plots | [`output`] |
//!
//! The same input gives the same output, whatever the number of threads.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod assess;
mod basis;
mod compat;
mod cost;
mod dense;
mod error;
mod experiment;
mod extend;
mod forecast;
mod forms;
mod fraction;
mod function;
pub mod input;
mod line_fit;
mod lines;
mod model;
mod modeler;
mod noise;
mod options;
pub mod output;
mod points;
mod prediction;
mod rank;
mod search_space;
mod settings;
mod statistical;
mod student;
mod together;

pub use cost::Costs;
pub use error::{Error, Place, Result};
pub use experiment::{Experiment, ExperimentBuilder, Measure, Measurement, MeasurementSet};
pub use extend::{Extension, Name, Run, extend};
pub use forecast::Reach;
pub use fraction::Fraction;
pub use function::{Exponents, Factor, Formula, Function, Term};
pub use model::{Model, Note, RunnerUp};
pub use modeler::{Models, Skipped, model, model_series};
pub use noise::{Noise, NoiseKind};
pub use options::{Mode, Modeler, Options};
pub use prediction::{Interval, Prediction, Predictor, Target, parse_point};
pub use rank::{Ranked, rank};
pub use search_space::{GROWING, SHRINKING_LOG, SHRINKING_POWER, SearchSpace};
pub use settings::{ExponentLists, SETTINGS, Setting};
pub use statistical::Shrinking;
pub use together::predict_all;
