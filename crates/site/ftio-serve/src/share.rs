//! Who pays for what all users of the service share; how much one may have is the rule of `fair-share`.

use crate::users;
pub use fair_share::{Full, Standing};
use std::fmt;
use std::net::IpAddr;

/// Something that is shared, and who has how much of it.
pub type Shared = fair_share::Shared<Payer>;
/// The same for several threads.
pub type Pot = fair_share::Pot<Payer>;
/// What somebody has taken.
pub type Part = fair_share::Part<Payer>;

/// Who pays for something.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Payer {
    User(u32),
    /// A token that belongs to no user of this machine, by its name; without one, any such.
    Token(String),
    /// Somebody of whom nothing else is known.
    Address(IpAddr),
}

impl Payer {
    /// The owner of a job.
    pub fn owner(owner: Option<u32>) -> Self {
        owner.map_or_else(|| Payer::Token(String::new()), Payer::User)
    }
}

impl fmt::Display for Payer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Payer::User(uid) => f.write_str(&users::name(*uid)),
            Payer::Token(name) if name.is_empty() => f.write_str("a token without a user"),
            Payer::Token(name) => write!(f, "the token of {name}"),
            Payer::Address(address) => write!(f, "{address}"),
        }
    }
}
