//! A server for a test, and a client that knows no more of HTTP than it must.

use ftio_serve::{Config, Listen, Service};
use serde_json::Value;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tmio_trace::block::BlockEncoder;
use tmio_trace::frame::{self, FrameKind};
use tmio_trace::{Direction, FilePointer, Flags, Header, OpKind, Operation, RankInfo, TraceEnd};

/// Ends with the test.
pub struct Server {
    pub address: SocketAddr,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<anyhow::Result<()>>>,
}

/// What is the same in all tests.
pub fn config(data: &Path) -> Config {
    let mut config = Config::new(data);
    config.listen = vec![Listen::Tcp(SocketAddr::from(([127, 0, 0, 1], 0)))];
    config.poll = Duration::from_millis(50);
    config
}

impl Server {
    pub fn start(config: Config) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let (sender, receiver) = mpsc::channel();
        let stopping = Arc::clone(&stop);
        let thread = std::thread::spawn(move || {
            ftio_serve::run(config, &stopping, |addresses| {
                let address = addresses.iter().find_map(|address| address.strip_prefix("http://")).unwrap();
                sender.send(address.parse().unwrap()).unwrap();
            })
        });
        let address = receiver.recv_timeout(Duration::from_secs(30)).expect("the server starts");
        Server { address, stop, thread: Some(thread) }
    }

    /// Status, headers and body. A server that has seen enough answers and closes before it has read all.
    pub fn raw(&self, request: &str) -> (u16, String, String) {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        let _ = stream.write_all(request.as_bytes());
        let mut answer = Vec::new();
        // One that is turned away gets nothing.
        let _ = stream.read_to_end(&mut answer);
        let answer = String::from_utf8_lossy(&answer).into_owned();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
        let status = head.split(' ').nth(1).and_then(|word| word.parse().ok()).unwrap_or(0);
        (status, head.to_owned(), body.to_owned())
    }

    /// A request with some headers.
    pub fn with(&self, method: &str, path: &str, headers: &str, body: &str) -> (u16, String) {
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nContent-Length: {}\r\n{headers}\r\n{body}",
            self.address,
            body.len()
        );
        let (status, _, body) = self.raw(&request);
        (status, body)
    }

    pub fn get(&self, path: &str) -> (u16, String) {
        self.with("GET", path, "", "")
    }

    pub fn json(&self, path: &str) -> Value {
        let (status, body) = self.get(path);
        assert_eq!(status, 200, "{path}: {body}");
        serde_json::from_str(&body).unwrap_or_else(|error| panic!("{path}: {error}: {body}"))
    }

    pub fn post(&self, path: &str, body: &Value) -> (u16, Value) {
        let (status, text) = self.with("POST", path, "Content-Type: application/json\r\n", &body.to_string());
        (status, serde_json::from_str(&text).unwrap_or(Value::String(text)))
    }

    /// A connection that has sent this. The server may close it at any time, so writing may fail.
    pub fn connect(&self, request: &str) -> TcpStream {
        let mut stream = TcpStream::connect(self.address).unwrap();
        let _ = stream.write_all(request.as_bytes());
        stream
    }

    /// Ask until the answer is as wanted. Fails after a minute.
    pub fn wait(&self, path: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        let begun = Instant::now();
        loop {
            let (status, body) = self.get(path);
            let value = serde_json::from_str(&body).unwrap_or(Value::Null);
            if status == 200 && wanted(&value) {
                return value;
            }
            assert!(begun.elapsed() < Duration::from_secs(60), "{path}: {status} {body}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    pub fn stop(mut self) {
        self.end();
    }

    fn end(&mut self) {
        self.stop.store(true, Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap().unwrap();
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.store(true, Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Look until something is so. Fails after a minute.
pub fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < Duration::from_secs(60), "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// What has arrived on a connection so far; `None`: it is closed.
pub fn arrived(stream: &TcpStream) -> Option<Vec<u8>> {
    stream.set_nonblocking(true).unwrap();
    let mut buffer = [0; 4096];
    let read = (&mut &*stream).read(&mut buffer);
    match read {
        Ok(0) => None,
        Ok(length) => Some(buffer[..length].to_vec()),
        Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => Some(Vec::new()),
        Err(_) => None,
    }
}

/// Everything of a closed service.
pub fn opened(data: &Path) -> Arc<Service> {
    Service::open(config(data)).unwrap()
}

/// Seconds since 1970.
pub fn now() -> f64 {
    std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs_f64()
}

const SECOND: i64 = 1_000_000_000;

/// A trace like that of `ioskel.100ms.512k.15.100`: of 15 iterations, each rank writes 512 KiB in eight and
/// reads 512 KiB in seven.
pub fn ioskel(ranks: u32, job: &str, command: &str) -> Vec<u8> {
    let operation = |i: i64| {
        let direction = if i % 2 == 0 { Direction::Write } else { Direction::Read };
        Operation {
            kind: OpKind::data(direction, FilePointer::Explicit, false, false, false),
            flags: Flags::default(),
            thread: 0,
            file: 1,
            offset: 0,
            bytes: 512 << 10,
            start: i * SECOND / 10,
            end: i * SECOND / 10 + SECOND / 50,
            nonblocking: None,
        }
    };
    let mut bytes = Vec::new();
    let header = Header {
        version: 1,
        job: job.into(),
        ranks,
        executable: command.split(' ').next().unwrap_or_default().into(),
        command: Some(command.into()),
        start: 1_700_000_000 * SECOND + i64::from(ranks) * 60 * SECOND,
        mpi: "An MPI".into(),
        tmio: "0.1.0".into(),
        ..Header::default()
    };
    bytes.extend(frame::encode(FrameKind::Header, &header).unwrap());
    for rank in 0..ranks {
        let info = RankInfo {
            rank,
            host: format!("node{}", rank / 4),
            finished: true,
            operations: 15,
            ..RankInfo::default()
        };
        bytes.extend(frame::encode(FrameKind::Rank, &info).unwrap());
    }
    let end = 2 * SECOND;
    let mut encoder = BlockEncoder::default();
    for rank in 0..ranks {
        assert!(encoder.restart(15));
        (0..15).for_each(|i| encoder.push(&operation(i)));
        bytes.extend_from_slice(encoder.finish(rank, 0, end, vec![(1, "/scratch/out.dat")]).unwrap());
    }
    let operations = u64::from(ranks) * 15;
    bytes.extend(frame::encode(FrameKind::End, &TraceEnd { end, ranks, operations }).unwrap());
    bytes
}
