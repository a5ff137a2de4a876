//! The terminal in full-screen mode: draws lines, reads single keys, and restores the terminal at the end.

use anyhow::Context;
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcgetwinsize, tcsetattr};
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// Another screen, no cursor, no line breaks; and back.
const ENTER: &str = "\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[2J";
const LEAVE: &str = "\x1b[?7h\x1b[?25h\x1b[?1049l";

#[derive(Debug)]
pub struct Screen {
    keys: OwnedFd,
    before: Termios,
}

impl Screen {
    pub fn take() -> anyhow::Result<Self> {
        let keys = io::stdin().as_fd().try_clone_to_owned().context("no standard input")?;
        let before = tcgetattr(&keys).map_err(io::Error::from).context("no terminal")?;
        let mut raw = before.clone();
        // Keys at once and not shown. Ctrl-C stays a signal.
        raw.local_modes &= !(LocalModes::ICANON | LocalModes::ECHO);
        tcsetattr(&keys, OptionalActions::Now, &raw).map_err(io::Error::from).context("no terminal")?;
        let screen = Screen { keys, before };
        io::stdout().write_all(ENTER.as_bytes())?;
        io::stdout().flush()?;
        Ok(screen)
    }

    pub fn keys(&self) -> BorrowedFd<'_> {
        self.keys.as_fd()
    }

    /// The keys pressed since the last time.
    pub fn pressed(&self) -> Vec<u8> {
        let mut keys = Vec::new();
        let mut buffer = [0u8; 64];
        let time = rustix::event::Timespec { tv_sec: 0, tv_nsec: 0 };
        loop {
            let mut fds = [rustix::event::PollFd::new(&self.keys, rustix::event::PollFlags::IN)];
            if rustix::event::poll(&mut fds, Some(&time)).unwrap_or(0) == 0 {
                return keys;
            }
            match io::stdin().lock().read(&mut buffer) {
                Ok(read) if read > 0 => keys.extend_from_slice(&buffer[..read]),
                // The terminal is gone.
                _ => return vec![b'q'],
            }
        }
    }

    /// Columns and rows.
    pub fn size(&self) -> (usize, usize) {
        match tcgetwinsize(&self.keys) {
            Ok(size) if size.ws_col > 0 && size.ws_row > 0 => (size.ws_col.into(), size.ws_row.into()),
            _ => (80, 24),
        }
    }

    /// Show these lines from the top, and nothing else.
    pub fn show(&self, lines: &[String]) -> anyhow::Result<()> {
        let mut text = String::from("\x1b[H");
        for (i, line) in lines.iter().take(self.size().1.saturating_sub(1)).enumerate() {
            // Cleared first: at the end of a full line, the last character would go.
            text.push_str(if i > 0 { "\r\n\x1b[K" } else { "\x1b[K" });
            text.push_str(line);
            text.push_str("\x1b[0m");
        }
        text.push_str("\r\n\x1b[J");
        let mut out = io::stdout().lock();
        out.write_all(text.as_bytes()).and_then(|()| out.flush()).context("cannot draw")
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        let _ = io::stdout().write_all(LEAVE.as_bytes()).and_then(|()| io::stdout().flush());
        let _ = tcsetattr(&self.keys, OptionalActions::Now, &self.before);
    }
}
