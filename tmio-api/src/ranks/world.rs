//! What the recorder needs of the other ranks, and only inside `MPI_Init` and `MPI_Finalize`.

/// The ranks that are traced together, through a communicator of tmio's own.
///
/// Every method is collective unless it says otherwise. An implementation returns `false` (or `None`)
/// when MPI reports an error; the recorder then gives up tracing, never the job.
pub trait World {
    /// This process.
    fn rank(&self) -> u32;
    /// Number of processes.
    fn size(&self) -> u32;
    /// Copies `bytes` of rank `root` to all.
    fn broadcast(&self, root: u32, bytes: &mut [u8]) -> bool;
    /// Smallest of everybody's `value`.
    fn minimum(&self, value: i64) -> Option<i64>;
    /// Sum of `value` over lower ranks.
    fn sum_before(&self, value: i64) -> Option<i64>;
    /// Sum of `value` over all ranks.
    fn sum(&self, value: i64) -> Option<i64>;
    /// Rank 0 gets everybody's `mine`, by rank; the others get nothing.
    fn gather(&self, mine: i64) -> Option<Vec<i64>>;
    /// Rank 0 gives everybody its own `mine.len()` numbers of `all`, by rank.
    fn scatter(&self, all: &[i64], mine: &mut [i64]) -> bool;
    /// Sends bytes to one rank, which waits for them in [`receive`](Self::receive); not collective.
    fn send(&self, to: u32, bytes: &[u8]) -> bool;
    /// Receives as many bytes as were sent; not collective.
    fn receive(&self, from: u32, bytes: &mut [u8]) -> bool;
}

/// Sends numbers to one rank.
pub(crate) fn send_numbers<const N: usize>(world: &dyn World, to: u32, numbers: [i64; N]) -> Option<()> {
    world.send(to, numbers.map(i64::to_le_bytes).as_flattened()).then_some(())
}

/// Receives numbers from one rank.
pub(crate) fn receive_numbers<const N: usize>(world: &dyn World, from: u32) -> Option<[i64; N]> {
    let mut bytes = [[0u8; 8]; N];
    world.receive(from, bytes.as_flattened_mut()).then(|| bytes.map(i64::from_le_bytes))
}

/// What only the MPI side knows about the job.
#[derive(Clone, Debug, Default)]
pub struct JobInfo {
    /// First line of what `MPI_Get_library_version` says.
    pub mpi: String,
    /// The process was made by `MPI_Comm_spawn`.
    pub spawned: bool,
    /// Rank and size of `MPI_COMM_WORLD`, which the traced ranks may be only some of.
    pub world_rank: u32,
    /// Number of ranks of `MPI_COMM_WORLD`.
    pub world_size: u32,
    /// The same on all nodes of a job and different for other jobs, where the launcher tells.
    pub key: Option<u64>,
    /// The same for all processes that one call of the launcher has started, whatever jobs MPI has made of
    /// them.
    pub launch: Option<u64>,
}

pub(crate) const NO_MPI: &str = "the ranks could not agree on it";

/// Whether everybody's part of a step went well; if not, everybody gets the reason of the lowest
/// rank that failed.
pub(crate) fn agree(world: &dyn World, mine: Result<(), String>) -> Result<(), String> {
    let size = i64::from(world.size());
    let vote = if mine.is_ok() { size } else { i64::from(world.rank()) };
    let lowest = world.minimum(vote).ok_or(NO_MPI)?;
    if lowest >= size {
        return Ok(());
    }
    let mut letter = [0u8; 1024];
    if let (Err(reason), true) = (&mine, vote == lowest) {
        for (place, byte) in letter.iter_mut().zip(reason.bytes()) {
            *place = byte;
        }
    }
    if !world.broadcast(lowest as u32, &mut letter) {
        return Err(NO_MPI.to_owned());
    }
    let reason = String::from_utf8_lossy(&letter);
    let reason = reason.trim_end_matches('\0');
    Err(if lowest == 0 { reason.to_owned() } else { format!("rank {lowest}: {reason}") })
}

/// Longest message that [`share`] carries.
const LETTER: usize = 8192;

/// Rank 0 makes some bytes, or says why it cannot; everybody gets the same.
pub(crate) fn share(
    world: &dyn World,
    make: impl FnOnce() -> Result<Vec<u8>, String>,
) -> Result<Vec<u8>, String> {
    let made = match world.rank() {
        0 => make().and_then(|bytes| match bytes.len() <= LETTER {
            true => Ok(bytes),
            false => Err("its path is too long".to_owned()),
        }),
        _ => Ok(Vec::new()),
    };
    let (well, mut letter) = match made {
        Ok(bytes) => (1, bytes),
        Err(reason) => (0, reason.into_bytes()),
    };
    letter.truncate(LETTER);
    // The length and whether it worked, then the bytes, and no more of them than there are.
    let mut head = (letter.len() as u64 * 2 + well).to_le_bytes();
    if !world.broadcast(0, &mut head) {
        return Err(NO_MPI.to_owned());
    }
    let head = u64::from_le_bytes(head);
    letter.resize(usize::try_from(head / 2).unwrap_or(LETTER).min(LETTER), 0);
    if !world.broadcast(0, &mut letter) {
        return Err(NO_MPI.to_owned());
    }
    if head % 2 == 1 { Ok(letter) } else { Err(String::from_utf8_lossy(&letter).into_owned()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ranks::threads::on_ranks;
    fn outcome(failing: &[u32]) -> Vec<Result<(), String>> {
        on_ranks(4, |world| {
            let failed = failing.contains(&world.rank());
            agree(world, if failed { Err(format!("reason of {}", world.rank())) } else { Ok(()) })
        })
    }

    #[test]
    fn all_ranks_get_the_same_verdict_and_the_reason_of_the_lowest_that_failed() {
        assert!(outcome(&[]).iter().all(Result::is_ok));
        assert!(outcome(&[2, 3]).iter().all(|r| r.as_ref().unwrap_err() == "rank 2: reason of 2"));
        assert!(outcome(&[0, 1, 2, 3]).iter().all(|r| r.as_ref().unwrap_err() == "reason of 0"));
    }

    #[test]
    fn rank_0_shares_bytes_that_are_no_text() {
        let bytes = b"\xff\0\xfe!".to_vec();
        assert!(
            on_ranks(4, |world| share(world, || Ok(bytes.clone()))).iter().all(|r| *r == Ok(bytes.clone()))
        );
        let failed = on_ranks(4, |world| share(world, || Err("why".to_owned())));
        assert!(failed.iter().all(|r| *r == Err("why".to_owned())));
        let long = on_ranks(4, |world| share(world, || Ok(vec![1; LETTER + 1])));
        assert!(long.iter().all(Result::is_err));
        let empty = on_ranks(4, |world| share(world, || Ok(Vec::new())));
        assert!(empty.iter().all(|bytes| *bytes == Ok(Vec::new())));
    }
}
