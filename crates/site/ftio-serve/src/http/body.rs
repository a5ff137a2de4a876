//! The body of a request, received for somebody who is known: what has arrived counts, not what is announced.

use super::context::Fault;
use crate::service::Service;
use crate::share::{Part, Payer};
use http_body_util::BodyExt;
use hyper::body::{Body as _, Bytes, Incoming};
use std::time::Duration;

/// A body must be there within this time.
const BODY_TIME: Duration = Duration::from_secs(30);
/// A body is no longer, …
pub const MAX_BODY: usize = 1 << 20;
/// … unless it is a push.
pub const MAX_PUSH: usize = 8 << 20;

/// A body, and the room that it takes.
#[derive(Debug)]
pub struct Received {
    pub bytes: Vec<u8>,
    pub room: Part,
}

/// Receive a body of at most this length.
pub async fn receive(
    service: &Service,
    payer: &Payer,
    mut body: Incoming,
    most: usize,
) -> Result<Received, Fault> {
    let announced = body.size_hint().upper();
    if announced.is_some_and(|length| length > most as u64) {
        drain(body).await;
        return Err(Fault::new(413, "the body is too long"));
    }
    let mut room = service.bodies.take(payer, service.config.standing(payer), 0)?;
    let mut bytes = Vec::new();
    let whole = async {
        while let Some(frame) = body.frame().await {
            let Ok(frame) = frame else { return Err(Fault::new(400, "the body was broken off")) };
            let Some(data) = frame.data_ref() else { continue };
            if bytes.len() + data.len() > most {
                return Err(Fault::new(413, "the body is too long"));
            }
            bytes.reserve(data.len());
            room.set(bytes.capacity()).map_err(|full| {
                service.stats.refusals.add(full.what, payer, &full.to_string());
                Fault::from(full)
            })?;
            bytes.extend_from_slice(data);
        }
        Ok(())
    };
    let received = tokio::time::timeout(BODY_TIME, whole).await;
    match received {
        Ok(Ok(())) => Ok(Received { bytes, room }),
        Ok(Err(fault)) => {
            drop((bytes, room));
            drain(body).await;
            Err(fault)
        }
        Err(_) => Err(Fault::new(408, "the body did not come in time")),
    }
}

/// A client that is still sending when the connection is closed would not see the answer: what it sends is
/// thrown away for a while.
pub async fn drain(mut body: Incoming) {
    const A_WHILE: Duration = Duration::from_secs(2);
    let thrown = async {
        let mut left = 4 * MAX_PUSH;
        while let Some(Ok(frame)) = body.frame().await {
            left = left.saturating_sub(frame.data_ref().map_or(0, Bytes::len));
            if left == 0 {
                break;
            }
        }
    };
    let _ = tokio::time::timeout(A_WHILE, thrown).await;
}
