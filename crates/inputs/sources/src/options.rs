//! What the user says about inputs.

use super::pattern::Pattern;
use crate::request::layer::Layer;

/// What the user says about inputs.
#[derive(Clone, Debug, Default)]
pub struct OpenOptions {
    /// Inputs are text, to be read by this pattern.
    pub pattern: Option<Pattern>,
    /// The layer to take of a Darshan log, or of a trace of calls; by default the one that moved most bytes.
    pub layer: Option<Layer>,
    /// Of inputs with several quantities, only those whose name contains this.
    pub metric: Option<String>,
    /// Are sampled quantities counters, whose rate is the signal?
    pub rate: Rate,
    /// Job time 0, in nanoseconds since 1970, of an input whose times count from 1970; by default its first
    /// request.
    pub origin: Option<i64>,
}

/// Whether a sampled quantity is a counter, of which the rate of change is analysed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rate {
    /// As its name and its values say.
    #[default]
    Auto,
    /// It is.
    On,
    /// It is not.
    Off,
}
