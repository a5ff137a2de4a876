//! Files that somebody else can influence, touched in one way.
//!
//! A path may lead to another file the next time it is used: any user who may write to one of its
//! folders can put a link, a pipe or another file there between a look and what is done after it. So the
//! commands that handle files of others do not use paths. They open a folder ([`Dir`]) and go on from that
//! handle:
//!
//! - below a folder, no link is followed and nothing leads out of it (`openat2(2)` with `RESOLVE_BENEATH` and
//!   `RESOLVE_NO_SYMLINKS`; where the kernel has no such call, step by step with `O_NOFOLLOW`);
//! - only regular files are opened, and opening never waits (`O_NONBLOCK`): not for a pipe, not for a lease;
//! - who owns a file, and who else may write to it, is asked of the open file ([`Expect`]);
//! - a file is created only where there is nothing (`O_EXCL`), and renamed only to a name that is free,
//!   unless the caller says that it may replace what is there;
//! - a process of root that handles the files of a user becomes that user first ([`user::run_as`]), so that
//!   nothing it creates is anybody else's, and nothing it opens was out of that user's reach.
//!
//! Names of files are written by others as well: [`shown`] makes them safe for a terminal or a log.
//!
//! ```
//! use files::{Dir, Expect};
//! use std::io::Read;
//!
//! # let place = tempfile::tempdir()?;
//! # std::fs::create_dir(place.path().join("a"))?;
//! # std::fs::write(place.path().join("a/b"), "text")?;
//! let folder = Dir::open(place.path())?;
//! let mut text = String::new();
//! folder.read("a/b", &Expect::anybodys())?.read_to_string(&mut text)?;
//! assert_eq!(text, "text");
//! assert!(folder.read("a/../../etc/passwd", &Expect::anybodys()).is_err());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]
#![warn(missing_docs)]
#![deny(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic))]

mod change;
mod dir;
mod error;
mod expect;
mod mounts;
mod name;
mod reach;
mod resolve;
mod socket;
mod stat;
pub mod user;

pub use change::Replace;
pub use dir::{Access, Dir, Entry};
pub use error::{Error, Result, Why};
pub use expect::Expect;
pub use name::{printable, shown};
pub use resolve::Way;
pub use socket::Bound;
pub use stat::{Kind, Stat};
