//! What a request must pass: the name of the server, where it comes from, who asks, and whether they may.

use super::context::{Answer, Context, Fault, Identity, Result, parse_query};
use super::identity::{Credentials, Peer, identify};
use super::routes::{self, Matched, Method, Route};
use crate::config::Listen;
use crate::service::Service;
use crate::viewer::Role;
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

/// A request without its body.
#[derive(Debug)]
struct Asked<'a> {
    parts: &'a Parts,
    /// There is no body.
    empty: bool,
}

/// What becomes of a request at once.
#[derive(Debug)]
pub enum Reply {
    Answer(Answer),
    /// To the page, with this cookie.
    Redirect(String),
    Events(Identity),
}

/// What is done with a request.
#[derive(Debug)]
pub enum Gate {
    Reply(Reply),
    Admitted(Box<Admitted>),
}

/// A request that is answered when its body is there.
#[derive(Debug)]
pub struct Admitted {
    pub who: Identity,
    pub route: &'static Route,
    places: Vec<String>,
    path: String,
    query: Vec<(String, String)>,
    accept: String,
}

impl Asked<'_> {
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

/// Look at the head of a request: who asks is known, and whether they may, before anything else of it is
/// read. `name` becomes that of the route.
pub fn admit(
    service: &Arc<Service>,
    peer: &Peer,
    parts: &Parts,
    empty: bool,
    name: &mut &'static str,
) -> Result<Gate> {
    let asked = Asked { parts, empty };
    asked.check_headers()?;
    if matches!(peer, Peer::Tcp { .. }) {
        check_host(service, &asked)?;
    }
    let path = asked.parts.uri.path().to_owned();
    let query =
        parse_query(asked.parts.uri.query().unwrap_or_default()).map_err(|text| Fault::new(400, text))?;
    if let Some(asset) = super::page::asset(&path) {
        *name = "asset";
        return Ok(Gate::Reply(Reply::Answer(asset)));
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
    check_origin(&asked, changes)?;
    // The first visit, with a token in the address.
    let given = query.iter().find(|(key, _)| key == "token").map(|(_, token)| token.clone());
    if path == "/"
        && let Some(token) = &given
    {
        let said = Credentials { token: Some(token.clone()), remote_user: None };
        identify(&service.config, peer, &said)?;
        let cookie = format!("{COOKIE}={token}; HttpOnly; SameSite=Strict; Path=/");
        return Ok(Gate::Reply(Reply::Redirect(cookie)));
    }
    let (bearer, cookie) = (asked.bearer(), asked.cookie());
    let needs_form = changes && !by_get && bearer.is_none();
    let is_json = asked.header("content-type").is_some_and(|kind| kind.starts_with("application/json"));
    let is_protobuf = asked.header("content-type") == Some("application/x-protobuf");
    if needs_form && !is_json && !is_protobuf && !asked.empty {
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
        return Ok(Gate::Reply(Reply::Events(who)));
    }
    let accept = asked.header("accept").unwrap_or_default().to_owned();
    Ok(Gate::Admitted(Box::new(Admitted { who, route, places, path, query, accept })))
}

impl Admitted {
    /// Is it read without a detour, since it may be long?
    pub fn is_push(&self) -> bool {
        [routes::REMOTE_WRITE, routes::PUSH].contains(&self.route.path)
    }

    /// Answer it. Runs on a thread that may wait for a disk.
    pub fn answer(self, service: &Arc<Service>, bytes: Vec<u8>) -> Result<Answer> {
        let raw = self.is_push();
        let body = match bytes.is_empty() || raw {
            true => Value::Null,
            false => serde_json::from_slice(&bytes)
                .map_err(|error| Fault::new(400, format!("not JSON: {error}")))?,
        };
        let bytes = if raw { bytes } else { Vec::new() };
        let Admitted { who, route, places, path, query, accept } = self;
        let context = Context { service: Arc::clone(service), who, path, places, query, body, bytes, accept };
        let answer = (route.run)(&context);
        if answer.as_ref().is_err_and(|fault| fault.damage) {
            service.notice_damage();
        }
        answer
    }
}

/// A page of somebody else that calls itself by our address must not be answered (DNS rebinding).
fn check_host(service: &Service, asked: &Asked<'_>) -> Result<()> {
    let hosts = [asked.header("host"), asked.parts.uri.authority().map(|name| name.as_str())];
    let known = hosts.iter().flatten().all(|host| is_own_name(service, host));
    match known && hosts.iter().any(Option::is_some) {
        true => Ok(()),
        false => Err(Fault::new(421, "not the name of this server; --host adds names")),
    }
}

fn is_own_name(service: &Service, host: &str) -> bool {
    let Some(name) = host_name(host) else { return false };
    let own = service.config.listen.iter().any(|listen| match listen {
        Listen::Tcp(address) => !address.ip().is_unspecified() && address.ip().to_string() == name,
        Listen::Unix(_) => false,
    });
    let known = ["localhost", "127.0.0.1", "::1"].contains(&name.as_str()) || own;
    known || service.config.hosts.iter().any(|host| host.eq_ignore_ascii_case(&name))
}

/// The name in `NAME` or `NAME:PORT`, without the brackets that an address of version 6 has. `None`: it is
/// nothing of that kind, whatever it begins with.
fn host_name(host: &str) -> Option<String> {
    let (name, rest) = match host.strip_prefix('[') {
        Some(inside) => {
            let (name, rest) = inside.split_once(']')?;
            name.parse::<std::net::Ipv6Addr>().ok()?;
            (name, rest)
        }
        None => host.find(':').map_or((host, ""), |at| host.split_at(at)),
    };
    let port = match rest.strip_prefix(':') {
        Some(port) => !port.is_empty() && port.len() <= 5 && port.bytes().all(|byte| byte.is_ascii_digit()),
        None => rest.is_empty(),
    };
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._:".contains(&byte);
    (port && !name.is_empty() && name.bytes().all(plain)).then(|| name.to_ascii_lowercase())
}

/// Pages of others may not ask anything.
fn check_origin(asked: &Asked<'_>, changes: bool) -> Result<()> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_a_name_and_perhaps_a_port() {
        for (host, name) in [
            ("localhost", "localhost"),
            ("LocalHost:80", "localhost"),
            ("127.0.0.1:1337", "127.0.0.1"),
            ("[::1]", "::1"),
            ("[::1]:1337", "::1"),
            ("ftio.example.org:443", "ftio.example.org"),
        ] {
            assert_eq!(host_name(host).as_deref(), Some(name), "{host}");
        }
        for wrong in [
            "",
            ":80",
            "localhost:",
            "localhost:80@evil.com",
            "localhost:evil.com",
            "localhost:80:80",
            "localhost:123456",
            "localhost:+80",
            "localhost/x",
            "localhost evil.com",
            "user@localhost",
            "localhost,evil.com",
            "[::1",
            "[::1]x",
            "[::1]:",
            "[::1]evil.com:80",
            "[localhost]",
            "::1",
            "localhost#",
            "localhost%00.evil.com",
        ] {
            assert_eq!(host_name(wrong), None, "{wrong}");
        }
    }
}
