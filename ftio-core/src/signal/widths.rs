//! A window of the bins at every width: what signals are taken from.
//!
//! The bins as they are, and in bins of twice, four times … their width. Each width is made from the one
//! before it when it is first asked for, and all signals of a window share them.

use crate::signal::bins::{Units, VolumeBins};
use crate::signal::{
    AUTO_MAX_SAMPLES, AUTO_MIN_SAMPLES, FINE_SAMPLES, PARTS_OF_SAMPLE, SAMPLES_PER_PHASE, Signal,
};

/// What the bins of a window hold, at every width.
#[derive(Clone, Debug)]
pub struct Widths {
    /// From narrow to wide.
    known: Vec<Units>,
    /// Requests in all bins.
    requests: u64,
}

impl Widths {
    /// Of the bins that cover `[from, to)`.
    pub fn of(bins: &VolumeBins, from: i64, to: i64) -> Self {
        Widths { known: vec![bins.units(from, to)], requests: bins.requests() }
    }

    /// In bins that are wider by 2 to this power.
    fn wider(&mut self, doublings: usize) -> &Units {
        while self.known.len() <= doublings {
            self.known.push(self.known[self.known.len() - 1].halved());
        }
        &self.known[doublings]
    }

    fn signal(&mut self, doublings: usize) -> Signal {
        Signal::from_units(self.wider(doublings))
    }

    /// The bins as they are.
    pub fn into_narrowest(mut self) -> Units {
        self.known.swap_remove(0)
    }

    /// The bandwidth with samples at least `width` nanoseconds wide.
    pub fn at_least(&mut self, width: i64) -> Signal {
        let mut doublings = 0;
        while self.wider(doublings).width < width {
            doublings += 1;
        }
        self.signal(doublings)
    }

    /// The bandwidth at a width chosen as the [module of signals](crate::signal) describes.
    pub fn automatic(&mut self) -> Signal {
        let mut doublings = 0;
        while self.wider(doublings).len() / 2 >= AUTO_MIN_SAMPLES {
            doublings += 1;
        }
        let mut chosen = self.signal(doublings);
        while chosen.samples.len() < SAMPLES_PER_PHASE * chosen.phases_above_mean() {
            if doublings == 0 || self.wider(doublings - 1).len() > AUTO_MAX_SAMPLES {
                break;
            }
            doublings -= 1;
            chosen = self.signal(doublings);
        }
        chosen
    }

    /// The bandwidth with at most about [`FINE_SAMPLES`] samples, or [`SAMPLES_PER_PHASE`] for each phase, if
    /// that is more: what phases are located in. `sampled` is the distance of the samples, in nanoseconds, if
    /// the bandwidth was known by samples before.
    pub fn fine(&mut self, sampled: Option<i64>) -> Signal {
        let redundant = |width: i64| sampled.is_some_and(|sampled| 2 * PARTS_OF_SAMPLE * width <= sampled);
        let mut doublings = 0;
        while self.wider(doublings).len() > FINE_SAMPLES || redundant(self.wider(doublings).width) {
            // There are no more phases than requests.
            let coarser = self.wider(doublings + 1).len();
            let few = coarser as u64 >= (SAMPLES_PER_PHASE as u64).saturating_mul(self.requests);
            if !few && coarser < SAMPLES_PER_PHASE * self.signal(doublings + 1).phases_above_mean() {
                break;
            }
            doublings += 1;
        }
        self.signal(doublings)
    }
}
