//! How many connections there are, who has to leave when there are too many, and clients that do not read.

use crate::lock::locked;
use crate::service::Service;
use crate::share::{Payer, Shared};
use std::collections::{BTreeMap, HashMap};
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::Notify;
use tokio::time::{Instant, Sleep};

/// A client that takes nothing of its answer for this long is cut off.
pub const WRITE_TIME: Duration = Duration::from_secs(30);
/// How often it is looked whether one that has to leave has left.
const LEAVING: usize = 1000;

/// Connections that are open.
#[derive(Debug)]
struct Open {
    shared: Shared,
    /// Those of which no request is worked on, the one that waits longest first.
    waiting: BTreeMap<u64, (Payer, Arc<Notify>)>,
    next: u64,
}

/// Room for connections.
#[derive(Clone, Debug)]
pub struct Room {
    open: Arc<Mutex<Open>>,
    service: Arc<Service>,
}

impl Room {
    /// For at most so many, whatever the configuration says.
    pub fn new(service: &Arc<Service>, most: usize) -> Self {
        let shared = Shared::new("connections", service.config.connections.min(most));
        let open = Open { shared, waiting: BTreeMap::new(), next: 0 };
        Room { open: Arc::new(Mutex::new(open)), service: Arc::clone(service) }
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        locked(&self.open)
    }

    /// A place, if there is one.
    pub fn try_take(&self, payer: &Payer) -> Option<Place> {
        let mut open = self.open();
        open.shared.check(payer, self.service.config.standing(payer), 1).ok()?;
        open.shared.add(payer, 1);
        self.service.stats.connections.add(1);
        drop(open);
        let leave = Arc::new(Notify::new());
        let place = Place { room: self.clone(), payer: payer.clone(), leave, waits: Mutex::new(None) };
        place.waits();
        Some(place)
    }

    /// A place. If there is none, the one that has waited longest for a request has to leave: a client that
    /// has something to say comes in, however many say nothing.
    pub async fn take(&self, payer: &Payer) -> Option<Place> {
        if let Some(place) = self.try_take(payer) {
            return Some(place);
        }
        self.service.stats.refused_connections.add(1);
        let (own, allowed) = {
            let open = self.open();
            let standing = self.service.config.standing(payer);
            (open.shared.own(payer), open.shared.allowed(payer, standing))
        };
        let reason = format!("connections: {own} are open, and {allowed} may be; the oldest has to leave");
        self.service.stats.refusals.add("connections", payer, &reason);
        self.send_away(payer)?;
        for _ in 0..LEAVING {
            tokio::task::yield_now().await;
            if let Some(place) = self.try_take(payer) {
                return Some(place);
            }
        }
        None
    }

    /// Somebody who has too many makes room for themselves. Somebody who has none yet takes a place of the
    /// one who has most.
    fn send_away(&self, payer: &Payer) -> Option<()> {
        let mut open = self.open();
        let from = match open.shared.own(payer) {
            0 => {
                let mut counts: HashMap<&Payer, usize> = HashMap::new();
                open.waiting.values().for_each(|(payer, _)| *counts.entry(payer).or_default() += 1);
                counts.into_iter().max_by_key(|(_, count)| *count)?.0.clone()
            }
            _ => payer.clone(),
        };
        let number = *open.waiting.iter().find(|(_, (other, _))| *other == from)?.0;
        let (_, leave) = open.waiting.remove(&number)?;
        leave.notify_one();
        Some(())
    }
}

/// A place among the open connections, given back at the end.
#[derive(Debug)]
pub struct Place {
    room: Room,
    payer: Payer,
    leave: Arc<Notify>,
    /// Its number among those that wait.
    waits: Mutex<Option<u64>>,
}

impl Place {
    fn number(&self) -> MutexGuard<'_, Option<u64>> {
        locked(&self.waits)
    }

    /// No request is worked on.
    pub fn waits(&self) {
        let mut open = self.room.open();
        let number = open.next;
        open.next += 1;
        if let Some(before) = self.number().replace(number) {
            open.waiting.remove(&before);
        }
        open.waiting.insert(number, (self.payer.clone(), Arc::clone(&self.leave)));
    }

    /// A request has come.
    pub fn works(&self) {
        let mut open = self.room.open();
        if let Some(number) = self.number().take() {
            open.waiting.remove(&number);
        }
    }

    /// Until somebody else needs the place more.
    pub async fn sent_away(&self) {
        self.leave.notified().await;
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.works();
        self.room.open().shared.give_back(&self.payer, 1);
        self.room.service.stats.connections.take(1);
    }
}

/// A stream whose other end must read: an answer that nobody takes does not stay in memory for ever.
pub struct Patient<S> {
    stream: S,
    /// Runs while something waits to be written.
    until: Pin<Box<Sleep>>,
    blocked: bool,
    time: Duration,
}

impl<S> Patient<S> {
    /// Cut off after this time without any progress.
    pub fn new(stream: S, time: Duration) -> Self {
        Patient { stream, until: Box::pin(tokio::time::sleep(time)), blocked: false, time }
    }

    /// What a write came to; an error if nothing could be written for too long.
    fn patience<T>(
        &mut self,
        done: Poll<std::io::Result<T>>,
        context: &mut Context<'_>,
    ) -> Poll<std::io::Result<T>> {
        if done.is_ready() {
            self.blocked = false;
            return done;
        }
        if !self.blocked {
            self.blocked = true;
            let until = Instant::now() + self.time;
            self.until.as_mut().reset(until);
        }
        ready!(self.until.as_mut().poll(context));
        Poll::Ready(Err(std::io::ErrorKind::TimedOut.into()))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Patient<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Patient<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<std::io::Result<usize>> {
        let done = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.patience(done, context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[std::io::IoSlice<'_>],
    ) -> Poll<std::io::Result<usize>> {
        let done = Pin::new(&mut self.stream).poll_write_vectored(context, pieces);
        self.patience(done, context)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::AsyncWriteExt;

    /// One who reads nothing is cut off; one who reads slowly is not.
    #[test]
    fn a_client_that_does_not_read_is_cut_off() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let (ours, theirs) = tokio::io::duplex(16);
            let mut patient = Patient::new(theirs, Duration::from_millis(20));
            let error = patient.write_all(&[1; 64]).await.unwrap_err();
            assert_eq!(error.kind(), std::io::ErrorKind::TimedOut);
            drop(ours);

            let (mut ours, theirs) = tokio::io::duplex(16);
            let mut patient = Patient::new(theirs, Duration::from_secs(60));
            let writer = tokio::spawn(async move { patient.write_all(&[1; 64]).await });
            for _ in 0..64 {
                tokio::time::sleep(Duration::from_millis(1)).await;
                tokio::io::AsyncReadExt::read_exact(&mut ours, &mut [0; 1]).await.unwrap();
            }
            writer.await.unwrap().unwrap();
        });
    }
}
