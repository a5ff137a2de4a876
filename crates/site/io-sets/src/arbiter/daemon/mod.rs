//! The arbiter behind sockets, or behind a directory: one thread, no root, no state on disk. What it must
//! know again after a restart, nodes tell it when they come back.

mod connection;
mod directory;
mod ground;
mod listen;

use crate::arbiter::job::NodeId;
use crate::arbiter::machine::Arbiter;
use crate::arbiter::report::PhaseReport;
use crate::arbiter::settings::Settings;
use crate::arbiter::users::standing;
use crate::rules::Priority;
use connection::{Connection, State};
use directory::{Directory, Event};
use fair_share::Shared;
use files::{Dir, Expect};
use listen::Listener;
use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::process::{Resource, geteuid, getrlimit, setrlimit};
use rustix::time::Timespec;
use std::collections::{HashMap, VecDeque};
use std::io::{self, ErrorKind, Read};
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};
use turns::{Address, Hello, Kind, LONGEST_TEXT, Message, Stream};

/// How an arbiter is run.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Where it listens.
    pub listen: Vec<Address>,
    /// What whoever comes by TCP has to know.
    pub secret: Option<String>,
    /// The rules.
    pub settings: Settings,
    /// Where priorities are that others have found (`DIR/JOB/priority`, as `ftio schedule` writes them).
    pub priorities: Option<PathBuf>,
}

/// Why an arbiter cannot run.
#[derive(Debug, thiserror::Error)]
pub enum Problem {
    /// An address cannot be listened at.
    #[error("cannot listen at {0}: {1}")]
    Listen(Address, io::Error),
    /// Another arbiter is there.
    #[error("another arbiter listens at {0}")]
    Taken(Address),
    /// TCP without a secret.
    #[error("{0}: whoever can reach the port could ask; give a secret")]
    NoSecret(Address),
    /// The kernel.
    #[error("cannot wait for messages: {0}")]
    Wait(#[from] rustix::io::Errno),
}

/// A running arbiter.
#[derive(Debug)]
pub struct Daemon {
    options: Options,
    arbiter: Arbiter,
    epoll: OwnedFd,
    listeners: Vec<Listener>,
    directories: Vec<Directory>,
    connections: HashMap<NodeId, Connection>,
    /// Which user has how many, of connections and of files in directories.
    shares: Shared<Option<u32>>,
    next: NodeId,
    began: Instant,
    /// Jobs whose priority is to be read, and when all of them are again.
    unread: VecDeque<String>,
    read_priorities: f64,
    /// Connections that have not said who they are, and until when they have to.
    strangers: VecDeque<(f64, NodeId)>,
    /// Nobody else can be let in before this time.
    deaf: Option<f64>,
    /// How long the last look at directories took, in seconds.
    looking: f64,
}

/// Listeners have the lowest numbers, connections those above.
const FIRST_CONNECTION: NodeId = 1024;
/// The longest sleep, after which it is asked whether to stop.
const MAX_SLEEP: f64 = 0.2;
/// How often it looks whether more has arrived once it is told to stop.
const LAST_TURNS: usize = 8;
/// More messages than this in a second are not honest.
const MAX_MESSAGES_A_SECOND: u32 = 2000;
/// How often files with priorities are read, and how many before others have their turn.
const PRIORITIES: f64 = 1.0;
const PRIORITIES_A_TURN: usize = 16;
const SHORT_SLEEP: f64 = 1e-3;
/// Whoever connects says in this time who it is.
const STRANGER: f64 = 5.0;
/// How long nobody is let in when there are no descriptors left.
const DEAF: f64 = 0.25;
/// After a look at directories, so many times as long as it took passes until the next.
const LOOKING: f64 = 4.0;
/// No more nodes than this, whatever the system allows.
const MAX_NODES: usize = 262_144;
/// Descriptors for everything else.
const OTHER_DESCRIPTORS: usize = 64;
/// No priority is longer.
const MAX_PRIORITY_BYTES: u64 = 64;

impl Daemon {
    /// Listens.
    pub fn new(options: Options) -> Result<Self, Problem> {
        let places = allow_descriptors();
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        let (mut listeners, mut directories) = (Vec::new(), Vec::new());
        for address in &options.listen {
            if matches!(address, Address::Tcp(..)) && options.secret.is_none() {
                return Err(Problem::NoSecret(address.clone()));
            }
            match address {
                Address::Directory(path) => match Directory::open(path) {
                    Ok(directory) => directories.push(directory),
                    Err(error) => return Err(problem(address, error)),
                },
                _ => listeners.push(Listener::bind(address)?),
            }
        }
        for (number, listener) in listeners.iter().enumerate() {
            epoll::add(&epoll, listener.descriptor(), EventData::new_u64(number as u64), EventFlags::IN)?;
        }
        Ok(Daemon {
            arbiter: Arbiter::new(options.settings.clone()),
            options,
            epoll,
            listeners,
            directories,
            connections: HashMap::new(),
            shares: Shared::new("nodes", places),
            next: FIRST_CONNECTION,
            began: Instant::now(),
            unread: VecDeque::new(),
            read_priorities: 0.0,
            strangers: VecDeque::new(),
            deaf: None,
            looking: 0.0,
        })
    }

    /// Where it listens, with the ports that were found for port 0.
    pub fn addresses(&self) -> Vec<Address> {
        let of_directories = self.directories.iter().map(|one| Address::Directory(one.path().to_owned()));
        self.listeners.iter().map(Listener::address).chain(of_directories).collect()
    }

    fn now(&self) -> f64 {
        self.began.elapsed().as_secs_f64()
    }

    /// Runs until it is told to stop. `ended` gets each phase that is over. What has arrived by then counts,
    /// and phases that are under way end with it.
    pub fn run(&mut self, stop: &AtomicBool, mut ended: impl FnMut(&PhaseReport)) -> Result<(), Problem> {
        while !stop.load(Relaxed) {
            let mut wait = (self.arbiter.next_event() - self.now()).clamp(0.0, MAX_SLEEP);
            if !self.directories.is_empty() {
                // A directory that takes long is looked at less often.
                wait = wait.min(directory::POLL.max(LOOKING * self.looking));
            }
            if !self.unread.is_empty() {
                wait = wait.min(SHORT_SLEEP);
            }
            self.turn(wait)?;
            self.arbiter.take_phases().iter().for_each(&mut ended);
        }
        // What can still be heard is heard; if a directory of leases is gone by now, phases end all the same.
        let mut turns = LAST_TURNS;
        while turns > 0 && self.turn(0.0).unwrap_or(false) {
            turns -= 1;
        }
        let now = self.now();
        self.arbiter.close(now);
        self.arbiter.take_phases().iter().for_each(&mut ended);
        Ok(())
    }

    /// Waits for messages for at most so many seconds, and answers. Tells whether there were some.
    fn turn(&mut self, wait: f64) -> Result<bool, Problem> {
        let mut events = Vec::with_capacity(1024);
        // Rounded up: a moment too early would be a turn for nothing.
        let timeout = Timespec::try_from(Duration::from_secs_f64(wait)).ok();
        match epoll::wait(&self.epoll, rustix::buffer::spare_capacity(&mut events), timeout.as_ref()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        for event in &events {
            match event.data.u64() {
                listener if listener < FIRST_CONNECTION => self.accept(listener as usize),
                node => self.ready(node, event.flags),
            }
        }
        self.look_at_directories()?;
        self.look_at_priorities();
        self.look_at_strangers();
        let now = self.now();
        self.arbiter.settle(now);
        for (node, message) in self.arbiter.take_messages() {
            self.send(node, &message.encode());
        }
        Ok(!events.is_empty())
    }

    fn accept(&mut self, listener: usize) {
        let now = self.now();
        while let Some(one) = self.listeners.get(listener) {
            match one.accept() {
                Ok(stream) => {
                    let flags = EventFlags::IN | EventFlags::RDHUP;
                    let (node, user) = (self.next, stream.user());
                    // One user with very many does not keep others out. Whoever is turned away goes on
                    // without turns, and asks again.
                    if self.shares.check(&user, standing(user), 1).is_err() {
                        self.arbiter.refused();
                        tracing::debug!(user, "refused: too many connections of one user");
                        continue;
                    }
                    if epoll::add(&self.epoll, stream.descriptor(), EventData::new_u64(node), flags).is_ok() {
                        self.next += 1;
                        self.shares.add(&user, 1);
                        self.connections.insert(node, Connection::new(stream, user));
                        self.strangers.push_back((now + STRANGER, node));
                    }
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                // It has gone again.
                Err(error)
                    if matches!(error.kind(), ErrorKind::Interrupted | ErrorKind::ConnectionAborted) => {}
                // There are no descriptors left. Whoever comes goes on without turns, and asks again; the
                // others are served meanwhile.
                Err(error) => {
                    tracing::debug!("cannot take a connection: {error}");
                    self.listeners.iter().for_each(|one| _ = epoll::delete(&self.epoll, one.descriptor()));
                    self.deaf = Some(now + DEAF);
                    return;
                }
            }
        }
    }

    /// Whoever has connected and says nothing takes a place from others.
    fn look_at_strangers(&mut self) {
        let now = self.now();
        while let Some(&(_, node)) = self.strangers.front().filter(|(until, _)| *until <= now) {
            self.strangers.pop_front();
            if self.connections.get(&node).is_some_and(|one| !one.known) {
                self.end(node);
            }
        }
        if self.deaf.is_some_and(|until| until <= now) {
            self.deaf = None;
            for (number, one) in self.listeners.iter().enumerate() {
                let data = EventData::new_u64(number as u64);
                let _ = epoll::add(&self.epoll, one.descriptor(), data, EventFlags::IN);
            }
        }
    }

    /// A connection has something to read, or room to write.
    fn ready(&mut self, node: NodeId, flags: EventFlags) {
        let Some(connection) = self.connections.get_mut(&node) else { return };
        if flags.contains(EventFlags::OUT) && connection.flush() == State::Open {
            let flags = EventFlags::IN | EventFlags::RDHUP;
            let _ = epoll::modify(&self.epoll, connection.descriptor(), EventData::new_u64(node), flags);
        }
        let state = connection.read();
        let second = self.began.elapsed().as_secs();
        let mut messages = Vec::new();
        let mut problem = None;
        while let Some(connection) = self.connections.get_mut(&node) {
            match connection.stream.take() {
                Ok(Some(message)) if connection.counts(second) <= MAX_MESSAGES_A_SECOND => {
                    messages.push(message)
                }
                Ok(Some(_)) => {
                    problem = Some(format!("more than {MAX_MESSAGES_A_SECOND} messages in a second"));
                    break;
                }
                Ok(None) => break,
                Err(error) => {
                    problem = Some(error.to_string());
                    break;
                }
            }
        }
        for (message, text) in messages {
            if let Err(reason) = self.message(node, &message, &text) {
                problem.get_or_insert(reason);
                break;
            }
        }
        if let Some(reason) = problem {
            self.refuse(node, &reason);
        } else if state == State::Over {
            self.end(node);
        }
    }

    /// One message of one connection; an error ends it.
    fn message(&mut self, node: NodeId, message: &Message, text: &str) -> Result<(), String> {
        let now = self.now();
        let Some(connection) = self.connections.get(&node) else { return Ok(()) };
        let (hello, user) = (|| Hello::decode(text), connection.user);
        let may = match connection.is_remote() {
            true => hello().is_some_and(|hello| self.options.secret.as_ref().is_some_and(|s| hello.knows(s))),
            false => true,
        };
        if let Some(connection) = self.connections.get_mut(&node) {
            connection.known |= may;
        }
        match message.kind {
            Kind::Status if may => {
                // Who runs the arbiter, and root, see all jobs; a user sees his own, and numbers.
                let report = self.arbiter.report(now);
                let all = user.is_some_and(|user| user == 0 || user == geteuid().as_raw());
                let report = if all { report } else { report.seen_by(user) };
                let report = serde_json::to_string(&report).unwrap_or_default();
                self.send(node, &Message::new(Kind::Report).encode_with(&report));
            }
            Kind::Hello if may => {
                let hello = hello().ok_or("the job has no name")?;
                let running = Duration::from_millis(message.b).as_secs_f64();
                self.arbiter
                    .hello(now, node, &hello, (message.a, running), user)
                    .map_err(|refusal| refusal.to_string())?;
            }
            Kind::Hello | Kind::Status => return Err("the secret is not right".to_owned()),
            _ => self.arbiter.receive(now, node, message).map_err(|refusal| refusal.to_string())?,
        }
        if message.kind == Kind::Bye {
            self.end(node);
        }
        Ok(())
    }

    fn send(&mut self, node: NodeId, bytes: &[u8]) {
        if let Some(directory) = self.directories.iter_mut().find(|one| one.has(node)) {
            return directory.send(node, bytes);
        }
        let Some(connection) = self.connections.get_mut(&node) else { return };
        match connection.send(bytes) {
            State::Open => {}
            State::Full => {
                let flags = EventFlags::IN | EventFlags::OUT | EventFlags::RDHUP;
                let _ = epoll::modify(&self.epoll, connection.descriptor(), EventData::new_u64(node), flags);
            }
            State::Over => self.end(node),
        }
    }

    fn refuse(&mut self, node: NodeId, reason: &str) {
        // Below what is logged by default: who is refused may come again as often as he likes.
        let user = self.connections.get(&node).and_then(|one| one.user);
        tracing::debug!(node, user, reason, "refused: {reason}");
        self.send(node, &Message::new(Kind::Refused).encode_with(reason));
        self.end(node);
    }

    fn end(&mut self, node: NodeId) {
        let now = self.now();
        self.arbiter.gone(now, node);
        if let Some(connection) = self.connections.remove(&node) {
            self.shares.give_back(&connection.user, 1);
            let _ = epoll::delete(&self.epoll, connection.descriptor());
        }
    }

    fn look_at_directories(&mut self) -> Result<(), Problem> {
        let (begun, now) = (Instant::now(), self.now());
        let mut arrived = Vec::new();
        for directory in &mut self.directories {
            let address = Address::Directory(directory.path().to_owned());
            let (arbiter, shares) = (&mut self.arbiter, &mut self.shares);
            let may = |user: u32| {
                // It is two descriptors.
                let room = shares.check(&Some(user), standing(Some(user)), 2).is_ok();
                shares.add(&Some(user), if room { 2 } else { 0 });
                room
            };
            let looked = directory.look(now, &mut self.next, || arbiter.report(now), may);
            arrived.extend(looked.map_err(|error| problem(&address, error))?);
        }
        self.looking = begun.elapsed().as_secs_f64();
        for (node, what) in arrived {
            let ((message, text), user) = match what {
                Event::Said(said, user) => (said, user),
                Event::Gone(user) => {
                    self.shares.give_back(&Some(user), 2);
                    self.arbiter.gone(now, node);
                    continue;
                }
            };
            let running = Duration::from_millis(message.b).as_secs_f64();
            // Whoever may write into the directory may ask; there is nobody to tell that a message made no
            // sense.
            let _ = match (message.kind, Hello::decode(&text)) {
                (Kind::Hello, Some(hello)) => {
                    self.arbiter.hello(now, node, &hello, (message.a, running), Some(user))
                }
                _ => self.arbiter.receive(now, node, &message),
            };
        }
        Ok(())
    }

    /// Priorities that others have found count more than what the arbiter sees.
    fn look_at_priorities(&mut self) {
        let Some(root) = self.options.priorities.clone() else { return };
        let now = self.now();
        if self.unread.is_empty() && now >= self.read_priorities {
            self.read_priorities = now + PRIORITIES;
            self.unread.extend(self.arbiter.names());
        }
        for job in self.unread.drain(..PRIORITIES_A_TURN.min(self.unread.len())) {
            // Steps count as their job.
            let id = job.split('.').next().unwrap_or_default();
            if id.is_empty() || id.contains('/') {
                continue;
            }
            // Whoever may write there may do anything else there as well.
            let mut text = String::new();
            let file = Dir::open(&root).and_then(|root| {
                root.folder(id).and_then(|folder| folder.read("priority", &Expect::anybodys()))
            });
            let _ = file.map(|file| file.take(MAX_PRIORITY_BYTES).read_to_string(&mut text));
            let priority = text.trim().parse().ok().and_then(Priority::from_stored);
            self.arbiter.tell_priority(now, &job, priority);
        }
    }
}

fn problem(address: &Address, error: io::Error) -> Problem {
    match error.kind() {
        ErrorKind::AddrInUse => Problem::Taken(address.clone()),
        _ => Problem::Listen(address.clone(), error),
    }
}

/// Every node is a descriptor. Many systems allow 1024 of them, and more to those who ask. How many there may
/// be.
fn allow_descriptors() -> usize {
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    let _ = setrlimit(Resource::Nofile, limit);
    let most = getrlimit(Resource::Nofile).current.and_then(|most| usize::try_from(most).ok());
    most.unwrap_or(usize::MAX).saturating_sub(OTHER_DESCRIPTORS).clamp(OTHER_DESCRIPTORS, MAX_NODES)
}

/// A stream of what nodes say.
fn stream() -> Stream {
    Stream::new(LONGEST_TEXT)
}
