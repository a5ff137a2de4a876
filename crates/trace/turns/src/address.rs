//! Where an arbiter is.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

/// Where an arbiter listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// A Unix socket: jobs on this host.
    Unix(PathBuf),
    /// TCP: jobs on other hosts, which have to know a secret.
    Tcp(String, u16),
    /// A directory that all nodes see: where nothing can listen.
    Directory(PathBuf),
}

/// What is wrong with an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddressError;

impl fmt::Display for AddressError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("unix:PATH, tcp:HOST:PORT or dir:PATH, with absolute paths")
    }
}

impl std::error::Error for AddressError {}

impl FromStr for Address {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, AddressError> {
        let path = |path: &str| {
            let usable = path.starts_with('/') && path.len() > 1 && !path.contains('\0');
            if usable { Ok(PathBuf::from(path)) } else { Err(AddressError) }
        };
        match text.split_once(':') {
            // The longest path of a Unix socket has 107 bytes.
            Some(("unix", name)) if name.len() <= 107 => path(name).map(Address::Unix),
            Some(("dir", name)) => path(name).map(Address::Directory),
            Some(("tcp", place)) => {
                let (host, port) = place.rsplit_once(':').ok_or(AddressError)?;
                let host = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
                let port = port.parse().map_err(|_| AddressError)?;
                if host.is_empty() { Err(AddressError) } else { Ok(Address::Tcp(host.to_owned(), port)) }
            }
            _ => Err(AddressError),
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Address::Unix(path) => write!(out, "unix:{}", path.display()),
            Address::Directory(path) => write!(out, "dir:{}", path.display()),
            Address::Tcp(host, port) if host.contains(':') => write!(out, "tcp:[{host}]:{port}"),
            Address::Tcp(host, port) => write!(out, "tcp:{host}:{port}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_kinds() {
        for text in ["unix:/run/a.sock", "tcp:node-7:4000", "tcp:[::1]:4000", "dir:/scratch/.leases"] {
            assert_eq!(text.parse::<Address>().unwrap().to_string(), text);
        }
        let long = format!("unix:/{}", "x".repeat(107));
        for wrong in ["", "/a", "unix:a", "unix:", "tcp:host", "tcp::1", "tcp:h:x", "udp:h:1", "dir:", &long]
        {
            assert_eq!(wrong.parse::<Address>(), Err(AddressError), "{wrong}");
        }
    }
}
