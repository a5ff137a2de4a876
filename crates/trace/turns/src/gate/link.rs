//! The way to the arbiter: a socket, or two files in a directory.
//!
//! All calls are system calls on descriptors of the agent's own table; none of them waits longer than is
//! said.

use crate::{Address, LENGTH, Message};
use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind};
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long a connection may take to come about.
const CONNECT: Duration = Duration::from_millis(300);
/// Room for what has arrived; longer texts are cut.
const ROOM: usize = 1024;
/// How often the time of the node's file changes, by which the arbiter sees that the node lives.
const TOUCH: Duration = Duration::from_secs(10);
const FLAGS: i32 = libc::O_NOFOLLOW | libc::O_CLOEXEC;

pub(super) struct Link {
    up: OwnedFd,
    files: Option<Files>,
    bytes: [u8; ROOM],
    length: usize,
    /// Bytes of a text that do not matter.
    skip: usize,
}

/// The other half of a link through a directory.
struct Files {
    /// The arbiter makes it.
    down: Option<OwnedFd>,
    names: [PathBuf; 2],
    sign: PathBuf,
    shown: String,
    seen: Instant,
    touched: Instant,
}

/// What has come.
pub(super) enum Arrived {
    Message(Message, String),
    Nothing,
}

impl Link {
    pub(super) fn connect(address: &Address, number: u64) -> io::Result<Self> {
        let (up, files): (OwnedFd, _) = match address {
            Address::Unix(path) => (connect_unix(path)?, None),
            Address::Tcp(host, port) => {
                let stream = TcpStream::connect_timeout(&SocketAddr::new(resolve(host)?, *port), CONNECT)?;
                stream.set_nodelay(true)?;
                stream.set_nonblocking(true)?;
                (stream.into(), None)
            }
            Address::Directory(path) => {
                let (up, files) = Files::open(path, number)?;
                (up, Some(files))
            }
        };
        Ok(Link { up, files, bytes: [0; ROOM], length: 0, skip: 0 })
    }

    /// Where to write.
    pub(super) fn descriptor(&self) -> RawFd {
        self.up.as_raw_fd()
    }

    pub(super) fn is_slow(&self) -> bool {
        self.files.is_some()
    }

    /// Waits until something has arrived, but no longer than `time`.
    pub(super) fn wait(&self, time: Duration) {
        let time = match &self.files {
            Some(_) => time.min(Duration::from_millis(20)),
            None => time,
        };
        let time =
            libc::timespec { tv_sec: time.as_secs() as libc::time_t, tv_nsec: time.subsec_nanos().into() };
        let mut one = libc::pollfd { fd: self.up.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        let count = if self.files.is_some() { 0 } else { 1 };
        // SAFETY: there is one entry, or none is looked at; signals are as they were.
        unsafe { libc::ppoll(&mut one, count, &time, std::ptr::null()) };
    }

    /// The next message that is complete.
    pub(super) fn receive(&mut self) -> io::Result<Arrived> {
        if let Some(files) = &mut self.files {
            files.look()?;
            if files.touched.elapsed() > TOUCH {
                files.touched = Instant::now();
                // SAFETY: the descriptor is open; no times means now.
                unsafe { libc::futimens(self.up.as_raw_fd(), std::ptr::null()) };
            }
        }
        loop {
            if let Some(arrived) = self.next()? {
                return Ok(arrived);
            }
            let source = match &self.files {
                None => self.up.as_raw_fd(),
                Some(files) => match &files.down {
                    Some(down) => down.as_raw_fd(),
                    None => return Ok(Arrived::Nothing),
                },
            };
            let room = self.bytes.get_mut(self.length..).unwrap_or_default();
            // SAFETY: the descriptor is open, and the room that long.
            let got = unsafe { libc::read(source, room.as_mut_ptr().cast(), room.len()) };
            match got {
                0 if self.files.is_some() => return Ok(Arrived::Nothing),
                0 => return Err(ErrorKind::UnexpectedEof.into()),
                1.. => self.length += got as usize,
                _ => match io::Error::last_os_error() {
                    error if error.kind() == ErrorKind::WouldBlock => return Ok(Arrived::Nothing),
                    error if error.kind() == ErrorKind::Interrupted => {}
                    error => return Err(error),
                },
            }
        }
    }

    fn take(&mut self, count: usize) {
        self.bytes.copy_within(count.min(self.length)..self.length, 0);
        self.length -= count.min(self.length);
    }

    fn next(&mut self) -> io::Result<Option<Arrived>> {
        let skipped = self.skip.min(self.length);
        self.take(skipped);
        self.skip -= skipped;
        let Some(head) = self.bytes.get(..self.length).and_then(<[u8]>::first_chunk::<LENGTH>) else {
            return Ok(None);
        };
        let message = Message::decode(head).map_err(|error| io::Error::new(ErrorKind::InvalidData, error))?;
        let (whole, wanted) = (message.text as usize, (message.text as usize).min(ROOM - LENGTH));
        let Some(text) = self.bytes.get(LENGTH..LENGTH + wanted).filter(|_| self.length >= LENGTH + wanted)
        else {
            return Ok(None);
        };
        let text = String::from_utf8_lossy(text).into_owned();
        self.take(LENGTH + wanted);
        self.skip = whole - wanted;
        Ok(Some(Arrived::Message(message, text)))
    }
}

/// Connects to a Unix socket without waiting: an arbiter that is stopped accepts no connection when its queue
/// is full.
fn connect_unix(path: &Path) -> io::Result<OwnedFd> {
    let kind = libc::SOCK_STREAM | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
    // SAFETY: an address of zeros is an empty one; the length is that of the address; the descriptor is new,
    // and nobody else's.
    unsafe {
        let mut address: libc::sockaddr_un = std::mem::zeroed();
        address.sun_family = libc::AF_UNIX as libc::sa_family_t;
        let bytes = path.as_os_str().as_bytes();
        if bytes.len() >= address.sun_path.len() {
            return Err(ErrorKind::InvalidInput.into());
        }
        address.sun_path.iter_mut().zip(bytes).for_each(|(place, byte)| *place = *byte as libc::c_char);
        let descriptor = libc::socket(libc::AF_UNIX, kind, 0);
        if descriptor < 0 {
            return Err(io::Error::last_os_error());
        }
        let socket = OwnedFd::from_raw_fd(descriptor);
        let length = size_of::<libc::sockaddr_un>() as libc::socklen_t;
        match libc::connect(descriptor, std::ptr::from_ref(&address).cast(), length) {
            0 => Ok(socket),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

/// Sends bytes, all or none: a link that does not take a few bytes at once is of no use.
pub(super) fn send(descriptor: RawFd, bytes: &[u8], is_file: bool) -> bool {
    // SAFETY: the bytes are valid; a descriptor that is not open is an error and no more.
    let sent = unsafe {
        match is_file {
            true => libc::write(descriptor, bytes.as_ptr().cast(), bytes.len()),
            false => {
                let flags = libc::MSG_NOSIGNAL | libc::MSG_DONTWAIT;
                libc::send(descriptor, bytes.as_ptr().cast(), bytes.len(), flags)
            }
        }
    };
    sent == bytes.len() as isize
}

/// A number, or a name that this host has an address for. Nothing is asked of the network, which might take
/// long, and nothing of the C library, which would take the application's memory.
fn resolve(host: &str) -> io::Result<IpAddr> {
    if let Ok(address) = host.parse() {
        return Ok(address);
    }
    let hosts = fs::read_to_string("/etc/hosts").unwrap_or_default();
    let named = |line: &str| {
        let mut words = line.split('#').next()?.split_whitespace();
        let address = words.next()?.parse().ok()?;
        words.any(|name| name == host).then_some(address)
    };
    hosts.lines().find_map(named).ok_or_else(|| ErrorKind::AddrNotAvailable.into())
}

impl Files {
    /// Makes the files of this node; the arbiter finds them.
    fn open(directory: &Path, number: u64) -> io::Result<(OwnedFd, Self)> {
        let sign = directory.join("arbiter");
        let shown = fs::read_to_string(&sign)?;
        let names = ["up", "down"].map(|end| directory.join("nodes").join(format!("{number:016x}.{end}")));
        let [name, _] = &names;
        let mut options = OpenOptions::new();
        options.append(true).create_new(true).mode(0o644).custom_flags(FLAGS);
        let up = options.open(name)?;
        let now = Instant::now();
        Ok((up.into(), Files { down: None, names, sign, shown, seen: now, touched: now }))
    }

    /// Whether the arbiter is still there: what it shows changes, or it has not been looked for long.
    fn look(&mut self) -> io::Result<()> {
        const SESSION: usize = 16;
        let [_, down] = &self.names;
        if self.down.is_none() {
            self.down = OpenOptions::new().read(true).custom_flags(FLAGS).open(down).ok().map(OwnedFd::from);
        }
        if self.seen.elapsed() < Duration::from_millis(200) {
            return Ok(());
        }
        let shown = fs::read_to_string(&self.sign).unwrap_or_default();
        let changed = shown != self.shown;
        if changed && shown.get(..SESSION) != self.shown.get(..SESSION) {
            return Err(ErrorKind::ConnectionReset.into());
        }
        if changed {
            (self.shown, self.seen) = (shown, Instant::now());
        } else if self.seen.elapsed() > crate::SILENT {
            return Err(ErrorKind::TimedOut.into());
        }
        Ok(())
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        // The arbiter sees that it is gone, and removes the other one.
        let [up, _] = &self.names;
        let _ = fs::remove_file(up);
    }
}
