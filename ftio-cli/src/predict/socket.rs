//! `--socket`: predictions as JSON lines over a Unix or TCP socket.

use super::sink::Sink;
use crate::exit::wrong_usage;
use anyhow::Context;
use emit::address::almost_an_address;
use emit::socket::Socket;
use ftio_core::predict::Prediction;
use std::io;

/// At this address, or at this path.
pub fn open(target: &str) -> anyhow::Result<Socket> {
    if let Some(problem) = almost_an_address(target) {
        return Err(wrong_usage(format!("--socket {target}: {problem}")));
    }
    Socket::open(target).with_context(|| format!("--socket {target}"))
}

impl Sink for Socket {
    fn prediction(&mut self, prediction: &Prediction, json: &str) -> io::Result<()> {
        self.send(&prediction.source, json);
        Ok(())
    }
}
