//! Who asks, and what they may see and do.

use serde::{Deserialize, Serialize};

/// What somebody may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Only `/metrics`.
    Metrics,
    /// Only push.
    Agent,
    /// See own jobs, push own jobs.
    User,
    /// See all jobs.
    Operator,
    /// See and change everything.
    Admin,
}

impl Role {
    pub fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "metrics" => Role::Metrics,
            "agent" => Role::Agent,
            "user" => Role::User,
            "operator" => Role::Operator,
            "admin" => Role::Admin,
            _ => return None,
        })
    }

    /// May look at jobs at all.
    pub fn sees_jobs(self) -> bool {
        self >= Role::User
    }

    /// May push values.
    pub fn pushes(self) -> bool {
        matches!(self, Role::Agent | Role::User | Role::Operator | Role::Admin)
    }
}

/// Whose jobs are seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Viewer {
    /// Those of everybody.
    pub all: bool,
    /// Else those of this user.
    pub uid: Option<u32>,
}

impl Viewer {
    /// Who sees everything.
    pub const ALL: Viewer = Viewer { all: true, uid: None };

    /// May a job of this owner be seen?
    pub fn sees(&self, owner: Option<u32>) -> bool {
        self.all || (owner.is_some() && owner == self.uid)
    }
}
