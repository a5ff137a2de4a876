//! A Unix socket that belongs to nobody else.

use std::path::Path;
use tokio::net::UnixListener;

/// Listen on a Unix socket. Anybody may connect: the kernel says who it is. What a service that was killed
/// has left is replaced; what another one uses, and what is no socket, is left alone.
pub fn bind(path: &Path) -> std::io::Result<UnixListener> {
    use std::os::unix::fs::{FileTypeExt, PermissionsExt};
    if let Ok(about) = std::fs::symlink_metadata(path) {
        if !about.file_type().is_socket() {
            return Err(std::io::Error::other("there is a file of that name, which is no socket"));
        }
        if std::os::unix::net::UnixStream::connect(path).is_ok() {
            return Err(std::io::Error::other("another server listens there"));
        }
        std::fs::remove_file(path)?;
    }
    let listener = UnixListener::bind(path)?;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o666))?;
    Ok(listener)
}
