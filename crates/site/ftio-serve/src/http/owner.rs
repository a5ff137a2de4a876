//! The user at the other end of a connection of this machine, from the kernel.
//!
//! The kernel is asked for exactly that connection (`sock_diag(7)`), so the answer takes as long with ten
//! thousand connections as with one. Where that is not allowed, the table in /proc/net is read.
//!
//! An end that nobody holds any more counts for nothing: older kernels say that it belongs to root, and
//! somebody who sends a request and closes the connection at once would be taken for root.

use rustix::net::{self, AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, netlink};
use std::net::{IpAddr, SocketAddr};

/// The user of a connection of this machine: whose end has our end as its other.
pub fn owner_of(peer: &SocketAddr, local: &SocketAddr) -> Option<u32> {
    match asked(peer, local) {
        Ok(found) => found,
        // The table of all connections is long, if there are many. So it is read only where there is no other
        // way, and not for a connection that is over already.
        Err(_) => {
            let file = if peer.is_ipv4() { "/proc/net/tcp" } else { "/proc/net/tcp6" };
            find(&std::fs::read_to_string(file).ok()?, &coded(peer), &coded(local))
        }
    }
}

/// `SOCK_DIAG_BY_FAMILY`.
const BY_FAMILY: u16 = 20;
/// `NLM_F_REQUEST`.
const REQUEST: u16 = 1;
const MESSAGE_HEAD: usize = 16;

/// Ask the kernel. `None`: there is no such connection, or nobody holds it. `Err`: asking is not possible.
fn asked(peer: &SocketAddr, local: &SocketAddr) -> rustix::io::Result<Option<u32>> {
    let id = id(peer, local);
    let mut request = Vec::with_capacity(72);
    request.extend_from_slice(&72u32.to_ne_bytes());
    request.extend_from_slice(&BY_FAMILY.to_ne_bytes());
    request.extend_from_slice(&REQUEST.to_ne_bytes());
    request.extend_from_slice(&[0; 8]);
    // Family, TCP, no extensions; all states.
    let family = if peer.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    request.extend_from_slice(&[family.as_raw() as u8, 6, 0, 0]);
    request.extend_from_slice(&u32::MAX.to_ne_bytes());
    request.extend_from_slice(&id);
    // Any interface, no cookie.
    request.extend_from_slice(&[0; 4]);
    request.extend_from_slice(&[0xff; 8]);
    let socket = net::socket_with(
        AddressFamily::NETLINK,
        SocketType::RAW,
        SocketFlags::CLOEXEC,
        Some(netlink::SOCK_DIAG),
    )?;
    net::sendto(&socket, &request, SendFlags::empty(), &netlink::SocketAddrNetlink::new(0, 0))?;
    let mut answer = [0; 1024];
    // The kernel has answered when the request is sent.
    let (length, _) = net::recv(&socket, &mut answer[..], RecvFlags::DONTWAIT)?;
    match refusal(&answer[..length]) {
        None | Some(rustix::io::Errno::NOENT) => Ok(answered(&answer[..length], &id)),
        Some(error) => Err(error),
    }
}

/// The error that the kernel answers with (`NLMSG_ERROR`).
fn refusal(answer: &[u8]) -> Option<rustix::io::Errno> {
    let kind = u16::from_ne_bytes(answer.get(4..6)?.try_into().ok()?);
    let code = i32::from_ne_bytes(answer.get(MESSAGE_HEAD..MESSAGE_HEAD + 4)?.try_into().ok()?);
    (kind == 2 && code < 0).then(|| rustix::io::Errno::from_raw_os_error(-code))
}

/// The user in the kernel's answer, if it is about that connection and somebody holds it.
fn answered(answer: &[u8], id: &[u8]) -> Option<u32> {
    let word = |from: usize| Some(u32::from_ne_bytes(answer.get(from..from + 4)?.try_into().ok()?));
    let kind = u16::from_ne_bytes(answer.get(4..6)?.try_into().ok()?);
    // Family, state, timer, retransmits; addresses, interface, cookie; timers and queues.
    let about = answer.get(MESSAGE_HEAD + 4..MESSAGE_HEAD + 4 + id.len())?;
    let (uid, inode) = (word(MESSAGE_HEAD + 64)?, word(MESSAGE_HEAD + 68)?);
    (kind == BY_FAMILY && about == id && inode != 0).then_some(uid)
}

/// Ports and addresses of a connection as the kernel has them, its own end first.
fn id(own: &SocketAddr, other: &SocketAddr) -> [u8; 36] {
    let mut id = [0; 36];
    for (place, end) in [own, other].into_iter().enumerate() {
        id[2 * place..][..2].copy_from_slice(&end.port().to_be_bytes());
        match end.ip() {
            IpAddr::V4(ip) => id[4 + 16 * place..][..4].copy_from_slice(&ip.octets()),
            IpAddr::V6(ip) => id[4 + 16 * place..][..16].copy_from_slice(&ip.octets()),
        }
    }
    id
}

/// The user in the table of connections.
fn find(table: &str, peer: &str, local: &str) -> Option<u32> {
    table.lines().skip(1).find_map(|line| {
        let mut words = line.split_whitespace().skip(1);
        let found = words.next() == Some(peer) && words.next() == Some(local);
        let uid = words.nth(4).filter(|_| found)?.parse().ok()?;
        let inode = words.nth(1)?;
        (inode != "0").then_some(uid)
    })
}

/// An address as that table has it: words of the processor's order, in hexadecimal digits.
fn coded(address: &SocketAddr) -> String {
    let words = |bytes: &[u8]| -> String {
        let word = |four: &[u8]| u32::from_ne_bytes([four[0], four[1], four[2], four[3]]);
        bytes.chunks_exact(4).map(|four| format!("{:08X}", word(four))).collect()
    };
    let ip = match address.ip() {
        IpAddr::V4(ip) => words(&ip.octets()),
        IpAddr::V6(ip) => words(&ip.octets()),
    };
    format!("{ip}:{:04X}", address.port())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::net::{TcpListener, TcpStream};

    fn in_table(peer: &SocketAddr, local: &SocketAddr) -> Option<u32> {
        let file = if peer.is_ipv4() { "/proc/net/tcp" } else { "/proc/net/tcp6" };
        find(&std::fs::read_to_string(file).unwrap(), &coded(peer), &coded(local))
    }

    #[test]
    fn the_kernel_says_who_is_at_the_other_end() {
        let own = Some(rustix::process::geteuid().as_raw());
        for address in ["127.0.0.1:0", "[::1]:0"] {
            let Ok(listener) = TcpListener::bind(address) else { continue };
            let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            let (server, peer) = listener.accept().unwrap();
            assert_eq!(peer, client.local_addr().unwrap());
            let local = server.local_addr().unwrap();
            assert_eq!(owner_of(&peer, &local), own, "{address}");
            assert_eq!(asked(&peer, &local), Ok(own), "{address}: the kernel answers");
            assert_eq!(in_table(&peer, &local), own, "{address}: the table says the same");
            let mut elsewhere = peer;
            elsewhere.set_port(peer.port() ^ 1);
            assert_eq!(asked(&elsewhere, &local), Ok(None), "a listener is not the other end");
        }
    }

    /// Somebody who has closed their end is nobody; the kernel would say root.
    #[test]
    fn an_end_that_nobody_holds_is_nobodys() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (server, peer) = listener.accept().unwrap();
        client.write_all(b"GET / HTTP/1.1\r\n").unwrap();
        drop(client);
        let local = server.local_addr().unwrap();
        assert_eq!((asked(&peer, &local), in_table(&peer, &local)), (Ok(None), None));
        assert_eq!(owner_of(&peer, &local), None);
    }

    #[test]
    fn the_table_is_read() {
        let line =
            |inode: &str| format!("sl\n 0: 0100007F:A000 0100007F:0539 01 0:0 00:0 0 1234 0 {inode} 1\n");
        assert_eq!(find(&line("5"), "0100007F:A000", "0100007F:0539"), Some(1234));
        assert_eq!(find(&line("5"), "0100007F:A001", "0100007F:0539"), None);
        assert_eq!(find(&line("0"), "0100007F:A000", "0100007F:0539"), None, "nobody holds it");
    }

    #[test]
    fn answers_about_something_else_do_not_count() {
        let id = id(&"127.0.0.1:5".parse().unwrap(), &"127.0.0.1:6".parse().unwrap());
        let mut answer = [0; 88];
        answer[4..6].copy_from_slice(&BY_FAMILY.to_ne_bytes());
        answer[MESSAGE_HEAD + 4..MESSAGE_HEAD + 40].copy_from_slice(&id);
        answer[MESSAGE_HEAD + 64..MESSAGE_HEAD + 68].copy_from_slice(&7u32.to_ne_bytes());
        assert_eq!(answered(&answer, &id), None, "nobody holds it");
        answer[MESSAGE_HEAD + 68] = 1;
        assert_eq!(answered(&answer, &id), Some(7));
        for length in 0..answer.len() {
            let _ = answered(&answer[..length], &id);
        }
        answer[MESSAGE_HEAD + 4] ^= 1;
        assert_eq!(answered(&answer, &id), None);
    }
}
