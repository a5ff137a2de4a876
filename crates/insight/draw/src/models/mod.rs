//! Scaling models: charts of points, formula and interval, as a picture or as a page.

mod chart;
mod drawing;
pub mod formula;
pub mod page;

pub use chart::{Chart, charts, is_zero};
pub use drawing::{MAX_DRAWN, sheet};
