//! One page of text over HTTP, for many clients at once: `/metrics`.
//!
//! Every client has a thread and a few seconds. If there are many clients, the one that has been there
//! longest has to leave, so that a new one is answered however many send half a request and wait.

use crate::prometheus::CONTENT_TYPE;
use std::collections::VecDeque;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

/// Prometheus never sends a longer request, nor one that takes longer.
const LONGEST_REQUEST: usize = 16 << 10;
const ANSWER_TIME: Duration = Duration::from_secs(5);
/// Clients at the same time.
const MAX_CLIENTS: usize = 32;

/// The page.
#[derive(Clone, Debug, Default)]
pub struct Page(Arc<Mutex<String>>);

impl Page {
    /// Replace the text. A reader sees the old one or the new one, never a part.
    pub fn set(&self, text: String) {
        *locked(&self.0) = text;
    }

    /// Serve it at the first of these addresses that can be listened at, for as long as the process runs.
    pub fn serve(&self, addresses: &[SocketAddr]) -> io::Result<()> {
        let listener = TcpListener::bind(addresses)?;
        let hosts = own_names(listener.local_addr()?);
        let (page, clients) = (self.clone(), Arc::new(Mutex::new(VecDeque::new())));
        let accept = move || {
            for connection in listener.incoming() {
                match connection {
                    Ok(connection) => page.client(connection, &clients, &hosts),
                    // There are no descriptors left: later there may be.
                    Err(_) => std::thread::sleep(Duration::from_millis(50)),
                }
            }
        };
        std::thread::Builder::new().name("prometheus".into()).spawn(accept)?;
        Ok(())
    }

    fn client(
        &self,
        connection: TcpStream,
        clients: &Arc<Mutex<VecDeque<(SocketAddr, TcpStream)>>>,
        hosts: &Option<Vec<String>>,
    ) {
        let (Ok(peer), Ok(handle)) = (connection.peer_addr(), connection.try_clone()) else { return };
        {
            let mut open = locked(clients);
            if open.len() >= MAX_CLIENTS
                && let Some((_, oldest)) = open.pop_front()
            {
                let _ = oldest.shutdown(Shutdown::Both);
            }
            open.push_back((peer, handle));
        }
        let (page, clients, hosts) = (self.clone(), Arc::clone(clients), hosts.clone());
        let work = move || {
            let _ = page.answer(connection, hosts.as_deref());
            locked(&clients).retain(|(other, _)| *other != peer);
        };
        // Without a thread it is closed.
        let _ = std::thread::Builder::new().name("client".into()).spawn(work);
    }

    fn answer(&self, mut connection: TcpStream, hosts: Option<&[String]>) -> io::Result<()> {
        let until = Instant::now() + ANSWER_TIME;
        let head = read_head(&mut connection, until)?;
        let mut lines = head.split("\r\n");
        let mut words = lines.next().unwrap_or_default().split(' ');
        let (method, path) = (words.next().unwrap_or(""), words.next().unwrap_or(""));
        let header = |line: &str| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case("host").then(|| value.trim().to_ascii_lowercase())
        };
        // A page of somebody else that calls itself by our address is not answered (DNS rebinding).
        let known = |host: &String| hosts.is_none_or(|own| own.contains(host));
        let (status, text) = match (method, path.split('?').next().unwrap_or("")) {
            _ if !lines.filter_map(header).all(|host| known(&host)) => {
                ("421 Misdirected Request", "not the name of this server: ask localhost\n".into())
            }
            ("GET" | "HEAD", "/metrics" | "/") => ("200 OK", locked(&self.0).clone()),
            ("GET" | "HEAD", _) => ("404 Not Found", "the metrics are at /metrics\n".into()),
            _ => ("405 Method Not Allowed", "only GET\n".into()),
        };
        let body = if method == "HEAD" { "" } else { text.as_str() };
        let answer = format!(
            "HTTP/1.1 {status}\r\nContent-Type: {CONTENT_TYPE}\r\n\
             Content-Length: {}\r\nX-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n{body}",
            text.len()
        );
        write_all(&mut connection, answer.as_bytes(), until)
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// The names by which a server that only this machine reaches may be asked; `None`: any.
fn own_names(address: SocketAddr) -> Option<Vec<String>> {
    if !address.ip().is_loopback() {
        return None;
    }
    let names = ["localhost", "127.0.0.1", "[::1]"];
    let own = address.to_string();
    let with_port = names.iter().map(|name| format!("{name}:{}", address.port()));
    Some(names.iter().map(ToString::to_string).chain(with_port).chain([own]).collect())
}

fn left(until: Instant) -> io::Result<Option<Duration>> {
    let left = until.saturating_duration_since(Instant::now());
    if left.is_zero() { Err(ErrorKind::TimedOut.into()) } else { Ok(Some(left)) }
}

/// All of the head, or as much as came before the client closed.
fn read_head(connection: &mut TcpStream, until: Instant) -> io::Result<String> {
    let (mut head, mut piece) = (Vec::new(), [0; 1024]);
    while !head.windows(4).any(|four| four == b"\r\n\r\n") {
        connection.set_read_timeout(left(until)?)?;
        match connection.read(&mut piece)? {
            0 => break,
            length => head.extend_from_slice(&piece[..length]),
        }
        if head.len() > LONGEST_REQUEST {
            return Err(ErrorKind::InvalidData.into());
        }
    }
    Ok(String::from_utf8_lossy(&head).into_owned())
}

fn write_all(connection: &mut TcpStream, mut bytes: &[u8], until: Instant) -> io::Result<()> {
    while !bytes.is_empty() {
        connection.set_write_timeout(left(until)?)?;
        match connection.write(bytes)? {
            0 => return Err(ErrorKind::WriteZero.into()),
            length => bytes = &bytes[length..],
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn served() -> (Page, SocketAddr) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        drop(listener);
        let page = Page::default();
        page.set("a 1\n".into());
        page.serve(&[address]).unwrap();
        (page, address)
    }

    fn ask(address: SocketAddr, head: &str) -> String {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.write_all(head.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        let _ = stream.read_to_string(&mut answer);
        answer
    }

    /// However many send half a request, one that sends a whole one is answered, and they do not stay.
    #[test]
    fn half_requests_keep_nobody_waiting() {
        let (_page, address) = served();
        let slow: Vec<TcpStream> = (0..200)
            .map(|_| {
                let mut stream = TcpStream::connect(address).unwrap();
                let _ = stream.write_all(b"GET /metrics HTTP/1.1\r\nHos");
                stream
            })
            .collect();
        for _ in 0..5 {
            let answer = ask(address, "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n");
            assert!(answer.starts_with("HTTP/1.1 200 OK") && answer.ends_with("\r\n\r\na 1\n"), "{answer}");
        }
        let closed = |stream: &TcpStream| {
            stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
            (&mut &*stream).read(&mut [0; 1]).is_ok_and(|length| length == 0)
        };
        assert!(slow.iter().take(150).all(closed), "the oldest have to leave");
    }

    #[test]
    fn only_its_own_names_are_answered() {
        let (_page, address) = served();
        let port = address.port();
        for host in ["localhost", "LOCALHOST", &format!("localhost:{port}"), &address.to_string()] {
            let answer = ask(address, &format!("GET / HTTP/1.1\r\nHost: {host}\r\n\r\n"));
            assert!(answer.starts_with("HTTP/1.1 200"), "{host}: {answer}");
        }
        for host in ["evil.example", "localhost:80@evil.example", "localhost.evil.example", "127.0.0.1:1x"] {
            let answer = ask(address, &format!("GET / HTTP/1.1\r\nhost: {host}\r\n\r\n"));
            assert!(answer.starts_with("HTTP/1.1 421") && !answer.contains("a 1"), "{host}: {answer}");
        }
        assert!(ask(address, "POST / HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 405"));
        assert_eq!(ask(address, &format!("GET /{} HTTP/1.1\r\n\r\n", "x".repeat(20_000))), "");
        assert_eq!(own_names("192.0.2.1:80".parse().unwrap()), None);
    }
}
