//! C streams: what goes between their buffers and the system.
//!
//! The C library never calls its own `read` and `write` in a way that could be seen. What a call did to the
//! stream's buffer tells it instead: of `n` bytes that a call took, with `before` bytes waiting to be written
//! when it began and `after` when it ended, `n + before − after` have gone to the system. So one record is
//! one call in which bytes went to or came from the system, with exactly these bytes. Streams of wide
//! characters have two buffers, and between them an encoding: there the position in the file tells it.

mod printing;
mod reading;
mod stream;
mod wide;
mod writing;

pub(super) use writing::at_exit;
