//! How a batch system decides.

use schemars::JsonSchema;
use serde::Serialize;

/// Which rules apply.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, JsonSchema, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Policy {
    /// First come first served: a job that does not fit holds up all behind it.
    Fcfs,
    /// EASY backfilling: jobs behind it start if they do not delay it.
    #[default]
    Easy,
    /// Malleable EASY backfilling: and running jobs are expanded and shrunk.
    Mebf,
}

impl Policy {
    /// All of them.
    pub const ALL: [Policy; 3] = [Policy::Fcfs, Policy::Easy, Policy::Mebf];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Policy::Fcfs => "fcfs",
            Policy::Easy => "easy",
            Policy::Mebf => "mebf",
        }
    }
}

/// How many free nodes MEBF gives to a running job (Algorithms 2 to 4 of the paper).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, JsonSchema, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Expansion {
    /// Only if the job more than doubles, and as many nodes as it had stay free.
    HandOff,
    /// As many as it can use. Lent nodes are given back when a job in the queue needs them.
    #[default]
    Aggressive,
    /// As many as it can use; what it once got it keeps to its end.
    AggressiveKept,
    /// As many as it can use, less 30 % of what it had, and only if it more than doubles.
    KeepSpare,
}

impl Expansion {
    /// All of them.
    pub const ALL: [Expansion; 4] =
        [Expansion::HandOff, Expansion::Aggressive, Expansion::AggressiveKept, Expansion::KeepSpare];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Expansion::HandOff => "hand-off",
            Expansion::Aggressive => "aggressive",
            Expansion::AggressiveKept => "aggressive-kept",
            Expansion::KeepSpare => "keep-spare",
        }
    }

    /// What a job that has `assigned` nodes gets.
    pub(crate) fn more(self, assigned: u32, max: u32, free: u32) -> u32 {
        let (assigned, max, free) = (i64::from(assigned), i64::from(max), i64::from(free));
        let from = if self == Expansion::HandOff { free - assigned } else { max - assigned };
        let given = |n: i64| match self {
            Expansion::HandOff => (n > assigned && n + assigned <= free.min(max)).then_some(n),
            Expansion::Aggressive | Expansion::AggressiveKept => (n <= free).then_some(n),
            Expansion::KeepSpare => {
                let new = (n as f64 - 0.3 * assigned as f64).floor() as i64;
                (assigned < n && n <= free && new <= free.min(max)).then_some(new)
            }
        };
        let found = (1..=from).rev().find_map(given).unwrap_or(0).clamp(0, max - assigned);
        u32::try_from(found).unwrap_or(0)
    }

    /// The share of its nodes that a job gives up at once: shrinking mirrors expansion.
    pub(crate) fn shrinks_by(self) -> f64 {
        match self {
            Expansion::HandOff => 0.5,
            Expansion::Aggressive | Expansion::AggressiveKept => 1.0,
            Expansion::KeepSpare => 0.3,
        }
    }
}

/// The machine, the policy and its constants.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Nodes of the machine.
    pub nodes: u32,
    /// The rules.
    pub policy: Policy,
    /// How MEBF expands jobs.
    pub expansion: Expansion,
    /// Choose jobs so that I/O stays in balance.
    pub balance: bool,
    /// What a change of size costs the job, in seconds (α).
    pub cost: f64,
    /// A job is not shrunk if its remaining time would grow more than so many times (γ), unless it still runs
    /// longer than [`soon`](Self::soon).
    pub most_stretch: f64,
    /// The share of its nodes that a job gives up at most; by default what the way of expanding says.
    pub sharing: Option<f64>,
    /// A job that has less time left ends soon.
    pub soon: f64,
    /// Seconds to the first look at the running jobs while nothing happens; the next ones are rarer.
    pub tick: f64,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            nodes: 1,
            policy: Policy::default(),
            expansion: Expansion::default(),
            balance: false,
            cost: 0.0,
            most_stretch: 2.0,
            sharing: None,
            soon: 60.0,
            tick: 60.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_algorithms_give() {
        // n counts down from free − assigned = 6: 6 > 4, but 6 + 4 > 10 is not; max 16 allows it.
        assert_eq!(Expansion::HandOff.more(4, 16, 10), 6);
        assert_eq!(Expansion::HandOff.more(4, 8, 10), 0);
        assert_eq!(Expansion::HandOff.more(4, 16, 8), 0);
        assert_eq!(Expansion::Aggressive.more(4, 16, 10), 10);
        assert_eq!(Expansion::Aggressive.more(4, 8, 10), 4);
        assert_eq!(Expansion::Aggressive.more(4, 8, 0), 0);
        // n = 10: ⌊10 − 1.2⌋ = 8.
        assert_eq!(Expansion::KeepSpare.more(4, 16, 10), 8);
        assert_eq!(Expansion::KeepSpare.more(4, 8, 10), 0);
    }
}
