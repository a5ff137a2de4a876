//! Who takes part in a trace, at its start and at its end.
//!
//! A rank may have no tracer, and nobody may wait for it. At the start only ranks of one node agree with
//! each other, which find each other by the [roll](crate::roll). If these are all ranks of the job, they
//! are together from the start to the end. If the job has other nodes, each node starts for itself, and all
//! meet in `MPI_Finalize`, where they wait for each other no longer than `TMIO_FINALIZE_TIMEOUT`.

use crate::launcher::{self, JobKey};
use crate::lifecycle::hook_finalize;
use crate::objects;
use crate::posix;
use crate::roll::Roll;
use crate::sessions::Alone;
use crate::tracer::{self, Tracer};
use crate::world::MpiWorld;
use parking_lot::Mutex;
use std::ffi::c_int;
use std::sync::atomic::{AtomicBool, Ordering::AcqRel};
use std::time::Duration;
use tmio_api::options::{self, Parsed};
use tmio_api::{JobInfo, clock, message};

/// What is known before `MPI_Init`.
pub(crate) struct Start {
    caller: usize,
    parsed: Parsed,
    key: Option<JobKey>,
    roll: Option<Roll>,
}

/// The traced ranks of this node.
struct Node {
    tracer: &'static Tracer,
    /// `None`: only this one.
    world: Option<MpiWorld>,
    others: Others,
    /// The processes that began together.
    processes: Vec<u32>,
    patience: Duration,
}

/// The ranks of the job that are not with us from the start.
enum Others {
    /// There are none that have a tracer.
    None,
    /// On other nodes, where they may have one.
    Elsewhere,
    /// On other nodes; and some of this node have none, so that they can never all be together.
    Incomplete,
}

/// From `MPI_Init` to `MPI_Finalize`.
static NODE: Mutex<Option<Node>> = Mutex::new(None);

impl Start {
    /// Puts this rank on the roll. `None`: there is nothing to be done.
    pub(crate) fn before_init(caller: usize) -> Option<Self> {
        static BEGUN: AtomicBool = AtomicBool::new(false);
        if BEGUN.swap(true, AcqRel) || tmio_api::has_started() || objects::another_copy_comes_first() {
            return None;
        }
        clock::prepare();
        let parsed = options::from_environment();
        if parsed.options.disable || !parsed.options.layers.mpiio {
            return None;
        }
        if parsed.problem.is_none() {
            posix::mpi_begins_with(&parsed.options);
        }
        let key = launcher::job_key();
        let roll = key.and_then(|key| Roll::enrol(key.number));
        Some(Self { caller, parsed, key, roll })
    }

    /// `MPI_Init` has failed.
    pub(crate) fn not_at_all(self) {
        if let Some(roll) = self.roll {
            roll.decline();
        }
    }

    /// Begins tracing with those who are on the roll.
    pub(crate) fn after_init(self) {
        // Until the rank is known from MPI, the launcher's word for it decides who speaks.
        message::configure(self.parsed.options.log, launcher::rank().unwrap_or(0) == 0);
        let Some(tracer) = tracer::set_up(self.caller) else {
            message::warn("no trace: this MPI is not known, or lacks functions that tmio needs");
            return self.not_at_all();
        };
        let Some((rank, size)) = rank_and_size(tracer) else { return self.not_at_all() };
        let patience = self.parsed.options.finalize_timeout;
        let local = launcher::local_size().unwrap_or(size).min(size);
        let (ranks, processes) = match self.roll {
            Some(roll) => roll.close(rank, local),
            None => (vec![rank], vec![std::process::id()]),
        };
        let enrolled = ranks.len() as u32;
        let world = match enrolled {
            // The others have begun without this one.
            0 => return,
            1 if size == 1 => MpiWorld::of_all(tracer, patience),
            1 => None,
            _ if enrolled == size => MpiWorld::of_all(tracer, patience),
            _ => MpiWorld::of_some(tracer, &ranks, patience),
        };
        if world.is_none() && enrolled > 1 {
            return;
        }
        let others = match (enrolled >= local, local >= size) {
            (_, true) => Others::None,
            (true, false) => Others::Elsewhere,
            (false, false) => Others::Incomplete,
        };
        let job = JobInfo {
            mpi: tracer.library_version(),
            spawned: is_spawned(tracer),
            world_rank: rank,
            world_size: size,
            key: self.key.filter(|key| key.on_all_nodes).map(|key| key.number),
        };
        let started = match &world {
            Some(world) => tmio_api::start(world, &job, self.parsed),
            None => tmio_api::start(&Alone, &job, self.parsed),
        };
        if !started || !hook_finalize(tracer) {
            if let Some(world) = world {
                world.free();
            }
            return;
        }
        if enrolled < local {
            let without = (0..size).filter(|rank| ranks.binary_search(rank).is_err());
            match local == size {
                true => message::warn(format_args!(
                    "{enrolled} of {size} ranks are traced; without a tracer: {}",
                    list(without)
                )),
                false => message::warn(format_args!("{enrolled} of {local} ranks of this node are traced")),
            }
        }
        *NODE.lock() = Some(Node { tracer, world, others, processes, patience });
    }
}

/// The first few of some ranks.
fn list(ranks: impl Iterator<Item = u32>) -> String {
    let mut text = String::new();
    for (number, rank) in ranks.enumerate() {
        match number {
            0 => text.push_str(&rank.to_string()),
            1..8 => text.push_str(&format!(", {rank}")),
            _ => return text + ", …",
        }
    }
    text
}

fn rank_and_size(tracer: &Tracer) -> Option<(u32, u32)> {
    let (mut rank, mut size): (c_int, c_int) = (0, 0);
    // SAFETY: MPI is initialised, and both places are valid.
    let known = unsafe {
        (tracer.mpi.comm_rank)(tracer.abi.comm_world, &mut rank) == 0
            && (tracer.mpi.comm_size)(tracer.abi.comm_world, &mut size) == 0
    };
    if known { Some((u32::try_from(rank).ok()?, u32::try_from(size).ok()?)) } else { None }
}

/// Whether this process was made by `MPI_Comm_spawn`.
fn is_spawned(tracer: &Tracer) -> bool {
    let mut parent = 0usize;
    // SAFETY: the place for the answer is valid.
    let answer = unsafe { (tracer.mpi.comm_get_parent)(&mut parent) };
    // Four-byte handles fill the low half of the zeroed word.
    answer == 0 && parent != tracer.abi.comm_null
}

/// The end of the job, inside `MPI_Finalize`.
pub(crate) fn finish() {
    posix::mpi_ends();
    let Some(Node { tracer, world, others, processes, patience }) = NODE.lock().take() else { return };
    let whole = match others {
        Others::None => world.inspect(|world| world.meet(&processes, patience)),
        Others::Incomplete => None,
        Others::Elsewhere => {
            if let Some(world) = world {
                world.free();
            }
            MpiWorld::of_all_who_answer(tracer, patience)
        }
    };
    match (whole, others) {
        (Some(mut whole), _) => {
            // Everybody is here: what follows takes no longer than the file system, which has as long, and a
            // little more to tell the others.
            whole.set_patience(patience + patience / 4 + Duration::from_secs(1));
            tmio_api::finish(&whole);
            whole.free();
        }
        (None, Others::None) => tmio_api::finish(&Alone),
        (None, Others::Elsewhere) => tmio_api::finish_apart(&format!(
            "not every rank answered within {} s (TMIO_FINALIZE_TIMEOUT)",
            patience.as_secs_f64()
        )),
        (None, Others::Incomplete) => tmio_api::finish_apart("some ranks have no tracer"),
    }
}

#[cfg(test)]
mod tests {
    use super::list;

    #[test]
    fn a_long_list_of_ranks_is_cut_short() {
        assert_eq!(list([3].into_iter()), "3");
        assert_eq!(list([1, 2].into_iter()), "1, 2");
        assert_eq!(list(0..100), "0, 1, 2, 3, 4, 5, 6, 7, …");
    }
}
