//! Sockets that are listened at.

use super::Problem;
use std::fmt::Debug;
use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpListener;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use turns::Address;

#[derive(Debug)]
pub(super) enum Listener {
    Unix { listener: UnixListener, path: PathBuf, _bound: files::Bound },
    Tcp(TcpListener),
}

pub(super) trait Stream: Debug + Read + Write + AsFd + Send {}
impl<T: Debug + Read + Write + AsFd + Send> Stream for T {}

#[derive(Debug)]
pub(super) struct Socket {
    pub(super) stream: Box<dyn Stream>,
    pub(super) is_remote: bool,
    /// Who it is, as the kernel knows it.
    pub(super) user: Option<u32>,
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
                let who = rustix::net::sockopt::socket_peercred(&stream);
                let user = who.ok().map(|who| who.uid.as_raw());
                Ok(Socket { stream: Box::new(stream), is_remote: false, user })
            }
            Listener::Tcp(listener) => {
                let (stream, _) = listener.accept()?;
                stream.set_nonblocking(true)?;
                stream.set_nodelay(true)?;
                Ok(Socket { stream: Box::new(stream), is_remote: true, user: None })
            }
        }
    }
}
