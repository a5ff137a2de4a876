//! The socket of the metric proxy's clients: JSON objects, each followed by a NUL byte.
//!
//! `{"JobDesc":{…}}` comes first, then `{"Desc":{"name","doc","ctype"}}` for each counter, and every period
//! `{"Value":{"name","value":ctype}}` with what was added. Who is at the other end is known from the kernel.

use super::finished;
use super::push::{self, NotTaken, PushKind};
use crate::job::{JobDesc, LONGEST_NAME, Origin, State, clean};
use crate::live::MAX_METRICS;
use crate::service::{Service, now};
use crate::share::Payer;
use serde::Deserialize;
use std::collections::HashMap;
use std::sync::Arc;
use tokio::io::AsyncReadExt;
use tokio::net::{UnixListener, UnixStream};

/// No message is longer; a client that sends more without a NUL is cut off.
const MAX_MESSAGE: usize = 1 << 20;

/// Bytes that a description takes beside its texts.
const DOC: usize = 128;

/// How a value comes.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
pub enum CType {
    Counter {
        #[serde(default)]
        ts: u64,
        value: f64,
    },
    Gauge {
        #[serde(default)]
        min: f64,
        #[serde(default)]
        max: f64,
        hits: f64,
        total: f64,
    },
}

/// One message.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub enum Message {
    JobDesc(JobDesc),
    Desc {
        name: String,
        #[serde(default)]
        doc: String,
        #[serde(default)]
        ctype: Option<CType>,
    },
    Value {
        name: String,
        value: CType,
    },
}

/// Takes bytes as they come and gives whole messages.
#[derive(Debug, Default)]
pub struct Messages {
    waiting: Vec<u8>,
}

impl Messages {
    /// The messages that these bytes complete. `Err`: the client does not speak this language.
    pub fn take(&mut self, bytes: &[u8]) -> Result<Vec<Message>, String> {
        self.waiting.extend_from_slice(bytes);
        let mut messages = Vec::new();
        let mut rest = 0;
        while let Some(length) = self.waiting[rest..].iter().position(|byte| *byte == 0) {
            let message = &self.waiting[rest..rest + length];
            rest += length + 1;
            if !message.is_empty() {
                messages.push(serde_json::from_slice(message).map_err(|error| error.to_string())?);
            }
        }
        self.waiting.drain(..rest);
        if self.waiting.len() > MAX_MESSAGE {
            return Err(format!("more than {MAX_MESSAGE} bytes without a NUL"));
        }
        Ok(messages)
    }
}

/// Take clients, as long as there is room for them.
pub async fn serve<P: Send + 'static>(
    service: Arc<Service>,
    listener: UnixListener,
    room: impl Fn(&Payer) -> Option<P> + Send,
) {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                let Ok(peer) = stream.peer_cred() else { continue };
                let Some(place) = room(&Payer::User(peer.uid())) else {
                    service.stats.refused_connections.add(1);
                    continue;
                };
                let service = Arc::clone(&service);
                tokio::spawn(async move {
                    client(service, stream, peer.uid()).await;
                    drop(place);
                });
            }
            Err(_) => tokio::time::sleep(std::time::Duration::from_millis(100)).await,
        }
    }
}

async fn client(service: Arc<Service>, mut stream: UnixStream, uid: u32) {
    let payer = Payer::User(uid);
    let standing = service.config.standing(&payer);
    // What is kept of a client counts as its user's.
    let Ok(mut kept) = service.bodies.take(&payer, standing, 0) else { return };
    let mut messages = Messages::default();
    let mut client = Client { owner: Some(uid), job: None, docs: HashMap::new(), length: 0 };
    let mut buffer = vec![0; 16 << 10];
    loop {
        let length = match stream.read(&mut buffer).await {
            Ok(0) | Err(_) => break,
            Ok(length) => length,
        };
        let taken = messages.take(&buffer[..length]);
        if let Err(full) = kept.set(messages.waiting.capacity() + client.length) {
            service.stats.refusals.add(full.what, &payer, &full.to_string());
            break;
        }
        let done = match taken {
            Ok(some) if some.is_empty() => Ok(()),
            // The disk may have to be waited for, and others of the same user.
            Ok(some) => match service.workers.turn(&payer, standing, false).await {
                Ok(turn) => {
                    let service = Arc::clone(&service);
                    let work = tokio::task::spawn_blocking(move || {
                        let done = some.into_iter().try_for_each(|one| client.take(&service, one));
                        drop(turn);
                        (client, done)
                    });
                    let Ok((again, done)) = work.await else { return };
                    client = again;
                    done
                }
                Err(full) => Err(full.into()),
            },
            Err(text) => Err(NotTaken::from(text)),
        };
        match done {
            Ok(()) => {}
            // That is not the client's fault, or it is told so in other ways: its job goes on.
            Err(NotTaken::NotStored(_) | NotTaken::TooMuch(_)) => {
                service.stats.push_errors.add(1);
            }
            Err(NotTaken::Wrong(_)) => {
                service.stats.push_errors.add(1);
                break;
            }
        }
    }
    let _ = tokio::task::spawn_blocking(move || client.left(&service)).await;
}

struct Client {
    owner: Option<u32>,
    job: Option<i64>,
    docs: HashMap<String, String>,
    /// Bytes of these.
    length: usize,
}

impl Client {
    fn take(&mut self, service: &Service, message: Message) -> Result<(), NotTaken> {
        match message {
            Message::JobDesc(desc) => {
                let id = push::job(service, desc, Origin::Push, self.owner, None)?;
                if self.job != Some(id)
                    && let Some(job) = service.running().jobs.get_mut(&id)
                {
                    job.connections += 1;
                    job.by_our_clock = true;
                }
                self.job = Some(id);
                Ok(())
            }
            Message::Desc { name, doc, .. } => {
                let (name, doc) = (clean(&name, LONGEST_NAME), clean(&doc, LONGEST_NAME));
                if self.docs.len() < MAX_METRICS && !self.docs.contains_key(&name) {
                    self.length += name.len() + doc.len() + DOC;
                    self.docs.insert(name, doc);
                }
                Ok(())
            }
            Message::Value { name, value } => {
                let id = self.job.ok_or("expected a JobDesc first")?;
                let start =
                    service.running().jobs.get(&id).map(|job| job.row.start).ok_or("the job has ended")?;
                let (kind, value) = match value {
                    CType::Counter { value, .. } => (PushKind::Increment, value),
                    CType::Gauge { hits, total, .. } if hits > 0.0 => (PushKind::Gauge, total / hits),
                    CType::Gauge { .. } => return Ok(()),
                };
                let docs = |name: &str| self.docs.get(name).cloned().unwrap_or_default();
                let values = std::iter::once((name.as_str(), kind, value));
                push::apply(service, id, now() - start, values, docs)?.settled(service).map(|_| ())
            }
        }
    }

    /// The connection is closed: with the last one the job ends.
    fn left(&self, service: &Service) {
        let Some(id) = self.job else { return };
        let last = match service.running().jobs.get_mut(&id) {
            Some(job) => {
                job.connections = job.connections.saturating_sub(1);
                job.connections == 0
            }
            None => false,
        };
        if last {
            let done = finished::pushed(service, id, State::Finished);
            service.stored(done);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const STREAM: &str = "{\"JobDesc\":{\"jobid\":\"1\",\"command\":\"grün\",\"size\":4}}\0\
        {\"Desc\":{\"name\":\"a\",\"doc\":\"b\",\"ctype\":{\"Counter\":{\"ts\":0,\"value\":0}}}}\0\
        {\"Value\":{\"name\":\"a\",\"value\":{\"Counter\":{\"ts\":1,\"value\":2.5}}}}\0";

    #[test]
    fn messages_may_be_split_anywhere() {
        let whole = Messages::default().take(STREAM.as_bytes()).unwrap();
        assert_eq!(whole.len(), 3);
        for at in 0..STREAM.len() {
            let mut messages = Messages::default();
            let mut all = messages.take(&STREAM.as_bytes()[..at]).unwrap();
            all.extend(messages.take(&STREAM.as_bytes()[at..]).unwrap());
            assert_eq!(all, whole, "split at {at}");
        }
    }

    #[test]
    fn a_client_without_end_is_cut_off() {
        let mut messages = Messages::default();
        let piece = vec![b' '; 1 << 19];
        assert!((0..4).any(|_| messages.take(&piece).is_err()));
    }

    proptest! {
        #[test]
        fn any_bytes_are_no_danger(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let _ = Messages::default().take(&bytes);
        }
    }
}
