//! Sockets that are listened at.

use super::Problem;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use turns::Address;

#[derive(Debug)]
pub(super) enum Listener {
    Unix { listener: UnixListener, path: PathBuf, _bound: files::Bound },
    Tcp(TcpListener),
}

#[derive(Debug)]
pub(super) enum Socket {
    Unix(UnixStream),
    Tcp(TcpStream),
}

impl Listener {
    pub(super) fn bind(address: &Address) -> Result<Self, Problem> {
        let problem = |error: io::Error| super::problem(address, error);
        match address {
            Address::Unix(path) => {
                // Jobs of all users of this host may ask for their turn.
                let (listener, bound) = files::Bound::listen(path).map_err(problem)?;
                listener.set_nonblocking(true).map_err(problem)?;
                Ok(Listener::Unix { listener, path: path.clone(), _bound: bound })
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
            Listener::Unix { path, .. } => Address::Unix(path.clone()),
            Listener::Tcp(listener) => match listener.local_addr() {
                Ok(address) => Address::Tcp(address.ip().to_string(), address.port()),
                Err(_) => Address::Tcp("0.0.0.0".to_owned(), 0),
            },
        }
    }

    pub(super) fn descriptor(&self) -> BorrowedFd<'_> {
        match self {
            Listener::Unix { listener, .. } => listener.as_fd(),
            Listener::Tcp(listener) => listener.as_fd(),
        }
    }

    /// The next one who comes; `WouldBlock`: nobody does.
    pub(super) fn accept(&self) -> io::Result<Socket> {
        match self {
            Listener::Unix { listener, .. } => {
                let (stream, _) = listener.accept()?;
                stream.set_nonblocking(true)?;
                Ok(Socket::Unix(stream))
            }
            Listener::Tcp(listener) => {
                let (stream, _) = listener.accept()?;
                stream.set_nonblocking(true)?;
                stream.set_nodelay(true)?;
                Ok(Socket::Tcp(stream))
            }
        }
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
