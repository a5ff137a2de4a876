//! Who is at the other end of a connection.
//!
//! The kernel knows: of a Unix socket by its credentials, and of a connection from this machine by its list
//! of connections, which names the user of each. So loopback needs no password, and yet nobody sees the jobs
//! of others. Elsewhere it is a token, or a proxy that is trusted to say.

use super::context::{Fault, Identity, Result};
use super::owner::owner_of;
use crate::config::Config;
use crate::share::Payer;
use crate::users;
use crate::viewer::Role;
use std::net::SocketAddr;
use std::sync::OnceLock;

/// The other end.
#[derive(Debug)]
pub enum Peer {
    Tcp {
        peer: SocketAddr,
        local: SocketAddr,
        /// The user, once known.
        uid: OnceLock<u32>,
    },
    Unix {
        uid: u32,
    },
}

impl Peer {
    /// Who pays for the connection, as far as that is known before anything is said.
    pub fn payer(&self) -> Payer {
        match (self.uid(), self) {
            (Some(uid), _) => Payer::User(uid),
            (None, Peer::Unix { uid }) => Payer::User(*uid),
            (None, Peer::Tcp { peer, .. }) => Payer::Address(peer.ip()),
        }
    }

    /// The user, if the kernel says.
    fn uid(&self) -> Option<u32> {
        match self {
            Peer::Unix { uid } => Some(*uid),
            Peer::Tcp { peer, local, uid } => {
                if !peer.ip().is_loopback() {
                    return None;
                }
                if let Some(uid) = uid.get() {
                    return Some(*uid);
                }
                // Somebody who cannot be found now may be found later.
                let found = owner_of(peer, local)?;
                Some(*uid.get_or_init(|| found))
            }
        }
    }
}

/// What a request says about who sends it.
#[derive(Clone, Debug, Default)]
pub struct Credentials {
    /// `Authorization: Bearer`, or the cookie.
    pub token: Option<String>,
    /// `X-Remote-User`.
    pub remote_user: Option<String>,
}

/// Who asks. 401 if that is not known.
pub fn identify(config: &Config, peer: &Peer, said: &Credentials) -> Result<Identity> {
    if let Some(token) = &said.token {
        return with_token(config, token);
    }
    let uid = peer.uid();
    let trusted = match peer {
        Peer::Tcp { peer, .. } if !peer.ip().is_loopback() => config.trusted_proxies.contains(&peer.ip()),
        _ => uid.is_some_and(|uid| config.trusted_users.contains(&uid)),
    };
    if trusted {
        let name = said.remote_user.as_deref().unwrap_or_default();
        return match users::uid(name) {
            Some(uid) => Ok(local(config, uid)),
            None => Err(Fault::new(401, "the proxy does not say who asks, or there is no such user")),
        };
    }
    uid.map(|uid| local(config, uid)).ok_or_else(|| Fault::new(401, "a token is needed"))
}

/// A user of this machine. Who runs the service, and root, may do everything.
fn local(config: &Config, uid: u32) -> Identity {
    let own = rustix::process::geteuid().as_raw();
    let usual = if uid == own || uid == 0 { Role::Admin } else { Role::User };
    let role = config.roles.get(&uid).copied().unwrap_or(usual);
    Identity { name: users::name(uid), role, uid: Some(uid) }
}

fn with_token(config: &Config, given: &str) -> Result<Identity> {
    // All are compared to their ends, so that the time tells nothing.
    let mut found = None;
    for (token, access) in &config.tokens {
        let same_length = token.len() == given.len();
        let different = token.bytes().zip(given.bytes()).fold(0, |sum, (a, b)| sum | (a ^ b));
        if same_length && different == 0 {
            found = Some(access);
        }
    }
    let access = found.ok_or_else(|| Fault::new(401, "no such token"))?;
    Ok(Identity { name: access.name.clone(), role: access.role, uid: access.uid })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn other_users_see_their_own() {
        let mut config = Config::new(Path::new("x"));
        let peer = Peer::Unix { uid: 4_000_000 };
        let who = identify(&config, &peer, &Credentials::default()).unwrap();
        assert_eq!((who.role, who.viewer().all), (Role::User, false));
        // What a client says about itself counts for nothing, unless it is a proxy that we trust.
        let said = Credentials { token: None, remote_user: Some("root".into()) };
        assert_eq!(identify(&config, &peer, &said).unwrap().role, Role::User);
        config.trusted_users.push(4_000_000);
        assert_eq!(identify(&config, &peer, &said).unwrap().role, Role::Admin);
        assert_eq!(identify(&config, &peer, &Credentials::default()).unwrap_err().status, 401);
        let token = Credentials { token: Some("x".into()), remote_user: None };
        assert_eq!(identify(&config, &peer, &token).unwrap_err().status, 401);
    }
}
