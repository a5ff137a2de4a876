//! Models as text, JSON and data for plots.

pub mod formula;
pub mod json;
pub mod number;
pub mod plot;
pub mod print;
mod template;
