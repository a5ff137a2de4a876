//! Lines over a Unix or TCP socket.
//!
//! If something listens at the address, we connect and send. Otherwise we listen, and send to every client
//! that connects; a new client first gets the last line of every source. No client is waited for: each
//! has a thread and a queue, and one that is too far behind is disconnected. If there are many, the one that
//! has been there longest has to leave.

use crate::address::address;
use std::collections::{BTreeMap, VecDeque};
use std::fs;
use std::io::{self, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// A client that has not taken a line after this long is disconnected.
const TIMEOUT: Duration = Duration::from_millis(500);
/// So many pieces may wait for a client, and there are so many clients at most.
const MAX_BEHIND: usize = 64;
const MAX_PEERS: usize = 64;
/// How long the end waits for clients.
const LAST_MOMENT: Duration = Duration::from_secs(2);

/// What a client writes to.
type Stream = Box<dyn Write + Send>;

/// A client: what is put in its queue is sent to it, until it does not take it any more.
struct Peer {
    queue: SyncSender<Arc<str>>,
    thread: JoinHandle<()>,
}

impl Peer {
    fn new(mut stream: Stream) -> io::Result<Self> {
        let (queue, waiting) = sync_channel::<Arc<str>>(MAX_BEHIND);
        let send = move || {
            for text in waiting {
                if stream.write_all(text.as_bytes()).and_then(|()| stream.flush()).is_err() {
                    return;
                }
            }
        };
        let thread = std::thread::Builder::new().name("client".into()).spawn(send)?;
        Ok(Peer { queue, thread })
    }

    /// Whether it is still there.
    fn send(&self, text: &Arc<str>) -> bool {
        self.queue.try_send(Arc::clone(text)).is_ok()
    }
}

#[derive(Default)]
struct Peers {
    connected: VecDeque<Peer>,
    /// The last line of every source.
    last: BTreeMap<String, Arc<str>>,
}

#[derive(Clone, Debug)]
enum Target {
    Tcp(Vec<SocketAddr>),
    Unix(PathBuf),
}

/// The socket.
pub struct Socket {
    target: Target,
    peers: Arc<Mutex<Peers>>,
    /// We are the one that listens.
    listens: bool,
}

impl std::fmt::Debug for Socket {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.target.fmt(f)
    }
}

impl Socket {
    /// At an address, or else at the path of a Unix socket.
    pub fn open(text: &str) -> io::Result<Self> {
        let target = address(text).map_or_else(|| Target::Unix(PathBuf::from(text)), Target::Tcp);
        let peers = Arc::new(Mutex::new(Peers::default()));
        if let Ok(peer) = target.connect().and_then(Peer::new) {
            lock(&peers).connected.push_back(peer);
            return Ok(Socket { target, peers, listens: false });
        }
        target.listen(Arc::clone(&peers))?;
        Ok(Socket { target, peers, listens: true })
    }

    /// A line about a source, for all clients.
    pub fn send(&self, source: &str, line: &str) {
        let line: Arc<str> = format!("{line}\n").into();
        let mut peers = lock(&self.peers);
        peers.last.insert(source.to_owned(), Arc::clone(&line));
        peers.connected.retain(|peer| peer.send(&line));
        // The listener may have been started again.
        if !self.listens
            && peers.connected.is_empty()
            && let Ok(peer) = self.target.connect().and_then(Peer::new)
            && peer.send(&line)
        {
            peers.connected.push_back(peer);
        }
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        // What waits is sent, if it is taken in a moment.
        let threads: Vec<JoinHandle<()>> =
            lock(&self.peers).connected.drain(..).map(|Peer { thread, .. }| thread).collect();
        let until = Instant::now() + LAST_MOMENT;
        while threads.iter().any(|thread| !thread.is_finished()) && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(2));
        }
        if let (Target::Unix(path), true) = (&self.target, self.listens) {
            let _ = fs::remove_file(path);
        }
    }
}

impl Target {
    fn connect(&self) -> io::Result<Stream> {
        match self {
            Target::Tcp(addresses) => {
                let first = addresses.first().ok_or(io::ErrorKind::AddrNotAvailable)?;
                let peer = TcpStream::connect_timeout(first, TIMEOUT)?;
                peer.set_write_timeout(Some(TIMEOUT))?;
                peer.set_nodelay(true)?;
                Ok(Box::new(peer))
            }
            Target::Unix(path) => {
                let peer = UnixStream::connect(path)?;
                peer.set_write_timeout(Some(TIMEOUT))?;
                Ok(Box::new(peer))
            }
        }
    }

    fn listen(&self, peers: Arc<Mutex<Peers>>) -> io::Result<()> {
        let thread = std::thread::Builder::new().name("socket".into());
        match self {
            Target::Tcp(addresses) => {
                let listener = TcpListener::bind(&addresses[..])?;
                thread.spawn(move || {
                    for peer in listener.incoming().flatten() {
                        let _ = peer.set_nodelay(true);
                        let _ = peer.set_write_timeout(Some(TIMEOUT));
                        accept(&peers, Box::new(peer));
                    }
                })?;
            }
            Target::Unix(path) => {
                remove_stale(path)?;
                let listener = UnixListener::bind(path)?;
                thread.spawn(move || {
                    for peer in listener.incoming().flatten() {
                        let _ = peer.set_write_timeout(Some(TIMEOUT));
                        accept(&peers, Box::new(peer));
                    }
                })?;
            }
        }
        Ok(())
    }
}

/// A socket that does not answer was left by a process that is gone; anything else is not ours to remove.
fn remove_stale(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Ok(meta) if meta.file_type().is_socket() => fs::remove_file(path),
        Ok(_) => Err(io::Error::new(
            io::ErrorKind::AlreadyExists,
            "a file of this name exists, and it is not a socket",
        )),
        Err(_) => Ok(()),
    }
}

fn accept(peers: &Mutex<Peers>, stream: Stream) {
    let mut peers = lock(peers);
    let known: String = peers.last.values().map(|line| &**line).collect();
    let Ok(peer) = Peer::new(stream) else { return };
    if peer.send(&known.into()) {
        if peers.connected.len() >= MAX_PEERS {
            peers.connected.pop_front();
        }
        peers.connected.push_back(peer);
    }
}

fn lock(peers: &Mutex<Peers>) -> MutexGuard<'_, Peers> {
    peers.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}
