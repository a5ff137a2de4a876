//! Which runs are of the same application.
//!
//! The paper takes "all executions of an application from a given user" as one, and leaves open what makes
//! two executions the same application. Darshan records the command line.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What makes two runs of a user the same application.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Identity {
    /// The file name of the executable: the same program in another folder is the same.
    #[default]
    Name,
    /// The path of the executable.
    Path,
    /// The whole command line.
    Command,
}

impl Identity {
    /// Its name, as in JSON and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Identity::Name => "name",
            Identity::Path => "path",
            Identity::Command => "command",
        }
    }

    /// The application a command line runs; empty if the log does not know.
    pub fn of(self, command: &str) -> &str {
        let command = command.trim();
        let executable = command.split_whitespace().next().unwrap_or_default();
        match self {
            // Programs that are not linked to know their arguments (Fortran, before Darshan 3.1) leave a
            // placeholder.
            _ if executable.starts_with('<') => "",
            Identity::Name => executable.rsplit('/').next().unwrap_or(executable),
            Identity::Path => executable,
            Identity::Command => command,
        }
    }
}

/// A user's application, in 16 bytes; two different ones do not meet in practice.
pub(crate) type Key = u128;

/// The key of an application. A run that does not know its application is one of its own.
pub(crate) fn key(user: i64, application: &str, source: &str) -> Key {
    // FNV-1a of 128 bits.
    let start = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d_u128;
    let prime = 0x0000_0000_0100_0000_0000_0000_0000_013b_u128;
    let (tag, text) = if application.is_empty() { (1u8, source) } else { (0, application) };
    let bytes = std::iter::once(tag).chain(user.to_le_bytes()).chain(text.bytes());
    bytes.fold(start, |hash, byte| (hash ^ u128::from(byte)).wrapping_mul(prime))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_application_is_its_executable() {
        let command = "/home/u/bin/lmp -in in.eam";
        assert_eq!(Identity::Name.of(command), "lmp");
        assert_eq!(Identity::Path.of(command), "/home/u/bin/lmp");
        assert_eq!(Identity::Command.of(command), command);
        assert_eq!(Identity::Name.of(""), "");
        assert_eq!(Identity::Command.of("<unknown args>"), "");
        assert_eq!(Identity::Name.of("4105630"), "4105630");
    }

    #[test]
    fn users_and_applications_make_keys() {
        assert_eq!(key(1, "a", "x"), key(1, "a", "y"));
        assert_ne!(key(1, "a", "x"), key(2, "a", "x"));
        assert_ne!(key(1, "a", "x"), key(1, "b", "x"));
        assert_ne!(key(1, "", "x"), key(1, "", "y"));
        assert_ne!(key(1, "", "x"), key(1, "x", ""));
    }
}
