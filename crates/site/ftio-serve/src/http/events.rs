//! Server-sent events: a stream for each watcher, with what they may see.

use super::Body;
use super::connections::WRITE_TIME;
use super::context::Identity;
use crate::lock::locked;
use crate::service::{About, Event, Service, listed};
use crate::viewer::Viewer;
use http_body_util::BodyExt;
use hyper::Response;
use hyper::body::{Body as HttpBody, Bytes, Frame};
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::mpsc;

/// A line that says nothing, so that proxies keep the connection.
const PULSE: Duration = Duration::from_secs(15);
/// Pieces that a slow watcher may be behind.
const BEHIND: usize = 2;
const KIND: &str = "text/event-stream";

struct Stream(mpsc::Receiver<Bytes>);

impl HttpBody for Stream {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.0.poll_recv(context).map(|bytes| bytes.map(|bytes| Ok(Frame::data(bytes))))
    }
}

/// Is that an answer of this kind?
pub fn is_stream(answer: &Response<Body>) -> bool {
    answer.headers().get("content-type").is_some_and(|kind| kind == KIND)
}

/// The stream for somebody.
pub fn stream(service: &Arc<Service>, who: Identity) -> Response<Body> {
    let payer = who.payer();
    let place = match service.watchers.take(&payer, service.config.standing(&payer), 1) {
        Ok(place) => place,
        Err(full) => {
            service.stats.refusals.add(full.what, &payer, &full.to_string());
            return super::refused(service, 429, &full.to_string());
        }
    };
    service.stats.request(super::routes::EVENTS, 200);
    service.stats.watchers.add(1);
    let (sender, receiver) = mpsc::channel(BEHIND);
    let service = Arc::clone(service);
    tokio::spawn(async move {
        forward(&service, &who.viewer(), sender).await;
        service.stats.watchers.take(1);
        drop(place);
    });
    Response::builder()
        .header("content-type", KIND)
        .header("cache-control", "no-store")
        .header("x-accel-buffering", "no")
        .header("x-content-type-options", "nosniff")
        .body(Stream(receiver).boxed())
        .unwrap_or_default()
}

async fn forward(service: &Service, viewer: &Viewer, sender: mpsc::Sender<Bytes>) {
    let mut events = service.events.subscribe();
    if sender.send(Bytes::from_static(b"retry: 3000\n\n")).await.is_err() {
        return;
    }
    loop {
        let text = match tokio::time::timeout(PULSE, events.recv()).await {
            Err(_) => Bytes::from_static(b": still here\n\n"),
            Ok(Ok(event)) => match shown(&event, viewer) {
                Some(text) => text,
                None => continue,
            },
            // What was missed is in the next sum.
            Ok(Err(RecvError::Lagged(_))) => continue,
            Ok(Err(RecvError::Closed)) => return,
        };
        // One who does not read any more is no watcher.
        let sent = tokio::time::timeout(WRITE_TIME, sender.send(text)).await;
        if !matches!(sent, Ok(Ok(()))) {
            return;
        }
    }
}

/// An event as the watcher may see it; `None`: not at all. All who see the same share one text.
fn shown(event: &Event, viewer: &Viewer) -> Option<Bytes> {
    let own = match &event.about {
        About::One { owner, .. } if !viewer.sees(*owner) => return None,
        About::One { .. } => None,
        About::Jobs { .. } => viewer.uid.filter(|_| !viewer.all),
    };
    let mut made = locked(&event.made);
    let text = made.entry((viewer.all, own)).or_insert_with(|| {
        let data = match &event.about {
            About::One { text, .. } => text.clone(),
            About::Jobs { time, jobs } => {
                let own = jobs.iter().filter(|(owner, _)| viewer.sees(*owner)).map(|(_, job)| job.as_str());
                listed(*time, own.take(crate::service::MAX_TOLD))
            }
        };
        Bytes::from(format!("id: {}\nevent: {}\ndata: {data}\n\n", event.id, event.name))
    });
    Some(text.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn watchers_see_their_own_jobs() {
        let jobs = vec![(Some(5), "{\"id\":1}".to_owned()), (None, "{\"id\":2}".to_owned())];
        let event = Event::new(9, "jobs", About::Jobs { time: 1.5, jobs });
        let own = shown(&event, &Viewer { all: false, uid: Some(5) }).unwrap();
        assert_eq!(own, "id: 9\nevent: jobs\ndata: {\"time\":1.5,\"jobs\":[{\"id\":1}]}\n\n");
        let again = shown(&event, &Viewer { all: false, uid: Some(5) }).unwrap();
        assert_eq!(again.as_ptr(), own.as_ptr(), "all who see the same share one text");
        let all = shown(&event, &Viewer::ALL).unwrap();
        assert!(all.ends_with(b"[{\"id\":1},{\"id\":2}]}\n\n"), "{all:?}");
        for nobody in [Some(7), None] {
            let none = shown(&event, &Viewer { all: false, uid: nobody }).unwrap();
            assert!(none.ends_with(b"\"jobs\":[]}\n\n"), "{none:?}");
        }
        let about = About::One { owner: Some(6), text: "{}".into() };
        assert!(shown(&Event::new(9, "began", about), &Viewer { all: false, uid: Some(5) }).is_none());
    }
}
