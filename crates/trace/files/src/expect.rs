//! What is expected of a file or a folder before it is trusted: asked of the open one.

use crate::error::Why;
use crate::stat::{Kind, Stat};

/// What is expected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Expect {
    user: Option<u32>,
    only_owner_writes: bool,
    only_owner_looks: bool,
    one_name: bool,
}

impl Expect {
    /// Nothing: it is only read, and its writer is not trusted.
    pub fn anybodys() -> Self {
        Self::default()
    }

    /// It belongs to this user.
    pub fn of_user(user: u32) -> Self {
        Expect { user: Some(user), ..Self::default() }
    }

    /// It belongs to the user for whom this thread acts, no other user may write to it, and a file has no
    /// other name: no other user can have put it there.
    pub fn own() -> Self {
        Expect { only_owner_writes: true, one_name: true, ..Self::of_user(crate::user::effective()) }
    }

    /// Neither the group nor others may write to it.
    pub fn not_writable_by_others(self) -> Self {
        Expect { only_owner_writes: true, ..self }
    }

    /// Neither the group nor others have any right.
    pub fn private(self) -> Self {
        Expect { only_owner_writes: true, only_owner_looks: true, ..self }
    }

    /// A file has no second name (hard link) under which somebody else could mean it.
    pub fn with_one_name(self) -> Self {
        Expect { one_name: true, ..self }
    }

    /// Is it so?
    pub fn check(&self, found: &Stat) -> Result<(), Why> {
        if let Some(expected) = self.user.filter(|expected| *expected != found.user) {
            return Err(Why::Owner { expected, found: found.user });
        }
        if self.only_owner_writes && found.mode & 0o022 != 0 {
            return Err(Why::Exposed { mode: found.mode });
        }
        if self.only_owner_looks && found.mode & 0o077 != 0 {
            return Err(Why::Public { mode: found.mode });
        }
        if self.one_name && found.kind == Kind::File && found.names > 1 {
            return Err(Why::Names(found.names));
        }
        Ok(())
    }
}
