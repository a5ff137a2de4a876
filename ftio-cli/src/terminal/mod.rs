//! Text for people: colours, names that are safe to print, numbers with units.

pub mod clock;
pub mod progress;
pub mod status;
pub mod style;
pub mod table;
pub mod text;
pub mod waiting;
pub mod width;

// Words of messages and of drawings are the same.
pub use draw::units;
