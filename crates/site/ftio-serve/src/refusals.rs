//! What was refused because somebody has as much as they may have: how often, and who, for `/readyz` and
//! `/metrics`.

use crate::lock::locked;
use crate::share::Payer;
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// What was refused longer ago is not shown any more, and is said again on stderr.
const RECENT: Duration = Duration::from_secs(600);
/// More are not kept: the one that was refused longest ago goes.
const MAX_REFUSALS: usize = 256;

/// What one was refused.
#[derive(Clone, Debug)]
pub struct Refusal {
    pub what: &'static str,
    pub payer: Payer,
    pub count: u64,
    pub reason: String,
    last: Instant,
}

/// All of them.
#[derive(Debug, Default)]
pub struct Refusals {
    sums: Mutex<BTreeMap<&'static str, u64>>,
    by: Mutex<Vec<Refusal>>,
}

impl Refusals {
    /// Somebody was refused something. That it begins is said in the log.
    pub fn add(&self, what: &'static str, payer: &Payer, reason: &str) {
        *locked(&self.sums).entry(what).or_default() += 1;
        let mut all = locked(&self.by);
        all.retain(|one| one.last.elapsed() < RECENT);
        if let Some(one) = all.iter_mut().find(|one| one.what == what && one.payer == *payer) {
            one.count += 1;
            one.last = Instant::now();
            reason.clone_into(&mut one.reason);
            return;
        }
        if all.len() >= MAX_REFUSALS {
            let oldest = all.iter().enumerate().min_by_key(|(_, one)| one.last).map(|(place, _)| place);
            oldest.map(|place| all.swap_remove(place));
        } else {
            tracing::warn!(%payer, what, reason, "{payer} is refused more: {reason}");
        }
        let (payer, reason) = (payer.clone(), reason.to_owned());
        all.push(Refusal { what, payer, count: 1, reason, last: Instant::now() });
    }

    /// What was refused in the last ten minutes, the latest first.
    pub fn recent(&self) -> Vec<Refusal> {
        let mut all: Vec<Refusal> = locked(&self.by).clone();
        all.retain(|one| one.last.elapsed() < RECENT);
        all.sort_by_key(|one| std::cmp::Reverse(one.last));
        all
    }

    /// How often what was refused since the start.
    pub fn sums(&self) -> Vec<(&'static str, u64)> {
        locked(&self.sums).iter().map(|(what, count)| (*what, *count)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_who_is_refused_often_is_one_line() {
        let refusals = Refusals::default();
        for uid in 0..2 * MAX_REFUSALS as u32 {
            refusals.add("jobs", &Payer::User(4_000_000 + uid), "enough");
        }
        for _ in 0..5 {
            refusals.add("bytes", &Payer::User(7), "enough");
        }
        let recent = refusals.recent();
        assert_eq!(recent.len(), MAX_REFUSALS, "no more are kept");
        assert_eq!((recent[0].payer.clone(), recent[0].count), (Payer::User(7), 5));
        assert_eq!(refusals.sums(), [("bytes", 5), ("jobs", 2 * MAX_REFUSALS as u64)]);
    }
}
