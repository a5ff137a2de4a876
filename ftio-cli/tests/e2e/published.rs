//! What `ftio predict` and `ftio stage` publish over the network: who reaches it, and who waits for whom.

use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A command that waits for a trace, and ends with the test.
struct Waiting(Child);

impl Waiting {
    fn start(folder: &Path, args: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ftio"));
        command.args(args).current_dir(folder).stdout(Stdio::null()).stderr(Stdio::null());
        Waiting(command.spawn().unwrap())
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A port that was free a moment ago, on all addresses.
fn free_port() -> u16 {
    TcpListener::bind("0.0.0.0:0").unwrap().local_addr().unwrap().port()
}

/// The addresses at which somebody listens for this port, as the kernel writes them.
fn listening(port: u16) -> Vec<String> {
    let tables = ["/proc/net/tcp", "/proc/net/tcp6"].map(|path| fs::read_to_string(path).unwrap_or_default());
    let found = tables.iter().flat_map(|table| table.lines()).filter_map(|line| {
        let mut words = line.split_whitespace().skip(1);
        let (address, number) = words.next()?.split_once(':')?;
        (words.nth(1)? == "0A" && u16::from_str_radix(number, 16).ok()? == port).then(|| address.to_owned())
    });
    found.collect()
}

/// A port without an address is one of this machine; and who sends half a request keeps nobody waiting.
#[test]
fn a_port_is_for_this_machine_and_for_all_on_it() {
    const LOOPBACK: &str = "0100007F";
    let dir = tempfile::tempdir().unwrap();
    for folder in ["bb", "storage"] {
        fs::create_dir(dir.path().join(folder)).unwrap();
    }
    let commands: [(&[&str], bool); 3] = [
        (&["predict", "run", "--prometheus"], true),
        (&["stage", "run", "--from", "bb", "--to", "storage", "--prometheus"], true),
        (&["predict", "run", "--socket"], false),
    ];
    for (command, is_http) in commands {
        let port = free_port();
        let target = format!(":{port}");
        let _waiting = Waiting::start(dir.path(), &[command, &[&target]].concat());
        let begun = Instant::now();
        while listening(port).is_empty() {
            assert!(begun.elapsed() < Duration::from_secs(60), "{command:?} does not listen");
            std::thread::sleep(Duration::from_millis(10));
        }
        assert_eq!(listening(port), [LOOPBACK], "{command:?}");
        if !is_http {
            continue;
        }
        let ask = |request: &str| {
            let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
            stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
            stream.write_all(request.as_bytes()).unwrap();
            stream
        };
        let _slow: Vec<TcpStream> = (0..100).map(|_| ask("GET /metrics HTTP/1.1\r\nHos")).collect();
        let mut answer = String::new();
        let read = ask("GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n").read_to_string(&mut answer);
        assert!(read.is_ok() && answer.starts_with("HTTP/1.1 200"), "{command:?}: {read:?} {answer}");
        let _ = ask("GET /metrics HTTP/1.1\r\nHost: evil.example\r\n\r\n").read_to_string(&mut answer);
        assert!(answer.contains("HTTP/1.1 421"), "{command:?}: {answer}");
    }
}
