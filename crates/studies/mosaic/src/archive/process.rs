//! The first stage: logs in, records out, on all cores.

use super::part::Part;
use super::{Listing, PartError, Record, Shard};
use rayon::prelude::*;

/// Logs that are read before their records are written, for each thread. Enough that a slow log holds up few
/// others, few enough that little is lost if the work is interrupted.
const INPUTS_A_BATCH: usize = 128;

/// Read every log of a shard that the part does not hold yet. `progress` hears how many more are done.
/// Records are written in the order of paths, whatever the number of threads.
pub fn process(
    listing: &Listing,
    shard: Shard,
    part: &mut Part,
    mut progress: impl FnMut(u64),
) -> Result<(), PartError> {
    let settings = part.settings().clone();
    let waiting: Vec<&str> = listing.iter().filter(|path| shard.takes(path) && !part.holds(path)).collect();
    let at_once = INPUTS_A_BATCH * rayon::current_num_threads();
    for some in waiting.chunks(at_once) {
        let lines: serde_json::Result<Vec<Vec<u8>>> = some
            .par_iter()
            // One at a time: some logs take a thousand times longer than others.
            .with_max_len(1)
            .map(|path| {
                let mut line = serde_json::to_vec(&Record::of(path, &settings))?;
                line.push(b'\n');
                Ok(line)
            })
            .collect();
        part.append(&lines.map_err(|error| part.failed(error.into()))?)?;
        progress(some.len() as u64);
    }
    part.finish()
}

/// How many logs of a shard the part does not hold yet.
pub fn remaining(listing: &Listing, shard: Shard, part: &Part) -> u64 {
    listing.iter().filter(|path| shard.takes(path) && !part.holds(path)).count() as u64
}
