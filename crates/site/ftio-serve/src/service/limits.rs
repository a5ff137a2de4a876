//! What one user may have of the service: jobs, memory, and room on the disk.

use super::{Service, now};
use crate::ingest::push::NotTaken;
use crate::live::LiveJob;
use crate::lock::locked;
use crate::series::Series;
use crate::share::{Full, Payer, Standing};
use crate::store::JobRow;
use std::collections::HashMap;
use std::sync::Mutex;
use std::time::{Duration, Instant};

const ONE_DAY: Duration = Duration::from_secs(86_400);
/// Bytes that a job takes in the database beside its texts.
const ROW: u64 = 4096;

/// What each owner has added to the data lately: it runs off evenly in a day.
#[derive(Debug, Default)]
pub struct Stored(Mutex<HashMap<Payer, (f64, Instant)>>);

impl Stored {
    /// Bytes that count now, after adding some.
    fn add(&self, payer: &Payer, bytes: u64, most: u64) -> f64 {
        let now = Instant::now();
        let mut all = locked(&self.0);
        let left = |(bytes, at): &(f64, Instant)| {
            let gone = (now - *at).as_secs_f64() / ONE_DAY.as_secs_f64() * most as f64;
            (bytes - gone).max(0.0)
        };
        let sum = all.get(payer).map_or(0.0, left) + bytes as f64;
        if bytes > 0 {
            all.retain(|_, one| left(one) > 0.0);
            all.insert(payer.clone(), (sum, now));
        }
        sum
    }
}

impl Service {
    /// May the owner of this job have it? What is refused is counted.
    pub fn room_for_job(&self, row: &JobRow) -> Result<(), NotTaken> {
        let payer = Payer::owner(row.owner);
        let standing = self.config.standing(&payer);
        let room = {
            let mut running = self.running();
            running.make_room(&payer, standing);
            running.room_for_job(&payer, standing, LiveJob::cost_of(row))
        };
        room.and_then(|()| self.room_on_disk(&payer, standing)).map_err(|full| {
            self.stats.refusals.add(full.what, &payer, &full.to_string());
            full.into()
        })
    }

    /// May they add to the data?
    pub fn room_on_disk(&self, payer: &Payer, standing: Standing) -> Result<(), Full> {
        let most = self.config.disk_of_user;
        let own = self.stored.add(payer, 0, most);
        if standing == Standing::Trusted || own < most as f64 {
            return Ok(());
        }
        let what = "bytes of data in a day";
        Err(Full { what, own: own as usize, allowed: usize::try_from(most).unwrap_or(usize::MAX) })
    }

    /// A job that has ended was stored: its series, and texts of this length.
    pub fn was_stored(&self, row: &JobRow, series: &Series, texts: usize) {
        locked(&self.past).add(row, series, now());
        let bytes = ROW + texts as u64 + self.files.size(row.id);
        self.stored.add(&Payer::owner(row.owner), bytes, self.config.disk_of_user);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_stored_runs_off_in_a_day() {
        let (stored, payer) = (Stored::default(), Payer::User(7));
        assert_eq!(stored.add(&payer, 600, 1000), 600.0);
        let long_ago = Instant::now().checked_sub(ONE_DAY / 2);
        if let (Some(long_ago), Some(entry)) = (long_ago, locked(&stored.0).get_mut(&payer)) {
            entry.1 = long_ago;
        }
        let left = stored.add(&payer, 0, 1000);
        assert!((99.0..=100.0).contains(&left) || left == 600.0, "{left}");
        assert_eq!(stored.add(&Payer::User(8), 0, 1000), 0.0, "others have theirs");
    }
}
