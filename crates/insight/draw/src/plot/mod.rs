//! Pictures of an analysis: the bandwidth with its phases and dominant wave, the spectrum with its
//! candidates, the autocorrelation, what each rank did when, and what nonblocking operations needed and got.

mod draw;
pub mod html;
mod picture;
mod scene;
mod timeline;

pub use draw::{draw, picture};
pub use picture::Picture;
