//! Asks a running arbiter for its report.

use crate::arbiter::report::Report;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;
use turns::{Address, Hello, Kind, Message, Stream};

/// How long an arbiter may take.
const TIMEOUT: Duration = Duration::from_secs(2);
/// The longest report.
const MAX_REPORT: usize = 1 << 28;

trait Connected: Read + Write {}
impl<T: Read + Write> Connected for T {}

/// Asks again and again over one connection.
pub struct Client {
    address: Address,
    secret: String,
    /// `None`: a directory.
    connection: Option<Box<dyn Connected>>,
}

impl std::fmt::Debug for Client {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "Client({})", self.address)
    }
}

impl Client {
    /// Connects.
    pub fn new(address: &Address, secret: Option<&str>) -> io::Result<Self> {
        let connection: Option<Box<dyn Connected>> = match address {
            Address::Unix(path) => {
                let stream = UnixStream::connect(path)?;
                stream.set_read_timeout(Some(TIMEOUT))?;
                Some(Box::new(stream))
            }
            Address::Tcp(host, port) => {
                let place = (host.as_str(), *port).to_socket_addrs()?.next();
                let stream = TcpStream::connect_timeout(&place.ok_or(ErrorKind::NotFound)?, TIMEOUT)?;
                stream.set_read_timeout(Some(TIMEOUT))?;
                stream.set_nodelay(true)?;
                Some(Box::new(stream))
            }
            Address::Directory(path) => {
                files::Dir::open(path)?.look("arbiter")?;
                None
            }
        };
        let secret = secret.unwrap_or_default().to_owned();
        Ok(Client { address: address.clone(), secret, connection })
    }

    /// The state now.
    pub fn report(&mut self) -> io::Result<Report> {
        let text = match (&mut self.connection, &self.address) {
            (Some(connection), _) => ask(connection.as_mut(), &self.secret)?,
            (None, Address::Directory(path)) => of_directory(path)?,
            (None, _) => return Err(ErrorKind::NotConnected.into()),
        };
        serde_json::from_str(&text).map_err(|error| io::Error::new(ErrorKind::InvalidData, error))
    }
}

/// The report in a directory: that of everything if it may be read, else that of our user, else that of all.
fn of_directory(path: &Path) -> io::Result<String> {
    let own = format!("report.{}", rustix::process::geteuid().as_raw());
    let read = |name: &str| {
        let file = files::Dir::open(path)?.read(name, &files::Expect::anybodys())?;
        let mut text = String::new();
        file.take(MAX_REPORT as u64).read_to_string(&mut text)?;
        Ok::<_, io::Error>(text)
    };
    read("report").or_else(|_| read(&own)).or_else(|_| read("report.public"))
}

fn ask(connection: &mut dyn Connected, secret: &str) -> io::Result<String> {
    let who = Hello { job: "report".to_owned(), secret: secret.to_owned(), ..Hello::default() };
    connection.write_all(&Message::new(Kind::Status).encode_with(&who.encode()))?;
    let mut stream = Stream::new(MAX_REPORT);
    let mut bytes = [0; 65536];
    loop {
        let length = connection.read(&mut bytes)?;
        if length == 0 {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        stream.push(&bytes[..length]);
        match stream.take().map_err(|error| io::Error::new(ErrorKind::InvalidData, error))? {
            Some((message, text)) if message.kind == Kind::Report => return Ok(text),
            Some((message, text)) if message.kind == Kind::Refused => {
                return Err(io::Error::new(ErrorKind::PermissionDenied, text));
            }
            _ => {}
        }
    }
}
