//! What a request must pass: the name of the server, where it comes from, who asks, and whether they may.

use super::context::{Answer, Context, Fault, Identity, Result, parse_query};
use super::identity::{Credentials, Peer, identify};
use super::routes::{self, Matched, Method};
use crate::config::Listen;
use crate::service::Service;
use crate::viewer::Role;
use hyper::body::Bytes;
use hyper::http::request::Parts;
use serde_json::Value;
use std::sync::Arc;

/// Scripts, styles and data of our own, and nothing else.
pub const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
                          connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

const COOKIE: &str = "ftio_token";

/// Headers that may be there once: of two, a proxy before us might mean the other one.
const SINGLE: [&str; 7] =
    ["host", "origin", "authorization", "x-remote-user", "content-type", "sec-fetch-site", "sec-fetch-mode"];

/// A request, whole.
#[derive(Debug)]
pub struct Asked {
    pub parts: Parts,
    pub body: Bytes,
}

/// What becomes of it.
#[derive(Debug)]
pub enum Reply {
    Answer(Answer),
    /// To the page, with this cookie.
    Redirect(String),
    Events(Identity),
}

impl Asked {
    fn header(&self, name: &str) -> Option<&str> {
        self.parts.headers.get(name)?.to_str().ok()
    }

    fn cookie(&self) -> Option<String> {
        let cookies = self.header("cookie")?.split(';');
        cookies
            .filter_map(|one| one.trim().split_once('='))
            .find(|(name, _)| *name == COOKIE)
            .map(|(_, v)| v.to_owned())
    }

    fn bearer(&self) -> Option<String> {
        let (scheme, token) = self.header("authorization")?.split_once(' ')?;
        scheme.eq_ignore_ascii_case("bearer").then(|| token.trim().to_owned())
    }

    /// Headers that somebody else could read in another way.
    fn check_headers(&self) -> Result<()> {
        for name in SINGLE {
            let mut all = self.parts.headers.get_all(name).iter();
            let first = all.next();
            if all.next().is_some() || first.is_some_and(|value| value.to_str().is_err()) {
                return Err(Fault::new(400, format!("{name}: given twice, or no text")));
            }
        }
        Ok(())
    }
}

/// Answer a request. Runs on a thread that may wait for a disk.
pub fn answer(service: &Arc<Service>, peer: &Peer, asked: Asked) -> Reply {
    let mut route = "none";
    let reply = reply(service, peer, &asked, &mut route);
    let (reply, status) = match reply {
        Ok(Reply::Answer(answer)) => {
            let status = answer.status;
            (Reply::Answer(answer), status)
        }
        Ok(other) => (other, 200),
        Err(fault) => {
            if fault.damage {
                service.notice_damage();
            }
            (Reply::Answer(fault.answer()), fault.status)
        }
    };
    service.stats.request(route, status);
    reply
}

fn reply(service: &Arc<Service>, peer: &Peer, asked: &Asked, name: &mut &'static str) -> Result<Reply> {
    asked.check_headers()?;
    if matches!(peer, Peer::Tcp { .. }) {
        check_host(service, asked)?;
    }
    let path = asked.parts.uri.path().to_owned();
    let query =
        parse_query(asked.parts.uri.query().unwrap_or_default()).map_err(|text| Fault::new(400, text))?;
    if let Some(asset) = super::page::asset(service, &path) {
        *name = "asset";
        return Ok(Reply::Answer(asset));
    }
    let method = asked.parts.method.as_str();
    let (route, places) = match routes::find(method, &path, service.config.compat_get) {
        Matched::Found(route, places) => (route, places),
        Matched::OtherMethod => {
            let text = "what changes something needs POST (or start ftio serve with --compat-get)";
            return Err(Fault::new(405, text));
        }
        Matched::Nothing => return Err(Fault::new(404, "no such path; / is the page")),
    };
    *name = route.path;
    let changes = route.method != Method::Get;
    let by_get = changes && method == "GET";
    check_origin(asked, changes)?;
    // The first visit, with a token in the address.
    let given = query.iter().find(|(key, _)| key == "token").map(|(_, token)| token.clone());
    if path == "/"
        && let Some(token) = &given
    {
        let said = Credentials { token: Some(token.clone()), remote_user: None };
        identify(&service.config, peer, &said)?;
        let cookie = format!("{COOKIE}={token}; HttpOnly; SameSite=Strict; Path=/");
        return Ok(Reply::Redirect(cookie));
    }
    let (bearer, cookie) = (asked.bearer(), asked.cookie());
    let needs_form = changes && !by_get && bearer.is_none();
    let is_json = asked.header("content-type").is_some_and(|kind| kind.starts_with("application/json"));
    let is_protobuf = asked.header("content-type") == Some("application/x-protobuf");
    if needs_form && !is_json && !is_protobuf && !asked.body.is_empty() {
        return Err(Fault::new(415, "expected Content-Type: application/json"));
    }
    let remote_user = asked.header("x-remote-user").map(str::to_owned);
    let said = Credentials { token: bearer.or(cookie), remote_user };
    let who = match identify(&service.config, peer, &said) {
        Ok(who) => who,
        Err(_) if route.needs == routes::Needs::Nothing => {
            Identity { name: "nobody".into(), role: Role::Metrics, uid: None }
        }
        Err(fault) => return Err(fault),
    };
    if !route.needs.allow(who.role) {
        return Err(Fault::new(403, "not allowed"));
    }
    if route.path == routes::EVENTS {
        return Ok(Reply::Events(who));
    }
    // These are read without a detour, since they may be long.
    let raw = [routes::REMOTE_WRITE, routes::PUSH].contains(&route.path);
    let body = match asked.body.is_empty() || raw {
        true => Value::Null,
        false => serde_json::from_slice(&asked.body)
            .map_err(|error| Fault::new(400, format!("not JSON: {error}")))?,
    };
    let bytes = if raw { asked.body.to_vec() } else { Vec::new() };
    let accept = asked.header("accept").unwrap_or_default().to_owned();
    let context = Context { service: Arc::clone(service), who, path, places, query, body, bytes, accept };
    (route.run)(&context).map(Reply::Answer)
}

/// A page of somebody else that calls itself by our address must not be answered (DNS rebinding).
fn check_host(service: &Service, asked: &Asked) -> Result<()> {
    let hosts = [asked.header("host"), asked.parts.uri.authority().map(|name| name.as_str())];
    let known = hosts.iter().flatten().all(|host| is_own_name(service, host));
    match known && hosts.iter().any(Option::is_some) {
        true => Ok(()),
        false => Err(Fault::new(421, "not the name of this server; --host adds names")),
    }
}

fn is_own_name(service: &Service, host: &str) -> bool {
    // Without the port; in brackets if it is of version 6.
    let host = host.to_ascii_lowercase();
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    let own = service.config.listen.iter().any(|listen| match listen {
        Listen::Tcp(address) => !address.ip().is_unspecified() && address.ip().to_string() == name,
        Listen::Unix(_) => false,
    });
    let known = ["localhost", "127.0.0.1", "::1"].contains(&name) || own;
    known || service.config.hosts.iter().any(|host| host.eq_ignore_ascii_case(name))
}

/// Pages of others may not ask anything.
fn check_origin(asked: &Asked, changes: bool) -> Result<()> {
    let foreign = Fault::new(403, "asked by a page of another server");
    let site = asked.header("sec-fetch-site").unwrap_or("none");
    let navigates = asked.header("sec-fetch-mode") == Some("navigate") && !changes;
    if !["same-origin", "none"].contains(&site) && !navigates {
        return Err(foreign);
    }
    match asked.header("origin") {
        None => Ok(()),
        Some(origin) => {
            let own = origin.split_once("://").map(|(_, host)| host);
            if own.is_some() && own == asked.header("host") { Ok(()) } else { Err(foreign) }
        }
    }
}
