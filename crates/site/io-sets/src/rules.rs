//! The rules of Set-10: from the time between I/O phases to a set, and from a set to its priority.
//!
//! The set of an application is the order of magnitude of its period, the nearest integer of log10 (equation
//! 1 of the report); the priority of set i is 10⁻ⁱ (equation 2).
//!
//! # The scale of priorities
//!
//! Clients and servers carry a priority as an unsigned 32-bit integer (report §3.3 and 3.4), so 10⁻ⁱ is
//! stored times [`SCALE`] = 10⁷:
//!
//! | set | periods | priority | stored |
//! |---|---|---|---|
//! | -2 | up to 31.6 ms | 100 | 1 000 000 000 |
//! | 0 | 0.316 … 3.16 s | 1 | 10 000 000 |
//! | 1 | 3.16 … 31.6 s | 0.1 | 1 000 000 |
//! | unknown | | 0.02 and a little | 200 001 … 209 999 |
//! | 2 | 31.6 … 316 s | 0.01 | 100 000 |
//! | 3 | 316 … 3162 s | 0.001 | 10 000 |
//! | 7 | 3.16 · 10⁶ s (37 days) and more | 10⁻⁷ | 1 |
//!
//! Within these sets, order and ratios are exact; periods beyond them belong to the first or the last set.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::num::NonZeroU32;

/// What a priority of 1 is stored as.
pub const SCALE: u32 = 10_000_000;

/// The set of the shortest periods.
pub const FIRST_SET: i32 = -2;

/// The set of the longest periods.
pub const LAST_SET: i32 = 7;

/// The priority before anything is known, without the value that makes it unique: 1/50 (report §3.2).
pub const DEFAULT: u32 = SCALE / 50;

/// How many different priorities jobs of unknown period may have. A twentieth of [`DEFAULT`], so that they
/// share alike.
pub const DEFAULTS: u32 = 9_999;

/// Applications of similar period. Within a set they do I/O one at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Set(i32);

/// A priority as clients and servers carry it; larger is more important. It also names the set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Priority(NonZeroU32);

impl Set {
    /// The set of an application whose I/O phases begin every `seconds` on average.
    ///
    /// `None` if that is no positive number. The borders 10^(i + ½) are irrational, so that no period lies on
    /// one; of the numbers next to a border, whole ones fall as the report says: 4 to 31 s into set 1, 32 to
    /// 316 s into set 2.
    pub fn of_period(seconds: f64) -> Option<Self> {
        let magnitude = seconds.log10();
        magnitude.is_finite().then(|| Set((magnitude.round() as i32).clamp(FIRST_SET, LAST_SET)))
    }

    /// The set whose priority is this one; `None` for that of an application of unknown period.
    pub fn of_priority(priority: Priority) -> Option<Self> {
        (FIRST_SET..=LAST_SET).map(Set).find(|set| set.priority() == priority)
    }

    /// i of the set Sᵢ.
    pub fn number(self) -> i32 {
        self.0
    }

    /// The priority that all its applications have.
    pub fn priority(self) -> Priority {
        // From 10⁹ for the first set to 1 for the last.
        let stored = 10u32.pow((LAST_SET - self.0.clamp(FIRST_SET, LAST_SET)) as u32);
        Priority(NonZeroU32::new(stored).unwrap_or(NonZeroU32::MIN))
    }

    /// The period in the middle of the set, 10ⁱ seconds.
    pub fn period(self) -> f64 {
        10f64.powi(self.0)
    }
}

impl Priority {
    /// What a client or a file says; 0 is no priority.
    pub fn from_stored(stored: u32) -> Option<Self> {
        NonZeroU32::new(stored).map(Priority)
    }

    /// The priority of a job of which no period is known yet: 1/50 and a small value from its name (report
    /// §3.2), so that each such job is a set of its own. `taken` says which values others have already.
    pub fn default_for(job: &str, taken: impl Fn(Priority) -> bool) -> Self {
        let own = job_number(job) % u64::from(DEFAULTS);
        let at = |step: u32| {
            let offset = (own as u32 + step) % DEFAULTS;
            Priority(NonZeroU32::MIN.saturating_add(DEFAULT + offset))
        };
        (0..DEFAULTS).map(at).find(|priority| !taken(*priority)).unwrap_or_else(|| at(0))
    }

    /// As clients, servers and the priority file have it.
    pub fn stored(self) -> u32 {
        self.0.get()
    }

    /// As the papers have it: 0.1 for periods of about 10 s.
    pub fn value(self) -> f64 {
        f64::from(self.0.get()) / f64::from(SCALE)
    }
}

impl Default for Priority {
    fn default() -> Self {
        Priority(NonZeroU32::MIN.saturating_add(DEFAULT - 1))
    }
}

impl fmt::Display for Set {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "S{}", self.0)
    }
}

impl fmt::Display for Priority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// The number that a job's name begins with (`4711` of `4711.2`), or one made of all of it (FNV-1a).
fn job_number(job: &str) -> u64 {
    let digits = job.split(|c: char| !c.is_ascii_digit()).next().unwrap_or_default();
    digits.parse().unwrap_or_else(|_| {
        job.bytes().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn set(seconds: f64) -> i32 {
        Set::of_period(seconds).unwrap().number()
    }

    #[test]
    fn whole_seconds_as_in_the_report() {
        assert_eq!([3.0, 4.0, 31.0, 32.0, 316.0, 317.0].map(set), [0, 1, 1, 2, 2, 3]);
        assert_eq!([19.2, 384.0].map(set), [1, 3], "the two kinds of application of the experiment");
        assert_eq!([1.0, 10.0, 100.0, 1000.0].map(set), [0, 1, 2, 3]);
    }

    #[test]
    fn borders_lie_at_the_root_of_ten() {
        for i in FIRST_SET..LAST_SET {
            let border = 10f64.powf(f64::from(i) + 0.5);
            assert_eq!(set(border * (1.0 - 1e-12)), i, "below {border}");
            assert_eq!(set(border * (1.0 + 1e-12)), i + 1, "above {border}");
        }
    }

    #[test]
    fn extremes_belong_to_the_outer_sets_and_nonsense_to_none() {
        assert_eq!([1e-9, 1e-3, 1e8, 1e300].map(set), [FIRST_SET, FIRST_SET, LAST_SET, LAST_SET]);
        for nonsense in [0.0, -0.0, -5.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert_eq!(Set::of_period(nonsense), None, "{nonsense}");
        }
    }

    #[test]
    fn priorities_keep_order_and_ratios() {
        let stored: Vec<u32> = (FIRST_SET..=LAST_SET)
            .map(|i| Set::of_period(10f64.powi(i)).unwrap().priority().stored())
            .collect();
        assert_eq!(stored[0], 1_000_000_000);
        assert!(stored.windows(2).all(|pair| pair[0] == 10 * pair[1]), "{stored:?}");
        assert_eq!(stored.last(), Some(&1));
        let set = Set::of_period(19.2).unwrap();
        assert_eq!(set.priority().value(), 0.1);
        assert_eq!(Set::of_priority(set.priority()), Some(set));
    }

    #[test]
    fn unknown_periods_are_unique_and_near_a_fiftieth() {
        let mut taken = BTreeSet::new();
        // Ids that collide, ids in a row, and names.
        let ids = (0..200).map(|i| (i * 9_999).to_string()).chain((0..200).map(|i| (4_711 + i).to_string()));
        for id in ids.chain(["a", "b", "", "job-x"].map(String::from)) {
            let priority = Priority::default_for(&id, |one| taken.contains(&one));
            assert!(taken.insert(priority), "{id}");
            assert!((0.02..0.021).contains(&priority.value()), "{id}: {}", priority.value());
            assert_eq!(Set::of_priority(priority), None);
        }
        let alone = |id| Priority::default_for(id, |_| false);
        assert_ne!(alone("4711"), alone("4712"));
        assert_eq!(alone("4711"), alone("4711.0"), "a step belongs to its job");
        // With every value taken there is still an answer.
        assert_eq!(Priority::default_for("7", |_| true), alone("7"));
    }
}
