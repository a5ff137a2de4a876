//! The server: connections, limits, and what every request must pass before it is answered.

mod api;
mod body;
mod compat;
mod connections;
pub mod context;
mod events;
mod guard;
pub mod identity;
pub mod openapi;
mod owner;
mod page;
mod prometheus;
pub mod routes;
mod schemas;

pub use prometheus::text as metrics_text;

use crate::config::Listen;
use crate::service::Service;
use crate::share::Payer;
use crate::workers::WORKERS;
use anyhow::Context as _;
use connections::{Patient, Place, Room};
use guard::{Gate, Reply};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::{Body as _, Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use identity::Peer;
use std::convert::Infallible;
use std::future::Future;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};
use std::task::Poll;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, UnixListener};

/// The beginning of a request must come within this time …
const HEAD_TIME: Duration = Duration::from_secs(10);
/// … and be no longer than this.
const MAX_HEAD: usize = 16 << 10;
/// It costs much to read a longer body.
const LONG_BODY: usize = 64 << 10;

type Body = BoxBody<Bytes, Infallible>;

/// Listen and answer until told to stop.
pub fn serve(
    service: &Arc<Service>,
    stop: &Arc<AtomicBool>,
    ready: impl FnOnce(&[String]),
) -> anyhow::Result<()> {
    let most = descriptors();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .max_blocking_threads(WORKERS)
        .enable_all()
        .build()
        .context("no threads to serve with")?;
    let sockets = runtime.block_on(listen(service, most, ready))?;
    runtime.block_on(async {
        while !stop.load(Relaxed) {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    });
    runtime.shutdown_timeout(Duration::from_secs(1));
    drop(sockets);
    Ok(())
}

/// Take all descriptors that we may have; how many of them are for connections.
fn descriptors() -> usize {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    const OTHER_DESCRIPTORS: u64 = 256;
    let limit = getrlimit(Resource::Nofile);
    // Whoever set the limit knows why; what is left below it is ours.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum });
    let most = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    usize::try_from(most.saturating_sub(OTHER_DESCRIPTORS).max(16)).unwrap_or(usize::MAX)
}

/// Open all sockets before anything is served. The names of Unix sockets.
async fn listen(
    service: &Arc<Service>,
    most: usize,
    ready: impl FnOnce(&[String]),
) -> anyhow::Result<Vec<files::Bound>> {
    let room = Room::new(service, most);
    let mut names = Vec::new();
    let mut sockets = Vec::new();
    for listen in &service.config.listen {
        match listen {
            Listen::Tcp(address) => {
                let named = || format!("cannot listen on {address}");
                let listener = TcpListener::bind(address).await.with_context(named)?;
                let local = listener.local_addr()?;
                names.push(format!("http://{local}"));
                tokio::spawn(accept_tcp(Arc::clone(service), listener, room.clone()));
            }
            Listen::Unix(path) => {
                let named = || format!("cannot listen on {}", path.display());
                let (listener, bound) = crate::unix_socket::bind(path).with_context(named)?;
                names.push(format!("unix:{}", path.display()));
                sockets.push(bound);
                tokio::spawn(accept_unix(Arc::clone(service), listener, room.clone()));
            }
        }
    }
    if let Some(path) = &service.config.proxy_socket {
        let named = || format!("cannot listen on {}", path.display());
        let (listener, bound) = crate::unix_socket::bind(path).with_context(named)?;
        sockets.push(bound);
        tokio::spawn(crate::ingest::socket::serve(Arc::clone(service), listener, move |payer| {
            let place = room.try_take(payer)?;
            // It has no requests: it stays as long as its job.
            place.works();
            Some(place)
        }));
    }
    ready(&names);
    Ok(sockets)
}

async fn accept_tcp(service: Arc<Service>, listener: TcpListener, room: Room) {
    let mut last_error = None;
    loop {
        match listener.accept().await {
            Ok((stream, peer)) => {
                let Ok(local) = stream.local_addr() else { continue };
                let peer = Peer::Tcp { peer, local, uid: OnceLock::new() };
                let Some(place) = room.take(&peer.payer()).await else { continue };
                let _ = stream.set_nodelay(true);
                tokio::spawn(connection(Arc::clone(&service), stream, peer, place));
            }
            Err(error) => out_of_descriptors(&service, &mut last_error, &error).await,
        }
    }
}

async fn accept_unix(service: Arc<Service>, listener: UnixListener, room: Room) {
    let mut last_error = None;
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                let Ok(peer) = stream.peer_cred() else { continue };
                let peer = Peer::Unix { uid: peer.uid() };
                let Some(place) = room.take(&peer.payer()).await else { continue };
                tokio::spawn(connection(Arc::clone(&service), stream, peer, place));
            }
            Err(error) => out_of_descriptors(&service, &mut last_error, &error).await,
        }
    }
}

async fn out_of_descriptors(service: &Service, last: &mut Option<String>, error: &std::io::Error) {
    let text = format!("cannot take a connection: {error}");
    if last.as_ref() != Some(&text) {
        tracing::warn!("{text}");
        *last = Some(text);
    }
    service.stats.refused_connections.add(1);
    tokio::time::sleep(Duration::from_millis(50)).await;
}

async fn connection(
    service: Arc<Service>,
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    peer: Peer,
    place: Place,
) {
    let (peer, place) = (Arc::new(peer), Arc::new(place));
    let answer = service_fn(|request| {
        let (service, peer, place) = (Arc::clone(&service), Arc::clone(&peer), Arc::clone(&place));
        async move {
            place.works();
            let answer = answer(service, peer, request).await;
            // A stream of events goes on for as long as somebody watches.
            if !events::is_stream(&answer) {
                place.waits();
            }
            Ok::<_, Infallible>(answer)
        }
    });
    let served = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIME)
        .max_buf_size(MAX_HEAD)
        .serve_connection(TokioIo::new(Patient::new(stream, connections::WRITE_TIME)), answer);
    let (mut served, mut away) = (std::pin::pin!(served), std::pin::pin!(place.sent_away()));
    // A client that breaks off is no news.
    std::future::poll_fn(|context| {
        let over = served.as_mut().poll(context).is_ready() || away.as_mut().poll(context).is_ready();
        if over { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
}

/// What is answered to these bytes if somebody who runs as this user sends them and closes the connection:
/// for those who test with any bytes.
pub fn answered(service: &Arc<Service>, uid: u32, bytes: &[u8]) -> anyhow::Result<Vec<u8>> {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    const QUIET: Duration = Duration::from_millis(100);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let place = Room::new(service, 4).try_take(&Payer::User(uid)).context("no room for a connection")?;
    runtime.block_on(async {
        let (ours, theirs) = tokio::io::duplex(64 << 10);
        let served = tokio::spawn(connection(Arc::clone(service), theirs, Peer::Unix { uid }, place));
        let (mut reader, mut writer) = tokio::io::split(ours);
        let bytes = bytes.to_vec();
        let sent = tokio::spawn(async move {
            // A server that closes early has said all that it has to say.
            let _ = writer.write_all(&bytes).await;
            writer
        });
        let mut answer = Vec::new();
        if tokio::time::timeout(QUIET, reader.read_to_end(&mut answer)).await.is_err() {
            // It waits for more: there is none.
            if let Ok(mut writer) = sent.await {
                let _ = writer.shutdown().await;
            }
            let _ = tokio::time::timeout(3 * HEAD_TIME, reader.read_to_end(&mut answer)).await;
        }
        served.abort();
        Ok(answer)
    })
}

async fn answer(service: Arc<Service>, peer: Arc<Peer>, request: Request<Incoming>) -> Response<Body> {
    let head = request.method() == "HEAD";
    let (parts, body) = request.into_parts();
    let mut route = "none";
    // Who asks is known before a body is read.
    let admitted = match guard::admit(&service, &peer, &parts, body.is_end_stream(), &mut route) {
        Ok(Gate::Admitted(admitted)) => admitted,
        Ok(Gate::Reply(Reply::Answer(answer))) => return counted(&service, route, answer, head),
        Ok(Gate::Reply(Reply::Redirect(cookie))) => {
            service.stats.request(route, 303);
            return redirect(&cookie);
        }
        Ok(Gate::Reply(Reply::Events(who))) => return events::stream(&service, who),
        Err(fault) => return counted(&service, route, fault.answer(), head),
    };
    let payer = match admitted.who.name.as_str() {
        "nobody" if admitted.who.uid.is_none() => peer.payer(),
        _ => admitted.who.payer(),
    };
    let most = if admitted.is_push() { body::MAX_PUSH } else { body::MAX_BODY };
    let received = match body::receive(&service, &payer, body, most).await {
        Ok(received) => received,
        Err(fault) => return counted(&service, route, fault.answer(), head),
    };
    let costly = admitted.route.costly || received.bytes.len() > LONG_BODY;
    let turn = match service.workers.turn(&payer, service.config.standing(&payer), costly).await {
        Ok(turn) => turn,
        Err(full) => {
            service.stats.refusals.add(full.what, &payer, &full.to_string());
            return counted(&service, route, context::Fault::from(full).answer(), head);
        }
    };
    let worker = {
        let service = Arc::clone(&service);
        tokio::task::spawn_blocking(move || {
            // Whoever breaks off has had this turn until it is done.
            let _turn = turn;
            let body::Received { bytes, room } = received;
            let _room = room;
            admitted.answer(&service, bytes)
        })
    };
    let answer = match worker.await {
        Ok(answer) => answer.unwrap_or_else(|fault| fault.answer()),
        // A defect of ours must not end the service.
        Err(_) => context::Fault::new(500, "the answer failed: a defect of ftio serve").answer(),
    };
    counted(&service, route, answer, head)
}

fn counted(service: &Service, route: &'static str, answer: context::Answer, head: bool) -> Response<Body> {
    service.stats.request(route, answer.status);
    finished(answer, head)
}

fn refused(service: &Service, status: u16, text: &str) -> Response<Body> {
    service.stats.request("refused", status);
    finished(context::Fault::new(status, text).answer(), false)
}

/// With the headers that every answer has.
fn finished(answer: context::Answer, head: bool) -> Response<Body> {
    let length = answer.body.len();
    let bytes = if head { Bytes::new() } else { Bytes::from(answer.body) };
    let mut builder = Response::builder()
        .status(answer.status)
        .header("content-type", answer.kind)
        .header("content-security-policy", answer.policy.unwrap_or(guard::POLICY))
        .header("x-content-type-options", "nosniff")
        .header("referrer-policy", "no-referrer")
        .header("cache-control", if answer.cacheable { "max-age=3600" } else { "no-store" });
    if head {
        builder = builder.header("content-length", length);
    }
    if answer.status == 405 {
        builder = builder.header("allow", "POST");
    }
    if answer.status == 429 {
        builder = builder.header("retry-after", "1");
    }
    if answer.status == 401 {
        builder = builder.header("www-authenticate", "Bearer");
    }
    builder.body(Full::new(bytes).boxed()).unwrap_or_default()
}

/// The token leaves the address bar and becomes a cookie.
fn redirect(cookie: &str) -> Response<Body> {
    Response::builder()
        .status(303)
        .header("location", "/")
        .header("set-cookie", cookie)
        .header("referrer-policy", "no-referrer")
        .header("cache-control", "no-store")
        .body(Full::new(Bytes::new()).boxed())
        .unwrap_or_default()
}
