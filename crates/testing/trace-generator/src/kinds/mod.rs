//! Kinds of signals that a period estimator meets, each with its truth: one file a family, one row a kind.
//!
//! The confidence of the estimator is fitted on the kinds of [`FITTED`] (`scripts/fit`), leaving out one kind
//! at a time to judge it. Those of [`unseen`] are made by other means and never used for fitting, and today's
//! confidence was not fitted on those of [`mechanisms`] either.
//! `scripts/bench accuracy` measures all of them.

mod coarse;
mod few;
mod hidden;
mod interrupted;
mod many;
pub mod mechanisms;
mod odd_phases;
mod paper;
mod program;
mod random_times;
mod ranks;
mod rhythm;
mod server;
mod several;
mod training;
pub mod unseen;
mod without_period;

use crate::generated::{Truth, Write};
use crate::random::Random;
pub use program::Program;

/// A kind of signal.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    /// Its name.
    pub name: &'static str,
    /// What it is, in a line.
    pub what: &'static str,
    /// How far from the truth a period may be and still be right.
    pub tolerance: f64,
    /// It takes long: generate no more than this many.
    pub at_most: u64,
    make: fn(&mut Random) -> Made,
}

impl Kind {
    const fn new(name: &'static str, what: &'static str, make: fn(&mut Random) -> Made) -> Self {
        Kind { name, what, tolerance: 0.03, at_most: u64::MAX, make }
    }

    const fn within(self, tolerance: f64) -> Self {
        Kind { tolerance, ..self }
    }

    const fn at_most(self, at_most: u64) -> Self {
        Kind { at_most, ..self }
    }

    /// A number that goes with its name: FNV-1a.
    fn number(&self) -> u64 {
        self.name
            .bytes()
            .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
    }

    /// A third of the kinds, drawn by lot, is sealed: the renewal estimator is never fitted on them, and only
    /// the total over them is looked at.
    pub fn is_sealed(&self) -> bool {
        (self.number() >> 32).is_multiple_of(3)
    }

    /// Make up the signal of that seed.
    pub fn generate(&self, seed: u64) -> Made {
        // Kinds with the same seed do not share their numbers.
        let own = self.number().wrapping_add(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let mut made = (self.make)(&mut Random::new(own));
        made.truth.kind = self.name.into();
        made
    }
}

/// A signal and the truth about it.
#[derive(Clone, Debug, PartialEq)]
pub struct Made {
    /// The signal.
    pub recording: Recording,
    /// What a detector should find.
    pub truth: Truth,
}

/// A signal as it would reach a detector.
#[derive(Clone, Debug, PartialEq)]
pub enum Recording {
    /// The requests of a job.
    Requests {
        /// Number of ranks.
        ranks: u32,
        /// When the job ends, in seconds.
        duration: f64,
        /// All writes, in no particular order.
        writes: Vec<Write>,
        /// All reads.
        reads: Vec<Write>,
    },
    /// A quantity sampled at equal distances from 0 on.
    Samples {
        /// The distance in seconds.
        step: f64,
        /// Bytes per second, or bytes so far.
        values: Vec<f64>,
        /// Is it a counter, the bytes so far?
        counter: bool,
    },
    /// A quantity read at uneven times: readings are late, or missing.
    Readings {
        /// When, in seconds.
        times: Vec<f64>,
        /// Bytes per second, or bytes so far.
        values: Vec<f64>,
        /// Is it a counter, the bytes so far?
        counter: bool,
    },
}

/// Families of kinds that the confidence is fitted on.
pub const FITTED: [(&str, &[Kind]); 12] = [
    ("one plain rhythm", rhythm::KINDS),
    ("interrupted", interrupted::KINDS),
    ("odd phases", odd_phases::KINDS),
    ("few phases", few::KINDS),
    ("ranks out of step", ranks::KINDS),
    ("several rhythms", several::KINDS),
    ("training loops", training::KINDS),
    ("servers and counters", server::KINDS),
    ("coarse series", coarse::KINDS),
    ("many phases", many::KINDS),
    ("no period: phases at random", random_times::KINDS),
    ("settings of the paper", paper::KINDS),
];

/// Families without phases, on which the confidence is fitted as well.
pub const FITTED_NOISE: [(&str, &[Kind]); 1] = [("no period: other signals", without_period::KINDS)];

/// All families: name, whether it is used for fitting, kinds.
pub fn families() -> impl Iterator<Item = (&'static str, bool, &'static [Kind])> {
    let fitted = FITTED.iter().chain(&FITTED_NOISE).map(|&(name, kinds)| (name, true, kinds));
    let others = unseen::FAMILIES.iter().chain(&hidden::FAMILIES).chain(&mechanisms::FAMILIES);
    fitted.chain(others.map(|&(name, kinds)| (name, false, kinds)))
}

/// The kind of that name.
pub fn named(name: &str) -> Option<Kind> {
    families().flat_map(|(_, _, kinds)| kinds).find(|kind| kind.name == name).copied()
}
