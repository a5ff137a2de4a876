//! What `TMIO_IOSETS` says.

use crate::Address;
use std::path::PathBuf;
use std::time::Duration;

/// The arbiter to ask, and how.
#[derive(Clone, Debug, PartialEq)]
pub struct IoSets {
    /// Where it is.
    pub address: Address,
    /// After which silence of all ranks of a node the lease is given back.
    pub grace: Duration,
    /// How long a rank waits at most, whatever the arbiter says.
    pub patience: Duration,
    /// The file with the secret of an arbiter that listens at TCP.
    pub secret: Option<PathBuf>,
    /// Only files below these are asked for; empty: all.
    pub mounts: Vec<String>,
}

/// A rank among those of its node that began together.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// The first one, 0, has the agent.
    pub rank: u32,
    /// How many there are on this node.
    pub ranks: u32,
    /// How many the job has on all nodes.
    pub of: u32,
}

/// The form of the value, for messages.
pub const FORM: &str =
    "unix:PATH, tcp:HOST:PORT or dir:PATH; then perhaps ,grace=MS ,patience=SECONDS ,secret=FILE ,mount=PATH";

impl IoSets {
    /// From the value of the option.
    pub fn parse(text: &str) -> Option<Self> {
        let mut words = text.split(',').map(str::trim);
        let address: Address = words.next()?.parse().ok()?;
        let slow = matches!(address, Address::Directory(_));
        let mut choice = IoSets {
            address,
            grace: Duration::from_millis(if slow { 50 } else { 5 }),
            patience: Duration::from_secs(900),
            secret: None,
            mounts: Vec::new(),
        };
        for word in words {
            let (name, value) = word.split_once('=')?;
            let number = || value.parse::<f64>().ok().filter(|n| (0.0..=1e6).contains(n));
            match name {
                "grace" => choice.grace = Duration::from_secs_f64(number()? / 1e3),
                "patience" => choice.patience = Duration::from_secs_f64(number()?),
                "secret" => choice.secret = Some(PathBuf::from(value)),
                "mount" if value.starts_with('/') => {
                    choice.mounts.push(value.trim_end_matches('/').to_owned());
                }
                _ => return None,
            }
        }
        Some(choice)
    }

    /// Whether the arbiter is asked before operations on a file of this name.
    pub fn covers(&self, name: &str) -> bool {
        if self.mounts.is_empty() {
            return true;
        }
        // MPI-IO takes the kind of the file system before the name: `ufs:/scratch/a`.
        let path = match name.split_once(':') {
            Some((kind, path)) if !kind.contains('/') => path,
            _ => name,
        };
        let absolute = match path.starts_with('/') {
            true => path.to_owned(),
            false => match std::env::current_dir() {
                Ok(directory) => directory.join(path).to_string_lossy().into_owned(),
                Err(_) => return true,
            },
        };
        let below = |mount: &String| {
            let rest = absolute.strip_prefix(mount.as_str());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        self.mounts.iter().any(below)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_and_what_follows() {
        let choice = IoSets::parse("unix:/run/a.sock").unwrap();
        assert_eq!((choice.grace.as_millis(), choice.patience.as_secs()), (5, 900));
        let choice =
            IoSets::parse("tcp:10.0.0.1:4000,secret=/s,grace=20,patience=60,mount=/scratch/").unwrap();
        assert_eq!((choice.grace.as_millis(), choice.patience.as_secs()), (20, 60));
        assert_eq!(choice.secret, Some(PathBuf::from("/s")));
        assert!(
            choice.covers("/scratch/x") && choice.covers("ufs:/scratch/x") && !choice.covers("/scratch2/x")
        );
        assert_eq!(IoSets::parse("dir:/d").unwrap().grace.as_millis(), 50);
        for wrong in ["", "x", "unix:a", "unix:/a,b", "unix:/a,grace=x", "unix:/a,mount=b"] {
            assert_eq!(IoSets::parse(wrong), None, "{wrong}");
        }
    }
}
