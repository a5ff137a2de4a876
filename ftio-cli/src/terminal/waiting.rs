//! What a person sees while waiting: what is being done, and of a large input how much has been read.
//!
//! After two seconds, and only on a terminal, a line on stderr says which input it is and how far the reading
//! has come. The kernel knows that: the position of the open file. Readers need not know about it.

use crate::terminal::status;
use crate::terminal::text::printable;
use crate::terminal::units::percent;
use std::fs;
use std::io::IsTerminal;
use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// A shorter wait needs no line.
const DELAY: Duration = Duration::from_secs(2);
/// How often the line is renewed.
const BETWEEN: Duration = Duration::from_millis(200);

/// Work that is being done. Dropped, it takes its line away.
#[derive(Debug)]
pub struct Waiting(Option<(Sender<()>, JoinHandle<()>)>);

impl Waiting {
    /// For the input of this name.
    pub fn reading(name: &str) -> Self {
        let name = name.to_owned();
        Self::telling(move |waited| line(&name, share(Path::new(&name)), waited))
    }

    /// For work of unknown length: "drawing x.svg".
    pub fn working(what: &str) -> Self {
        let what = what.to_owned();
        Self::telling(move |waited| format!("{}: {} s", printable(&what), waited.as_secs()))
    }

    fn telling(line: impl Fn(Duration) -> String + Send + 'static) -> Self {
        if !std::io::stderr().is_terminal() {
            return Waiting(None);
        }
        let (stop, stopped) = channel();
        let began = Instant::now();
        let tell = move || {
            let mut wait = DELAY;
            let mut shown = false;
            while stopped.recv_timeout(wait) == Err(RecvTimeoutError::Timeout) {
                status::show(&line(began.elapsed()));
                (shown, wait) = (true, BETWEEN);
            }
            if shown {
                status::clear();
            }
        };
        // Without a thread there is no line.
        let thread = std::thread::Builder::new().name("waiting".into()).spawn(tell);
        Waiting(thread.ok().map(|thread| (stop, thread)))
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        if let Some((stop, thread)) = self.0.take() {
            drop(stop);
            let _ = thread.join();
        }
    }
}

fn line(name: &str, share: Option<f64>, waited: Duration) -> String {
    let seconds = waited.as_secs();
    match share {
        Some(share) if share < 1.0 => format!("reading {}: {}, {seconds} s", printable(name), percent(share)),
        // All of it is in memory.
        _ => format!("analysing {}: {seconds} s", printable(name)),
    }
}

/// How much of a file this process has read, by the position in it.
fn share(path: &Path) -> Option<f64> {
    let path = fs::canonicalize(path).ok()?;
    let size = fs::metadata(&path).ok().filter(fs::Metadata::is_file)?.len();
    let of = |entry: fs::DirEntry| (fs::read_link(entry.path()).ok()? == path).then(|| entry.file_name());
    let number = fs::read_dir("/proc/self/fd").ok()?.filter_map(Result::ok).find_map(of)?;
    let about = fs::read_to_string(Path::new("/proc/self/fdinfo").join(number)).ok()?;
    let position: u64 = about.lines().find_map(|line| line.strip_prefix("pos:"))?.trim().parse().ok()?;
    (size > 0).then(|| position as f64 / size as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};

    #[test]
    fn how_far_a_file_was_read() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(&[0; 4096]).unwrap();
        let path = file.path().to_owned();
        // Only one descriptor: the one that reads.
        let kept = file.into_temp_path();
        assert_eq!(share(&path), None);
        let mut reader = fs::File::open(&path).unwrap();
        reader.read_exact(&mut [0; 1024]).unwrap();
        assert_eq!(share(&path), Some(0.25));
        drop(kept);
    }

    #[test]
    fn the_line() {
        let waited = Duration::from_secs(7);
        assert_eq!(line("a.msgpack", Some(0.25), waited), "reading a.msgpack: 25.0 %, 7 s");
        assert_eq!(line("a.msgpack", None, waited), "analysing a.msgpack: 7 s");
    }
}
