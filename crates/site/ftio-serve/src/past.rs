//! What jobs that have ended moved in the last ten minutes, by owner and second.

use crate::job::{Origin, READ, WRITTEN};
use crate::series::Series;
use crate::store::JobRow;
use crate::viewer::Viewer;
use std::collections::{BTreeMap, HashMap};

/// Seconds that are kept.
pub const SPAN: f64 = 600.0;

/// Bytes written and read in each second since 1970, of the jobs of each owner.
#[derive(Debug, Default)]
pub struct Past(HashMap<Option<u32>, BTreeMap<i64, [f64; 2]>>);

impl Past {
    /// A job has ended.
    pub fn add(&mut self, row: &JobRow, series: &Series, now: f64) {
        let begin = (now - SPAN).floor();
        if row.origin == Origin::Node || row.end < begin {
            return;
        }
        let seconds = self.0.entry(row.owner).or_default();
        for (place, name) in [WRITTEN, READ].into_iter().enumerate() {
            let rates = series.rates(name, begin - row.start, 1.0, SPAN as usize + 1);
            for (i, bytes) in rates.into_iter().enumerate().filter(|(_, bytes)| *bytes > 0.0) {
                seconds.entry(begin as i64 + i as i64).or_default()[place] += bytes;
            }
        }
        self.0.retain(|_, seconds| {
            *seconds = seconds.split_off(&(begin as i64));
            !seconds.is_empty()
        });
    }

    /// Add what somebody may see of it to rates in bytes per second, in steps from `begin` on.
    pub fn add_to(&self, rates: &mut [[f64; 2]], begin: f64, step: f64, viewer: &Viewer) {
        let seen = self.0.iter().filter(|(owner, _)| viewer.sees(**owner));
        for (second, bytes) in seen.flat_map(|(_, seconds)| seconds) {
            let from = (*second as f64 - begin) / step;
            let to = from + 1.0 / step;
            let steps = from.max(0.0) as usize..(to.max(0.0).ceil() as usize).min(rates.len());
            for (i, rate) in rates.iter_mut().enumerate().take(steps.end).skip(steps.start) {
                let part = (to.min(i as f64 + 1.0) - from.max(i as f64)).max(0.0);
                (rate[0], rate[1]) = (rate[0] + bytes[0] * part, rate[1] + bytes[1] * part);
            }
        }
    }
}
