//! Others on the same socket or directory, and whoever says what it should not: the arbiter goes on, and so
//! do honest nodes.

use io_sets::arbiter::daemon::{Daemon, Options, Problem};
use io_sets::arbiter::{Arbiter, Leases, Settings};
use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use turns::{Address, Hello, Kind, Message, Stream, VERSION};

/// An arbiter in a thread, which ends when this is dropped.
struct Running {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<Result<(), Problem>>>,
    addresses: Vec<Address>,
}

impl Running {
    fn start(listen: &str, secret: Option<&str>) -> Self {
        let options = Options {
            listen: vec![listen.parse().unwrap()],
            secret: secret.map(str::to_owned),
            settings: Settings { leases: Leases::Fixed(1), ..Settings::default() },
            ..Options::default()
        };
        let mut daemon = Daemon::new(options).unwrap();
        let (addresses, stop) = (daemon.addresses(), Arc::new(AtomicBool::new(false)));
        let stops = Arc::clone(&stop);
        let thread = Some(thread::spawn(move || daemon.run(&stops, |_| {})));
        Running { stop, thread, addresses }
    }

    fn end(mut self) -> Result<(), Problem> {
        self.stop.store(true, Relaxed);
        self.thread.take().unwrap().join().unwrap()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop.store(true, Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn options(listen: &str) -> Options {
    Options { listen: vec![listen.parse().unwrap()], ..Options::default() }
}

/// Waits for the next message; `None`: the arbiter has hung up.
fn hear(from: &mut impl Read, stream: &mut Stream) -> Option<(Message, String)> {
    let mut bytes = [0; 4096];
    loop {
        if let Some(message) = stream.take().unwrap() {
            return Some(message);
        }
        match from.read(&mut bytes).unwrap_or(0) {
            0 => return None,
            length => stream.push(&bytes[..length]),
        }
    }
}

fn hello(job: &str, secret: &str) -> Vec<u8> {
    let hello = Hello { job: job.into(), secret: secret.into(), ..Hello::default() };
    Message::new(Kind::Hello).with(1, 1000).encode_with(&hello.encode())
}

/// A node that asks and gets its lease.
fn is_served(path: &Path, job: &str) -> UnixStream {
    let mut node = UnixStream::connect(path).unwrap();
    node.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    node.write_all(&hello(job, "")).unwrap();
    node.write_all(&Message::new(Kind::Ask).seq(1).encode()).unwrap();
    let mut stream = Stream::new(4096);
    while hear(&mut node, &mut stream).expect("it is served").0.kind != Kind::Grant {}
    node
}

#[test]
fn whoever_stops_an_arbiter_loses_no_phase() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("arbiter");
    let daemon = Daemon::new(options(&format!("unix:{}", path.display())));
    let (mut daemon, stop) = (daemon.unwrap(), Arc::new(AtomicBool::new(false)));
    let stops = Arc::clone(&stop);
    let thread = thread::spawn(move || {
        let mut phases = Vec::new();
        daemon.run(&stops, |phase| phases.push(phase.clone())).unwrap();
        phases
    });
    // One is doing I/O; the other says its last word, which is read only after the arbiter is told to stop.
    let _open = is_served(&path, "open");
    let mut done = is_served(&path, "done");
    stop.store(true, Relaxed);
    done.write_all(&Message::new(Kind::Bye).with(4711, 0).encode()).unwrap();
    let mut phases = thread.join().unwrap();
    phases.sort_by(|a, b| a.job.cmp(&b.job));
    let jobs: Vec<&str> = phases.iter().map(|phase| phase.job.as_str()).collect();
    assert_eq!(jobs, ["done", "open"]);
    assert!(phases.iter().all(|phase| phase.ended >= phase.asked), "{phases:?}");
}

#[test]
fn two_arbiters_on_one_socket_and_what_a_killed_one_has_left() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("a");
    let listen = format!("unix:{}", path.display());
    // What a killed one has left is a socket at which nobody listens.
    drop(UnixListener::bind(&path).unwrap());
    assert!(path.exists());
    let first = Running::start(&listen, None);
    assert!(matches!(Daemon::new(options(&listen)), Err(Problem::Taken(_))));
    drop(is_served(&path, "4711"));
    first.end().unwrap();
    assert!(!path.exists());
    // Whatever is not a socket stays.
    fs::write(&path, "precious").unwrap();
    assert!(matches!(Daemon::new(options(&listen)), Err(Problem::Listen(..))));
    assert_eq!(fs::read_to_string(&path).unwrap(), "precious");
}

#[test]
fn of_many_that_begin_at_once_one_listens() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("a");
    let listen = format!("unix:{}", path.display());
    drop(UnixListener::bind(&path).unwrap());
    let begin = |_| {
        let listen = listen.clone();
        thread::spawn(move || Daemon::new(options(&listen)).ok())
    };
    let threads: Vec<_> = (0..8).map(begin).collect();
    let running: Vec<Daemon> = threads.into_iter().filter_map(|one| one.join().unwrap()).collect();
    assert_eq!(running.len(), 1);
    assert!(UnixStream::connect(&path).is_ok(), "and it is the one whose socket is there");
}

#[test]
fn an_arbiter_removes_its_own_socket_only() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("a");
    let listen = format!("unix:{}", path.display());
    let first = Running::start(&listen, None);
    fs::remove_file(&path).unwrap();
    let second = Running::start(&listen, None);
    first.end().unwrap();
    drop(is_served(&path, "4711"));
    second.end().unwrap();
}

#[test]
fn two_arbiters_in_one_directory() {
    let place = tempfile::tempdir().unwrap();
    let listen = format!("dir:{}", place.path().display());
    // The sign of one that was killed does not change.
    fs::write(place.path().join("arbiter"), "00000000deadbeef 7\n").unwrap();
    let first = Running::start(&listen, None);
    assert!(matches!(Daemon::new(options(&listen)), Err(Problem::Taken(_))));
    // If another one takes its place all the same, it says so and goes.
    fs::write(place.path().join("arbiter"), "00000000deadbeef 8\n").unwrap();
    let began = Instant::now();
    while !first.thread.as_ref().unwrap().is_finished() {
        assert!(began.elapsed() < Duration::from_secs(20), "it goes on");
        thread::sleep(Duration::from_millis(20));
    }
    assert!(matches!(first.end(), Err(Problem::Taken(_))));
    assert!(place.path().join("arbiter").exists(), "the sign is the other one's");
}

#[test]
fn a_directory_that_cannot_be_written_is_an_error() {
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("file");
    fs::write(&file, "").unwrap();
    let result = Daemon::new(options(&format!("dir:{}/turns", file.display())));
    assert!(matches!(result, Err(Problem::Listen(..))), "{result:?}");
}

#[test]
fn in_a_directory_nonsense_is_left_alone_and_others_are_served() {
    let place = tempfile::tempdir().unwrap();
    let listen = format!("dir:{}", place.path().display());
    let running = Running::start(&listen, None);
    let nodes = place.path().join("nodes");
    fs::write(nodes.join("1.up"), vec![0xff; 100_000]).unwrap();
    // Whatever would be waited for, or leads elsewhere.
    let pipe = |name: &str| {
        let mode = rustix::fs::Mode::from_raw_mode(0o666);
        rustix::fs::mknodat(rustix::fs::CWD, nodes.join(name), rustix::fs::FileType::Fifo, mode, 0).unwrap();
    };
    let elsewhere = tempfile::tempdir().unwrap();
    let precious = elsewhere.path().join("precious");
    fs::write(&precious, "precious").unwrap();
    pipe("pipe.up");
    let _socket = UnixListener::bind(nodes.join("socket.up")).unwrap();
    std::os::unix::fs::symlink(&precious, nodes.join("link.up")).unwrap();
    std::os::unix::fs::symlink("/dev/zero", nodes.join("zero.up")).unwrap();
    fs::create_dir(nodes.join("folder.up")).unwrap();
    for (name, trap) in [("3", "link"), ("4", "pipe")] {
        match trap {
            "link" => std::os::unix::fs::symlink(&precious, nodes.join(format!("{name}.down"))).unwrap(),
            _ => pipe(&format!("{name}.down")),
        }
        fs::write(nodes.join(format!("{name}.up")), hello("trap", "")).unwrap();
    }
    let honest = [hello("4711", ""), Message::new(Kind::Ask).seq(1).encode().to_vec()].concat();
    fs::write(nodes.join("2.up"), honest).unwrap();
    let began = Instant::now();
    let answer = || {
        let mut stream = Stream::new(4096);
        stream.push(&fs::read(nodes.join("2.down")).unwrap_or_default());
        std::iter::from_fn(|| stream.take().unwrap()).any(|(message, _)| message.kind == Kind::Grant)
    };
    while !answer() {
        assert!(began.elapsed() < Duration::from_secs(20), "never served");
        thread::sleep(Duration::from_millis(20));
    }
    // What it is told to write there it writes to files of its own.
    let is_own = |name: &str| fs::symlink_metadata(nodes.join(name)).is_ok_and(|about| about.is_file());
    while !is_own("3.down") || !is_own("4.down") {
        assert!(began.elapsed() < Duration::from_secs(20), "they are not replaced");
        thread::sleep(Duration::from_millis(20));
    }
    running.end().unwrap();
    assert_eq!(fs::read_to_string(&precious).unwrap(), "precious");
}

#[test]
fn a_directory_of_somebody_else_is_refused_and_left_as_it_is() {
    let place = tempfile::tempdir().unwrap();
    let project = place.path().join("project");
    fs::create_dir_all(project.join("nodes")).unwrap();
    fs::write(project.join("nodes/mesh.up"), "mesh").unwrap();
    fs::write(project.join("input"), "x").unwrap();
    let result = Daemon::new(options(&format!("dir:{}", project.display())));
    let Err(error) = result else { panic!("it is taken") };
    assert!(error.to_string().contains("not the directory of an arbiter: input"), "{error}");
    // Prepared by somebody who expects us to follow a link.
    let trap = place.path().join("trap");
    fs::create_dir(&trap).unwrap();
    std::os::unix::fs::symlink(project.join("nodes"), trap.join("nodes")).unwrap();
    assert!(Daemon::new(options(&format!("dir:{}", trap.display()))).is_err());
    assert_eq!(fs::read_to_string(project.join("nodes/mesh.up")).unwrap(), "mesh");
    let mode =
        std::os::unix::fs::PermissionsExt::mode(&fs::metadata(project.join("nodes")).unwrap().permissions());
    assert_eq!(mode & 0o1002, 0, "nobody else may write there");
}

#[test]
fn a_wrong_secret_and_a_client_of_another_version_are_told_why() {
    let running = Running::start("tcp:127.0.0.1:0", Some("open sesame"));
    let Some(Address::Tcp(host, port)) = running.addresses.first().cloned() else { panic!("no port") };
    let reach = || {
        let node = TcpStream::connect((host.as_str(), port)).unwrap();
        node.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        (node, Stream::new(4096))
    };
    let refused = |bytes: &[u8], why: &str| {
        let (mut node, mut stream) = reach();
        node.write_all(bytes).unwrap();
        let (message, text) = hear(&mut node, &mut stream).expect("an answer");
        assert_eq!(message.kind, Kind::Refused);
        assert!(text.contains(why), "{text}");
        assert_eq!(hear(&mut node, &mut stream), None, "and that is all");
    };
    refused(&hello("4711", "open barley"), "secret");
    refused(&hello("4711", ""), "secret");
    // Without a word of who it is: also if the question was seen on the network.
    refused(&Message::new(Kind::Ask).seq(1).encode(), "first who it is");
    let mut old = hello("4711", "open sesame");
    old[2] = VERSION as u8 + 1;
    refused(&old, &format!("version {} of the protocol", VERSION + 1));
    refused(b"GET / HTTP/1.1\r\nHost: arbiter\r\n\r\n", "version");
    let (mut node, mut stream) = reach();
    node.write_all(&hello("4711", "open sesame")).unwrap();
    assert_eq!(hear(&mut node, &mut stream).unwrap().0.kind, Kind::Welcome);
    running.end().unwrap();
}

#[test]
fn whoever_floods_is_disconnected_and_whoever_is_silent_too() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("a");
    let running = Running::start(&format!("unix:{}", path.display()), None);
    let mut silent = UnixStream::connect(&path).unwrap();
    silent.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let mut flood = UnixStream::connect(&path).unwrap();
    flood.write_all(&hello("flood", "")).unwrap();
    let beats = Message::new(Kind::Beat).encode().repeat(3000);
    let _ = flood.write_all(&beats);
    let mut stream = Stream::new(4096);
    let said: Vec<_> = std::iter::from_fn(|| hear(&mut flood, &mut stream)).collect();
    assert!(said.iter().any(|(m, text)| m.kind == Kind::Refused && text.contains("messages in a second")));
    drop(is_served(&path, "honest"));
    assert_eq!(hear(&mut silent, &mut Stream::new(4096)), None, "it never said who it is");
    running.end().unwrap();
}

#[test]
fn ten_thousand_jobs_with_one_id_are_as_many_jobs_and_each_has_its_turn() {
    let mut arbiter = Arbiter::new(Settings { leases: Leases::Fixed(1), ..Settings::default() });
    const JOBS: u64 = 10_000;
    for run in 0..JOBS {
        let hello = Hello { job: "same".into(), run, ..Hello::default() };
        arbiter.hello(0.0, run, &hello, (1, 100.0), None).unwrap();
        arbiter.receive(0.0, run, &Message::new(Kind::Ask).seq(1)).unwrap();
    }
    let mut served = 0;
    let mut now = 0.0;
    while served < 40 {
        arbiter.settle(now);
        let granted: Vec<u64> = arbiter
            .take_messages()
            .into_iter()
            .filter(|(_, m)| m.kind == Kind::Grant)
            .map(|(node, _)| node)
            .collect();
        assert!(granted.len() <= 1, "one at a time");
        now += 0.001;
        for node in granted {
            served += 1;
            arbiter.receive(now, node, &Message::new(Kind::Yield).seq(1).with(1 << 20, 0)).unwrap();
        }
        assert!(now < 10.0, "it stands still");
    }
    assert_eq!(arbiter.report(now).jobs.len(), JOBS as usize);
}

#[test]
fn a_replayed_message_does_not_take_a_lease_away() {
    let mut arbiter = Arbiter::new(Settings { leases: Leases::Fixed(1), ..Settings::default() });
    let hello = Hello { job: "4711".into(), ..Hello::default() };
    arbiter.hello(0.0, 1, &hello, (1, 1.0), None).unwrap();
    for (time, message) in [
        (0.1, Message::new(Kind::Ask).seq(1)),
        (0.2, Message::new(Kind::Yield).seq(1)),
        (0.3, Message::new(Kind::Ask).seq(2)),
        (0.4, Message::new(Kind::Yield).seq(1)),
    ] {
        arbiter.receive(time, 1, &message).unwrap();
        arbiter.settle(time);
    }
    assert_eq!(arbiter.report(0.4).holding, 1);
    assert!(arbiter.hello(0.5, 1, &hello, (1, 1.0), None).is_err(), "who it is, it said");
}

#[test]
fn clocks_that_step_make_nobody_wait() {
    // The daemon's clock is monotonic. A host that was suspended for an hour, or a clock that is wrong all
    // the same, costs the lease of whoever holds, and no more.
    for step in [3600.0, -0.5] {
        let mut arbiter = Arbiter::new(Settings { leases: Leases::Fixed(1), ..Settings::default() });
        for (node, job) in [(1, "a"), (2, "b")] {
            let hello = Hello { job: job.into(), ..Hello::default() };
            arbiter.hello(1.0, node, &hello, (1, 1.0), None).unwrap();
            arbiter.receive(1.0, node, &Message::new(Kind::Ask).seq(1)).unwrap();
            arbiter.settle(1.0);
        }
        let mut granted = Vec::new();
        let mut now = 1.0 + step;
        for _ in 0..100 {
            arbiter.settle(now);
            for (node, message) in arbiter.take_messages() {
                if message.kind == Kind::Grant {
                    granted.push(node);
                }
            }
            now += 0.05;
            assert!(arbiter.next_event().is_finite());
        }
        assert!(granted.contains(&1) && granted.contains(&2), "{step}: {granted:?}");
    }
}
