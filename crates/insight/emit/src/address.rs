//! Addresses as people write them: `HOST:PORT`, or `:PORT` for this machine.

use std::net::{SocketAddr, ToSocketAddrs};

/// The addresses that `HOST:PORT` or `:PORT` stands for; `None` if it is something else. A port alone is one
/// of this machine: who wants to be reached from others says so.
pub fn address(target: &str) -> Option<Vec<SocketAddr>> {
    let (host, port) = target.rsplit_once(':')?;
    if host.contains('/') || port.parse::<u16>().is_err() {
        return None;
    }
    let full = if host.is_empty() { format!("127.0.0.1:{port}") } else { target.to_owned() };
    Some(full.to_socket_addrs().ok()?.collect())
}

/// What is wrong with something that was meant as an address and would be taken for a file.
pub fn almost_an_address(target: &str) -> Option<String> {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if is_number(target) {
        return Some(format!("write :{target} for a port, or ./{target} for a file"));
    }
    let (host, port) = target.rsplit_once(':')?;
    (!host.contains('/') && is_number(port) && port.parse::<u16>().is_err())
        .then(|| format!("{port} is not a port: expected a number up to 65535"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_and_addresses() {
        assert_eq!(address(":9797").unwrap()[0].to_string(), "127.0.0.1:9797");
        assert_eq!(address("0.0.0.0:9797").unwrap()[0].to_string(), "0.0.0.0:9797");
        assert_eq!(address("127.0.0.1:80").unwrap()[0].to_string(), "127.0.0.1:80");
        assert_eq!(address("[::1]:80").unwrap()[0].to_string(), "[::1]:80");
        for almost in ["9798", ":99999", "host:70000"] {
            assert!(almost_an_address(almost).is_some(), "{almost}");
        }
        for other in ["ftio.prom", ":9798", "./9798", "dir/x:99999", "a:b"] {
            assert_eq!(almost_an_address(other), None, "{other}");
        }
        for file in ["ftio.prom", "/var/lib/a:b", "dir/x:80", "a:99999999"] {
            assert_eq!(address(file), None, "{file}");
        }
    }
}
