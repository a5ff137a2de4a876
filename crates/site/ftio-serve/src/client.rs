//! A small HTTP client without TLS: one request, one answer.

use std::io::{Error, ErrorKind, Read, Result, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// To connect, and for each read and write.
const TIMEOUT: Duration = Duration::from_secs(5);
/// For a whole answer.
const ANSWER_TIME: Duration = Duration::from_secs(30);
/// No answer is longer, in bytes.
const MAX_ANSWER: usize = 64 << 20;

/// Who is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Host {
    /// `HOST:PORT`
    Tcp(String),
    Unix(PathBuf),
}

/// Why a request was in vain.
#[derive(Debug)]
pub struct Refused {
    /// Of the answer, if there was one.
    pub status: Option<u16>,
    pub text: String,
}

impl From<Error> for Refused {
    fn from(error: Error) -> Self {
        Refused { status: None, text: error.to_string() }
    }
}

/// Asks `http://HOST[:PORT]/PATH`; the body of an answer with a status of 2xx.
pub fn send(method: &str, url: &str, headers: &str, body: &[u8]) -> std::result::Result<String, Refused> {
    let wrong = || Error::new(ErrorKind::InvalidInput, "expected http://HOST:PORT/PATH");
    let rest = url.strip_prefix("http://").ok_or_else(wrong)?;
    let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
    let host = if host.contains(':') { host.to_owned() } else { format!("{host}:80") };
    Host::Tcp(host).send(method, path, headers, body)
}

impl Host {
    /// Asks for a path (without the first `/`).
    pub fn send(
        &self,
        method: &str,
        path: &str,
        headers: &str,
        body: &[u8],
    ) -> std::result::Result<String, Refused> {
        let head = |host: &str| {
            let length = body.len();
            format!(
                "{method} /{path} HTTP/1.0\r\nHost: {host}\r\n{headers}Content-Length: {length}\r\n\
                 Connection: close\r\n\r\n"
            )
        };
        let answer = match self {
            Host::Tcp(host) => {
                let stream = connected(host)?;
                stream.set_read_timeout(Some(TIMEOUT))?;
                stream.set_write_timeout(Some(TIMEOUT))?;
                asked(stream, &head(host.strip_suffix(":80").unwrap_or(host)), body)?
            }
            Host::Unix(path) => {
                let stream = UnixStream::connect(path)?;
                stream.set_read_timeout(Some(TIMEOUT))?;
                stream.set_write_timeout(Some(TIMEOUT))?;
                asked(stream, &head("localhost"), body)?
            }
        };
        let answer = String::from_utf8_lossy(&answer);
        let status: Option<u16> = answer.split(' ').nth(1).and_then(|word| word.parse().ok());
        match (status, answer.split_once("\r\n\r\n")) {
            (Some(200..=299), Some((_, body))) => Ok(body.to_owned()),
            _ => {
                let text = format!("answered {}", answer.lines().next().unwrap_or("nothing"));
                Err(Refused { status, text })
            }
        }
    }
}

/// To the first of its addresses that answers.
fn connected(host: &str) -> Result<TcpStream> {
    let mut problem = Error::new(ErrorKind::NotFound, "no such host");
    for address in host.to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, TIMEOUT) {
            Ok(stream) => return Ok(stream),
            Err(error) => problem = error,
        }
    }
    Err(problem)
}

fn asked(mut stream: impl Read + Write, head: &str, body: &[u8]) -> Result<Vec<u8>> {
    stream.write_all(head.as_bytes())?;
    stream.write_all(body)?;
    read(&mut stream, ANSWER_TIME)
}

/// Reads to the end, in at most this time: a server that sends a byte now and then has to stop, too.
fn read(stream: &mut impl Read, time: Duration) -> Result<Vec<u8>> {
    let begun = Instant::now();
    let (mut answer, mut buffer) = (Vec::new(), [0; 16 << 10]);
    while begun.elapsed() < time && answer.len() < MAX_ANSWER {
        match stream.read(&mut buffer)? {
            0 => return Ok(answer),
            length => answer.extend_from_slice(&buffer[..length]),
        }
    }
    Err(Error::new(ErrorKind::TimedOut, "the answer takes too long, or is too long"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    /// A byte now and then keeps nothing waiting for ever.
    #[test]
    fn an_answer_that_drips_is_given_up() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (mut other, _) = listener.accept().unwrap();
        let drips = std::thread::spawn(move || {
            while other.write_all(b"x").is_ok() {
                std::thread::sleep(Duration::from_millis(5));
            }
        });
        let error = read(&mut stream, Duration::from_millis(100)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TimedOut);
        drop(stream);
        drips.join().unwrap();
    }
}
