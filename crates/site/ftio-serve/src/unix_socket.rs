//! A Unix socket that anybody may connect to: the kernel says who it is.

use std::io::{Error, ErrorKind, Result};
use std::path::Path;
use tokio::net::UnixListener;

/// Listen on a Unix socket; its name goes with what is handed back.
pub fn bind(path: &Path) -> Result<(UnixListener, files::Bound)> {
    let (listener, bound) = files::Bound::listen(path).map_err(|error| match error.kind() {
        ErrorKind::AddrInUse => Error::new(ErrorKind::AddrInUse, "another server listens there"),
        _ => error,
    })?;
    listener.set_nonblocking(true)?;
    Ok((UnixListener::from_std(listener)?, bound))
}
