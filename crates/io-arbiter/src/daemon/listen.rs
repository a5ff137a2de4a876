//! Sockets that are listened at.

use super::Problem;
use lease_protocol::Address;
use std::fs::{self, Permissions};
use std::io::{self, ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

#[derive(Debug)]
pub(super) enum Listener {
    Unix(UnixListener, PathBuf),
    Tcp(TcpListener),
}

#[derive(Debug)]
pub(super) enum Socket {
    Unix(UnixStream),
    Tcp(TcpStream),
}

impl Listener {
    pub(super) fn bind(address: &Address) -> Result<Self, Problem> {
        let problem = |error: io::Error| Problem::Listen(address.clone(), error);
        match address {
            Address::Unix(path) => {
                if UnixStream::connect(path).is_ok() {
                    return Err(Problem::Taken(address.clone()));
                }
                remove_socket(path).map_err(problem)?;
                let listener = UnixListener::bind(path).map_err(problem)?;
                // Jobs of all users of this host may ask for their turn.
                fs::set_permissions(path, Permissions::from_mode(0o666)).map_err(problem)?;
                listener.set_nonblocking(true).map_err(problem)?;
                Ok(Listener::Unix(listener, path.clone()))
            }
            Address::Tcp(host, port) => {
                let listener = TcpListener::bind((host.as_str(), *port)).map_err(problem)?;
                listener.set_nonblocking(true).map_err(problem)?;
                Ok(Listener::Tcp(listener))
            }
            Address::Directory(_) => Err(problem(ErrorKind::Unsupported.into())),
        }
    }

    pub(super) fn address(&self) -> Address {
        match self {
            Listener::Unix(_, path) => Address::Unix(path.clone()),
            Listener::Tcp(listener) => match listener.local_addr() {
                Ok(address) => Address::Tcp(address.ip().to_string(), address.port()),
                Err(_) => Address::Tcp("0.0.0.0".to_owned(), 0),
            },
        }
    }

    pub(super) fn descriptor(&self) -> BorrowedFd<'_> {
        match self {
            Listener::Unix(listener, _) => listener.as_fd(),
            Listener::Tcp(listener) => listener.as_fd(),
        }
    }

    /// The next one who comes, if there is one.
    pub(super) fn accept(&self) -> Option<Socket> {
        match self {
            Listener::Unix(listener, _) => {
                let (stream, _) = listener.accept().ok()?;
                stream.set_nonblocking(true).ok()?;
                Some(Socket::Unix(stream))
            }
            Listener::Tcp(listener) => {
                let (stream, _) = listener.accept().ok()?;
                stream.set_nonblocking(true).ok()?;
                stream.set_nodelay(true).ok()?;
                Some(Socket::Tcp(stream))
            }
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        if let Listener::Unix(_, path) = self {
            let _ = fs::remove_file(path);
        }
    }
}

/// What an arbiter that was killed has left. Anything but a socket stays, and is an error when it is bound.
fn remove_socket(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Ok(about) if about.file_type().is_socket() => fs::remove_file(path),
        Ok(_) => Err(io::Error::new(ErrorKind::AlreadyExists, "there is something that is not a socket")),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

impl Socket {
    pub(super) fn descriptor(&self) -> BorrowedFd<'_> {
        match self {
            Socket::Unix(stream) => stream.as_fd(),
            Socket::Tcp(stream) => stream.as_fd(),
        }
    }

    pub(super) fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        match self {
            Socket::Unix(stream) => stream.read(bytes),
            Socket::Tcp(stream) => stream.read(bytes),
        }
    }

    pub(super) fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Socket::Unix(stream) => stream.write(bytes),
            Socket::Tcp(stream) => stream.write(bytes),
        }
    }

    pub(super) fn is_remote(&self) -> bool {
        matches!(self, Socket::Tcp(_))
    }

    /// Who it is, as the kernel knows it.
    pub(super) fn user(&self) -> Option<u32> {
        match self {
            Socket::Unix(stream) => {
                rustix::net::sockopt::socket_peercred(stream).ok().map(|who| who.uid.as_raw())
            }
            Socket::Tcp(_) => None,
        }
    }
}
