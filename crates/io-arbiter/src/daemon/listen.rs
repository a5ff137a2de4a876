//! Sockets that are listened at.

use super::Problem;
use lease_protocol::Address;
use rustix::fs::{FlockOperation, Mode, flock};
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, connect, socket_with};
use rustix::process::umask;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

#[derive(Debug)]
pub(super) enum Listener {
    Unix { listener: UnixListener, path: PathBuf, inode: u64 },
    Tcp(TcpListener),
}

/// How long another arbiter may take to begin in the same directory, in steps of 10 ms.
const STEPS: u32 = 100;

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
                // Two that begin at the same moment must not both take the place of one that is gone.
                let _turn = lock_directory(path);
                if is_taken(path) {
                    return Err(Problem::Taken(address.clone()));
                }
                remove_socket(path).map_err(problem)?;
                // Jobs of all users of this host may ask for their turn. It is made that way: its name may lead
                // to something else when it is changed afterwards.
                let before = umask(Mode::from_raw_mode(0o111));
                let listener = UnixListener::bind(path);
                umask(before);
                let listener = listener.map_err(problem)?;
                listener.set_nonblocking(true).map_err(problem)?;
                let inode = fs::symlink_metadata(path).map_err(problem)?.ino();
                Ok(Listener::Unix { listener, path: path.clone(), inode })
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

impl Drop for Listener {
    fn drop(&mut self) {
        if let Listener::Unix { path, inode, .. } = self {
            // If somebody has removed it and another arbiter made its own, that one stays.
            let is_ours = fs::symlink_metadata(&*path).is_ok_and(|about| about.ino() == *inode);
            let _ = is_ours.then(|| fs::remove_file(path));
        }
    }
}

/// Keeps others from beginning in this directory for as long as the file is open, or for a second: a lock
/// that somebody holds for longer is not an arbiter's.
fn lock_directory(path: &Path) -> Option<File> {
    let directory = File::open(path.parent()?).ok()?;
    for _ in 0..STEPS {
        match flock(&directory, FlockOperation::NonBlockingLockExclusive) {
            Err(rustix::io::Errno::AGAIN) => std::thread::sleep(Duration::from_millis(10)),
            _ => return Some(directory),
        }
    }
    None
}

/// Whether somebody listens. One that is stopped, and has a full queue, does.
fn is_taken(path: &Path) -> bool {
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let Ok(socket) = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None) else { return false };
    let Ok(address) = SocketAddrUnix::new(path) else { return false };
    matches!(connect(&socket, &address), Ok(()) | Err(rustix::io::Errno::AGAIN))
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
