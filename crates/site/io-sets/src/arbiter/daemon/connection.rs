//! One node that is connected: what it sent and was not understood yet, what it was sent and did not take.

use super::listen::Socket;
use std::io::ErrorKind;
use std::os::fd::BorrowedFd;
use turns::Stream;

/// A node that does not read what it is sent is disconnected when so many bytes wait for it.
const MAX_UNSENT: usize = 1 << 22;
/// How much is read from one node before others have their turn.
const READS_A_TURN: usize = 16;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Open,
    /// It takes nothing at the moment.
    Full,
    Over,
}

#[derive(Debug)]
pub(super) struct Connection {
    socket: Socket,
    pub(super) stream: Stream,
    unsent: Vec<u8>,
    /// Messages in the present second.
    second: u64,
    messages: u32,
    /// It has said who it is, or asked for the report.
    pub(super) known: bool,
    /// Whose it is, where the kernel tells.
    pub(super) user: Option<u32>,
}

impl Connection {
    pub(super) fn new(socket: Socket, user: Option<u32>) -> Self {
        let stream = super::stream();
        Connection { socket, stream, unsent: Vec::new(), second: 0, messages: 0, known: false, user }
    }

    pub(super) fn descriptor(&self) -> BorrowedFd<'_> {
        self.socket.descriptor()
    }

    pub(super) fn is_remote(&self) -> bool {
        self.socket.is_remote()
    }

    /// One more message: the number of them in this second.
    pub(super) fn counts(&mut self, second: u64) -> u32 {
        if second != self.second {
            (self.second, self.messages) = (second, 0);
        }
        self.messages += 1;
        self.messages
    }

    pub(super) fn read(&mut self) -> State {
        let mut bytes = [0; 4096];
        for _ in 0..READS_A_TURN {
            match self.socket.read(&mut bytes) {
                Ok(0) => return State::Over,
                Ok(length) => {
                    self.stream.push(&bytes[..length]);
                    // If there is more, or nothing ever again, the next look tells.
                    if length < bytes.len() {
                        return State::Open;
                    }
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return State::Open,
                Err(_) => return State::Over,
            }
        }
        State::Open
    }

    pub(super) fn send(&mut self, bytes: &[u8]) -> State {
        if self.unsent.len() > MAX_UNSENT {
            return State::Over;
        }
        if !self.unsent.is_empty() {
            self.unsent.extend_from_slice(bytes);
            return State::Full;
        }
        match self.socket.write(bytes) {
            Ok(length) if length == bytes.len() => State::Open,
            Ok(length) => {
                self.unsent.extend_from_slice(&bytes[length..]);
                State::Full
            }
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {
                self.unsent.extend_from_slice(bytes);
                State::Full
            }
            Err(_) => State::Over,
        }
    }

    /// Sends what has waited.
    pub(super) fn flush(&mut self) -> State {
        while !self.unsent.is_empty() {
            match self.socket.write(&self.unsent) {
                Ok(0) => return State::Over,
                Ok(length) => _ = self.unsent.drain(..length),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return State::Full,
                Err(_) => return State::Over,
            }
        }
        State::Open
    }
}
